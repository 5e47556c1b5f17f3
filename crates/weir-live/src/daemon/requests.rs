//! What the loop answers to an order that came over the control socket.
//!
//! What is ordered was read and checked by whoever passed it on; here it is done, or refused with nothing changed.

use super::inbox::Order;
use super::protocol::{Answer, InterfaceStatus, Status};
use super::run::Daemon;
use crate::config::{Change, Router};

/// Does what is ordered.
pub(super) fn answer(daemon: &mut Daemon, order: Order) -> Answer {
    match order {
        Order::Status => Answer::Status(status(daemon)),
        Order::Stats => Answer::Stats(Box::new(daemon.snapshot())),
        Order::Configuration => Answer::Configuration { text: daemon.parts.router.to_toml() },
        Order::Reload { file, router } => {
            let said = format!("{file} is in force");
            take(daemon, *router, said).inspect_done(|| daemon.parts.file = file)
        }
        Order::Set { interface, change } => set(daemon, &interface, &change),
        Order::Drain { interface, resume } => drain(daemon, interface.as_deref(), resume),
        Order::Stop => {
            daemon.end();
            Answer::Done { said: format!("ends after {} packets have left", daemon.parts.plane.waiting()) }
        }
    }
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

/// Takes another configuration of the same interfaces.
fn take(daemon: &mut Daemon, router: Router, said: String) -> Answer {
    let now = daemon.parts.clock.now();
    match daemon.parts.plane.reload(now, router.clone(), &mut daemon.parts.arena) {
        Ok(()) => {
            daemon.parts.router = router;
            Answer::Done { said }
        }
        Err(refused) => Answer::refused(refused.to_string()),
    }
}

fn set(daemon: &mut Daemon, interface: &str, change: &Change) -> Answer {
    match change.apply(&daemon.parts.router, interface) {
        Ok(router) => take(daemon, router, format!("{interface} is changed until the next reload")),
        Err(error) => Answer::refused(error),
    }
}

fn drain(daemon: &mut Daemon, interface: Option<&str>, resume: bool) -> Answer {
    let places = match interface.map(|name| daemon.parts.router.place_of(name)) {
        None => 0..daemon.parts.seats.len(),
        Some(Ok(place)) => place..place + 1,
        Some(Err(error)) => return Answer::refused(error),
    };
    for place in places {
        if resume {
            daemon.parts.plane.resume(place);
        } else {
            daemon.parts.plane.drain(place);
        }
    }
    let whose = interface.unwrap_or("every interface");
    let said = if resume {
        format!("{whose} takes packets again")
    } else {
        format!(
            "{whose} takes nothing new until `resume`; {} packets wait in all",
            daemon.parts.plane.waiting()
        )
    };
    Answer::Done { said }
}

fn status(daemon: &Daemon) -> Status {
    let now = daemon.parts.clock.now();
    let snapshot = daemon.snapshot();
    let interfaces = snapshot.interfaces.iter().enumerate().map(|(place, interface)| InterfaceStatus {
        name: interface.name.clone(),
        means: interface.means.clone(),
        up: interface.up,
        discipline: interface.discipline.clone(),
        rate: interface.rate.clone().unwrap_or_else(|| "none".to_owned()),
        waiting: interface.classes.iter().map(|class| class.waiting.packets).sum(),
        draining: daemon.parts.plane.is_draining(place),
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
