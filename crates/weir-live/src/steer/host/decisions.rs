//! Each decision of the header is that of the dispatcher in weir-core whose rule it was given.

use weir_core::discipline::DropReason;
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::pool::{Delays, Dispatcher, Measured, Profile, ReceiverId, ServerId, Servers, Site};
use weir_core::random::Random;
use weir_core::registry;
use weir_core::units::{Instant, Nanos};

use super::super::decision::Decision;
use super::{bytes, numbers};

type Request = Message<Nanos>;

const NAMES: [&str; 6] = ["rr", "rr_separated", "dynamic", "dynamic_separated", "flow_hash", "jsq"];
/// How many dispatchers of each name are compared, and by how many decisions each: a million together.
const DISPATCHERS: usize = 100;
const DECISIONS: usize = 1_700;
const NONE: u32 = u32::MAX;

/// What is at each server.
struct Lengths(Vec<u32>);

impl Servers for Lengths {
    fn count(&self) -> u32 {
        self.0.len() as u32
    }
    fn length(&self, server: ServerId) -> u32 {
        self.0[server.0 as usize]
    }
    fn work(&self, _: ServerId) -> Nanos {
        Nanos::ZERO
    }
}

/// A dispatcher of weir-core, the commands that make the header decide the same, and what it is to answer.
struct Case {
    random: Random,
    commands: Vec<u8>,
    expected: Vec<u32>,
}

impl Case {
    fn command(&mut self, command: u8, numbers: &[u32]) {
        self.commands.push(command);
        self.commands.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
    }

    /// The places of a list in any order, some of which lead to no server.
    fn available(&mut self, servers: u32) -> String {
        let mut places: Vec<String> = (0..servers).map(|server| server.to_string()).collect();
        (0..self.random.pick(3)).for_each(|_| places.push("none".into()));
        for last in (1..places.len()).rev() {
            places.swap(last, self.random.pick(last as u32 + 1) as usize);
        }
        places.join("/")
    }

    /// A spec of this name with any arguments.
    fn spec(&mut self, name: &str, servers: u32) -> String {
        let list = self.available(servers);
        let strict = ["no", "abort"][self.random.pick(2) as usize];
        let cycle = format!("available={list},strict={strict}");
        match name {
            "rr" => format!("rr({},{cycle})", 1 + self.random.pick(servers)),
            "rr_separated" if servers > 1 => {
                format!("rr_separated({},{cycle})", 1 + self.random.pick(servers - 1))
            }
            "dynamic" => format!("dynamic(add=50us,min=1,{cycle})"),
            "dynamic_separated" => format!("dynamic_separated(add=50us,{cycle})"),
            "flow_hash" => {
                let (table, seed) = (1 + self.random.pick(300), self.random.pick(u32::MAX));
                format!("flow_hash:table={table},seed={seed}")
            }
            other => other.into(),
        }
    }

    /// Checks `decisions` decisions of one dispatcher, with other rules between them.
    fn dispatcher(&mut self, name: &str, decisions: usize) {
        let (servers, receivers) = (1 + self.random.pick(12), 1 + self.random.pick(3));
        let profile = |share| Profile { share, service: Nanos::new(1_000) };
        let classes = vec![profile(0.9), profile(0.1)];
        let site = Site { servers, receivers, classes, queue: None, speeds: Vec::new() };
        let spec = self.spec(name, servers);
        let mut dispatcher =
            registry::dispatcher::<Request>(&spec.parse().expect(&spec), &site).expect(&spec);
        // Processors are other numbers than servers.
        let processors: Vec<u32> = (0..servers).map(|server| (server * 37 + 5) % 1024).collect();
        let mut lengths = Lengths(vec![0; servers as usize]);
        processors.iter().for_each(|&processor| self.command(b'L', &[processor, 0]));
        self.command(b'T', &[]);
        self.decide(&*dispatcher, &processors);
        for _ in 0..decisions {
            match self.random.pick(64) {
                0 => self.control(&mut *dispatcher, &processors),
                1..16 => self.another_length(&mut lengths, &processors),
                _ => {}
            }
            self.request(&mut *dispatcher, receivers, &lengths, &processors);
        }
    }

    /// Gives the header the rule of the dispatcher.
    fn decide(&mut self, dispatcher: &dyn Dispatcher<Request>, processors: &[u32]) {
        let there: Vec<Option<u32>> = processors.iter().copied().map(Some).collect();
        let decision = Decision::of(&dispatcher.rule().expect("it has one"), &there);
        self.commands.push(b'D');
        self.commands.extend_from_slice(bytes(&decision));
    }

