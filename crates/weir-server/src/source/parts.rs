//! What the sub-requests of a request need, and the copies that may follow: all drawn when it arrives, so that it is the same
//! under every discipline.
//!
//! The first sub-request has the service of the request. The others draw theirs from a stream of their own (`Services` 3), or
//! from that of the client whose request it is.

use super::{Estimate, Services};
use crate::model::{Draws, FanOut, ServerScenario};
use weir_core::units::Nanos;
use weir_lab::stream::{Purpose, Stream, StreamKey};

/// What a sub-request needs, and what disciplines know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) service: Nanos,
    pub(crate) known: Nanos,
}

/// Whose streams are drawn from.
#[derive(Debug)]
pub(crate) enum From<'s> {
    /// Estimates from this one.
    Source(&'s mut Stream),
    /// All from that of a client.
    Client(&'s mut Stream),
}

/// Draws what sub-requests need.
#[derive(Debug)]
pub(crate) struct Parts {
    fan_out: FanOut,
    services: Services,
    draws: Stream,
    /// Of the request that came last: sub-request by sub-request, then copy by copy.
    drawn: Vec<Needs>,
    /// What those draw that have a service of their own, and of which classes they are.
    own: Vec<u64>,
    classes: Vec<u16>,
}

/// What draws the services of sub-requests besides those of the first.
fn draws(scenario: &ServerScenario, replication: u32) -> Stream {
    let (seed, purpose) = (scenario.seed, Purpose::Services);
    Stream::new(StreamKey { seed, replication, purpose, index: 3 })
}

/// How many sub-requests of a request have services of their own, besides the first.
fn further(fan_out: FanOut) -> u32 {
    if fan_out.service == Draws::Own { fan_out.to - 1 } else { 0 }
}

impl Parts {
    pub(crate) fn new(scenario: &ServerScenario, fan_out: FanOut, replication: u32) -> Self {
        let draws = draws(scenario, replication);
        let copies = fan_out.hedge.filter(|hedge| hedge.service == Draws::Own).map_or(0, |_| fan_out.to);
        let classes = vec![0; (further(fan_out) + copies) as usize];
        let services = Services::new(&scenario.classes);
        Self { fan_out, services, draws, drawn: Vec::new(), own: Vec::new(), classes }
    }

    /// Draws what the request needs whose first sub-request needs this.
    pub(crate) fn draw(&mut self, class: u16, first: Needs, estimate: &Estimate, mut from: From<'_>) {
        let Self { fan_out, services, draws, drawn, own, classes } = self;
        own.clear();
        if classes.first().is_some_and(|&before| before != class) {
            classes.fill(class);
        }
        match &mut from {
            From::Source(_) => services.fill(classes, draws, own),
            From::Client(stream) => services.fill(classes, stream, own),
        }
        let (From::Source(stream) | From::Client(stream)) = from;
        let mut each = own.iter().map(|&service| {
            let service = Nanos::new(service);
            Needs { service, known: estimate.of(class, service, stream) }
        });
        drawn.clear();
        drawn.push(first);
        match fan_out.service {
            Draws::Own => drawn.extend(each.by_ref().take(fan_out.to as usize - 1)),
            Draws::Shared => drawn.resize(fan_out.to as usize, first),
        }
        let Some(hedge) = fan_out.hedge else { return };
        for place in 0..fan_out.to as usize {
            let own = if hedge.service == Draws::Own { each.next() } else { None };
            drawn.push(own.unwrap_or(drawn[place]));
        }
    }

    /// What the sub-requests of the request need that came last.
    pub(crate) fn parts(&self) -> &[Needs] {
        &self.drawn[..self.fan_out.to as usize]
    }

    /// What second copies of them need; nothing where there are none.
    pub(crate) fn copies(&self) -> &[Needs] {
        &self.drawn[self.fan_out.to as usize..]
    }

    /// What the request takes on idle cores: until as many are done as it needs.
    pub(crate) fn alone(&self, scratch: &mut Vec<Nanos>) -> Nanos {
        let FanOut { need, to, .. } = self.fan_out;
        let each = self.parts().iter().map(|part| part.service);
        if need == to {
            return each.max().unwrap_or(Nanos::ZERO);
        }
        scratch.clear();
        scratch.extend(each);
        *scratch.select_nth_unstable(need as usize - 1).1
    }
}

/// Services that are drawn together.
const TOGETHER: usize = 1024;

/// What sub-requests need, drawn for several requests at once, where there are no copies and nothing is estimated: the same as
/// [`Parts`] draws for one after the other.
#[derive(Debug)]
pub(crate) struct Ahead {
    services: Services,
    draws: Stream,
    /// Sub-requests of a request that have a service of their own, besides the first.
    further: usize,
    classes: Vec<u16>,
    /// Whether there is one class.
    is_alike: bool,
    drawn: Vec<u64>,
}

impl Ahead {
    pub(crate) fn new(scenario: &ServerScenario, fan_out: FanOut, replication: u32) -> Self {
        let (draws, further) = (draws(scenario, replication), further(fan_out) as usize);
        let (services, is_alike) = (Services::new(&scenario.classes), scenario.classes.len() == 1);
        Self { services, draws, further, classes: Vec::new(), is_alike, drawn: Vec::new() }
    }

    /// For how many requests it is well to draw at once.
    pub(crate) fn requests(&self) -> usize {
        TOGETHER / self.further.clamp(1, TOGETHER)
    }

    /// Draws for the next requests, which are of these classes.
    pub(crate) fn draw(&mut self, classes: &[u16]) {
        self.repeat(classes);
        self.drawn.clear();
        self.services.fill(&self.classes, &mut self.draws, &mut self.drawn);
    }

    /// Makes the classes of sub-requests, which are those of their requests.
    fn repeat(&mut self, classes: &[u16]) {
        let count = classes.len() * self.further;
        if self.is_alike && self.classes.len() == count {
            return;
        }
        self.classes.clear();
        for &class in classes {
            self.classes.resize(self.classes.len() + self.further, class);
        }
    }

    /// The services of the sub-requests of one of these requests, besides that of the first; none where all have that of the first.
    #[inline(always)]
    pub(crate) fn of(&self, request: usize) -> &[u64] {
        &self.drawn[request * self.further..][..self.further]
    }
}
