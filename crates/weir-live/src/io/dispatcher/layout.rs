//! The configuration of a dispatcher, byte for byte: which programs it calls.
//!
//! | | |
//! |-|-|
//! | Source | xdp-tools, lib/libxdp/protocol.org, versions 2 and 3; `bpf/dispatcher/intf.h` |
//! | Work | O(slots) |
//! | Units | bytes |

use core::fmt;

/// `DISPATCHER_SLOTS` of `bpf/dispatcher/intf.h`.
pub(crate) const SLOTS: usize = 10;
/// `DISPATCHER_NEXT` of the same: the bit of an action that is always set.
pub(super) const NEXT: u32 = 1 << 31;
/// The flag of a program that takes frames in fragments: `BPF_F_XDP_HAS_FRAGS`.
pub(super) const FRAGS: u32 = 1 << 5;
const MAGIC: u8 = 236;
/// Where each part begins.
const VERSION: usize = 1;
const PROGRAMS: usize = 2;
const IS_FRAGS: usize = 3;
const ACTIONS: usize = 4;
const PRIORITIES: usize = ACTIONS + 4 * SLOTS;
const FLAGS: usize = PRIORITIES + 4 * SLOTS;
const BOUND: usize = FLAGS + 4 * SLOTS;

/// A version of the protocol that is spoken here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// That of libxdp 1.3 to 1.5.
    Two,
    /// That of libxdp 1.6, which adds programs bound to a device.
    Three,
}

impl Version {
    const fn number(self) -> u8 {
        match self {
            Self::Two => 2,
            Self::Three => 3,
        }
    }

    /// The length of its configuration.
    pub(super) const fn length(self) -> usize {
        match self {
            Self::Two => BOUND,
            Self::Three => BOUND + 4,
        }
    }
}

/// How one program is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// A bit for each action after which the next program is called.
    pub(super) actions: u32,
    /// The least comes first.
    pub(super) priority: u32,
    /// Those of [`FRAGS`] and others that it was loaded with.
    pub(super) flags: u32,
}

/// The configuration of a dispatcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) version: Version,
    /// In the order in which they are called, at most [`SLOTS`].
    pub(super) entries: Vec<Entry>,
}

/// Why a configuration is none that can be followed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It does not begin as one.
    Other,
    /// It is of another version.
    Version(u8),
    /// Its programs are bound to a device.
    Bound,
    /// It is not as long as its version is, or calls more programs than there are slots.
    Broken,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => f.write_str("it is no dispatcher of libxdp"),
            Self::Version(version) => {
                write!(f, "it is a dispatcher of version {version}, and 2 and 3 are known here")
            }
            Self::Bound => f.write_str("it is a dispatcher whose programs are bound to the device"),
            Self::Broken => f.write_str("it is a dispatcher whose configuration cannot be read"),
        }
    }
}

impl Config {
    /// Whether all programs take frames in fragments, so that the dispatcher may.
    pub(super) fn frags(&self) -> bool {
        !self.entries.is_empty() && self.entries.iter().all(|entry| entry.flags & FRAGS != 0)
    }

    /// As the dispatcher has it.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.version.length()];
        bytes[0] = MAGIC;
        bytes[VERSION] = self.version.number();
        bytes[PROGRAMS] = self.entries.len() as u8;
        bytes[IS_FRAGS] = self.frags().into();
        for (slot, entry) in self.entries.iter().enumerate().take(SLOTS) {
            let mut put = |part: usize, value: u32| {
                let at = part + 4 * slot;
                bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
            };
            put(ACTIONS, entry.actions | NEXT);
            put(PRIORITIES, entry.priority);
            put(FLAGS, entry.flags);
        }
        bytes
    }

    /// What a dispatcher has.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Unreadable> {
        if bytes.first() != Some(&MAGIC) || bytes.len() <= PROGRAMS {
            return Err(Unreadable::Other);
        }
        let version = match bytes[VERSION] {
            2 => Version::Two,
            3 => Version::Three,
            other => return Err(Unreadable::Version(other)),
        };
        let programs = usize::from(bytes[PROGRAMS]);
        if bytes.len() != version.length() || programs > SLOTS {
            return Err(Unreadable::Broken);
        }
        if version == Version::Three && bytes[BOUND] != 0 {
            return Err(Unreadable::Bound);
        }
        let get = |part: usize, slot: usize| {
            let at = part + 4 * slot;
            u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let entry = |slot| Entry {
            actions: get(ACTIONS, slot),
            priority: get(PRIORITIES, slot),
            flags: get(FLAGS, slot),
        };
        Ok(Self { version, entries: (0..programs).map(entry).collect() })
    }
}

