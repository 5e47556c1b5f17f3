//! Disciplines over messages: items of several units, served in parts or whole. One algorithm a file.

pub mod alpha;
pub mod alpha_tracking;
mod clocked;
pub mod fifo;
pub(crate) mod flows;
pub mod hrrn;
pub mod in_order;
pub mod las;
pub mod outstanding;
pub mod ps;
pub mod psjf;
pub mod rank;
mod ranked;
pub mod ros;
pub mod rr;
pub mod rr_head;
#[cfg(test)]
mod schedule;
pub mod sf;
pub mod sjf;
#[cfg(test)]
mod testing;
mod tournament;

use crate::item::Item;
use crate::registry::{Visitor, prioritize, register};

register!(
    MESSAGE,
    visit_plain_message,
    Visitor,
    [Item],
    fifo::Fifo,
    rr::Rr,
    rr_head::RrHead,
    sf::Sf,
    alpha::Alpha,
    alpha_tracking::AlphaTracking,
    ps::Ps,
    sjf::Sjf,
    psjf::Psjf,
    las::Las,
    hrrn::Hrrn,
    rank::Rank,
    ros::Ros,
);
register!(WRAPPER, visit_wrapper, Visitor, [Item], in_order::InOrder, outstanding::Outstanding);

prioritize!(sf::Sf, alpha::Alpha, alpha_tracking::AlphaTracking, sjf::Sjf, psjf::Psjf);
