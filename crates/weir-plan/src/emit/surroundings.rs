//! What a scenario of the fabric has around its tables: links, buffers, traffic and time, within what the model takes.
//!
//! A plan does not say them. Links and packets are the plan's; buffers hold some packets of the largest size; sizes
//! are those of the DTable report, as far as they fit; the run is as many bits long as that of the report.

use weir_core::units::{Bytes, Nanos};

use crate::shape::{Coding, Link};

/// Added to every payload, in bytes.
const HEADER: u64 = 8;
/// The payloads of the DTable report, in bytes: least, mean.
const PAYLOADS: (u64, u64) = (56, 176);
/// A truncated law of that mean needs a largest payload of this many means.
const ROOM: u64 = 3;
/// Largest packet of the model.
const MAX_MTU: u64 = 32_768;
/// Data rates of the model, in bit/s.
const RATES: (u64, u64) = (1_000_000, 1_000_000_000_000);
/// Up to this largest packet the model's own buffers hold four and more.
const PACKET_OF_DEFAULTS: u64 = 4096;
/// Packets of the largest size in a buffer of a switch, and in one of an interface, beyond that.
const PACKETS: (u64, u64) = (4, 8);
/// Bits of data that a link carries in a run: 5 ms of the DTable report.
const BITS: u64 = 10_000_000;
/// A fifth of the run is warm-up.
const WARM_UP: u64 = 5;
/// Point-to-point flows that fill a link, where the model's default of 1 Mbit/s would make more.
const FLOWS: u64 = 2000;

/// A reason and a remedy.
pub(crate) type Unfit = (String, String);

/// The tables `[fabric]` up to its links and buffers.
pub(crate) fn hardware(mtu: Bytes, credit: Bytes, link: Link) -> Result<String, Unfit> {
    if mtu.get() > MAX_MTU {
        return Err((
            format!("the MTU is {mtu}, at most {MAX_MTU}B are simulated"),
            format!("write {MAX_MTU}B or less"),
        ));
    }
    let data = link.data_rate().get();
    if !(RATES.0..=RATES.1).contains(&data) {
        return Err((
            format!("the link carries {} of data, from 1Mbit to 1000Gbit are simulated", link.data_rate()),
            if data < RATES.0 { "write a higher rate".into() } else { "write a lower rate".into() },
        ));
    }
    let mut text = format!("[fabric]\nmtu = \"{mtu}\"\ncredit = \"{credit}\"\n");
    if mtu.get() > PACKET_OF_DEFAULTS {
        let whole = mtu.get().next_multiple_of(credit.get());
        let (switch, interface) = (PACKETS.0 * whole, PACKETS.1 * whole);
        text += &format!(
            "switch = {{ input_buffer = \"{switch}B\", output_buffer = \"{switch}B\" }}\n\
             interface_buffer = \"{interface}B\"\n"
        );
    }
    let (rate, coding) = line(link);
    Ok(text + &format!("link = {{ rate = \"{rate}\", coding = \"{coding}\" }}\n"))
}

/// Rate and coding; of a coding that the model does not know, the rate of the data.
fn line(link: Link) -> (weir_core::units::Rate, &'static str) {
    match link.coding {
        Coding::HundredTwentyEightOf130 => (link.data_rate(), Coding::None.name()),
        known => (link.rate, known.name()),
    }
}

/// The tables `[traffic]` and `[stop]`.
pub(crate) fn traffic(mtu: Bytes, link: Link) -> String {
    let data = link.data_rate().get().max(1);
    let flow_rate = match data / FLOWS / 1_000_000 {
        0 | 1 => String::new(),
        megabits => format!("flow_rate = \"{megabits}Mbit\"\n"),
    };
    let warm_up = (BITS / WARM_UP * 1_000_000 / data).max(1) * 1_000;
    format!(
        "[traffic]\nloads = [0.5, 0.8]\narrivals = \"poisson\"\nsize = {}\nheader = \"{HEADER}B\"\n{flow_rate}\n\
         [stop]\nwarm_up = \"{}\"\nduration = \"{}\"\nreplications = 10\n",
        size(mtu),
        Nanos::new(warm_up),
        Nanos::new(warm_up * WARM_UP),
    )
}

/// The sizes of the DTable report, within the MTU.
fn size(mtu: Bytes) -> String {
    let maximum = mtu.get().saturating_sub(HEADER).max(1);
    let (minimum, mean) = PAYLOADS;
    if maximum >= ROOM * mean {
        format!(
            "{{ pareto = {{ minimum = \"{minimum}B\", maximum = \"{maximum}B\", mean = \"{mean}B\", bound = \
             \"truncated\" }} }}"
        )
    } else {
        format!("{{ constant = \"{maximum}B\" }}")
    }
}

#[cfg(test)]
mod tests {
    use weir_core::units::Rate;

    use super::*;

    const fn link(bits: u64, coding: Coding) -> Link {
        Link { rate: Rate::new(bits), coding }
    }

    #[test]
    fn the_run_is_as_many_bits_on_every_link() {
        let of = |bits| traffic(Bytes::new(2048), link(bits, Coding::None));
        assert!(of(2_000_000_000).contains("warm_up = \"1ms\"\nduration = \"5ms\"\n"));
        assert!(!of(2_000_000_000).contains("flow_rate"));
        assert!(of(1_000_000).contains("warm_up = \"2s\"\nduration = \"10s\"\n"));
        let fast = of(1_000_000_000_000);
        assert!(
            fast.contains("flow_rate = \"500Mbit\"\n") && fast.contains("duration = \"10us\"\n"),
            "{fast}"
        );
    }

    #[test]
    fn what_the_model_does_not_take_is_refused_or_put_in_its_terms() {
        let (mtu, credit) = (Bytes::new(2048), Bytes::new(64));
        let of = |bits, coding| hardware(mtu, credit, link(bits, coding));
        assert!(of(999_999, Coding::None).is_err() && of(1_000_000_000_001, Coding::None).is_err());
        assert!(hardware(Bytes::new(32_769), credit, link(1_000_000_000, Coding::None)).is_err());
        let coded = of(13_000_000_000, Coding::HundredTwentyEightOf130);
        assert!(
            coded.is_ok_and(|text| text.ends_with("link = { rate = \"12800Mbit\", coding = \"none\" }\n"))
        );
        let large = hardware(Bytes::new(10_000), credit, link(1_000_000_000, Coding::None));
        assert!(large.is_ok_and(|text| text.contains("input_buffer = \"40192B\"")));
    }

    #[test]
    fn sizes_fit() {
        assert_eq!(size(Bytes::new(64)), "{ constant = \"56B\" }");
        assert_eq!(size(Bytes::new(512)), "{ constant = \"504B\" }");
        assert!(size(Bytes::new(1024)).contains("maximum = \"1016B\", mean = \"176B\""));
    }
}