#[cfg(test)]
mod tests {
    use libbpf_rs::btf::types::Struct;
    use libbpf_rs::btf::{Btf, HasSize};

    use super::super::load::OBJECTS;
    use super::*;

    fn some(version: Version, count: u32) -> Config {
        let entry = |slot| Entry { actions: NEXT | 1 << 2, priority: 50 + slot, flags: (slot & 1) * FRAGS };
        Config { version, entries: (0..count).map(entry).collect() }
    }

    #[test]
    fn what_is_written_is_read() {
        for version in [Version::Two, Version::Three] {
            for count in [0, 1, 10] {
                let config = some(version, count);
                assert_eq!(Config::from_bytes(&config.to_bytes()), Ok(config));
            }
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        let whole = some(Version::Three, 2).to_bytes();
        let with = |at: usize, value: u8| {
            let mut bytes = whole.clone();
            bytes[at] = value;
            Config::from_bytes(&bytes)
        };
        assert_eq!(with(0, 0), Err(Unreadable::Other));
        assert_eq!(with(VERSION, 1), Err(Unreadable::Version(1)));
        assert_eq!(with(VERSION, 4), Err(Unreadable::Version(4)));
        assert_eq!(with(VERSION, 2), Err(Unreadable::Broken));
        assert_eq!(with(PROGRAMS, 11), Err(Unreadable::Broken));
        assert_eq!(with(BOUND, 1), Err(Unreadable::Bound));
        for length in 0..whole.len() {
            assert!(Config::from_bytes(&whole[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn one_program_without_fragments_is_enough_to_have_none() {
        let all = |flags: &[u32]| Config {
            version: Version::Two,
            entries: flags.iter().map(|&flags| Entry { flags, ..Entry::default() }).collect(),
        };
        assert!(all(&[FRAGS, FRAGS]).frags() && all(&[FRAGS]).to_bytes()[IS_FRAGS] == 1);
        assert!(!all(&[FRAGS, 0]).frags() && !all(&[]).frags());
    }

    #[test]
    fn the_places_are_those_of_the_compiled_dispatcher() {
        for (version, object) in OBJECTS {
            let btf = Btf::from_raw("dispatcher", object).expect("types").expect("some");
            let found: Struct<'_> = btf.type_by_name("dispatcher_config").expect("the structure");
            assert_eq!(found.size(), version.length(), "{version:?}");
            let places: Vec<(String, u32)> = found
                .iter()
                .map(|member| {
                    let name = member.name.expect("named").to_string_lossy().into_owned();
                    let libbpf_rs::btf::types::MemberAttr::Normal { offset } = member.attr else {
                        panic!("{name} is a field of bits")
                    };
                    (name, offset / 8)
                })
                .collect();
            let mut wanted = vec![
                ("magic", 0),
                ("version", VERSION),
                ("programs", PROGRAMS),
                ("frags", IS_FRAGS),
                ("actions", ACTIONS),
                ("priorities", PRIORITIES),
                ("flags", FLAGS),
            ];
            if version == Version::Three {
                wanted.push(("bound", BOUND));
            }
            let wanted: Vec<_> = wanted.iter().map(|&(name, at)| (name.to_owned(), at as u32)).collect();
            assert_eq!(places, wanted, "{version:?}");
        }
    }
}
