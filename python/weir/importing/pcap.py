"""Scenarios from packet captures: pcap and pcapng.

A capture becomes a schedule, a CSV file with the time, size, flow, direction, protocol and code point of
every packet; addresses and ports are left out unless asked for. The scenario sends what the capture has in
the direction of each flow's first packet over one link, each of the largest flows on its own and the rest
together.

The class of a flow is the name of its code point where it has one (``ef``, ``af41``); else it goes by the
port of its service, the lower of the two:

=============  ==========================================================================
control        102, 179, 502, 2404, 4840, 20000, 44818, 47808 (plants and routing)
interactive    22, 23, 53, 123, 3389, 3478, 5060, 5061
web            80, 443, 8080, 8443
bulk           20, 21, 25, 139, 445, 873, 989, 990, 2049, 3260
other          all else
=============  ==========================================================================

A replay is open loop: a packet leaves when it left then, whatever the link does to those before it.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from weir.errors import ConfigError
from weir.files import place, replacing
from weir.importing.source import check_capture, read, stopped_at_once
from weir.importing.targets import folder
from weir.text import plural
from weir.toml import dumps

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["FLOWS", "LOAD", "Imported", "class_of", "write"]

FLOWS = 64
"""How many flows are replayed on their own, where nothing else is said."""
MOST_FLOWS = 512
LOAD = 0.8
"""The mean load of the link, where no rate is given."""
_LEAST_RATE = 1000  # bit/s
_MOST_BANDS = 16
_FRAME = 1522  # bytes of an Ethernet frame with a tag, as captured and with its check sequence
_KINDS = 4  # EtherTypes named in a note
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 47: "gre", 50: "esp", 58: "icmpv6", 132: "sctp"}
_PORTS = {
    "control": (102, 179, 502, 2404, 4840, 20000, 44818, 47808),
    "interactive": (22, 23, 53, 123, 3389, 3478, 5060, 5061),
    "web": (80, 443, 8080, 8443),
    "bulk": (20, 21, 25, 139, 445, 873, 989, 990, 2049, 3260),
}
_SERVICES = {port: name for name, ports in _PORTS.items() for port in ports}
_CODE_POINTS = {
    **{8 * level: f"cs{level}" for level in range(1, 8)},
    **{8 * level + 2 * drop: f"af{level}{drop}" for level in range(1, 5) for drop in range(1, 4)},
    1: "le",
    44: "va",
    46: "ef",
}
_LOW = ("other", "rest", "bulk", "cs1", "le")
# The most urgent first, for disciplines that know a rank.
_RANKS = (
    *("cs7", "cs6", "ef", "va", "cs5"),
    *("af41", "af42", "af43", "cs4", "af31", "af32", "af33", "cs3"),
    *("cs2", "af21", "af22", "af23", "af11", "af12", "af13"),
    *("control", "interactive", "web"),
)


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an import has written, and what the capture holds.

    Attributes
    ----------
    scenario, schedule : Path
        The files. Where some flows are replayed together, ``rest`` is the file of their packets.
    facts : dict
        What `weir._weir.import_capture` tells of the capture.
    rate : str
        The rate of the link.
    """

    scenario: Path
    schedule: Path
    rest: Path | None
    facts: dict[str, Any]
    rate: str

    @property
    def notes(self) -> list[str]:
        """What is to be known before the schedule is relied on, a line each."""
        return list(_notes(self.facts))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as a JSON object."""
        return {
            "scenario": str(self.scenario),
            "schedule": str(self.schedule),
            "rest": self.rest and str(self.rest),
            "rate": self.rate,
            "notes": self.notes,
            "capture": self.facts,
        }


def write(
    capture: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    rate: str | None = None,
    flows: int = FLOWS,
    addresses: bool = False,
    progress: Callable[[Mapping[str, float]], object] | None = None,
) -> Imported:
    """Write the schedule of a capture and a scenario that replays it, whole or not at all.

    Parameters
    ----------
    capture : path
        A pcap or pcapng file; may be compressed by gzip, and may come through a pipe.
    out : path
        The scenario, if it ends in ``.toml``; the schedule is then next to it, ``NAME.packets.csv``. Else a
        folder, in which they are called ``scenario.toml`` and ``packets.csv``. Existing files are
        replaced.
    rate : str, optional
        The rate of the link, such as ``"10Mbit"``; by default one that the replay loads to `LOAD`.
    flows : int
        How many flows are replayed on their own.
    addresses : bool
        Whether the schedule has addresses and ports.
    progress : callable, optional
        Called some times a second with ``done`` and ``total``, in bytes of the capture.

    Raises
    ------
    CaptureError
        If the capture is refused.
    ConfigError
        If a value is refused, or a file cannot be written.
    KeyboardInterrupt
        At Ctrl-C; nothing is written then.
    """
    _check_options(rate, flows)
    piped = check_capture(Path(capture))
    files = _targets(Path(out))
    with ExitStack() as parts:
        if files.scenario.parent == Path(out):
            parts.enter_context(folder(Path(out)))
        if piped:
            parts.enter_context(stopped_at_once())
        # Renamed in the reverse order: the scenario last, once all that it names is there.
        scenario_part = parts.enter_context(replacing(files.scenario))
        schedule_part = parts.enter_context(replacing(files.schedule))
        scratch = parts.enter_context(TemporaryDirectory(prefix=".", dir=files.scenario.parent))
        rest_part = Path(scratch) / "rest"
        facts = read(capture, schedule_part, rest_part, addresses, flows, progress)
        if facts["rest"]["packets"] == 0:
            files = files._replace(rest=None)
        used = rate or _rate(facts)
        scenario_part.write_text(_scenario(facts, Path(capture).name, used, files), encoding="utf-8")
        if files.rest is not None:
            place(rest_part, files.rest)
    return Imported(**files._asdict(), facts=facts, rate=used)


def _check_options(rate: str | None, flows: int) -> None:
    if not 1 <= flows <= MOST_FLOWS:
        raise ConfigError(f"flows is {flows}, must be from 1 to {MOST_FLOWS}", f"write `--flows {FLOWS}`")
    if rate is None:
        return
    parts = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(bit|kbit|Mbit|Gbit)", rate)
    if parts is None or float(parts[1]) == 0:
        raise ConfigError(
            f"rate is {rate!r}, must be a rate above 0 with its unit", "write it as in `10Mbit`"
        )


class _Targets(NamedTuple):
    """Where the files go."""

    scenario: Path
    schedule: Path
    rest: Path | None


def _targets(out: Path) -> _Targets:
    if out.suffix == ".toml":
        return _Targets(out, out.with_suffix(".packets.csv"), out.with_suffix(".rest.csv"))
    return _Targets(out / "scenario.toml", out / "packets.csv", out / "rest.csv")


def _rate(facts: Mapping[str, Any]) -> str:
    """Return a rate that the replay loads to `LOAD` or a little less, with two digits."""
    sent = sum(flow["forward"]["bytes"] for flow in facts["largest"]) + facts["rest"]["bytes"]
    seconds = max(facts["span_ns"], 1_000_000) / 1e9
    bits = max(8 * sent / seconds / LOAD, _LEAST_RATE)
    step = 10 ** (math.floor(math.log10(bits)) - 1)
    rounded = math.ceil(bits / step) * step
    return f"{rounded // 1000}kbit" if rounded % 1000 == 0 else f"{rounded}bit"


def class_of(flow: Mapping[str, Any]) -> str:
    """Return the class of a flow, by its code point or the port of its service."""
    dscp = flow["forward"]["dscp"]
    if dscp:
        return _CODE_POINTS.get(dscp, f"dscp{dscp}")
    return _SERVICES.get(flow["service_port"], "other")


def _rank(name: str) -> tuple[int, str]:
    """Return where a class stands among others; code points without a name come before all without one."""
    if name in _RANKS:
        return 2 * _RANKS.index(name), name
    if name in _LOW:
        return 2 * (len(_RANKS) + _LOW.index(name)), name
    return 2 * _RANKS.index("control") - 1, name


def _scenario(facts: Mapping[str, Any], name: str, rate: str, files: _Targets) -> str:
    flows = list(_flows(facts, files.schedule.name, None if files.rest is None else files.rest.name))
    classes = sorted({flow["class"] for flow in flows}, key=_rank)
    bands = min(len(classes), _MOST_BANDS)
    document = {
        "weir": 1,
        "model": "network",
        "title": f"Replay of {name}",
        "seed": 1,
        "disciplines": [
            "fifo:limit=100pkt",
            "sfq:queues=127,depth=100pkt",
            "drr:quantum=1514B,limit=100pkt",
            "fq_codel",
            f"priority(fifo(limit=100pkt),bands={bands})",
        ],
        "network": {"hosts": ["sender", "receiver"], "classes": classes},
        "link": [{"from": "sender", "to": "receiver", "rate": rate}],
        "flow": flows,
        # The last packet is to leave before the end.
        "stop": {"duration": f"{facts['span_ns'] // 1_000_000 + 1}ms"},
    }
    return "".join(f"# {line}\n" for line in _remarks(facts, name)) + dumps(document)


def _flows(facts: Mapping[str, Any], schedule: str, rest: str | None) -> Iterator[dict[str, Any]]:
    columns = {"time": "t_ns", "time_unit": "ns", "size": "frame_bytes"}
    for flow in sorted(facts["largest"], key=lambda flow: int(flow["flow"])):
        number, protocol = flow["flow"], flow["ip_proto"]
        yield {
            "name": f"flow {number} {_PROTOCOLS.get(protocol, f'protocol {protocol}')}",
            "from": "sender",
            "to": "receiver",
            "class": class_of(flow),
            "trace": {"file": schedule, **columns, "keep": {"flow": str(number), "dir": "f"}},
        }
    if rest is not None:
        yield {
            "name": plural(facts["flows"] - len(facts["largest"]), "other flow"),
            "from": "sender",
            "to": "receiver",
            "class": "rest",
            "start": f"{facts['rest']['first_ns']}ns",
            "trace": {"file": rest, **columns},
        }


def _remarks(facts: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield what a reader has to know who compares the scenario with the capture."""
    yield f"Made from {json.dumps(name)} by `weir import pcap`."
    yield "Replays what went in the direction of each flow's first packet. Packets leave when they left then,"
    yield "whatever the link does to those before them. Classes stand in order of rank, the most urgent"
    yield "first; rate, disciplines and classes are yours to change. Sizes are as captured: for Ethernet,"
    yield '`overhead = "24B"` of the link adds check sequence, preamble and gap.'
    yield from _notes(facts)


