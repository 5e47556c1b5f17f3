//! Which closed form belongs to which discipline of a pool, what it needs of a scenario, and its numbers.
//!
//! The table is `RULES`: listings, `weir theory` and the comparison with a simulation all read it. Of several rules the
//! first that holds is taken. All of them need Poisson arrivals at one rate, a load below 1, a discipline without arguments
//! (but a seed), and nothing between arrival and queue but a constant time; their numbers are of queues without bound.
//!
//! | | |
//! |-|-|
//! | Source | as `weir_theory` says of each formula; Poisson arrivals split at random are Poisson (Kingman, *Poisson Processes*, 1993, section 5.1); the slowdown of processor sharing is Kleinrock, *Queueing Systems* II, 1976, section 4.4 |
//! | Units | nanoseconds; loads over all cores |
//! | Work | O(classes log classes), and what [`mdk_wait`] takes |

mod balking;
mod fan_out;
mod impatient;
mod one_core;

use crate::model::{Class, Process, ServerScenario, Workload};
use weir_core::spec::Spec;
use weir_theory::{MAX_LOAD, PriorityClass, TheoryError, mdk_wait, mmk_wait, priority_waits};
use weir_workload::Arrivals;

/// What a form needs of a scenario, besides what all of them do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    OneCore,
    OneReceiver,
    /// All services are one constant.
    Constant,
    /// All services are exponential, of one mean.
    Exponential,
}

/// How the numbers are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// M/G/1.
    Single,
    /// M/G/1 with priorities.
    Priorities,
    /// M/D/k.
    Constant,
    /// M/M/k.
    Exponential,
    /// M/G/1 processor sharing.
    Sharing,
}

/// A closed form of some disciplines.
struct Rule {
    disciplines: &'static [&'static str],
    formula: &'static str,
    needs: &'static [Need],
    way: Way,
}

const RULES: [Rule; 7] = [
    Rule {
        disciplines: &[
            "rr",
            "cfcfs",
            "jsq",
            "least_work",
            "power_of_two",
            "random",
            "flow_hash",
            "jbsq",
            "work_stealing",
            "jiq",
            "least_requests",
            "weighted_rr",
            "peak_ewma",
            "bounded_hash",
        ],
        formula: "Pollaczek-Khinchine, M/G/1",
        needs: &[Need::OneCore],
        way: Way::Single,
    },
    Rule {
        disciplines: &["random"],
        formula: "Pollaczek-Khinchine, M/G/1 on each core",
        needs: &[],
        way: Way::Single,
    },
    Rule {
        disciplines: &["cfcfs"],
        formula: "Crommelin, M/D/k",
        needs: &[Need::Constant],
        way: Way::Constant,
    },
    Rule {
        disciplines: &["cfcfs"],
        formula: "Erlang C, M/M/k",
        needs: &[Need::Exponential],
        way: Way::Exponential,
    },
    Rule {
        disciplines: &["rr"],
        formula: "Crommelin, E_k/D/1 on each core",
        needs: &[Need::OneReceiver, Need::Constant],
        way: Way::Constant,
    },
    Rule {
        disciplines: &["short_first"],
        formula: "Cobham, M/G/1 with priorities",
        needs: &[Need::OneCore],
        way: Way::Priorities,
    },
    Rule { disciplines: &["preemptive"], formula: SHARING, needs: &[Need::OneCore], way: Way::Sharing },
];

/// The formula of processor sharing.
pub const SHARING: &str = "M/G/1 processor sharing, the limit of small quanta without cost";

/// Whether a formula is a limit or an approximation, which a simulation does not cover.
pub(crate) fn is_near(formula: &str) -> bool {
    formula.starts_with(SHARING) || formula.starts_with(fan_out::ABOUT)
}

/// The numbers of a closed form.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// The mean delay of each class, in nanoseconds, from the queue on.
    Delays(Vec<f64>),
    /// Of all requests together.
    Leaving {
        /// The mean delay of those that are served, in nanoseconds.
        delay: f64,
        /// The share of those that leave before they are served, or do not join.
        share: f64,
        /// Whose figure that is: `abandoned` or `balked`.
        metric: &'static str,
    },
    /// The mean response of all requests together, in nanoseconds, from arrival to the answer.
    Response(f64),
    /// The slowdown of every class; what small quanta without cost come near.
    Sharing(f64),
}

