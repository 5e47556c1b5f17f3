//! Closed forms to compare the simulation with, and what is said where they do not agree.
//!
//! [`crate::closed_form`] says whose they are and where they apply. Where something was dropped none does: who is
//! served then is not who came. Delays of M/G/1 and of M/M/k do not depend on the service that follows, so the response of
//! a class is its delay and its mean service, and its slowdown 1 and its delay over its service, where that is constant.
//! Where requests leave, there is one form, of all classes together.
//! Processor sharing is a limit, and fork-join of more than two cores an approximation: both are shown, and not held against the
//! simulation.

use crate::closed_form::{self, Form};
use crate::model::ServerScenario;
use crate::outcome::Warning;
use crate::run_length::Length;
use crate::summary::Cell;
use weir_core::units::Nanos;
use weir_lab::judgement::Judgement;
use weir_lab::result::{LEVEL, TheoryRow};
use weir_lab::stats::figure::ALL;
use weir_lab::stats::row::Rows;

/// The rows of one discipline, by its place, held against what was simulated of it.
#[must_use]
pub fn rows(server: &ServerScenario, place: usize, cell: &Cell, rows: &Rows) -> Vec<TheoryRow> {
    let discipline = &server.disciplines[place];
    let dropped: u64 =
        cell.runs.iter().map(|run| run.left.dropped - run.left.abandoned - run.left.balked).sum();
    if dropped > 0 {
        let reason = format!("closed forms need queues that are never full, {dropped} requests were dropped");
        return vec![without(discipline, reason)];
    }
    let mut made = of_discipline(server, place);
    made.iter_mut().for_each(|row| {
        let judgement = judged(row, rows);
        (row.agrees, row.settled) = (judgement.holds, judgement.unjudged.is_none());
        row.unjudged = judgement.unjudged;
    });
    made
}

/// The rows of all disciplines, without a simulation.
#[must_use]
pub fn alone(server: &ServerScenario) -> Vec<TheoryRow> {
    (0..server.disciplines.len()).flat_map(|place| of_discipline(server, place)).collect()
}

fn of_discipline(server: &ServerScenario, place: usize) -> Vec<TheoryRow> {
    let discipline = &server.disciplines[place];
    match closed_form::form(server, &server.specs[place]) {
        Ok((Form::Delays(delays), formula)) => of_delays(server, discipline, &delays, &formula),
        Ok((Form::Sharing(slowdown), formula)) => sharing(server, discipline, slowdown, &formula),
        Ok((Form::Response(response), formula)) => {
            let value = Some(response / 1e9);
            vec![TheoryRow { metric: "response", value, ..without(discipline, formula) }]
        }
        Ok((Form::Leaving { delay, share, metric }, formula)) => {
            let row = |metric, unit, value| {
                let formula = formula.clone();
                TheoryRow { metric, unit, value: Some(value), ..without(discipline, formula) }
            };
            vec![row("delay", "s", delay / 1e9), row(metric, "1", share)]
        }
        Err(reason) => vec![without(discipline, reason)],
    }
}

/// The row of a discipline that has no form.
fn without(discipline: &str, reason: String) -> TheoryRow {
    TheoryRow {
        discipline: Some(discipline.to_owned()),
        class: ALL.to_owned(),
        metric: "delay",
        value: None,
        unit: "s",
        formula: reason,
        agrees: None,
        settled: true,
        unjudged: None,
    }
}

/// Delay, response and slowdown of a class.
type Values = [Option<f64>; 3];
const METRICS: [(&str, &str); 3] = [("delay", "s"), ("response", "s"), ("slowdown", "1")];

/// All requests together, then class by class where they are several.
fn table(server: &ServerScenario, discipline: &str, each: &[Values], formula: &str) -> Vec<TheoryRow> {
    let shares = server.shares();
    let all: Values = [0, 1, 2].map(|metric: usize| {
        each.iter().zip(&shares).map(|(values, share)| Some(values[metric]? * share)).sum::<Option<f64>>()
    });
    let names = server.classes.iter().map(|class| class.name.as_str());
    let subjects = std::iter::once((ALL, &all)).chain(names.zip(each).filter(|_| each.len() > 1));
    let of = |(name, values): (&str, &Values)| {
        let told = METRICS.into_iter().zip(*values);
        let row = |((metric, unit), value): ((&'static str, &'static str), Option<f64>)| {
            let value = Some(value?);
            Some(TheoryRow {
                metric,
                unit,
                value,
                class: name.to_owned(),
                ..without(discipline, formula.to_owned())
            })
        };
        told.filter_map(row).collect::<Vec<_>>()
    };
    subjects.flat_map(of).collect()
}

fn of_delays(server: &ServerScenario, discipline: &str, delays: &[f64], formula: &str) -> Vec<TheoryRow> {
    let hand_over = server.costs.hand_over.get() as f64;
    let classes = server.classes.iter().zip(delays);
    let each: Vec<Values> = classes
        .map(|(class, wait)| {
            let delay = wait + hand_over;
            let slowdown = class.service.constant().map(|service| 1.0 + delay / service);
            [Some(delay / 1e9), Some((delay + class.service.mean()) / 1e9), slowdown]
        })
        .collect();
    table(server, discipline, &each, formula)
}

