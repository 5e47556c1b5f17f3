//! The message port as the report's listing has it: one linear list, searched from its head.
//!
//! Priorities are exact and unbounded: for alpha = n / d they are `n * length + d * tick` in 128 bits. It
//! is the oracle of the property tests, and slow on purpose.

use std::collections::{BTreeMap, VecDeque};

use weir_core::discipline::{CountDrops, Discipline, Enqueued, Open};
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::units::{Cost, Instant, Packets};

/// So large that it stands for infinity; the clock is negligible against it.
pub(crate) const INFINITE: i128 = 1_000_000_000_000_000_000;

/// What the list orders by.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    RoundRobin,
    RoundRobinHead,
    /// The numerators of alpha: of each class, and of all others.
    Alpha {
        classes: Vec<i128>,
        others: i128,
        denominator: i128,
        recalculate: bool,
    },
    /// alpha = weight * backlog within the limits, all with one denominator.
    Tracking {
        low: i128,
        high: i128,
        weight: i128,
        denominator: i128,
    },
}

#[derive(Clone, Debug)]
struct Entry {
    message: Message,
    alpha: i128,
    priority: i128,
    raised: bool,
}

/// The list, with the rules of sections 11 and 12 around it.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) rule: Rule,
    pub(crate) in_order: bool,
    pub(crate) limit: Option<usize>,
    list: Vec<Entry>,
    tick: i128,
    /// Of each flow the priority of its last message as inserted.
    last: BTreeMap<FlowId, i128>,
    outside: BTreeMap<FlowId, VecDeque<Message>>,
}

impl List {
    pub(crate) fn new(rule: Rule) -> Self {
        let (last, outside) = (BTreeMap::new(), BTreeMap::new());
        Self { rule, in_order: false, limit: None, list: Vec::new(), tick: 0, last, outside }
    }

    fn outstanding(&self, flow: FlowId) -> usize {
        self.list.iter().filter(|entry| entry.message.flow == flow).count()
    }

    pub(crate) fn arrive(&mut self, message: Message) {
        match self.limit {
            Some(limit) if self.outstanding(message.flow) >= limit => {
                self.outside.entry(message.flow).or_default().push_back(message);
            }
            _ => self.insert(message),
        }
    }

    fn alpha_of(&self, message: &Message) -> i128 {
        match &self.rule {
            Rule::Alpha { classes, others, .. } => {
                classes.get(usize::from(message.class.0)).copied().unwrap_or(*others)
            }
            Rule::Tracking { low, high, weight, .. } => {
                let waiting: u64 = self.list.iter().map(|entry| entry.message.remaining.count()).sum();
                (weight * i128::from(waiting)).clamp(*low, *high)
            }
            Rule::RoundRobin | Rule::RoundRobinHead => 0,
        }
    }

    fn priority(&self, alpha: i128, message: &Message) -> i128 {
        let length = i128::from(message.remaining.count());
        match &self.rule {
            Rule::RoundRobin => self.tick,
            Rule::RoundRobinHead => 0,
            _ if alpha == INFINITE => alpha * length,
            Rule::Alpha { denominator, .. } | Rule::Tracking { denominator, .. } => {
                alpha * length + denominator * self.tick
            }
        }
    }

    fn recalculates(&self) -> bool {
        matches!(self.rule, Rule::Alpha { recalculate: true, .. })
    }

    fn insert(&mut self, message: Message) {
        if let Some(head) = self.list.first().filter(|_| self.recalculates()) {
            let priority = self.priority(head.alpha, &head.message);
            self.list[0].priority = priority;
            self.list[0].raised = true;
        }
        let alpha = self.alpha_of(&message);
        let mut priority = self.priority(alpha, &message);
        if self.in_order && self.outstanding(message.flow) > 0 {
            let raised = self.list.iter().filter(|entry| entry.raised).map(|entry| entry.priority);
            priority = raised.chain([priority, self.last[&message.flow]]).max().unwrap_or(priority);
        }
        self.last.insert(message.flow, priority);
        let place = self.list.iter().position(|entry| entry.priority > priority).unwrap_or(self.list.len());
        self.list.insert(place, Entry { message, alpha, priority, raised: false });
    }

