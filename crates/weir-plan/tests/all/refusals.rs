//! Refusals of requests word by word, of classes with the nearest feasible request, and of targets.

use super::common::{TABLE_1, asked, planned, request};
use weir_document::testing::assert_refusals;
use weir_plan::{Form, PlanError, Requirements, emit};

fn refusal(text: &str) -> PlanError {
    Requirements::from_toml(text, "plan.toml").expect_err(text)
}

/// Each block is a table and its classes, and the refusal.
#[test]
fn documents_are_refused_at_their_place() {
    assert_refusals(include_str!("refusals.txt"), |written| {
        let mut parts = written.split(" | ");
        let table = parts.next().expect("a table");
        Requirements::from_toml(&request(table, &parts.collect::<Vec<_>>()), "plan.toml")
    });
}

#[test]
fn what_is_missing_is_named() {
    for (without, expected) in [
        ("weir = 1\n", "weir is missing: add `weir = ...`"),
        ("entries = 64\n", "table.entries is missing: add `entries = ...`"),
        ("rate = \"2.5Gbit\"\n", "link.rate is missing: add `rate = ...`"),
        ("name = \"D2\"\n", "name is missing: add `name = ...`"),
    ] {
        let error = refusal(&TABLE_1.replacen(without, "", 1)).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error =
        refusal("weir = 1\n[table]\nentries = 8\nmtu = \"2048B\"\n[link]\nrate = \"1Gbit\"\n").to_string();
    assert!(error.contains("class is missing: add a table `[[class]]`"), "{error}");
    assert!(refusal("weir = 2").to_string().contains("is missing"));
    assert!(refusal("weir =").to_string().starts_with("plan.toml:1:"));
    assert!(refusal(&" ".repeat(1 << 19)).to_string().contains("at most 262144"));
    let many = vec!["share = \"1%\""; 65];
    assert!(refusal(&request("entries = 64", &many)).to_string().contains("must have from 1 to 64"));
}

/// The table, the classes, and what is said of the refused ones.
#[test]
fn classes_that_do_not_fit_are_told_what_would() {
    for (table, classes, expected) in [
        (
            "entries = 64;k = 2;w = 4",
            &["share = \"25%\";distance = 2", "share = \"25%\";distance = 4", "share = \"20%\";distance = 2"]
                [..],
            &[
                "asks for 20% at distance 2; entries needed: 32, free: 16: share 20% at distance 4 would be met, \
               with a bound of 13.005us",
            ][..],
        ),
        (
            "entries = 64;k = 2;w = 16",
            &["share = \"70%\"", "share = \"40%\""][..],
            &[
                "asks for 40%; the others leave 30% of the pool: share 30% at distance 16 would be met, with a bound of 41.575us",
            ][..],
        ),
        (
            "entries = 64",
            &["share = \"60%\";distance = 1", "share = \"40%\""][..],
            &[
                "asks for 40%; entries needed: 32, free: 0: there would be room if it were one class with `c0`, of 100%",
            ][..],
        ),
        (
            "entries = 8;k = 2;w = 4",
            &["share = \"25%\";latency = \"3us\"", "share = \"75%\""][..],
            &[
                "asks for 3us; at distance 2 the deficit table bounds it by 9.78us, and the next has no room: share \
               25% at distance 2 would be met, with a bound of 9.78us",
            ][..],
        ),
        // Entries run out, by a distance, by shares of many entries, and by a pool that is empty too.
        (
            "entries = 8;k = 2;w = 4",
            &["share = \"25%\";distance = 2", "share = \"25%\";distance = 2", "share = \"10%\""][..],
            &[
                "asks for 10%; entries needed: 1, free: 0: there would be room with `c0` at distance 4 instead of 2, its \
               bound 12.391us, or `c1` at distance 4 instead of 2, its bound 12.391us",
            ][..],
        ),
        (
            "entries = 4;k = 2;w = 2",
            &["share = \"30%\"", "share = \"30%\"", "share = \"10%\""][..],
            &[
                "asks for 10%; entries needed: 1, free: 0: write table.w = 3: fewer entries hold the same shares, and \
               all wait longer",
            ][..],
        ),
        // Finding B9: nine classes on eight entries.
        (
            "entries = 8;k = 1;w = 7",
            &["share = \"10%\""; 9][..],
            &[
                "asks for 10%; entries needed: 1, free: 0: there would be room if it were one class with `c0`, of 20%, \
               and table.k = 2",
            ][..],
        ),
        (
            "entries = 2;k = 1;w = 1",
            &["share = \"50%\"", "share = \"50%\"", "share = \"10%\""][..],
            &[
                "asks for 10%; entries needed: 1, free: 0: join classes that need the same: each has an entry at least, \
               and there are 2 for 3; or plan for a port with more",
            ][..],
        ),
        (
            "entries = 4;w = 2",
            &["share = \"50.3%\"", "share = \"25.3%\"", "share = \"24.4%\""][..],
            &[
                "asks for 24.4%, and its entries weigh 25% at least; the others leave 24.4% of the pool: write table.k = 2 \
               and table.w = 3: entries need not weigh as much of the link, and all wait longer",
            ][..],
        ),
    ] {
        let plan = planned(&request(table, classes));
        let told: Vec<String> =
            plan.refused.iter().map(|class| format!("{}: {}", class.reason, class.remedy)).collect();
        assert_eq!(told, expected);
        assert_eq!(plan.classes.len() + plan.refused.len(), classes.len());
        assert!(plan.refused.iter().all(|class| class.line > 0));
    }
}

#[test]
fn who_gets_less_than_asked_is_told() {
    let plan = planned(&request("entries = 4;k = 1;w = 2", &["share = \"50.1%\"", "share = \"49.9%\""]));
    assert_eq!(
        plan.notes,
        ["`c0` asked for 50.1% and gets 50%: weights are whole credits, and the pool has no more"]
    );
    let plan = planned(&request("entries = 16;k = 2;w = 4", &["share = \"50.09%\"", "share = \"7.01%\""]));
    assert!(plan.notes.is_empty() && plan.classes.iter().all(|class| class.share >= class.requested.share));
}

#[test]
fn what_is_rounded_is_noted() {
    let plan = planned(&request(
        "entries = 48;k = 2;w = 4",
        &["share = \"5%\";distance = 6", "share = \"50%\";distance = 32", "share = \"1%\";distance = 99"],
    ));
    assert_eq!(
        plan.notes,
        [
            "table.entries is 48: 32 of them are planned, the largest power of two",
            "the distance of `c0` is 6: taken as 4, for distances are powers of two",
            "the distance of `c2` is 99: taken as 32, for the table is not longer",
            "`c0` asked for 5% and gets 12.5%: its entries (8) weigh as much at least; a larger k lowers it",
            "`c1` has distance 4: entries farther apart would not hold 50%; a larger w raises what they hold",
            "`c2` asked for 1% and gets 1.5625%: its entries (1) weigh as much at least; a larger k lowers it",
        ]
    );
}

#[test]
fn targets_refuse_what_they_cannot_carry() {
    let told = |text: &str, form: Form| {
        let asked = asked(text);
        emit(&weir_plan::plan(&asked), form, &asked.target).expect_err(text).to_string()
    };
    let entries = |count| format!("entries = {count};k = 2;w = 4");
    for (text, form, expected) in [
        (
            TABLE_1.to_owned(),
            Form::Opensm,
            "64 entries; pairs 33 to 64 are never programmed on a port of 64: write table.entries = 32",
        ),
        (
            request("entries = 8;k = 1;w = 16", &["share = \"100%\";distance = 8"]),
            Form::Opensm,
            "an entry weighs 256, at most 255 can be written: write table.w = 7, the most for an MTU of 2048B",
        ),
        (request("entries = 8;credit = \"128B\"", &["share = \"5%\""]), Form::Opensm, "table.credit is 128B"),
        (request(&entries(8), &["share = \"5%\";lane = 15"]), Form::Opensm, "lane 15 is no data lane"),
        (
            request(&entries(8), &["share = \"5%\";lane = 4;[target];lanes = 4"]),
            Form::Opensm,
            "lane 4 is used, 4 are in operation: use lanes 0 to 3",
        ),
        (request(&entries(8), &["share = \"5%\";lane = 8"]), Form::Pcie, "channels are 0 to 7"),
        (request(&entries(256), &["share = \"50%\";distance = 1"]), Form::Pcie, "at most 128 phases"),
        (request(&entries(8), &["share = \"5%\""]), Form::Pcie, "7 of its entries are free"),
        (request(&entries(8), &["share = \"5%\";service_levels = []"]), Form::TcDrr, "has no service levels"),
        (request(&entries(32), &["share = \"1%\""; 17]), Form::TcEts, "17 classes, ets has at most 16 bands"),
        (request(&entries(8), &["share = \"5%\";lane = 9"]), Form::Dcb, "traffic classes are 0 to 7"),
        (
            request("entries = 8;credit = \"128B\"", &["share = \"5%\""]),
            Form::Scenario,
            "table.credit is 128B",
        ),
        (request(&entries(8), &["share = \"90%\"", "share = \"20%\""]), Form::Dcb, "`c1` asks for 20%"),
    ] {
        let error = told(&text, form);
        assert!(error.contains(expected), "{error}");
        assert!(error.starts_with(form.name()), "{error}");
    }
}
