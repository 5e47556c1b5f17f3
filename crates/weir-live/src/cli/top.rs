//! `weird top NAME`: what a running daemon does, interval after interval.
//!
//! One sample of the daemon's counters an interval, over a connection of its own; what is shown is the difference of two.
//! `--once` prints one interval as text. With `--model`, a result or a scenario, cannot be combined with each interface what a
//! simulation says of the link of the same name under the same discipline.

mod frame;
mod model;
mod steering;
mod subscribers;
mod view;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use weir_document::quantity::{Clock, Time};
use weir_plane::snapshot::Snapshot;
use weir_plane::subscribers::SubscribersSnapshot;

use super::{Failure, client};
use crate::daemon::protocol::{Answer, Request};
use crate::steer::report::SteeringStats;
use frame::Frame;
use model::Model;
use subscribers::{Choice, Sort};

/// The shortest and the longest interval, in milliseconds.
const INTERVALS: (u64, u64) = (100, 3_600_000);
/// The width of the text where nobody says another.
const WIDTH: usize = 200;

/// Shows what a running daemon does, until `q` is pressed.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The daemon's name, as its file says.
    name: String,
    /// The time between two samples.
    #[arg(long, default_value = "1s", value_parser = interval)]
    interval: Duration,
    /// Prints one interval as text, and ends.
    #[arg(long)]
    once: bool,
    /// Shows subscribers instead of interfaces; the keys `r`, `d` and `w` sort them by rate, drops and what waits, `/`
    /// begins a part of their names, and Enter ends it.
    #[arg(long, conflicts_with = "model")]
    subscribers: bool,
    /// What subscribers are sorted by.
    #[arg(long, value_enum, default_value_t = Sort::Rate, requires = "subscribers")]
    sort: Sort,
    /// Shows the subscribers whose names hold this.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        requires = "subscribers"
    )]
    filter: String,
    /// How many subscribers of an interface are shown at most.
    #[arg(long, value_name = "NUMBER", default_value_t = 50, requires = "subscribers")]
    most: usize,
    /// A result that `weir run --out` wrote, or a scenario to run: shows what it says of the links of a router.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// The link of the model that an interface is, where it has another name: `eth0=uplink`.
    #[arg(long, value_name = "INTERFACE=LINK", value_parser = link)]
    link: Vec<(String, String)>,
}

fn interval(text: &str) -> Result<Duration, String> {
    let (low, high) = INTERVALS;
    let time = Time::parse(text).filter(|time| time.clock == Clock::Seconds);
    let time = time.map(|time| Duration::from_nanos(time.span.get()));
    time.filter(|time| (Duration::from_millis(low)..=Duration::from_millis(high)).contains(time))
        .ok_or_else(|| format!("must be a span of time from {low}ms to {}s: write \"1s\"", high / 1_000))
}

fn link(text: &str) -> Result<(String, String), String> {
    let (interface, link) = text.split_once('=').unwrap_or_default();
    match interface.is_empty() || link.is_empty() {
        true => Err("must be an interface and a link: write \"eth0=uplink\"".to_owned()),
        false => Ok((interface.to_owned(), link.to_owned())),
    }
}

/// Shows the daemon.
///
/// # Errors
/// No such daemon is running, it may not be asked, or the model cannot be read.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = arguments.model.as_deref().map(|path| Model::read(path, &arguments.link)).transpose()?;
    if arguments.link.is_empty() || model.is_some() {
        return if arguments.once {
            once(arguments, model.as_ref())
        } else {
            watch(arguments, model.as_ref())
        };
    }
    Err(Failure::Input("--link says which link of a model an interface is: add --model FILE".to_owned()))
}

/// One sample of the counters.
enum Sample {
    Router(Snapshot),
    Steering(SteeringStats),
    Subscribers(Vec<SubscribersSnapshot>),
}

