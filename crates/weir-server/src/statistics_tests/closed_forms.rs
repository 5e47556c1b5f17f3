//! Whole runs against closed forms, and what is said where they differ or do not apply.

use std::sync::Arc;

use super::{constant, done, figure, nanos, played, played_by};
use crate::collector::Collector;
use crate::generators::{class, scenario};
use crate::job::{Ended, Job, Left};
use crate::model::{Balk, Closed, Process, ServerScenario, Service, Workload};
use crate::record::Sink;
use weir_lab::control::Watch;
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::result::TheoryRow;
use weir_lab::stats::figure::Figure;
use weir_workload::arrivals::{BatchSize, Batches, MarkovArrivals, Renewal};
use weir_workload::duration::Law;
use weir_workload::laws::Form;
use weir_workload::source::LengthTable;
use weir_workload::{Arrivals, ContinuousLaw};

/// Waits of constant services that are ten times those of the closed form.
fn wrong_delays(
    server: &ServerScenario,
    job: Job,
    sink: &mut Collector,
    _watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    let count = server.stop.duration.get() / 2_000;
    for number in 0..count {
        sink.done(&done(0, number * 2_000, number * 2_000 + 5_000 + u64::from(job.replication), 1_000));
    }
    Ok(Ended::Finished(Left { offered: count, done: count, ..Left::default() }))
}

/// Finding B11: a ring before the receiver, at loads of it below and above 1, against M/D/1/N.
#[test]
fn b11_a_bounded_ring_loses_what_the_closed_form_says() {
    for (dispatch, ring) in [(900, 1), (900, 4), (1_200, 4), (600, 2)] {
        let classes = vec![class("all", 1.0, constant(500))];
        let mut server = scenario(&["cfcfs", "rr"], 1, classes, 0.5).expect("specs");
        (server.costs.dispatch, server.ring) = (nanos(dispatch), Some(ring));
        (server.stop.warm_up, server.stop.duration) = (nanos(1_000_000), nanos(20_000_000));
        server.stop.replications = 40;
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok == Some(true)), "{:#?}", outcome.checks);
        assert!(outcome.course.unstable.is_none());
        // One is seen to besides those in the ring; a request comes every 1000 ns.
        let expected = weir_theory::md1n_loss(ring + 1, dispatch as f64 / 1_000.0).expect("a load");
        let dropped = figure(&outcome, ["cfcfs", "all", "dropped", "mean"]);
        let (lost, error) = (dropped.value.expect("a value"), dropped.standard_error.expect("an error"));
        assert!((lost - expected).abs() < 4.0 * error, "{dispatch} {ring}: {lost} ±{error}, {expected}");
        assert!(error < 0.05 * expected, "{error}");
    }
    let classes = vec![class("all", 1.0, constant(500))];
    let mut server = scenario(&["cfcfs"], 1, classes, 0.5).expect("specs");
    (server.costs.dispatch, server.stop.duration) = (nanos(1_200), nanos(1_000_000));
    let statement = played(&server, 1).expect("a statement").course.unstable.expect("a statement");
    assert!(statement.contains("server.ring"), "{statement}");
}

/// Of M/M/c+M, whose numbers present are a birth and death process: the share that abandons, and of cores that are busy.
/// Times in mean services.
fn erlang_a(cores: u32, load: f64, patience: f64) -> (f64, f64) {
    let (mut weight, mut all, mut waiting, mut busy) = (1.0, 0.0, 0.0, 0.0);
    let arrivals = load * f64::from(cores);
    for present in 0..2_000_u32 {
        all += weight;
        waiting += weight * f64::from(present.saturating_sub(cores));
        busy += weight * f64::from(present.min(cores));
        let next = present + 1;
        let leaves = f64::from(next.min(cores)) + f64::from(next.saturating_sub(cores)) / patience;
        weight *= arrivals / leaves;
    }
    (waiting / all / patience / arrivals, busy / all / f64::from(cores))
}

