"""A result as a file: JSON, a page, or its figures as a table, as the name ends; never half-written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.errors import ConfigError
from weir.files import replacing, write_text

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from weir.results.result import Result

__all__ = ["FORMS", "save", "save_table"]


def save(result: Result, path: Path) -> None:
    """Write a result in the form that the file's name asks for; without an ending, JSON.

    Raises
    ------
    ConfigError
        If the name ends otherwise, or the file cannot be written.
    """
    form = path.suffix or ".json"
    if form not in _WRITERS:
        raise ConfigError(
            f"the file is {path}, must end in one of {', '.join(FORMS)}",
            f"write `{path.stem}.json`, which is read again, or `{path.stem}.csv`, the figures as a table",
        )
    _WRITERS[form](result, path)


def save_table(table: pa.Table, path: Path) -> None:
    """Write an Arrow table as CSV or Parquet, as its name ends."""
    from pyarrow import csv, parquet

    with replacing(path) as part:
        if path.suffix == ".csv":
            csv.write_csv(table, part)
        else:
            parquet.write_table(table, part)


def _save_json(result: Result, path: Path) -> None:
    text = result.to_json()
    write_text(path, text if text.endswith("\n") else text + "\n")


def _save_html(result: Result, path: Path) -> None:
    from weir.results import page

    page.write(result, path)


def _save_table(result: Result, path: Path) -> None:
    save_table(result.to_arrow(), path)


_WRITERS = {".json": _save_json, ".html": _save_html, ".csv": _save_table, ".parquet": _save_table}
FORMS = tuple(_WRITERS)
"""How the name of a file may end."""
