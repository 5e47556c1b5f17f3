"""What a node's result must be beyond the types of its fields: about what is there, its times in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.models.node.rows import PATHS, Critical, Lengths, Marks, Runs, Timeline
from weir.results.reading import (
    ALL,
    check_counts,
    check_fields,
    check_figures,
    check_listed,
    check_names,
    check_positive,
    kinds_of,
    refuse,
)
from weir.results.rows import rows
from weir.results.subjects import check_about

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = {"process": "processes", "queue": "queues", "node": "nodes"}
"""What figures are about, and where the result lists them."""
_PARTS: dict[str, type] = {"runs": Runs, "lengths": Lengths, "marks": Marks, "critical": Critical}
_MARKS = ("epoch", "woke", "waits", "moved")


def names_of(document: Mapping[str, Any], kind: str) -> list[str]:
    """Return the names of a kind of subject."""
    if kind == "process":
        return [row["name"] for row in document["processes"]]
    return list(document[KINDS[kind]])


def check_node(document: Mapping[str, Any]) -> None:
    """Refuse subjects that cannot be distinguished, rows about others, and figures that cannot be."""
    known = {kind: names_of(document, kind) for kind in KINDS}
    for kind, names in known.items():
        check_names(KINDS[kind], names, empty=kind == "queue")
    check_about(document, ("estimates", "differences", "samples"), known)
    check_listed(document, ["process_totals"], "process", known["process"])
    check_listed(document, ["distributions"], "process", [ALL, *known["process"]])
    check_listed(document, ["node_totals", "warnings", "processes"], "node", known["node"])
    check_positive("epoch", document["epoch"])
    check_positive("measured", document["measured"])
    check_figures(document)
    check_counts(document, ("process_totals", "node_totals"))
    for place, row in enumerate(document["node_totals"]):
        if len(row["paths"]) != len(PATHS):
            refuse(f"node_totals[{place}].paths", row["paths"], f"{len(PATHS)} counts")
    for place, row in enumerate(document["samples"]):
        check_positive(f"samples[{place}].interval", row["interval"])


# Timelines.


def check_timelines(document: Mapping[str, Any]) -> None:
    """Refuse timelines whose columns differ in length, or that are about what the result does not list."""
    found = document["timelines"]
    if not isinstance(found, list):
        refuse("timelines", found, "a list")
    for place, line in enumerate(found):
        where = f"timelines[{place}]"
        if not isinstance(line, dict):
            refuse(where, line, "an object")
        kinds = {name: kind for name, kind in kinds_of(Timeline).items() if name not in _PARTS}
        check_fields(line, kinds, f"{where}.", required=True)
        if line["discipline"] not in document["disciplines"]:
            refuse(f"{where}.discipline", line["discipline"], "one of `disciplines`")
        if line["until"] < line["from"]:
            refuse(f"{where}.until", line["until"], "at least `from`")
        for name, kind in _PARTS.items():
            _check_part(f"{where}.{name}", line.get(name), kind, document)


def _check_part(where: str, part: object, kind: type, document: Mapping[str, Any]) -> None:
    """Check columns: their types, that all are of one length, and the places that stand in them."""
    if not isinstance(part, dict):
        refuse(where, part, "an object")
    kinds = kinds_of(kind)
    check_fields(part, kinds, f"{where}.", required=True)
    first, *others = kinds
    for name in others:
        if len(part[name]) != len(part[first]):
            refuse(f"{where}.{name}", len(part[name]), f"as long as `{first}`")
    for name in set(KINDS) & set(kinds):
        many = len(document[KINDS[name]])
        for value in part[name]:
            if value is not None and not 0 <= value < many:
                refuse(f"{where}.{name}", value, f"from 0 to {many - 1}")
    for begin, end in zip(part.get("from", ()), part.get("until", ()), strict=True):
        if end < begin:
            refuse(f"{where}.until", end, "at least `from`")
    wrong = [what for what in part.get("what", ()) if what not in _MARKS]
    if wrong:
        refuse(f"{where}.what", wrong[0], f"one of {', '.join(_MARKS)}")


def timelines(document: Mapping[str, Any]) -> tuple[Timeline, ...]:
    """Return the timelines of a checked document."""
    return tuple(
        Timeline(
            discipline=line["discipline"],
            from_=line["from"],
            until=line["until"],
            truncated=line["truncated"],
            **{name: rows(kind, [line[name]])[0] for name, kind in _PARTS.items()},
        )
        for line in document["timelines"]
    )