/// Palm, *Research on telephone traffic carried by full availability groups*, Tele 1, 1957.
#[test]
fn who_has_no_patience_abandons_as_the_closed_form_says() {
    for (cores, load, patience) in [(1, 0.9, 1.0), (3, 1.2, 2.0), (20, 1.0, 0.5)] {
        let service = 100_000;
        let mut classes = vec![class("all", 1.0, Law::Exponential(nanos(service)))];
        classes[0].patience = Some(Law::Exponential(nanos((service as f64 * patience) as u64)).into());
        let mut server = scenario(&["cfcfs"], cores, classes, load).expect("specs");
        server.stop.warm_up = nanos(20_000_000);
        server.stop.duration = nanos(400_000_000);
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        assert!(outcome.course.unstable.is_none() && outcome.theory.len() == 2);
        assert!(outcome.theory.iter().all(|row| row.agrees != Some(false)), "{:#?}", outcome.theory);
        assert!(outcome.theory[1].metric == "abandoned" && outcome.theory[1].agrees == Some(true));
        let (abandons, busy) = erlang_a(cores, load, patience);
        for (name, metric, expected) in [("all", "abandoned", abandons), ("all", "utilisation", busy)] {
            let found = figure(&outcome, ["cfcfs", name, metric, "mean"]);
            let (value, error) = (found.value.expect("a value"), found.standard_error.expect("an error"));
            // The half-width of a 99 % interval with 29 degrees of freedom.
            assert!(
                (value - expected).abs() < 2.756 * error,
                "{metric} {cores} {load}: {value} ±{error}, {expected}"
            );
            assert!(error < 0.01 * expected, "{metric}: {error}");
        }
        let totals = &outcome.class_totals[0];
        assert_eq!(totals.abandoned, Some(totals.dropped));
    }
}

/// Neuts, *Matrix-Geometric Solutions in Stochastic Models*, 1981, chapter 3: bursts, and gaps that alternate.
#[test]
fn one_core_waits_for_arrivals_of_phases_as_the_closed_form_says() {
    let bursts = MarkovArrivals::modulated(&vec![vec![-0.1, 0.1], vec![0.05, -0.05]], &[2.0, 0.5]);
    let (hidden, arriving) = (vec![vec![-4.0, 0.0], vec![0.0, -0.5]], vec![vec![0.0, 4.0], vec![0.5, 0.0]]);
    let alternating = MarkovArrivals::new(&hidden, &arriving);
    for (process, load) in [(bursts, 0.6), (alternating, 0.8)] {
        let process = Arc::new(process.expect("a process"));
        let classes = vec![class("all", 1.0, Law::Exponential(nanos(10_000)))];
        let mut server = scenario(&["cfcfs", "rr", "darc"], 1, classes, load).expect("specs");
        let Workload::Open(open) = &mut server.workload else { panic!("open") };
        open.process = Process::Arrivals(Arrivals::Markov(Arc::clone(&process)));
        server.stop.warm_up = nanos(20_000_000);
        server.stop.duration = nanos(400_000_000);
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        for name in ["cfcfs", "rr"] {
            let of_it = |row: &&TheoryRow| row.discipline.as_deref() == Some(name) && row.metric == "delay";
            let row = outcome.theory.iter().find(of_it).expect("a row");
            assert!(
                row.formula.starts_with("matrix-geometric, MAP/M/1") && row.agrees == Some(true),
                "{row:?}"
            );
            let delay = figure(&outcome, [name, "all", "delay", "mean"]);
            let (found, error) = (delay.value.expect("a value"), delay.standard_error.expect("an error"));
            let expected = row.value.expect("a value");
            // The half-width of a 99 % interval with 29 degrees of freedom.
            assert!((found - expected).abs() < 2.756 * error, "{load}: {found} ±{error}, {expected}");
            assert!(error < 0.02 * expected, "{error} {expected}");
        }
        let why = outcome.theory.iter().find(|row| row.value.is_none()).expect("darc has none");
        assert!(why.formula.contains("no closed form for darc with these arrivals"), "{why:?}");
        assert!(outcome.notes.iter().any(|note| note.contains("with the next")), "{:?}", outcome.notes);
    }
}

