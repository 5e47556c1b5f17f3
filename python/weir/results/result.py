"""Results: a tidy table of estimates with intervals, and where they come from.

A result is the JSON document that the engine wrote, with typed views on it. It is never recomputed: a
report, a table and a data frame all read the same numbers. A value that could not be estimated is absent
(``None``) and its row carries the reason; nothing is ever NaN.

What all models share is in `Result`; each model has a class of its own in `weir.models`, with its rows as
`Section` s and with what finds them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from weir.errors import ResultError
from weir.extras import need
from weir.files import read_text
from weir.results.asked import Asked
from weir.results.reading import REMEDY, check_confirmation, check_document, check_object, is_plain, parse
from weir.results.rows import (
    Check,
    Confirmation,
    Confirmed,
    Engine,
    Lengthened,
    Need,
    Rows,
    Settling,
    TheoryValue,
    Value,
    frozen,
    rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from weir.results.rows import Judgement, Measured
    from weir.results.view import View

_REQUIRED = {"weir", "model", "seed", "scenario", "time_unit", "disciplines", "reference", "estimates"}
_TOLD = ("judgements", "verdict")
"""What is reported of a document, and stands behind what the engine wrote."""
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
    "random": "bool",
    "unstable": "str | None",
    "verdict": "tuple[str, ...]",
    "disciplines": "tuple[str, ...]",
    "canonical": "tuple[str, ...]",
    "own": "tuple[str, ...]",
    "reference": "str",
}

Value_co = TypeVar("Value_co", covariant=True)
Row_co = TypeVar("Row_co", covariant=True)
Declared = TypeVar("Declared")


class Field(cached_property[Value_co]):
    """A field of the document itself; ``kind``, of a model's own, is as annotations write what it must be."""

    def __init__(self, kind: str = "", default: object = None) -> None:
        super().__init__(self._value)
        self.kind, self.default = kind, default

    def _value(self, result: Result) -> Any:  # noqa: ANN401 - as the kind says
        value = frozen(result.document.get(self.attrname or "", self.default))
        return float(value) if self.kind == "float" and isinstance(value, int) else value


class Section(cached_property[Rows[Row_co]]):
    """The rows under one key of the document, of one dataclass; they are made when first asked for.

    What came ``later`` than results were first written may be missing from one.
    """

    def __init__(self, kind: type[Row_co], *, later: bool = False) -> None:
        super().__init__(self._rows)
        self.kind, self.later = kind, later

    def _rows(self, result: Result) -> Rows[Row_co]:
        return rows(self.kind, result.document.get(self.attrname or "", []), result.written)


