//! A request of either kind: for a table, or for the placement of processes on nodes.
//!
//! A request that has a table `[nodes]` or a table `[[process]]` is of nodes; every other is of an arbitration table.

use toml::de::DeTable;
use weir_document::Source;

use crate::PlanError;
use crate::nodes::request::NodeRequest;
use crate::requirements::Requirements;

/// The keys that only a request of nodes has.
const OF_NODES: [&str; 2] = ["nodes", "process"];
/// The keys that only a request for a table has.
const OF_A_TABLE: [&str; 3] = ["table", "link", "class"];

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// An arbitration table.
    Table(Requirements),
    /// A placement on nodes.
    Nodes(NodeRequest),
}

impl Request {
    /// Reads a request; errors speak of `name`.
    ///
    /// # Errors
    /// The text is refused; the error says where and why.
    pub fn from_toml(text: &str, name: &str) -> Result<Self, PlanError> {
        // What is no TOML is refused by the reader of requests for tables.
        let root = DeTable::parse(text).ok();
        let key = |keys: &[&str]| {
            let root = root.as_ref()?.get_ref();
            keys.iter().find_map(|key| root.get_key_value(*key)).map(|(key, _)| key)
        };
        match (key(&OF_NODES), key(&OF_A_TABLE)) {
            (Some(nodes), Some(other)) => {
                let reason = format!(
                    "cannot be combined with `{}`: a request is for an arbitration table or for nodes",
                    nodes.get_ref()
                );
                Err(Source { name, text }.refuse(other.span(), reason, "write two files"))
            }
            (Some(_), None) => NodeRequest::from_toml(text, name).map(Self::Nodes),
            (None, _) => Requirements::from_toml(text, name).map(Self::Table),
        }
    }
}
