//! The longest prefix that an address is in.
//!
//! The prefixes cut the addresses into ranges, in each of which the longest prefix is the same; so a search among the
//! beginnings of the ranges finds it.
//!
//! | | |
//! |-|-|
//! | Source | Lampson, Srinivasan and Varghese, *IP lookups using multiway and multicolumn search*, INFOCOM '98, section 3 |
//! | Work per address | O(log(prefixes)) |
//! | Memory | two ranges a prefix at most, 8 bytes each of IPv4, 20 of IPv6 |
//! | Units | none |
//! | Departs from the source | two ways at each step, without its precomputed tables; built once, never changed |

use std::net::IpAddr;

use ipnet::IpNet;

/// No prefix.
const NONE: u32 = u32::MAX;

/// The ranges of one kind of address.
#[derive(Clone, Debug, Default)]
struct Ranges<K> {
    /// The first address of each range; the first range begins at zero.
    starts: Vec<K>,
    /// What each leads to.
    targets: Vec<u32>,
}

/// A prefix by its first and last address, with what it leads to.
type Prefix = (u128, u128, u32);

impl<K: Copy + Ord> Ranges<K> {
    /// The ranges that these prefixes make; of equal prefixes the last counts. Addresses are made by `key`, as far as
    /// they go.
    fn new(mut prefixes: Vec<Prefix>, key: impl Fn(u128) -> Option<K>) -> Self {
        // The wider of two that begin alike comes first, and is covered by the narrower.
        prefixes.sort_by_key(|&(first, last, _)| (first, u128::MAX - last));
        let mut ranges = Self { starts: Vec::new(), targets: Vec::new() };
        let mut open: Vec<Prefix> = Vec::new();
        for prefix in prefixes {
            ranges.close_before(&mut open, prefix.0, &key);
            ranges.begin(key(prefix.0), prefix.2);
            open.push(prefix);
        }
        ranges.close_before(&mut open, u128::MAX, &key);
        ranges
    }

    /// Ends the prefixes that end before `next`: what follows each is of the prefix around it.
    fn close_before(&mut self, open: &mut Vec<Prefix>, next: u128, key: &impl Fn(u128) -> Option<K>) {
        while let Some((_, last, _)) = open.pop_if(|(_, last, _)| *last < next) {
            self.begin(key(last + 1), open.last().map_or(NONE, |around| around.2));
        }
    }

    /// A range begins; one that began at the same address is empty.
    fn begin(&mut self, start: Option<K>, target: u32) {
        let Some(start) = start else { return };
        if self.starts.last() == Some(&start) {
            self.starts.pop();
            self.targets.pop();
        }
        self.starts.push(start);
        self.targets.push(target);
    }

    #[inline]
    fn find(&self, address: K) -> Option<u32> {
        let behind = self.starts.partition_point(|&start| start <= address);
        behind.checked_sub(1).map(|at| self.targets[at]).filter(|&leads| leads != NONE)
    }
}

/// Prefixes, and a number that each leads to.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes {
    v4: Ranges<u32>,
    v6: Ranges<u128>,
}

impl Prefixes {
    /// These prefixes; of two that are equal the last counts.
    pub(super) fn new(listed: impl Iterator<Item = (IpNet, u32)> + Clone) -> Self {
        let of_kind = |v4: bool| {
            let kind = listed.clone().filter(move |(net, _)| net.addr().is_ipv4() == v4);
            kind.map(|(net, leads)| (bits(net.network()), bits(net.broadcast()), leads)).collect()
        };
        Self {
            v4: Ranges::new(of_kind(true), |bits| u32::try_from(bits).ok()),
            v6: Ranges::new(of_kind(false), Some),
        }
    }

    /// What the longest prefix leads to that holds an address of IPv4.
    #[inline]
    pub(super) fn find_v4(&self, address: u32) -> Option<u32> {
        self.v4.find(address)
    }

    /// The same of IPv6.
    #[inline]
    pub(super) fn find_v6(&self, address: u128) -> Option<u32> {
        self.v6.find(address)
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}
