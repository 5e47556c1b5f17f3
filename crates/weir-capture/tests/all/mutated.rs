//! Mutations, truncations and noise: nothing panics, all reading ends, what is accepted is in order.

use super::made::*;
use proptest::prelude::*;

/// Files of both formats, links and orders, to be damaged.
fn whole() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for order in [Little, Big] {
        let mut file = pcap(order, if order == Big { NANO } else { MICRO }, 1);
        let mut sections = section(order);
        sections.extend(interface(order, 1, Some(9), Some(-5)));
        sections.extend(interface(order, 276, None, None));
        for (place, frame) in frames().iter().enumerate() {
            file.extend(record(order, (1, place as u32), frame));
            sections.extend(enhanced(order, 0, 1_000_000_000 + place as u64, frame));
            sections.extend(obsolete(order, 1, 1_000_000 + place as u64, frame));
            sections.extend(block(order, 5, &[0; 20]));
        }
        sections.extend(simple(order, &frames()[0]));
        sections.extend(section(order));
        files.extend([file, sections]);
    }
    files
}

fn frames() -> Vec<Vec<u8>> {
    let mut extended = ipv6((1, 7), (2, 8), 44, 3, 40);
    extended[40] = 17;
    vec![
        tcp((1, 4000), (2, 80), 10),
        ethernet(IPV6, &[3, 4], &ipv6((1, 7), (2, 8), 17, 46, 60)),
        ethernet(IPV6, &[], &extended),
        ethernet(0x0806, &[], &[0; 28]),
    ]
}

/// What a damaged file may contain in place of a word: bounds and what is just beyond.
const WORDS: [u32; 12] =
    [0, 1, 3, 4, 12, 28, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, 0xffff_ffff, 0x0a0d_0d0a];

#[derive(Clone, Debug)]
enum Damage {
    Byte(usize, u8),
    Word(usize, usize, bool),
    Cut(usize),
    Drop(usize, usize),
    Repeat(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = 0_usize..2000;
    prop_oneof![
        (place.clone(), any::<u8>()).prop_map(|(place, byte)| Damage::Byte(place, byte)),
        (place.clone(), 0..WORDS.len(), any::<bool>())
            .prop_map(|(place, word, big)| Damage::Word(place, word, big)),
        place.clone().prop_map(Damage::Cut),
        (place.clone(), 1_usize..64).prop_map(|(place, count)| Damage::Drop(place, count)),
        (place, 1_usize..200).prop_map(|(place, count)| Damage::Repeat(place, count)),
    ]
}

fn damaged(mut file: Vec<u8>, damage: &Damage) -> Vec<u8> {
    let length = file.len().max(1);
    match *damage {
        Damage::Byte(place, byte) => {
            if let Some(there) = file.get_mut(place % length) {
                *there = byte;
            }
        }
        Damage::Word(place, word, big) => {
            // On the grid of words, where lengths and magic numbers stand.
            let place = place % length / 4 * 4;
            if let Some(there) = file.get_mut(place..place + 4) {
                there.copy_from_slice(&if big { Big } else { Little }.u32(WORDS[word]));
            }
        }
        Damage::Cut(place) => file.truncate(place % length),
        Damage::Drop(place, count) => {
            let place = (place % length).min(file.len());
            file.drain(place..(place + count).min(file.len()));
        }
        Damage::Repeat(place, count) => {
            let place = (place % length).min(file.len());
            let again = file[place..(place + count).min(file.len())].to_vec();
            file.splice(place..place, again);
        }
    }
    file
}

/// Whatever the file: an end, in order, within what is in the file.
fn check(file: &[u8]) {
    let (rows, summary) = read(file);
    assert!(rows.is_sorted_by_key(|row| row.at));
    let most = rows.iter().map(|row| row.flow + 1).max().unwrap_or(0);
    assert!(most as usize <= rows.len());
    match summary {
        Ok(summary) => {
            assert_eq!(summary.packets, rows.len() as u64);
            assert_eq!(summary.bytes, rows.iter().map(|row| row.size.get()).sum::<u64>());
            assert_eq!((summary.flows, summary.span_ns), (u64::from(most), rows[rows.len() - 1].at.get()));
        }
        Err(error) => {
            assert!(error.byte <= file.len() as u64);
            assert!(!error.to_string().is_empty() && !error.fault.remedy().is_empty());
        }
    }
}

#[test]
fn every_truncation_ends() {
    for file in whole() {
        for end in 0..=file.len() {
            check(&file[..end]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn damaged_files_end(which in 0_usize..4, damages in prop::collection::vec(damage(), 1..6)) {
        check(&damages.iter().fold(whole()[which].clone(), damaged));
    }

    #[test]
    fn noise_behind_a_header_ends(which in 0_usize..4, noise in prop::collection::vec(any::<u8>(), 0..600)) {
        let file = &whole()[which];
        let header = if which % 2 == 0 { 24 } else { 28 };
        check(&[&file[..header], &noise].concat());
    }

    #[test]
    fn noise_in_a_frame_ends(link in 0_usize..6, noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut file = pcap(Little, MICRO, [0, 1, 101, 108, 113, 276][link]);
        file.extend(record(Little, (0, 0), &noise));
        check(&file);
    }
}
