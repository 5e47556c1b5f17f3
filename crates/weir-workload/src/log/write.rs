//! The requests of a log as a CSV file that a scenario of the server replays.

use std::io::{self, Write};

use super::Log;

/// Writes the requests: `time_ns`, `service_ns`, and `class` where there are names.
///
/// # Errors
/// What is written to fails.
pub fn write_csv(log: &Log, mut out: impl Write) -> io::Result<()> {
    let names: Vec<String> = log.classes.iter().map(|name| quoted(name)).collect();
    let is_named = log.classes.iter().any(|name| !name.is_empty());
    out.write_all(if is_named { b"time_ns,service_ns,class\n" } else { b"time_ns,service_ns\n" })?;
    for request in &log.requests {
        write!(out, "{},{}", request.at, request.service)?;
        match is_named {
            true => writeln!(out, ",{}", names[usize::from(request.class)])?,
            false => out.write_all(b"\n")?,
        }
    }
    out.flush()
}

/// A field as RFC 4180 has it.
fn quoted(field: &str) -> String {
    let is_plain = !field.contains([',', '"']) && field.trim() == field;
    if is_plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
}
