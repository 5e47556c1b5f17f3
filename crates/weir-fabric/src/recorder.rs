//! Packets one by one: those that are delivered, as rows of a table, besides what is counted.
//!
//! | column | |
//! |---|---|
//! | `load` | the offered load of its run |
//! | `source`, `destination` | the end-points, by their numbers |
//! | `channel` | its virtual channel |
//! | `flow` | its flow, of those of its source and channel |
//! | `sequence` | its number among the packets of its source and channel, which wraps at 2³² |
//! | `size_bytes` | its size on the wire |
//! | `generated_ns` | when it was generated, and the whole of its message with it |
//! | `injected_ns` | when it entered the buffer of its interface |
//! | `delivered_ns` | when its tail came to its end-point |
//! | `last` | `yes` of the last packet of a message, else `no` |
//!
//! Times are sixths of a nanosecond, so they need not be whole numbers. Rows come in the order of `delivered_ns`, warm-up included;
//! a packet that is still under way at the end has none.
//!
//! Work: O(1) a packet. Memory: a block of rows.

use crate::collector::Collector;
use crate::job::Job;
use crate::model::FabricScenario;
use crate::over_time::Windows;
use crate::record::{Delivery, Generation, Injection, Sink};
use crate::time::nanos;
use weir_lab::recorded::{Heading, Table, Value};

/// The columns.
#[must_use]
pub fn headings(fabric: &FabricScenario) -> Vec<Heading<'_>> {
    vec![
        Heading::numbers("load"),
        Heading::counts("source"),
        Heading::counts("destination"),
        Heading::names("channel", fabric.channels.iter().map(|channel| channel.name.as_str())),
        Heading::counts("flow"),
        Heading::counts("sequence"),
        Heading::counts("size_bytes"),
        Heading::numbers("generated_ns"),
        Heading::numbers("injected_ns"),
        Heading::numbers("delivered_ns"),
        Heading::names("last", ["no", "yes"]),
    ]
}

/// A collector that also records each packet, or keeps windows over time.
pub struct Recorder<'r, 't, 's> {
    collector: &'r mut Collector,
    table: Option<&'r mut Table<'t, 's>>,
    windows: Option<Windows>,
    load: f64,
}

impl<'r, 't, 's> Recorder<'r, 't, 's> {
    /// Records a job.
    #[must_use]
    pub fn new(
        fabric: &FabricScenario,
        job: Job,
        collector: &'r mut Collector,
        table: Option<&'r mut Table<'t, 's>>,
    ) -> Self {
        let load = fabric.traffic.loads.get(job.load).copied().unwrap_or_default();
        Self { collector, table, windows: Windows::new(fabric), load }
    }

    /// The windows, if any.
    #[must_use]
    pub fn ended(self) -> Option<Windows> {
        self.windows
    }
}

impl Sink for Recorder<'_, '_, '_> {
    fn generated(&mut self, generation: &Generation) {
        self.collector.generated(generation);
        if let Some(windows) = &mut self.windows {
            windows.generated(generation);
        }
    }

    fn injected(&mut self, injection: &Injection) {
        self.collector.injected(injection);
        if let Some(windows) = &mut self.windows {
            windows.injected(injection);
        }
    }

    fn delivered(&mut self, delivery: &Delivery) {
        self.collector.delivered(delivery);
        if let Some(windows) = &mut self.windows {
            windows.delivered(delivery);
        }
        let Some(table) = &mut self.table else { return };
        table.push([
            Value::Number(self.load),
            Value::Count(u64::from(delivery.source)),
            Value::Count(u64::from(delivery.destination)),
            Value::Name(u32::from(delivery.channel)),
            Value::Count(u64::from(delivery.flow)),
            Value::Count(u64::from(delivery.sequence)),
            Value::Count(u64::from(delivery.size)),
            Value::Number(nanos(delivery.generated)),
            Value::Number(nanos(delivery.injected)),
            Value::Number(nanos(delivery.delivered)),
            Value::Name(u32::from(delivery.last)),
        ]);
    }
}

#[cfg(test)]
mod tests;
