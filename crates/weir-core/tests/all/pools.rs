//! Every registered pool discipline and dispatcher, and some that are nested, through the suite for pools.

use proptest::prelude::*;
use weir_core::conformance::pool::Offered;
use weir_core::conformance::{PoolPromises, check_pool, drive_pool};
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::pool::{Pool, Profile, ReceiverId, Site};
use weir_core::registry::{DISPATCHER, POOL, pool};
use weir_core::spec::Spec;
use weir_core::units::{Instant, Nanos};

/// More specs: what controls does so frequently, lists have places that lead to none, queues have another order.
const MORE: [&str; 48] = [
    "rr(available=none/0,strict=abort)",
    "rr:available=none/0",
    "dynamic(add=500ns,period=5us,min=1)",
    "dynamic_separated(add=500ns,period=5us)",
    "dynamic_separated(add=500ns,period=5us,adds=each)",
    "jsq:random,seed=5",
    "power_of_two:3",
    "power_of_two(1,memory=1)",
    "power_of_two(3,memory=4)",
    "jiq:choices=2",
    "least_requests(5,bias=2)",
    "weighted_rr:7",
    "peak_ewma(decay=5us,d=3)",
    "bounded_hash(factor=1,points=1)",
    "subset(jiq,size=3)",
    "subset(stale(jsq,every=3us),size=2)",
    "stale(power_of_two(2,memory=1),delay=700ns)",
    "stale(least_requests,every=5us)",
    "local(bounded_hash)",
    "health(jiq,after=3us)",
    "health(local:jsq,after=1us)",
    "per_server(health(rr,after=2us),discipline=sf)",
    "subset(peak_ewma:1us,size=1)",
    "per_server(jiq,discipline=outstanding(ps,limit=3),quantum=400ns)",
    "flow_hash:table=2",
    "per_server(rr,discipline=sf)",
    "per_server(jsq,discipline=rr:700)",
    "per_server(rr,discipline=outstanding(ps,limit=3),quantum=400ns)",
    "per_server(random,discipline=psjf)",
    "per_server(least_work,discipline=outstanding(las:300,limit=2))",
    "per_server(dynamic(add=500ns,period=5us),discipline=hrrn)",
    "work_stealing(rr,victim=longest,cost=300ns)",
    "work_stealing(jsq,victim=next,cost=1s)",
    "work_stealing:rr(available=none/0,strict=abort)",
    "jbsq:1",
    "jbsq:5",
    "jbsq(depth=3,quantum=300ns,cost=100ns)",
    "preemptive(quantum=300ns,cost=100ns)",
    "preemptive(quantum=300ns,cost=100ns,when=waiting)",
    "preemptive(quantum=300ns,cost=100ns,before=resumed)",
    "darc:use=own",
    "darc(delta=1,reserve=1)",
    "darc:reserve=0",
    "core_allocation(period=1us,delay=500ns,idle=2us,wake=700ns)",
    "core_allocation(period=100ns,delay=0ns,idle=0ns)",
    "racks(preemptive:300ns,racks=3,choices=3)",
    "racks(core_allocation:1us,racks=2,choices=1)",
    "racks(racks(work_stealing:jsq,racks=2),racks=64)",
];

/// Those that leave no server idle over a backlog.
const WORK_CONSERVING: [&str; 4] = ["cfcfs", "preemptive", "short_first", "work_stealing"];
/// Those under which the requests of a flow begin in order.
const FLOW_ORDER: [&str; 4] = ["cfcfs", "core_allocation", "flow_hash", "preemptive"];

