//! SIGHUP: the configuration file is read again, and taken as `weird ctl NAME reload FILE` would take it.
//!
//! The file is the one that the daemon was started with. A configuration that is refused is refused whole, and the log says
//! why: nothing changes, and nothing is lost. Signals that come while one is being served are one.
//!
//! | | |
//! |-|-|
//! | Source | signal(7) |
//! | Work | reading and checking, in a thread of its own; the loop takes what was checked |

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder;

use signal_hook::consts::SIGHUP;
use weir_plane::config::check::text_of;

use super::control::Orders;
use super::protocol::{Answer, Request};
use super::readings::Readings;
use super::{log, privileges};

/// The stack of the thread, in bytes: that of the others that parse.
const STACK: usize = 1 << 20;

/// Signals that nobody serves yet: none of them ends the process any more.
#[derive(Debug)]
pub struct Hangups(UnixStream);

impl Hangups {
    /// Takes SIGHUP from now on.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn take() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(SIGHUP, write)?;
        Ok(Self(read))
    }

    /// Reads this file again with each signal, until the process ends.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn serve<K: Orders>(
        mut self,
        file: PathBuf,
        readings: Arc<Readings<K::Order>>,
        kind: K,
    ) -> io::Result<()> {
        let each = move || {
            privileges::renounce();
            while self.next() {
                match reload(&file, &readings, &kind) {
                    Ok(said) => log::notice(format_args!("SIGHUP: {said}")),
                    Err(error) => log::error(format_args!("SIGHUP: nothing is changed: {error}")),
                }
            }
        };
        Builder::new().name("reload".to_owned()).stack_size(STACK).spawn(each).map(drop)
    }

    /// Waits for a signal, and takes all that have come; `false` where there can be no more.
    fn next(&mut self) -> bool {
        self.0.read(&mut [0; 64]).is_ok_and(|count| count > 0)
    }
}

/// Has the loop take the file as it is now.
fn reload<K: Orders>(file: &Path, readings: &Readings<K::Order>, kind: &K) -> Result<String, String> {
    let text = text_of(file).map_err(|refused| refused.to_string())?;
    let order = kind.order(Request::Reload { file: file.display().to_string(), text })?;
    match &readings.order(order).answer {
        Answer::Done { said } => Ok(said.clone()),
        Answer::Refused { error, .. } => Err(error.clone()),
        _ => Err("the daemon answered something else".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use weir_document::Source;

    use super::super::inbox::inbox;
    use super::super::requests::{Began, InForce, Order};
    use super::*;

    const TEXT: &str = "weir = 1\n[router]\nname = \"r\"\n[[interface]]\nname = \"a\"\n";

    fn router() -> Began {
        let router = weir_plane::config::read(&Source { name: "r.toml", text: TEXT }).expect("valid");
        Began { in_force: InForce::new(Arc::new(router.clone())), router, seed: 1 }
    }

    #[test]
    fn the_file_is_taken_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("r.toml");
        let (caller, inbox) = inbox().expect("a descriptor");
        let readings = Readings::new(caller);
        let error = reload(&file, &readings, &router()).expect_err("no file");
        assert!(error.contains("cannot be read"), "{error}");
        std::fs::write(&file, format!("{TEXT}rate = \"0bit\"\n")).expect("written");
        let error = reload(&file, &readings, &router()).expect_err("no rate");
        assert!(error.contains("r.toml:6:8: interface.rate is \"0bit\""), "{error}");
        assert!(inbox.try_next().is_none());
        std::fs::write(&file, TEXT).expect("written");
        let taken = std::thread::spawn(move || {
            loop {
                let Some(command) = inbox.try_next() else {
                    std::thread::yield_now();
                    continue;
                };
                command.reply.send(Answer::Done { said: "in force".to_owned() });
                return command.order;
            }
        });
        assert_eq!(reload(&file, &readings, &router()), Ok("in force".to_owned()));
        assert!(matches!(taken.join().expect("taken"), Order::Reload { .. }));
    }

    #[test]
    fn signals_that_come_together_are_one() {
        let mut hangups = Hangups::take().expect("a descriptor");
        for _ in 0..3 {
            signal_hook::low_level::raise(SIGHUP).expect("raised");
        }
        assert!(hangups.next());
        hangups.0.set_nonblocking(true).expect("set");
        assert!(!hangups.next());
    }
}
