//! Reservations and schedules by hand, and what is promised of any arrivals.

use proptest::prelude::*;

use super::*;
use crate::pool::machine::{Arrival, made, requests, run};
use crate::pool::testing::{Request, refused, site_of};

fn darc(spec: &str, site: &Site) -> Darc<Request> {
    made(&INFO, spec, |arguments| Darc::from_spec(arguments, site))
}

/// Half the requests take 1 us, half 100 us.
fn high_bimodal() -> [(f64, u64); 2] {
    [(0.5, 1_000), (0.5, 100_000)]
}

/// Which servers may serve each class.
fn allowed(spec: &str, site: &Site) -> Vec<(u32, u32)> {
    let darc = darc(spec, site);
    let Reservation { places, allowed, .. } = &darc.reserved;
    places.iter().map(|&place| (allowed[place as usize].start, allowed[place as usize].end)).collect()
}

fn request(at: u64, class: u16, service: u64) -> Arrival {
    Arrival { at, class, flow: 0, service }
}

#[test]
fn servers_are_reserved_by_work() {
    // Of all work 1 % is short: 0.14 of 14 servers, so one is kept.
    assert_eq!(allowed("darc", &site_of(14, &high_bimodal())), [(0, 14), (1, 14)]);
    // 0.4975 of 2.9975: 16.6 %, which is 2.32 of 14 servers.
    let extreme = [(0.995, 500), (0.005, 500_000)];
    assert_eq!(allowed("darc", &site_of(14, &extreme)), [(0, 14), (2, 14)]);
    // Equal parts of 5 are 2.5 each; a half is rounded down, and the fifth server is everybody's.
    let even = [(0.5, 40), (0.5, 40)];
    assert_eq!(allowed("darc", &site_of(5, &even)), [(0, 5), (0, 5)]);
    let even = [(0.2, 40), (0.8, 10)];
    assert_eq!(allowed("darc", &site_of(5, &even)), [(2, 5), (0, 5)]);
    assert_eq!(allowed("darc:use=own", &site_of(5, &even)), [(2, 5), (0, 2)]);
    assert_eq!(allowed("darc:reserve=4", &site_of(5, &even)), [(4, 5), (0, 5)]);
    assert_eq!(allowed("darc:reserve=0", &site_of(5, &even)), [(0, 5), (0, 5)]);
}

#[test]
fn near_means_are_one_group() {
    // The transactions of TPC-C as the source has them: payment and order status, new order, delivery and stock level.
    let classes = [(0.44, 5_700), (0.04, 6_000), (0.44, 20_000), (0.04, 88_000), (0.04, 100_000)];
    // Work: 2748, 8800 and 7520 of 19068, of 14 servers 2.02, 6.46 and 5.52.
    assert_eq!(allowed("darc", &site_of(14, &classes)), [(0, 14), (0, 14), (2, 14), (8, 14), (8, 14)]);
    assert_eq!(allowed("darc:delta=1", &site_of(14, &classes)).iter().filter(|span| span.0 == 0).count(), 1);
    assert_eq!(allowed("darc:delta=1000", &site_of(14, &classes)), [(0, 14); 5]);
}

#[test]
fn every_group_has_a_server_as_long_as_there_are_any() {
    // The shortest group has nearly all work, and would round to all servers.
    let classes = [(0.9999, 100), (0.00005, 200), (0.00005, 400)];
    assert_eq!(allowed("darc", &site_of(8, &classes)), [(0, 8), (6, 8), (7, 8)]);
    assert_eq!(allowed("darc", &site_of(3, &classes)), [(0, 3), (1, 3), (2, 3)]);
    // With fewer servers than groups the last one is that of all who remain.
    assert_eq!(allowed("darc", &site_of(2, &classes)), [(0, 2), (1, 2), (1, 2)]);
    assert_eq!(allowed("darc:use=own", &site_of(2, &classes)), [(0, 1), (1, 2), (1, 2)]);
    assert_eq!(allowed("darc", &site_of(1, &classes)), [(0, 1); 3]);
}

#[test]
fn a_reserved_server_idles_while_long_requests_wait() {
    let arrivals = [
        request(0, 1, 100),
        request(0, 1, 100),
        request(10, 0, 1),
        request(10, 0, 1),
        request(100, 0, 30),
        request(100, 0, 30),
        request(101, 1, 100),
    ];
    let run = run(&mut darc("darc", &site_of(2, &high_bimodal())), 2, &arrivals);
    // The long ones take turns on server 1, the short ones on server 0; at 100 the second long one has just begun.
    assert_eq!(run.spans_of(0), [(1, 0, 100)]);
    assert_eq!(run.spans_of(1), [(1, 100, 200)]);
    assert_eq!((run.spans_of(2), run.spans_of(3)), (vec![(0, 10, 11)], vec![(0, 11, 12)]));
    assert_eq!((run.spans_of(4), run.spans_of(5)), (vec![(0, 100, 130)], vec![(0, 130, 160)]));
    assert_eq!(run.spans_of(6), [(1, 200, 300)]);
    assert!(run.idled_over_backlog);
}

