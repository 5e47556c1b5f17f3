//! Who gets how much: hosts and their flows, tins and their thresholds, and what a sparse flow waits.

use super::*;

/// Nobody is dropped early in these tests.
const PATIENT: Nanos = Nanos::new(1_000_000_000_000);

/// What each flow sends in five seconds, in bytes, if all always have packets; `sizes` of them by flow.
fn sent(config: Config, flows: &[Probe], line: Rate) -> Vec<u64> {
    let (mut cake, drops) = (cake(Config { rtt: PATIENT, ..config }), &mut CountDrops::default());
    for flow in flows {
        for _ in 0..3 {
            let _ = cake.enqueue(Instant::ZERO, *flow, drops);
        }
    }
    let (mut now, mut sent) = (Instant::ZERO, vec![0; flows.len()]);
    while now < Instant::new(5_000_000_000) {
        let Some(grant) = cake.dequeue(now, &Open, drops) else {
            now = cake.next_event().expect("all have packets");
            continue;
        };
        let at = grant.item.id as usize;
        sent[at] += grant.item.size;
        let _ = cake.enqueue(now, flows[at], drops);
        now = now.after(line.time_of(grant.quantum).expect("a rate"));
    }
    assert_eq!(*drops, CountDrops(0));
    sent
}

/// The flows of these hosts, (source, destination, how many), each numbered by its place.
fn flows_of(hosts: &[(u32, u32, u32)]) -> Vec<Probe> {
    let all = hosts.iter().flat_map(|host| std::iter::repeat_n(host, host.2 as usize));
    (0..)
        .zip(all)
        .map(|(id, &(source, destination, _))| Probe {
            source,
            destination,
            ..Probe::of(id, id, 700 + 113 * u64::from(id % 8))
        })
        .collect()
}

fn part(sent: &[u64], of: core::ops::Range<usize>) -> f64 {
    sent[of].iter().sum::<u64>() as f64 / sent.iter().sum::<u64>() as f64
}

fn near(share: f64, expected: f64) {
    assert!((share - expected).abs() < 0.005, "{share}, {expected} expected");
}

/// Sources 1 and 2 with one flow and ten, to as many destinations.
const UPLOADS: [(u32, u32, u32); 2] = [(1, 9, 1), (2, 8, 10)];

#[test]
fn hosts_have_equal_shares_however_many_flows_they_have() {
    let line = Rate::new(100_000_000);
    for rate in [None, Some(Rate::new(20_000_000)), Some(Rate::new(2_000_000))] {
        let of = |fairness| Config { rate, fairness, ..Config::default() };
        for fairness in [Fairness::Triple, Fairness::DualSource, Fairness::DualDestination] {
            let sent = sent(of(fairness), &flows_of(&UPLOADS), line);
            near(part(&sent, 0..1), 0.5);
            (1..11).for_each(|flow| near(part(&sent, flow..flow + 1), 0.05));
        }
        for fairness in [Fairness::SourceHosts, Fairness::DestinationHosts, Fairness::Hosts] {
            near(part(&sent(of(fairness), &flows_of(&UPLOADS), line), 0..1), 0.5);
        }
        near(part(&sent(of(Fairness::Flows), &flows_of(&UPLOADS), line), 0..1), 1.0 / 11.0);
    }
}

#[test]
fn each_side_counts_where_it_is_asked_for() {
    let line = Rate::new(100_000_000);
    let of = |fairness| Config { fairness, ..paced(Config::default(), 20) };
    // One source sends to two destinations, by one flow and by four; another sends to the first by one.
    let flows = flows_of(&[(1, 8, 1), (1, 9, 4), (2, 8, 1)]);
    let shares = |fairness| {
        let sent = sent(of(fairness), &flows, line);
        [part(&sent, 0..1), part(&sent, 1..5), part(&sent, 5..6)]
    };
    let each = |shares: [f64; 3], expected: [f64; 3]| (0..3).for_each(|at| near(shares[at], expected[at]));
    each(shares(Fairness::DualSource), [0.1, 0.4, 0.5]);
    each(shares(Fairness::DualDestination), [0.25, 0.5, 0.25]);
    // Turns are divided by the larger number of busy flows: 5, 5 and 2.
    each(shares(Fairness::Triple), [2.0 / 15.0, 8.0 / 15.0, 5.0 / 15.0]);
}

