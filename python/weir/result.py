"""Results: a tidy table of estimates with intervals, and where they come from.

A result is the JSON document that the engine wrote, with typed views on it. It is never recomputed: a
report, a table and a data frame all read the same numbers. A value that could not be estimated is absent
(``None``) and its row carries the reason; nothing is ever NaN.

What all models share is in `Result`; each model has a class of its own with views on its rows, `PortResult`
here, `weir.network.NetworkResult`, `weir.fabric.FabricResult`, `weir.node.NodeResult` and
`weir.server.ServerResult`.
"""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from weir.errors import ResultError
from weir.files import read_text, write_text
from weir.reading import REMEDY, check_document, check_fields, parse, refuse
from weir.rows import Check, Difference, Distribution, Engine, Estimate, LengthClass, TheoryValue, rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = [
    "Check",
    "Difference",
    "Distribution",
    "Estimate",
    "LengthClass",
    "PortResult",
    "Result",
    "TheoryValue",
]

_REQUIRED = {
    "weir",
    "model",
    "seed",
    "scenario",
    "time_unit",
    "disciplines",
    "reference",
    "estimates",
}
_FIELDS = {
    "weir": "str",
    "model": "str",
    "title": "str | None",
    "file": "str | None",
    "fingerprint": "str | None",
    "seed": "int",
    "scenario": "str",
    "time_unit": "str",
    "length_unit": "str",
    "replications": "int",
    "interrupted": "bool",
    "unstable": "str | None",
    "disciplines": "tuple[str, ...]",
    "reference": "str",
}
_CLASSES = {
    "network": ("weir.network.result", "NetworkResult"),
    "fabric": ("weir.fabric.result", "FabricResult"),
    "node": ("weir.node.result", "NodeResult"),
    "server": ("weir.server.result", "ServerResult"),
}
"""Where the class of a model's results is, if it is not `PortResult`."""
_SECTIONS: dict[str, type] = {"theory": TheoryValue, "checks": Check, "engines": Engine}
LISTED = ("replications", "theory", "checks", "engines")
"""What the results of the fabric, the node and the server are not read without."""
_NUMBERS = ("load", "value", "low", "high", "low_90", "high_90", "standard_error")
_COUNTS = ("flow", "count")


