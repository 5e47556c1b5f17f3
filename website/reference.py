"""The reference that is derived: a page for each discipline, the options of every command, the crates.

Disciplines come from the registry and from the head of the file that each is written in; commands from
what they say of themselves; crates from their manifests and the first paragraphs of their documentation.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import typer.main

import picture
import weir
from stage import ROOT, toctree
from steps import steps_of
from weir import _weir

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from stage import Stage

_KINDS = {
    "message": ("Messages", "order messages that are served in parts, or whole"),
    "wrapper": ("Wrappers", "put a rule around another discipline"),
    "packet": ("Packets", "order packets at a link"),
    "task": ("Tasks", "say which process runs on a processor"),
    "dispatcher": ("Dispatchers", "say which server a request goes to when it arrives"),
    "pool": ("Pools", "say which request a server takes next"),
}
_MESSAGES = (
    "Five messages, A and C and E of one flow, B and D of another; the numbers on the left are their "
    "lengths in packets. "
    "A triangle is an arrival, a bar is service, a line lasts from arrival to the end. Above each bar "
    "stands the "
    "number of the decision; below, each decision has whom it serves, for how much, and who waits, the "
    "next first."
)
_PACKETS = (
    "Twelve packets on a line of 8 Mbit/s: a burst of 1,500 bytes each from flow a, 500 bytes every 2.2 ms "
    "from b, three "
    "of 1,000 bytes from c. A triangle is an arrival, a bar a packet on the line, a cross a packet that is "
    "dropped. Below, "
    "each decision has the packet that it sends, and what waits then, in the order in which it would be sent."
)
_TASKS = (
    "Three processes on one core over 20 ms: control works 1 ms every 5 ms and needs 4 ms, video works 6 "
    "ms every 10 ms "
    "and needs 8 ms, batch never rests and needs 6 ms. A triangle is a wake-up, a bar is a run. Below are "
    "the runs in "
    "their order."
)
_REQUESTS = (
    "Ten requests on three servers: 1, 3 and 7 (orange) take 9 µs, the others 2 µs. They arrive 1 µs "
    "apart, the last "
    "after 3 µs more. A bar lasts from the start of a request to its end. Below, in the order of arrival, "
    "are the server that "
    "each got, and how long it waited."
)
_CAPTIONS = {
    "message": _MESSAGES,
    "packet": _PACKETS,
    "task": _TASKS,
    "dispatcher": _REQUESTS,
    "pool": _REQUESTS,
}
_HEADED = re.compile(r"^//! \| ([^|]+) \| (.*) \|$", re.MULTILINE)
_LEFT_OUT = {"Source", "Work per packet", "Work per item", "Work per message", "-"}


def page_of(info: dict[str, Any]) -> str:
    """Return the page of a discipline: its name, with the kind where another kind has it too."""
    names = [each["name"] for each in weir.disciplines()]
    first = next(each for each in weir.disciplines() if each["name"] == info["name"])
    shared = names.count(info["name"]) > 1 and info["kind"] != first["kind"]
    return f"reference/disciplines/{info['name']}" + (f"-{info['kind']}" if shared else "")


# Disciplines.


def stage_disciplines(to: Stage) -> None:
    """Write a page for each discipline, and the list of them below the introduction of their document."""
    listed = weir.disciplines()
    text = (ROOT / "docs" / "disciplines.md").read_text(encoding="utf-8")
    index = to.pages["docs/disciplines.md"]
    introduction = to.linked(text[: text.index("\n## All")], "docs/disciplines.md", index)
    parts = [introduction, "\n## All\n"]
    for kind, (title, does) in _KINDS.items():
        rows = [each for each in listed if each["kind"] == kind]
        names = (f"[`{each['name']}`]({page_of(each).rsplit('/', 1)[1]}.md)" for each in rows)
        lines = [
            f"| {name} | {each['title']} | {_cell(each['work'])} |"
            for name, each in zip(names, rows, strict=True)
        ]
        parts.append(
            f"\n### {title}\n\nThese {does}.\n\n| name | what it is | work per item |\n|---|---|---|\n"
        )
        parts.append("\n".join(lines) + "\n")
    names = (page_of(each).rsplit("/", 1)[1] for each in listed)
    parts.append(toctree(*(f"{name.replace('-', ', ')} <{name}>" for name in names)))
    to.write(index, "".join(parts))
    for each in listed:
        to.write(page_of(each), "".join(_discipline(each)))


def _discipline(info: dict[str, Any]) -> Iterator[str]:
    name, kind = info["name"], info["kind"]
    rule = info["rule"][0].upper() + info["rule"][1:]
    yield f"# {name}: {info['title']}\n\n{rule.rstrip('.')}.\n\n"
    steps = steps_of(info)
    yield f"## Step by step\n\n`{steps.spec}`, decided by the engine when this site was built.\n\n"
    yield picture.figure(steps, f"Decisions of {steps.spec} on a small trace")
    caption = _CAPTIONS["packet" if steps.lanes[0].startswith("flow") else _plain_kind(kind)]
    if steps.lanes[0].startswith("request"):
        caption += (
            " Requests are put aside for others here, so each has a row, from its first start to its end, "
            "and the server is the last."
        )
    yield f"\n{caption}\n\n## Facts\n\n| | |\n|---|---|\n"
    for key, value in _facts(info):
        yield f"| {key} | {_cell(value)} |\n"
    yield "\n## Parameters\n\n"
    yield from _parameters(info)
    yield "\n## Use\n\nIn a [scenario](../scenario.md):\n\n"
    yield f'```toml\ndisciplines = ["{info["example"]}"]\n```\n'
    if kind in {"message", "packet"} or (kind == "wrapper"):
        yield f'\nIn a [Python program](../python.md), `weir.Queue("{info["example"]}")`.\n'
    if kind == "dispatcher":
        yield f'\nIn a [Python program](../python.md), `weir.Dispatcher("{info["example"]}", servers=4)`.\n'


def _plain_kind(kind: str) -> str:
    return "message" if kind == "wrapper" else kind


def _facts(info: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "source", info["source"]
    yield "kind", info["kind"]
    yield "models", ", ".join(f"`{name}`" for name in info["models"])
    yield "work per item", info["work"]
    for key, value in _of_file(info):
        yield key[0].lower() + key[1:], value
    forms = {
        mode: form["formula"] or f"none: {form['reason']}" for mode, form in info["closed_forms"].items()
    }
    if len(set(forms.values())) == 1:
        yield "closed form", next(iter(forms.values()))
    else:
        yield from ((f"closed form, {mode}", words) for mode, words in forms.items())
    names = [
        f"*{each['name']}*, {each['means']}"
        for each in json.loads(_weir.textbook())
        if each["here"] and each["here"][0] == info["name"] and info["kind"] != "dispatcher"
    ]
    if names:
        yield "in textbooks", "; ".join(names)


def _of_file(info: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the head of a discipline's file says of units, memory and departures from the source."""
    for folder in {"dispatcher": ("pool",), "pool": ("pool",)}.get(
        info["kind"], ("message", "packet", "task")
    ):
        for path in sorted((ROOT / "crates" / "weir-core" / "src" / folder).rglob("*.rs")):
            text = path.read_text(encoding="utf-8")
            if re.search(rf'^    name: "{info["name"]}",$', text, re.MULTILINE):
                head = "\n".join(takewhile(lambda line: line.startswith("//!"), text.splitlines()))
                for key, value in _HEADED.findall(head):
                    if key.strip() not in {"", *_LEFT_OUT} and value.strip() != "as above":
                        yield key.strip(), _without_links(value)
                return


