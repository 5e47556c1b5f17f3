//! Closed forms of requests that go to several cores, each with a queue of its own in order of arrival.
//!
//! | what | response | status | source |
//! |-|-|-|-|
//! | all of two cores | [`weir_theory::fork_join_pair`] | exact | Flatto and Hahn 1984; Nelson and Tantawi 1988 |
//! | all of `n` cores | [`weir_theory::fork_join`] | approximation, not held against the simulation | Nelson and Tantawi 1988 |
//! | the first of `d` of `n` cores, where the others are stopped | [`weir_theory::redundancy`] | exact | Gardner et al. 2017 |
//!
//! | | |
//! |-|-|
//! | Needs | Poisson arrivals at one rate, exponential services of one mean that each sub-request draws, queues that are never full, nothing but a constant time between arrival and queue |
//! | Units | nanoseconds |

use super::{Form, exponential, poisson};
use crate::model::{Cancel, Draws, FanOut, ServerScenario};
use weir_core::spec::Spec;
use weir_theory::{MAX_LOAD, TheoryError, fork_join, fork_join_pair, redundancy};

/// Dispatchers under which all cores have one sub-request each, where there are as many.
const DISPATCHERS: [&str; 6] = ["random", "rr", "flow_hash", "jsq", "least_work", "power_of_two"];
/// The one whose cores are drawn evenly.
const EVEN: &str = "random";

/// How the approximation begins.
pub(crate) const ABOUT: &str = "Nelson-Tantawi, fork-join of all cores, an approximation";

/// The closed form where requests go to several cores.
///
/// # Errors
/// Why it does not apply.
pub(super) fn form(server: &ServerScenario, spec: &Spec, fan_out: FanOut) -> Result<(Form, String), String> {
    poisson(server)?;
    let FanOut { to, need, cancel, service, hedge } = fan_out;
    if hedge.is_some() {
        return Err("no closed form with second copies".to_owned());
    }
    let (cores, is_all) = (server.site.servers, to == server.site.servers);
    let is_even = spec.name == EVEN;
    let is_first = need == 1 && cancel == Cancel::All && (is_all || is_even);
    let is_join = need == to && is_all;
    if !DISPATCHERS.contains(&spec.name.as_str()) || !(is_first || is_join) {
        return Err(
            "closed forms of a fan-out need sub-requests at all cores under a dispatcher, all of which are \
                    needed, or the first of some under random, with `cancel = \"all\"`"
                .to_owned(),
        );
    }
    let Some(mean) = exponential(server).filter(|_| service == Draws::Own && !server.has_patience()) else {
        return Err("closed forms of a fan-out need exponential services of one mean, a draw for each sub-request, and \
                    requests that wait for ever"
            .to_owned());
    };
    let gap = server.steady().map_or(f64::INFINITY, |open| open.mean_gap);
    let arrival = mean / gap;
    let load = if is_first { arrival / f64::from(cores) } else { arrival };
    if load.is_nan() || load > MAX_LOAD {
        return Err(format!("closed forms need a load below 1, it is {load}"));
    }
    let (response, formula) = numbers(cores, arrival, (to, is_first)).map_err(|error| error.to_string())?;
    let bound = server.site.queue.map_or_else(String::new, |_| ", as long as no queue is full".to_owned());
    let because = "applies since arrivals are Poisson, with exponential services of one mean, drawn for each sub-request";
    let response = response * mean + server.costs.hand_over.get() as f64;
    Ok((Form::Response(response), format!("{formula}: {because}{bound}")))
}

/// The mean response in services, and how the formula is called.
fn numbers(
    cores: u32,
    arrival: f64,
    (to, is_first): (u32, bool),
) -> Result<(f64, &'static str), TheoryError> {
    Ok(match cores {
        _ if is_first => (redundancy(cores, to, arrival, 1.0)?, "Gardner et al., redundancy-d"),
        2 => (fork_join_pair(arrival, 1.0)?, "Flatto-Hahn, fork-join of two"),
        _ => (fork_join(cores, arrival, 1.0)?, ABOUT),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed_form;
    use crate::generators::{class, scenario};
    use weir_core::units::Nanos;
    use weir_workload::duration::Law;

    fn of(name: &str, cores: u32, fan_out: FanOut) -> Result<(Form, String), String> {
        let classes = vec![class("a", 1.0, Law::Exponential(Nanos::new(1_000)))];
        // One request in two services, whatever the number of cores.
        let mut server = scenario(&[name], cores, classes, 0.5 / f64::from(cores)).expect("specs");
        server.fan_out = Some(fan_out);
        closed_form::form(&server, &server.specs[0])
    }

    fn fan_out(to: u32, need: u32, cancel: Cancel) -> FanOut {
        FanOut { to, need, cancel, service: Draws::Own, hedge: None }
    }

    #[test]
    fn what_is_exact_what_is_near_and_what_has_none() {
        let cancel = Cancel::Waiting;
        let (form, formula) = of("random", 2, fan_out(2, 2, cancel)).expect("a form");
        assert!(formula.starts_with("Flatto-Hahn"), "{formula}");
        assert!(matches!(form, Form::Response(response) if response > 1_500.0), "{form:?}");
        let (_, formula) = of("jsq", 4, fan_out(4, 4, cancel)).expect("a form");
        assert!(formula.starts_with(ABOUT), "{formula}");
        let (_, formula) = of("random", 4, fan_out(2, 1, Cancel::All)).expect("a form");
        assert!(formula.starts_with("Gardner"), "{formula}");
        for (name, fan_out) in [
            ("cfcfs", fan_out(2, 2, cancel)),
            ("rr", fan_out(2, 1, Cancel::All)),
            ("random", fan_out(2, 2, cancel)),
            ("random", fan_out(4, 2, cancel)),
            ("random", FanOut { service: Draws::Shared, ..fan_out(4, 4, cancel) }),
        ] {
            assert!(of(name, 4, fan_out).is_err(), "{name} {fan_out:?}");
        }
        // A request that goes to one core is any other.
        assert!(of("random", 4, fan_out(1, 1, cancel)).expect("a form").1.starts_with("Pollaczek"));
    }
}
