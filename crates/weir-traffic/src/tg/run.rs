//! A run of a script: from its start to its last packet, and the log closed.
//!
//! ```text
//! log opened -> priority taken -> start -> setup -> packets sent or received -> wait -> teardown -> log whole
//! ```

use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::path::PathBuf;

use weir_core::units::{Instant, Nanos};
use weir_document::Refused;
use weir_tg::RandomMode;
use weir_tg::script::Protocol;

use super::log::{self, Header, Kind, Record, Role, Stamps, Transport, Writer};
use super::outlet::{Connection, Datagrams, Outlet};
use super::plan::Plan;
use super::sink::{Received, Sink};
use super::socket;
use super::source::{Sent, Source};
use super::summary::Summary;
use crate::generator::clock::{self, Clock, LONGEST_SLEEP, from_start};
use crate::generator::process;
use crate::generator::socket::stamp_departures;
use crate::generator::wall::WallTime;

/// The kernel is asked when it takes packets where their mean gap is at least this, in seconds: 20,000 a second.
const SMALLEST_GAP: f64 = 50e-6;

/// What a run is given besides its plan.
#[derive(Clone, Debug)]
pub struct Given {
    /// The start of the script.
    pub start: WallTime,
    /// Where its log is written.
    pub log: Option<PathBuf>,
    /// What 99 % of the packets are promised not to be late by.
    pub promised: Nanos,
}

/// Why a run has no summary.
#[derive(Debug)]
pub enum Trouble {
    /// What was given cannot be used.
    Input(Refused),
    /// It is not permitted here.
    NotPermitted(String),
    /// Something failed on the way.
    Failed(String),
}

impl From<Refused> for Trouble {
    fn from(refused: Refused) -> Self {
        Self::Input(refused)
    }
}

impl Trouble {
    fn of(what: &str, error: &io::Error) -> Self {
        let text = format!("{what}: {error}");
        if error.kind() == io::ErrorKind::PermissionDenied {
            Self::NotPermitted(text)
        } else {
            Self::Failed(text)
        }
    }
}

/// What a run has in hand.
struct Run<'r, C> {
    plan: &'r Plan,
    clock: &'r C,
    start: WallTime,
    begin: Instant,
    log: Option<Writer>,
    summary: Summary,
    promised: Nanos,
}

/// Runs a plan. `settle` gives this thread the processor and the priority that it sends or receives with.
///
/// # Errors
/// The association cannot be set up, the log cannot be written, or as `settle` says.
pub fn run(
    plan: &Plan,
    given: &Given,
    clock: &impl Clock,
    settle: impl FnOnce() -> Result<(), Trouble>,
) -> Result<Summary, Trouble> {
    let header = header(plan, given);
    let role = header.role;
    let log = open_log(given, &header)?;
    // The thread that writes the log is there already, and has nothing of this.
    settle()?;
    let summary = Summary::new(role, given.start, given.log.clone());
    // A sink that is to be set up at the start is so before, as the first packet may leave then.
    let early = role == Role::Sink && plan.setup == Nanos::new(0);
    let begin = if early { begin(clock, given.start) } else { await_start(clock, given.start) };
    let mut run = Run { plan, clock, start: given.start, begin, log, summary, promised: given.promised };
    if !early {
        run.wait_for(begin + plan.setup);
    }
    let done = match (role, header.transport) {
        (Role::Source, Transport::Udp) => run.udp_source(),
        (Role::Source, Transport::Tcp) => run.tcp_source(),
        (Role::Sink, Transport::Udp) => run.udp_sink(),
        (Role::Sink, Transport::Tcp) => run.tcp_sink(),
    };
    // What was logged before an error is a whole log.
    run.close().and_then(|summary| done.map(|()| summary))
}

fn header(plan: &Plan, given: &Given) -> Header {
    let role = if plan.server().is_some() { Role::Sink } else { Role::Source };
    let udp = plan.script.association.protocol == Protocol::Udp;
    let random = if plan.asked.random == RandomMode::Compatible { "compatible" } else { "independent" };
    Header {
        weird: env!("CARGO_PKG_VERSION").to_owned(),
        host: process::host(),
        role,
        transport: if udp { Transport::Udp } else { Transport::Tcp },
        clock: "CLOCK_REALTIME".to_owned(),
        stamps: stamps(plan),
        start: given.start,
        scale: plan.asked.scale,
        random: random.to_owned(),
        seed: plan.asked.seed,
        promised_ns: given.promised.get(),
        script: plan.script.to_string(),
    }
}