impl Need {
    fn text(self) -> &'static str {
        match self {
            Self::OneCore => "one core",
            Self::OneReceiver => "one receiver",
            Self::Constant => "one constant service for all requests",
            Self::Exponential => "exponential services of one mean",
        }
    }

    fn holds(self, server: &ServerScenario) -> bool {
        match self {
            Self::OneCore => server.site.servers == 1,
            Self::OneReceiver => server.site.receivers == 1,
            Self::Constant => common(server).is_some(),
            Self::Exponential => exponential(server).is_some(),
        }
    }
}

impl Rule {
    fn is_of(&self, discipline: &str) -> bool {
        self.disciplines.contains(&discipline)
    }

    /// What it needs, in words.
    fn needs(&self) -> String {
        let each: Vec<&str> = self.needs.iter().map(|need| need.text()).collect();
        each.join(" and ")
    }

    /// The formula, and what it needs.
    fn told(&self) -> String {
        match self.needs {
            [] => self.formula.to_owned(),
            _ => format!("{} ({})", self.formula, self.needs()),
        }
    }
}

/// The closed forms of a discipline, with what each needs of a scenario.
///
/// # Errors
/// Why there is none.
pub fn statement(discipline: &str) -> Result<String, String> {
    let found: Vec<String> = RULES.iter().filter(|rule| rule.is_of(discipline)).map(Rule::told).collect();
    if found.is_empty() {
        return Err(format!("no closed form for {discipline}"));
    }
    Ok(format!("for Poisson arrivals: {}", found.join("; ")))
}

/// The closed form of a discipline and its formula with why it applies.
///
/// # Errors
/// Why it does not apply.
pub fn form(server: &ServerScenario, spec: &Spec) -> Result<(Form, String), String> {
    if !server.is_even() {
        return Err("closed forms need cores that are all alike and without faults".to_owned());
    }
    if let Some(fan_out) = server.fan_out.filter(|fan_out| fan_out.to > 1 || fan_out.hedge.is_some()) {
        return fan_out::form(server, spec, fan_out);
    }
    if server.has_deadline() {
        return Err("no closed form where requests are dropped for a deadline".to_owned());
    }
    match (server.has_patience(), server.has_balking()) {
        (true, true) => return Err("no closed form where requests leave and others do not join".to_owned()),
        (true, false) => return impatient::form(server, spec),
        (false, true) => return balking::form(server, spec),
        (false, false) => {}
    }
    if let Some(form) = one_core::form(server, spec) {
        return form;
    }
    let load = plain(server)?;
    let of_it = || RULES.iter().filter(|rule| rule.is_of(&spec.name));
    if of_it().next().is_none() {
        return Err(format!("no closed form for {}", spec.name));
    }
    let is_seed = |key: &Option<String>| key.as_deref() == Some("seed");
    if spec.name != "preemptive" && !spec.arguments.iter().all(|argument| is_seed(&argument.key)) {
        return Err(format!("no closed form for {spec}; only the plain discipline has one"));
    }
    let Some(rule) = of_it().find(|rule| rule.needs.iter().all(|need| need.holds(server))) else {
        let needs: Vec<String> = of_it().map(Rule::needs).collect();
        return Err(format!(
            "closed forms of {} need {}, which does not hold here",
            spec.name,
            needs.join(", or ")
        ));
    };
    if matches!(rule.way, Way::Single | Way::Priorities) && server.second_moment().is_infinite() {
        return Err("the variance of the services is infinite, and so is the mean wait".to_owned());
    }
    let made = numbers(server, rule.way, load).map_err(|error| error.to_string())?;
    let bound = server.site.queue.map_or_else(String::new, |_| ", as long as no queue is full".to_owned());
    let because = match rule.needs {
        [] => "arrivals are Poisson".to_owned(),
        _ => format!("arrivals are Poisson, with {}", rule.needs()),
    };
    Ok((made, format!("{}: applies since {because}{bound}", rule.formula)))
}

