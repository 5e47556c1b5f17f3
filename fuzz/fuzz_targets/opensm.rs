//! Options files of OpenSM: a refusal has a place, findings are told in full, a request made of one is read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_core::units::{Bytes, Rate};
use weir_plan::opensm::{Port, lint, parse, requirements, scenario};
use weir_plan::{Coding, Link, Prefix, Requirements};

fuzz_target!(|input: (u8, u8, &str)| {
    let (capacity, lanes, text) = input;
    let capacity = u32::from(capacity);
    let port = Port {
        mtu: Bytes::new(2048),
        high_capacity: capacity,
        low_capacity: capacity,
        lanes: u32::from(lanes),
    };
    let link = Link { rate: Rate::new(10_000_000_000), coding: Coding::EightOfTen };
    match parse(text, "fuzz.conf") {
        Err(error) => assert!(error.line > Some(0) && error.column > Some(0) && !error.remedy.is_empty()),
        Ok(options) => {
            for finding in lint(&options, &port) {
                assert!(!finding.what.is_empty() && !finding.why.is_empty() && !finding.remedy.is_empty());
            }
            for prefix in Prefix::ALL {
                let text = requirements(&options, "fuzz.conf", prefix, &port, link);
                let is_empty = scenario(&options, "fuzz.conf", prefix, &port, link).is_err();
                assert_eq!(text.is_err(), is_empty);
                if let Ok(text) = text {
                    assert!(Requirements::from_toml(&text, "fuzz.toml").is_ok(), "{text}");
                }
            }
        }
    }
});
