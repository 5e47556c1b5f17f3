//! What a spec stands for where it is written, so that one name may be that of two disciplines.
//!
//! `rr` is a message discipline, and a dispatcher. Which of them is meant follows from the place: in
//! `per_server(rr,discipline=rr)` the first is a dispatcher and the second a message discipline.

use crate::info::{Info, Parameter, Takes};
use crate::registry::{DISPATCHER, POOL, all, unknown};
use crate::spec::{Argument, Spec, SpecError};

/// What a spec stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Any discipline; of two of one name, the one that is listed first.
    Discipline,
    /// A pool discipline, or a dispatcher that stands for one.
    Pool,
    /// A dispatcher.
    Dispatcher,
}

impl Role {
    /// What can stand here, in the order in which a name is looked up.
    pub fn known(self) -> impl Iterator<Item = &'static Info> {
        let (any, pools, dispatchers) = match self {
            Self::Discipline => (Some(all()), &[][..], &[][..]),
            Self::Pool => (None, POOL, DISPATCHER),
            Self::Dispatcher => (None, &[][..], DISPATCHER),
        };
        any.into_iter().flatten().chain(pools.iter().copied()).chain(dispatchers.iter().copied())
    }

    /// The description of what is called `name`.
    ///
    /// # Errors
    /// Nothing here has that name; the error names the nearest.
    pub fn info(self, name: &str) -> Result<&'static Info, SpecError> {
        let found = self.known().find(|info| info.name == name);
        found.ok_or_else(|| unknown(name, &self.known().collect::<Vec<_>>()))
    }

    /// The parameter of the discipline that the spec names of which this is said, if it has one.
    pub fn parameter(self, spec: &Spec, is_it: impl Fn(&Takes) -> bool) -> Option<&'static Parameter> {
        self.known().find(|info| info.name == spec.name)?.parameter(is_it)
    }

    /// What a spec gives for a parameter of its discipline, by key or by position; nested specs are not looked into.
    #[must_use]
    pub fn argument<'s>(self, spec: &'s Spec, parameter: &Parameter) -> Option<&'s Spec> {
        let is_it = |(place, _): &(usize, &Argument)| {
            self.parameter_at(spec, *place).is_some_and(|other| other.name == parameter.name)
        };
        spec.arguments.iter().enumerate().find(is_it).map(|(_, argument)| &argument.value)
    }

    /// The spec with this value for the parameter of which this is said, if its discipline has one and is not given it.
    #[must_use]
    pub fn with_argument(self, spec: &Spec, is_it: impl Fn(&Takes) -> bool, value: &str) -> Spec {
        let mut given = spec.clone();
        if let Some(parameter) = self.parameter(spec, is_it)
            && self.argument(spec, parameter).is_none()
        {
            given.arguments.push(Argument::new(parameter.name, value));
        }
        given
    }

    /// The spec with a seed for every discipline in it, nested ones too, that takes one and is not given it. Seeds are
    /// drawn in the order in which the disciplines are written.
    pub fn with_seeds(self, spec: &Spec, draw: &mut dyn FnMut() -> u64) -> Spec {
        let is_seed = |takes: &Takes| matches!(takes, Takes::Seed);
        let lacks_seed =
            self.parameter(spec, is_seed).is_some_and(|seed| self.argument(spec, seed).is_none());
        let mut seeded =
            if lacks_seed { self.with_argument(spec, is_seed, &draw().to_string()) } else { spec.clone() };
        for (place, written) in spec.arguments.iter().enumerate() {
            if let Some(inner) = self.role_at(spec, place) {
                seeded.arguments[place].value = inner.with_seeds(&written.value, draw);
            }
        }
        seeded
    }

    /// The spec with `number` added to every seed that is given in it, so that copies of one discipline do not draw alike.
    #[must_use]
    pub(crate) fn with_varied_seeds(self, spec: &Spec, number: u64) -> Spec {
        let mut varied = spec.clone();
        for (place, written) in spec.arguments.iter().enumerate() {
            let value = &mut varied.arguments[place].value;
            let is_seed = self.parameter_at(spec, place).is_some_and(|one| matches!(one.takes, Takes::Seed));
            match (self.role_at(spec, place), written.value.name.parse::<u64>()) {
                (Some(inner), _) => *value = inner.with_varied_seeds(&written.value, number),
                (None, Ok(given)) if is_seed => value.name = given.wrapping_add(number).to_string(),
                _ => {}
            }
        }
        varied
    }

    /// What the argument at `place` stands for, if it is a discipline, as it is taken to be where nothing is known of it.
    fn role_at(self, spec: &Spec, place: usize) -> Option<Self> {
        match self.parameter_at(spec, place).map(|parameter| &parameter.takes) {
            Some(Takes::Discipline(role)) => Some(*role),
            Some(_) => None,
            None => Some(Self::Discipline),
        }
    }

    /// The parameter that the argument at `place` sets, if its discipline has it.
    #[must_use]
    pub fn parameter_at(self, spec: &Spec, place: usize) -> Option<&'static Parameter> {
        let parameters = self.known().find(|info| info.name == spec.name)?.parameters;
        match &spec.arguments[place].key {
            Some(key) => parameters.iter().find(|parameter| parameter.name == key),
            None => parameters.get(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_where_it_stands() {
        let kind = |role: Role| role.info("rr").expect("a name of two").kind.name();
        assert_eq!(
            [Role::Discipline, Role::Pool, Role::Dispatcher].map(kind),
            ["message", "dispatcher", "dispatcher"]
        );
        assert!(Role::Pool.info("cfcfs").is_ok() && Role::Dispatcher.info("cfcfs").is_err());
        let error = Role::Pool.info("cfcsf").expect_err("no such pool").to_string();
        assert!(error.contains("did you mean `cfcfs`?"), "{error}");
    }

    #[test]
    fn a_parameter_is_that_of_the_role() {
        let spec: Spec = "rr:2".parse().expect("a spec");
        let is_turn = |takes: &Takes| matches!(takes, Takes::Turn);
        let of = |role: Role, parameter| role.argument(&spec, parameter).map(ToString::to_string);
        let turn = Role::Discipline.parameter(&spec, is_turn).expect("a quantum");
        assert_eq!(of(Role::Discipline, turn).as_deref(), Some("2"));
        assert!(Role::Pool.parameter(&spec, is_turn).is_none());
        assert_eq!(of(Role::Pool, turn), None);
        assert_eq!(of(Role::Pool, &crate::pool::rr::INFO.parameters[0]).as_deref(), Some("2"));
        let is_strict = |takes: &Takes| matches!(takes, Takes::Words(["no", "abort"]));
        assert_eq!(Role::Pool.with_argument(&spec, is_strict, "abort").to_string(), "rr:2,strict=abort");
        assert_eq!(Role::Discipline.with_argument(&spec, is_strict, "abort").to_string(), "rr:2");
    }

    /// Finding B3: `random` is a value of `ties` here, and the name of a dispatcher elsewhere.
    #[test]
    fn b3_a_value_that_is_the_name_of_a_discipline_gets_no_seed() {
        let seeded = |role: Role, text: &str| {
            let mut next = 40;
            let draw = &mut || {
                next += 1;
                next
            };
            role.with_seeds(&text.parse().expect(text), draw).to_string()
        };
        for role in [Role::Discipline, Role::Pool] {
            for (written, expected) in [
                ("jsq:ties=random", "jsq:ties=random,seed=41"),
                ("jsq:random", "jsq:random,seed=41"),
                ("least_work:ties=random", "least_work:ties=random,seed=41"),
                ("least_work:ties=random,seed=7", "least_work:ties=random,seed=7"),
                ("per_server(jsq:random,discipline=sf)", "per_server(jsq(random,seed=41),discipline=sf)"),
                ("work_stealing(jsq:ties=random)", "work_stealing(jsq(ties=random,seed=42),seed=41)"),
            ] {
                assert_eq!(seeded(role, written), expected);
            }
        }
    }

    #[test]
    fn copies_have_seeds_of_their_own() {
        let varied = |text: &str| Role::Pool.with_varied_seeds(&text.parse().expect(text), 3).to_string();
        let written =
            "racks(work_stealing(rr:2,cost=7ns,seed=5),racks=2,choices=2,seed=18446744073709551615)";
        let expected = "racks(work_stealing(rr:2,cost=7ns,seed=8),racks=2,choices=2,seed=2)";
        assert_eq!(varied(written), expected);
        assert_eq!(varied("racks(cfcfs,2,2,4)"), "racks:cfcfs,2,2,7");
    }
}