/// Who takes the times of packets. That the kernel tells a source costs it time, so only where packets are few enough.
fn stamps(plan: &Plan) -> Stamps {
    let udp = plan.script.association.protocol == Protocol::Udp;
    let few = plan.mean_gap().is_none_or(|gap| gap >= SMALLEST_GAP);
    if udp && few { Stamps::Kernel } else { Stamps::Process }
}

fn open_log(given: &Given, header: &Header) -> Result<Option<Writer>, Trouble> {
    let Some(path) = &given.log else { return Ok(None) };
    let refuse = |error: io::Error| {
        let remedy = "name a file in a folder that you may write to";
        Trouble::Input(Refused::of_file(
            &path.display().to_string(),
            format!("the log cannot be written: {error}"),
            remedy,
        ))
    };
    Writer::create(path, header).map(Some).map_err(refuse)
}

/// The start on the clock of the schedule, as the two clocks stand now.
fn begin(clock: &impl Clock, start: WallTime) -> Instant {
    Instant::new(clock.now().get().saturating_add_signed(from_start(start, clock.wall())))
}

/// Waits until the wall clock has reached the start; the start, on the clock of the schedule. The two are compared anew
/// after each sleep, as the wall clock may be set meanwhile.
fn await_start(clock: &impl Clock, start: WallTime) -> Instant {
    loop {
        let (now, begin) = (clock.now(), begin(clock, start));
        if begin <= now || clock.stopped() {
            return begin;
        }
        clock.wait(now + (begin - now).min(LONGEST_SLEEP));
    }
}

