//! What is read, and what is refused where.

use crate::testing::read;

/// The part of an error before its remedy, which there is.
fn refusal(text: &str) -> String {
    let error = read(text).expect_err(text);
    assert!(!error.remedy.is_empty());
    error.to_string().strip_suffix(&format!(": {}", error.remedy)).unwrap().to_owned()
}

#[test]
fn the_whole_language_is_read() {
    let script = read(
        "on 0x10 tcp 10.0.0.1.5 10.0.0.2.65535 average bandwidth 64e3 peak loss 0.5 rcvwin 010 interactive # first\n\
         at 1:30.5 setup log \"run %y\" wait 2\n\
         at 1:00:00 arrival uniform 3 1 length exponential 500 40 1500 responselength uniform 9\n\
         patience 1:08 data 1e6 packet 0x64 time 60 seed 7 reset",
    )
    .unwrap();
    let printed = "on 16 tcp 10.0.0.1.5 10.0.0.2.65535 average bandwidth 64000 peak loss 0.5 rcvwin 8 interactive\n\
         at 90.5 setup\nlog \"run %y\"\nwait 2\n\
         at 3600 arrival uniform 1 3 length exponential 500 40 1500 responselength uniform 0 9 \
         patience 68 data 1000000 packet 100 time 60 seed 7 reset\n";
    assert_eq!(script.to_string(), printed);
}

#[test]
fn keywords_may_be_shortened_where_one_is_meant() {
    let script = read("on 1 u 1.2.3.4.5 ser w 3").unwrap();
    assert_eq!(script.to_string(), "on 1 udp 1.2.3.4.5 server\nwait 3\n");
    let script = read("on 1 u 1.2.3.4.5 arr e 1 l u 9 p 3 d 5 at 9 l \"x\"").unwrap();
    let printed = "arrival exponential 1 length uniform 0 9 data 5 packet 3\nat 9 log \"x\"\n";
    assert!(script.to_string().ends_with(printed), "{script}");
    assert_eq!(refusal("on 1 t 1.2.3.4.5"), "test.tg:1:6: `t` can mean `tcp` or `test`");
    assert_eq!(refusal("on 1 udp 1.2.3.4.5 a 1"), "test.tg:1:20: `a` can mean `average`, `at` or `arrival`");
}

#[test]
fn the_number_of_a_second_state_is_not_an_argument_of_the_first() {
    for (written, printed) in [
        ("markov2 10 exponential 1 20 constant 3", "markov2 10 exponential 1 20 constant 3"),
        ("markov2 10 exponential 1 20 3", "markov2 10 exponential 1 20 constant 3"),
        ("markov2 10 exponential 2 1 3 20 3", "markov2 10 exponential 2 1 3 20 constant 3"),
        ("markov2 10 uniform 5 20 u 3", "markov2 10 uniform 0 5 20 uniform 0 3"),
        ("markov2 10 uniform 5 6 20 3", "markov2 10 uniform 5 6 20 constant 3"),
        ("markov2 10 uniform 5 20 3", "markov2 10 uniform 0 5 20 constant 3"),
        ("markov2 10 5 20 exponential 1 2 3", "markov2 10 constant 5 20 exponential 1 2 3"),
        (
            "markov2 1 markov2 2 3 4 exponential 5 6 uniform 7",
            "markov2 1 markov2 2 constant 3 4 exponential 5 6 uniform 0 7",
        ),
    ] {
        let script = read(&format!("on 1 udp 1.2.3.4.5 arrival {written} length 1")).unwrap();
        assert!(script.to_string().contains(&format!("arrival {printed} length")), "{script}");
    }
}

#[test]
fn what_is_included_stands_in_place() {
    let script = read("include \"half\" 1.2.3.4.5 wait").unwrap();
    assert_eq!(script.to_string(), "on 7 udp 1.2.3.4.5\nwait\n");
    assert_eq!(script.sources, ["test.tg", "half"]);
    assert_eq!(refusal("inc \"wrong\""), "wrong:2:3: found `upd`, expected `tcp`, `udp` or `test`");
}

#[test]
fn errors_of_included_files_have_their_place() {
    for (text, expected) in [
        ("include \"loop\"", "back:2:10: `loop` includes itself"),
        ("on 1\n  include \"none\"", "test.tg:2:11: `none` cannot be read: no such file"),
        ("include half", "test.tg:1:1: `include` names no file in quotes"),
        ("on 1 include", "test.tg:1:6: `include` names no file in quotes"),
        ("include \"deep\"", "deep6:1:9: files include one another more than 8 deep"),
    ] {
        assert_eq!(refusal(text), expected);
    }
    let many = "include \"empty\" ".repeat(64);
    assert_eq!(refusal(&many), "test.tg:1:1017: the script is made of more than 64 files");
    let large = "include \"large\" ".repeat(3);
    assert!(refusal(&large).starts_with("test.tg:1:25: the script has 1048624 bytes with what it includes"));
    assert!(refusal(&" ".repeat(1 << 21)).starts_with("test.tg:1:1: the script has 2097152 bytes"));
}

