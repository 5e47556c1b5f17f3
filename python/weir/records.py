"""Records: one row an item, as CSV or Parquet.

Of the port: ``discipline``, ``replication`` (from 0), ``id`` (in order of arrival within the replication,
from 0; of a trace the row), ``flow`` and ``class`` (as the trace names them; else the number of the
application, and the class by its name in the result), ``length`` (in the scenario's unit), and ``arrival``,
``first_service`` and ``last_service`` in the result's unit of time.

Of the server, a row an attempt of a request: ``discipline``, ``replication``, ``id`` (in order of arrival
within the replication, from 0), ``class``, ``flow``, ``attempt`` (from 1), ``arrival_ns``, ``start_ns``,
``end_ns``, ``service_ns`` (what it needed), ``core`` (which served it last) and ``outcome``: ``served``,
``late`` (served after its client had given up), ``abandoned``, ``dropped``, ``balked``, ``missed`` or
``refused``. ``start_ns`` and ``core`` are empty where nothing was served. Where a request goes to several
cores, a row a sub-request or second copy of one, with ``part`` and ``copy`` (both from 1) and ``sent_ns``
after ``attempt``. One row of each request has the outcome of the request, the answer that came last of those
needed where it is served; the others are ``answered``, ``spare`` (served and not needed), ``cancelled`` or
``lost``. They are empty where the receiver had no place for the request.

Of the network, a row a packet that was delivered or dropped: ``flow``, ``class``, ``sequence`` (among all
that its flow has sent, from 0), ``size_bytes``, ``sent_ns``, ``end_ns``, ``wait_ns`` (in the queues of all
links), ``outcome`` (``delivered`` or ``dropped``) and ``link`` (where it was dropped).

Of the fabric, a row a packet that was delivered: ``load``, ``source``, ``destination``, ``channel``,
``flow``, ``sequence``, ``size_bytes``, ``generated_ns``, ``injected_ns``, ``delivered_ns`` (in sixths of a
nanosecond) and ``last`` (whether it is the last packet of its message: ``yes`` or ``no``).

Of the node, a row a response of a process: ``process``, ``node``, ``ready_ns``, ``start_ns``, ``end_ns``,
``schedulings`` and ``outcome``: ``done``, ``late`` (after the deadline) or ``unfinished`` (not over at the
end).

Within a block rows are of one discipline and replication, in the order of departure. The file appears when it
is complete; where a run is refused, one that was there stays.
"""

from __future__ import annotations

from contextlib import ExitStack
from threading import Lock
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


_MISSING = 2**64 - 1
"""What the engine gives for a whole number that there is none of."""
_NAMELESS = 2**32 - 1
"""The same of the place of a name."""


class _Discarded(Exception):  # noqa: N818 - no error: it has the unfinished file removed
    """The records are not wanted."""


class RecordFile:
    """A file of records, open while a run writes it.

    Parameters
    ----------
    path : Path
        Ends in ``.csv`` or ``.parquet``, which is the format.
    is_of_messages : bool
        Whether the rows are messages of the port, whose columns are known before the first block.

    Raises
    ------
    ConfigError
        If the name ends otherwise, or the folder cannot be written.
    MissingExtraError
        Without the extra ``parquet``.
    """

    def __init__(self, path: Path, *, is_of_messages: bool = True) -> None:
        if path.suffix not in {".csv", ".parquet"}:
            message = f"records go to a file that ends in .csv or .parquet, not `{path.suffix}`"
            raise ConfigError(message, f"write `--records {path.stem or 'records'}.parquet`", str(path))
        need("parquet", "a file of records")
        self.path = path
        self.rows = 0
        self._files = ExitStack()
        self._writer: Any = None
        self._discarded = False
        self._ended = False
        self._is_of_messages = is_of_messages
        self._writing = Lock()
        self._taken: dict[int, tuple[Sequence[str], pa.Array]] = {}

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._part = stack.enter_context(replacing(self.path))
            self._files = stack
            if self._is_of_messages:
                self._open(_schema())
            self._files = stack.pop_all()
        return self

    def _open(self, schema: pa.Schema) -> Any:  # noqa: ANN401 - a writer of CSV or of Parquet
        """Return the writer, which the first block opens."""
        if self._writer is None:
            self._schema = schema
            self._writer = self._files.enter_context(_writer(self._part, self.path.suffix, schema))
        return self._writer

    def __exit__(self, *error: object) -> None:
        if self._discarded and error[0] is None:
            error = (_Discarded, _Discarded(), None)
        # A run that is ended from outside goes on in its thread until its next block is refused.
        with self._writing:
            self._ended = True
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
        with self._writing:
            if self._ended:
                message = "the file of records is closed"
                raise ValueError(message)
            if "columns" in block:
                self._write_table(block)
            else:
                self._write_messages(block)

    def _write_messages(self, block: Mapping[str, Any]) -> None:
        """Append rows of messages of the port."""
        import pyarrow as pa
        import pyarrow.compute as pc

        writer = self._open(_schema())
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
        writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self.rows += count

    def _write_table(self, block: Mapping[str, Any]) -> None:
        """Append rows of a table: of each column a name, bytes, a type, and names that it gives by place."""
        import pyarrow as pa

        count, arrays, fields = 0, [], []
        for name, given, kind, names in block["columns"]:
            values = _values(given, kind)
            count = len(values)
            arrays.append(values if names is None else pa.array(names, pa.string()).take(values))
            fields.append((name, pa.type_for_alias(kind)))
        schema = pa.schema([("discipline", pa.string()), ("replication", pa.uint32()), *fields])
        writer = self._open(schema)
        if count:
            whose = [
                pa.repeat(block["discipline"], count),
                pa.repeat(pa.scalar(block["replication"], pa.uint32()), count),
            ]
            writer.write_batch(pa.RecordBatch.from_arrays([*whose, *arrays], schema=schema))
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
        self._open(_schema())
        if self.path.suffix == ".parquet":
            facts = ("weir", "fingerprint", "seed", "time_unit", "length_unit", "interrupted")
            self._writer.add_key_value_metadata(
                {f"weir.{key}": str(result.document.get(key)) for key in facts}
            )


def _values(given: bytes, kind: str) -> pa.Array:
    """Return numbers of a type, or the places of names, from their bytes; null where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    held = pa.uint32() if kind == "string" else pa.type_for_alias(kind)
    values = pa.Array.from_buffers(held, len(given) // (held.bit_width // 8), [None, pa.py_buffer(given)])
    if kind == "float64":
        none = pc.is_nan(values)
    else:
        none = pc.equal(values, pa.scalar(_NAMELESS if kind == "string" else _MISSING, held))
    return pc.if_else(none, pa.scalar(None, held), values)


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
