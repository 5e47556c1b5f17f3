//! What is filled in, what is left as it is written, and what is said of it.

use weir_document::Source;

use super::super::{Change, read};
use super::*;

fn router(more: &str, discipline: &str, rate: &str) -> Router {
    let text = format!(
        "weir = 1\n[router]\nname = \"r\"\n{more}\n[[interface]]\nname = \"a\"\ndiscipline = \"{discipline}\"\n{rate}\n\
         [[interface]]\nname = \"b\"\n"
    );
    let router = read(&Source { name: "r.toml", text: &text }).unwrap_or_else(|error| panic!("{error}"));
    let again = read(&Source { name: "printed", text: &router.to_toml() });
    assert_eq!(again.as_ref(), Ok(&router));
    router
}

#[test]
fn a_queue_is_bounded_by_what_the_line_sends_in_a_span() {
    // 1514 bytes take 606 us at 20 Mbit/s, so 165 of them take 100 ms; 16384 frames are 15887 with their tables.
    for (discipline, rate, filled, said) in [
        ("fifo", "20Mbit", "fifo:limit=165pkt", "fifo holds 165 packets: 99ms at 20Mbit"),
        ("fifo", "100kbit", "fifo:limit=10pkt", "fifo holds 10 packets: 1211ms at 100kbit"),
        ("fifo", "10Gbit", "fifo:limit=1000pkt", "fifo holds 1000 packets: 1.2ms at 10Gbit"),
        (
            "drr",
            "20Mbit",
            "drr:depth=82pkt,limit=1985pkt,full=longest",
            "drr holds 82 packets of each flow: 49ms at 20Mbit, and 1985 in all",
        ),
        (
            "tbf(fifo,rate=2Mbit,burst=3kB)",
            "20Mbit",
            "tbf(fifo:limit=16pkt,rate=2Mbit,burst=3kB)",
            "fifo holds 16 packets: 96ms at 2Mbit",
        ),
        (
            "priority(drr:1514B,bands=2,last=fifo)",
            "20Mbit",
            "priority(drr(1514B,depth=82pkt,limit=1985pkt,full=longest),bands=2,last=fifo:limit=165pkt)",
            "drr holds 82 packets of each flow: 49ms at 20Mbit, and 1985 in all; fifo holds 165 packets: 99ms at 20Mbit",
        ),
        (
            "fq(codel:5ms)",
            "20Mbit",
            "fq(codel,depth=82pkt,limit=1985pkt,full=longest)",
            "fq holds 82 packets of each flow: 49ms at 20Mbit, and 1985 in all",
        ),
    ] {
        let router = router("", discipline, &format!("rate = \"{rate}\""));
        let expected: Spec = filled.parse().expect(filled);
        assert_eq!(router.discipline_at(0).to_string(), expected.to_string(), "{discipline}");
        assert_eq!(router.bound_at(0), said);
    }
}

#[test]
fn what_is_written_and_what_has_a_bound_stays() {
    for (discipline, said) in [
        ("fifo:limit=1000pkt", "fifo holds 1000 packets: 605ms at 20Mbit"),
        ("fifo:limit=64KiB", "fifo holds 64KiB"),
        ("fifo:limit=none", "fifo holds what comes, without a bound"),
        ("drr:limit=none,full=longest", "drr holds what comes, without a bound"),
        ("tbf(fifo:limit=none,rate=2Mbit,burst=3kB)", "fifo holds what comes, without a bound"),
        ("drr:depth=100pkt,full=newcomer", "drr holds 100 packets of each flow: 60ms at 20Mbit"),
        ("sfq:key=flow", "sfq holds 100 packets of each flow: 60ms at 20Mbit"),
        ("codel", "codel holds 1000 packets: 605ms at 20Mbit"),
        ("cake:memlimit=2MiB", "cake holds 2MiB"),
        (
            "cake:rate=9Mbit",
            "cake holds what its rate carries in four round trips, from 4MiB to 10240 packets",
        ),
        ("fq_codel:key=flow", "fq_codel holds 10240 packets: 6201ms at 20Mbit"),
    ] {
        let router = router("", discipline, "rate = \"20Mbit\"");
        assert_eq!(router.discipline_at(0), router.interfaces[0].discipline, "{discipline}");
        assert_eq!(router.bound_at(0), said);
    }
}