/// Every kind of error of one file, after `on 1 udp 1.2.3.4.5 `.
#[test]
fn errors_name_the_place_what_was_found_and_what_was_expected() {
    for (text, expected) in [
        ("arrive 1", "found `arrive`, expected `at`, `setup`, `wait`, `log` or `arrival`"),
        ("at", "the script ends here, expected a time"),
        ("at soon", "found `soon`, expected a time"),
        ("at 1 \"setup\"", "found \"setup\", expected `setup`, `wait`, `log` or `arrival`"),
        ("at 1:2:3:4 wait", "`1:2:3:4` is not a time"),
        ("at 1:-2 wait", "`1:-2` is not a time"),
        ("at 1e9 wait", "the time is 1e9, must be at most 1000000 s"),
        ("log name", "found `name`, expected a text in quotes"),
        ("log \"name", "the text in quotes has no end on its line"),
        ("arrival 1", "the script ends here, expected `length`"),
        ("arrival 1 lenght 1", "found `lenght`, expected `length`"),
        ("arrival poisson 1", "found `poisson`, expected `constant`, `uniform`, `exponential` or `markov2`"),
        ("arrival -1 length 1", "the number is -1, must be at least 0"),
        ("arrival 1e400 length 1", "`1e400` is too large for a number"),
        ("arrival 0x length 1", "`0x` is not a number"),
        ("arrival 08 length 1", "`08` is not a number"),
        ("arrival 1.2.3 length 1", "`1.2.3` is not a number"),
        ("arrival nan length 1", "found `nan`, expected `constant`, `uniform`, `exponential` or `markov2`"),
        ("arrival exponential 1 2 length 1", "exponential has a mean, or a mean and two bounds"),
        ("arrival exponential 1 3 2 length 1", "the smallest value is 3, must be at most the largest, 2"),
        ("arrival exponential 1 50 60 length 1", "the bounds 50 and 60 accept fewer than 1 draw in 10000"),
        (
            "arrival markov2 0.5 1 1 1 length 1",
            "the mean number of draws in a state is 0.5, must be at least 1",
        ),
        ("arrival 1 length 8193", "a length can be 8193 bytes, must be at most 8192"),
        ("arrival 1 length uniform 9000 10", "a length can be 9000 bytes, must be at most 8192"),
        ("arrival 1 length 1 packet 0", "the number is 0, must be whole and from 1 to 9007199254740992"),
        ("arrival 1 length 1 packet 1.5", "the number is 1.5, must be whole and from 1 to 9007199254740992"),
        ("arrival 1 length 1 time 1 time 2", "`time` is given twice"),
        ("arrival 1 length 1 s 2", "`s` can mean `seed` or `setup`"),
        (
            "arrival 0 length 1",
            "gaps of 0 s in the mean would send packets without end at once, must be at most 10000000",
        ),
        (
            "arrival 0 length 0 data 5",
            "gaps of 0 s in the mean would send packets without end at once, must be at most 10000000",
        ),
        (
            "arrival 1e-300 length 1",
            "gaps of 1e-300 s in the mean would send packets without end at once, must be at most 10000000",
        ),
        (
            "arrival 1e-12 length 1 packet 20000000",
            "gaps of 1e-12 s in the mean would send 20000000 packets at once, must be at most 10000000",
        ),
        ("ttl 256", "the number is 256, must be whole and from 0 to 255"),
        ("peak 7", "found `7`, expected `bandwidth`, `delay` or `loss`"),
        ("on 2", "found a second `on`, a script has one association"),
        ("setup setup", "found a second `setup`, a script has one"),
        ("wait 1 setup", "found `setup` after an action that has set the association up"),
        ("server arrival 1 length 1", "found `arrival` in a script with `server`, which only receives"),
        ("at 5 wait 2 at 6 wait", "this action begins at 6s, before the previous one ends at 7s"),
        ("wait wait", "this action never begins, as the previous one has no end"),
        ("arrival 1 length 1 wait", "this action never begins, as the previous one has no end"),
    ] {
        let found = refusal(&format!("on 1 udp 1.2.3.4.5 {text}"));
        let reason = found.splitn(4, ':').nth(3).unwrap().trim_start();
        assert_eq!(reason, expected, "{text}");
        assert!(found.starts_with("test.tg:1:"), "{found}");
    }
}

#[test]
fn errors_of_the_first_clause() {
    for (text, expected) in [
        ("", "test.tg:1:1: the script ends here, expected `on`"),
        ("# nothing\n", "test.tg:2:1: the script ends here, expected `on`"),
        ("on 0 udp", "test.tg:1:4: the number is 0, must be whole and from 1 to 4294967295"),
        ("on 1.5 udp", "test.tg:1:4: the number is 1.5, must be whole and from 1 to 4294967295"),
        ("on 1\n sctp", "test.tg:2:2: found `sctp`, expected `tcp`, `udp` or `test`"),
        ("on 1 udp 1.2.3.4", "test.tg:1:10: `1.2.3.4` is not an address"),
        ("on 1 udp 1.2.3.4.5.6", "test.tg:1:10: `1.2.3.4.5.6` is not an address"),
        ("on 1 udp 1.2.3.256.5", "test.tg:1:10: `1.2.3.256.5` is not an address"),
        ("on 1 udp 1.2.3.4.0", "test.tg:1:10: the port of `1.2.3.4.0` is 0, must be from 1 to 65535"),
        ("on 1 tcp 224.0.0.1.5", "test.tg:1:10: tcp has no multicast"),
        ("on 1 udp host.5", "test.tg:1:10: found `host.5`, expected an address"),
    ] {
        assert_eq!(refusal(text), expected);
    }
}

#[test]
fn columns_count_characters() {
    let error = read("on 1 udp 1.2.3.4.5 log \"äöü\" x\u{1}y").unwrap_err();
    assert_eq!((error.line, error.column, error.found.as_deref()), (1, 30, Some("x?y")));
}

#[test]
fn a_deep_nest_is_refused() {
    let text = format!("on 1 udp 1.2.3.4.5 arrival {} 1", "markov2 1 ".repeat(100_000));
    assert!(refusal(&text).ends_with("markov2 is nested deeper than 8"));
}
