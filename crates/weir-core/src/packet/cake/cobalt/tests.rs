//! Schedules by hand, and the control against a second one, packet by packet.

use super::*;
use crate::packet::cake::tests::Probe;

const MS: u64 = 1_000_000;

/// That of a line on which the largest packet takes 1 ms: the usual target and interval.
const LAW: Law = Law { target: Nanos::new(5 * MS), interval: Nanos::new(100 * MS), mtu_time: Nanos::new(MS) };

fn at(ms: u64) -> Instant {
    Instant::new(ms * MS)
}

/// Packets leave each 10 ms from `from` to `until`, each after a wait of `waited` ms: when one is dropped, in ms.
fn stand(control: &mut Control, from: u64, until: u64, waited: u64) -> Vec<u64> {
    let random = &mut Random::new(1);
    let dropped = |ms: &u64| {
        let since = Instant::new(ms * MS - waited * MS);
        control.drops(&LAW, at(*ms), since, &mut Probe::of(0, 0, 100), random)
    };
    (from / 10..=until / 10).map(|ten| ten * 10).filter(dropped).collect()
}

#[test]
fn drops_come_faster_by_the_root_of_their_number_and_the_number_falls_again() {
    let mut control = Control::default();
    // The wait is too long from 100 ms on: a drop after an interval, at 200 ms. The next are due 100 / sqrt(2) later,
    // at 270.7 ms, and 100 / sqrt(3) after that, at 328.4 ms; then at 378.4 ms.
    assert_eq!(stand(&mut control, 100, 380, 50), [200, 280, 330, 380]);
    assert_eq!(control.count, 5);
    // The wait is short: at 423.2 ms a step down is due, 50 ms later another, and so on.
    assert_eq!(stand(&mut control, 390, 480, 1), []);
    assert_eq!(control.count, 3);
    // It is too long again from 490 ms on: not a whole interval passes before the next drop, but 100 / sqrt(3), until
    // 547.7 ms, and then 50 ms.
    assert_eq!(stand(&mut control, 490, 600, 50), [550, 600]);
}

#[test]
fn a_wait_of_four_large_packets_is_always_acceptable() {
    let slow = Law { mtu_time: Nanos::new(20 * MS), ..LAW };
    let (mut control, random) = (Control::default(), &mut Random::new(1));
    let mut drops = |waited: u64, ms: u64| {
        let since = Instant::new((ms - waited) * MS);
        control.drops(&slow, at(ms), since, &mut Probe::of(0, 0, 100), random)
    };
    assert!((100..400).all(|ms| !drops(80, ms)));
    assert!((400..600).any(|ms| drops(81, ms)));
}

#[test]
fn what_can_carry_a_mark_is_marked_instead_but_not_by_blue() {
    let (mut control, random) = (Control::default(), &mut Random::new(1));
    let mut marked = Vec::new();
    for ten in 10..40 {
        let mut probe = Probe { capable: true, ..Probe::of(0, 0, 100) };
        assert!(!control.drops(&LAW, at(ten * 10), at(ten * 10 - 50), &mut probe, random));
        marked.extend(Some(ten * 10).filter(|_| probe.marked));
    }
    assert_eq!(marked, [200, 280, 330, 380]);
    control.p_drop = u32::MAX;
    let mut probe = Probe { capable: true, ..Probe::of(0, 0, 100) };
    assert!(control.drops(&LAW, at(400), at(399), &mut probe, random) && !probe.marked);
}

#[test]
fn the_probability_grows_once_in_a_target_and_falls_at_rest() {
    let mut control = Control::default();
    for us in 0..21_000 {
        control.overflowed(&LAW, Instant::new(us * 1_000));
    }
    // At 0 ms, and each time more than 5 ms after the last, which is at 20.004 ms for the fifth time.
    assert_eq!(control.p_drop, 5 * GAIN);
    // Full for a second, then found empty: one step for that, and one each 5 ms from then on.
    control.emptied(&LAW, at(1_000));
    assert_eq!(control.p_drop, 5 * GAIN - LOSS);
    control.rest(&LAW, at(1_050));
    assert_eq!(control.p_drop, 5 * GAIN - 11 * LOSS);
    assert!(!control.has_forgotten(at(1_050)));
    control.rest(&LAW, at(1_000 + 5 * 79));
    assert_eq!((control.p_drop, control.count), (0, 0));
    assert!(control.has_forgotten(at(1_000 + 5 * 79)));
    (0..10_000).for_each(|n| control.overflowed(&LAW, at(2_000 + n * 6)));
    assert_eq!(control.p_drop, u32::MAX);
    control.rest(&LAW, Instant::NEVER);
    assert!(control.has_forgotten(Instant::NEVER));
}

