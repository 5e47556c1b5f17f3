//! Sources: when each packet of an interface and channel is generated, how large it is, and where it goes.
//!
//! An interface has as many flows of a channel as make up its part of the load, the last of them by chance; each flow
//! has a destination of its own among the other end-points and, where routing says so, a way of its own. The
//! flows of an interface and channel are one process of arrivals at their rates' sum, whose rate may follow a curve; each arrival
//! is of any flow with equal chance. A process is met at any instant, so that interfaces are not in step, and the load is
//! offered from the beginning. An arrival is a unit, packet or message, or a burst of units of one flow; all its packets are
//! generated at one instant.
//!
//! A source knows nothing of the fabric. So the packets that wait for their interface need not be kept: they are
//! still in the source. Streams are keyed by interface and channel, hence all disciplines see the same packets; a
//! higher load adds flows to those of a lower one, and has the same gaps, only shorter.
//!
//! | | |
//! |-|-|
//! | Source | Martínez, Alfaro and Sánchez 2007, section 3.2: flows of 1 Mb/s, exponential gaps |
//! | Units | ticks of 1/6 ns; exponential gaps are rounded to whole ticks, instants of other processes and of curves to whole ns |
//! | Work | O(1) a packet: three random words |
//! | Memory | 4 bytes a flow, 2.1 kB an interface and channel, up to 2 kB more for a process that is not Poisson |

use std::sync::Arc;

use crate::law::{self, Units};
use crate::model::{Arrivals, FabricScenario, Routing, Traffic};
use crate::packet::Packet;
use crate::route::Router;
use crate::time::{NEVER, TICKS_PER_NANO, TICKS_PER_SECOND, Ticks, ticks, timing};
use crate::topology::Wiring;
use weir_lab::error::RunError;
use weir_lab::stream::{LONGEST_MEAN, Purpose, Stream, StreamKey, below};
use weir_workload::arrivals::FineTimes;
use weir_workload::sizes::SizeSampler;

/// Gaps drawn at a time.
const BLOCK: usize = 32;
/// The most flows of all interfaces and channels.
const MOST_FLOWS: f64 = 16_777_216.0;

/// Where a flow goes, and by which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flow {
    destination: u16,
    way: u16,
}

/// What has been drawn for an arrival: the gap before it and its flow. And the payload of a unit, which is another's
/// where arrivals have many.
#[derive(Clone, Copy, Debug, Default)]
struct Drawn {
    gap: u64,
    payload: u64,
    number: u32,
    flow: Flow,
}

/// What the sources of a channel share.
#[derive(Clone, Debug)]
struct Law {
    units: Units,
    /// How many units an arrival has; `None` for one.
    bursts: Option<SizeSampler>,
    /// The mean gap of one flow, in ticks.
    gap: f64,
    /// Flows of an interface.
    flows: f64,
}

/// What the sources of a scenario share at one load.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    fabric: &'a FabricScenario,
    router: Router,
    hosts: u32,
    laws: Vec<Arc<Law>>,
}

/// What makes the gaps of a source.
#[derive(Clone, Debug)]
enum Gaps {
    /// Exponential ones of this mean, in ticks.
    Exponential(f64, Stream),
    /// Those between the instants of a process, and the last instant.
    Process(FineTimes, Ticks),
}

impl Gaps {
    /// Those of an interface and channel with this mean gap in ticks; streams are those of the key.
    fn new(traffic: &Traffic, mean: f64, key: &dyn Fn(Purpose) -> StreamKey) -> Result<Self, RunError> {
        let process = match (&traffic.arrivals, &traffic.curve) {
            (Arrivals::Process(process), _) => process,
            (_, Some(_)) => &weir_workload::Arrivals::Poisson,
            (_, None) => return Ok(Self::Exponential(mean, Stream::new(key(Purpose::Arrivals)))),
        };
        let stream = |purpose, part| Stream::new(key(purpose).part(part));
        let nanoseconds = mean / TICKS_PER_NANO as f64;
        let times = FineTimes::from_any_instant(process, nanoseconds, traffic.curve.clone(), &stream);
        Ok(Self::Process(times.map_err(|error| too_large("traffic.arrivals", error.to_string()))?, 0))
    }

    fn fill(&mut self, gaps: &mut [u64]) {
        match self {
            Self::Exponential(mean, stream) => stream.fill_exponential(*mean, 0, gaps),
            Self::Process(times, last) => {
                times.fill(gaps);
                for gap in gaps {
                    let at = gap.saturating_mul(TICKS_PER_NANO);
                    *gap = at - std::mem::replace(last, at);
                }
            }
        }
    }
}

/// Where the numbers of a source come from.
#[derive(Clone, Debug)]
struct Streams {
    gaps: Gaps,
    picks: Stream,
    lengths: Stream,
    bursts: Option<Stream>,
}

