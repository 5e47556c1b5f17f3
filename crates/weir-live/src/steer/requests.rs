//! What a daemon that steers is asked over the control socket, and what its loop answers.
//!
//! What can be checked without the loop is checked by whoever passes an order on; how many processors serve now, and so
//! whether a policy can be built for them, the loop knows alone.

use super::config::{Processors, Steering};
use super::control::Steered;
use super::daemon::Daemon;
use super::processors::usable;
use super::report::{
    ClassStats, LoopStats, ProcessorStats, ProcessorStatus, State, SteeringStats, SteeringStatus,
};
use crate::daemon::control::Orders;
use crate::daemon::protocol::{Answer, Request};

/// What the loop is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// To be answered by [`Answer::Steering`].
    Status,
    /// To be answered by [`Answer::Requests`].
    Stats,
    /// To be answered by [`Answer::Configuration`].
    Configuration,
    /// To take this policy.
    Policy(String),
    /// To spread requests over these processors.
    Processors(Processors),
    /// To end.
    Stop,
}

impl Orders for Steering {
    type Order = Order;

    fn order(&self, request: Request) -> Result<Order, String> {
        Ok(match request {
            Request::Status => Order::Status,
            Request::Stats => Order::Stats,
            Request::Configuration => Order::Configuration,
            Request::Stop => Order::Stop,
            Request::Policy { spec } => Order::Policy(spec),
            Request::Cores { processors } => {
                let read = Processors::parse(&processors).map_err(|reason| {
                    let shown = weir_document::shorten(&processors);
                    format!("processors is \"{shown}\", {reason}: write a list such as \"1-3\" or \"1,2,5\"")
                });
                Order::Processors(read?)
            }
            Request::Reload { .. }
            | Request::Set { .. }
            | Request::Drain { .. }
            | Request::Drops
            | Request::Subscribers
            | Request::TakeOver
            | Request::HandOver => {
                return Err(format!(
                    "`{}` steers and has no interfaces to change: ask for `policy`, `cores`, `status`, `stats`, \
                     `configuration` or `stop`",
                    self.name
                ));
            }
        })
    }
}

/// Does what is ordered.
pub(super) fn answer<S: Steered>(daemon: &mut Daemon<S>, order: Order) -> Answer {
    match order {
        Order::Status => figures(daemon, status, Answer::Steering),
        Order::Stats => figures(daemon, stats, |stats| Answer::Requests(Box::new(stats))),
        Order::Configuration => Answer::Configuration { text: daemon.control.steering.to_toml() },
        Order::Policy(spec) => set_policy(daemon, &spec),
        Order::Processors(processors) => set_processors(daemon, &processors),
        Order::Stop => {
            daemon.end();
            Answer::Done { said: "ends; what waits is still served".to_owned() }
        }
    }
}

fn set_policy<S: Steered>(daemon: &mut Daemon<S>, spec: &str) -> Answer {
    let now = daemon.parts.clock.now();
    match daemon.control.set_policy(now, spec) {
        Ok(spec) => Answer::Done { said: format!("{spec} is in force") },
        Err(error) => Answer::refused(error),
    }
}

fn set_processors<S: Steered>(daemon: &mut Daemon<S>, wanted: &Processors) -> Answer {
    let now = daemon.parts.clock.now();
    let done = usable(wanted, &daemon.parts.present).and_then(|usable| {
        daemon.control.set_processors(now, usable.processors.clone())?;
        let said = format!("requests are spread over {}", usable.processors);
        Ok(usable.notices.into_iter().chain([said]).collect::<Vec<_>>().join("; "))
    });
    done.map_or_else(Answer::refused, |said| Answer::Done { said })
}

/// What the kernel was asked for, or that it refuses.
fn figures<S: Steered, T>(
    daemon: &mut Daemon<S>,
    of: impl Fn(&mut Daemon<S>) -> std::io::Result<T>,
    answer: impl Fn(T) -> Answer,
) -> Answer {
    of(daemon).map_or_else(
        |error| Answer::refused(format!("the kernel gives no figures: {error}: ask again")),
        answer,
    )
}

fn status<S: Steered>(daemon: &mut Daemon<S>) -> std::io::Result<SteeringStatus> {
    let processors = processors(daemon)?;
    let states = daemon.control.queues.values().map(|queue| queue.is_open());
    let processors = processors.into_iter().zip(states).map(|(it, is_open)| ProcessorStatus {
        processor: it.processor,
        state: state(&it, is_open),
        thread: it.thread,
        priority: it.priority,
        waiting: it.waiting,
    });
    let (parts, steering) = (&daemon.parts, &daemon.control.steering);
    Ok(SteeringStatus {
        name: steering.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        process: std::process::id(),
        up_ns: parts.clock.now().get(),
        file: parts.file.clone(),
        interface: steering.interface.clone(),
        mode: parts.mode.clone(),
        pinned: steering.pin,
        counts_overflow: parts.counts_overflow,
        policy: steering.policy.to_string(),
        processors: processors.collect(),
        capabilities: parts.capabilities.clone(),
    })
}

fn state(it: &ProcessorStats, is_open: bool) -> State {
    match it {
        _ if !is_open && !it.online => State::Offline,
        _ if !is_open => State::Closed,
        it if it.draining => State::Draining,
        it if it.in_use => State::InUse,
        _ => State::Free,
    }
}

fn stats<S: Steered>(daemon: &mut Daemon<S>) -> std::io::Result<SteeringStats> {
    let processors = processors(daemon)?;
    let counts = daemon.control.counts()?;
    let control = &daemon.control;
    let names = control.steering.classes.names.iter();
    let classes = names.zip(&counts.delays).map(|(name, spans)| {
        let delay = spans.snapshot();
        ClassStats { name: name.clone(), requests: delay.count(), delay }
    });
    Ok(SteeringStats {
        name: control.steering.name.clone(),
        interface: control.steering.interface.clone(),
        at_ns: daemon.parts.clock.now().get(),
        policy: control.steering.policy.to_string(),
        in_use: control.in_use().len() as u32,
        parts: control.parts(),
        changes: control.changes,
        frames: counts.frames,
        processors,
        classes: classes.collect(),
        control: LoopStats {
            calls: control.calls,
            busy_ns: daemon.busy(),
            period_ns: control.policy.period().map_or(0, |period| period.get()),
        },
    })
}

/// The processors that have a queue or had one, in order.
fn processors<S: Steered>(daemon: &mut Daemon<S>) -> std::io::Result<Vec<ProcessorStats>> {
    let counts = daemon.control.counts()?.processors;
    let (control, used) = (&daemon.control, daemon.control.in_use());
    let each = control.queues.iter().map(|(&processor, queue)| {
        let counts = counts.iter().find(|counts| counts.processor == processor).copied().unwrap_or_default();
        ProcessorStats {
            processor,
            thread: queue.thread(),
            priority: queue.priority().to_owned(),
            online: control.online.0.contains(&processor),
            in_use: used.contains(&processor),
            draining: queue.is_draining(),
            steered: counts.steered,
            served: counts.served,
            dropped: counts.dropped,
            waiting: counts.waiting(),
        }
    });
    Ok(each.collect())
}
