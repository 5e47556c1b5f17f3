use super::*;
use crate::conformance::Random;
use crate::task::testing::{ALWAYS, Machine, at, machine, ms, schedule};
use crate::task::{Task, TaskDiscipline};

/// A need of `need` milliseconds in `period` milliseconds, converted to the 100 ms of the discipline.
fn need(need: u64, period: u64) -> Declared {
    of_own_period(ms(need), ms(period))
}

fn of_own_period(need: Nanos, period: Nanos) -> Declared {
    let in_all = (need.get() * ms(100).get()).div_ceil(period.get());
    Declared { need: Nanos::new(in_all), period: Some(period), ..NOTHING }
}

const NOTHING: Declared =
    Declared { priority: 1, need: Nanos::new(0), slice: None, period: None, weight: None };

#[test]
fn the_earliest_deadline_runs_until_its_budget_is_used_up() {
    let declared = [need(2, 5), need(3, 10)];
    let bursts = [('a', 0, 99), ('b', 0, 99)];
    assert_eq!(schedule("cbs", &declared, &bursts, 20), "aabbbaa...aabbbaa...");
}

#[test]
fn who_wakes_with_an_earlier_deadline_preempts() {
    let declared = [need(4, 10), need(1, 5)];
    assert_eq!(schedule("cbs", &declared, &[('a', 0, 99), ('b', 2, 1)], 12), "aabaa.....aa");
    // Its deadline would be 10 at 5: no earlier.
    assert_eq!(schedule("cbs", &[need(4, 10), need(1, 10)], &[('a', 0, 4), ('b', 2, 1)], 6), "aaaab.");
}

#[test]
fn processes_without_a_need_take_turns_in_the_background() {
    let declared = [need(2, 5), NOTHING, NOTHING];
    let bursts = [('a', 0, 99), ('b', 0, 99), ('c', 0, 99)];
    // A slice goes on where it was interrupted.
    assert_eq!(schedule("cbs:slice=4ms", &declared, &bursts, 20), "aabbbaabccaaccbaabbb");
}

#[test]
fn throttled_processes_run_in_the_background_if_they_may() {
    let declared = [need(2, 10), NOTHING];
    let bursts = [('a', 0, 99), ('b', 0, 99)];
    assert_eq!(schedule("cbs:slice=2ms", &declared, &bursts, 14), "aabbbbbbbbaabb");
    let spec = "cbs:slice=2ms,surplus=background";
    assert_eq!(schedule(spec, &declared, &bursts, 14), "aabbaabbaaaabb");
    assert_eq!(schedule(spec, &[need(2, 10)], &[('a', 0, 25)], 26), format!("{}.", "a".repeat(25)));
}

#[test]
fn who_wakes_keeps_a_budget_that_its_bandwidth_allows() {
    // At 3, 1 ms until 10 is less than 2 in 10; at 6 it is more, and a period begins.
    let declared = [need(2, 10)];
    assert_eq!(schedule("cbs", &declared, &[('a', 0, 1), ('a', 3, 9)], 12), "a..a......aa");
    assert_eq!(schedule("cbs", &declared, &[('a', 0, 1), ('a', 6, 9)], 18), "a.....aa........aa");
}

#[test]
fn who_waits_without_budget_and_wakes_is_throttled() {
    let declared = [need(2, 10)];
    assert_eq!(schedule("cbs", &declared, &[('a', 0, 2), ('a', 4, 9)], 12), "aa........aa");
}

#[test]
fn an_overrun_is_made_up_for() {
    let mut cbs = machine("cbs", &[need(2, 10)]).discipline;
    let drops = &mut crate::discipline::CountDrops::default();
    let mut run = |cbs: &mut Box<dyn TaskDiscipline<Task> + Send>, from: u64, used: Nanos| {
        let grant = cbs.dequeue(at(from), &crate::discipline::Open, drops);
        let grant = grant.expect("budget");
        cbs.requeue(at(from) + used, grant.item, used, drops);
        grant.quantum
    };
    let _ = cbs.enqueue(at(0), Task { process: FlowId(0) }, &mut crate::discipline::CountDrops::default());
    assert_eq!(run(&mut cbs, 0, ms(3)), ms(2));
    assert_eq!(cbs.next_event(), Some(at(10)));
    // 1 ms of the next 2 is gone.
    assert_eq!(run(&mut cbs, 10, ms(1)), ms(1));
    assert_eq!(cbs.next_event(), Some(at(20)));
    assert_eq!(run(&mut cbs, 20, ms(2)), ms(2));
}

