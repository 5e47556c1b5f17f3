//! Random seeds for the disciplines whose spec has none: every link and replication hashes by a key of its own.

use weir_core::registry;
use weir_core::spec::{Argument, Spec};

/// The spec with a number of `next` for every parameter `seed` that it leaves open, nested ones included.
#[must_use]
pub fn with_seeds(spec: &Spec, next: &mut dyn FnMut() -> u64) -> Spec {
    let mut seeded = spec.clone();
    for argument in &mut seeded.arguments {
        argument.value = with_seeds(&argument.value, next);
    }
    let Ok(info) = registry::info(&spec.name) else { return seeded };
    let Some(place) = info.parameters.iter().position(|parameter| parameter.name == "seed") else { return seeded };
    let named = |argument: &Argument| argument.key.as_deref() == Some("seed");
    let by_position = spec.arguments.get(place).is_some_and(|argument| argument.key.is_none());
    if !by_position && !spec.arguments.iter().any(named) {
        let value = Spec { name: next().to_string(), arguments: Vec::new() };
        seeded.arguments.push(Argument { key: Some("seed".to_owned()), value });
    }
    seeded
}
