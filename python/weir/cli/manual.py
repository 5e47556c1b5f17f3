r"""Manual pages, made of what the commands say of themselves: ``weir.1`` and one page a command.

A page is what ``--help`` prints, as roff: name, synopsis, description, arguments, options. A paragraph that
begins with ``\b`` keeps its lines. Written for man(7); `groff -man -ww` has nothing to say of them.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["pages"]

_SECTION = "1"
_ESCAPED = str.maketrans({"\\": "\\e", "-": "\\-", "`": "\\(ga", "'": "\\(aq", "~": "\\(ti", "^": "\\(ha"})
"""What roff would take for something else than the character."""
_KEPT = "\b"
"""What begins a paragraph whose lines stay as they are."""


@dataclass(frozen=True, slots=True)
class _Page:
    """A command, its name as the pages have it, and those of which it is one."""

    command: Any
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return "-".join(self.words)


def pages(root: Any, version: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - typer keeps its types
    """Yield the file name and the text of each page, the program's first."""
    for page in _pages(root, ("weir",)):
        yield f"{page.name}.{_SECTION}", "\n".join(_lines(page, version)) + "\n"


def _pages(command: Any, words: tuple[str, ...]) -> Iterator[_Page]:  # noqa: ANN401
    yield _Page(command, words)
    for name, inner in getattr(command, "commands", {}).items():
        yield from _pages(inner, (*words, name))


def _lines(page: _Page, version: str) -> Iterator[str]:
    command = page.command
    paragraphs = _paragraphs(command.help or "")
    about = " ".join(paragraphs[0]).rstrip(".")
    title = page.name.upper()
    yield f'.TH "{_plain(title)}" {_SECTION} "" "weir {_plain(version)}" "User Commands"'
    yield ".SH NAME"
    yield f"{_plain(page.name)} \\- {_plain(about[:1].lower() + about[1:])}"
    yield ".SH SYNOPSIS"
    yield f".B {_plain(' '.join(page.words))}"
    yield _plain(" ".join(_synopsis(command)))
    yield ".SH DESCRIPTION"
    yield from _text(paragraphs)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    if any(each.help for each in arguments):
        yield ".SH ARGUMENTS"
        for each in arguments:
            yield from _entry(f"\\fI{_plain(_metavar(each))}\\fR", each.help or "")
    yield ".SH OPTIONS"
    for each in command.params:
        if each.param_type_name == "option":
            yield from _entry(_option(each), each.help or "")
    yield from _entry("\\fB\\-\\-help\\fR", "Show a help text and exit.")
    yield from _commands(page)


def _commands(page: _Page) -> Iterator[str]:
    inner = getattr(page.command, "commands", {})
    if inner:
        yield ".SH COMMANDS"
    for name, command in inner.items():
        known = f"\\fB{_plain('-'.join((*page.words, name)))}\\fR({_SECTION})"
        yield from _entry(known, command.short_help or _paragraphs(command.help or "")[0][0])
    if len(page.words) > 1:
        yield ".SH SEE ALSO"
        yield f".BR {_plain('-'.join(page.words[:-1]))} ({_SECTION})"


def _paragraphs(text: str) -> list[list[str]]:
    """Return the paragraphs of a help text, each as its lines."""
    found: list[list[str]] = [[]]
    for line in inspect.cleandoc(text).splitlines():
        if line.strip() or line.startswith(_KEPT):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [each for each in found if each] or [[""]]


def _text(paragraphs: Sequence[Sequence[str]]) -> Iterator[str]:
    for place, lines in enumerate(paragraphs):
        if place:
            yield ".PP"
        if lines[0].strip(" \n") != _KEPT:
            yield _plain(" ".join(lines))
            continue
        yield ".nf"
        yield from (_plain(line) for line in lines[1:])
        yield ".fi"


def _synopsis(command: Any) -> Iterator[str]:  # noqa: ANN401
    yield "[OPTIONS]"
    for each in command.params:
        if each.param_type_name == "argument":
            name = _metavar(each)
            more = "..." if each.nargs == -1 else ""
            yield f"{name}{more}" if each.required or name.startswith("[") else f"[{name}{more}]"
    if getattr(command, "commands", None):
        yield "COMMAND"


def _metavar(parameter: Any) -> str:  # noqa: ANN401
    return str(parameter.metavar or parameter.name.upper())


def _option(option: Any) -> str:  # noqa: ANN401
    names = ", ".join(f"\\fB{_plain(name)}\\fR" for name in (*option.opts, *option.secondary_opts))
    return names if option.is_flag else f"{names} \\fI{_plain(_metavar(option))}\\fR"


def _entry(head: str, text: str) -> Iterator[str]:
    yield ".TP"
    yield head
    yield _plain(" ".join(text.split()))


def _plain(text: str) -> str:
    r"""Return text of which roff takes nothing for a request."""
    quoted = text.translate(_ESCAPED)
    return f"\\&{quoted}" if quoted.startswith((".", "\\(aq")) else quoted
