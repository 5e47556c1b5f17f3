//! Where a plan goes, and what has to be known of the place.

use core::fmt;

use serde::Deserialize;
use weir_document::{Located, Source};

use crate::PlanError;
use crate::bound::Scheduler;

/// The form in which a plan is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Options of the subnet manager OpenSM: VL arbitration tables of InfiniBand.
    Opensm,
    /// Phases of a PCI Express VC arbitration table.
    Pcie,
    /// The queueing discipline `ets` of Linux.
    TcEts,
    /// The queueing discipline `drr` of Linux.
    TcDrr,
    /// Enhanced transmission selection of an Ethernet adapter (IEEE 802.1Qaz).
    Dcb,
    /// A scenario of the model `fabric`.
    Scenario,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Opensm, Self::Pcie, Self::TcEts, Self::TcDrr, Self::Dcb, Self::Scenario];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opensm => "opensm",
            Self::Pcie => "pcie",
            Self::TcEts => "tc-ets",
            Self::TcDrr => "tc-drr",
            Self::Dcb => "dcb",
            Self::Scenario => "scenario",
        }
    }

    /// The scheduler that decides there; latencies are bounded under it.
    #[must_use]
    pub const fn scheduler(self) -> Scheduler {
        match self {
            Self::Opensm => Scheduler::WeightedTable,
            Self::Pcie => Scheduler::BasicTable,
            Self::TcEts | Self::TcDrr | Self::Dcb => Scheduler::RoundRobin,
            Self::Scenario => Scheduler::DeficitTable,
        }
    }

    /// The form of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The ports to which OpenSM applies an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum Prefix {
    /// All ports whose own options do not say otherwise.
    #[default]
    #[serde(rename = "qos")]
    All,
    /// Channel adapters: the end-points.
    #[serde(rename = "qos_ca")]
    Adapters,
    /// Routers.
    #[serde(rename = "qos_rtr")]
    Routers,
    /// Port 0 of switches.
    #[serde(rename = "qos_sw0")]
    SwitchPort0,
    /// The external ports of switches.
    #[serde(rename = "qos_swe")]
    SwitchPorts,
}

impl Prefix {
    /// All of them, the general one first.
    pub const ALL: [Self; 5] =
        [Self::All, Self::Adapters, Self::Routers, Self::SwitchPort0, Self::SwitchPorts];

    /// With which the names of its options begin.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "qos",
            Self::Adapters => "qos_ca",
            Self::Routers => "qos_rtr",
            Self::SwitchPort0 => "qos_sw0",
            Self::SwitchPorts => "qos_swe",
        }
    }
}

/// Where a plan goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The form that was asked for.
    pub form: Option<Form>,
    /// Data lanes that are in operation on every port.
    pub lanes: Option<u32>,
    /// Of OpenSM's options.
    pub prefix: Prefix,
    /// The network interface.
    pub interface: Option<String>,
    /// The PCI Express device: bus, device and function.
    pub device: Option<String>,
}

impl Target {
    /// The scheduler that latencies are bounded under; without a form, the deficit table.
    #[must_use]
    pub fn scheduler(&self) -> Scheduler {
        self.form.map_or(Scheduler::default(), Form::scheduler)
    }
}

/// The same as it is written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetDocument {
    form: Option<Form>,
    lanes: Option<Located<u64>>,
    #[serde(default)]
    prefix: Prefix,
    interface: Option<Located<String>>,
    device: Option<Located<String>>,
}

/// Data lanes that can be in operation on a port.
pub const LANES: [u32; 5] = [1, 2, 4, 8, 15];

impl TargetDocument {
    /// Checks what becomes part of a command line.
    pub(crate) fn check(&self, source: &Source<'_>) -> Result<Target, PlanError> {
        let lanes = match &self.lanes {
            None => None,
            Some(written) => match LANES.into_iter().find(|&lanes| u64::from(lanes) == written.value) {
                Some(lanes) => Some(lanes),
                None => {
                    let remedy = "write what `smpquery portinfo` calls OperVLs";
                    return Err(source.refuse(written.span.clone(), "must be 1, 2, 4, 8 or 15", remedy));
                }
            },
        };
        let checked = |written: &Option<Located<String>>,
                       is_good: fn(&str) -> bool,
                       reason: &str,
                       remedy: &str| {
            match written {
                Some(text) if !is_good(&text.value) => Err(source.refuse(text.span.clone(), reason, remedy)),
                text => Ok(text.as_ref().map(|text| text.value.clone())),
            }
        };
        let interface = checked(
            &self.interface,
            is_interface,
            "is no name of a network interface",
            "write it as in \"eth0\"",
        )?;
        let device = checked(
            &self.device,
            is_device,
            "must be bus, device and function of a PCI device",
            "write it as in \"01:00.0\" or \"0000:01:00.0\"",
        )?;
        Ok(Target { form: self.form, lanes, prefix: self.prefix, interface, device })
    }
}

/// Letters, digits and `._-@`, not beginning with a hyphen, at most 15 of them.
fn is_interface(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte);
    (1..=15).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(is_plain)
}

/// `[domain:]bus:device.function` in hexadecimal digits.
fn is_device(text: &str) -> bool {
    let Some((rest, function)) = text.rsplit_once('.') else { return false };
    let is_hex =
        |part: &str, length: usize| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<&str> = rest.split(':').collect();
    let is_place = match parts[..] {
        [bus, device] => is_hex(bus, 2) && is_hex(device, 2),
        [domain, bus, device] => is_hex(domain, 4) && is_hex(bus, 2) && is_hex(device, 2),
        _ => false,
    };
    is_place && function.len() == 1 && ("0"..="7").contains(&function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_a_command_line_is_plain() {
        assert!(
            is_interface("eth0.100") && !is_interface("eth0; rm") && !is_interface("-x") && !is_interface("")
        );
        assert!(is_device("01:00.0") && is_device("0000:01:1f.7"));
        assert!(!is_device("01:00.8") && !is_device("01:00") && !is_device("$(x):00.0"));
    }

    #[test]
    fn forms_are_named() {
        for form in Form::ALL {
            assert_eq!(Form::named(form.name()), Some(form));
        }
    }
}
