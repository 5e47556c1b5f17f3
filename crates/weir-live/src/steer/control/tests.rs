//! The loop over programs that are not there.

use std::collections::BTreeSet;

use weir_document::Source;
use weir_gauge::spans::Spans;

use super::super::config::read;
use super::*;

const MS: u64 = 1_000_000;

/// Programs and a machine that do what a test says.
#[derive(Default)]
struct Fake {
    counts: Counts,
    open: BTreeSet<u32>,
    online: Processors,
    decisions: Vec<Vec<u32>>,
    scheduled: Vec<(u32, Option<u8>)>,
    /// Threads that do not sleep.
    awake: BTreeSet<u32>,
    /// Threads that run elsewhere.
    strays: BTreeSet<u32>,
    refuses: Option<u32>,
}

impl Fake {
    fn of(&mut self, processor: u32) -> &mut ProcessorCounts {
        let all = &mut self.counts.processors;
        let at = all.iter().position(|it| it.processor == processor).unwrap_or_else(|| {
            all.push(ProcessorCounts { processor, ..ProcessorCounts::default() });
            all.len() - 1
        });
        &mut self.counts.processors[at]
    }

    /// Lets `requests` requests of a class begin their service, each after this delay.
    fn serve(&mut self, class: usize, requests: u64, delay: u64) {
        let mut spans = Spans::default();
        (0..requests).for_each(|_| spans.add(Nanos::new(delay)));
        self.counts.delays[class].merge(&spans);
    }
}

impl Steered for Fake {
    fn open_queue(&mut self, processor: u32) -> io::Result<()> {
        if self.refuses == Some(processor) {
            return Err(io::Error::other("refused"));
        }
        assert!(self.open.insert(processor), "{processor} is open already");
        self.of(processor);
        Ok(())
    }
    fn close_queue(&mut self, processor: u32) -> io::Result<()> {
        assert!(self.open.remove(&processor), "{processor} is not open");
        let sent: Vec<u32> = self.decisions.last().cloned().unwrap_or_default();
        assert!(!sent.contains(&processor), "{processor} still gets requests");
        Ok(())
    }
    fn decide(&mut self, decision: &Decision) -> io::Result<()> {
        let processors: Vec<u32> = decision.processors().collect();
        assert!(processors.iter().all(|processor| self.open.contains(processor)), "{processors:?}");
        self.decisions.push(processors);
        Ok(())
    }
    fn counts(&mut self) -> io::Result<Counts> {
        Ok(self.counts.clone())
    }
    fn waited(&self) -> [Delays; MOST_CLASSES] {
        let of = |delays: &Spans| Delays { requests: delays.count(), delay: delays.sum() };
        self.counts.delays.each_ref().map(of)
    }
    fn left_to_device(&self) -> u64 {
        self.counts.frames.completed + self.counts.frames.left_out
    }
    fn threads(&self) -> Vec<QueueThread> {
        self.open.iter().map(|&processor| QueueThread { processor, process: 1000 + processor }).collect()
    }
    fn schedule(&mut self, thread: u32, priority: Option<u8>) -> String {
        self.scheduled.push((thread, priority));
        priority.map_or_else(|| "SCHED_OTHER".to_owned(), |priority| format!("SCHED_FIFO {priority}"))
    }
    fn sleeps(&self, thread: u32) -> bool {
        !self.awake.contains(&thread)
    }
    fn is_at(&self, thread: u32, _: u32) -> bool {
        !self.strays.contains(&thread)
    }
    fn online(&self) -> io::Result<Processors> {
        Ok(self.online.clone())
    }
}

fn list(text: &str) -> Processors {
    Processors::parse(text).expect(text)
}

fn at(millis: u64) -> Instant {
    Instant::new(millis * MS)
}

fn control(policy: &str) -> Control<Fake> {
    let text = format!(
        "weir = 1\n[steer]\nname = \"kv\"\ninterface = \"e\"\nports = [9]\nprocessors = \"1-4\"\npolicy = \"{policy}\"\n\
         window = \"1ms\"\n[classes]\nlong = {{ byte = 3, at_least = 10 }}"
    );
    let steering = read(&Source { name: "s.toml", text: &text }).expect("valid");
    let fake = Fake { online: list("0-7"), ..Fake::default() };
    Control::start(fake, steering, list("1-4"), at(0)).expect("started")
}

fn advance(control: &mut Control<Fake>, millis: u64) {
    control.advance(at(millis)).expect("advanced");
}

