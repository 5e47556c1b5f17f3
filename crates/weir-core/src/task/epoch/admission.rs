//! What processes are admitted with: declarations and exits.

use super::super::terms::{Admit, LONGEST};
use super::super::{DeclarationError, Declared, Overcommitted, TOP_PRIORITY};
use super::process::Process;
use super::{Epoch, moment, signed, unsigned};
use crate::item::{FlowId, Item};
use crate::units::{Instant, Nanos};

impl<I: Item<Cost = Nanos>> Epoch<I> {
    /// Takes a declaration: once an epoch has begun its need counts from the next one on.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        process: FlowId,
        declared: &Declared,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        let default = self.config.slice;
        let slice = declared.slice.map_or(default, signed);
        let overcommitted = self.acceptable(process, declared, slice)?;
        if !self.processes.admit(process, || Process::stranger(default)) {
            return Err(DeclarationError::Process(process));
        }
        if self.started {
            self.turn_if_idle(moment(now));
        }
        let from = self.epoch + u64::from(self.started);
        let need = signed(declared.need);
        let state = self.processes.state_mut(process.0);
        self.committed += need - state.need;
        if state.need_from < from {
            (state.need_before, state.need_from) = (state.need, from);
        }
        (state.need, state.slice, state.priority) = (need, slice, declared.priority);
        self.holds();
        Ok(overcommitted)
    }

    /// Checks a declaration; tells if more is promised with it than there is.
    fn acceptable(
        &self,
        process: FlowId,
        declared: &Declared,
        slice: i64,
    ) -> Result<Option<Overcommitted>, DeclarationError> {
        let (need, epoch) = (declared.need, unsigned(self.config.length));
        if declared.priority > TOP_PRIORITY {
            return Err(DeclarationError::Priority(declared.priority));
        }
        if need > LONGEST && self.config.admit != Admit::Refuse {
            return Err(DeclarationError::Long { need, most: LONGEST });
        }
        if need > epoch && self.config.admit == Admit::Refuse {
            return Err(DeclarationError::Need { need, epoch });
        }
        if slice < self.config.min_slice {
            let least = unsigned(self.config.min_slice);
            return Err(DeclarationError::Slice { slice: unsigned(slice), least });
        }
        let before = self.processes.get(process.0).map_or(0, |state| state.need);
        let committed = self.committed - before + signed(need);
        self.config.admit.judge(Overcommitted { committed: unsigned(committed), epoch })
    }

    /// A process that waits leaves: what it is still owed, or has allocated, goes back at once.
    pub(super) fn leave(&mut self, now: Instant, process: FlowId) {
        let waits = process.0 != self.running && !self.processes.is_ready(process.0);
        if !waits || self.processes.get(process.0).is_none() {
            return;
        }
        if self.started {
            self.turn_if_idle(moment(now));
            let state = self.renewed(process.0);
            let back = state.rem + state.u;
            self.csp += back;
        }
        let stranger = Process::stranger(self.config.slice);
        let state = self.processes.state_mut(process.0);
        self.committed -= state.need;
        *state = Process { used: state.used, ..stranger };
        self.holds();
    }
}