/// The source of an interface and channel. What each packet needs stands together, in this order.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Source {
    /// The next packet.
    head: Packet,
    /// Payload left of the unit that the next packet belongs to.
    payload: u64,
    /// Units left of the arrival.
    units: u64,
    /// Arrivals of the block that have passed, and payloads that are gone.
    passed: u32,
    gone: u32,
    /// No packet is generated at or after this time.
    stop: Ticks,
    law: Arc<Law>,
    /// Drawn together, for flows are far apart in memory.
    block: [Drawn; BLOCK],
    flows: Box<[Flow]>,
    streams: Box<Streams>,
    /// Packets that are sent instead of drawn ones.
    #[cfg(test)]
    script: Option<std::vec::IntoIter<Packet>>,
}

/// Refuses a process that cannot be drawn at the mean gap of the fewest or of the most flows that an interface may have.
fn tried(traffic: &Traffic, gap: f64, flows: f64) -> Result<(), RunError> {
    let key = |purpose| StreamKey { seed: 0, replication: 0, purpose, index: 0 };
    let means = [flows.floor(), flows.ceil()].map(|flows| gap / flows.max(1.0));
    means.into_iter().try_for_each(|mean| Gaps::new(traffic, mean, &key).map(drop))
}

fn too_large(place: &str, reason: String) -> RunError {
    RunError::TooLarge { place: place.to_owned(), reason }
}

impl<'a> Offer<'a> {
    /// What the sources share at a load, a place in the scenario's list.
    ///
    /// # Errors
    /// Packets do not fit the fabric, there are more flows than are simulated, or a flow sends too rarely.
    pub fn new(fabric: &'a FabricScenario, wiring: &Wiring, load: usize) -> Result<Self, RunError> {
        let load = fabric.traffic.loads.get(load).copied().unwrap_or(0.0);
        let shares: f64 = fabric.channels.iter().map(|channel| channel.share).sum();
        let rate = fabric.traffic.flow_rate.get() as f64 / 8.0;
        let flows = load * timing(fabric).line.bytes_per_second() / rate;
        let all = flows * f64::from(wiring.hosts());
        if all.is_nan() || all > MOST_FLOWS {
            let reason = format!("there are {all:.0} of them, at most {MOST_FLOWS:.0} are simulated");
            return Err(too_large("the flows at their rate", reason));
        }
        let mut laws = Vec::new();
        for channel in &fabric.channels {
            let units = Units::new(fabric, channel)?;
            let bursts = match fabric.traffic.arrivals {
                Arrivals::Poisson | Arrivals::Process(_) => None,
                Arrivals::Bursts { shape, cap } => {
                    let law = law::bursts(shape, cap);
                    Some(law.map_err(|error| too_large("traffic.arrivals", error.to_string()))?)
                }
            };
            let of_arrival = bursts.as_ref().map_or(1.0, |bursts| bursts.mean()) * units.mean();
            let gap = of_arrival / rate * TICKS_PER_SECOND as f64;
            if gap.is_nan() || gap > LONGEST_MEAN {
                let reason = format!(
                    "an arrival of channel `{}` has {of_arrival:.0} B, of which a flow sends one in {:.0} s, must be at most {:.0} s",
                    channel.name,
                    gap / TICKS_PER_SECOND as f64,
                    LONGEST_MEAN / TICKS_PER_SECOND as f64,
                );
                return Err(too_large("traffic.flow_rate", reason));
            }
            let bursts = bursts.map(|bursts| bursts.sampler());
            let flows = flows * channel.share / shares;
            tried(&fabric.traffic, gap, flows)?;
            laws.push(Arc::new(Law { units, bursts, gap, flows }));
        }
        Ok(Self { fabric, router: Router::new(wiring), hosts: wiring.hosts(), laws })
    }

    /// The source of an interface and channel in a replication.
    ///
    /// # Errors
    /// Gaps are too long or too short to be drawn.
    pub fn source(&self, replication: u32, host: u32, channel: u8) -> Result<Source, RunError> {
        let index = host * self.laws.len() as u32 + u32::from(channel);
        let key = |purpose| StreamKey { seed: self.fabric.seed, replication, purpose, index };
        let stream = |purpose| Stream::new(key(purpose));
        let law = &self.laws[usize::from(channel)];
        let flows = self.flows(law, host, stream(Purpose::Places), stream(Purpose::Ways));
        let mean = law.gap / (flows.len() as f64).max(1.0);
        let mut source = Source {
            head: Packet { source: host, channel, sequence: u32::MAX, ..Packet::default() },
            payload: 0,
            units: 0,
            passed: BLOCK as u32,
            gone: BLOCK as u32,
            stop: ticks(self.fabric.stop.duration),
            law: law.clone(),
            block: [Drawn::default(); BLOCK],
            flows,
            streams: Box::new(Streams {
                gaps: Gaps::new(&self.fabric.traffic, mean, &key)?,
                picks: stream(Purpose::Flows),
                lengths: stream(Purpose::Lengths),
                bursts: law.bursts.as_ref().map(|_| stream(Purpose::Phases)),
            }),
            #[cfg(test)]
            script: None,
        };
        source.advance();
        Ok(source)
    }

