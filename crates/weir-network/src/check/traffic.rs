//! What a flow sends: exactly one of its kinds, with how many packets are expected and how large they can be.

use super::LONGEST_DELAY;
use super::curves::FlowCurve;
use super::files::Files;
use super::flows::Period;
use super::laws::Reading;
use crate::check::Check;
use crate::document::{CongestionControl, Flow, Law, Tcp};
use crate::model::{self, Congestion, Drawn, Gaps, PacketSizes, Traffic};
use std::sync::Arc;
use weir_core::units::{Bytes, Nanos};
use weir_document::quantity::{Length, LengthUnit, Time};
use weir_document::{Brief, Checked, Located};
use weir_tg::Distribution;
use weir_workload::document::{ArrivalProcess, WorkloadChecks};
use weir_workload::laws::written::{self, Lengths};
use weir_workload::{Arrivals, Sizes};

/// The largest packet.
pub(super) const MAX_PACKET: Bytes = Bytes::new(1 << 20);
/// The smallest packet of a transfer: the headers of an acknowledgement and one byte.
const MIN_SEGMENT: u64 = 41;
/// The size of a full packet of a transfer, where the scenario does not say.
const SEGMENT: Bytes = Bytes::new(1500);
/// The largest window of a transfer, in packets.
const MAX_WINDOW: u64 = 65_536;
/// The window of a transfer, where the scenario does not say.
const WINDOW: u64 = 1024;
/// The most packets of a flow.
const MAX_PACKETS: u64 = 1_000_000_000_000;
/// What is wrong with gaps that are too short.
pub(super) const TOO_FAST: &str = "asks for more than a packet a nanosecond";
/// The longest mean time that a process draws, a little less than streams can.
const LONGEST_STAY: Nanos = Nanos::new(70_000_000_000_000);
const SECOND: f64 = 1e9;

/// What one flow sends.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    pub(super) traffic: Traffic,
    /// Packets in one replication, roughly; `None` where the network decides.
    pub(super) expected: Option<f64>,
    /// The largest packet; `None` where there is no bound.
    pub(super) largest: Option<f64>,
    /// The mean of the sizes.
    pub(super) mean: f64,
}

impl Check<'_, '_> {
    /// What a flow sends in `period`.
    pub(super) fn traffic(
        &mut self,
        written: &Located<Flow>,
        period: Period,
        files: &mut Files,
    ) -> Checked<Sending> {
        let flow = &written.value;
        self.one_kind(written)?;
        if flow.tg.is_some() || flow.trace.is_some() || flow.tcp.is_some() {
            self.without_effect(flow.size.as_ref(), "flow.gap or flow.rate")?;
            self.without_effect(flow.packets.as_ref(), "flow.gap or flow.rate")?;
            self.without_curve(flow)?;
            self.without_effect(flow.arrivals.as_ref(), "flow.rate")?;
        }
        match (&flow.tg, &flow.trace, &flow.tcp) {
            (Some(script), None, None) => self.script(script, period, files),
            (None, Some(trace), None) => self.replay(trace, period, files),
            (None, None, Some(tcp)) => self.transfer(flow, tcp),
            _ => self.drawn(written, period),
        }
    }

    /// Refuses none of the kinds, and two of them.
    fn one_kind(&self, written: &Located<Flow>) -> Checked<()> {
        let flow = &written.value;
        let kinds = [
            ("gap", flow.gap.as_ref().map(|it| &it.span)),
            ("rate", flow.rate.as_ref().map(|it| &it.span)),
            ("tg", flow.tg.as_ref().map(|it| &it.span)),
            ("trace", flow.trace.as_ref().map(|it| &it.span)),
            ("tcp", flow.tcp.as_ref().map(|it| &it.span)),
        ];
        let mut given = kinds.iter().filter_map(|(name, span)| Some((*name, (*span)?)));
        let Some((first, _)) = given.next() else {
            if flow.curve.as_ref().is_some_and(|curve| curve.value.has_rates()) {
                return Ok(());
            }
            let reason = "must have one of `gap`, `rate`, `tg`, `trace`, `tcp`";
            let remedy = "add, for example, `rate = \"1Mbit\"` and `size = \"1500B\"`";
            return self.refuse(written, reason, remedy);
        };
        match given.next() {
            None => Ok(()),
            Some((_, span)) => {
                let reason = format!("cannot be combined with flow.{first}");
                Err(self.source.refuse(span.clone(), reason, "keep one of the two"))
            }
        }
    }

