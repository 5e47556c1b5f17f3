//! `weird tg SCRIPT`: runs a script with real sockets; `weird tg report`: what two logs say.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand, ValueEnum};
use signal_hook::consts::{SIGINT, SIGTERM};
use weir_core::units::Nanos;
use weir_document::Refused;
use weir_document::quantity::{Clock as TimeClock, Speed, Time};
use weir_tg::{RandomMode, files};
use weir_traffic::generator::clock::{SystemClock, wall};
use weir_traffic::generator::process;
use weir_traffic::generator::wall::WallTime;
use weir_traffic::tg::plan::{self, Plan};
use weir_traffic::tg::report::{self, pair::Pair};
use weir_traffic::tg::run::{self, Given, Trouble};

use super::file::Pending;
use super::{Failure, print};
use crate::daemon::privileges;

/// The last part of each wait is spent spinning.
pub(super) const SPIN: Nanos = Nanos::new(50_000);
/// A run that starts now starts after this, so that it has not begun before it is ready.
const SOON: u64 = 10_000_000;
/// What 99 % of the packets are promised not to be late by, with a real-time priority and without.
const PROMISED: [Nanos; 2] = [Nanos::new(60_000), Nanos::new(1_000_000)];

/// Sends or receives what a TG script says, with real sockets; `weird tg report` evaluates two logs.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Tg {
    #[command(subcommand)]
    report: Option<Reporting>,
    #[command(flatten)]
    run: Option<Run>,
}

#[derive(Debug, Subcommand)]
enum Reporting {
    /// Offer, throughput, one-way delay and losses of pairs of logs
    Report(Report),
}

#[derive(Debug, Args)]
struct Run {
    /// The script: a source, or with `server` a sink
    script: PathBuf,
    /// Where the log is written; default: as the script's `log` says, else nowhere
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// When the script starts: 2026-11-22T02:00:00Z, seconds since 1970, or now; default: as its `on` says
    #[arg(long, value_name = "TIME")]
    start: Option<String>,
    /// Where random numbers come from: of each association its own, or as in TG 2.0 one sequence for all
    #[arg(long, value_enum, default_value = "independent")]
    random: Random,
    /// The seed of independent random numbers
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Divides durations and gaps, and so multiplies rates
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    scale: u32,
    /// Departures wait for the next multiple of this, before the scale, as on a host whose timers tick: 10ms
    #[arg(long, value_parser = span)]
    tick: Option<Nanos>,
    /// The real-time priority of the thread that sends or receives, from FIFO:1 to FIFO:99
    #[arg(long, value_parser = priority)]
    priority: Option<u8>,
    /// The processor that it stays on, counted from 0
    #[arg(long, value_name = "N")]
    cpu: Option<u32>,
    /// Prints the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Random {
    Compatible,
    Independent,
}

#[derive(Debug, Args)]
struct Report {
    /// Logs in pairs: a source's, then its sink's
    #[arg(required = true, num_args = 2.., value_name = "SOURCE.log SINK.log")]
    logs: Vec<PathBuf>,
    /// The length of the intervals, such as 5s; default: the whole only
    #[arg(long, value_parser = span)]
    interval: Option<Nanos>,
    /// What percentages refer to, such as 1344kbit
    #[arg(long, value_parser = |text: &str| Speed::parse(text).ok_or("write a rate such as 1344kbit"))]
    rate: Option<Speed>,
    /// Leaves out what is sent before this, such as 30s after the first traffic began
    #[arg(long, value_parser = span)]
    from: Option<Nanos>,
    /// Leaves out what is sent at this or later
    #[arg(long, value_parser = span)]
    until: Option<Nanos>,
    /// Writes the figures as CSV too
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Prints the report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn span(text: &str) -> Result<Nanos, &'static str> {
    let time = Time::parse(text).filter(|time| time.clock == TimeClock::Seconds);
    time.map(|time| time.span).ok_or("write a time with its unit, such as 5s or 500ms")
}

pub(super) fn priority(text: &str) -> Result<u8, &'static str> {
    let level = text.strip_prefix("FIFO:").unwrap_or(text);
    level
        .parse()
        .ok()
        .filter(|level| (1..=99).contains(level))
        .ok_or("write FIFO:50, with a level from 1 to 99")
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Input(refused) => refused.into(),
            Trouble::NotPermitted(text) => Self::Unsupported(text),
            Trouble::Failed(text) => Self::NotMet(text),
        }
    }
}

pub(super) fn main(arguments: Tg) -> Result<(), Failure> {
    match (arguments.report, arguments.run) {
        (Some(Reporting::Report(report)), _) => tell(&report),
        (None, Some(run)) => execute(&run),
        (None, None) => Err(Failure::Input("name a script, or `report` and two logs".to_owned())),
    }
}

