"""The compiled part of weir; use the package `weir`, which re-exports what is public."""

from typing import Final, final

__all__ = ["Queue", "__version__", "disciplines"]

__version__: Final[str]
"""Version of the compiled module, which is the version of the package."""

def disciplines() -> str:
    """Return all disciplines in the order of the listings.

    Returns
    -------
    str
        A JSON list of objects with ``name``, ``kind``, ``title``, ``rule``, ``source``, ``work``,
        ``parameters`` and ``example``.
    """

@final
class Queue:
    """A message discipline over handles, behind a lock; the core of `weir.Queue`.

    Times are in nanoseconds, sizes in a unit of the caller's. A time before the latest one seen counts
    as the latest.

    Parameters
    ----------
    spec : str
        A spec string of a message discipline.

    Raises
    ------
    ConfigError
        If the spec is refused.
    """

    def __new__(cls, spec: str) -> Queue: ...
    def enqueue(
        self, handle: int, size: int, flow: int, class_: int, now: int
    ) -> tuple[bool, list[tuple[int, str]]]:
        """Take a handle.

        Returns
        -------
        preempts : bool
            Whether it outranks the item of the open grant.
        dropped : list of (handle, reason)
            What the discipline dropped.

        Raises
        ------
        ConfigError
            If ``size`` is not from 1 to 2**40.
        """

    def dequeue(self, now: int) -> int | None:
        """Return the next handle, served whole at this instant; None if nothing can be served.

        Raises
        ------
        GrantError
            If a grant is open.
        """

    def take(self, now: int) -> tuple[int, int, int] | None:
        """Open a grant.

        Returns
        -------
        handle, quantum, remaining : int
            Or None if nothing can be served now.

        Raises
        ------
        GrantError
            If a grant is open.
        """

    def charge(self, handle: int, used: int, now: int) -> None:
        """Charge ``used`` more to the open grant, which goes on.

        Raises
        ------
        GrantError
            If the grant of ``handle`` is not open.
        ConfigError
            If more is used than remains.
        """

    def requeue(self, handle: int, used: int, now: int) -> list[tuple[int, str]]:
        """Close the open grant over an item of which something remains.

        Returns
        -------
        list of (handle, reason)
            What the discipline dropped.

        Raises
        ------
        GrantError
            If the grant of ``handle`` is not open.
        ConfigError
            If more is used than remains, or nothing would remain.
        """

    def finish(self, handle: int, used: int | None, now: int) -> None:
        """Close the open grant; its item leaves, whole unless ``used`` says otherwise.

        Raises
        ------
        GrantError
            If the grant of ``handle`` is not open.
        ConfigError
            If more is used than remains.
        """

    def backlog(self) -> tuple[int, int]:
        """Return the items waiting and their sizes together, without the item of an open grant."""
