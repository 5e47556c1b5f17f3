"""Plans and findings as text."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

from weir.results.tables import Column
from weir.results.terminal import print_table, say
from weir.text import number, plural, quantity, scale_for, value_with_margin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from weir.planning.check import Check

__all__ = ["finding_lines", "show_check", "show_plan", "summary"]

_FREE = "-"
_SEVERITIES = ("error", "warning", "note")


def show_plan(out: Console, plan: Mapping[str, Any]) -> None:
    """Show a plan: what each class gets, how long it can wait, where its entries are, and who was refused."""
    if plan["title"]:
        out.print(plan["title"], style="bold")
    for line in _facts(plan):
        out.print(line)
    if plan["classes"]:
        out.print()
        print_table(out, plan_columns(plan["classes"], plan["scheduler"]))
        out.print("\nplacement, by lane:")
        out.print(textwrap.fill(" ".join(_placement(plan)), min(out.width, 100)))
    for note in plan["notes"]:
        out.print(f"note: {note}")
    for refused in plan["refused"]:
        out.print(f"refused: {refused['name']} (line {refused['line']}) {refused['reason']}")
        out.print(f"  remedy: {refused['remedy']}")


def _facts(plan: Mapping[str, Any]) -> Iterator[str]:
    table, link = plan["table"], plan["link"]
    free = f" ({table['free']:,} free)" if table["free"] else ""
    yield (
        f"table: entries {table['entries']:,}{free}, MTU {table['mtu_bytes']} B, credits of "
        f"{table['credit_bytes']} B, k {table['k']}, w {table['w']}: pool {table['pool_credits']:,}, an "
        f"entry weighs at most {table['largest_weight_credits']:,}"
    )
    yield (
        f"link:  {quantity(link['rate_bits'], 'bit/s')}, coding {link['coding']}: data at "
        f"{quantity(link['data_rate_bits'], 'bit/s')}"
    )


def plan_columns(classes: Sequence[Mapping[str, Any]], scheduler: str = "deficit_table") -> list[Column]:
    """Return one row a class: shares, entries, distance, weights, and bounds.

    These are under the deficit table, under the scheduler of the target, and under deficit round robin. What
    is asked for and what is given in its place stand at every width.
    """
    shown = [name for name in _SCHEDULERS if name in {"deficit_table", scheduler, "round_robin"}]

    def column(header: str, cells: Iterator[str], rank: int = 0) -> Column:
        return Column(header, tuple(cells), rank)

    asked = [row["requested"]["latency_ns"] for row in classes]
    bounds = [[row["bounds"][name]["latency_ns"] / 1e9 for row in classes] for name in shown]
    scale = scale_for((value for row in bounds for value in row), "s")
    columns = [
        Column("class", tuple(row["name"] for row in classes), numeric=False),
        column("lane", (str(row["lane"]) for row in classes)),
        column("asked (%)", (_percent(row["requested"]["share"]) for row in classes)),
        column("share (%)", (_percent(row["share"]) for row in classes)),
        column("entries", (str(row["entries"]) for row in classes), 1),
        column("distance", (str(row["distance"]) for row in classes), 2),
        column("weight\n(credits)", map(_weights, classes), 1),
        column("total", (f"{row['weight_credits']:,}" for row in classes), 6),
        column("min (%)", (_percent(row["minimum_share"]) for row in classes), 4),
        column("max (%)", (_percent(row["maximum_share"]) for row in classes), 4),
        column("quantum", (f"{row['quantum_credits']:,}" for row in classes), 5),
    ]
    if any(value is not None for value in asked):
        cells = ("–" if value is None else number(value / 1e9 / scale.factor) for value in asked)
        columns.append(column(f"latency\nasked {scale.header}", cells))
    for name, values in zip(shown, bounds, strict=True):
        cells = (number(value / scale.factor) for value in values)
        header = f"bound under\n{_SCHEDULERS[name]} {scale.header}"
        columns.append(column(header, cells, 0 if name == scheduler else 3))
    return columns


_SCHEDULERS = {
    "deficit_table": "table",
    "weighted_table": "weighted",
    "basic_table": "basic",
    "round_robin": "DRR",
}


def _weights(row: Mapping[str, Any]) -> str:
    weights = row["weights_credits"]
    low, high = min(weights), max(weights)
    return str(low) if low == high else f"{low} to {high}"


def _percent(share: float) -> str:
    return f"{share * 100:.6f}".rstrip("0").rstrip(".")


def _placement(plan: Mapping[str, Any]) -> Iterator[str]:
    for slot in plan["slots"]:
        yield _FREE if slot is None else str(plan["classes"][slot["class"]]["lane"])


def show_check(out: Console, check: Check) -> None:
    """Show what a check found: shares and latencies against what was planned, and what was compared."""
    from weir.planning.check import OVERLOAD, SCHEDULERS

    name = SCHEDULERS[check.scheduler]
    say(out, f"\ncheck, {name}, seed {check.seed}:", style="bold")
    print_table(out, _check_columns(check))
    say(
        out,
        f"\nsaturated share: what a class gets of a link while all offer {OVERLOAD:g} times their part; "
        "wanted: at least",
    )
    say(
        out,
        "bound, largest, p99: of packets of the MTU that are the first of their class to wait at one "
        "output, until they have left it, all other classes waiting; the bound counts one packet more than "
        "comes before them here",
    )
    say(
        out,
        f"p99 at load {check.load:g}: of all packets from the interface's buffer on, behind others of "
        "their class too; nothing is promised about that",
    )
    if less := _less(check):
        say(out, f"\nplanned and wanted is less than was asked for: {', '.join(less)}")
    failed = [
        (row.name, ", ".join(_FAILED[what] for what in row.failed)) for row in check.classes if row.failed
    ]
    told = "; ".join(f"{of} ({what})" for of, what in failed)
    say(out, f"\nnot met: {told}" if failed else "\nall classes are met")


_FAILED = {
    "written": "less is written than was asked for",
    "share": "less than its share",
    "bound": "later than its bound",
    "asked": "its bound is above the latency that is asked for",
}


def _check_columns(check: Check) -> list[Column]:
    rows = check.classes
    scale = scale_for((row.bound for row in rows), "s")

    def times(header: str, values: Iterator[float | None], rank: int = 0) -> Column:
        cells = ("–" if value is None else number(value / scale.factor) for value in values)
        return Column(f"{header}\n{scale.header}", tuple(cells), rank)

    shares = (value_with_margin(row.share * 100, row.share_low * 100, row.share_high * 100) for row in rows)
    columns = [
        Column("class", tuple(row.name for row in rows), numeric=False),
        Column("asked (%)", tuple(_percent(row.asked_share) for row in rows), 0 if _less(check) else 3),
        Column("wanted (%)", tuple(_percent(row.wanted) for row in rows)),
        Column("saturated\nshare (%)", tuple(shares)),
        times("bound", (row.bound for row in rows)),
        times("largest", (row.largest for row in rows)),
        times("p99", (row.p99 for row in rows), 1),
        times(f"p99 at load {check.load:g}", (row.p99_at_load for row in rows), 2),
        Column("packets", tuple(f"{row.packets:,}" for row in rows), 3),
        Column("outcome", tuple("not met" if row.failed else "met" for row in rows), numeric=False),
    ]
    if any(row.asked is not None for row in rows):
        columns.insert(4, times("asked", (row.asked for row in rows)))
    return columns


def _less(check: Check) -> list[str]:
    """Return who is planned to get less than was asked for, with both shares."""
    return [
        f"{row.name} ({_percent(row.wanted)} % of {_percent(row.asked_share)} %)"
        for row in check.classes
        if row.wanted < row.asked_share
    ]


def finding_lines(finding: Mapping[str, Any], file: str) -> Iterator[str]:
    """Yield a finding: where, how bad, what; why; what to do."""
    place = ":".join(str(part) for part in (file, finding["line"], finding["column"]) if part is not None)
    yield f"{place}: {finding['severity']}: {finding['option']} {finding['what']} [{finding['rule']}]"
    yield f"  why: {finding['why']}"
    yield f"  remedy: {finding['remedy']}"


def summary(findings: Sequence[Mapping[str, Any]]) -> str:
    """Return how many findings there are of each severity."""
    counts = Counter(finding["severity"] for finding in findings)
    told = [plural(counts[severity], severity) for severity in _SEVERITIES if counts[severity]]
    return ", ".join(told) or "no findings"
