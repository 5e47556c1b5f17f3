//! `weird load`: sends requests when they are due, and tells how long the answers took.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use weir_core::info::parse_bytes;
use weir_core::units::Nanos;
use weir_document::Refused;
use weir_document::quantity::RequestRate;
use weir_traffic::generator::clock::SystemClock;
use weir_traffic::generator::process;
use weir_traffic::load::plan::{Arrivals, Class, Plan};
use weir_traffic::load::report::{Report, text};

use super::file::Pending;
use super::tg::{SPIN, json, priority, settle, span, stopped_by_signals};
use super::{Failure, print};

/// Sends requests over UDP, and reports how long answers took.
///
/// A request is sent when it is due, whether or not earlier ones were answered. A round trip begins when its request was due, and ends when the kernel received the answer. What the server sends
/// back must begin with the 20 bytes that the request began with. Ctrl-C ends early, and what was measured by then is
/// reported.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Who answers, such as 10.0.0.2:9000 or [fd00::2]:9000
    #[arg(value_name = "ADDRESS:PORT")]
    target: String,
    /// Requests a second in the first window, such as 20k/s
    #[arg(long, value_parser = rate)]
    rate: f64,
    /// When requests are due: poisson, constant, or in periodic bursts, such as bursts:2300us
    #[arg(long, default_value = "poisson", value_parser = arrivals)]
    arrivals: Arrivals,
    /// How many windows there are
    #[arg(long, default_value_t = 1, value_name = "N")]
    windows: u32,
    /// How long a window is, such as 5s
    #[arg(long, default_value = "5s", value_name = "TIME", value_parser = span)]
    window: Nanos,
    /// By which factor the rate grows from window to window
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    growth: f64,
    /// A class: its name, the number in the first 4 bytes of its requests, its share of them from 0 to 1, such as
    /// short:data=1,share=0.9; may be repeated. Default: one class with data=0
    #[arg(long = "class", value_name = "NAME:data=N,share=S", value_parser = Class::parse)]
    classes: Vec<Class>,
    /// Over how many flows, each with a source port of its own, requests are spread at random
    #[arg(long, default_value_t = 16, value_name = "N")]
    flows: u16,
    /// The data of a request, without headers: 20B to 65507B
    #[arg(long, default_value = "64B", value_parser = size)]
    size: u32,
    /// The seed of times, classes and flows: the same seed gives the same requests
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long an answer is waited for before its request counts as lost
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = span)]
    patience: Nanos,
    /// The real-time priority of the generator, from FIFO:1 to FIFO:99
    #[arg(long, value_parser = priority)]
    priority: Option<u8>,
    /// The processor that it stays on, counted from 0
    #[arg(long, value_name = "N")]
    cpu: Option<u32>,
    /// Prints the report as JSON
    #[arg(long)]
    json: bool,
    /// Writes the report as JSON to a file too
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn rate(text: &str) -> Result<f64, &'static str> {
    RequestRate::parse(text).map(|rate| rate.0).ok_or("write a rate with its unit, such as 20k/s or 20000/s")
}

fn arrivals(text: &str) -> Result<Arrivals, &'static str> {
    Arrivals::parse(text).ok_or("write poisson, constant, or a period with its unit, such as bursts:2300us")
}

fn size(text: &str) -> Result<u32, &'static str> {
    let bytes = parse_bytes(text).and_then(|bytes| u32::try_from(bytes.get()).ok());
    bytes.ok_or("write a size with its unit, such as 64B")
}

pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let (as_json, processor, priority) = (arguments.json, arguments.cpu, arguments.priority);
    let out = arguments.out.clone();
    let plan = plan(arguments)?;
    let out = out.as_deref().map(Pending::new).transpose()?;
    let stop = stopped_by_signals().map_err(|error| Failure::Unsupported(format!("signals: {error}")))?;
    process::fine_timers();
    settle("weird load", processor, priority)?;
    let clock = SystemClock::new(SPIN, &stop, priority.is_some());
    let report = weir_traffic::load::run(&plan, &clock).map_err(|error| not_set_up(&plan, &error))?;
    if let Some(out) = out {
        out.write(&json(&report)?)?;
    }
    print(&if as_json { json(&report)? } else { text::text(&report) })?;
    answered(&report)
}

fn plan(arguments: Arguments) -> Result<Plan, Refused> {
    let Arguments { rate, arrivals, windows, window, growth, flows, size, seed, patience, .. } = arguments;
    let target: SocketAddr = arguments.target.parse().map_err(|_| {
        let remedy =
            "write an address and a port, such as 10.0.0.2:9000 or [fd00::2]:9000; names are not looked up";
        Refused::of_file("weird load", "is not an address with a port", remedy)
            .key("ADDRESS:PORT")
            .value(&arguments.target)
    })?;
    let all = || Class { name: "all".to_owned(), data: 0, share: 1.0 };
    let classes = if arguments.classes.is_empty() { vec![all()] } else { arguments.classes };
    Plan { target, rate, arrivals, windows, window, growth, classes, flows, size, seed, patience }.checked()
}

fn not_set_up(plan: &Plan, error: &io::Error) -> Failure {
    let text = format!("{} flows to {} cannot be set up: {error}", plan.flows, plan.target);
    match error.raw_os_error() {
        Some(libc::EMFILE) => Failure::Input(format!("{text}: ask for fewer --flows, or raise `ulimit -n`")),
        Some(libc::ENETUNREACH | libc::EHOSTUNREACH | libc::EADDRNOTAVAIL | libc::EINVAL) => {
            Failure::Input(format!("{text}: write an address that this host has a route to"))
        }
        Some(libc::EPERM | libc::EACCES | libc::EAFNOSUPPORT | libc::ENOPROTOOPT | libc::EOPNOTSUPP) => {
            Failure::Unsupported(text)
        }
        _ => Failure::NotMet(text),
    }
}

/// A run without a single answer has measured nothing.
fn answered(report: &Report) -> Result<(), Failure> {
    match report.unanswered() {
        Some(sent) => Err(Failure::NotMet(format!(
            "none of {sent} requests to {} was answered: see whether a server that sends requests back listens there",
            report.target
        ))),
        None => Ok(()),
    }
}
