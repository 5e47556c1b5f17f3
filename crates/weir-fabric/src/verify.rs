//! Verification: books of its own, compared with the engine's at every event.
//!
//! | | checked |
//! |-|-|
//! | credits | at every change, for the link and channel: at the sender + on the line + held in the input + returning = buffer |
//! | buffers | at every change: room + held = buffer, neither below zero; what the input's queue holds is recounted |
//! | cut-through | no transfer ends before the tail has come or in less than its time, none is sent on before half the switch's latency, no line runs out of bytes, no line sends two packets at a time |
//! | order | packets of a flow arrive in the order in which they were generated, but under adaptive routing |
//! | place | every packet arrives where it was sent to |
//! | loss, deadlock | after the sources have ended everything that was generated arrives |
//!
//! The first violation ends the run and names time, place and values.

use crate::crossbar::Waiting;
use crate::model::{FabricScenario, Routing};
use crate::packet::{Handle, Packet};
use crate::plain::Sender;
use crate::time::{CreditUnit, Ticks, Timing, nanos, timing};
use crate::topology::{End, Wiring};
use weir_lab::error::RunError;

/// When something is occupied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Busy {
    pub(crate) from: Ticks,
    pub(crate) until: Ticks,
}

/// What is known of a link and channel, in credits.
#[derive(Clone, Copy, Debug, Default)]
struct Book {
    /// In the buffer before the link.
    before: i64,
    /// Sent, and the head may not bid yet.
    on_the_line: i64,
    /// In the input behind the link.
    held: i64,
    /// Credits on their way back.
    returning: i64,
}

/// The books of one replication.
pub(crate) struct Audit {
    hosts: u32,
    channels: usize,
    timing: Timing,
    /// In credits.
    interface: i64,
    output: i64,
    input: i64,
    /// Whether a link leads into a switch.
    credited: Vec<bool>,
    /// By link, and channel within it.
    books: Vec<Book>,
    /// When each line is free.
    free: Vec<Ticks>,
    /// When the last transfer of each packet began and ended.
    written: Vec<Busy>,
    /// The number of the last packet of each flow that arrived, by source and channel; none under adaptive routing.
    latest: Option<Vec<Vec<Option<u32>>>>,
    wiring: Wiring,
    generated: u64,
    arrived: u64,
    checked: u64,
    violation: Option<RunError>,
}

/// A link, in words.
pub(crate) fn place(wiring: &Wiring, link: u32) -> String {
    match link.checked_sub(wiring.hosts()) {
        None => format!("interface {link}"),
        Some(port) => wiring.name(port),
    }
}

impl Audit {
    pub(crate) fn new(fabric: &FabricScenario, wiring: &Wiring) -> Self {
        let unit = CreditUnit::new(fabric.credit);
        let (hosts, channels) = (wiring.hosts(), fabric.channels.len());
        let links = (hosts + wiring.switches() * wiring.ports()) as usize;
        let outputs = 0..wiring.switches() * wiring.ports();
        let into_switches = outputs.map(|port| matches!(wiring.end(port), End::Port(_)));
        let ordered = fabric.routing != Routing::AdaptiveUp;
        Self {
            hosts,
            channels,
            timing: timing(fabric),
            interface: unit.of_buffer(fabric.interface_buffer).into(),
            output: unit.of_buffer(fabric.switch.output_buffer).into(),
            input: unit.of_buffer(fabric.switch.input_buffer).into(),
            credited: (0..hosts).map(|_| true).chain(into_switches).collect(),
            books: vec![Book::default(); links * channels],
            free: vec![0; links],
            written: Vec::new(),
            latest: ordered.then(|| vec![Vec::new(); hosts as usize * channels]),
            wiring: wiring.clone(),
            generated: 0,
            arrived: 0,
            checked: 0,
            violation: None,
        }
    }

    /// How many events were checked.
    pub(crate) fn checked(&self) -> u64 {
        self.checked
    }

    /// # Errors
    /// Something was violated.
    pub(crate) fn outcome(&mut self) -> Result<(), RunError> {
        self.violation.take().map_or(Ok(()), Err)
    }

    fn violated(&mut self, now: Ticks, place: String, reason: String) {
        let place = format!("{place} at {} ns", nanos(now));
        self.violation.get_or_insert(RunError::Violated { place, reason });
    }

    fn of_link(&mut self, now: Ticks, link: u32, reason: String) {
        let place = place(&self.wiring, link);
        self.violated(now, place, reason);
    }

    fn book(&mut self, link: u32, channel: u8) -> &mut Book {
        &mut self.books[link as usize * self.channels + usize::from(channel)]
    }

    /// A packet has taken room before a link.
    pub(crate) fn entered(&mut self, link: u32, handle: Handle) {
        self.generated += u64::from(link < self.hosts);
        self.book(link, handle.channel).before += i64::from(handle.credits);
    }

