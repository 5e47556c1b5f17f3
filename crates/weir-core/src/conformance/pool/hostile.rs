//! Sequences of operations without sense, which no pool answers with a panic.

use super::super::Random;
use crate::discipline::CountDrops;
use crate::item::{ClassId, FlowId, Message};
use crate::pool::{Delays, Measured, Pool, ReceiverId, ServerId, Site};
use crate::units::{Instant, Nanos};

/// Applies `operations` without sense: servers, receivers and classes that are none, grants left open, requests returned
/// that were never granted, costs and times at the ends of their ranges, time that runs backwards.
///
/// # Panics
/// The pool does.
pub fn hostile_pool<P: Pool<Message<Nanos>>>(pool: &mut P, site: &Site, seed: u64, operations: u32) {
    let mut random = Random::new(seed);
    let mut granted: Vec<Message<Nanos>> = Vec::new();
    let mut drops = CountDrops::default();
    for id in 0..operations {
        let now = Instant::new(random.extreme());
        let (flow, class) = (FlowId(random.flow()), ClassId(random.class()));
        let stranger = Message { id, flow, class, remaining: Nanos::new(random.extreme()) };
        let item = granted.pop().filter(|_| random.one_in(2)).unwrap_or(stranger);
        let server = ServerId(if random.one_in(16) { u32::MAX } else { random.pick(site.servers) });
        let receiver = ReceiverId(if random.one_in(16) { u32::MAX } else { random.pick(site.receivers) });
        let used = Nanos::new(random.extreme());
        match random.below(8) {
            0..=2 => drop(pool.enqueue(now, stranger, receiver, &mut drops)),
            3 | 4 => granted.extend(pool.dequeue(now, server, &mut drops).map(|assigned| assigned.item)),
            5 => pool.requeue(now, server, item, used, &mut drops),
            6 => pool.finish(now, server, &item, used),
            _ => {
                let delays = Delays { requests: random.below(3), delay: used };
                let classes = vec![delays; random.below(4) as usize];
                pool.control(now, &Measured { classes: &classes, oldest: used, busy: used });
                let _ = (pool.wake(now), pool.wakes_at());
            }
        }
        let _ = (pool.backlog(), pool.length(server), pool.in_use(), pool.moved(), pool.effort());
    }
}
