//! The programs of an interface that is steered: loaded, attached, given the rule in force, read, and taken away.
//!
//! The programs are those of `bpf/steer`, which says what they do with which frame. Their maps are memory of the daemon as
//! well: to count is to read it, and another decision is written next to the one in force, and then the number that says
//! which is in force is changed. Nothing is detached, and no request is decided by half a rule: before a place is written
//! again, every program that may still read it has ended.
//!
//! | | |
//! |-|-|
//! | Source | Linux, `BPF_MAP_TYPE_CPUMAP`, Documentation/bpf/map_cpumap.rst; membarrier(2) |
//! | Work | [`Kernel::counts`]: O(processors), no system call; [`Kernel::decide`]: O(places), and the wait for the programs |
//! | Units | nanoseconds, requests, frames |
//! | Memory | 200 kB, and 2.6 kB for each processor |

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Relaxed, Release};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use libbpf_rs::{Link, MapCore, MapFlags, Object, OpenObject};
use weir_core::pool::Delays as Waited;
use weir_core::units::Nanos;
use weir_gauge::spans::Spans;

use super::counts::{Counts, FrameCounts, ProcessorCounts};
use super::cpumap;
use super::decision::Decision;
use super::layout::{CLASSES, Counted, Delays, PROCESSORS, Rules};
use super::shared::Shared;
use super::threads;
use crate::io::attach::{self, Attached, CAPABILITY, Mode, Owner, Sharing, Way, map, plain, program};
use crate::io::fault::Fault;
use crate::io::link::Facts;

pub use super::setup::{ClassRule, Service, Setup, Traffic};
pub use super::threads::QueueThread;

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/steer.bpf.o"));
/// The program that counts what found a queue full, which some kernels refuse.
const OVERFLOW: &str = "steer_overflow";
/// The oldest kernel that these programs were made for.
const OLDEST: &str = "Linux 5.17";
/// The most frames of a queue, which is the kernel's bound.
pub const LONGEST_QUEUE: u32 = 16_384;

/// The programs, attached to an interface until this is dropped, or until the machine ends where they are pinned.
pub struct Kernel {
    attached: Attached,
    rules: Shared<Rules>,
    counted: Shared<Counted>,
    delays: Shared<Delays>,
    /// The processors that have or had a queue, in order.
    opened: Vec<u32>,
    /// Frames of each queue.
    queue: u32,
    /// The number of the map of queues.
    map: u32,
    /// Whether a program may still read the place of the decision before the one in force.
    unsettled: bool,
    overflow: Option<Link>,
    // Last, so that it goes away after what was made of it.
    object: Object,
}

impl Kernel {
    /// Loads the programs and attaches them to an interface, for a daemon of this name; `queue` frames may wait at each
    /// processor, from 1 to [`LONGEST_QUEUE`]. Until the first [`Self::decide`] all frames go to the kernel.
    ///
    /// # Errors
    /// Permission is missing, the kernel refuses the programs, or another program is attached.
    pub fn attach(
        name: &str,
        facts: &Facts,
        setup: &Setup,
        queue: u32,
        pin: bool,
        sharing: Sharing,
    ) -> Result<Self, Fault> {
        let owner = Owner { name, pin: pin.then_some("pin = true"), instead: None, sharing };
        let way = Way::of(owner, facts)?;
        let object = load(facts, setup, &way)?;
        let failed = |what| move |error| Fault::system(&facts.name, what, CAPABILITY, error);
        let (rules, counted, delays) = memory(&object).map_err(failed("mapping what the programs count"))?;
        let map = prepare(&object, facts).map_err(failed("telling the programs of the interface"))?;
        let overflow = object.progs_mut().find(|program| program.name() == OVERFLOW);
        let overflow = overflow.and_then(|program| program.attach_trace().ok());
        let program = program(&object, "steer").map_err(failed("finding the program"))?;
        let attached = Attached::new(owner, facts, &way, program)?;
        rules.values()[0].generic.store((attached.mode() == Mode::Generic).into(), Relaxed);
        let opened = Vec::new();
        Ok(Self { attached, rules, counted, delays, opened, queue, map, unsettled: false, overflow, object })
    }

