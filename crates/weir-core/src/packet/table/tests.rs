//! Tables as they are written, placed and refused.

use super::serial::refused;
use super::*;
use crate::canonical::canonical;

/// How far apart the entries of a flow are, around the ring.
fn distances(table: &[Option<u16>], flow: u16) -> Vec<usize> {
    let at: Vec<usize> = (0..table.len()).filter(|&at| table[at] == Some(flow)).collect();
    let next = at.iter().cycle().skip(1);
    at.iter().zip(next).map(|(&at, &next)| (next + table.len() - at - 1) % table.len() + 1).collect()
}

#[test]
fn table_1_is_placed_as_published() {
    let table = place(&[2, 4, 8, 16, 32, 64, 64], 64).expect("full");
    let expected = |at: usize| match at {
        at if at % 2 == 0 => 0,
        at if at % 4 == 1 => 1,
        at if at % 8 == 3 => 2,
        at if at % 16 == 7 => 3,
        at if at % 32 == 15 => 4,
        31 => 5,
        _ => 6,
    };
    for (at, flow) in table.into_iter().enumerate() {
        assert_eq!(flow, Some(expected(at)), "{at}");
    }
}

#[test]
fn entries_are_exactly_their_distance_apart_and_as_many_as_fit_find_room() {
    let mut random = crate::conformance::Random::new(3);
    for _ in 0..2_000 {
        let entries: usize = 1 << random.below(11);
        let (mut wanted, mut taken) = (Vec::new(), 0);
        for _ in 0..20 {
            let distance: usize = 1 << random.below(u64::from(entries.trailing_zeros()) + 1);
            if taken + entries / distance <= entries {
                taken += entries / distance;
                wanted.push(distance);
            }
        }
        let table = place(&wanted, entries).expect("there is room for all that has been taken");
        for (flow, &distance) in wanted.iter().enumerate() {
            let apart = distances(&table, flow as u16);
            assert_eq!(apart.len(), entries / distance);
            assert!(apart.iter().all(|&apart| apart == distance), "{wanted:?} of {entries}: {apart:?}");
        }
        assert_eq!(table.iter().flatten().count(), taken);
        // What is free admits the smallest distance that its number allows.
        if taken < entries {
            wanted.push(entries / (1 << (entries - taken).ilog2()));
            assert!(place(&wanted, entries).is_ok());
        }
    }
}

#[test]
fn a_table_is_read_as_it_is_written() {
    for (written, form) in
        [("0@32cr/-/1023@65535cr/0@0cr", Form::Weights), ("0/1/-/0/1023", Form::Flows), ("7", Form::Flows)]
    {
        let name = if form == Form::Flows { "table_basic" } else { "dtable" };
        let spec = format!("{name}:{written}").parse().expect(written);
        let info = crate::registry::info(name).expect(name);
        let arguments = crate::info::Arguments::new(&spec, info).expect(written);
        let table = Table::from_spec(&arguments, form).expect(written);
        assert_eq!(table.text(form), written);
        assert_eq!(canonical(&spec).expect(written), spec);
    }
    let placed = Table::placed(&[2, 4], &[Credits::new(32), Credits::new(64)], 4).expect("placed");
    assert_eq!(placed.to_string(), "0@32cr/1@64cr/0@32cr/-");
    let placed = Table::placed(&[2, 4], &[Credits::new(32)], 4).expect("placed");
    assert_eq!(placed.to_string(), "0@32cr/1@32cr/0@32cr/-");
    assert!(placed.serves(1) && !placed.serves(2) && !placed.serves(u32::MAX));
}

#[test]
fn the_text_of_a_spec_has_one_form() {
    for (written, expected) in [
        (
            "dtable(weights=32cr/64cr,entries=064,distances=02/4,mtu=2048B,stall=zero)",
            "dtable:distances=2/4,weights=32cr/64cr",
        ),
        ("dtable:table=0@32cr/1@32cr,stall=keep", "dtable:0@32cr/1@32cr,stall=keep"),
        ("table_weighted(0@1cr,high=1@2cr,high_limit=0)", "table_weighted:0@1cr,high=1@2cr"),
    ] {
        assert_eq!(canonical(&written.parse().expect(written)).expect(written).to_string(), expected);
    }
}

