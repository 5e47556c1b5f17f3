//! TG scripts: a refusal has a place; what is accepted prints as what reads the same, and can be drawn from.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use weir_tg::{BsdRandom, Departures, Script, ScriptError, Traffic, parse};

/// The text after a line of `---` is what a script includes.
fn read(text: &str) -> Result<Script, ScriptError> {
    let (script, included) = text.split_once("\n---\n").unwrap_or((text, ""));
    parse(script, "fuzz.tg", &mut |_| Ok(included.to_owned()))
}

fuzz_target!(|text: &str| match read(text) {
    Err(error) => assert!(error.line > 0 && error.column > 0 && !error.remedy.is_empty()),
    Ok(script) => {
        let printed = script.to_string();
        let again = read(&printed).expect("what is printed is accepted");
        assert_eq!(again.to_string(), printed);
        let traffic = Traffic::of(&script).expect("checked by the parser");
        assert_eq!(Traffic::of(&again).as_ref(), Ok(&traffic));
        let mut former = None;
        for (at, length) in Departures::new(Arc::new(traffic), BsdRandom::new()).take(100) {
            assert!(former <= Some(at) && length.get() <= 8192);
            former = Some(at);
        }
    }
});
