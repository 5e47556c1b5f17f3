//! What a spec stands for where it is written, so that one name may be that of two disciplines.
//!
//! `rr` is a message discipline, and a dispatcher. Which of them is meant follows from the place: in
//! `per_server(rr,discipline=rr)` the first is a dispatcher and the second a message discipline.

use crate::info::Info;
use crate::registry::{DISPATCHER, POOL, SEED, all, unknown};
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
    /// What the value of a parameter stands for, where it is a discipline.
    #[must_use]
    pub fn of_parameter(name: &str) -> Self {
        match name {
            "dispatcher" => Self::Dispatcher,
            "pool" => Self::Pool,
            _ => Self::Discipline,
        }
    }

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

    /// What a spec gives for a parameter, by key or by position; nested specs are not looked into.
    #[must_use]
    pub fn argument<'s>(self, spec: &'s Spec, parameter: &str) -> Option<&'s Spec> {
        let place = self.place_of(spec, parameter)?;
        let is_it = |(at, argument): &(usize, &Argument)| match &argument.key {
            Some(key) => key == parameter,
            None => *at == place,
        };
        spec.arguments.iter().enumerate().find(is_it).map(|(_, argument)| &argument.value)
    }

    /// The spec with this value for a parameter, if its discipline has the parameter and is not given it.
    #[must_use]
    pub fn with_argument(self, spec: &Spec, parameter: &str, value: &str) -> Spec {
        let mut given = spec.clone();
        if self.place_of(spec, parameter).is_some() && self.argument(spec, parameter).is_none() {
            let value = Spec { name: value.to_owned(), arguments: Vec::new() };
            given.arguments.push(Argument { key: Some(parameter.to_owned()), value });
        }
        given
    }

    /// The spec with a `seed` for every discipline in it, nested ones too, that has this parameter and is not
    /// given it. Seeds are drawn in the order in which the disciplines are written.
    pub fn with_seeds(self, spec: &Spec, draw: &mut dyn FnMut() -> u64) -> Spec {
        let lacks_seed = self.place_of(spec, SEED).is_some() && self.argument(spec, SEED).is_none();
        let mut seeded =
            if lacks_seed { self.with_argument(spec, SEED, &draw().to_string()) } else { spec.clone() };
        for (place, written) in spec.arguments.iter().enumerate() {
            let inner = self.of_argument(spec, place);
            seeded.arguments[place].value = inner.with_seeds(&written.value, draw);
        }
        seeded
    }

    /// The spec with `number` added to every seed that is given in it, so that copies of one discipline do not draw alike.
    #[must_use]
    pub(crate) fn with_varied_seeds(self, spec: &Spec, number: u64) -> Spec {
        let mut varied = spec.clone();
        let seed = self.argument(spec, SEED);
        for (place, written) in spec.arguments.iter().enumerate() {
            let value = &mut varied.arguments[place].value;
            match written.value.name.parse::<u64>() {
                Ok(given) if seed.is_some_and(|seed| core::ptr::eq(seed, &written.value)) => {
                    value.name = given.wrapping_add(number).to_string();
                }
                _ => *value = self.of_argument(spec, place).with_varied_seeds(&written.value, number),
            }
        }
        varied
    }

    /// What the argument at `place` stands for.
    fn of_argument(self, spec: &Spec, place: usize) -> Self {
        let by_position = || self.info(&spec.name).ok().and_then(|info| info.parameters.get(place));
        match &spec.arguments[place].key {
            Some(key) => Self::of_parameter(key),
            None => by_position().map_or(Self::Discipline, |parameter| Self::of_parameter(parameter.name)),
        }
    }

    /// The place of a parameter among those of the discipline that the spec names, if it has it.
    fn place_of(self, spec: &Spec, parameter: &str) -> Option<usize> {
        let info = self.known().find(|info| info.name == spec.name)?;
        info.parameters.iter().position(|other| other.name == parameter)
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
        let of = |role: Role, parameter| role.argument(&spec, parameter).map(ToString::to_string);
        assert_eq!(of(Role::Discipline, "quantum").as_deref(), Some("2"));
        assert_eq!(of(Role::Pool, "quantum"), None);
        assert_eq!(of(Role::Pool, "cores").as_deref(), Some("2"));
        assert_eq!(Role::Pool.with_argument(&spec, "strict", "abort").to_string(), "rr:2,strict=abort");
        assert_eq!(Role::Discipline.with_argument(&spec, "strict", "abort").to_string(), "rr:2");
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