    /// A period is over, in which anything was measured.
    fn control(&mut self, dispatcher: &mut dyn Dispatcher<Request>, processors: &[u32]) {
        let classes = [0, 1].map(|_| Delays {
            requests: self.random.pick(2).into(),
            delay: Nanos::new(u64::from(self.random.pick(120_000))),
        });
        let measured = Measured { classes: &classes, oldest: Nanos::ZERO, busy: Nanos::ZERO };
        dispatcher.control(Instant::ZERO, &measured);
        self.decide(dispatcher, processors);
    }

    fn another_length(&mut self, lengths: &mut Lengths, processors: &[u32]) {
        let server = self.random.pick(processors.len() as u32) as usize;
        lengths.0[server] = self.random.pick(5);
        self.command(b'L', &[processors[server], lengths.0[server]]);
    }

    fn request(
        &mut self,
        dispatcher: &mut dyn Dispatcher<Request>,
        receivers: u32,
        lengths: &Lengths,
        processors: &[u32],
    ) {
        let (receiver, class) = (self.random.pick(receivers), self.random.pick(3));
        let flow = self.random.pick(u32::MAX);
        // The programs know two classes: the first and all others.
        self.command(b'R', &[receiver, class.min(1), flow]);
        let request =
            Request { id: 0, flow: FlowId(flow), class: ClassId(class as u16), remaining: Nanos::ZERO };
        let server: Result<ServerId, DropReason> =
            dispatcher.dispatch(Instant::ZERO, &request, ReceiverId(receiver), lengths);
        self.expected.push(server.map_or(NONE, |server| processors[server.0 as usize]));
        self.expected.push(dispatcher.redirected() as u32);
    }
}

/// How many were dropped and how many sent on, of answers to one dispatcher.
fn other_ways(answers: &[u32]) -> (usize, u32) {
    let dropped = answers.iter().step_by(2).filter(|processor| **processor == NONE).count();
    (dropped, answers.last().copied().unwrap_or_default())
}

#[test]
fn a_million_decisions_are_those_of_core() {
    let mut case = Case { random: Random::new(1), commands: Vec::new(), expected: Vec::new() };
    for name in NAMES {
        (0..DISPATCHERS).for_each(|_| case.dispatcher(name, DECISIONS));
    }
    let answers = numbers(case.commands);
    assert_eq!(answers.len(), 2 * NAMES.len() * DISPATCHERS * DECISIONS);
    let pairs = answers.chunks(2 * DECISIONS).zip(case.expected.chunks(2 * DECISIONS));
    let (mut dropped, mut redirected) = (0, 0);
    for (at, (header, core)) in pairs.enumerate() {
        let differs = header.iter().zip(core).position(|(header, core)| header != core);
        assert_eq!(differs, None, "dispatcher {at}, of {}", NAMES[at / DISPATCHERS]);
        let ways = other_ways(header);
        (dropped, redirected) = (dropped + ways.0, redirected + ways.1);
    }
    assert!(dropped > 1_000 && redirected > 1_000, "{dropped} dropped, {redirected} sent on");
}

#[test]
fn a_processor_that_is_gone_is_passed_over_by_the_hash_and_the_shortest() {
    use weir_core::pool::Rule;
    let mut case = Case { random: Random::new(7), commands: Vec::new(), expected: Vec::new() };
    for rule in [Rule::Hash { seed: 1, entries: 128 }, Rule::Shortest] {
        for there in [[Some(3), None, Some(5)], [None; 3]] {
            case.commands.push(b'D');
            case.commands.extend_from_slice(bytes(&Decision::of(&rule, &there)));
            (0..50).for_each(|flow| case.command(b'R', &[0, 0, flow]));
        }
    }
    let answers = numbers(case.commands);
    for (at, part) in answers.chunks(100).enumerate() {
        let to = |processor| part.iter().step_by(2).filter(|to| **to == processor).count();
        match at {
            0 => assert!(to(3) > 5 && to(5) > 5 && to(3) + to(5) == 50, "{part:?}"),
            2 => assert_eq!(to(3), 50),
            _ => assert_eq!(to(NONE), 50),
        }
    }
    assert!(answers[99] > 5, "sent on: {}", answers[99]);
}
