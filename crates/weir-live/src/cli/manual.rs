//! `weird manual`: the manual pages, made of what the commands say of themselves.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use super::Failure;

/// Writes the manual pages of `weird` and its commands
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The folder to write them to, such as /usr/share/man/man1
    folder: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = arguments.folder.display();
    clap_mangen::generate_to(super::Arguments::command(), &arguments.folder)
        .map_err(|error| Failure::Input(format!("{folder}: {error}: name a folder that can be written to")))
}
