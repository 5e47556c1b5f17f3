//! A change of one interface, which holds until the next reload.

use weir_core::spec::Spec;
use weir_core::units::{Nanos, Rate};
use weir_document::quantity::{Clock, Speed, Time};
use weir_document::words;

use super::Router;
use super::check::{discipline, propagation_within, rate_within};

/// What changes at an interface; each part is checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The new rate; `Some(None)`: as fast as the device takes frames.
    pub rate: Option<Option<Rate>>,
    /// The new discipline.
    pub discipline: Option<Spec>,
    /// The new propagation delay.
    pub propagation: Option<Nanos>,
}

impl Change {
    /// Reads what is written of each part.
    ///
    /// # Errors
    /// What is wrong with which value, and what to write.
    pub fn read(rate: Option<&str>, spec: Option<&str>, propagation: Option<&str>) -> Result<Self, String> {
        if rate.is_none() && spec.is_none() && propagation.is_none() {
            return Err("nothing to set: give a rate, a discipline or a propagation".to_owned());
        }
        Ok(Self {
            rate: rate.map(read_rate).transpose()?,
            discipline: spec.map(read_discipline).transpose()?,
            propagation: propagation.map(read_propagation).transpose()?,
        })
    }

    /// The router with this change at the interface called `name`.
    ///
    /// # Errors
    /// There is no such interface, or its discipline would contradict what the router says of all.
    pub fn apply(&self, router: &Router, name: &str) -> Result<Router, String> {
        let mut changed = router.clone();
        let place = router.place_of(name)?;
        let interface = &mut changed.interfaces[place];
        if let Some(rate) = self.rate {
            interface.rate = rate;
        }
        if let Some(discipline) = &self.discipline {
            interface.discipline.clone_from(discipline);
        }
        if let Some(propagation) = self.propagation {
            interface.propagation = propagation;
        }
        match changed.contradiction_at(place) {
            Some((reason, remedy)) => {
                Err(refuse("discipline", &changed.interfaces[place].discipline.to_string(), &reason, &remedy))
            }
            None => Ok(changed),
        }
    }
}

impl Router {
    /// The place of the interface called `name`.
    ///
    /// # Errors
    /// There is none; the error names those that there are.
    pub fn place_of(&self, name: &str) -> Result<usize, String> {
        let present = || self.interfaces.iter().filter(|interface| !interface.is_removed);
        let names = present().map(|interface| interface.name.as_str());
        let place = self.interfaces.iter().position(|it| it.name == name && !it.is_removed);
        let shown = weir_document::shorten(name);
        place.ok_or_else(|| {
            format!("interface is `{shown}`, not one here: {}", words::known_names(name, names))
        })
    }
}

fn refuse(what: &str, text: &str, reason: &str, remedy: &str) -> String {
    format!("{what} is \"{}\", {reason}: {remedy}", weir_document::shorten(text))
}

fn read_rate(text: &str) -> Result<Option<Rate>, String> {
    const REMEDY: &str = "write a rate such as \"10Mbit\", or \"none\"";
    if text == "none" {
        return Ok(None);
    }
    let rate = Speed::parse(text).ok_or_else(|| refuse("rate", text, "not a rate with its unit", REMEDY))?;
    rate_within(rate.0).map(Some).map_err(|reason| refuse("rate", text, &reason, REMEDY))
}

fn read_discipline(text: &str) -> Result<Spec, String> {
    discipline(text).map_err(|(reason, remedy)| refuse("discipline", text, &reason, &remedy))
}

fn read_propagation(text: &str) -> Result<Nanos, String> {
    const REMEDY: &str = "write a span of time such as \"5ms\"";
    let time = Time::parse(text).filter(|time| time.clock == Clock::Seconds);
    let time = time.ok_or_else(|| refuse("propagation", text, "not a span of time with its unit", REMEDY))?;
    propagation_within(time.span).map_err(|reason| refuse("propagation", text, &reason, REMEDY))
}

#[cfg(test)]
mod tests {
    use weir_document::Source;

    use super::super::read;
    use super::*;

    #[test]
    fn what_is_set_is_read_and_applied() {
        let text =
            "weir = 1\n[router]\nname = \"r\"\n[[interface]]\nname = \"a\"\n[[interface]]\nname = \"b\"\n";
        let router = read(&Source { name: "r.toml", text }).expect("valid");
        let change = Change::read(Some("20Mbit"), Some("sfq"), Some("5ms")).expect("valid");
        let changed = change.apply(&router, "b").expect("an interface");
        let b = &changed.interfaces[1];
        assert_eq!((b.rate, b.propagation.get()), (Some(Rate::new(20_000_000)), 5_000_000));
        assert!(b.discipline.name == "sfq" && changed.interfaces[0] == router.interfaces[0]);
        let without =
            Change::read(Some("none"), None, None).expect("valid").apply(&changed, "b").expect("known");
        assert_eq!((without.interfaces[1].rate, without.interfaces[1].propagation.get()), (None, 5_000_000));
        let error = change.apply(&router, "c").expect_err("unknown");
        assert_eq!(error, "interface is `c`, not one here: did you mean `a`? choose one of `a`, `b`");
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_its_remedy() {
        for (rate, discipline, propagation, expected) in [
            (None, None, None, "nothing to set: give a rate, a discipline or a propagation"),
            (
                Some("10"),
                None,
                None,
                "rate is \"10\", not a rate with its unit: write a rate such as \"10Mbit\", or \"none\"",
            ),
            (
                Some("0Mbit"),
                None,
                None,
                "rate is \"0Mbit\", must be from 1kbit to 1000Gbit: write a rate such as \"10Mbit\", or \"none\"",
            ),
            (
                None,
                Some("sfw"),
                None,
                "discipline is \"sfw\", not a discipline of packets: did you mean `sfq`? ",
            ),
            (
                None,
                None,
                Some("5u"),
                "propagation is \"5u\", not a span of time with its unit: write a span of time such as \"5ms\"",
            ),
            (
                None,
                None,
                Some("11s"),
                "propagation is \"11s\", must be at most 10s: write a span of time such as \"5ms\"",
            ),
        ] {
            let error = Change::read(rate, discipline, propagation).expect_err("refused");
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
