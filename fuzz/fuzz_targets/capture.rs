//! Packet captures: rows are in order, flows are numbered as they appear, and the summary counts them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_capture::read;

fuzz_target!(|bytes: &[u8]| {
    let (mut packets, mut sum, mut flows, mut last) = (0, 0, 0, None);
    let result = read(bytes, 4, &mut |row| {
        assert!(last <= Some(row.at) && row.flow <= flows);
        packets += 1;
        sum += row.size.get();
        flows = flows.max(row.flow + 1);
        last = Some(row.at);
        Ok(())
    });
    match result {
        Ok(summary) => {
            assert_eq!((summary.packets, summary.bytes, summary.flows), (packets, sum, u64::from(flows)));
            assert!(summary.frames >= packets && summary.largest.len() == flows.min(4) as usize);
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.fault.remedy().is_empty()),
    }
});
