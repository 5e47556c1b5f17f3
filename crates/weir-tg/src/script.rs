//! A script as it was written: one association and what is done with it.
//!
//! It prints as a script that reads as the same one again: keywords in full, distributions with all their
//! arguments, what was included in place.

use core::fmt;
use std::net::SocketAddrV4;

use weir_core::units::{Bytes, Nanos};

use crate::Distribution;

/// A script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// It starts at the next multiple of this many seconds of the wall clock.
    pub on: u32,
    /// Between whom.
    pub association: Association,
    /// What is done, in order.
    pub actions: Vec<Action>,
    /// The file and what it includes, by name: what a [`Place`] counts.
    pub sources: Vec<String>,
}

/// Where something stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as a place in [`Script::sources`].
    pub source: u16,
    /// The line, counted from 1.
    pub line: u32,
    /// The character within the line, counted from 1.
    pub column: u32,
}

/// The protocol of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// Writes to standard output what it would send.
    Test,
}

impl Protocol {
    /// The keyword.
    #[must_use]
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Test => "test",
        }
    }
}

/// Between whom a script sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    /// Over which protocol.
    pub protocol: Protocol,
    /// Its ends.
    pub ends: Ends,
    /// What is asked of it.
    pub qualities: Vec<Quality>,
}

/// The ends of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Sends to this address, from any port.
    To(SocketAddrV4),
    /// Waits for traffic on this address.
    Server(SocketAddrV4),
    /// Sends from one address to another.
    Between {
        /// The address of its own.
        local: SocketAddrV4,
        /// Where it sends to.
        remote: SocketAddrV4,
    },
}

impl Ends {
    /// The address of its own, where the script has one.
    #[must_use]
    pub const fn local(self) -> Option<SocketAddrV4> {
        match self {
            Self::Between { local, .. } => Some(local),
            Self::To(_) | Self::Server(_) => None,
        }
    }

    /// Where it sends to, or waits.
    #[must_use]
    pub const fn remote(self) -> SocketAddrV4 {
        match self {
            Self::To(remote) | Self::Server(remote) | Self::Between { remote, .. } => remote,
        }
    }
}

/// Of which value a quality is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Of the mean.
    Average,
    /// Of the largest value.
    Peak,
}

/// Which quality of service is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// How much is carried.
    Bandwidth,
    /// How long it takes.
    Delay,
    /// How much is lost.
    Loss,
}

/// What is asked of an association.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quality {
    /// A quality of service.
    Service(Extent, Service, f64),
    /// `rcvwin`: the buffer of the receiver, in bytes.
    ReceiveWindow(u32),
    /// `sndwin`: the buffer of the sender, in bytes.
    SendWindow(u32),
    /// `ttl`: how many routers a packet may pass.
    TimeToLive(u8),
    /// `tos`: the type of service in the header of IP.
    TypeOfService(u8),
    /// `mtu`: the largest packet, in bytes.
    Mtu(u32),
    /// `interval`.
    Interval(f64),
    /// Requests carry the length of the wanted response.
    Interactive,
}

/// Something that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// When, since the script's start; `None` when the former has ended.
    pub at: Option<Nanos>,
    /// What.
    pub deed: Deed,
    /// Where it is written.
    pub place: Place,
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// The association is set up.
    Setup,
    /// Nothing is sent for this time; `None` up to the next `at`, or for ever.
    Wait(Option<Nanos>),
    /// The log is opened under this name, a format of `strftime`.
    Log(String),
    /// Packets are sent.
    Send(Box<Sending>),
}

/// Packets that are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    /// Gaps, in seconds.
    pub arrival: Distribution,
    /// Lengths of the user's data, in bytes.
    pub length: Distribution,
    /// What is wanted in return.
    pub response: Option<Response>,
    /// `data`: at most this much.
    pub data: Option<Bytes>,
    /// `packet`: at most this many.
    pub packets: Option<u64>,
    /// `time`: for this long.
    pub time: Option<Nanos>,
    /// `seed` of its draws.
    pub seed: Option<u64>,
    /// `reset`: its draws begin anew.
    pub reset: bool,
}

