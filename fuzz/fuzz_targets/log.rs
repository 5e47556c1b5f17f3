//! Logs of services: what is accepted is in order of arrival, of a known class, and written as requests of a server that are read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_core::units::Nanos;
use weir_sim::workload::log::{DurationUnit, Reading, Stamp, TimeOf, read, survey, write_csv};
use weir_sim::workload::{ClassBy, RequestBounds, RequestFormat, Separator, TimeUnit, read_requests};

fuzz_target!(|bytes: &[u8]| {
    let Ok(found) = survey(bytes, "fuzz.log", None) else { return };
    let timed = found.columns.iter().find(|column| column.stamp.is_some());
    let taking = found.columns.iter().rev().find(|column| column.unit.is_some());
    let (Some(time), Some(service)) = (timed.or(found.columns.first()), taking.or(found.columns.last())) else {
        return;
    };
    for time_of in [TimeOf::Arrival, TimeOf::End] {
        let reading = Reading {
            format: found.format,
            time: time.name.clone(),
            stamp: time.stamp.unwrap_or(Stamp::S),
            time_of,
            service: (service.name.clone(), service.unit.unwrap_or(DurationUnit::Ms)),
            duration: None,
            class: found.columns.get(2).map(|column| column.name.clone()),
            status: found.columns.get(3).map(|column| column.name.clone()),
            disorder: 1_000_000_000,
        };
        let Ok(log) = read(bytes, "fuzz.log", &reading) else { continue };
        assert!(!log.requests.is_empty() && log.requests.is_sorted_by_key(|request| request.at));
        assert!(log.requests.iter().all(|request| usize::from(request.class) < log.classes.len()));
        let dispersion = log.dispersion();
        assert!(dispersion.services.mean_ns >= 1.0 && dispersion.windows.iter().all(|window| window.index >= 0.0));
        written(&log);
    }
});

/// What is written is what was read, but for services that are longer than a server takes.
fn written(log: &weir_sim::workload::log::Log) {
    let mut csv = Vec::new();
    write_csv(log, &mut csv).expect("memory is written");
    let format = RequestFormat {
        time: Some("time_ns".to_owned()),
        flow: None,
        time_unit: TimeUnit::Ns,
        header: true,
        separator: Separator::Comma,
        base: Nanos::new(0),
        costs: vec![("service_ns".to_owned(), 1.0)],
        class: match log.classes.iter().any(|name| !name.is_empty()) {
            true => ClassBy::Name("class".to_owned(), log.classes.clone()),
            false => ClassBy::One,
        },
    };
    let bounds = RequestBounds { requests: log.requests.len(), service: Nanos::new(1 << 52), flows: 1 };
    if log.requests.iter().all(|request| request.service < 1 << 52) {
        let again = read_requests(&csv[..], "fuzz.csv", &format, bounds).expect("it was written by weir");
        assert!(again.at.iter().zip(&log.requests).all(|(at, request)| *at == request.at));
        assert!(again.service.iter().zip(&log.requests).all(|(service, request)| *service == request.service));
        assert!(again.class.iter().zip(&log.requests).all(|(class, request)| *class == request.class));
    }
}
