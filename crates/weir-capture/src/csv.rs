//! A schedule as text: the columns of `data/packets/`.
//!
//! `t_ns,frame_bytes,flow,dir,ip_proto,dscp`, and where asked for
//! `source,destination,source_port,destination_port` behind them.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};

use serde::Serialize;

use crate::schedule::Row;

/// Writes rows as CSV.
pub struct Csv<W> {
    out: W,
    addresses: bool,
}

impl<W: Write> Csv<W> {
    /// Writes the header. Addresses and ports are written only if `addresses` asks for them.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(mut out: W, addresses: bool) -> io::Result<Self> {
        out.write_all(b"t_ns,frame_bytes,flow,dir,ip_proto,dscp")?;
        if addresses {
            out.write_all(b",source,destination,source_port,destination_port")?;
        }
        out.write_all(b"\n")?;
        Ok(Self { out, addresses })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// What the system says.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        let Row { at, size, flow, direction, packet } = row;
        let (at, size, direction) = (at.get(), size.get(), direction.letter());
        write!(self.out, "{at},{size},{flow},{direction},{},{}", packet.protocol, packet.dscp)?;
        if self.addresses {
            let (from, to) = packet.ports;
            write!(self.out, ",{},{},{from},{to}", packet.source, packet.destination)?;
        }
        self.out.write_all(b"\n")
    }

    /// Writes what is still held back.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// What [`rest`] has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rest {
    /// Rows.
    pub packets: u64,
    /// Their bytes on the line.
    pub bytes: u64,
    /// The time of the first of them.
    pub first_ns: u64,
}

/// Copies from a schedule that [`Csv`] wrote the forward rows of all flows but those `named`.
///
/// # Errors
/// What the system says, or a row that is none.
pub fn rest(schedule: impl BufRead, named: &HashSet<u32>, mut out: impl Write) -> io::Result<Rest> {
    let mut rest = Rest::default();
    let mut lines = schedule.lines();
    writeln!(out, "{}", lines.next().transpose()?.unwrap_or_default())?;
    for line in lines {
        let line = line?;
        let (at, size, flow, direction) = fields(&line).ok_or(io::ErrorKind::InvalidData)?;
        if direction == "f" && !named.contains(&flow) {
            if rest.packets == 0 {
                rest.first_ns = at;
            }
            rest.packets += 1;
            rest.bytes += size;
            writeln!(out, "{line}")?;
        }
    }
    out.flush()?;
    Ok(rest)
}

/// Time, size, flow and direction of a row.
fn fields(line: &str) -> Option<(u64, u64, u32, &str)> {
    let mut fields = line.split(',');
    let mut next = || fields.next();
    Some((next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_what_goes_forward_and_is_not_named() {
        let schedule = "t_ns,frame_bytes,flow,dir,ip_proto,dscp\n0,60,0,f,6,0\n5,70,1,f,17,0\n6,80,1,r,17,0\n9,90,2,f,6,0\n";
        let mut out = Vec::new();
        let named = HashSet::from([0]);
        let rest = rest(schedule.as_bytes(), &named, &mut out).expect("in memory");
        assert_eq!(rest, Rest { packets: 2, bytes: 160, first_ns: 5 });
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, "t_ns,frame_bytes,flow,dir,ip_proto,dscp\n5,70,1,f,17,0\n9,90,2,f,6,0\n");
    }
}
