//! Frames through real sockets, between veth interfaces in a namespace of the test's own.

use std::net::{IpAddr, UdpSocket};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use weir_live::io::attach::Sharing;
use weir_live::io::fault::{Fault, Kind};
use weir_live::io::link::{Claim, Facts, Watch};
use weir_live::io::neighbourhood::Neighbourhood;
use weir_live::io::{Device, Means, Share, attach, pins, program};
use weir_plane::Received;
use weir_plane::arena::{Arena, LONGEST};
use weir_plane::config::{Io, OnFailure};

use crate::namespace::{LIMIT, Raw, isolated, output, own_bpf_files, run, udp, until, until_up, wire};

const ELSEWHERE: [u8; 4] = [10, 0, 9, 9];
const SHARE: Share = Share { receive: 64, ring: 64 };
/// How long a socket at the far end waits for what should come.
const PATIENCE: Duration = Duration::from_millis(300);

/// The name of a router that no other test process has.
fn router() -> String {
    format!("weir-test-{}", std::process::id())
}

fn open(name: &str, io: Io, arena: &mut Arena) -> Device {
    try_open(name, io, OnFailure::Pass, arena).expect("it opens")
}

fn means(router: &str, io: Io, on_failure: OnFailure) -> Means {
    let (router, sharing) = (router.to_owned(), Sharing::default());
    Means { router, io, on_failure, sharing, share: SHARE, workers: 1, vlans: vec![None] }
}

fn try_open(name: &str, io: Io, on_failure: OnFailure, arena: &mut Arena) -> Result<Device, Fault> {
    let facts = Facts::of(name)?;
    let opened = Device::open(&facts, &means(&router(), io, on_failure), arena)?;
    if let Some(fault) = opened.fallback {
        panic!("not by AF_XDP: {fault}");
    }
    Ok(opened.device)
}

/// Everything that comes in until `enough` frames have, or too long has passed.
fn collect(device: &mut Device, arena: &mut Arena, enough: usize) -> Vec<Received> {
    let (mut got, began) = (Vec::new(), Instant::now());
    while got.len() < enough && began.elapsed() < LIMIT {
        device.receive(arena, &mut got, 32).expect("it is there");
    }
    got
}

/// Everything that has come in, when nothing more can.
fn rest(device: &mut Device, arena: &mut Arena) -> Vec<Received> {
    std::thread::sleep(Duration::from_millis(50));
    let mut got = Vec::new();
    // A socket that lets frames go because it has no room receives none, and is not at the end.
    for _ in 0..32 {
        device.receive(arena, &mut got, 32).expect("it is there");
    }
    got
}

fn give(received: Vec<Received>, arena: &mut Arena) {
    received.into_iter().for_each(|received| arena.give(received.buffer));
}

/// Whether an error of a device that was open says that it is down or gone.
fn is_down(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV))
}

/// For each kind of socket, in a namespace each.
fn both(test: fn(Io)) {
    for io in [Io::AfXdp, Io::AfPacket] {
        isolated(move || test(io));
    }
}

#[test]
fn frames_are_forwarded_whole_and_in_order() {
    both(|io| {
        wire("a0", "a1");
        wire("b0", "b1");
        let (near, far) = (Raw::open("a0", PATIENCE), Raw::open("b0", PATIENCE));
        let mut arena = Arena::new(1024).expect("memory");
        let (mut a, mut b) = (open("a1", io, &mut arena), open("b1", io, &mut arena));
        for round in 0..40 {
            for number in 0..25 {
                near.send(&udp(ELSEWHERE, round * 25 + number));
            }
            for received in collect(&mut a, &mut arena, 25) {
                assert!(b.room(&mut arena) > 0);
                b.send(received.buffer).expect("there is room");
            }
            b.flush(&mut arena).expect("it is up");
        }
        let came = far.take(1000);
        assert_eq!(came.len(), 1000, "{:?} {:?}", a.counts(), b.counts());
        for (number, frame) in came.iter().enumerate() {
            assert_eq!(*frame, udp(ELSEWHERE, number as u32));
        }
        for device in [&a, &b] {
            assert_eq!(device.counts().expect("counted"), Default::default());
        }
        a.close(&mut arena).expect("closed");
        b.close(&mut arena).expect("closed");
        assert_eq!(arena.free(), arena.frames());
    });
}

