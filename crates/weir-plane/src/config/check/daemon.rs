//! What every daemon is configured with, whatever it does: the version of the format, its name, its metrics, who may read.

use std::net::SocketAddr;

use weir_core::units::Nanos;
use weir_document::Located;
use weir_document::quantity::{Clock, Time};

use super::super::address::Endpoint;
use super::{Checked, Checker, VERSION};

/// The longest name of a daemon, in bytes: it is part of the path of a socket, which the kernel bounds.
const LONGEST_NAME: usize = 32;
/// Names that have another meaning too.
const RESERVED: [&str; 1] = ["testbed"];
/// The longest name of a user or a group, in bytes.
const LONGEST_SYSTEM_NAME: usize = 32;

impl Checker<'_> {
    /// The version of the format.
    ///
    /// # Errors
    /// It is refused.
    pub fn version(&self, written: &Located<u32>) -> Checked<()> {
        if written.value == VERSION {
            return Ok(());
        }
        let reason = format!("must be {VERSION}, the version of the format read here");
        self.refuse(written, reason, format!("write `weir = {VERSION}`"))
    }

    /// The name of a daemon.
    ///
    /// # Errors
    /// It is refused.
    pub fn daemon_name(&self, written: &Located<String>) -> Checked<String> {
        let name = &written.value;
        let known = |each: u8| each.is_ascii_alphanumeric() || b"-_.".contains(&each);
        let starts = name.starts_with(|first: char| first.is_ascii_alphanumeric());
        if !starts || name.len() > LONGEST_NAME || !name.bytes().all(known) {
            let reason = format!(
                "must be from 1 to {LONGEST_NAME} letters, digits, `-`, `_` and `.`, a letter or digit first"
            );
            return self.refuse(written, reason, "write a name such as \"edge\"");
        }
        if RESERVED.contains(&name.as_str()) {
            return self.refuse(written, "is kept for another purpose", "write a name such as \"edge\"");
        }
        Ok(name.clone())
    }

    /// Reads a span of time up to a given bound.
    ///
    /// # Errors
    /// It is refused.
    pub fn span(&self, written: &Located<Time>, longest: Nanos, remedy: &str) -> Checked<Nanos> {
        if written.value.clock != Clock::Seconds {
            let reason = "must be in seconds: there is no mean packet service to count in";
            return self.refuse(written, reason, "write it in `ns`, `us`, `ms` or `s`, such as \"5ms\"");
        }
        if written.value.span > longest {
            return self.refuse(written, format!("must be at most {longest}"), remedy);
        }
        Ok(written.value.span)
    }

    /// Where metrics are served.
    ///
    /// # Errors
    /// It is refused.
    pub fn metrics(&self, written: &Option<Located<Endpoint>>) -> Checked<Option<SocketAddr>> {
        let Some(written) = written else { return Ok(None) };
        let endpoint = written.value.0;
        if !endpoint.ip().is_loopback() {
            let reason = "must be an address of loopback: metrics are served without asking who reads them";
            let remedy = format!("write \"127.0.0.1:{}\"", endpoint.port());
            return self.refuse(written, reason, remedy);
        }
        if endpoint.port() == 0 {
            return self.refuse(written, "must have a port above 0", "write \"127.0.0.1:9100\"");
        }
        Ok(Some(endpoint))
    }

    /// The group that may read over the control socket.
    ///
    /// # Errors
    /// It is refused.
    pub fn group(&self, written: &Option<Located<String>>) -> Checked<Option<String>> {
        self.of_this_system(written, "write the name of a group of this system, such as \"adm\"")
    }

    /// The user that the daemon becomes.
    ///
    /// # Errors
    /// It cannot be the name of a user.
    pub fn user(&self, written: &Option<Located<String>>) -> Checked<Option<String>> {
        self.of_this_system(written, "write the name of a user of this system, such as \"weir\"")
    }

    /// What may be the name of a user or a group.
    fn of_this_system(&self, written: &Option<Located<String>>, remedy: &str) -> Checked<Option<String>> {
        let Some(written) = written else { return Ok(None) };
        let name = &written.value;
        let known = |each: u8| each.is_ascii_alphanumeric() || b"-_.$".contains(&each);
        if name.is_empty() || name.len() > LONGEST_SYSTEM_NAME || !name.bytes().all(known) {
            let reason = format!("must be from 1 to {LONGEST_SYSTEM_NAME} letters, digits, `-`, `_` and `.`");
            return self.refuse(written, reason, remedy);
        }
        Ok(Some(name.clone()))
    }
}
