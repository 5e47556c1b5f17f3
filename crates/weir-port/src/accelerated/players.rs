//! The strategies of a comparison, each with the loops that suit it.

use super::error::MOST_CLASSES;
use super::fifo::Fifo;
use super::flow::Flow;
use super::keyed::{self, Keyed};
use super::queues::Queues;
use super::robin::RoundRobin;
use super::strategy::Strategy;
use super::tally::{Batch, Probe};
use crate::timeline::Segment;
use weir_lab::dispatch::Work;

/// Classes for which the loops are unrolled.
const FEW: usize = 8;
/// Strategies ordered by key that are played side by side.
const WIDEST: usize = 16;

/// The strategies by the way they are played.
#[derive(Clone, Debug)]
pub(super) struct Players {
    queues: Queues,
    fifo: Vec<Fifo>,
    robin: Vec<RoundRobin<false>>,
    robin_head: Vec<RoundRobin<true>>,
    /// One strategy, or many side by side, over few classes or many.
    single: Vec<Keyed<FEW, 1>>,
    side_by_side: Vec<Keyed<FEW, WIDEST>>,
    single_of_many: Vec<Keyed<MOST_CLASSES, 1>>,
    side_by_side_of_many: Vec<Keyed<MOST_CLASSES, WIDEST>>,
}

impl Players {
    pub(super) fn new(strategies: &[Strategy], lengths: &[u32]) -> Self {
        let classes = lengths.len();
        let class_bits = if classes <= FEW { FEW } else { MOST_CLASSES }.trailing_zeros();
        let is_keyed = |strategy: &Strategy| {
            !matches!(strategy, Strategy::Fifo | Strategy::RoundRobin | Strategy::RoundRobinHead)
        };
        let keyed: Vec<_> = strategies.iter().enumerate().filter(|lane| is_keyed(lane.1)).collect();
        let (queues, unused) = keyed::queues(&keyed, lengths, class_bits);
        let mut players = Self {
            queues,
            fifo: Vec::new(),
            robin: Vec::new(),
            robin_head: Vec::new(),
            single: Vec::new(),
            side_by_side: Vec::new(),
            single_of_many: Vec::new(),
            side_by_side_of_many: Vec::new(),
        };
        for (place, strategy) in strategies.iter().enumerate() {
            match strategy {
                Strategy::Fifo => players.fifo.push(Fifo::new(place, classes)),
                Strategy::RoundRobin => players.robin.push(RoundRobin::new(place, classes)),
                Strategy::RoundRobinHead => players.robin_head.push(RoundRobin::new(place, classes)),
                _ => {}
            }
        }
        for lanes in keyed.chunks(WIDEST) {
            match (lanes.len() == 1, classes <= FEW) {
                (true, true) => players.single.push(Keyed::new(lanes, lengths, unused)),
                (false, true) => players.side_by_side.push(Keyed::new(lanes, lengths, unused)),
                (true, false) => players.single_of_many.push(Keyed::new(lanes, lengths, unused)),
                (false, false) => players.side_by_side_of_many.push(Keyed::new(lanes, lengths, unused)),
            }
        }
        players
    }

    /// Writes counts and sums since the beginning.
    pub(super) fn read(&self, into: &mut Batch) {
        let classes = into.classes;
        let mut put = |strategy: usize, class: usize, count: u64, sum: u128| {
            into.count[strategy * classes + class] = count;
            into.sum[strategy * classes + class] = sum;
        };
        for class in 0..classes {
            self.fifo.iter().for_each(|p| put(p.strategy, class, p.count[class], p.sum[class]));
            self.robin.iter().for_each(|p| put(p.strategy, class, p.count[class], p.sum[class]));
            self.robin_head.iter().for_each(|p| put(p.strategy, class, p.count[class], p.sum[class]));
            self.single.iter().for_each(|p| p.lanes.read(class, &mut put));
            self.side_by_side.iter().for_each(|p| p.lanes.read(class, &mut put));
            self.single_of_many.iter().for_each(|p| p.lanes.read(class, &mut put));
            self.side_by_side_of_many.iter().for_each(|p| p.lanes.read(class, &mut put));
        }
    }

    /// Packets that each strategy still holds; `None` for FIFO, which keeps no queue.
    pub(super) fn held(&self, strategies: usize) -> Vec<Option<u64>> {
        let mut held = vec![None; strategies];
        let mut put = |strategy: usize, packets: u64| held[strategy] = Some(packets);
        self.robin.iter().for_each(|p| put(p.strategy, p.held()));
        self.robin_head.iter().for_each(|p| put(p.strategy, p.held()));
        self.single.iter().for_each(|p| p.lanes.held(&mut put));
        self.side_by_side.iter().for_each(|p| p.lanes.held(&mut put));
        self.single_of_many.iter().for_each(|p| p.lanes.held(&mut put));
        self.side_by_side_of_many.iter().for_each(|p| p.lanes.held(&mut put));
        held
    }

    /// The place in a class up to which every strategy is through; `None` if none needs the queues.
    fn kept(&self, class: usize) -> Option<u64> {
        let robin = self.robin.iter().map(|p| p.count[class]);
        let robin_head = self.robin_head.iter().map(|p| p.count[class]);
        let single = self.single.iter().map(|p| p.lanes.slowest(class));
        let side_by_side = self.side_by_side.iter().map(|p| p.lanes.slowest(class));
        let single_of_many = self.single_of_many.iter().map(|p| p.lanes.slowest(class));
        let side_by_side_of_many = self.side_by_side_of_many.iter().map(|p| p.lanes.slowest(class));
        let few = robin.chain(robin_head).chain(single).chain(side_by_side);
        few.chain(single_of_many).chain(side_by_side_of_many).min()
    }

    #[inline(always)]
    fn play<P: Probe>(&mut self, segment: &Segment<'_>, probe: &mut P) {
        let mut queues = core::mem::take(&mut self.queues);
        if self.kept(0).is_some() {
            queues.append(segment, |class| self.kept(class).unwrap_or(0));
        }
        for player in &mut self.fifo {
            player.play(segment, probe);
        }
        for player in &mut self.robin {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.robin_head {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.single {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.side_by_side {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.single_of_many {
            player.play(&queues, segment, probe);
        }
        for player in &mut self.side_by_side_of_many {
            player.play(&queues, segment, probe);
        }
        self.queues = queues;
    }
}

/// Plays a segment on every strategy.
pub(super) struct Play<'a, 'b, P> {
    pub(super) players: &'a mut Players,
    pub(super) segment: &'a Segment<'b>,
    pub(super) flow: &'a mut Flow,
    pub(super) probe: &'a mut P,
}

impl<P: Probe> Work for Play<'_, '_, P> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.flow.count(self.segment);
        self.players.play(self.segment, self.probe);
    }
}
