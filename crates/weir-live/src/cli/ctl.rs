//! `weird ctl NAME ...`: asks a running daemon, or changes it.

mod drops;
pub(super) mod steering;
mod subscribers;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use weir_core::units::Nanos;
use weir_gauge::text::{bytes, packets, span, span_if_any, table};
use weir_plane::config::check::text_of;
use weir_plane::snapshot::{ClassSnapshot, Count, InterfaceSnapshot, Left, Snapshot};

use super::file::Pending;
use super::{Failure, client};
use crate::daemon::metrics::word;
use crate::daemon::protocol::{Answer, Request, Status};

/// Asks a running daemon, or changes it.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The daemon's name, as its file says.
    name: String,
    #[command(subcommand)]
    action: Action,
    /// Prints the answer as JSON.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Says who is there.
    Status,
    /// Says what was counted.
    Stats {
        /// Of each subscriber.
        #[arg(long)]
        subscribers: bool,
        /// Of this subscriber.
        #[arg(long, value_name = "SUBSCRIBER")]
        subscriber: Option<String>,
    },
    /// Prints the configuration in force, as TOML.
    Configuration,
    /// Takes the configuration of a file, of a router; on any error the old one stays.
    Reload {
        /// The file.
        file: PathBuf,
    },
    /// Changes one interface of a router until the next reload.
    Set {
        /// The interface.
        interface: String,
        /// Its rate, such as `20Mbit`, or `none`.
        #[arg(long)]
        rate: Option<String>,
        /// Its discipline, such as `drr:quantum=1514B`.
        #[arg(long)]
        discipline: Option<String>,
        /// Its propagation delay, such as `5ms`.
        #[arg(long)]
        propagation: Option<String>,
    },
    /// Lets out what waits in a router, and takes nothing new until `--resume`.
    Drain {
        /// The interface; all without one.
        interface: Option<String>,
        /// Takes packets again.
        #[arg(long)]
        resume: bool,
    },
    /// Takes another policy, of `weird steer`; what waits is served.
    Policy {
        /// The policy, such as `dynamic:add=50us,period=10ms`.
        spec: String,
    },
    /// Spreads requests over other processors, of `weird steer`; those that are taken away serve what they have.
    Cores {
        /// Which, such as `1-3` or `1,2,5`.
        processors: String,
    },
    /// Says what a router dropped last, and why; as root, since packets are not for all who may read figures.
    Drops {
        /// Writes them to this file, as a capture (pcapng).
        #[arg(long)]
        pcap: Option<PathBuf>,
    },
    /// Ends the daemon after what waits has left.
    Stop,
}

impl Action {
    fn request(self) -> Result<Request, Failure> {
        Ok(match self {
            Self::Status => Request::Status,
            Self::Stats { subscribers: false, subscriber: None } => Request::Stats,
            Self::Stats { .. } => Request::Subscribers,
            Self::Configuration => Request::Configuration,
            Self::Reload { file } => {
                let text = text_of(&file)?;
                // What it names besides is found by the daemon, which may be in another folder.
                let file = std::path::absolute(&file).unwrap_or(file);
                Request::Reload { file: file.display().to_string(), text }
            }
            Self::Set { interface, rate, discipline, propagation } => {
                Request::Set { interface, rate, discipline, propagation }
            }
            Self::Drain { interface, resume } => Request::Drain { interface, resume },
            Self::Policy { spec } => Request::Policy { spec },
            Self::Cores { processors } => Request::Cores { processors },
            Self::Drops { .. } => Request::Drops,
            Self::Stop => Request::Stop,
        })
    }
}

