//! Damaged, cut, foreign and empty files.

use weir_recording::{Bursts, Facts, Fault, Kind, RecordingError, read};

use crate::samples::{add, begin, events, whole};

fn reading(file: &[u8]) -> Result<(Facts, usize), RecordingError> {
    let (mut heard, mut bursts) = (0, Bursts::up_to(100));
    let facts = read(file, &mut |worker, event, _| {
        heard += 1;
        bursts.hear(worker, event);
    })?;
    bursts.finish(facts.tasks.len());
    let _ = bursts.costs.medians();
    Ok((facts, heard))
}

fn fault(file: &[u8]) -> (u64, Fault) {
    let error = reading(file).expect_err("it is refused");
    (error.byte, error.fault)
}

#[test]
fn what_is_no_recording_is_refused() {
    assert_eq!(fault(b""), (0, Fault::Empty));
    assert_eq!(fault(b"task,wake,run\n"), (0, Fault::Foreign));
    assert_eq!(fault(b"weir"), (0, Fault::Foreign));
    assert_eq!(fault(b"weirexec\x02"), (0, Fault::Version(2)));
    assert_eq!(fault(b"weirexec\x01"), (9, Fault::Truncated));
    let mut file = begin(1)[..9].to_vec();
    add(&mut file, Kind::End, &[0]);
    assert_eq!(fault(&file), (9, Fault::Head));
}

#[test]
fn a_file_that_is_cut_anywhere_is_read_up_to_there() {
    let file = whole();
    let mut most = 0;
    for cut in begin(1).len()..file.len() {
        let (facts, heard) = reading(&file[..cut]).expect("the head is there");
        assert!(!facts.is_whole && heard >= most && heard <= events().len());
        assert!(
            facts.damage.is_none_or(|damage| damage.fault == Fault::Truncated && damage.byte <= cut as u64)
        );
        most = heard;
    }
    assert_eq!(most, events().len());
}

#[test]
fn a_changed_bit_anywhere_is_noticed() {
    let file = whole();
    for place in 0..file.len() {
        for bit in 0..8 {
            let mut other = file.clone();
            other[place] ^= 1 << bit;
            match reading(&other) {
                Err(error) => assert!(error.byte <= place as u64),
                Ok((facts, _)) => {
                    let damage = facts.damage.expect("the sum is another");
                    assert!(damage.byte <= place as u64 && !facts.is_whole);
                }
            }
        }
    }
}

#[test]
fn blocks_whose_sums_hold_may_hold_anything() {
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let sample = whole();
    for _ in 0..5_000 {
        let mut file = begin(1 + random(3) as u32);
        for _ in 0..random(5) {
            let kind = [Kind::Tasks, Kind::Events, Kind::End, Kind::Head][random(4) as usize];
            let start = begin(1).len() + random(40) as usize;
            let mut held = sample[start..start + random(200) as usize].to_vec();
            for _ in 0..random(4) {
                let place = random(held.len().max(1) as u64) as usize;
                if let Some(byte) = held.get_mut(place) {
                    *byte = [0, 1, 0x7f, 0x80, 0xff, random(256) as u8][random(6) as usize];
                }
            }
            add(&mut file, kind, &held);
        }
        drop(reading(&file));
    }
}
