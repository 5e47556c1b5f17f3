//! State of the flows that have something outstanding; the others have none, and take no room.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::item::FlowId;

/// Spreads flow numbers by one multiplication (Fibonacci hashing), the same in every run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowHasher(u64);

impl Hasher for FlowHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        let product = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}

/// A table of flows.
pub(super) type Flows<S> = HashMap<FlowId, S, BuildHasherDefault<FlowHasher>>;
