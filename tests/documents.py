"""The documents as programs: their examples are run, and what they list is derived from what it describes.

Of each fenced block the language says what is done with it:

``toml``
    A scenario, and checked as one; kept under the name in its first line, ``# name.toml``.
``python``
    Run, block after block in one namespace.
``pycon``
    Run as a doctest in the same namespace.
``console``
    Each ``$ command`` is run by bash, and what it prints must be what stands below it. ``console norun`` is
    left alone: it takes long, or prints the speed of a machine.

All blocks of a document share one scratch folder, in which ``data`` is that of the repository. What
`SECTIONS` derives from registry or schema stands between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``.

``make docs`` calls this file, which writes outputs and derived sections anew; the tests compare them.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import weir
from weir import _weir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
RUN_EXAMPLES = (
    "classroom",
    "day-profile",
    "first-questions",
    "infiniband",
    "load-sweep",
    "own-discipline",
    "retry-storm",
    "service-log",
    "size-a-service",
    "tail-at-scale",
)
EXAMPLES = [ROOT / "examples" / name / "README.md" for name in RUN_EXAMPLES]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *EXAMPLES])
# Kept elsewhere: tables measured by hand, with the command and the machine beside them.
MEASURED = ("performance.md", "studies.md")
RUN = [path for path in DOCUMENTS if path.name not in MEASURED]

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what else its fence says, and its text."""

    language: str
    options: tuple[str, ...]
    body: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        language, *options = found["info"].split() or [""]
        yield Block(language, tuple(options), found["body"], text.count("\n", 0, found.start()) + 1)


class Scratch:
    """The folder and the namespace in which the blocks of one document run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"weir": weir}
        for name in ("data", "examples"):
            if (ROOT / name).exists():
                (folder / name).symlink_to(ROOT / name)

    def replay(self, block: Block) -> str:
        """Run a block and return it with what it prints today."""
        match block.language:
            case "toml":
                self._toml(block.body)
            case "python":
                self._python(block.body)
            case "pycon":
                self._doctest(block.body)
            case "console" if "norun" not in block.options:
                return self._console(block.body)
        return block.body

    def _toml(self, body: str) -> None:
        name = re.match(r"# ([\w.-]+\.toml)", body)
        path = self.folder / (name[1] if name else "unnamed.toml")
        path.write_text(body, encoding="utf-8")
        weir.Scenario.from_file(path)

    def _python(self, body: str) -> None:
        with Inside(self.folder):
            exec(compile(body, "<document>", "exec"), self.names)  # noqa: S102 - the documents are ours

    def _doctest(self, body: str) -> None:
        test = doctest.DocTestParser().get_doctest(body, self.names, "document", None, 0)
        complaints: list[str] = []
        with Inside(self.folder):
            doctest.DocTestRunner(verbose=False).run(test, out=complaints.append, clear_globs=False)
        assert not complaints, "".join(complaints)
        self.names.update(test.globs)

    def _console(self, body: str) -> str:
        commands = re.findall(r"^\$ (.*(?:\\\n.*)*)", body, re.MULTILINE)
        return "".join(f"$ {command}\n{self._printed(command)}" for command in commands)

    def _printed(self, command: str) -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=120,
        )  # fmt: skip
        # Rich pads the lines of its tables, which editors would remove from a document.
        lines = [line.rstrip() for line in done.stdout.replace(f"{self.folder}/", "").splitlines()]
        return "\n".join(lines).strip("\n") + "\n" if any(lines) else ""


class Inside:
    """Makes a folder the working directory for a while."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        self.before = Path.cwd()
        os.chdir(self.folder)

    def __exit__(self, *_: object) -> None:
        os.chdir(self.before)


def replayed(text: str, folder: Path) -> str:
    """Return a document whose examples have just been run in `folder`."""
    scratch = Scratch(folder)
    fresh = [scratch.replay(block) for block in blocks(text)]
    bodies = iter(fresh)
    return FENCE.sub(lambda found: f"```{found['info']}\n{next(bodies)}```", text)


def derived(text: str) -> str:
    """Return a document whose derived sections are as they are derived today."""
    return SECTION.sub(lambda found: f"{found[1]}\n{SECTIONS[found[2]]()}\n{found[3]}", text)


def cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


def disciplines() -> str:
    """One heading a discipline, from the registry."""
    listed = json.loads(_weir.disciplines())
    summary = table(
        ("name", "what it is", "kind", "work per item"),
        [
            (f"[`{each['name']}`](#{each['name']})", each["title"], each["kind"], each["work"])
            for each in listed
        ],
    )
    return summary + "".join(discipline(each) for each in listed)


def discipline(info: dict[str, Any]) -> str:
    rule = info["rule"][0].upper() + info["rule"][1:]
    lines = [f"\n### {info['name']}\n\n", f"{rule.rstrip('.')}.\n\n"]
    lines += [f"- Source: {info['source']}\n", f"- Example: `{info['example']}`\n"]
    lines += [f"- Closed form, {mode}: {closed_form(form)}\n" for mode, form in info["closed_forms"].items()]
    if info["parameters"]:
        rows = [
            (
                f"`{p['name']}`",
                p["values"],
                f"`{p['default']}`" if p["default"] else "must be given",
                p["meaning"],
            )
            for p in info["parameters"]
        ]
        lines += ["\n", table(("parameter", "values", "default", "meaning"), rows)]
    return "".join(lines)


