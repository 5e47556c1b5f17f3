"""The freeze: what a change of structure must leave as it is, byte for byte.

``frozen/scenarios/MODEL.txt``
    Scenarios of every model: the examples, the reproductions and what the tests of Rust and Python read, each under a
    line ``==== NAME``. Long runs have been given a near end. ``NAME`` is what results and refusals call the file; data
    files are relative to it.
``frozen/GROUP.sha256`` and ``frozen/GROUP.xz``
    What came out: a hash a line; and the texts, so that a difference can be read. Of long results their numbers are kept
    to five digits, and long lists as hashes: the hash of the whole decides, what is kept only shows where.
``frozen/GROUP.txt``
    The same in the open where it is short: refusals beside what was refused, listings, the schema.

``make frozen`` (``pytest tests/test_frozen.py -m "slow or not slow"``) computes everything anew and shows what differs.
``python tests/frozen.py --write [GROUP ...]`` writes what comes out now; CONTRIBUTING.md says when that may be done.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import hashlib
import importlib
import io
import json
import lzma
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import weir
from weir import _weir, cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "frozen"
MODELS = ("port", "network", "fabric", "node", "server")
REPRODUCTIONS = ("alpha", "sfq", "dtable", "epoch", "steer")
THREADS = (1, 2, 8)
LINES, WIDTH = 60, 400
"""How much of a difference is shown."""
SHORT, LONG = 4_000, 300
"""Texts that are kept as they are, and lists in others that are not."""
HEAD = "==== "
ANSWER = "\n=> "


def sections(text: str) -> dict[str, str]:
    """Return what stands under each line that begins with `HEAD`."""
    parts = f"\n{text}".split(f"\n{HEAD}")[1:]
    named = (part.partition("\n") for part in parts)
    return {name: body.removesuffix("\n") for name, _, body in named}


def written(texts: dict[str, str]) -> str:
    return "\n".join(f"{HEAD}{name}\n{body}\n" for name, body in texts.items())


@contextlib.contextmanager
def at_the_root() -> Iterator[None]:
    """Let names of files be relative to the repository, and no terminal decide what is printed."""
    before = Path.cwd()
    kept = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR", "TERM")}
    os.chdir(ROOT)
    os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")
    try:
        yield
    finally:
        os.chdir(before)
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def refusal(call: Callable[[], object]) -> str | None:
    """Return the error that a call raises, as a JSON object; None if it raises none."""
    try:
        call()
    except weir.errors.WeirError as error:
        return json.dumps(error.to_dict(), ensure_ascii=False)
    return None


# What is computed: a text under each name.


def scenarios(model: str) -> dict[str, str]:
    return sections((FOLDER / "scenarios" / f"{model}.txt").read_text(encoding="utf-8"))


def results(model: str) -> dict[str, str]:
    """Results of all scenarios of a model, which are those of any number of threads; closed forms where there are."""
    given = scenarios(model)
    texts: dict[str, str] = {}
    with ThreadPoolExecutor(2) as pool:
        for name, found in zip(given, pool.map(lambda name: outcome(name, given[name]), given), strict=True):
            texts.update({f"{name} {what}": text for what, text in found.items()})
    return texts


def outcome(name: str, text: str) -> dict[str, str]:
    try:
        scenario = weir.Scenario(text, name.partition(" ")[0])
        runs = {threads: weir.run(scenario, threads=threads).text for threads in THREADS}
    except weir.errors.WeirError as error:
        return {"result": json.dumps(error.to_dict(), ensure_ascii=False)}
    found = {"result": runs[1]}
    found |= {f"result of {count} threads": run for count, run in runs.items() if run != runs[1]}
    try:
        found["theory"] = weir.theory(scenario).text
    except weir.errors.WeirError as error:
        if scenario.model in ("port", "server"):
            found["theory"] = json.dumps(error.to_dict(), ensure_ascii=False)
    return found


def refused() -> dict[str, str]:
    """Refused scenarios, each with its refusal."""
    texts = {}
    for name, held in sections((FOLDER / "refused.txt").read_text(encoding="utf-8")).items():
        text = held.partition(ANSWER)[0]
        texts[name] = text + ANSWER + str(refusal(partial(weir.Scenario, text, name.partition(" ")[0])))
    return texts


def printed(line: str) -> str:
    """Return what a command prints, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.run(line.split())
    text = out.getvalue() + (f"(error) {err.getvalue()}" if err.getvalue() else "") + f"(exit code {code})"
    return "\n".join(each.rstrip() for each in text.splitlines())


def commands(lines: list[str]) -> dict[str, str]:
    return {f"weir {line}": printed(line) for line in lines}


def listings() -> dict[str, str]:
    """What the registry and the command line say of themselves."""
    names = sorted({each["name"] for each in json.loads(_weir.disciplines())})
    lines = ["--help", "list", "list --json", "explain fofo", *(f"explain {name}" for name in names)]
    lines += [f"{command} --help" for command in HELP]
    return commands(lines) | {"benchmarks": "\n".join(_weir.bench_names(""))}


HELP = (
    "demo", "reproduce", "bench", "list", "explain", "schema", "run", "compare", "theory", "show", "report", "slo",
    "plan", "lint", "overhead", "import", "live",
)  # fmt: skip


def schema() -> dict[str, str]:
    return {"schema": _weir.schema()}