#[test]
fn the_count_of_processors_follows_the_delay_of_the_window() {
    let mut control = control("dynamic:add=50us,period=10ms");
    assert_eq!(control.in_use(), [1, 2]);
    let mut seen = Vec::new();
    for (period, delay) in
        [100_000, 100_000, 100_000, 30_000, 30_000, 1_000, 1_000, 1_000].into_iter().enumerate()
    {
        control.steered.serve(period % 2, 10, delay);
        advance(&mut control, 10 * (period as u64 + 1));
        seen.push(control.in_use().len());
    }
    assert_eq!(seen, [3, 4, 4, 4, 4, 3, 2, 2]);
    // A period without requests changes nothing, and asks for no other decision.
    let decisions = control.steered.decisions.len();
    advance(&mut control, 90);
    assert_eq!((control.steered.decisions.len(), control.changes, control.calls), (decisions, 5, 9));
}

#[test]
fn it_decides_as_the_dispatcher_of_core_by_itself() {
    let spec = "dynamic_separated:add=50us,period=10ms";
    let mut control = control(spec);
    let (_, mut alone) = policy::build(spec, &control.steering.site(4)).expect("a policy");
    let mut state = 3_u64;
    for period in 1..400 {
        let mut classes = [Delays::default(); 2];
        for (class, delays) in classes.iter_mut().enumerate() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (requests, delay) = (state >> 62, (state >> 33) % 200_000);
            control.steered.serve(class, requests, delay);
            *delays = Delays { requests, delay: Nanos::new(requests * delay) };
        }
        advance(&mut control, 10 * period);
        alone.control(
            at(10 * period),
            &Measured { classes: &classes, oldest: Nanos::new(0), busy: Nanos::new(0) },
        );
        assert_eq!(control.policy.rule(), alone.rule(), "{period}");
        assert_eq!(Some(control.in_use().len() as u32), alone.in_use(), "{period}");
    }
    assert!(control.changes > 10, "{}", control.changes);
}

#[test]
fn a_processor_that_is_taken_away_serves_what_it_has() {
    let mut control = control("rr");
    *control.steered.of(3) = ProcessorCounts { processor: 3, steered: 10, served: 4, dropped: 1 };
    control.steered.awake.insert(1003);
    control.set_processors(at(100), list("1-2,5")).expect("they are there");
    assert_eq!(control.steered.decisions.last(), Some(&vec![1, 2, 5]));
    advance(&mut control, 100);
    assert_eq!(control.steered.open, BTreeSet::from([1, 2, 3, 4, 5]));
    assert!(control.queues[&3].is_draining() && control.queues[&4].is_draining());
    advance(&mut control, 200);
    // Nothing waits for 4, something for 3.
    assert_eq!(control.steered.open, BTreeSet::from([1, 2, 3, 5]));
    control.steered.of(3).served = 9;
    advance(&mut control, 300);
    advance(&mut control, 400);
    assert_eq!(control.steered.open, BTreeSet::from([1, 2, 5]));
    assert_eq!(control.counts().expect("told").processors[2].dropped, 1);
    // It comes back with what it has counted.
    control.set_processors(at(500), list("3")).expect("it is there");
    assert_eq!(control.steered.decisions.last(), Some(&vec![3]));
    assert_eq!(control.steered.of(3).served, 9);
}

#[test]
fn one_that_comes_back_while_it_drains_keeps_its_queue() {
    let mut control = control("rr");
    control.set_processors(at(1), list("1")).expect("there");
    control.set_processors(at(2), list("1-4")).expect("there");
    for millis in [10, 100, 1_000, 5_000] {
        advance(&mut control, millis);
    }
    assert_eq!(control.steered.open.len(), 4);
    assert!(control.queues.values().all(|queue| !queue.is_draining()));
}

#[test]
fn processors_that_go_offline_are_passed_over_and_come_back() {
    let mut control = control("rr");
    advance(&mut control, 0);
    control.steered.online = list("0-2,4");
    advance(&mut control, 1_000);
    assert_eq!(control.steered.decisions.last(), Some(&vec![1, 2, 4]));
    advance(&mut control, 1_100);
    assert!(!control.steered.open.contains(&3));
    control.steered.online = list("0-7");
    advance(&mut control, 2_200);
    assert_eq!(control.steered.decisions.last(), Some(&vec![1, 2, 3, 4]));
    // All gone: every request is dropped by the programs, and the loop lives on.
    control.steered.online = list("0");
    advance(&mut control, 4_000);
    assert_eq!(control.steered.decisions.last(), Some(&Vec::new()));
    control.steered.online = list("0-7");
    advance(&mut control, 6_000);
    assert_eq!(control.in_use(), [1, 2, 3, 4]);
}