fn numbers(server: &ServerScenario, way: Way, load: f64) -> Result<Form, TheoryError> {
    let (cores, service) = (server.site.servers, server.mean_service());
    let alike = |wait: f64| Form::Delays(vec![wait; server.classes.len()]);
    Ok(match way {
        Way::Single => alike(single(server, load)),
        Way::Constant => alike(mdk_wait(cores, load)? * service),
        Way::Exponential => alike(mmk_wait(cores, load)? * service),
        Way::Priorities => Form::Delays(priorities(server, load)?),
        Way::Sharing => Form::Sharing(1.0 / (1.0 - load)),
    })
}

/// The load, where arrivals and costs are such that there may be a closed form; or why they are not.
fn plain(server: &ServerScenario) -> Result<f64, String> {
    poisson(server)?;
    let load = server.steady_load().unwrap_or(f64::INFINITY);
    match load <= MAX_LOAD {
        true => Ok(load),
        false => Err(format!("closed forms need a load below 1, it is {load}")),
    }
}

/// Refuses arrivals that are not Poisson at one rate, and costs on the way to a core.
fn poisson(server: &ServerScenario) -> Result<(), String> {
    if server.retry.is_some() {
        return Err("closed forms need clients who do not try again".to_owned());
    }
    if server.breaker.is_some() {
        return Err("closed forms need clients without a circuit breaker".to_owned());
    }
    let arrivals = match &server.workload {
        Workload::Trace(_) => "those here are recorded",
        Workload::Closed(_) => "those here wait for the requests before",
        Workload::Open(open) => match &open.process {
            _ if open.curve.is_some() => "the rate here follows a curve",
            _ if server.steady().is_none() => "the rate here grows",
            Process::Arrivals(Arrivals::Poisson) => "",
            Process::Arrivals(Arrivals::Deterministic) => "those here are equally far apart",
            Process::Arrivals(Arrivals::Bursty { .. }) => "those here come in bursts",
            Process::Arrivals(Arrivals::Renewal(_)) => "those here are a renewal process",
            Process::Arrivals(Arrivals::Markov(_)) => "those here depend on a phase",
            Process::Arrivals(Arrivals::Batches(_)) => "those here come in batches",
            Process::Arrivals(Arrivals::Superposition(_)) => "those here are of several processes",
            Process::Trains { .. } => "those here come in trains",
        },
    };
    if !arrivals.is_empty() {
        return Err(format!("closed forms need Poisson arrivals at one rate, {arrivals}"));
    }
    without_costs(server)
}

/// Refuses costs on the way to a core.
fn without_costs(server: &ServerScenario) -> Result<(), String> {
    for (name, cost) in [("dispatch", server.costs.dispatch), ("cold", server.costs.cold)] {
        if cost.get() > 0 {
            return Err(format!("closed forms need costs.{name} of 0ns, it is {cost}"));
        }
    }
    Ok(())
}

/// The service of all requests, where it is one.
fn common(server: &ServerScenario) -> Option<f64> {
    let first = server.classes.first()?.service.constant()?;
    server.classes.iter().all(|class| class.service.constant() == Some(first)).then_some(first)
}

/// The mean service, where all are exponential with it.
fn exponential(server: &ServerScenario) -> Option<f64> {
    let first = server.classes.first()?.service.mean();
    let is_it = |class: &Class| class.service.is_exponential() && class.service.mean() == first;
    server.classes.iter().all(is_it).then_some(first)
}

/// The mean wait of M/G/1 at this load, in nanoseconds.
fn single(server: &ServerScenario, load: f64) -> f64 {
    let rate = load / server.mean_service();
    rate * server.second_moment() / (2.0 * (1.0 - load))
}

