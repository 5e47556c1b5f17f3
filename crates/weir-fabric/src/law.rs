//! How large packets, messages and bursts are.
//!
//! A Pareto law of least value m and shape a has `P(X > x) = (m/x)^a`. *Truncated* at M it is conditioned on `X <= M`;
//! *capped* it is `min(X, M)`. Payloads are rounded to the nearest byte; what is drawn from is the law of the rounded
//! values, so its mean is known exactly.
//!
//! A message is cut into packets of the largest size, the last with what is left; every packet has a header. A burst
//! is `min(floor(X), cap)` packets, X of least value 1.
//!
//! | | |
//! |-|-|
//! | Source | Martínez, Alfaro and Sánchez 2007, section 3.2: 56 B to 2040 B of payload, 176 B in the mean, 8 B of header |
//! | Units | bytes; sizes of packets are on the wire, header included |
//! | Work | one random word and one step a draw, see [`SizeSampler`] |

use crate::model::{Channel, FabricScenario, Pareto, Size};
use weir_core::units::Bytes;
use weir_lab::error::RunError;
use weir_lab::stream::Stream;
use weir_workload::Sizes;
use weir_workload::sizes::{SizeSampler, SizesError};

/// What the units of a channel are.
#[derive(Clone, Debug)]
enum Kind {
    /// Packets all of one payload.
    Constant(u32),
    /// Packets of drawn payloads.
    Packets(SizeSampler),
    /// Messages, cut into packets.
    Messages(SizeSampler),
}

/// The units of a channel: packets or messages.
#[derive(Clone, Debug)]
pub struct Units {
    kind: Kind,
    /// Of every packet.
    header: u32,
    /// The most payload of a packet.
    most: u32,
    /// The mean of what a unit takes on the wire.
    mean: f64,
}

/// The law of payloads in whole bytes.
///
/// # Errors
/// The bounds are reversed, or 0, or larger than sizes are.
pub fn payloads(pareto: &Pareto) -> Result<Sizes, SizesError> {
    let (low, high) = (pareto.minimum.get(), pareto.maximum.get());
    let above = |x: f64| if x <= low as f64 { 1.0 } else { libm::pow(low as f64 / x, pareto.shape) };
    let rest = if pareto.truncated { above(high as f64) } else { 0.0 };
    let share = |size: u64| {
        let upper = if size == high { rest } else { above(size as f64 + 0.5) };
        (above(size as f64 - 0.5) - upper) / (1.0 - rest)
    };
    match high.checked_sub(low) {
        None => Err(SizesError::Reversed(low, high)),
        Some(0) => Sizes::constant(low),
        Some(_) => Sizes::list(&(low..=high).map(|size| (size, share(size))).collect::<Vec<_>>()),
    }
}

/// The law of bursts, in packets.
///
/// # Errors
/// The cap is 0.
pub fn bursts(shape: f64, cap: u32) -> Result<Sizes, SizesError> {
    let above = |packets: u32| libm::pow(f64::from(packets), -shape);
    let share = |packets: u32| above(packets) - if packets == cap { 0.0 } else { above(packets + 1) };
    Sizes::list(&(1..=cap).map(|packets| (u64::from(packets), share(packets))).collect::<Vec<_>>())
}

fn short(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).unwrap_or(u32::MAX)
}

