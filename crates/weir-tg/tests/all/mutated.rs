//! Scripts cut, spliced and misspelt: never a panic, a place in every refusal, a printed form that reads the same.

use std::sync::Arc;

use proptest::prelude::*;
use weir_tg::script::Script;
use weir_tg::{BsdRandom, Departures, ScriptError, Traffic, parse};

const SCRIPTS: [&str; 6] = [
    "on 15 udp 10.0.2.1.4000 at 5 setup at 10 arrival exponential 0.007692 length 750 time 245",
    "on 15 udp 10.0.2.1.4000 server at 1.1 wait",
    "# two bursts\non 0x10 tcp 10.0.0.1.5 10.0.0.2.6 average bandwidth 64000 rcvwin 8192 interactive ttl 017\n\
     log \"run.%y\" arr markov2 10 uniform 1e-3 2e-3 3 exponential 0.5 0.1 1 length uniform 64 1500 \
     resp 512 patience 3 packet 20 seed 7 reset wait 0:30.5 arr 1 l 10 data 1000",
    "include \"common\" on 1 test 127.0.0.1.9 peak loss 0.1 at 1:00:00 wait 3 at 2:00:00 arrival 0 length 8192 packet 3",
    "on 5 udp 224.0.0.1.77 tos 0 mtu 1500 interval 2 sndwin 4 \
     arrival markov2 2 markov2 5 exponential 1 4 constant 2 3 uniform 9 length 1 time 60",
    "on 1 udp 1.2.3.4.5 setup wait 1 arr 0.5 l 5 packet 2 arr 0.5 l 5 time 1 at 100 wait",
];

const WORDS: [&str; 24] = [
    "on",
    "udp",
    "1.2.3.4.5",
    "server",
    "at",
    "setup",
    "wait",
    "log",
    "\"x\"",
    "arrival",
    "length",
    "uniform",
    "exponential",
    "markov2",
    "0",
    "1e308",
    "-1",
    "0x",
    "08",
    "1:2:3",
    "include",
    "#",
    "\"",
    "packet",
];

fn read(text: &str) -> Result<Script, ScriptError> {
    parse(text, "mutated.tg", &mut |name| match name {
        "common" => Ok("# nothing but \"a comment\"\n".to_owned()),
        "loop" => Ok("include \"loop\"".to_owned()),
        _ => Err("no such file".to_owned()),
    })
}

/// A refusal has a place; what is accepted reads the same from its printed form, and can be drawn from.
fn check(text: &str) {
    match read(text) {
        Err(error) => {
            assert!(error.line > 0 && error.column > 0, "{error}");
            assert!(!error.reason.is_empty() && !error.remedy.is_empty(), "{error}");
        }
        Ok(script) => {
            let printed = script.to_string();
            let again = read(&printed).unwrap_or_else(|error| panic!("{error} in\n{printed}"));
            assert_eq!(again.to_string(), printed);
            let traffic = Traffic::of(&script).unwrap();
            assert_eq!(Traffic::of(&again).unwrap(), traffic);
            let mut former = None;
            for (at, length) in Departures::new(Arc::new(traffic), BsdRandom::new()).take(50) {
                assert!(former <= Some(at) && length.get() <= 8192);
                former = Some(at);
            }
        }
    }
}

#[test]
fn the_scripts_themselves_are_accepted() {
    for text in SCRIPTS {
        read(text).unwrap_or_else(|error| panic!("{error}"));
        check(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scripts_with_words_replaced_do_not_panic(
        script in 0..SCRIPTS.len(),
        edits in prop::collection::vec((0.0..1.0_f64, 0..3_u8, 0..WORDS.len()), 1..4),
    ) {
        let mut words: Vec<&str> = SCRIPTS[script].split_whitespace().collect();
        for (share, kind, word) in edits {
            let place = (share * words.len() as f64) as usize;
            match kind {
                0 => words[place] = WORDS[word],
                1 => words.insert(place, WORDS[word]),
                _ => drop(words.remove(place)),
            }
        }
        check(&words.join(" "));
    }

    #[test]
    fn scripts_with_characters_replaced_do_not_panic(
        script in 0..SCRIPTS.len(),
        edits in prop::collection::vec((0.0..1.0_f64, any::<char>()), 1..5),
        cut in 0.0..1.0_f64,
    ) {
        let mut characters: Vec<char> = SCRIPTS[script].chars().collect();
        for (share, character) in edits {
            let place = (share * characters.len() as f64) as usize;
            characters[place] = character;
        }
        check(&characters.iter().collect::<String>());
        let kept = (cut * characters.len() as f64) as usize;
        check(&characters[..kept].iter().collect::<String>());
    }

    #[test]
    fn any_text_does_not_panic(text in any::<String>()) {
        check(&text);
    }
}
