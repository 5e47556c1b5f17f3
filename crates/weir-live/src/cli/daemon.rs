//! What the commands that run a daemon share: their configuration, the signals that end them, the address of their metrics.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use weir_document::{Refused, Source};
use weir_plane::config::check::text_of;

use super::Failure;
use crate::daemon::directory::base;
use crate::daemon::log::{self, Level};
use crate::daemon::metrics::Metrics;
use crate::daemon::privileges;
use crate::daemon::sandbox::{self, Files};
use crate::daemon::user::{self, User};
use crate::io::dispatcher;
use crate::io::pins::BPF_FILES;

/// The configuration of a daemon, and what else than to run it may be wanted of it.
#[derive(Debug, clap::Args)]
pub(super) struct Configured {
    /// The configuration.
    pub(super) file: PathBuf,
    /// Reads and checks the configuration, and ends.
    #[arg(long)]
    pub(super) check: bool,
    /// Prints the configuration with everything that it leaves open, and ends.
    #[arg(long)]
    pub(super) print: bool,
    /// Becomes this user when all is set up that takes root, whatever `user` of the configuration says.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Leaves all system calls and files open to the daemon that the user has.
    #[arg(long)]
    no_sandbox: bool,
    /// Says what matters as much or more.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = Level::Info)]
    log_level: Level,
}

impl Configured {
    /// Gives up what a daemon of this run directory has no need of. `pins` says whether it makes and removes pins.
    pub(super) fn restrict(&self, directory: &Path, pins: bool) {
        if !self.no_sandbox {
            let pins = [PathBuf::from(BPF_FILES), dispatcher::files()].into_iter().filter(|_| pins);
            let mut own: Vec<PathBuf> = [directory.to_owned()].into_iter().chain(pins).collect();
            own.dedup();
            sandbox::enter(&Files { own, base: base() });
        }
    }

    /// The user that the daemon is to become, if it may: that of the option, or of the file. `pins` says by which key it
    /// would leave programs behind, which root alone can remove.
    pub(super) fn user(&self, of_file: Option<&str>, pins: Option<&str>) -> Result<Option<User>, Failure> {
        let Some(name) = self.user.as_deref().or(of_file) else { return Ok(None) };
        if let Some(key) = pins {
            return Err(Failure::Input(format!(
                "user is \"{name}\", and {key} pins programs, which root alone can remove: leave out one of them"
            )));
        }
        let user = User::named(name).map_err(|error| Failure::Input(error.to_string()))?;
        // Whoever started it may have done so already.
        if rustix::process::geteuid().as_raw() == user.uid {
            return Ok(None);
        }
        privileges::require(system(privileges::effective())?, user::NEEDED)?;
        Ok(Some(user))
    }

    /// Queues what is said from now on: nothing that runs waits for a reader.
    pub(super) fn begin_log(&self) {
        log::begin(self.log_level);
    }

    /// The file, and what `read` makes of it.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Source<'_>) -> Result<T, Refused>,
    ) -> Result<(String, T), Failure> {
        let text = text_of(&self.file)?;
        let file = self.file.display().to_string();
        let configuration = read(&Source { name: &file, text: &text })?;
        Ok((file, configuration))
    }
}

/// A flag that is set when a signal asks the daemon to end.
pub(super) fn ended() -> Result<Arc<AtomicBool>, Failure> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        system(signal_hook::flag::register(signal, Arc::clone(&ended)))?;
    }
    Ok(ended)
}

/// The socket of the metrics, where they are wanted: that of the supervisor, or one of its own.
pub(super) fn metrics(address: Option<SocketAddr>) -> Result<Option<Metrics>, Failure> {
    let refused =
        |error| Failure::Unsupported(format!("the socket of the supervisor: {error}; see its unit"));
    if let Some(handed) = Metrics::handed().map_err(refused)? {
        let at = system(handed.address())?;
        return match address {
            Some(written) if written != at => Err(Failure::Input(format!(
                "metrics is \"{written}\", and the supervisor has handed over a socket at {at}: write the same in both, \
                 or leave out `metrics`"
            ))),
            _ => Ok(Some(handed)),
        };
    }
    let bind = |address| {
        Metrics::bind(address).map_err(|error| {
            let remedy = match error.raw_os_error() {
                Some(libc::EAFNOSUPPORT) => {
                    "let the supervisor open it, as `weird-route@.socket` and `weird-steer@.socket` do"
                }
                _ => "give `metrics` another port",
            };
            Failure::Unsupported(format!("metrics at {address}: {error}; {remedy}"))
        })
    };
    address.map(bind).transpose()
}

/// A number that nobody knows.
pub(super) fn random() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    system(rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()))?;
    Ok(u64::from_ne_bytes(bytes))
}

/// What the system refused that it refuses nobody in good health.
pub(super) fn system<T, E: Display>(result: Result<T, E>) -> Result<T, Failure> {
    result.map_err(|error| Failure::Unsupported(format!("the system refuses: {error}")))
}

/// That a daemon ended of itself.
pub(super) fn ended_early(what: &str) -> impl FnOnce(io::Error) -> Failure + use<'_> {
    move |error| Failure::Unsupported(format!("{what} ended: {error}"))
}
