//! The canonical form of a spec: one text for one discipline.
//!
//! `alpha:10`, `alpha:10.0` and `alpha(alpha=1e1)` name the same discipline. In canonical form arguments
//! stand in the order of the parameter table, the first parameter without its key and all others with it; a
//! value that is the default is left out, but for a seed, which a simulation draws where none is given;
//! numbers, and those of a list (`4/2/1`), are in their shortest form; what is wrapped is canonical too.
//! Quantities with a unit stay as they are written.

use crate::info::{Arguments, Parameter, Takes};
use crate::pool::per_server;
use crate::role::Role;
use crate::spec::{Argument, Spec, SpecError};

/// The canonical form of `spec`. Values are not checked against their bounds, which is done where the
/// discipline is built.
///
/// # Errors
/// A name is not registered, or an argument names no parameter or one that is given already.
pub fn canonical(spec: &Spec) -> Result<Spec, SpecError> {
    canonical_as(Role::Discipline, spec)
}

/// The canonical form of a spec that stands for a pool discipline, or for what else `role` says. A dispatcher over
/// queues that are first in, first out is the dispatcher itself.
///
/// # Errors
/// As [`canonical`].
pub fn canonical_as(role: Role, spec: &Spec) -> Result<Spec, SpecError> {
    let info = role.info(&spec.name)?;
    let mut arguments = Vec::new();
    for (parameter, written) in Arguments::new(spec, info)?.given() {
        let value = canonical_value(parameter, written)?;
        let is_default = parameter.default.map(number_or_text) == Some(value.to_string());
        if is_default && !matches!(parameter.takes, Takes::Seed) {
            continue;
        }
        let is_first = info.parameters.first().is_some_and(|first| first.name == parameter.name);
        arguments.push(Argument { key: (!is_first).then(|| parameter.name.to_owned()), value });
    }
    if role == Role::Pool && spec.name == per_server::INFO.name && arguments.len() == 1 {
        return Ok(arguments.remove(0).value);
    }
    Ok(Spec { name: spec.name.clone(), arguments })
}

fn canonical_value(parameter: &Parameter, written: &Spec) -> Result<Spec, SpecError> {
    if let Takes::Discipline(role) = parameter.takes {
        return canonical_as(role, written);
    }
    let arguments = written.arguments.clone();
    Ok(Spec { name: number_or_text(&written.name), arguments })
}

/// Numbers in their shortest form, anything else as it stands.
fn number_or_text(text: &str) -> String {
    let parts: Vec<String> = text.split('/').map(number).collect();
    parts.join("/")
}

fn number(text: &str) -> String {
    // Whole numbers by themselves: those above 2^53 are no floating-point numbers.
    match (text.parse::<u64>(), text.parse::<f64>()) {
        (Ok(whole), _) => whole.to_string(),
        // Adding zero takes the sign from a negative zero.
        // Digits of a number that is too large for one stay as they are, to be refused.
        (_, Ok(real)) if real.is_finite() || !text.contains(|each: char| each.is_ascii_digit()) => {
            (real + 0.0).to_string()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        let spec: Spec = text.parse().expect(text);
        canonical(&spec).expect(text).to_string()
    }

    #[test]
    fn one_discipline_has_one_text() {
        for (written, expected) in [
            ("fifo", "fifo"),
            ("alpha:10", "alpha:10"),
            ("alpha:10.0", "alpha:10"),
            ("alpha(alpha=1e1)", "alpha:10"),
            ("alpha:+010", "alpha:10"),
            ("alpha:-0", "alpha:0"),
            ("alpha:.50", "alpha:0.5"),
            ("alpha:inf", "alpha:inf"),
            ("alpha:Infinity", "alpha:inf"),
            ("alpha:1e400", "alpha:1e400"),
            ("alpha:10,update=decrement,classes=none", "alpha:10"),
            ("sfq:hash=keyed,seed=0", "sfq:seed=0"),
            ("alpha(classes=1.0/inf,alpha=3,update=recalculate)", "alpha:3,update=recalculate,classes=1/inf"),
            ("rr:1", "rr"),
            ("rr:quantum=5", "rr:5"),
            ("rr:18446744073709551615", "rr:18446744073709551615"),
            ("alpha_tracking:low=1.0,high=50", "alpha_tracking:high=50"),
            ("outstanding(limit=04,discipline=alpha(alpha=2.0))", "outstanding(alpha:2,limit=4)"),
            (
                "outstanding(in_order(alpha(3.0,update=recalculate)),2)",
                "outstanding(in_order(alpha(3,update=recalculate)),limit=2)",
            ),
            ("drr:weights=4/02/1,quantum=2048B", "drr:weights=4/2/1"),
            ("fq(fifo,depth=100pkt)", "fq:depth=100pkt"),
            ("fq(discipline=codel:target=5ms)", "fq:codel"),
            (
                "priority(last=fq_codel(flows=064),discipline=codel:9ms)",
                "priority(codel:9ms,last=fq_codel:flows=64)",
            ),
            ("tbf(drr:4096B,rate=10Mbit,burst=15140B)", "tbf(drr:4096B,rate=10Mbit,burst=15140B)"),
        ] {
            assert_eq!(of(written), expected, "{written}");
            assert_eq!(of(expected), expected);
        }
    }

    #[test]
    fn a_pool_has_one_text() {
        for (written, expected) in [
            ("rr", "rr"),
            ("per_server:rr", "rr"),
            ("per_server(rr(cores=3),discipline=fifo)", "rr:3"),
            ("per_server(rr:all,discipline=rr:1)", "per_server:rr,discipline=rr"),
            ("rr:available=0/01/none,strict=no", "rr:available=0/1/none"),
        ] {
            let spec: Spec = written.parse().expect(written);
            assert_eq!(canonical_as(Role::Pool, &spec).expect(written).to_string(), expected, "{written}");
        }
    }

    #[test]
    fn arguments_that_fit_no_parameter_are_refused() {
        for text in ["fofo", "sf:3", "alpha(1,alpha=2)", "in_order(alpah:10)", "outstanding(sf,limt=1)"] {
            assert!(canonical(&text.parse().expect(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn the_canonical_form_of_every_example_is_read_as_itself() {
        for info in crate::registry::all() {
            let once = of(info.example);
            assert_eq!(of(&once), once);
        }
    }
}