#[test]
fn tables_are_refused_with_value_bound_and_remedy() {
    for (spec, expected) in [
        ("dtable", "`dtable`: table is missing, give `table` or `distances`"),
        (
            "dtable:0@32cr,distances=2,weights=32cr",
            "`dtable`: table is given together with `distances`, give one of them",
        ),
        ("dtable:0@32cr,weights=32cr", "`dtable`: weights is used only with `distances`, remove it"),
        ("table_basic:0,entries=64", "`table_basic`: entries is used only with `distances`, remove it"),
        (
            "dtable:distances=2",
            "`dtable`: weights is missing, give the weight of each flow's entries as in 32cr/64cr, or one for all",
        ),
        (
            "dtable:distances=2/4/8,weights=32cr/32cr",
            "`dtable`: weights is refused: there are 2 weights for 3 distances; give one for each, or one for all",
        ),
        (
            "table_basic:distances=2/3",
            "`table_basic`: distances is refused: the distance of flow 1 is 3, must be a power of two from 1 to 64; take 2",
        ),
        (
            "table_basic:distances=2/128",
            "`table_basic`: distances is refused: the distance of flow 1 is 128, must be a power of two from 1 to 64; take 64",
        ),
        (
            "table_basic:distances=0",
            "`table_basic`: distances is refused: the distance of flow 0 is 0, must be a power of two from 1 to 64; take 1",
        ),
        (
            "table_basic:distances=2/2/64",
            "`table_basic`: distances is refused: the distances take 65 entries, the table has 64; double one of them",
        ),
        (
            "table_basic:distances=2,entries=48",
            "`table_basic`: entries is refused: entries is 48, must be a power of two from 1 to 1024 for distances to \
             place them; give any other number as `table`",
        ),
        (
            "table_basic:-/-",
            "`table_basic`: table is refused: no entry of the table serves a flow, give one a weight",
        ),
        (
            "table_basic:0/1024",
            "`table_basic`: table is `0/1024`, must be entries as in `0/1/0/-`: flows from 0 to 1023, `-` where one is free",
        ),
        (
            "dtable:0@32",
            "`dtable`: table is `0@32`, must be entries as in `0@32cr/1@64cr/-`: flows from 0 to 1023 and weights up to 65535cr",
        ),
        (
            "dtable:0@32cr/1@31cr",
            "`dtable`: table is refused: entry 1, of flow 1, has the weight 31cr, must be from 32cr to 65535cr: the \
             largest packet, `mtu`, takes 32cr; raise the weight, or lower mtu",
        ),
        ("dtable:0@32cr,mtu=0B", "`dtable`: mtu is `0B`, must be a size from 1B to 4194240B, such as 2048B"),
        (
            "table_weighted:0@256cr",
            "`table_weighted`: table is refused: entry 0, of flow 0, has the weight 256cr, must be from 0cr to 255cr",
        ),
        (
            "table_weighted:0@1cr,high=1@300cr",
            "`table_weighted`: high is refused: entry 0, of flow 1, has the weight 300cr, must be from 0cr to 255cr",
        ),
        (
            "table_weighted:0@0cr,high=1@0cr",
            "`table_weighted`: table is refused: no entry of the table serves a flow, give one a weight",
        ),
        (
            "table_weighted:0@1cr,high_limit=256",
            "`table_weighted`: high_limit is `256`, must be a whole number from 0 to 255",
        ),
        ("table_weighted:0@0cr,high=1@1cr", ""),
    ] {
        assert_eq!(refused(spec), expected, "{spec}");
    }
}

#[test]
fn tables_that_are_too_large_are_refused_whoever_makes_them() {
    let long = format!("table_basic:{}", vec!["0"; MAX_ENTRIES + 1].join("/"));
    assert_eq!(
        refused(&long),
        "`table_basic`: table is refused: the table has 1025 entries, must have 1 to 1024"
    );
    assert!(refused("table_basic:distances=2,entries=99999999999999999999").contains("from 1 to 1024"));
    assert_eq!(Table::new(Vec::new()), Err(TableError::Length(0)));
    let far = Some(Entry { flow: 1024, weight: Credits::new(1) });
    assert_eq!(Table::new(vec![None, far]), Err(TableError::Flow { entry: 1, flow: 1024 }));
    assert_eq!(Table::placed(&[], &[], 4), Err(TableError::Empty));
    assert_eq!(
        Table::placed(&[1, 1], &[Credits::new(1)], 1),
        Err(TableError::Full { needed: 2, entries: 1 })
    );
    assert_eq!(
        place(&[usize::MAX], 4),
        Err(TableError::Distance { flow: 0, distance: usize::MAX, entries: 4 })
    );
    assert_eq!(place(&[1], 0), Err(TableError::Entries(0)));
}

#[test]
fn packets_are_rounded_up_to_credits() {
    let of = |size| credits(Bytes::new(size)).get();
    assert_eq!([0, 1, 64, 65, 2048, 2049, 2176].map(of), [1, 1, 1, 2, 32, 33, 34]);
    assert_eq!(of(u64::MAX), 1 << 58);
}
