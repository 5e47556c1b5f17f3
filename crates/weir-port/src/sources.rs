//! The random sources that a checked scenario of the port describes.

use crate::model::{Input, PacketTime, PortScenario, Service};
use weir_workload::source::{ArrivalSource, RandomServices, SourceError};
use weir_workload::{Paced, TraceSource, arrival_source};

impl PortScenario {
    /// The arrivals of one replication; `None` in a closed loop, where the engine makes them.
    ///
    /// # Errors
    /// None that the checks have left.
    pub fn arrivals(&self, replication: u32) -> Result<Option<Box<dyn ArrivalSource + Send>>, SourceError> {
        match &self.input {
            Input::Open(open) => {
                let key = (self.seed, replication);
                let paced = Paced {
                    arrivals: open.arrivals.clone(),
                    mean_gap: self.ticks.of_nanoseconds(open.mean_gap),
                    curve: open.curve.as_ref().map(|curve| self.ticks.of_curve(curve)),
                };
                arrival_source(paced, &open.lengths, open.flows, &self.classes, key).map(Some)
            }
            Input::Trace(replay) => {
                let scale = self.ticks.of_nanoseconds(replay.time_scale);
                let source = TraceSource::new(replay.trace.clone(), scale, self.classes.clone());
                Ok(Some(Box::new(source)))
            }
            Input::Closed(_) => Ok(None),
        }
    }

    /// The service times of the packets of one replication; `None` where messages are served whole.
    ///
    /// # Errors
    /// None that the checks have left.
    pub fn services(&self, replication: u32) -> Result<Option<RandomServices>, SourceError> {
        let Service::Packets(time) = self.service else { return Ok(None) };
        let exponential = |shift: u64, mean: u64| {
            RandomServices::shifted_exponential(shift, mean as f64, self.seed, replication)
        };
        match time {
            PacketTime::Constant(time) => Ok(RandomServices::constant(time.get())),
            PacketTime::Exponential(mean) => exponential(0, mean.get()),
            PacketTime::ShiftedExponential { shift, mean } => exponential(shift.get(), mean.get()),
        }
        .map(Some)
    }
}
