//! Names that textbooks and other programs have for what is here under another name, or not at all.
//!
//! They are no second names: a spec has one. A refusal and `weir explain` say what to write instead.
//!
//! | | |
//! |-|-|
//! | Source | Kleinrock, Queueing Systems, 1976; Harchol-Balter, Performance Modeling and Design of Computer Systems, 2013; the manual pages of tc and sched |
//! | Work | O(names) a look-up |
//! | Departures | case does not matter, and a blank or a hyphen is an underscore |

/// A name of the textbooks.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    /// The name, in lower case.
    pub name: &'static str,
    /// What it is.
    pub means: &'static str,
    /// What is here in its place; the first that a place takes is the one that is meant.
    pub here: &'static [&'static str],
    /// How each of these is written to be it; empty where its name says it all.
    pub written: &'static [&'static str],
    /// What else there is to know.
    pub note: &'static str,
}

const fn name(
    name: &'static str,
    means: &'static str,
    here: &'static [&'static str],
    note: &'static str,
) -> Name {
    Name { name, means, here, written: &[], note }
}

/// Of a name that is one use of a discipline of messages, written so; over cores it orders the queue of each.
const fn of_messages(
    name: &'static str,
    means: &'static str,
    written: &'static [&'static str; 2],
    note: &'static str,
) -> Name {
    Name { name, means, here: &["rank", "per_server"], written, note }
}

const NOTATION: &str = "Kendall's notation names a queue, not a discipline: `weir new port` writes a port \
    with Poisson arrivals, `weir new server` one with several servers, and `weir theory FILE` computes \
    their exact means";
const LAST_IN: [&str; 2] = ["rank:-arrival", "per_server(jsq,discipline=rank:-arrival)"];
const LAST_IN_AT_ONCE: [&str; 2] =
    ["rank(-arrival,preempt=yes)", "per_server(jsq,discipline=rank(-arrival,preempt=yes))"];
const CLASSES: [&str; 2] = ["rank:class", "per_server(jsq,discipline=rank:class)"];
const CLASSES_AT_ONCE: [&str; 2] =
    ["rank(class,preempt=yes)", "per_server(jsq,discipline=rank(class,preempt=yes))"];
const PREEMPTS: &str = "with `preempt=yes` a newcomer takes the place of the one in service";
const LEAST_CLASS: &str = "as in `rank:class`: class 0 is served first; `priority` orders packets";

/// All of them.
pub const NAMES: &[Name] = &[
    name("fcfs", "first come, first served", &["fifo", "cfcfs"], ""),
    name("fifo", "first in, first out", &["cfcfs"], "`cfcfs` is one such queue for all servers"),
    name("droptail", "first in, first out with a limit", &["fifo"], "as in `fifo:limit=100pkt`"),
    name("pfifo", "first in, first out, limited in packets", &["fifo"], "as in `fifo:limit=100pkt`"),
    name("bfifo", "first in, first out, limited in bytes", &["fifo"], "as in `fifo:limit=64KiB`"),
    name("srpt", "shortest remaining processing time", &["sf"], "`sf` compares what remains of the messages"),
    name("srtf", "shortest remaining time first", &["sf"], "`sf` compares what remains of the messages"),
    name("spt", "shortest processing time", &["sjf"], ""),
    name("sjn", "shortest job next", &["sjf"], ""),
    name("hrn", "highest response ratio next", &["hrrn"], ""),
    name("fb", "foreground-background", &["las"], ""),
    name("foreground_background", "least attained service", &["las"], ""),
    name("processor_sharing", "processor sharing", &["ps"], ""),
    name("round_robin", "round robin", &["rr"], ""),
    name("gps", "generalised processor sharing", &["wfq", "ps"], "`wfq` serves packets in its order"),
    name("pgps", "generalised processor sharing, packet by packet", &["wfq"], ""),
    name("dwrr", "deficit weighted round robin", &["drr"], "as in `drr:weights=4/2/1`"),
    name(
        "wrr",
        "weighted round robin",
        &["drr", "table_weighted", "weighted_rr"],
        "as in `drr:weights=4/2/1`",
    ),
    name("strict_priority", "strict priority", &["priority", "priority_rr"], ""),
    name("sp", "strict priority", &["priority", "priority_rr"], ""),
    name("prio", "strict priority", &["priority", "priority_rr"], ""),
    name("edf", "earliest deadline first", &["cbs"], "`cbs` adds a budget for each process"),
    name("rm", "rate monotonic", &["priority_rr"], "give the shortest period the highest priority"),
    name(
        "rate_monotonic",
        "rate monotonic",
        &["priority_rr"],
        "give the shortest period the highest priority",
    ),
    name("cfs", "the completely fair scheduler of Linux", &["eevdf"], "`eevdf` took its place in Linux 6.6"),
    name("lottery", "lottery scheduling", &["stride"], "`stride` is its deterministic counterpart"),
    name("jsq2", "the shorter of two queues", &["power_of_two"], ""),
    name("po2", "the power of two choices", &["power_of_two"], ""),
    name("p2c", "the power of two choices", &["power_of_two"], ""),
    name("lwl", "least work left", &["least_work"], ""),
    name("rss", "receive side scaling", &["flow_hash"], ""),
    name("jsq(d)", "join the shortest of d queues", &["power_of_two"], "as in `power_of_two:3`"),
    name("jsqd", "join the shortest of d queues", &["power_of_two"], "as in `power_of_two:3`"),
    name(
        "sed",
        "shortest expected delay",
        &["least_work"],
        "with `server.speeds` it counts how fast a core is",
    ),
    name(
        "least_connections",
        "least connections",
        &["jsq", "least_requests"],
        "`least_requests` has weights",
    ),
    name("leastconn", "least connections", &["jsq", "least_requests"], "`least_requests` has weights"),
    name("smooth_wrr", "smooth weighted round robin", &["weighted_rr"], "as in `weighted_rr:4/2/1`"),
    name("consistent_hashing", "consistent hashing", &["bounded_hash"], "bounded by `factor`"),
    name("chbl", "consistent hashing with bounded loads", &["bounded_hash"], ""),
    name("join_idle_queue", "join an idle queue", &["jiq"], ""),
    name("random_order", "service in random order", &["ros"], ""),
    name("random_order_of_service", "service in random order", &["ros"], ""),
    name("siro", "service in random order", &["ros"], ""),
    of_messages("lifo", "last in, first out", &LAST_IN, PREEMPTS),
    of_messages("lcfs", "last come, first served", &LAST_IN, PREEMPTS),
    of_messages("lcfs_preemptive", "last come, first served, with preemption", &LAST_IN_AT_ONCE, ""),
    of_messages("lcfs_pr", "last come, first served, with preemption and resumption", &LAST_IN_AT_ONCE, ""),
    of_messages("plcfs", "last come, first served, with preemption", &LAST_IN_AT_ONCE, ""),
    of_messages("priority", "strict priority of classes", &CLASSES, LEAST_CLASS),
    of_messages("hol", "head of the line, priority without preemption", &CLASSES, LEAST_CLASS),
    of_messages("nonpreemptive_priority", "priority without preemption", &CLASSES, LEAST_CLASS),
    of_messages("priority_nonpreemptive", "priority without preemption", &CLASSES, LEAST_CLASS),
    of_messages("preemptive_priority", "priority with preemption", &CLASSES_AT_ONCE, LEAST_CLASS),
    of_messages("priority_preemptive", "priority with preemption", &CLASSES_AT_ONCE, LEAST_CLASS),
    name("m/m/1", "Poisson arrivals, exponential service, one server", &[], NOTATION),
    name("m/g/1", "Poisson arrivals, general service, one server", &[], NOTATION),
    name("m/d/1", "Poisson arrivals, constant service, one server", &[], NOTATION),
    name("m/m/k", "Poisson arrivals, exponential service, k servers", &[], NOTATION),
    name("m/m/c", "Poisson arrivals, exponential service, c servers", &[], NOTATION),
    name("m/g/k", "Poisson arrivals, general service, k servers", &[], NOTATION),
    name("g/g/1", "general arrivals, general service, one server", &[], NOTATION),
    name("mm1", "Poisson arrivals, exponential service, one server", &[], NOTATION),
    name("mg1", "Poisson arrivals, general service, one server", &[], NOTATION),
];