    /// The message whose packet the server takes.
    pub(crate) fn take(&mut self) -> Option<u32> {
        if self.list.is_empty() {
            return None;
        }
        self.tick += 1;
        let decrements = !self.recalculates();
        let head = &mut self.list[0];
        head.raised = false;
        head.message.remaining = head.message.remaining.minus(Packets::ONE);
        if decrements {
            head.priority -= head.alpha;
        }
        let message = head.message;
        if message.remaining == Packets::ZERO {
            self.list.remove(0);
            let next = self.outside.get_mut(&message.flow).and_then(VecDeque::pop_front);
            next.into_iter().for_each(|next| self.insert(next));
        } else if matches!(self.rule, Rule::RoundRobin | Rule::RoundRobinHead) {
            let mut entry = self.list.remove(0);
            entry.priority = self.tick;
            self.list.push(entry);
        }
        Some(message.id)
    }
}

/// An engine that serves packet by packet, or several at once, and interrupts between them.
pub(crate) struct Port<D> {
    pub(crate) discipline: D,
    /// The message as granted, what remains of it, and what remains of its quantum.
    open: Option<(Message, u64, u64)>,
    now: Instant,
    drops: CountDrops,
}

impl<D: Discipline<Message>> Port<D> {
    pub(crate) fn new(discipline: D) -> Self {
        Self { discipline, open: None, now: Instant::ZERO, drops: CountDrops(0) }
    }

    pub(crate) fn arrive(&mut self, message: Message) {
        if self.discipline.enqueue(self.now, message, &mut self.drops) == Enqueued::Preempts {
            let (mut message, remaining, _) = self.open.take().expect("only an open grant is outranked");
            message.remaining = Packets::new(remaining);
            self.discipline.requeue(self.now, message, Packets::ZERO, &mut self.drops);
        }
    }

    /// Serves up to `most` packets of one message at once; whose, and how many.
    pub(crate) fn serve(&mut self, most: u64) -> Option<(u32, u64)> {
        if self.open.is_none() {
            let grant = self.discipline.dequeue(self.now, &Open, &mut self.drops)?;
            self.open = Some((grant.item, grant.item.remaining.count(), grant.quantum.count()));
        }
        let (granted, remaining, quantum) = self.open.take()?;
        let units = most.min(quantum);
        let used = Packets::new(units);
        match (remaining - units, quantum - units) {
            (0, _) => self.discipline.finish(self.now, &granted, used),
            (remaining, 0) => {
                let message = Message { remaining: Packets::new(remaining), ..granted };
                self.discipline.requeue(self.now, message, used, &mut self.drops);
            }
            (remaining, quantum) => {
                self.discipline.charge(self.now, &granted, used);
                self.open = Some((granted, remaining, quantum));
            }
        }
        Some((granted.id, units))
    }
}

/// What happens to a port.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Arrive { length: u64, class: u16, flow: u32 },
    Serve(u64),
}

/// Holds a discipline to the list, decision by decision, until both are empty; returns the discipline.
pub(crate) fn agree<D: Discipline<Message>>(discipline: D, mut list: List, events: &[Event]) -> D {
    let mut port = Port::new(discipline);
    for (id, event) in (0..).zip(events) {
        match *event {
            Event::Arrive { length, class, flow } => {
                let (flow, class) = (FlowId(flow), ClassId(class));
                let message = Message { id, flow, class, remaining: Packets::new(length) };
                port.arrive(message);
                list.arrive(message);
            }
            Event::Serve(most) => _ = serve(&mut port, &mut list, most),
        }
    }
    while serve(&mut port, &mut list, u64::MAX) {}
    assert_eq!(port.drops.0, 0);
    assert_eq!(port.discipline.backlog().items, 0);
    assert_eq!(port.discipline.backlog().cost, Packets::ZERO);
    port.discipline
}

fn serve<D: Discipline<Message>>(port: &mut Port<D>, list: &mut List, most: u64) -> bool {
    let Some((id, units)) = port.serve(most) else {
        assert_eq!(list.take(), None);
        return false;
    };
    for unit in 0..units {
        assert_eq!(list.take(), Some(id), "unit {unit} of {units}");
    }
    true
}