fn execute(asked: &Run) -> Result<(), Failure> {
    let script = files::read(&asked.script).map_err(plan::refused)?;
    let random = match asked.random {
        Random::Compatible => RandomMode::Compatible,
        Random::Independent => RandomMode::Independent,
    };
    let plan = Plan::new(
        script,
        plan::Asked {
            random,
            seed: asked.seed,
            scale: asked.scale,
            tick: asked.tick.unwrap_or(Nanos::new(0)),
        },
    )?;
    if plan.prints() {
        return print_schedule(&plan);
    }
    let stop = stopped_by_signals().map_err(|error| Failure::Unsupported(format!("signals: {error}")))?;
    process::fine_timers();
    let start = start(asked.start.as_deref(), &plan)?;
    let given = given(asked, &plan, start)?;
    crate::daemon::log::notice(format_args!("starts at {start}"));
    let clock = SystemClock::new(SPIN, &stop, asked.priority.is_some());
    let summary = run::run(&plan, &given, &clock, || settle("weird tg", asked.cpu, asked.priority))?;
    let text = if asked.json { json(&summary)? } else { summary.text() };
    print(&text)
}

/// Gives this thread the processor and the priority that a command was given.
pub(super) fn settle(command: &str, processor: Option<u32>, priority: Option<u8>) -> Result<(), Trouble> {
    if let Some(processor) = processor {
        process::pin(processor, command)?;
    }
    if let Some(priority) = priority {
        privileges::real_time(priority).map_err(|missing| Trouble::NotPermitted(missing.to_string()))?;
    }
    Ok(())
}

/// What a signal sets; a second one ends the process at once.
pub(super) fn stopped_by_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

fn given(asked: &Run, plan: &Plan, start: WallTime) -> Result<Given, Refused> {
    let of_script = || plan.log.as_ref().map(|name| run::log_name(name, start)).transpose();
    let log = asked.log.clone().map_or_else(of_script, |log| Ok(Some(log)))?;
    let promised = PROMISED[usize::from(asked.priority.is_none())];
    Ok(Given { start, log, promised })
}

fn start(asked: Option<&str>, plan: &Plan) -> Result<WallTime, Failure> {
    let now = wall();
    let refuse = |text: &str, reason: &str| {
        let remedy = "write a time to come such as 2026-11-22T02:00:00Z, in seconds since 1970, or now";
        Refused::of_file("weird tg", reason, remedy).key("--start").value(text)
    };
    let time = match asked {
        None => run::next_start(plan).ok_or_else(|| refuse("after 2096", "must be before 2096"))?,
        Some("now") => {
            WallTime::new(now.nanos() + SOON).ok_or_else(|| refuse("now", "must be before 2096"))?
        }
        Some(text) => WallTime::parse(text).ok_or_else(|| refuse(text, "is not a time"))?,
    };
    if time < now {
        return Err(refuse(&time.to_string(), "is over: what is due by now would leave at once").into());
    }
    Ok(time)
}

/// Prints what a script with the protocol `test` would send.
fn print_schedule(plan: &Plan) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut write = || -> io::Result<()> {
        writeln!(out, "time_s,length_B")?;
        for (at, data) in plan.schedule() {
            let (seconds, rest) = (at.get() / 1_000_000_000, at.get() % 1_000_000_000);
            writeln!(out, "{seconds}.{rest:09},{}", data.get())?;
        }
        out.flush()
    };
    match write() {
        // Who reads no more has read enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Input(format!("the standard output: {error}: write elsewhere")))
        }
        _ => Ok(()),
    }
}

fn tell(asked: &Report) -> Result<(), Failure> {
    if !asked.logs.len().is_multiple_of(2) {
        let text =
            format!("{} logs are named: name them in pairs, a source's, then its sink's", asked.logs.len());
        return Err(Failure::Input(text));
    }
    let pairs = asked.logs.chunks(2).map(|pair| Pair::open(&pair[0], &pair[1]));
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    let (interval, rate) = (asked.interval, asked.rate.map(|rate| rate.0));
    let report =
        report::report(pairs, report::Asked { interval, rate, from: asked.from, until: asked.until })?;
    if let Some(path) = &asked.csv {
        Pending::new(path)?.write(report::csv::csv(&report))?;
    }
    let text = if asked.json { json(&report)? } else { report::text::text(&report, columns()) };
    print(&text)
}

pub(super) fn json(what: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(what).map_err(|error| Failure::NotMet(error.to_string()))?;
    Ok(text + "\n")
}

/// The width of the terminal; wide where there is none.
fn columns() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let asked = || rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    told.or_else(asked).filter(|columns| *columns > 0).unwrap_or(usize::MAX)
}
