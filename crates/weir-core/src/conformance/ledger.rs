//! What the suite knows about every item, to hold against what the discipline says.

use super::{Promises, Sample};
use crate::discipline::{Backlog, DropReason, Grant};
use crate::item::FlowId;
use crate::units::Cost;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place<I> {
    Waiting(I),
    Granted(I),
    Left,
}

/// Where every item is.
#[derive(Debug)]
pub(super) struct Ledger<I: Sample> {
    places: Vec<Place<I>>,
    backlog: Backlog<I::Cost>,
    last_finished: Vec<(FlowId, u32)>,
}

impl<I: Sample> Ledger<I> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), backlog: Backlog::default(), last_finished: Vec::new() }
    }

    /// The next name to give; items are named in the order of their arrival.
    pub(super) fn next_id(&self) -> u32 {
        self.places.len() as u32
    }

    pub(super) fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }

    pub(super) fn enqueued(&mut self, item: I) {
        self.places.push(Place::Waiting(item));
        self.backlog.add(item.cost());
    }

    pub(super) fn dropped(&mut self, item: I, reason: DropReason) {
        let another = reason != DropReason::AlreadyReady || self.present(item.flow()) > 1;
        assert!(another, "{item:?} is dropped, yet its process is not ready");
        let place = &mut self.places[item.id() as usize];
        assert_eq!(*place, Place::Waiting(item), "dropped, yet it was not waiting");
        *place = Place::Left;
        self.backlog.remove(item.cost());
    }

    pub(super) fn granted(&mut self, grant: &Grant<I>) {
        let Grant { item, quantum } = *grant;
        let place = &mut self.places[item.id() as usize];
        assert_eq!(*place, Place::Waiting(item), "granted, yet it was not waiting");
        assert!(quantum > I::Cost::ZERO, "the grant of {item:?} is empty");
        let fits = I::TASK || quantum <= item.cost();
        assert!(fits, "the grant of {item:?} is {quantum}, more than it costs");
        *place = Place::Granted(item);
        self.backlog.remove(item.cost());
    }

    pub(super) fn requeued(&mut self, item: I) {
        self.places[item.id() as usize] = Place::Waiting(item);
        self.backlog.add(item.cost());
    }

    pub(super) fn finished(&mut self, item: I, promises: Promises) {
        self.places[item.id() as usize] = Place::Left;
        let last = self.last_finished.iter_mut().find(|(flow, _)| *flow == item.flow());
        match last {
            Some((_, id)) => {
                let in_order = !promises.flow_order || *id < item.id();
                assert!(in_order, "{item:?} is finished after item {id} of the same flow");
                *id = item.id();
            }
            None => self.last_finished.push((item.flow(), item.id())),
        }
    }

    /// How many items of the flow wait or are granted.
    fn present(&self, flow: FlowId) -> usize {
        let is_present = |place: &&Place<I>| match place {
            Place::Waiting(item) | Place::Granted(item) => item.flow() == flow,
            Place::Left => false,
        };
        self.places.iter().filter(is_present).count()
    }

    /// A process is ready once at a time.
    pub(super) fn assert_one_readiness(&self, flow: FlowId) {
        assert!(!I::TASK || self.present(flow) <= 1, "process {} is ready twice", flow.0);
    }

    /// Every item has left, by `finish` or by a drop.
    pub(super) fn assert_settled(&self) {
        let stays = self.places.iter().position(|place| *place != Place::Left);
        assert_eq!(stays, None, "an item never left");
    }
}
