//! Logs of `weird tg`: a refusal has an offset; what is accepted as two logs gives a report without a figure that is
//! none.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_core::units::{Nanos, Rate};
use weir_traffic::tg::log::{MAGIC, Reader};
use weir_traffic::tg::report::{Asked, csv, pair::Pair, report, text};

/// The second log begins where its magic does.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let second = bytes.windows(MAGIC.len()).skip(1).position(|window| window == MAGIC);
    second.map_or((bytes, bytes), |second| bytes.split_at(second + 1))
}

fuzz_target!(|bytes: &[u8]| {
    let (source, sink) = split(bytes);
    for log in [source, sink] {
        match Reader::new(log, "fuzz.log") {
            Err(error) => assert!(error.reason.starts_with("at byte ")),
            Ok(mut reader) => {
                let refused = reader.by_ref().find_map(Result::err);
                assert!(refused.is_none_or(|error| error.reason.starts_with("at byte ")));
            }
        }
    }
    let (Ok(one), Ok(two)) = (Reader::new(source, "a"), Reader::new(sink, "b")) else { return };
    let Ok(pair) = Pair::read(one, two, ["a".to_owned(), "b".to_owned()]) else { return };
    let interval = Some(Nanos::new(1_000_000_000));
    let asked = Asked { interval, rate: Some(Rate::new(1_344_000)), from: None, until: None };
    if let Ok(report) = report(vec![pair], asked) {
        for told in [text::text(&report, 80), text::text(&report, 40), csv::csv(&report)] {
            assert!(!told.contains("NaN") && !told.contains("inf,"));
        }
    }
});
