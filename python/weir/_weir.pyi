"""The compiled part of weir; use the package `weir`, which re-exports what is public."""

from typing import Final

__all__ = ["__version__"]

__version__: Final[str]
"""Version of the compiled module, which is the version of the package."""
