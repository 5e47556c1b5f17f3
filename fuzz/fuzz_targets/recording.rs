//! Recordings of weir-exec: what is read has times in bounds, and a file that is read to its end has no damage.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_recording::{Bursts, read};

fuzz_target!(|bytes: &[u8]| {
    let mut bursts = Bursts::up_to(10_000);
    let mut events = 0;
    let told = read(bytes, &mut |worker, event, _| {
        events += 1;
        bursts.hear(worker, event);
    });
    match told {
        Err(error) => assert!(error.byte <= bytes.len() as u64 && !error.to_string().is_empty()),
        Ok(facts) => {
            bursts.finish(facts.tasks.len());
            assert_eq!(facts.events, events);
            assert_eq!(bursts.tasks.len(), facts.tasks.len());
            for burst in bursts.tasks.iter().flat_map(|did| &did.bursts) {
                assert!(burst.wake <= burst.done && burst.done <= facts.until);
            }
            let _ = bursts.costs.medians();
        }
    }
});
