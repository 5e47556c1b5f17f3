//! What goes from one worker to another: packets, and frames of memory that go home.
//!
//! A lane leads from each worker to each other one, and keeps its order. One that is full takes no packet, which its plane
//! then counts; frames always find room, as a lane has a place for each. A worker that sleeps is woken for packets, and for
//! frames where it has none left to receive into.
//!
//! | | |
//! |-|-|
//! | Source | this project; the lanes are those of the crate rtrb |
//! | Work | O(1) a packet or frame, no system call where the other is awake |
//! | Memory | for each pair of workers 2,048 packets, and a number for each frame of a part |

use core::sync::atomic::{AtomicBool, Ordering, fence};
use std::io;
use std::sync::Arc;

use rtrb::{Consumer, Producer, RingBuffer};
use weir_core::units::Instant;
use weir_plane::arena::{Arena, Stray};
use weir_plane::{Handed, Plane};

use super::bell::Bell;

/// The most packets on the way from one worker to another.
const PACKETS: usize = 2048;

/// How a worker is reached.
#[derive(Debug)]
pub struct Door {
    /// What wakes it.
    pub bell: Bell,
    /// Whether it waits for frames.
    hungry: AtomicBool,
}

/// The ends of a worker.
pub struct Passage {
    /// How it is reached itself.
    pub door: Arc<Door>,
    /// To the others, in their order; to itself nothing.
    out: Vec<Option<Out>>,
    /// From the others.
    from: Vec<From>,
    /// What found no room, for a moment.
    refused: Vec<Handed>,
}

struct Out {
    packets: Producer<Handed>,
    frames: Producer<Stray>,
    door: Arc<Door>,
}

struct From {
    packets: Consumer<Handed>,
    frames: Consumer<Stray>,
}

impl Passage {
    /// Makes the ends of each of `workers` workers that share `frames` frames.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn between(workers: usize, frames: u32) -> io::Result<Vec<Self>> {
        let door = || Ok(Door { bell: Bell::new()?, hungry: AtomicBool::new(false) });
        let doors = (0..workers).map(|_| door().map(Arc::new)).collect::<io::Result<Vec<_>>>()?;
        let end = |door: &Arc<Door>| Self {
            door: Arc::clone(door),
            out: Vec::new(),
            from: Vec::new(),
            refused: Vec::new(),
        };
        let mut ends: Vec<Self> = doors.iter().map(end).collect();
        for from in 0..workers {
            for (to, door) in doors.iter().enumerate() {
                if from == to {
                    ends[from].out.push(None);
                    continue;
                }
                let (packets, to_packets) = RingBuffer::new(PACKETS);
                let (strays, to_strays) = RingBuffer::new(frames as usize);
                ends[from].out.push(Some(Out { packets, frames: strays, door: Arc::clone(door) }));
                ends[to].from.push(From { packets: to_packets, frames: to_strays });
            }
        }
        Ok(ends)
    }

    /// Takes what the others have sent, at most a given number of packets from each. Returns whether there was any packet,
    /// and whether all are taken that waited when this was called.
    pub fn receive(
        &mut self,
        now: Instant,
        plane: &mut Plane,
        arena: &mut Arena,
        most: usize,
    ) -> (bool, bool) {
        let (mut any, mut all) = (false, true);
        for from in &mut self.from {
            while let Ok(stray) = from.frames.pop() {
                arena.come_home(stray);
            }
            let ready = from.packets.slots();
            all &= ready <= most;
            for _ in 0..ready.min(most) {
                let Ok(handed) = from.packets.pop() else { break };
                plane.take(now, handed, arena);
                any = true;
            }
        }
        (any, all)
    }

    /// Sends what the plane has for others, and frames home.
    pub fn send(&mut self, plane: &mut Plane, arena: &mut Arena) {
        for (to, handed) in plane.handed() {
            match self.out[to].as_mut().map(|out| out.packets.push(handed)) {
                Some(Err(rtrb::PushError::Full(handed))) => self.refused.push(handed),
                Some(Ok(())) | None => {}
            }
        }
        self.refused.drain(..).for_each(|handed| plane.refused(handed, arena));
        let mut strays = false;
        while let Some((home, stray)) = arena.stray(self.out.len() as u32) {
            let sent = self.out[home].as_mut().is_some_and(|out| out.frames.push(stray).is_ok());
            debug_assert!(sent, "there is a place for each frame");
            strays = true;
        }
        self.wake(strays);
    }

    /// Wakes those who have something to do.
    fn wake(&self, strays: bool) {
        if strays {
            // As in the bell: either it sees the frames, or this that it waits for them.
            fence(Ordering::SeqCst);
        }
        for out in self.out.iter().flatten() {
            let packets = out.packets.slots() < PACKETS;
            if packets || strays && out.door.hungry.load(Ordering::Relaxed) {
                out.door.bell.ring();
            }
        }
    }

    /// Whether there is nothing to take. Frames are not waited for, unless there are none.
    pub fn is_empty(&self, arena: &Arena) -> bool {
        let hungry = arena.free() == 0;
        self.door.hungry.store(hungry, Ordering::Relaxed);
        if hungry {
            fence(Ordering::SeqCst);
        }
        self.from.iter().all(|from| from.packets.is_empty() && (!hungry || from.frames.is_empty()))
    }
}
