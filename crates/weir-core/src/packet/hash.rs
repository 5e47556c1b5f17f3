//! From a packet to a number: the hashes by which flows are spread over queues.
//!
//! The default is SipHash-1-3 with a key made of the seed: who does not know the seed cannot choose addresses
//! that collide. The others are the families of the report on SFQ, in 32-bit words, with `<<<` for a rotation
//! to the left. They are for its reproduction, and to show what a stranger can do to an unkeyed hash. The
//! report names operations, not formulas; these are the forms that fit what it says.
//!
//! | name | formula | a new seed parts two flows that collide |
//! |-|-|-|
//! | `keyed` | SipHash-1-3 | always |
//! | `xor` | `source ^ destination ^ seed` | unless the XORs of their addresses are equal |
//! | `xor_rotated` | `source ^ (destination <<< 16) ^ seed` | unless these XORs are equal |
//! | `rotate` | `(source ^ destination) <<< seed` | unless the XORs of their addresses are equal |
//! | `rotate_source` | `(source <<< seed) ^ destination` | usually |
//! | `rotate_seeded` | `((source ^ seed) <<< 16) ^ destination` | unless these XORs are equal |
//!
//! A number becomes one of n queues modulo n, as in the report; that of the keyed hash by multiplication
//! (Lemire, *Fast random integer generation in an interval*, 2019), which costs no division.
//!
//! | | |
//! |-|-|
//! | Source | Aumasson and Bernstein, *SipHash: a fast short-input PRF*, INDOCRYPT 2012; the report on SFQ experiments, SRI, 1993 |
//! | Work per packet | O(1); a hash is remembered by flow number and checked against the packet's label |
//! | Units | none |
//! | Memory | up to 4096 remembered hashes, 24 bytes each |
//! | Departs from the source | three rounds at the end instead of four, as its authors allow for hash tables |

use crate::info::{Arguments, Parameter, Takes};
use crate::item::{Addresses, Item};
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// The parameter that names a hash.
pub(super) const HASH: Parameter = Parameter::new(
    "hash",
    Takes::Words(&["keyed", "xor", "xor_rotated", "rotate", "rotate_source", "rotate_seeded"]),
    "keyed",
)
.meaning("how a flow's queue is computed; only `keyed` resists an attacker who chooses addresses");

/// The parameter that says what the hash is taken over.
pub(super) const KEY: Parameter = Parameter::new("key", Takes::Words(&["addresses", "flow"]), "addresses")
    .meaning("what is hashed: source and destination, or these and the flow's number");

/// The same, where ports belong to the key by default.
pub(super) const KEY_OF_FLOW: Parameter = KEY.or_else("flow");

/// The parameter from which the hash follows.
pub(super) const SEED: Parameter = Parameter::new("seed", Takes::Seed, "0")
    .meaning("the seed of the hash; a simulation draws one for each link and replication if none is given");

/// How a number is made of a label and a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hash {
    /// SipHash-1-3 under a key made of the seed.
    #[default]
    Keyed,
    /// `source ^ destination ^ seed`.
    Xor,
    /// `source ^ (destination <<< 16) ^ seed`.
    XorRotated,
    /// `(source ^ destination) <<< seed`.
    Rotate,
    /// `(source <<< seed) ^ destination`.
    RotateSource,
    /// `((source ^ seed) <<< 16) ^ destination`.
    RotateSeeded,
}

impl Hash {
    const ALL: [Self; 6] =
        [Self::Keyed, Self::Xor, Self::XorRotated, Self::Rotate, Self::RotateSource, Self::RotateSeeded];

    /// As a spec names it.
    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        arguments.choice(HASH.name, Self::ALL)
    }

    /// The bucket of a label, one of `buckets`, which is not zero.
    #[must_use]
    pub fn bucket(self, label: Label, seed: u64, buckets: u32) -> u32 {
        let Label { source, destination, flow } = label;
        let low = seed as u32;
        // Where the flow's number belongs to the key, the report's forms see it as part of the source.
        let source = source ^ flow.rotate_left(16);
        let number = match self {
            Self::Keyed => {
                let hash = sip_hash::<1, 3>(sip_key(seed), &label.bytes());
                return ((u128::from(hash) * u128::from(buckets)) >> 64) as u32;
            }
            Self::Xor => source ^ destination ^ low,
            Self::XorRotated => source ^ destination.rotate_left(16) ^ low,
            Self::Rotate => (source ^ destination).rotate_left(low % 32),
            Self::RotateSource => source.rotate_left(low % 32) ^ destination,
            Self::RotateSeeded => (source ^ low).rotate_left(16) ^ destination,
        };
        number % buckets.max(1)
    }
}

/// What a hash is taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Key {
    /// Source and destination: all packets between two hosts stay together.
    #[default]
    Addresses,
    /// These and the flow's number, which stands for protocol and ports.
    Flow,
}

impl Key {
    /// As a spec names it.
    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        arguments.choice(KEY.name, [Self::Addresses, Self::Flow])
    }

    /// The label of an item: items that share it are one flow to the discipline.
    #[inline]
    pub fn label<I: Item>(self, item: &I) -> Label {
        let Addresses { source, destination } = item.addresses();
        let flow = if self == Self::Flow { item.flow().0 } else { 0 };
        Label { source, destination, flow }
    }
}

/// What tells flows apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Label {
    /// Where the packet comes from.
    pub source: u32,
    /// Where it goes to.
    pub destination: u32,
    /// The number of its flow, or zero where that does not count.
    pub flow: u32,
}

