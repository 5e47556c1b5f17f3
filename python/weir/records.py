"""Records: one row an item, as CSV or Parquet.

Columns: ``discipline``, ``id`` (in order of arrival, from 0), ``flow``, ``class``, ``length`` (in the
scenario's unit), and ``arrival``, ``first_service`` and ``last_service`` in the result's unit of time. Rows
are those of the first replication, in the order of departure, discipline by discipline within a block. The
file appears when it is complete.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from weir.errors import ConfigError
from weir.files import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa
    from pyarrow import csv, parquet

    from weir.results.result import Result

__all__ = ["RecordFile"]

_CLOCK = 1e9  # ticks of the engine's clock in one unit of time


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
    """

    def __init__(self, path: Path) -> None:
        if path.suffix not in {".csv", ".parquet"}:
            message = f"records go to a file that ends in .csv or .parquet, not `{path.suffix}`"
            raise ConfigError(message, f"write `--records {path.stem or 'records'}.parquet`", str(path))
        self.path = path
        self.rows = 0
        self._files = ExitStack()
        self._writer: Any = None
        self._discarded = False

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
            ``discipline``: str. ``id``, ``arrival``, ``first_service``, ``last_service``: bytes of uint64;
            ``flow``, ``length``: of uint32; ``class``: of uint16. Native order; times in ticks of the clock.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        count = len(block["id"]) // 8
        columns = [pa.array([block["discipline"]]).take(pa.array([0] * count, pa.int8()))]
        for name, kind in (
            ("id", pa.uint64()),
            ("flow", pa.uint32()),
            ("class", pa.uint16()),
            ("length", pa.uint32()),
        ):
            columns.append(pa.Array.from_buffers(kind, count, [None, pa.py_buffer(block[name])]))
        for name in ("arrival", "first_service", "last_service"):
            ticks = pa.Array.from_buffers(pa.uint64(), count, [None, pa.py_buffer(block[name])])
            columns.append(pc.divide(pc.cast(ticks, pa.float64(), safe=False), _CLOCK))
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self.rows += count

    def discard(self) -> None:
        """Leave no file: nothing of the run was finished."""
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
    counts = [("id", pa.uint64()), ("flow", pa.uint32()), ("class", pa.uint16()), ("length", pa.uint32())]
    return pa.schema([("discipline", pa.string()), *counts, *times])


def _writer(part: Path, suffix: str, schema: pa.Schema) -> csv.CSVWriter | parquet.ParquetWriter:
    from pyarrow import csv, parquet

    if suffix == ".csv":
        return csv.CSVWriter(part, schema, write_options=csv.WriteOptions(quoting_style="needed"))
    return parquet.ParquetWriter(part, schema, compression="zstd")
