//! Recorded requests: what is accepted is in order, of a known class, and within its bounds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_core::units::Nanos;
use weir_sim::workload::{ClassBy, RequestBounds, RequestFormat, Separator, TimeUnit, read_requests};

fuzz_target!(|bytes: &[u8]| {
    let bounds = RequestBounds { requests: 1_000, service: Nanos::new(1_000_000_000), flows: 100 };
    let named = ClassBy::Name("kind".to_owned(), vec!["short".to_owned(), "long".to_owned()]);
    let split = ClassBy::Service(vec![Nanos::new(1_000)]);
    for (time_unit, class) in [(TimeUnit::S, named), (TimeUnit::Timestamp, split)] {
        let format = RequestFormat {
            time: None,
            flow: None,
            time_unit,
            header: true,
            separator: Separator::Comma,
            base: Nanos::new(10),
            costs: vec![("work".to_owned(), 2.5)],
            class,
        };
        if let Ok(read) = read_requests(bytes, "fuzz.csv", &format, bounds) {
            assert!(!read.at.is_empty() && read.at.len() <= bounds.requests && read.at.is_sorted());
            assert!(read.class.iter().all(|&class| class < 2));
            assert!(read.service.iter().all(|&service| service <= bounds.service.get()));
            assert!(read.flow.iter().all(|&flow| (flow as usize) < bounds.flows));
        }
    }
});
