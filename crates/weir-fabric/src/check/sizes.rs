//! How large packets and messages are.

use super::hardware::Hardware;
use super::pareto::{SHAPES, mean, means, shape_of};
use crate::check::Check;
use crate::document::{Bound, MessageLaw, PacketSize, ParetoSize};
use crate::model::{Pareto, Size};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use weir_core::units::Bytes;
use weir_document::quantity::{ByteSize, LengthUnit};
use weir_document::{Brief, Checked, Located};
use weir_workload::document::WorkloadChecks;
use weir_workload::laws::written::Lengths;
use weir_workload::{MAX_LENGTH, Sizes};

/// The payloads where the scenario does not say: least, largest, mean.
const PAYLOADS: (u64, u64, f64) = (56, 2040, 176.0);

/// CDF files that have been read.
pub(super) type Files = HashMap<PathBuf, Arc<Sizes>>;

/// What sizes are checked against.
#[derive(Clone, Copy)]
pub(super) struct Wire<'h> {
    pub(super) hardware: &'h Hardware,
    /// Added to every payload.
    pub(super) header: Bytes,
}

impl Wire<'_> {
    /// The largest payload of a packet.
    fn payload(self) -> u64 {
        self.hardware.mtu.get() - self.header.get()
    }
}

/// The sizes where the scenario does not say.
fn default_size() -> Option<Pareto> {
    let (minimum, maximum, mean) = PAYLOADS;
    let shape = shape_of((minimum as f64, maximum as f64), mean, true)?;
    Some(Pareto { minimum: Bytes::new(minimum), maximum: Bytes::new(maximum), truncated: true, shape })
}

/// The mean size of a packet on the wire, roughly.
pub(super) fn mean_packet(size: &Size, wire: Wire<'_>) -> f64 {
    let header = wire.header.get() as f64;
    match size {
        Size::Constant(payload) => payload.get() as f64 + header,
        Size::Pareto(law) => {
            let bounds = (law.minimum.get() as f64, law.maximum.get() as f64);
            mean(bounds, law.shape, law.truncated) + header
        }
        Size::Messages(sizes) => {
            let packets = sizes.in_packets(wire.payload()).map_or(1.0, |packets| packets.mean());
            sizes.mean() / packets.max(1.0) + header
        }
    }
}

impl Check<'_, '_> {
    /// The sizes of a channel that has none of its own, in a scenario that has none for all.
    pub(super) fn default_sizes<T>(&self, traffic: &Located<T>, wire: Wire<'_>) -> Checked<Size> {
        match default_size().filter(|law| law.maximum.get() <= wire.payload()) {
            Some(law) => Ok(Size::Pareto(law)),
            None => {
                let reason = format!(
                    "must have `size` where fabric.mtu is {}: the sizes by default reach {}B and a header",
                    wire.hardware.mtu, PAYLOADS.1
                );
                self.refuse(traffic, reason, "add, for example, `size = { constant = \"256B\" }`")
            }
        }
    }

    pub(super) fn packet_sizes_of(
        &mut self,
        written: &PacketSize,
        wire: Wire<'_>,
        files: &mut Files,
    ) -> Checked<Size> {
        match written {
            PacketSize::Constant(payload) => {
                self.payload_fits(payload, wire)?;
                self.bytes_within(Some(payload), 256, (1, wire.payload())).map(Size::Constant)
            }
            PacketSize::Pareto(law) => self.pareto(law, wire).map(Size::Pareto),
            PacketSize::Messages(written) => match &written.value {
                Brief::Alone(file) => {
                    let file = Located { value: file.clone(), span: written.span.clone() };
                    self.sizes_of_file(&file, files).map(Size::Messages)
                }
                Brief::Table(law) => {
                    self.sizes_by_law(written, law).map(|sizes| Size::Messages(Arc::new(sizes)))
                }
            },
        }
    }

    /// The sizes of a CDF file, which is read once.
    fn sizes_of_file(&mut self, file: &Located<PathBuf>, files: &mut Files) -> Checked<Arc<Sizes>> {
        if let Some(sizes) = files.get(&file.value) {
            return Ok(Arc::clone(sizes));
        }
        let sizes = Arc::new(self.cdf(file)?);
        files.insert(file.value.clone(), Arc::clone(&sizes));
        Ok(sizes)
    }

    /// The sizes of messages by a law, in bytes.
    fn sizes_by_law<T>(&self, at: &Located<T>, law: &MessageLaw) -> Checked<Sizes> {
        let (sizes, unit) = match law {
            MessageLaw::Exponential(mean) => {
                (self.sizes(at, Sizes::exponential(self.length(mean)? as f64))?, mean.value.unit)
            }
            MessageLaw::Mixture(list) => self.mixture_of_lengths(at, list)?,
            law => {
                let counted = Lengths::up_to(MAX_LENGTH.into());
                let law = law.textbook(self, &counted);
                let law = law.unwrap_or_else(|| unreachable!("the laws of sizes alone are above"))?;
                (self.lengths_of_law(at, &law, &counted)?, counted.unit_read())
            }
        };
        if unit != LengthUnit::Bytes {
            return self.refuse(at, "must be in bytes", "write sizes such as \"20kB\"");
        }
        Ok(sizes)
    }

    /// Refuses a payload that makes a packet above the MTU.
    fn payload_fits(&self, payload: &Located<ByteSize>, wire: Wire<'_>) -> Checked<()> {
        if payload.value.0.get() <= wire.payload() {
            return Ok(());
        }
        let (header, mtu) = (wire.header, wire.hardware.mtu);
        let reason = format!("makes packets above fabric.mtu, {mtu}, with traffic.header, {header}");
        self.refuse(payload, reason, format!("write at most \"{}B\", or raise the MTU", wire.payload()))
    }

    fn pareto(&self, written: &Located<ParetoSize>, wire: Wire<'_>) -> Checked<Pareto> {
        let law = &written.value;
        self.payload_fits(&law.maximum, wire)?;
        let maximum = self.bytes_within(Some(&law.maximum), PAYLOADS.1, (2, wire.payload()))?;
        let minimum = self.bytes_within(Some(&law.minimum), PAYLOADS.0, (1, maximum.get() - 1))?;
        let truncated = law.bound.unwrap_or(Bound::Truncated) == Bound::Truncated;
        let bounds = (minimum.get() as f64, maximum.get() as f64);
        let shape = match (&law.mean, &law.shape) {
            (Some(mean), None) => {
                let wanted = self.bytes_within(Some(mean), 176, (minimum.get(), maximum.get()))?.get() as f64;
                match shape_of(bounds, wanted, truncated) {
                    Some(shape) => shape,
                    None => {
                        let (low, high) = means(bounds, truncated);
                        let reason = format!(
                            "is not a possible mean of this law, must be from {low:.1}B to {high:.1}B"
                        );
                        return self.refuse(mean, reason, "move it, or the bounds of the law");
                    }
                }
            }
            (None, Some(shape)) => self.within(shape, SHAPES.0, SHAPES.1, "write a shape such as 1.2")?,
            (Some(_), Some(shape)) => {
                return self.refuse(shape, "cannot be combined with `mean`", "keep one of the two");
            }
            (None, None) => {
                let reason = "must have one of `mean` and `shape`";
                return self.refuse(written, reason, "add, for example, `mean = \"176B\"`");
            }
        };
        Ok(Pareto { minimum, maximum, truncated, shape })
    }
}
