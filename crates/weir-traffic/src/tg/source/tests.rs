//! A source with a clock and an outlet of its own: what leaves when, how late, and what becomes of errors.

use std::io;

use weir_core::units::{Instant, Nanos};

use super::{BATCH, Outgoing, Outlet, Sent, Source, WallTime};
use crate::generator::testing::{FakeClock, START};
use crate::tg::log::{Kind, Record, Role, Transport, Writer};
use crate::tg::testing::{MILLISECOND, Memory, header, milliseconds, plan, records, start};

/// An outlet that takes a number of packets of a batch, each for a given time, and fails on demand.
struct Fake<'c> {
    clock: &'c FakeClock,
    most: usize,
    takes: u64,
    /// Errors of coming calls, the last first.
    errors: Vec<i32>,
    calls: Vec<usize>,
    /// How many packets were taken, and of how many that was reported.
    taken: [u32; 2],
}

impl Outlet for Fake<'_> {
    fn send(&mut self, packets: &[Outgoing]) -> io::Result<usize> {
        self.calls.push(packets.len());
        if let Some(errno) = self.errors.pop().filter(|errno| *errno != 0) {
            // The last of them that says that there is no room comes with a request to end.
            self.clock.stopped.set(errno == libc::EAGAIN && self.errors.is_empty());
            return Err(io::Error::from_raw_os_error(errno));
        }
        let taken = packets.len().min(self.most);
        self.clock.time.set(self.clock.time.get() + self.takes * taken as u64);
        self.taken[0] += taken as u32;
        Ok(taken)
    }
    fn departed(&mut self, into: &mut Vec<(u32, WallTime)>) {
        let [taken, told] = &mut self.taken;
        let next = (*told..*taken)
            .take(BATCH)
            .map(|number| (number, WallTime::new(START + u64::from(number)).unwrap()));
        into.extend(next);
        *told += into.len() as u32;
    }
    fn stops_at_errors(&self) -> bool {
        true
    }
    fn is_over(&self, error: &io::Error) -> bool {
        error.raw_os_error() == Some(libc::EPIPE)
    }
}

struct Done {
    sent: Sent,
    records: Vec<Record>,
    calls: Vec<usize>,
}

impl Done {
    /// Time and due time of what was sent, in milliseconds.
    fn times(&self) -> Vec<(i64, i64)> {
        let sent = self.records.iter().filter(|record| record.kind == Kind::Transmit);
        sent.map(|record| (record.time / 1_000_000, record.other / 1_000_000)).collect()
    }
}

const HALVES: &str = "on 1 udp 1.2.3.4.5 arrival 0.5 length 100 packet 4";

fn run(text: &str, scale: u32, change: impl FnOnce(&FakeClock, &mut Fake<'_>)) -> Done {
    let clock = FakeClock::new();
    let mut outlet =
        Fake { clock: &clock, most: 64, takes: 0, errors: Vec::new(), calls: Vec::new(), taken: [0; 2] };
    change(&clock, &mut outlet);
    let memory = Memory::default();
    let begun = Writer::begin(memory.clone(), &header(Role::Source, Transport::Udp, text)).unwrap();
    let mut log = Some(begun);
    let mut schedule = plan(text, scale).schedule();
    let source = Source {
        clock: &clock,
        outlet: &mut outlet,
        schedule: &mut schedule,
        begin: Instant::ZERO,
        start: start(),
        record: Record::new(Kind::Transmit, 0),
        log: &mut log,
    };
    let sent = source.run().unwrap();
    log.unwrap().finish(0).unwrap();
    Done { sent, records: records(&memory.bytes()), calls: outlet.calls }
}

#[test]
fn packets_leave_when_they_are_due() {
    let done = run(HALVES, 1, |_, _| {});
    assert_eq!(done.times(), [(500, 500), (1000, 1000), (1500, 1500), (2000, 2000)]);
    assert_eq!((done.sent.packets, done.sent.bytes, done.sent.failed), (4, 400, 0));
    assert_eq!(done.sent.lateness.quantile(1.0), Some(Nanos::new(0)));
    assert_eq!(done.records.iter().map(|record| record.number).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2, 3, 3]);
}

#[test]
fn the_kernel_is_asked_when_it_took_packets_until_an_error() {
    let left = |text, change: fn(&FakeClock, &mut Fake<'_>)| {
        let records = run(text, 1, change).records;
        let left = records.iter().filter(|record| record.kind == Kind::Left);
        left.map(|record| (record.number, record.time)).collect::<Vec<_>>()
    };
    assert_eq!(left(HALVES, |_, _| {}), [(0, 0), (1, 1), (2, 2), (3, 3)]);
    let many = "on 1 udp 1.2.3.4.5 arrival 0 length 10 packet 1000";
    let all: Vec<_> = (0..1000).map(|number| (number, i64::from(number))).collect();
    assert_eq!(left(many, |_, _| {}), all);
    assert_eq!(left(HALVES, |_, outlet| outlet.errors = vec![libc::ENOBUFS, 0, 0]), [(0, 0), (1, 1)]);
    assert_eq!(left(HALVES, |_, outlet| outlet.errors = vec![libc::ECONNREFUSED, 0, 0]).len(), 4);
}

