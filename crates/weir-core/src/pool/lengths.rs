//! Lengths that a dispatcher sees in place of those that queues have.
//!
//! | | |
//! |-|-|
//! | Work | O(1) |
//! | Memory | borrowed |

use super::{Dispatcher, Sees, ServerId, Servers, WHOLE};
use crate::info::Arguments;
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::Nanos;

/// The lengths of all servers.
pub(super) struct Lengths<'a>(pub(super) &'a [u32]);

impl Servers for Lengths<'_> {
    #[inline]
    fn count(&self) -> u32 {
        self.0.len() as u32
    }
    #[inline]
    fn length(&self, server: ServerId) -> u32 {
        self.0.get(server.0 as usize).copied().unwrap_or(u32::MAX)
    }
    fn work(&self, _server: ServerId) -> Nanos {
        WHOLE
    }
}

/// Refuses a dispatcher that ignores lengths, which would decide the same over any.
///
/// # Errors
/// It does not; `parameter` is where it stands.
pub(super) fn looks<I: Item<Cost = Nanos>>(
    inside: &dyn Dispatcher<I>,
    arguments: &Arguments<'_>,
    parameter: &'static str,
) -> Result<(), SpecError> {
    if inside.sees() == Sees::Lengths {
        return Ok(());
    }
    let name = arguments.nested(parameter)?.name;
    let reason = format!(
        "is `{name}`, which does not look at the lengths of queues; take one that does, such as `jsq`"
    );
    Err(arguments.error(parameter, reason))
}

/// The parts of a dispatcher around another, in `inside`, that are the other's: its control, and which servers are in use.
macro_rules! controlled_inside {
    () => {
        fn period(&self) -> Option<$crate::units::Nanos> {
            self.inside.period()
        }

        fn control(&mut self, now: $crate::units::Instant, measured: &$crate::pool::Measured<'_>) {
            self.inside.control(now, measured);
        }

        fn in_use(&self) -> Option<u32> {
            self.inside.in_use()
        }
    };
}
pub(super) use controlled_inside;
