"""Logs of generators: what became of each packet of a flow.

The format is that of ``crates/weir-traffic/src/tg/log``: a header, and records of 32 bytes. A log without its
last record was cut, which is refused here, for its figures would be wrong. A packet was sent when the kernel
took it, where the log tells, and else when the generator handed it over. Who was refused by the kernel and
tried again was sent.

Units: nanoseconds since the generator's start, as they were measured.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

__all__ = ["Packets", "pair"]

_MAGIC, _FIXED, _RECORD = b"WEIRTGLG", 16, 32
_TRANSMIT, _RECEIVE, _ERROR, _LEFT, _END = 3, 4, 5, 7, 255
_NO_BUFFERS = 105
_HEADERS = 32
"""What a packet has besides the user's data: headers of IP and UDP, and its number."""


@dataclass(frozen=True, slots=True, eq=False)
class Packets:
    """The packets of a flow in the order of sending."""

    due: np.ndarray[Any, Any]
    """When each was due, in nanoseconds after the generator's start."""
    late: np.ndarray[Any, Any]
    """How much later it left."""
    size: np.ndarray[Any, Any]
    """Bytes with headers."""
    delay: np.ndarray[Any, Any]
    """From sending to arrival; not a number where it did not arrive."""
    reordered: int
    """Packets that arrived after one that was sent later."""
    again: int
    """Arrivals of packets that had arrived before."""
    unsent: int
    """Packets that the sender's kernel refused for good."""
    no_room: int
    """Packets that reached the host and found no room in its socket."""


def pair(source: Path, sink: Path) -> Packets:
    """Read the logs of the two ends of a flow.

    Raises
    ------
    ConfigError
        If one of them is no log, or was cut.
    """
    import numpy as np

    sender, sent = _read(source)
    receiver, received = _read(sink)
    left = sent[sent["kind"] == _TRANSMIT]
    came = received[received["kind"] == _RECEIVE]
    shift = int(receiver["start"]) - int(sender["start"])
    place, known = _places(left, came)
    when = came["time"][known] + shift
    delay = np.full(len(left), np.nan)
    first = np.unique(place, return_index=True)[1]
    delay[place[first]] = when[first] - _departures(sent, left)[place[first]]
    in_order = place[np.sort(first)]
    latest = np.maximum.accumulate(in_order) if len(in_order) else in_order
    errors = received[(received["kind"] == _ERROR) & (received["errno"] == _NO_BUFFERS)]
    return Packets(
        due=left["other"],
        late=np.maximum(0, left["time"] - left["other"]),
        size=left["length"].astype(np.int64) + _HEADERS,
        delay=delay,
        reordered=int((in_order < latest).sum()),
        again=len(place) - len(first),
        unsent=_unsent(sent, left),
        no_room=int(errors["other"].sum()),
    )


def _places(
    left: np.ndarray[Any, Any], records: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the places of packets that records are of, and which of the records are of any."""
    import numpy as np

    place = np.searchsorted(left["number"], records["number"])
    known = place < len(left)
    known[known] = left["number"][place[known]] == records["number"][known]
    return place[known], known


def _departures(sent: np.ndarray[Any, Any], left: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return when packets were sent: when the kernel took them, where it has reported that."""
    times = left["time"].copy()
    taken = sent[sent["kind"] == _LEFT]
    place, known = _places(left, taken)
    times[place] = taken["time"][known]
    return times


def _unsent(sent: np.ndarray[Any, Any], left: np.ndarray[Any, Any]) -> int:
    """Return how many packets had an error and were never sent after all."""
    import numpy as np

    failed = np.unique(sent["number"][sent["kind"] == _ERROR])
    return int((~np.isin(failed, left["number"])).sum())


def _read(path: Path) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """Return header and records of a log."""
    import numpy as np

    content = path.read_bytes()
    if content[:8] != _MAGIC:
        raise ConfigError("it is not a log", "name a log written by `weird tg --log`", str(path))
    length = int.from_bytes(content[12:_FIXED], "little")
    header: dict[str, Any] = json.loads(content[_FIXED : _FIXED + length])
    fields = [
        ("time", "<i8"),
        ("other", "<i8"),
        ("number", "<u4"),
        ("length", "<u4"),
        ("address", "V4"),
        ("port", "<u2"),
        ("kind", "u1"),
        ("errno", "u1"),
    ]
    rest = content[_FIXED + length :]
    records = np.frombuffer(rest, dtype=np.dtype(fields), count=len(rest) // _RECORD)
    if not len(records) or records["kind"][-1] != _END:
        raise ConfigError("it was cut: it has no last record", "take the log of another run", str(path))
    return header, records
