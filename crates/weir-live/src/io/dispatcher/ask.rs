//! What the kernel says of programs by number, and how one becomes that of an interface.
//!
//! | | |
//! |-|-|
//! | Source | bpf(2); rtnetlink, `IFLA_XDP` |
//! | Work | a few system calls each |

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use crate::io::attach::{Mode, positive};
use crate::io::link::{checked, owned};

/// What the kernel says of a program.
pub(super) struct About {
    pub(super) id: u32,
    /// The first 15 characters.
    pub(super) name: String,
    /// The number of its map, if it has exactly one.
    pub(super) map: Option<u32>,
}

/// Asks about a program.
pub(super) fn about(program: BorrowedFd<'_>) -> io::Result<About> {
    let mut map = 0_u32;
    let mut info =
        libbpf_sys::bpf_prog_info { nr_map_ids: 1, map_ids: (&raw mut map) as u64, ..Default::default() };
    let mut length = size_of_val(&info) as u32;
    // SAFETY: the kernel writes at most `length` bytes of plain data, and one number to the map's place.
    checked(positive(unsafe {
        libbpf_sys::bpf_prog_get_info_by_fd(program.as_raw_fd(), &raw mut info, &raw mut length)
    }))?;
    let name: Vec<u8> = info.name.iter().map(|&letter| letter as u8).take_while(|&it| it != 0).collect();
    let name = String::from_utf8_lossy(&name).into_owned();
    Ok(About { id: info.id, name, map: (info.nr_map_ids == 1).then_some(map) })
}

/// The program of this number.
pub(super) fn program(id: u32) -> io::Result<OwnedFd> {
    // SAFETY: a plain system call, whose result is checked.
    owned(positive(unsafe { libbpf_sys::bpf_prog_get_fd_by_id(id) }))
}

/// The only value of a map that programs cannot write; nothing where it is another.
pub(super) fn constant(id: u32) -> io::Result<Option<Vec<u8>>> {
    // SAFETY: a plain system call, whose result is checked.
    let map = owned(positive(unsafe { libbpf_sys::bpf_map_get_fd_by_id(id) }))?;
    let mut info = libbpf_sys::bpf_map_info::default();
    let mut length = size_of_val(&info) as u32;
    // SAFETY: the kernel writes at most `length` bytes of plain data.
    checked(positive(unsafe {
        libbpf_sys::bpf_map_get_info_by_fd(map.as_raw_fd(), &raw mut info, &raw mut length)
    }))?;
    let is_constant = info.map_flags & libbpf_sys::BPF_F_RDONLY_PROG != 0;
    if info.key_size != 4 || info.max_entries != 1 || !is_constant {
        return Ok(None);
    }
    let (key, mut value) = (0_u32, vec![0_u8; info.value_size as usize]);
    let (at, to) = ((&raw const key).cast(), value.as_mut_ptr().cast());
    // SAFETY: key and value are as long as the map says.
    checked(positive(unsafe { libbpf_sys::bpf_map_lookup_elem(map.as_raw_fd(), at, to) }))?;
    Ok(Some(value))
}

/// The program of an interface, and where it runs.
pub(super) fn attached(interface: u32) -> io::Result<Option<(u32, Mode)>> {
    let mut answer = libbpf_sys::bpf_xdp_query_opts {
        sz: size_of::<libbpf_sys::bpf_xdp_query_opts>() as _,
        ..Default::default()
    };
    // SAFETY: the answer lives through the call, and says how long it is.
    let asked = unsafe { libbpf_sys::bpf_xdp_query(interface as i32, 0, &raw mut answer) };
    if asked < 0 {
        return Err(io::Error::from_raw_os_error(-asked));
    }
    Ok(match u32::from(answer.attach_mode) {
        libbpf_sys::XDP_ATTACHED_NONE => None,
        libbpf_sys::XDP_ATTACHED_SKB => Some((answer.prog_id, Mode::Generic)),
        libbpf_sys::XDP_ATTACHED_MULTI => Some((answer.drv_prog_id, Mode::Driver)),
        _ => Some((answer.prog_id, Mode::Driver)),
    })
}

fn flags(mode: Mode) -> u32 {
    match mode {
        Mode::Driver => libbpf_sys::XDP_FLAGS_DRV_MODE,
        Mode::Generic => libbpf_sys::XDP_FLAGS_SKB_MODE,
    }
}

/// Makes a program that of an interface, in the place of `old`, or of none.
///
/// # Errors
/// `EBUSY` or `EEXIST`: it has another program than `old` by now.
pub(super) fn attach(
    interface: u32,
    program: BorrowedFd<'_>,
    old: Option<BorrowedFd<'_>>,
    mode: Mode,
) -> io::Result<()> {
    let fresh = if old.is_none() { libbpf_sys::XDP_FLAGS_UPDATE_IF_NOEXIST } else { 0 };
    set(interface, program.as_raw_fd(), old, flags(mode) | fresh)
}

/// Takes a program off an interface.
pub(super) fn detach(interface: u32, old: BorrowedFd<'_>, mode: Mode) -> io::Result<()> {
    set(interface, -1, Some(old), flags(mode))
}

fn set(interface: u32, program: i32, old: Option<BorrowedFd<'_>>, flags: u32) -> io::Result<()> {
    let options = libbpf_sys::bpf_xdp_attach_opts {
        sz: size_of::<libbpf_sys::bpf_xdp_attach_opts>() as _,
        old_prog_fd: old.map_or(0, |old| old.as_raw_fd()),
        ..Default::default()
    };
    // SAFETY: the options live through the call, and say how long they are.
    let done = unsafe { libbpf_sys::bpf_xdp_attach(interface as i32, program, flags, &raw const options) };
    if done < 0 { Err(io::Error::from_raw_os_error(-done)) } else { Ok(()) }
}
