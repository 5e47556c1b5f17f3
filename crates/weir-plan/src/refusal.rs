//! Why a class does not fit, and what would: every remedy that names a figure has been tried out.
//!
//! First the class's own request is changed: less share, or a longer distance. Where no such request is met, one of
//! another is, whose distance is doubled, where entries run out; then `k` and `w` of the table, both; then two classes
//! are joined, which takes one lane less.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | for at most 8 refused classes at most 90 solutions each |
//! | Units | shares in percent; times in microseconds |

use weir_core::units::Nanos;

use crate::admission::Refused;
use crate::bound::Scheduler;
use crate::plan::{Nearest, RefusedClass};
use crate::quantity::{Share, micros};
use crate::requirements::{Request, Requirements};
use crate::shape::Shape;
use crate::solve::{self, Reason, Solution};
use crate::target::Form;

/// Of how many refused classes remedies are looked for.
const MAX_SEARCHED: usize = 8;
/// Of how many other classes changes are tried out: of those with the most entries.
const MAX_TRIED: usize = 8;
/// How far k and w are searched from what is written, and how many pairs of them are tried out.
const MAX_STEP: u32 = 4;
const MAX_FACTORS: usize = 40;
/// The largest w, and the largest weight of an entry of InfiniBand.
const MAX_W: (u32, u64) = (64, 255);

/// The refused classes of a solution.
pub(crate) fn told(asked: &Requirements, solution: &Solution) -> Vec<RefusedClass> {
    let told = |(place, (class, reason)): (usize, &(usize, Reason))| {
        let request = &asked.classes[*class];
        let is_searched = place < MAX_SEARCHED;
        let nearest = if is_searched { nearest(asked, solution, *class) } else { Vec::new() };
        let room = Room { asked, solution, class: *class };
        let remedy = match nearest.is_empty() {
            false => nearest.iter().map(met).collect::<Vec<_>>().join("; "),
            true => is_searched
                .then(|| room.remedy(*reason))
                .flatten()
                .unwrap_or_else(|| otherwise(asked, *reason)),
        };
        let reason = reason_of(request, *reason, asked.target.scheduler());
        RefusedClass { name: request.name.clone(), line: request.line, reason, remedy, nearest }
    };
    solution.refused.iter().enumerate().map(told).collect()
}

/// What is left where nothing that was tried lets a class in.
fn otherwise(asked: &Requirements, reason: Reason) -> String {
    let (classes, entries) = (asked.classes.len(), asked.shape.entries());
    match reason {
        Reason::Room(_) if classes as u64 > u64::from(entries) => format!(
            "join classes that need the same: each has an entry at least, and there are {entries} for {classes}; or plan \
             for a port with more"
        ),
        Reason::Room(Refused::Entries { .. } | Refused::Scattered { .. }) => {
            "lower what other classes ask for: their shares, or distances and latencies that are too short"
                .to_owned()
        }
        Reason::Room(_) => "lower what other classes ask for, or raise the rate of the link".to_owned(),
        Reason::Latency { .. } | Reason::Percents { .. } => {
            "lower what other classes ask for, or raise the rate of the link".to_owned()
        }
    }
}

fn met(near: &Nearest) -> String {
    let bound = micros(near.latency);
    format!("share {} at distance {} would be met, with a bound of {bound}", near.share, near.distance)
}

fn reason_of(request: &Request, reason: Reason, scheduler: Scheduler) -> String {
    let share = request.share;
    match reason {
        Reason::Room(Refused::Share { largest }) => {
            format!("asks for {share}; all entries together hold {largest}")
        }
        Reason::Room(Refused::Entries { needed, free }) => {
            let what = request.distance.map_or(String::new(), |distance| format!(" at distance {distance}"));
            format!("asks for {share}{what}; entries needed: {needed}, free: {free}")
        }
        Reason::Room(Refused::Pool { needed, left }) if needed > share => {
            format!(
                "asks for {share}, and its entries weigh {needed} at least; the others leave {left} of the pool"
            )
        }
        Reason::Room(Refused::Pool { left, .. }) => {
            format!("asks for {share}; the others leave {left} of the pool")
        }
        Reason::Room(Refused::Scattered { needed, free }) => {
            format!("needs {needed} entries at equal distances; free: {free}, but scattered")
        }
        Reason::Percents { reached } => {
            let (latency, reached) = (micros(request.latency.unwrap_or_default()), micros(reached));
            let scheduler = scheduler.name();
            format!(
                "asks for {latency}; {scheduler} bounds it by {reached}, and no whole percents keep the latencies of all"
            )
        }
        Reason::Latency { reached, distance } => {
            let latency = micros(request.latency.unwrap_or_default());
            let (scheduler, reached) = (scheduler.name(), micros(reached));
            let next = if distance == 1 { "none is shorter" } else { "the next has no room" };
            format!(
                "asks for {latency}; at distance {distance} {scheduler} bounds it by {reached}, and {next}"
            )
        }
    }
}