impl Label {
    fn bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&self.source.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.destination.to_le_bytes());
        bytes[8..].copy_from_slice(&self.flow.to_le_bytes());
        bytes
    }
}

/// SipHash-1-3 of any bytes, for who names flows before a discipline sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyed([u64; 2]);

impl Keyed {
    /// Under a key made of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(sip_key(seed))
    }

    /// The key, for a program that hashes by itself: one in the kernel.
    #[must_use]
    pub fn key(&self) -> [u64; 2] {
        self.0
    }

    /// The hash of `message`.
    #[must_use]
    #[inline]
    pub fn hash(&self, message: &[u8]) -> u64 {
        sip_hash::<1, 3>(self.0, message)
    }
}

/// A key of 128 bits made of a seed, so that neighbouring seeds have unlike keys (SplitMix64).
fn sip_key(seed: u64) -> [u64; 2] {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = |n: u64| {
        let z = seed.wrapping_add(STEP.wrapping_mul(n));
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    // Two streams from seeds a step apart would share a word; the second starts elsewhere.
    [mixed(1), mixed(1 << 32)]
}

/// SipHash with `C` rounds a word and `D` at the end.
#[inline]
fn sip_hash<const C: usize, const D: usize>(key: [u64; 2], message: &[u8]) -> u64 {
    // "somepseudorandomlygeneratedbytes", as the paper has it.
    let mut state = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    let (words, rest) = message.as_chunks::<8>();
    for word in words {
        sip_absorb::<C>(&mut state, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = message.len() as u8;
    sip_absorb::<C>(&mut state, u64::from_le_bytes(last));
    state[2] ^= 0xff;
    (0..D).for_each(|_| sip_round(&mut state));
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

#[inline]
fn sip_absorb<const C: usize>(state: &mut [u64; 4], word: u64) {
    state[3] ^= word;
    (0..C).for_each(|_| sip_round(state));
    state[0] ^= word;
}

#[inline]
fn sip_round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[2] = v[2].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[1]);
    v[0] = v[0].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].rotate_left(32);
}

/// The most hashes that are remembered.
const REMEMBERED: usize = 4096;

/// A hash with what it is the hash of.
#[derive(Clone, Copy, Debug, Default)]
struct Remembered {
    label: Label,
    /// The time of its seed; zero: none is remembered here.
    epoch: u32,
    bucket: u32,
}

/// Spreads packets over buckets.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    hash: Hash,
    key: Key,
    seed: u64,
    buckets: u32,
    /// Counts the seeds, from one.
    epoch: u32,
    /// By the low bits of the flow's number.
    remembered: Vec<Remembered>,
}

impl Spread {
    /// A hash into `buckets` buckets; `buckets` is not zero.
    pub(crate) fn new(hash: Hash, key: Key, seed: u64, buckets: u32) -> Self {
        Self { hash, key, seed, buckets, epoch: 1, remembered: Vec::new() }
    }

    /// The label of an item.
    #[inline]
    pub(super) fn label<I: Item>(&self, item: &I) -> Label {
        self.key.label(item)
    }

    /// The bucket of an item.
    #[inline]
    pub(crate) fn bucket<I: Item>(&mut self, item: &I) -> u32 {
        let label = self.key.label(item);
        let place = item.flow().0 as usize % REMEMBERED;
        match self.remembered.get(place) {
            Some(known) if known.label == label && known.epoch == self.epoch => known.bucket,
            _ => self.compute(item, place),
        }
    }

    // Apart, so that the calls around it stay small enough to be inlined; of the item, since a label would be laid into
    // memory for it.
    #[cold]
    #[inline(never)]
    fn compute<I: Item>(&mut self, item: &I, place: usize) -> u32 {
        let label = self.key.label(item);
        if place >= self.remembered.len() {
            self.remembered.resize((place + 1).next_power_of_two(), Remembered::default());
        }
        let bucket = self.hash.bucket(label, self.seed, self.buckets);
        self.remembered[place] = Remembered { label, epoch: self.epoch, bucket };
        bucket
    }

    /// The seed in force.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Another seed from now on.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.seed = seed;
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.remembered.fill(Remembered::default());
            self.epoch = 1;
        }
    }
}

/// Seeds by the clock: one more each time a span has passed.
#[derive(Clone, Debug)]
pub(super) struct SeedClock {
    first: u64,
    /// What passes between two seeds, and when the next is due; `None`: the first one stays.
    next: Option<(Nanos, Instant)>,
}

impl SeedClock {
    /// From `first` on, one more after each `span`, which is not nothing.
    pub(super) fn new(first: u64, span: Option<Nanos>) -> Self {
        Self { first, next: span.map(|span| (span, Instant::new(span.get()))) }
    }

    /// The seed to take from now on, if one has fallen due. Of several that have, only the last counts.
    #[inline]
    pub(super) fn due(&mut self, now: Instant) -> Option<u64> {
        let (span, _) = self.next.filter(|&(_, due)| due <= now)?;
        Some(self.advance(span, now))
    }

    #[cold]
    fn advance(&mut self, span: Nanos, now: Instant) -> u64 {
        let passed = now.get() / span.get().max(1);
        self.next = Some((span, Instant::new(passed.saturating_add(1).saturating_mul(span.get()))));
        self.first.wrapping_add(passed)
    }
}

#[cfg(test)]
mod tests;
