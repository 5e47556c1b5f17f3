//! Who is joined to whom, within bounds on ports, end-points and queues.

use super::super::check::{Checked, Checker};
use super::super::document::Located;
use super::document::{self, Fabric};
use super::hardware::Hardware;
use crate::fabric::model::Topology;

/// The most ports of a switch.
const MAX_PORTS: u64 = 64;
/// The most stages of a tree.
const MAX_LEVELS: u64 = 16;
/// The most end-points.
const MAX_HOSTS: u64 = 65_536;
/// The most queues, one for each channel at every input and output of a switch and at every interface.
const MAX_QUEUES: u64 = 1 << 22;
/// The most bytes that all buffers together hold: filled with the smallest packets, those take a few gigabytes.
const MAX_BUFFERED: u64 = 1 << 34;
/// What stands where the scenario does not say.
const DEFAULT: Topology = Topology::Tree { arity: 4, levels: 3 };

/// The end-points and the ports of all switches of a topology.
pub(super) fn hosts_and_ports(topology: Topology) -> (u64, u64) {
    match topology {
        Topology::Tree { arity, levels } => {
            let hosts = u64::from(arity).saturating_pow(levels);
            (hosts, hosts.saturating_mul(2 * u64::from(levels)))
        }
        Topology::Single { ports } => (u64::from(ports), u64::from(ports)),
        Topology::LeafSpine { leaves, spines, hosts } => {
            let (leaves, spines, hosts) = (u64::from(leaves), u64::from(spines), u64::from(hosts));
            (leaves * hosts, leaves * (hosts + 2 * spines))
        }
    }
}

impl Checker<'_> {
    pub(super) fn topology(&self, written: &Fabric, channels: usize) -> Checked<Topology> {
        let Some(written) = &written.topology else { return Ok(DEFAULT) };
        let topology = match &written.value {
            document::Topology::Tree(tree) => Topology::Tree {
                arity: self.whole(&tree.arity, 2, MAX_PORTS / 2)? as u32,
                levels: self.whole(&tree.levels, 1, MAX_LEVELS)? as u32,
            },
            document::Topology::Single(single) => {
                Topology::Single { ports: self.whole(&single.ports, 2, MAX_PORTS)? as u32 }
            }
            document::Topology::LeafSpine(shape) => {
                let spines = self.whole(&shape.spines, 1, MAX_PORTS - 1)?;
                Topology::LeafSpine {
                    leaves: self.whole(&shape.leaves, 2, MAX_PORTS)? as u32,
                    spines: spines as u32,
                    hosts: self.whole(&shape.hosts, 1, MAX_PORTS - spines)? as u32,
                }
            }
        };
        self.size(written, topology, channels)?;
        Ok(topology)
    }

    /// Refuses more end-points or queues than fit in memory.
    fn size(
        &self,
        written: &Located<document::Topology>,
        topology: Topology,
        channels: usize,
    ) -> Checked<()> {
        let (hosts, ports) = hosts_and_ports(topology);
        if hosts > MAX_HOSTS {
            let reason = format!("has {hosts} end-points, must have at most {MAX_HOSTS}");
            return self.refuse(written, reason, "lower the numbers");
        }
        let queues = (2 * ports + hosts) * channels as u64;
        if queues > MAX_QUEUES {
            let reason =
                format!("has {queues} queues for {channels} channels, must have at most {MAX_QUEUES}");
            return self.refuse(written, reason, "lower the numbers, or describe fewer channels");
        }
        Ok(())
    }

    /// Refuses buffers that would hold more than fits in memory.
    pub(super) fn capacity(
        &self,
        written: &Fabric,
        topology: Topology,
        hardware: &Hardware,
        channels: usize,
    ) -> Checked<()> {
        let (hosts, ports) = hosts_and_ports(topology);
        let port = hardware.switch.input_buffer.get() + hardware.switch.output_buffer.get();
        let all = ports * port + hosts * hardware.interface_buffer.get();
        let all = all.saturating_mul(channels as u64);
        let largest = [
            written.switch.as_ref().and_then(|switch| switch.value.input_buffer.as_ref()),
            written.switch.as_ref().and_then(|switch| switch.value.output_buffer.as_ref()),
            written.interface_buffer.as_ref(),
        ];
        let largest = largest.into_iter().flatten().max_by_key(|buffer| buffer.value.count);
        if all <= MAX_BUFFERED {
            return Ok(());
        }
        let reason = format!("makes buffers of {all} bytes in all, at most {MAX_BUFFERED} are kept");
        match (largest, &written.topology) {
            (Some(buffer), _) => self.refuse(buffer, reason, "lower it"),
            (None, Some(topology)) => self.refuse(topology, reason, "lower the numbers, or the buffers"),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_points_and_ports_are_counted() {
        assert_eq!(hosts_and_ports(DEFAULT), (64, 48 * 8));
        assert_eq!(hosts_and_ports(Topology::Single { ports: 8 }), (8, 8));
        assert_eq!(hosts_and_ports(Topology::LeafSpine { leaves: 4, spines: 3, hosts: 5 }), (20, 32 + 12));
        let most = Topology::Tree { arity: 32, levels: 16 };
        assert_eq!(hosts_and_ports(most).0, u64::MAX);
    }
}
