//! Questions by hand, and a scan of more addresses than there is room for.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn table() -> Neighbours {
    table_of(1024)
}

fn table_of(most: u32) -> Neighbours {
    Neighbours::new(&[Neighbour { address: address(1), mac: mac(1) }], most, Keyed::new(1))
}

fn address(last: u32) -> IpAddr {
    IpAddr::V4((0x0a00_0000 + last).into())
}

fn mac(last: u8) -> MacAddress {
    MacAddress([2, 0, 0, 0, 0, last])
}

/// What falls due at `now`.
fn due(table: &mut Neighbours, now: u64) -> Vec<(IpAddr, Due)> {
    core::iter::from_fn(|| table.expire(now)).map(|(address, due, _)| (address, due)).collect()
}

/// A neighbour says its device: in an answer, or unasked.
fn says(table: &mut Neighbours, now: u64, last: u32, answers: bool, learn: bool) {
    let mac = Some(mac(last as u8));
    table.heard(now, Speaker { address: address(last), mac, answers, overrides: true }, learn);
}

#[test]
fn who_is_not_known_is_asked_for_three_times_and_then_silent() {
    let mut table = table();
    let look = table.look(0, address(2), None);
    assert_eq!((look.found, look.ask), (Found::Asked, true));
    let again = table.look(5, address(2), Some(look.slot));
    assert_eq!((again.found, again.ask, again.slot), (Found::Asked, false, look.slot));
    for second in 1..3 {
        assert_eq!(table.timer(), second * SECOND);
        assert_eq!(due(&mut table, second * SECOND), [(address(2), Due::Ask)]);
        assert_eq!(due(&mut table, second * SECOND), []);
    }
    assert_eq!(due(&mut table, 3 * SECOND), [(address(2), Due::GaveUp)]);
    assert_eq!(table.timer(), NEVER);
    let look = table.look(4 * SECOND, address(2), None);
    assert_eq!((look.found, look.ask), (Found::Silent, false));
    let look = table.look(6 * SECOND, address(2), None);
    assert_eq!((look.found, look.ask), (Found::Asked, true));
}

#[test]
fn an_answer_serves_half_a_minute_and_is_then_probed_when_it_is_used() {
    let mut table = table();
    let slot = table.look(0, address(2), None).slot;
    says(&mut table, 0, 2, true, false);
    let known = |table: &mut Neighbours, now| {
        let look = table.look(now, address(2), Some(slot));
        assert!(!look.ask);
        look.found == Found::Known(mac(2))
    };
    assert_eq!(due(&mut table, SECOND), []);
    assert!(known(&mut table, 30 * SECOND - 1) && table.timer() == NEVER);
    // It is stale, and used: five seconds later it is probed, and each answer begins this anew.
    for begin in [40 * SECOND, 80 * SECOND] {
        assert!(known(&mut table, begin) && table.timer() == begin + 5 * SECOND);
        assert_eq!(due(&mut table, begin + 5 * SECOND), [(address(2), Due::Probe(mac(2)))]);
        says(&mut table, begin + 6 * SECOND, 2, true, false);
        assert_eq!(due(&mut table, begin + 7 * SECOND), []);
        assert_eq!(table.timer(), NEVER);
    }
}

#[test]
fn who_answers_no_probe_is_asked_for_and_then_silent() {
    let mut table = table();
    says(&mut table, 0, 2, false, true);
    let slot = table.look(0, address(2), None).slot;
    for second in 5..8 {
        assert_eq!(due(&mut table, second * SECOND), [(address(2), Due::Probe(mac(2)))]);
        assert_eq!(table.look(second * SECOND, address(2), Some(slot)).found, Found::Known(mac(2)));
    }
    for second in 8..11 {
        assert_eq!(due(&mut table, second * SECOND), [(address(2), Due::Ask)]);
        assert_eq!(table.look(second * SECOND, address(2), Some(slot)).found, Found::Asked);
    }
    assert_eq!(due(&mut table, 11 * SECOND), [(address(2), Due::GaveUp)]);
    assert_eq!(table.look(11 * SECOND, address(2), None).found, Found::Silent);
    // And comes back when it is heard.
    says(&mut table, 12 * SECOND, 2, false, false);
    assert_eq!(table.look(12 * SECOND, address(2), None).found, Found::Known(mac(2)));
}

#[test]
fn who_is_probed_is_believed_by_an_answer_alone() {
    let mut table = table();
    says(&mut table, 0, 2, false, true);
    table.look(0, address(2), None);
    due(&mut table, 5 * SECOND);
    // A question of its own with the device that is known says nothing of the way to it.
    says(&mut table, 5 * SECOND, 2, false, true);
    assert_eq!(due(&mut table, 6 * SECOND), [(address(2), Due::Probe(mac(2)))]);
    let speaker = Speaker { address: address(2), mac: Some(mac(3)), answers: false, overrides: true };
    table.heard(6 * SECOND, speaker, false);
    assert_eq!(due(&mut table, 7 * SECOND), []);
    assert_eq!(table.look(7 * SECOND, address(2), None).found, Found::Known(mac(3)));
}

