//! What to expect of a script before it is run: how many packets, how large, and until when.

use weir_core::units::{Bytes, Cost, Nanos};

use crate::schedule::{MAX_LENGTH, bounded_length};
use crate::traffic::{Burst, Start, Traffic};

impl Traffic {
    /// About how many packets leave before `until`, since the script's start.
    #[must_use]
    pub fn expected_packets(&self, until: Nanos) -> f64 {
        let until = until.seconds();
        let mut ended = 0.0;
        let packets = self.bursts.iter().map(|burst| {
            let (packets, end) = expected(burst, ended, until);
            ended = end;
            packets
        });
        packets.sum()
    }

    /// The size on the wire of the largest packet.
    #[must_use]
    pub fn largest_size(&self) -> Bytes {
        let lengths = self.bursts.iter().map(|burst| burst.length.largest().unwrap_or(MAX_LENGTH));
        self.wire_size(bounded_length(lengths.fold(0.0, f64::max)))
    }

    /// The mean size on the wire over all bursts, each counted by what is expected of it before `until`.
    #[must_use]
    pub fn mean_size(&self, until: Nanos) -> f64 {
        let (mut ended, mut data, mut all) = (0.0, 0.0, 0.0);
        for burst in &self.bursts {
            let (packets, end) = expected(burst, ended, until.seconds());
            ended = end;
            data += packets * burst.length.mean();
            all += packets;
        }
        let headers = count(self.wire_size(Bytes::new(0)).get());
        if all > 0.0 { data / all + headers } else { headers }
    }

    /// When the last packet has left at the latest, since the script's start; `None` where draws decide, or
    /// nothing ends it.
    #[must_use]
    pub fn end(&self) -> Option<Nanos> {
        let mut end = Nanos::new(0);
        for burst in &self.bursts {
            let from = match burst.from {
                Start::At(at) => at.max(end),
                Start::After(after) => end.plus(after),
            };
            end = burst.time.map(|time| from.plus(time)).or(burst.until)?.max(from);
        }
        Some(end)
    }
}

/// About how many packets a burst has before `until`, and when it ends, after the former ended.
fn expected(burst: &Burst, ended: f64, until: f64) -> (f64, f64) {
    let from = match burst.from {
        Start::At(at) => at.seconds().max(ended),
        Start::After(after) => ended + after.seconds(),
    };
    let stop = burst.time.map(|time| from + time.seconds()).or(burst.until.map(Nanos::seconds));
    let stop = stop.unwrap_or(f64::INFINITY).min(until).max(from);
    let gap = burst.arrival.mean();
    let by_data = burst.data.map_or(f64::INFINITY, |data| count(data.get()) / burst.length.mean());
    let drawn = burst.packets.map_or(f64::INFINITY, count).min(by_data);
    // No gap and no time give no number: then the packets alone decide.
    let in_time = if gap > 0.0 { (stop - from) / gap } else { f64::INFINITY };
    let packets = if from < until { in_time.min(drawn) } else { 0.0 };
    (packets, if packets < in_time { from + packets * gap } else { stop })
}

fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    const SECOND: u64 = 1_000_000_000;

    fn traffic(actions: &str) -> Traffic {
        Traffic::of(&read(&format!("on 1 udp 1.2.3.4.5 {actions}")).unwrap()).unwrap()
    }

    #[test]
    fn packets_sizes_and_ends_are_estimated() {
        let two =
            "at 10 arrival exponential 0.01 length 750 time 20 arrival 1 length uniform 50 150 packet 30";
        let two = traffic(two);
        assert!((two.expected_packets(Nanos::new(100 * SECOND)) - 2030.0).abs() < 1e-6);
        assert!((two.expected_packets(Nanos::new(20 * SECOND)) - 1000.0).abs() < 1e-6);
        assert!(
            (two.mean_size(Nanos::new(100 * SECOND)) - (2000.0 * 782.0 + 30.0 * 132.0) / 2030.0).abs() < 1e-6
        );
        assert_eq!(two.largest_size(), Bytes::new(782));
        assert_eq!(two.end(), None);
        assert_eq!(traffic("at 1 arr 1 l exponential 9 time 5").end(), Some(Nanos::new(6 * SECOND)));
        assert_eq!(traffic("at 1 arr 1 l exponential 9 time 5").largest_size(), Bytes::new(8224));
        assert_eq!(traffic("at 1 arr 1 l 9 at 3 wait").end(), Some(Nanos::new(3 * SECOND)));
        assert_eq!(traffic("arr 1 l 9").end(), None);
        assert_eq!(traffic("wait").expected_packets(Nanos::new(SECOND)), 0.0);
        assert_eq!(traffic("arr 0 l 9 packet 7").expected_packets(Nanos::new(SECOND)), 7.0);
    }
}
