//! The paths through a scheduler of one processor: who ran before, and who runs after.
//!
//! | | |
//! |-|-|
//! | Source | Rettberg, *Development of a Voice Funnel System, Quarterly Technical Report No. 18*, BBN Report 5285, 1983, section 2: an interrupt vector for each |
//! | Work | O(1) |

/// What a scheduler came from and went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Path {
    /// A process ran, and goes on.
    Restart = 0,
    /// A process is left and another started.
    Swap = 1,
    /// A process is left and nobody started: it is saved, and kept in the registers too.
    ToIdle = 2,
    /// Nobody ran, and the last to run is started: its registers are still loaded.
    FromIdleSame = 3,
    /// Nobody ran, and another than the last to run is started.
    FromIdle = 4,
    /// Nobody ran, and nobody is started.
    StayIdle = 5,
}

impl Path {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// Their names in results and metrics, in their order.
    pub const NAMES: [&str; Self::COUNT] =
        ["restart", "swap", "to_idle", "from_idle_same", "from_idle", "stay_idle"];

    /// The path from who ran before to who runs after; `last` is who ran last of all.
    #[inline]
    #[must_use]
    pub fn between<P: PartialEq>(before: Option<P>, after: Option<P>, last: Option<P>) -> Self {
        match (before, after) {
            (None, None) => Self::StayIdle,
            (Some(_), None) => Self::ToIdle,
            (None, after) if after == last => Self::FromIdleSame,
            (None, Some(_)) => Self::FromIdle,
            (before, after) if before == after => Self::Restart,
            (Some(_), Some(_)) => Self::Swap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_its_path() {
        let path = |before, after, last| Path::between::<u32>(before, after, last);
        assert_eq!(path(Some(1), Some(1), Some(1)), Path::Restart);
        assert_eq!(path(Some(1), Some(2), Some(1)), Path::Swap);
        assert_eq!(path(Some(1), None, Some(1)), Path::ToIdle);
        assert_eq!(path(None, Some(1), Some(1)), Path::FromIdleSame);
        assert_eq!(
            (path(None, Some(2), Some(1)), path(None, Some(2), None)),
            (Path::FromIdle, Path::FromIdle)
        );
        assert_eq!(path(None, None, Some(1)), Path::StayIdle);
        assert_eq!(Path::NAMES[Path::StayIdle as usize], "stay_idle");
    }
}
