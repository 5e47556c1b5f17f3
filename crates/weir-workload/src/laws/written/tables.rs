//! The tables of laws, one field a key, of times unless another quantity is named.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_document::Located;
use weir_document::quantity::Time;

/// Lognormal, by `mean` and `cv`, or by `median` and `p99`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{Q}Lognormal")]
pub struct Lognormal<Q = Time> {
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Located<Q>>,
    /// The coefficient of variation, standard deviation over mean, from 0.001 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv: Option<Located<f64>>,
    /// The median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<Located<Q>>,
    /// The 99th percentile, above the median and at most 1000 times as long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Located<Q>>,
}

/// Gamma, by `mean` and `cv`, or by `shape` and `scale`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{Q}Gamma")]
pub struct Gamma<Q = Time> {
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Located<Q>>,
    /// The coefficient of variation, from 0.001 to 4.47.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv: Option<Located<f64>>,
    /// The shape, from 0.05 to 1,000,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Located<f64>>,
    /// The scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Located<Q>>,
}

/// Erlang: the sum of exponential stages.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{Q}Erlang")]
pub struct Erlang<Q = Time> {
    /// How many stages, from 1 to 1,000.
    pub stages: Located<u64>,
    /// The mean of their sum.
    pub mean: Located<Q>,
}

/// Weibull, by `shape` and one of `mean` and `scale`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{Q}Weibull")]
pub struct Weibull<Q = Time> {
    /// The shape, from 0.05 to 1,000,000; below 1 the tail is longer than that of the exponential law.
    pub shape: Located<f64>,
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Located<Q>>,
    /// The scale: 63 % are below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Located<Q>>,
}

/// Pareto, by `alpha` and one of `mean` and `minimum`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{Q}Pareto")]
pub struct Pareto<Q = Time> {
    /// The tail index, above 1; up to 2 the variance is infinite.
    pub alpha: Located<f64>,
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Located<Q>>,
    /// The smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Located<Q>>,
}

/// Bounded Pareto: the Pareto law between two bounds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{Q}BoundedPareto")]
pub struct BoundedPareto<Q = Time> {
    /// The tail index, from 0.05 to 100.
    pub alpha: Located<f64>,
    /// The smallest value.
    pub low: Located<Q>,
    /// The largest value.
    pub high: Located<Q>,
}

/// Hyperexponential, by `mean` and `cv`, with two branches that bring half of the mean each; or by its `branches`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{Q}Hyperexponential")]
pub struct Hyperexponential<Q = Time> {
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Located<Q>>,
    /// The coefficient of variation, from 1 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv: Option<Located<f64>>,
    /// The mean of each branch with its probability, such as `[["1ms", 0.9], ["20ms", 0.1]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branches: Option<Vec<(Located<Q>, Located<f64>)>>,
}

/// Coxian: exponential phases one after the other, each gone on from with a probability.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{Q}Coxian")]
pub struct Coxian<Q = Time> {
    /// The mean of each phase, of 1 to 64.
    pub means: Vec<Located<Q>>,
    /// The probability to go on from each phase but the last.
    pub go_on: Vec<f64>,
}

/// Phase type: the time until a Markov chain ends.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{Q}Phases")]
pub struct Phases<Q = Time> {
    /// The probability to begin in each phase, of 1 to 64.
    pub initial: Vec<f64>,
    /// The mean stay in each phase.
    pub means: Vec<Located<Q>>,
    /// For each phase, the probabilities to go to each phase; with what they leave of 1 it ends.
    pub next: Vec<Vec<f64>>,
}