@dataclass(frozen=True, eq=False)
class Result:
    """What a run found out.

    `from_json` and `from_file` return the class of the model that was run.

    Attributes
    ----------
    text : str
        The JSON document as the engine wrote it; equal runs have equal bytes.

    Examples
    --------
    >>> result = weir.run("scenario.toml")                              # doctest: +SKIP
    >>> result.estimate("sf").value                                     # doctest: +SKIP
    >>> result.to_pandas().query("statistic == 'p99'")                  # doctest: +SKIP
    """

    text: str

    @classmethod
    def from_json(cls, text: str, name: str = "result") -> Result:
        """Read a result from its JSON text.

        Raises
        ------
        ResultError
            If it is not JSON, or not a result of weir.
        """
        document = parse(text, name)
        missing = {*_REQUIRED, _subjects(document.get("model"))} - set(document)
        if missing:
            raise ResultError(f"is not a result of weir: `{min(missing)}` is missing", REMEDY, name)
        kind = _class_of(document["model"], name)
        try:
            kind.check(document)
        except ResultError as error:
            raise ResultError(error.message, REMEDY, name, key=error.key, value=error.value) from None
        result = kind(text)
        result.__dict__["document"] = document
        return result

    @classmethod
    def check(cls, document: dict[str, Any]) -> None:
        """Check what was read: types, finite numbers, and that rows are about what the result has.

        Raises
        ------
        ResultError
            If something is not as the engine writes it; the error says where.
        """
        for name in cls._required:
            if name not in document:
                raise ResultError(f"is not a result of weir: `{name}` is missing", REMEDY)
        check_document(document, {**_FIELDS, **cls._fields}, {**_SECTIONS, **cls._sections})

    _fields: ClassVar[Mapping[str, str]] = {}
    """What a model's document has beside the fields and the rows that all have: kinds by name."""
    _sections: ClassVar[Mapping[str, type]] = {}
    """Dataclasses of rows by name."""
    _required: ClassVar[tuple[str, ...]] = ()
    """What must be there beside what every result has."""

    @classmethod
    def from_file(cls, path: str | Path) -> Result:
        """Read a result that `save` wrote."""
        return cls.from_json(read_text(Path(path)), str(path))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        state = ", interrupted" if self.interrupted else ""
        return f"<weir.{type(self).__name__} {self.title!r}: {', '.join(self.disciplines)}{state}>"

    @cached_property
    def document(self) -> dict[str, Any]:
        """The whole document."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def title(self) -> str:
        """The title of the scenario, or the file it came from."""
        return str(self.document.get("title") or self.document.get("file") or self.document["model"])

    @property
    def model(self) -> str:
        """The model that was run: ``port``, ``network``, ``fabric``, ``node``, ``server``."""
        return str(self.document["model"])

    @property
    def disciplines(self) -> tuple[str, ...]:
        """The spec strings compared, in the order of the scenario."""
        return tuple(self.document["disciplines"])

    @cached_property
    def labels(self) -> dict[str, str]:
        """A name for each of `disciplines` in tables and charts: the spec, where no shorter one is needed."""
        return {name: name for name in self.disciplines}

    @property
    def reference(self) -> str:
        """The discipline from which paired differences are taken."""
        return str(self.document["reference"])

    @property
    def time_unit(self) -> str:
        """The unit of all times: ``u``, one mean packet service, or ``s``."""
        return str(self.document["time_unit"])

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before its end; what is here was finished by then."""
        return bool(self.document.get("interrupted"))

    @property
    def empty(self) -> bool:
        """Whether the run was stopped before the first of its results was finished."""
        finished = self.document.get("messages", self.document.get("replications", 1))
        return self.interrupted and finished == 0

    @property
    def unstable(self) -> str | None:
        """Why there is no steady state, where there is none."""
        return self.document.get("unstable")

    @cached_property
    def estimates(self) -> tuple[Any, ...]:
        """All estimates, one row each."""
        return rows(self._row, self.document["estimates"])

    @property
    def _row(self) -> type[Any]:
        """The dataclass of an estimate."""
        return self._sections.get("estimates", Estimate)

    @cached_property
    def theory(self) -> tuple[TheoryValue, ...]:
        """Closed forms beside the simulation."""
        return rows(TheoryValue, self.document.get("theory", []))

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Self-checks of the run."""
        return rows(Check, self.document.get("checks", []))

    @property
    def ok(self) -> bool:
        """Whether every self-check held and the run has a steady state."""
        return self.unstable is None and all(check.ok for check in self.checks)

    def to_json(self) -> str:
        """Return the document as the engine wrote it."""
        return self.text

    def save(self, path: str | Path) -> None:
        """Write the document to a file, which is never half-written."""
        write_text(Path(path), self.text if self.text.endswith("\n") else self.text + "\n")

    def to_arrow(self) -> pa.Table:
        """Return the estimates as an Arrow table, one row each; provenance is in the schema's metadata.

        Returns
        -------
        pyarrow.Table
            The fields of an estimate as columns: for the port ``discipline``, ``class``, ``flow``,
            ``metric``, ``statistic``, ``value``, ``low``, ``high``, ``standard_error``, ``count``,
            ``method``, ``unit`` and ``reason``; for the network ``scope``, ``name`` and ``interval`` in
            place of ``class`` and ``flow``; for the fabric ``load`` and ``channel`` in their place, and the
            ends of the 90 % interval, ``low_90`` and ``high_90``; for the node and the server ``kind``
            and ``name``. Null where a value is absent.
        """
        import pyarrow as pa

        names = [field.name for field in fields(self._row)]
        types = [_arrow_type(pa, name) for name in names]
        columns = [
            pa.array([getattr(row, name) for row in self.estimates], kind)
            for name, kind in zip(names, types, strict=True)
        ]
        facts = ("weir", "title", "file", "fingerprint", "seed", "time_unit", "interrupted")
        metadata = {f"weir.{key}": str(self.document.get(key)) for key in facts}
        schema = pa.schema(
            [(name.rstrip("_"), kind) for name, kind in zip(names, types, strict=True)], metadata
        )
        return pa.Table.from_arrays(columns, schema=schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return the estimates as a pandas data frame; columns as in `to_arrow`."""
        import pandas as pd

        columns = self.to_arrow().to_pydict()
        counts = {name: "Int64" for name in _COUNTS if name in columns}
        numbers = {name: "float64" for name in _NUMBERS if name in columns}
        return pd.DataFrame(columns).astype({**counts, **numbers})

    def to_polars(self) -> pl.DataFrame:
        """Return the estimates as a Polars data frame; columns as in `to_arrow`."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        if not isinstance(frame, pl.DataFrame):
            raise TypeError("a table became something else than a data frame")
        return frame


def _class_of(model: object, file: str) -> type[Result]:
    """Return the class of a model's results; its module is loaded when the first is read."""
    if model == "port":
        return PortResult
    if not isinstance(model, str) or model not in _CLASSES:
        known = ", ".join(["port", *_CLASSES])
        raise ResultError(f"model is {str(model)[:40]!r}, must be one of {known}", REMEDY, file, key="model")
    module, name = _CLASSES[model]
    found: type[Result] = getattr(importlib.import_module(module), name)
    return found


