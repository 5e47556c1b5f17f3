//! `weird bench-redirect`: spreads the frames of an interface over processors in turn and does nothing else.
//!
//! The baseline of the benchmarks: the same queues as `weird steer`, without parser, rule, stamps and counters.

use std::time::Duration;

use super::Failure;
use crate::io::link::{Claim, Facts};
use crate::steer::bare::Bare;
use crate::steer::config::Processors;
use crate::steer::processors::set_priority;

/// The arguments of `weird bench-redirect`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The interface.
    interface: String,
    /// The processors, such as `0,1`.
    #[arg(long, value_parser = Processors::parse)]
    processors: Processors,
    /// How many frames may wait at each of them.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    queue: u32,
    /// The priority, under SCHED_FIFO, of the kernel's threads that serve them.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=99))]
    priority: Option<u8>,
    /// Has a program at the queues too, which passes all frames.
    #[arg(long)]
    serves: bool,
    /// Ends after this many seconds; by default it runs until it is killed.
    #[arg(long)]
    seconds: Option<u64>,
}

/// Redirects until the time is over.
///
/// # Errors
/// The program cannot be attached, or a processor cannot have a queue.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let _claim = Claim::new(&arguments.interface)?;
    let facts = Facts::of(&arguments.interface)?;
    let bare = Bare::attach(&facts, &arguments.processors.0, arguments.queue, arguments.serves)?;
    for thread in bare.threads() {
        if let Some(priority) = arguments.priority {
            set_priority(thread.process, priority).map_err(|error| {
                Failure::Unsupported(format!("the thread of processor {}: {error}", thread.processor))
            })?;
        }
    }
    println!("{}: {:?} mode, processors {}", arguments.interface, bare.mode(), arguments.processors);
    match arguments.seconds {
        Some(seconds) => std::thread::sleep(Duration::from_secs(seconds)),
        None => loop {
            std::thread::park();
        },
    }
    bare.detach().map_err(Failure::from)
}