def _without_links(text: str) -> str:
    """Return documentation of Rust whose links to items are code."""
    text = re.sub(r"\[(`[^`]+`)\](?:\([^)]*\))?", r"\1", text)
    return re.sub(r"\[([^\]`]+)\]\((?!https?:)[^)]*\)", r"\1", text)


def _parameters(info: dict[str, Any]) -> Iterator[str]:
    if not info["parameters"]:
        yield "None.\n"
        return
    yield "| parameter | values | default | meaning |\n|---|---|---|---|\n"
    for each in info["parameters"]:
        default = f"`{each['default']}`" if each["default"] else "must be given"
        yield f"| `{each['name']}` | {_cell(each['values'])} | {default} | {_cell(each['meaning'])} |\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


# Commands.


def stage_commands(to: Stage) -> None:
    """Write the arguments and options of every command."""
    from weir.cli.commands import application

    root = typer.main.get_command(application())
    parts = [
        (
            "# Options of the commands\n\nWhat `weir COMMAND --help` prints. "
            "[Commands](commands.md) has an example of each, with what it prints.\n"
        )
    ]
    for words, command in _commands(root, ("weir",)):
        parts += _command(" ".join(words), command)
    to.write("reference/options", "\n".join(parts))


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401
    if getattr(command, "hidden", False):
        return
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*words, name))


