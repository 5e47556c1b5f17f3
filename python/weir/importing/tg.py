"""Scenarios from scripts in the TG traffic language.

A script says when packets leave, not what they meet. The scenario therefore adds the plainest network there
is, one router with a slow link behind it, for its reader to change.
"""

from __future__ import annotations

import json
import os
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.files import read_text
from weir.toml import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DISCIPLINES", "LASTING", "RANDOM", "RATE", "facts", "scenario"]

RATE = "10Mbit"
"""The rate of the slow link, where none is given."""
DISCIPLINES = ("fifo:limit=100pkt", "sfq:queues=127,depth=100pkt")
"""What the scenario compares: the plainest there is, and one that keeps streams apart."""
LASTING = "60s"
"""How long a script runs that has no end of its own."""
RANDOM = ("independent", "compatible")
"""Where random numbers come from: the project's streams, or TG's own sequence, the same for all streams."""
_LONGEST = 100_000
"""Seconds that the scenario runs at most: its series has a step a second, and no more are kept."""
_MOST_PACKETS = 4e9
"""Packets that a flow of the network has at most."""
_UNITS = {"ns": -9, "us": -6, "ms": -3, "s": 0}
_DURATION = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(ns|us|ms|s)")
_FASTER = 10
"""The link of the sender has this many times the rate, so that packets meet at the router."""


def facts(script: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a script says, as `weir._weir.tg_parse` does.

    Raises
    ------
    ConfigError
        If the file cannot be read.
    TraceError
        If the script is refused.
    """
    from weir import _weir

    path = Path(script)
    if not path.exists():
        raise ConfigError("does not exist", "name an existing TG script", str(path))
    if not path.is_file():
        raise ConfigError("is not a file", "name a TG script", str(path))
    told: dict[str, Any] = json.loads(_weir.tg_parse(read_text(path), str(path)))
    return told


def scenario(
    script: str | os.PathLike[str],
    *,
    folder: str | os.PathLike[str] = ".",
    rate: str = RATE,
    random: str = RANDOM[0],
    duration: str | None = None,
) -> str:
    """Return a scenario in which the stream of a script crosses one router and one slow link.

    Parameters
    ----------
    script : path
        The script; the scenario names it and does not copy it.
    folder : path
        Where the scenario will be: the script is named relative to it.
    rate : str
        The rate of the slow link, such as ``"10Mbit"``.
    random : str
        ``"independent"`` or ``"compatible"``.
    duration : str, optional
        When the sending ends, such as ``"60s"``; by default with the script, or after `LASTING` past the
        beginning of its last traffic where it has no end of its own.

    Returns
    -------
    str
        The scenario, as TOML with comments.

    Raises
    ------
    ConfigError
        If a value is refused, or the script sends nothing that a network carries.
    TraceError
        If the script is refused.
    """
    slow, fast = _rates(rate)
    _check_options(random, duration)
    told = facts(script)
    _check_sends(told, str(script))
    duration = duration or _ending(told, str(script))
    _check_packets(Path(script), duration)
    traffic = {"file": os.path.relpath(script, folder), "random": random}
    text = dumps(
        {
            "weir": 1,
            "model": "network",
            "title": f"The stream of {Path(script).name}",
            "seed": 1,
            "disciplines": list(DISCIPLINES),
            "network": _network(told),
            "link": [
                {"between": ["sender", "router"], "rate": fast},
                {"between": ["router", "receiver"], "rate": slow},
            ],
            "flow": [{"from": "sender", "to": "receiver", "tg": traffic}],
            "stop": {"duration": duration},
            "measure": {"series": "1s"},
        }
    )
    return "".join(f"# {line}\n" for line in _remarks(told, Path(script).name)) + text


def _check_options(random: str, duration: str | None) -> None:
    if random not in RANDOM:
        raise ConfigError(f"random is {random!r}, must be one of {', '.join(RANDOM)}", "use one of them")
    if duration is not None and not _is_duration(duration):
        raise ConfigError(
            f"duration is {duration!r}, must be a time with its unit, in whole nanoseconds and from 1ns to "
            f"{_LONGEST}s",
            "write it as in `60s`",
        )


def _is_duration(text: str) -> bool:
    return 1 <= _nanoseconds(text) <= _LONGEST * 10**9


def _nanoseconds(text: str) -> int:
    """Return a time with its unit in nanoseconds; 0 if it is none, or of parts of one."""
    parts = _DURATION.fullmatch(text)
    nanoseconds = Decimal(parts[1]).scaleb(_UNITS[parts[2]] + 9) if parts else Decimal(0)
    return int(nanoseconds) if nanoseconds % 1 == 0 else 0


def _rates(rate: str) -> tuple[str, str]:
    """Return the rates of the slow link and of the sender's."""
    parts = re.fullmatch(r"([0-9]{1,15})(bit|kbit|Mbit|Gbit)", rate)
    if parts is None or int(parts[1]) == 0:
        raise ConfigError(
            f"rate is {rate!r}, must be a rate above 0 with its unit", "write it as in `10Mbit`"
        )
    return rate, f"{int(parts[1]) * _FASTER}{parts[2]}"


def _check_sends(told: dict[str, Any], file: str) -> None:
    if told["server"] is not None:
        remedy = "import the script of the sender; a flow needs none at its destination"
        raise ConfigError("the script is of a server, which only receives", remedy, file)
    if told["protocol"] == "test":
        raise ConfigError("the protocol is test, which sends nothing", "write `udp` and an address", file)
    if not told["bursts"]:
        raise ConfigError("the script sends nothing", "add an action with `arrival` and `length`", file)


def _check_packets(script: Path, duration: str) -> None:
    """Refuse more packets than a network simulates."""
    from weir import _weir

    packets = _weir.tg_packets(read_text(script), str(script), _nanoseconds(duration))
    if packets > _MOST_PACKETS:
        raise ConfigError(
            f"the script sends about {packets:.1e} packets in {duration}, at most {_MOST_PACKETS:.0e} are "
            "simulated",
            "raise its `arrival`, lower its `time`, or say `--duration` with less",
            str(script),
        )


def _network(told: dict[str, Any]) -> dict[str, Any]:
    addresses = {"sender": told["local"], "receiver": told["remote"]}
    return {
        "hosts": ["sender", "receiver"],
        "routers": ["router"],
        "addresses": {host: address for host, address in addresses.items() if address is not None},
    }


def _ending(told: dict[str, Any], file: str) -> str:
    """Return when the script ends, or when to end it."""
    end: float | None = told["end"]
    if end is None:
        end = max(burst["at"] or 0.0 for burst in told["bursts"]) + float(LASTING.removesuffix("s"))
    if not 1e-9 <= end <= _LONGEST:
        message = f"the script ends at {end:.10g} s, and a scenario of it from 1 ns to {_LONGEST} s"
        raise ConfigError(message, "give its traffic a `time`, or say `--duration 60s`", file)
    return _time(end)


def _time(seconds: float) -> str:
    return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"


def _remarks(told: dict[str, Any], name: str) -> Iterator[str]:
    """Yield what a reader has to know who compares the scenario with the script."""
    yield f"Made from {json.dumps(name)} by `weir import tg`."
    yield "The network is a guess: nodes, rates and disciplines are yours to change."
    if told["end"] is None:
        yield "The script has no end that is known beforehand: stop.duration ends it."
    if told["protocol"] == "tcp":
        yield "The script sends over TCP. Its packets leave here on schedule, whatever becomes of them."
    if told["responses"]:
        yield "Responses are not simulated."
    if told["qualities"]:
        yield f"Not simulated: {', '.join(told['qualities'])}."
