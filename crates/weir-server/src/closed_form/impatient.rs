//! The closed form of a server whose requests leave: one queue in order of arrival, M/M/c+M.
//!
//! | | |
//! |-|-|
//! | Source | Palm, *Research on telephone traffic carried by full availability groups*, Tele 1, 1957 (Erlang-A), as [`weir_theory::MarkovQueue`] says |
//! | Needs | Poisson arrivals at one rate, exponential services and patience of one mean each, a queue that is never full, nothing between arrival and queue |
//! | Units | nanoseconds; a share of the requests |

use super::{Form, exponential, poisson};
use crate::model::{Class, ServerScenario};
use weir_core::pool::cfcfs;
use weir_core::spec::Spec;
use weir_theory::{Markov, MarkovQueue};
use weir_workload::duration::Law;

/// How the formula is called.
const FORMULA: &str = "Erlang-A, M/M/k+M: applies since arrivals are Poisson, with exponential services and patience of one mean each";

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
    let (Some(service), Some(patience)) = (exponential(server), patience(server)) else {
        return Err("with patience the closed form needs exponential services of one mean, and exponential patience of \
                    one mean in every class"
            .to_owned());
    };
    let gap = server.steady().map_or(f64::INFINITY, |open| open.mean_gap);
    let queue = Markov {
        arrival: service / gap,
        service: 1.0,
        servers: Some(server.site.servers),
        places: None,
        sources: None,
        patience: service / patience,
    };
    let means = MarkovQueue::new(queue).map_err(|error| error.to_string())?.means();
    let bound = server.site.queue.map_or_else(String::new, |_| ", as long as no queue is full".to_owned());
    let form = Form::Leaving { delay: means.wait_of_served * service, abandoned: means.abandoned };
    Ok((form, format!("{FORMULA}{bound}")))
}

/// The mean patience, where it is exponential with it in every class.
fn patience(server: &ServerScenario) -> Option<f64> {
    let of = |class: &Class| match class.patience {
        Some(Law::Exponential(mean)) => Some(mean.get() as f64),
        _ => None,
    };
    let first = of(server.classes.first()?)?;
    server.classes.iter().all(|class| of(class) == Some(first)).then_some(first)
}
