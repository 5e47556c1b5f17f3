"""One page of every kind that weir writes, by name; the reports are of scenarios that the documents show."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import weir
from weir.results import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from weir.live.comparison import Comparison

ROOT = Path(__file__).parent.parent


@cache
def report(document: str, name: str) -> str:
    """Return the report of a scenario that a document shows, run as it stands there."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.search(rf"```toml\n# {re.escape(name)}\n(.*?)```", text, re.DOTALL)
    assert found, f"{document} shows no {name}"
    return page.html(weir.run(weir.Scenario.from_toml(found[1], str(ROOT / name))))


def plain() -> str:
    """Return the report of a model that weir does not know."""
    return page.html(weir.Result.from_file(ROOT / "tests/bus-stop.json"))


def alpha() -> str:
    """Return the reproduction of the alpha report."""
    from alpha_results import printed
    from weir.reproduce import alpha

    return alpha.evaluate(printed(), with_artefacts=True).html()


def dtable() -> str:
    """Return the reproduction of the paper on arbitration tables."""
    from dtable_results import as_claimed
    from weir.reproduce import dtable

    return dtable.evaluate(as_claimed(), fidelity="quick").html()


def epoch() -> str:
    """Return the reproduction of the epoch machine, with small task sets."""
    from weir.reproduce import epoch
    from weir.reproduce.engine.series import Fidelity
    from weir.reproduce.epoch import runs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "SIZES", dict.fromkeys(Fidelity, runs.Size(mixed=2, busy=2, ready=2)))
        results = {
            plan: epoch.simulate(runs.scenario(plan), plan.name, threads=None, progress=None)
            for plan in runs.plans(Fidelity.QUICK)
        }
        return epoch.evaluate(results, fidelity="quick").html()


def sfq() -> str:
    """Return the reproduction of the SFQ testbed."""
    from sfq_results import printed
    from weir.reproduce import sfq

    return sfq.evaluate(printed(), fidelity="quick").html()


def steer() -> str:
    """Return the reproduction of the report on steering, with what it published."""
    from test_reproduce_steer import recorded
    from weir.reproduce import steer
    from weir.reproduce.engine.series import Fidelity
    from weir.reproduce.steer import runs

    return steer.evaluate(
        {plan: recorded(plan) for plan in runs.plans(Fidelity.QUICK)}, fidelity="quick"
    ).html()


def study() -> str:
    """Return the study of flows against queues."""
    from test_study_sfq import result
    from weir.reproduce.sfq import study
    from weir.reproduce.sfq.study import parts

    planned = iter(parts.runs())
    return study.run(runner=lambda *_, **__: result(next(planned))).html()


def live_steer() -> str:
    """Return the study of steering with real packets."""
    import steer_records
    from weir.live.steer import page as steer_page

    return steer_page.html(steer_records.study())


def live_testbed() -> str:
    """Return a scenario measured with real packets."""
    from weir.live import page as testbed_page

    return testbed_page.html(comparison())


def live_sfq() -> str:
    """Return the SFQ experiments with real packets.

    The cells are made: simulated is what was published, measured a little more; the figures below them are
    those of another recorded scenario.
    """
    from weir.live import sfq_page
    from weir.live.figures import Value
    from weir.live.sfq import Cell, Study
    from weir.reproduce.sfq import published

    cells = []
    for place, row in enumerate(published.rows()):
        alone = row.discipline != "fifo" and place % 3 > 0
        for quantity in published.QUANTITIES:
            value = row.throughput if quantity == "throughput" else row.delay
            more = value / 50
            cells.append(
                Cell(
                    table=row.table,
                    run=row.run,
                    stream=row.stream,
                    start=row.start,
                    end=row.end,
                    quantity=quantity,
                    alone=alone,
                    misprint=(row.table, row.run, row.stream, quantity) in published.ARTEFACTS,
                    published=value,
                    simulated=Value(value, value - more, value + more),
                    measured=Value(value + more, value, value + 2 * more),
                    difference=Value(more, 0.0, 2 * more),
                    tolerance=3 * more if alone else None,
                )
            )
    parts = {name: comparison() for name in ("fair", "degrade", "degrade, frozen")}
    return sfq_page.html(Study(scale=10, repeat=3, cells=tuple(cells), comparisons=parts))


@cache
def comparison() -> Comparison:
    """Return what was measured: ``live-testbed.json``, which says how it was recorded."""
    from weir.live.comparison import Comparison, Flow, Generator, Ledger, Row
    from weir.live.figures import Value

    document = json.loads((ROOT / "tests/live-testbed.json").read_text(encoding="utf-8"))
    recorded, _ = document.pop("recorded"), document.pop("ok")
    assert recorded
    figures = ("simulated", "measured", "difference")
    made = {
        **document,
        "disciplines": tuple(document["disciplines"]),
        "flows": tuple(Flow(**row) for row in document["flows"]),
        "rows": tuple(
            Row(**{**row, **{name: Value(**row[name]) for name in figures}}) for row in document["rows"]
        ),
        "ledgers": tuple(
            Ledger(**{key: value for key, value in row.items() if key != "unaccounted"})
            for row in document["ledgers"]
        ),
        "generators": tuple(Generator(**row) for row in document["generators"]),
    }
    return Comparison(**made)


KINDS: dict[str, Callable[[], str]] = {
    "port": lambda: report("docs/guide.md", "assistant.toml"),
    "port in packets": lambda: report("docs/commands.md", "port.toml"),
    "network": lambda: report("docs/commands.md", "uplink.toml"),
    "fabric": lambda: report("docs/guide.md", "tables.toml"),
    "node": lambda: report("docs/guide.md", "robot.toml"),
    "server": lambda: report("docs/guide.md", "cache.toml"),
    "plain": plain,
    "alpha": alpha,
    "dtable": dtable,
    "epoch": epoch,
    "sfq": sfq,
    "steer": steer,
    "study": study,
    "live steer": live_steer,
    "live testbed": live_testbed,
    "live sfq": live_sfq,
}
"""What writes a page, by its kind."""