#[test]
fn what_is_not_for_the_router_stays_with_the_kernel() {
    isolated(|| {
        wire("a0", "a1");
        run("ip addr add 10.0.0.1/24 dev a1");
        let (near, kernel) = (Raw::open("a0", PATIENCE), Raw::open("a1", PATIENCE));
        let mut arena = Arena::new(256).expect("memory");
        let facts = Facts::of("a1").expect("it is there");
        assert_eq!(facts.addresses, ["10.0.0.1".parse::<IpAddr>().expect("an address")]);
        let mut device = open("a1", Io::AfXdp, &mut arena);
        let with = |ethertype: u16| {
            let mut frame = udp(ELSEWHERE, 0);
            frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
            frame
        };
        let left =
            [udp([10, 0, 0, 1], 1), with(0x0806), with(0x8100), with(0x88cc), with(0x0800)[..20].to_vec()];
        left.iter().for_each(|frame| near.send(frame));
        near.send(&udp(ELSEWHERE, 5));
        let got = collect(&mut device, &mut arena, 1);
        assert_eq!(got.iter().map(|r| arena.bytes(&r.buffer)).collect::<Vec<_>>(), [udp(ELSEWHERE, 5)]);
        assert_eq!(kernel.take(left.len()).len(), left.len());
        let Device::Xdp(socket) = &mut device else { panic!("AF_XDP was asked for") };
        let counted = socket.program().counts().expect("counted");
        let expected = program::FrameCounts {
            routed: 1,
            neighbour: 1,
            kernel: 1,
            vlan: 1,
            other: 1,
            short: 1,
            no_socket: 0,
        };
        assert_eq!(counted, expected);
        // The kernel has another address now.
        device.leave_to_kernel(&["10.0.0.7".parse().expect("an address")]).expect("told");
        near.send(&udp([10, 0, 0, 7], 6));
        near.send(&udp([10, 0, 0, 1], 7));
        let more = collect(&mut device, &mut arena, 1);
        assert_eq!(arena.bytes(&more[0].buffer), udp([10, 0, 0, 1], 7));
        give(got.into_iter().chain(more).collect(), &mut arena);
        device.close(&mut arena).expect("closed");
    });
}

#[test]
fn a_packet_socket_shows_tags_and_hides_neighbours() {
    isolated(|| {
        wire("a0", "a1");
        let near = Raw::open("a0", PATIENCE);
        let mut arena = Arena::new(256).expect("memory");
        let mut device = open("a1", Io::AfPacket, &mut arena);
        let mut tagged = udp(ELSEWHERE, 0);
        tagged.splice(12..12, [0x81, 0, 0x20, 5]);
        let mut arp = udp(ELSEWHERE, 0);
        arp[12..14].copy_from_slice(&[8, 6]);
        near.send(&arp);
        near.send(&tagged);
        let got = collect(&mut device, &mut arena, 1);
        assert_eq!(got.iter().map(|r| arena.bytes(&r.buffer)).collect::<Vec<_>>(), [tagged]);
        give(got, &mut arena);
        device.close(&mut arena).expect("closed");
    });
}