/// Baccelli and Hebuterne, Performance '81; with constant patience Barrer, Operations Research 5, 1957.
#[test]
fn patience_of_any_law_abandons_as_the_closed_form_says() {
    let service = 100_000;
    let lognormal = ContinuousLaw::lognormal(1.5 * service as f64, 1.5).expect("valid");
    let cases: [(&str, u32, f64, Vec<Service>); 4] = [
        ("Barrer", 1, 0.9, vec![constant(service).into()]),
        ("Barrer", 4, 1.3, vec![constant(service / 2).into()]),
        ("Baccelli", 3, 1.1, vec![Service::Textbook(Arc::new(lognormal.clone()))]),
        (
            "Baccelli",
            2,
            1.2,
            vec![Law::Uniform(nanos(0), nanos(2 * service)).into(), Service::Textbook(Arc::new(lognormal))],
        ),
    ];
    for (formula, cores, load, laws) in cases {
        let of = |patience: Service| {
            let mut class = class("some", 1.0, Law::Exponential(nanos(service)));
            class.patience = Some(patience);
            class
        };
        let mut server =
            scenario(&["cfcfs"], cores, laws.into_iter().map(of).collect(), load).expect("specs");
        (server.stop.warm_up, server.stop.duration) = (nanos(20_000_000), nanos(400_000_000));
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        for (row, metric) in outcome.theory.iter().zip(["delay", "abandoned"]) {
            assert!(row.metric == metric && row.formula.starts_with(formula), "{row:?}");
            let found = figure(&outcome, ["cfcfs", "all", metric, "mean"]);
            let (value, error) = (found.value.expect("a value"), found.standard_error.expect("an error"));
            let expected = row.value.expect("a form");
            // The half-width of a 99 % interval with 29 degrees of freedom.
            assert!(
                (value - expected).abs() < 2.756 * error,
                "{metric} {cores} {load}: {value} ±{error}, {expected}"
            );
            assert!(error < 0.02 * expected, "{metric}: {error}");
        }
    }
}

/// Erlang's loss formula holds for any law of services (Sevastyanov 1957): who would have to wait is lost, by a patience of next to
/// nothing.
#[test]
fn a_server_without_a_queue_loses_as_erlang_says_whatever_the_law() {
    let lognormal = ContinuousLaw::lognormal(100_000.0, 2.0).expect("valid");
    let services = [
        constant(100_000).into(),
        Service::Law(Law::Exponential(nanos(100_000))),
        Service::Textbook(Arc::new(lognormal)),
    ];
    let expected = weir_theory::erlang_b(4, 3.0);
    for service in services {
        let mut classes = vec![class("all", 1.0, constant(100_000))];
        (classes[0].service, classes[0].patience) = (service, Some(Law::Constant(nanos(1)).into()));
        let mut server = scenario(&["cfcfs"], 4, classes, 0.75).expect("specs");
        (server.stop.warm_up, server.stop.duration) = (nanos(20_000_000), nanos(400_000_000));
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        within(figure(&outcome, ["cfcfs", "all", "abandoned", "mean"]), expected);
    }
}

/// Engset 1918, with one place to wait: a number of clients think and send, and are lost where the place is taken.
#[test]
fn clients_of_a_small_server_lose_as_engset_says() {
    let mut classes = vec![class("all", 1.0, Law::Exponential(nanos(100_000)))];
    classes[0].balk = Some(Balk { at: 1, probability: 1.0 });
    let mut server = scenario(&["cfcfs"], 2, classes, 0.5).expect("specs");
    let think = Law::Exponential(nanos(200_000)).into();
    (server.workload, server.load) = (Workload::Closed(Closed { clients: 8, think }), None);
    (server.stop.warm_up, server.stop.duration) = (nanos(20_000_000), nanos(2_000_000_000));
    (server.stop.replications, server.measure.tails) = (30, false);
    let outcome = played(&server, 2).expect("a result");
    let queue = weir_theory::Markov {
        arrival: 0.5,
        service: 1.0,
        servers: Some(2),
        places: Some(3),
        sources: Some(8),
        patience: 0.0,
    };
    let means = weir_theory::MarkovQueue::new(queue).expect("valid").means();
    within(figure(&outcome, ["cfcfs", "all", "dropped", "mean"]), means.lost);
}

/// Mitzenmacher, and Vvedenskaya and others 1996: of very many servers, each request goes to the shorter queue of two.
#[test]
fn a_thousand_servers_answer_as_the_mean_field_of_two_choices_says() {
    for load in [0.7, 0.9] {
        let classes = vec![class("all", 1.0, Law::Exponential(nanos(100_000)))];
        let mut server = scenario(&["power_of_two"], 1_000, classes, load).expect("specs");
        // Empty at first: what is in the queues comes with some ten mean services over 1 - load.
        (server.stop.warm_up, server.stop.duration) = (nanos(15_000_000), nanos(20_000_000));
        (server.stop.replications, server.measure.tails) = (30, false);
        let outcome = played(&server, 2).expect("a result");
        let expected = weir_theory::jsq_response(2, load).expect("a load") * 1e-4;
        within(figure(&outcome, ["power_of_two", "all", "response", "mean"]), expected);
    }
}

