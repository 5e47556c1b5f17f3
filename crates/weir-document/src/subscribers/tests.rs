//! Files that are read, and every way in which one is refused.

use super::*;
use weir_core::random::Random;

fn parse(text: impl AsRef<[u8]>) -> Checked<Table> {
    Table::parse("s.csv", text.as_ref())
}

fn table(text: &str) -> Table {
    parse(text).expect("valid")
}

const FILE: &str = "name,address,rate,ceiling,group\n\
    anna,10.1.0.2 2001:db8:1::/56,2Mbit,20Mbit,mast-1\n\
    ben,10.1.0.0/24,1Mbit,,mast-1\n\
    mast-1,,10Mbit,30Mbit,site\n\
    site,,50Mbit,,\n\
    carl,10.2.0.0/16,5Mbit,,\n";

fn names(table: &Table) -> Vec<&str> {
    table.classes().iter().map(|class| class.name.as_str()).collect()
}

#[test]
fn groups_come_first_and_all_others_last() {
    let table = table(FILE);
    assert_eq!(names(&table), ["site", "mast-1", "anna", "ben", "carl", "others"]);
    let groups: Vec<Option<u16>> = table.classes().iter().map(|class| class.group).collect();
    assert_eq!(groups, [None, Some(0), Some(1), Some(1), None, None]);
    assert_eq!((table.subscribers(), table.others()), (3, 5));
    assert_eq!((table.find("ben"), table.find("be"), table.find("others")), (Some(3), None, Some(5)));
    let of_anna = table.prefixes().iter().filter(|(_, class)| *class == 2).count();
    assert_eq!((of_anna, table.prefixes().len()), (2, 4));
}

#[test]
fn ceilings_that_are_left_out_are_those_above() {
    let (config, over) = table(FILE).shares(Rate::new(100_000_000)).expect("enough");
    let mega = |rate: Rate| rate.get() / 1_000_000;
    let shares: Vec<(u64, u64)> = config.classes.iter().map(|it| (mega(it.rate), mega(it.ceiling))).collect();
    assert_eq!(shares, [(50, 100), (10, 30), (2, 20), (1, 30), (5, 100), (1, 100)]);
    assert_eq!((over, config.check()), (Vec::new(), Ok(())));
}

#[test]
fn promises_beyond_what_there_is_are_cut_in_proportion_and_said() {
    let text = "name,address,rate,ceiling,group\n\
        ap,,9Mbit,9Mbit,\n\
        a,10.0.0.1,6Mbit,9Mbit,ap\n\
        b,10.0.0.2,12Mbit,18Mbit,ap\n";
    let table = table(text);
    let (config, over) = table.shares(Rate::new(100_000_000)).expect("enough");
    let rates: Vec<u64> = config.classes.iter().map(|class| class.rate.get()).collect();
    assert_eq!(rates, [9_000_000, 3_000_000, 6_000_000, 1_000_000]);
    assert_eq!(config.classes[2].ceiling, Rate::new(18_000_000));
    assert!(config.check().is_ok());
    let advice = table.advice(&over);
    assert_eq!(
        advice,
        ["s.csv: group `ap` has 9Mbit and promises 18Mbit: each is promised 50 % of its rate"]
    );
    // On a line that is slower than all groups together they are cut in their turn.
    let (config, over) = table.shares(Rate::new(4_500_000)).expect("enough");
    assert!(config.check().is_ok() && over.len() == 2 && over[1].group.is_none());
}

#[test]
fn a_group_with_nothing_to_promise_is_refused() {
    let lines = (0..2_000).map(|at| format!("s{at},10.0.{}.{},1kbit,,g\n", at / 250, at % 250));
    let text = format!("name,address,rate,ceiling,group\ng,,1kbit,,\n{}", lines.collect::<String>());
    let error = table(&text).shares(Rate::new(1_000_000)).expect_err("too little").to_string();
    assert_eq!(
        error,
        "s.csv: name `s0` is promised less than 1bit of the 1kbit that `g` has: raise that rate, or divide the group"
    );
}

#[test]
fn others_may_have_a_line_of_their_own() {
    let table = table("name,address,rate\nothers,,3Mbit\na,::/0,1Mbit\n");
    assert_eq!(names(&table), ["a", "others"]);
    let (config, _) = table.shares(Rate::new(10_000_000)).expect("enough");
    assert_eq!(config.classes[1].rate, Rate::new(3_000_000));
}

