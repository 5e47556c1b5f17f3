//! Questions by hand, and a scan of more addresses than there is room for.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn table() -> Neighbours {
    Neighbours::new(&[Neighbour { address: address(1), mac: mac(1) }], Keyed::new(1))
}

fn address(last: u32) -> IpAddr {
    IpAddr::V4((0x0a00_0000 + last).into())
}

fn mac(last: u8) -> MacAddress {
    MacAddress([2, 0, 0, 0, 0, last])
}

/// What falls due at `now`: who is asked for, and how many are given up.
fn due(table: &mut Neighbours, now: u64) -> (Vec<IpAddr>, usize) {
    let (mut asked, mut given_up, mut from) = (Vec::new(), 0, 0);
    while let Some(due) = table.expire(now, &mut from) {
        match due {
            Due::Ask(address) => asked.push(address),
            Due::GaveUp(_) => given_up += 1,
        }
    }
    (asked, given_up)
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
        assert_eq!(due(&mut table, second * SECOND), (vec![address(2)], 0));
        assert_eq!(due(&mut table, second * SECOND), (vec![], 0));
    }
    assert_eq!(due(&mut table, 3 * SECOND), (vec![], 1));
    assert_eq!(table.timer(), NEVER);
    let look = table.look(4 * SECOND, address(2), None);
    assert_eq!((look.found, look.ask), (Found::Silent, false));
    let look = table.look(6 * SECOND, address(2), None);
    assert_eq!((look.found, look.ask), (Found::Asked, true));
}

#[test]
fn an_answer_serves_a_minute_and_while_it_is_asked_for_again() {
    let mut table = table();
    let slot = table.look(0, address(2), None).slot;
    table.heard(1, Neighbour { address: address(2), mac: mac(2) }, false);
    assert_eq!(table.look(2, address(2), Some(slot)).found, Found::Known(mac(2)));
    let look = table.look(1 + 60 * SECOND, address(2), Some(slot));
    assert_eq!((look.found, look.ask), (Found::Known(mac(2)), true));
    let look = table.look(2 + 60 * SECOND, address(2), Some(slot));
    assert_eq!((look.found, look.ask), (Found::Known(mac(2)), false));
    for second in [62, 64, 66] {
        due(&mut table, second * SECOND);
    }
    assert_eq!(table.look(66 * SECOND, address(2), None).found, Found::Silent);
    // And comes back when it is heard.
    table.heard(67 * SECOND, Neighbour { address: address(2), mac: mac(3) }, false);
    assert_eq!(table.look(67 * SECOND, address(2), None).found, Found::Known(mac(3)));
}

#[test]
fn what_the_configuration_says_stays() {
    let mut table = table();
    table.heard(0, Neighbour { address: address(1), mac: mac(9) }, true);
    let look = table.look(0, address(1), None);
    assert_eq!((look.found, look.ask), (Found::Known(mac(1)), false));
    assert_eq!(table.look(0, address(1), Some(look.slot)).found, Found::Known(mac(1)));
}

#[test]
fn who_was_not_asked_for_is_learned_only_where_that_is_wanted() {
    let mut table = table();
    table.heard(0, Neighbour { address: address(3), mac: mac(3) }, false);
    assert_eq!(table.look(0, address(3), None).found, Found::Asked);
    table.heard(0, Neighbour { address: address(4), mac: mac(4) }, true);
    assert_eq!(table.look(0, address(4), None).found, Found::Known(mac(4)));
    // No device has such an address.
    for bad in [MacAddress::BROADCAST, MacAddress::default(), MacAddress([1, 0, 0, 0, 0, 1])] {
        table.heard(0, Neighbour { address: address(5), mac: bad }, true);
    }
    assert_eq!(table.look(0, address(5), None).found, Found::Asked);
}

#[test]
fn a_scan_displaces_its_own_questions() {
    let mut table = table();
    for last in 2..200 {
        table.heard(u64::from(last), Neighbour { address: address(last), mac: mac(last as u8) }, true);
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
    assert_eq!(table.learned.len(), SETS * WAYS);
}