def _subjects(model: object) -> str:
    """Return the name of what the figures of a model are about."""
    return {"fabric": "channels", "node": "processes"}.get(str(model), "classes")


def _arrow_type(pa: Any, name: str) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return the Arrow type of a column."""
    if name in _NUMBERS:
        return pa.float64()
    return pa.int64() if name in _COUNTS else pa.string()


@dataclass(frozen=True, eq=False, repr=False)
class PortResult(Result):
    """What a run of the port found out: delays of messages, by class and by application."""

    _fields: ClassVar[Mapping[str, str]] = {
        "load": "float | None",
        "ticks": "int",
        "messages": "int",
        "unfinished": "int",
        "duration": "float | None",
    }
    _sections: ClassVar[Mapping[str, type]] = {
        "classes": LengthClass,
        "estimates": Estimate,
        "differences": Difference,
        "distributions": Distribution,
    }

    @classmethod
    def check(cls, document: dict[str, Any]) -> None:
        """Check what was read, the warm-up too."""
        super().check(document)
        warm_up = document.get("warm_up")
        if warm_up is not None and not isinstance(warm_up, dict):
            refuse("warm_up", warm_up, "an object")
        check_fields(warm_up or {}, {"rule": "str"}, "warm_up.")

    @property
    def load(self) -> float | None:
        """The offered load, where it is known."""
        return self.document.get("load")

    @cached_property
    def classes(self) -> tuple[LengthClass, ...]:
        """The classes of messages; the first is all of them."""
        return rows(LengthClass, self.document["classes"])

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """All estimates, one row each."""
        return rows(Estimate, self.document["estimates"])

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Paired differences to the reference."""
        return rows(Difference, self.document.get("differences", []))

    @cached_property
    def distributions(self) -> tuple[Distribution, ...]:
        """Histograms of delay."""
        return rows(Distribution, self.document.get("distributions", []))

    @property
    def metric(self) -> str:
        """The delay that a report is about: ``latency`` of packets, ``response`` of whole messages."""
        return "latency" if any(row.metric == "latency" for row in self.estimates) else "response"

    @cached_property
    def _index(self) -> dict[tuple[str | None, str, str, str, int | None], Estimate]:
        return {
            (row.discipline, row.class_, row.metric, row.statistic, row.flow): row for row in self.estimates
        }

    def estimate(
        self,
        discipline: str | None,
        *,
        metric: str | None = None,
        statistic: str = "mean",
        class_: str = "all",
        flow: int | None = None,
    ) -> Estimate | None:
        """Return one estimate, or None if the run has no such row.

        Parameters
        ----------
        discipline : str or None
            A spec string of `disciplines`; None for what all share, such as the queue length.
        metric : str, optional
            ``latency``, ``response``, ``wait``, ``slowdown``, ...; `metric` of the result if not given.
        statistic : str
            ``mean``, ``p50``, ``p90``, ``p99``, ``p99.9``, ``max`` or ``share``.
        class_ : str
            ``all`` or the name of one of `classes`.
        flow : int, optional
            An application; all together if not given.
        """
        return self._index.get((discipline, class_, metric or self.metric, statistic, flow))

    def difference(
        self, discipline: str, *, class_: str = "all", metric: str | None = None
    ) -> Difference | None:
        """Return the paired difference of a discipline's mean to the reference, if there is one."""
        wanted = (discipline, class_, metric or self.metric)
        found = (row for row in self.differences if (row.discipline, row.class_, row.metric) == wanted)
        return next(found, None)

    def closed_form(
        self, discipline: str | None, *, class_: str = "all", metric: str | None = None
    ) -> TheoryValue | None:
        """Return the closed form of a discipline's mean, if there is one."""
        wanted = (discipline, class_, metric or self.metric)
        found = (row for row in self.theory if (row.discipline, row.class_, row.metric) == wanted)
        return next(found, None)
