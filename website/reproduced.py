"""The five documents: a page each, of what was published next to what weir makes of it.

A page is the report of a quick reproduction, section by section, followed by the document of its folder.
Reproductions that take seconds run when the site is built. The others take minutes: theirs are recorded
in ``recorded``, by ``python website/reproduced.py --record NAME ...``, with the version of the engine's
numbers, and the page says so.
"""

from __future__ import annotations

import argparse
import importlib
import lzma
from pathlib import Path
from typing import TYPE_CHECKING

import weir
from reports import Report
from stage import ROOT
from weir import _weir
from weir.reproduce import DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stage import Stage

RECORDED = Path(__file__).resolve().parent / "recorded"
LIVE = ("sfq", "epoch")
"""Those that run with every build."""
_MEASURED = {
    "sfq": "Measured: [`weir live sfq`](docs/live.md#published-simulated-measured-weir-live-sfq) repeats the "
    "experiments with real packets, and prints the three next to each other.",
    "steer": "Measured: [`weir live steer`](docs/live.md#a-lab-of-steered-packets-weir-live-steer) repeats "
    "the lab "
    "with real packets.",
    "epoch": "Measured: [`weir live epoch`](docs/live.md#tasks-instead-of-packets-weir-live-epoch) runs "
    "the tasks on "
    "a real core.",
    "dtable": "Measured: there is nothing to measure with, since no switch has such a table. What weir "
    "[plans](docs/plan.md) for the tables that there are is checked against OpenSM.",
    "alpha": "Measured: the discipline is the same code in [`weir.Queue`](docs/python.md); what it costs "
    "in a program "
    "is under [Performance](docs/performance.md#queues).",
}


def reproduced(name: str) -> Report:
    """Run a quick reproduction and return its report."""
    module = importlib.import_module(f"weir.reproduce.{name}")
    return Report.of(module.run(fidelity="quick").html())


def record(names: Sequence[str]) -> None:
    """Run quick reproductions and keep their reports."""
    RECORDED.mkdir(exist_ok=True)
    for name in names:
        text = f"{_weir.Sweep.version()}\n{weir.__version__}\n{reproduced(name).to_json()}"
        (RECORDED / f"{name}.xz").write_bytes(lzma.compress(text.encode(), preset=9))


def recorded(name: str) -> tuple[Report, str, str]:
    """Return a report that is kept, and of which version of the numbers and of weir it is."""
    text = lzma.decompress((RECORDED / f"{name}.xz").read_bytes()).decode()
    numbers, version, report = text.split("\n", 2)
    return Report.from_json(report), numbers, version


def stage(to: Stage, charts: Path) -> None:
    """Write the page of each document."""
    for name in DOCUMENTS:
        if name in LIVE:
            report = reproduced(name)
            how = (
                f"The figures come from `weir reproduce {name} --quick`, which ran when this site was built."
            )
        else:
            report, _, version = recorded(name)
            how = (
                f"The figures come from `weir reproduce {name} --quick`, {DOCUMENTS[name].quick}; it was "
                f"recorded "
                f"with weir {version}, since it takes longer than this site takes to build."
            )
        source = f"reproduce/{name}/README.md"
        page = to.pages[source]
        measured = to.linked(_MEASURED[name], "README.md", page)
        head = (
            f"# {report.title.split(', reproduced')[0]}\n\n{report.verdict}\n\n{how} {measured}\n\n"
            f"## Published and simulated\n\n{report.facts}\n\n"
            f"{report.markdown(name, charts, '../_charts')}\n"
        )
        text = (ROOT / source).read_text(encoding="utf-8")
        title, _, body = text.partition("\n")
        if not title.startswith("# "):
            raise ValueError(f"{source} begins with no title")
        to.write(page, f"{head}\n## How it is reproduced\n{to.linked(_lower(body), source, page)}")


def _lower(text: str) -> str:
    """Return Markdown with its headings one level lower, outside of blocks of code."""
    is_code = False
    lines = []
    for line in text.split("\n"):
        is_code ^= line.startswith("```")
        lines.append(f"#{line}" if line.startswith("##") and not is_code else line)
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", nargs="+", metavar="NAME", required=True, choices=sorted(DOCUMENTS))
    record(parser.parse_args().record)