/// One flow of each of these code points.
fn flows_at(points: &[u8]) -> Vec<Probe> {
    (0..).zip(points).map(|(id, &dscp)| Probe { dscp, ..Probe::of(id, id, 1000) }).collect()
}

#[test]
fn tins_get_their_thresholds_and_the_first_the_rest() {
    let line = Rate::new(1_000_000_000);
    let shares = |diffserv, points: &[u8]| {
        let sent = sent(Config { diffserv, ..paced(Config::default(), 16) }, &flows_at(points), line);
        (0..points.len()).map(|at| part(&sent, at..at + 1)).collect::<Vec<_>>()
    };
    let each = |shares: Vec<f64>, expected: &[f64]| {
        assert_eq!(shares.len(), expected.len());
        shares.iter().zip(expected).for_each(|(share, expected)| near(*share, *expected));
    };
    each(shares(Diffserv::Three, &[0, 8, 46]), &[11.0 / 16.0, 1.0 / 16.0, 0.25]);
    each(shares(Diffserv::Four, &[0, 8, 34, 46]), &[3.0 / 16.0, 1.0 / 16.0, 0.5, 0.25]);
    // Whoever is alone has all, whatever its threshold.
    for (diffserv, point) in [(Diffserv::Three, 8), (Diffserv::Four, 46), (Diffserv::Eight, 56)] {
        each(shares(diffserv, &[point]), &[1.0]);
    }
    // Above their thresholds, who is soonest within it: a packet of CS1 puts its tin off by sixteen, one of EF its own by
    // four from then on, so that EF is soonest thirteen times.
    each(shares(Diffserv::Three, &[8, 46]), &[1.0 / 14.0, 13.0 / 14.0]);
    each(shares(Diffserv::BestEffort, &[0, 46]), &[0.5, 0.5]);
}

#[test]
fn without_a_rate_tins_take_turns_by_their_quanta() {
    let line = Rate::new(1_000_000_000);
    let config = Config { diffserv: Diffserv::Four, ..Config::default() };
    let sent = sent(config, &flows_at(&[0, 8, 34, 46]), line);
    let all = 16.0 + 1.0 + 8.0 + 4.0;
    for (at, of) in [16.0, 1.0, 8.0, 4.0].into_iter().enumerate() {
        near(part(&sent, at..at + 1), of / all);
    }
}

#[test]
fn a_sparse_flow_waits_for_one_packet_at_most() {
    // Thirty greedy flows, and one that sends 200 bytes each 20 ms: from another host, or from the same where hosts do not
    // count. In its first turn it has 305 bytes; with 30 busy flows of its own host it would have ten.
    for (source, fairness) in [(99, Fairness::Triple), (0, Fairness::Flows)] {
        let config = Config { fairness, ..paced(Config::default(), 10) };
        let (mut cake, drops) = (cake::<Probe>(config), &mut CountDrops::default());
        // It begins when the others have had their first turns.
        let (mut now, mut due, mut sent_at, mut worst) = (Instant::ZERO, 100_000_000, None, 0);
        for id in 0..30 {
            for _ in 0..3 {
                let _ = cake.enqueue(now, Probe { source: 0, ..Probe::of(id, id, 1514) }, drops);
            }
        }
        let mut served = 0;
        while now < Instant::new(2_000_000_000) {
            if now.get() >= due {
                let _ = cake.enqueue(now, Probe { source, ..Probe::of(1_000, 1_000, 200) }, drops);
                (sent_at, due) = (Some(now), due + 20_000_000);
            }
            let next = match cake.dequeue(now, &Open, drops) {
                Some(grant) if grant.item.id == 1_000 => {
                    worst = (now - sent_at.take().expect("one is on its way")).get().max(worst);
                    served += 1;
                    now
                }
                Some(grant) => {
                    let _ = cake.enqueue(now, grant.item, drops);
                    now
                }
                None => cake.next_event().expect("all have packets"),
            };
            now = next.min(Instant::new(due)).max(now);
        }
        // A packet of 1514 bytes takes 1.2112 ms.
        assert!(served == 95 && worst <= 1_211_200, "{served} {worst}");
    }
}
