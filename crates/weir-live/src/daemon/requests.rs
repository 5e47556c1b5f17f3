//! What a router is asked over the control socket, and what its loop answers.
//!
//! What is ordered was read and checked by whoever passed it on; the loop does it, or refuses it with nothing changed.

use std::sync::Arc;

use weir_document::{Source, shorten};
use weir_plane::config::{Change, Router, read_successor};

use super::control::Orders;
use super::drops;
use super::inbox::Command;
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
    /// To take this router instead.
    Reload {
        /// The file it is of.
        file: String,
        /// The router, with the devices, memory and files of the present one.
        router: Box<Router>,
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

/// `self` is the router that the daemon began with: what cannot change while it runs is compared with it.
impl Orders for Router {
    type Order = Order;

    fn order(&self, request: Request) -> Result<Order, String> {
        Ok(match request {
            Request::Status => Order::Status,
            Request::Stats => Order::Stats,
            Request::Configuration => Order::Configuration,
            Request::Drops => Order::Drops,
            Request::TakeOver => Order::TakeOver,
            Request::HandOver => Order::HandOver,
            Request::Stop => Order::Stop,
            Request::Reload { file, text } => {
                let file = shorten(&file);
                let read = read_successor(&Source { name: &file, text: &text }, self);
                let router = Box::new(read.map_err(|refused| refused.to_string())?);
                Order::Reload { file, router }
            }
            Request::Set { interface, rate, discipline, propagation } => {
                let change = Change::read(rate.as_deref(), discipline.as_deref(), propagation.as_deref())?;
                Order::Set { interface, change }
            }
            Request::Policy { .. } | Request::Cores { .. } => {
                return Err(format!(
                    "`{}` is a router: only `weird steer` has a policy and processors",
                    self.name
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
        Order::Reload { file, router } => {
            let said = format!("{file} is in force");
            take(daemon, *router, said).inspect_done(|| daemon.parts.file = file)
        }
        Order::TakeOver => Answer::Links { links: daemon.links() },
        Order::HandOver => match daemon.hand_over() {
            Some(estate) => return reply.send_later(move || Answer::Estate(Box::new(estate))),
            None => Answer::refused("nobody has asked to take this router over: ask for its links first"),
        },
        Order::Set { interface, change } => set(daemon, &interface, &change),
        Order::Drain { interface, resume } => drain(daemon, interface.as_deref(), resume),
        Order::Stop => {
            daemon.end();
            Answer::Done { said: format!("ends after {} packets have left", daemon.waiting()) }
        }
    };
    reply.send(said);
}

impl Answer {
    /// Does something where it was done.
    fn inspect_done(self, act: impl FnOnce()) -> Self {
        if matches!(self, Self::Done { .. }) {
            act();
        }
        self
    }
}

/// Takes another configuration of the same devices.
fn take(daemon: &mut Still<'_>, router: Router, said: String) -> Answer {
    let now = daemon.parts.clock.now();
    let router = match router.following(&daemon.parts.router) {
        Ok(router) => router,
        Err(error) => return Answer::refused(error),
    };
    // What is wrong with a router is wrong for the first of them: nothing is changed where it refuses.
    let mut workers = daemon.workers.iter_mut();
    match workers.try_for_each(|worker| worker.plane.reload(now, router.clone(), &mut worker.arena)) {
        Ok(()) => {
            let said = core::iter::once(said).chain(router.advice()).collect::<Vec<_>>().join("\n");
            let devices = router.devices();
            for (place, device) in devices.iter().enumerate() {
                daemon.server(place).seat_mut(place).serve(router.vlans_of(device));
            }
            daemon.parts.router = Arc::new(router);
            Answer::Done { said }
        }
        Err(refused) => Answer::refused(refused.to_string()),
    }
}

fn set(daemon: &mut Still<'_>, interface: &str, change: &Change) -> Answer {
    match change.apply(&daemon.parts.router, interface) {
        Ok(router) => {
            let holds = router.place_of(interface).map_or(String::new(), |place| router.bound_at(place));
            take(daemon, router, format!("{interface} is changed until the next reload; {holds}"))
        }
        Err(error) => Answer::refused(error),
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