    /// Opens the queue of a processor.
    ///
    /// # Errors
    /// There is no such processor, it is offline, or permission is missing.
    pub fn open_queue(&mut self, processor: u32) -> io::Result<()> {
        let serve = program(&self.object, "steer_serve")?;
        cpumap::open(&self.object, processor, self.queue, Some(serve))?;
        if let Err(at) = self.opened.binary_search(&processor) {
            self.opened.insert(at, processor);
        }
        Ok(())
    }

    /// Closes the queue of a processor to which no decision sends any more. What waits there is still served.
    ///
    /// # Errors
    /// It has none, or permission is missing.
    pub fn close_queue(&mut self, processor: u32) -> io::Result<()> {
        self.settle()?;
        cpumap::close(&self.object, processor)
    }

    /// Decides by this from now on. The decision before it is made of may still be in use for a moment.
    ///
    /// # Errors
    /// The system cannot wait for the programs.
    pub fn decide(&mut self, decision: &Decision) -> io::Result<()> {
        self.settle()?;
        let rules = self.rules.first().as_ptr();
        // SAFETY: the memory is of `Rules`, which lives as long as this; the programs read the other place.
        unsafe {
            let next = 1 - ((*rules).active.load(Relaxed) & 1);
            (&raw mut (*rules).decisions[next as usize]).write(decision.clone());
            (*rules).active.store(next, Release);
        }
        self.unsettled = true;
        Ok(())
    }

    /// Waits until no program decides by another decision than the one in force.
    ///
    /// # Errors
    /// The system cannot wait for them.
    pub fn settle(&mut self) -> io::Result<()> {
        if self.unsettled {
            threads::wait_for_programs()?;
            self.unsettled = false;
        }
        Ok(())
    }

    /// What the programs have counted since they were loaded.
    ///
    /// # Errors
    /// None at present; there is room for kernels whose maps are no memory.
    pub fn counts(&mut self) -> io::Result<Counts> {
        let counted = &self.counted.values()[0];
        let processors = self.opened.iter().map(|&processor| of_processor(counted, processor)).collect();
        let delays = [0, 1].map(|class| self.delays_of(class));
        let there = self.delays.values().len() / CLASSES;
        let frames = frames(counted, there);
        Ok(Counts { frames, processors, delays })
    }

    /// What the requests of each class have waited in all, without their histograms.
    #[must_use]
    pub fn waited(&self) -> [Waited; CLASSES] {
        let mut sums = [Waited::default(); CLASSES];
        for (place, delays) in self.delays.values().iter().enumerate() {
            let sum = &mut sums[place % CLASSES];
            sum.requests += delays.requests.load(Relaxed);
            sum.delay = Nanos::new(sum.delay.get().saturating_add(delays.sum.load(Relaxed)));
        }
        sums
    }

    /// Frames whose senders left the checksum to a device.
    #[must_use]
    pub fn left_to_device(&self) -> u64 {
        let frames = frames(&self.counted.values()[0], self.delays.values().len() / CLASSES);
        frames.completed + frames.left_out
    }

    /// What the requests of a class waited, all processors together.
    fn delays_of(&self, class: usize) -> Spans {
        let mut sum = Spans::default();
        for delays in self.delays.values().iter().skip(class).step_by(CLASSES) {
            if delays.requests.load(Relaxed) > 0 {
                let nanos = |counted: &AtomicU64| Nanos::new(counted.load(Relaxed));
                let spans = delays.spans.each_ref().map(|span| span.load(Relaxed));
                sum.merge(&Spans::of(nanos(&delays.sum), nanos(&delays.longest), spans));
            }
        }
        sum
    }

    /// The kernel's threads that serve the queues, in order of processors.
    #[must_use]
    pub fn threads(&self) -> Vec<QueueThread> {
        threads::of_map(self.map)
    }

    /// Whether the first program is behind a dispatcher.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.attached.is_behind()
    }

    /// Where the first program runs.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.attached.mode()
    }

    /// Whether what finds a queue full is counted by processor.
    #[must_use]
    pub fn counts_overflow(&self) -> bool {
        self.overflow.is_some()
    }

    /// Takes the programs off the interface, pinned or not; what waits is still served.
    ///
    /// # Errors
    /// The pin cannot be removed.
    pub fn detach(self) -> Result<(), Fault> {
        self.attached.detach()
    }
}

