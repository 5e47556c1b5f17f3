//! What a run does and when: a script, its start, and by how much it is shortened.
//!
//! | | |
//! |-|-|
//! | Source | TG 2.0, release notes and grammar (2002) |
//! | Work | O(actions) |
//! | Units | nanoseconds since the script's start, divided by the scale and rounded down |
//! | Departs from the source | one `log` at most, which is open from before the start; interactive associations are refused |

use std::net::SocketAddrV4;
use std::sync::Arc;

use weir_core::units::{Bytes, Cost, Nanos};
use weir_document::Refused;
use weir_tg::script::{Deed, Ends, Protocol, Quality};
use weir_tg::{Departures, RandomMode, Script, ScriptError, Traffic};

use super::random::Draws;

/// What is asked of a run besides its script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Where random numbers come from.
    pub random: RandomMode,
    /// Their seed.
    pub seed: u64,
    /// Durations and gaps are divided by this, which is at least 1.
    pub scale: u32,
    /// Departures wait for the next multiple of this, before they are divided: the tick of a host's timers; 0: they do
    /// not.
    pub tick: Nanos,
}

/// What a run does and when.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The script.
    pub script: Script,
    /// What it sends.
    pub traffic: Arc<Traffic>,
    /// What is asked besides.
    pub asked: Asked,
    /// When the association is set up, since the start.
    pub setup: Nanos,
    /// The name of the log in the script, a format of `strftime`.
    pub log: Option<String>,
    tail: Tail,
}

/// What follows the last packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tail {
    /// It is not over before this, since the start.
    at: Nanos,
    /// How long after that, or after the last burst's end.
    after: Option<Nanos>,
}

impl Plan {
    /// The plan of a script.
    ///
    /// # Errors
    /// The script asks for what is not supported.
    pub fn new(script: Script, asked: Asked) -> Result<Self, Refused> {
        let traffic = Traffic::of(&script).map_err(refused)?;
        refuse_interactive(&script)?;
        let log = log_name(&script)?;
        let (setup, tail) = (setup(&script), tail(&script));
        Ok(Self { script, traffic: Arc::new(traffic), asked, setup, log, tail }.scaled())
    }

    fn scaled(mut self) -> Self {
        let scale = self.asked.scale;
        self.setup = divided(self.setup, scale);
        self.tail.at = divided(self.tail.at, scale);
        self.tail.after = self.tail.after.map(|after| divided(after, scale));
        self
    }

    /// When packets leave.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        let draws = Draws::new(self.asked.random, self.asked.seed, &self.script);
        let departures = Departures::new(self.traffic.clone(), draws);
        Schedule { departures, scale: self.asked.scale, tick: self.asked.tick.get() }
    }

    /// The smallest mean gap between packets of its bursts, in seconds; `None` without a burst.
    #[must_use]
    pub fn mean_gap(&self) -> Option<f64> {
        let gaps = self.traffic.bursts.iter().map(|burst| burst.arrival.mean() / f64::from(self.asked.scale));
        gaps.min_by(f64::total_cmp)
    }

    /// When everything is over, where the last burst ended at `sent`; `None` where it waits for ever.
    #[must_use]
    pub fn end(&self, sent: Nanos) -> Option<Nanos> {
        Some(self.tail.at.max(sent).plus(self.tail.after?))
    }

    /// The address that a server waits on; `None` of a sender.
    #[must_use]
    pub const fn server(&self) -> Option<SocketAddrV4> {
        match self.script.association.ends {
            Ends::Server(address) => Some(address),
            _ => None,
        }
    }

    /// Whether it only prints what it would send.
    #[must_use]
    pub fn prints(&self) -> bool {
        self.script.association.protocol == Protocol::Test
    }
}

/// The departures of a plan: when, since the start, and how many bytes of the user's data.
#[derive(Clone, Debug)]
pub struct Schedule {
    departures: Departures<Draws>,
    scale: u32,
    tick: u64,
}

impl Schedule {
    /// When the last burst that is over ended, since the start.
    #[must_use]
    pub fn ended(&self) -> Nanos {
        divided(self.departures.ended(), self.scale)
    }
}

impl Iterator for Schedule {
    type Item = (Nanos, Bytes);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (at, data) = self.departures.next()?;
        let ticked =
            if self.tick == 0 { Some(at.get()) } else { at.get().checked_next_multiple_of(self.tick) };
        Some((divided(Nanos::new(ticked?), self.scale), data))
    }
}

fn divided(time: Nanos, scale: u32) -> Nanos {
    Nanos::new(time.get() / u64::from(scale.max(1)))
}

/// A script's error in the words of all documents.
#[must_use]
pub fn refused(error: ScriptError) -> Refused {
    Refused::of_file(&error.file, error.reason, error.remedy).at(error.line as usize, error.column as usize)
}

fn refuse_interactive(script: &Script) -> Result<(), Refused> {
    let asks = |deed: &Deed| matches!(deed, Deed::Send(sending) if sending.response.is_some());
    let action = script.actions.iter().find(|action| asks(&action.deed));
    let interactive = script.association.qualities.contains(&Quality::Interactive);
    if !interactive && action.is_none() {
        return Ok(());
    }
    let place = action.map(|action| action.place).unwrap_or_default();
    let file = script.sources.get(usize::from(place.source)).map_or("", String::as_str);
    let refused = Refused::of_file(
        file,
        "asks for responses, which do not work with real sockets: this generator sends one way",
        "remove `interactive`, `responselength` and `patience`, or run the script in the simulation",
    );
    Err(if action.is_some() { refused.at(place.line as usize, place.column as usize) } else { refused })
}

