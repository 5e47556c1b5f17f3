"""A sweep on the terminal: what was played, the cells by a figure, the best, and why some have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weir.axes import written
from weir.results import terminal
from weir.results.tables import LEGEND, UNSETTLED, Column
from weir.sweeping.figure import chosen, default_figure
from weir.sweeping.needs import judged, told
from weir.sweeping.run import SET
from weir.sweeping.selection import Best
from weir.text import number, plural, value_with_margin

if TYPE_CHECKING:
    from rich.console import Console

    from weir.sweeping.selection import Frontier
    from weir.sweeping.table import SweepResult

__all__ = ["show"]

_SHOWN = 40
"""Cells of a table."""
_NAMED = 5
"""Cells without figures whose reasons are shown."""


def show(result: SweepResult, selected: Best | Frontier | None) -> None:
    """Print a sweep: what was played, what became of needs, the cells by a figure, and why some have none."""
    reasons = result.reasons()

    out = terminal.console()
    count = len(result.plan.cells)
    for sentence in told(result, *judged(result)):
        terminal.say(out, sentence)
    terminal.say(out, _headline(result, len(reasons)))
    if selected is not None:
        _print_selected(out, selected)
    elif len(reasons) < count:
        _print_figures(out, result)
    for cell, reason in list(reasons.items())[:_NAMED]:
        terminal.say(out, f"no figures where {result.plan.label(cell)}: {reason}")
    if len(reasons) > _NAMED:
        terminal.say(out, f"nor in {plural(len(reasons) - _NAMED, 'more cell')}, as the set says")
    terminal.say(out, f"all figures: {result.folder / SET}")


def _headline(result: SweepResult, without: int) -> str:
    state = result.state
    played = state["played"] + state["elsewhere"]
    parts = [f"{plural(len(result.plan.cells), 'cell')}, {plural(state['kept'] + played, 'replication')}"]
    if state["kept"]:
        parts.append(f"{state['kept']:,} of them were there before" if played else "all were there before")
    if result.widest is not None:
        parts.append(f"the widest interval of a mean time is ±{number(100 * result.widest, 2)} % of it")
    if without:
        parts.append(f"{plural(without, 'cell')} without figures")
    return "; ".join(parts) + "."


def _print_figures(out: Console, result: SweepResult) -> None:
    """Print the mean time of each cell, with its interval, and the p99 where there is one."""
    kinds = result.kinds()
    name = default_figure(kinds)
    if name is None:
        return
    of = chosen(name, kinds)
    matching = result.of(of)
    shown = matching[:_SHOWN]
    columns = [
        Column(
            key,
            tuple(_axis(result.plan.cells[row["cell"]].get(key)) for row in shown),
            numeric=key != "discipline",
        )
        for key in result.plan.keys
    ]
    if "discipline" not in result.plan.keys and len(of.disciplines) > 1:
        columns.append(Column("discipline", tuple(str(row["discipline"]) for row in shown), numeric=False))
    unit = f" ({of.unit})" if of.unit not in {"", "1"} else ""
    columns.append(Column(f"{name}{unit}", tuple(map(_told, shown))))
    tails = {(row["cell"], row["discipline"]): row["value"] for row in result.of(of, statistic="p99")}
    if tails:
        values = tuple(_word(tails.get((row["cell"], row["discipline"]))) for row in shown)
        columns.append(Column(f"p99{unit}", values))
    terminal.print_table(out, columns)
    if not all(row["settled"] for row in shown):
        terminal.say(out, LEGEND)
    if len(matching) > len(shown):
        terminal.say(out, f"and {len(matching) - len(shown):,} more rows in the set")


def _told(row: dict[str, Any]) -> str:
    """Return a figure with its margin, or the mark of one that is not settled."""
    if not row["settled"]:
        return f"{_word(row['value'])} {UNSETTLED}"
    if row["value"] is None or row.get("low") is None:
        return _word(row["value"])
    return value_with_margin(row["value"], row["low"], row["high"])


def _axis(value: object) -> str:
    return "–" if value is None else written(value)


def _word(value: object) -> str:
    if value is None:
        return "–"
    return number(value) if isinstance(value, float) else str(value)


def _print_selected(out: Console, selected: Best | Frontier) -> None:
    if isinstance(selected, Best):
        terminal.say(out, _best_in_words(selected))
        terminal.print_table(out, _best_columns(selected))
        return
    left = [each for each in selected.cells if each.standing != "dominated"]
    on = sum(each.standing == "frontier" for each in left)
    level = f"{100 * selected.confidence:g} %"
    terminal.say(
        out,
        f"The frontier of {selected.figures[0]} and {selected.figures[1]} has {plural(on, 'cell')}; "
        f"{len(left) - on} more cannot be told from it ({level} for all of them).",
    )
    shown = left[:_SHOWN]
    columns = [Column("cell", tuple(_cell(each.name, each.discipline) for each in shown), numeric=False)]
    for place, (figure, unit) in enumerate(zip(selected.figures, selected.units, strict=True)):
        columns.append(Column(f"{figure} ({unit})", tuple(number(each.values[place]) for each in shown)))
    words = {"frontier": "on it", "possible": "cannot be told from it"}
    columns.append(Column("", tuple(words[each.standing] for each in shown), numeric=False))
    terminal.print_table(out, columns)


def _cell(name: str, discipline: str | None) -> str:
    return f"{name} under {discipline}" if discipline else name


def _best_in_words(best: Best) -> str:
    first, others = best.cells[0], [each for each in best.possible if each is not best.cells[0]]
    level = f"{100 * best.confidence:g} %"
    name = _cell(first.name, first.discipline)
    if not others:
        rest = f"better than each of the {len(best.cells) - 1} others ({level} confidence)"
        return f"Best in {best.figure}: {name}, {rest}."
    return (
        f"Best in {best.figure}: {name}; {plural(len(others), 'other cell')} cannot be told from it. The "
        f"best is among "
        f"these {len(others) + 1} with {level} confidence."
    )


def _best_columns(best: Best) -> list[Column]:

    shown = best.cells[:_SHOWN]
    behind = [
        "–"
        if place == 0 or each.behind is None
        else number(each.behind)
        if each.half_width is None
        else value_with_margin(each.behind, each.behind - each.half_width, each.behind + each.half_width)
        for place, each in enumerate(shown)
    ]
    words = [
        "best" if place == 0 else "may be best" if each.possible else "" for place, each in enumerate(shown)
    ]
    unit = f" ({best.unit})" if best.unit not in {"", "1"} else ""
    return [
        Column("cell", tuple(_cell(each.name, each.discipline) for each in shown), numeric=False),
        Column(f"{best.figure}{unit}", tuple(_word(each.value) for each in shown)),
        Column(f"behind{unit}", tuple(behind)),
        Column("", tuple(words), numeric=False),
    ]
