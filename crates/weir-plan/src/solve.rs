//! From requests to a table: distances from latencies, and who does not fit.
//!
//! A class that asks for a distance gets it; one that asks for a latency begins at the largest distance, and while a
//! finished table breaks a latency, the class of the shortest latency among those broken has its distance halved.
//! Distances only ever fall, so this ends: at a table that keeps every latency, or at a class that cannot be served,
//! which is refused. The others are then solved anew without it.
//!
//! A latency is kept if the bound under the scheduler of the target is within it
//! ([`Target::scheduler`](crate::Target::scheduler)).

use weir_core::units::Nanos;

use crate::admission::{Key, Refused, Table};
use crate::bound::{Bounding, Bounds};
use crate::requirements::Requirements;
use crate::target::Form;
use crate::written::{self, Need, Written};

/// Why a class is not in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Its share and distance do not fit.
    Room(Refused),
    /// Its latency needs a distance that does not fit, or none does.
    Latency {
        /// The shortest bound that was reached.
        reached: Nanos,
        /// The distance at which it was.
        distance: u32,
    },
    /// No whole percents keep its latency with the shares of all.
    Percents {
        /// The bound with those that are nearest.
        reached: Nanos,
    },
}

/// A table with those classes that fit.
pub(crate) struct Solution {
    pub(crate) table: Table,
    /// The class of each place of the table.
    pub(crate) members: Vec<usize>,
    /// Who does not fit, in the order of the requests.
    pub(crate) refused: Vec<(usize, Reason)>,
}

/// Solves the requests.
pub(crate) fn solve(asked: &Requirements) -> Solution {
    let mut refused: Vec<(usize, Reason)> = Vec::new();
    loop {
        match attempt(asked, &refused) {
            Ok((table, members)) => {
                refused.sort_by_key(|(class, _)| *class);
                return Solution { table, members, refused };
            }
            Err(refusal) => refused.push(refusal),
        }
    }
}

/// A class that was given a shorter distance for its latency, and what it had before.
struct Tightened {
    class: usize,
    reached: Nanos,
    distance: u32,
}

impl Tightened {
    fn reason(&self) -> Reason {
        Reason::Latency { reached: self.reached, distance: self.distance }
    }
}

/// A table of all classes but those refused, or one more to refuse.
fn attempt(
    asked: &Requirements,
    refused: &[(usize, Reason)],
) -> Result<(Table, Vec<usize>), (usize, Reason)> {
    let all = asked.shape.entries();
    let mut distances: Vec<u32> = asked.classes.iter().map(|class| class.distance.unwrap_or(all)).collect();
    let mut last: Option<Tightened> = None;
    loop {
        let (table, members) = place(asked, &distances, refused).map_err(|(class, why)| match &last {
            // Without the last step everyone had room.
            Some(step) => (step.class, step.reason()),
            None => (class, Reason::Room(why)),
        })?;
        let Some(step) = broken(asked, &table, &members) else { return Ok((table, members)) };
        if asked.target.form == Some(Form::Dcb) {
            // Percents were searched; the table has no part in them.
            return Err((step.class, Reason::Percents { reached: step.reached }));
        }
        if step.distance == 1 {
            return Err((step.class, step.reason()));
        }
        distances[step.class] = step.distance / 2;
        last = Some(step);
    }
}

/// Lets the classes in, in their order, and places those of the shortest distance first.
fn place(
    asked: &Requirements,
    distances: &[u32],
    refused: &[(usize, Reason)],
) -> Result<(Table, Vec<usize>), (usize, Refused)> {
    let mut table = Table::new(asked.shape);
    let mut members = Vec::new();
    for (class, request) in asked.classes.iter().enumerate() {
        if refused.iter().all(|(other, _)| *other != class) {
            table.admit(request.share, distances[class]).map_err(|why| (class, why))?;
            members.push(class);
        }
    }
    table.compact();
    Ok((table, members))
}

/// The class of the shortest latency that is not kept.
fn broken(asked: &Requirements, table: &Table, members: &[usize]) -> Option<Tightened> {
    let bounds = bounds(asked, table, members);
    let admitted: Vec<(Key, u32)> = table.classes().map(|(key, class)| (key, class.distance)).collect();
    let is_broken = |(place, &class): (usize, &usize)| {
        let latency = asked.classes[class].latency?;
        let reached = asked.target.scheduler().of(&bounds[place]).latency;
        (reached > latency).then(|| (latency, Tightened { class, reached, distance: admitted[place].1 }))
    };
    let all = members.iter().enumerate().filter_map(is_broken);
    all.min_by_key(|(latency, step)| (*latency, step.class)).map(|(_, step)| step)
}

/// What is written for the target of the classes of a table.
pub(crate) fn written_of(asked: &Requirements, table: &Table, members: &[usize]) -> Written {
    let form = asked.target.form;
    let need = |(weight, class): (weir_core::units::Credits, &usize)| Need {
        weight,
        share: asked.classes[*class].share,
        latency: asked.classes[*class].latency,
    };
    let needs: Vec<Need> = table.weights().into_iter().zip(members).map(need).collect();
    written::written(form, &bounding(asked), &needs)
}

/// What bounds are made with, for the target.
pub(crate) fn bounding(asked: &Requirements) -> Bounding {
    Bounding::with_header(asked.shape, asked.link, written::header(asked.target.form))
}

/// The bounds of the classes of a table, with what is written for the target.
fn bounds(asked: &Requirements, table: &Table, members: &[usize]) -> Vec<Bounds> {
    let (slots, bounding) = (table.slots(), bounding(asked));
    let quanta = written_of(asked, table, members).quanta;
    (0..members.len()).map(|place| bounding.bounds(&slots, &quanta, place)).collect()
}

/// The solution of a changed request, if it lets in the class of this name and everyone who was let in before.
pub(crate) fn instead(
    changed: &Requirements,
    asked: &Requirements,
    before: &Solution,
    name: &str,
) -> Option<Solution> {
    let solution = solve(changed);
    let is_known = |(class, _): &(usize, Reason)| {
        let refused = &changed.classes[*class].name;
        refused != name && before.refused.iter().any(|(each, _)| asked.classes[*each].name == *refused)
    };
    solution.refused.iter().all(is_known).then_some(solution)
}

/// The distance and the bound of a class under the target's scheduler, where it was let in.
pub(crate) fn terms(asked: &Requirements, solution: &Solution, class: usize) -> Option<(u32, Nanos)> {
    let place = solution.members.iter().position(|member| *member == class)?;
    let (_, admitted) = solution.table.classes().nth(place)?;
    let bounds = bounds(asked, &solution.table, &solution.members);
    Some((admitted.distance, asked.target.scheduler().of(&bounds[place]).latency))
}
