"""Results of the node: typed views on the document that the engine wrote.

Source: the model of ``crates/weir-sim/src/node/outcome.rs``. Times are in seconds. A figure is about a
discipline and a process, a dual queue or a node; what lies in the measured time counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from weir.node.reading import KINDS, check_figures, check_subjects, check_timelines, timelines
from weir.node.rows import (
    NodeDifference,
    NodeDistribution,
    NodeEstimate,
    NodeTotals,
    NodeWarning,
    ProcessRow,
    ProcessTotals,
    Samples,
)
from weir.result import LISTED
from weir.rows import rows
from weir.subjects import ALL, SubjectResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from weir.node.rows import Timeline

__all__ = ["ALL", "NodeResult"]


@dataclass(frozen=True, eq=False, repr=False)
class NodeResult(SubjectResult[NodeEstimate, NodeDifference]):
    """What a run of the node found out: run times, needs and responses of processes, and what the nodes did.

    Examples
    --------
    >>> result = weir.run("node.toml")                                       # doctest: +SKIP
    >>> result.estimate("epoch", name="g1", metric="epoch_run").value        # doctest: +SKIP
    >>> result.totals("epoch", "g1").needs_missed                            # doctest: +SKIP
    """

    _fields: ClassVar[Mapping[str, str]] = {
        "epoch": "float",
        "measured": "float",
        "nodes": "tuple[str, ...]",
        "queues": "tuple[str, ...]",
    }
    _sections: ClassVar[Mapping[str, type]] = {
        "processes": ProcessRow,
        "warnings": NodeWarning,
        "process_totals": ProcessTotals,
        "node_totals": NodeTotals,
        "estimates": NodeEstimate,
        "differences": NodeDifference,
        "distributions": NodeDistribution,
        "samples": Samples,
    }
    _required: ClassVar[tuple[str, ...]] = (*_fields, *_sections, "timelines", *LISTED)
    _usual: ClassVar[tuple[str, str]] = ("process", "response")

    @classmethod
    def check(cls, document: dict[str, Any]) -> None:
        """Check what was read: as of every result, and that figures are about what it lists.

        Raises
        ------
        ResultError
            If something is not as the engine writes it; the error says where.
        """
        super().check(document)
        check_subjects(document)
        check_figures(document)
        check_timelines(document)

    @cached_property
    def distributions(self) -> tuple[NodeDistribution, ...]:
        """Histograms of responses, and of waits for the first start."""
        return rows(NodeDistribution, self.document["distributions"])

    @cached_property
    def processes(self) -> tuple[ProcessRow, ...]:
        """The processes, the system's last."""
        return rows(ProcessRow, self.document["processes"])

    @cached_property
    def warnings(self) -> tuple[NodeWarning, ...]:
        """What was warned of, before anything ran."""
        return rows(NodeWarning, self.document["warnings"])

    @cached_property
    def process_totals(self) -> tuple[ProcessTotals, ...]:
        """What was counted of each process under each discipline."""
        return rows(ProcessTotals, self.document["process_totals"])

    @cached_property
    def node_totals(self) -> tuple[NodeTotals, ...]:
        """What was counted of each node under each discipline."""
        return rows(NodeTotals, self.document["node_totals"])

    @cached_property
    def samples(self) -> tuple[Samples, ...]:
        """What the sampler saw of the first replication."""
        return rows(Samples, self.document["samples"])

    @cached_property
    def timelines(self) -> tuple[Timeline, ...]:
        """Who ran when, in part of the first replication."""
        return timelines(self.document)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes, by name."""
        return tuple(self.document["nodes"])

    @property
    def queues(self) -> tuple[str, ...]:
        """The dual queues, by name."""
        return tuple(self.document["queues"])

    @property
    def epoch(self) -> float:
        """The epoch, in seconds: what needs and run times are measured over."""
        return float(self.document["epoch"])

    @property
    def balanced(self) -> bool:
        """Whether processes are moved between nodes: the scenario has `[balance]`."""
        return _BALANCE.search(str(self.document.get("scenario", ""))) is not None

    @cached_property
    def _totals(self) -> dict[tuple[str, str], ProcessTotals]:
        return {(row.discipline, row.process): row for row in self.process_totals}

    def totals(self, discipline: str, process: str) -> ProcessTotals | None:
        """Return what was counted of a process under a discipline, if it was."""
        return self._totals.get((discipline, process))

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the names of a kind: ``process``, ``queue`` or ``node``."""
        return tuple(row.name for row in self.processes) if kind == "process" else getattr(self, KINDS[kind])

    def timeline(self, discipline: str) -> Timeline | None:
        """Return who ran when under a discipline, if it was kept."""
        return next((line for line in self.timelines if line.discipline == discipline), None)

    def save_trace(self, path: str | Path) -> None:
        """Write the timelines as a Perfetto trace, a file ``.pftrace``; as `weir.node.trace.write`."""
        from weir.node import trace

        trace.write(self, Path(path))

    def samples_to_arrow(self) -> pa.Table:
        """Return the samples as an Arrow table, one row an interval of a subject.

        Returns
        -------
        pyarrow.Table
            ``discipline``, ``kind``, ``name``, ``metric``, ``unit``, ``from``, ``until`` (s from the
            beginning of the first replication) and ``value``.
        """
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
_SAMPLE_COLUMNS = (*(field.name for field in fields(Samples)[:5]), "from", "until", "value")
