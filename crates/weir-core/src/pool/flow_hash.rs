//! A server by the hash of the flow: all requests of a flow join one server, in order.
//!
//! The hash names an entry of a table, the entry names a server: entry i is server i modulo their number, as network
//! cards have it at first. With fewer entries than servers some servers have none.
//!
//! | | |
//! |-|-|
//! | Source | receive-side scaling (RSS), Linux `Documentation/networking/scaling.rst`; its table of 128 entries |
//! | Needs to know | the flow of a request |
//! | Work per request | O(1); a hash is remembered by flow number |
//! | Units | `table`: entries |
//! | Memory | up to 4096 remembered hashes, 24 bytes each |
//! | Departs from the source | SipHash-1-3 under a key made of the seed, where network cards have the Toeplitz hash; over the number of the flow |

use super::random::SEED;
use super::{Dispatcher, ReceiverId, Rule, ServerId, Servers, Site};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::packet::hash::{Hash, Key, Spread};
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// The largest table.
const MAX_TABLE: u64 = 65_536;

/// What the listings say.
pub const INFO: Info = Info {
    name: "flow_hash",
    kind: Kind::Dispatcher,
    title: "hash of the flow",
    rule: "all requests of a flow join one server, which is chosen by a hash of the flow",
    source: "receive-side scaling, Linux Documentation/networking/scaling.rst",
    work: "O(1)",
    parameters: &[
        Parameter::new("table", Takes::Whole(1..=MAX_TABLE), "128")
            .listed("entries, {}")
            .meaning("how many entries the table from hashes to servers has"),
        SEED.meaning("the seed of the hash; a simulation draws one for each replication if none is given"),
    ],
    example: "flow_hash",
};

/// A server by the hash of the flow.
#[derive(Clone, Debug)]
pub struct FlowHash {
    spread: Spread,
    entries: u32,
    servers: u32,
}

impl FlowHash {
    /// As a spec names it.
    ///
    /// # Errors
    /// The table has no entry or too many, or the seed is no whole number.
    pub fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let entries = arguments.whole("table")?;
        let seed = arguments.whole(SEED.name)?;
        let spread = Spread::new(Hash::Keyed, Key::Flow, seed, entries);
        Ok(Self { spread, entries, servers: site.servers })
    }
}

impl<I: Item<Cost = Nanos>> Dispatcher<I> for FlowHash {
    #[inline]
    fn dispatch(
        &mut self,
        _now: Instant,
        item: &I,
        _receiver: ReceiverId,
        _servers: &dyn Servers,
    ) -> Result<ServerId, DropReason> {
        Ok(ServerId(self.spread.bucket(item) % self.servers))
    }

    fn rule(&self) -> Option<Rule<'_>> {
        Some(Rule::Hash { seed: self.spread.seed(), entries: self.entries })
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::Rule;
    use crate::pool::testing::{Named, request, site};

    /// Where each of `flows` flows goes, twice over.
    fn sent(spec: &str, servers: u32, flows: u32) -> Vec<u32> {
        let mut named = Named::new(spec, &site(servers));
        let mut round =
            || (0..flows).map(|flow| named.send_of_flow(0, request(flow, 0, 1)).expect("one")).collect();
        let (first, second): (Vec<u32>, Vec<u32>) = (round(), round());
        assert_eq!(first, second, "a flow goes where it went");
        first
    }

    #[test]
    fn a_flow_stays_and_flows_are_spread() {
        let servers = sent("flow_hash", 8, 8_000);
        for server in 0..8 {
            let flows = servers.iter().filter(|to| **to == server).count();
            assert!(flows.abs_diff(1_000) < 150, "{server}: {flows}");
        }
        assert_ne!(servers, sent("flow_hash:seed=1", 8, 8_000));
    }

    #[test]
    fn the_rule_is_the_seed_and_the_table() {
        let named = Named::new("flow_hash:seed=7,table=64", &site(3));
        assert_eq!(named.0.rule(), Some(Rule::Hash { seed: 7, entries: 64 }));
    }

    #[test]
    fn a_server_without_an_entry_has_no_flow() {
        let servers = sent("flow_hash:table=3", 8, 500);
        assert!((0..3).all(|server| servers.contains(&server)) && servers.iter().all(|server| *server < 3));
    }
}