#[test]
fn reclaiming_gives_what_nobody_is_promised_to_those_who_run() {
    let declared = [need(2, 10), need(3, 10)];
    let spec = "cbs:reclaim=grub";
    assert_eq!(schedule(spec, &declared, &[('a', 0, 99)], 12), "aaaaaaaaaaaa");
    // Half of the time is promised: each has twice its need.
    assert_eq!(schedule(spec, &declared, &[('a', 0, 99), ('b', 0, 99)], 20), "aaaabbbbbbaaaabbbbbb");
}

#[test]
fn bandwidth_of_who_waits_is_active_until_its_zero_lag_time() {
    // a waits at 1 and has used 0.7 ms of 5 in 10: it is active until 1.4. b uses 0.28 ms of its 2 until then, and what
    // is left lasts 8.6 ms at its own rate: until its deadline.
    let declared = [need(5, 10), need(2, 10)];
    let mut machine = machine("cbs:reclaim=grub", &declared);
    machine.wake(at(0), 0, ms(1));
    machine.wake(at(0), 1, ALWAYS);
    machine.run_until(at(1));
    machine.run_until(Instant::new(1_200_000));
    assert_eq!(machine.discipline.next_event(), Some(Instant::new(1_400_000)));
    machine.run_until(at(12));
    assert_eq!(machine.letters(), "abbbbbbbbbbb");
    let used = machine.discipline.used(FlowId(0)).unwrap();
    let bandwidths_rounded_down = Nanos::new(1);
    assert_eq!(used.need + bandwidths_rounded_down, Nanos::new(700_000));
    assert_eq!(used.uncommitted - bandwidths_rounded_down, Nanos::new(300_000));
}

#[test]
fn time_is_told_by_kind() {
    let mut machine = machine("cbs:surplus=background", &[need(2, 10)]);
    machine.wake(at(0), 0, ALWAYS);
    machine.run_until(at(20));
    let used = machine.discipline.used(FlowId(0)).unwrap();
    assert_eq!((used.need, used.uncommitted, used.windfall), (ms(4), ms(0), ms(16)));
    assert_eq!(machine.discipline.level(FlowId(0)), Some(-1));
}

#[test]
fn more_than_the_processor_is_warned_of_refused_or_taken() {
    let declare = |spec: &str, last: Declared| {
        let mut cbs = machine(spec, &[need(1, 3), need(50, 100)]).discipline;
        cbs.declare(at(0), FlowId(2), last)
    };
    // 1/3 + 1/2 + 1/6 is all there is, and a nanosecond in 6 ms more is too much.
    assert_eq!(declare("cbs:admit=refuse", need(1, 6)), Ok(None));
    let more = of_own_period(Nanos::new(1_000_001), ms(6));
    let too_much = Overcommitted { committed: Nanos::new(100_000_017), epoch: ms(100) };
    assert_eq!(declare("cbs", more), Ok(Some(too_much)));
    assert_eq!(declare("cbs:admit=allow", more), Ok(None));
    assert_eq!(declare("cbs:admit=refuse", more), Err(DeclarationError::Overcommitted(too_much)));
    let error = declare("cbs", need(7, 5)).unwrap_err().to_string();
    assert_eq!(error, "need is 140ms, must be at most the epoch, which is 100ms");
}

#[test]
fn who_leaves_gives_its_promise_back() {
    let mut cbs = machine("cbs:admit=refuse", &[need(80, 100)]).discipline;
    assert!(cbs.declare(at(0), FlowId(1), need(30, 100)).is_err());
    cbs.exit(at(0), FlowId(0));
    assert_eq!(cbs.declare(at(0), FlowId(1), need(100, 100)), Ok(None));
}

#[test]
fn who_leaves_after_its_need_leaves_others_theirs() {
    // a has run at the whole bandwidth all that it was entitled to until 100: b and c have the rest, and what was a's
    // from then on.
    let mut machine = machine("cbs:reclaim=grub", &[need(50, 100), need(25, 100), need(25, 100)]);
    machine.wake(at(0), 0, ms(50));
    machine.exit(0);
    (1..3).for_each(|process| machine.wake(at(0), process, ALWAYS));
    machine.run_until(at(200));
    let served = |process, from, to| machine.served(process, at(from), at(to));
    assert_eq!([0, 1, 2].map(|process| served(process, 0, 100)), [ms(50), ms(25), ms(25)]);
    assert_eq!([0, 1, 2].map(|process| served(process, 100, 200)), [ms(0), ms(50), ms(50)]);
}

