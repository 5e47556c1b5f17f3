//! What a router counts.

use serde::Serialize;
use weir_plane::snapshot::{ClassSnapshot, Count, InterfaceSnapshot, Snapshot};
use weir_plane::subscribers::{SubscriberCounts, SubscribersSnapshot};

use super::page::{Page, Seconds};
use crate::daemon::protocol::Answer;

/// A snapshot in the text format.
pub(super) fn text(snapshot: &Snapshot) -> String {
    let mut page = Page::default();
    of_router(&mut page, snapshot);
    of_interfaces(&mut page, &snapshot.interfaces);
    of_classes(&mut page, &snapshot.interfaces);
    page.0
}

/// What was counted of subscribers, of those interfaces that are to say so.
pub(super) fn more(snapshot: &Snapshot, answer: &Answer) -> String {
    let mut page = Page::default();
    if let Answer::Subscribers { interfaces } = answer {
        let says = |name: &str| snapshot.interfaces.iter().any(|at| at.name == name && at.subscriber_metrics);
        let wanted: Vec<&SubscribersSnapshot> = interfaces.iter().filter(|at| says(&at.interface)).collect();
        of_subscribers(&mut page, &wanted);
    }
    page.0
}

/// Packets and bytes of something of a subscriber: its name, what it is, and where it is counted.
type OfSubscriber = (&'static str, &'static str, fn(&SubscriberCounts) -> Count);

fn of_subscribers(page: &mut Page, interfaces: &[&SubscribersSnapshot]) {
    let each =
        || interfaces.iter().flat_map(|at| at.subscribers.iter().map(|it| (at.interface.as_str(), it)));
    const COUNTS: [OfSubscriber; 2] = [
        ("forwarded", "of a subscriber left", |it| it.forwarded),
        ("dropped", "of a subscriber were dropped", |it| it.dropped),
    ];
    for (name, what, count) in COUNTS {
        pair(page, &format!("weir_subscriber_{name}"), what, |page, name, part| {
            each().for_each(|(at, it)| {
                let labels = [("interface", at), ("subscriber", it.name.as_str())];
                page.sample(name, &labels, part(count(&it.counts)));
            });
        });
    }
    let name = "weir_subscriber_backlog_bytes";
    page.family(name, "gauge", "Bytes of IP of a subscriber that wait.");
    each().for_each(|(at, it)| {
        let labels = [("interface", at), ("subscriber", it.name.as_str())];
        page.sample(name, &labels, it.counts.waiting.bytes);
    });
}

fn of_router(page: &mut Page, snapshot: &Snapshot) {
    page.family("weir_router_info", "gauge", "The router's name; always 1.");
    page.sample("weir_router_info", &[("router", &snapshot.name)], 1);
    page.family("weir_uptime_seconds", "gauge", "Time since the daemon began.");
    page.sample("weir_uptime_seconds", &[], Seconds(snapshot.now_ns));
    page.family("weir_reloads_total", "counter", "Changes of the configuration.");
    page.sample("weir_reloads_total", &[], snapshot.reloads);
    page.family("weir_frames", "gauge", "Frames of memory.");
    page.sample("weir_frames", &[], snapshot.frames);
    page.family("weir_frames_free", "gauge", "Frames of memory that nobody has.");
    page.sample("weir_frames_free", &[], snapshot.frames_free);
}

/// Packets and bytes of something at an interface: its name, what it is, and where it is counted.
type OfInterface = (&'static str, &'static str, fn(&InterfaceSnapshot) -> Count);

fn of_interfaces(page: &mut Page, interfaces: &[InterfaceSnapshot]) {
    page.family("weir_interface_up", "gauge", "Whether the interface is up: 1 or 0.");
    for interface in interfaces {
        page.sample("weir_interface_up", &[("interface", &interface.name)], u64::from(interface.up));
    }
    const COUNTS: [OfInterface; 6] = [
        ("received", "came in by the interface, whatever became of them", |it| it.received),
        ("to_router", "came in by the interface for the router itself", |it| it.to_router),
        ("forwarded", "left by the interface", |it| it.forwarded),
        ("originated", "were made by the router itself and left by the interface", |it| it.originated),
        ("fragmented", "came in by the interface and were cut into fragments", |it| it.fragmented),
        ("fragments", "are fragments of packets that came in by the interface", |it| it.fragments),
    ];
    for (name, what, count) in COUNTS {
        pair(page, &format!("weir_interface_{name}"), what, |page, name, part| {
            for interface in interfaces {
                page.sample(name, &[("interface", &interface.name)], part(count(interface)));
            }
        });
    }
    pair(page, "weir_interface_refused", "came in and were dropped before any queue", |page, name, part| {
        for interface in interfaces {
            for (reason, count) in &interface.refused {
                let labels = [("interface", interface.name.as_str()), ("reason", &word(*reason))];
                page.sample(name, &labels, part(*count));
            }
        }
    });
    of_kernel(page, interfaces);
}

