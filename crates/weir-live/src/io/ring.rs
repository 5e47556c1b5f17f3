//! The rings through which an AF_XDP socket and the kernel hand each other frames: one writes, one reads.
//!
//! Both indices only grow and wrap at 2^32; the place of an entry is the index modulo the size, a power of two. The
//! writer's index is stored after the entries (release) and read before them (acquire), and the same the other way for
//! the places that the reader has freed. Each side keeps a copy of its own index, which the other cannot change, and of
//! the other's as it last saw it, so that a batch costs one load and one store of shared memory.
//!
//! | | |
//! |-|-|
//! | Source | Linux, Documentation/networking/af_xdp.rst and net/xdp/xsk_queue.h |
//! | Work | O(1) an entry; no system call |
//! | Units | entries |

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use std::io;
use std::os::fd::BorrowedFd;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The kernel asks to be notified of new entries.
const NEED_WAKEUP: u32 = 1;

/// Where the parts of a ring lie in its mapping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The writer's index, in bytes from the beginning.
    pub(crate) producer: u64,
    /// The reader's index.
    pub(crate) consumer: u64,
    /// What the kernel asks for.
    pub(crate) flags: u64,
    /// The entries.
    pub(crate) entries: u64,
}

/// Shared memory with a ring in it.
#[derive(Debug)]
struct Shared<T> {
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    flags: NonNull<AtomicU32>,
    entries: NonNull<T>,
    size: u32,
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is owned; what it holds is plain data, reached through atomics or by whose turn it is.
unsafe impl<T: Copy + Send> Send for Shared<T> {}

impl<T: Copy> Shared<T> {
    fn map(socket: BorrowedFd<'_>, page: u64, size: u32, layout: Layout) -> io::Result<Self> {
        assert!(size.is_power_of_two());
        let bytes = layout.entries as usize + size as usize * size_of::<T>();
        // SAFETY: a new mapping, at an address that the kernel chooses, aliases nothing.
        let base = unsafe {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            mmap(
                core::ptr::null_mut(),
                bytes,
                protection,
                MapFlags::SHARED | MapFlags::POPULATE,
                socket,
                page,
            )?
        };
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(|| io::Error::other("mapped at zero"))?;
        // SAFETY: the kernel says that these places are in the mapping of this ring, and aligned.
        unsafe {
            Ok(Self {
                producer: base.add(layout.producer as usize).cast(),
                consumer: base.add(layout.consumer as usize).cast(),
                flags: base.add(layout.flags as usize).cast(),
                entries: base.add(layout.entries as usize).cast(),
                size,
                base,
                bytes,
            })
        }
    }

    fn producer(&self) -> &AtomicU32 {
        // SAFETY: it points into the mapping, which lives as long as `self`.
        unsafe { self.producer.as_ref() }
    }

    fn consumer(&self) -> &AtomicU32 {
        // SAFETY: as in `producer`.
        unsafe { self.consumer.as_ref() }
    }

    fn needs_wakeup(&self) -> bool {
        // SAFETY: as in `producer`.
        unsafe { self.flags.as_ref() }.load(Ordering::Relaxed) & NEED_WAKEUP != 0
    }