/// The wait of each class where those of shorter mean go first, in nanoseconds.
fn priorities(server: &ServerScenario, load: f64) -> Result<Vec<f64>, TheoryError> {
    let (rate, shares) = (load / server.mean_service(), server.shares());
    let mut order: Vec<usize> = (0..server.classes.len()).collect();
    // As the discipline sees it: means in whole nanoseconds, of equal ones the lower class first.
    order.sort_by_key(|&class| server.site.classes[class].service);
    let of = |&class: &usize| {
        let service = &server.classes[class].service;
        PriorityClass { rate: rate * shares[class], mean: service.mean(), square: service.second_moment() }
    };
    let ordered: Vec<PriorityClass> = order.iter().map(of).collect();
    let waits = priority_waits(&ordered)?;
    let mut delays = vec![0.0; waits.len()];
    order.into_iter().zip(waits).for_each(|(class, wait)| delays[class] = wait);
    Ok(delays)
}

#[cfg(test)]
mod tests {
    use weir_core::info::Kind;
    use weir_core::registry;
    use weir_core::units::Nanos;

    use super::*;
    use crate::generators::{class, high_bimodal, scenario};
    use weir_workload::duration::Law;

    fn exponential_of(name: &str, cores: u32) -> ServerScenario {
        let classes = vec![class("a", 1.0, Law::Exponential(Nanos::new(1_000)))];
        scenario(&[name], cores, classes, 0.5).expect("specs")
    }

    fn of(server: &ServerScenario) -> Result<(Form, String), String> {
        form(server, &server.specs[0])
    }

    #[test]
    fn rules_are_of_registered_disciplines_that_say_so() {
        let is_pool = |name: &str| {
            registry::all()
                .any(|info| info.name == name && matches!(info.kind, Kind::Pool | Kind::Dispatcher))
        };
        for rule in &RULES {
            for name in rule.disciplines {
                assert!(is_pool(name), "{name}");
                assert!(statement(name).is_ok_and(|told| told.contains(rule.formula)), "{name}");
            }
        }
        assert_eq!(statement("darc"), Err("no closed form for darc".to_owned()));
        let told = statement("cfcfs").expect("forms");
        assert!(told.contains("Erlang C, M/M/k (exponential services of one mean)"), "{told}");
    }

    #[test]
    fn two_cores_by_hand() {
        // M/M/2 at half load: C = 1/3, and the wait is C / (2 (1 - 0.5)) services.
        let (form, formula) = of(&exponential_of("cfcfs", 2)).expect("a form");
        let Form::Delays(delays) = form else { panic!("delays") };
        assert!((delays[0] - 1_000.0 / 3.0).abs() < 1e-9, "{delays:?}");
        assert!(
            formula.starts_with("Erlang C, M/M/k: applies since arrivals are Poisson, with exponential"),
            "{formula}"
        );
        assert!(!formula.contains("full"));
        let mut bounded = exponential_of("cfcfs", 2);
        bounded.site.queue = Some(9);
        assert!(of(&bounded).expect("a form").1.ends_with("as long as no queue is full"));
        assert_eq!(of(&exponential_of("preemptive", 1)).expect("a form").0, Form::Sharing(2.0));
    }

    #[test]
    fn what_does_not_apply_says_why() {
        let why = |server: &ServerScenario| of(server).expect_err("no form");
        let told = why(&exponential_of("jsq", 2));
        assert!(told.contains("closed forms of jsq need one core, which does not hold here"), "{told}");
        assert!(why(&exponential_of("darc", 2)).contains("no closed form for darc"));
        assert!(why(&exponential_of("jbsq:depth=3", 1)).contains("only the plain discipline"));
        let mut server = exponential_of("cfcfs", 2);
        server.costs.cold = Nanos::new(200);
        assert!(why(&server).contains("costs.cold of 0ns, it is 200ns"));
        server.costs.cold = Nanos::new(0);
        server.load = Some(1.5);
        assert!(why(&server).contains("load below 1, it is 1.5"));
        let Workload::Open(open) = &mut server.workload else { panic!("open") };
        open.process = Process::Arrivals(Arrivals::Deterministic);
        assert!(why(&server).contains("Poisson arrivals at one rate, those here are equally far apart"));
        let mixed = scenario(&["cfcfs"], 2, high_bimodal(), 0.5).expect("specs");
        let told = why(&mixed);
        assert!(told.contains("one core, or one constant service"), "{told}");
    }
}