fn of_kernel(page: &mut Page, interfaces: &[InterfaceSnapshot]) {
    let name = "weir_interface_kernel_receive_dropped_total";
    page.family(name, "counter", "Frames that found no room in the daemon's socket.");
    for interface in interfaces {
        page.sample(name, &[("interface", &interface.name)], interface.kernel.receive_dropped);
    }
    let name = "weir_interface_kernel_transmit_failed_total";
    page.family(name, "counter", "Frames that the device did not take.");
    for interface in interfaces {
        page.sample(name, &[("interface", &interface.name)], interface.kernel.transmit_failed);
    }
    let name = "weir_interface_left_to_kernel_frames_total";
    page.family(name, "counter", "Frames that the XDP program left to the kernel.");
    for interface in interfaces {
        for (why, count) in &interface.left_to_kernel {
            page.sample(name, &[("interface", interface.name.as_str()), ("reason", &word(*why))], *count);
        }
    }
}

/// Packets and bytes of something of a class: its name, what it is, and where it is counted.
type OfClass = (&'static str, &'static str, fn(&ClassSnapshot) -> Count);

fn of_classes(page: &mut Page, interfaces: &[InterfaceSnapshot]) {
    let classes = || interfaces.iter().flat_map(|at| at.classes.iter().map(move |class| (at, class)));
    const COUNTS: [OfClass; 3] = [
        ("offered", "were offered to the queue", |it| it.offered),
        ("forwarded", "left", |it| it.forwarded),
        ("marked", "were marked with congestion", |it| it.marked),
    ];
    for (name, what, count) in COUNTS {
        pair(page, &format!("weir_class_{name}"), what, |page, name, part| {
            for (interface, class) in classes() {
                page.sample(name, &labels(interface, class), part(count(class)));
            }
        });
    }
    pair(page, "weir_class_dropped", "were dropped at the queue or behind it", |page, name, part| {
        for (interface, class) in classes() {
            for (reason, count) in &class.dropped {
                let [at, of] = labels(interface, class);
                page.sample(name, &[at, of, ("reason", &word(*reason))], part(*count));
            }
        }
    });
    page.family("weir_class_backlog_packets", "gauge", "Packets waiting.");
    classes()
        .for_each(|(at, it)| page.sample("weir_class_backlog_packets", &labels(at, it), it.waiting.packets));
    page.family("weir_class_backlog_bytes", "gauge", "Bytes of IP waiting.");
    classes().for_each(|(at, it)| page.sample("weir_class_backlog_bytes", &labels(at, it), it.waiting.bytes));
    page.family("weir_class_oldest_seconds", "gauge", "How long the oldest packet has waited.");
    classes().for_each(|(at, it)| {
        page.sample("weir_class_oldest_seconds", &labels(at, it), Seconds(it.oldest_ns))
    });
    let name = "weir_class_sojourn_seconds";
    page.family(name, "histogram", "From arrival to the end of transmission.");
    classes().for_each(|(at, it)| page.histogram(name, &labels(at, it), &it.sojourn));
}

fn labels<'s>(interface: &'s InterfaceSnapshot, class: &'s ClassSnapshot) -> [(&'s str, &'s str); 2] {
    [("interface", &interface.name), ("class", &class.name)]
}

/// The two families of what is counted in packets and in bytes.
fn pair(page: &mut Page, name: &str, what: &str, each: impl Fn(&mut Page, &str, fn(Count) -> u64)) {
    let packets = format!("{name}_packets_total");
    page.family(&packets, "counter", &format!("Packets that {what}."));
    each(page, &packets, |count| count.packets);
    let bytes = format!("{name}_bytes_total");
    page.family(&bytes, "counter", &format!("Bytes of IP in packets that {what}."));
    each(page, &bytes, |count| count.bytes);
}

/// A reason as it is written in the snapshot.
#[must_use]
pub fn word(reason: impl Serialize) -> String {
    let written = serde_json::to_value(reason).ok();
    written.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