#[test]
fn the_neighbourhood_is_heard_and_spoken_to() {
    both(|io| {
        wire("a0", "a1");
        let near = Raw::open("a0", PATIENCE);
        let mut arena = Arena::new(256).expect("memory");
        let mut device = open("a1", io, &mut arena);
        let mut neighbours = Neighbourhood::open(&Facts::of("a1").expect("it is there")).expect("it opens");
        let mut arp = udp(ELSEWHERE, 0);
        arp[12..14].copy_from_slice(&[8, 6]);
        near.send(&udp(ELSEWHERE, 1));
        // More than the ring has places.
        for number in 0..100 {
            arp[46..50].copy_from_slice(&u32::to_be_bytes(number));
            near.send(&arp);
            let mut heard = Vec::new();
            until(|| neighbours.receive(&mut arena, &mut heard, 8) == 1);
            assert_eq!(arena.bytes(&heard[0].buffer), arp);
            give(heard, &mut arena);
        }
        let (mut heard, began) = (Vec::new(), Instant::now());
        near.send(&arp);
        while heard.is_empty() && began.elapsed() < LIMIT {
            neighbours.receive(&mut arena, &mut heard, 8);
        }
        assert_eq!(heard.iter().map(|r| arena.bytes(&r.buffer)).collect::<Vec<_>>(), [&arp]);
        neighbours.say(&arp).expect("said");
        assert_eq!(near.take(1), [arp]);
        give(heard, &mut arena);
        let got = collect(&mut device, &mut arena, 1);
        assert_eq!(got.len(), 1);
        give(got, &mut arena);
        device.close(&mut arena).expect("closed");
        assert_eq!(arena.free(), arena.frames());
    });
}

#[test]
fn frames_that_find_no_room_are_counted() {
    both(|io| {
        wire("a0", "a1");
        let near = Raw::open("a0", PATIENCE);
        let mut arena = Arena::new(32).expect("memory");
        let mut device = open("a1", io, &mut arena);
        // All frames are with the device, or were never given: AF_PACKET has the kernel's own buffer before it.
        let held = collect_held(&mut device, &mut arena, &near);
        for number in 0..200 {
            near.send(&udp(ELSEWHERE, number));
        }
        let got = rest(&mut device, &mut arena);
        let dropped = device.counts().expect("counted").receive_dropped;
        assert_eq!(got.len() as u64 + dropped, 200, "{dropped} dropped");
        assert!(dropped > 0);
        give(got, &mut arena);
        give(held, &mut arena);
        near.send(&udp(ELSEWHERE, 1));
        // It goes on where it was; one call gives it frames again, where it has to be given them.
        let mut got = rest(&mut device, &mut arena);
        near.send(&udp(ELSEWHERE, 2));
        got.extend(collect(&mut device, &mut arena, 1));
        assert!(!got.is_empty());
        give(got, &mut arena);
        device.close(&mut arena).expect("closed");
        assert_eq!(arena.free(), arena.frames());
    });
}

/// Leaves the arena without free frames.
fn collect_held(device: &mut Device, arena: &mut Arena, near: &Raw) -> Vec<Received> {
    let mut held = Vec::new();
    while held.len() < arena.frames() as usize {
        near.send(&udp(ELSEWHERE, 0));
        held.extend(collect(device, arena, 1));
    }
    held
}

#[test]
fn a_device_that_goes_away_is_an_error_and_its_successor_is_opened() {
    both(|io| {
        let mut arena = Arena::new(256).expect("memory");
        for _ in 0..3 {
            wire("a0", "a1");
            let near = Raw::open("a0", PATIENCE);
            let mut watch = Watch::new().expect("it watches");
            let mut device = open("a1", io, &mut arena);
            near.send(&udp(ELSEWHERE, 1));
            let got = collect(&mut device, &mut arena, 1);
            assert_eq!(got.len(), 1);
            until(|| !watch.changed());
            run("ip link del a0");
            until(|| watch.changed());
            let (mut into, began) = (Vec::new(), Instant::now());
            let error = loop {
                match device.receive(&mut arena, &mut into, 32) {
                    Err(error) => break error,
                    Ok(_) => assert!(began.elapsed() < LIMIT, "it never said so"),
                }
            };
            assert!(is_down(&error), "{error}");
            for received in got {
                device.send(received.buffer).expect("there is room");
            }
            assert!(is_down(&device.flush(&mut arena).expect_err("it is gone")));
            assert_eq!(Facts::of("a1").expect_err("it is gone").kind, Kind::Gone);
            device.abandon(&mut arena);
            assert_eq!(arena.free(), arena.frames());
        }
    });
}

