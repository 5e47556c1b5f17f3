"""A stepped picture, as SVG: rows over time above, the decisions one by one below.

The style sheet of the site has the colours of both themes; the picture has classes only, no colour of its
own.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from steps import Bar, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steps import Decision, Steps

_WIDTH, _LEFT, _RIGHT = 720, 78, 14
_HEAD, _LANE, _AXIS, _GAP = 24, 28, 34, 12
_BOX, _BOX_GAP, _COLUMN = 20, 3, 58
_NARROWEST = 15
"""Pixels of a bar that has room for a name of two characters."""
_STEPS_OF_AXIS = (1, 2, 5, 10, 20, 50)
_MOST_TICKS = 15


def figure(steps: Steps, label: str) -> str:
    """Return the picture with its decisions in words, as a block of HTML without an empty line."""
    listed = "".join(f"<li>{escape(words)}</li>" for words in told(steps))
    return (
        f'<figure class="steps"><div class="steps-scroll" tabindex="0" role="group" '
        f'aria-label="{escape(label)}">\n'
        f"{svg(steps, label)}\n</div>\n"
        f"<details><summary>The decisions in words</summary><ol>{listed}</ol></details></figure>\n"
    )


def svg(steps: Steps, label: str) -> str:
    """Return the picture alone."""
    lanes = len(steps.lanes)
    below = _HEAD + lanes * _LANE + _AXIS
    columns = _columns(steps, below)
    height = below + _GAP + columns[1]
    parts = [*_grid(steps, below - _AXIS), *_lanes(steps), *_axis(steps, below - _AXIS), *columns[0]]
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{escape(label)}">\n'
        + "\n".join(parts)
        + "\n</svg>"
    )


def _until(steps: Steps) -> float:
    return max([bar.end for bar in steps.bars] + [mark.at for mark in steps.marks])


def _x(steps: Steps, at: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * at / _until(steps)


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(words)}</text>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3" class="{kind}"/>'


def _grid(steps: Steps, bottom: float) -> Iterator[str]:
    """Yield a line at every decision, and its number above; of two that would touch the later is left out."""
    last = 0.0
    for place, each in enumerate(steps.decisions, 1):
        x = _x(steps, each.at)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_HEAD - 4}" y2="{bottom}" class="decision"/>'
        if x - last > _NARROWEST - 2:
            yield _text(x, _HEAD - 8, str(place), "number")
            last = x


def _lanes(steps: Steps) -> Iterator[str]:
    for place, name in enumerate(steps.lanes):
        yield _text(_LEFT - 10, _top(place) + 14, name, "lane")
    for lane, begin, end in steps.waits:
        x, y = _x(steps, begin), _top(lane) + 10
        yield f'<line x1="{x:.1f}" x2="{_x(steps, end):.1f}" y1="{y}" y2="{y}" class="wait tone{lane}"/>'
    for mark in steps.marks:
        yield from _mark(steps, mark.lane, mark.at, mark.tone, is_lost=mark.what == "dropped")
    for bar in _joined(steps.bars):
        x, width = _x(steps, bar.begin), _x(steps, bar.end) - _x(steps, bar.begin)
        yield _rect(x + 0.5, _top(bar.lane), width - 1, _BOX, f"bar tone{bar.tone}")
        if width >= _NARROWEST:
            name = bar.name if width >= 9 * len(bar.name) else bar.name[:1]
            yield _text(x + width / 2, _top(bar.lane) + 14, name, "inside")


def _mark(steps: Steps, lane: int, at: float, tone: int, *, is_lost: bool) -> Iterator[str]:
    x, y = _x(steps, at), _top(lane) + _BOX
    if is_lost:
        path = f"M{x - 4:.1f} {y - 14}l8 8m0 -8l-8 8"
        yield f'<path d="{path}" class="lost"/>'
    else:
        yield f'<path d="M{x:.1f} {y}l3.5 6h-7z" class="arrival tone{tone}"/>'


def _joined(bars: list[Bar]) -> list[Bar]:
    """Return pieces of service that go on as one."""
    made: list[Bar] = []
    for bar in bars:
        last = made[-1] if made else None
        if last and (last.name, last.lane) == (bar.name, bar.lane) and last.end == bar.begin:
            made[-1] = Bar(bar.lane, last.begin, bar.end, bar.name, bar.tone)
        else:
            made.append(bar)
    return made


def _top(lane: int) -> float:
    return _HEAD + lane * _LANE + 2


def _axis(steps: Steps, top: float) -> Iterator[str]:
    until = _until(steps)
    step = next(each for each in _STEPS_OF_AXIS if until / each <= _MOST_TICKS)
    yield f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{top}" y2="{top}" class="axis"/>'
    for count in range(int(until / step) + 1):
        x = _x(steps, count * step)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + 4}" class="axis"/>'
        yield _text(x, top + 15, f"{count * step}", "tick")
    yield _text(_WIDTH - _RIGHT, top + 29, steps.unit, "unit")


def _columns(steps: Steps, top: float) -> tuple[list[str], float]:
    """Return the decisions side by side, and how high that is."""
    if not steps.decisions:
        return [], 0
    # As many in a row as there is room for, rows of about equal length.
    most = (_WIDTH - 10) // _COLUMN
    rows = -(-len(steps.decisions) // most)
    each_row = -(-len(steps.decisions) // rows)
    parts: list[str] = []
    y = top + _GAP
    for row in range(rows):
        shown = steps.decisions[row * each_row : (row + 1) * each_row]
        parts += [
            line
            for place, each in enumerate(shown)
            for line in _column(each, row * each_row + place + 1, 6 + place * _COLUMN, y)
        ]
        y += 36 + _BOX + max(len(each.waiting) for each in shown) * (_BOX + _BOX_GAP) + 8
    return parts, y - top - _GAP


def _column(each: Decision, number: int, x: float, y: float) -> Iterator[str]:
    width = _COLUMN - 8
    middle = x + width / 2
    yield _text(middle, y + 9, str(number), "number")
    yield _rect(x, y + 15, width, _BOX, f"bar tone{each.tone}")
    yield _text(middle, y + 29, _fitting(each.chosen), "inside")
    yield from (
        _text(middle, y + 46 + 11 * place, words, "how") for place, words in enumerate(_lines(each.how))
    )
    for place, (name, tone) in enumerate(each.waiting):
        top = y + 52 + place * (_BOX + _BOX_GAP)
        yield _rect(x, top, width, _BOX, f"waiting tone{tone}")
        yield _text(middle, top + 14, _fitting(name), "name")


def _fitting(name: str) -> str:
    return name if len(name) <= 7 else name[:6] + "…"


def _lines(how: str) -> list[str]:
    """Return what fits below a box: of two parts the second goes below the first."""
    short = how.replace("all that remains", "all").replace("server ", "→ ").replace(", after ", ", +")
    return short.replace(", at once", "").split(", ")