#[test]
fn short_requests_use_the_servers_of_long_ones_first_in_line() {
    let arrivals =
        [request(0, 0, 10), request(0, 0, 10), request(1, 1, 50), request(2, 0, 10), request(3, 0, 10)];
    let run = run(&mut darc("darc", &site_of(2, &high_bimodal())), 2, &arrivals);
    // At 10 both servers are free: the short ones that came after the long one go before it.
    assert_eq!(run.order(), [0, 1, 3, 4, 2]);
    assert_eq!(run.spans_of(2), [(1, 20, 70)]);
}

#[test]
fn a_request_of_no_known_class_is_served_last_by_the_last_server() {
    let arrivals = [
        request(0, 9, 10),
        request(0, 9, 10),
        request(1, 1, 50),
        request(2, 0, 10),
        request(3, 0, 10),
        request(61, 0, 5),
        request(200, 0, 5),
        request(201, 9, 5),
    ];
    let run = run(&mut darc("darc", &site_of(2, &high_bimodal())), 2, &arrivals);
    // Server 1 is free at 10 and takes the short request and then the long one before the second that is not known; server
    // 0, which has nothing from 12 on, leaves that one to server 1.
    assert_eq!((run.spans_of(0), run.spans_of(3)), (vec![(1, 0, 10)], vec![(0, 2, 12)]));
    assert_eq!((run.spans_of(4), run.spans_of(2)), (vec![(1, 10, 20)], vec![(1, 20, 70)]));
    assert_eq!((run.spans_of(5), run.spans_of(1)), (vec![(0, 61, 66)], vec![(1, 70, 80)]));
    assert_eq!((run.spans_of(6), run.spans_of(7)), (vec![(0, 200, 205)], vec![(1, 201, 206)]));
    assert!(run.dropped.is_empty());
}

#[test]
fn values_are_refused_with_bound() {
    let site = site_of(4, &[(0.5, 1), (0.4, 10), (0.1, 100)]);
    assert_eq!(
        refused("darc:reserve=3", &site),
        "`darc`: reserve is `3`, must be a whole number from 0 to 2"
    );
    assert_eq!(
        refused("darc:reserve=0,use=own", &site),
        "`darc`: reserve is `0`, must be a whole number from 1 to 2"
    );
    assert_eq!(
        refused("darc:delta=0.9", &site),
        "`darc`: delta is `0.9`, must be a number from 1 to 1000000"
    );
}

proptest! {
    /// S7: nobody is served by a server that is reserved for a shorter group.
    #[test]
    fn long_requests_never_run_on_a_reserved_server(servers in 3_u32..9, arrivals in requests(3)) {
        let site = site_of(servers, &[(0.6, 5), (0.3, 50), (0.1, 500)]);
        let starts: Vec<u32> = allowed("darc", &site).iter().map(|span| span.0).collect();
        prop_assert!(starts[0] < starts[1] && starts[1] < starts[2]);
        let run = run(&mut darc("darc", &site), servers, &arrivals);
        for piece in &run.pieces {
            prop_assert!(piece.server >= starts[usize::from(arrivals[piece.id as usize].class)]);
        }
    }

    /// S7: as long as only the shortest group comes, all servers are one pool, first come, first served.
    #[test]
    fn without_long_requests_it_is_one_queue(servers in 2_u32..6, arrivals in requests(1)) {
        let run = run(&mut darc("darc", &site_of(servers, &high_bimodal())), servers, &arrivals);
        prop_assert!(!run.idled_over_backlog);
        prop_assert_eq!(run.order(), (0..arrivals.len() as u32).collect::<Vec<_>>());
    }

    /// With nothing reserved it is `short_first`.
    #[test]
    fn with_nothing_reserved_nobody_idles(servers in 2_u32..6, arrivals in requests(2)) {
        let mut darc = darc("darc:reserve=0", &site_of(servers, &high_bimodal()));
        prop_assert!(!run(&mut darc, servers, &arrivals).idled_over_backlog);
    }

    /// Any profile leaves every class some server, and the last one to who is of none.
    #[test]
    fn every_class_is_served(
        servers in 1_u32..20,
        profiles in prop::collection::vec((0.0..1.0, 0_u64..1_000), 1..20),
        own: bool,
        arrivals in requests(20),
    ) {
        let spec = if own { "darc:use=own" } else { "darc" };
        let site = site_of(servers, &profiles);
        for (start, end) in allowed(spec, &site) {
            prop_assert!(start < end && end <= servers);
        }
        let run = run(&mut darc(spec, &site), servers, &arrivals);
        prop_assert_eq!(run.pieces.len(), arrivals.len());
        for piece in &run.pieces {
            let is_known = usize::from(arrivals[piece.id as usize].class) < profiles.len();
            prop_assert!(is_known || piece.server == servers - 1);
        }
    }
}