def reproduction(name: str) -> dict[str, str]:
    """A quick reproduction: what it prints, its JSON, and the result of every run."""
    module = importlib.import_module(f"weir.reproduce.{name}")
    texts: dict[str, str] = {}

    def runner(text: str, file: str, **options: object) -> object:
        result = module.simulate(text, file, **options)
        texts[f"{Path(file).name} {digest(text)[:8]}"] = digest(result.text)
        return result

    found = module.run(fidelity="quick", threads=2, runner=runner)
    return {"text": found.text(), "json": found.to_json(), "page": found.html()} | dict(sorted(texts.items()))


@dataclass(frozen=True)
class Group:
    """Texts that are held together: ``open`` ones as they are, the others compressed beside their hashes."""

    name: str
    texts: Callable[[], dict[str, str]]
    open: bool = False
    slow: bool = False


GROUPS = {
    each.name: each
    for each in (
        *(Group(model, partial(results, model)) for model in MODELS),
        Group("refused", refused, open=True),
        Group("listings", listings, open=True),
        Group("schema", schema, open=True),
        *(Group(f"reproduce-{name}", partial(reproduction, name), slow=True) for name in REPRODUCTIONS),
    )
}


# What is held.


@dataclass(frozen=True)
class Held:
    """The hash of every text, and the texts, briefer where they are long."""

    hashes: dict[str, str]
    texts: dict[str, str]

    @classmethod
    def of(cls, texts: dict[str, str], *, whole: bool) -> Held:
        hashes = {name: digest(text) for name, text in texts.items()}
        return cls(hashes, texts if whole else {name: brief(text) for name, text in texts.items()})

    @classmethod
    def read(cls, group: Group) -> Held:
        if group.open:
            texts = sections((FOLDER / f"{group.name}.txt").read_text(encoding="utf-8"))
            return cls.of(texts, whole=True)
        manifest = (FOLDER / f"{group.name}.sha256").read_text(encoding="utf-8")
        hashes = {name: digest for digest, _, name in (line.partition("  ") for line in manifest.splitlines())}
        return cls(hashes, json.loads(lzma.decompress((FOLDER / f"{group.name}.xz").read_bytes())))

    def write(self, group: Group) -> None:
        if group.open:
            (FOLDER / f"{group.name}.txt").write_text(written(self.texts), encoding="utf-8")
            return
        packed = json.dumps(self.texts, ensure_ascii=False).encode()
        (FOLDER / f"{group.name}.xz").write_bytes(lzma.compress(packed, preset=9 | lzma.PRESET_EXTREME))
        manifest = "".join(f"{digest}  {name}\n" for name, digest in self.hashes.items())
        (FOLDER / f"{group.name}.sha256").write_text(manifest, encoding="utf-8")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def brief(text: str) -> str:
    """Return what is kept of a long JSON object: its parts to five digits, without long lists, each with its hash."""
    if len(text) < SHORT or not text.startswith("{"):
        return text
    parts = {key: [briefer(value), digest(json.dumps(value))[:16]] for key, value in json.loads(text).items()}
    return json.dumps(parts, ensure_ascii=False)


def briefer(value: object) -> object:
    match value:
        case float():
            return float(f"{value:.5g}")
        case dict():
            return {key: briefer(each) for key, each in value.items()}
        case [dict(), *_]:
            return [briefer(each) for each in value]
        case [_, *_] if len(json.dumps(value)) > LONG:
            return f"{len(value)} of hash {digest(json.dumps(value))[:16]}"
    return value


def lines(text: str) -> list[str]:
    """Return a text in lines that can be compared; each innermost part of JSON gets its own."""
    try:
        return list(laid_out(json.loads(text), ""))
    except ValueError:
        return text.splitlines()


def laid_out(value: object, path: str) -> Iterator[str]:
    """Lay a JSON value out: a line for each row of numbers and words, under the keys that lead to it."""
    inner = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    if not any(isinstance(each, dict | list) for _, each in inner):
        yield from f"{path} {json.dumps(value, ensure_ascii=False)}".replace("\\n", f"\n{path} ").splitlines()
        return
    for key, each in inner:
        yield from laid_out(each, f"{path}.{key}" if isinstance(key, str) else path)


def difference(before: Held, now: Held) -> str:
    """Return what differs, as a text for people; nothing if nothing does."""
    names = {**before.hashes, **now.hashes}
    differing = [name for name in names if before.hashes.get(name) != now.hashes.get(name)]
    if not differing:
        return ""
    shown: list[str] = []
    for name in differing:
        old, new = (lines(held.texts[name]) if name in held.texts else [] for held in (before, now))
        found = list(difflib.unified_diff(old, new, f"{name} (held)", f"{name} (now)", n=1, lineterm=""))
        shown += found or [f"{name}: the same values, but other bytes (order of keys, form of numbers, spaces)"]
        if len(shown) > LINES:
            break
    return "\n".join([f"{len(differing)} of {len(names)} texts differ", *(line[:WIDTH] for line in shown[:LINES])])


def check(name: str) -> str:
    """Return how what a group is now differs from what is held; nothing if it does not."""
    group = GROUPS[name]
    with at_the_root():
        return difference(Held.read(group), Held.of(group.texts(), whole=group.open))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write what is frozen anew; CONTRIBUTING.md says when.")
    parser.add_argument("groups", nargs="*", help="all if none is named")
    parser.add_argument("--write", action="store_true", required=True)
    for name in parser.parse_args().groups or GROUPS:
        with at_the_root():
            group = GROUPS[name]
            Held.of(group.texts(), whole=group.open).write(group)
        sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
