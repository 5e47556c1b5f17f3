//! What another program writes (the crate `pcap-file`) is read as it was meant.

use std::borrow::Cow;
use std::time::Duration;

use super::made::{good, tcp, timed};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, TsResolution};
use proptest::prelude::*;

/// Gaps in nanoseconds and payloads.
fn packets() -> impl Strategy<Value = Vec<(u64, usize)>> {
    prop::collection::vec((0_u64..5_000_000_000, 0_usize..1400), 1..40)
}

/// Times since 1970 and frames.
fn frames(packets: &[(u64, usize)]) -> Vec<(Duration, Vec<u8>)> {
    let mut at = Duration::from_secs(1_700_000_000);
    let frame = |(gap, payload): &(u64, usize)| {
        at += Duration::from_nanos(*gap);
        (at, tcp((1, 4000), (2, 80), *payload))
    };
    packets.iter().map(frame).collect()
}

fn expected(frames: &[(Duration, Vec<u8>)], unit: u128) -> Vec<(u64, u64)> {
    let nanoseconds = |at: Duration| at.as_nanos() / unit * unit;
    let first = nanoseconds(frames[0].0);
    frames.iter().map(|(at, frame)| ((nanoseconds(*at) - first) as u64, frame.len() as u64)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pcap(packets in packets(), big in any::<bool>(), nano in any::<bool>()) {
        let frames = frames(&packets);
        let header = PcapHeader {
            datalink: DataLink::ETHERNET,
            endianness: if big { Endianness::Big } else { Endianness::Little },
            ts_resolution: if nano { TsResolution::NanoSecond } else { TsResolution::MicroSecond },
            ..PcapHeader::default()
        };
        let mut writer = PcapWriter::with_header(Vec::new(), header).expect("in memory");
        for (at, frame) in &frames {
            writer.write_packet(&PcapPacket::new(*at, frame.len() as u32, frame)).expect("in memory");
        }
        let (rows, _) = good(&writer.into_writer());
        prop_assert_eq!(timed(&rows), expected(&frames, if nano { 1 } else { 1000 }));
    }

    #[test]
    fn pcapng(packets in packets(), big in any::<bool>()) {
        let frames = frames(&packets);
        let endianness = if big { Endianness::Big } else { Endianness::Little };
        let mut writer = PcapNgWriter::with_endianness(Vec::new(), endianness).expect("in memory");
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: 65535,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed("eth0")),
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        };
        writer.write_block(&interface.into_block()).expect("in memory");
        for (at, frame) in &frames {
            let block = EnhancedPacketBlock {
                interface_id: 0,
                timestamp: *at,
                original_len: frame.len() as u32,
                data: Cow::Borrowed(frame),
                options: vec![],
            };
            writer.write_block(&block.into_block()).expect("in memory");
        }
        let (rows, _) = good(&writer.into_inner());
        prop_assert_eq!(timed(&rows), expected(&frames, 1));
    }
}
