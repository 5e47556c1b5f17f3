//! `weird completion`: scripts for shells, made of what the commands say of themselves.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::Failure;

/// Prints a script that completes the commands and options of `weird` in a shell
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell: `source <(weird completion bash)`
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    super::print(&script(arguments.shell))
}

fn script(shell: Shell) -> String {
    let mut text = Vec::new();
    generate(shell, &mut super::Arguments::command(), "weird", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_is_told_of_each_command_that_is_shown() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let text = script(shell);
            for command in super::super::Arguments::command().get_subcommands().filter(|it| !it.is_hide_set())
            {
                assert!(text.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
        }
    }
}
