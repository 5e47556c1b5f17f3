//! The QoS options of OpenSM, the subnet manager of InfiniBand: read, judged, and written.
//!
//! An options file has one option a line, a name and a value. For each of the prefixes `qos`, `qos_ca`, `qos_rtr`,
//! `qos_sw0` and `qos_swe` there are five that make up the arbitration of a port; what a prefix does not say is taken
//! from `qos`, and what that does not say from built-in defaults ([`Effective`]).
//!
//! | option | value |
//! |---|---|
//! | `<prefix>_max_vls` | data lanes, 1 to 15; OpenSM 3.3 reads it and, but for the routing `torus-2QoS`, limits nothing by it |
//! | `<prefix>_high_limit` | how many times 4096 bytes are sent from the high table before the low one has a turn |
//! | `<prefix>_vlarb_high`, `<prefix>_vlarb_low` | `lane:weight,...`: the arbitration tables, weights of 64 bytes |
//! | `<prefix>_sl2vl` | the lane of each of 16 service levels; 15 drops |
//!
//! How many data lanes are in operation is `max_op_vls`, of all ports alike ([`Options::most_lanes`]).
//!
//! Everything is read as OpenSM 3.3.23 reads it, text that it misreads included: [`lint()`] tells where what is read is
//! not what is written, and what becomes of numbers out of range. Numbers are those of C: `0x1f` is hexadecimal, `010`
//! octal.
//!
//! | | |
//! |-|-|
//! | Source | OpenSM, `doc/QoS_management_in_OpenSM.txt` section 7; `opensm/osm_qos.c` and `opensm/osm_subnet.c` |
//! | Work | O(length of the file) |
//! | Units | weights of 64 bytes; `high_limit` of 4096 bytes |

mod c;
mod effective;
mod faults;
mod import;
mod lint;
mod listed;
mod parse;
mod rules;
mod value;

pub use effective::{Effective, operational};
pub use import::{requirements, scenario};
pub use lint::{Finding, Port, Severity, lint};
pub use parse::{Kind, Lane, MaxOpVls, Options, Other, Pair, Setting, Value, parse};
pub use value::Fault;

/// Entries that an arbitration table has at most.
pub const MAX_PAIRS: usize = 64;
/// Bytes of a unit of weight.
pub const WEIGHT_UNIT: u64 = 64;
/// The largest weight.
pub const MAX_WEIGHT: u64 = 255;
/// The lane of management, which in a map means that a service level is dropped.
pub const DROP: u32 = 15;
