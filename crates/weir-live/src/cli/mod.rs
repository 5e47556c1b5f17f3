//! The command line of `weird`: one file a command.
//!
//! Exit codes: 0 done and met, 1 a requirement not met, 2 bad input, 3 not permitted or not supported here.

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::daemon::directory::RunError;
use crate::daemon::log;
use crate::daemon::privileges::{Limited, Missing};

mod client;
mod completion;
mod ctl;
mod daemon;
mod doctor;
mod file;
mod flood;
mod forward;
mod load;
mod manual;
mod redirect;
mod route;
mod steer;
mod tg;
mod top;

/// Runs packet disciplines and dispatchers on real packets.
#[derive(Debug, Parser)]
#[command(name = "weird", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a router between interfaces: forwards packets in the order that disciplines decide.
    Route(route::Arguments),
    /// Spreads the requests of an interface over processors, as a dispatcher decides.
    Steer(steer::Arguments),
    Completion(completion::Arguments),
    Ctl(ctl::Arguments),
    Doctor(doctor::Arguments),
    Top(top::Arguments),
    /// Forwards between two interfaces and does nothing else: the baseline of the benchmarks.
    #[command(hide = true)]
    BenchForward(forward::Arguments),
    Load(load::Arguments),
    Manual(manual::Arguments),
    /// Sends packets of ever new flows: a load that a router must withstand.
    #[command(hide = true)]
    BenchFlood(flood::Arguments),
    /// Spreads the frames of an interface over processors and does nothing else: the baseline of the benchmarks.
    #[command(hide = true)]
    BenchRedirect(redirect::Arguments),
    /// Sends or receives what a TG script says; `weird tg report` evaluates the logs
    Tg(tg::Tg),
}

/// Why a command ended without being done.
#[derive(Debug)]
pub enum Failure {
    /// A requirement was not met: exit code 1.
    NotMet(String),
    /// Bad input: exit code 2.
    Input(String),
    /// Not permitted or not supported here: exit code 3.
    Unsupported(String),
}

impl Failure {
    const fn code(&self) -> u8 {
        match self {
            Self::NotMet(_) => 1,
            Self::Input(_) => 2,
            Self::Unsupported(_) => 3,
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::NotMet(text) | Self::Input(text) | Self::Unsupported(text) => text,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Unsupported(error.to_string())
    }
}

impl From<Missing> for Failure {
    fn from(missing: Missing) -> Self {
        Self::Unsupported(missing.to_string())
    }
}

impl From<Limited> for Failure {
    fn from(limited: Limited) -> Self {
        Self::Unsupported(limited.to_string())
    }
}

impl From<weir_document::Refused> for Failure {
    fn from(refused: weir_document::Refused) -> Self {
        Self::Input(refused.to_string())
    }
}

/// Writes to the standard output; a reader that has gone is no failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Input(format!("the standard output: {error}: write elsewhere")))
        }
        _ => Ok(()),
    }
}

/// Reads the arguments, and does what they say.
#[must_use]
pub fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Route(arguments) => route::run(&arguments),
        Command::Steer(arguments) => steer::run(&arguments),
        Command::Completion(arguments) => completion::run(&arguments),
        Command::Ctl(arguments) => ctl::run(arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Top(arguments) => top::run(&arguments),
        Command::BenchForward(arguments) => forward::run(&arguments),
        Command::Load(arguments) => load::run(arguments),
        Command::Manual(arguments) => manual::run(&arguments),
        Command::BenchFlood(arguments) => flood::run(&arguments),
        Command::BenchRedirect(arguments) => redirect::run(&arguments),
        Command::Tg(arguments) => tg::main(arguments),
    };
    let code = match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            log::error(format_args!("{}", failure.text()));
            ExitCode::from(failure.code())
        }
    };
    log::end();
    code
}
