//! Spec strings: what parses prints as what parses to it again, and building it does not panic; the text as an expression of
//! `rank` too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_core::canonical::canonical;
use weir_core::item::Message;
use weir_core::message::rank::Expression;
use weir_core::registry;
use weir_core::spec::Spec;

fuzz_target!(|text: &str| {
    read(text);
    let _ = Expression::read(text);
    read(&format!("rank:{text}"));
});

fn read(text: &str) {
    if let Ok(spec) = text.parse::<Spec>() {
        assert_eq!(spec.to_string().parse::<Spec>().as_ref(), Ok(&spec));
        drop(registry::message_discipline::<Message>(&spec));
        if let Ok(form) = canonical(&spec) {
            assert_eq!(canonical(&form).as_ref(), Ok(&form));
        }
    }
}
