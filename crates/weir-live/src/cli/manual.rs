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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_its_page() {
        let folder = tempfile::tempdir().expect("a folder");
        run(&Arguments { folder: folder.path().to_owned() }).expect("written");
        for command in super::super::Arguments::command().get_subcommands().filter(|it| !it.is_hide_set()) {
            let page = folder.path().join(format!("weird-{}.1", command.get_name()));
            let text = std::fs::read_to_string(&page).unwrap_or_default();
            assert!(text.contains("SYNOPSIS"), "{}", page.display());
        }
        let error =
            run(&Arguments { folder: folder.path().join("none") }).expect_err("there is no such folder");
        assert!(error.text().contains("name a folder that can be written to"), "{}", error.text());
    }
}