impl Sample {
    /// The page of the time since another sample, or since the daemon began.
    fn since(&self, before: Option<&Self>, model: Option<&Model>, choice: &Choice) -> Frame {
        match (self, before) {
            (Self::Router(now), Some(Self::Router(before))) => view::frame(before, now, model),
            (Self::Router(now), _) => view::frame(&Snapshot::default(), now, model),
            (Self::Steering(now), Some(Self::Steering(before))) => steering::frame(before, now),
            (Self::Steering(now), _) => steering::frame(&SteeringStats::default(), now),
            (Self::Subscribers(now), Some(Self::Subscribers(before))) => choice.frame(before, now),
            (Self::Subscribers(now), _) => choice.frame(&[], now),
        }
    }
}

fn sample(arguments: &Arguments) -> Result<Sample, Failure> {
    let name = &arguments.name;
    let request = if arguments.subscribers { Request::Subscribers } else { Request::Stats };
    match client::ask(name, &request)? {
        Answer::Subscribers { interfaces } => Ok(Sample::Subscribers(interfaces)),
        Answer::Stats(snapshot) => Ok(Sample::Router(*snapshot)),
        Answer::Requests(stats) => Ok(Sample::Steering(*stats)),
        _ => Err(Failure::Unsupported(format!("the daemon of `{name}` is of another version: restart it"))),
    }
}

fn once(arguments: &Arguments, model: Option<&Model>) -> Result<(), Failure> {
    let before = sample(arguments)?;
    std::thread::sleep(arguments.interval);
    let now = sample(arguments)?;
    super::print(&now.since(Some(&before), model, &Choice::of(arguments)).text(WIDTH))
}

fn watch(arguments: &Arguments, model: Option<&Model>) -> Result<(), Failure> {
    if !std::io::stdout().is_terminal() {
        return Err(Failure::Input("the output is no terminal: add --once for text".to_owned()));
    }
    let mut now = sample(arguments)?;
    // Until there are two samples, everything since the daemon began.
    let mut before = None;
    let failed =
        |error: std::io::Error| Failure::Input(format!("the terminal: {error}: add --once for text"));
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let _restored = Restored;
    let mut choice = Choice::of(arguments);
    let mut due = Instant::now() + arguments.interval;
    loop {
        let frame = now.since(before.as_ref(), model, &choice);
        terminal.draw(|area| frame.draw(area)).map_err(failed)?;
        match pause(due, &mut choice).map_err(failed)? {
            Pause::Quit => return Ok(()),
            Pause::Changed => {}
            Pause::Over => {
                before = Some(now);
                now = sample(arguments)?;
                due = Instant::now() + arguments.interval;
            }
        }
    }
}

/// Gives the terminal back, whatever happens.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// How a wait ended.
enum Pause {
    Over,
    /// The size, or what is to be shown.
    Changed,
    Quit,
}

fn pause(until: Instant, choice: &mut Choice) -> std::io::Result<Pause> {
    while event::poll(until.saturating_duration_since(Instant::now()))? {
        match event::read()? {
            Event::Key(key) if choice.takes(key) => return Ok(Pause::Changed),
            Event::Key(key) if quits(key) => return Ok(Pause::Quit),
            Event::Resize(..) => return Ok(Pause::Changed),
            _ => {}
        }
    }
    Ok(Pause::Over)
}

fn quits(key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press
        && match key.code {
            KeyCode::Char('q') | KeyCode::Esc => true,
            KeyCode::Char('c') => control,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_units_and_bounds() {
        assert_eq!(interval("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(interval("250ms"), Ok(Duration::from_millis(250)));
        for bad in ["1", "0s", "99ms", "2u", "3601s", "-1s", ""] {
            assert!(interval(bad).is_err_and(|error| error.contains("write \"1s\"")), "{bad}");
        }
        assert_eq!(link("eth0=up=link"), Ok(("eth0".to_owned(), "up=link".to_owned())));
        assert!(link("eth0").is_err() && link("=x").is_err() && link("x=").is_err());
    }

    #[test]
    fn q_escape_and_control_c_quit() {
        let key = |code, modifiers| quits(KeyEvent::new(code, modifiers));
        assert!(key(KeyCode::Char('q'), KeyModifiers::NONE) && key(KeyCode::Esc, KeyModifiers::NONE));
        assert!(
            key(KeyCode::Char('c'), KeyModifiers::CONTROL) && !key(KeyCode::Char('c'), KeyModifiers::NONE)
        );
    }
}
