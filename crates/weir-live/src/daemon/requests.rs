//! What a router is asked over the control socket, and what its loop answers.
//!
//! What is ordered was read and checked by whoever passed it on; the loop does it, or refuses it with nothing changed.

use std::sync::{Arc, Mutex, PoisonError};

use weir_document::{Refused, Source, shorten};
use weir_plane::config::{Change, Router, read_successor};
use weir_plane::subscribers::Reading;
use weir_plane::{Part, Successor};

use super::control::Orders;
use super::drops;
use super::inbox::{Command, Reply};
use super::protocol::{Answer, InterfaceStatus, Request, Status};
use super::run::Still;

/// What the loop of a router is asked to do; everything in it has been read and checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// To be answered by [`Answer::Status`].
    Status,
    /// To be answered by [`Answer::Stats`].
    Stats,
    /// To be answered by [`Answer::Configuration`].
    Configuration,
    /// To be answered by [`Answer::Subscribers`].
    Subscribers,
    /// To take this router instead.
    Reload {
        /// The file it is of.
        file: String,
        /// The router, with the sockets, memory and files of the present one.
        router: Arc<Router>,
        /// What its workers need.
        ready: Ready,
    },
    /// To change one interface.
    Set {
        /// Its name.
        interface: String,
        /// What changes.
        change: Change,
    },
    /// To let out what waits and take nothing new, or to end that.
    Drain {
        /// The name of the interface; all without one.
        interface: Option<String>,
        /// To take packets again.
        resume: bool,
    },
    /// To be answered by [`Answer::Drops`].
    Drops,
    /// To be answered by [`Answer::Links`].
    TakeOver,
    /// To be answered by [`Answer::Estate`].
    HandOver,
    /// To end, after what waits has left.
    Stop,
}

/// What each worker needs of a router, built by whoever orders it, so that the loop has only to take it; taken once.
#[derive(Clone, Debug)]
pub struct Ready(Arc<Mutex<Option<Built>>>);

/// What is taken.
#[derive(Debug)]
struct Built {
    successors: Vec<Successor>,
    /// What the operator should know of the router.
    advice: Vec<String>,
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Ready {
    fn build(router: &Router, seed: u64) -> Result<Self, Refused> {
        let of = router.workers as usize;
        let one = |this| Successor::new(router.clone(), &Part::new(this, of), seed);
        let successors = (0..of).map(one).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Mutex::new(Some(Built { successors, advice: router.advice() })))))
    }

    fn take(&self) -> Option<Built> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The router that is in force, for whoever builds the one after it.
#[derive(Clone, Debug)]
pub struct InForce(Arc<Mutex<Arc<Router>>>);

impl InForce {
    /// This one.
    #[must_use]
    pub fn new(router: Arc<Router>) -> Self {
        Self(Arc::new(Mutex::new(router)))
    }

    fn get(&self) -> Arc<Router> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, router: &Arc<Router>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(router);
    }
}

/// A router as its daemon began.
#[derive(Clone, Debug)]
pub struct Began {
    /// What cannot change while it runs is compared with it.
    pub router: Router,
    /// The interfaces of this one keep their places.
    pub in_force: InForce,
    /// The seed of its planes.
    pub seed: u64,
}

impl Orders for Began {
    type Order = Order;

    fn order(&self, request: Request) -> Result<Order, String> {
        Ok(match request {
            Request::Status => Order::Status,
            Request::Stats => Order::Stats,
            Request::Configuration => Order::Configuration,
            Request::Subscribers => Order::Subscribers,
            Request::Drops => Order::Drops,
            Request::TakeOver => Order::TakeOver,
            Request::HandOver => Order::HandOver,
            Request::Stop => Order::Stop,
            Request::Reload { file, text } => {
                let read = read_successor(&Source { name: &file, text: &text }, &self.router);
                let router = read.map_err(|refused| refused.to_string())?.following(&self.in_force.get())?;
                let ready = Ready::build(&router, self.seed).map_err(|refused| refused.to_string())?;
                Order::Reload { file: shorten(&file), router: Arc::new(router), ready }
            }
            Request::Set { interface, rate, discipline, propagation } => {
                let change = Change::read(rate.as_deref(), discipline.as_deref(), propagation.as_deref())?;
                Order::Set { interface, change }
            }
            Request::Policy { .. } | Request::Cores { .. } => {
                return Err(format!(
                    "`{}` is a router: only `weird steer` has a policy and processors",
                    self.router.name
                ));
            }
            Request::Drain { interface, resume } => Order::Drain { interface, resume },
        })
    }
}