#[test]
fn one_that_was_offline_for_a_moment_is_drained_and_made_anew() {
    let mut control = control("rr");
    advance(&mut control, 0);
    *control.steered.of(3) = ProcessorCounts { processor: 3, steered: 10, served: 4, dropped: 0 };
    control.steered.awake.insert(1003);
    // It is back before anybody looked, but its thread is not.
    control.steered.strays.insert(1003);
    for millis in [1_000, 1_100] {
        advance(&mut control, millis);
        assert_eq!(control.steered.decisions.last(), Some(&vec![1, 2, 4]));
        assert!(control.queues[&3].is_draining() && control.steered.open.contains(&3));
    }
    control.steered.of(3).served = 10;
    advance(&mut control, 1_200);
    assert!(!control.steered.open.contains(&3));
    control.steered.strays.clear();
    advance(&mut control, 1_300);
    assert_eq!(control.steered.decisions.last(), Some(&vec![1, 2, 3, 4]));
    assert_eq!(control.steered.scheduled.last(), Some(&(1003, Some(50))));
}

#[test]
fn a_queue_that_cannot_be_made_is_done_without() {
    let mut control = control("rr");
    control.steered.refuses = Some(5);
    control.set_processors(at(1), list("4-6")).expect("there");
    assert_eq!(control.steered.decisions.last(), Some(&vec![4, 6]));
    control.steered.refuses = None;
    advance(&mut control, 2_000);
    assert_eq!(control.steered.decisions.last(), Some(&vec![4, 5, 6]));
}

#[test]
fn threads_are_scheduled_once_each() {
    let mut control = control("rr");
    for millis in [0, 1_000, 2_000] {
        advance(&mut control, millis);
    }
    assert_eq!(control.steered.scheduled, [1001, 1002, 1003, 1004].map(|thread| (thread, Some(50))));
    control.set_processors(at(2_100), list("1-5")).expect("there");
    advance(&mut control, 2_200);
    assert_eq!(control.steered.scheduled.last(), Some(&(1005, Some(50))));
    assert_eq!(control.queues[&5].priority(), "SCHED_FIFO 50");
}

#[test]
fn what_nobody_served_and_nobody_told_of_is_dropped() {
    let mut control = control("rr");
    advance(&mut control, 0);
    *control.steered.of(1) = ProcessorCounts { processor: 1, steered: 100, served: 90, dropped: 0 };
    control.steered.awake.insert(1001);
    for millis in [1_000, 2_000] {
        advance(&mut control, millis);
        assert_eq!(control.counts().expect("told").processors[0].waiting(), 10, "its thread is at work");
    }
    control.steered.awake.clear();
    advance(&mut control, 3_000);
    let counts = control.counts().expect("told").processors[0];
    assert_eq!((counts.dropped, counts.waiting()), (10, 0));
    control.steered.of(1).steered = 105;
    assert_eq!(control.counts().expect("told").processors[0].waiting(), 5);
}

#[test]
fn another_policy_begins_anew_and_a_bad_one_changes_nothing() {
    let mut control = control("rr_separated:short=3");
    assert_eq!(control.parts(), [[0, 3], [3, 1]]);
    let error = control.set_policy(at(1), "random").expect_err("not in the kernel");
    assert!(error.starts_with("policy is \"random\", cannot run in the kernel as `random`"), "{error}");
    assert_eq!(control.parts(), [[0, 3], [3, 1]]);
    let error = control.set_processors(at(1), list("1-3")).expect_err("too few");
    assert!(error.contains("`short`"), "{error}");
    assert_eq!(control.in_use(), [1, 2, 3, 4]);
    control.set_policy(at(2), "dynamic_separated:period=10ms").expect("runs");
    assert_eq!((control.parts(), control.in_use()), ([[0, 1], [3, 1]], vec![1, 4]));
    // A class without requests gives its last one up, and is served by the other's.
    control.steered.serve(0, 5, 100_000);
    advance(&mut control, 12);
    assert_eq!(control.parts()[0], control.parts()[1]);
    control.set_policy(at(13), "jsq").expect("runs");
    assert_eq!((control.parts(), control.next_event()), ([[0, 4], [0, 4]], at(13)));
    assert_eq!(control.steering.policy.to_string(), "jsq");
}

#[test]
fn a_late_loop_does_not_catch_up() {
    let mut control = control("dynamic:period=10ms");
    advance(&mut control, 95);
    assert_eq!((control.calls, control.next_period), (1, Some(at(105))));
}
