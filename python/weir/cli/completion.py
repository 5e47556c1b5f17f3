"""Completion scripts for shells, derived from the commands themselves.

A script knows commands, options, and the words that an option or argument chooses from; where a file belongs,
the shell completes file names. Nothing of weir runs when a key is pressed. What zsh reads is the script of
bash, through `bashcompinit`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["SHELLS", "script"]

_FILES = "files"


@dataclass(frozen=True, slots=True)
class _Option:
    """An option: whether a value follows, and of which words or whether it is a file."""

    name: str
    takes_value: bool
    values: tuple[str, ...] | str
    help: str


@dataclass(frozen=True, slots=True)
class _Command:
    """A command by its path, ``import tg``, or a group of them; the path of the program itself is empty."""

    path: str
    help: str
    commands: tuple[str, ...]
    options: tuple[_Option, ...]
    values: tuple[str, ...] | str
    """What its arguments are chosen from, or that they are files."""


def script(shell: str, root: Any) -> str:  # noqa: ANN401 - typer keeps the types of commands to itself
    """Return the script of a shell that completes the commands under ``root``.

    Raises
    ------
    ConfigError
        If the shell is none of `SHELLS`.
    """
    if shell not in SHELLS:
        raise ConfigError(f"SHELL is {shell}, must be one of {', '.join(SHELLS)}", "name one of them")
    return "\n".join(SHELLS[shell](list(_commands(root, "")))) + "\n"


def _commands(command: Any, path: str) -> Iterator[_Command]:  # noqa: ANN401
    inner = getattr(command, "commands", {})
    options = [
        _Option(name, not each.is_flag, _values(each, path), _first(each.help))
        for each in command.params
        if each.param_type_name == "option"
        for name in each.opts
        if name.startswith("--")
    ]
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    values = _values(arguments[0], path) if arguments else ()
    about = _first(command.short_help or command.help or "")
    yield _Command(path, about, tuple(inner), (*options, _Option("--help", False, (), "Show help.")), values)
    for name, each in inner.items():
        yield from _commands(each, f"{path} {name}".strip())


def _values(parameter: Any, path: str) -> tuple[str, ...] | str:  # noqa: ANN401
    """Return the words that a value is chosen from, or that it is a file."""
    kinds = _kinds(parameter.type_descriptor.annotation)
    if Path in kinds or (parameter.metavar or "").startswith("FILE|"):
        return _FILES
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, Enum):
            return tuple(str(each.value) for each in kind)
    if (path, parameter.metavar) == ("explain", "NAME"):
        from weir.registry import disciplines

        return tuple(dict.fromkeys(row["name"] for row in disciplines()))
    return ()


def _kinds(annotation: object) -> set[Any]:
    return {annotation} | {each for inner in get_args(annotation) for each in _kinds(inner)}


def _first(text: str) -> str:
    """Return the first sentence of a help text."""
    plain = " ".join(text.split())
    found = re.match(r".*?[.:](?= |$)", plain)
    return (found[0] if found else plain).rstrip(".:")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "").replace("'", "") + "'"


# bash and zsh.


def _bash(commands: Sequence[_Command]) -> Iterator[str]:
    yield "# Completion of weir for bash: source it, or save it where bash-completion looks for `weir`."
    yield "_weir() {"
    yield "    local at= word i cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}"
    yield "    for ((i = 1; i < COMP_CWORD; i++)); do"
    yield "        word=${COMP_WORDS[i]}"
    yield '        case "$at/$word" in'
    paths = "|".join(f'"{"/".join(_parted(each.path))}"' for each in commands if each.path)
    yield f'            {paths}) at="${{at:+$at }}$word" ;;'
    yield "        esac"
    yield "    done"
    yield "    COMPREPLY=()"
    yield '    case "$at $prev" in'
    for each in commands:
        for option in each.options:
            if option.takes_value:
                yield f'        "{each.path} {option.name}") {_bash_values(option.values)}; return ;;'
    yield "    esac"
    yield '    case "$at" in'
    for each in commands:
        options = " ".join(option.name for option in each.options)
        words = each.commands or each.values
        yield f'        "{each.path}")'
        yield f'            if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "{options}" -- "$cur"))'
        yield f"            else {_bash_values(words)}; fi ;;"
    yield "    esac"
    yield "}"
    yield "complete -o bashdefault -o default -F _weir weir"


def _parted(path: str) -> tuple[str, str]:
    """Return the group of a command and its own name."""
    group, _, name = path.rpartition(" ")
    return group, name


def _bash_values(values: tuple[str, ...] | str) -> str:
    """Return what offers these; the shell offers files where nothing is offered."""
    if values == _FILES:
        return ":"
    if not values:
        return "compopt +o bashdefault +o default 2>/dev/null"
    return f'COMPREPLY=($(compgen -W "{" ".join(values)}" -- "$cur"))'


def _zsh(commands: Sequence[_Command]) -> Iterator[str]:
    yield "#compdef weir"
    yield "autoload -U +X bashcompinit && bashcompinit"
    yield from _bash(commands)


# fish.


def _fish(commands: Sequence[_Command]) -> Iterator[str]:
    yield "# Completion of weir for fish: save it as ~/.config/fish/completions/weir.fish."
    yield "complete -c weir -f"
    about = {each.path: each.help for each in commands}
    for each in commands:
        where = _fish_condition(each)
        for name in each.commands:
            text = about[f"{each.path} {name}".strip()]
            yield f"complete -c weir -n '{where}' -a {name} -d {_quoted(text)}"
        if each.values == _FILES:
            yield f"complete -c weir -n '{where}' -F"
        elif each.values:
            yield f"complete -c weir -n '{where}' -a '{' '.join(each.values)}'"
        for option in each.options:
            yield f"complete -c weir -n '{where}' {_fish_option(option)}"


def _fish_condition(command: _Command) -> str:
    if not command.path:
        return "__fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in command.path.split())
    inner = " ".join(command.commands)
    return f"{seen}; and not __fish_seen_subcommand_from {inner}" if inner else seen


def _fish_option(option: _Option) -> str:
    text = f"-l {option.name.removeprefix('--')} -d {_quoted(option.help)}"
    if not option.takes_value:
        return text
    if option.values == _FILES:
        return f"{text} -r -F"
    return f"{text} -x -a '{' '.join(option.values)}'" if option.values else f"{text} -x"


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
"""What writes the script of a shell, by its name."""
