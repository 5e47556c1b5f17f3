//! A network namespace for a test, and a plain socket at the far end of a wire.
//!
//! The namespace belongs to the test's thread and vanishes with it, whichever way the test ends.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Runs a test in a network namespace of its own, in which interfaces have no IPv6 of their own; prints why it does not
/// where that is not possible.
pub(crate) fn isolated(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(|| match enter() {
        Ok(()) => test(),
        Err(why) => eprintln!("skipped: {why}"),
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn enter() -> Result<(), String> {
    // SAFETY: changes the network namespace of this thread alone.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        return Err(format!(
            "no network namespace of its own ({}), which needs root",
            io::Error::last_os_error()
        ));
    }
    for version in ["all", "default"] {
        // The path is of this thread's namespace.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{version}/disable_ipv6"), "1");
    }
    let tried = Command::new("ip").args(["link", "add", "weir-try", "type", "veth"]).output();
    match tried {
        Ok(output) if output.status.success() => run("ip link del weir-try"),
        Ok(output) => {
            return Err(format!("no veth here: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        Err(error) => return Err(format!("no `ip` here: {error}")),
    }
    Ok(())
}

/// Mounts an empty file system for BPF objects that only this thread sees.
pub(crate) fn own_bpf_files() {
    // SAFETY: changes the mount namespace of this thread alone.
    let left = unsafe { libc::unshare(libc::CLONE_NEWNS) };
    assert_eq!(left, 0, "{}", io::Error::last_os_error());
    run("mount --make-rprivate /");
    run("mount -t bpf bpf /sys/fs/bpf");
}

/// Runs a command, which must succeed, in the namespace of this thread.
#[track_caller]
pub(crate) fn run(line: &str) {
    let output = output(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a command in the namespace of this thread.
#[track_caller]
pub(crate) fn output(line: &str) -> Output {
    let mut words = line.split(' ');
    let program = words.next().expect("a program");
    Command::new(program).args(words).output().unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// A pair of interfaces that are up: what one sends the other receives.
#[track_caller]
pub(crate) fn wire(one: &str, other: &str) {
    run(&format!("ip link add {one} type veth peer name {other}"));
    run(&format!("ip link set {one} up"));
    run(&format!("ip link set {other} up"));
    until_up(one);
    until_up(other);
}

/// Waits until frames pass an interface: the kernel takes its time, and drops them meanwhile.
#[track_caller]
pub(crate) fn until_up(name: &str) {
    until(|| {
        String::from_utf8_lossy(&output(&format!("ip -o link show {name}")).stdout).contains("state UP")
    });
    // It is said a moment before it is so.
    std::thread::sleep(Duration::from_millis(20));
}

/// Within this what must happen has happened, on however busy a machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// Waits for what comes about in a while.
#[track_caller]
pub(crate) fn until(mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < LIMIT, "it never came about");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A plain AF_PACKET socket, which knows nothing of what is tested.
pub(crate) struct Raw {
    socket: OwnedFd,
}

impl Raw {
    /// On the interface of this name; receiving waits this long.
    #[track_caller]
    pub(crate) fn open(interface: &str, patience: Duration) -> Self {
        let name = std::ffi::CString::new(interface).expect("no zero inside");
        let every = (libc::ETH_P_ALL as u16).to_be();
        // SAFETY: plain system calls, whose results are checked; structures are plain data, for which zeros are valid.
        unsafe {
            let index = libc::if_nametoindex(name.as_ptr());
            assert_ne!(index, 0, "no interface {interface}");
            let socket = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0);
            assert!(socket >= 0, "{}", io::Error::last_os_error());
            let socket = OwnedFd::from_raw_fd(socket);
            let patience = libc::timeval { tv_sec: 0, tv_usec: patience.as_micros() as _ };
            let one: i32 = 1;
            let mut address: libc::sockaddr_ll = core::mem::zeroed();
            address.sll_family = libc::AF_PACKET as u16;
            address.sll_protocol = every;
            address.sll_ifindex = index as i32;
            set(&socket, libc::SOL_SOCKET, libc::SO_RCVTIMEO, &patience);
            set(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &one);
            set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &(8i32 << 20));
            let length = size_of_val(&address) as u32;
            let bound = libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length);
            assert_eq!(bound, 0, "{}", io::Error::last_os_error());
            Self { socket }
        }
    }

    /// Sends a whole frame.
    #[track_caller]
    pub(crate) fn send(&self, frame: &[u8]) {
        // SAFETY: the bytes are read during the call alone.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        assert_eq!(sent, frame.len() as isize, "{}", io::Error::last_os_error());
    }

    /// The next frame; `None` where none comes for as long as it waits.
    pub(crate) fn receive(&self) -> Option<Vec<u8>> {
        let mut frame = vec![0; 9000];
        // SAFETY: at most as many bytes are written as the buffer has.
        let got = unsafe { libc::recv(self.socket.as_raw_fd(), frame.as_mut_ptr().cast(), frame.len(), 0) };
        let got = usize::try_from(got).ok()?;
        frame.truncate(got);
        Some(frame)
    }

    /// Takes `count` frames, or those that came before too long had passed.
    pub(crate) fn take(&self, count: usize) -> Vec<Vec<u8>> {
        let (mut frames, began) = (Vec::new(), Instant::now());
        while frames.len() < count && began.elapsed() < LIMIT {
            frames.extend(self.receive());
        }
        frames
    }

    /// All frames, until none comes for as long as it waits.
    pub(crate) fn all(&self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.receive()).collect()
    }
}

fn set<T>(socket: &OwnedFd, level: i32, option: i32, value: &T) {
    let length = size_of::<T>() as u32;
    // SAFETY: the value is plain data, `length` bytes long.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, core::ptr::from_ref(value).cast(), length)
    };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}

/// A frame of 64 bytes with UDP over IPv4 to this address, with a number in it.
pub(crate) fn udp(to: [u8; 4], number: u32) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    frame.extend([0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1]);
    frame.extend(to);
    frame.extend([0x23, 0x28, 0x23, 0x29, 0, 30, 0, 0]);
    frame.extend(number.to_be_bytes());
    frame.resize(64, 0);
    frame
}
