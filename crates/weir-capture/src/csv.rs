//! A schedule as text: the columns of `data/packets/`.
//!
//! `t_ns,frame_bytes,flow,dir,ip_proto,dscp`, and where asked for
//! `source,destination,source_port,destination_port` behind them.

use std::io::{self, Write};

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
