//! Plans of arbitration tables: from what classes of traffic need to a table that gives it to them, the bounds that
//! prove it, and the files and commands that program it. And plans of nodes: which process is promised its need where.
//!
//! Sans-IO: text comes in, text and plans go out. A request is read by [`Request::from_toml`], and one for a table
//! planned by [`plan()`]; [`emit()`] writes a plan for a target and says what the target cannot keep. [`nodes`] places
//! processes on nodes. [`opensm`] reads the QoS options of the subnet manager OpenSM and finds what is wrong with them.
//!
//! ```
//! use weir_plan::{Form, Requirements, emit, plan};
//!
//! let text = r#"
//! weir = 1
//! [table]
//! entries = 8
//! mtu = "2048B"
//! k = 2
//! w = 4
//! [link]
//! rate = "10Gbit"
//! coding = "8b/10b"
//! [[class]]
//! name = "control"
//! share = "25%"
//! latency = "20us"
//! [[class]]
//! name = "storage"
//! share = "50%"
//! "#;
//! let asked = Requirements::from_toml(text, "plan.toml")?;
//! let plan = plan(&asked);
//! assert_eq!(plan.classes[0].distance, 4);
//! let options = emit(&plan, Form::Opensm, &asked.target).expect("it fits");
//! assert!(options.text.contains("\nqos_vlarb_low 0:64,0:0,1:128,0:0,0:64,0:0,1:128,0:0\n"));
//! # Ok::<(), weir_plan::PlanError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod admission;
pub mod bound;
pub mod emit;
pub mod nodes;
pub mod opensm;
pub mod placement;
pub mod plan;
pub mod quantity;
mod read;
mod refusal;
pub mod request;
pub mod requirements;
mod serial;
pub mod shape;
mod solve;
pub mod target;
mod weights;
mod written;

pub use bound::Scheduler;
pub use emit::{Emission, EmitError, emit};
pub use nodes::plan::{NodePlan, place};
pub use nodes::request::NodeRequest;
pub use nodes::scenario::NodeForm;
pub use plan::{Plan, plan};
pub use quantity::Share;
pub use request::Request;
pub use requirements::Requirements;
pub use shape::{Coding, Link, Shape};
pub use target::{Form, Prefix, Target};
pub use weir_document::Refused as PlanError;
