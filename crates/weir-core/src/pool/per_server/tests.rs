use crate::pool::testing::{pool_named, refused, request, site};
use crate::pool::{ServerId, Site};

#[test]
fn a_dispatcher_alone_is_one_over_first_in_first_out() {
    for spec in
        ["rr", "per_server:rr", "per_server(rr,discipline=fifo)", "per_server(rr,discipline=fifo:limit=9pkt)"]
    {
        let mut pool = pool_named(spec, &site(2));
        pool.offer_all(5);
        assert_eq!(pool.serving(), [Some(0), Some(1)], "{spec}");
        assert_eq!([0, 1].map(|server| pool.pool.length(ServerId(server))), [Some(3), Some(2)]);
        assert_eq!((pool.pool.backlog().items, pool.pool.backlog().cost.get()), (3, 300));
        pool.finish(100, 1);
        pool.finish(100, 0);
        pool.finish(200, 1);
        assert_eq!(pool.serving(), [Some(2), None], "{spec}");
    }
}

#[test]
fn the_bound_holds_for_each_queue_and_not_for_the_one_that_is_served() {
    let mut pool = pool_named("rr", &Site { queue: Some(1), ..site(2) });
    pool.offer_all(6);
    assert_eq!((pool.serving(), pool.dropped()), (vec![Some(0), Some(1)], vec![4, 5]));
    let mut lossy = pool_named("rr", &Site { queue: Some(0), ..site(2) });
    lossy.offer_all(4);
    assert_eq!((lossy.serving(), lossy.dropped()), (vec![Some(0), Some(1)], vec![2, 3]));
    lossy.finish(100, 0);
    assert_eq!(lossy.offer(100, request(4, 0, 100)), Some(0));
}

#[test]
fn a_shorter_request_preempts_by_what_is_left_now() {
    // 100 is served from 0; at 70, 30 is left: 40 waits, and 20 preempts.
    let mut pool = pool_named("per_server(rr,discipline=sf)", &site(1));
    assert_eq!(pool.offer(0, request(0, 0, 100)), Some(0));
    assert_eq!(pool.offer(70, request(1, 0, 40)), None);
    assert_eq!(pool.offer(70, request(2, 0, 20)), Some(0));
    assert_eq!((pool.serving(), pool.pool.backlog().cost.get()), (vec![Some(2)], 70));
    pool.finish(90, 0);
    assert_eq!(pool.serving(), [Some(0)]);
    pool.finish(120, 0);
    assert_eq!(pool.serving(), [Some(1)]);
}

#[test]
fn a_quantum_that_covers_the_need_serves_to_the_end() {
    let mut pool = pool_named("per_server(rr,discipline=rr:60)", &site(1));
    pool.offer(0, request(0, 0, 100));
    pool.offer(0, request(1, 0, 50));
    assert_eq!(pool.quantum(0), Some(60));
    pool.requeue(60, 0);
    assert_eq!((pool.serving(), pool.quantum(0)), (vec![Some(1)], None));
    pool.finish(110, 0);
    assert_eq!((pool.serving(), pool.quantum(0)), (vec![Some(0)], None));
}

#[test]
fn a_turn_is_as_long_as_it_is_said_to_be() {
    for (spec, quantum) in [
        ("per_server(rr,discipline=rr,quantum=60ns)", 60),
        ("per_server(rr,discipline=rr:1,quantum=60ns)", 60),
        ("per_server(rr,discipline=rr_head:60)", 60),
        ("per_server(rr,discipline=ps,quantum=60ns)", 60),
        ("per_server(rr,discipline=outstanding(las,limit=9),quantum=60ns)", 60),
        ("per_server(rr,discipline=outstanding(ps:50,limit=9))", 50),
        ("per_server(rr,discipline=ps,quantum=1ns)", 1),
    ] {
        let mut pool = pool_named(spec, &site(1));
        pool.offer_all(3);
        pool.requeue(quantum, 0);
        assert_eq!((pool.serving(), pool.quantum(0)), (vec![Some(1)], Some(quantum)), "{spec}");
    }
}

#[test]
fn a_turn_of_which_nothing_is_said_is_refused() {
    let missing = |spec: &str, name: &str| {
        let expected = format!(
            "`per_server`: quantum is missing, without it a turn of `{name}` is 1ns; write it as in \
             `per_server(rr,discipline={name},quantum=5us)`"
        );
        assert_eq!(refused(spec, &site(3)), expected, "{spec}");
    };
    missing("per_server(jsq,discipline=ps)", "ps");
    missing("per_server(jsq,discipline=rr:1)", "rr");
    missing("per_server(jsq,discipline=rr_head)", "rr_head");
    missing("per_server(jsq,discipline=outstanding(las,limit=3))", "las");
    for spec in ["per_server(jsq,discipline=sf,quantum=5us)", "per_server(jsq,discipline=rr:7,quantum=5us)"] {
        let error = refused(spec, &site(3));
        assert!(error.starts_with("`per_server`: quantum is 5us, which `"), "{error}");
        assert!(error.ends_with("` does not use; leave it out"), "{error}");
    }
    assert_eq!(
        refused("per_server(rr,discipline=ps,quantum=0ns)", &site(3)),
        "`per_server`: quantum is `0ns`, must be a span from 1ns to 1s"
    );
}

#[test]
fn what_is_no_dispatcher_or_no_discipline_is_refused() {
    for (spec, expected) in [
        ("per_server", "`per_server`: dispatcher is missing, write it as in `per_server(rr,discipline=sf)`"),
        (
            "per_server:cfcfs",
            "`cfcfs` orders requests to a pool of cores and cannot be used here: choose one of `rr`",
        ),
        ("per_server(rr,discipline=rr:0)", "`rr`: quantum is `0`, must be a whole number from 1 to"),
        (
            "per_server(rr,discipline=drr)",
            "`drr` orders packets at a link and cannot be used here: choose one of `fifo`",
        ),
        ("per_server(rr:0,discipline=sf)", "`rr`: cores is `0`, must be"),
        ("jsk", "no discipline is named `jsk`"),
    ] {
        let error = refused(spec, &site(3));
        assert!(error.starts_with(expected), "{spec}: {error}");
    }
}
