//! Which formulas a queue has, and which is the next that has some.

use crate::kendall::{Arrivals, Kendall, Law, Order};

/// Queues that the same formulas hold for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// M/M/c/K/N+M.
    Markov,
    /// M/G/c/c, M/G/∞, with sources too: as M/M, whatever the law of service.
    Insensitive,
    /// G/G/∞: Little's law.
    Unlimited,
    /// M/G/1 in some order.
    Single,
    /// M/D/c.
    Constant,
    /// M/D/1/K.
    ConstantLoss,
    /// D/M/1 and E_k/M/1.
    Renewal,
    /// M^X/G/1.
    Batches,
    /// G/G/c.
    General,
}

impl Family {
    pub(super) fn of(queue: &Kendall) -> Option<Self> {
        let Kendall { arrivals, service, servers, places, sources, patience, order } = *queue;
        let is_poisson = arrivals == Arrivals::Single(Law::Exponential);
        let is_plain = places.is_none() && sources.is_none() && patience.is_none();
        let is_fcfs = order == Order::Fcfs;
        match (arrivals, servers) {
            (Arrivals::Single(_), None) if is_plain && is_fcfs => {
                Some(if is_poisson { Self::Insensitive } else { Self::Unlimited })
            }
            (_, None) if is_poisson && patience.is_none() && is_fcfs => Some(Self::Insensitive),
            (_, None) => None,
            (_, Some(_)) if is_poisson && is_fcfs && patience.is_none() && places == servers => {
                Some(Self::Insensitive)
            }
            (_, Some(1)) if is_poisson && is_plain => is_known(service, order).then_some(Self::Single),
            (_, Some(_)) if is_poisson && service == Law::Exponential => {
                is_markov(patience, order).then_some(Self::Markov)
            }
            (_, Some(1)) if is_poisson && service == Law::Constant && is_fcfs => {
                (sources.is_none() && patience.is_none()).then_some(Self::ConstantLoss)
            }
            (Arrivals::Batches(_), Some(1)) if is_plain && is_fcfs => Some(Self::Batches),
            (Arrivals::Single(law), Some(_)) if is_plain && is_fcfs => Some(match (law, service, servers) {
                (Law::Exponential, Law::Constant, _) => Self::Constant,
                (Law::Constant | Law::Erlang(_), Law::Exponential, Some(1)) => Self::Renewal,
                _ => Self::General,
            }),
            _ => None,
        }
    }
}

/// Whether M/G/1 has a form: by the law of sizes, of which `E_k` and `G` say too little, or without it.
fn is_known(service: Law, order: Order) -> bool {
    let by_size = matches!(order, Order::Sjf | Order::Psjf | Order::Srpt | Order::Las);
    !by_size || matches!(service, Law::Exponential | Law::Constant)
}

/// Whether a queue without memory has a form: the order must ignore sizes, and the patient must be those the chain knows.
fn is_markov(patience: Option<Law>, order: Order) -> bool {
    match order {
        Order::Fcfs | Order::Lcfs | Order::Siro => matches!(patience, None | Some(Law::Exponential)),
        Order::Ps | Order::LcfsPr | Order::Las => patience.is_none(),
        _ => false,
    }
}

/// Whether the mean response is that of any law of service.
pub(super) fn is_insensitive(queue: &Kendall) -> bool {
    matches!(queue.order, Order::Ps | Order::LcfsPr)
}

/// The next queue that has a form: with a discipline, a bound or a law fewer.
pub(super) fn neighbour(queue: &Kendall) -> Option<Kendall> {
    let fcfs = |queue: Kendall| Kendall { order: Order::Fcfs, ..queue };
    let exponential = |queue: Kendall| Kendall {
        service: Law::Exponential,
        patience: queue.patience.map(|_| Law::Exponential),
        ..queue
    };
    let poisson = |queue: Kendall| Kendall { arrivals: Arrivals::Single(Law::Exponential), ..queue };
    let endless = |queue: Kendall| Kendall { places: None, sources: None, patience: None, ..queue };
    let one = |queue: Kendall| Kendall { servers: queue.servers.and(Some(1)), ..queue };
    let changes: [&dyn Fn(Kendall) -> Kendall; 9] = [
        &exponential,
        &fcfs,
        &|queue| exponential(fcfs(queue)),
        &poisson,
        &endless,
        &one,
        &|queue| exponential(poisson(queue)),
        &|queue| endless(fcfs(queue)),
        &|queue| exponential(poisson(fcfs(endless(queue)))),
    ];
    changes.iter().map(|change| change(*queue)).find(|other| Family::of(other).is_some())
}
