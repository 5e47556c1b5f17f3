//! SipHash against its published vectors, the report's forms by hand, and what is remembered against what is
//! computed anew.

use super::*;
use crate::conformance::Random;
use crate::item::FlowId;
use crate::units::Bytes;

/// The key and the messages of the paper's vectors: bytes that count up from zero.
const KEY: [u64; 2] = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];

fn counting(length: usize) -> Vec<u8> {
    (0..length).map(|byte| byte as u8).collect()
}

#[test]
fn siphash_2_4_has_the_published_values() {
    // Appendix A of the paper: 15 bytes; the others from the vectors of its reference implementation.
    for (length, expected) in [
        (15, 0xa129_ca61_49be_45e5),
        (0, 0x726f_db47_dd0e_0e31),
        (1, 0x74f8_39c5_93dc_67fd),
        (2, 0x0d6c_8009_d9a9_4f5a),
        (3, 0x8567_6696_d7fb_7e2d),
        (8, 0x93f5_f579_9a93_2462),
    ] {
        assert_eq!(sip_hash::<2, 4>(KEY, &counting(length)), expected, "{length} bytes");
    }
}

#[test]
fn siphash_1_3_is_that_of_the_standard_library() {
    use std::hash::{DefaultHasher, Hasher};
    for length in 0..64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(&counting(length));
        assert_eq!(sip_hash::<1, 3>([0, 0], &counting(length)), hasher.finish(), "{length} bytes");
    }
}

fn label(source: u32, destination: u32) -> Label {
    Label { source, destination, flow: 0 }
}

#[test]
fn the_forms_of_the_report_are_as_written() {
    let label = label(0x8000_0003, 0x0001_0005);
    for (hash, number) in [
        (Hash::Xor, 0x8001_0006 ^ 34),
        (Hash::XorRotated, 0x8000_0003_u32 ^ 0x0005_0001 ^ 34),
        // 34 mod 32 = 2 places to the left.
        (Hash::Rotate, 0x0004_001a),
        (Hash::RotateSource, 0x0000_000e ^ 0x0001_0005),
        // 0x80000003 ^ 34 = 0x80000021, whose halves swap.
        (Hash::RotateSeeded, 0x0021_8000 ^ 0x0001_0005),
    ] {
        for buckets in [1, 9, 1024, 1 << 20] {
            assert_eq!(hash.bucket(label, 34, buckets), number % buckets, "{hash:?} of {buckets}");
        }
    }
}

#[test]
fn equal_sums_stay_together_whatever_the_seed_unless_the_hash_is_keyed() {
    // The seed comes after the addresses were combined.
    let (a, b) = (label(1, 2), label(5, 6));
    let together = |hash: Hash| (0..64).filter(|&s| hash.bucket(a, s, 9) == hash.bucket(b, s, 9)).count();
    assert_eq!(together(Hash::Xor), 64);
    assert_eq!(together(Hash::Rotate), 64);
    assert!(together(Hash::RotateSource) < 32);
    assert!((1..20).contains(&together(Hash::Keyed)), "about one in nine");
}

#[test]
fn the_keyed_hash_spreads_evenly() {
    let mut counts = [0_u32; 9];
    for flow in 0..90_000 {
        let label = Label { source: 10, destination: 20, flow };
        counts[Hash::Keyed.bucket(label, 7, 9) as usize] += 1;
    }
    // Six standard deviations of a binomial count with mean 10,000.
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 600), "{counts:?}");
}

/// A packet with addresses.
struct Addressed(u32, Label);

impl Item for Addressed {
    type Cost = Bytes;
    fn flow(&self) -> FlowId {
        FlowId(self.0)
    }
    fn cost(&self) -> Bytes {
        Bytes::new(1)
    }
    fn addresses(&self) -> Addresses {
        Addresses { source: self.1.source, destination: self.1.destination }
    }
}

#[test]
fn what_is_remembered_is_what_would_be_computed() {
    // Flow numbers that share a place, and flows whose packets change their addresses.
    let mut random = Random::new(3);
    for hash in Hash::ALL {
        for key in [Key::Addresses, Key::Flow] {
            let mut spread = Spread::new(hash, key, 5, 97);
            for _ in 0..20_000 {
                if random.one_in(500) {
                    spread.epoch = if random.one_in(2) { u32::MAX } else { spread.epoch };
                    spread.reseed(random.below(50));
                }
                let flow = (random.below(4) * REMEMBERED as u64 + random.below(40)) as u32;
                let item = Addressed(flow, label(random.below(3) as u32, random.below(3) as u32));
                let expected = hash.bucket(key.label(&item), spread.seed(), 97);
                assert_eq!(spread.bucket(&item), expected);
            }
        }
    }
}

#[test]
fn the_key_says_what_tells_flows_apart() {
    let item = Addressed(7, label(1, 2));
    assert_eq!(Key::Addresses.label(&item), label(1, 2));
    assert_eq!(Key::Flow.label(&item), Label { flow: 7, ..label(1, 2) });
}

#[test]
fn the_clock_gives_one_seed_more_for_each_span() {
    let mut seeds = SeedClock::new(u64::MAX, Some(Nanos::new(10)));
    let at = |seeds: &mut SeedClock, now| seeds.due(Instant::new(now));
    assert_eq!(at(&mut seeds, 9), None);
    assert_eq!(at(&mut seeds, 10), Some(0));
    assert_eq!(at(&mut seeds, 19), None);
    assert_eq!(at(&mut seeds, 57), Some(4));
    assert_eq!(at(&mut seeds, 59), None);
    assert_eq!(at(&mut SeedClock::new(3, None), u64::MAX), None);
    // The end of the clock is no end of the arithmetic.
    let mut seeds = SeedClock::new(0, Some(Nanos::new(1)));
    assert_eq!([at(&mut seeds, u64::MAX), at(&mut seeds, u64::MAX)], [Some(u64::MAX); 2]);
}
