//! Files of subscribers: a refusal names a line or the file; what is accepted is a hierarchy that `htb` takes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_core::units::Rate;
use weir_document::subscribers::{Kind, MOST, Table};

fuzz_target!(|bytes: &[u8]| match Table::parse("fuzz.csv", bytes) {
    Err(error) => assert!(error.line != Some(0) && !error.reason.is_empty() && !error.remedy.is_empty()),
    Ok(table) => {
        let classes = table.classes();
        assert!(classes.len() <= MOST + 1 && classes.last().is_some_and(|last| last.kind == Kind::Others));
        for (at, class) in classes.iter().enumerate() {
            assert!(class.group.is_none_or(|group| usize::from(group) < at));
            assert_eq!(table.find(&class.name), Some(at as u16));
        }
        assert!(table.prefixes().iter().all(|(_, class)| classes[usize::from(*class)].kind == Kind::Subscriber));
        for link in [1_000, 1_000_000, 1_000_000_000_000] {
            if let Ok((config, over)) = table.shares(Rate::new(link)) {
                assert_eq!(config.check(), Ok(()));
                assert!(table.advice(&over).len() <= 9);
            }
        }
        assert!(table.successors_of(&table).iter().enumerate().all(|(at, to)| *to == Some(at as u16)));
    }
});
