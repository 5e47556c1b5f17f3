//! A circuit breaker that all clients share: where too many attempts fail, none is sent for a while.
//!
//! *Closed*, all attempts are sent. Where at least [`Breaker::least`] attempts have ended within the window and the part of
//! [`Breaker::failures`] of them has failed, it *opens*: attempts are refused. The first attempt after [`Breaker::open`] finds it
//! *half open*: as many are sent as there are probes, the others refused. When all probes have ended, it closes, with an empty
//! window, or opens again, by the same part.
//!
//! | | |
//! |-|-|
//! | Source | Nygard, *Release It!*, 2nd edition, 2018, section 5.2; the rule of the documentation of Resilience4j, *CircuitBreaker*: `failureRateThreshold`, `minimumNumberOfCalls`, `waitDurationInOpenState`, `permittedNumberOfCallsInHalfOpenState`, a sliding window of time |
//! | Departs | the window slides by single attempts, not by seconds; an attempt counts only in the state in which it was sent |
//! | Work | O(1) an attempt, amortised |
//! | Memory | the attempts that ended within the window |

use std::collections::VecDeque;

use crate::model::Breaker;
use weir_core::units::Instant;

/// What it lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    /// Until then nothing.
    Open(Instant),
    /// Probes that were sent, have ended, and have failed.
    HalfOpen {
        sent: u64,
        ended: u64,
        failed: u64,
    },
}

/// The breaker of a replication.
#[derive(Clone, Debug)]
pub(super) struct Circuit {
    rule: Breaker,
    state: State,
    /// States so far.
    states: u32,
    /// When attempts ended, and whether they failed; of the closed state.
    ended: VecDeque<(Instant, bool)>,
    failed: u64,
}

impl Circuit {
    pub(super) fn new(rule: Breaker) -> Self {
        Self { rule, state: State::Closed, states: 0, ended: VecDeque::new(), failed: 0 }
    }

    /// An attempt is to be sent: the number of the state in which it is, or `None` where it is refused.
    pub(super) fn sends(&mut self, now: Instant) -> Option<u32> {
        match &mut self.state {
            State::Closed => {}
            State::Open(until) if now < *until => return None,
            State::Open(_) => self.becomes(State::HalfOpen { sent: 1, ended: 0, failed: 0 }),
            State::HalfOpen { sent, .. } if *sent < self.rule.probes => *sent += 1,
            State::HalfOpen { .. } => return None,
        }
        Some(self.states)
    }

    /// An attempt that was sent in a state has ended.
    pub(super) fn ended(&mut self, now: Instant, state: u32, has_failed: bool) {
        if state != self.states {
            return;
        }
        let (of, failures) = match &mut self.state {
            State::Closed => {
                self.ended.push_back((now, has_failed));
                self.failed += u64::from(has_failed);
                self.forget(now);
                let of = self.ended.len() as u64;
                if of < self.rule.least {
                    return;
                }
                (of, self.failed)
            }
            State::Open(_) => return,
            State::HalfOpen { ended, failed, .. } => {
                *ended += 1;
                *failed += u64::from(has_failed);
                if *ended < self.rule.probes {
                    return;
                }
                (*ended, *failed)
            }
        };
        if failures as f64 >= self.rule.failures * of as f64 {
            self.becomes(State::Open(now.after(self.rule.open)));
        } else if self.state != State::Closed {
            self.becomes(State::Closed);
        }
    }

    /// Forgets what ended before the window.
    fn forget(&mut self, now: Instant) {
        while let Some(&(at, has_failed)) = self.ended.front()
            && at.after(self.rule.window) <= now
        {
            self.ended.pop_front();
            self.failed -= u64::from(has_failed);
        }
    }

    fn becomes(&mut self, state: State) {
        self.state = state;
        self.states += 1;
        self.ended.clear();
        self.failed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::units::Nanos;

    fn at(time: u64) -> Instant {
        Instant::new(time)
    }

    /// Attempts that are sent and end at once; whether each was sent.
    fn sent(circuit: &mut Circuit, times: &[u64], fails: bool) -> Vec<bool> {
        let one = |&time: &u64| {
            let state = circuit.sends(at(time));
            state.inspect(|&state| circuit.ended(at(time), state, fails)).is_some()
        };
        times.iter().map(one).collect()
    }

    #[test]
    fn it_opens_is_tried_and_closes() {
        let (window, open) = (Nanos::new(100), Nanos::new(50));
        let mut circuit = Circuit::new(Breaker { failures: 0.5, window, least: 4, open, probes: 2 });
        assert_eq!(sent(&mut circuit, &[0, 1], false), [true; 2]);
        // One failure of three are too few attempts, two of four are half of them.
        assert_eq!(sent(&mut circuit, &[2, 3, 4, 52], true), [true, true, false, false]);
        // Half open from 53 on: two are sent, the third is not until these have ended.
        let probes = [circuit.sends(at(53)), circuit.sends(at(54)), circuit.sends(at(55))];
        let [Some(one), Some(other), None] = probes else { panic!("{probes:?}") };
        circuit.ended(at(56), one, false);
        assert_eq!(circuit.sends(at(57)), None);
        // Half of them fail: it opens once more, until 108. What ends of a state before does not count.
        circuit.ended(at(58), other, true);
        circuit.ended(at(60), one, false);
        assert_eq!([circuit.sends(at(107)).is_some(), circuit.sends(at(108)).is_some()], [false, true]);
        let last = circuit.sends(at(109)).expect("the second probe");
        circuit.ended(at(110), last, false);
        circuit.ended(at(110), last, false);
        // Closed, with an empty window: three failures are too few.
        assert_eq!(sent(&mut circuit, &[111, 112, 113], true), [true; 3]);
        assert_eq!(sent(&mut circuit, &[250, 251, 252], false), [true; 3]);
        // Those from 111 to 113 are beyond the window: one failure of four.
        assert_eq!(sent(&mut circuit, &[253, 254], true), [true; 2]);
    }
}
