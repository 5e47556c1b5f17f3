//! Recordings of runs of weir-exec: which task was ready, polled and done when, as a compact file.
//!
//! A recording is [`MAGIC`], a byte of [`VERSION`], and blocks until its end. A program that is killed leaves whole
//! blocks and perhaps a part of one, and all before that part can be read.
//!
//! | block | |
//! |-|-|
//! | kind | 1 byte: `H` head, `T` tasks, `E` events, `Z` end |
//! | length | 4 bytes, of what follows the sum |
//! | sum | 4 bytes, CRC-32 of kind, length and what follows |
//!
//! What follows are *numbers*, each in groups of seven bits, the lowest first, with the highest bit set where another
//! group follows (LEB128); the length and sum of a block are little-endian. Times are nanoseconds since the executor
//! began. *Texts* are their length in bytes and UTF-8.
//!
//! | kind | holds |
//! |-|-|
//! | `H` | the discipline (text), its epoch (0: it has none), the number of workers. The first block, and the only such |
//! | `T` | the worker; then of each task its number, when it was admitted, its name (text), a byte (priority, +4 slice, +8 period, +16 weight), its need, and those of slice, period and weight that there are |
//! | `E` | the worker, the number of the block among the worker's, the time at which it begins, how many events of the worker were lost before it; then events |
//! | `Z` | the time at which the run ended; of each worker how many events were lost at its end |
//!
//! Tasks are numbered in the order in which a worker admitted them; a number is not used again. A task stands in a block
//! before the first event that names it. An event is
//!
//! 1. a byte: bit 0 a poll, else a wake-up; bit 1 the task is that of the event before; bit 2 the time is that of the
//!    event before; and of polls bits 3 and 4 what it came to (0 waits, 1 yields, 2 gives way, 3 ends), bit 5 the level is
//!    another than in the poll before, bit 6 what of it was the executor's own is known;
//! 2. the task, unless bit 1;
//! 3. how much later than the event before it was, unless bit 2: a poll is where it ends;
//! 4. of a poll: how long it took; a byte, the level (−128: none), if bit 5; the executor's own, if bit 6.
//!
//! In each block of events the event before the first is at the time at which the block begins, of task 0 and level
//! −128. A writer that cannot keep up leaves events out, and counts them in the next block.

#![deny(missing_docs)]

mod block;
mod bursts;
mod events;
mod fault;
mod number;
mod read;
mod task;

pub use block::{Kind, end, frame, head};
pub use bursts::{Burst, Bursts, Costs, Did};
pub use events::{After, Encoder, Event};
pub use fault::{Fault, RecordingError};
pub use read::{Facts, Head, Hear, MOST_TASKS, read};
pub use task::{LONGEST_NAME, Terms, task};

/// What a recording begins with.
pub const MAGIC: &[u8; 8] = b"weirexec";
/// The version of the format that is written and read.
pub const VERSION: u8 = 1;