/// Requests that would be let in instead of one that is not, each tried out.
fn nearest(asked: &Requirements, solution: &Solution, class: usize) -> Vec<Nearest> {
    let request = &asked.classes[class];
    let all = asked.shape.entries();
    let is_free = request.distance.is_none() && request.latency.is_none();
    let (same, less) = match is_free {
        true => (None, solution.table.largest(request.share)),
        false => solution.table.nearest(request.share, request.distance.unwrap_or(1)),
    };
    let mut tried: Vec<(Share, u32)> = Vec::new();
    tried.extend(less.filter(|_| request.latency.is_none()).map(|found| (found.share, found.distance)));
    let first = same.map_or(all, |found| found.distance);
    tried.extend(same.map(|found| (found.share, found.distance)));
    // Another class's latency may be in the way of the shortest distance: go on to longer ones.
    let longer = core::iter::successors(Some(first * 2), |distance| Some(distance * 2));
    let longer = longer.take_while(|distance| *distance <= all);
    tried.extend(longer.map(|distance| (request.share, distance)));
    let mut found: Vec<Nearest> = Vec::new();
    for (share, distance) in tried {
        if found.iter().any(|other| other.share >= share) {
            break;
        }
        let mut changed = asked.clone();
        changed.classes[class] =
            Request { share, distance: Some(distance), latency: None, ..request.clone() };
        if let Some(met) = solve::instead(&changed, asked, solution, &request.name) {
            let (distance, latency) = solve::terms(&changed, &met, class).unwrap_or_default();
            found.push(Nearest { share, distance, latency });
        }
    }
    found
}

/// Looks for entries that others could do without.
struct Room<'a> {
    asked: &'a Requirements,
    solution: &'a Solution,
    class: usize,
}

