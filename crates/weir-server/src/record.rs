//! What the engines of the server report of a run.
//!
//! Requests are reported in whatever order the engine comes to them: what is kept of them must not depend on it.

use std::ops::Range;

use weir_core::discipline::DropReason;
use weir_core::units::{Instant, Nanos};

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// When it arrived.
    pub arrived: Instant,
    /// When its service began first, overheads over.
    pub began: Instant,
    /// When it ended.
    pub ended: Instant,
    /// What it needed.
    pub service: Nanos,
    /// Its class.
    pub class: u16,
    /// Its flow.
    pub flow: u32,
    /// The core that served it last.
    pub server: u32,
    /// A later request of its flow ended before; always `false` where that is not measured.
    pub reordered: bool,
    /// It was served by another core than the request of its flow that began before; `false` where neither order is measured
    /// nor a cold cache costs anything.
    pub cold: bool,
}

/// Requests that are done, each in one piece on one core and without overhead; entry `i` of each array belongs to the same
/// request. Times are nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'b> {
    /// When they arrived.
    pub arrived: &'b [u64],
    /// When their service began.
    pub began: &'b [u64],
    /// What they needed.
    pub service: &'b [u64],
    /// Their classes.
    pub class: &'b [u16],
    /// Their flows.
    pub flow: &'b [u32],
    /// The cores that served them.
    pub server: &'b [u32],
}

impl Batch<'_> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.arrived.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arrived.is_empty()
    }

    /// Some of them.
    #[must_use]
    pub fn part(&self, places: Range<usize>) -> Self {
        Self {
            arrived: &self.arrived[places.clone()],
            began: &self.began[places.clone()],
            service: &self.service[places.clone()],
            class: &self.class[places.clone()],
            flow: &self.flow[places.clone()],
            server: &self.server[places],
        }
    }

    /// The requests, one by one.
    pub fn iter(&self) -> impl Iterator<Item = Done> + '_ {
        (0..self.len()).map(|place| Done {
            arrived: Instant::new(self.arrived[place]),
            began: Instant::new(self.began[place]),
            ended: Instant::new(self.began[place] + self.service[place]),
            service: Nanos::new(self.service[place]),
            class: self.class[place],
            flow: self.flow[place],
            server: self.server[place],
            reordered: false,
            cold: false,
        })
    }
}

/// Why a request that came is not served, besides those that the discipline drops and those that leave the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unserved {
    /// It did not join: too many waited.
    Balked,
    /// It was dropped for its deadline.
    Missed,
    /// The circuit breaker of the clients was open.
    Refused,
}

impl Unserved {
    /// How many reasons there are.
    pub const COUNT: usize = 3;
    /// All of them.
    pub const ALL: [Self; Self::COUNT] = [Self::Balked, Self::Missed, Self::Refused];

    /// What its figure is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Balked => "balked",
            Self::Missed => "missed",
            Self::Refused => "refused",
        }
    }
}

/// A request that is not served, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Why.
    pub why: Unserved,
    /// Its class.
    pub class: u16,
    /// When it arrived.
    pub arrived: Instant,
    /// When it left.
    pub now: Instant,
    /// What it needed.
    pub service: Nanos,
    /// Of it, what was not served.
    pub left: Nanos,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was served; its client may have given up before.
    Served,
    /// It left since its service did not begin in time.
    Abandoned,
    /// It found no place, or its discipline dropped it.
    Dropped,
    /// It was not served for another reason.
    Unserved(Unserved),
    /// It was a sub-request, or a second copy of one, and its request was not over by it.
    Part(Ends),
}

/// A request that comes, or a sub-request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Came {
    /// The place of its request among all attempts, from 0.
    pub id: u64,
    /// Which attempt it is, from 1.
    pub attempt: u32,
    /// Which sub-request of its request it is, from 0.
    pub part: u32,
    /// It is a second copy.
    pub is_copy: bool,
}

impl Came {
    /// A request that goes to one core.
    #[must_use]
    pub fn whole(id: u64, attempt: u32) -> Self {
        Self { id, attempt, part: 0, is_copy: false }
    }
}

/// A request that is gone, or a sub-request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// When the request arrived.
    pub arrived: Instant,
    /// When it was sent, which is later for a second copy.
    pub sent: Instant,
    /// When its service began first, if it did.
    pub began: Option<Instant>,
    /// When it ended, or left.
    pub ended: Instant,
    /// What it needed.
    pub service: Nanos,
    /// Its class.
    pub class: u16,
    /// Its flow.
    pub flow: u32,
    /// The core that served it last, if one did.
    pub server: Option<u32>,
    /// What became of it.
    pub fate: Fate,
}

/// How a sub-request is over, or a second copy of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// It is served, and its answer is one of those that its request needs.
    Answer,
    /// It is served, and its request has enough answers, or is lost.
    Spare,
    /// It is not served, or not to its end, since its request has enough answers, or is lost.
    Cancelled,
    /// It is dropped, or its service has not begun in time.
    Dropped,
}

/// A sub-request that is over, or a second copy of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its class.
    pub class: u16,
    /// When its request arrived.
    pub arrived: Instant,
    /// When it was sent, which is later for a second copy.
    pub sent: Instant,
    /// When its service began first, or when it was over, where it did not.
    pub began: Instant,
    /// When it was over.
    pub ended: Instant,
    /// How long it was served.
    pub served: Nanos,
    /// It is a second copy.
    pub is_copy: bool,
    /// How it is over.
    pub ends: Ends,
}