/// Whether the half-width of a 99 % interval of 30 replications, with 29 degrees of freedom, reaches the closed form, and is narrow.
fn within(found: &Figure, expected: f64) {
    let (value, error) = (found.value.expect("a value"), found.standard_error.expect("an error"));
    assert!((value - expected).abs() < 2.756 * error, "{}: {value} ±{error}, {expected}", found.metric);
    assert!(error < 0.02 * expected, "{error} {expected}");
}

/// Haight, Biometrika 44, 1957; where all balk it is M/M/c/K, whose loss is that of [`weir_theory::MarkovQueue`].
#[test]
fn who_balks_is_as_many_as_the_closed_form_says() {
    for (cores, load, balk) in [
        (1, 1.2, Balk { at: 4, probability: 1.0 }),
        (3, 0.9, Balk { at: 2, probability: 1.0 }),
        (2, 1.1, Balk { at: 3, probability: 0.4 }),
    ] {
        let mut classes = vec![class("all", 1.0, Law::Exponential(nanos(100_000)))];
        classes[0].balk = Some(balk);
        let mut server = scenario(&["cfcfs"], cores, classes, load).expect("specs");
        (server.stop.warm_up, server.stop.duration) = (nanos(20_000_000), nanos(300_000_000));
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        let [delay, balked] = outcome.theory.as_slice() else { panic!("{:#?}", outcome.theory) };
        if balk.probability == 1.0 {
            let queue = weir_theory::Markov {
                arrival: load * f64::from(cores),
                service: 1.0,
                servers: Some(cores),
                places: Some(cores + balk.at as u32),
                sources: None,
                patience: 0.0,
            };
            let means = weir_theory::MarkovQueue::new(queue).expect("valid").means();
            assert!((balked.value.expect("a share") - means.lost).abs() < 1e-9);
            assert!((delay.value.expect("a time") * 1e4 - means.wait).abs() < 1e-9);
        }
        for row in [delay, balked] {
            let found = figure(&outcome, ["cfcfs", "all", row.metric, "mean"]);
            let (value, error) = (found.value.expect("a value"), found.standard_error.expect("an error"));
            let expected = row.value.expect("a form");
            // The half-width of a 99 % interval with 29 degrees of freedom.
            assert!(
                (value - expected).abs() < 2.756 * error,
                "{cores} {}: {value} ±{error}, {expected}",
                row.metric
            );
        }
        let totals = &outcome.class_totals[0];
        assert_eq!(totals.balked, Some(totals.dropped));
    }
}

/// Gaver 1959 and Burke 1975, as `weir_theory::batch_wait` has them: batches of every kind, services of two.
#[test]
fn one_core_waits_for_batches_as_the_closed_form_says() {
    let table = [(1, 0.7), (10, 0.3)];
    let table = BatchSize::Table(LengthTable::new(&table).expect("sizes"), table.to_vec());
    let mixed = || vec![class("short", 0.9, constant(1_000)), class("long", 0.1, constant(10_000))];
    let exponential = || vec![class("all", 1.0, Law::Exponential(nanos(10_000)))];
    for (size, classes, load) in [
        (BatchSize::Constant(3), mixed(), 0.5),
        (BatchSize::Geometric(4.0), exponential(), 0.7),
        (table, mixed(), 0.6),
    ] {
        let mut server = scenario(&["cfcfs"], 1, classes, load).expect("specs");
        let Workload::Open(open) = &mut server.workload else { panic!("open") };
        open.process =
            Process::Arrivals(Arrivals::Batches(Arc::new(Batches { of: Arrivals::Poisson, size })));
        server.stop.warm_up = nanos(20_000_000);
        server.stop.duration = nanos(400_000_000);
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        let row = &outcome.theory[0];
        assert!(row.formula.starts_with("Gaver, M^X/G/1") && row.agrees == Some(true), "{row:?}");
        let delay = figure(&outcome, ["cfcfs", "all", "delay", "mean"]);
        let (found, error) = (delay.value.expect("a value"), delay.standard_error.expect("an error"));
        let expected = row.value.expect("a value");
        // The half-width of a 99 % interval with 29 degrees of freedom.
        assert!((found - expected).abs() < 2.756 * error, "{load}: {found} ±{error}, {expected}");
        assert!(error < 0.02 * expected, "{error} {expected}");
    }
}