    fn place(&self, index: u32) -> NonNull<T> {
        // SAFETY: masked by the size, it is one of the entries.
        unsafe { self.entries.add((index & (self.size - 1)) as usize) }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `map`, and no reference into it outlives this.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// A ring that we write and the kernel reads.
#[derive(Debug)]
pub(crate) struct Writer<T> {
    shared: Shared<T>,
    /// Where the next entry goes.
    next: u32,
    /// How far the kernel had read.
    read: u32,
}

impl<T: Copy> Writer<T> {
    /// Maps the ring of `size` entries at this page of a socket.
    pub(crate) fn map(socket: BorrowedFd<'_>, page: u64, size: u32, layout: Layout) -> io::Result<Self> {
        let shared = Shared::map(socket, page, size, layout)?;
        let next = shared.producer().load(Ordering::Relaxed);
        Ok(Self { next, read: next, shared })
    }

    /// How many entries there is room for.
    #[inline]
    pub(crate) fn room(&mut self) -> u32 {
        self.read = self.shared.consumer().load(Ordering::Acquire);
        self.known_room()
    }

    fn known_room(&self) -> u32 {
        self.shared.size.saturating_sub(self.next.wrapping_sub(self.read))
    }

    /// Writes an entry, which the kernel sees at [`Self::publish`]; `false` where there is no room.
    #[inline]
    pub(crate) fn push(&mut self, entry: T) -> bool {
        if self.known_room() == 0 && self.room() == 0 {
            return false;
        }
        // SAFETY: the place is one of the entries, and the kernel does not read it before it is published.
        unsafe { self.shared.place(self.next).write(entry) };
        self.next = self.next.wrapping_add(1);
        true
    }

    /// Shows the kernel all that was written.
    #[inline]
    pub(crate) fn publish(&self) {
        self.shared.producer().store(self.next, Ordering::Release);
    }

    /// How many published entries the kernel has not read yet.
    #[inline]
    pub(crate) fn unread(&self) -> u32 {
        let read = self.shared.consumer().load(Ordering::Acquire);
        self.shared.producer().load(Ordering::Relaxed).wrapping_sub(read).min(self.shared.size)
    }

    /// Whether the kernel asks to be notified of new entries.
    #[inline]
    pub(crate) fn needs_wakeup(&self) -> bool {
        self.shared.needs_wakeup()
    }
}

/// A ring that the kernel writes and we read.
#[derive(Debug)]
pub(crate) struct Reader<T> {
    shared: Shared<T>,
    /// Where the next entry is.
    next: u32,
}

impl<T: Copy> Reader<T> {
    /// Maps the ring of `size` entries at this page of a socket.
    pub(crate) fn map(socket: BorrowedFd<'_>, page: u64, size: u32, layout: Layout) -> io::Result<Self> {
        let shared = Shared::map(socket, page, size, layout)?;
        let next = shared.consumer().load(Ordering::Relaxed);
        Ok(Self { next, shared })
    }

    /// How many entries there are to read.
    #[inline]
    pub(crate) fn ready(&self) -> u32 {
        self.shared.producer().load(Ordering::Acquire).wrapping_sub(self.next).min(self.shared.size)
    }

    /// Hands the next `count` entries, at most as many as [`Self::ready`] has just said, to `take`, and frees their
    /// places.
    #[inline]
    pub(crate) fn read(&mut self, count: u32, mut take: impl FnMut(T)) {
        if count == 0 {
            return;
        }
        for step in 0..count {
            // SAFETY: the place is one of the entries, and the kernel does not write it before it is freed.
            take(unsafe { self.shared.place(self.next.wrapping_add(step)).read() });
        }
        self.next = self.next.wrapping_add(count);
        self.shared.consumer().store(self.next, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    const LAYOUT: Layout = Layout { producer: 0, consumer: 64, flags: 128, entries: 192 };

    /// Both ends of a ring in memory that is no socket's, its indices just before they wrap.
    fn ends(size: u32) -> (Writer<u64>, Reader<u64>) {
        let file =
            rustix::fs::memfd_create("ring", rustix::fs::MemfdFlags::CLOEXEC).expect("a file in memory");
        rustix::fs::ftruncate(&file, 4096).expect("a page");
        let start = (u32::MAX - 2).to_ne_bytes();
        rustix::io::pwrite(&file, &start, LAYOUT.producer).expect("written");
        rustix::io::pwrite(&file, &start, LAYOUT.consumer).expect("written");
        let writer = Writer::map(file.as_fd(), 0, size, LAYOUT).expect("mapped");
        (writer, Reader::map(file.as_fd(), 0, size, LAYOUT).expect("mapped"))
    }

    #[test]
    fn entries_come_out_in_order_while_the_indices_wrap() {
        let (mut writer, mut reader) = ends(4);
        let mut expected = 0;
        for round in 0..20u64 {
            let count = round % 4 + 1;
            for entry in 0..count {
                assert!(writer.push(expected + entry));
            }
            assert_eq!(reader.ready(), 0, "nothing is seen before it is published");
            writer.publish();
            assert_eq!((u64::from(writer.unread()), u64::from(reader.ready())), (count, count));
            reader.read(count as u32, |entry| {
                assert_eq!(entry, expected);
                expected += 1;
            });
            assert_eq!((writer.unread(), writer.room()), (0, 4));
        }
    }

    #[test]
    fn a_full_ring_takes_nothing_until_an_entry_is_read() {
        let (mut writer, mut reader) = ends(2);
        assert!(writer.push(1) && writer.push(2) && !writer.push(3));
        writer.publish();
        reader.read(1, |entry| assert_eq!(entry, 1));
        assert!(writer.push(3) && !writer.push(4));
        writer.publish();
        let mut rest = Vec::new();
        reader.read(reader.ready(), |entry| rest.push(entry));
        assert_eq!(rest, [2, 3]);
    }

    #[test]
    fn an_index_that_cannot_be_gives_at_most_the_whole_ring() {
        let (writer, reader) = ends(2);
        writer.shared.producer().store(77, Ordering::Relaxed);
        assert_eq!((reader.ready(), writer.unread()), (2, 2));
    }

    #[test]
    fn the_kernel_asks_to_be_told() {
        let (writer, _reader) = ends(2);
        assert!(!writer.needs_wakeup());
        // SAFETY: a place of the mapping.
        unsafe { writer.shared.flags.as_ref() }.store(NEED_WAKEUP, Ordering::Relaxed);
        assert!(writer.needs_wakeup());
    }
}
