"""Turns of phrase that readers have to read twice are not in what is written for them.

That is documents, with the parts that programs write, and what programs print or show: string literals of
Python and Rust outside of tests, docstrings, the help of commands, pages and their scripts, examples and
published tables.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BANNED = (
    (r"told\b(?! (apart|from))", "reported, said, shown"),
    (r"beside\b", "next to"),
    (r"so many\b", "a number, how many"),
    (r"that (is|are) there\b", "existing, or nothing at all"),
    (r"for want of", "without, since there is no"),
    (r"what hangs on", "what depends on"),
    (r"measured back", "measured"),
    (r"in the small\b", "on a small scale"),
    (r"is of no use to anybody", "is useless"),
)
"""Each turn, and what to write in its place."""
NAMES = ("__all__", "__slots__", "__match_args__")
"""What holds names of the program."""

Lines = Iterator[tuple[int, str]]


def found_in(lines: Iterable[tuple[int, str]], name: str) -> list[str]:
    """Return what is to be mended: file, line, the turn, and what to write. Words in backquotes are code."""
    return [
        f'{name}:{number}: "{match[0]}": write {better}'
        for number, line in lines
        for turn, better in BANNED
        if (match := re.search(rf"\b{turn}", re.sub(r"`[^`]*`", "", line), re.IGNORECASE))
    ]


# Where texts are.


def prose(text: str) -> Lines:
    """Yield the lines of a document outside of blocks of code, with their numbers."""
    is_code = False
    for number, line in plain(text):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line


def plain(text: str) -> Lines:
    """Yield all lines, with their numbers."""
    yield from enumerate(text.splitlines(), start=1)


def in_python(text: str) -> Lines:
    """Yield string literals, parts of f-strings and docstrings, each with the line on which it begins."""
    tree = ast.parse(text)
    names = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(ast.unparse(to) in NAMES for to in node.targets)
        for each in ast.walk(node.value)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in names:
            # A parameter's name in a docstring is one of the program.
            words = re.sub(r"^ *\w+ : ", "", node.value, flags=re.MULTILINE)
            yield node.lineno, " ".join(words.split())


RUST = re.compile(
    r"""
    (?P<help>///[^\n]*) | //[^\n]* | /\*.*?\*/
    | \b[bc]?r(?P<hashes>\#*)"(?P<raw>.*?)"(?P=hashes)
    | "(?P<string>(?:\\.|[^"\\])*)"
    | '(?:\\u\{\w+\}|\\x\w\w|\\.|[^'\\\n])'
    | (?P<test>\#\[cfg\((?:all\()?test\b)
    | (?P<mark>[{};])
    """,
    re.DOTALL | re.VERBOSE,
)
"""Of Rust: comments, strings, characters, what is for tests only, and where blocks begin and end."""


def in_rust(text: str) -> Lines:
    """Yield string literals outside of tests, and the help of commands, with the line where each begins."""
    has_help = re.search(r"\buse clap\b", text) is not None
    depth, is_next = 0, False
    outside = None  # How deep the block is that is for tests only.
    for token in RUST.finditer(text):
        if token["test"]:
            is_next = True
        elif token["mark"] == "{":
            if is_next and outside is None:
                outside = depth
            depth, is_next = depth + 1, False
        elif token["mark"] == "}":
            depth -= 1
            outside = None if depth == outside else outside
        elif token["mark"] == ";":
            is_next = False
        elif outside is None and not is_next:
            words = token["string"] or token["raw"] or (has_help and token["help"]) or ""
            words = re.sub(r"\\n|\\\n\s*", lambda match: " " * (match[0] == r"\n"), words)
            yield text.count("\n", 0, token.start()) + 1, " ".join(re.sub(r"\{[^{}]*\}", "", words).split())
    assert depth == 0, "blocks of Rust are not understood"


SCRIPT = re.compile(
    r"""
    //[^\n]* | /\*.*?\*/
    | (?<=[(=:,!&|?])\s*/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[])+/   # a regular expression
    | "(?P<double>(?:\\.|[^"\\\n])*)" | '(?P<single>(?:\\.|[^'\\\n])*)' | `(?P<template>(?:\\.|[^`\\])*)`
    """,
    re.DOTALL | re.VERBOSE,
)
"""Of JavaScript: comments, regular expressions and strings."""


def in_script(text: str) -> Lines:
    """Yield string literals of JavaScript, with the line on which each begins."""
    for token in SCRIPT.finditer(text):
        words = token["double"] or token["single"] or token["template"] or ""
        yield text.count("\n", 0, token.start()) + 1, re.sub(r"\$\{[^{}]*\}", "", words)


# Which files.


def documents() -> list[Path]:
    """Return the documents."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    for folder in ("examples", "bpf", "crates", "data", "deploy", "fuzz", "reproduce"):
        found += sorted((ROOT / folder).glob("**/*.md"))
    return found


