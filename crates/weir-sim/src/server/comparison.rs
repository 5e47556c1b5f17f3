//! Closed forms beside the simulation, where the arrivals are Poisson at one rate, nothing was dropped, and nothing lies
//! between arrival and queue but a constant time.
//!
//! | discipline | cores, classes | form |
//! |-|-|-|
//! | `random` | any | M/G/1 on each core at its part of the rate: Pollaczek-Khinchine |
//! | `rr` with one receiver | all services equal | E_k/D/1 on each core, which is M/D/k: Crommelin |
//! | `cfcfs` | all services equal | M/D/k: Crommelin |
//! | `cfcfs` | all services exponential, of one mean | M/M/k: Erlang C |
//! | `rr`, `cfcfs`, `jsq`, `least_work`, `power_of_two` | one core | M/G/1: Pollaczek-Khinchine |
//! | `short_first` | one core | M/G/1 with priorities: Cobham |
//! | `preemptive` | one core | M/G/1 processor sharing, the slowdown `1 / (1 - ρ)` that small quanta without cost come near; not held against the simulation |
//!
//! Delays of M/G/1 and of M/M/k do not depend on the service that follows, so the response of a class is its delay and its
//! mean service, and its slowdown 1 and its delay over its service, where that is constant.

use weir_core::spec::Spec;

use crate::port::outcome::TheoryRow;
use crate::port::selfcheck::LEVEL;
use crate::server::model::{Class, Process, ServerScenario};
use crate::server::summary::Cell;
use crate::stats::figure::ALL;
use crate::stats::row::Rows;
use crate::theory::{MAX_LOAD, mdk_wait, mmk_wait, priority_waits};
use crate::workload::Arrivals;

/// The delay of each class, in nanoseconds, and the formula.
struct Form {
    delays: Vec<f64>,
    formula: &'static str,
}

/// The rows of one discipline; none where the arrivals have no closed forms at all.
#[must_use]
pub fn rows(server: &ServerScenario, discipline: &str, cell: &Cell, rows: &Rows<'_>) -> Vec<TheoryRow> {
    let place = server.disciplines.iter().position(|name| name == discipline);
    let Some((spec, load)) = place.map(|place| &server.specs[place]).zip(plain(server, cell)) else {
        return Vec::new();
    };
    let made = Made { discipline, rows };
    if spec.name == "preemptive" && server.site.servers == 1 {
        return sharing(server, &made, load);
    }
    match form(server, spec, load) {
        Some(form) => of_form(server, &made, &form),
        None => vec![TheoryRow {
            discipline: Some(discipline.to_owned()),
            class: ALL.to_owned(),
            metric: "delay",
            value: None,
            unit: "s",
            formula: format!(
                "no closed form for {discipline} on {} cores with these services",
                server.site.servers
            ),
            agrees: None,
        }],
    }
}

