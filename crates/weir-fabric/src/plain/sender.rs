//! The sender of a link: an interface or an output of a switch, its buffer, its scheduler and its credits.

use crate::build::Scheduler;
use crate::packet::Handle;
use crate::time::Ticks;
use crate::topology::End;
use weir_core::discipline::Gate;

/// A link and the buffer before it: an interface, or an output of a switch.
pub(crate) struct Sender {
    pub(crate) scheduler: Scheduler,
    /// Where it leads.
    pub(crate) to: End,
    /// A packet is being sent.
    pub(crate) busy: bool,
    /// For each channel the credits that it has of the next input.
    pub(crate) credits: Vec<u32>,
    /// For each channel the room in the buffer, in credits.
    pub(crate) room: Vec<u32>,
    /// When its discipline is woken.
    pub(crate) wakes: Ticks,
}

/// Permits packets whose credits the channel has.
pub(crate) struct Credits<'a>(pub(crate) &'a [u32]);

impl Gate<Handle> for Credits<'_> {
    fn permits(&self, head: &Handle) -> bool {
        self.0[usize::from(head.channel)] >= u32::from(head.credits)
    }
}

/// A gate that is always closed.
pub(crate) struct Closed;

impl Gate<Handle> for Closed {
    fn permits(&self, _head: &Handle) -> bool {
        false
    }
}