#[test]
fn the_scale_shortens_gaps() {
    assert_eq!(run(HALVES, 10, |_, _| {}).times(), [(50, 50), (100, 100), (150, 150), (200, 200)]);
}

#[test]
fn a_late_source_catches_up_in_a_burst() {
    // The first wait ends 1.2 s late: the packets of 0.5, 1 and 1.5 s leave at 1.7 s with one call.
    let done = run(HALVES, 1, |clock, _| clock.late.set(1200 * MILLISECOND));
    assert_eq!(done.times(), [(1700, 500), (1700, 1000), (1700, 1500), (3200, 2000)]);
    assert_eq!(done.calls, [3, 1]);
    let quantile = |share| done.sent.lateness.quantile(share).map(milliseconds);
    assert_eq!(quantile(1.0), Some(1200));
    assert!(quantile(0.25).is_some_and(|late| (200..=203).contains(&late)));
    assert!(quantile(0.5).is_some_and(|late| (700..=711).contains(&late)));
}

#[test]
fn times_within_one_call_are_spread_over_it() {
    let text = "on 1 udp 1.2.3.4.5 at 1 arrival 0 length 10 packet 4";
    let done = run(text, 1, |_, outlet| outlet.takes = 5 * MILLISECOND);
    assert_eq!(done.times(), [(1000, 1000), (1005, 1000), (1010, 1000), (1015, 1000)]);
    assert_eq!(done.sent.lateness.quantile(1.0).map(milliseconds), Some(15));
}

#[test]
fn an_outlet_that_takes_a_part_is_given_the_rest() {
    let text = "on 1 udp 1.2.3.4.5 arrival 0 length 10 packet 100";
    let done = run(text, 1, |_, outlet| outlet.most = 40);
    assert_eq!(done.calls, [64, 24, 36]);
    assert_eq!(done.sent.packets, 100);
    // The kernel stopped within the call and does not say why.
    assert_eq!(done.sent.errors, [(0, 1)].into());
}

#[test]
fn an_error_of_an_earlier_packet_is_counted_and_the_packet_sent() {
    let done = run(HALVES, 1, |_, outlet| outlet.errors = vec![0, libc::ECONNREFUSED, 0]);
    assert_eq!((done.sent.packets, done.sent.failed), (4, 0));
    assert_eq!(done.sent.errors, [(libc::ECONNREFUSED, 1)].into());
    let error = done.records.iter().find(|record| record.kind == Kind::Error).unwrap();
    assert_eq!((error.number, i32::from(error.errno)), (1, libc::ECONNREFUSED));
    // One that comes again and again belongs to the packet itself.
    let done = run(HALVES, 1, |_, outlet| outlet.errors = vec![libc::ECONNREFUSED; 3]);
    assert_eq!((done.sent.packets, done.sent.failed, done.calls.len()), (3, 1, 6));
}

#[test]
fn an_error_of_the_packet_skips_it() {
    let done = run(HALVES, 1, |_, outlet| outlet.errors = vec![libc::ENOBUFS, 0]);
    assert_eq!((done.sent.packets, done.sent.failed), (3, 1));
    assert_eq!(done.times(), [(500, 500), (1500, 1500), (2000, 2000)]);
}

#[test]
fn a_connection_that_is_gone_ends_it() {
    let done = run(HALVES, 1, |_, outlet| outlet.errors = vec![libc::EPIPE, 0]);
    assert_eq!(done.sent.packets, 1);
    assert!(done.sent.over.is_some_and(|error| error.contains("Broken pipe")));
}

#[test]
fn who_asks_to_end_is_heard() {
    let endless = "on 1 udp 1.2.3.4.5 arrival 1 length 1";
    assert_eq!(run(endless, 1, |clock, _| clock.stopped.set(true)).sent.packets, 0);
    // Also while there is no room.
    let done = run(endless, 1, |_, outlet| outlet.errors = vec![libc::EAGAIN, libc::EAGAIN, libc::EINTR, 0]);
    assert_eq!((done.sent.packets, done.sent.failed, done.calls.len()), (1, 0, 4));
    assert!(done.sent.errors.is_empty());
}

/// The offers behind the tables of the SFQ report, from a source with a clock that is exact.
#[test]
fn the_compatible_mode_sends_what_the_report_says() {
    let text = "on 15 udp 10.0.2.1.4000 at 5 setup at 10 arrival exponential 0.007692 length 750 time 245";
    let done = run(text, 1, |_, _| {});
    assert_eq!(done.sent.packets, 31_714);
    let schedule: Vec<_> = plan(text, 1).schedule().map(|(at, _)| at.get().cast_signed()).collect();
    let sent = done.records.iter().filter(|record| record.kind == Kind::Transmit);
    let times: Vec<_> = sent.map(|record| record.time).collect();
    assert_eq!(times, schedule);
    let offer = done.sent.packets as f64 * 782.0 * 8.0 / 1_344_000.0 / 245.0 * 100.0;
    assert_eq!(format!("{offer:.2}"), "60.25");
}
