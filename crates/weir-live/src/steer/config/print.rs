//! A daemon that steers as the text that makes it: what the control socket answers, and `weird steer --print`.
//!
//! Everything is written out, defaults too. Reading the text gives the same.

use weir_document::Located;
use weir_document::quantity::{Clock, Length, LengthUnit, Time};
use weir_plane::config::address::Endpoint;
use weir_plane::config::print::{here, some};

use super::document::{ClassesTable, LongTable, ServiceTable, SteerTable, SteeringDocument};
use super::{Classes, Steering};
use crate::steer::kernel::{ClassRule, Service, Traffic};

impl Steering {
    /// The configuration as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let document = SteeringDocument {
            weir: here(1),
            steer: here(self.table()),
            classes: classes(&self.classes).map(here),
            service: self.service.map(|it| here(service(it))),
        };
        toml::to_string(&document).expect("every part has a form in TOML")
    }

    fn table(&self) -> SteerTable {
        SteerTable {
            name: here(self.name.clone()),
            interface: here(self.interface.clone()),
            traffic: some(self.traffic),
            ports: (self.traffic == Traffic::Udp).then(|| ports(&self.ports)),
            policy: some(self.policy.to_string()),
            processors: here(self.processors.clone()),
            queue: some(Length { count: u64::from(self.queue), unit: LengthUnit::Packets }),
            priority: some(self.priority),
            window: some(Time { span: self.window, clock: Clock::Seconds }),
            pin: some(self.pin),
            xdp: some(self.sharing.xdp),
            xdp_priority: some(self.sharing.priority),
            metrics: self.metrics.map(|at| here(Endpoint(at))),
            group: self.group.clone().map(here),
            user: self.user.clone().map(here),
        }
    }
}

fn ports(of: &[u16]) -> Located<Vec<Located<u32>>> {
    here(of.iter().map(|port| here(u32::from(*port))).collect())
}

fn classes(of: &Classes) -> Option<ClassesTable> {
    let mut long = LongTable { byte: None, at_least: None, ports: None, dscp: None };
    match &of.rule {
        ClassRule::One => return None,
        ClassRule::Byte { offset, at_least } => {
            (long.byte, long.at_least) = (some(*offset), some(u32::from(*at_least)));
        }
        ClassRule::Ports(list) => long.ports = Some(ports(list)),
        ClassRule::Dscp(list) => long.dscp = some(list.iter().copied().map(here).collect()),
    }
    let profiles = of.profiles.as_ref();
    let time = |span| Time { span, clock: Clock::Seconds };
    Some(ClassesTable {
        names: some(of.names.iter().cloned().map(here).collect()),
        long: here(long),
        shares: profiles.map(|them| here(them.iter().map(|it| here(it.share)).collect())),
        services: profiles.map(|them| here(them.iter().map(|it| here(time(it.service))).collect())),
    })
}

fn service(of: Service) -> ServiceTable {
    ServiceTable { field: some(of.field), iterations: some(of.iterations), reflect: some(of.reflect) }
}