/// Does what is ordered, and answers.
pub(super) fn answer(daemon: &mut Still<'_>, Command { order, reply }: Command<Order>) {
    let said = match order {
        Order::Status => Answer::Status(status(daemon)),
        Order::Stats => Answer::Stats(Box::new(daemon.snapshot())),
        Order::Configuration => {
            let router = Arc::clone(&daemon.parts.router);
            return reply.send_later(move || Answer::Configuration { text: router.to_toml() });
        }
        Order::Drops => {
            let gathered = drops::gathered(daemon.workers.iter().map(|worker| worker.arena.dropped()));
            let names = daemon.parts.router.interfaces.iter().map(|interface| interface.name.clone());
            return reply.send_later(drops::answer(gathered, daemon.parts.clock.now(), names.collect()));
        }
        Order::Subscribers => {
            let readings = daemon.subscribers();
            return reply.send_later(move || Answer::Subscribers {
                interfaces: readings.iter().map(Reading::snapshot).collect(),
            });
        }
        Order::Reload { file, router, ready } => {
            let Some(built) = ready.take() else {
                return reply.send(Answer::refused("it was taken already"));
            };
            let said = format!("{file} is in force");
            daemon.parts.file = file;
            return take(daemon, router, built, said, reply);
        }
        Order::TakeOver => Answer::Links { links: daemon.links() },
        Order::HandOver => match daemon.hand_over() {
            Some(estate) => return reply.send_later(move || Answer::Estate(Box::new(estate))),
            None => Answer::refused("nobody has asked to take this router over: ask for its links first"),
        },
        Order::Set { interface, change } => return set(daemon, &interface, &change, reply),
        Order::Drain { interface, resume } => drain(daemon, interface.as_deref(), resume),
        Order::Stop => {
            daemon.end();
            Answer::Done { said: format!("ends after {} packets have left", daemon.waiting()) }
        }
    };
    reply.send(said);
}

/// Takes another configuration of the same devices. What it leaves is dropped by whoever asked.
fn take(daemon: &mut Still<'_>, router: Arc<Router>, built: Built, said: String, reply: Reply) {
    let Built { successors, advice } = built;
    let now = daemon.parts.clock.now();
    let mut remains = Vec::new();
    // What is wrong with a router is wrong for the first of them: nothing is changed where it refuses.
    for (worker, successor) in daemon.workers.iter_mut().zip(successors) {
        match worker.plane.replace(now, successor, &mut worker.arena) {
            Ok(left) => remains.push(left),
            Err(refused) => return reply.send(Answer::refused(refused.to_string())),
        }
    }
    for (place, device) in router.devices().iter().enumerate() {
        daemon.server(place).seat_mut(place).serve(router.vlans_of(device));
    }
    daemon.parts.in_force.set(&router);
    let before = core::mem::replace(&mut daemon.parts.router, router);
    reply.send_later(move || {
        drop((remains, before));
        Answer::Done { said: core::iter::once(said).chain(advice).collect::<Vec<_>>().join("\n") }
    });
}

fn set(daemon: &mut Still<'_>, interface: &str, change: &Change, reply: Reply) {
    let built = change.apply(&daemon.parts.router, interface).and_then(|router| {
        let successors = daemon.workers.iter().map(|worker| worker.plane.prepare(router.clone()));
        let successors =
            successors.collect::<Result<_, _>>().map_err(|refused: Refused| refused.to_string())?;
        let holds = router.place_of(interface).map_or(String::new(), |place| router.bound_at(place));
        Ok((Built { successors, advice: router.advice() }, Arc::new(router), holds))
    });
    match built {
        Ok((built, router, holds)) => {
            let said = format!("{interface} is changed until the next reload; {holds}");
            take(daemon, router, built, said, reply);
        }
        Err(error) => reply.send(Answer::refused(error)),
    }
}

fn drain(daemon: &mut Still<'_>, interface: Option<&str>, resume: bool) -> Answer {
    let places = match interface.map(|name| daemon.parts.router.place_of(name)) {
        None => 0..daemon.parts.router.interfaces.len(),
        Some(Ok(place)) => place..place + 1,
        Some(Err(error)) => return Answer::refused(error),
    };
    for place in places {
        daemon.set_draining(place, !resume);
    }
    let whose = interface.unwrap_or("every interface");
    let said = if resume {
        format!("{whose} takes packets again")
    } else {
        format!("{whose} takes nothing new until `resume`; {} packets wait in all", daemon.waiting())
    };
    Answer::Done { said }
}

fn status(daemon: &Still<'_>) -> Status {
    let now = daemon.parts.clock.now();
    let snapshot = daemon.snapshot();
    let router = &daemon.parts.router;
    let is_here = |at: usize| router.interfaces.get(at).is_some_and(|it| !it.is_removed);
    let present = snapshot.interfaces.iter().enumerate().filter(|(at, _)| is_here(*at));
    let interfaces = present.map(|(place, interface)| InterfaceStatus {
        name: interface.name.clone(),
        means: interface.means.clone(),
        up: interface.up,
        discipline: interface.discipline.clone(),
        holds: interface.holds.clone(),
        rate: interface.rate.clone().unwrap_or_else(|| "none".to_owned()),
        waiting: interface.classes.iter().map(|class| class.waiting.packets).sum(),
        draining: daemon.workers[0].plane.is_draining(place),
    });
    Status {
        name: daemon.parts.router.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        process: std::process::id(),
        up_ns: now.get(),
        file: daemon.parts.file.clone(),
        interfaces: interfaces.collect(),
        capabilities: daemon.parts.standing.capabilities.clone(),
        priority: daemon.parts.standing.priority.clone(),
    }
}
