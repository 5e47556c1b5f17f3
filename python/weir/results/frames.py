"""The estimates of a result as tables of Arrow, pandas and Polars; each is loaded when it is asked for."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from weir.extras import need

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from weir.results.result import Result


def arrow(result: Result) -> pa.Table:
    """Return the estimates as an Arrow table, one row each; O(rows)."""
    need("parquet", "a table of estimates")
    import pyarrow as pa

    kinds = {each.name: _type(pa, str(each.type)) for each in fields(result.sections()["estimates"])}
    columns = [pa.array([getattr(row, name) for row in result.estimates], kinds[name]) for name in kinds]
    facts = ("weir", "title", "file", "fingerprint", "seed", "time_unit", "interrupted")
    metadata = {f"weir.{key}": str(result.document.get(key)) for key in facts}
    schema = pa.schema([(name.rstrip("_"), kind) for name, kind in kinds.items()], metadata)
    return pa.Table.from_arrays(columns, schema=schema)


def _type(pa: Any, kind: str) -> Any:  # noqa: ANN401 - pyarrow ships no types
    """Return the Arrow type of a column, from the annotation of its field."""
    simple = {"float": pa.float64, "int": pa.int64, "bool": pa.bool_}
    return simple.get(kind.removesuffix(" | None"), pa.string)()


def pandas(table: pa.Table) -> pd.DataFrame:
    """Return a table as a pandas data frame, whose whole numbers may be missing."""
    import pandas as pd

    kinds = {"int64": "Int64", "double": "float64"}
    wanted = {each.name: kinds[str(each.type)] for each in table.schema if str(each.type) in kinds}
    return pd.DataFrame(table.to_pydict()).astype(wanted)


def polars(table: pa.Table) -> pl.DataFrame:
    """Return a table as a Polars data frame."""
    import polars as pl

    frame = pl.from_arrow(table)
    if not isinstance(frame, pl.DataFrame):
        raise TypeError("a table became something else than a data frame")
    return frame
