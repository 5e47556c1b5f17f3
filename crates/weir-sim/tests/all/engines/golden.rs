//! Every file of `tests/golden` at the root of the repository: a discipline, a trace, and its schedule.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::script::{Given, open, plain_with};
use weir_core::registry::{MESSAGE, WRAPPER};

/// A file, read.
#[derive(Debug, Default)]
struct Case {
    discipline: String,
    service: u64,
    messages: Vec<Given>,
    schedule: String,
}

fn folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden")).to_owned()
}

/// Messages are named `A`, `B`, … in order of arrival; `#` begins a comment anywhere.
fn read(text: &str) -> Case {
    let mut case = Case::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        let number = |place: usize| words[place].parse::<u64>().expect("a number");
        match words[..] {
            [] => {}
            ["discipline", spec] => case.discipline = spec.to_owned(),
            ["service", _] => case.service = number(1),
            ["arrive", name, _, _, _] => {
                assert_eq!(name, letter(case.messages.len()), "{line}");
                case.messages.push((number(2), number(3) as u32, number(4) as u32));
            }
            ["serve", _, name] => {
                assert_eq!(number(1), case.schedule.len() as u64, "{line}");
                case.schedule.push_str(name);
            }
            _ => panic!("cannot be read: {line}"),
        }
    }
    case
}

fn letter(place: usize) -> String {
    char::from(b'A' + place as u8).to_string()
}

#[test]
fn schedules_are_as_decided_by_hand() {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder()).expect("tests/golden is there") {
        let path = entry.expect("an entry").path();
        let case = read(&fs::read_to_string(&path).expect("text"));
        let packets: u32 = case.messages.iter().map(|message| message.1).sum();
        assert_eq!(case.schedule.len(), packets as usize, "{}", path.display());
        let (log, _) = plain_with(&case.discipline, open(&case.messages), &[case.service], 0);
        assert_eq!(log.letters(), case.schedule, "{}", path.display());
        names.insert(path.file_stem().expect("a name").to_string_lossy().into_owned());
    }
    let registered: Vec<&str> = MESSAGE.iter().chain(WRAPPER).map(|info| info.name).collect();
    let missing: Vec<_> = registered.iter().filter(|&&name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "no golden case in tests/golden for {missing:?}");
}
