//! Interfaces that share a device: which VLAN each of them is.
//!
//! | | |
//! |-|-|
//! | Source | IEEE 802.1Q-2018, section 9 (formats of tags), and section 6.9 for two of them, once 802.1ad |
//! | Work | O(interfaces), when a configuration is taken |
//! | Units | none |

use super::document::TagType;
use super::{Interface, Router};

/// The VLANs that may be named: 0 is a tag without one, and 4095 is reserved.
pub const VLANS: core::ops::RangeInclusive<u32> = 1..=4094;
/// The highest priority code point.
pub const HIGHEST_PRIORITY: u32 = 7;
/// The bytes of a tag.
pub const TAG: usize = 4;

/// A VLAN of a device: the tags of its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Vlan {
    /// The VLAN of the tag before the packet, of type 0x8100.
    pub id: u16,
    /// The tag before that.
    pub outer: Option<Outer>,
}

/// The outer of two tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outer {
    /// Its VLAN.
    pub id: u16,
    /// Its type.
    pub kind: TagType,
}

impl TagType {
    /// The EtherType of such a tag.
    #[must_use]
    pub const fn ethertype(self) -> u16 {
        match self {
            Self::Customer => 0x8100,
            Self::Service => 0x88a8,
        }
    }

    /// The type of this number.
    #[must_use]
    pub const fn of(ethertype: u16) -> Option<Self> {
        match ethertype {
            0x8100 => Some(Self::Customer),
            0x88a8 => Some(Self::Service),
            _ => None,
        }
    }
}

impl Vlan {
    /// How many bytes its tags are.
    #[must_use]
    pub const fn length(&self) -> usize {
        if self.outer.is_some() { 2 * TAG } else { TAG }
    }
}

impl core::fmt::Display for Vlan {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.outer {
            Some(outer) => write!(f, "VLAN {} within {}", self.id, outer.id),
            None => write!(f, "VLAN {}", self.id),
        }
    }
}

impl Interface {
    /// What it is to its device, in words.
    #[must_use]
    pub fn what(&self) -> String {
        let device = &self.device;
        self.vlan.map_or_else(|| format!("`{device}` without a tag"), |vlan| format!("{vlan} of `{device}`"))
    }
}

impl Router {
    /// The devices of its interfaces, each once, in the order in which they come first.
    #[must_use]
    pub fn devices(&self) -> Vec<&str> {
        let mut devices: Vec<&str> = Vec::new();
        for interface in &self.interfaces {
            if !devices.contains(&interface.device.as_str()) {
                devices.push(&interface.device);
            }
        }
        devices
    }

    /// The place of the device of each interface among [`Self::devices`].
    #[must_use]
    pub fn device_places(&self) -> Vec<usize> {
        let devices = self.devices();
        let place = |it: &Interface| devices.iter().position(|device| *device == it.device).unwrap_or(0);
        self.interfaces.iter().map(place).collect()
    }

    /// The VLANs of a device that it serves, and `None` where it serves frames without a tag.
    #[must_use]
    pub fn vlans_of(&self, device: &str) -> Vec<Option<Vlan>> {
        let here = self.interfaces.iter().filter(|it| it.device == device && !it.is_removed);
        here.map(|it| it.vlan).collect()
    }
}
