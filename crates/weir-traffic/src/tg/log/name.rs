//! The name of a log as a script gives it: a format of `strftime`, in local time.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use weir_document::Refused;

use crate::generator::wall::WallTime;

/// The longest name, in bytes.
const LONGEST: usize = 1024;

/// The name with the start in place of what `strftime` knows.
///
/// # Errors
/// The name is empty or too long.
pub fn expanded(format: &str, start: WallTime) -> Result<PathBuf, Refused> {
    let refuse = || {
        let reason = format!("the name of the log is empty, or longer than {LONGEST} bytes");
        Refused::of_file("weird tg", reason, "write a shorter name after `log`, or give --log").value(format)
    };
    let written = CString::new(format).map_err(|_| refuse())?;
    let seconds = (start.nanos() / 1_000_000_000).cast_signed();
    // SAFETY: an all-zero `tm` is valid.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both outlive the call.
    if unsafe { libc::localtime_r(&raw const seconds, &raw mut parts) }.is_null() {
        return Err(refuse());
    }
    let mut name = vec![0_u8; LONGEST];
    // SAFETY: the buffer has the length that is passed, the format ends with a zero, and the parts are a valid time.
    let length =
        unsafe { libc::strftime(name.as_mut_ptr().cast(), LONGEST, written.as_ptr(), &raw const parts) };
    if length == 0 {
        return Err(refuse());
    }
    Ok(PathBuf::from(OsStr::from_bytes(&name[..length.min(LONGEST)])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_start() {
        let start = WallTime::parse("2026-11-22T12:00:00Z").unwrap();
        assert_eq!(expanded("run-%Y%%", start).unwrap(), PathBuf::from("run-2026%"));
        assert!(expanded("", start).is_err());
        assert!(expanded(&"x".repeat(2000), start).is_err());
    }
}
