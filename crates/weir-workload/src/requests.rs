//! Requests to a server with their own times, as a trace has them.

/// Requests with their own times; entry `i` of each array belongs to the same request, in order of arrival.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requests {
    /// When it arrives, in nanoseconds from the first.
    pub at: Vec<u64>,
    /// Its class.
    pub class: Vec<u16>,
    /// Its flow.
    pub flow: Vec<u32>,
    /// Its service time, in nanoseconds.
    pub service: Vec<u64>,
    /// How long it waits for its service to begin, in nanoseconds; empty where all wait for ever.
    pub patience: Vec<u64>,
}

impl Requests {
    /// Requests held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether no request is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Forgets the requests and keeps the memory.
    pub fn clear(&mut self) {
        self.at.clear();
        self.class.clear();
        self.flow.clear();
        self.service.clear();
        self.patience.clear();
    }

    /// Keeps those that arrive before `until`.
    pub fn end_at(&mut self, until: u64) {
        let kept = self.at.partition_point(|&at| at < until);
        self.at.truncate(kept);
        self.class.truncate(kept);
        self.flow.truncate(kept);
        self.service.truncate(kept);
        self.patience.truncate(kept);
    }

    /// Appends some of another's.
    pub fn extend(&mut self, other: &Self, places: std::ops::Range<usize>) {
        self.at.extend_from_slice(&other.at[places.clone()]);
        self.class.extend_from_slice(&other.class[places.clone()]);
        self.flow.extend_from_slice(&other.flow[places.clone()]);
        self.service.extend_from_slice(&other.service[places.clone()]);
        self.patience.extend_from_slice(other.patience.get(places).unwrap_or_default());
    }
}
