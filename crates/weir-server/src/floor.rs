//! What the response is at the least, whatever the discipline: the service times alone.
//!
//! No response is shorter than its own service, and all disciplines are measured over the same requests, so that neither
//! the mean nor a quantile of the response is below that of the service times. Only who drops requests leaves some out.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(classes) of laws, by bisection of whole nanoseconds; O(requests log requests) of a trace |
//! | Units | seconds |

use crate::collector::measured;
use crate::model::{Class, ServerScenario, Service, Workload};
use weir_core::units::Instant;
use weir_lab::scenario::need::{Need, Side};
use weir_lab::stats::FAR_QUANTILES;
use weir_lab::stats::figure::ALL;
use weir_workload::duration::Law;
use weir_workload::requests::Requests;

/// The mean or a quantile of the service times of the requests that a need is about; `None` of what is no upper bound of
/// their response, and of extremes, which laws do not tell.
pub(crate) fn floor(server: &ServerScenario, need: &Need) -> Option<f64> {
    let leaves = server.has_patience() || server.has_deadline() || server.has_balking();
    if need.metric != "response" || need.side != Side::AtMost || leaves || server.fan_out.is_some() {
        return None;
    }
    let class = server.classes.iter().position(|class| class.name == need.name);
    let class = if need.kind == ALL { None } else { Some(class?) };
    let nanoseconds = match &server.workload {
        Workload::Trace(requests) => of_trace(server, requests, class, need.statistic)?,
        Workload::Open(_) | Workload::Closed(_) => of_laws(server, class, need.statistic)?,
    };
    Some(nanoseconds / 1e9)
}

fn probability(statistic: &str) -> Option<f64> {
    FAR_QUANTILES.into_iter().find(|(name, _)| *name == statistic).map(|(_, p)| p)
}

fn of_laws(server: &ServerScenario, class: Option<usize>, statistic: &str) -> Option<f64> {
    let shares = server.shares();
    let all: Vec<(f64, &Class)> = match class {
        Some(class) => vec![(1.0, &server.classes[class])],
        None => shares.into_iter().zip(&server.classes).collect(),
    };
    if statistic == "mean" {
        return Some(all.iter().map(|(share, class)| share * class.service.mean()).sum());
    }
    let p = probability(statistic)?;
    let reaches =
        |time: u64| all.iter().map(|(share, class)| share * class.service.cdf(time)).sum::<f64>() >= p;
    // The shares may sum to a little less than 1.
    let (mut below, mut at) = (0, u64::MAX >> 1);
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        if reaches(middle) { at = middle } else { below = middle }
    }
    reaches(at).then_some(at as f64)
}

fn of_trace(
    server: &ServerScenario,
    requests: &Requests,
    class: Option<usize>,
    statistic: &str,
) -> Option<f64> {
    let window = measured(server);
    let counts = |at: u64| {
        let at = Instant::new(at);
        window.from <= at && at < window.until
    };
    let rows = requests.at.iter().zip(&requests.class).zip(&requests.service);
    let counted =
        rows.filter(|((at, of), _)| counts(**at) && class.is_none_or(|class| usize::from(**of) == class));
    let mut services: Vec<u64> = counted.map(|(_, service)| *service).collect();
    services.sort_unstable();
    let count = services.len() as f64;
    match statistic {
        "mean" if count > 0.0 => Some(services.iter().map(|&service| service as f64).sum::<f64>() / count),
        "max" => services.last().map(|&longest| longest as f64),
        _ => {
            let rank = (probability(statistic)? * count).ceil().max(1.0) as usize;
            services.get(rank - 1).map(|&service| service as f64)
        }
    }
}