/// Processor sharing slows every request down alike.
fn sharing(server: &ServerScenario, discipline: &str, slowdown: f64, formula: &str) -> Vec<TheoryRow> {
    let response = |mean: f64| Some(mean * slowdown / 1e9);
    let each: Vec<Values> =
        server.classes.iter().map(|class| [None, response(class.service.mean()), Some(slowdown)]).collect();
    table(server, discipline, &each, formula)
}

/// The simulated mean that a row is about, and its interval at [`LEVEL`].
fn simulated(row: &TheoryRow, rows: &Rows) -> Option<(f64, (f64, f64))> {
    let measure = rows.measure("class", &row.class, row.metric, "mean")?;
    let found = measure.as_estimate()?;
    Some((found.value(), found.interval(LEVEL)))
}

/// Whether the simulation covers a row; it is not asked about a limit or an approximation.
fn judged(row: &TheoryRow, rows: &Rows) -> Judgement {
    let is_limit = closed_form::is_near(&row.formula);
    let measure = rows.measure("class", &row.class, row.metric, "mean");
    let both = row.value.filter(|_| !is_limit).zip(measure);
    both.map_or_else(Judgement::default, |(value, measure)| Judgement::of(value, measure))
}

/// The row that is farthest from its simulation, with both values, the interval, the likely cause and what to do.
#[must_use]
pub fn disagreement(
    server: &ServerScenario,
    place: usize,
    theory: &[TheoryRow],
    rows: &Rows,
) -> Option<Warning> {
    let discipline = &server.disciplines[place];
    let own = |row: &&TheoryRow| row.discipline.as_ref() == Some(discipline) && row.agrees == Some(false);
    let apart = |row: &TheoryRow| -> Option<f64> { Some((simulated(row, rows)?.0 / row.value? - 1.0).abs()) };
    let wrong: Vec<&TheoryRow> = theory.iter().filter(own).collect();
    let worst = *wrong.iter().max_by(|a, b| apart(a).unwrap_or(0.0).total_cmp(&apart(b).unwrap_or(0.0)))?;
    let (found, (low, high)) = simulated(worst, rows)?;
    let told = |value: f64| quantity(value, worst.unit);
    let whose = if worst.class == ALL { "all requests".to_owned() } else { format!("`{}`", worst.class) };
    let formula = worst.formula.split(':').next().unwrap_or_default();
    let more = match wrong.len() - 1 {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    let text = format!(
        "the mean {} of {whose} is {} by its closed form ({formula}), and {} in the simulation, 99.9 % interval {} to \
         {}{more}: {}",
        worst.metric,
        told(worst.value?),
        told(found),
        told(low.max(0.0)),
        told(high),
        cause(server, place, worst, found)
    );
    Some(Warning { discipline: Some(discipline.clone()), text })
}

/// Why a form may differ from the simulation, and what to do about it.
fn cause(server: &ServerScenario, place: usize, row: &TheoryRow, found: f64) -> String {
    /// Services shorter than this are changed by the grid of a nanosecond.
    const FINE: f64 = 100.0;
    let length = Length::of(server, place);
    let is_low = row.value.is_some_and(|value| found < value);
    if let Some(length) =
        length.filter(|length| is_low && server.stop.warm_up.get() < length.relaxation_nanos())
    {
        return format!(
            "likely the warm-up of {} is too short for queues that begin empty; let stop.warm_up be at least {}",
            server.stop.warm_up,
            Nanos::new(length.relaxation_nanos())
        );
    }
    if server.mean_service() < FINE {
        return "likely the grid of 1ns, to which services are rounded; write the services ten times as long"
            .to_owned();
    }
    let intervals = server.stop.replications;
    format!(
        "run it again with another seed and more than {intervals} replications, since one right interval in a thousand \
         misses; if it stays, it is a defect of weir, to be reported with the scenario"
    )
}

/// A value with its unit, to four digits.
fn quantity(value: f64, unit: &str) -> String {
    let (factor, name) = match (unit, value.abs()) {
        ("s", least) if least >= 1.0 => (1.0, " s"),
        ("s", least) if least >= 1e-3 => (1e3, " ms"),
        ("s", least) if least >= 1e-6 => (1e6, " us"),
        ("s", _) => (1e9, " ns"),
        _ => (1.0, ""),
    };
    let scaled = value * factor;
    let whole = libm::log10(scaled.abs().max(1.0)).floor() as usize + 1;
    format!("{scaled:.*}{name}", 4_usize.saturating_sub(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_to_four_digits_with_their_unit() {
        let told =
            [(1.234_56e-3, "s"), (0.0, "s"), (123_456e-6, "s"), (5.0, "1"), (12.5e-9, "s"), (20_480.0, "s")];
        let told: Vec<String> = told.iter().map(|(value, unit)| quantity(*value, unit)).collect();
        assert_eq!(told, ["1.235 ms", "0.000 ns", "123.5 ms", "5.000", "12.50 ns", "20480 s"]);
    }
}
