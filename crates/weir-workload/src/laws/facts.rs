//! What is to be said of each law: parameters, bounds, formulas, sources.
//!
//! The one list of the laws that documents may name; explanations and listings are made of it.

use super::{ContinuousLaw, Empirical, LawError, PhaseType};

/// A parameter of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterFacts {
    /// Its key.
    pub name: &'static str,
    /// Its values.
    pub bounds: &'static str,
    /// What it is.
    pub meaning: &'static str,
}

/// What is to be said of a law.
#[derive(Clone, Copy, Debug)]
pub struct LawFacts {
    /// The key by which documents name it.
    pub name: &'static str,
    /// The name of textbooks.
    pub title: &'static str,
    /// What it is, and of what it is a model.
    pub what: &'static str,
    /// The parameters, and which of them go together.
    pub parameters: &'static [ParameterFacts],
    /// The mean, as a formula.
    pub mean: &'static str,
    /// The squared coefficient of variation, as a formula.
    pub scv: &'static str,
    /// The skewness, as a formula.
    pub skewness: &'static str,
    /// An example as documents write it, in milliseconds.
    pub written: &'static str,
    /// The law of the example, in milliseconds.
    pub example: fn() -> Result<ContinuousLaw, LawError>,
    /// Where it is described.
    pub source: &'static str,
}

const fn of(name: &'static str, bounds: &'static str, meaning: &'static str) -> ParameterFacts {
    ParameterFacts { name, bounds, meaning }
}

const MEAN: ParameterFacts = of("mean", "a time of at least 1ns", "the mean");

