//! The header of the steering programs on the host: reads no byte beyond a frame, and says of it what is possible.
//!
//! The input is a setup and a frame: a byte says which traffic is ours, one which rule makes the class, one its offset;
//! the rest is the frame. What is read beyond it is memory that nobody may read.

#![no_main]

use libfuzzer_sys::fuzz_target;

unsafe extern "C" {
    /// What the header says of a frame: its kind, its flow, its class, and where its payload begins.
    fn weir_steer_parse(
        frame: *const u8,
        length: usize,
        traffic: u32,
        rule: u32,
        offset: u32,
        said: *mut [u32; 4],
    );
    /// Turns a frame round; whether it did.
    fn weir_steer_turn_round(frame: *mut u8, length: usize) -> i32;
    /// Completes the checksums of a frame that were left to a device; whether there was one.
    fn weir_steer_complete(frame: *mut u8, length: usize) -> i32;
}

fuzz_target!(|input: &[u8]| {
    let [traffic, rule, offset, frame @ ..] = input else { return };
    let mut frame = frame.to_vec();
    let mut said = [0; 4];
    // SAFETY: the memory is as long as is said, and lives through the calls.
    let turned = unsafe {
        let (traffic, rule, offset) = ((traffic % 3).into(), (rule % 4).into(), (*offset).into());
        weir_steer_parse(frame.as_ptr(), frame.len(), traffic, rule, offset, &raw mut said);
        weir_steer_turn_round(frame.as_mut_ptr(), frame.len())
    };
    let [kind, _, class, payload] = said;
    assert!((kind < 4 || kind == 6) && class < 2 && payload as usize <= frame.len());
    // What was turned round is a datagram as before.
    // SAFETY: as above.
    let back = unsafe { weir_steer_turn_round(frame.as_mut_ptr(), frame.len()) };
    assert_eq!(turned, back);
    // SAFETY: as above; it writes into the frame alone.
    unsafe { weir_steer_complete(frame.as_mut_ptr(), frame.len()) };
});
