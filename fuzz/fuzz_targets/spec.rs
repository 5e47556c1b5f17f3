//! Spec strings: what parses prints as what parses to it again, and building it does not panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_core::item::Message;
use weir_core::registry;
use weir_core::spec::Spec;

fuzz_target!(|text: &str| {
    if let Ok(spec) = text.parse::<Spec>() {
        assert_eq!(spec.to_string().parse::<Spec>().as_ref(), Ok(&spec));
        drop(registry::message_discipline::<Message>(&spec));
    }
});