/// The laws, in the order of the listings.
pub const LAWS: &[LawFacts] = &[
    LawFacts {
        name: "exponential",
        title: "Exponential law",
        what: "the time to an event that is equally likely at every moment; the one law without memory",
        parameters: &[MEAN],
        mean: "mean",
        scv: "1",
        skewness: "2",
        written: r#"{ exponential = "2ms" }"#,
        example: || ContinuousLaw::exponential(2.0),
        source: "Johnson, Kotz, Balakrishnan 1, chapter 19; Law, section 6.2.2",
    },
    LawFacts {
        name: "uniform",
        title: "Uniform law",
        what: "evenly between two bounds; a first model where nothing else is known",
        parameters: &[of("low, high", "two times in a list, low at most high", "the bounds")],
        mean: "(low + high) / 2",
        scv: "(high - low)^2 / (3 (high + low)^2)",
        skewness: "0",
        written: r#"{ uniform = ["1ms", "3ms"] }"#,
        example: || ContinuousLaw::uniform(1.0, 3.0),
        source: "Johnson, Kotz, Balakrishnan 2, chapter 26; Law, section 6.2.2",
    },
    LawFacts {
        name: "lognormal",
        title: "Lognormal law",
        what: "its logarithm is normal; the product of many factors, common for services and sizes of files",
        parameters: &[
            of("mean", "a time of at least 1ns; with cv", "the mean"),
            of("cv", "0.001 to 100; with mean", "the coefficient of variation"),
            of("median", "a time of at least 1ns; with p99", "the median"),
            of("p99", "above median, at most 1000 times as long", "the 99th percentile"),
        ],
        mean: "exp(mu + sigma^2/2)",
        scv: "exp(sigma^2) - 1",
        skewness: "(exp(sigma^2) + 2) sqrt(exp(sigma^2) - 1)",
        written: r#"{ lognormal = { mean = "2ms", cv = 1.5 } }"#,
        example: || ContinuousLaw::lognormal(2.0, 1.5),
        source: "Johnson, Kotz, Balakrishnan 1, chapter 14; Law, section 6.2.2",
    },
    LawFacts {
        name: "gamma",
        title: "Gamma law",
        what: "between exponential and constant for shapes above 1, more variable than exponential below",
        parameters: &[
            of("mean", "a time of at least 1ns; with cv", "the mean"),
            of("cv", "0.001 to 4.47; with mean", "the coefficient of variation"),
            of("shape", "0.05 to 1,000,000; with scale", "the shape k"),
            of("scale", "a time of at least 1ns; with shape", "the scale theta"),
        ],
        mean: "k theta",
        scv: "1 / k",
        skewness: "2 / sqrt(k)",
        written: r#"{ gamma = { mean = "2ms", cv = 0.5 } }"#,
        example: || ContinuousLaw::gamma_of_mean(2.0, 0.5),
        source: "Johnson, Kotz, Balakrishnan 1, chapter 17; Law, section 6.2.2",
    },
    LawFacts {
        name: "erlang",
        title: "Erlang law",
        what: "the sum of k exponential stages; less variable than exponential",
        parameters: &[of("stages", "1 to 1,000", "the number of stages k"), MEAN],
        mean: "mean",
        scv: "1 / k",
        skewness: "2 / sqrt(k)",
        written: r#"{ erlang = { stages = 4, mean = "2ms" } }"#,
        example: || ContinuousLaw::erlang(4, 2.0),
        source: "Law, section 6.2.2; Kleinrock, Queueing Systems 1, section 4.2",
    },
    LawFacts {
        name: "weibull",
        title: "Weibull law",
        what: "a power of an exponential time; times to failure, and with shapes below 1 long tails",
        parameters: &[
            of("shape", "0.05 to 1,000,000", "the shape k; 1 is exponential"),
            of("mean", "a time of at least 1ns; or scale", "the mean"),
            of("scale", "a time of at least 1ns; or mean", "the scale lambda: 63 % are below it"),
        ],
        mean: "lambda Gamma(1 + 1/k)",
        scv: "Gamma(1 + 2/k) / Gamma(1 + 1/k)^2 - 1",
        skewness: "by E[X^j] = lambda^j Gamma(1 + j/k)",
        written: r#"{ weibull = { shape = 0.7, mean = "2ms" } }"#,
        example: || ContinuousLaw::weibull_of_mean(0.7, 2.0),
        source: "Johnson, Kotz, Balakrishnan 1, chapter 21; Law, section 6.2.2",
    },
    LawFacts {
        name: "pareto",
        title: "Pareto law",
        what: "a power law: heavy tail, infinite mean up to alpha 1 and infinite variance up to alpha 2",
        parameters: &[
            of("alpha", "above 1, at most 1,000,000", "the tail index"),
            of("mean", "a time of at least 1ns; or minimum", "the mean"),
            of("minimum", "a time of at least 1ns; or mean", "the smallest value"),
        ],
        mean: "alpha minimum / (alpha - 1); infinite for alpha <= 1",
        scv: "1 / (alpha (alpha - 2)); infinite for alpha <= 2",
        skewness: "2 (1 + alpha) / (alpha - 3) sqrt((alpha - 2) / alpha); infinite for alpha <= 3",
        written: r#"{ pareto = { alpha = 2.5, mean = "2ms" } }"#,
        example: || ContinuousLaw::pareto_of_mean(2.5, 2.0),
        source: "Johnson, Kotz, Balakrishnan 1, chapter 20",
    },
    LawFacts {
        name: "bounded_pareto",
        title: "Bounded Pareto law",
        what: "a power law between two bounds; sizes of files and of tasks",
        parameters: &[
            of("alpha", "0.05 to 100", "the tail index"),
            of("low", "a time of at least 1ns", "the smallest value"),
            of("high", "above low", "the largest value"),
        ],
        mean: "E[X^j] = alpha low^j (1 - r^(alpha - j)) / ((alpha - j) (1 - r^alpha)), r = low/high, j = 1",
        scv: "E[X^2] / E[X]^2 - 1",
        skewness: "by the same E[X^j]",
        written: r#"{ bounded_pareto = { alpha = 1.1, low = "0.5ms", high = "1s" } }"#,
        example: || ContinuousLaw::bounded_pareto(1.1, 0.5, 1000.0),
        source: "Harchol-Balter, Performance Modeling and Design of Computer Systems, section 20.3",
    },
    LawFacts {
        name: "hyperexponential",
        title: "Hyperexponential law",
        what: "one of several exponential laws, by probability; more variable than exponential",
        parameters: &[
            of("mean", "a time of at least 1ns; with cv", "the mean"),
            of("cv", "1 to 100; with mean", "the coefficient of variation; two branches of equal weight p m"),
            of("branches", "1 to 64 pairs of mean and probability", "the branches, in place of mean and cv"),
        ],
        mean: "sum p m",
        scv: "2 sum p m^2 / mean^2 - 1",
        skewness: "by E[X^j] = j! sum p m^j",
        written: r#"{ hyperexponential = { mean = "2ms", cv = 3.0 } }"#,
        example: || ContinuousLaw::hyperexponential(2.0, 3.0),
        source: "Kleinrock, Queueing Systems 1, section 4.7; Tijms, A First Course in Stochastic Models, appendix B",
    },
    LawFacts {
        name: "coxian",
        title: "Coxian law",
        what: "exponential phases one after the other, each gone on from with a probability",
        parameters: &[
            of("means", "a list of 1 to 64 times", "the mean of each phase"),
            of("go_on", "probabilities, one fewer than means", "the probability to go on from each phase"),
        ],
        mean: "sum of means, each by the probability to come there",
        scv: "of the phase type",
        skewness: "of the phase type",
        written: r#"{ coxian = { means = ["1ms", "4ms"], go_on = [0.25] } }"#,
        example: || PhaseType::coxian(&[1.0, 4.0], &[0.25]).map(ContinuousLaw::phase_type),
        source: "Cox, Proc. Cambridge Phil. Soc. 51 (1955), 313",
    },
    LawFacts {
        name: "phase_type",
        title: "Phase-type law",
        what: "the time until a Markov chain of exponential phases ends; comes near every law",
        parameters: &[
            of("initial", "probabilities of 1 to 64 phases, which sum to 1", "where it begins: a"),
            of("means", "a time for each phase", "the mean stay"),
            of(
                "next",
                "for each phase a list of probabilities",
                "where it goes on; what is left of 1 ends it",
            ),
        ],
        mean: "a M 1, M = (-T)^-1, T the matrix of rates",
        scv: "2 a M^2 1 / mean^2 - 1",
        skewness: "by E[X^j] = j! a M^j 1",
        written: r#"{ phase_type = { initial = [1.0, 0.0], means = ["1ms", "2ms"], next = [[0.0, 0.5], [0.5, 0.0]] } }"#,
        example: || {
            PhaseType::new(&[1.0, 0.0], &[1.0, 2.0], &[vec![0.0, 0.5], vec![0.5, 0.0]])
                .map(ContinuousLaw::phase_type)
        },
        source: "Neuts, Matrix-Geometric Solutions in Stochastic Models, chapter 2",
    },
    LawFacts {
        name: "empirical",
        title: "Empirical law",
        what: "points of a measured distribution function, with straight lines between them",
        parameters: &[of(
            "points",
            "a list of pairs: a time, and the probability of at most as much; the last is 1",
            "the distribution function",
        )],
        mean: "sum over stretches of p (a + b) / 2",
        scv: "E[X^2] / mean^2 - 1, E[X^2] = sum p (a^2 + a b + b^2) / 3",
        skewness: "by E[X^3] = sum p (a + b) (a^2 + b^2) / 4",
        written: r#"{ empirical = [["1ms", 0.0], ["2ms", 0.5], ["10ms", 1.0]] }"#,
        example: || Empirical::new(&[(1.0, 0.0), (2.0, 0.5), (10.0, 1.0)]).map(ContinuousLaw::empirical),
        source: "Law, section 6.2.4",
    },
    LawFacts {
        name: "mixture",
        title: "Mixture",
        what: "one of several times or laws, by probability",
        parameters: &[of("parts", "1 to 64 pairs of a time or a law and its probability", "the parts")],
        mean: "sum p E[X of the part]",
        scv: "sum p E[X^2 of the part] / mean^2 - 1",
        skewness: "by the third moments of the parts",
        written: r#"{ mixture = [["1ms", 0.9], [{ lognormal = { mean = "11ms", cv = 1.0 } }, 0.1]] }"#,
        example: || {
            let parts = (ContinuousLaw::deterministic(1.0)?, ContinuousLaw::lognormal(11.0, 1.0)?);
            ContinuousLaw::mixture(vec![(0.9, parts.0), (0.1, parts.1)])
        },
        source: "Law, section 8.2.2",
    },
];

/// What is to be said of the law of this name.
#[must_use]
pub fn facts(name: &str) -> Option<&'static LawFacts> {
    LAWS.iter().find(|law| law.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_law_of_its_name_with_a_mean() {
        for law in LAWS {
            let example = (law.example)().unwrap_or_else(|error| panic!("{}: {error}", law.name));
            let name = if law.name == "coxian" { "phase_type" } else { law.name };
            assert_eq!(example.name(), name);
            assert!(example.mean().is_some_and(|mean| (1.0..4.0).contains(&mean)), "{name}");
            assert!(law.written.contains(law.name), "{name}");
        }
        assert!(facts("lognormal").is_some() && facts("normal").is_none());
    }
}
