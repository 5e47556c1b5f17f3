//! Whose packets they are that leave by an interface: the longest prefix that holds the address of a subscriber.
//!
//! Where an interface has subscribers, its discipline is `htb`, with a class for each of them below that of its group, and
//! the discipline that is written for the interface is that of each subscriber. A packet is of the subscriber whose
//! longest prefix holds its destination, or its source; of none, it is of the class of all others.
//!
//! | | |
//! |-|-|
//! | Source | this project; the [table](weir_document::subscribers), the search of `prefixes` |
//! | Work per packet | O(log(prefixes)) |
//! | Memory | 48 bytes a subscriber for its counts, those of the search, and what `htb` takes |
//! | Units | packets, bytes of IP |

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weir_core::units::Rate;
use weir_document::subscribers::{Kind, Table};

use super::frame::Ends;
use super::prefixes::Prefixes;
use super::snapshot::Count;
use crate::config::{SubscriberAddress, Subscribers};

/// What was counted of a subscriber.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriberCounts {
    /// Left.
    pub forwarded: Count,
    /// Dropped at the queue or behind it.
    pub dropped: Count,
    /// Waiting now: in the queue, in transmission, on the delay line, or for a neighbour.
    pub waiting: Count,
}

impl SubscriberCounts {
    /// Adds what another has counted.
    pub(super) fn add(&mut self, other: Self) {
        self.forwarded += other.forwarded;
        self.dropped += other.dropped;
        self.waiting += other.waiting;
    }
}

/// Finds the subscriber of a packet.
#[derive(Debug)]
pub(super) struct Subscribed {
    address: SubscriberAddress,
    prefixes: Prefixes,
    others: u16,
    table: Arc<Table>,
}

impl Subscribed {
    /// Those that a configuration names.
    pub(super) fn new(named: &Subscribers) -> Self {
        let table = Arc::clone(&named.table);
        let prefixes = Prefixes::new(table.prefixes().iter().map(|&(net, class)| (net, class.into())));
        Self { address: named.address, prefixes, others: table.others(), table }
    }

    /// The table.
    pub(super) fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table)
    }

    /// The class of packets of no subscriber.
    pub(super) fn others(&self) -> u16 {
        self.others
    }

    /// Counts of nothing yet.
    pub(super) fn counts(&self) -> Vec<SubscriberCounts> {
        vec![SubscriberCounts::default(); self.table.classes().len()]
    }

    /// For each class of other subscribers the class here that its counts and packets are counted in from now on.
    pub(super) fn successors_of(&self, old: &Self) -> Vec<u16> {
        let same = self.table.successors_of(&old.table);
        same.into_iter().map(|class| class.unwrap_or(self.others)).collect()
    }

    /// The class of a packet between these addresses.
    #[inline]
    pub(super) fn class(&self, ends: &Ends) -> u16 {
        let by_source = self.address == SubscriberAddress::Source;
        let found = match *ends {
            Ends::V4 { source, destination } => {
                self.prefixes.find_v4(if by_source { source } else { destination })
            }
            Ends::V6 { source, destination } => {
                self.prefixes.find_v6(if by_source { source } else { destination })
            }
        };
        found.map_or(self.others, |class| class as u16)
    }
}

/// The counts of all subscribers of an interface, as they were copied between two packets.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The interface.
    pub interface: String,
    /// When.
    pub now_ns: u64,
    /// The rate of the interface.
    pub rate: Rate,
    /// Who they are.
    pub table: Arc<Table>,
    /// What was counted of each class.
    pub counts: Vec<SubscriberCounts>,
}

/// What was counted of the subscribers of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscribersSnapshot {
    /// The interface.
    pub interface: String,
    /// Nanoseconds since the daemon began.
    pub now_ns: u64,
    /// The file that they are of.
    pub file: String,
    /// Subscribers, and all others last.
    pub subscribers: Vec<SubscriberSnapshot>,
}

/// What was counted of a subscriber.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriberSnapshot {
    /// Its name.
    pub name: String,
    /// The group that it is in; nothing where it is in none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// What it is promised, such as `2Mbit`.
    pub rate: String,
    /// What it sends at most.
    pub ceiling: String,
    /// What was counted.
    #[serde(flatten)]
    pub counts: SubscriberCounts,
}

impl Reading {
    /// The same in words, groups left out.
    #[must_use]
    pub fn snapshot(&self) -> SubscribersSnapshot {
        // It was accepted with the configuration.
        let shares = self.table.shares(self.rate).map(|(config, _)| config.classes).unwrap_or_default();
        let each = self.table.classes().iter().zip(&shares).zip(&self.counts);
        let listed = each.filter(|((class, _), _)| class.kind != Kind::Group);
        let group = |class: Option<u16>| class.map(|at| self.table.classes()[usize::from(at)].name.clone());
        SubscribersSnapshot {
            interface: self.interface.clone(),
            now_ns: self.now_ns,
            file: self.table.file().to_owned(),
            subscribers: listed
                .map(|((class, share), counts)| SubscriberSnapshot {
                    name: class.name.clone(),
                    group: group(class.group).unwrap_or_default(),
                    rate: share.rate.to_string(),
                    ceiling: share.ceiling.to_string(),
                    counts: *counts,
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests;
