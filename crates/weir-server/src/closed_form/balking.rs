//! The closed form of a server whose requests do not all join: one queue in order of arrival, M/M/c with balking.
//!
//! Where all balk that find `n` waiting it is M/M/c/K with `K = c + n`.
//!
//! | | |
//! |-|-|
//! | Source | Haight, *Queueing with balking*, Biometrika 44, 1957; Gross et al., *Fundamentals of Queueing Theory*, 4th edition, 2008, section 2.10.1: a birth and death process whose births are those that join |
//! | Needs | Poisson arrivals at one rate, exponential services of one mean, one rule for all classes, a queue that is never full, nothing between arrival and queue |
//! | Units | nanoseconds; a share of the requests |

use super::{Form, exponential, poisson};
use crate::model::ServerScenario;
use weir_core::pool::cfcfs;
use weir_core::spec::Spec;
use weir_theory::BirthDeath;

/// How the formula is called.
const FORMULA: &str = "birth and death, M/M/k with balking: applies since arrivals are Poisson, with exponential services of one mean and \
                       one rule for all";

/// The closed form where requests do not join that find many waiting.
///
/// # Errors
/// Why it does not apply.
pub(super) fn form(server: &ServerScenario, spec: &Spec) -> Result<(Form, String), String> {
    if spec.name != cfcfs::INFO.name {
        return Err(format!("no closed form for {} where requests do not join; cfcfs has one", spec.name));
    }
    poisson(server)?;
    if server.costs.hand_over.get() > 0 {
        return Err(format!(
            "with balking the closed form needs costs.hand_over of 0ns, it is {}",
            server.costs.hand_over
        ));
    }
    let rule = server.classes.first().and_then(|class| class.balk);
    let is_one = server.classes.iter().all(|class| class.balk == rule);
    let (Some(service), Some(rule), true) = (exponential(server), rule, is_one) else {
        return Err("with balking the closed form needs exponential services of one mean, and one rule for all classes"
            .to_owned());
    };
    let gap = server.steady().map_or(f64::INFINITY, |open| open.mean_gap);
    let cores = server.site.servers as usize;
    // In services.
    let arrival = service / gap;
    let waiting = |n: usize| n.saturating_sub(cores) as f64;
    let balks = |n: usize| match n >= cores && waiting(n) >= rule.at as f64 {
        true => rule.probability,
        false => 0.0,
    };
    let chain = BirthDeath::new(|n| arrival * (1.0 - balks(n)), |n| n.min(cores) as f64, None)
        .map_err(|error| error.to_string())?;
    let share = chain.mean(balks);
    let delay = chain.mean(waiting) / (arrival * (1.0 - share)) * service;
    let bound = server.site.queue.map_or_else(String::new, |_| ", as long as no queue is full".to_owned());
    Ok((Form::Leaving { delay, share, metric: "balked" }, format!("{FORMULA}{bound}")))
}