    /// A packet has left the buffer before a link.
    pub(crate) fn left(&mut self, link: u32, handle: Handle) {
        self.book(link, handle.channel).before -= i64::from(handle.credits);
    }

    /// A packet starts on a link.
    pub(crate) fn started(&mut self, Busy { from: now, until: end }: Busy, link: u32, handle: Handle) {
        let free = std::mem::replace(&mut self.free[link as usize], end);
        if now < free {
            self.of_link(
                now,
                link,
                format!("a packet starts while the line is occupied until {} ns", nanos(free)),
            );
        }
        if self.credited[link as usize] {
            self.book(link, handle.channel).on_the_line += i64::from(handle.credits);
        }
        if link < self.hosts {
            return;
        }
        let transfer = self.written.get(handle.id as usize).copied().unwrap_or_default();
        let Busy { from: begun, until: written } = transfer;
        if now < begun + self.timing.behind {
            let reason =
                format!("a packet is sent on whose transfer began at {} ns, too early", nanos(begun));
            self.of_link(now, link, reason);
        }
        if end < written {
            let reason = format!(
                "the line runs out of bytes: it sends until {} ns what is written until {} ns",
                nanos(end),
                nanos(written)
            );
            self.of_link(now, link, reason);
        }
    }

    /// A head that came over a link may bid.
    pub(crate) fn head_came(&mut self, link: u32, waiting: &Waiting) {
        let credits = i64::from(waiting.handle.credits);
        let book = self.book(link, waiting.handle.channel);
        book.on_the_line -= credits;
        book.held += credits;
    }

    /// A packet goes through a crossbar from now to the end.
    pub(crate) fn transferred(&mut self, transfer: Busy, link: u32, size: u32, waiting: &Waiting) {
        let Busy { from: now, until: end } = transfer;
        let least = now + self.timing.crossbar.of(size);
        if end < waiting.tail || end < least {
            let reason = format!(
                "a transfer ends at {} ns, the tail comes at {} ns and the crossbar takes until {} ns",
                nanos(end),
                nanos(waiting.tail),
                nanos(least)
            );
            self.of_link(now, link, reason);
        }
        let id = waiting.handle.id as usize;
        if self.written.len() <= id {
            self.written.resize(id + 1, Busy::default());
        }
        self.written[id] = transfer;
    }

    /// A packet has left the input behind a link.
    pub(crate) fn released(&mut self, link: u32, handle: Handle) {
        let book = self.book(link, handle.channel);
        book.held -= i64::from(handle.credits);
        book.returning += i64::from(handle.credits);
    }

    /// Credits are back at the sender.
    pub(crate) fn credit_came(&mut self, link: u32, channel: u8, credits: u16) {
        self.book(link, channel).returning -= i64::from(credits);
    }

    /// Compares the engine's credits and room with the books.
    pub(crate) fn check_link(&mut self, now: Ticks, link: u32, channel: u8, sender: &Sender) {
        self.checked += 1;
        let book = *self.book(link, channel);
        let [credits, room] = [&sender.credits, &sender.room].map(|of| i64::from(of[usize::from(channel)]));
        let capacity = if link < self.hosts { self.interface } else { self.output };
        if room + book.before != capacity || book.before < 0 {
            let reason = format!(
                "channel {channel} has room for {room} credits besides {} in a buffer of {capacity}",
                book.before
            );
            self.of_link(now, link, reason);
        }
        let Book { on_the_line, held, returning, .. } = book;
        let sum = credits + on_the_line + held + returning;
        let negative = [on_the_line, held, returning].iter().any(|&part| part < 0);
        if self.credited[link as usize] && (sum != self.input || negative) {
            let reason = format!(
                "channel {channel} has {credits} credits, {on_the_line} are on the line, {held} held, {returning} \
                 returning, together not the {} of the input",
                self.input
            );
            self.of_link(now, link, reason);
        }
    }

    /// Compares what an input holds with the books of the link into it.
    pub(crate) fn check_input(&mut self, now: Ticks, link: u32, channel: u8, held: u32) {
        let booked = self.book(link, channel).held;
        if booked != i64::from(held) {
            let reason =
                format!("the input behind it holds {held} credits of channel {channel}, not {booked}");
            self.of_link(now, link, reason);
        }
    }