#[test]
fn what_who_leaves_has_used_is_promised_to_others_after_its_zero_lag_time() {
    for spec in ["cbs:admit=refuse", "cbs:admit=refuse,reclaim=grub"] {
        let mut machine = machine(spec, &[need(50, 100), need(25, 100)]);
        machine.wake(at(0), 0, ms(30));
        machine.exit(0);
        machine.run_until(at(59));
        // It has run 30 ms at its bandwidth of half by 60; with reclaiming they took two thirds of its 50.
        let until = if spec.contains("grub") { 45 } else { 60 };
        let cbs = &mut machine.discipline;
        assert!(until < 59 || cbs.declare(at(59), FlowId(2), need(50, 100)).is_err(), "{spec}");
        assert_eq!(cbs.declare(at(60), FlowId(2), need(75, 100)), Ok(None), "{spec}");
        assert!(cbs.declare(at(60), FlowId(3), need(1, 100)).is_err());
    }
}

#[test]
fn who_is_declared_again_goes_on_with_its_server() {
    for spec in ["cbs:admit=refuse", "cbs:admit=refuse,reclaim=grub"] {
        let mut machine = machine(spec, &[need(50, 100), need(50, 100)]);
        machine.wake(at(0), 0, ms(50));
        machine.exit(0);
        machine.wake(at(0), 1, ALWAYS);
        machine.run_until(at(60));
        let cbs = &mut machine.discipline;
        cbs.declare(at(60), FlowId(0), need(20, 100)).unwrap();
        // Its half is not free yet.
        assert!(cbs.declare(at(60), FlowId(2), need(30, 100)).is_err());
        machine.wake(at(70), 0, ALWAYS);
        machine.run_until(at(101));
        assert_eq!(machine.served(0, at(60), at(100)), ms(0));
        assert_eq!(machine.served(1, at(0), at(100)), ms(50));
        assert_eq!(machine.discipline.declare(at(101), FlowId(2), need(30, 100)), Ok(None));
        machine.wake(at(101), 2, ALWAYS);
        machine.run_until(at(501));
        for period in [101, 201, 301, 401].map(at) {
            let served = |process| machine.served(process, period, period + ms(100)) + Nanos::new(1);
            assert!(served(0) >= ms(20) && served(1) >= ms(50) && served(2) >= ms(30), "{spec} {period}");
        }
    }
}

#[test]
fn a_need_that_falls_is_promised_to_others_when_it_does() {
    let mut machine = machine("cbs:admit=refuse", &[need(80, 100)]);
    machine.wake(at(0), 0, ALWAYS);
    machine.run_until(at(10));
    machine.discipline.declare(at(10), FlowId(0), need(40, 100)).unwrap();
    assert!(machine.discipline.declare(at(10), FlowId(1), need(30, 100)).is_err());
    machine.run_until(at(101));
    assert_eq!(machine.discipline.declare(at(101), FlowId(1), need(60, 100)), Ok(None));
}

#[test]
fn another_need_has_effect_with_the_next_budget() {
    let mut machine = machine("cbs", &[need(2, 10)]);
    machine.wake(at(0), 0, ALWAYS);
    machine.run_until(at(4));
    machine.discipline.declare(at(4), FlowId(0), need(3, 5)).unwrap();
    machine.run_until(at(20));
    assert_eq!(machine.letters(), "aa........aaa..aaa..");
}

/// Servers with bandwidths of 1 together at most, in hundredths, with periods of whole microseconds.
fn servers(random: &mut Random) -> Vec<Declared> {
    let mut left = 100;
    let mut all = Vec::new();
    while left > 0 && all.len() < 8 {
        let hundredths = 1 + random.below(left.min(60));
        let period = 100_000 * (1 + random.below(400));
        all.push(of_own_period(Nanos::new(period / 100 * hundredths), Nanos::new(period)));
        left -= hundredths;
    }
    all
}

fn promised(declared: &Declared) -> Promise {
    Promise::of(declared.need, ms(100), declared.period.unwrap())
}

