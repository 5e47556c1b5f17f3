"""What was published: a document's folder under ``reproduce``, its tables and its scenarios.

A wheel has a copy of ``reproduce`` as ``weir/reproduce/published``.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from weir.errors import ConfigError
from weir.files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import DataclassInstance

    RowT = TypeVar("RowT", bound=DataclassInstance)

__all__ = ["Published"]

_HERE = Path(__file__).resolve()
_FOLDERS = (_HERE.parents[4] / "reproduce", _HERE.parents[1] / "published")
"""Where the documents are: in a clone of the repository, and in an installation."""
_READ: dict[str, Callable[[str], object]] = {
    "str": str,
    "int": int,
    "float": float,
    "float | None": lambda text: float(text) if text else None,
}
"""How a column is read, by what its field is declared as."""


@dataclass(frozen=True, slots=True)
class Published:
    """The files of one document."""

    name: str

    def folder(self) -> Path:
        """Return the folder of the published tables.

        Raises
        ------
        ConfigError
            If it was removed.
        """
        found = (folder / self.name for folder in _FOLDERS if (folder / self.name).is_dir())
        path = next(found, None)
        if path is None:
            missing = str(_FOLDERS[-1] / self.name)
            raise ConfigError("the published tables are not there", "install weir again", missing)
        return path

    def records(self, file: str) -> list[dict[str, str]]:
        """Return the rows of a table as they stand there."""
        return list(csv.DictReader(read_text(self.folder() / file).splitlines()))

    def rows(
        self, kind: type[RowT], file: str, columns: Mapping[str, str] | None = None, **given: object
    ) -> tuple[RowT, ...]:
        """Return the rows of a table, in its order.

        A field is ``given``, or read from the column of its name, or from the one that ``columns`` says.
        """
        renamed = columns or {}
        read = [
            (each.name, renamed.get(each.name, each.name), _READ[str(each.type)])
            for each in fields(kind)
            if each.name not in given
        ]
        return tuple(
            kind(**{name: make(record[column]) for name, column, make in read}, **given)
            for record in self.records(file)
        )

    def table(
        self, kind: type[RowT], file: str, columns: Mapping[str, str] | None = None
    ) -> Callable[[], tuple[RowT, ...]]:
        """Return what reads a table once, when it is first asked for."""
        return cache(partial(self.rows, kind, file, columns))

    def template(self, file: str) -> dict[str, Any]:
        """Return a scenario, to be changed by `weir.reproduce.engine.series.changed`."""
        return tomllib.loads(_text(self.folder() / file))


@cache
def _text(path: Path) -> str:
    return read_text(path)