    /// A packet arrived at an end-point.
    pub(crate) fn delivered(&mut self, now: Ticks, host: u32, packet: &Packet) {
        self.arrived += 1;
        self.checked += 1;
        let Packet { source, channel, flow, sequence, destination, .. } = *packet;
        let here = || format!("end-point {host}");
        if destination != host {
            self.violated(now, here(), format!("a packet from {source} to {destination} arrives"));
        }
        let Some(latest) = &mut self.latest else { return };
        let flows = &mut latest[source as usize * self.channels + usize::from(channel)];
        if flows.len() <= flow as usize {
            flows.resize(flow as usize + 1, None);
        }
        let before = flows[flow as usize].replace(sequence);
        if let Some(before) = before.filter(|&before| before >= sequence) {
            let reason = format!(
                "packet {sequence} of flow {flow} of channel {channel} from {source} arrives after packet {before}"
            );
            self.violated(now, here(), reason);
        }
    }

    /// After everything that can happen has: whether packets are left, in the fabric or outside it.
    ///
    /// # Errors
    /// There are: a deadlock, or a loss.
    pub(crate) fn check_drained(&self, left: usize, waiting: usize, wiring: &Wiring) -> Result<(), RunError> {
        if left > 0 || waiting > 0 {
            let stuck = self.books.iter().position(|book| book.before + book.held + book.on_the_line > 0);
            let (link, channel) = stuck.map_or((0, 0), |at| (at / self.channels, at % self.channels));
            let reason = format!(
                "deadlock: {left} packets stay in the fabric, the first of channel {channel}, and {waiting} sources \
                 wait for their interfaces"
            );
            let place = place(wiring, link as u32);
            return Err(RunError::Violated { place, reason });
        }
        if self.generated != self.arrived {
            let reason = format!("{} packets entered and {} arrived", self.generated, self.arrived);
            return Err(RunError::Violated { place: "the fabric at the end".to_owned(), reason });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Books in which interface 3 has sent a packet of 4 credits in channel 2.
    fn audit() -> Audit {
        let fabric = testing::scenario();
        let wiring = Wiring::new(fabric.topology).expect("fits");
        Audit::new(&fabric, &wiring)
    }

    fn handle() -> Handle {
        Handle { id: 0, cost: 256, credits: 4, channel: 2 }
    }

    fn violation(audit: &mut Audit) -> String {
        audit.outcome().expect_err("violated").to_string()
    }

    fn busy(from: Ticks, until: Ticks) -> Busy {
        Busy { from, until }
    }

    #[test]
    fn a_line_sends_one_packet_at_a_time() {
        let mut audit = audit();
        audit.started(busy(600, 6600), 3, handle());
        assert_eq!(audit.outcome(), Ok(()));
        audit.started(busy(6000, 9000), 3, handle());
        let expected = "interface 3 at 1000 ns: a packet starts while the line is occupied until 1100 ns";
        assert_eq!(violation(&mut audit), expected);
    }

    #[test]
    fn a_line_does_not_run_out_of_bytes() {
        let mut audit = audit();
        let waiting = Waiting { handle: handle(), tail: 7000, output: None };
        audit.transferred(busy(0, 7000), 64, 256, &waiting);
        assert_eq!(audit.outcome(), Ok(()));
        audit.started(busy(600, 6600), 64, handle());
        let found = violation(&mut audit);
        assert!(
            found.starts_with("port 0 of switch 0 (stage 0, row 0) at 100 ns: the line runs out"),
            "{found}"
        );
        audit.started(busy(400, 9999), 65, handle());
        assert!(violation(&mut audit).contains("whose transfer began at 0 ns, too early"));
        audit.transferred(busy(0, 6999), 64, 256, &waiting);
        assert!(violation(&mut audit).contains("the tail comes at"));
    }

    #[test]
    fn packets_of_a_flow_arrive_in_order_and_where_they_go() {
        let mut audit = audit();
        let packet = |sequence, flow| Packet { sequence, flow, destination: 9, ..Packet::default() };
        audit.delivered(0, 9, &packet(5, 1));
        audit.delivered(0, 9, &packet(4, 2));
        assert_eq!(audit.outcome(), Ok(()));
        audit.delivered(6, 9, &packet(4, 1));
        let expected = "end-point 9 at 1 ns: packet 4 of flow 1 of channel 0 from 0 arrives after packet 5";
        assert_eq!(violation(&mut audit), expected);
        audit.delivered(6, 8, &packet(6, 1));
        assert_eq!(violation(&mut audit), "end-point 8 at 1 ns: a packet from 0 to 9 arrives");
    }

    #[test]
    fn what_stays_is_a_deadlock_and_what_is_missing_a_loss() {
        let mut audit = audit();
        audit.entered(3, handle());
        let wiring = audit.wiring.clone();
        let error =
            |audit: &Audit, left| audit.check_drained(left, 0, &wiring).expect_err("left").to_string();
        let found = error(&audit, 1);
        assert!(
            found.starts_with("interface 3: deadlock: 1 packets stay in the fabric, the first of channel 2")
        );
        assert_eq!(error(&audit, 0), "the fabric at the end: 1 packets entered and 0 arrived");
    }
}
