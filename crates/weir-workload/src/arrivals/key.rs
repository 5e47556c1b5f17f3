//! Keys of documents that take a process of arrivals: those that every model has, and those of a model alone.
//!
//! Source: this project's own.

/// An enumeration of the processes that every model takes, with a model's own after them.
///
/// One with processes of its own tells them from the others by `shared`.
#[macro_export]
macro_rules! arrival_processes {
    ($(#[$meta:meta])* pub enum $name:ident { $($own:tt)+ }) => {
        $crate::arrival_processes!(@all $(#[$meta])* $name $($own)+);

        impl $name {
            /// The process, where it is one that every model takes.
            #[must_use]
            pub fn shared(&self) -> Option<$crate::document::ArrivalProcess> {
                Some(match self {
                    Self::Poisson => $crate::document::ArrivalProcess::Poisson,
                    Self::Deterministic => $crate::document::ArrivalProcess::Deterministic,
                    Self::Bursty(bursty) => $crate::document::ArrivalProcess::Bursty(bursty.clone()),
                    Self::Renewal(law) => $crate::document::ArrivalProcess::Renewal(law.clone()),
                    Self::Map(table) => $crate::document::ArrivalProcess::Map(table.clone()),
                    Self::Mmpp(table) => $crate::document::ArrivalProcess::Mmpp(table.clone()),
                    Self::Batches(table) => $crate::document::ArrivalProcess::Batches(table.clone()),
                    Self::Superposition(parts) => $crate::document::ArrivalProcess::Superposition(parts.clone()),
                    _ => return None,
                })
            }
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident { }) => {
        $crate::arrival_processes!(@all $(#[$meta])* $name);
    };
    (@all $(#[$meta:meta])* $name:ident $($own:tt)*) => {
        $(#[$meta])*
        pub enum $name {
            /// Exponential times between arrivals.
            Poisson,
            /// Equal times between arrivals.
            Deterministic,
            /// A Poisson process whose rate switches between two values (two-state Markov).
            Bursty($crate::document::Bursty),
            /// Independent times between arrivals, of one law, such as `{ renewal = { lognormal = { cv = 3.0 } } }`.
            Renewal($crate::arrivals::renewal::RenewalLaw),
            /// A Markovian arrival process: `D0`, rates of changes of phase without an arrival, and `D1`, of those with one.
            Map(::weir_document::Located<$crate::arrivals::markov::MapTable>),
            /// A Poisson process whose rate is that of the state of a chain (MMPP), such as
            /// `{ mmpp = { changes = [[-0.1, 0.1], [0.3, -0.3]], rates = [1.0, 20.0] } }`.
            Mmpp(::weir_document::Located<$crate::arrivals::markov::MmppTable>),
            /// Several arrivals at each instant of a process, such as `{ batches = { size = { geometric = 4.0 } } }`.
            Batches(::weir_document::Located<$crate::arrivals::batches::BatchTable>),
            /// Those of several processes together, such as
            /// `{ superposition = [{ share = 0.9, arrivals = "poisson" }, { share = 0.1, arrivals = "deterministic" }] }`.
            Superposition(::weir_document::Located<Vec<$crate::arrivals::superposed::PartTable>>),
            $($own)*
        }
    };
}
