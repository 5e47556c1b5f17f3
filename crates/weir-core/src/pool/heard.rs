//! What dispatchers hear of the requests that they have sent, if they ask for it: that one has come to its server, that it
//! has left it and after how long.
//!
//! | | |
//! |-|-|
//! | Source | this project; what a client of a service sees by itself, and what a server that is idle would report |
//! | Work | O(1) for each request, nothing where nobody hears |
//! | Units | responses: nanoseconds |
//! | Memory | four words per request present |

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::{ReceiverId, ServerId};
use crate::discipline::{DropReason, Drops};
use crate::item::Item;
use crate::message::flows::FlowHasher;
use crate::units::{Instant, Nanos};

/// What has happened to a request at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It has come there.
    Joined,
    /// It has left, some time after it was sent there.
    Left {
        /// From then until now.
        response: Nanos,
    },
    /// It was dropped from the queue.
    Dropped,
}

/// What a dispatcher hears of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// What has happened.
    pub step: Step,
    /// Where.
    pub server: ServerId,
    /// Which receiver had sent it.
    pub receiver: ReceiverId,
    /// How many requests the server has now, the one it serves counted.
    pub length: u32,
}

/// When and by whom a request was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) at: Instant,
    pub(super) receiver: ReceiverId,
}

/// The requests present, by their names; and those dropped in the last call.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    sent: HashMap<u32, Sent, BuildHasherDefault<FlowHasher>>,
    dropped: Vec<u32>,
}

impl Ledger {
    /// A request comes.
    pub(super) fn enter(&mut self, id: u32, sent: Sent) {
        self.sent.insert(id, sent);
    }

    /// A request has left.
    pub(super) fn strike(&mut self, id: u32) -> Option<Sent> {
        self.sent.remove(&id)
    }

    /// One of those that were dropped has left.
    pub(super) fn strike_dropped(&mut self) -> Option<Sent> {
        while let Some(id) = self.dropped.pop() {
            let sent = self.strike(id);
            if sent.is_some() {
                return sent;
            }
        }
        None
    }

    /// Drops that are noted on their way.
    pub(super) fn noting<'a, I: Item>(&'a mut self, drops: &'a mut dyn Drops<I>) -> impl Drops<I> + 'a {
        Noting { drops, dropped: &mut self.dropped }
    }
}

struct Noting<'a, I> {
    drops: &'a mut dyn Drops<I>,
    dropped: &'a mut Vec<u32>,
}

impl<I: Item> Drops<I> for Noting<'_, I> {
    fn dropped(&mut self, item: I, reason: DropReason) {
        self.dropped.push(item.number());
        self.drops.dropped(item, reason);
    }
}
