//! The figures of the packets of a window.
//!
//! | | |
//! |-|-|
//! | Source | *A Report on Stochastic Fairness Queueing (SFQ) Experiments* (SRI, 1993), tables; RFC 4737 (reordering) |
//! | Work | O(packets log packets), for the quantiles |
//! | Units | IP bytes: data, packet number and headers; bits per second; seconds, and their squares for the variance |
//! | Throughput | packets *of the window* that arrived, whenever they did, as in the source |
//! | Departs from the source | a packet is of the window in which it was due; lost, reordered and repeated packets, and quantiles of the delay |

use serde::Serialize;
use weir_core::units::Rate;

use super::pair::Packet;

/// The figures of a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Its beginning, in seconds from the beginning of the first traffic.
    pub from_s: f64,
    /// Its end, likewise.
    pub until_s: f64,
    /// Packets that were sent.
    pub sent: u64,
    /// Those of them that arrived.
    pub received: u64,
    /// Those that did not.
    pub lost: u64,
    /// Those that arrived after one that was sent later.
    pub reordered: u64,
    /// Arrivals of packets that had arrived before.
    pub duplicates: u64,
    /// IP bits sent, per second.
    pub offer_bit_s: f64,
    /// IP bits of the packets that arrived, per second.
    pub throughput_bit_s: f64,
    /// The offer in percent of the rate that was named.
    pub offer_pct: Option<f64>,
    /// The throughput in percent of that rate.
    pub throughput_pct: Option<f64>,
    /// The delay of the packets that arrived; nothing where none did.
    pub delay: Option<Delay>,
}

/// One-way delays, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// Their mean.
    pub mean_s: f64,
    /// Their variance, in squares of seconds; nothing of a single one.
    pub variance_s2: Option<f64>,
    /// The shortest.
    pub min_s: f64,
    /// Half of them are at most this.
    pub p50_s: f64,
    /// Nine of ten are at most this.
    pub p90_s: f64,
    /// 99 % are at most this.
    pub p99_s: f64,
    /// The longest.
    pub max_s: f64,
}

/// A window from one instant to another, in nanoseconds since 1970, and where its seconds are counted from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: i64,
    pub(super) until: i64,
    pub(super) origin: i64,
}

impl Window {
    /// The figures of packets, all of which were due within the span.
    pub(super) fn of<'p>(span: Span, packets: impl Iterator<Item = &'p Packet>, rate: Option<Rate>) -> Self {
        let (mut sent, mut reordered, mut duplicates) = (0, 0, 0);
        let (mut offered, mut carried) = (0, 0);
        let mut delays = Vec::new();
        for packet in packets {
            sent += 1;
            offered += u64::from(packet.size);
            reordered += u64::from(packet.reordered);
            duplicates += u64::from(packet.again);
            if let Some(delay) = packet.delay {
                carried += u64::from(packet.size);
                delays.push(delay);
            }
        }
        let seconds = seconds(span.until - span.from);
        let per_second = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        let percent =
            |bytes| Some(per_second(bytes) / rate.filter(|rate| rate.get() > 0)?.get() as f64 * 100.0);
        let received = delays.len() as u64;
        Self {
            from_s: self::seconds(span.from - span.origin),
            until_s: self::seconds(span.until - span.origin),
            sent,
            received,
            lost: sent - received,
            reordered,
            duplicates,
            offer_bit_s: per_second(offered),
            throughput_bit_s: per_second(carried),
            offer_pct: percent(offered),
            throughput_pct: percent(carried),
            delay: Delay::of(delays),
        }
    }
}

impl Delay {
    fn of(mut delays: Vec<i64>) -> Option<Self> {
        delays.sort_unstable();
        let (min, max) = (*delays.first()?, *delays.last()?);
        let count = delays.len() as f64;
        let sum: i128 = delays.iter().copied().map(i128::from).sum();
        let mean = sum as f64 / count;
        let squares: f64 = delays.iter().map(|delay| (*delay as f64 - mean).powi(2)).sum();
        // The smallest value that is not exceeded by this share of them.
        let quantile = |percent: usize| {
            let rank = (delays.len() * percent).div_ceil(100).max(1);
            seconds(delays[rank - 1])
        };
        Some(Self {
            mean_s: mean / 1e9,
            variance_s2: (delays.len() > 1).then(|| squares / (count - 1.0) / 1e18),
            min_s: seconds(min),
            p50_s: quantile(50),
            p90_s: quantile(90),
            p99_s: quantile(99),
            max_s: seconds(max),
        })
    }
}

fn seconds(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}