def closed_form(form: dict[str, str | None]) -> str:
    return form["formula"] or f"none: {form['reason']}"


def scenario() -> str:
    """One table a table of the scenario file, from the JSON Schema."""
    schema = json.loads(_weir.schema())
    parts = []
    for name, kind in sorted(schema["$defs"].items(), key=lambda item: place(item[0])):
        title = f"\n### {name}\n\n{cell(kind['description'])}\n"
        if "properties" in kind:
            parts.append(f"{title}\n{keys(kind)}")
        elif "oneOf" in kind:
            parts.append(
                f"{title}\n{table(('written', 'meaning'), [choice(each) for each in kind['oneOf']])}"
            )
        else:
            parts.append(f"{title}\nPattern: `{kind['pattern']}`\n")
    return "".join(parts).removeprefix("\n")


def place(name: str) -> tuple[int, str]:
    """Tables of the file first, in the order in which they are written."""
    order: tuple[str, ...] = (
        "PortScenario",
        "Workload",
        "Arrivals",
        "Bursty",
        "Lengths",
        "TraceFile",
        "Closed",
        "Group",
        "Think",
        "Service",
        "PacketTime",
    )
    order += ("Stop", "Measure")
    order += (
        "NetworkScenario",
        "Network",
        "Delay",
        "Link",
        "Jitter",
        "Flow",
        "TimeLaw",
        "LengthLaw",
        "TimeStateLaw",
    )
    order += ("LengthStateLaw", "ScriptFile", "PacketFile", "Tcp", "NetworkStop", "NetworkMeasure")
    order += ("FabricScenario", "Fabric", "Topology", "TreeShape", "SingleShape", "LeafSpineShape")
    order += ("FabricLink", "FabricSwitch", "Channel", "PacketSize", "ParetoSize", "FabricTraffic")
    order += ("FabricArrivals", "Bursts", "HotSpot", "FabricStop", "FabricMeasure")
    order += ("NodeScenario", "NodeTable", "CostTable", "SystemTable", "SystemProcess", "QueueTable")
    order += ("EventTable", "Template", "ProcessTable", "BalanceTable", "NodeStop", "NodeMeasure")
    order += ("TimelineTable",)
    order += ("ServerScenario", "ServerTable", "KnownService", "ClassTable", "ServiceLaw", "ServerWorkload")
    order += (
        "Lognormal",
        "Gamma",
        "Erlang",
        "Weibull",
        "Pareto",
        "BoundedPareto",
        "Hyperexponential",
        "Coxian",
    )
    order += ("Phases", "RenewalLaw", "RenewalCv", "RenewalStages", "RenewalShape", "RenewalTail")
    order += ("ServerArrivals", "Trains", "LevelTable", "Clients", "RequestFile", "RequestCost", "Split")
    order += ("ServerStop", "ServerMeasure", "Need", "SweepTable")
    return (order.index(name) if name in order else len(order), name)


def keys(kind: dict[str, Any]) -> str:
    required = set(kind.get("required", []))
    rows = [
        (f"`{key}`", written(each), "yes" if key in required else "", described(each))
        for key, each in sorted(kind["properties"].items(), key=lambda item: item[0] not in required)
    ]
    return table(("key", "value", "required", "meaning"), rows)


def described(schema: dict[str, Any]) -> str:
    return schema.get("description", "")


def choice(schema: dict[str, Any]) -> tuple[str, str]:
    if "const" in schema:
        return f'`"{schema["const"]}"`', described(schema)
    ((key, value),) = schema["properties"].items()
    return f"`{{ {key} = … }}` with {written(value)}", described(schema)


def written(schema: dict[str, Any]) -> str:
    """How a value is written."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(written(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "prefixItems" in schema:
        parts = ", ".join(written(each) for each in schema["prefixItems"])
        return f"`[`{parts}`]`".replace("``", "")
    kind = schema.get("type")
    if isinstance(kind, list) and len(kind) == 2 and "null" in kind:
        kind = next(each for each in kind if each != "null")
    if kind == "array":
        return f"list of {written(schema['items'])}"
    if kind == "object":
        return f"table of {written(schema['additionalProperties'])} by name"
    names = {"integer": "whole number", "number": "number", "string": "text", "boolean": "`true` or `false`"}
    kinds = [each for each in ([kind] if isinstance(kind, str) else kind) if each != "null"]
    return " or ".join(names[each] for each in kinds)


SECTIONS: dict[str, Callable[[], str]] = {"disciplines": disciplines, "scenario": scenario}


def rewrite(path: Path) -> bool:
    """Write a document anew; whether that changed it."""
    before = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        after = replayed(derived(before), Path(folder))
    path.write_text(after, encoding="utf-8")
    return after != before


if __name__ == "__main__":
    for document in RUN:
        if rewrite(document):
            sys.stdout.write(f"rewritten: {document.relative_to(ROOT)}\n")