/// Asks, and prints the answer.
///
/// # Errors
/// No such daemon is running, it may not be asked, or it refuses.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let pending = match &arguments.action {
        Action::Drops { pcap: Some(place) } => Some(Pending::new(place)?),
        _ => None,
    };
    let wanted = match &arguments.action {
        Action::Stats { subscriber, .. } => subscriber.clone(),
        _ => None,
    };
    let mut answer = client::ask(&arguments.name, &arguments.action.request()?)?;
    if let Answer::Subscribers { interfaces } = &mut answer {
        subscribers::choose(interfaces, wanted.as_deref()).map_err(Failure::Input)?;
    }
    if let (Some(pending), Answer::Drops(drops)) = (pending, &answer) {
        let file = drops::capture(drops).map_err(|error| Failure::Input(error.to_string()))?;
        pending.write(&file)?;
    }
    let text = if arguments.json { json(&answer)? } else { told(&answer) };
    super::print(&text)
}

fn json(answer: &Answer) -> Result<String, Failure> {
    let text = serde_json::to_string(answer);
    text.map(|text| text + "\n").map_err(|error| Failure::Input(error.to_string()))
}

/// An answer as text.
fn told(answer: &Answer) -> String {
    match answer {
        Answer::Done { said } => format!("{said}\n"),
        Answer::Status(status) => of_status(status),
        Answer::Stats(snapshot) => of_stats(snapshot),
        Answer::Subscribers { interfaces } => subscribers::told(interfaces),
        Answer::Steering(status) => steering::of_status(status),
        Answer::Requests(stats) => steering::of_stats(stats),
        Answer::Drops(drops) => drops::told(drops),
        Answer::Configuration { text } => text.clone(),
        Answer::Refused { error, .. } => format!("{error}\n"),
        // No command asks for these: one daemon asks another.
        Answer::Links { .. } | Answer::Estate(_) => "for another daemon\n".to_owned(),
    }
}

fn of_status(status: &Status) -> String {
    let none = || "none".to_owned();
    let kept = if status.capabilities.is_empty() { none() } else { status.capabilities.join(", ") };
    let mut text = format!(
        "router        {}\nversion       {}\nprocess       {}\nup            {}\nfile          {}\npriority      {}\n\
         capabilities  {kept}\n\n",
        status.name,
        status.version,
        status.process,
        span(Nanos::new(status.up_ns)),
        status.file,
        status.priority,
    );
    let rows = status.interfaces.iter().map(|at| {
        let state = match (at.up, at.draining) {
            (false, _) => "down",
            (true, true) => "draining",
            (true, false) => "up",
        };
        vec![
            at.name.clone(),
            state.to_owned(),
            at.means.clone(),
            at.discipline.clone(),
            at.rate.clone(),
            packets(at.waiting),
        ]
    });
    let head = ["interface", "state", "means", "discipline", "rate", "waiting"];
    text.push_str(&table(&head, 4, &rows.collect::<Vec<_>>()));
    text.push('\n');
    for at in &status.interfaces {
        text.push_str(&format!("{}: {}\n", at.name, at.holds));
    }
    text
}

fn of_stats(snapshot: &Snapshot) -> String {
    let mut text = format!(
        "router {}, up {}, configuration changed {} times, {} of {} frames free\n\n",
        snapshot.name,
        span(Nanos::new(snapshot.now_ns)),
        snapshot.reloads,
        snapshot.frames_free,
        snapshot.frames
    );
    let interfaces: Vec<Vec<String>> = snapshot.interfaces.iter().map(of_interface).collect();
    let head = [
        "interface",
        "state",
        "received",
        "",
        "forwarded",
        "",
        "to router",
        "made here",
        "refused",
        "late p99",
    ];
    text.push_str(&table(&head, 2, &interfaces));
    let head = [
        "interface",
        "class",
        "offered",
        "left",
        "",
        "marked",
        "dropped",
        "waiting",
        "",
        "oldest",
        "p50",
        "p99",
        "longest",
    ];
    let classes =
        snapshot.interfaces.iter().flat_map(|at| at.classes.iter().map(|class| of_class(at, class)));
    text.push('\n');
    text.push_str(&table(&head, 2, &classes.collect::<Vec<_>>()));
    let drops = drops(snapshot);
    if !drops.is_empty() {
        text.push('\n');
        text.push_str(&table(&["interface", "where", "dropped because", "packets", "bytes"], 3, &drops));
    }
    let cut = fragmented(snapshot);
    if !cut.is_empty() {
        text.push('\n');
        text.push_str(&table(&["interface", "fragmented", "", "fragments", ""], 1, &cut));
    }
    let left = left_to_kernel(snapshot);
    if !left.is_empty() {
        text.push('\n');
        text.push_str(&table(&["interface", "left to the kernel because", "frames"], 2, &left));
    }
    text
}

