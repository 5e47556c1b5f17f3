//! What becomes of an attempt as its client sees it: it is answered, or the client gives up, and tries again or thinks on.

use super::Request;
use super::requests::{NOT_YET, Slot, State};
use super::retries::{Attempt, Cause};
use super::run::Engine;
use crate::record::Sink;
use weir_core::pool::Pool;
use weir_core::units::Instant;

impl<D: Pool<Request>, S: Sink> Engine<'_, D, S> {
    /// A request is done; its client, who may have given up before, sees the answer.
    #[inline]
    pub(super) fn answered(&mut self, now: Instant, slot: u32, flow: u32) {
        let waited = self.retries.as_mut().is_none_or(|retries| retries.answered(now, slot));
        if waited {
            self.arrivals.over(flow, now, false);
        }
    }

    /// A client gives up on the attempt of a slot, if that is still there and not answered; or sends what is not answered a
    /// second time.
    pub(super) fn gives_up(&mut self, now: Instant) {
        let Some(retries) = &mut self.retries else { return self.send_again(now) };
        let Some((moment, is_held)) = retries.take_gives_up() else { return };
        let Some(&mut request) = self.slots.get(moment.slot).filter(|_| is_held) else { return };
        let waits = request.began == NOT_YET && request.state != State::Served;
        if request.state != State::Gone && (moment.cause == Cause::Timeout || waits) {
            self.fails(now, moment.slot, &request);
        }
    }

    /// An attempt has left unserved, or its client gives up on it.
    pub(super) fn fails(&mut self, now: Instant, slot: u32, request: &Slot) {
        let Some(retries) = &mut self.retries else { return };
        let attempt = retries.held(slot);
        if attempt != Attempt::default() {
            retries.forget(slot);
            self.has_failed(now, attempt, request);
        }
    }

    /// An attempt that was sent has failed.
    pub(super) fn has_failed(&mut self, now: Instant, attempt: Attempt, request: &Slot) {
        if let Some(retries) = &mut self.retries {
            retries.ended(now, attempt, true);
        }
        self.tries_again(now, attempt, request);
    }

    /// The client of an attempt tries again, or it is over.
    pub(super) fn tries_again(&mut self, now: Instant, attempt: Attempt, request: &Slot) {
        let tries = self.retries.as_mut().is_some_and(|retries| retries.again(now, attempt, request));
        if !tries {
            self.arrivals.over(request.flow, now, true);
        }
    }
}