#[test]
fn a_byte_order_mark_returns_blanks_and_another_order_of_columns_are_read() {
    let plain = table(FILE);
    assert_eq!(table(&format!("\u{feff}{}", FILE.replace('\n', "\r\n"))), plain);
    assert_eq!(table(&FILE.replace(',', " , ").replace("site ,  ,", "\n\nsite ,  ,")), plain);
    let turned = table("rate,name,address\n1Mbit,a,10.0.0.1\n");
    assert_eq!(turned, table("name,address,rate\na,10.0.0.1,1Mbit"));
}

#[test]
fn classes_are_found_again_by_name() {
    let old = table(FILE);
    let new = table("name,address,rate\ncarl,10.2.0.0/16,5Mbit\nzoe,10.3.0.1,1Mbit\nanna,10.1.0.2,1Mbit\n");
    assert_eq!(new.successors_of(&old), [None, None, Some(2), None, Some(0), Some(3)]);
}

#[test]
fn a_wrong_line_refuses_the_file_with_value_bound_and_remedy() {
    let row =
        |row: &str| format!("name,address,rate,ceiling,group\na,10.0.0.1,1Mbit,,\n{row}\n").into_bytes();
    let long = "x".repeat(65);
    for (bytes, said) in [
        (Vec::new(), "s.csv: is empty: write `name,address,rate,ceiling,group` as the first line"),
        (b"\xef\xbb\xbf\r\n\n".to_vec(), "s.csv: is empty: "),
        (
            b"a,10.0.0.1,1Mbit\n".to_vec(),
            "s.csv:1:1: column `a` is none of `name`, `address`, `rate`, `ceiling`, `group`: ",
        ),
        (b"name,rate\n".to_vec(), "s.csv:1:1: has no column `address`: "),
        (b"name,address,rate,name\n".to_vec(), "s.csv:1:4: column `name` is written twice: "),
        (b"name,address,rate\ng,,1Mbit\n".to_vec(), "s.csv: has no line with an address: "),
        (
            b"name,address,rate\na,10.0.0.1,1Mbit\nb,\xff,1Mbit\n".to_vec(),
            "s.csv:3:3: has the byte 0xff, which is no UTF-8: ",
        ),
        (row("b,10.0.0.2"), "s.csv:3:2: has 2 fields, must have 5 as the first line: "),
        (row("b,10.0.0.2,1Mbit,,,,"), "s.csv:3:5: has 7 fields, must have 5 as the first line: "),
        (
            row(",10.0.0.2,1Mbit,,"),
            "s.csv:3:1: name is empty, must be from 1 to 64 characters without quotes",
        ),
        (row("\"b\",10.0.0.2,1Mbit,,"), "s.csv:3:1: name is \"b\", must be from 1 to 64 characters"),
        (row(&format!("{long},10.0.0.2,1Mbit,,")), "s.csv:3:1: name is xxx"),
        (row("a,10.0.0.2,1Mbit,,"), "s.csv:3:1: name a is the name of line 2 too: give each its own name"),
        (row("others,10.0.0.2,1Mbit,,"), "s.csv:3:1: name others is kept for packets of no subscriber: "),
        (
            row("b,10.0.0.256,1Mbit,,"),
            "s.csv:3:2: address is 10.0.0.256, not an address or a prefix: write 10.1.0.2, ",
        ),
        (row("b,10.0.0.2/33,1Mbit,,"), "s.csv:3:2: address is 10.0.0.2/33, not an address or a prefix: "),
        (
            row("b,10.0.0.2/24,1Mbit,,"),
            "s.csv:3:2: address is 10.0.0.2/24, has bits behind its prefix: write 10.0.0.0/24",
        ),
        (
            row("b,10.0.0.1,1Mbit,,"),
            "s.csv:3:2: address 10.0.0.1/32 is an address of line 2 already: remove one of the two",
        ),
        (row("b,::1 ::1,1Mbit,,"), "s.csv:3:2: address ::1/128 is an address of line 3 already: "),
        (
            row("b,10.0.0.2,,,"),
            "s.csv:3:3: rate is empty, not a rate with its unit: write a rate such as 2Mbit",
        ),
        (row("b,10.0.0.2,5,,"), "s.csv:3:3: rate is 5, not a rate with its unit: "),
        (row("b,10.0.0.2,1bit,,"), "s.csv:3:3: rate is 1bit, must be from 1kbit to 1000Gbit: "),
        (
            row("b,10.0.0.2,2Mbit,1Mbit,"),
            "s.csv:3:4: ceiling is 1Mbit, must be at least the rate, 2Mbit: raise it",
        ),
        (row("b,10.0.0.2,2Mbit,,c"), "s.csv:3:5: group is c, not the name of a line: "),
        (
            row("b,10.0.0.2,2Mbit,,a"),
            "s.csv:3:5: group is a, has an address, so it is no group: name a line that has no",
        ),
        (
            row("g,,2Mbit,,g"),
            "s.csv:3:5: group is g, has more than 6 groups above those in it, or is above itself: ",
        ),
        (row("others,,1Mbit,,\nb,::1,1Mbit,,others"), "s.csv:4:5: group others is not a group: "),
    ] {
        let error = parse(&bytes).expect_err(said).to_string();
        assert!(error.starts_with(said), "{error}\n{said}");
    }
}