#[test]
fn a_device_that_is_down_says_so_and_comes_back() {
    both(|io| {
        wire("a0", "a1");
        let near = Raw::open("a0", PATIENCE);
        let mut arena = Arena::new(256).expect("memory");
        let mut device = open("a1", io, &mut arena);
        assert!(Facts::of("a1").expect("it is there").up);
        run("ip link set a1 down");
        assert!(!Facts::of("a1").expect("it is there").up);
        let mut frame = arena.take(256).expect("one is free");
        assert!(frame.resize(64));
        arena.bytes_mut(&mut frame).copy_from_slice(&udp(ELSEWHERE, 0));
        device.send(frame).expect("there is room");
        assert!(is_down(&device.flush(&mut arena).expect_err("it is down")));
        run("ip link set a1 up");
        until_up("a1");
        // An AF_PACKET socket still has to say that it was down.
        let _ = device.receive(&mut arena, &mut Vec::new(), 1);
        device.flush(&mut arena).expect("it is up");
        assert_eq!(near.take(1), [udp(ELSEWHERE, 0)]);
        near.send(&udp(ELSEWHERE, 1));
        let got = collect(&mut device, &mut arena, 1);
        assert_eq!(got.len(), 1);
        give(got, &mut arena);
        device.close(&mut arena).expect("closed");
    });
}

#[test]
fn frames_that_the_device_does_not_take_are_counted() {
    both(|io| {
        wire("a0", "a1");
        let near = Raw::open("a0", PATIENCE);
        let mut arena = Arena::new(256).expect("memory");
        let mut device = open("a1", io, &mut arena);
        // The other end is down: the device is up, and its line is not.
        run("ip link set a0 down");
        until(|| !Facts::of("a1").expect("it is there").up);
        let send = |device: &mut Device, arena: &mut Arena, number: u32| {
            let mut frame = arena.take(256).expect("one is free");
            assert!(frame.resize(64));
            arena.bytes_mut(&mut frame).copy_from_slice(&udp(ELSEWHERE, number));
            device.send(frame).expect("there is room");
        };
        (0..20).for_each(|number| send(&mut device, &mut arena, number));
        until(|| {
            (0..100).for_each(|_| device.flush(&mut arena).expect("it is up"));
            device.unsent() == 0
        });
        assert_eq!(device.counts().expect("counted").transmit_failed, 20);
        run("ip link set a0 up");
        until_up("a1");
        // The socket at the far end has still to say that it was down.
        near.receive();
        send(&mut device, &mut arena, 21);
        device.flush(&mut arena).expect("it is up");
        assert_eq!(near.take(1), [udp(ELSEWHERE, 21)]);
        assert_eq!(device.room(&mut arena), SHARE.ring);
        device.close(&mut arena).expect("closed");
        assert_eq!(arena.free(), arena.frames());
    });
}

#[test]
fn frames_longer_than_a_frame_of_memory_are_counted() {
    both(|io| {
        wire("a0", "a1");
        for end in ["a0", "a1"] {
            run(&format!("ip link set {end} mtu 9000"));
        }
        let near = Raw::open("a0", PATIENCE);
        let mut arena = Arena::new(256).expect("memory");
        let mut device = open("a1", io, &mut arena);
        // The driver does not run the program with so large an MTU.
        let expected = if io == Io::AfXdp { "AF_XDP, copy, generic" } else { "AF_PACKET" };
        assert_eq!(device.means(), expected);
        let long = |length: u32| {
            let mut frame = udp(ELSEWHERE, length);
            frame.resize(length as usize, 0);
            frame
        };
        for length in [LONGEST + 1, 9000, LONGEST] {
            near.send(&long(length));
        }
        let got = collect(&mut device, &mut arena, 1);
        assert_eq!(arena.bytes(&got[0].buffer), long(LONGEST));
        assert_eq!(device.counts().expect("counted").receive_dropped, 2);
        give(got, &mut arena);
        device.close(&mut arena).expect("closed");
        assert_eq!(arena.free(), arena.frames());
    });
}