#[test]
fn the_longest_queue_gives_way_unless_the_spec_says_otherwise() {
    for (discipline, filled) in [
        ("drr:limit=300pkt", "drr:limit=300pkt,full=longest"),
        ("scfq:limit=300pkt,full=newcomer", "scfq:limit=300pkt,full=newcomer"),
        ("fq(sfq:key=flow,limit=300pkt)", "fq(sfq:key=flow,limit=300pkt,full=longest)"),
        ("fq_codel:key=flow", "fq_codel:key=flow"),
    ] {
        let router = router("", discipline, "rate = \"20Mbit\"");
        let expected: Spec = filled.parse().expect(filled);
        assert_eq!(router.discipline_at(0).to_string(), expected.to_string(), "{discipline}");
    }
}

#[test]
fn without_a_rate_a_bound_is_a_number_and_memory_has_the_last_word() {
    assert_eq!(router("", "fifo", "").bound_at(0), "fifo holds 1000 packets");
    // 1 MiB are 248 frames, of which an interface of two has at most an eighth waiting.
    assert_eq!(router("memory = \"1MiB\"", "fifo", "").bound_at(0), "fifo holds 31 packets");
    assert_eq!(
        router("memory = \"1MiB\"", "drr", "rate = \"20Mbit\"").bound_at(0),
        "drr holds 31 packets: 18ms at 20Mbit"
    );
}

#[test]
fn a_change_of_the_rate_changes_the_bound() {
    let router = router("", "fifo", "rate = \"20Mbit\"");
    let change = Change::read(Some("10Mbit"), None, None).expect("valid");
    let changed = change.apply(&router, "a").expect("an interface");
    assert_eq!(changed.bound_at(0), "fifo holds 82 packets: 99ms at 10Mbit");
}

#[test]
fn in_a_comparison_with_a_simulation_nothing_is_filled_in() {
    let router = router("defaults = \"simulation\"", "drr", "rate = \"20Mbit\"");
    assert_eq!(router.discipline_at(0).to_string(), "drr");
}

#[test]
fn every_discipline_can_be_made_of_what_is_filled_in() {
    for info in registry::PACKET {
        let router = router("", info.example, "rate = \"20Mbit\"");
        let filled = router.discipline_at(0);
        assert!(registry::packet_factory::<weir_core::item::Packet>(&filled).is_ok(), "{filled}");
        assert_ne!(router.bound_at(0), "", "{filled}");
    }
}

#[test]
fn what_is_hashed_is_what_the_router_calls_a_flow() {
    for (flows, discipline, filled) in [
        ("5-tuple", "sfq", "sfq:key=flow"),
        ("5-tuple", "tbf(sfq_set,rate=2Mbit,burst=3kB)", "tbf(sfq_set:key=flow,rate=2Mbit,burst=3kB)"),
        ("source", "fq_codel", "fq_codel:key=flow"),
        ("addresses", "sfq_linux", "sfq_linux:key=addresses"),
        ("addresses", "sfq:key=flow", "sfq:key=flow"),
        ("5-tuple", "sfq:key=addresses", "sfq:key=addresses"),
        ("5-tuple", "sfq_linux:key=flow", "sfq_linux:key=flow"),
        ("5-tuple", "codel", "codel"),
    ] {
        let router = router(&format!("flows = \"{flows}\""), discipline, "");
        assert_eq!(router.discipline_at(0).to_string(), filled);
        let advice = router.advice();
        assert_eq!(advice.len(), usize::from(flows == "5-tuple" && discipline.ends_with("=addresses")));
        assert!(advice.iter().all(|line| line.contains("`key=addresses`") && line.contains("`flows`")));
    }
}

#[test]
fn a_key_that_cannot_be_had_is_refused() {
    let text = |flows: &str| {
        format!(
            "weir = 1\n[router]\nname = \"r\"\nflows = \"{flows}\"\n[[interface]]\nname = \"a\"\n\
             discipline = \"tbf(sfq:key=addresses,rate=2Mbit,burst=3kB)\"\n[[interface]]\nname = \"b\"\n"
        )
    };
    let error = read(&Source { name: "r.toml", text: &text("class") }).expect_err("refused").to_string();
    assert_eq!(
        error,
        "r.toml:7:14: interface.discipline is \"tbf(sfq:key=addresses,rate=2Mbit,burst=3kB)\", has `key=addresses` for \
         `sfq`, but `flows` is \"class\": leave `key` out, or write `flows = \"addresses\"`"
    );
    assert!(read(&Source { name: "r.toml", text: &text("5-tuple") }).is_ok());
    let router = router("flows = \"source\"", "sfq", "");
    let change = Change::read(None, Some("sfq:key=addresses"), None).expect("valid");
    let error = change.apply(&router, "a").expect_err("refused");
    assert!(
        error.starts_with("discipline is \"sfq:key=addresses\", has `key=addresses` for `sfq`"),
        "{error}"
    );
}
