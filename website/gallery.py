"""The gallery: reports that the package writes when the site is built, each one file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import weir
from reports import Report, picture
from stage import ROOT
from weir.results import page
from weir.sweeping import page as sweep_page

if TYPE_CHECKING:
    from pathlib import Path

    from stage import Stage


@dataclass(frozen=True)
class Exhibit:
    """A report that is shown: its name, its title, and where its scenario stands.

    ``source`` is a scenario, or a document with a block whose first line is ``# block``.
    """

    name: str
    title: str
    source: str
    block: str = ""
    over: tuple[tuple[str, str], ...] = ()
    """Axes, of a sweep."""

    def scenario(self) -> weir.Scenario:
        """Return the scenario."""
        text = (ROOT / self.source).read_text(encoding="utf-8")
        if self.block:
            found = re.search(
                rf"^```toml\n# {re.escape(self.block)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
            )
            if not found:
                raise ValueError(f"{self.source} has no block {self.block}")
            text = found[1]
        return weir.Scenario.from_toml(text, self.source)

    def html(self) -> str:
        """Run it and return the report."""
        if self.over:
            return sweep_page.html(weir.sweep(self.scenario(), dict(self.over)))
        return page.html(weir.run(self.scenario()))


_FIRST = "examples/first-questions"
EXHIBITS = (
    Exhibit("service", "Workers for a service, from its log", f"{_FIRST}/service.toml"),
    Exhibit("uplink", "A call and an upload on one uplink", f"{_FIRST}/uplink.toml"),
    Exhibit("control-loop", "A control loop next to a batch job", f"{_FIRST}/control-loop.toml"),
    Exhibit("mm1", "From M/M/1 to SRPT", "examples/classroom/mm1.toml"),
    Exhibit("fabric", "A table against round robin", "docs/guides/share-on-a-fabric.md", "table.toml"),
    Exhibit(
        "sweep",
        "A sweep over loads and alphas",
        "examples/load-sweep/port.toml",
        over=(("workload.load", "0.5:0.9:0.1"), ("discipline", "alpha:{1,10,100}")),
    ),
)
_WIDTH = 460


def stage(to: Stage, extra: Path) -> None:
    """Write the reports, and the page that shows what each says."""
    cards = []
    (extra / "gallery").mkdir(parents=True, exist_ok=True)
    for each in EXHIBITS:
        html = each.html()
        (extra / "gallery" / f"{each.name}.html").write_text(html, encoding="utf-8")
        cards.append(_card(each, Report.of(html), extra))
    words = (
        "# Gallery of reports\n\nEach of these is one HTML file, as `weir compare FILE --out report.html` or "
        "`weir report` writes it: it holds its charts and needs no network. They were made from the "
        "[examples](examples/index.md) and [guides](guides/index.md) when this site was built.\n\n"
    )
    to.write("gallery", f'{words}<ul class="cards">\n{"".join(cards)}</ul>\n')


def _card(each: Exhibit, report: Report, extra: Path) -> str:
    spec = next(iter(report.charts.values()))
    label = f"{each.title}: the first chart of the report"
    shown = picture(spec, f"gallery-{each.name}", label, extra / "_charts", "_charts", _WIDTH)
    return (
        f'<li><a class="exhibit" href="gallery/{each.name}.html">{shown}<b>{escape(each.title)}</b></a>'
        f"<p>{escape(report.verdict)}</p></li>\n"
    )
