//! The least of all servers by some measure, and who is chosen of several that are least.
//!
//! | | |
//! |-|-|
//! | Work | O(servers) |
//! | Memory | one word |

use super::random::SEED;
use super::{ServerId, Servers};
use crate::info::{Arguments, Parameter, Takes};
use crate::random::Random;
use crate::spec::SpecError;

/// Who is chosen of several that are least.
pub(super) const TIES: Parameter = Parameter::new("ties", Takes::Words(&["lowest", "random"]), "lowest")
    .meaning("which of several equally good servers is taken: the one of the lowest number, or any");

/// The seed, which matters with random ties only.
pub(super) const TIE_SEED: Parameter = SEED.meaning(
    "the seed of the choice among several; a simulation draws one for each replication if none is given",
);

/// Who is chosen of several that are least.
#[derive(Clone, Debug)]
pub(super) enum Ties {
    /// The one of the lowest number.
    Lowest,
    /// Any, each as likely.
    Random(Random),
}

impl Ties {
    /// As a spec names it.
    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let seed = arguments.whole(TIE_SEED.name)?;
        let any = arguments.choice(TIES.name, [false, true])?;
        Ok(if any { Self::Random(Random::new(seed)) } else { Self::Lowest })
    }

    /// The server of the least key.
    #[inline]
    pub(super) fn least<K: Ord>(&mut self, servers: &dyn Servers, key: impl Fn(ServerId) -> K) -> ServerId {
        let mut best = (key(ServerId(0)), ServerId(0));
        // How many have been found that are as little.
        let mut equal = 1;
        for server in (1..servers.count()).map(ServerId) {
            let this = key(server);
            if this < best.0 {
                (best, equal) = ((this, server), 1);
            } else if this == best.0 {
                equal += 1;
                best.1 = self.either(best.1, server, equal);
            }
        }
        best.1
    }

    /// Of `equal` that are as little, `last` is the last and `one` stands for all before it.
    #[inline]
    fn either(&mut self, one: ServerId, last: ServerId, equal: u32) -> ServerId {
        let takes_last = match self {
            Self::Random(random) => random.pick(equal) == 0,
            Self::Lowest => false,
        };
        if takes_last { last } else { one }
    }
}
