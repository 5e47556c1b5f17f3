//! Closed forms of the port: what a discipline does to everybody's waiting time, without simulation.
//!
//! [`theory`] says which form belongs to a discipline, in which model, or why there is none. The forms
//! themselves are [`Port`] (messages served packet by packet) and [`Mg1`] (messages served whole). A load
//! of 1 or more has no means: it is an error that says so, never a number.
//!
//! | Discipline | packets | whole messages |
//! |-|-|-|
//! | `fifo`, `fcfs`, `alpha:0` | [`Port::fifo`] | [`Policy::Fcfs`] |
//! | `sf`, `srpt`, `alpha:inf` | [`Port::shortest_first`] | [`Policy::Srpt`] |
//! | `rr` | [`Port::round_robin`] | |
//! | `rr_head` | [`Port::round_robin_head`] | |
//! | `ps`, `sjf`, `psjf`, `las` | | [`Policy`] |
//!
//! [`Mg1`]: weir_theory::Mg1
//! [`Policy`]: weir_theory::Policy
//! [`Policy::Fcfs`]: weir_theory::Policy::Fcfs
//! [`Policy::Srpt`]: weir_theory::Policy::Srpt

mod closed_form;
mod port;
mod round_robin;

pub use closed_form::{ClassTheory, ClosedForm, Service, theory};
pub use port::{Latencies, LengthLatency, Port};