/// The control once more: times in floating point, and steps taken one by one.
#[derive(Default)]
struct Naive {
    count: u64,
    next: f64,
    standing: bool,
    probability: i64,
    changed: Option<f64>,
}

impl Naive {
    fn spacing(&self) -> f64 {
        (LAW.interval.get() as f64 / (self.count.max(1) as f64).sqrt()).floor()
    }

    fn falls(&mut self, now: f64) {
        while self.count > 0 && now >= self.next {
            self.count -= 1;
            self.next += self.spacing();
        }
    }

    /// What the paper calls the two controls in parallel; whether a drop was due, and whether chance drops.
    fn judge(&mut self, now: f64, wait: f64, chance: impl FnOnce() -> u64) -> (bool, bool) {
        let due = self.count > 0 && now >= self.next;
        let too_long = wait > LAW.target.get() as f64 && wait > 4.0 * LAW.mtu_time.get() as f64;
        let signals = due && too_long;
        if too_long {
            if !self.standing {
                self.next = now + self.spacing();
            }
            if self.count == 0 {
                self.count = 1;
            }
            if signals {
                self.count += 1;
                self.next += self.spacing();
            }
        } else {
            self.falls(now);
        }
        self.standing = too_long;
        (signals, self.probability > 0 && (chance() as i64) < self.probability)
    }

    fn leaves(&mut self, now: f64, dropped: bool) {
        if self.count == 0 {
            self.next = now + LAW.interval.get() as f64;
        } else if now > self.next && !dropped {
            self.next = now;
        }
    }

    fn overflows(&mut self, now: f64) {
        if self.changed.is_none_or(|changed| now - changed > LAW.target.get() as f64) {
            self.probability = (self.probability + (1 << 24)).min((1 << 32) - 1);
            self.changed = Some(now);
        }
        (self.standing, self.next, self.count) = (true, now, self.count.max(1));
    }

    fn rests(&mut self, now: f64, is_first: bool) {
        self.standing = false;
        self.falls(now);
        let target = LAW.target.get() as f64;
        let Some(changed) = &mut self.changed else { return };
        if is_first {
            *changed = changed.max(now - target);
        }
        while self.probability > 0 && now - *changed >= target {
            self.probability = (self.probability - (1 << 20)).max(0);
            *changed += target;
        }
    }
}

#[test]
fn agrees_with_a_second_implementation() {
    let (mut signals, mut chances, mut forgotten) = (0, 0, 0);
    for seed in 0..40 {
        let (mut control, mut naive) = (Control::default(), Naive::default());
        let (mut random, mut chance) = (Random::new(seed), Random::new(1_000 + seed));
        let (mut now, mut load, mut empty) = (0, 0, false);
        for _ in 0..5_000 {
            if random.one_in(100) {
                load = random.below(4) * 15 * MS;
            }
            now += random.below(8 * MS) + if random.one_in(60) { random.below(900 * MS) } else { 0 };
            let instant = Instant::new(now);
            match random.below(40) {
                0 if load > 20 * MS => {
                    control.overflowed(&LAW, instant);
                    naive.overflows(now as f64);
                }
                1 | 2 if load < 20 * MS => {
                    control.emptied(&LAW, instant);
                    naive.rests(now as f64, true);
                    empty = true;
                }
                _ if empty => {
                    control.rest(&LAW, instant);
                    naive.rests(now as f64, false);
                    forgotten += u64::from(control.has_forgotten(instant));
                    empty = false;
                }
                _ => {
                    let since = Instant::new(now.saturating_sub(load + random.below(6 * MS)));
                    let mut probe = Probe { capable: random.one_in(2), ..Probe::of(0, 0, 100) };
                    let mut drawn = chance.clone();
                    let dropped = control.drops(&LAW, instant, since, &mut probe, &mut chance);
                    let wait = instant.since(since).get() as f64;
                    let (signal, by_chance) = naive.judge(now as f64, wait, || drawn.bits() >> 32);
                    assert_eq!(dropped, signal && !probe.capable || by_chance, "at {now}");
                    assert_eq!(probe.marked, signal && probe.capable, "at {now}");
                    naive.leaves(now as f64, dropped);
                    (signals, chances) = (signals + u64::from(signal), chances + u64::from(by_chance));
                }
            }
            let told = (u64::from(control.count), i64::from(control.p_drop), control.drop_next.get() as f64);
            assert_eq!(told, (naive.count, naive.probability, naive.next), "at {now} of {seed}");
        }
    }
    assert!(signals > 5_000 && chances > 500 && forgotten > 10, "{signals} {chances} {forgotten}");
}