impl Service {
    /// The probability of a service of at most `time` nanoseconds.
    fn cdf(&self, time: u64) -> f64 {
        match self {
            Self::Law(Law::Constant(span)) => f64::from(u8::from(span.get() <= time)),
            Self::Law(Law::Exponential(mean)) => -libm::expm1(-(time as f64) / mean.get() as f64),
            Self::Law(Law::Uniform(low, high)) => {
                let (low, high) = (low.get() as f64, high.get() as f64);
                ((time as f64 - low + 1.0) / (high - low + 1.0)).clamp(0.0, 1.0)
            }
            Self::Sizes(sizes) => sizes.cdf(time),
            // Draws are rounded.
            Self::Textbook(law) => law.cdf(time as f64 + 0.5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::{class, scenario};
    use std::sync::Arc;
    use weir_core::units::Nanos;
    use weir_workload::Sizes;

    fn need(kind: &'static str, name: &str, statistic: &'static str) -> Need {
        let (metric, side, bound, unit) = ("response", Side::AtMost, 1.0, "s");
        Need { kind, name: name.to_owned(), load: None, metric, statistic, side, bound, unit, floor: None }
    }

    fn mixed() -> ServerScenario {
        let (short, long) = (Law::Constant(Nanos::new(1_000)), Law::Exponential(Nanos::new(1_000_000)));
        let classes = vec![class("short", 0.9, short), class("long", 0.1, long)];
        scenario(&["cfcfs"], 2, classes, 0.5).expect("specs")
    }

    fn of(server: &ServerScenario, kind: &'static str, name: &str, statistic: &'static str) -> Option<f64> {
        floor(server, &need(kind, name, statistic))
    }

    #[test]
    fn quantiles_of_laws_and_of_their_mixture() {
        let server = mixed();
        assert_eq!(of(&server, "class", "short", "p99"), Some(1e-6));
        let near = |found: Option<f64>, exact: f64| {
            assert!(found.is_some_and(|found| (found - exact).abs() < 2e-9), "{found:?}, {exact}");
        };
        near(of(&server, "class", "long", "p99"), 1e-3 * 100.0_f64.ln());
        near(of(&server, "class", "long", "mean"), 1e-3);
        // One in ten is long, and of those one in ten is beyond the p99 of all.
        near(of(&server, ALL, ALL, "p99"), 1e-3 * 10.0_f64.ln());
        near(of(&server, ALL, ALL, "p50"), 1e-6);
        near(of(&server, ALL, ALL, "mean"), 0.9e-6 + 1e-4);
        assert_eq!(of(&server, ALL, ALL, "max"), None);
    }

    #[test]
    fn even_services_and_tables() {
        let mut server = mixed();
        server.classes[0].service = Service::Law(Law::Uniform(Nanos::new(101), Nanos::new(200)));
        assert_eq!(of(&server, "class", "short", "p90"), Some(190.0 / 1e9));
        let sizes = Sizes::list(&[(5, 0.5), (700, 0.5)]).expect("a law");
        server.classes[0].service = Service::Sizes(Arc::new(sizes));
        assert_eq!(of(&server, "class", "short", "p50"), Some(5e-9));
        assert_eq!(of(&server, "class", "short", "p90"), Some(700e-9));
    }

    #[test]
    fn a_trace_tells_what_is_measured_of_it() {
        let mut server = mixed();
        let requests = Requests {
            at: vec![0, 10, 20, 30, 40],
            class: vec![0, 0, 1, 0, 0],
            service: vec![9_000, 1, 7_000, 3, 9_000],
            flow: vec![0; 5],
            patience: Vec::new(),
        };
        (server.stop.warm_up, server.stop.duration) = (Nanos::new(5), Nanos::new(40));
        server.workload = Workload::Trace(Arc::new(requests));
        assert_eq!(of(&server, ALL, ALL, "max"), Some(7_000e-9));
        assert_eq!(of(&server, "class", "short", "p50"), Some(1e-9));
        assert_eq!(of(&server, "class", "short", "mean"), Some(2e-9));
        server.stop.warm_up = Nanos::new(39);
        assert_eq!(of(&server, ALL, ALL, "p99"), None);
    }

    #[test]
    fn other_needs_have_none() {
        let server = mixed();
        for wrong in [
            Need { metric: "slowdown", ..need(ALL, ALL, "p99") },
            Need { metric: "delay", ..need(ALL, ALL, "p99") },
            Need { side: Side::AtLeast, ..need(ALL, ALL, "p99") },
        ] {
            assert_eq!(floor(&server, &wrong), None);
        }
    }
}