    /// Refuses a key that would have no effect.
    pub(super) fn without_effect<T>(&self, key: Option<&Located<T>>, without: &str) -> Checked<()> {
        key.map_or(Ok(()), |key| self.refuse(key, format!("has no effect without {without}"), "remove it"))
    }

    fn drawn(&mut self, written: &Located<Flow>, period: Period) -> Checked<Sending> {
        let flow = &written.value;
        let Some(size) = &flow.size else {
            let remedy = "add `size = \"1500B\"`, or a law of sizes";
            return self.refuse(written, "must have `size` together with `gap` or `rate`", remedy);
        };
        let size = self.packet_sizes(size)?;
        let curve = flow.curve.as_ref().map(|curve| self.curve(curve, period)).transpose()?;
        let gap = self.gaps(flow, &size, curve.as_ref())?;
        let packets = flow.packets.as_ref().map(|n| self.whole(n, 1, MAX_PACKETS)).transpose()?;
        let clock = curve.map(|curve| curve.clock(self, gap.mean() * SECOND)).transpose()?;
        let drawn = Drawn { gap, size, packets, clock };
        Ok(Sending {
            expected: Some(drawn.expected(period.length())),
            largest: drawn.size.largest(),
            mean: drawn.size.mean(),
            traffic: Traffic::Drawn(drawn),
        })
    }

    fn packet_sizes(&self, written: &Located<Brief<Length, Law<Length>>>) -> Checked<PacketSizes> {
        let value = |length: &Located<Length>| self.packet_size(length).map(|bytes| bytes.get() as f64);
        let reading = Reading { value: &value, least: 1.0, written: "1B" };
        match &written.value {
            Brief::Alone(length) => {
                let alone = Located { value: *length, span: written.span.clone() };
                self.law(&Law::Constant(alone), &reading).map(PacketSizes::Tg)
            }
            Brief::Table(law) => match self.table_of_sizes(written, law)? {
                Some(sizes) => Ok(PacketSizes::Table(Arc::new(sizes))),
                None => self.law(law, &reading).map(PacketSizes::Tg),
            },
        }
    }

    /// The sizes of a mixture, or of a law of the textbooks; `None` for a law of another kind.
    fn table_of_sizes<T>(&self, at: &Located<T>, law: &Law<Length>) -> Checked<Option<Sizes>> {
        if let Law::Mixture(list) = law {
            list.iter().try_for_each(|(size, _)| self.packet_size(size).map(drop))?;
            return self.mixture_of_lengths(at, list).map(|(sizes, _)| Some(sizes));
        }
        let counted = Lengths::up_to(MAX_PACKET.get());
        let Some(law) = law.textbook(self, &counted) else { return Ok(None) };
        let law = law?;
        if counted.unit_read() != LengthUnit::Bytes {
            return self.refuse(at, "must be in bytes", "write sizes such as \"1460B\"");
        }
        self.lengths_of_law(at, &law, &counted).map(Some)
    }

    /// The size of a packet, from 1 byte up.
    fn packet_size(&self, written: &Located<Length>) -> Checked<Bytes> {
        let size = self.packet(written)?;
        if size > MAX_PACKET {
            return self.refuse(written, format!("must be at most {MAX_PACKET}"), "lower it");
        }
        Ok(size)
    }

    /// How the times between departures are drawn.
    fn gaps(&self, flow: &Flow, size: &PacketSizes, curve: Option<&FlowCurve<'_>>) -> Checked<Gaps> {
        let process = flow.arrivals.as_ref();
        match (&flow.gap, &flow.rate, curve) {
            (Some(written), ..) => {
                self.unused(process, "flow.gap, which is a law of its own")?;
                self.written_gaps(written)
            }
            (None, Some(rate), _) => match rate.value.0.get() {
                0 => self.refuse(rate, "must be above 0", "write a rate such as \"1Mbit\""),
                bits => self.process(process, rate, size.mean() * 8.0 / bits as f64),
            },
            (None, None, Some(FlowCurve { at, rate: Some(rate), .. })) => {
                self.process(process, at, rate.recip())
            }
            (None, None, _) => unreachable!("one of the kinds is asked for before"),
        }
    }