impl AsFd for Kernel {
    /// The link by which the first program is attached.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.attached.as_fd()
    }
}

/// Frames by what became of them, summed over `processors` processors. What was steered is counted by its queue.
fn frames(counted: &Counted, processors: usize) -> FrameCounts {
    let Counted { receivers, queues, served } = counted;
    let sum = |kind: usize| receivers[..processors].iter().map(|one| one.frames[kind].load(Relaxed)).sum();
    let [passed, short, fragment, no_server, redirected, left_out] = [1, 2, 3, 4, 5, 6].map(sum);
    let steered = queues[..processors].iter().map(|queue| queue.steered.load(Relaxed)).sum();
    let completed = served[..processors].iter().map(|one| one.completed.load(Relaxed)).sum();
    FrameCounts { steered, passed, short, fragment, no_server, redirected, left_out, completed }
}

/// What was counted of a processor; what is done is read before what came, so that nothing seems done that has not come.
fn of_processor(counted: &Counted, processor: u32) -> ProcessorCounts {
    let at = processor as usize % PROCESSORS;
    let (queue, served) = (&counted.queues[at], &counted.served[at]);
    let served = served.requests.load(Relaxed);
    let dropped = queue.dropped.load(Relaxed);
    let steered = queue.steered.load(Relaxed);
    ProcessorCounts { processor, steered, served, dropped }
}

/// Loads the programs; where the kernel refuses the one that counts overflow, without it.
fn load(facts: &Facts, setup: &Setup, way: &Way) -> Result<Object, Fault> {
    let load = |overflow| {
        open(setup, overflow).and_then(|object| way.fit(object, "steer")).and_then(OpenObject::load)
    };
    load(true).or_else(|_| load(false)).map_err(|error| way.refused(facts, error, OLDEST))
}

/// Opens the programs for this machine, and gives them what they must know from the start.
fn open(setup: &Setup, overflow: bool) -> libbpf_rs::Result<OpenObject> {
    let mut object = attach::open(OBJECT)?;
    let processors = cpumap::most()?;
    for mut map in object.maps_mut() {
        match map.name().to_str() {
            Some(".rodata.setup") => map.set_initial_value(bytes(&setup.layout()))?,
            Some(cpumap::MAP) => map.set_max_entries(processors)?,
            Some("delays") => map.set_max_entries(processors * CLASSES as u32)?,
            _ => {}
        }
    }
    for mut program in object.progs_mut().filter(|program| program.name() == OVERFLOW) {
        program.set_autoload(overflow);
    }
    Ok(object)
}

/// The setup as the programs read it.
fn bytes(setup: &super::layout::Setup) -> &[u8] {
    // SAFETY: numbers that lie side by side, without anything between them.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(setup).cast(), size_of_val(setup)) }
}

/// The memory of the maps.
fn memory(object: &Object) -> io::Result<(Shared<Rules>, Shared<Counted>, Shared<Delays>)> {
    let counted = object.maps().find(|map| map.name().as_encoded_bytes().ends_with(b".bss"));
    let counted = counted.ok_or_else(|| io::Error::other("no map of counters"))?;
    let delays = map(object, "delays")?;
    let processors = delays.max_entries() as usize;
    // SAFETY: the programs declare these maps with these types, as a test holds against the header; they are numbers.
    unsafe {
        let rules = Shared::new(map(object, ".data.rules")?.as_fd(), 1)?;
        Ok((rules, Shared::new(counted.as_fd(), 1)?, Shared::new(delays.as_fd(), processors)?))
    }
}

/// Tells the programs the interface that frames are sent back by, and the number of the map of queues, which it returns.
fn prepare(object: &Object, facts: &Facts) -> io::Result<u32> {
    let first = 0_u32.to_ne_bytes();
    map(object, "back")?.update(&first, &facts.index.to_ne_bytes(), MapFlags::ANY).map_err(plain)?;
    let id = cpumap::number(object)?;
    map(object, "queues_id")?.update(&first, &id.to_ne_bytes(), MapFlags::ANY).map_err(plain)?;
    Ok(id)
}