def _notes(facts: Mapping[str, Any]) -> Iterator[str]:
    notes = facts["notes"]
    if notes["cut_at_byte"] is not None:
        yield f"The file ends within the record at byte {notes['cut_at_byte']}: what is before it was read."
    without = sum(notes["without_ip"].values())
    if without:
        kinds = ", ".join(_largest_kinds(notes["without_ip"]))
        yield f"Left out: {plural(without, 'frame')} without IP ({kinds})."
    if notes["unreadable"]:
        yield f"Left out: {plural(notes['unreadable'], 'frame')} of which no addresses were captured."
    if notes["without_time"]:
        yield f"Left out: {plural(notes['without_time'], 'packet')} without a time."
    if notes["stepped_back"]:
        step = notes["longest_step_ns"] / 1e6
        count = plural(notes["stepped_back"], "packet")
        yield f"{count} came before the one above, by up to {step:.6g} ms, and took its time."
    if notes["fragments"]:
        yield f"Fragments, in flows of their own without ports: {notes['fragments']:,}."
    if facts["largest_frame"] > _FRAME:
        largest = f"{facts['largest_frame']:,} bytes"
        yield f"Frames of up to {largest}: jumbo frames, or captured before the interface divided them."


def _largest_kinds(kinds: Mapping[str, int]) -> Iterator[str]:
    """Yield the most frequent EtherTypes."""
    names = {"0x0000": "no EtherType", "0x0806": "ARP", "0x8847": "MPLS", "0x88cc": "LLDP"}
    ordered = sorted(kinds.items(), key=lambda kind: -kind[1])
    for kind, count in ordered[:_KINDS]:
        yield f"{names.get(kind, kind)} {count:,}"
    if len(ordered) > _KINDS:
        yield "and others"
