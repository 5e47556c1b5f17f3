//! Rules in order, flows under a key.

use super::*;
use crate::config::{Class, Mark, Router};
use crate::frame::{self, Frame};
use crate::testing::{Udp, next, own, router};

fn packet(udp: &Udp) -> Packet {
    match frame::read(&udp.frame(own(0), next(0))) {
        Ok(Frame::Ip(packet)) => packet,
        other => panic!("{other:?}"),
    }
}

fn nets(texts: &[&str]) -> Vec<IpNet> {
    texts.iter().map(|text| text.parse().expect("a prefix")).collect()
}

fn with(rules: Vec<Rule>) -> Router {
    let mut router = router("fifo");
    router.classes =
        rules.into_iter().map(|rule| Class { name: "c".into(), rule, mark: Mark::default() }).collect();
    router.classes.push(Class { name: "default".into(), rule: Rule::default(), mark: Mark::default() });
    router
}

#[test]
fn the_first_rule_that_fits_decides() {
    let rules = vec![
        Rule { from: nets(&["10.1.0.0/16", "fd01::/16"]), ports: vec![53..=53], ..Rule::default() },
        Rule { dscp: vec![46, 0], to: nets(&["10.2.0.0/16"]), ..Rule::default() },
        Rule { ports: vec![2000..=2999], protocol: Some(17), ..Rule::default() },
        Rule { protocol: Some(6), ..Rule::default() },
    ];
    let classifier = Classifier::new(&with(rules), 0);
    let class = |from: &str, to: &str, ports, tos| {
        let udp = Udp { ports, class: tos, ..Udp::new(from, to, 0) };
        classifier.label(&packet(&udp), Origin::default()).class.0
    };
    assert_eq!(class("10.1.2.3", "10.2.0.1", (53, 9), 0), 0);
    assert_eq!(class("10.1.2.3", "10.2.0.1", (54, 9), 0), 1);
    assert_eq!(class("10.1.2.3", "10.2.0.1", (54, 9), 46 << 2 | 3), 1);
    assert_eq!(class("10.1.2.3", "10.2.0.1", (54, 9), 45 << 2), 4);
    assert_eq!(class("10.9.2.3", "10.3.0.1", (9, 2999), 0), 2);
    assert_eq!(class("10.9.2.3", "10.3.0.1", (9, 3000), 0), 4);
    assert_eq!(class("fd01::1", "fd02::1", (9, 53), 0), 0);
    assert_eq!(class("fd02::1", "fd01::1", (9, 53), 0), 4);
}

#[test]
fn a_flow_is_what_its_key_says() {
    let base = Udp::new("10.0.0.1", "10.0.1.1", 0);
    let others = [
        Udp { ports: (1001, 2000), ..base.clone() },
        Udp { to: "10.0.1.2".parse().expect("an address"), ..base.clone() },
        Udp { from: "10.0.0.2".parse().expect("an address"), ..base.clone() },
    ];
    for (key, same) in [
        (FlowKey::FiveTuple, [false, false, false]),
        (FlowKey::Addresses, [true, false, false]),
        (FlowKey::Source, [true, true, false]),
        (FlowKey::Destination, [true, false, true]),
        (FlowKey::Class, [true, true, true]),
    ] {
        let classifier = Classifier::new(&Router { flow_key: key, ..router("fifo") }, 0);
        let flow = |udp: &Udp| classifier.label(&packet(udp), Origin::default()).flow;
        assert_eq!(others.each_ref().map(|other| flow(other) == flow(&base)), same, "{key:?}");
    }
}

#[test]
fn flows_are_bounded_and_their_key_matters() {
    let told = Router { flow_buckets: 16, hash_key: None, ..router("fifo") };
    let (one, two) = (Classifier::new(&told, 1), Classifier::new(&told, 2));
    let mut seen = [0; 16];
    let mut differ = 0;
    for port in 0..1_600 {
        let packet = packet(&Udp { ports: (port, 1), ..Udp::new("fd00::1", "fd00::2", 0) });
        seen[one.label(&packet, Origin::default()).flow.0 as usize] += 1;
        differ += u32::from(
            one.label(&packet, Origin::default()).flow != two.label(&packet, Origin::default()).flow,
        );
    }
    assert!(seen.iter().all(|&count| (50..200).contains(&count)), "{seen:?}");
    assert!(differ > 1_300);
    // A key that is given holds whatever the seed is.
    let told = Router { hash_key: Some(5), ..told };
    assert_eq!(Classifier::new(&told, 1), Classifier::new(&told, 2));
}

#[test]
fn disciplines_see_addresses_of_ipv4_as_they_are() {
    let classifier = Classifier::new(&router("fifo"), 0);
    let label = classifier.label(&packet(&Udp::new("10.0.0.1", "10.0.1.1", 0)), Origin::default());
    assert_eq!(label.addresses, Addresses { source: 0x0a00_0001, destination: 0x0a00_0101 });
    let six =
        |from: &str| classifier.label(&packet(&Udp::new(from, "fd00::2", 0)), Origin::default()).addresses;
    assert_eq!(six("fd00::1"), six("fd00::1"));
    assert_ne!(six("fd00::1").source, six("fd00::3").source);
    assert_eq!(six("fd00::1").destination, six("fd00::3").destination);
}
