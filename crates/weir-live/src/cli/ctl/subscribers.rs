//! What was counted by subscriber, as text.

use weir_document::words::hint;
use weir_gauge::text::{bytes, packets, table};
use weir_plane::subscribers::{SubscriberSnapshot, SubscribersSnapshot};

/// Leaves only the subscriber that is wanted, if one is.
///
/// # Errors
/// There is none of this name, or nobody at all.
pub(super) fn choose(interfaces: &mut Vec<SubscribersSnapshot>, wanted: Option<&str>) -> Result<(), String> {
    if interfaces.is_empty() {
        return Err("no interface has subscribers: add `subscribers = \"subscribers.csv\"` to one".to_owned());
    }
    let Some(wanted) = wanted else { return Ok(()) };
    let names = || interfaces.iter().flat_map(|at| &at.subscribers).map(|it| it.name.as_str());
    if !names().any(|name| name == wanted) {
        let (shown, hint) = (weir_document::shorten(wanted), hint(wanted, names()));
        return Err(format!("there is no subscriber `{shown}`: {hint}`--subscribers` lists all"));
    }
    interfaces.iter_mut().for_each(|at| at.subscribers.retain(|it| it.name == wanted));
    interfaces.retain(|at| !at.subscribers.is_empty());
    Ok(())
}

/// A table of all of them.
pub(super) fn told(interfaces: &[SubscribersSnapshot]) -> String {
    let head = ["interface", "subscriber", "group", "rate", "ceiling", "left", "", "dropped", "waiting", ""];
    let of = |at: &SubscribersSnapshot, it: &SubscriberSnapshot| {
        let (left, dropped, waiting) = (it.counts.forwarded, it.counts.dropped, it.counts.waiting);
        let mut row: Vec<String> =
            [&at.interface, &it.name, &it.group, &it.rate, &it.ceiling].map(String::clone).to_vec();
        row.extend([packets(left.packets), bytes(left.bytes), packets(dropped.packets)]);
        row.extend([packets(waiting.packets), bytes(waiting.bytes)]);
        row
    };
    let rows = interfaces.iter().flat_map(|at| at.subscribers.iter().map(move |it| of(at, it)));
    table(&head, 3, &rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Vec<SubscribersSnapshot> {
        let subscriber = |name: &str| SubscriberSnapshot {
            name: name.to_owned(),
            rate: "1Mbit".to_owned(),
            ceiling: "2Mbit".to_owned(),
            ..SubscriberSnapshot::default()
        };
        let subscribers = ["anna", "ben", "others"].map(subscriber).to_vec();
        vec![SubscribersSnapshot {
            interface: "eth1".to_owned(),
            subscribers,
            ..SubscribersSnapshot::default()
        }]
    }

    #[test]
    fn one_is_chosen_by_name() {
        let mut all = two();
        assert_eq!(choose(&mut all, Some("ben")), Ok(()));
        let text = told(&all);
        assert!(text.contains("ben") && !text.contains("anna"), "{text}");
        let error = choose(&mut two(), Some("bem")).expect_err("nobody");
        assert_eq!(error, "there is no subscriber `bem`: did you mean `ben`? `--subscribers` lists all");
        assert!(
            choose(&mut Vec::new(), None)
                .is_err_and(|error| error.starts_with("no interface has subscribers"))
        );
    }
}