    /// A process of packets, Poisson where none is written, whose mean gap in seconds `at` asks for.
    fn process<T>(
        &self,
        written: Option<&Located<ArrivalProcess>>,
        at: &Located<T>,
        gap: f64,
    ) -> Checked<Gaps> {
        let poisson = self.poisson(at, gap)?;
        let arrivals = match written.map(|written| self.arrivals(&written.value)).transpose()? {
            None | Some(Arrivals::Poisson) => return Ok(poisson),
            Some(arrivals) => arrivals,
        };
        let (shortest, longest) = arrivals.drawn_means(gap * SECOND);
        if shortest < 1.0 {
            let reason = "asks for mean times below 1ns with flow.arrivals";
            return self.refuse(at, reason, "lower the rate, or let the process change it less");
        }
        if longest > LONGEST_STAY.get() as f64 {
            let reason = format!("asks for mean times above {LONGEST_STAY} with flow.arrivals");
            return self.refuse(at, reason, "raise the rate, or let the process change it less");
        }
        Ok(Gaps::Process(arrivals, gap))
    }

    fn written_gaps(&self, written: &Located<Brief<Time, Law<Time>>>) -> Checked<Gaps> {
        let seconds =
            |time: &Located<Time>| self.span(time, LONGEST_DELAY).map(|span| span.get() as f64 / SECOND);
        let reading = Reading { value: &seconds, least: 0.0, written: "0s" };
        let law: Gaps = match &written.value {
            Brief::Alone(time) => {
                let alone = Located { value: *time, span: written.span.clone() };
                self.law(&Law::Constant(alone), &reading)?.into()
            }
            Brief::Table(law) => match law.textbook(self, &LONGEST_DELAY) {
                Some(law) => Gaps::Law(law?),
                None => self.plain_gaps(written, law, &reading)?,
            },
        };
        if law.mean() * SECOND < 1.0 {
            return self.refuse(written, TOO_FAST, "raise the mean gap");
        }
        Ok(law)
    }

    /// The gaps of a Poisson process, by their mean in seconds.
    fn poisson<T>(&self, at: &Located<T>, gap: f64) -> Checked<Gaps> {
        if gap * SECOND < 1.0 {
            return self.refuse(at, TOO_FAST, "lower the rate");
        }
        if gap * SECOND > LONGEST_DELAY.get() as f64 {
            let reason = format!("asks for less than a packet in {LONGEST_DELAY}");
            return self.refuse(at, reason, "raise the rate");
        }
        Ok(Distribution::Exponential { mean: gap, bounds: None }.into())
    }

    /// A law of gaps that is none of the textbooks.
    fn plain_gaps<T>(&self, at: &Located<T>, law: &Law<Time>, reading: &Reading<'_, Time>) -> Checked<Gaps> {
        let Law::Mixture(list) = law else { return self.law(law, reading).map(Gaps::Tg) };
        let check = written::Check { checker: self, counted: &LONGEST_DELAY };
        check.values(at, list).map(Gaps::Law)
    }

    fn transfer(&self, flow: &Flow, tcp: &Located<Tcp>) -> Checked<Sending> {
        if let Some(tick) = &flow.tick {
            let reason = "has no effect with flow.tcp, whose packets leave when acknowledgements come";
            return self.refuse(tick, reason, "remove it");
        }
        let written = &tcp.value;
        let packet = written.packet.as_ref().map_or(Ok(SEGMENT), |length| {
            let size = self.packet_size(length)?;
            if size.get() < MIN_SEGMENT {
                let reason = format!("must be at least {MIN_SEGMENT}B, headers and one byte");
                return self.refuse(length, reason, "write a size such as \"1500B\"");
            }
            Ok(size)
        })?;
        let packets = written.packets.as_ref().map(|n| self.whole(n, 1, MAX_PACKETS)).transpose()?;
        let window = written.window.as_ref().map_or(Ok(WINDOW), |n| self.whole(n, 1, MAX_WINDOW))? as u32;
        let congestion = match written.congestion {
            None | Some(CongestionControl::Reno) => Congestion::Reno,
            Some(CongestionControl::Cubic) => Congestion::Cubic,
        };
        let ecn = written.ecn.unwrap_or(false);
        let traffic = Traffic::Tcp(model::Tcp { congestion, packet, packets, ecn, window });
        let size = packet.get() as f64;
        Ok(Sending { traffic, expected: packets.map(|n| n as f64), largest: Some(size), mean: size })
    }
}

impl Period {
    /// How long it is.
    pub(super) fn length(self) -> Nanos {
        Nanos::new(self.stop.get().saturating_sub(self.start.get()))
    }
}
