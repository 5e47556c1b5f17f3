//! Disciplines over packets at a link: each is served whole. One algorithm a file.

pub mod drr;
pub mod flows;
pub mod limits;
pub mod scfq;
mod slots;
pub mod tbf;
#[cfg(test)]
mod testing;
mod virtual_time;
pub mod wf2q_plus;
pub mod wfq;

/// First in, first out knows no difference between messages and packets.
pub use crate::message::fifo;

use crate::item::Item;
use crate::registry::register;
use crate::units::Bytes;

register!(
    PACKET,
    visit_packet,
    [Item<Cost = Bytes>],
    fifo::Fifo,
    drr::Drr,
    wfq::Wfq,
    scfq::Scfq,
    wf2q_plus::Wf2qPlus,
    tbf::Tbf
);
