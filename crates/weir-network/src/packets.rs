//! Packets one by one: what became of each, as rows of a table, besides what is counted.
//!
//! | column | |
//! |---|---|
//! | `flow`, `class` | whose it is |
//! | `sequence` | its place among all that its flow has sent, from 0 |
//! | `size_bytes` | its size, without the framing of links |
//! | `sent_ns`, `end_ns` | when it was sent, and when it came to its destination or was dropped |
//! | `wait_ns` | its time in the queues of all links |
//! | `outcome` | `delivered` or `dropped` |
//! | `link` | where it was dropped, if it was |
//!
//! Rows come in the order of `end_ns`, warm-up included. Acknowledgements of transfers have none.
//!
//! Work: O(1) a packet and hop. Memory: the wait of each packet that is on its way, and the packets of some thousand events.

use std::collections::HashMap;

use crate::flight::{BACK, Flight};
use crate::model::NetworkScenario;
use weir_core::units::{Instant, Nanos};
use weir_lab::recorded::{Heading, Table, Value};

const OUTCOMES: [&str; 2] = ["delivered", "dropped"];

/// A packet that was delivered or dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gone {
    flight: Flight,
    end: Instant,
    wait: Nanos,
    is_dropped: bool,
}

/// Follows packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    /// Of each packet on its way, by its flow and sequence, the time in the queues that it has passed.
    waits: HashMap<(u32, u32), Nanos>,
    /// Those that are not handed over yet.
    gone: Vec<Gone>,
}

impl Packets {
    /// A packet has left the queue of a link after it waited there this long.
    pub fn passed(&mut self, flight: &Flight, wait: Nanos) {
        if flight.marks & BACK == 0 {
            *self.waits.entry((flight.flow, flight.sequence)).or_default() += wait;
        }
    }

    /// A packet has come to its destination.
    pub fn delivered(&mut self, flight: &Flight, end: Instant) {
        let wait = self.waits.remove(&(flight.flow, flight.sequence)).unwrap_or_default();
        self.gone.push(Gone { flight: *flight, end, wait, is_dropped: false });
    }

    /// A packet was dropped at a link, before or while it waited there.
    pub fn dropped(&mut self, flight: &Flight, end: Instant) {
        let before = self.waits.remove(&(flight.flow, flight.sequence)).unwrap_or_default();
        self.gone.push(Gone { flight: *flight, end, wait: before + end.since(flight.at), is_dropped: true });
    }

    /// Adds the rows of those that have gone since the last time.
    pub fn hand_over(&mut self, network: &NetworkScenario, table: &mut Table<'_, '_>) {
        for gone in self.gone.drain(..) {
            table.push(row(network, &gone));
        }
    }
}

/// The columns.
#[must_use]
pub fn headings(network: &NetworkScenario) -> Vec<Heading<'_>> {
    vec![
        Heading::names("flow", network.flows.iter().map(|flow| flow.name.as_str())),
        Heading::names("class", network.classes.iter().map(String::as_str)),
        Heading::counts("sequence"),
        Heading::counts("size_bytes"),
        Heading::counts("sent_ns"),
        Heading::counts("end_ns"),
        Heading::counts("wait_ns"),
        Heading::names("outcome", OUTCOMES),
        Heading::names("link", network.links.iter().map(|link| link.name.as_str())),
    ]
}

fn row(network: &NetworkScenario, gone: &Gone) -> [Value; 9] {
    let Gone { flight, end, wait, is_dropped } = gone;
    let path = network.flows.get(flight.flow as usize).map_or(&[][..], |flow| &flow.path);
    let link = path.get(usize::from(flight.hop)).filter(|_| *is_dropped);
    [
        Value::Name(flight.flow),
        Value::Name(u32::from(flight.class)),
        Value::Count(u64::from(flight.sequence)),
        Value::Count(u64::from(flight.size)),
        Value::Count(flight.sent.get()),
        Value::Count(end.get()),
        Value::Count(wait.get()),
        Value::Name(u32::from(*is_dropped)),
        link.map_or(Value::Missing, |&link| Value::Name(link as u32)),
    ]
}

#[cfg(test)]
mod tests;
