//! What a daemon is asked about itself: taken by its loop at most every so often, for all who ask.
//!
//! Whoever asks gets what was taken after he asked, and never older figures; he waits for it, and all who wait share one.
//! So the loop does the same work for one reader and for a thousand: one reading of a kind every [`PAUSE`], or every
//! [`SHARE`] times as long as the last one took it, whichever is longer. An answer is put into its form once, by the first
//! thread that sends it, never by the loop.
//!
//! | | |
//! |-|-|
//! | Work | of the loop, at most one part in [`SHARE`] of its time for each kind |
//! | Memory | the last answer of each kind |
//! | Units | seconds |

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::inbox::Caller;
use super::protocol::{Answer, Reading};

/// The least time between two readings of a kind.
pub const PAUSE: Duration = Duration::from_millis(10);
/// How many times as long as a reading took the loop the next one of its kind is not taken.
pub const SHARE: u32 = 50;

/// An answer, and its line once somebody has sent it.
#[derive(Debug)]
pub struct Said {
    /// The answer.
    pub answer: Answer,
    line: OnceLock<Vec<u8>>,
}

impl Said {
    /// What was answered.
    #[must_use]
    pub const fn new(answer: Answer) -> Self {
        Self { answer, line: OnceLock::new() }
    }

    /// As it is sent: JSON and the end of a line.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        self.line.get_or_init(|| {
            // Answers are of strings, numbers and lists; there is nothing in them that JSON has not.
            let mut line = serde_json::to_vec(&self.answer).unwrap_or_default();
            line.push(b'\n');
            line
        })
    }
}

/// The readings of one kind.
#[derive(Debug)]
struct Gate {
    last: Mutex<Last>,
    taken: Condvar,
}

#[derive(Debug)]
struct Last {
    /// How many readings were begun, and how many of them are done.
    begun: u64,
    done: u64,
    said: Arc<Said>,
    /// When the next one may begin.
    next: Instant,
}

impl Gate {
    fn new() -> Self {
        let said = Arc::new(Said::new(Answer::refused("nothing was read yet: ask again")));
        let last = Last { begun: 0, done: 0, said, next: Instant::now() };
        Self { last: Mutex::new(last), taken: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read after this was called: `read` reads, and says for how long the loop was busy with it.
    fn pass(&self, read: impl FnOnce() -> (Answer, Duration)) -> Arc<Said> {
        let mut last = self.lock();
        // What is being read now may have been read before this was asked.
        let mine = last.begun + 1;
        loop {
            if last.done >= mine {
                return Arc::clone(&last.said);
            }
            let wait = last.next.saturating_duration_since(Instant::now());
            if last.begun != last.done {
                last = self.taken.wait(last).unwrap_or_else(PoisonError::into_inner);
            } else if wait.is_zero() {
                break;
            } else {
                (last, _) = self.taken.wait_timeout(last, wait).unwrap_or_else(PoisonError::into_inner);
            }
        }
        last.begun += 1;
        drop(last);
        let (answer, busy) = read();
        let mut last = self.lock();
        last.done = last.begun;
        last.said = Arc::new(Said::new(answer));
        last.next = Instant::now() + PAUSE.max(SHARE * busy);
        self.taken.notify_all();
        Arc::clone(&last.said)
    }
}

/// All readings of a daemon, and the way to order anything else of it.
#[derive(Debug)]
pub struct Readings<O> {
    caller: Caller<O>,
    gates: [Gate; Reading::ALL.len()],
}

impl<O> Readings<O> {
    /// Readings of the loop that this caller asks.
    #[must_use]
    pub fn new(caller: Caller<O>) -> Arc<Self> {
        Arc::new(Self { caller, gates: Reading::ALL.map(|_| Gate::new()) })
    }

    /// Asks for a reading, which is this order, and waits for it.
    pub fn read(&self, reading: Reading, order: O) -> Arc<Said> {
        self.gates[reading as usize].pass(|| self.caller.ask_timed(order))
    }

    /// Orders what is no reading, and waits for the answer.
    pub fn order(&self, order: O) -> Said {
        Said::new(self.caller.ask(order))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn done(number: u64) -> Answer {
        Answer::Done { said: number.to_string() }
    }

    fn number(said: &Said) -> u64 {
        let Answer::Done { said } = &said.answer else { panic!("{said:?}") };
        said.parse().expect("a number")
    }

    #[test]
    fn nobody_gets_what_was_read_before_he_asked() {
        let (gate, reads) = (Gate::new(), AtomicU64::new(0));
        let began = Instant::now();
        for turn in 0..5 {
            let said = gate.pass(|| (done(reads.fetch_add(1, Ordering::Relaxed)), Duration::ZERO));
            assert_eq!(number(&said), turn);
        }
        assert!(began.elapsed() >= 4 * PAUSE);
    }

    #[test]
    fn all_who_wait_share_one_reading() {
        const READERS: usize = 16;
        let (gate, reads) = (Gate::new(), AtomicU64::new(0));
        let (begun, asked) = (Barrier::new(2), Barrier::new(READERS + 1));
        let read = || done(reads.fetch_add(1, Ordering::Relaxed));
        std::thread::scope(|scope| {
            // The first is under way until all others have asked; theirs is the next.
            scope.spawn(|| {
                gate.pass(|| {
                    begun.wait();
                    asked.wait();
                    std::thread::sleep(2 * PAUSE);
                    (read(), Duration::ZERO)
                })
            });
            begun.wait();
            let readers: Vec<_> = (0..READERS)
                .map(|_| {
                    scope.spawn(|| {
                        asked.wait();
                        number(&gate.pass(|| (read(), Duration::ZERO)))
                    })
                })
                .collect();
            let numbers: Vec<u64> = readers.into_iter().map(|it| it.join().expect("read")).collect();
            assert!(numbers.iter().all(|number| *number > 0), "{numbers:?}");
        });
        // One who was late to ask, by more than two pauses, makes it three.
        assert!(reads.load(Ordering::Relaxed) <= 3);
    }

    #[test]
    fn a_long_reading_is_taken_less_often() {
        let gate = Gate::new();
        gate.pass(|| (done(0), PAUSE));
        assert!(gate.lock().next > Instant::now() + (SHARE / 2) * PAUSE);
    }

    #[test]
    fn a_line_is_written_once() {
        let said = Said::new(done(7));
        assert_eq!(said.line(), b"{\"answer\":\"done\",\"said\":\"7\"}\n");
        assert_eq!(said.line().as_ptr(), said.line().as_ptr());
    }
}
