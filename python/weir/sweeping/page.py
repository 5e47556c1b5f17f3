"""The report of a sweep: one HTML file, made from the set in its folder; nothing is computed again.

Which cells there are and the least of the first figure, curves with bands, maps over two axes, the frontier,
the cells as a table, and why some have no figures.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.axes import ALONE, written
from weir.errors import ConfigError
from weir.files import write_text
from weir.results import notebook, page
from weir.results.tables import UNSETTLED, Column
from weir.sweeping.charts import figures_of, rows_of
from weir.sweeping.figure import default_figure
from weir.text import number, plural, value_with_margin

if TYPE_CHECKING:
    from weir.results.style import Figure
    from weir.sweeping.table import SweepResult

__all__ = ["figures", "html", "summary", "write"]

_MOST_ROWS = 500
_NAMED = 50


def write(result: SweepResult, path: Path) -> None:
    """Write the report of a sweep; the file is never half-written."""
    write_text(path, html(result))


def html(result: SweepResult) -> str:
    """Return the report of a sweep as one HTML document.

    Raises
    ------
    ConfigError
        If no cell has figures.
    """
    titles = _titles(result)
    if not titles:
        raise ConfigError("no cell has figures of times", "see the reasons in the set", str(result.folder))
    figured = figures(result)
    charts = [
        page.section(figure.title, page.drawn(figure, place), folded=figure.folded)
        for place, figure in enumerate(figured)
    ]
    title = _title(result)
    body = [
        _head(result, title, titles[0]),
        *charts,
        _cells(result, titles),
        _reasons(result),
        _origin(result),
    ]
    return page.page(title, "".join(body), page.charts_of(figured))


def summary(result: SweepResult) -> str | None:
    """Return head and cells of the report for a notebook; nothing where no cell has figures of times."""
    titles = _titles(result)
    if not titles:
        return None
    head = _head(result, _title(result), titles[0], kicker=False)
    return notebook.shown(head + _cells(result, titles) + _reasons(result))


def figures(result: SweepResult) -> list[Figure]:
    """Return the charts of a sweep; none where no cell has figures of times."""
    titles = _titles(result)
    return figures_of(result, titles) if titles else []


def _title(result: SweepResult) -> str:
    return f"Sweep of {Path(result.plan.name).stem}"


def _titles(result: SweepResult) -> list[str]:
    """Return what the report is about: the mean time of the model, and its tail where there is one."""
    kinds = result.kinds()
    mean = default_figure(kinds)
    if mean is None:
        return []
    tail = f"p99 {mean.removeprefix('mean ')}"
    return [mean, *([tail] if _has(kinds, tail) else [])]


def _has(kinds: list[dict[str, Any]], title: str) -> bool:
    statistic, _, metric = title.partition(" ")
    return any((row["statistic"], row["metric"]) == (statistic, metric) for row in kinds)


def _head(result: SweepResult, title: str, mean: str, *, kicker: bool = True) -> str:
    rows = rows_of(result, mean)
    least = min(rows, key=lambda row: row["value"])
    name = " ".join(f"{key}={written(value)}" for key, value in least["axes"].items())
    unit = f" {least['unit']}" if least.get("unit") not in {None, "", "1"} else ""
    without = len({*range(len(result.plan.cells))} - {row["cell"] for row in rows})
    words = f"The least {mean} is {number(least['value'])}{unit}, where {name}."
    if without:
        words += f" {plural(without, 'cell')} of {len(result.plan.cells):,} are without figures."
    replications = result.state["kept"] + result.state["played"]
    facts = [plural(len(result.plan.cells), "cell"), plural(replications, "replication")]
    facts += [f"axes: {', '.join(result.plan.keys)}"]
    if result.widest is not None:
        facts.append(f"widest interval of a mean time ±{number(100 * result.widest, 2)} %")
    above = '<p class="kicker">weir report</p>\n' if kicker else ""
    return (
        f"<header>\n{above}<h1>{escape(title)}</h1>\n"
        f'<p class="verdict">{escape(words)}</p>\n'
        f'<p class="facts">{escape(" · ".join(facts))}</p>\n</header>\n'
    )


def _cells(result: SweepResult, titles: list[str]) -> str:
    """Return the cells as a table, each with its figures."""
    rows = rows_of(result, titles[0])
    shown = rows[:_MOST_ROWS]
    keys = [key for key in (*result.plan.keys, ALONE) if any(key in row["axes"] for row in shown)]
    columns = [
        Column(key, tuple(written(row["axes"].get(key, "–")) for row in shown), numeric=key != ALONE)
        for key in dict.fromkeys(keys)
    ]
    for title in titles:
        found = {(row["cell"], row.get("discipline")): row for row in rows_of(result, title)}
        unit = result.figure(title).unit
        cells = tuple(_told(found.get((row["cell"], row.get("discipline")))) for row in shown)
        columns.append(Column(f"{title} ({unit})" if unit not in {"", "1"} else title, cells))
    more = len(rows) - len(shown)
    note = page.note(f"{more:,} more are in the set.") if more else ""
    return page.long_section("Cells", page.table(columns) + note)


def _told(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    if not row["settled"]:
        return f"{number(row['value'])} {UNSETTLED}"
    if row.get("low") is None:
        return number(row["value"])
    return value_with_margin(row["value"], row["low"], row["high"])


def _reasons(result: SweepResult) -> str:
    reasons = list(result.reasons().items())
    items = "".join(
        f"<li>{escape(result.plan.label(cell))}: {escape(reason)}</li>\n" for cell, reason in reasons[:_NAMED]
    )
    more = page.note(f"{len(reasons) - _NAMED:,} more are in the set.") if len(reasons) > _NAMED else ""
    return page.long_section("Cells without figures", f"<ul>\n{items}</ul>\n{more}" if items else "")


def _origin(result: SweepResult) -> str:
    facts = {"scenario": result.plan.name, "folder": str(result.folder), "axes": ", ".join(result.plan.keys)}
    listed = "".join(
        f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>\n" for key, value in facts.items()
    )
    text = escape(result.plan.base)
    scenario = f"<summary>The scenario without its axes</summary><pre><code>{text}</code></pre>"
    return page.section("Provenance", f"<dl>{listed}</dl>\n<details>{scenario}</details>\n")
