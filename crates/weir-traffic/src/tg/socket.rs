//! Sockets as a script asks for them.
//!
//! | Quality | Here |
//! |---|---|
//! | `ttl`, `tos` | the fields of the IP header of what is sent |
//! | `sndwin`, `rcvwin` | the buffers of the socket; by default those of a UDP socket are 4 MiB, or what the kernel permits |
//! | `mtu` | over TCP the largest segment; over UDP it is the device's |
//! | `average`, `peak`, `interval` | nothing offers them; it is said |
//!
//! | | |
//! |-|-|
//! | Source | TG 2.0; socket(7), ip(7), tcp(7), udp(7) |
//! | Units | bytes; milliseconds |

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::net::sockopt;
use rustix::net::{AddressFamily, SocketType};
use weir_tg::Script;
use weir_tg::script::{Protocol, Quality};

use crate::generator::socket::{enlarge, set, stamp_arrivals};

/// The buffers of a UDP socket for which the script says nothing, in bytes.
const UDP_BUFFER: usize = 4 << 20;
/// The span after which a blocked call returns, to see whether it is to end.
const PATIENCE: Duration = Duration::from_millis(100);
/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The headers of IP and TCP without options, in bytes.
const TCP_HEADERS: u32 = 40;

/// A socket, and what of the script could not be honoured, as sentences.
pub struct Made<S> {
    /// The socket.
    pub socket: S,
    /// What could not be honoured.
    pub remarks: Vec<String>,
}

/// A UDP socket that sends to the script's address.
///
/// # Errors
/// The kernel refuses.
pub fn udp_source(script: &Script) -> io::Result<Made<UdpSocket>> {
    let ends = script.association.ends;
    let (local, remote) = (ends.local(), ends.remote());
    let socket = UdpSocket::bind(local.unwrap_or(ANY))?;
    let remarks = prepare(&socket, script, Some(remote))?;
    socket.connect(remote)?;
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok(Made { socket, remarks })
}

/// A UDP socket that receives on the script's address, with time stamps of the kernel.
///
/// # Errors
/// The kernel refuses.
pub fn udp_sink(script: &Script, address: SocketAddrV4) -> io::Result<Made<UdpSocket>> {
    let socket = UdpSocket::bind(address)?;
    let mut remarks = prepare(&socket, script, None)?;
    if address.ip().is_multicast() {
        socket.join_multicast_v4(address.ip(), &Ipv4Addr::UNSPECIFIED)?;
    }
    socket.set_read_timeout(Some(PATIENCE))?;
    if let Err(error) = stamp_arrivals(&socket) {
        remarks.push(format!(
            "the kernel does not stamp arrivals ({error}); their times are those of the process"
        ));
    }
    Ok(Made { socket, remarks })
}

/// A TCP connection to the script's address.
///
/// # Errors
/// The kernel or the other end refuses.
pub fn tcp_source(script: &Script) -> io::Result<Made<TcpStream>> {
    let ends = script.association.ends;
    let (local, remote) = (ends.local(), ends.remote());
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    let remarks = prepare(&socket, script, Some(remote))?;
    if let Some(local) = local {
        rustix::net::bind(&socket, &local)?;
    }
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(CONNECT))?;
    rustix::net::connect(&socket, &remote)?;
    let socket = TcpStream::from(socket);
    socket.set_write_timeout(Some(PATIENCE))?;
    // Packets leave when they are due, not when more has gathered.
    socket.set_nodelay(true)?;
    Ok(Made { socket, remarks })
}

/// A TCP socket that waits for connections on the script's address.
///
/// # Errors
/// The kernel refuses.
pub fn tcp_sink(script: &Script, address: SocketAddrV4) -> io::Result<Made<TcpListener>> {
    let socket: OwnedFd = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    let remarks = prepare(&socket, script, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, 16)?;
    let socket = TcpListener::from(socket);
    socket.set_nonblocking(true)?;
    Ok(Made { socket, remarks })
}

const ANY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);

/// Gives a socket the qualities of a script; returns which it cannot have.
fn prepare(socket: impl AsFd, script: &Script, remote: Option<SocketAddrV4>) -> io::Result<Vec<String>> {
    let socket = socket.as_fd();
    let udp = script.association.protocol == Protocol::Udp;
    if udp {
        enlarge(socket, UDP_BUFFER);
    }
    let multicast = remote.is_some_and(|remote| remote.ip().is_multicast());
    let mut remarks = Vec::new();
    for quality in &script.association.qualities {
        match *quality {
            Quality::TimeToLive(hops) if multicast => sockopt::set_ip_multicast_ttl(socket, hops.into())?,
            // Zero is refused by the kernel for one destination.
            Quality::TimeToLive(0) => remarks.push("ttl 0 is not sent to one destination".to_owned()),
            Quality::TimeToLive(hops) => sockopt::set_ip_ttl(socket, hops.into())?,
            Quality::TypeOfService(bits) => sockopt::set_ip_tos(socket, bits)?,
            Quality::SendWindow(bytes) => sockopt::set_socket_send_buffer_size(socket, bytes as usize)?,
            Quality::ReceiveWindow(bytes) => sockopt::set_socket_recv_buffer_size(socket, bytes as usize)?,
            Quality::Mtu(bytes) if !udp => limit_segments(socket, bytes.saturating_sub(TCP_HEADERS))?,
            Quality::Mtu(_) | Quality::Service(..) | Quality::Interval(_) | Quality::Interactive => {
                remarks.push(format!("`{quality}` is not available on this host, and is ignored"));
            }
        }
    }
    Ok(remarks)
}

fn limit_segments(socket: impl AsFd, bytes: u32) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, bytes)
}
