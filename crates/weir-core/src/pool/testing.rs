//! What the tests of pools share: sites, requests, a dispatcher over lengths that the test states, and a pool that is
//! driven by hand.

use super::{
    Assigned, Delays, Dispatcher, Measured, Placed, Pool, Profile, ReceiverId, ServerId, Servers, Site, WHOLE,
};
use crate::discipline::DropReason;
use crate::item::{ClassId, FlowId, Message};
use crate::registry;
use crate::units::{Cost, Instant, Nanos};

pub(super) type Request = Message<Nanos>;

/// A site of `servers` servers, one receiver, one class, queues without bound.
pub(super) fn site(servers: u32) -> Site {
    let classes = vec![Profile { share: 1.0, service: Nanos::new(1_000) }];
    Site { servers, receivers: 1, classes, queue: None, speeds: Vec::new() }
}

/// The same with classes of these shares and services.
pub(super) fn site_of(servers: u32, classes: &[(f64, u64)]) -> Site {
    let profile = |&(share, service): &(f64, u64)| Profile { share, service: Nanos::new(service) };
    Site { classes: classes.iter().map(profile).collect(), ..site(servers) }
}

/// A request whose flow is its number.
pub(super) fn request(id: u32, class: u16, cost: u64) -> Request {
    Message { id, flow: FlowId(id), class: ClassId(class), remaining: Nanos::new(cost) }
}

/// The error of a pool's spec.
pub(super) fn refused(spec: &str, site: &Site) -> String {
    let spec = spec.parse().expect(spec);
    registry::pool::<Request>(&spec, site).map(drop).expect_err("refused").to_string()
}

/// Servers as the test states them: lengths and works.
#[derive(Clone, Debug, Default)]
pub(super) struct Stated(pub Vec<(u32, u64)>);

impl Servers for Stated {
    fn count(&self) -> u32 {
        self.0.len() as u32
    }
    fn length(&self, server: ServerId) -> u32 {
        self.0[server.0 as usize].0
    }
    fn work(&self, server: ServerId) -> Nanos {
        Nanos::new(self.0[server.0 as usize].1)
    }
}

/// A dispatcher that a spec names, over servers that are empty unless stated.
pub(super) struct Named(pub Box<dyn Dispatcher<Request> + Send>, pub Stated);

impl Named {
    pub(super) fn new(spec: &str, site: &Site) -> Self {
        let named = registry::dispatcher(&spec.parse().expect(spec), site).expect(spec);
        Self(named, Stated(vec![(0, 0); site.servers as usize]))
    }

    /// Where a request of this class goes; `None`: it is dropped.
    pub(super) fn send(&mut self, receiver: u32, class: u16) -> Option<u32> {
        self.send_of_flow(receiver, Request { class: ClassId(class), ..request(0, 0, 100) })
    }

    pub(super) fn send_of_flow(&mut self, receiver: u32, request: Request) -> Option<u32> {
        let sent = self.0.dispatch(Instant::ZERO, &request, ReceiverId(receiver), &self.1);
        sent.ok().map(|server| server.0)
    }

    /// Ends a period in which requests of each class waited for these times on average, in microseconds (`None`: there
    /// were no requests). Returns how many servers are in use then.
    pub(super) fn control(&mut self, means: &[Option<u64>]) -> Option<u32> {
        measured_us(means, |measured| self.0.control(Instant::ZERO, measured));
        self.0.in_use()
    }
}

/// What is measured in a period in which requests of each class waited for these times on average, in microseconds.
pub(super) fn measured_us(means: &[Option<u64>], mut use_it: impl FnMut(&Measured<'_>)) {
    let delays = |mean: &Option<u64>| match mean {
        Some(mean) => Delays { requests: 10, delay: Nanos::new(mean * 1_000 * 10) },
        None => Delays::default(),
    };
    let classes: Vec<Delays> = means.iter().map(delays).collect();
    use_it(&Measured { classes: &classes, oldest: Nanos::ZERO, busy: Nanos::ZERO });
}

/// A pool that is driven by hand.
pub(super) struct Driven {
    pub pool: Box<dyn Pool<Request> + Send>,
    /// What each server serves, and since when.
    open: Vec<Option<(Assigned<Request>, Instant)>>,
    drops: Vec<(Request, DropReason)>,
}

/// The pool that a spec names.
pub(super) fn pool_named(spec: &str, site: &Site) -> Driven {
    let pool = registry::pool(&spec.parse().expect(spec), site).expect(spec);
    Driven { pool, open: vec![None; site.servers as usize], drops: Vec::new() }
}

impl Driven {
    /// A request arrives; the server that begins to serve it or another, if one does.
    pub(super) fn offer(&mut self, now: u64, request: Request) -> Option<u32> {
        let now = Instant::new(now);
        match self.pool.enqueue(now, request, ReceiverId(0), &mut self.drops) {
            Placed::Queued => None,
            Placed::Ask(server) => {
                assert!(self.open[server.0 as usize].is_none(), "a busy server is asked");
                self.ask(now, server);
                Some(server.0)
            }
            Placed::Preempts(server) => {
                self.requeue(now.get(), server.0);
                Some(server.0)
            }
        }
    }

    /// Lets `requests` requests arrive at once, from number 0, that need 100 each.
    pub(super) fn offer_all(&mut self, requests: u32) {
        for id in 0..requests {
            self.offer(0, request(id, 0, 100));
        }
    }

    fn ask(&mut self, now: Instant, server: ServerId) {
        let assigned = self.pool.dequeue(now, server, &mut self.drops);
        self.open[server.0 as usize] = assigned.map(|assigned| (assigned, now));
    }

    /// The server's request is interrupted, and goes on from what is left.
    pub(super) fn requeue(&mut self, now: u64, server: u32) {
        let (assigned, since) = self.open[server as usize].take().expect("it serves");
        let now = Instant::new(now);
        let used = now.since(since);
        let item = Request { remaining: assigned.item.remaining.minus(used), ..assigned.item };
        self.pool.requeue(now, ServerId(server), item, used, &mut self.drops);
        self.ask(now, ServerId(server));
    }

    /// The server's request is done, and it takes another.
    pub(super) fn finish(&mut self, now: u64, server: u32) {
        let (assigned, since) = self.open[server as usize].take().expect("it serves");
        let now = Instant::new(now);
        self.pool.finish(now, ServerId(server), &assigned.item, now.since(since));
        self.ask(now, ServerId(server));
    }

    /// The number of the request that each server serves.
    pub(super) fn serving(&self) -> Vec<Option<u32>> {
        self.open.iter().map(|open| open.as_ref().map(|(assigned, _)| assigned.item.id)).collect()
    }

    /// For how long at most a server serves; `None`: until it is done.
    pub(super) fn quantum(&self, server: u32) -> Option<u64> {
        let quantum = self.open[server as usize].as_ref().map(|(assigned, _)| assigned.quantum)?;
        Some(quantum).filter(|quantum| *quantum != WHOLE).map(Nanos::get)
    }

    /// The numbers of those that were dropped.
    pub(super) fn dropped(&self) -> Vec<u32> {
        self.drops.iter().map(|(request, _)| request.id).collect()
    }
}
