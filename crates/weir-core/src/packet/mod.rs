//! Disciplines over packets at a link: each is served whole. One algorithm a file.

mod bucket;
pub mod cake;
pub mod child;
pub mod codel;
pub mod drr;
pub mod dtable;
#[cfg(test)]
mod evicting;
pub mod flows;
pub mod fq;
pub mod fq_codel;
pub mod hash;
pub mod htb;
mod leaving;
mod lengths;
pub mod limits;
mod list;
mod longest;
mod ordered;
pub mod priority;
mod ranks;
mod round;
pub mod scfq;
mod sets;
pub mod sfq;
pub mod sfq_linux;
pub mod sfq_set;
mod slots;
pub mod table;
pub mod table_basic;
pub mod table_weighted;
mod tally;
pub mod tbf;
#[cfg(test)]
mod testing;
mod tournament;
mod virtual_time;
pub mod wf2q_plus;
pub mod wfq;

/// First in, first out knows no difference between messages and packets.
pub use crate::message::fifo;

use crate::item::Item;
use crate::registry::{Visitor, register};
use crate::units::Bytes;

register!(
    PACKET,
    visit_packet,
    Visitor,
    [Item<Cost = Bytes>],
    fifo::Fifo,
    sfq::Sfq,
    sfq_linux::SfqLinux,
    sfq_set::SfqSet,
    drr::Drr,
    table_basic::TableBasic,
    table_weighted::TableWeighted,
    dtable::Dtable,
    fq::Fq,
    wfq::Wfq,
    scfq::Scfq,
    wf2q_plus::Wf2qPlus,
    codel::Codel,
    fq_codel::FqCodel,
    cake::Cake,
    priority::Priority,
    tbf::Tbf,
    htb::Htb,
);
