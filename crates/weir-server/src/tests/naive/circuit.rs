//! The circuit breaker as its rule says it, over all attempts that have ended.

use crate::model::Breaker;

/// A circuit breaker that keeps all it has seen.
pub(super) struct Circuit {
    pub(super) rule: Breaker,
    /// 0 is closed, 1 open, 2 half open; since when, and the how many-th state it is.
    pub(super) state: (u8, u64, u32),
    pub(super) sent: u64,
    /// When attempts ended, in which state they were sent, and whether they failed.
    pub(super) ended: Vec<(u64, u32, bool)>,
}

impl Circuit {
    pub(super) fn sends(&mut self, now: u64) -> Option<u32> {
        if self.state.0 == 1 && now >= self.state.1 + self.rule.open.get() {
            (self.state, self.sent) = ((2, now, self.state.2 + 1), 0);
        }
        self.sent += 1;
        let refuses = self.state.0 == 1 || self.state.0 == 2 && self.sent > self.rule.probes;
        (!refuses).then_some(self.state.2)
    }

    pub(super) fn ended(&mut self, now: u64, sent_in: u32, failed: bool) {
        let (state, _, number) = self.state;
        self.ended.push((now, sent_in, failed));
        if sent_in != number || state == 1 {
            return;
        }
        let counts =
            |one: &&(u64, u32, bool)| one.1 == number && (state == 2 || one.0 + self.rule.window.get() > now);
        let (of, failures) = self
            .ended
            .iter()
            .filter(counts)
            .fold((0, 0), |(of, failures), one| (of + 1, failures + u64::from(one.2)));
        let opens = failures as f64 >= self.rule.failures * of as f64;
        match state {
            0 if of >= self.rule.least && opens => self.state = (1, now, number + 1),
            2 if of == self.rule.probes => self.state = (u8::from(opens), now, number + 1),
            _ => {}
        }
    }
}
