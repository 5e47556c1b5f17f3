//! Closed forms of one core whose arrivals are not Poisson: MAP/M/1 and M^X/G/1.
//!
//! | arrivals | services | source |
//! |-|-|-|
//! | at a rate that depends on a hidden phase | exponential, of one mean | Neuts, *Matrix-Geometric Solutions in Stochastic Models*, 1981, chapter 3, as [`weir_theory::MapM1`] says |
//! | Poisson, in batches | any | Gaver 1959; Burke 1975, as [`weir_theory::batch_wait`] says |
//!
//! | | |
//! |-|-|
//! | Needs | arrivals at one mean rate, one core, a queue in order of arrival that is never full |
//! | Units | nanoseconds |
//! | Work | O(phases³) |

use super::{Form, RULES, Way, exponential, without_costs};
use crate::model::{Open, Process, ServerScenario};
use weir_core::spec::Spec;
use weir_theory::{Batch, Map, MapM1, batch_wait};
use weir_workload::Arrivals;
use weir_workload::arrivals::{Batches, MarkovArrivals};

/// How the formulas are called.
const PHASES: &str = "matrix-geometric, MAP/M/1: applies since arrivals are Markovian, with one core and exponential services of one mean";
const BATCHES: &str = "Gaver, M^X/G/1: applies since arrivals are Poisson in batches, with one core";

/// The closed form of a discipline; `None` where arrivals are of neither kind.
///
/// # Errors
/// Why it does not apply.
pub(super) fn form(server: &ServerScenario, spec: &Spec) -> Option<Result<(Form, String), String>> {
    let open = server.steady()?;
    let found = match &open.process {
        Process::Arrivals(Arrivals::Markov(process)) => {
            in_order(server, spec).and_then(|()| Ok((phases(server, open, process)?, PHASES)))
        }
        Process::Arrivals(Arrivals::Batches(batches)) if batches.of == Arrivals::Poisson => {
            in_order(server, spec).and_then(|()| Ok((in_batches(server, open, batches)?, BATCHES)))
        }
        _ => return None,
    };
    let bound = server.site.queue.map_or_else(String::new, |_| ", as long as no queue is full".to_owned());
    Some(
        found.map(|(wait, formula)| {
            (Form::Delays(vec![wait; server.classes.len()]), format!("{formula}{bound}"))
        }),
    )
}

/// Refuses what does not serve in order of arrival on one core.
fn in_order(server: &ServerScenario, spec: &Spec) -> Result<(), String> {
    // With one core whatever has the form of M/G/1 does.
    let is_it = RULES.iter().any(|rule| matches!(rule.way, Way::Single) && rule.is_of(&spec.name));
    if !is_it || !spec.arguments.iter().all(|argument| argument.key.as_deref() == Some("seed")) {
        return Err(format!("no closed form for {spec} with these arrivals; cfcfs on one core has one"));
    }
    if server.site.servers > 1 {
        return Err(format!(
            "the closed form of these arrivals needs one core, there are {}",
            server.site.servers
        ));
    }
    if server.retry.is_some() {
        return Err("closed forms need clients who do not try again".to_owned());
    }
    without_costs(server)
}

/// The mean wait in MAP/M/1.
fn phases(server: &ServerScenario, open: &Open, process: &MarkovArrivals) -> Result<f64, String> {
    let Some(service) = exponential(server) else {
        return Err("the closed form of Markovian arrivals needs exponential services of one mean".to_owned());
    };
    let (hidden, arriving) = process.rates();
    // In mean gaps, at a rate of 1.
    let queue = Map::new(hidden, arriving).and_then(|map| MapM1::new(&map, open.mean_gap / service));
    Ok(queue.map_err(|error| error.to_string())?.mean_wait() * open.mean_gap)
}

/// The mean wait in M^X/G/1.
fn in_batches(server: &ServerScenario, open: &Open, batches: &Batches) -> Result<f64, String> {
    let (service, square) = (server.mean_service(), server.second_moment());
    if square.is_infinite() {
        return Err("the variance of the services is infinite, and so is the mean wait".to_owned());
    }
    let scv = (square / (service * service) - 1.0).max(0.0);
    let batch = Batch { mean: batches.size.mean(), scv: batches.size.scv() };
    batch_wait(1.0 / batches.gap(open.mean_gap), batch, service, scv).map_err(|error| error.to_string())
}