/// What came in by each interface and was cut into fragments.
fn fragmented(snapshot: &Snapshot) -> Vec<Vec<String>> {
    let cut = snapshot.interfaces.iter().filter(|at| at.fragmented.packets > 0);
    cut.map(|at| {
        let mut row = vec![at.name.clone()];
        row.extend(
            [at.fragmented, at.fragments].iter().flat_map(|it| [packets(it.packets), bytes(it.bytes)]),
        );
        row
    })
    .collect()
}

/// Every reason for which frames were left to the kernel.
fn left_to_kernel(snapshot: &Snapshot) -> Vec<Vec<String>> {
    let of = |at: &InterfaceSnapshot, why: Left, count: u64| {
        vec![at.name.clone(), word(why).replace('_', " "), packets(count)]
    };
    snapshot
        .interfaces
        .iter()
        .flat_map(|at| at.left_to_kernel.iter().map(move |(why, count)| of(at, *why, *count)))
        .collect()
}

fn of_interface(at: &InterfaceSnapshot) -> Vec<String> {
    let refused = at.refused.values().map(|count| count.packets).sum();
    vec![
        at.name.clone(),
        if at.up { "up" } else { "down" }.to_owned(),
        packets(at.received.packets),
        bytes(at.received.bytes),
        packets(at.forwarded.packets),
        bytes(at.forwarded.bytes),
        packets(at.to_router.packets),
        packets(at.originated.packets),
        packets(refused),
        span_if_any(at.lateness.quantile(0.99)),
    ]
}

fn of_class(at: &InterfaceSnapshot, class: &ClassSnapshot) -> Vec<String> {
    let longest = (class.sojourn.count() > 0).then_some(Nanos::new(class.sojourn.longest_ns));
    vec![
        at.name.clone(),
        class.name.clone(),
        packets(class.offered.packets),
        packets(class.forwarded.packets),
        bytes(class.forwarded.bytes),
        packets(class.marked.packets),
        packets(class.dropped.values().map(|count| count.packets).sum()),
        packets(class.waiting.packets),
        bytes(class.waiting.bytes),
        span_if_any((class.waiting.packets > 0).then_some(Nanos::new(class.oldest_ns))),
        span_if_any(class.sojourn.quantile(0.5)),
        span_if_any(class.sojourn.quantile(0.99)),
        span_if_any(longest),
    ]
}

/// Every reason for which something was dropped, with where: before the queue, in the kernel, or the class.
fn drops(snapshot: &Snapshot) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = |at: &InterfaceSnapshot, place: &str, reason: String, count: Count| {
        if count.packets > 0 {
            let reason = reason.replace('_', " ");
            rows.push(vec![
                at.name.clone(),
                place.to_owned(),
                reason,
                packets(count.packets),
                bytes(count.bytes),
            ]);
        }
    };
    for at in &snapshot.interfaces {
        at.refused.iter().for_each(|(reason, count)| row(at, "arriving", word(*reason), *count));
        for class in &at.classes {
            class.dropped.iter().for_each(|(reason, count)| row(at, &class.name, word(*reason), *count));
        }
    }
    for at in &snapshot.interfaces {
        for (said, count) in [
            ("no room in the socket", at.kernel.receive_dropped),
            ("not taken by the device", at.kernel.transmit_failed),
        ] {
            if count > 0 {
                let cells = [at.name.as_str(), "kernel", said];
                let mut cells: Vec<String> = cells.map(str::to_owned).to_vec();
                cells.extend([packets(count), "-".to_owned()]);
                rows.push(cells);
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests;