/// Each server that stays ready has its need in every period from its wake-up on, whatever others do.
fn promise(seed: u64, spec: &str, missing: Nanos) {
    let mut random = Random::new(seed);
    let declared = servers(&mut random);
    let mut machine = machine(spec, &declared);
    // Every other server is ready always, from some moment on; the rest come and go.
    let (end, mut wakes) = (at(600), Vec::new());
    for process in 0..declared.len() as u32 {
        let mut moment = Instant::new(random.below(30_000_000));
        if process.is_multiple_of(2) {
            machine.wake(moment, process, ALWAYS);
            wakes.push((process, moment));
        }
        while process % 2 == 1 && moment < end {
            let Promise { need, period } = promised(&declared[process as usize]);
            let burst = Nanos::new(1 + random.below(3 * need.get()));
            machine.wake(moment, process, burst);
            // Over by then even if it has its need and no more, as a period may begin late.
            let periods = burst.get().div_ceil(need.get()) + 2;
            moment += Nanos::new(periods * period.get() + random.below(20_000_000));
        }
    }
    let background = declared.len() as u32;
    machine.wake(at(1), background, ALWAYS);
    machine.run_until(end);
    wakes.iter().for_each(|&(process, woken)| {
        assert_promise(&machine, process, &declared[process as usize], woken, missing);
    });
}

fn assert_promise<D: TaskDiscipline<Task>>(
    machine: &Machine<D>,
    process: u32,
    declared: &Declared,
    woken: Instant,
    missing: Nanos,
) {
    let Promise { need, period } = promised(declared);
    let mut from = woken;
    while from + period <= machine.now {
        let served = machine.served(process, from, from + period);
        assert!(served + missing >= need, "{process} of {declared:?} has {served} from {from}");
        from += period;
    }
}

#[test]
fn every_server_has_its_need_in_every_period() {
    for seed in 0..60 {
        promise(seed, "cbs", Nanos::ZERO);
        promise(seed, "cbs:surplus=background,slice=1ms", Nanos::ZERO);
    }
}

#[test]
fn with_reclaiming_too() {
    for seed in 0..60 {
        promise(seed, "cbs:reclaim=grub", Nanos::new(1));
    }
}

/// Those who stay ready have their needs while others come, run for a while and leave for good, and new ones come in
/// their numbers as soon as they are admitted. Returns how many were, and how many were not.
fn promise_amid_exits(seed: u64, spec: &str, missing: Nanos) -> (u64, u64) {
    let mut random = Random::new(seed);
    let declared = servers(&mut random);
    let mut machine = machine(spec, &declared);
    let mut wakes = Vec::new();
    for process in 0..declared.len() as u32 {
        if process.is_multiple_of(2) {
            let moment = Instant::new(random.below(30_000_000));
            machine.wake(moment, process, ALWAYS);
            wakes.push((process, moment));
        } else {
            come(&mut machine, &mut random, process, &declared[process as usize]);
        }
    }
    let (mut came, mut refused) = (0, 0);
    while machine.now < at(600) {
        machine.run_until(machine.now + Nanos::new(1 + random.below(5_000_000)));
        for process in (1..declared.len() as u32).step_by(2) {
            if machine.is_to_exit(process) {
                continue;
            }
            let (period, hundredths) = (100_000 * (1 + random.below(400)), 1 + random.below(60));
            let asks = of_own_period(Nanos::new(period / 100 * hundredths), Nanos::new(period));
            if machine.discipline.declare(machine.now, FlowId(process), asks).is_ok() {
                came += 1;
                come(&mut machine, &mut random, process, &asks);
            } else {
                refused += 1;
            }
        }
    }
    wakes.iter().for_each(|&(process, woken)| {
        assert_promise(&machine, process, &declared[process as usize], woken, missing);
    });
    (came, refused)
}
/// One that was declared now runs for a while, and leaves.
fn come<D: TaskDiscipline<Task>>(
    machine: &mut Machine<D>,
    random: &mut Random,
    process: u32,
    asks: &Declared,
) {
    let burst = Nanos::new(1 + random.below(3 * promised(asks).need.get()));
    machine.exit(process);
    machine.wake(machine.now, process, burst);
}

#[test]
fn who_stays_has_its_need_whoever_leaves() {
    for (spec, missing) in
        [("cbs:admit=refuse", Nanos::ZERO), ("cbs:admit=refuse,reclaim=grub", Nanos::new(1))]
    {
        let all = (0..60).map(|seed| promise_amid_exits(seed, spec, missing));
        let (came, refused) = all.fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
        assert!(came > 1_000 && refused > 1_000, "{spec}: {came} came, {refused} were refused");
    }
}

#[test]
fn reclaiming_leaves_no_time_unused_while_anybody_is_ready() {
    let mut machine = machine("cbs:reclaim=grub", &[need(7, 31), need(3, 17), need(11, 90)]);
    (0..3).for_each(|process| machine.wake(at(0), process, ALWAYS));
    machine.run_until(at(1_000));
    let idle = ms(1_000) - machine.runs.iter().map(|run| run.to - run.from).sum();
    assert!(idle < Nanos::new(1_000), "{idle} idle");
}