/// What is wanted in return of a packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// How long it is, in bytes.
    pub length: Distribution,
    /// The association is given up when one takes longer than this.
    pub patience: Option<Nanos>,
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "on {} {}", self.on, self.association.protocol.keyword())?;
        match self.association.ends {
            Ends::To(address) => write!(f, " {}", Address(address))?,
            Ends::Server(address) => write!(f, " {} server", Address(address))?,
            Ends::Between { local, remote } => write!(f, " {} {}", Address(local), Address(remote))?,
        }
        for quality in &self.association.qualities {
            write!(f, " {quality}")?;
        }
        writeln!(f)?;
        self.actions.iter().try_for_each(|action| writeln!(f, "{action}"))
    }
}

/// An address in the form of the language.
struct Address(SocketAddrV4);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.ip(), self.0.port())
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(extent, service, value) => {
                let extent = if *extent == Extent::Average { "average" } else { "peak" };
                let service = match service {
                    Service::Bandwidth => "bandwidth",
                    Service::Delay => "delay",
                    Service::Loss => "loss",
                };
                write!(f, "{extent} {service} {value}")
            }
            Self::ReceiveWindow(bytes) => write!(f, "rcvwin {bytes}"),
            Self::SendWindow(bytes) => write!(f, "sndwin {bytes}"),
            Self::TimeToLive(hops) => write!(f, "ttl {hops}"),
            Self::TypeOfService(bits) => write!(f, "tos {bits}"),
            Self::Mtu(bytes) => write!(f, "mtu {bytes}"),
            Self::Interval(value) => write!(f, "interval {value}"),
            Self::Interactive => write!(f, "interactive"),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at {
            write!(f, "at {} ", Seconds(at))?;
        }
        match &self.deed {
            Deed::Setup => write!(f, "setup"),
            Deed::Wait(None) => write!(f, "wait"),
            Deed::Wait(Some(time)) => write!(f, "wait {}", Seconds(*time)),
            Deed::Log(name) => write!(f, "log \"{name}\""),
            Deed::Send(send) => write!(f, "{send}"),
        }
    }
}

impl fmt::Display for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arrival {} length {}", self.arrival, self.length)?;
        if let Some(response) = &self.response {
            write!(f, " responselength {}", response.length)?;
            if let Some(patience) = response.patience {
                write!(f, " patience {}", Seconds(patience))?;
            }
        }
        if let Some(data) = self.data {
            write!(f, " data {}", data.get())?;
        }
        if let Some(packets) = self.packets {
            write!(f, " packet {packets}")?;
        }
        if let Some(time) = self.time {
            write!(f, " time {}", Seconds(time))?;
        }
        if let Some(seed) = self.seed {
            write!(f, " seed {seed}")?;
        }
        f.write_str(if self.reset { " reset" } else { "" })
    }
}

/// A time in seconds, to the nanosecond.
struct Seconds(Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, rest) = (self.0.get() / 1_000_000_000, self.0.get() % 1_000_000_000);
        write!(f, "{seconds}")?;
        if rest == 0 {
            return Ok(());
        }
        write!(f, ".{}", format!("{rest:09}").trim_end_matches('0'))
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "constant {value}"),
            Self::Uniform { min, max } => write!(f, "uniform {min} {max}"),
            Self::Exponential { mean, bounds: None } => write!(f, "exponential {mean}"),
            Self::Exponential { mean, bounds: Some((min, max)) } => {
                write!(f, "exponential {mean} {min} {max}")
            }
            Self::Markov2(states) => {
                let [(first, one), (second, two)] = &**states;
                write!(f, "markov2 {first} {one} {second} {two}")
            }
        }
    }
}
