"""Flows of a scenario as scripts in the TG language: what generators can send, and how they are given it.

A packet of TG has 32 bytes besides the user's data: headers of IP and UDP, and its number. Gaps and sizes of
a scenario therefore become a script with lengths less 32 bytes, whose laws TG must know.

Source: ``docs/tg.md``. Units: seconds and bytes, as scripts have them; times of the scenario, not scaled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.importing import tg
from weir.live import quantities

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Sending", "check", "mean_size", "sink", "source"]

_BESIDE = 32
"""IP and UDP headers, and the number of the packet."""
_LARGEST = 1500
_ASSOCIATION = re.compile(r"on\s+\S+\s+udp\s+\S+(?:\s+[0-9]+(?:\.[0-9]+){4})?")
_SENT = {
    "trace": "packets of a trace cannot be sent by scripts; write `gap` and `size`, or a TG script",
    "tcp": "a transfer that adapts is simulated alone, real ones are of another kernel; use `gap` or `rate`",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """What a script is made of: the flow's table, when it sends, to which address and port."""

    name: str
    table: dict[str, Any]
    start: int
    stop: int
    address: str
    """As TG has it: ``10.0.0.1.4000``."""
    folder: Path


def check(flow: dict[str, Any], file: str) -> None:
    """Refuse a flow that no script can send.

    Raises
    ------
    ConfigError
        If it is a trace, a TCP transfer, or of gaps or sizes whose law TG does not have.
    """
    name = flow.get("name") or f"{flow['from']} to {flow['to']}"
    for key, remedy in _SENT.items():
        if key in flow:
            raise ConfigError(f"flow {name} is of `{key}`, which a testbed does not send", remedy, file)
    if "size" in flow:
        try:
            _lengths(flow["size"])
        except ValueError as error:
            remedy = "write sizes from 32B to 1500B, constant, uniform or `bounded_exponential`"
            raise ConfigError(f"flow {name}: {error}", remedy, file) from error
    if "gap" in flow:
        try:
            _gaps(flow)
        except ValueError as error:
            remedy = "write gaps that are constant, uniform, exponential, `bounded_exponential` or `markov2`"
            raise ConfigError(f"flow {name}: {error}", remedy, file) from error


def source(sending: Sending) -> str:
    """Return the script of the host that sends."""
    table = sending.table
    if "tg" in table:
        told = tg.facts(sending.folder / table["tg"]["file"])
        tg_checked(told, sending)
        text, count = _ASSOCIATION.subn(f"on 1 udp {sending.address}", str(told["text"]), count=1)
        if count != 1:
            raise ValueError(text)
        return text
    lasting = quantities.seconds(max(0, sending.stop - sending.start))
    packets = f" packet {table['packets']}" if "packets" in table else ""
    arrival, length = _gaps(table), _lengths(table["size"])
    return f"on 1 udp {sending.address}\narrival {arrival} length {length}{packets} time {lasting}\n"


def tg_checked(told: dict[str, Any], sending: Sending) -> None:
    """Refuse a script that is of another protocol, or sends packets that the wires do not take."""
    file = str(sending.folder / sending.table["tg"]["file"])
    if told["protocol"] != "udp":
        message = f"the script of flow {sending.name} is of {told['protocol']}, a testbed sends UDP"
        raise ConfigError(message, "write `udp` after `on`", file)
    if (told["largest_size"] or 0) > _LARGEST:
        message = f"its largest packet has {told['largest_size']}B, a wire takes at most {_LARGEST}B"
        raise ConfigError(message, f"write lengths of at most {_LARGEST - _BESIDE} bytes", file)


def sink(sending: Sending) -> str:
    """Return the script of the host that receives; it waits until it is asked to end."""
    return f"on 1 udp {sending.address} server rcvwin 4194304\nwait\n"


def mean_size(sending: Sending) -> Fraction:
    """Return the mean size of a packet, in bytes with headers."""
    table = sending.table
    if "tg" not in table:
        return _mean(table["size"], quantities.size)
    bursts = tg.facts(sending.folder / table["tg"]["file"])["bursts"]
    lengths = [Fraction(burst["mean_length"]) for burst in bursts if burst["mean_length"]]
    return sum(lengths, Fraction()) / len(lengths) + _BESIDE if lengths else Fraction(_BESIDE)


def _gaps(table: dict[str, Any]) -> str:
    if "rate" in table:
        mean = _mean(table["size"], quantities.size) * 8 / quantities.rate(table["rate"])
        return f"exponential {float(mean):.12g}"
    return _law(table["gap"], _seconds, _seconds)


def _seconds(text: str, *, bounded: bool = True) -> str:
    del bounded  # a gap may be as long as it will
    return quantities.seconds(quantities.nanoseconds(text))


def _lengths(law: Any) -> str:  # noqa: ANN401 - a size or a table
    """Return a law of sizes as one of user's data."""
    return _law(law, _data, _mean_of_data)


def _data(text: str) -> str:
    size = quantities.size(text)
    if not _BESIDE <= size <= _LARGEST:
        raise ValueError(f"a size is {text}, must be from {_BESIDE}B to {_LARGEST}B")
    return str(size - _BESIDE)


def _mean_of_data(text: str, *, bounded: bool) -> str:
    """Return the mean of an exponential law, which stays what it is where its bounds are shifted."""
    if not bounded:
        raise ValueError("sizes of an exponential law have no largest")
    return str(quantities.size(text))


def _law(law: Any, word: Any, mean: Any) -> str:  # noqa: ANN401 - a quantity or a table
    """Return a law in the words of TG: ``word`` writes a value, ``mean`` the mean of an exponential law."""
    if isinstance(law, str):
        return f"constant {word(law)}"
    (kind, value), *_ = law.items()
    match kind:
        case "constant":
            return f"constant {word(value)}"
        case "exponential":
            return f"exponential {mean(value, bounded=False)}"
        case "uniform":
            return f"uniform {word(value[0])} {word(value[1])}"
        case "bounded_exponential":
            return f"exponential {mean(value[0], bounded=True)} {word(value[1])} {word(value[2])}"
        case "markov2":
            states = " ".join(f"{number:g} {_law(state, word, mean)}" for number, state in value)
            return f"markov2 {states}"
    raise ValueError(f"the law `{kind}` is not one of TG")


def _mean(law: Any, read: Any) -> Fraction:  # noqa: ANN401 - a quantity or a table
    """Return the mean of a law; of a bounded exponential one, the middle of its bounds at most."""
    if isinstance(law, str):
        return Fraction(read(law))
    (kind, value), *_ = law.items()
    match kind:
        case "uniform":
            return Fraction(read(value[0]) + read(value[1]), 2)
        case "bounded_exponential":
            return _bounded_mean(*(float(read(each)) for each in value))
        case "markov2":
            (first, one), (second, other) = value
            weights = Fraction(first), Fraction(second)
            return (weights[0] * _mean(one, read) + weights[1] * _mean(other, read)) / sum(weights)
    return Fraction(read(value))


def _bounded_mean(mean: float, low: float, high: float) -> Fraction:
    """Return the mean of an exponential law of a mean, given that it is from ``low`` to ``high``."""
    from math import exp

    weights = exp(-low / mean), exp(-high / mean)
    if weights[0] == weights[1]:
        return Fraction(low)
    return Fraction(mean + (low * weights[0] - high * weights[1]) / (weights[0] - weights[1]))
