//! All that another configuration needs, built before a running router takes it: by any thread, while packets move.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(routes log routes + prefixes log prefixes + classes); allocates |
//! | Memory | of an interface with subscribers two queues: one that may fail to hold what waits, and one for after it |
//! | Units | none |

use std::collections::HashMap;

use weir_core::packet::htb::Htb;
use weir_core::packet::priority::Make;
use weir_core::registry::{PacketFactory, packet_factory, with_seeds};
use weir_core::spec::Spec;
use weir_core::units::Instant;
use weir_document::Refused;

use super::Plane;
use super::classify::Classifier;
use super::hand_over::Part;
use super::parked::Handle;
use super::routes::Routes;
use super::subscribers::Subscribed;
use super::succession::Boxed;
use super::vlan::Trunks;
use crate::arena::Arena;
use crate::config::{Router, Subscribers};

/// A configuration with its tables and queues.
pub struct Successor {
    pub(super) router: Router,
    pub(super) classifier: Classifier,
    pub(super) routes: Routes,
    pub(super) trunks: Trunks,
    /// What the queue of each interface holds, in words.
    pub(super) holds: Vec<String>,
    /// By interface.
    pub(super) queues: Vec<Queues>,
    /// By interface; nothing where there are no subscribers.
    pub(super) subscribed: Vec<Option<Subscribed>>,
}

impl core::fmt::Debug for Successor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Successor").field("name", &self.router.name).finish_non_exhaustive()
    }
}

/// Makes queues of an interface; the first ones are there already.
pub(super) struct Queues {
    ready: Vec<Boxed<Handle>>,
    make: PacketFactory<Handle>,
}

impl Queues {
    /// Those of the interface at this place, none of them made yet.
    pub(super) fn new(router: &Router, at: usize, seed: u64) -> Result<Self, Refused> {
        Ok(Self { ready: Vec::new(), make: build(router, at, seed)? })
    }

    /// An empty queue.
    pub(super) fn next(&mut self) -> Boxed<Handle> {
        self.ready.pop().unwrap_or_else(|| (self.make)())
    }
}

/// What a configuration leaves that is in force no more. To drop it takes some time, which a loop has not.
#[derive(Default)]
pub struct Remains(Vec<Box<dyn Send>>);

impl Remains {
    /// Keeps something until all is dropped.
    pub(super) fn keep(&mut self, what: impl Send + 'static) {
        self.0.push(Box::new(what));
    }
}

impl core::fmt::Debug for Remains {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Remains").field(&self.0.len()).finish()
    }
}

impl Successor {
    /// What one of the planes of a router needs of a configuration; `seed` is that of the planes.
    ///
    /// # Errors
    /// A discipline refuses its arguments.
    pub fn new(router: Router, part: &Part, seed: u64) -> Result<Self, Refused> {
        let (mut queues, mut subscribed) = (Vec::new(), Vec::new());
        let mut part = part.clone();
        part.set_devices(router.device_places());
        for (at, interface) in router.interfaces.iter().enumerate() {
            let named = interface.subscribers.as_ref().filter(|_| part.serves(at));
            let mut of = Queues::new(&router, at, seed)?;
            of.ready.extend(named.into_iter().flat_map(|_| [(of.make)(), (of.make)()]));
            queues.push(of);
            subscribed.push(named.map(Subscribed::new));
        }
        let (classifier, routes) = (Classifier::new(&router, seed), Routes::new(&router));
        let (trunks, holds) = (Trunks::new(&router), router.bounds());
        Ok(Self { router, classifier, routes, trunks, holds, queues, subscribed })
    }
}

impl Plane {
    /// Builds what this plane needs of another configuration.
    ///
    /// # Errors
    /// A discipline refuses its arguments.
    pub fn prepare(&self, router: Router) -> Result<Successor, Refused> {
        Successor::new(router, self.part(), self.seed)
    }

    /// Takes another configuration of the same interfaces: it is built first, and nothing is changed where that fails.
    /// What waits moves over in order; nothing is lost, nothing is reordered within a flow, counters go on.
    ///
    /// # Errors
    /// A discipline refuses its arguments, or the interfaces are others.
    pub fn reload(&mut self, now: Instant, router: Router, arena: &mut Arena) -> Result<(), Refused> {
        let successor = self.prepare(router)?;
        self.replace(now, successor, arena).map(drop)
    }
}

/// What makes the discipline of an interface.
pub(super) fn build(router: &Router, at: usize, seed: u64) -> Result<PacketFactory<Handle>, Refused> {
    let seed = seed ^ (at as u64 + 1) << 32;
    match &router.interfaces[at].subscribers {
        None => Ok(seeded(router, at, &router.discipline_at(at), seed)?.1),
        Some(named) => of_subscribers(router, at, named, seed),
    }
}

/// A spec with its seeds, and what makes its discipline.
fn seeded(
    router: &Router,
    at: usize,
    spec: &Spec,
    seed: u64,
) -> Result<(Spec, PacketFactory<Handle>), Refused> {
    let interface = &router.interfaces[at];
    let mut random = weir_core::random::Random::new(seed);
    let spec = with_seeds(spec, &mut || random.bits());
    let make = packet_factory(&spec).map_err(|error| {
        Refused::of_file(&router.name, error.to_string(), "name a discipline of packets with such arguments")
            .key(format!("interface.{}.discipline", interface.name))
            .value(interface.discipline.to_string())
    })?;
    Ok((spec, make))
}

/// `htb` over all subscribers, with the discipline of the interface in each.
fn of_subscribers(
    router: &Router,
    at: usize,
    named: &Subscribers,
    seed: u64,
) -> Result<PacketFactory<Handle>, Refused> {
    let (config, _) = named.table.shares(router.interfaces[at].rate.unwrap_or_default())?;
    config.check().map_err(|error| {
        Refused::of_file(named.table.file(), error.to_string(), "change the rates of its lines")
    })?;
    // Few differ: what they hold follows from the ceilings, of which there are as many as tariffs.
    let (mut specs, mut known) = (Vec::new(), HashMap::new());
    let mut of_class = Vec::with_capacity(config.classes.len());
    for class in &config.classes {
        let most = router.subscriber_queue(at, class.ceiling);
        let place = match known.get(&most) {
            Some(place) => *place,
            None => {
                let spec = router.subscriber_discipline(at, class.ceiling);
                specs.push(seeded(router, at, &spec, seed)?.0);
                known.insert(most, specs.len() - 1);
                specs.len() - 1
            }
        };
        of_class.push(place);
    }
    Ok(Box::new(move || {
        let make = |spec| packet_factory(spec).expect("it has been made before");
        let makers: Vec<PacketFactory<Handle>> = specs.iter().map(make).collect();
        let of_class = of_class.clone();
        let make: Make<Handle> = Box::new(move |class| makers[of_class[class]]());
        Box::new(Htb::new(&config, make).expect("it has been checked"))
    }))
}
