//! The closed form of a server whose requests leave: one queue in order of arrival, M/M/c+G.
//!
//! | | |
//! |-|-|
//! | Source | Palm, *Research on telephone traffic carried by full availability groups*, Tele 1, 1957 (Erlang-A), as [`weir_theory::MarkovQueue`] says; Baccelli and Hebuterne, *On queues with impatient customers*, Performance '81, and with constant patience Barrer, *Queuing with impatient customers and ordered service*, Operations Research 5, 1957, as [`weir_theory::impatient`] says |
//! | Needs | Poisson arrivals at one rate, exponential services of one mean, a patience in every class, of a law whose mean up to a time is known here; a queue that is never full, nothing between arrival and queue |
//! | Units | nanoseconds; a share of the requests |

use super::{Form, exponential, poisson};
use crate::model::{Class, ServerScenario, Service};
use weir_core::pool::cfcfs;
use weir_core::spec::Spec;
use weir_theory::{Markov, MarkovQueue, TheoryError, impatient, mean_up_to};
use weir_workload::ContinuousLaw;
use weir_workload::duration::Law;
use weir_workload::laws::Form as Written;

/// How the formulas are called.
const ERLANG: &str = "Erlang-A, M/M/k+M: applies since arrivals are Poisson, with exponential services and patience of one mean each";
const BARRER: &str = "Barrer, M/M/k+D: applies since arrivals are Poisson, with exponential services of one mean and one patience";
const GENERAL: &str =
    "Baccelli-Hebuterne, M/M/k+G: applies since arrivals are Poisson, with exponential services of one mean";

/// The closed form where requests of a class do not wait for ever.
///
/// # Errors
/// Why it does not apply.
pub(super) fn form(server: &ServerScenario, spec: &Spec) -> Result<(Form, String), String> {
    if spec.name != cfcfs::INFO.name {
        return Err(format!("no closed form for {} where requests leave; cfcfs has one", spec.name));
    }
    poisson(server)?;
    if server.costs.hand_over.get() > 0 {
        return Err(format!(
            "with patience the closed form needs costs.hand_over of 0ns, it is {}",
            server.costs.hand_over
        ));
    }
    let Some(service) = exponential(server) else {
        return Err("with patience the closed form needs exponential services of one mean".to_owned());
    };
    let gap = server.steady().map_or(f64::INFINITY, |open| open.mean_gap);
    let (formula, made) = match common(server) {
        Some(Law::Exponential(mean)) => (ERLANG, erlang(server, service / gap, service / mean.get() as f64)),
        Some(Law::Constant(_)) => (BARRER, general(server, service, gap)?),
        _ => (GENERAL, general(server, service, gap)?),
    };
    let (wait, share) = made.map_err(|error| error.to_string())?;
    let bound = server.site.queue.map_or_else(String::new, |_| ", as long as no queue is full".to_owned());
    Ok((Form::Leaving { delay: wait * service, share, metric: "abandoned" }, format!("{formula}{bound}")))
}

/// The wait of those who are served, in services, and the share that leaves.
type Made = Result<(f64, f64), TheoryError>;

fn erlang(server: &ServerScenario, arrival: f64, patience: f64) -> Made {
    let (servers, places, sources) = (Some(server.site.servers), None, None);
    let queue = Markov { arrival, service: 1.0, servers, places, sources, patience };
    let means = MarkovQueue::new(queue)?.means();
    Ok((means.wait_of_served, means.abandoned))
}

/// # Errors
/// Why the patience of a class has no form.
fn general(server: &ServerScenario, service: f64, gap: f64) -> Result<Made, String> {
    let of = |class: &Class| {
        let law = class.patience.as_ref();
        law.and_then(stays).ok_or_else(|| {
            format!(
                "with patience the closed form needs one in every class, of a law without steps and corners, which `{}` has not",
                class.name
            )
        })
    };
    let classes: Vec<Stays> = server.classes.iter().map(of).collect::<Result<_, _>>()?;
    let shares = server.shares();
    // In services: of all requests together, of which each is of a class by its share.
    let all =
        |x: f64| classes.iter().zip(&shares).map(|(stays, share)| share * stays(x * service)).sum::<f64>();
    let means = impatient(service / gap, 1.0, server.site.servers, |x| all(x) / service);
    Ok(means.map(|means| (means.wait_of_served, means.abandoned)))
}

/// The mean of the lesser of a patience and a time, both in nanoseconds.
type Stays = Box<dyn Fn(f64) -> f64>;

fn stays(patience: &Service) -> Option<Stays> {
    match patience {
        Service::Law(Law::Constant(span)) => {
            let span = span.get() as f64;
            Some(Box::new(move |x| x.min(span)))
        }
        Service::Law(Law::Exponential(mean)) => {
            let mean = mean.get() as f64;
            Some(Box::new(move |x| -mean * libm::expm1(-x / mean)))
        }
        Service::Law(Law::Uniform(from, to)) => {
            let (from, to) = (from.get() as f64, to.get() as f64);
            Some(Box::new(move |x| {
                let within = (x.min(to) - from).max(0.0);
                x.min(from) + within - within * within / (2.0 * (to - from).max(1.0))
            }))
        }
        Service::Textbook(law) if is_smooth(law) => {
            let law = law.clone();
            Some(Box::new(move |x| mean_up_to(|time| law.survival(time), x)))
        }
        Service::Sizes(_) | Service::Textbook(_) => None,
    }
}

/// Whether the probability of a longer time has neither steps nor corners, over which it is integrated.
fn is_smooth(law: &ContinuousLaw) -> bool {
    match law.form() {
        Written::Exponential { .. }
        | Written::Erlang { .. }
        | Written::Gamma { .. }
        | Written::Lognormal { .. }
        | Written::Weibull { .. }
        | Written::Hyperexponential(_)
        | Written::PhaseType(_) => true,
        Written::Mixture(parts) => parts.iter().all(|(_, law)| is_smooth(law)),
        _ => false,
    }
}

/// The patience, where it is one law of whole nanoseconds in every class.
fn common(server: &ServerScenario) -> Option<Law> {
    let of = |class: &Class| match class.patience {
        Some(Service::Law(law)) => Some(law),
        _ => None,
    };
    let first = of(server.classes.first()?)?;
    server.classes.iter().all(|class| of(class) == Some(first)).then_some(first)
}
