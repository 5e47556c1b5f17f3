//! Files of wake-ups and run times. Each is read once, and shared.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{LONGEST, LONGEST_RUN};
use crate::check::Check;
use weir_document::{Checked, Located};
use weir_workload::duration::Run;
use weir_workload::{RunBounds, read_runs};

/// The most files of runs.
pub(super) const MAX_FILES: usize = 1024;
/// The most runs of all files, 16 bytes each.
pub(super) const MAX_RUNS: usize = 10_000_000;

/// What has been read.
#[derive(Default)]
pub(super) struct Files {
    read: HashMap<PathBuf, Arc<[Run]>>,
    /// Runs in memory.
    runs: usize,
}

impl Check<'_, '_> {
    /// The runs of a file.
    pub(super) fn replay_file(&mut self, file: &Located<PathBuf>, files: &mut Files) -> Checked<Arc<[Run]>> {
        if let Some(runs) = files.read.get(&file.value) {
            return Ok(Arc::clone(runs));
        }
        if files.read.len() == MAX_FILES {
            let reason = format!("is beyond the limit of {MAX_FILES} files of runs");
            return self.refuse(file, reason, "let processes share files");
        }
        let (opened, name) = self.data_file(file)?;
        let bounds = RunBounds { runs: MAX_RUNS - files.runs, wake: LONGEST_RUN, run: LONGEST };
        let runs: Arc<[Run]> = read_runs(opened, &name, bounds)?.into();
        files.runs += runs.len();
        files.read.insert(file.value.clone(), Arc::clone(&runs));
        Ok(runs)
    }
}
