//! Plans of nodes: which process with a need is promised it on which node.
//!
//! Every node promises as much of each epoch as the system leaves. Two questions are answered: how few nodes suffice
//! (bin packing), and, where their number is given, how evenly they can be loaded (scheduling on identical machines).
//! Both are hard, so each answer comes with a bound that no placement is below, and says whether it is known to be the
//! best.
//!
//! | part | file |
//! |---|---|
//! | what is asked | [`request`] |
//! | placements by a rule | `fit` |
//! | bounds | [`bound`] |
//! | the exact search | [`search`] |
//! | the plan, and why somebody has no place | [`plan`], `why` |
//! | the scenario in which it is simulated | [`scenario`] |
//!
//! | | |
//! |-|-|
//! | Source | R. D. Rettberg, BBN Report 5285, 1983, which leaves the scheduling of several nodes open; the sources of the methods stand in their files |
//! | Work | O(processes × nodes), and at most [`search::MAX_STEPS`] steps for each question |
//! | Units | nanoseconds of an epoch |

pub mod bound;
mod fit;
pub mod plan;
mod problem;
pub mod request;
pub mod scenario;
pub mod search;
mod why;