/// A sub-request that is served to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// By which core.
    pub server: u32,
    /// When its service begins.
    pub began: Instant,
    /// How long that takes, without a break.
    pub service: Nanos,
}

impl Served {
    /// When it ends.
    #[must_use]
    #[inline(always)]
    pub fn ended(&self) -> Instant {
        self.began + self.service
    }

    /// The sub-request of a request of this class.
    #[must_use]
    #[inline(always)]
    pub fn part(&self, class: u16, arrived: Instant, ends: Ends) -> Part {
        let Self { began, service, .. } = *self;
        Part {
            class,
            arrived,
            sent: arrived,
            began,
            ended: self.ended(),
            served: service,
            is_copy: false,
            ends,
        }
    }
}

/// Receives reports of what happens.
pub trait Sink {
    /// Whether requests are followed one by one, by [`Self::came`], [`Self::gone`] and [`Self::turned_away`]. The engine that jumps from event to event
    /// reports them, and no other does.
    #[inline(always)]
    fn follows(&self) -> bool {
        false
    }
    /// A request arrives in a slot that is free, or a sub-request of one.
    fn came(&mut self, _slot: u32, _came: Came) {}
    /// What a slot holds is gone.
    fn gone(&mut self, _slot: u32, _gone: &Gone) {}
    /// A request arrives and finds no place, not even a slot.
    fn turned_away(&mut self, _came: Came, _gone: &Gone) {}
    /// A request is done.
    fn done(&mut self, done: &Done);
    /// Requests are done, and the cores were busy with them.
    fn all_done(&mut self, batch: Batch<'_>) {
        for done in batch.iter() {
            self.done(&done);
            self.busy(done.server, done.began, done.ended, Nanos::ZERO);
        }
    }
    /// A request that went to several cores is answered: times are those of the sub-request that was answered last, `service` is
    /// what it takes on idle cores, `arrived` when the request did. Its work is reported part by part.
    fn answered(&mut self, done: &Done);
    /// A sub-request is over, or a second copy of one.
    fn part(&mut self, part: &Part);
    /// All sub-requests of a request are served and needed, the last of them until `last`, and the cores were busy with them.
    fn all_served(&mut self, class: u16, arrived: Instant, served: &[Served], _last: Instant) {
        for each in served {
            self.busy(each.server, each.began, each.ended(), Nanos::ZERO);
            self.part(&each.part(class, arrived, Ends::Answer));
        }
    }
    /// A request has left unserved; `arrived` is when it came.
    fn dropped(&mut self, class: u16, arrived: Instant, now: Instant, reason: DropReason);
    /// A request has left at `now`, since its service did not begin in time; it would have needed `service`.
    fn abandoned(&mut self, class: u16, arrived: Instant, now: Instant, service: Nanos);
    /// A request has left for another reason.
    fn lost(&mut self, lost: &Lost);
    /// A client tries again: an attempt arrives that is not the first of its request.
    fn retried(&mut self, class: u16, arrived: Instant, service: Nanos);
    /// A core was busy, of which `overhead` was no service of a request.
    fn busy(&mut self, server: u32, from: Instant, until: Instant, overhead: Nanos);
    /// From now on `servers` cores may be given new requests.
    fn in_use(&mut self, now: Instant, servers: u32);
}

/// A sink behind a pointer: one engine is compiled for all of these together.
impl Sink for &mut dyn Sink {
    fn follows(&self) -> bool {
        (**self).follows()
    }
    fn came(&mut self, slot: u32, came: Came) {
        (**self).came(slot, came);
    }
    fn gone(&mut self, slot: u32, gone: &Gone) {
        (**self).gone(slot, gone);
    }
    fn turned_away(&mut self, came: Came, gone: &Gone) {
        (**self).turned_away(came, gone);
    }
    fn done(&mut self, done: &Done) {
        (**self).done(done);
    }
    fn answered(&mut self, done: &Done) {
        (**self).answered(done);
    }
    fn part(&mut self, part: &Part) {
        (**self).part(part);
    }
    fn dropped(&mut self, class: u16, arrived: Instant, now: Instant, reason: DropReason) {
        (**self).dropped(class, arrived, now, reason);
    }
    fn abandoned(&mut self, class: u16, arrived: Instant, now: Instant, service: Nanos) {
        (**self).abandoned(class, arrived, now, service);
    }
    fn lost(&mut self, lost: &Lost) {
        (**self).lost(lost);
    }
    fn retried(&mut self, class: u16, arrived: Instant, service: Nanos) {
        (**self).retried(class, arrived, service);
    }
    fn busy(&mut self, server: u32, from: Instant, until: Instant, overhead: Nanos) {
        (**self).busy(server, from, until, overhead);
    }
    fn in_use(&mut self, now: Instant, servers: u32) {
        (**self).in_use(now, servers);
    }
}

/// Forgets everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forget;

impl Sink for Forget {
    fn done(&mut self, _done: &Done) {}
    fn answered(&mut self, _done: &Done) {}
    fn part(&mut self, _part: &Part) {}
    fn dropped(&mut self, _class: u16, _arrived: Instant, _now: Instant, _reason: DropReason) {}
    fn abandoned(&mut self, _class: u16, _arrived: Instant, _now: Instant, _service: Nanos) {}
    fn lost(&mut self, _lost: &Lost) {}
    fn retried(&mut self, _class: u16, _arrived: Instant, _service: Nanos) {}
    fn busy(&mut self, _server: u32, _from: Instant, _until: Instant, _overhead: Nanos) {}
    fn in_use(&mut self, _now: Instant, _servers: u32) {}
}
