//! Whether anything of a network is random: gaps and sizes, jitter, the seeds of disciplines.
//!
//! Where nothing is, every replication is the same: one is run, and its figures are exact. Transfers draw nothing; replayed
//! packets do not either.
//!
//! Source: the project's own. Work O(nodes + links + flows).

use crate::model::{Delay, Flow, Jitter, Link, NetworkScenario, Traffic};
use weir_core::registry::with_seeds;
use weir_core::spec::Spec;
use weir_tg::Distribution;

/// Whether anything of a network is random.
#[must_use]
pub fn is_random(network: &NetworkScenario) -> bool {
    let nodes = || network.nodes.iter().any(|node| jitters(node.processing));
    nodes() || network.links.iter().any(of_link) || network.flows.iter().any(of_flow)
}

fn jitters(delay: Delay) -> bool {
    delay.jitter != Jitter::None
}

fn of_link(link: &Link) -> bool {
    link.jitter != Jitter::None || link.disciplines.iter().any(is_seeded)
}

/// Whether a replication gives a discipline, or one that it wraps, a seed of its own.
fn is_seeded(spec: &Spec) -> bool {
    let mut drawn = false;
    drop(with_seeds(spec, &mut || {
        drawn = true;
        0
    }));
    drawn
}

fn of_flow(flow: &Flow) -> bool {
    let drawn = |law: &Distribution| !matches!(law, Distribution::Constant(_));
    let traffic = match &flow.traffic {
        Traffic::Drawn(own) => own.gap.is_random() || own.size.is_random(),
        Traffic::Script(script, _) => {
            script.bursts.iter().any(|burst| drawn(&burst.arrival) || drawn(&burst.length))
        }
        Traffic::Replay(_) | Traffic::Tcp(_) => false,
    };
    // The phase of a host's timers may be drawn.
    traffic || flow.tick.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, exponential, seconds};
    use crate::run::run;
    use weir_core::units::{Bytes, Nanos};
    use weir_lab::control::Control;
    use weir_lab::provenance::Frame;

    /// Two flows of equal gaps over one link.
    fn plan(discipline: &str) -> Plan {
        let mut plan = Plan::new(2, &[discipline, "fifo:limit=3pkt"], 0.2);
        plan.link((0, 1), 1_000_000, None);
        for _ in 0..2 {
            plan.flow(&[0], Plan::drawn(Distribution::Constant(5e-3), Distribution::Constant(500.0)));
        }
        plan
    }

    #[test]
    fn a5_what_is_random_is_found() {
        let with = |change: &dyn Fn(&mut Plan)| {
            let mut plan = plan("fifo");
            change(&mut plan);
            is_random(&plan.0)
        };
        assert!(!with(&|_| ()));
        assert!(with(&|plan| plan.0.links[0].jitter = Jitter::Uniform(Nanos::new(9))));
        assert!(with(&|plan| plan.0.nodes[1].processing.jitter = Jitter::Exponential(Nanos::new(9))));
        assert!(with(&|plan| {
            plan.flow(&[0], Plan::drawn(exponential(5e-3), Distribution::Constant(500.0)));
        }));
        let replay = std::sync::Arc::new(vec![(Nanos::new(7), Bytes::new(100))]);
        assert!(!with(&|plan| plan.0.flows[0].traffic = Traffic::Replay(std::sync::Arc::clone(&replay))));
        assert!(is_random(&plan("sfq:queues=3").0) && !is_random(&plan("sfq:queues=3,seed=1").0));
        assert!(is_random(&plan("tbf(sfq:queues=3,rate=900kbit,burst=3kB)").0));
    }

    #[test]
    fn a5_without_chance_one_replication_is_told_and_its_figures_are_exact() {
        let mut plan = plan("fifo");
        plan.0.stop.duration = seconds(0.2);
        plan.0.stop.replications = 1;
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let (threads, progress) = (std::num::NonZeroUsize::MIN, &mut |_| ());
        let control = &mut Control { threads, cancel: &cancel, progress, records: None };
        let outcome = run(&plan.0, &Frame::default(), control).expect("a result");
        assert!(!outcome.course.random);
        let mean = outcome.estimates.iter().find(|row| row.metric == "delay" && row.statistic == "mean");
        let mean = mean.expect("a row");
        assert_eq!((mean.low, mean.high), (mean.value, mean.value));
        assert_eq!(mean.method.as_deref(), Some("exact: nothing is random"));
        let text = serde_json::to_string(&outcome).expect("JSON");
        assert!(text.contains(r#""random":false"#));
    }
}
