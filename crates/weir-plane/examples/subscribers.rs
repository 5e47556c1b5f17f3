//! What subscribers cost the loop of a router: work for each packet, a change of all of them, a copy of their counts.
//!
//! ```sh
//! cargo run --release -p weir-plane --example subscribers
//! ```
//!
//! One thread, no sockets; the work for a packet is in times of its processor alone: frames are written into the arena, arrive, and depart. Packets go to all subscribers in turn, so
//! that each is as far from the last as it can be; the line is never full.

use std::error::Error;
use std::fs;
use std::time::Instant as Clock;

use weir_core::units::Instant;
use weir_document::Source;
use weir_plane::arena::Arena;
use weir_plane::config::{MacAddress, Router, read};
use weir_plane::{DeviceFacts, Plane, Received};

const PACKETS: u64 = 400_000;
const FRAMES: u32 = 16_384;
const BATCH: u64 = 32;

/// Seconds for which this thread has had a processor, whatever else runs (proc(5), schedstat).
fn processor() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent: u64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
    spent as f64 / 1e9
}

/// A router with `count` subscribers; `rate` is that of each, in kilobits.
fn router(count: u32, rate: u32) -> Result<Router, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("weir-subscribers-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let mut text = "name,address,rate,ceiling,group\n".to_owned();
    (0..count.div_ceil(50)).for_each(|at| text += &format!("mast-{at},,50Mbit,500Mbit,\n"));
    for at in 0..count {
        let [_, a, b, c] = at.to_be_bytes();
        text += &format!("s{at},100.{}.{b}.{c},{rate}kbit,400Mbit,mast-{}\n", 64 + a, at / 50);
    }
    fs::write(folder.join("s.csv"), text)?;
    let text = "weir = 1\n[router]\nname = \"r\"\nflow_key = 1\n[[interface]]\nname = \"a\"\naddresses = [\"10.0.0.1/24\"]\n\
        [[interface]]\nname = \"b\"\naddresses = [\"10.0.1.1/24\"]\nneighbours = { \"10.0.1.2\" = \"02:00:00:00:00:02\" }\n\
        rate = \"100Gbit\"\nsubscribers = \"s.csv\"\n[[route]]\nto = \"100.64.0.0/10\"\nvia = \"10.0.1.2\"\n";
    let router = read(&Source { name: &folder.join("r.toml").display().to_string(), text })?;
    fs::remove_dir_all(&folder)?;
    Ok(router)
}

/// A datagram to a subscriber, from its Ethernet header on.
fn frame(subscriber: u32) -> [u8; 142] {
    let mut frame = [0; 142];
    frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 128, 0, 0, 0x40, 0, 64, 17]);
    let [_, a, b, c] = subscriber.to_be_bytes();
    frame[26..34].copy_from_slice(&[10, 0, 0, 2, 100, 64 + a, b, c]);
    let sum: u32 =
        frame[14..34].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame[38..40].copy_from_slice(&108_u16.to_be_bytes());
    frame
}

/// Nanoseconds a packet, and milliseconds to build all subscribers, to exchange them and to copy their counts: the least of
/// several, which nothing else has interrupted.
fn measure(count: u32) -> Result<[f64; 4], Box<dyn Error>> {
    let device = |last| DeviceFacts {
        mac: MacAddress([2, 0, 0, 0, 0, last]),
        mtu: 1500,
        up: true,
        ..DeviceFacts::default()
    };
    let mut arena = Arena::new(FRAMES).ok_or("no memory for the frames")?;
    let mut plane = Plane::new(router(count, 10)?, &[device(1), device(3)], FRAMES, 1)?;
    let (mut now, mut sent, mut leaving) = (0_u64, 0_u64, Vec::new());
    let mut pass = |plane: &mut Plane, arena: &mut Arena, packets: u64| {
        let mut left = 0;
        for _ in 0..packets / BATCH {
            now += 100_000;
            for _ in 0..BATCH {
                let Some(mut buffer) = arena.take(256) else { continue };
                buffer.resize(142);
                arena
                    .bytes_mut(&mut buffer)
                    .copy_from_slice(&frame((sent * 7_919 % u64::from(count)) as u32));
                sent += 1;
                plane.arrive(Instant::new(now), 0, Received { buffer, partial: None }, arena);
            }
            plane.depart(Instant::new(now), 1, u32::MAX, arena, &mut leaving);
            left += leaving.len() as u64;
            leaving.drain(..).for_each(|buffer| arena.give(buffer));
        }
        left
    };
    pass(&mut plane, &mut arena, PACKETS);
    let began = processor();
    let left = pass(&mut plane, &mut arena, PACKETS);
    let each = (processor() - began) * 1e9 / PACKETS as f64;
    assert!(left >= PACKETS - BATCH * 64, "{left} of {PACKETS} left");
    let (mut build, mut exchange, mut copy) = (f64::MAX, f64::MAX, f64::MAX);
    for turn in 0..9 {
        let began = Clock::now();
        let next = plane.prepare(router(count, 11 + turn)?)?;
        build = build.min(began.elapsed().as_secs_f64());
        let began = Clock::now();
        let remains = plane.replace(Instant::new(u64::MAX >> 1), next, &mut arena)?;
        exchange = exchange.min(began.elapsed().as_secs_f64());
        drop(remains);
        let began = Clock::now();
        let reading = plane.subscribers(Instant::new(0), 1).ok_or("it has subscribers")?;
        copy = copy.min(began.elapsed().as_secs_f64());
        drop(reading);
    }
    Ok([each, build * 1e3, exchange * 1e3, copy * 1e3])
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("subscribers  ns/packet  packets/s  read and build (ms)  exchange (ms)  copy of counts (ms)");
    for count in [10, 1_000, 10_000, 60_000] {
        let [each, build, exchange, copy] = measure(count)?;
        let rate = 1e9 / each;
        println!("{count:>11}  {each:>9.0}  {rate:>9.0}  {build:>19.1}  {exchange:>13.2}  {copy:>19.2}");
    }
    Ok(())
}
