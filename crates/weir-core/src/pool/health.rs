//! A dispatcher that stops sending to a server from which nothing has come back for too long.
//!
//! A server is left out while it has requests and, for `after`, has neither finished one nor been idle. It is sent to again once
//! it has finished one. A request that the dispatcher inside would send to a server that is left out goes to the next one that
//! is not, by its number; where all are left out, none is. Servers that are left out look longer than all others.
//!
//! | | |
//! |-|-|
//! | Source | passive health checks, as in HAProxy (`observe`) and Envoy (outlier detection), with the panic threshold at the last server |
//! | Needs to know | when requests come to servers and leave them |
//! | Work per request | O(servers) and that of the dispatcher inside |
//! | Units | `after`: time |
//! | Memory | four words per server |
//! | Departs from the source | time without an answer, where they count errors, of which there are none here |

use super::lengths::{Lengths, controlled_inside};
use super::terms::A_SECOND;
use super::{Dispatcher, Heard, ReceiverId, Sees, ServerId, Servers, Site, Step};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::registry::dispatcher;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "health",
    kind: Kind::Dispatcher,
    title: "health checks",
    rule: "nothing is sent to a server that has requests and has finished none for too long, until it does",
    source: "passive health checks, as in HAProxy and Envoy",
    work: "O(servers)",
    parameters: &[
        Parameter::new("dispatcher", Takes::Discipline(Role::Dispatcher), "jsq")
            .listed("a dispatcher that does not look at work")
            .meaning("decides among the servers that are not left out"),
        Parameter::new("after", Takes::Span(Nanos::ONE..=A_SECOND), "10ms")
            .meaning("how long a server may have requests without finishing one"),
    ],
    example: "health(jsq,after=1ms)",
};

/// What is known of a server.
#[derive(Clone, Copy, Debug)]
struct State {
    length: u32,
    /// When it last finished a request or was idle.
    alive: Instant,
}

/// A dispatcher with health checks.
pub struct Health<I> {
    inside: Box<dyn Dispatcher<I> + Send>,
    after: Nanos,
    states: Vec<State>,
    /// What the dispatcher inside sees.
    lengths: Vec<u32>,
    redirected: u64,
}

impl<I: Item<Cost = Nanos> + Send + 'static> Health<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let spec = arguments.nested("dispatcher")?;
        let inside = dispatcher::<I>(&spec, site)?;
        if inside.sees() == Sees::Work {
            let reason = format!(
                "is `{}`, which looks at work; take one that looks at lengths or at nothing, such as `jsq`",
                spec.name
            );
            return Err(arguments.error("dispatcher", reason));
        }
        let servers = site.servers as usize;
        Ok(Self {
            inside,
            after: arguments.span("after")?,
            states: vec![State { length: 0, alive: Instant::ZERO }; servers],
            lengths: vec![0; servers],
            redirected: 0,
        })
    }
}

impl<I> Health<I> {
    fn is_left_out(&self, now: Instant, server: u32) -> bool {
        let state = self.states[server as usize];
        state.length > 0 && now.since(state.alive) >= self.after
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for Health<I> {
    fn sees(&self) -> Sees {
        self.inside.sees()
    }

    fn dispatch(
        &mut self,
        now: Instant,
        item: &I,
        receiver: ReceiverId,
        servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        let count = self.states.len() as u32;
        let all_out = (0..count).all(|server| self.is_left_out(now, server));
        for server in 0..count {
            let hidden = !all_out && self.is_left_out(now, server);
            self.lengths[server as usize] = if hidden { u32::MAX } else { servers.length(ServerId(server)) };
        }
        let ServerId(chosen) = self.inside.dispatch(now, item, receiver, &Lengths(&self.lengths))?;
        if all_out || chosen >= count || !self.is_left_out(now, chosen) {
            return Ok(ServerId(chosen));
        }
        self.redirected += 1;
        let next =
            (1..count).map(|step| (chosen + step) % count).find(|server| !self.is_left_out(now, *server));
        next.map(ServerId).ok_or(DropReason::NoServer)
    }

    controlled_inside!();

    fn redirected(&self) -> u64 {
        self.inside.redirected() + self.redirected
    }

    fn hears(&self) -> bool {
        true
    }

    fn heard(&mut self, now: Instant, heard: &Heard) {
        if let Some(state) = self.states.get_mut(heard.server.0 as usize) {
            let was_idle = state.length == 0;
            if was_idle || matches!(heard.step, Step::Left { .. }) {
                state.alive = now;
            }
            state.length = heard.length;
        }
        if self.inside.hears() {
            self.inside.heard(now, heard);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::ServerId;
    use crate::pool::testing::{Driven, pool_named, refused, request, site};

    fn lengths<const N: usize>(pool: &Driven) -> [u32; N] {
        core::array::from_fn(|server| pool.pool.length(ServerId(server as u32)).expect("a length"))
    }

    #[test]
    fn a_server_that_answers_nothing_is_left_out_until_it_does() {
        let mut pool = pool_named("health(rr,after=50ns)", &site(3));
        pool.offer_all(3);
        [1, 2].into_iter().for_each(|server| pool.finish(40, server));
        // At 49 it is still the first one's turn; at 50 it is passed over.
        pool.offer(49, request(3, 0, 100));
        assert_eq!(lengths(&pool), [2, 0, 0]);
        [4, 5, 6].into_iter().for_each(|id| _ = pool.offer(60, request(id, 0, 100)));
        assert_eq!((lengths(&pool), pool.pool.moved()), ([2, 2, 1], 1));
        // It answers at 70.
        pool.finish(70, 0);
        [7, 8, 9].into_iter().for_each(|id| _ = pool.offer(71, request(id, 0, 100)));
        assert_eq!((lengths(&pool), pool.pool.moved()), ([2, 3, 2], 1));
    }

    #[test]
    fn where_all_are_left_out_none_is() {
        let mut pool = pool_named("health(jsq,after=10ns)", &site(2));
        [(0, 0), (0, 1), (9, 2)].into_iter().for_each(|(at, id)| _ = pool.offer(at, request(id, 0, 100)));
        assert_eq!(lengths(&pool), [2, 1]);
        pool.offer(10, request(3, 0, 100));
        assert_eq!(lengths(&pool), [2, 2]);
        // The second answers: the first, as short, is left out.
        pool.finish(12, 1);
        pool.offer(13, request(4, 0, 100));
        pool.offer(13, request(5, 0, 100));
        assert_eq!((lengths(&pool), pool.pool.moved()), ([2, 3], 0));
    }

    #[test]
    fn who_looks_at_work_is_refused() {
        assert_eq!(
            refused("health(least_work,after=1ms)", &site(2)),
            "`health`: dispatcher is `least_work`, which looks at work; take one that looks at lengths or at nothing, such \
             as `jsq`"
        );
    }
}