fn log_name(script: &Script) -> Result<Option<String>, Refused> {
    let logs = script.actions.iter().filter_map(|action| match &action.deed {
        Deed::Log(name) => Some((name, action.place)),
        _ => None,
    });
    let mut logs = logs.collect::<Vec<_>>().into_iter();
    let first = logs.next().map(|(name, _)| name.clone());
    if let Some((name, place)) = logs.next() {
        let file = script.sources.get(usize::from(place.source)).map_or("", String::as_str);
        let refused =
            Refused::of_file(file, "is a second log, a run has one", "remove one of the `log` actions");
        return Err(refused.at(place.line as usize, place.column as usize).value(name));
    }
    Ok(first)
}

/// When the association is set up: at its `setup`, else at the start.
fn setup(script: &Script) -> Nanos {
    let mut now = Nanos::new(0);
    for action in &script.actions {
        now = action.at.unwrap_or(now);
        match action.deed {
            Deed::Setup => return now,
            Deed::Log(_) => {}
            Deed::Wait(_) | Deed::Send(_) => break,
        }
    }
    Nanos::new(0)
}

/// What follows the last packet; of a script that sends nothing, all of it.
fn tail(script: &Script) -> Tail {
    let last = script.actions.iter().rposition(|action| matches!(action.deed, Deed::Send(_)));
    let following = last.map_or(0, |last| last + 1);
    let mut tail = Tail { at: Nanos::new(0), after: Some(Nanos::new(0)) };
    for action in &script.actions[following..] {
        if let Some(at) = action.at {
            tail = Tail { at, after: Some(Nanos::new(0)) };
        }
        if let Deed::Wait(time) = action.deed {
            tail.after = tail.after.zip(time).map(|(after, time)| after.plus(time));
        }
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Asked = Asked { random: RandomMode::Compatible, seed: 0, scale: 1, tick: Nanos::new(0) };

    fn plan(text: &str, asked: Asked) -> Result<Plan, Refused> {
        let script = weir_tg::parse(text, "test.tg", &mut |_| Err(String::new())).unwrap();
        Plan::new(script, asked)
    }

    /// Set-up, and the end after a burst that ended at 7 s, in seconds.
    fn times(actions: &str, scale: u32) -> (u64, Option<u64>) {
        let plan = plan(&format!("on 1 udp 1.2.3.4.5 {actions}"), Asked { scale, ..ASKED }).unwrap();
        let seconds = |time: Nanos| time.get() / 1_000_000_000;
        (seconds(plan.setup), plan.end(Nanos::new(7_000_000_000)).map(seconds))
    }

    #[test]
    fn setup_and_end() {
        assert_eq!(times("at 5 setup at 10 arrival 1 length 1 time 5", 1), (5, Some(7)));
        assert_eq!(times("at 2 log \"x\" setup arrival 1 length 1 time 5 wait 3", 1), (2, Some(10)));
        assert_eq!(times("arrival 1 length 1 time 5 at 20 wait 3", 1), (0, Some(23)));
        assert_eq!(times("arrival 1 length 1 time 5 at 20 wait", 1), (0, None));
        assert_eq!(times("server at 1.1 wait", 1), (0, None));
        assert_eq!(times("server at 10 setup wait 20", 1), (10, Some(30)));
        assert_eq!(times("at 50 setup at 100 arrival 1 length 1 time 5 at 200 wait 30", 10), (5, Some(23)));
    }

    #[test]
    fn departures_wait_for_the_tick_and_are_divided_then() {
        let text = "on 1 udp 1.2.3.4.5 arrival 0.004 length 1 time 0.02";
        let asked = Asked { scale: 10, tick: Nanos::new(10_000_000), ..ASKED };
        let micros: Vec<_> = plan(text, asked).unwrap().schedule().map(|(at, _)| at.get() / 1000).collect();
        assert_eq!(micros, [1000, 1000, 2000, 2000]);
    }

    #[test]
    fn the_scale_divides_every_time() {
        let text = "on 15 udp 1.2.3.4.5 at 10 arrival exponential 0.007692 length 750 time 20";
        let one = plan(text, ASKED).unwrap();
        let ten = plan(text, Asked { scale: 10, ..ASKED }).unwrap();
        let (mut one, mut ten) = (one.schedule(), ten.schedule());
        let times = |schedule: &mut Schedule| schedule.map(|(at, _)| at.get()).collect::<Vec<_>>();
        let (long, short) = (times(&mut one), times(&mut ten));
        assert!(long.len() > 2000);
        assert_eq!(short, long.iter().map(|at| at / 10).collect::<Vec<_>>());
        assert_eq!(one.ended().get(), 30_000_000_000);
        assert_eq!(ten.ended().get(), 3_000_000_000);
    }

    #[test]
    fn what_is_not_supported_is_refused_where_it_stands() {
        let error = plan("on 1 tcp 1.2.3.4.5\n arrival 1 length 1 responselength 5", ASKED).unwrap_err();
        assert!(error.to_string().starts_with("test.tg:2:2: asks for responses"), "{error}");
        assert!(plan("on 1 tcp 1.2.3.4.5 interactive wait", ASKED).is_err());
        let error = plan("on 1 udp 1.2.3.4.5 log \"a\" log \"b\"", ASKED).unwrap_err();
        assert!(error.to_string().starts_with("test.tg:1:28: b is a second log"), "{error}");
    }
}