#[test]
fn a_program_goes_with_its_daemon_unless_it_is_pinned() {
    isolated(|| {
        wire("a0", "a1");
        let (near, kernel) = (Raw::open("a0", PATIENCE), Raw::open("a1", PATIENCE));
        let mut arena = Arena::new(256).expect("memory");
        drop(open("a1", Io::AfXdp, &mut arena));
        // The kernel takes the program off a moment after its link is closed; the line is away meanwhile.
        let passes = |frame: &[u8]| {
            (0..20).any(|_| {
                near.send(frame);
                kernel.take(1) == [frame]
            })
        };
        assert!(passes(&udp(ELSEWHERE, 1)), "nothing is left of it");
        let mut arena = Arena::new(256).expect("memory");
        let stop = |arena: &mut Arena| try_open("a1", Io::AfXdp, OnFailure::Stop, arena);
        own_bpf_files();
        drop(stop(&mut arena).expect("it opens"));
        let pinned = || pins::pins().into_iter().filter(|pin| pin.owner == router()).collect::<Vec<_>>();
        assert_eq!(pinned().len(), 1);
        near.send(&udp(ELSEWHERE, 2));
        assert_eq!(kernel.all(), Vec::<Vec<u8>>::new(), "it stops what no daemon takes");
        let mut arena = Arena::new(256).expect("memory");
        let mut device = stop(&mut arena).expect("the link is taken over");
        near.send(&udp(ELSEWHERE, 3));
        let got = collect(&mut device, &mut arena, 1);
        assert_eq!(arena.bytes(&got[0].buffer), udp(ELSEWHERE, 3));
        give(got, &mut arena);
        device.close(&mut arena).expect("closed");
        assert_eq!(pinned(), [], "an ordered end leaves nothing");
        assert!(passes(&udp(ELSEWHERE, 4)));
    });
}

#[test]
fn a_pin_whose_interface_is_gone_is_replaced_and_one_of_another_is_not() {
    isolated(|| {
        let mut arena = Arena::new(1024).expect("memory");
        wire("p.0", "p.1");
        let stop = |name: &str, arena: &mut Arena| try_open(name, Io::AfXdp, OnFailure::Stop, arena);
        own_bpf_files();
        stop("p.1", &mut arena).expect("it opens").abandon(&mut arena);
        run("ip link del p.0");
        wire("p.0", "p.1");
        stop("p.1", &mut arena).expect("the old one is of nothing").abandon(&mut arena);
        run("ip link set p.1 down");
        run("ip link set p.1 name q.1");
        wire("o0", "p.1");
        let fault = stop("p.1", &mut arena).err().expect("the pin is of q.1");
        assert_eq!(fault.kind, Kind::Busy, "{fault}");
        let pins = pins::pins().into_iter().filter(|pin| pin.owner == router() && pin.interface == "p.1");
        pins.for_each(|pin| pin.remove().expect("removed"));
        assert_eq!(arena.free(), arena.frames());
    });
}

#[test]
fn an_interface_with_another_program_is_refused() {
    isolated(|| {
        wire("a0", "a1");
        let facts = Facts::of("a1").expect("it is there");
        let other = program::Program::attach(&means("other", Io::AfXdp, OnFailure::Pass), &facts);
        let other = other.expect("attached");
        assert_eq!(other.mode(), attach::Mode::Driver);
        let mut arena = Arena::new(256).expect("memory");
        let fault = try_open("a1", Io::Auto, OnFailure::Pass, &mut arena).err().expect("it is taken");
        assert_eq!(fault.kind, Kind::Busy);
        assert!(fault.to_string().contains("ip link set dev a1 xdp off"), "{fault}");
        drop(other);
        open("a1", Io::AfXdp, &mut arena).close(&mut arena).expect("closed");
    });
}

#[test]
fn one_daemon_has_an_interface() {
    isolated(|| {
        let claim = Claim::new("a1").expect("nobody has it");
        let fault = Claim::new("a1").expect_err("somebody has it");
        assert_eq!(fault.kind, Kind::Busy, "{fault}");
        Claim::new("a2").expect("nobody has that one");
        drop(claim);
        // What another test starts has the socket, too, from when it is a copy of this process until it is a program.
        let again = || Claim::new("a1").map_err(|_| std::thread::sleep(Duration::from_millis(10)));
        assert!((0..500).any(|_| again().is_ok()), "nobody has it any more");
    });
}

