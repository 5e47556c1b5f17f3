//! Which way the packets of a flow go.

/// "Arrived": no box takes the packet.
const NOWHERE: u32 = u32::MAX >> 1;
/// The packet has come to its end.
const ENDS: u32 = 1 << 31;

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg(u32);

impl Leg {
    /// To the next link, by the box at `place`.
    #[must_use]
    pub fn to(place: u32) -> Self {
        debug_assert!(place < NOWHERE);
        Self(place)
    }

    /// To the end of the way, by the box at `place` if there is one.
    #[must_use]
    pub fn end(place: Option<u32>) -> Self {
        Self(place.unwrap_or(NOWHERE) | ENDS)
    }

    /// Whether the way ends here.
    #[inline]
    #[must_use]
    pub fn ends(self) -> bool {
        self.0 & ENDS != 0
    }

    /// The box that takes the packet; `None` where it has arrived.
    #[inline]
    #[must_use]
    pub fn place(self) -> Option<usize> {
        let place = self.0 & NOWHERE;
        (place != NOWHERE).then_some(place as usize)
    }
}

/// The ways of all flows, one leg after the other.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// Where the legs of each flow begin.
    begins: Vec<u32>,
    legs: Vec<Leg>,
}

impl Routes {
    /// Adds the next flow.
    pub fn push(&mut self, legs: impl IntoIterator<Item = Leg>) {
        self.begins.push(self.legs.len() as u32);
        self.legs.extend(legs);
    }

    /// Where a packet of `flow` goes after `hop` links.
    #[inline]
    #[must_use]
    pub fn leg(&self, flow: u32, hop: u8) -> Leg {
        self.legs[self.begins[flow as usize] as usize + usize::from(hop)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legs_follow_each_other() {
        let mut routes = Routes::default();
        routes.push([Leg::to(0), Leg::to(3), Leg::end(None)]);
        routes.push([Leg::to(2), Leg::end(Some(7))]);
        assert_eq!(routes.leg(0, 1).place(), Some(3));
        assert_eq!((routes.leg(0, 2).place(), routes.leg(0, 2).ends()), (None, true));
        assert_eq!((routes.leg(1, 0).place(), routes.leg(1, 0).ends()), (Some(2), false));
        assert_eq!((routes.leg(1, 1).place(), routes.leg(1, 1).ends()), (Some(7), true));
    }
}
