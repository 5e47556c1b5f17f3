//! The channels, and who sends when.

use super::LONGEST_RUN;
use super::hardware::Hardware;
use super::sizes::{Files, Wire, mean_packet};
use super::topology::hosts_and_ports;
use crate::check::Check;
use crate::document::{self, FabricArrivals, FabricDocument, FabricTraffic};
use crate::model::{Arrivals, Channel, HotSpot, Size, Topology, Traffic};
use weir_core::units::Rate;
use weir_document::quantity::Speed;
use weir_document::{Checked, Located, MAX_WORK};
use weir_workload::Curve;
use weir_workload::curve::{self, CurveTable};
use weir_workload::document::WorkloadChecks;

/// The most loads of one scenario.
pub(super) const MAX_LOADS: usize = 64;
/// The largest load.
pub(super) const MAX_LOAD: f64 = 4.0;
/// The largest ratio of a share to another.
pub(super) const MAX_SHARE: f64 = 1e6;
/// The least and the largest shape of the numbers of packets of bursts.
pub(super) const BURST_SHAPES: (f64, f64) = (0.1, 100.0);
/// The most packets of a burst.
pub(super) const MAX_BURST: u64 = 1_000_000;
/// The most flows of all interfaces together.
pub(super) const MAX_FLOWS: f64 = 16_777_216.0;
/// The most packets of one replication at one load.
const MAX_PACKETS: f64 = 1e9;
/// The rate of a flow where the scenario does not say.
const FLOW_RATE: Rate = Rate::new(1_000_000);

impl Check<'_, '_> {
    /// The channels with their sizes, and the traffic.
    pub(super) fn fabric_traffic(
        &mut self,
        document: &FabricDocument,
        topology: Topology,
        hardware: &Hardware,
    ) -> Checked<(Vec<Channel>, Traffic)> {
        let written = &document.traffic.value;
        let header = self.bytes_within(written.header.as_ref(), 8, (0, hardware.mtu.get() - 1))?;
        let channels = self.channels(document, Wire { hardware, header })?;
        let (hosts, _) = hosts_and_ports(topology);
        let traffic = Traffic {
            loads: self.loads(&document.traffic)?,
            arrivals: self.fabric_arrivals(written.arrivals.as_ref(), &channels)?,
            curve: written.curve.as_ref().map(|curve| self.curve(curve, written)).transpose()?,
            header,
            flow_rate: self.flow_rate(written.flow_rate.as_ref(), hardware)?,
            hot_spot: self.hot_spot(written.hot_spot.as_ref(), hosts)?,
        };
        let highest = traffic.loads.iter().copied().fold(0.0, f64::max);
        let bits = hosts as f64 * highest * hardware.data_rate();
        self.few_flows(written, &document.traffic, bits, traffic.flow_rate)?;
        self.few_packets(document, bits, &channels, Wire { hardware, header })?;
        Ok((channels, traffic))
    }

    fn channels(&mut self, document: &FabricDocument, wire: Wire<'_>) -> Checked<Vec<Channel>> {
        let mut files = Files::new();
        let common = document.traffic.value.size.as_ref();
        let list = &document.channel.value;
        if let (Some(size), true) = (common, list.iter().all(|channel| channel.value.size.is_some())) {
            let reason = "has no effect where every channel has its own `size`";
            return self.refuse(size, reason, "remove it");
        }
        let mut channels = Vec::with_capacity(list.len());
        for written in list {
            let share = written.value.share.as_ref().map_or(Ok(1.0), |share| self.part(share))?;
            let size = match written.value.size.as_ref().or(common) {
                Some(size) => self.packet_sizes_of(&size.value, wire, &mut files)?,
                None => self.default_sizes(&document.traffic, wire)?,
            };
            channels.push(Channel { name: written.value.name.value.clone(), share, size });
        }
        Ok(channels)
    }

    /// A part of the offered load.
    fn part(&self, written: &Located<f64>) -> Checked<f64> {
        let remedy = "write a part such as 1, relative to the other channels";
        self.within(written, 1.0 / MAX_SHARE, MAX_SHARE, remedy)
    }

    fn loads(&self, written: &Located<FabricTraffic>) -> Checked<Vec<f64>> {
        let list = match (&written.value.load, &written.value.loads) {
            (Some(load), None) => std::slice::from_ref(load),
            (None, Some(loads)) if loads.value.is_empty() || loads.value.len() > MAX_LOADS => {
                let reason = format!("must have from 1 to {MAX_LOADS} loads");
                return self.refuse(loads, reason, "write a list such as [0.5, 0.8]");
            }
            (None, Some(loads)) => &loads.value,
            (Some(load), Some(_)) => {
                return self.refuse(load, "cannot be combined with traffic.loads", "keep one of the two");
            }
            (None, None) => {
                let reason = "must have one of `load` and `loads`";
                return self.refuse(written, reason, "add, for example, `loads = [0.5, 0.8]`");
            }
        };
        let mut loads: Vec<f64> = Vec::new();
        for load in list {
            if !(load.value > 0.0 && load.value <= MAX_LOAD) {
                let reason = format!("must be a number above 0 and at most {MAX_LOAD}");
                return self.refuse(load, reason, "write a load such as 0.8");
            }
            if loads.contains(&load.value) {
                return self.refuse(load, "is listed twice", "remove one of the two");
            }
            loads.push(load.value);
        }
        Ok(loads)
    }

