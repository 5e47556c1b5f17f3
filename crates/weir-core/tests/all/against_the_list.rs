//! Every discipline of the report against the linear list of its listing, on random arrivals.

use super::list::{Event, INFINITE, List, Rule, agree};
use proptest::prelude::*;
use weir_core::discipline::Discipline;
use weir_core::item::Message;
use weir_core::message::alpha::{Alpha, Config, Update};
use weir_core::message::alpha_tracking::{self, AlphaTracking};
use weir_core::message::in_order::InOrder;
use weir_core::message::outstanding::Outstanding;
use weir_core::message::sf::Sf;
use weir_core::priority::Prioritized;
use weir_core::registry::message_discipline;
use weir_core::units::Packets;

/// Lengths of the report, at the limit of the queues by length, and beyond; bursts and long services.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let length = prop_oneof![6 => 1_u64..=5, 2 => Just(20), 1 => 60_u64..=70, 1 => 1_u64..=500];
    let arrive =
        (length, 0_u16..5, 0_u32..4).prop_map(|(length, class, flow)| Event::Arrive { length, class, flow });
    let serve = prop_oneof![5 => Just(1), 3 => 1_u64..=10, 1 => 1_u64..=200].prop_map(Event::Serve);
    prop::collection::vec(prop_oneof![arrive, serve], 0..400)
}

/// An alpha as a fraction: zero, tiny, with ties, large and infinite.
fn fraction() -> impl Strategy<Value = (i128, i128)> {
    prop_oneof![
        Just((0, 1)),
        Just((1, 1000)),
        Just((1, 3)),
        Just((3, 10)),
        Just((1_000_000, 1)),
        Just((INFINITE, 1)),
        (1_i128..=100).prop_map(|n| (n, 1)),
        (1_i128..=5000, 1_i128..=1000),
    ]
}

fn real(numerator: i128, denominator: i128) -> f64 {
    if numerator == INFINITE { f64::INFINITY } else { numerator as f64 / denominator as f64 }
}

/// A discipline of class alphas with the denominator of its own, and its list.
fn alpha_of(fractions: impl Strategy<Value = (i128, i128)>) -> impl Strategy<Value = (Config, List)> {
    let numerators = prop_oneof![3 => 0_i128..=100, 1 => 0_i128..=1_000_000, 1 => Just(INFINITE)];
    let classes = prop_oneof![Just(Vec::new()), prop::collection::vec(numerators, 1..4)];
    (fractions, classes, any::<bool>()).prop_map(|((others, denominator), classes, recalculate)| {
        let config = Config {
            alpha: real(others, denominator),
            update: if recalculate { Update::Recalculate } else { Update::Decrement },
            classes: classes.iter().map(|class| real(*class, denominator)).collect(),
        };
        (config, List::new(Rule::Alpha { classes, others, denominator, recalculate }))
    })
}

fn alpha() -> impl Strategy<Value = (Config, List)> {
    alpha_of(fraction())
}

/// Alphas whose products need no rounding: a key inherited from another alpha has that one's rounding.
fn exact_alpha() -> impl Strategy<Value = (Config, List)> {
    alpha_of(prop_oneof![
        Just((INFINITE, 1)),
        (0_i128..=100).prop_map(|n| (n, 1)),
        (1_i128..=5000, 0..=16).prop_map(|(n, bits)| (n, 1_i128 << bits)),
    ])
}

fn shortest_first() -> List {
    let rule = Rule::Alpha { classes: vec![], others: INFINITE, denominator: 1, recalculate: false };
    List::new(rule)
}

fn named(spec: &str) -> Box<dyn Discipline<Message> + Send> {
    message_discipline(&spec.parse().expect(spec)).expect(spec)
}

