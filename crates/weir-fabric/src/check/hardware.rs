//! Links, switches and buffers: what holds of all of them.

use crate::check::Check;
use crate::document::{Coding, Fabric, FabricLink, FabricSwitch};
use crate::model::{Link, Switch};
use weir_core::units::{Bytes, Nanos, Rate};
use weir_document::quantity::{ByteSize, Speed};
use weir_document::{Checked, Located};

/// The largest MTU; InfiniBand knows 4096B.
pub(super) const MAX_MTU: u64 = 32_768;
/// The least and the largest unit of flow control.
pub(super) const CREDITS: (u64, u64) = (16, 4096);
/// The largest buffer of one channel.
pub(super) const MAX_BUFFER: u64 = 16 << 20;
/// The longest of the times of links and switches.
pub(super) const LONGEST_DELAY: Nanos = Nanos::new(1_000_000_000);
/// The slowest and the fastest link, in bits of data per second: a byte takes up to 8 us, and 64 bytes take at
/// least 0.5 ns, three of the sixths of a nanosecond that the engines count.
pub(super) const RATES: (f64, f64) = (1e6, 1e12);
/// The slowest and the fastest crossbar, over a link: behind a slower one a link would run out of bytes.
pub(super) const SPEED_UPS: (f64, f64) = (1.0, 16.0);
/// The parts of a speed-up that are distinguished.
const PARTS: u32 = 1000;

/// All that holds of every link, switch and buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hardware {
    pub(super) mtu: Bytes,
    pub(super) credit: Bytes,
    pub(super) link: Link,
    pub(super) switch: Switch,
    pub(super) interface_buffer: Bytes,
}

impl Hardware {
    /// What a link carries, in bits of data per second.
    pub(super) fn data_rate(&self) -> f64 {
        let (data, line) = self.link.coding;
        self.link.rate.get() as f64 * f64::from(data) / f64::from(line)
    }

    /// The credits of `bytes` bytes.
    pub(super) fn credits(&self, bytes: Bytes) -> u64 {
        bytes.get().div_ceil(self.credit.get())
    }
}

fn greatest_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

impl Check<'_, '_> {
    pub(super) fn hardware(&self, written: &Fabric) -> Checked<Hardware> {
        let (low, high) = CREDITS;
        let credit = self.bytes_within(written.credit.as_ref(), 64, (low, high))?;
        let mtu = self.bytes_within(written.mtu.as_ref(), 2048, (credit.get(), MAX_MTU))?;
        let none = FabricLink::default();
        let link = self.link_of(written.link.as_ref().map_or(&none, |link| &link.value), mtu)?;
        let none = FabricSwitch::default();
        let switch = written.switch.as_ref().map_or(&none, |switch| &switch.value);
        let sizes = (credit, mtu);
        Ok(Hardware {
            mtu,
            credit,
            link,
            switch: Switch {
                speed_up: self.speed_up(switch.speed_up.as_ref())?,
                latency: self.delay_of(switch.latency.as_ref(), 145)?,
                input_buffer: self.buffer(switch.input_buffer.as_ref(), 16_384, sizes)?,
                output_buffer: self.buffer(switch.output_buffer.as_ref(), 16_384, sizes)?,
            },
            interface_buffer: self.buffer(written.interface_buffer.as_ref(), 32_768, sizes)?,
        })
    }

    fn link_of(&self, written: &FabricLink, mtu: Bytes) -> Checked<Link> {
        let coding = written.coding.unwrap_or(Coding::EightInTen).ratio();
        Ok(Link {
            rate: self.line_rate(written.rate.as_ref(), coding)?,
            coding,
            propagation: self.delay_of(written.propagation.as_ref(), 20)?,
            credit_return: self.delay_of(written.credit_return.as_ref(), 50)?,
            header: self.bytes_within(written.header.as_ref(), 8, (0, mtu.get()))?,
        })
    }

    /// A rate at which a packet takes a time that the clock can tell.
    fn line_rate(&self, written: Option<&Located<Speed>>, (data, line): (u32, u32)) -> Checked<Rate> {
        let Some(written) = written else { return Ok(Rate::new(2_500_000_000)) };
        let carried = written.value.0.get() as f64 * f64::from(data) / f64::from(line);
        if (RATES.0..=RATES.1).contains(&carried) {
            return Ok(written.value.0);
        }
        let reason = format!(
            "carries {} of data a second, must carry from {} to {}, as the clock counts sixths of a nanosecond",
            Rate::new(carried as u64),
            Rate::new(RATES.0 as u64),
            Rate::new(RATES.1 as u64),
        );
        let remedy = if carried < RATES.0 { "raise it" } else { "lower it" };
        self.refuse(written, reason, remedy)
    }

    /// The speed-up as a fraction in lowest terms.
    fn speed_up(&self, written: Option<&Located<f64>>) -> Checked<(u32, u32)> {
        let Some(written) = written else { return Ok((3, 2)) };
        let (low, high) = SPEED_UPS;
        self.within(written, low, high, "write a speed-up such as 1.5")?;
        let parts = (written.value * f64::from(PARTS)).round();
        if (written.value * f64::from(PARTS) - parts).abs() > 1e-9 {
            return self.refuse(written, "must have at most three decimals", "round it, as in 1.333");
        }
        let divisor = greatest_divisor(parts as u32, PARTS);
        Ok((parts as u32 / divisor, PARTS / divisor))
    }

    fn delay_of(
        &self,
        written: Option<&Located<weir_document::quantity::Time>>,
        default: u64,
    ) -> Checked<Nanos> {
        written.map_or(Ok(Nanos::new(default)), |time| self.span(time, LONGEST_DELAY))
    }

    /// A buffer that has room for a packet of the largest size.
    fn buffer(
        &self,
        written: Option<&Located<ByteSize>>,
        default: u64,
        (credit, mtu): (Bytes, Bytes),
    ) -> Checked<Bytes> {
        let least = mtu.get().div_ceil(credit.get()) * credit.get();
        match written {
            Some(buffer) if buffer.value.0.get() < least => {
                let reason = format!("must hold a packet of fabric.mtu, {least}B in whole credits");
                self.refuse(buffer, reason, "raise it, or lower the MTU")
            }
            _ => self.bytes_within(written, default.max(least), (least, MAX_BUFFER)),
        }
    }

    /// A size in bytes within bounds.
    pub(super) fn bytes_within(
        &self,
        written: Option<&Located<ByteSize>>,
        default: u64,
        (low, high): (u64, u64),
    ) -> Checked<Bytes> {
        let Some(written) = written else { return Ok(Bytes::new(default)) };
        let size = written.value.0;
        if (low..=high).contains(&size.get()) {
            return Ok(size);
        }
        let reason = format!("must be a size in bytes from {low}B to {high}B");
        self.refuse(written, reason, if size.get() < low { "raise it" } else { "lower it" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_in_lowest_terms() {
        assert_eq!(greatest_divisor(1500, 1000), 500);
        assert_eq!(greatest_divisor(1000, 1000), 1000);
        assert_eq!(greatest_divisor(1333, 1000), 1);
    }
}
