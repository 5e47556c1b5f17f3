//! Schedules of messages in one line, for tests: what arrives and when, and whose packets are served.

use crate::discipline::{CountDrops, Discipline, Enqueued, Open};
use crate::item::{ClassId, FlowId, Message};
use crate::registry::message_discipline;
use crate::units::{Cost, Instant, Packets};

/// `a5/1#2`: message a, of 5 packets, of flow 1, of class 2; flow and class may be left out.
fn message(text: &str) -> Message {
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse().expect("a number")
    };
    let after = |mark| text.split_once(mark).map_or(0, |(_, text)| number(text));
    Message {
        id: text.bytes().next().expect("a letter").into(),
        flow: FlowId(after('/') as u32),
        class: ClassId(after('#') as u16),
        remaining: Packets::new(number(&text[1..])),
    }
}

/// The letters of the packets served: one for each dot of `script`, then until nothing waits. The engine
/// accepts packet by packet and interrupts between them.
pub(super) fn schedule(spec: &str, script: &str) -> String {
    let mut discipline = message_discipline(&spec.parse().expect(spec)).expect(spec);
    let mut open: Option<(Message, Packets, Packets)> = None;
    let (now, drops, mut served) = (Instant::ZERO, &mut CountDrops(0), String::new());
    let script = script.replace('.', " . ");
    for event in script.split_whitespace().chain(core::iter::repeat(".")) {
        if event != "." {
            if discipline.enqueue(now, message(event), drops) == Enqueued::Preempts {
                let (granted, remaining, _) = open.take().expect("only an open grant is outranked");
                discipline.requeue(now, Message { remaining, ..granted }, Packets::ZERO, drops);
            }
            continue;
        }
        if open.is_none() {
            let grant = discipline.dequeue(now, &Open, drops);
            open = grant.map(|grant| (grant.item, grant.item.remaining, grant.quantum));
        }
        let Some((granted, remaining, quantum)) = open.take() else { break };
        served.push(char::from(granted.id as u8));
        let (remaining, quantum) = (remaining.minus(Packets::ONE), quantum.minus(Packets::ONE));
        if remaining == Packets::ZERO {
            discipline.finish(now, &granted, Packets::ONE);
        } else if quantum == Packets::ZERO {
            discipline.requeue(now, Message { remaining, ..granted }, Packets::ONE, drops);
        } else {
            discipline.charge(now, &granted, Packets::ONE);
            open = Some((granted, remaining, quantum));
        }
    }
    assert_eq!(drops.0, 0);
    served
}
