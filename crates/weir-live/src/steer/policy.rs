//! Policies: the dispatchers of weir-core that programs in the kernel can decide as.
//!
//! A policy is built for the pool that its processors are; the loop asks it for its rule, and tells it what was measured.
//!
//! | | |
//! |-|-|
//! | Source | `weir_core::pool` |
//! | Work | O(processors) to build one |
//! | Units | nanoseconds |

use weir_core::canonical::canonical_as;
use weir_core::item::Message;
use weir_core::pool::{Dispatcher, DispatcherVisitor, Site};
use weir_core::registry::{DISPATCHER, visit_dispatcher};
use weir_core::role::Role;
use weir_core::spec::{Spec, SpecError};
use weir_core::units::Nanos;
use weir_document::{shorten, words};

/// A dispatcher of requests.
pub type Policy = Box<dyn Dispatcher<Message<Nanos>> + Send>;

/// The shortest period of a policy: the loop is woken that often.
const LEAST_PERIOD: Nanos = Nanos::new(1_000_000);
/// What errors show as a policy that runs.
const EXAMPLE: &str = "dynamic:add=50us";

/// The policy that a spec string names, for this pool, and the spec in its canonical form.
///
/// # Errors
/// Why it is none that runs in the kernel, and what to write.
pub fn read(text: &str, site: &Site) -> Result<(Spec, Policy), (String, String)> {
    let parsed = || -> Result<(Spec, Policy), SpecError> {
        let spec: Spec = text.parse()?;
        let policy = boxed(&spec, site)?;
        Ok((canonical_as(Role::Dispatcher, &spec)?, policy))
    };
    let (spec, policy) = parsed().map_err(|error| words::discipline(error, "requests", EXAMPLE))?;
    if policy.rule().is_none() {
        return Err((format!("cannot run in the kernel as `{spec}`"), remedy(&spec, site)));
    }
    if let Some(period) = policy.period().filter(|period| *period < LEAST_PERIOD) {
        let reason = format!("has a period of {period}, must have at least {LEAST_PERIOD}");
        return Err((reason, "write a period such as `period=10ms`".to_owned()));
    }
    Ok((spec, policy))
}

/// As [`read`], with the error in one line that names the spec.
///
/// # Errors
/// As [`read`].
pub fn build(text: &str, site: &Site) -> Result<(Spec, Policy), String> {
    read(text, site)
        .map_err(|(reason, remedy)| format!("policy is \"{}\", {reason}: {remedy}", shorten(text)))
}

fn boxed(spec: &Spec, site: &Site) -> Result<Policy, SpecError> {
    struct Boxed;
    impl DispatcherVisitor<Message<Nanos>> for Boxed {
        type Output = Policy;
        fn visit<D: Dispatcher<Message<Nanos>> + Send + 'static>(self, make: impl Fn() -> D) -> Policy {
            Box::new(make())
        }
    }
    visit_dispatcher(spec, site, Boxed)
}

/// What to write instead of a policy that has no rule: the policies that do, or this one as its example is written.
fn remedy(spec: &Spec, site: &Site) -> String {
    let runs = |example: &str| {
        let built = example.parse().and_then(|spec| boxed(&spec, site));
        built.is_ok_and(|policy| policy.rule().is_some())
    };
    let running: Vec<&str> =
        DISPATCHER.iter().filter(|info| runs(info.example)).map(|info| info.name).collect();
    if running.contains(&spec.name.as_str()) {
        return format!("write `{}` without this setting", spec.name);
    }
    format!("write one that does: `{}`", running.join("`, `"))
}

#[cfg(test)]
mod tests {
    use weir_core::pool::Profile;

    use super::*;

    fn site() -> Site {
        let classes = vec![Profile { share: 0.5, service: Nanos::new(1_000) }; 2];
        Site { servers: 3, receivers: 1, classes, queue: Some(64), speeds: Vec::new() }
    }

    fn refused(text: &str) -> String {
        build(text, &site()).map(|(spec, _)| spec.to_string()).expect_err("refused")
    }

    #[test]
    fn policies_run_that_have_a_rule() {
        for (text, canonical) in [
            ("rr", "rr"),
            ("rr_separated:short=1", "rr_separated:1"),
            ("dynamic:50us,period=10ms", "dynamic:period=10ms"),
            ("dynamic_separated", "dynamic_separated"),
            ("flow_hash", "flow_hash"),
            ("jsq", "jsq"),
        ] {
            let (spec, policy) = build(text, &site()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(spec.to_string(), canonical);
            assert!(policy.rule().is_some(), "{text}");
        }
    }

    #[test]
    fn others_are_refused_with_those_that_do() {
        let running = "`rr`, `rr_separated`, `dynamic`, `dynamic_separated`, `flow_hash`, `jsq`";
        let expected = format!(
            "policy is \"random\", cannot run in the kernel as `random`: write one that does: {running}"
        );
        assert_eq!(refused("random"), expected);
        let expected = "policy is \"jsq:ties=random\", cannot run in the kernel as `jsq:random`: write `jsq` without \
                        this setting";
        assert_eq!(refused("jsq:ties=random"), expected);
        let expected = "policy is \"dynamic:period=1us\", has a period of 1us, must have at least 1ms: write a period \
                        such as `period=10ms`";
        assert_eq!(refused("dynamic:period=1us"), expected);
        assert!(refused("dynamik").contains("not a discipline of requests: did you mean `dynamic`?"));
        assert!(refused("rr:available=7").contains("its parameter `available` names `7`"));
        assert!(refused("rr:").contains("cannot be read at byte"));
    }
}