impl Units {
    /// The units of a channel.
    ///
    /// # Errors
    /// A packet would be larger than the fabric's largest, or there is no such law.
    pub fn new(fabric: &FabricScenario, channel: &Channel) -> Result<Self, RunError> {
        let refused = |reason: String| RunError::TooLarge {
            place: format!("the sizes of channel `{}`", channel.name),
            reason,
        };
        let (mtu, header) = (short(fabric.mtu), short(fabric.traffic.header));
        let Some(most) = mtu.checked_sub(header).filter(|&most| most > 0) else {
            let reason = format!("the header is {header} B, must be below the largest packet, {mtu} B");
            return Err(refused(reason));
        };
        let fits = |payload: Bytes| match payload.get() {
            0 => Err(refused("a payload is 0 B, must be at least 1 B".to_owned())),
            bytes if bytes > u64::from(most) => Err(refused(format!(
                "a payload is {bytes} B, at most {most} B fit a packet of {mtu} B with its header of {header} B"
            ))),
            bytes => Ok(bytes as u32),
        };
        let law = |made: Result<Sizes, SizesError>| made.map_err(|error| refused(error.to_string()));
        let head = f64::from(header);
        let (kind, mean) = match &channel.size {
            Size::Constant(payload) => {
                let payload = fits(*payload)?;
                (Kind::Constant(payload), f64::from(payload) + head)
            }
            Size::Pareto(pareto) => {
                fits(pareto.maximum)?;
                let sizes = law(payloads(pareto))?;
                (Kind::Packets(sizes.sampler()), sizes.mean() + head)
            }
            Size::Messages(sizes) => {
                let packets = law(sizes.in_packets(u64::from(most)))?;
                (Kind::Messages(sizes.sampler()), sizes.mean() + head * packets.mean())
            }
        };
        Ok(Self { kind, header, most, mean })
    }

    /// The mean of what a unit takes on the wire, in bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Whether they are messages, which may have several packets.
    #[must_use]
    pub fn are_messages(&self) -> bool {
        matches!(self.kind, Kind::Messages(_))
    }

    /// The payloads of the next units, of random words where they are needed.
    pub fn draw(&self, words: &mut Stream, payloads: &mut [u64]) {
        match &self.kind {
            Kind::Constant(payload) => payloads.fill(u64::from(*payload)),
            Kind::Packets(sizes) | Kind::Messages(sizes) => {
                words.fill_u64(payloads);
                payloads.iter_mut().for_each(|payload| *payload = sizes.sample(*payload));
            }
        }
    }

    /// Cuts the next packet off a payload: its size on the wire, and the payload that is left.
    #[inline]
    #[must_use]
    pub fn cut(&self, payload: u64) -> (u32, u64) {
        let part = payload.min(u64::from(self.most));
        (part as u32 + self.header, payload - part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEAN_176: [(bool, f64); 2] = [(true, 1.190_291), (false, 1.317_813)];

    fn pareto(truncated: bool, shape: f64) -> Pareto {
        Pareto { minimum: Bytes::new(56), maximum: Bytes::new(2040), truncated, shape }
    }

    #[test]
    fn both_bounds_have_the_mean_of_the_document() {
        for (truncated, shape) in MEAN_176 {
            let law = payloads(&pareto(truncated, shape)).expect("a law");
            assert!((law.mean() - 176.0).abs() < 0.01, "{truncated}: {}", law.mean());
            assert_eq!(law.support(), (56, Some(2040)));
        }
        let deviation = {
            let law = payloads(&pareto(true, MEAN_176[0].1)).expect("a law");
            (law.second_moment() - law.mean() * law.mean()).sqrt()
        };
        assert!((deviation - 224.2).abs() < 0.1, "{deviation}");
    }

    #[test]
    fn the_law_is_that_of_rounded_values() {
        let law = payloads(&pareto(true, 1.2)).expect("a law");
        let rest = (56.0_f64 / 2040.0).powf(1.2);
        let below = |x: f64| (1.0 - (56.0 / x).powf(1.2)) / (1.0 - rest);
        for size in [56, 57, 300, 1999] {
            assert!((law.cdf(size) - below(size as f64 + 0.5)).abs() < 1e-9, "{size}");
        }
        let capped = payloads(&pareto(false, 1.2)).expect("a law");
        assert!((1.0 - capped.cdf(2039) - (56.0_f64 / 2039.5).powf(1.2)).abs() < 1e-9);
    }

    #[test]
    fn bursts_have_the_floor_of_a_pareto_law() {
        let law = bursts(1.5, 1000).expect("a law");
        assert!((1.0 - law.cdf(3) - 4.0_f64.powf(-1.5)).abs() < 1e-12);
        let mean: f64 = (1..=1000).map(|packets| f64::from(packets).powf(-1.5)).sum();
        assert!((law.mean() - mean).abs() < 1e-9);
        assert_eq!(bursts(1.5, 1).expect("a law").mean(), 1.0);
        assert!(bursts(1.5, 0).is_err());
    }
}
