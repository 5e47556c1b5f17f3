//! A dispatcher of which each receiver sees its own requests only: those that it has sent and that have not been answered.
//!
//! So it is where receivers are processes of their own, clients of a service for instance: each counts what it has under way,
//! and knows nothing of what the others have sent.
//!
//! | | |
//! |-|-|
//! | Source | the usual form in libraries of clients, such as Finagle and gRPC; Mitzenmacher, *How useful is old information?*, IEEE Transactions on Parallel and Distributed Systems 11, 2000, section 7, on partial views |
//! | Needs to know | when its requests are answered |
//! | Work per request | that of the dispatcher inside |
//! | Units | requests |
//! | Memory | a word per server and receiver |
//! | Departs from the source | one dispatcher inside decides for all receivers, each by its own view |

use super::lengths::{self, Lengths, controlled_inside};
use super::{Dispatcher, Heard, ReceiverId, ServerId, Servers, Site, Step};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::registry::dispatcher;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "local",
    kind: Kind::Dispatcher,
    title: "a view of the receiver's own requests",
    rule: "each receiver sees, of the requests at the servers, those that it has sent itself",
    source: "the usual form in libraries of clients, such as Finagle and gRPC",
    work: "as the dispatcher inside",
    parameters: &[Parameter::new("dispatcher", Takes::Discipline(Role::Dispatcher), "jsq")
        .listed("a dispatcher that looks at lengths")
        .meaning("decides by what it sees")],
    example: "local:jsq",
};

/// A dispatcher with a view for each receiver.
pub struct Local<I> {
    inside: Box<dyn Dispatcher<I> + Send>,
    servers: usize,
    /// Requests under way at each server, receiver after receiver.
    lengths: Vec<u32>,
}

impl<I: Item<Cost = Nanos> + Send + 'static> Local<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let inside = dispatcher(&arguments.nested("dispatcher")?, site)?;
        lengths::looks::<I>(&*inside, arguments, "dispatcher")?;
        let servers = site.servers as usize;
        Ok(Self { inside, servers, lengths: vec![0; servers * site.receivers as usize] })
    }
}

impl<I> Local<I> {
    fn of(&mut self, receiver: ReceiverId) -> Option<&mut [u32]> {
        self.lengths.chunks_exact_mut(self.servers).nth(receiver.0 as usize)
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for Local<I> {
    fn dispatch(
        &mut self,
        now: Instant,
        item: &I,
        receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let mut all = self.lengths.chunks_exact(self.servers);
        let own = all.nth(receiver.0 as usize).ok_or(DropReason::Unclassified)?;
        self.inside.dispatch(now, item, receiver, &Lengths(own))
    }

    controlled_inside!();

    fn redirected(&self) -> u64 {
        self.inside.redirected()
    }

    fn hears(&self) -> bool {
        true
    }

    fn heard(&mut self, now: Instant, heard: &Heard) {
        let own = self.of(heard.receiver).and_then(|own| own.get_mut(heard.server.0 as usize));
        if let Some(length) = own {
            match heard.step {
                Step::Joined => *length += 1,
                Step::Left { .. } | Step::Dropped => *length = length.saturating_sub(1),
            }
        }
        if self.inside.hears() {
            self.inside.heard(now, heard);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::testing::{Named, refused, site};
    use crate::pool::{Heard, ReceiverId, ServerId, Site, Step};
    use crate::units::{Instant, Nanos};

    #[test]
    fn each_receiver_counts_its_own() {
        let mut named = Named::new("local:jsq", &Site { receivers: 2, ..site(3) });
        let hear = |named: &mut Named, receiver, server, step| {
            let heard = Heard { step, server: ServerId(server), receiver: ReceiverId(receiver), length: 9 };
            named.0.heard(Instant::ZERO, &heard);
        };
        let sent = |named: &mut Named| [0, 1].map(|receiver| named.send(receiver, 0));
        assert_eq!(sent(&mut named), [Some(0), Some(0)]);
        hear(&mut named, 0, 0, Step::Joined);
        hear(&mut named, 1, 1, Step::Joined);
        assert_eq!(sent(&mut named), [Some(1), Some(0)]);
        hear(&mut named, 1, 0, Step::Joined);
        assert_eq!(sent(&mut named), [Some(1), Some(2)]);
        hear(&mut named, 0, 0, Step::Left { response: Nanos::new(7) });
        hear(&mut named, 1, 0, Step::Dropped);
        assert_eq!(sent(&mut named), [Some(0), Some(0)]);
        assert_eq!(named.send(2, 0), None);
    }

    #[test]
    fn what_looks_at_nothing_is_refused() {
        assert_eq!(
            refused("local:random", &site(2)),
            "`local`: dispatcher is `random`, which does not look at the lengths of queues; take one that does, such as \
             `jsq`"
        );
    }
}
