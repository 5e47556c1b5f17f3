//! A control loop, requests over UDP and compaction in one process: first all alike, then with what each needs.

mod load;
mod service;
mod work;

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use service::{Outcome, PERIOD, Run, run};
use work::Work;

const USAGE: &str = "usage: control-loop [--seconds N] [--record FILE]";

/// Of times in order, the one that this many of a thousand are at most.
fn quantile(sorted: &[Duration], per_mille: usize) -> f64 {
    let place = (sorted.len() * per_mille).div_ceil(1_000).saturating_sub(1);
    sorted.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}

fn row(name: &str, met: String, mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let [median, tail, longest] = [500, 990, 1_000].map(|part| quantile(&times, part));
    format!("  {name:<9}{met:>24}{median:>9.2}{tail:>9.2}{longest:>9.2}")
}

fn table(how: &str, outcome: Outcome, run: &Run) -> String {
    let Outcome { control, requests, pieces } = outcome;
    let met = control.iter().filter(|&&took| took <= PERIOD).count();
    let of_all = format!("{met} of {} in time", run.periods);
    let answered = format!("{} of {} answered", requests.took.len(), requests.sent);
    let rows = [row("control", of_all, control), row("requests", answered, requests.took)];
    let head = format!("{how:<35}{:>9}{:>9}{:>9}", "p50 (ms)", "p99", "longest");
    format!("{head}\n{}\n  compaction: {pieces} pieces of work\n", rows.join("\n"))
}

/// The seconds to run each way, and where to record the second.
fn arguments(mut given: impl Iterator<Item = String>) -> Result<(u64, Option<PathBuf>), String> {
    let (mut seconds, mut record) = (10, None);
    while let Some(option) = given.next() {
        let value = given.next().ok_or(USAGE)?;
        match option.as_str() {
            "--seconds" => seconds = value.parse().map_err(|_| USAGE)?,
            "--record" => record = Some(PathBuf::from(value)),
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok((seconds, record))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (seconds, record) = arguments(std::env::args().skip(1))?;
    let work = Work::calibrated();
    let periods = seconds * 100;
    let alike = Run { discipline: "eevdf", needs: false, periods, record: None };
    println!("{}", table("all alike, eevdf", run(&alike, work)?, &alike));
    let needs = Run { discipline: "epoch(10ms,admit=refuse)", needs: true, periods, record };
    println!("{}", table("with needs, epoch(10ms)", run(&needs, work)?, &needs));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_times_that_there_are() {
        let times: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!([500, 990, 1_000].map(|part| quantile(&times, part)), [100.0, 198.0, 200.0]);
        assert!(quantile(&[], 500).is_nan());
    }

    #[test]
    fn arguments_are_options_with_values() {
        let read = |given: &[&str]| arguments(given.iter().map(|&one| one.to_owned()));
        assert_eq!(read(&["--seconds", "2", "--record", "f"]), Ok((2, Some("f".into()))));
        assert_eq!(read(&[]), Ok((10, None)));
        assert_eq!(read(&["--seconds", "soon"]), Err(USAGE.to_owned()));
        assert_eq!(read(&["--record"]), Err(USAGE.to_owned()));
    }

    #[test]
    fn each_way_runs_and_answers() {
        let work = Work::calibrated();
        for (discipline, needs) in [("eevdf", false), ("epoch(10ms,admit=refuse)", true)] {
            let run = Run { discipline, needs, periods: 20, record: None };
            let outcome = service::run(&run, work).unwrap();
            assert!(!outcome.control.is_empty() && outcome.control.len() <= 20, "{outcome:?}");
            assert!(outcome.requests.took.len() as u64 <= outcome.requests.sent, "{outcome:?}");
        }
    }
}
