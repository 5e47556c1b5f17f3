"""weir: who is served next at a point of contention, and what that does to everybody's waiting time."""

from weir._weir import __version__

__all__ = ["__version__"]