/// A frame of a flow of its own, so that the kernel gives it a queue by its hash.
fn of_flow(number: u32) -> Vec<u8> {
    let mut frame = udp(ELSEWHERE, number);
    frame[34..36].copy_from_slice(&(1000 + number as u16).to_be_bytes());
    frame
}

#[test]
fn frames_come_in_by_all_queues_and_leave_by_one() {
    isolated(|| {
        run("ip link add a0 numrxqueues 2 numtxqueues 2 type veth peer name a1 numrxqueues 2 numtxqueues 2");
        ["a0", "a1"].into_iter().for_each(|name| run(&format!("ip link set {name} up")));
        until_up("a1");
        if Facts::of("a1").expect("it is there").queues.receive == 1 {
            return eprintln!("skipped: this kernel gives veth one queue whatever it is asked");
        }
        let (near, mut arena) = (Raw::open("a0", PATIENCE), Arena::new(256).expect("memory"));
        let mut device = open("a1", Io::AfXdp, &mut arena);
        assert_eq!(device.descriptors().count(), 2);
        // Thirty-two flows: both queues have some, as the kernel hashes them, and either would have room for all.
        (0..32).for_each(|number| near.send(&of_flow(number)));
        let came = collect(&mut device, &mut arena, 32);
        let mut seen: Vec<_> = came.iter().map(|received| arena.bytes(&received.buffer).to_vec()).collect();
        seen.sort_unstable();
        let mut sent: Vec<_> = (0..32).map(of_flow).collect();
        sent.sort_unstable();
        assert_eq!(seen, sent);
        for received in came {
            assert!(device.room(&mut arena) > 0);
            device.send(received.buffer).expect("there is room");
        }
        device.flush(&mut arena).expect("it is up");
        assert_eq!(near.take(32).len(), 32);
        let Device::Xdp(socket) = &mut device else { panic!("it is AF_XDP") };
        let counted = socket.program().counts().expect("counted");
        assert_eq!((counted.routed, counted.no_socket), (32, 0));
        device.close(&mut arena).expect("closed");
        assert_eq!(arena.free(), arena.frames());
    });
}

#[test]
fn more_queues_than_are_served_are_refused_with_the_line_that_helps() {
    isolated(|| {
        let queues = "numrxqueues 65 numtxqueues 65";
        run(&format!("ip link add a0 {queues} type veth peer name a1 {queues}"));
        run("ethtool -L a1 rx 65 tx 65");
        let mut arena = Arena::new(256).expect("memory");
        let fault = try_open("a1", Io::AfXdp, OnFailure::Pass, &mut arena).err().expect("it has too many");
        assert_eq!(fault.kind, Kind::Unsupported);
        assert!(fault.remedy.contains("ethtool -L a1 rx 64 tx 64"), "{fault}");
        assert_eq!(arena.free(), arena.frames());
    });
}

#[test]
fn unfinished_checksums_are_told() {
    isolated(|| {
        wire("a0", "a1");
        run("ip addr add 10.0.0.1/24 dev a0");
        run("ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev a0");
        let facts = Facts::of("a0").expect("it is there");
        let Some(line) = facts.send_whole() else {
            return eprintln!("skipped: nothing is left to this device");
        };
        let mut arena = Arena::new(256).expect("memory");
        let mut device = open("a1", Io::AfPacket, &mut arena);
        let sender = UdpSocket::bind("10.0.0.1:0").expect("bound");
        for (unfinished, before) in [(true, None), (false, Some(line))] {
            if before.is_some() && output("ethtool --version").status.success() {
                run("ethtool -K a0 tx off");
            } else if before.is_some() {
                return eprintln!("skipped: no ethtool here");
            }
            sender.send_to(b"weir", "10.0.0.2:9").expect("sent");
            let got = collect(&mut device, &mut arena, 1);
            assert_eq!(got[0].partial, Some(unfinished));
            give(got, &mut arena);
        }
        device.close(&mut arena).expect("closed");
    });
}

