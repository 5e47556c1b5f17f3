//! Schedules against the network model, written down as it reads: the line takes one packet, the discipline decides
//! when it is free; at one instant the end of the transmission, the discipline's event, the arrival.

use weir_core::discipline::{Discipline, Open};
use weir_core::item::Item;
use weir_core::random::Random;
use weir_core::units::Instant;

use crate::classify::Classifier;
use crate::frame::{self, Frame};
use crate::parked::Handle;
use crate::succession::{Boxed, handle_event};
use crate::successor::build;
use crate::testing::*;

/// The model: a packet is named by its destination port, a byte takes a microsecond.
struct Model {
    queue: Boxed<Handle>,
    classifier: Classifier,
    now: u64,
    /// When the transmission under way ends.
    end: Option<u64>,
    left: Vec<(u64, u16)>,
}

impl Model {
    fn next(&self) -> Option<u64> {
        let event = self.queue.next_event().map(Instant::get).filter(|&event| event > self.now);
        [self.end, event].into_iter().flatten().min()
    }

    fn serve(&mut self) {
        let now = Instant::new(self.now);
        if self.end.is_some() {
            return handle_event(&mut self.queue, now, &mut Vec::new());
        }
        let Some(grant) = self.queue.dequeue(now, &Open, &mut Vec::new()) else { return };
        self.queue.finish(now, &grant.item, grant.quantum);
        let end = self.now + grant.item.cost().get() * 1_000;
        self.left.push((end, grant.item.frame as u16));
        self.end = Some(end);
    }

    fn run(&mut self, until: u64) {
        while let Some(now) = self.next().filter(|&now| now <= until) {
            self.now = now;
            self.end = self.end.filter(|&end| end > now);
            self.serve();
        }
    }

    fn arrive(&mut self, now: u64, datagram: &Udp) {
        self.run(now);
        self.now = now;
        let Ok(Frame::Ip(packet)) = frame::read(&datagram.frame(own(0), next(0))) else { panic!() };
        let label = self.classifier.label(&packet, crate::vlan::Origin::default());
        let handle = Handle::new(datagram.ports.1.into(), label, &packet);
        let _ = self.queue.enqueue(Instant::new(now), handle, &mut Vec::new());
        if self.end.is_none() {
            self.serve();
        }
    }
}

fn modelled(discipline: &str, arrivals: &[(u64, Udp)]) -> Vec<(u64, u16)> {
    let told = router(discipline);
    let queue = build(&told, 1, 1).expect("a discipline")();
    let mut model =
        Model { queue, classifier: Classifier::new(&told, 1), now: 0, end: None, left: Vec::new() };
    arrivals.iter().for_each(|(at, datagram)| model.arrive(*at, datagram));
    model.run(1 << 50);
    model.left
}

/// Packets of four flows, some at once, some at the very end of a transmission.
fn arrivals(random: &mut Random) -> Vec<(u64, Udp)> {
    let mut at = 0;
    let mut arrival = |name| {
        at += if random.one_in(3) { 0 } else { 100_000 * random.below(5) };
        let size = 100 * (1 + random.below(5)) as usize;
        let mut datagram = Udp::across([0, 2][random.below(2) as usize], 1, size);
        (datagram.ports, datagram.class) = ((random.below(2) as u16, name), random.below(2) as u8);
        (at, datagram)
    };
    (0..80).map(&mut arrival).collect()
}

fn name(frame: &[u8]) -> u16 {
    u16::from_be_bytes([frame[36], frame[37]])
}

const DISCIPLINES: [&str; 10] = [
    "fifo:limit=10pkt",
    "sfq:queues=64",
    "sfq(queues=8,depth=3pkt,hash=xor)",
    "drr(quantum=300B,limit=20pkt)",
    "wfq:rate=8Mbit",
    "tbf(drr:quantum=300B,rate=6Mbit,burst=700B)",
    "codel(target=1ms,interval=5ms)",
    "fq_codel",
    "cake:memlimit=9kB",
    "cake(rate=6Mbit,rtt=5ms,overhead=38B)",
];

#[test]
fn schedules_are_those_of_the_network_model() {
    let mut random = Random::new(5);
    for discipline in DISCIPLINES {
        for _ in 0..12 {
            let arrivals = arrivals(&mut random);
            let mut bench = Bench::new(router(discipline));
            let mut left = Vec::new();
            for (at, datagram) in &arrivals {
                left.extend(bench.run(1, *at));
                bench.datagram(*at, if datagram.from == v4(0) { 0 } else { 2 }, datagram);
            }
            left.extend(bench.run(1, 1 << 50));
            let left: Vec<_> = left.into_iter().map(|(at, frame)| (at, name(&frame))).collect();
            assert_eq!(left, modelled(discipline, &arrivals), "{discipline}");
            bench.holds(1 << 50);
        }
    }
}

fn v4(interface: usize) -> std::net::IpAddr {
    std::net::Ipv4Addr::new(10, 0, interface as u8, 1).into()
}

#[test]
fn lateness_changes_no_schedule() {
    let mut random = Random::new(6);
    for discipline in DISCIPLINES {
        let arrivals = arrivals(&mut random);
        let expected = modelled(discipline, &arrivals);
        let mut bench = Bench::new(router(discipline));
        let (mut now, mut left, mut next) = (0, Vec::new(), arrivals.iter().peekable());
        while now < 1 << 27 {
            now += random.below(7_000_000);
            while let Some((at, datagram)) = next.next_if(|(at, _)| *at <= now) {
                bench.datagram(*at, if datagram.from == v4(0) { 0 } else { 2 }, datagram);
            }
            left.extend(bench.depart(now, 1, u32::MAX).iter().map(|frame| name(frame)));
            let by_now = expected.iter().take_while(|(at, _)| *at <= now).count();
            assert_eq!(left.len(), by_now, "{discipline} at {now}");
        }
        let expected: Vec<u16> = expected.into_iter().map(|(_, name)| name).collect();
        assert_eq!(left, expected, "{discipline}");
    }
}
