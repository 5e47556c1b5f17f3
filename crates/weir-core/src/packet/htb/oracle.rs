//! Who may send, and on whose account, found by looking at every class at every decision.

use super::config::{ClassConfig, Config};
use crate::conformance::Random;
use crate::packet::bucket::Bucket;
use crate::units::{Bytes, Instant, Rate};

/// See above.
pub(super) struct Plain {
    classes: Vec<(ClassConfig, Bucket, Bucket)>,
    link: (Bucket, usize),
    /// Packets of each class.
    pub(super) waiting: Vec<u64>,
}

impl Plain {
    pub(super) fn new(config: &Config) -> Self {
        let full = |rate| Bucket::full(rate, config.burst);
        let classes: Vec<_> =
            config.classes.iter().map(|&class| (class, full(class.rate), full(class.ceiling))).collect();
        let mut plain = Self { waiting: vec![0; classes.len()], classes, link: (full(config.rate), 0) };
        let tops = (0..plain.classes.len()).filter(|&at| plain.classes[at].0.parent.is_none());
        plain.link.1 = 1 + tops.map(|at| plain.height(at)).max().unwrap_or(0);
        plain
    }

    fn height(&self, class: usize) -> usize {
        let below = (0..self.classes.len()).filter(|&at| self.classes[at].0.parent == Some(class));
        below.map(|at| 1 + self.height(at)).max().unwrap_or(0)
    }

    /// The height of the lender of each class with packets, and the priority of the class.
    pub(super) fn ranks(&mut self, now: Instant) -> Vec<Option<(usize, u8)>> {
        (0..self.classes.len()).map(|leaf| self.rank(leaf, now).filter(|_| self.waiting[leaf] > 0)).collect()
    }

    fn rank(&mut self, leaf: usize, now: Instant) -> Option<(usize, u8)> {
        let (priority, mut at) = (self.classes[leaf].0.priority, Some(leaf));
        while let Some(class) = at {
            let (config, rate, ceiling) = &mut self.classes[class];
            rate.settle(now);
            ceiling.settle(now);
            match (ceiling.is_solvent(), rate.is_solvent()) {
                (false, _) => return None,
                (true, true) => return Some((self.height(class), priority)),
                (true, false) => at = config.parent,
            }
        }
        self.link.0.settle(now);
        self.link.0.is_solvent().then_some((self.link.1, priority))
    }

    /// A class sends a packet.
    pub(super) fn sends(&mut self, now: Instant, leaf: usize, size: Bytes) {
        let lender = self.rank(leaf, now).map_or(0, |rank| rank.0);
        self.waiting[leaf] -= 1;
        let mut at = Some(leaf);
        while let Some(class) = at {
            let lends = self.height(class) >= lender;
            let (config, rate, ceiling) = &mut self.classes[class];
            rate.settle(now);
            ceiling.settle(now);
            ceiling.owe(size);
            if lends {
                rate.owe(size);
            }
            at = config.parent;
        }
        self.link.0.settle(now);
        self.link.0.owe(size);
    }
}

/// A few classes in a few families, with rates that are often used up.
pub(super) fn random(random: &mut Random) -> Config {
    let count = 1 + random.below(7) as usize;
    let mut left = vec![Rate::new(16_000_000); count + 1];
    let mut classes: Vec<ClassConfig> = Vec::new();
    let mut depths = vec![0; count];
    for at in 0..count {
        let parent =
            Some(random.below(at as u64 + 1) as usize).filter(|&parent| parent < at && depths[parent] < 5);
        depths[at] = parent.map_or(0, |parent| depths[parent] + 1);
        let room = &mut left[parent.unwrap_or(count)];
        let rate = Rate::new(1 + random.below(room.get() / 2));
        *room = Rate::new(room.get() - rate.get());
        left[at] = rate;
        let ceiling = Rate::new(rate.get() + random.below(2) * random.below(16_000_000));
        classes.push(ClassConfig { rate, ceiling, parent, priority: random.below(3) as u8 });
    }
    let burst = Bytes::new(1 + random.below(2) * random.below(6_000));
    Config { rate: Rate::new(16_000_000), classes, burst, quantum: Bytes::new(256 + random.below(2_000)) }
}