def is_source_of_rust(path: Path) -> bool:
    """Return whether what is in a file is not for tests, nor built."""
    parts = path.relative_to(ROOT).parts
    folders = {"tests", "target"}.intersection(parts) or any(part.endswith("_tests") for part in parts)
    return not folders and not path.stem.endswith("tests")


def sources(*patterns: str) -> list[Path]:
    """Return the files that match one of the patterns."""
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


READ: dict[str, tuple[Callable[[str], Lines], Callable[[], list[Path]]]] = {
    "python": (in_python, lambda: sources("python/weir/**/*.py", "python/weir/**/*.pyi", "website/*.py")),
    "rust": (
        in_rust,
        lambda: list(
            filter(is_source_of_rust, sources("crates/**/*.rs", "bench-exec/src/**/*.rs", "examples/**/*.rs"))
        ),
    ),
    "scripts": (
        in_script,
        lambda: sources("crates/weir-web/page/*.js", "python/weir/assets/*.js", "website/static/*.js"),
    ),
    "files": (
        plain,
        lambda: sources(
            "crates/weir-web/page/*.html",
            "crates/weir-web/page/examples/*.toml",
            "python/weir/assets/**/*.toml",
            "examples/*/*.toml",
            "examples/*/*.ipynb",
            "deploy/**/*.toml",
            "reproduce/**/*.csv",
            "crates/*/Cargo.toml",
            "bench-exec/Cargo.toml",
        ),
    ),
}
"""How texts are read from files of a kind, and which these are."""


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_has_no_banned_turn(path: Path) -> None:
    found = found_in(prose(path.read_text(encoding="utf-8")), str(path.relative_to(ROOT)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", READ)
def test_what_users_see_has_no_banned_turn(kind: str) -> None:
    read, files = READ[kind]
    paths = files()
    assert paths
    found = [
        each
        for path in paths
        for each in found_in(read(path.read_text(encoding="utf-8")), str(path.relative_to(ROOT)))
    ]
    assert not found, "\n".join(found)


DOCUMENT = "The result is told.\n```\nwhat is told here is code\n```\nTold apart, `told`, foretold.\nSo many."
PYTHON = '''
__all__ = ["told"]
def told(beside):
    """Say it.

    Parameters
    ----------
    told : callable
        Is told.
    """
    # What is told here is a comment.
    print(f"{told} is printed beside {beside!r}", "for "
          "want of it")
'''
RUST_TEXT = r"""
use clap::Args;
/// What is told in help.
fn told<'a>(told: &'a str) { // "told"
    println!("{told} and \"beside\" {told:?} {{}}", '"', '{');
    r#"for "want" of, told"#; "so \
        many";
}
#[cfg(test)]
mod tests {
    fn told() { "told"; }
}
#[cfg(test)]
use told::{beside};
const TOLD: &str = "is not there; that is there";
"""
SCRIPT_TEXT = """
const told = /["'`]told/.test(told); // "told"
/* 'told' */ show('it is told', `${told} beside`, "https://told.apart", "a");
"""


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (prose, DOCUMENT, [(1, "told"), (6, "So many")]),
        (in_python, PYTHON, [(4, "told"), (12, "for want of"), (12, "beside")]),
        (
            in_rust,
            RUST_TEXT,
            [(3, "told"), (5, "beside"), (6, "told"), (6, "so many"), (15, "that is there")],
        ),
        (in_script, SCRIPT_TEXT, [(3, "told"), (3, "beside"), (3, "told")]),
    ],
)
def test_the_check_finds_what_is_planted(
    read: Callable[[str], Lines], text: str, expected: list[tuple[int, str]]
) -> None:
    better = {"told": BANNED[0][1], "beside": BANNED[1][1], "so many": BANNED[2][1]}
    better |= {"that is there": BANNED[3][1], "for want of": BANNED[4][1]}
    assert found_in(read(text), "x") == [
        f'x:{line}: "{turn}": write {better[turn.lower()]}' for line, turn in expected
    ]
