//! A map of the programs as memory that the daemon sees, so that reading it takes no system call.
//!
//! | | |
//! |-|-|
//! | Source | bpf(2), `BPF_F_MMAPABLE` |
//! | Work | one system call when it is opened |
//! | Units | bytes |

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use std::io;
use std::os::fd::AsFd;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A number of values of a map, in memory.
pub(super) struct Shared<T> {
    at: NonNull<T>,
    count: usize,
    _values: PhantomData<T>,
}

// SAFETY: the memory belongs to this alone, and moves with it; what the programs write there is atomic.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> Shared<T> {
    /// The memory of an array map.
    ///
    /// # Errors
    /// The system refuses.
    ///
    /// # Safety
    /// The map can be mapped and holds `count` values, whose type is valid for any bytes; what the programs write of them
    /// is atomic in the type.
    pub(super) unsafe fn new(map: impl AsFd, count: usize) -> io::Result<Self> {
        let (length, protection) = (count * size_of::<T>(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: no address is asked for, so that nothing that is mapped is replaced.
        let at = unsafe { mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, map, 0)? };
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { at, count, _values: PhantomData })
    }

    /// The values.
    pub(super) fn values(&self) -> &[T] {
        // SAFETY: by the contract of `new`; what the programs write is atomic.
        unsafe { core::slice::from_raw_parts(self.at.as_ptr(), self.count) }
    }

    /// The first value.
    pub(super) fn first(&self) -> NonNull<T> {
        self.at
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: this was mapped by `new`, with this length, and nobody has it any more.
        let unmapped = unsafe { munmap(self.at.as_ptr().cast::<c_void>(), self.count * size_of::<T>()) };
        debug_assert!(unmapped.is_ok());
    }
}
