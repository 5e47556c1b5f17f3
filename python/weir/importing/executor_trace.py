"""A recorded run of weir-exec as a Perfetto trace, for the timeline of ui.perfetto.dev.

In it are, below one process that is called as the recording:

- ``worker N``: a slice for each poll, named after the task;
- one track a task: a slice for each poll, ``level N`` or ``poll``, and an instant where it becomes ready.

Times are nanoseconds since the executor began. The file appears when it is complete.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any

from weir._weir import read_recording, recorded_events
from weir.errors import ConfigError
from weir.extras import need
from weir.files import replacing
from weir.models.node.trace import ENDING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["MOST_EVENTS", "check", "write"]

MOST_EVENTS = 5_000_000
"""Events that a trace holds; those behind are left out."""
_NUMBERS = 4
_READY, _NO_LEVEL = 128, -128
_SEQUENCE = 1
_CLEARED = 1


def check(path: Path) -> None:
    """Refuse a name that no trace has.

    Raises
    ------
    ConfigError
        If it does not end in ``.pftrace``.
    """
    if path.suffix != ENDING:
        raise ConfigError(
            f"a trace goes to a file that ends in {ENDING}, not `{path.suffix}`",
            f"write `--trace {path.stem or 'run'}{ENDING}`",
            str(path),
        )


def write(file: Path, path: Path) -> int:
    """Write a recording as a Perfetto trace, and return how many events it holds.

    Parameters
    ----------
    file : Path
        The recording.
    path : Path
        Ends in ``.pftrace``; an existing file is replaced.

    Raises
    ------
    TraceError
        If nothing of the recording can be read.
    ConfigError
        If the name ends otherwise, or the file cannot be written.
    """
    check(path)
    need("trace", "a Perfetto trace")
    text, _ = read_recording(file, 0)
    facts, events = json.loads(text), array("q")
    events.frombytes(recorded_events(file, MOST_EVENTS))
    from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

    with replacing(path) as part, part.open("wb") as out:
        builder = StreamingTraceProtoBuilder(out)
        made = _Trace(builder.create_packet, facts)
        for packet in (*made.tracks(file.name), *made.events(events)):
            builder.write_packet(packet)
    return len(events) // _NUMBERS


class _Trace:
    """Makes packets: track 1 is the recording, then workers, then tasks."""

    def __init__(self, create: Any, facts: dict[str, Any]) -> None:  # noqa: ANN401 - made at run time
        self._create = create
        self._tasks = facts["tasks"]
        self._workers = facts["workers"]

    def _packet(self) -> Any:  # noqa: ANN401 - made at run time
        packet = self._create()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet

    def tracks(self, name: str) -> Iterator[Any]:
        """Yield a packet for each track."""
        first = self._packet()
        first.sequence_flags = _CLEARED
        descriptor = first.track_descriptor
        descriptor.uuid = 1
        descriptor.process.pid = 1
        descriptor.process.process_name = name
        descriptor.child_ordering = descriptor.EXPLICIT
        yield first
        names = [f"worker {number}" for number in range(self._workers)]
        names += [task["name"] for task in self._tasks]
        for place, track in enumerate(names):
            packet = self._packet()
            descriptor = packet.track_descriptor
            descriptor.uuid = place + 2
            descriptor.parent_uuid = 1
            descriptor.name = track
            descriptor.sibling_order_rank = place
            descriptor.sibling_merge_behavior = descriptor.SIBLING_MERGE_BEHAVIOR_NONE
            yield packet

    def events(self, events: array[int]) -> Iterator[Any]:
        """Yield what is on the tracks, in order of time; a slice ends before another begins."""
        end, moment, begin = range(3)
        made: list[tuple[int, int, int, str]] = []
        for place in range(0, len(events), _NUMBERS):
            task, since, until, level = events[place : place + _NUMBERS]
            own = self._workers + task
            if level == _READY:
                made.append((since, moment, own, "ready"))
            elif since < until:
                kind = "poll" if level == _NO_LEVEL else f"level {level}"
                tracks = ((self._tasks[task]["worker"], self._tasks[task]["name"]), (own, kind))
                for track, name in tracks:
                    made += ((since, begin, track, name), (until, end, track, ""))
        for at, order, track, name in sorted(made):
            packet = self._packet()
            packet.timestamp = at
            event = packet.track_event
            event.track_uuid = track + 2
            event.type = (event.TYPE_SLICE_END, event.TYPE_INSTANT, event.TYPE_SLICE_BEGIN)[order]
            if order != end:
                event.name = name
            yield packet