#[test]
fn groups_are_at_most_six_deep() {
    let deep = |groups: usize| {
        let lines = (1..groups).map(|at| format!("g{at},,1Mbit,,g{}\n", at - 1)).collect::<String>();
        format!("name,address,rate,ceiling,group\ng0,,1Mbit,,\n{lines}a,::1,1Mbit,,g{}\n", groups - 1)
    };
    let (config, _) = table(&deep(6)).shares(Rate::new(10_000_000)).expect("enough");
    assert_eq!(config.check(), Ok(()));
    assert!(parse(deep(7)).is_err_and(|error| error.to_string().contains("more than 6 groups above")));
}

#[test]
fn as_many_lines_as_there_are_classes_are_read_and_no_more() {
    let many = |count: usize| {
        let line = |at: usize| format!("s{at},10.{}.{}.{},1kbit\n", at >> 16, at >> 8 & 255, at & 255);
        format!("name,address,rate\n{}", (0..count).map(line).collect::<String>())
    };
    let most = table(&many(MOST));
    assert_eq!((most.classes().len(), most.others()), (MOST + 1, 65_535));
    let (config, _) = most.shares(Rate::new(1_000_000_000)).expect("enough");
    assert_eq!(config.check(), Ok(()));
    for count in [MOST + 1, 600_000] {
        let error = parse(many(count)).expect_err("too many").to_string();
        assert!(error.starts_with("s.csv:65537:1: has more than 65535 subscribers and groups: "), "{error}");
    }
    let error = parse(many(1_000_000)).expect_err("too long").to_string();
    assert_eq!(error, "s.csv: is longer than 16MiB: divide the subscribers among several interfaces");
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let error = Table::read_file("/dev/zero".as_ref(), "zero").expect_err("endless").to_string();
    assert_eq!(error, "zero: is no file: name a file of subscribers that may be read");
    let error = Table::read_file("/nonexistent/s.csv".as_ref(), "s.csv").expect_err("absent").to_string();
    assert_eq!(
        error,
        "s.csv: cannot be read: no such file or directory: name a file of subscribers that may be read"
    );
}

/// What the fuzz target `subscribers` holds, over mutations of a valid file.
#[test]
fn what_is_mutated_is_refused_with_a_remedy_or_a_hierarchy() {
    let mut random = Random::new(2);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut bytes = FILE.as_bytes().to_vec();
        for _ in 0..1 + random.below(3) {
            if bytes.is_empty() {
                break;
            }
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes[at] = random.bits() as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b",\n/ 09amM"[random.below(9) as usize]),
                _ => bytes.truncate(at + 1),
            }
        }
        match parse(&bytes) {
            Err(error) => assert!(error.line != Some(0) && !error.remedy.is_empty(), "{error}"),
            Ok(table) => {
                accepted += 1;
                // A class next to one of a million times its rate would be promised nothing.
                let Ok((config, over)) = table.shares(Rate::new(10_000_000)) else { continue };
                assert_eq!(config.check(), Ok(()));
                assert!(table.advice(&over).len() <= 9);
                for (class, at) in table.classes().iter().zip(0..) {
                    assert!(class.group.is_none_or(|group| group < at));
                    assert_eq!(table.find(&class.name), Some(at));
                }
            }
        }
    }
    // Enough to have gone both ways.
    assert!((500..19_500).contains(&accepted), "{accepted}");
}
