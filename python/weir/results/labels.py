"""Short names of disciplines: what tells them apart, and no more.

A label is the name, and where others have it too the parameters that differ. Of `sfq` without a number of
queues it says that there are nine, as in 1993: all others are of today. Where whole arbitration tables
stand in specs, parameters too long for a table's header are left out, and labels that are equal then are
numbered in the order of the scenario; reports have the whole specs next to them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HEAD = re.compile(r"[^:(]+")
_CLASSIC = re.compile(r"\bsfq\b(?!_)(?:[:(](?P<arguments>[^()]*))?")
CLASSIC_QUEUES = 9
"""What `sfq` has where nothing is said of queues."""
_LONGEST = 20
"""Characters of a parameter in a short label."""


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


def is_classic(spec: str) -> bool:
    """Return whether a spec has, alone or inside others, `sfq` with the nine queues that it has by default.

    Examples
    --------
    >>> [is_classic(spec) for spec in ("sfq", "fq(sfq:depth=9pkt)", "sfq:queues=9", "sfq(9)", "sfq_linux")]
    [True, True, False, False, False]
    """
    for found in _CLASSIC.finditer(spec):
        given = (found["arguments"] or "").split(",")
        if not given[0].strip().isdigit() and not any(each.strip().startswith("queues=") for each in given):
            return True
    return False


def _head(spec: str) -> str:
    found = _HEAD.match(spec)
    return found.group() if found else spec


def _label(spec: str, others: Sequence[str]) -> str:
    name = (
        f"{_head(spec)} ({CLASSIC_QUEUES} queues)"
        if _head(spec) == "sfq" and is_classic(spec)
        else _head(spec)
    )
    if not others:
        return name
    theirs = [set(_parameters(other)) for other in others]
    own = [each for each in _parameters(spec) if not all(each in parts for parts in theirs)]
    return " ".join([name, *own])


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


def short_labels(disciplines: Sequence[str]) -> dict[str, str]:
    """Return a label without long parameters for each spec string, no two alike.

    Examples
    --------
    >>> table = "dtable:distances=2/4/4,weights=32cr/64cr/64cr"
    >>> list(short_labels([table, table + ",stall=keep", "drr:quantum=2048B"]).values())
    ['dtable', 'dtable stall=keep', 'drr']
    """
    found = {spec: _shortened(label) for spec, label in labels(disciplines).items()}
    often = Counter(found.values())
    seen: Counter[str] = Counter()
    for spec, label in found.items():
        if often[label] > 1:
            seen[label] += 1
            found[spec] = f"{label} {seen[label]}"
    return found


def _shortened(label: str) -> str:
    """Return a label, which may be a whole spec, without its long parameters."""
    head, *parameters = label.split(" ")
    return " ".join([_head(head), *(each for each in parameters if len(each) <= _LONGEST)])
