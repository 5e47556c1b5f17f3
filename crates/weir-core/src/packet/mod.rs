//! Disciplines over packets at a link: each is served whole. One algorithm a file.

pub mod drr;
pub mod hash;
mod longest;
pub mod sfq;
pub mod sfq_linux;
pub mod sfq_set;
mod slots;
mod store;
pub mod tbf;

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
    sfq::Sfq,
    sfq_linux::SfqLinux,
    sfq_set::SfqSet,
    tbf::Tbf
);