/// Each closed form is held against its simulation.
#[test]
fn closed_forms_agree_with_the_simulation() {
    let alike = vec![class("a", 0.5, constant(1_000)), class("b", 0.5, constant(1_000))];
    let exponential = vec![class("a", 1.0, Law::Exponential(nanos(1_000)))];
    let mixed = vec![class("short", 0.9, constant(1_000)), class("long", 0.1, constant(10_000))];
    let cases = [
        (&["cfcfs", "rr", "random"][..], 4, &alike, 0.8),
        (&["cfcfs", "random"][..], 3, &exponential, 0.7),
        (&["random"][..], 3, &mixed, 0.6),
        (&["cfcfs", "rr", "jsq", "flow_hash", "jbsq", "work_stealing"][..], 1, &mixed, 0.6),
        (&["short_first"][..], 1, &mixed, 0.8),
    ];
    for (names, cores, classes, load) in cases {
        let mut server = scenario(names, cores, classes.clone(), load).expect("specs");
        server.stop.warm_up = nanos(1_000_000);
        server.stop.duration = nanos(if classes.len() == 2 { 40_000_000 } else { 20_000_000 });
        server.stop.replications = 8;
        server.measure.tails = false;
        let outcome = played(&server, 2).expect("a result");
        for name in names {
            let of = |row: &&weir_lab::result::TheoryRow| row.discipline.as_deref() == Some(name);
            let rows: Vec<_> = outcome.theory.iter().filter(of).collect();
            assert!(!rows.is_empty(), "{name}");
            for row in rows {
                assert!(
                    row.agrees == Some(true),
                    "{row:?} on {cores}: {:?}",
                    figure(&outcome, [name, &row.class, row.metric, "mean"])
                );
            }
        }
    }
}

/// Pollaczek–Khinchine with the second moment of the law, on one core in order of arrival.
#[test]
fn services_of_the_textbooks_wait_as_pollaczek_and_khinchine_say() {
    let laws = [
        ContinuousLaw::lognormal(10_000.0, 1.5),
        ContinuousLaw::bounded_pareto(1.5, 3_000.0, 300_000.0),
        ContinuousLaw::gamma_of_mean(10_000.0, 0.5),
    ];
    for law in laws.map(|law| law.expect("valid")) {
        let (mean, square) = (law.mean().expect("finite"), law.second_moment().expect("finite"));
        let mut one = class("all", 1.0, constant(1));
        one.service = Service::Textbook(Arc::new(law.clone()));
        let mut server = scenario(&["cfcfs"], 1, vec![one], 0.6).expect("specs");
        server.stop.warm_up = nanos((2e3 * mean) as u64);
        server.stop.duration = nanos((4e4 * mean) as u64);
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        // λ E[S²] / 2(1 - ρ), in seconds.
        let expected = 0.6 / mean * square / (2.0 * 0.4) / 1e9;
        let found = figure(&outcome, ["cfcfs", "all", "delay", "mean"]);
        let (value, error) = (found.value.expect("a value"), found.standard_error.expect("an error"));
        assert!((value - expected).abs() < 2.756 * error, "{law:?}: {value} ±{error}, {expected}");
        assert!(error < 0.05 * expected, "{law:?}: {error} for {expected}");
        let stated = &outcome.theory[0];
        assert!(stated.formula.contains("Pollaczek") && stated.agrees == Some(true), "{stated:?}");
    }
}

/// GI/M/1: `σ = A*(μ (1 - σ))`, and the mean wait is `σ / (μ (1 - σ))` (Kleinrock, *Queueing Systems* 1, section 6.4).
#[test]
fn renewal_arrivals_wait_as_the_closed_form_of_exponential_services_says() {
    let (load, service) = (0.7, 10_000.0);
    let gap = service / load;
    let root = |transform: &dyn Fn(f64) -> f64| {
        (0..10_000).fold(0.5, |sigma: f64, _| transform((1.0 - sigma) / service))
    };
    let erlang = |s: f64| (1.0 + s * gap / 4.0).powi(-4);
    let hyper = Renewal::Hyperexponential(2.0).law(gap).expect("valid");
    let Form::Hyperexponential(branches) = hyper.form() else { panic!("branches") };
    let mixed = |s: f64| branches.iter().map(|(p, mean)| p / (1.0 + s * mean)).sum::<f64>();
    for (renewal, sigma) in
        [(Renewal::Erlang(4), root(&erlang)), (Renewal::Hyperexponential(2.0), root(&mixed))]
    {
        let classes = vec![class("all", 1.0, Law::Exponential(nanos(10_000)))];
        let mut server = scenario(&["cfcfs"], 1, classes, load).expect("specs");
        let Workload::Open(open) = &mut server.workload else { panic!("open") };
        open.process = Process::Arrivals(Arrivals::Renewal(renewal));
        server.stop.warm_up = nanos(20_000_000);
        server.stop.duration = nanos(300_000_000);
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        let expected = sigma / (1.0 - sigma) * service / 1e9;
        let found = figure(&outcome, ["cfcfs", "all", "delay", "mean"]);
        let (value, error) = (found.value.expect("a value"), found.standard_error.expect("an error"));
        assert!((value - expected).abs() < 2.756 * error, "{renewal:?}: {value} ±{error}, {expected}");
        assert!(error < 0.03 * expected, "{renewal:?}: {error} for {expected}");
    }
}