proptest! {
    #[test]
    fn fifo_is_alpha_zero(events in events()) {
        let rule = Rule::Alpha { classes: vec![], others: 0, denominator: 1, recalculate: false };
        agree(named("fifo"), List::new(rule), &events);
    }

    #[test]
    fn round_robins(events in events()) {
        agree(named("rr"), List::new(Rule::RoundRobin), &events);
        agree(named("rr_head"), List::new(Rule::RoundRobinHead), &events);
    }

    #[test]
    fn shortest_first_is_a_large_alpha(events in events(), insertions in 1_u64..50) {
        // The listing's, which adds the clock.
        let rule = Rule::Alpha { classes: vec![], others: 1_000_000, denominator: 1, recalculate: false };
        agree(Sf::new(), List::new(rule), &events);
        agree(Sf::new(), shortest_first(), &events);
        agree(Sf::new().renumbering_at(insertions), shortest_first(), &events);
    }

    #[test]
    fn alpha_of_any_size_and_update((config, list) in alpha(), events in events()) {
        agree(Alpha::new(&config).expect("within bounds"), list, &events);
    }

    #[test]
    fn rebasing_changes_no_decision(
        (config, list) in alpha(),
        events in events(),
        clock in 1_u64..60,
        insertions in 1_u64..60,
    ) {
        let alpha = Alpha::new(&config).expect("within bounds");
        agree(alpha.rebasing_at(Packets::new(clock), insertions), list, &events);
    }

    #[test]
    fn tracking_alphas(
        events in events(),
        (low, more, weight) in (0_i128..=20, 0_i128..=400, 0_i128..=16),
        clock in 1_u64..60,
    ) {
        let high = low + more;
        let config = alpha_tracking::Config { low: real(low, 4), high: real(high, 4), weight: real(weight, 4) };
        let list = List::new(Rule::Tracking { low, high, weight, denominator: 4 });
        let tracking = AlphaTracking::tracking(&config).expect("within bounds");
        agree(tracking.clone(), list.clone(), &events);
        agree(tracking.rebasing_at(Packets::new(clock), clock), list, &events);
    }

    #[test]
    fn in_order_around_alpha((config, mut list) in exact_alpha(), events in events(), clock in 1_u64..60) {
        list.in_order = true;
        let alpha = Alpha::new(&config).expect("within bounds");
        agree(InOrder::new(alpha.clone()), list.clone(), &events);
        agree(InOrder::new(alpha.rebasing_at(Packets::new(clock), clock)), list, &events);
    }

    /// Finding B2: the listing's alpha of 10^6, whose clock orders equal lengths.
    #[test]
    fn b2_in_order_around_shortest_first_is_that_of_a_large_alpha(events in events()) {
        let rule = Rule::Alpha { classes: vec![], others: 1_000_000, denominator: 1, recalculate: false };
        let mut list = List::new(rule);
        list.in_order = true;
        for spec in ["in_order(alpha:1000000)", "in_order(sf)", "in_order(alpha:inf)"] {
            agree(named(spec), list.clone(), &events);
        }
    }

    #[test]
    fn outstanding_around_anything((config, mut list) in exact_alpha(), events in events(), limit in 1_usize..5) {
        list.limit = Some(limit);
        let alpha = Alpha::new(&config).expect("within bounds");
        let outstanding = |inner| Outstanding::new(inner, limit as u64).expect("at least one");
        agree(outstanding(alpha.clone()), list.clone(), &events);
        list.in_order = true;
        let inner = InOrder::new(alpha);
        agree(Outstanding::new(inner, limit as u64).expect("at least one"), list, &events);
        let mut list = List::new(Rule::RoundRobinHead);
        list.limit = Some(limit);
        agree(Outstanding::new(named("rr_head"), limit as u64).expect("at least one"), list, &events);
    }
}

#[test]
fn a_low_limit_rebases_many_times() {
    let events: Vec<_> = (0..3000)
        .flat_map(|i| [Event::Arrive { length: 1 + i % 7, class: 0, flow: 0 }, Event::Serve(5)])
        .collect();
    for (update, recalculate) in [(Update::Decrement, false), (Update::Recalculate, true)] {
        let config = Config { alpha: 2.0, update, classes: vec![] };
        let alpha = Alpha::new(&config).expect("within bounds").rebasing_at(Packets::new(64), 100);
        let rule = Rule::Alpha { classes: vec![], others: 2, denominator: 1, recalculate };
        let lowered = agree(alpha, List::new(rule), &events).rebased() >> 16;
        assert!(lowered > 100 * 64, "lowered by {lowered} in all");
    }
}
