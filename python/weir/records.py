"""Records: one row an item, as CSV or Parquet.

Columns: ``discipline``, ``replication`` (from 0), ``id`` (in order of arrival within the replication, from
0; of a trace the row), ``flow`` and ``class`` (as the trace names them; else the number of the application,
and the class by its name in the result), ``length`` (in the scenario's unit), and ``arrival``,
``first_service`` and ``last_service`` in the result's unit of time. Within a block rows are of one discipline
and replication, in the order of departure. The file appears when it is complete; where a run is refused, one
that was there stays.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from weir.errors import ConfigError
from weir.extras import need
from weir.files import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from pyarrow import csv, parquet

    from weir.results.result import Result

__all__ = ["RecordFile"]


class _Discarded(Exception):  # noqa: N818 - no error: it has the unfinished file removed
    """The records are not wanted."""


class RecordFile:
    """A file of records, open while a run writes it.

    Parameters
    ----------
    path : Path
        Ends in ``.csv`` or ``.parquet``, which is the format.

    Raises
    ------
    ConfigError
        If the name ends otherwise, or the folder cannot be written.
    MissingExtraError
        Without the extra ``parquet``.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix not in {".csv", ".parquet"}:
            message = f"records go to a file that ends in .csv or .parquet, not `{path.suffix}`"
            raise ConfigError(message, f"write `--records {path.stem or 'records'}.parquet`", str(path))
        need("parquet", "a file of records")
        self.path = path
        self.rows = 0
        self._files = ExitStack()
        self._writer: Any = None
        self._discarded = False
        self._taken: dict[int, tuple[Sequence[str], pa.Array]] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            part = stack.enter_context(replacing(self.path))
            self._schema = _schema()
            self._writer = stack.enter_context(_writer(part, self.path.suffix, self._schema))
            self._files = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        if self._discarded and error[0] is None:
            error = (_Discarded, _Discarded(), None)
        self._files.__exit__(*error)  # type: ignore[arg-type]

    def write(self, block: Mapping[str, Any]) -> None:
        """Append a block of rows.

        Parameters
        ----------
        block : mapping
            ``discipline``: str; ``replication``: int; ``flows``, ``classes``: the names of applications,
            empty where they have none, and of classes. ``id``, ``arrival``, ``first_service``,
            ``last_service``: bytes of uint64; ``flow``, ``length``: of uint32; ``class``: of uint16. Native
            order; times in ticks of the clock, of which ``clock`` make one unit of time.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        count = len(block["id"]) // 8

        def numbers(name: str, kind: pa.DataType) -> pa.Array:
            return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(block[name])])

        flows = numbers("flow", pa.uint32())
        columns = [
            pa.repeat(block["discipline"], count),
            pa.repeat(pa.scalar(block["replication"], pa.uint32()), count),
            numbers("id", pa.uint64()),
            self._names(block["flows"]).take(flows) if block["flows"] else pc.cast(flows, pa.string()),
            self._names(block["classes"]).take(numbers("class", pa.uint16())),
            numbers("length", pa.uint32()),
        ]
        for name in ("arrival", "first_service", "last_service"):
            ticks = pc.cast(numbers(name, pa.uint64()), pa.float64(), safe=False)
            columns.append(pc.divide(ticks, block["clock"]))
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self.rows += count

    def _names(self, names: Sequence[str]) -> pa.Array:
        """Return names as a column to take from; those of one run come with every block."""
        import pyarrow as pa

        found = self._taken.get(id(names))
        if found is None:
            found = self._taken[id(names)] = (names, pa.array(names, pa.string()))
        return found[1]

    def discard(self) -> None:
        """Leave no file, and one that was there as it was: nothing of the run was finished."""
        self._discarded = True

    def label(self, result: Result) -> None:
        """Note in a Parquet file where its rows come from, and whether the run was interrupted."""
        if self.path.suffix == ".parquet":
            facts = ("weir", "fingerprint", "seed", "time_unit", "length_unit", "interrupted")
            self._writer.add_key_value_metadata(
                {f"weir.{key}": str(result.document.get(key)) for key in facts}
            )


def _schema() -> pa.Schema:
    import pyarrow as pa

    times = [(name, pa.float64()) for name in ("arrival", "first_service", "last_service")]
    counts = [("replication", pa.uint32()), ("id", pa.uint64())]
    names = [("flow", pa.string()), ("class", pa.string())]
    return pa.schema([("discipline", pa.string()), *counts, *names, ("length", pa.uint32()), *times])


def _writer(part: Path, suffix: str, schema: pa.Schema) -> csv.CSVWriter | parquet.ParquetWriter:
    from pyarrow import csv, parquet

    if suffix == ".csv":
        return csv.CSVWriter(part, schema, write_options=csv.WriteOptions(quoting_style="needed"))
    return parquet.ParquetWriter(part, schema, compression="zstd")
