"""Short names of disciplines: what tells them apart, and no more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["labels"]

_HEAD = re.compile(r"[^:(]+")


def labels(disciplines: Sequence[str]) -> dict[str, str]:
    """Return a label for each spec string: its name, and where others have it too the parameters that differ.

    Examples
    --------
    >>> labels(["fifo:limit=100pkt", "sfq:queues=9,seed=1", "sfq:queues=9,seed=2"]).values()
    dict_values(['fifo', 'sfq seed=1', 'sfq seed=2'])
    """
    made = {}
    for spec in disciplines:
        head = _head(spec)
        others = [other for other in disciplines if _head(other) == head and other != spec]
        made[spec] = _label(spec, others)
    return made if len(set(made.values())) == len(made) else {spec: spec for spec in disciplines}


def _head(spec: str) -> str:
    found = _HEAD.match(spec)
    return found.group() if found else spec


def _label(spec: str, others: Sequence[str]) -> str:
    if not others:
        return _head(spec)
    theirs = [set(_parameters(other)) for other in others]
    own = [each for each in _parameters(spec) if not all(each in parts for parts in theirs)]
    return " ".join([_head(spec), *own])


def _parameters(spec: str) -> Iterator[str]:
    """Yield the parameters of a spec string; commas inside parentheses separate none."""
    rest = spec[len(_head(spec)) :]
    rest = rest[1:-1] if rest.startswith("(") else rest[1:]
    depth, begin = 0, 0
    for place, letter in enumerate(rest):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield rest[begin:place].strip()
            begin = place + 1
    if rest[begin:].strip():
        yield rest[begin:].strip()
