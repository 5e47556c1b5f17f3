"""The extras: what weir does only with packages that a plain installation leaves out.

Runs, tables on a terminal, JSON and the queue need none of them. Whatever needs one says so with `need`
before it begins; the packages themselves are loaded where they are used. ``pyproject.toml`` says which
versions; a test holds both lists together.
"""

from __future__ import annotations

from importlib.util import find_spec

from weir.errors import MissingExtraError

__all__ = ["EXTRAS", "has", "need"]

EXTRAS = {
    "charts": ("altair", "vl_convert"),
    "parquet": ("pyarrow",),
    "pandas": ("pyarrow", "pandas"),
    "polars": ("pyarrow", "polars"),
    "dask": ("pyarrow", "distributed"),
    "trace": ("perfetto",),
    "live": ("numpy", "pyroute2"),
}
"""The modules that each extra brings, in the order in which they are missed."""


def has(extra: str) -> bool:
    """Whether the packages of an extra are installed."""
    return _missing(extra) is None


def need(extra: str, what: str) -> None:
    """Refuse ``what``, a noun with its article, if the packages of its extra are not installed.

    Raises
    ------
    MissingExtraError
        With the command that installs them.
    """
    module = _missing(extra)
    if module is not None:
        raise MissingExtraError(
            f"{what} needs the package {module}, which is not installed",
            f"run `pip install 'weir[{extra}]'`",
        )


def _missing(extra: str) -> str | None:
    return next((module for module in EXTRAS[extra] if find_spec(module) is None), None)
