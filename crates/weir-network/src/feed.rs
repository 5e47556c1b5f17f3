//! The packets that arrive at one link, in order: those of links before it and those of sources, merged.
//!
//! At one instant links come before sources, each by their numbers. A few inputs are compared one by one; many
//! are held in a tournament, whose winner is replaced in O(log inputs).

use crate::collector::Collector;
use crate::flight::Flight;
use crate::source::Source;
use crate::tournament::Tournament;
use weir_core::units::Instant;

/// Up to this many inputs are compared one by one.
const FEW: usize = 8;

/// Packets on their way from one link to another.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// The place of its box.
    pub place: usize,
    /// How many of the box were taken.
    pub taken: usize,
}

/// All inputs of a link.
pub struct Feed {
    /// Boxes filled by other links, in the order of these.
    pub lanes: Vec<Lane>,
    /// Sources, in the order of the flows.
    pub sources: Vec<Source>,
    /// When the next packet of each input arrives, or [`Instant::NEVER`].
    heads: Vec<Instant>,
    tournament: Tournament,
}

impl Feed {
    /// These inputs.
    #[must_use]
    pub fn new(lanes: Vec<Lane>, sources: Vec<Source>) -> Self {
        let inputs = lanes.len() + sources.len();
        let tournament = if inputs > FEW { Tournament::new(inputs) } else { Tournament::default() };
        Self { lanes, sources, heads: vec![Instant::NEVER; inputs], tournament }
    }

    /// Whether all packets come from one link.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.lanes.len() == 1 && self.sources.is_empty()
    }

    /// Reads when the first packet of each source arrives.
    pub fn start(&mut self, collector: &mut Collector) {
        let of_sources = &mut self.heads[self.lanes.len()..];
        for (head, source) in of_sources.iter_mut().zip(&mut self.sources) {
            *head = source.head(collector);
        }
        if self.heads.len() > FEW {
            self.tournament.play(&self.heads);
        }
    }

    /// Reads when the next packet of each lane arrives. Of the sources it is known, and to examine thousands of them again in
    /// every window would cost as much as their packets do.
    pub fn begin(&mut self, boxes: &[Vec<Flight>]) {
        for (input, lane) in self.lanes.iter().enumerate() {
            let head = boxes[lane.place].get(lane.taken).map_or(Instant::NEVER, |flight| flight.at);
            if head != std::mem::replace(&mut self.heads[input], head) && self.heads.len() > FEW {
                self.tournament.replace(input, &self.heads);
            }
        }
    }

    /// When the next packet of a source arrives.
    #[must_use]
    pub fn next_departure(&self) -> Instant {
        self.heads[self.lanes.len()..].iter().copied().min().unwrap_or(Instant::NEVER)
    }

    /// Takes at most `most` packets that arrive before `until`; none is the end of them.
    pub fn fill(
        &mut self,
        until: Instant,
        most: usize,
        boxes: &[Vec<Flight>],
        collector: &mut Collector,
        out: &mut Vec<Flight>,
    ) {
        out.clear();
        if self.heads.len() > FEW {
            while out.len() < most {
                let input = self.tournament.winner();
                if self.heads[input] >= until {
                    break;
                }
                self.take(input, boxes, collector, out);
                self.tournament.replace(input, &self.heads);
            }
        } else if !self.heads.is_empty() {
            while out.len() < most {
                let input = self.first();
                if self.heads[input] >= until {
                    break;
                }
                self.take(input, boxes, collector, out);
            }
        }
    }

    /// The input whose packet arrives first.
    #[inline]
    fn first(&self) -> usize {
        let (mut first, mut least) = (0, self.heads[0]);
        for (input, &head) in self.heads.iter().enumerate().skip(1) {
            let earlier = head < least;
            first = if earlier { input } else { first };
            least = if earlier { head } else { least };
        }
        first
    }

    #[inline(always)]
    fn take(
        &mut self,
        input: usize,
        boxes: &[Vec<Flight>],
        collector: &mut Collector,
        out: &mut Vec<Flight>,
    ) {
        if let Some(lane) = self.lanes.get_mut(input) {
            let packets = &boxes[lane.place];
            out.push(packets[lane.taken]);
            lane.taken += 1;
            self.heads[input] = packets.get(lane.taken).map_or(Instant::NEVER, |next| next.at);
            return;
        }
        let source = &mut self.sources[input - self.lanes.len()];
        source.take(out);
        self.heads[input] = source.head(collector);
    }
}