impl Room<'_> {
    /// What would let the class in; `None` if nothing that was tried does.
    fn remedy(&self, reason: Reason) -> Option<String> {
        let others = self.others();
        if matches!(reason, Reason::Room(Refused::Entries { .. } | Refused::Scattered { .. })) {
            let doubled: Vec<String> = others.iter().filter_map(|other| self.doubled(*other)).collect();
            if !doubled.is_empty() {
                return Some(format!("there would be room with {}", doubled.join(", or ")));
            }
        }
        let of_table = (!matches!(reason, Reason::Percents { .. })).then(|| self.factors()).flatten();
        of_table.or_else(|| match reason {
            // Joined, a class needs no entry; with a larger k it need not have the share of one either.
            Reason::Room(_) => {
                [1, 2, 4].into_iter().find_map(|by| others.iter().find_map(|other| self.joined(*other, by)))
            }
            Reason::Latency { .. } | Reason::Percents { .. } => None,
        })
    }

    /// The other classes and their distances, those with the most entries first.
    fn others(&self) -> Vec<(usize, u32)> {
        let classes = self.solution.table.classes().map(|(_, class)| class.distance);
        let mut others: Vec<(usize, u32)> = self.solution.members.iter().copied().zip(classes).collect();
        others.sort_by_key(|(_, distance)| *distance);
        others.truncate(MAX_TRIED);
        others
    }

    /// Whether another class could have twice the distance.
    fn doubled(&self, (other, distance): (usize, u32)) -> Option<String> {
        let request = &self.asked.classes[other];
        if request.distance.is_none() && request.latency.is_none() {
            return None;
        }
        let longer = distance.checked_mul(2).filter(|longer| *longer <= self.asked.shape.entries())?;
        let mut changed = self.asked.clone();
        changed.classes[other] = Request { distance: Some(longer), latency: None, ..request.clone() };
        let met = self.tried(&changed, self.class)?;
        let (longer, bound): (u32, Nanos) = solve::terms(&changed, &met, other)?;
        (longer > distance).then(|| {
            format!(
                "`{}` at distance {longer} instead of {distance}, its bound {}",
                request.name,
                micros(bound)
            )
        })
    }

    /// Whether another `k` or `w` would do: those nearest to what is written first, of as near ones a larger `w`.
    fn factors(&self) -> Option<String> {
        let Shape { k, w, .. } = self.asked.shape;
        let packet = self.asked.shape.packet().get();
        let is_bounded = self.asked.target.form == Some(Form::Opensm);
        let most =
            if is_bounded { (MAX_W.1 / packet.max(1)).min(u64::from(MAX_W.0)) } else { u64::from(MAX_W.0) };
        let range = |factor: u32| {
            (factor.saturating_sub(MAX_STEP).max(1)..=factor + MAX_STEP).chain([2 * factor, 4 * factor])
        };
        let mut pairs: Vec<(u32, u32)> = range(k).flat_map(|k| range(w).map(move |w| (k, w))).collect();
        pairs.retain(|pair| *pair != (k, w) && pair.0 <= pair.1 && u64::from(pair.1) <= most);
        pairs.sort_by_key(|pair| {
            (pair.0.abs_diff(k) + pair.1.abs_diff(w), pair.0.abs_diff(k), pair.1 < w, *pair)
        });
        pairs.dedup();
        pairs.into_iter().take(MAX_FACTORS).find_map(|pair| {
            let mut changed = self.asked.clone();
            (changed.shape.k, changed.shape.w) = pair;
            self.tried(&changed, self.class)?;
            Some(Self::said((k, w), pair))
        })
    }

    /// A change of `k` and `w` in words, with what it costs.
    fn said(before: (u32, u32), after: (u32, u32)) -> String {
        let factor = |name: &str, before: u32, after: u32| {
            (before != after).then(|| format!("table.{name} = {after}"))
        };
        let changes: Vec<String> =
            [factor("k", before.0, after.0), factor("w", before.1, after.1)].into_iter().flatten().collect();
        let cost = match after {
            (k, w) if k == before.0 && w > before.1 => {
                "fewer entries hold the same shares, and all wait longer"
            }
            (k, w) if k == before.0 && w < before.1 => "entries hold less, and all wait less",
            (k, _) if k > before.0 => "entries need not weigh as much of the link, and all wait longer",
            _ => "entries weigh more of the link, and all wait less",
        };
        format!("write {}: {cost}", changes.join(" and "))
    }

    /// Whether the class could share a lane with another, with `k` `by` times as large.
    fn joined(&self, (other, _): (usize, u32), by: u32) -> Option<String> {
        let (one, two) = (&self.asked.classes[self.class], &self.asked.classes[other]);
        let share = Share::new(one.share.parts().saturating_add(two.share.parts()));
        // A latency of one and a distance of the other cannot be asked for together.
        let is_mixed = |one: &Request, two: &Request| one.distance.is_some() && two.latency.is_some();
        if share > Share::WHOLE || is_mixed(one, two) || is_mixed(two, one) {
            return None;
        }
        let shorter = |one: Option<u32>, two: Option<u32>| one.into_iter().chain(two).min();
        let distance = shorter(one.distance, two.distance);
        let latency = one.latency.into_iter().chain(two.latency).min();
        let mut changed = self.asked.clone();
        changed.classes[other] = Request { share, distance, latency, ..two.clone() };
        changed.classes.remove(self.class);
        changed.shape.k *= by;
        if changed.shape.k > changed.shape.w {
            return None;
        }
        self.tried(&changed, other)?;
        let with = if by > 1 { format!(", and table.k = {}", changed.shape.k) } else { String::new() };
        Some(format!("there would be room if it were one class with `{}`, of {share}{with}", two.name))
    }

    fn tried(&self, changed: &Requirements, class: usize) -> Option<Solution> {
        solve::instead(changed, self.asked, self.solution, &self.asked.classes[class].name)
    }
}