impl<C: Clock> Run<'_, C> {
    fn udp_source(&mut self) -> Result<(), Trouble> {
        let made = socket::udp_source(&self.plan.script).map_err(|error| self.not_set_up(&error))?;
        self.summary.warnings.extend(made.remarks);
        let local = made.socket.local_addr();
        let stamped = stamps(self.plan) == Stamps::Kernel && stamp_departures(&made.socket).is_ok();
        self.set_up(local)?;
        self.send(&mut Datagrams::new(made.socket, stamped))
    }

    fn tcp_source(&mut self) -> Result<(), Trouble> {
        let made = self.connect()?;
        self.summary.warnings.extend(made.remarks);
        let local = made.socket.local_addr();
        self.set_up(local)?;
        self.send(&mut Connection::new(made.socket))
    }

    /// Connects; where nobody listens yet, again until the first packet is due.
    fn connect(&self) -> Result<socket::Made<std::net::TcpStream>, Trouble> {
        let first = self.plan.schedule().next().map_or(Nanos::new(0), |(at, _)| at);
        loop {
            let error = match socket::tcp_source(&self.plan.script) {
                Ok(made) => return Ok(made),
                Err(error) => error,
            };
            let now = self.clock.now();
            let refused = error.kind() == io::ErrorKind::ConnectionRefused;
            if !refused || self.clock.stopped() || now + LONGEST_SLEEP >= self.begin + first {
                return Err(self.not_set_up(&error));
            }
            self.clock.wait(now + LONGEST_SLEEP);
        }
    }

    fn send(&mut self, outlet: &mut impl Outlet) -> Result<(), Trouble> {
        let mut schedule = self.plan.schedule();
        let record =
            Record { address: self.plan.script.association.ends.remote(), ..Record::new(Kind::Transmit, 0) };
        let source = Source {
            clock: self.clock,
            outlet: &mut *outlet,
            schedule: &mut schedule,
            begin: self.begin,
            start: self.start,
            record,
            log: &mut self.log,
        };
        let sent: Sent = source.run().map_err(|error| log_failed(&error))?;
        self.summary.sent(&sent, self.promised);
        let end = self.plan.end(schedule.ended());
        if sent.over.is_none() {
            self.wait_for(end.map_or(Instant::new(u64::MAX), |end| self.begin + end));
        }
        self.write(Record { address: record.address, ..self.now(Kind::Teardown) })
    }

    fn udp_sink(&mut self) -> Result<(), Trouble> {
        let address = self.plan.script.association.ends.remote();
        let made = socket::udp_sink(&self.plan.script, address).map_err(|error| self.not_set_up(&error))?;
        self.summary.warnings.extend(made.remarks);
        self.set_up(Ok(address.into()))?;
        let received = self.sink().udp(&made.socket).map_err(|error| log_failed(&error))?;
        self.received(&received)
    }

    fn tcp_sink(&mut self) -> Result<(), Trouble> {
        let address = self.plan.script.association.ends.remote();
        let made = socket::tcp_sink(&self.plan.script, address).map_err(|error| self.not_set_up(&error))?;
        self.summary.warnings.extend(made.remarks);
        self.set_up(Ok(address.into()))?;
        let received = self.sink().tcp(&made.socket).map_err(|error| log_failed(&error))?;
        self.received(&received)
    }

    fn sink(&mut self) -> Sink<'_, C> {
        let until = self.plan.end(Nanos::new(0)).map(|end| self.begin + end);
        Sink { clock: self.clock, until, start: self.start, log: &mut self.log }
    }

    fn received(&mut self, received: &Received) -> Result<(), Trouble> {
        self.summary.received(received);
        self.write(self.now(Kind::Teardown))
    }

    fn set_up(&mut self, local: io::Result<SocketAddr>) -> Result<(), Trouble> {
        let none = Record::new(Kind::Setup, 0).address;
        let address = match local {
            Ok(SocketAddr::V4(address)) => address,
            _ => none,
        };
        self.write(Record { address, ..self.now(Kind::Setup) })?;
        // Who waits for this host to be ready finds it in the log.
        self.log.as_mut().map_or(Ok(()), Writer::flush).map_err(|error| log_failed(&error))
    }

    fn not_set_up(&self, error: &io::Error) -> Trouble {
        let ends = self.plan.script.association.ends;
        let (local, remote) = (ends.local(), ends.remote());
        let with: SocketAddrV4 = if local.is_some() && error.kind() == io::ErrorKind::AddrNotAvailable {
            local.unwrap_or(remote)
        } else {
            remote
        };
        let text = format!("{with} cannot be set up: {error}");
        match error.kind() {
            io::ErrorKind::PermissionDenied => Trouble::NotPermitted(format!(
                "{text}: ports below 1024 need the capability CAP_NET_BIND_SERVICE, large buffers CAP_NET_ADMIN"
            )),
            io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse => {
                let remedy = "write an address of this host and a port that nobody else uses";
                let name = self.plan.script.sources.first().map_or("", String::as_str);
                Trouble::Input(Refused::of_file(name, text, remedy))
            }
            _ => Trouble::Failed(text),
        }
    }

    fn wait_for(&self, until: Instant) {
        while self.clock.now() < until && !self.clock.stopped() {
            self.clock.wait(until);
        }
    }

    fn now(&self, kind: Kind) -> Record {
        Record::new(kind, from_start(self.clock.wall(), self.start))
    }

    fn write(&mut self, record: Record) -> Result<(), Trouble> {
        let added = self.log.as_mut().map_or(Ok(()), |log| log.add(&record));
        added.map_err(|error| log_failed(&error))
    }

    fn close(mut self) -> Result<Summary, Trouble> {
        let (now, wall) = (self.clock.now(), self.clock.wall());
        let since = now.since(self.begin).get().cast_signed();
        self.summary.stopped = self.clock.stopped();
        let time = from_start(wall, self.start);
        if now >= self.begin {
            self.summary.clock_moved(time - since);
        }
        if let Some(log) = self.log {
            log.finish(time).map_err(|error| log_failed(&error))?;
        }
        Ok(self.summary)
    }
}

fn log_failed(error: &io::Error) -> Trouble {
    Trouble::of("the log cannot be written", error)
}

/// When a script starts that is run now: at the next multiple of what its `on` says.
#[must_use]
pub fn next_start(plan: &Plan) -> Option<WallTime> {
    clock::wall().next_multiple(plan.script.on)
}

/// The name that a script gives its log, with the start in place of what `strftime` knows.
///
/// # Errors
/// The name is empty or too long.
pub fn log_name(format: &str, start: WallTime) -> Result<PathBuf, Refused> {
    log::name::expanded(format, start)
}