def _command(name: str, command: Any) -> Iterator[str]:  # noqa: ANN401
    yield f"\n## {name}\n"
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        yield from _paragraph(paragraph)
    rows = [row for each in command.params if not getattr(each, "hidden", False) for row in _parameter(each)]
    if rows:
        yield "| | |\n|---|---|\n" + "\n".join(rows) + "\n"


def _paragraph(text: str) -> Iterator[str]:
    if text.startswith("\b"):
        body = inspect.cleandoc(text[1:].lstrip("\n"))
        title, _, rest = body.partition("\n")
        if title.endswith(":"):
            yield f"{title}\n"
            body = inspect.cleandoc("\n" + rest)
        yield f"```{'sh' if title.startswith('Example') else 'text'}\n{body}\n```\n"
    elif text.strip():
        yield f"{' '.join(text.split())}\n"


def _parameter(each: Any) -> Iterator[str]:  # noqa: ANN401
    what = str(each.metavar or each.name.upper())
    if each.param_type_name == "argument":
        names = f"`{what}`"
    else:
        names = ", ".join(f"`{name}`" for name in (*each.opts, *each.secondary_opts))
        names += "" if each.is_flag else f" `{what}`"
    yield f"| {_cell(names)} | {_cell(each.help or '')} |"


# Crates.


def stage_crates(to: Stage) -> None:
    """Write what each crate is, and on which crates of weir it depends."""
    index = "reference/crates/index"
    manifests = {path.parent: tomllib.loads(path.read_text()) for path in ROOT.glob("crates/*/Cargo.toml")}
    parts = [
        (
            "# Crates\n\n`make docs` writes the reference of all items to `out/docs/rust`. Three of these "
            "crates are made for others' programs: `weir-core`, `weir-exec` and `weir-recording`; the "
            "interfaces of the others change with the commands. [Where things are](../map.md) has the way "
            "through the tree.\n"
        )
    ]
    for folder, manifest in sorted(manifests.items()):
        parts += _crate(to, folder, manifest)
    readmes = sorted(
        page.removeprefix("reference/crates/")
        for source, page in to.pages.items()
        if re.fullmatch(r"crates/[\w-]+/README\.md", source)
    )
    to.write(index, "\n".join(parts) + toctree(*readmes))


def _crate(to: Stage, folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    name = manifest["package"]["name"]
    yield f"## {name}\n\n{manifest['package'].get('description', '').rstrip('.')}.\n"
    needs = sorted(each for each in manifest.get("dependencies", {}) if each.startswith("weir-"))
    if needs:
        yield "Depends on " + ", ".join(f"[`{each}`](#{each})" for each in needs) + ".\n"
    readme = f"{folder.relative_to(ROOT).as_posix()}/README.md"
    if readme in to.pages:
        yield f"[Read on]({to.pages[readme].removeprefix('reference/crates/')}.md).\n"
    words = _head_of(folder / "src" / "lib.rs")
    if words:
        yield words + "\n"


def _head_of(path: Path) -> str:
    """Return the first paragraphs of a crate's documentation, up to a heading, a table or a block of code."""
    if not path.exists():
        return ""
    lines: Iterable[str] = path.read_text(encoding="utf-8").splitlines()
    lines = [line[3:].removeprefix(" ") for line in takewhile(lambda line: line.startswith("//!"), lines)]
    kept = list(takewhile(lambda line: not line.startswith(("#", "|", "```")), lines))
    paragraphs = "\n".join(kept).strip().split("\n\n")
    # The first says what the manifest does; one that ends with a colon belongs to what is left out.
    return _without_links("\n\n".join(each for each in paragraphs[1:] if not each.endswith(":")))
