//! How many packets may wait: in one queue, and in all.
//!
//! Both limits refuse the newcomer, unless [`FULL`] says that beyond the limit of all the longest queue gives way. They
//! are read from the parameters `depth` and `limit`, packets such as `100pkt`, and there is none unless one is given.

use core::fmt;

use crate::info::{Arguments, Parameter, Takes};
use crate::spec::SpecError;
use crate::units::Packets;

/// The parameter for one queue.
pub const DEPTH: Parameter = Parameter::new("depth", Takes::Packets(Packets::ONE..=Packets::MAX), "none")
    .or(&["none"])
    .worded("packets such as 100pkt, {}, or `none`")
    .meaning("how many packets of one flow may wait; a newcomer beyond them is dropped");

/// The parameter for all queues together.
pub const LIMIT: Parameter = Parameter::new("limit", Takes::Packets(Packets::ONE..=Packets::MAX), "none")
    .or(&["none"])
    .listed("packets such as 1000pkt, {}, or `none`")
    .refused("packets such as 100pkt, {}, or `none`")
    .meaning("how many packets may wait in all; a newcomer beyond them is dropped");

/// The parameter that says who gives way at [`LIMIT`], where flows have queues of their own.
pub const FULL: Parameter = Parameter::new("full", Takes::Words(&["newcomer", "longest"]), "newcomer").meaning(
    "who is dropped at `limit`: the newcomer, or a packet of the longest queue if that is longer than the \
        newcomer's will be; so a flow with few packets loses none to flows with many",
);

/// Who gives way when all that may wait do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Full {
    /// Who comes last.
    #[default]
    Newcomer,
    /// The queue with the most packets, if it has more than the newcomer's will have.
    Longest,
}

impl Full {
    /// As a spec names it.
    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        arguments.choice(FULL.name, [Self::Newcomer, Self::Longest])
    }
}

/// How many packets may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// In one queue.
    pub depth: Packets,
    /// In all.
    pub limit: Packets,
}

impl Limits {
    /// No limit at all.
    pub const NONE: Self = Self { depth: Packets::MAX, limit: Packets::MAX };

    /// As a spec names them.
    ///
    /// # Errors
    /// An argument is no count of packets, or zero.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let read = |name| match arguments.word(name)? {
            Some(_) => Ok(Packets::MAX),
            None => arguments.packets(name),
        };
        Ok(Self { depth: read(DEPTH.name)?, limit: read(LIMIT.name)? })
    }

    /// Whether there is room behind `of_queue` packets of the queue, and `of_all` in all.
    #[inline]
    pub(super) fn admit(&self, of_queue: u64, of_all: u64) -> bool {
        of_queue < self.depth.get() && of_all < self.limit.get()
    }

    /// Refuses limits that nothing passes.
    pub(super) fn check(&self) -> Result<(), LimitError> {
        let zero = |limit: Packets| limit.get() == 0;
        match (zero(self.depth), zero(self.limit)) {
            (true, _) => Err(LimitError("depth")),
            (_, true) => Err(LimitError("limit")),
            _ => Ok(()),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::NONE
    }
}

/// A limit of zero packets: nothing would ever be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitError(&'static str);

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is 0pkt, must be at least 1pkt", self.0)
    }
}

impl core::error::Error for LimitError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Random;
    use crate::discipline::{DropReason, Drops, Open};
    use crate::item::{Item, Packet};
    use crate::packet::testing::packet;
    use crate::registry::packet_discipline;
    use crate::spec::{Argument, Spec};
    use crate::units::Instant;

    /// The newcomer, if it is what was dropped, and nothing else was.
    #[derive(Default)]
    struct Refused(Option<(Packet, DropReason)>);

    impl Drops<Packet> for Refused {
        fn dropped(&mut self, item: Packet, reason: DropReason) {
            assert_eq!(self.0.replace((item, reason)), None);
        }
    }

    /// Offers packets and serves some; which wait is counted here.
    fn obeys(spec: &str, depth: usize, limit: usize) {
        let mut discipline = packet_discipline::<Packet>(&spec.parse().expect(spec)).expect(spec);
        let mut random = Random::new(1);
        let (mut waiting, mut refused) = ([0_usize; 4], 0);
        for id in 0..4_000 {
            if random.one_in(2) {
                let grant = discipline.dequeue(Instant::ZERO, &Open, &mut Refused::default());
                assert_eq!(grant.is_some(), waiting.iter().any(|&waiting| waiting > 0), "{spec}");
                grant.iter().for_each(|grant| waiting[grant.item.flow().0 as usize] -= 1);
                continue;
            }
            let flow = random.below(4).min(random.below(4)) as usize;
            let (newcomer, mut drops) =
                (packet(id, flow as u32, 64 + random.below(1451)), Refused::default());
            let _ = discipline.enqueue(Instant::ZERO, newcomer, &mut drops);
            let full = waiting[flow] == depth || waiting.iter().sum::<usize>() == limit;
            assert_eq!(drops.0, full.then_some((newcomer, DropReason::QueueFull)), "{spec}");
            waiting[flow] += usize::from(!full);
            refused += u32::from(full);
            assert_eq!(discipline.backlog().items, waiting.iter().sum::<usize>() as u64, "{spec}");
        }
        assert!(refused > 100, "{spec}: {refused}");
    }

    #[test]
    fn the_newcomer_is_refused_and_nobody_else() {
        for name in ["drr(quantum=2048B", "wfq(rate=1Gbit", "scfq(flows=9", "wf2q_plus(flows=9"] {
            obeys(&format!("{name},depth=3pkt)"), 3, usize::MAX);
            obeys(&format!("{name},limit=5pkt)"), usize::MAX, 5);
            obeys(&format!("{name},depth=3pkt,limit=7pkt)"), 3, 7);
        }
    }

    #[test]
    fn packets_need_their_unit() {
        let of = |depth: &str| {
            let spec = Spec { name: "drr".to_owned(), arguments: vec![Argument::new("depth", depth)] };
            Limits::from_spec(&Arguments::new(&spec, &crate::packet::drr::INFO).expect("a parameter"))
        };
        assert_eq!(of("100pkt"), Ok(Limits { depth: Packets::new(100), ..Limits::NONE }));
        assert_eq!(of("none"), Ok(Limits::NONE));
        for refused in ["100", "0pkt", "-1pkt", "+1pkt", "pkt", "1.5pkt", "99999999999999999999pkt", ""] {
            assert!(of(refused).is_err(), "{refused}");
        }
    }
}