    fn fabric_arrivals(
        &self,
        written: Option<&Located<FabricArrivals>>,
        channels: &[Channel],
    ) -> Checked<Arrivals> {
        let Some(written) = written else { return Ok(Arrivals::Poisson) };
        match (written.value.shared(), &written.value) {
            (Some(process), _) => Ok(match self.arrivals(&process)? {
                weir_workload::Arrivals::Poisson => Arrivals::Poisson,
                other => Arrivals::Process(other),
            }),
            (None, FabricArrivals::Bursts(bursts)) => self.bursts(written, bursts, channels),
            (None, _) => unreachable!("all others are shared"),
        }
    }

    /// A curve of the rates, of which no load is above the largest where it is highest.
    fn curve(&mut self, written: &Located<CurveTable>, traffic: &FabricTraffic) -> Checked<Curve> {
        let curve = curve::checked(self, written, LONGEST_RUN)?.curve;
        let loads = traffic.loads.iter().flat_map(|loads| &loads.value).chain(&traffic.load);
        let peak = loads.map(|load| load.value).fold(0.0, f64::max) * curve.highest();
        if peak > MAX_LOAD {
            let reason =
                format!("asks for a load of {peak:.4} where it is highest, must be at most {MAX_LOAD}");
            return self.refuse(written, reason, "lower its rate there, or the load");
        }
        Ok(curve)
    }

    fn bursts(
        &self,
        written: &Located<FabricArrivals>,
        bursts: &document::Bursts,
        channels: &[Channel],
    ) -> Checked<Arrivals> {
        let (low, high) = BURST_SHAPES;
        self.within(&bursts.shape, low, high, "write a shape such as 1.5")?;
        let cap = self.whole(&bursts.cap, 1, MAX_BURST)? as u32;
        let is_message = |channel: &&Channel| matches!(channel.size, Size::Messages(_));
        if let Some(channel) = channels.iter().find(is_message) {
            let reason = format!("has bursts, and channel `{}` has messages, which come whole", channel.name);
            return self.refuse(
                written,
                reason,
                "write `arrivals = \"poisson\"`, or give it sizes of packets",
            );
        }
        Ok(Arrivals::Bursts { shape: bursts.shape.value, cap })
    }

    fn flow_rate(&self, written: Option<&Located<Speed>>, hardware: &Hardware) -> Checked<Rate> {
        let Some(written) = written else { return Ok(FLOW_RATE) };
        let rate = written.value.0;
        if rate.get() == 0 {
            return self.refuse(written, "must be above 0", "write a rate such as \"1Mbit\"");
        }
        if rate.get() as f64 > hardware.data_rate() {
            let reason =
                format!("is above what a link carries, {} a second", Rate::new(hardware.data_rate() as u64));
            return self.refuse(written, reason, "lower it");
        }
        Ok(rate)
    }

    fn hot_spot(&self, written: Option<&Located<document::HotSpot>>, hosts: u64) -> Checked<Option<HotSpot>> {
        let Some(written) = written.map(|written| &written.value) else { return Ok(None) };
        let host = self.whole(&written.host, 0, hosts - 1)? as u32;
        let share = written.share.value;
        if !(share > 0.0 && share <= 1.0) {
            let reason = "must be a number above 0 and at most 1";
            return self.refuse(&written.share, reason, "write a share such as 0.1");
        }
        Ok(Some(HotSpot { host, share }))
    }

    /// Refuses flows so slow that there are too many of them; `bits` are offered a second.
    fn few_flows(
        &self,
        written: &FabricTraffic,
        traffic: &Located<FabricTraffic>,
        bits: f64,
        rate: Rate,
    ) -> Checked<()> {
        let flows = bits / rate.get() as f64;
        if flows <= MAX_FLOWS {
            return Ok(());
        }
        let reason = format!("makes {flows:.0} flows of {rate} a second each, at most {MAX_FLOWS} are kept");
        match &written.flow_rate {
            Some(rate) => self.refuse(rate, reason, "raise it"),
            None => self.refuse(traffic, reason, "add a higher `flow_rate`, such as \"10Mbit\""),
        }
    }

    /// Refuses more packets than are simulated; `bits` are offered a second.
    fn few_packets(
        &self,
        document: &FabricDocument,
        bits: f64,
        channels: &[Channel],
        wire: Wire<'_>,
    ) -> Checked<()> {
        let shares: f64 = channels.iter().map(|channel| channel.share).sum();
        let parts = channels.iter().map(|channel| channel.share / shares / mean_packet(&channel.size, wire));
        let rate = bits / 8.0 * parts.sum::<f64>();
        let stop = document.stop.as_ref().map(|stop| &stop.value);
        let stop = self.fabric_stop(stop)?;
        let packets = rate * stop.duration.get() as f64 / 1e9;
        let all = packets * f64::from(stop.replications);
        let (count, most, of) = if packets > MAX_PACKETS {
            (packets, MAX_PACKETS, "in a replication")
        } else {
            (all, MAX_WORK as f64, "in all replications")
        };
        if count <= most {
            return Ok(());
        }
        let reason = format!(
            "makes about {count:.1e} packets {of} at the highest load, at most {most:.0e} are simulated"
        );
        let remedy = "lower stop.duration, stop.replications or the load";
        match document.stop.as_ref().and_then(|stop| stop.value.duration.as_ref()) {
            Some(duration) => self.refuse(duration, reason, remedy),
            None => self.refuse(&document.traffic, reason, remedy),
        }
    }
}
