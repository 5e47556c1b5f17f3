//! Who is joined to whom, within bounds on ports, end-points and queues.

use super::hardware::Hardware;
use crate::check::Check;
use crate::document::{self, Fabric};
use crate::model::Topology;
use crate::topology::check;
use weir_document::{Checked, Located};

/// The most queues, one for each channel at every input and output of a switch and at every interface.
pub(super) const MAX_QUEUES: u64 = 1 << 22;
/// The most bytes that all buffers together hold: filled with the smallest packets, those take a few gigabytes.
pub(super) const MAX_BUFFERED: u64 = 1 << 34;
/// What stands where the scenario does not say.
const DEFAULT: Topology = Topology::Tree { arity: 4, levels: 3 };

/// The number that a topology calls `key`.
fn number<'d>(written: &'d document::Topology, key: &str) -> &'d Located<u64> {
    match (written, key) {
        (document::Topology::Tree(tree), "arity") => &tree.arity,
        (document::Topology::Tree(tree), _) => &tree.levels,
        (document::Topology::Single(single), _) => &single.ports,
        (document::Topology::LeafSpine(shape), "leaves") => &shape.leaves,
        (document::Topology::LeafSpine(shape), "spines") => &shape.spines,
        (document::Topology::LeafSpine(shape), _) => &shape.hosts,
    }
}

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

impl Check<'_, '_> {
    pub(super) fn topology(&self, written: &Fabric, channels: usize) -> Checked<Topology> {
        let Some(written) = &written.topology else { return Ok(DEFAULT) };
        let of = |key| u32::try_from(number(&written.value, key).value).unwrap_or(u32::MAX);
        let topology = match &written.value {
            document::Topology::Tree(_) => Topology::Tree { arity: of("arity"), levels: of("levels") },
            document::Topology::Single(_) => Topology::Single { ports: of("ports") },
            document::Topology::LeafSpine(_) => {
                Topology::LeafSpine { leaves: of("leaves"), spines: of("spines"), hosts: of("hosts") }
            }
        };
        if let Err(error) = check(topology) {
            let at = number(&written.value, error.key);
            if error.most < error.least {
                return self.refuse(at, "leaves no room for the other numbers", "lower them");
            }
            let remedy = if at.value < error.least { "raise it" } else { "lower it, or the other numbers" };
            return self.refuse(at, format!("must be from {} to {} here", error.least, error.most), remedy);
        }
        self.few_queues(written, topology, channels)?;
        Ok(topology)
    }

    /// Refuses more queues than fit in memory.
    fn few_queues(
        &self,
        written: &Located<document::Topology>,
        topology: Topology,
        channels: usize,
    ) -> Checked<()> {
        let (hosts, ports) = hosts_and_ports(topology);
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
        let largest = largest.into_iter().flatten().max_by_key(|buffer| buffer.value.0);
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
    }
}
