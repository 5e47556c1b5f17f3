//! Why an interface cannot be used: where, what, and what to do.

use core::fmt;
use std::io;

use rustix::io::Errno;

/// What kind of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A capability is missing: exit code 3.
    Permission,
    /// The kernel or the device cannot do it: exit code 3, and AF_PACKET may serve instead.
    Unsupported,
    /// Somebody else has it.
    Busy,
    /// There is no such interface, or it is gone.
    Gone,
    /// Anything else that the system said.
    System,
}

/// Why an interface cannot be used.
#[derive(Debug)]
pub struct Fault {
    /// What kind of trouble it is.
    pub kind: Kind,
    /// The interface.
    pub interface: String,
    /// What was tried, and what came of it.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
    source: Option<io::Error>,
}

impl Fault {
    /// Trouble that the program itself found.
    pub(crate) fn new(
        kind: Kind,
        interface: &str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { kind, interface: interface.into(), what: what.into(), remedy: remedy.into(), source: None }
    }

    /// Trouble that the system reported while `what` was tried; where a permission was missing, `capability` is the one needed.
    pub(crate) fn system(interface: &str, what: &str, capability: &str, error: io::Error) -> Self {
        let number = error.raw_os_error().map(Errno::from_raw_os_error);
        let denied = error.kind() == io::ErrorKind::PermissionDenied;
        let (kind, remedy) = match number {
            _ if denied => (Kind::Permission, format!("run as root or with {capability}, as by `setcap`")),
            Some(
                Errno::AFNOSUPPORT
                | Errno::PROTONOSUPPORT
                | Errno::SOCKTNOSUPPORT
                | Errno::OPNOTSUPP
                | Errno::NOPROTOOPT
                | Errno::NOSYS,
            ) => (Kind::Unsupported, "`weird doctor` says what this kernel can do".into()),
            Some(Errno::NODEV | Errno::NXIO) => {
                (Kind::Gone, "`ip link` lists the interfaces that there are".into())
            }
            Some(Errno::NOBUFS | Errno::NOMEM) => (
                Kind::System,
                "lower `memory`, or raise the limit of locked memory (`ulimit -l`, CAP_IPC_LOCK)".into(),
            ),
            Some(Errno::BUSY | Errno::EXIST | Errno::ADDRINUSE) => {
                (Kind::Busy, "`weird doctor` says what is in the way".into())
            }
            _ => (Kind::System, "`weird doctor` says what this machine can do".into()),
        };
        Self { kind, interface: interface.into(), what: what.into(), remedy, source: Some(error) }
    }

    /// The same trouble, with one more remedy.
    pub(crate) fn or(mut self, remedy: &str) -> Self {
        self.remedy = format!("{}; or {remedy}", self.remedy);
        self
    }

    /// The same trouble, with a better remedy.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interface {}: {}", self.interface, self.what)?;
        if let Some(source) = &self.source {
            write!(f, ": {source}")?;
        }
        write!(f, "; {}", self.remedy)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_where_what_and_what_to_do() {
        let denied = io::Error::from(Errno::PERM);
        let fault = Fault::system("eth0", "opening an AF_PACKET socket", "CAP_NET_RAW", denied);
        assert_eq!(fault.kind, Kind::Permission);
        let text = fault.to_string();
        assert!(text.starts_with("interface eth0: opening an AF_PACKET socket: "), "{text}");
        assert!(text.contains("CAP_NET_RAW"), "{text}");
    }
}