/// Pools of every size: one server, more receivers than servers, more servers than words of a set, with bounds.
fn sites() -> impl Iterator<Item = Site> {
    let sizes = [
        (1, 1, 1, None),
        (1, 2, 2, Some(3)),
        (2, 1, 1, Some(0)),
        (3, 5, 2, None),
        (7, 1, 3, Some(4)),
        (70, 2, 64, None),
    ];
    sizes.into_iter().map(|(servers, receivers, classes, queue)| {
        let profile =
            |class: u64| Profile { share: 1.0 / classes as f64, service: Nanos::new(500 + 300 * class) };
        Site { servers, receivers, classes: (0..classes).map(profile).collect(), queue, speeds: Vec::new() }
    })
}

fn conforms(text: &str) {
    let spec: Spec = text.parse().expect(text);
    let named = |list: &[&str]| list.contains(&spec.name.as_str());
    // A dispatcher stands for itself over queues that are first in, first out.
    let server_order = spec.name == "cfcfs" || DISPATCHER.iter().any(|info| info.name == spec.name);
    let (work_conserving, flow_order) = (named(&WORK_CONSERVING), named(&FLOW_ORDER));
    let promises = PoolPromises { work_conserving, flow_order, server_order };
    for site in sites() {
        let make = || -> Box<dyn Pool<Message<Nanos>> + Send> {
            pool(&spec, &site).unwrap_or_else(|error| panic!("{text} on {site:?}: {error}"))
        };
        check_pool(make, &site, promises);
    }
}

#[test]
fn pools() {
    POOL.iter().for_each(|info| conforms(info.example));
}

#[test]
fn dispatchers() {
    DISPATCHER.iter().for_each(|info| conforms(info.example));
}

#[test]
fn with_other_parameters_and_nested() {
    MORE.into_iter().for_each(conforms);
}

/// Requests of one class that arrive at these times and have these needs, in nanoseconds.
fn requests(arrivals: impl Iterator<Item = (u64, u64)>) -> Vec<Offered> {
    let offered = |(id, (at, needs)): (u32, (u64, u64))| {
        let needs = Nanos::new(needs);
        let item = Message { id, flow: FlowId(id), class: ClassId(0), remaining: needs };
        Offered { at: Instant::new(at), item, needs, receiver: ReceiverId(0) }
    };
    (0..).zip(arrivals).map(offered).collect()
}

/// When each request begins; `None`: it is dropped.
fn begins(spec: &str, site: &Site, requests: &[Offered]) -> Vec<Option<u64>> {
    let mut built = pool::<Message<Nanos>>(&spec.parse().expect(spec), site).expect(spec);
    let mut begins = vec![None; requests.len()];
    for service in drive_pool(&mut built, site, PoolPromises::default(), requests) {
        begins[service.id as usize].get_or_insert(service.from.get());
    }
    begins
}

fn site(servers: u32, queue: Option<u32>) -> Site {
    Site {
        servers,
        receivers: 1,
        classes: vec![Profile { share: 1.0, service: Nanos::new(100) }],
        queue,
        speeds: Vec::new(),
    }
}

#[test]
fn the_delay_of_a_saturated_server_is_that_of_a_full_queue() {
    let offered = requests((0..400).map(|n| (50 * n, 100)));
    let begins = begins("rr", &site(1, Some(10)), &offered);
    let late = begins.iter().zip(&offered).skip(100);
    for delay in late.filter_map(|(begin, offered)| Some((*begin)? - offered.at.get())) {
        assert!((900..=1_000).contains(&delay), "{delay}");
    }
    // Half of them find it full.
    assert_eq!(begins.iter().skip(100).filter(|begin| begin.is_none()).count(), 150);
}

proptest! {
    #[test]
    fn with_the_least_work_requests_begin_as_with_one_queue(
        servers in 1_u32..6, drawn in proptest::collection::vec((0_u64..60, 1_u64..200), 1..80),
    ) {
        let arrivals = drawn.into_iter().scan(0, |at, (gap, needs)| {
            *at += gap;
            Some((*at, needs))
        });
        let offered = requests(arrivals);
        let site = site(servers, None);
        prop_assert_eq!(begins("least_work", &site, &offered), begins("cfcfs", &site, &offered));
    }
}
