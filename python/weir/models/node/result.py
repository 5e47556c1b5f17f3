"""Results of the node: typed views on the document that the engine wrote.

Source: the model of ``crates/weir-node/src/outcome.rs``. Times are in seconds. A figure is about a
discipline and a process, a dual queue or a node; what lies in the measured time counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from weir.extras import need
from weir.models.node import rows
from weir.models.node.reading import KINDS, check_node, check_timelines, timelines
from weir.results.result import Field, Section
from weir.results.subjects import SubjectResult
from weir.results.windowed import Windowed

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class NodeResult(SubjectResult, Windowed):
    """What a run of the node found out: run times, needs and responses of processes, and what the nodes did.

    Examples
    --------
    >>> result = weir.run("node.toml")                                       # doctest: +SKIP
    >>> result.estimate("epoch", name="g1", metric="epoch_run").value        # doctest: +SKIP
    >>> result.totals("epoch", "g1").needs_missed                            # doctest: +SKIP
    """

    _whole: ClassVar[tuple[str, ...] | None] = ("timelines",)
    _usual: ClassVar[tuple[str, str]] = ("process", "response")
    _view: ClassVar[str] = "weir.models.node.view:NodeView"

    epoch = Field[float]("float")
    """The epoch, in seconds: what needs and run times are measured over."""
    measured = Field[float]("float")
    """The measured time of a replication, in seconds."""
    nodes = Field[tuple[str, ...]]("tuple[str, ...]")
    """The nodes, by name."""
    queues = Field[tuple[str, ...]]("tuple[str, ...]")
    """The dual queues, by name."""
    processes = Section(rows.ProcessRow)
    """The processes, the system's last."""
    warnings = Section(rows.NodeWarning)
    """What was warned of, before anything ran."""
    process_totals = Section(rows.ProcessTotals)
    """What was counted of each process under each discipline."""
    node_totals = Section(rows.NodeTotals)
    """What was counted of each node under each discipline."""
    estimates = Section(rows.NodeEstimate)
    """All estimates, one row each."""
    differences = Section(rows.NodeDifference)
    """Paired differences to the reference."""
    distributions = Section(rows.NodeDistribution)
    """Histograms of responses, and of waits for the first start."""
    samples = Section(rows.Samples)
    """What the sampler saw of the first replication."""

    @classmethod
    def _check(cls, document: dict[str, Any]) -> None:
        """Check that figures and timelines are about what the result lists."""
        check_node(document)
        check_timelines(document)
        cls._check_windows(document)

    @cached_property
    def timelines(self) -> tuple[rows.Timeline, ...]:
        """Who ran when, in part of the first replication."""
        return timelines(self.document)

    @property
    def balanced(self) -> bool:
        """Whether processes are moved between nodes: the scenario has `[balance]`."""
        return _BALANCE.search(str(self.document.get("scenario", ""))) is not None

    def totals(self, discipline: str, process: str) -> rows.ProcessTotals | None:
        """Return what was counted of a process under a discipline, if it was."""
        return self.process_totals.find(discipline=discipline, process=process)

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the names of a kind: ``process``, ``queue`` or ``node``."""
        return tuple(row.name for row in self.processes) if kind == "process" else getattr(self, KINDS[kind])

    def timeline(self, discipline: str) -> rows.Timeline | None:
        """Return who ran when under a discipline, if it was kept."""
        return next((line for line in self.timelines if line.discipline == discipline), None)

    def save_trace(self, path: str | Path) -> None:
        """Write the timelines as a Perfetto trace, a file ``.pftrace``; as `weir.models.node.trace.write`."""
        from weir.models.node import trace

        trace.write(self, Path(path))

    def samples_to_arrow(self) -> pa.Table:
        """Return `windows`, or where there are none `samples`, as an Arrow table.

        Returns
        -------
        pyarrow.Table
            Of windows as `Windowed` has them; the names are those of processes, queues and nodes. Of samples
            a row an interval of a subject: ``discipline``, ``kind``, ``name``, ``metric``, ``unit``,
            ``from``, ``until`` (s from the beginning of the first replication) and ``value``.
        """
        if self.windows:
            return super().samples_to_arrow()
        need("parquet", "a table of samples")
        import pyarrow as pa

        columns: dict[str, list[Any]] = {name: [] for name in _SAMPLE_COLUMNS}
        for row in self.samples:
            for place, value in enumerate(row.values):
                for name in _SAMPLE_COLUMNS[:5]:
                    columns[name].append(getattr(row, name))
                columns["from"].append(place * row.interval)
                columns["until"].append((place + 1) * row.interval)
                columns["value"].append(value)
        kinds = [pa.string()] * 5 + [pa.float64()] * 3
        arrays = [pa.array(columns[name], kind) for name, kind in zip(_SAMPLE_COLUMNS, kinds, strict=True)]
        return pa.Table.from_arrays(arrays, names=list(_SAMPLE_COLUMNS))


_BALANCE = re.compile(r"^\[balance\]", re.MULTILINE)
_SAMPLE_COLUMNS = (*(field.name for field in fields(rows.Samples)[:5]), "from", "until", "value")
