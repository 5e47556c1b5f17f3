//! Probes that would change something, in a thread that has a network namespace of its own.
//!
//! | | |
//! |-|-|
//! | Source | unshare(2), rtnetlink(7); Linux, include/uapi/linux/rtnetlink.h, if_link.h, pkt_sched.h |

use std::ffi::CStr;
use std::io;

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};

const NLMSG_ERROR: u16 = 2;
const RTM_NEWLINK: u16 = 16;
const RTM_NEWQDISC: u16 = 36;
/// A request that is answered, makes what is not there and replaces what is.
const FLAGS: u16 = 0x1 | 0x4 | 0x100 | 0x400;
const IFLA_LINKINFO: u16 = 18;
const NESTED: u16 = 1 << 15;
/// `IFLA_INFO_KIND` and `TCA_KIND`.
const KIND: u16 = 1;
const TC_H_ROOT: u32 = 0xffff_ffff;
const TC_H_CLSACT: u32 = 0xffff_fff1;
/// The handle that ingress disciplines must have.
const INGRESS: u32 = 0xffff_0000;

/// Does something in a thread of its own, so that what it changes of its thread ends with it.
pub(super) fn aside<T: Send>(act: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| scope.spawn(act).join().ok())
}

/// Does something in a network namespace of its own; `None` where none can be made.
pub(super) fn in_namespace<T: Send>(act: impl FnOnce() -> T + Send) -> Option<T> {
    aside(|| {
        // SAFETY: the flag takes no pointer, and the thread ends with this scope.
        let made = unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0;
        made.then(act)
    })?
}

/// Whether the kernel loads an XDP program that runs at the queue of a processor.
pub(super) fn serves_queues() -> bool {
    loads(libbpf_sys::BPF_PROG_TYPE_XDP, libbpf_sys::BPF_XDP_CPUMAP, 0)
}

/// Whether the kernel loads a program at one of its tracepoints, by the types of its arguments.
pub(super) fn traces(tracepoint: &CStr) -> bool {
    let at = libbpf_sys::BPF_TRACE_RAW_TP;
    // SAFETY: the name ends in zero.
    let id = unsafe { libbpf_sys::libbpf_find_vmlinux_btf_id(tracepoint.as_ptr(), at) };
    u32::try_from(id).is_ok_and(|id| id > 0 && loads(libbpf_sys::BPF_PROG_TYPE_TRACING, at, id))
}

/// Whether the kernel loads a program of this type that is to be attached so, to this type of its own.
fn loads(kind: libbpf_sys::bpf_prog_type, attach: libbpf_sys::bpf_attach_type, to: u32) -> bool {
    let instruction = |code: u8, value: i32| {
        let mut made = libbpf_sys::bpf_insn { code, imm: value, ..libbpf_sys::bpf_insn::default() };
        made.set_dst_reg(0);
        made
    };
    // r0 = 0; exit.
    let program = [instruction(0xb7, 0), instruction(0x95, 0)];
    let mut options = libbpf_sys::bpf_prog_load_opts {
        sz: size_of::<libbpf_sys::bpf_prog_load_opts>() as _,
        expected_attach_type: attach,
        attach_btf_id: to,
        ..Default::default()
    };
    // SAFETY: name and licence end in zero; the program is as long as said, and all outlive the call.
    let loaded = unsafe {
        libbpf_sys::bpf_prog_load(
            kind,
            c"weir_probe".as_ptr(),
            c"GPL".as_ptr(),
            program.as_ptr(),
            program.len() as _,
            &raw mut options,
        )
    };
    crate::io::link::owned(loaded).is_ok()
}

/// Whether a pair of virtual Ethernet interfaces can be made in this namespace.
pub(super) fn has_veth() -> io::Result<bool> {
    let info = attribute(IFLA_LINKINFO | NESTED, &attribute(KIND, b"veth"));
    let mut body = vec![0; 16];
    body.extend(info);
    Ok(!matches!(ask(RTM_NEWLINK, &body)?, Some(Errno::OPNOTSUPP)))
}

/// Whether the kernel has a queueing discipline, tried at the loopback interface of this namespace.
pub(super) fn has_qdisc(name: &str) -> io::Result<bool> {
    let (parent, handle) = if name == "clsact" { (TC_H_CLSACT, INGRESS) } else { (TC_H_ROOT, 0) };
    let loopback: i32 = 1;
    let mut body = vec![0; 4];
    body.extend(loopback.to_ne_bytes());
    body.extend(handle.to_ne_bytes());
    body.extend(parent.to_ne_bytes());
    body.extend([0; 4]);
    body.extend(attribute(KIND, name.as_bytes()));
    // One that is known may still miss its options.
    Ok(!matches!(ask(RTM_NEWQDISC, &body)?, Some(Errno::NOENT | Errno::OPNOTSUPP)))
}

/// An attribute, with a zero behind text and padded to four bytes.
fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
    let nul = usize::from(kind & NESTED == 0);
    let length = 4 + content.len() + nul;
    let mut bytes = Vec::with_capacity(length.next_multiple_of(4));
    bytes.extend((length as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(content);
    bytes.resize(length.next_multiple_of(4), 0);
    bytes
}

/// Sends one request; what the kernel had against it.
fn ask(kind: u16, body: &[u8]) -> io::Result<Option<Errno>> {
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    let mut message = Vec::with_capacity(16 + body.len());
    message.extend((16 + body.len() as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 4096];
    let (count, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    let answer = &answer[..count.min(answer.len())];
    match (answer.get(4..6), answer.get(16..20)) {
        (Some(kind), Some(error)) if kind == NLMSG_ERROR.to_ne_bytes() => {
            let number = i32::from_ne_bytes([error[0], error[1], error[2], error[3]]);
            Ok((number != 0).then(|| Errno::from_raw_os_error(-number)))
        }
        _ => Err(io::Error::other("the kernel answered something else")),
    }
}