    /// The sources of a replication: those of an interface together, channel by channel.
    ///
    /// # Errors
    /// Gaps are too long or too short to be drawn.
    pub fn sources(&self, replication: u32) -> Result<Vec<Source>, RunError> {
        let channels = 0..self.laws.len() as u8;
        let of = |host| channels.clone().map(move |channel| self.source(replication, host, channel));
        (0..self.hosts).flat_map(of).collect()
    }

    /// The flows of an interface and channel: the places take one word for their number and two for each, whether
    /// they are needed or not.
    fn flows(&self, law: &Law, host: u32, mut places: Stream, mut ways: Stream) -> Box<[Flow]> {
        let number = law.flows.floor() + f64::from(u8::from(places.next_uniform() < law.flows.fract()));
        let flow = |_| {
            let (chance, word) = (places.next_uniform(), places.next_below(u64::from(self.hosts) - 1) as u32);
            let any = word + u32::from(word >= host);
            let hot = self.fabric.traffic.hot_spot.filter(|hot| hot.host != host && chance < hot.share);
            let destination = hot.map_or(any, |hot| hot.host);
            let way = match self.fabric.routing {
                Routing::Deterministic => self.router.way(destination),
                Routing::RandomPerFlow => ways.next_below(u64::from(self.router.ways())) as u32,
                Routing::AdaptiveUp => 0,
            };
            // There are at most 2^16 end-points, and ways.
            Flow { destination: destination as u16, way: way as u16 }
        };
        (0..number as usize).map(flow).collect()
    }
}

impl Source {
    /// When the next packet is generated, or [`NEVER`].
    #[inline]
    #[must_use]
    pub fn next_at(&self) -> Ticks {
        self.head.generated
    }

    /// The next packet, if there is one; it has not entered yet.
    #[inline]
    #[must_use]
    pub fn head(&self) -> &Packet {
        &self.head
    }

    /// How many flows it has.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Lets the next packet go; there is one.
    #[inline]
    pub fn advance(&mut self) {
        #[cfg(test)]
        if let Some(script) = &mut self.script {
            self.head = script.next().unwrap_or(Packet { generated: NEVER, ..self.head });
            return;
        }
        if self.payload == 0 {
            if self.units == 0 && !self.arrive() {
                return;
            }
            self.units -= 1;
            if self.gone as usize == BLOCK {
                self.draw_payloads();
            }
            self.payload = self.block[self.gone as usize].payload;
            self.gone += 1;
        }
        (self.head.size, self.payload) = self.law.units.cut(self.payload);
        self.head.last = self.payload == 0;
        self.head.sequence = self.head.sequence.wrapping_add(1);
    }

    /// Sends these packets instead of drawn ones.
    #[cfg(test)]
    pub(crate) fn follow(&mut self, packets: Vec<Packet>) {
        self.script = Some(packets.into_iter());
        self.advance();
    }

    /// Draws a block of arrivals; there is a flow.
    #[inline(never)]
    fn draw_arrivals(&mut self) {
        let (mut gaps, mut words) = ([0; BLOCK], [0; BLOCK]);
        self.streams.gaps.fill(&mut gaps);
        self.streams.picks.fill_u64(&mut words);
        for (place, drawn) in self.block.iter_mut().enumerate() {
            let number = below(words[place], self.flows.len() as u64);
            let flow = self.flows[number as usize];
            (drawn.gap, drawn.number, drawn.flow) = (gaps[place], number as u32, flow);
        }
        self.passed = 0;
    }

    /// Draws a block of payloads.
    #[inline(never)]
    fn draw_payloads(&mut self) {
        let mut payloads = [0; BLOCK];
        self.law.units.draw(&mut self.streams.lengths, &mut payloads);
        self.block.iter_mut().zip(payloads).for_each(|(drawn, payload)| drawn.payload = payload);
        self.gone = 0;
    }

    /// Draws the next arrival; `false` if there is none before the end.
    #[inline]
    fn arrive(&mut self) -> bool {
        if self.flows.is_empty() {
            self.head.generated = NEVER;
            return false;
        }
        if self.passed as usize == BLOCK {
            self.draw_arrivals();
        }
        let Drawn { gap, number, flow: Flow { destination, way }, .. } = self.block[self.passed as usize];
        let at = self.head.generated.saturating_add(gap);
        self.passed += 1;
        if at >= self.stop {
            self.head.generated = NEVER;
            return false;
        }
        self.head.generated = at;
        (self.head.flow, self.head.destination, self.head.way) = (number, destination.into(), way.into());
        self.units = match (&self.law.bursts, &mut self.streams.bursts) {
            (Some(law), Some(stream)) => law.sample(stream.next_u64()),
            _ => 1,
        };
        true
    }
}

#[cfg(test)]
mod tests;
