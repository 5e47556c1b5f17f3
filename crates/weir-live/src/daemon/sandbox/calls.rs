//! The system calls that a daemon makes while it runs; all others fail with EPERM, and the kernel logs them.
//!
//! EPERM and not the end of the process: a libc that comes to call something else costs what it was for, and packets go on.
//! What is logged (`audit: type=1326`) names the call. The list is what the live tests do under strace(1), with what
//! another libc or architecture does instead; sockets are of those families alone that a daemon opens, and no memory
//! becomes code.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// What waits, reads, writes and closes.
const MOVES: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_ioctl,
    libc::SYS_fcntl,
    libc::SYS_dup3,
    libc::SYS_ppoll,
    libc::SYS_eventfd2,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_bind,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
];

/// What reads files, and removes those of a daemon; where it may is up to Landlock.
const FILES: &[libc::c_long] = &[
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_getdents64,
    libc::SYS_readlinkat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_getcwd,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_flock,
];

/// Threads, their memory, their signals and the time.
const THREADS: &[libc::c_long] = &[
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_tgkill,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_membarrier,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
    libc::SYS_prctl,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
];

/// What a daemon asks of the kernel: programs, what it may do, the priority of its threads, what machine it is on.
const KERNEL: &[libc::c_long] = &[
    libc::SYS_bpf,
    libc::SYS_memfd_create,
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_geteuid,
    libc::SYS_getuid,
    libc::SYS_getegid,
    libc::SYS_getgid,
    libc::SYS_prlimit64,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_getparam,
    libc::SYS_uname,
    libc::SYS_sysinfo,
];

/// The same in older forms, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLDER: &[libc::c_long] = &[
    libc::SYS_poll,
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_dup2,
    libc::SYS_time,
    libc::SYS_getrlimit,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[libc::c_long] = &[];

/// The families of the sockets that a daemon opens.
const FAMILIES: [i32; 6] =
    [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET, libc::AF_XDP];

/// A rule that holds where an argument meets a comparison.
fn rule(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)?])
}

/// The filter, and how many calls it lets through.
fn filter() -> Result<(BpfProgram, usize), Error> {
    let plain = [MOVES, FILES, THREADS, KERNEL, OLDER].into_iter().flatten();
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = plain.map(|call| (*call, Vec::new())).collect();
    let of_family = |family: i32| rule(0, SeccompCmpOp::Eq, family as u64);
    rules.insert(libc::SYS_socket, FAMILIES.into_iter().map(of_family).collect::<Result<_, _>>()?);
    let no_code = || rule(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64), 0);
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, vec![no_code()?]);
    }
    let count = rules.len();
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, denied, SeccompAction::Allow, machine)?;
    Ok((filter.try_into()?, count))
}

/// Lets through what is on the list, for this thread and those that it starts; how many calls those are.
pub(super) fn restrict() -> io::Result<usize> {
    let (program, count) = filter().map_err(io::Error::other)?;
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let given = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    // Nothing in this process is written by those whom it is to be kept from, so that speculation need not be held back.
    let flags = libc::SECCOMP_FILTER_FLAG_LOG | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // SAFETY: the program is as long as said, of the structure that the kernel has, and is only read.
    let done =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const given) };
    if done == 0 { Ok(count) } else { Err(io::Error::last_os_error()) }
}