/// What is known of a name, if it is one of the textbooks.
#[must_use]
pub fn find(written: &str) -> Option<&'static Name> {
    let is_it = |known: &str| {
        let plain = written.chars().map(|each| match each {
            ' ' | '-' => '_',
            other => other.to_ascii_lowercase(),
        });
        plain.eq(known.chars())
    };
    NAMES.iter().find(|each| is_it(each.name))
}

/// What a refusal says of a name of the textbooks, followed by a blank; `None` if it is none, or if what is here in its
/// place is not among the `known`.
pub(crate) fn hint(written: &str, known: &[&str]) -> Option<String> {
    let found = find(written)?;
    let place = found.here.iter().position(|name| known.contains(name));
    match place.map(|place| (found.here[place], found.written.get(place))) {
        Some((_, Some(written))) => Some(format!("{} is written `{written}` here; ", found.means)),
        Some((here, None)) => Some(format!("{} is called `{here}` here; ", found.means)),
        None if found.here.is_empty() => Some(format!("{}; ", found.note)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::canonical_as;
    use crate::registry;
    use crate::role::Role;

    #[test]
    fn c3_every_name_of_the_textbooks_leads_to_what_is_here() {
        for each in NAMES {
            assert_eq!(find(each.name).expect(each.name).name, each.name);
            assert!(!each.here.is_empty() || !each.note.is_empty(), "{}", each.name);
            for written in each.written {
                let spec = written.parse().expect(written);
                let role = if each.written[0] == *written { Role::Discipline } else { Role::Pool };
                assert!(canonical_as(role, &spec).is_ok(), "{written}");
            }
            for here in each.here {
                assert!(registry::named(here).next().is_some(), "{}: {here}", each.name);
            }
        }
    }

    #[test]
    fn c3_a_textbook_name_is_not_taken_for_the_nearest_of_letters() {
        let ports = ["fifo", "sf", "las"];
        assert_eq!(hint("FCFS", &ports).as_deref(), Some("first come, first served is called `fifo` here; "));
        assert_eq!(
            hint("fcfs", &["cfcfs"]).as_deref(),
            Some("first come, first served is called `cfcfs` here; ")
        );
        assert_eq!(
            hint("srpt", &ports).as_deref(),
            Some("shortest remaining processing time is called `sf` here; ")
        );
        assert_eq!(
            hint("foreground-background", &ports).as_deref(),
            Some("least attained service is called `las` here; ")
        );
        assert_eq!(
            hint("lcfs", &["fifo", "rank"]).as_deref(),
            Some("last come, first served is written `rank:-arrival` here; ")
        );
        assert_eq!(
            hint("LCFS preemptive", &["jsq", "per_server"]).as_deref(),
            Some(
                "last come, first served, with preemption is written \
                 `per_server(jsq,discipline=rank(-arrival,preempt=yes))` here; "
            )
        );
        assert!(hint("M/M/1", &ports).is_some_and(|hint| hint.contains("weir new port")));
        assert_eq!((hint("edf", &ports), hint("alpah", &ports)), (None, None));
    }
}
