//! Tables under random sequences of admissions and releases; plans and emitted files of random requests.

use super::common::{asked, request};
use proptest::prelude::*;
use weir_core::item::Packet;
use weir_core::packet::table::place;
use weir_core::registry::packet_discipline;
use weir_core::spec::Spec;
use weir_core::units::Bytes;
use weir_plan::admission::{Key, Refused, Table};
use weir_plan::opensm::{Port, Value, lint, parse};
use weir_plan::{Form, Plan, Shape, Share, Target, emit, plan};

fn shape(entries: u32, k: u32, w: u32) -> Shape {
    Shape { capacity: entries, mtu: Bytes::new(2048), credit: Bytes::new(64), k, w: w.max(k) }
}

/// No two classes share a position, distances are exact, weights are within bounds and within the pool.
fn check(table: &Table, shape: Shape) {
    let slots = table.slots();
    let weights = table.weights();
    let taken: usize = table.classes().map(|(_, class)| class.entries() as usize).sum();
    assert_eq!(slots.iter().flatten().count(), taken);
    assert_eq!(table.free_entries() as usize + taken, slots.len());
    for (place, (_, class)) in table.classes().enumerate() {
        let is_own = |at: &usize| slots[*at].is_some_and(|(owner, _)| owner == place);
        let own: Vec<usize> = (0..slots.len()).filter(is_own).collect();
        assert!(own.windows(2).all(|two| two[1] - two[0] == class.distance as usize));
        assert_eq!(own.len() * class.distance as usize, slots.len());
        let entry = own.iter().map(|&at| slots[at].map_or(0, |(_, weight)| weight.get()));
        assert_eq!(entry.clone().sum::<u64>(), weights[place].get());
        assert!(entry.clone().all(|weight| (32..=shape.largest_weight().get()).contains(&weight)));
        let exact = class.share.parts() as f64 * shape.pool().get() as f64 / 1e9;
        assert!(weights[place].get() as f64 > exact - 1.0, "{exact} {weights:?}");
    }
    assert!(weights.iter().map(|weight| weight.get()).sum::<u64>() <= shape.pool().get());
}

/// The same classes let into an empty table, the shortest distance first, and one more.
fn fits_from_scratch(table: &Table, shape: Shape, share: Share, distance: u32) -> bool {
    let mut all: Vec<(Share, u32)> =
        table.classes().map(|(_, class)| (class.share, class.distance)).collect();
    all.push((share, distance));
    all.sort_by_key(|(_, distance)| *distance);
    let mut fresh = Table::new(shape);
    all.into_iter().all(|(share, distance)| fresh.admit(share, distance).is_ok())
}

#[derive(Clone, Debug)]
enum Step {
    Admit(u64, u32),
    Release(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1_u64..400_000_000, 0_u32..8).prop_map(|(parts, power)| Step::Admit(parts, 1 << power)),
        2 => any::<usize>().prop_map(Step::Release),
    ]
}

