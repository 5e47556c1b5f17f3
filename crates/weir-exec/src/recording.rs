//! The file of a recording, and the thread that writes it.
//!
//! What is written is whole blocks; where nothing is left to write, they are given to the system. A program that is killed
//! leaves all blocks but those of the last quarter of a second.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;

use crate::recorder::{BUFFER, BUFFERS, Block, Recorder};
use crate::report::{Report, Reports};
use weir_core::info::{Takes, parse_nanos};
use weir_core::role::Role;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
use weir_recording::{Kind, MAGIC, VERSION, end, frame, head};

/// What the recorder of a worker is made from, on its thread.
pub(crate) struct Ends {
    full: SyncSender<Block>,
    empty: Receiver<Vec<u8>>,
}

impl Ends {
    pub(crate) fn recorder(self, worker: usize, workers: usize) -> Recorder {
        Recorder::new(worker, workers, self.full, self.empty)
    }
}

/// Creates the file, and starts the thread that writes it; it ends when all workers have stopped.
pub(crate) fn start(
    path: &Path,
    discipline: &str,
    workers: usize,
    reports: Reports,
) -> io::Result<(Vec<Ends>, thread::JoinHandle<()>)> {
    begin(File::create(path)?, path, discipline, workers, reports)
}

fn begin(
    file: impl Write + Send + 'static,
    path: &Path,
    discipline: &str,
    workers: usize,
    reports: Reports,
) -> io::Result<(Vec<Ends>, thread::JoinHandle<()>)> {
    let mut file = BufWriter::new(file);
    file.write_all(MAGIC)?;
    file.write_all(&[VERSION])?;
    let about = head(discipline, epoch(discipline), workers as u32);
    file.write_all(&frame(Kind::Head, &about))?;
    file.write_all(&about)?;
    file.flush()?;
    // All buffers, and tasks as well, find room at once.
    let (full, blocks) = sync_channel(workers * (2 * BUFFERS));
    let (mut ends, mut back) = (Vec::new(), Vec::new());
    for _ in 0..workers {
        let (give, empty) = sync_channel(BUFFERS);
        for _ in 0..BUFFERS {
            let _ = give.try_send(Vec::with_capacity(BUFFER));
        }
        back.push(give);
        ends.push(Ends { full: full.clone(), empty });
    }
    let mut writer =
        Writer { file, path: path.to_owned(), back, lost: vec![0; workers], at: 0, failed: false };
    let thread = thread::Builder::new().name("weir-exec-record".to_owned());
    let thread = thread.spawn(move || writer.run(&blocks, &reports))?;
    Ok((ends, thread))
}

/// The epoch, or period, of a discipline in nanoseconds; 0: it has none.
fn epoch(discipline: &str) -> u64 {
    let Ok(spec) = discipline.parse::<Spec>() else { return 0 };
    let is_epoch = |takes: &Takes| matches!(takes, Takes::Epoch(_));
    let Some(parameter) = Role::Discipline.parameter(&spec, is_epoch) else { return 0 };
    let given = Role::Discipline.argument(&spec, parameter).map(|given| given.name.as_str());
    given.or(parameter.default).and_then(parse_nanos).map_or(0, Nanos::get)
}

struct Writer<W: Write> {
    file: BufWriter<W>,
    path: PathBuf,
    back: Vec<SyncSender<Vec<u8>>>,
    lost: Vec<u64>,
    /// When the last worker stopped.
    at: u64,
    failed: bool,
}

impl<W: Write> Writer<W> {
    fn run(&mut self, blocks: &Receiver<Block>, reports: &Reports) {
        loop {
            let block = match blocks.try_recv() {
                Ok(block) => block,
                Err(TryRecvError::Disconnected) => break,
                Err(TryRecvError::Empty) => {
                    self.attempt(reports, |writer| writer.file.flush());
                    let Ok(block) = blocks.recv() else { break };
                    block
                }
            };
            self.take(block, reports);
        }
        let end = end(self.at, &self.lost);
        self.attempt(reports, |writer| {
            writer.block(Kind::End, &end)?;
            writer.file.flush()
        });
    }

    fn take(&mut self, block: Block, reports: &Reports) {
        match block {
            Block::Full { kind, worker, mut bytes } => {
                self.attempt(reports, |writer| writer.block(kind, &bytes));
                if kind == Kind::Events {
                    bytes.clear();
                    let _ = self.back[worker as usize].try_send(bytes);
                }
            }
            Block::Over { worker, at, lost } => {
                self.lost[worker as usize] = lost;
                self.at = self.at.max(at);
            }
        }
    }

    fn block(&mut self, kind: Kind, held: &[u8]) -> io::Result<()> {
        self.file.write_all(&frame(kind, held))?;
        self.file.write_all(held)
    }

    /// Writes, unless that has failed before; the first failure is reported.
    fn attempt(&mut self, reports: &Reports, write: impl FnOnce(&mut Self) -> io::Result<()>) {
        if self.failed {
            return;
        }
        if let Err(error) = write(self) {
            self.failed = true;
            let error = error.to_string();
            reports.tell(Report::NotRecorded { path: self.path.clone(), error });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::observe::Observe;

    /// A device with room for this many bytes.
    struct Small(usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_device_that_becomes_full_is_reported_once_and_buffers_still_come_back() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hear = Arc::clone(&heard);
        let reports = Reports::to(move |report| hear.lock().unwrap().push(report.to_string()));
        let (mut ends, thread) = begin(Small(100), Path::new("run.weirexec"), "eevdf", 1, reports).unwrap();
        let mut recorder = ends.pop().unwrap().recorder(0, 1);
        recorder.admitted(0, 0, "a", &weir_core::task::Declared::default());
        for at in 0..1_000_000 {
            recorder.ready(at, 0);
        }
        recorder.is_over(1_000_000);
        drop(recorder);
        thread.join().unwrap();
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert!(heard[0].starts_with("the recording `run.weirexec` ends here: "), "{heard:?}");
    }

    #[test]
    fn the_epoch_is_that_of_the_spec_or_the_disciplines_own() {
        assert_eq!(epoch("epoch(50ms)"), 50_000_000);
        assert_eq!(epoch("epoch"), 100_000_000);
        assert_eq!(epoch("eevdf"), 0);
    }
}
