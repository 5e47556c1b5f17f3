//! `weird ctl NAME drops`: the packets that a router dropped last, as a table or as a capture.
//!
//! A capture is a pcapng file with one interface for each of the router's; the comment of a packet is the reason.
//!
//! | | |
//! |-|-|
//! | Source | draft-ietf-opsawg-pcapng, as `pcap-file` writes it |
//! | Units | nanoseconds since 1970, bytes |

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, PcapError};
use weir_gauge::text::{bytes, packets, table};
use weir_traffic::generator::wall::WallTime;

use crate::daemon::drops::Drops;
use crate::daemon::log::stamp;
use crate::daemon::metrics::word;

/// As many of them as a terminal shows.
const SHOWN: usize = 20;

/// In words.
pub(super) fn told(drops: &Drops) -> String {
    let kept = drops.packets.len() as u64;
    let mut text = format!(
        "dropped so far: {}; the last {} of them by reason:\n\n",
        packets(drops.dropped),
        packets(kept)
    );
    let mut reasons: BTreeMap<(&str, String), u64> = BTreeMap::new();
    for one in &drops.packets {
        *reasons.entry((&one.interface, word(one.reason))).or_default() += 1;
    }
    let rows = reasons
        .into_iter()
        .map(|((interface, reason), count)| vec![interface.to_owned(), reason, packets(count)]);
    text.push_str(&table(&["interface", "reason", "packets"], 2, &rows.collect::<Vec<_>>()));
    text.push('\n');
    let last = drops.packets.iter().rev().take(SHOWN).map(|one| {
        let (from, to) = ends(&one.head()).unwrap_or_else(|| ("no IP".to_owned(), String::new()));
        let size = bytes(u64::from(one.bytes));
        vec![
            stamp(WallTime::new(one.at_ns).unwrap_or_default()),
            one.interface.clone(),
            word(one.reason),
            from,
            to,
            size,
        ]
    });
    let head = ["when", "interface", "reason", "from", "to", "frame"];
    text.push_str(&table(&head, 5, &last.collect::<Vec<_>>()));
    text
}

/// Source and destination of an IP packet, as far as they are there, behind any VLAN tags.
fn ends(frame: &[u8]) -> Option<(String, String)> {
    let mut at = 12;
    while let [0x81, 0x00] | [0x88, 0xa8] = frame.get(at..at + 2)? {
        at += 4;
    }
    let (kind, packet) = (frame.get(at..at + 2)?, frame.get(at + 2..)?);
    match kind {
        [0x08, 0x00] => {
            let address = |at: usize| {
                packet.get(at..at + 4).and_then(|part| <[u8; 4]>::try_from(part).ok()).map(Ipv4Addr::from)
            };
            Some((address(12)?.to_string(), address(16)?.to_string()))
        }
        [0x86, 0xdd] => {
            let address = |at: usize| {
                packet.get(at..at + 16).and_then(|part| <[u8; 16]>::try_from(part).ok()).map(Ipv6Addr::from)
            };
            Some((address(8)?.to_string(), address(24)?.to_string()))
        }
        _ => None,
    }
}

/// As a capture.
///
/// # Errors
/// None that a vector has.
pub(super) fn capture(drops: &Drops) -> Result<Vec<u8>, PcapError> {
    let mut names: Vec<&str> = drops.packets.iter().map(|one| one.interface.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut writer = PcapNgWriter::new(Vec::new())?;
    for name in &names {
        let nanoseconds = InterfaceDescriptionOption::IfTsResol(9);
        let options = vec![InterfaceDescriptionOption::IfName((*name).into()), nanoseconds];
        let (linktype, snaplen) = (DataLink::ETHERNET, 0);
        writer.write_pcapng_block(InterfaceDescriptionBlock { linktype, snaplen, options })?;
    }
    for one in &drops.packets {
        writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: names.iter().position(|name| *name == one.interface).unwrap_or(0) as u32,
            timestamp: Duration::from_nanos(one.at_ns),
            original_len: one.bytes,
            data: one.head().into(),
            options: vec![EnhancedPacketOption::Comment(word(one.reason).into())],
        })?;
    }
    Ok(writer.into_inner())
}

#[cfg(test)]
mod tests {
    use crate::daemon::drops::DroppedPacket;
    use pcap_file::pcapng::{Block, PcapNgReader};
    use weir_plane::snapshot::Reason;

    use super::*;

    fn drops() -> Drops {
        let ipv4 = "020000000001020000000002080045000054000000004011000001020304c0a80001";
        let one = |interface: &str, reason, head: &str| DroppedPacket {
            at_ns: 1_700_000_000_123_456_789,
            interface: interface.to_owned(),
            reason,
            bytes: 98,
            head: head.to_owned(),
        };
        let packets = vec![one("eth1", Reason::QueueFull, ipv4), one("eth0", Reason::Malformed, "0102")];
        Drops { dropped: 1_000, packets }
    }

    #[test]
    fn the_table_says_who_lost_what_and_why() {
        let text = told(&drops());
        for part in ["1000pkt", "eth0", "malformed", "queue_full", "1.2.3.4", "192.168.0.1", "no IP"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn addresses_are_found_behind_tags() {
        let [addresses, tags] = ["020000000001020000000002", "88a8a0c88100a007"];
        let ipv4 = "080045000054000000004011000001020304c0a80001";
        let bytes = |text: &str| weir_plane::estate::bytes(text).expect("digits");
        let expected = Some(("1.2.3.4".to_owned(), "192.168.0.1".to_owned()));
        for length in [0, 8, 16] {
            assert_eq!(ends(&bytes(&format!("{addresses}{}{ipv4}", &tags[..length]))), expected);
        }
        let cut = bytes(&format!("{addresses}{tags}"));
        assert!((0..=cut.len()).all(|length| ends(&cut[..length]).is_none()));
    }

    #[test]
    fn another_reader_finds_reasons_and_times() {
        let file = capture(&drops()).expect("written");
        let mut reader = PcapNgReader::new(&file[..]).expect("read");
        let mut found = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.expect("whole") {
                let comment = packet.options.iter().find_map(|option| match option {
                    EnhancedPacketOption::Comment(comment) => Some(comment.to_string()),
                    _ => None,
                });
                assert_eq!(packet.timestamp, Duration::from_nanos(1_700_000_000_123_456_789));
                found.push((packet.interface_id, packet.original_len, packet.data.len(), comment));
            }
        }
        let [full, malformed] = ["queue_full", "malformed"].map(|reason| Some(reason.to_owned()));
        assert_eq!(found, [(1, 98, 34, full), (0, 98, 2, malformed)]);
        let names = reader.interfaces().iter().map(|at| format!("{:?}", at.options)).collect::<Vec<_>>();
        assert!(names[0].contains("eth0") && names[1].contains("eth1"), "{names:?}");
    }
}