#[test]
fn services_of_infinite_variance_have_no_closed_form_and_a_warning() {
    let mut one = class("all", 1.0, constant(1));
    one.service = Service::Textbook(Arc::new(ContinuousLaw::pareto_of_mean(1.8, 1_000.0).expect("valid")));
    let mut server = scenario(&["cfcfs"], 1, vec![one], 0.5).expect("specs");
    server.stop.duration = nanos(5_000_000);
    let outcome = played(&server, 1).expect("a result");
    assert!(
        outcome.warnings.iter().any(|warning| warning.text.contains("variance of the services is infinite"))
    );
    let refused = crate::closed_form::form(&server, &server.specs[0]).expect_err("no form");
    assert!(refused.contains("variance of the services is infinite"), "{refused}");
}

#[test]
fn what_was_dropped_has_no_closed_form() {
    let mut server =
        scenario(&["cfcfs", "darc"], 1, vec![class("a", 1.0, constant(1_000))], 0.9).expect("specs");
    server.site.queue = Some(1);
    let outcome = played(&server, 1).expect("a result");
    assert!(outcome.theory[0].value.is_none() && outcome.theory[0].formula.contains("requests were dropped"));
    let alone = crate::report::theory_only(&server, &Frame::default());
    assert!(alone.estimates.is_empty() && alone.warnings.is_empty());
    assert!((alone.theory[0].value.expect("a delay") - 4_500e-9).abs() < 1e-15, "{:?}", alone.theory[0]);
    assert!(alone.theory[0].formula.ends_with("as long as no queue is full"));
    assert_eq!(alone.theory.last().expect("a row").formula, "no closed form for darc");
    server.load = Some(1.5);
    server.site.queue = None;
    let Workload::Open(open) = &mut server.workload else { panic!("open") };
    open.mean_gap = 1_000.0 / 1.5;
    assert!(crate::report::theory_only(&server, &Frame::default()).course.unstable.is_some());
}

/// Finding A1: nothing is judged by a run that is too short, and it says how long it must be.
#[test]
fn a1_a_closed_form_is_not_judged_by_a_short_run() {
    let mut server = scenario(&["cfcfs"], 1, vec![class("a", 1.0, constant(1_000))], 0.5).expect("specs");
    server.stop.replications = 8;
    server.stop.duration = nanos(20_000);
    let outcome = played_by(&server, 1, &wrong_delays);
    let delay = &outcome.theory[0];
    assert!(delay.value.is_some() && delay.agrees.is_none() && !delay.settled, "{delay:?}");
    assert!(outcome.warnings.iter().all(|one| !one.text.contains("by its closed form")));
    let settling = outcome.course.settling.expect("it is too short");
    let reason = settling.reason.expect("a reason");
    assert!(settling.longer > 1.0 && reason.contains("let a replication last at least"), "{reason}");
}

#[test]
fn a_closed_form_that_disagrees_is_told_with_both_values_cause_and_remedy() {
    let mut server = scenario(&["cfcfs"], 1, vec![class("a", 1.0, constant(1_000))], 0.5).expect("specs");
    server.stop.replications = 8;
    server.stop.duration = nanos(20_000_000);
    let told = |server: &ServerScenario, part: &str| {
        let outcome = played_by(server, 1, &wrong_delays);
        let warning = outcome.warnings.iter().find(|one| one.text.contains("by its closed form"));
        let text = &warning.unwrap_or_else(|| panic!("{:?}", outcome.warnings)).text;
        assert!(text.contains("the mean delay of all requests is 500.0 ns by its closed form"), "{text}");
        assert!(text.contains("us in the simulation, 99.9 % interval 4.9") && text.contains(part), "{text}");
    };
    told(&server, "another seed and more than 8 replications");
}
