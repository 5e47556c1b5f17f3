use super::*;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

const VERSION: Version = Version { numbers: 1, states: 1 };

/// A folder that is removed with its content.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("weir-sweep-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Cells whose replications leave their own number; the cell at `fails` cannot be played, that at `refused` not be made.
#[derive(Clone, Copy, Default)]
struct Numbers {
    cells: usize,
    replications: u32,
    grain: u16,
    fails: Option<usize>,
    refused: Option<usize>,
    /// How long a replication takes.
    pause: Duration,
}

struct Number(Numbers, usize);

impl Play for Number {
    fn key(&self, replication: u32) -> Key {
        Key { content: self.1 as u64, seed: 1, replication }
    }

    fn grain(&self) -> u16 {
        self.0.grain
    }

    fn replications(&self) -> u32 {
        self.0.replications
    }

    fn play(&self, replication: u32, cancel: &AtomicBool) -> Result<Option<Vec<u8>>, String> {
        if self.0.fails == Some(self.1) {
            return Err("it cannot".to_owned());
        }
        std::thread::sleep(self.0.pause);
        let state = vec![replication as u8; self.1 % 300];
        Ok((!cancel.load(Ordering::Relaxed)).then_some(state))
    }

    fn width(&self, read: &mut dyn FnMut(u32) -> Option<Vec<u8>>) -> Option<f64> {
        let states: Option<Vec<_>> = (0..self.0.replications).map(read).collect();
        states.map(|_| self.1 as f64)
    }
}

impl Source for Numbers {
    type Cell = Number;

    fn count(&self) -> usize {
        self.cells
    }

    fn cell(&self, place: usize) -> Option<Number> {
        (self.refused != Some(place)).then_some(Number(*self, place))
    }
}

fn play(folder: &Folder, source: &Numbers, threads: usize) -> Progress {
    let sweep = Sweep::open(&folder.0, VERSION).expect("a folder");
    let claims = sweep.claims(false).expect("locks");
    let threads = NonZeroUsize::new(threads).expect("threads");
    let played = sweep.play(source, &claims, threads, &AtomicBool::new(false), &mut |_| ());
    played.expect("it is kept")
}

/// All that a folder keeps.
fn kept(folder: &Folder) -> Vec<(Key, u16, Kind, Vec<u8>)> {
    let sweep = Sweep::open(&folder.0, VERSION).expect("a folder");
    let keys = held(&sweep.index).keys();
    let each = keys.into_iter().map(|(key, grain)| {
        let (kind, state) = sweep.read(&key, grain).expect("it can be read").expect("it is kept");
        (key, grain, kind, state)
    });
    each.collect()
}

#[test]
fn of_cells_that_take_long_each_is_looked_at() {
    let folder = Folder::new();
    // A cell ends every 120 ms at the earliest, and an interval is checked every 100 ms.
    let few = Numbers { cells: 4, replications: 3, pause: Duration::from_millis(40), ..Numbers::default() };
    assert_eq!(play(&folder, &few, 1).widest, Some((3.0, 3)));
}

#[test]
fn a_sweep_goes_on_where_it_stood() {
    let folder = Folder::new();
    let few = Numbers { cells: 10, replications: 3, grain: 7, ..Numbers::default() };
    let first = play(&folder, &few, 2);
    assert_eq!((first.cells, first.kept, first.played), (10, 0, 30));
    let (width, place) = first.widest.expect("one cell at least is looked at");
    assert_eq!(width, place as f64, "the interval of that cell");
    let again = play(&folder, &few, 2);
    assert_eq!((again.cells, again.kept, again.played), (10, 30, 0));
    assert_eq!(std::fs::read_dir(folder.0.join("log")).expect("logs").count(), 1, "nothing played, no log");
    let more = play(&folder, &Numbers { cells: 12, replications: 5, grain: 4, ..few }, 8);
    assert_eq!((more.cells, more.kept, more.played), (12, 30, 30));
    let finer = play(&folder, &Numbers { replications: 3, grain: 8, ..few }, 1);
    assert_eq!((finer.kept, finer.played), (0, 30));
    let kept = kept(&folder);
    assert_eq!(kept.len(), 60);
    assert!(
        kept.iter().all(|(key, _, _, state)| *state == vec![key.replication as u8; key.content as usize])
    );
}

#[test]
fn what_fails_is_kept_with_its_reason_and_stops_nothing() {
    let folder = Folder::new();
    let source = Numbers {
        cells: 6,
        replications: 2,
        grain: 1,
        fails: Some(2),
        refused: Some(4),
        ..Numbers::default()
    };
    let progress = play(&folder, &source, 2);
    assert_eq!((progress.cells, progress.played, progress.failed), (6, 10, 2));
    let failed: Vec<_> = kept(&folder).into_iter().filter(|(_, _, kind, _)| *kind == Kind::Failure).collect();
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|(key, _, _, state)| key.content == 2 && state == b"it cannot"));
    assert_eq!(play(&folder, &source, 2).played, 0, "nor is it tried again");
}

