//! Which frames the kernel has: what it gives back is believed only if it had it.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(1) a frame; O(frames) at the end |
//! | Memory | one byte for each frame of the arena |
//! | Units | frames |

use weir_plane::arena::{Arena, Buffer, FRAME};

/// Which frames of the arena the kernel has, of all queues of an interface.
pub(super) struct Held(Vec<bool>);

impl Held {
    /// None held, of `frames` frames.
    pub(super) fn new(frames: u32) -> Self {
        Self(vec![false; frames as usize])
    }

    /// A frame is given to the kernel: where its bytes begin in the arena, and how many they are.
    pub(super) fn hand(&mut self, buffer: Buffer) -> (u64, u32) {
        self.0[buffer.frame() as usize] = true;
        buffer.into_raw()
    }

    /// A frame that the kernel gives back; `None` where it had it not, which the kernel never does.
    pub(super) fn take_back(&mut self, arena: &Arena, address: u64, length: u32) -> Option<Buffer> {
        let buffer = arena.from_raw(address, length)?;
        core::mem::take(&mut self.0[buffer.frame() as usize]).then_some(buffer)
    }

    /// The sockets are closed: what the kernel had is free.
    pub(super) fn give_all(self, arena: &mut Arena) {
        for (frame, _) in self.0.iter().enumerate().filter(|(_, held)| **held) {
            if let Some(buffer) = arena.from_raw(frame as u64 * u64::from(FRAME), 0) {
                arena.give(buffer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_once_and_the_rest_at_the_end() {
        let mut arena = Arena::new(3).expect("memory");
        let mut held = Held::new(arena.frames());
        let (first, second) = (arena.take(0).expect("free"), arena.take(0).expect("free"));
        let (address, _) = held.hand(first);
        let (kept, _) = held.hand(second);
        let back = held.take_back(&arena, address, 60).expect("the kernel had it");
        assert_eq!(back.length(), 60);
        assert_eq!(held.take_back(&arena, address, 60), None, "it came back");
        assert_eq!(held.take_back(&arena, 2 * u64::from(FRAME), 60), None, "it was never given");
        assert_ne!(kept, address);
        arena.give(back);
        held.give_all(&mut arena);
        assert_eq!(arena.free(), 3);
    }
}