@dataclass(frozen=True, eq=False)
class Result(Asked):
    """What a run found out.

    `from_json` and `from_file` return the class of the model that was run; of a model that is not listed,
    `weir.results.plain.PlainResult`, if its figures say what they are about.

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

    theory = Section(TheoryValue)
    """Closed forms to compare the simulation with."""
    checks = Section(Check)
    """Self-checks of the run."""
    engines = Section(Engine)
    """Which engine ran each discipline."""
    needs = Section(Need, later=True)
    """What the scenario says must hold; none where it says nothing."""
    estimates = Section(Value)
    """All estimates, one row each."""

    @classmethod
    def from_json(cls, text: str, name: str = "result") -> Result:
        """Read a result from its JSON text.

        Raises
        ------
        ResultError
            If it is not JSON, or not a result of weir.
        """
        from weir.models import MODELS  # the list of them; each has its class loaded when it is asked for

        document = parse(text, name)
        model = document.get("model")
        known = MODELS.get(model) if isinstance(model, str) else None
        plain = known is None and is_plain(document)
        subjects = set() if plain else {known.subjects if known else "classes"}
        missing = (_REQUIRED | subjects) - set(document)
        if missing:
            raise ResultError(f"is not a result of weir: `{min(missing)}` is missing", REMEDY, name)
        if known is None and not plain:
            told = f"model is {str(model)[:40]!r}, must be one of {', '.join(MODELS)}"
            raise ResultError(told, REMEDY, name, key="model")
        kind: type[Result] = known.result() if known else resolve_name("weir.results.plain:PlainResult")
        try:
            kind.check(document)
        except ResultError as error:
            raise ResultError(error.message, REMEDY, name, key=error.key, value=error.value) from None
        return kind.of_document(text, document)

    @classmethod
    def of_document(cls, text: str, document: dict[str, Any]) -> Result:
        """Return the result of a text that was read and checked, or that the engine has just written."""
        result = cls(text.rstrip("\n"))
        words = [document.pop(key) for key in _TOLD if key in document]
        result.__dict__.update(document=document, _is_told=bool(words))
        return result

    _is_told: ClassVar[bool] = False
    """Whether the text has the verdict already."""

    @classmethod
    def check(cls, document: dict[str, Any]) -> None:
        """Check what was read: types, finite numbers, and that rows are about what the result has.

        Raises
        ------
        ResultError
            If something is not as the engine writes it; the error says where.
        """
        own = {name: field.kind for name, field in cls._declared(Field).items() if field.kind}
        if cls._whole is not None:
            first = (name for name, section in cls._declared(Section).items() if not section.later)
            for name in ("replications", *own, *first, *cls._whole):
                if name not in document:
                    raise ResultError(f"is not a result of weir: `{name}` is missing", REMEDY)
        check_document(document, {**_FIELDS, **own}, cls.sections())
        for name, kind in (("settling", Settling), ("lengthened", Lengthened)):
            if document.get(name) is not None:
                check_object(kind, document[name], name)
        check_confirmation(document)
        cls._check(document)

    _whole: ClassVar[tuple[str, ...] | None] = None
    """If a document is not read without all of its fields and sections: what else it is not read without."""
    _view: ClassVar[str]
    """Where the class of its view is, which is loaded when it is first asked for."""

    @classmethod
    def _check(cls, document: dict[str, Any]) -> None:
        """Check what a document of this model must be beyond the types of its fields."""

    @classmethod
    def _declared(cls, kind: type[Declared]) -> dict[str, Declared]:
        """Return the class's fields or sections, by their key in the document."""
        own = (item for base in reversed(cls.__mro__) for item in vars(base).items())
        return {name: item for name, item in own if isinstance(item, kind)}

    @classmethod
    def sections(cls) -> dict[str, type]:
        """Return the dataclasses of the rows, by their key in the document."""
        return {name: section.kind for name, section in cls._declared(Section).items()}

    def view(self) -> View[Any]:
        """Return the result as it is shown: in words, on a terminal, and as a page."""
        found: View[Any] = resolve_name(self._view)(self)
        return found

    @classmethod
    def from_file(cls, path: str | Path) -> Result:
        """Read a result that `save` wrote."""
        return cls.from_json(read_text(Path(path)), str(path))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return False
        return self.text == other.text or self.to_json().rstrip() == other.to_json().rstrip()

    def __hash__(self) -> int:
        return hash(self.to_json().rstrip())

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

    model = Field[str]()
    """The model that was run: ``port``, ``network``, ``fabric``, ``node``, ``server``."""
    disciplines = Field[tuple[str, ...]]()
    """The spec strings compared, as they are written and in the order of the scenario."""
    canonical = Field[tuple[str, ...]](default=())
    """Their canonical forms, in the same order: one text for all ways to write the same discipline."""
    reference = Field[str]()
    """The discipline from which paired differences are taken."""
    time_unit = Field[str]()
    """The unit of all times: ``u``, one mean packet service, or ``s``."""
    interrupted = Field[bool](default=False)
    """Whether the run was stopped before its end; what is here was finished by then."""
    replications = Field[int](default=1)
    """Independent replications behind the figures."""
    random = Field[bool](default=True)
    """Whether anything in the scenario is random; where nothing is, one replication tells all."""
    unstable = Field[str | None]()
    """Why there is no steady state, where there is none."""

    @cached_property
    def written(self) -> dict[str, str]:
        """What each of `disciplines` is called here, by its canonical form."""
        return dict(zip(self.canonical, self.disciplines, strict=False))

    def spec(self, discipline: str) -> str:
        """Return the canonical form of a discipline, by its name here."""
        return dict(zip(self.disciplines, self.canonical, strict=False)).get(discipline, discipline)

    @staticmethod
    def _named(disciplines: Sequence[str]) -> dict[str, str]:
        """Return a name for each spec in tables and charts."""
        return {name: name for name in disciplines}

    @cached_property
    def labels(self) -> dict[str, str]:
        """A name for each of `disciplines` in tables and charts: the spec, where no shorter one is needed."""
        return self._named(self.disciplines)

    @property
    def empty(self) -> bool:
        """Whether the run was stopped before the first of its results was finished."""
        finished = self.document.get("messages", self.replications)
        return self.interrupted and finished == 0

    @cached_property
    def settling(self) -> Settling | None:
        """How much longer the run must be until all its figures are settled; None where they are."""
        found = self.document.get("settling")
        return None if found is None else rows(Settling, [found])[0]

    @cached_property
    def lengthened(self) -> Lengthened | None:
        """What was done to settle the figures, where that was asked for."""
        found = self.document.get("lengthened")
        return None if found is None else rows(Lengthened, [found])[0]

    @cached_property
    def confirmation(self) -> Confirmation | None:
        """What a second seed says of the self-checks that failed, where that was asked for."""
        found = self.document.get("confirmation")
        if found is None:
            return None
        return Confirmation(seed=found["seed"], checks=rows(Confirmed, found["checks"]))

    @property
    def ok(self) -> bool:
        """Whether every self-check that is judged held and the run has a steady state.

        One that failed and holds with a second seed counts as held: it failed by chance.
        """
        found = self.confirmation
        excused = set() if found is None else {row.place for row in found.checks if not row.again}
        failed = (place for place, check in enumerate(self.checks) if check.ok is False)
        return self.unstable is None and all(place in excused for place in failed)

    def needed(self, discipline: str, need: Need) -> Measured | None:  # noqa: ARG002 - a model knows its rows
        """Return the figure that a need is about, under a discipline, if the run has it."""
        return None

    def lost(self, discipline: str, need: Need) -> Measured | None:  # noqa: ARG002 - a model knows what it loses
        """Return the share of what a need is about that was dropped and so has no time, if any can be."""
        return None

    @cached_property
    def judgements(self) -> tuple[Judgement, ...]:
        """What became of each of `needs` under each discipline."""
        from weir.results.judging import judged

        return () if self.empty or self.unstable else tuple(judged(self))

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """What the run says, in one to four sentences: those of the terminal and of the page."""
        from weir.results.verdict import sentences

        return tuple(sentences(self))

    def to_json(self) -> str:
        """Return the document as the engine wrote it, with the judgements of its needs and the verdict.

        Closed forms alone, without simulation, have no verdict.
        """
        if self._is_told or not (self.estimates or self.unstable or self.interrupted):
            return self.text
        words: dict[str, object] = {"verdict": self.verdict}
        if self.needs:
            words = {"judgements": [asdict(row) for row in self.judgements], **words}
        more = json.dumps(words, ensure_ascii=False, separators=(",", ":"))
        return f"{self.text.rstrip().removesuffix('}')},{more[1:]}"

    @property
    def digest(self) -> str:
        """SHA-256 of what the engine wrote, in hexadecimal digits.

        The same scenario and seed have the same on every machine, and in a page with the engine in it.
        """
        from hashlib import sha256

        text = self.text.rstrip()
        ends = [text.rfind(f',"{name}":') for name in _TOLD] if self._is_told else []
        begun = min((end for end in ends if end >= 0), default=None)
        return sha256((text if begun is None else text[:begun] + "}").encode()).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write a file, never half of it: ``.json``, ``.html``, or the table as ``.csv`` or ``.parquet``."""
        from weir.results.saving import save

        save(self, Path(path))

    def _repr_html_(self) -> str | None:
        """Return the summary that a notebook shows."""
        from weir.results.notebook import summary

        return summary(self)

    def plot(self, title: str | None = None) -> alt.TopLevelMixin:
        """Return a chart of the HTML report as an object of Altair.

        Parameters
        ----------
        title : str, optional
            Its title in the report, or how that begins, in any case. Default: the first.

        Raises
        ------
        ConfigError
            If there is no such chart; the error has the titles that there are.
        MissingExtraError
            Without the extra ``charts``.
        """
        from weir.results.notebook import chart

        need("charts", "a chart")
        return chart(self.view().figures(), title)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the estimates to whoever reads Arrow streams."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """Return the estimates as an Arrow table, one row each; provenance is in the schema's metadata.

        Returns
        -------
        pyarrow.Table
            The fields of an estimate as columns: for the port ``discipline``, ``class``, ``flow``,
            ``metric``, ``statistic``, ``value``, ``low``, ``high``, ``standard_error``, ``count``,
            ``method``, ``unit``, ``reason`` and ``settled``; for the network ``scope``, ``name`` and
            ``interval`` in place of ``class`` and ``flow``; for the fabric ``load`` and ``channel`` in their
            place, and the ends of the 90 % interval, ``low_90`` and ``high_90``; for the node and the
            server ``kind`` and ``name``. Null where a value is absent.
        """
        from weir.results.frames import arrow

        return arrow(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return the estimates as a pandas data frame; columns as in `to_arrow`."""
        from weir.results.frames import pandas

        need("pandas", "a pandas data frame")
        return pandas(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """Return the estimates as a Polars data frame; columns as in `to_arrow`."""
        from weir.results.frames import polars

        need("polars", "a Polars data frame")
        return polars(self.to_arrow())