#[test]
fn the_facts_of_a_veth() {
    isolated(|| {
        wire("a0", "a1");
        run("ip link set a1 address 02:00:00:00:00:0a mtu 1400");
        let facts = Facts::of("a1").expect("it is there");
        assert_eq!((facts.mac.to_string(), facts.mtu, facts.up), ("02:00:00:00:00:0a".into(), 1400, true));
        assert_eq!(facts.queues.receive, 1);
        assert_eq!(facts.receive_whole(), None, "what its other end leaves to it is that end's");
        if output("ethtool --version").status.success() {
            facts.send_whole().iter().for_each(|line| run(line));
            assert_eq!(Facts::of("a1").expect("it is there").send_whole(), None);
        }
    });
}

#[test]
fn names_that_cannot_be_are_refused() {
    for name in ["", "a\0b", "an-interface-with-a-long-name", "weir-none"] {
        let fault = Facts::of(name).expect_err("there is none");
        assert_eq!(fault.kind, Kind::Gone, "{fault}");
    }
}

/// `weird bench-forward` between two interfaces of this namespace.
fn forwarder(io: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weird"));
    command.args(["bench-forward", "a1", "b1", "--io", io, "--seconds", "60"]).stdout(Stdio::null());
    command
}

#[test]
fn after_a_kill_it_starts_again() {
    for io in ["af-xdp", "af-packet"] {
        isolated(move || {
            wire("a0", "a1");
            wire("b0", "b1");
            let (near, far) = (Raw::open("a0", PATIENCE), Raw::open("b0", Duration::from_millis(20)));
            for round in 0..5 {
                let mut child = forwarder(io).spawn().expect("it starts");
                until(|| {
                    near.send(&udp(ELSEWHERE, round));
                    far.receive() == Some(udp(ELSEWHERE, round))
                });
                child.kill().expect("killed");
                child.wait().expect("ended");
                far.all();
            }
        });
    }
}

#[test]
fn two_daemons_on_one_interface_are_one_too_many() {
    isolated(|| {
        wire("a0", "a1");
        wire("b0", "b1");
        let _claim = Claim::new("b1").expect("nobody has it");
        let output = forwarder("auto").output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let holder = format!("interface b1: another process has it, process {} of user", std::process::id());
        assert!(said.contains(&holder), "{said}");
    });
}

#[test]
fn beside_a_kernel_that_forwards_only_af_xdp_is_opened() {
    isolated(|| {
        wire("a0", "a1");
        run("ip addr add 10.0.0.1/24 dev a1");
        let forwarding = |value: &str| {
            std::fs::write("/proc/sys/net/ipv4/conf/a1/forwarding", value).expect("written");
        };
        forwarding("1");
        let mut arena = Arena::new(256).expect("memory");
        let fault =
            try_open("a1", Io::AfPacket, OnFailure::Pass, &mut arena).err().expect("it would forward twice");
        assert_eq!(fault.kind, Kind::Unsupported);
        assert!(fault.remedy.contains("net/ipv4/conf/a1/forwarding=0"), "{fault}");
        open("a1", Io::AfXdp, &mut arena).close(&mut arena).expect("closed");
        forwarding("0");
        open("a1", Io::AfPacket, &mut arena).close(&mut arena).expect("closed");
    });
}

#[test]
fn without_permission_it_says_which() {
    isolated(|| {
        wire("a0", "a1");
        wire("b0", "b1");
        for (io, capability) in [("af-xdp", "CAP_BPF"), ("af-packet", "CAP_NET_RAW")] {
            let command = forwarder(io);
            let mut less = Command::new("setpriv");
            less.args(["--bounding-set=-all", "--inh-caps=-all"])
                .arg(command.get_program())
                .args(command.get_args());
            let Ok(output) = less.output() else { return eprintln!("skipped: no `setpriv` here") };
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{said}");
            assert!(said.contains(capability) && said.contains("a1"), "{said}");
        }
    });
}

#[test]
fn an_interface_that_is_not_there_is_bad_input() {
    isolated(|| {
        let output = forwarder("auto").output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: interface a1: "), "{said}");
    });
}