/// The load, where arrivals and costs are such that there may be a closed form.
fn plain(server: &ServerScenario, cell: &Cell) -> Option<f64> {
    let open = server.steady()?;
    let is_poisson = open.process == Process::Arrivals(Arrivals::Poisson);
    let is_free = server.costs.dispatch.get() == 0 && server.costs.cold.get() == 0;
    let is_lossless = cell.runs.iter().all(|run| run.left.dropped == 0);
    server.steady_load().filter(|load| is_poisson && is_free && is_lossless && *load <= MAX_LOAD)
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

fn form(server: &ServerScenario, spec: &Spec, load: f64) -> Option<Form> {
    let cores = server.site.servers;
    let is_seed = |key: &Option<String>| key.as_deref() == Some("seed");
    let is_plain = spec.arguments.iter().all(|argument| is_seed(&argument.key));
    let takes_turns = spec.name == "rr" && server.site.receivers == 1;
    let alike = |wait: f64, formula| Form { delays: vec![wait; server.classes.len()], formula };
    let one_queue = matches!(spec.name.as_str(), "rr" | "cfcfs" | "jsq" | "least_work" | "power_of_two");
    if !is_plain {
        return None;
    }
    if spec.name == "random" || (cores == 1 && one_queue) {
        let formula =
            if cores == 1 { "Pollaczek-Khinchine, M/G/1" } else { "Pollaczek-Khinchine, M/G/1 on each core" };
        return Some(alike(single(server, load), formula));
    }
    if spec.name == "short_first" && cores == 1 {
        return Some(Form { delays: priorities(server)?, formula: "Cobham, M/G/1 with priorities" });
    }
    match (spec.name.as_str(), common(server), exponential(server)) {
        ("cfcfs", Some(service), _) => Some(alike(mdk_wait(cores, load).ok()? * service, "Crommelin, M/D/k")),
        ("rr", Some(service), _) if takes_turns => {
            Some(alike(mdk_wait(cores, load).ok()? * service, "Crommelin, E_k/D/1 on each core"))
        }
        ("cfcfs", _, Some(mean)) => Some(alike(mmk_wait(cores, load).ok()? * mean, "Erlang C, M/M/k")),
        _ => None,
    }
}

/// The shares of the classes, which sum to 1.
fn shares(server: &ServerScenario) -> Vec<f64> {
    let all: f64 = server.classes.iter().map(|class| class.share).sum();
    server.classes.iter().map(|class| class.share / all).collect()
}

/// The mean wait of M/G/1 at this load, in nanoseconds.
fn single(server: &ServerScenario, load: f64) -> f64 {
    let shares = shares(server);
    let parts =
        server.classes.iter().zip(&shares).map(|(class, share)| share * class.service.second_moment());
    let rate = load / server.mean_service();
    rate * parts.sum::<f64>() / (2.0 * (1.0 - load))
}

/// The wait of each class where those of shorter mean go first, in nanoseconds.
fn priorities(server: &ServerScenario) -> Option<Vec<f64>> {
    let (rate, shares) = (1.0 / server.steady()?.mean_gap, shares(server));
    let mut order: Vec<usize> = (0..server.classes.len()).collect();
    // As the discipline is told: means in whole nanoseconds, of equal ones the lower class first.
    order.sort_by_key(|&class| server.site.classes[class].service);
    let of = |&class: &usize| {
        let service = &server.classes[class].service;
        (rate * shares[class], service.mean(), service.second_moment())
    };
    let ordered: Vec<(f64, f64, f64)> = order.iter().map(of).collect();
    let waits = priority_waits(&ordered).ok()?;
    let mut delays = vec![0.0; waits.len()];
    order.into_iter().zip(waits).for_each(|(class, wait)| delays[class] = wait);
    Some(delays)
}

/// What rows are made with.
struct Made<'m, 'f> {
    discipline: &'m str,
    rows: &'m Rows<'f>,
}

impl Made<'_, '_> {
    /// A row, held against the simulation.
    fn row(&self, class: &str, metric: &'static str, value: f64, formula: &str) -> TheoryRow {
        let measure = self.rows.measure("class", class, metric, "mean");
        let covers = |(low, high): (f64, f64)| (low..=high).contains(&value);
        TheoryRow {
            discipline: Some(self.discipline.to_owned()),
            class: class.to_owned(),
            metric,
            value: Some(value),
            unit: if metric == "slowdown" { "1" } else { "s" },
            formula: formula.to_owned(),
            agrees: measure
                .and_then(|measure| measure.as_estimate())
                .map(|found| covers(found.interval(LEVEL))),
        }
    }
}

fn of_form(server: &ServerScenario, made: &Made<'_, '_>, form: &Form) -> Vec<TheoryRow> {
    let shares = shares(server);
    let hand_over = server.costs.hand_over.get() as f64;
    let each: Vec<[Option<f64>; 3]> = server
        .classes
        .iter()
        .zip(&form.delays)
        .map(|(class, wait)| {
            let delay = wait + hand_over;
            let slowdown = class.service.constant().map(|service| 1.0 + delay / service);
            [Some(delay / 1e9), Some((delay + class.service.mean()) / 1e9), slowdown]
        })
        .collect();
    let all = [0, 1, 2].map(|metric: usize| {
        each.iter().zip(&shares).map(|(values, share)| Some(values[metric]? * share)).sum::<Option<f64>>()
    });
    let names = server.classes.iter().map(|class| class.name.as_str());
    let subjects = std::iter::once((ALL, &all)).chain(names.zip(&each).filter(|_| each.len() > 1));
    let row = |(name, values): (&str, &[Option<f64>; 3])| {
        let metrics = ["delay", "response", "slowdown"].into_iter().zip(*values);
        let told = metrics.filter_map(|(metric, value)| Some(made.row(name, metric, value?, form.formula)));
        told.collect::<Vec<_>>()
    };
    subjects.flat_map(row).collect()
}

/// The slowdown of processor sharing, of every class alike.
fn sharing(server: &ServerScenario, made: &Made<'_, '_>, load: f64) -> Vec<TheoryRow> {
    let formula = "M/G/1 processor sharing, the limit of small quanta without cost";
    let names = server.classes.iter().map(|class| class.name.as_str());
    let subjects = std::iter::once(ALL).chain(names.filter(|_| server.classes.len() > 1));
    let row = |name| TheoryRow { agrees: None, ..made.row(name, "slowdown", 1.0 / (1.0 - load), formula) };
    subjects.map(row).collect()
}