/// The disciplines of the emitted scenario can be built, and distances are placed as in the plan.
fn check_disciplines(plan: &Plan) {
    let text = emit(plan, Form::Scenario, &Target::default()).expect("within what is simulated").text;
    let document: toml::Table = toml::from_str(&text).expect("TOML");
    for spec in document["disciplines"].as_array().expect("a list") {
        let spec: Spec = spec.as_str().expect("text").parse().expect("a spec");
        assert!(packet_discipline::<Packet>(&spec).is_ok(), "{spec}");
    }
    let distances: Vec<usize> = plan.classes.iter().map(|class| class.distance as usize).collect();
    let placed = place(&distances, plan.slots.len()).expect("room");
    let planned: Vec<Option<u16>> =
        plan.slots.iter().map(|slot| slot.map(|entry| entry.class as u16)).collect();
    assert_eq!(placed, planned);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn sequences_admit_what_fits_from_scratch(
        power in 0_u32..7, k in 1_u32..4, w in 1_u32..8, steps in prop::collection::vec(step(), 1..40),
    ) {
        let shape = shape(1 << power, k, w);
        let mut table = Table::new(shape);
        let mut keys: Vec<Key> = Vec::new();
        let mut has_released = false;
        for step in steps {
            match step {
                Step::Release(which) if !keys.is_empty() => {
                    let key = keys.swap_remove(which % keys.len());
                    prop_assert!(table.release(key).is_some());
                    has_released = true;
                }
                Step::Release(_) => {}
                Step::Admit(parts, distance) => {
                    let share = Share::new(parts);
                    let fits = fits_from_scratch(&table, shape, share, distance);
                    let before: Vec<_> = table.classes().map(|(_, class)| *class).collect();
                    let mut admitted = table.admit(share, distance);
                    if let Err(Refused::Scattered { .. }) = admitted {
                        prop_assert!(has_released, "without a release nothing is scattered");
                        table.compact();
                        admitted = table.admit(share, distance);
                    } else if admitted.is_ok() {
                        // Nobody was moved.
                        let after: Vec<_> = table.classes().map(|(_, class)| *class).collect();
                        prop_assert!(before.iter().all(|class| after.contains(class)));
                    }
                    prop_assert_eq!(admitted.is_ok(), fits);
                    keys.extend(admitted.ok());
                }
            }
            check(&table, shape);
        }
    }

    #[test]
    fn the_nearest_request_is_admitted(
        classes in prop::collection::vec((1_u64..400_000_000, 0_u32..7), 1..8), parts in 1_u64..1_000_000_000, power in 0_u32..7,
    ) {
        let shape = shape(64, 2, 4);
        let mut table = Table::new(shape);
        for (parts, power) in classes {
            let _ = table.admit(Share::new(parts), 1 << power);
        }
        let (same, less) = table.nearest(Share::new(parts), 1 << power);
        for found in [same, less].into_iter().flatten() {
            prop_assert!(found.share <= Share::new(parts) && found.distance >= 1 << power);
            let mut with = table.clone();
            let key = with.admit(found.share, found.distance);
            prop_assert!(key.is_ok_and(|key| with.class(key).is_some_and(|class| class.distance == found.distance)));
        }
        if table.admit(Share::new(parts), 1 << power).is_ok() {
            prop_assert!(same.is_some() || less.is_some());
        }
    }

    #[test]
    fn emitted_files_read_as_the_plan_and_are_clean(
        power in 0_u32..6, k in 1_u32..4, w in 4_u32..8,
        classes in prop::collection::vec((1_u32..50, prop::option::of(0_u32..6)), 1..8),
    ) {
        let lines: Vec<String> = classes.iter().map(|(share, power)| {
            let distance = power.map_or(String::new(), |power| format!(";distance = {}", 1 << power));
            format!("share = \"{share}%\"{distance}")
        }).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let entries = 1_u32 << power;
        let mut asked = asked(&request(&format!("entries = {entries};k = {k};w = {w}"), &lines));
        // What does not fit is left out.
        let refused: Vec<String> = plan(&asked).refused.into_iter().map(|class| class.name).collect();
        asked.classes.retain(|class| !refused.contains(&class.name));
        let plan = plan(&asked);
        prop_assert!(plan.refused.is_empty());
        if plan.classes.is_empty() {
            return Ok(());
        }
        let emitted = emit(&plan, Form::Opensm, &asked.target).expect("within what can be written");
        check_disciplines(&plan);
        let options = parse(&emitted.text, "plan.conf").expect("what is written is read");
        let low = options.settings.iter().find(|setting| setting.name() == "qos_vlarb_low").expect("there");
        let Value::Table(pairs) = &low.value else { panic!("{low:?}") };
        let read: Vec<(u32, u32)> = pairs.iter().map(|pair| (pair.lane, pair.weight)).collect();
        let written: Vec<(u32, u32)> = plan.slots.iter().map(|slot| {
            slot.map_or((0, 0), |entry| (plan.classes[entry.class].lane, entry.weight.get() as u32))
        }).collect();
        prop_assert_eq!(read, written);
        let port = Port { mtu: Bytes::new(2048), high_capacity: 8, low_capacity: entries, lanes: 8 };
        prop_assert_eq!(lint(&options, &port), vec![]);
    }

    #[test]
    fn plans_keep_their_latencies_or_say_so(
        classes in prop::collection::vec((1_u32..60, prop::option::of(10_u32..300)), 1..7),
    ) {
        let lines: Vec<String> = classes.iter().map(|(share, latency)| {
            let latency = latency.map_or(String::new(), |time| format!(";latency = \"{time}us\""));
            format!("share = \"{share}%\"{latency}")
        }).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let asked = asked(&request("entries = 32;k = 2;w = 4", &lines));
        let plan = plan(&asked);
        prop_assert_eq!(plan.classes.len() + plan.refused.len(), classes.len());
        for class in &plan.classes {
            prop_assert!(class.requested.latency.is_none_or(|asked| class.bounds.deficit_table.latency <= asked));
            prop_assert!(class.share.parts() as f64 >= class.requested.share.parts() as f64 - 1e9 / plan.table.pool.get() as f64);
        }
        for refused in plan.refused.iter().take(2) {
            let place = asked.classes.iter().position(|class| class.name == refused.name).expect("there");
            for near in &refused.nearest {
                let mut changed = asked.clone();
                let class = &mut changed.classes[place];
                (class.share, class.distance, class.latency) = (near.share, Some(near.distance), None);
                let again = weir_plan::plan(&changed);
                let met = again.classes.iter().find(|class| class.name == refused.name).expect("met");
                prop_assert_eq!(met.bounds.deficit_table.latency, near.latency);
            }
        }
    }

    #[test]
    fn no_text_panics(text in "[\\x00-\\x7f]{0,200}", lanes in 0_u32..20, capacity in 0_u32..70) {
        let port = Port { mtu: Bytes::new(4096), high_capacity: capacity, low_capacity: capacity, lanes };
        for text in [text.clone(), format!("qos_vlarb_low {text}"), format!("qos_ca_sl2vl {text}")] {
            if let Ok(options) = parse(&text, "a.conf") {
                let _ = lint(&options, &port);
            }
        }
    }
}
