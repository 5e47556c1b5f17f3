//! Where another thread is: its stack, taken by a signal that the thread answers with the addresses of its calls.
//!
//! The handler walks the stack and writes addresses into memory that was set apart before; names are looked up on the
//! thread that asks. On Linux only; elsewhere there is no stack to see.

#[cfg(target_os = "linux")]
pub(crate) use linux::Target;

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Target;

#[cfg(not(target_os = "linux"))]
impl Target {
    pub(crate) fn current() -> Self {
        Self
    }

    pub(crate) fn capture(&self) -> Calls {
        Calls
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug, Default)]
pub(crate) struct Calls;

#[cfg(not(target_os = "linux"))]
impl Calls {
    pub(crate) fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, Once, PoisonError};
    use std::time::{Duration, Instant};

    /// The most calls that are taken.
    const DEPTH: usize = 64;
    /// A thread that does not answer within this is left alone: it is not on a processor, or blocks the signal.
    const PATIENCE: Duration = Duration::from_millis(100);

    /// Who may ask: one at a time.
    static ASKING: Mutex<()> = Mutex::new(());
    /// The addresses, and how many of them; `DEPTH + 1` while they are awaited.
    static CALLS: [AtomicUsize; DEPTH] = [const { AtomicUsize::new(0) }; DEPTH];
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    const AWAITED: usize = DEPTH + 1;
    static HANDLER: Once = Once::new();

    /// A thread.
    #[derive(Debug)]
    pub(crate) struct Target(libc::pid_t);

    fn signal() -> libc::c_int {
        libc::SIGRTMIN() + 7
    }

    extern "C" fn answer(_: libc::c_int) {
        if TAKEN.load(Ordering::Acquire) != AWAITED {
            return;
        }
        let mut count = 0;
        // SAFETY: only this thread walks, since one asks at a time; the walk writes to memory of its own and of `CALLS`.
        unsafe {
            backtrace::trace_unsynchronized(|frame| {
                CALLS[count].store(frame.ip() as usize, Ordering::Relaxed);
                count += 1;
                count < DEPTH
            });
        }
        TAKEN.store(count, Ordering::Release);
    }

    fn install() {
        HANDLER.call_once(|| {
            // What the first walk loads is loaded here, and not in the handler.
            let _ = backtrace::Backtrace::new_unresolved();
            // SAFETY: the structure is whole; the handler does nothing but walk the stack and write numbers.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = answer as extern "C" fn(libc::c_int) as usize;
                action.sa_flags = libc::SA_RESTART;
                libc::sigaction(signal(), &raw const action, std::ptr::null_mut());
            }
        });
    }

    impl Target {
        /// This thread.
        pub(crate) fn current() -> Self {
            install();
            // SAFETY: takes nothing and cannot fail.
            Self(unsafe { libc::gettid() })
        }

        /// The calls that the thread is in, innermost first; empty if it does not answer.
        pub(crate) fn capture(&self) -> Calls {
            let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
            TAKEN.store(AWAITED, Ordering::Release);
            // SAFETY: sends a signal that has a handler to a thread of this process; of one that has ended it does
            // nothing.
            let sent = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), self.0, signal()) };
            let patience = Instant::now() + PATIENCE;
            while sent == 0 && TAKEN.load(Ordering::Acquire) == AWAITED && Instant::now() < patience {
                std::thread::yield_now();
            }
            match TAKEN.swap(0, Ordering::Acquire) {
                AWAITED => Calls::default(),
                count => Calls(CALLS[..count].iter().map(|call| call.load(Ordering::Relaxed)).collect()),
            }
        }
    }

    /// The calls that a thread was in, as addresses; innermost first.
    #[derive(Debug, Default)]
    pub(crate) struct Calls(Vec<usize>);

    impl Calls {
        /// Their names, which may take long to look up.
        pub(crate) fn names(&self) -> Vec<String> {
            names(&self.0)
        }
    }

    /// The names of calls, from the first that is not of the handler's on.
    fn names(calls: &[usize]) -> Vec<String> {
        let mut names = Vec::new();
        for call in calls {
            backtrace::resolve(*call as *mut c_void, |symbol| {
                let Some(name) = symbol.name() else { return };
                let place = symbol.filename().zip(symbol.lineno());
                names.push(match place {
                    Some((file, line)) => format!("{name:#} ({}:{line})", file.display()),
                    None => format!("{name:#}"),
                });
            });
        }
        let own = names.iter().rposition(|name| name.contains("stack::linux::answer"));
        names.drain(..own.map_or(0, |own| own + 1));
        // From the handler's return down to what polls.
        names.retain(|name| !name.starts_with("__restore_rt"));
        let polls = names.iter().position(|name| name.contains("worker::") && name.contains("weir_exec"));
        names.truncate(polls.unwrap_or(names.len()));
        names.truncate(names.iter().rposition(|name| !is_of_the_poll(name)).map_or(0, |last| last + 1));
        names
    }

    /// Whether a call is one of those between the worker and the future of a task.
    fn is_of_the_poll(name: &str) -> bool {
        ["catch_unwind", "do_call", "AssertUnwindSafe", "weir_exec::spawning"]
            .iter()
            .any(|own| name.contains(own))
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::sync::atomic::AtomicBool;
        use std::sync::mpsc;

        #[inline(never)]
        fn computes_for_long(stop: &AtomicBool) {
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        }

        #[test]
        fn a_thread_tells_where_it_is() {
            static STOP: AtomicBool = AtomicBool::new(false);
            let (tell, told) = mpsc::channel();
            let thread = std::thread::spawn(move || {
                tell.send(Target::current()).unwrap();
                computes_for_long(&STOP);
            });
            let target = told.recv().unwrap();
            // It may not have come there yet, or not be on a processor.
            let mut stacks = (0..200).map(|_| {
                std::thread::sleep(Duration::from_millis(1));
                target.capture().names()
            });
            let found = stacks.any(|stack| stack.iter().any(|name| name.contains("computes_for_long")));
            STOP.store(true, Ordering::Relaxed);
            thread.join().unwrap();
            assert!(found);
        }
    }
}
