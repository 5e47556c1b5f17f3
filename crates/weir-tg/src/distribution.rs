//! Distributions of the language, over gaps in seconds and lengths in bytes.

/// A distribution; its parameters are finite and not negative, bounds are in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(f64),
    /// Uniform from the first to the second.
    Uniform {
        /// The smallest value.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// Exponential; with bounds, drawn again until within them.
    Exponential {
        /// The mean, without bounds.
        mean: f64,
        /// The smallest and the largest value.
        bounds: Option<(f64, f64)>,
    },
    /// Two states, each with a mean number of draws (at least 1) and a distribution; begins in the first.
    Markov2(Box<[(f64, Distribution); 2]>),
}
