"""The freeze: what a change of structure must leave as it is, byte for byte.

``frozen/scenarios/MODEL.txt``
    Scenarios of every model: the examples, the reproductions and what the tests of Rust and Python read,
    each under a line ``==== NAME``. Long runs have been given a near end. The first word of ``NAME`` is what
    results and refusals call the file; data files are relative to it.
``frozen/GROUP.sha256`` and ``frozen/GROUP.xz``
    What came out: a hash a line; and the texts, so that a difference can be read. Of long results numbers are
    kept to five digits, and long lists as hashes: the hash of the whole decides, what is kept shows where.
``frozen/GROUP.txt``
    The same in the open where it is short: refusals beside what was refused, listings, the schema.

``make frozen`` computes everything anew, by `frozen_texts`, and shows what differs; ``pytest
tests/test_frozen.py -k NAME -m "slow or not slow"`` does so for one group. ``python tests/frozen.py --write
[GROUP ...]`` writes what comes out now; CONTRIBUTING.md says when that may be done.
"""

from __future__ import annotations

import argparse
import difflib
import json
import lzma
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import frozen_texts
from frozen_texts import FOLDER, MODELS, REPRODUCTIONS, ROOT, digest, sections, surroundings, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from frozen_texts import Texts

SHORT, LONG, MANY = 4_000, 300, 1_000
"""The length below which texts are kept as they are; that of lists and lines which are not; lines kept."""
LINES, WIDTH = 60, 400
"""How much of a difference is shown."""


@dataclass(frozen=True)
class Group:
    """Texts that are held together: ``open`` ones as they are, the others compressed beside their hashes."""

    name: str
    texts: Callable[[], Texts]
    open: bool = False
    slow: bool = False


GROUPS = {
    each.name: each
    for each in (
        *(Group(model, partial(frozen_texts.results, model)) for model in MODELS),
        Group("refused", frozen_texts.refused, open=True),
        Group("checked", frozen_texts.checked),
        Group("specs", frozen_texts.specs),
        Group("listings", frozen_texts.listings, open=True),
        Group("schema", frozen_texts.schema, open=True),
        Group("plans", frozen_texts.plans),
        Group("pages", frozen_texts.pages),
        Group("quoted", frozen_texts.quoted, open=True),
        *(
            Group(f"reproduce-{name}", partial(frozen_texts.reproduction, name), slow=True)
            for name in REPRODUCTIONS
        ),
    )
}


# What is held.


@dataclass(frozen=True)
class Held:
    """The hash of every text, and the texts, briefer where they are long."""

    hashes: Texts
    texts: Texts

    @classmethod
    def of(cls, texts: Texts, *, whole: bool) -> Held:
        hashes = {name: digest(text) for name, text in texts.items()}
        return cls(hashes, texts if whole else {name: brief(text) for name, text in texts.items()})

    @classmethod
    def read(cls, group: Group) -> Held:
        if group.open:
            texts = sections((FOLDER / f"{group.name}.txt").read_text(encoding="utf-8"))
            return cls.of(texts, whole=True)
        manifest = (FOLDER / f"{group.name}.sha256").read_text(encoding="utf-8")
        hashes = {
            name: digest for digest, _, name in (line.partition("  ") for line in manifest.splitlines())
        }
        return cls(hashes, json.loads(lzma.decompress((FOLDER / f"{group.name}.xz").read_bytes())))

    def write(self, group: Group) -> None:
        if group.open:
            (FOLDER / f"{group.name}.txt").write_text(written(self.texts), encoding="utf-8")
            return
        packed = json.dumps(self.texts, ensure_ascii=False).encode()
        (FOLDER / f"{group.name}.xz").write_bytes(lzma.compress(packed, preset=9 | lzma.PRESET_EXTREME))
        manifest = "".join(f"{digest}  {name}\n" for name, digest in self.hashes.items())
        (FOLDER / f"{group.name}.sha256").write_text(manifest, encoding="utf-8")


def brief(text: str) -> str:
    """Return what is kept of a text: of long JSON no long lists, and five digits; of others no long lines."""
    if len(text) < SHORT:
        return text
    document = parsed(text)
    if isinstance(document, dict):
        parts = {key: [briefer(value), mark(json.dumps(value))] for key, value in document.items()}
        return json.dumps(parts, ensure_ascii=False)
    lines = [line if len(line) <= LONG else f"{line[:50]} {mark(line)}" for line in text.splitlines()]
    if len(lines) > MANY:
        lines[MANY:] = [f"{len(lines) - MANY} more lines {mark(chr(10).join(lines[MANY:]))}"]
    return "\n".join(lines)


def parsed(text: str) -> object:
    """Return a JSON document; None of another text."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def mark(text: str) -> str:
    """Return what stands for a text that is not kept."""
    return f"#{digest(text)[:16]}"


def briefer(value: object) -> object:
    match value:
        case float():
            return float(f"{value:.5g}")
        case dict():
            return {key: briefer(each) for key, each in value.items()}
        case [dict(), *_]:
            return [briefer(each) for each in value]
        case [_, *_] if len(json.dumps(value)) > LONG:
            return f"{len(value)} values {mark(json.dumps(value))}"
    return value


def lines(text: str) -> list[str]:
    """Return a text in lines that can be compared; each innermost part of JSON gets its own."""
    document = parsed(text)
    return text.splitlines() if document is None else list(laid_out(document, ""))


def laid_out(value: object, path: str) -> Iterator[str]:
    """Lay a JSON value out: a line for each row of numbers and words, under the keys that lead to it."""
    inner = list(
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
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
        shown += found or [
            f"{name}: the same values, but other bytes (order of keys, form of numbers, spaces)"
        ]
        if len(shown) > LINES:
            break
    return "\n".join(
        [f"{len(differing)} of {len(names)} texts differ", *(line[:WIDTH] for line in shown[:LINES])]
    )


def check(name: str) -> str:
    """Return how what a group is now differs from what is held; nothing if it does not."""
    group = GROUPS[name]
    with surroundings(ROOT):
        return difference(Held.read(group), Held.of(group.texts(), whole=group.open))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write what is frozen anew; CONTRIBUTING.md says when.")
    parser.add_argument("groups", nargs="*", help="all if none is named")
    parser.add_argument("--write", action="store_true", required=True)
    for name in parser.parse_args().groups or GROUPS:
        with surroundings(ROOT):
            group = GROUPS[name]
            Held.of(group.texts(), whole=group.open).write(group)
        sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