#[test]
fn any_number_of_threads_keeps_the_same() {
    let source = Numbers { cells: 20, replications: 4, grain: 1, ..Numbers::default() };
    let folders = [1, 2, 8].map(|threads| {
        let folder = Folder::new();
        play(&folder, &source, threads);
        folder
    });
    let [one, two, eight] = folders.each_ref().map(kept);
    assert!(one == two && two == eight && one.len() == 80);
}

#[test]
fn two_sweeps_in_one_folder_share_the_work() {
    let folder = Folder::new();
    let pause = Duration::from_millis(1);
    let source = Numbers { cells: 200, replications: 4, grain: 1, pause, ..Numbers::default() };
    let both = std::thread::scope(|scope| {
        let other = scope.spawn(|| play(&folder, &source, 2));
        let own = play(&folder, &source, 2);
        [own, other.join().expect("it ends")]
    });
    assert_eq!(kept(&folder).len(), 800);
    assert!(both.iter().all(|progress| progress.cells == 200), "{both:?}");
    let each = both.map(|progress| progress.kept + progress.played + progress.elsewhere);
    assert_eq!(each, [800; 2]);
    // In the first instants one does not know the other's log yet, and both play the same.
    let played: u64 = both.iter().map(|progress| progress.played).sum();
    assert!(played < 1400, "{both:?}");
}

#[test]
fn shards_are_merged_into_what_one_sweep_keeps() {
    let (whole, merged) = (Folder::new(), Folder::new());
    let all = Numbers { cells: 9, replications: 3, grain: 1, ..Numbers::default() };
    play(&whole, &all, 1);
    let into = Sweep::open(&merged.0, VERSION).expect("a folder");
    // Each plays more than its part: what is there twice is kept once.
    for cells in [3, 9, 6] {
        let shard = Folder::new();
        play(&shard, &Numbers { cells, ..all }, 1);
        into.merge(&Sweep::open(&shard.0, VERSION).expect("a folder")).expect("room");
    }
    assert_eq!(into.len(), 27);
    assert_eq!(kept(&merged), kept(&whole));
}

#[test]
fn logs_of_another_version_are_left_alone_and_told() {
    let folder = Folder::new();
    let source = Numbers { cells: 2, replications: 2, grain: 1, ..Numbers::default() };
    play(&folder, &source, 1);
    let later = Sweep::open(&folder.0, Version { numbers: 2, states: 1 }).expect("a folder");
    let (asides, skipped) = later.passed_over();
    assert!(later.is_empty() && skipped == 0);
    assert_eq!(asides.len(), 1);
    assert_eq!(asides[0].reason, "is of version 1.1 of the numbers, this is 2.1");
    std::fs::write(folder.0.join("log/0009.log"), "something else entirely, and longer").expect("room");
    let own = Sweep::open(&folder.0, VERSION).expect("a folder");
    assert_eq!((own.len(), own.passed_over().0.len()), (4, 1));
}

#[test]
fn damaged_states_are_played_again() {
    let folder = Folder::new();
    let source = Numbers { cells: 9, replications: 1, grain: 1, ..Numbers::default() };
    play(&folder, &source, 1);
    let before = kept(&folder);
    let log = folder.0.join("log/0001.log");
    let mut bytes = std::fs::read(&log).expect("a log");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&log, bytes).expect("room");
    let sweep = Sweep::open(&folder.0, VERSION).expect("a folder");
    assert_eq!(sweep.len(), 9);
    let key = before[8].0;
    assert_eq!(sweep.read(&key, 1).expect("it can be read"), None);
    assert!(!sweep.holds(&key, 1), "it is forgotten");
}

#[test]
fn a_sweep_that_is_broken_off_keeps_what_is_finished() {
    let folder = Folder::new();
    let source = Numbers { cells: 1000, replications: 4, grain: 1, ..Numbers::default() };
    let sweep = Sweep::open(&folder.0, VERSION).expect("a folder");
    let claims = sweep.claims(true).expect("nobody is asked");
    let cancel = AtomicBool::new(false);
    let mut tell = |progress: Progress| cancel.store(progress.played > 10, Ordering::Relaxed);
    let progress = sweep.play(&source, &claims, NonZeroUsize::MIN, &cancel, &mut tell).expect("it is kept");
    assert_eq!(kept(&folder).len() as u64, progress.played);
    assert_eq!(play(&folder, &source, 2).kept, progress.played);
}

#[test]
fn refusals_say_what_to_do() {
    let folder = Folder::new();
    let file = folder.0.join("file");
    std::fs::write(&file, "").expect("room");
    let sweep = Sweep::open(&file, VERSION).expect_err("a file is no folder");
    assert_eq!(sweep.remedy(), "name another folder with `--out`");
    let told: BTreeSet<_> = [
        io::ErrorKind::StorageFull,
        io::ErrorKind::ReadOnlyFilesystem,
        io::ErrorKind::Unsupported,
        io::ErrorKind::Other,
    ]
    .map(|kind| Error::at("written", &file)(kind.into()).remedy())
    .into();
    assert_eq!(told.len(), 4);
}
