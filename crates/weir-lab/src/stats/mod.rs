//! Statistics of a run: figures with honest intervals, or the reason why there is none.
//!
//! ```text
//! engine  --record-->  Batches     one a replication: counts and sums in windows of ticks
//!                        |  Pool       replications, in their order
//!                        v
//!                      Linearised  a mean, a difference, a ratio: its value and each batch's influence on it
//!                        |  estimate()
//!                        v
//!                      Measure     value, 95 % interval, standard error; or a reason
//!
//! engine  --record-->  Histogram   tails; merges; `tail::quantile` gives the interval
//! ```
//!
//! What is collected is whole numbers (counts, sums, buckets), so it does not depend on the order of
//! collecting; what is computed from them is computed in the order of the replications. A result is
//! therefore the same to the last bit for any number of threads.
//!
//! Units: a series is recorded in one unit chosen by the engine (nanoseconds for times, packets for queue
//! lengths), and every figure carries the unit of its series until [`Linearised::times`] or
//! [`Measure::times`] converts it.

pub mod areas;
pub mod batch;
pub mod bins;
pub mod estimate;
pub mod fairness;
pub mod figure;
pub mod histogram;
pub mod independence;
pub mod linear;
pub mod mser;
pub mod over_time;
pub mod overhead;
pub mod pool;
pub mod precision;
pub mod replications;
pub mod row;
pub mod run_length;
pub mod selection;
pub mod settled;
pub mod student;
pub mod tail;
pub mod testing;
pub mod times;
pub mod total;
pub mod window;
pub mod windows;

pub use areas::Areas;
pub use batch::Batches;
pub use bins::Bins;
pub use estimate::{Estimate, Measure, Method, Unavailable};
pub use histogram::{Histogram, Ranked};
pub use linear::Linearised;
pub use over_time::{DelayOverTime, OverTime};
pub use pool::Pool;
pub use precision::Target;
pub use run_length::RunLength;
pub use settled::Settled;
pub use tail::Tail;
pub use times::{FAR_QUANTILES, QUANTILES, Spread, Times};
pub use total::total;