#[test]
fn what_was_learned_is_forgotten_and_what_was_told_is_not() {
    let mut table = table();
    says(&mut table, 0, 2, true, true);
    table.look(0, address(3), None);
    let mut parked = super::super::parked::Parked::new(4);
    let slot = table.look(0, address(4), None).slot;
    parked.push(table.waiting(slot).expect("room"), 1);
    let mut from = 0;
    assert_eq!(table.forget(&mut from).map(|list| list.count), Some(1));
    assert_eq!((table.forget(&mut from).map(|list| list.count), table.timer()), (None, NEVER));
    assert_eq!(table.look(0, address(1), None).found, Found::Known(mac(1)));
    assert_eq!(table.look(0, address(2), None).found, Found::Asked);
}

#[test]
fn what_the_configuration_says_stays() {
    let mut table = table();
    let speaker = Speaker { address: address(1), mac: Some(mac(9)), answers: true, overrides: true };
    table.heard(0, speaker, true);
    let look = table.look(0, address(1), None);
    assert_eq!((look.found, look.ask), (Found::Known(mac(1)), false));
    assert_eq!(table.look(0, address(1), Some(look.slot)).found, Found::Known(mac(1)));
}

#[test]
fn who_was_not_asked_for_is_learned_only_where_that_is_wanted() {
    let mut table = table();
    says(&mut table, 0, 3, true, false);
    assert_eq!(table.look(0, address(3), None).found, Found::Asked);
    says(&mut table, 0, 4, false, true);
    assert_eq!(table.look(0, address(4), None).found, Found::Known(mac(4)));
    // No device has such an address.
    for bad in [MacAddress::BROADCAST, MacAddress::default(), MacAddress([1, 0, 0, 0, 0, 1])] {
        let speaker = Speaker { address: address(5), mac: Some(bad), answers: false, overrides: true };
        table.heard(0, speaker, true);
    }
    assert_eq!(table.look(0, address(5), None).found, Found::Asked);
}

#[test]
fn a_scan_displaces_its_own_questions() {
    let mut table = table();
    for last in 2..200 {
        says(&mut table, last.into(), last, false, true);
    }
    let known = |table: &mut Neighbours| {
        let is_known = |last: &u32| matches!(table.look(1_000, address(*last), None).found, Found::Known(_));
        (2..200).filter(is_known).count()
    };
    let before = known(&mut table);
    for last in 1_000..1_000_000 {
        table.look(2_000, address(last), None);
        if last % 50_000 == 0 {
            assert_eq!(known(&mut table), before);
        }
    }
    assert_eq!(table.learned.len(), 1024);
}

/// Timers that are looked for in the whole table.
fn searched(table: &Neighbours, now: u64) -> (u64, Vec<(IpAddr, Due)>) {
    let timer = table.learned.iter().map(|entry| entry.state.timer()).min().unwrap_or(NEVER);
    let mut due: Vec<_> =
        (0..table.learned.len()).filter(|&at| table.learned[at].state.timer() <= now).collect();
    due.sort_by_key(|&at| table.learned[at].state.timer());
    let expire = |at: usize| {
        let mut state = table.learned[at].state;
        state.expire(now).map(|due| (table.learned[at].address, due))
    };
    (timer, due.into_iter().filter_map(expire).collect())
}

#[test]
fn timers_are_those_of_a_search_through_the_table() {
    for most in [8, 64, 1024] {
        let (mut table, mut random) = (table_of(most), weir_core::random::Random::new(most.into()));
        let (mut now, mut fell_due) = (0, 0);
        for _ in 0..6_000 {
            now += random.below(SECOND / 4);
            let last = 2 + random.below(2 * u64::from(most)) as u32;
            match random.below(8) {
                0..4 => {
                    table.look(now, address(last), None);
                }
                4 | 5 => says(&mut table, now, last, random.one_in(2), random.one_in(2)),
                6 if random.one_in(200) => while table.forget(&mut 0).is_some() {},
                _ => {
                    let (_, expected) = searched(&table, now);
                    fell_due += expected.len();
                    assert_eq!(due(&mut table, now), expected);
                }
            }
            assert_eq!(table.timer(), searched(&table, now).0);
        }
        assert!(fell_due > 200, "{most}: {fell_due}");
    }
}

#[test]
fn as_many_neighbours_are_known_as_there_is_room_for() {
    let mut table = table_of(65_536);
    assert_eq!(table.most(), 65_536);
    // Half as many: what a hash puts into one set is rarely more than it holds.
    for last in 2..32_770 {
        let (address, mac) = (address(last), MacAddress([2, 0, 0, 0, (last >> 8) as u8, last as u8]));
        table.look(0, address, None);
        table.heard(0, Speaker { address, mac: Some(mac), answers: true, overrides: true }, false);
    }
    assert!(table.known().count() > 31_500, "{}", table.known().count());
    // All of them are used when they are stale, and each is probed in its turn.
    for last in 2..32_770 {
        table.look(40 * SECOND, address(last), None);
    }
    let known = table.known().count();
    assert!(known > 31_000, "{known}");
    let probed = due(&mut table, 45 * SECOND).iter().filter(|(_, due)| matches!(due, Due::Probe(_))).count();
    assert_eq!(probed, known);
}
