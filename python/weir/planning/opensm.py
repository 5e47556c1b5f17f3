"""Options files of OpenSM, the subnet manager of InfiniBand: judged, and made into requests and scenarios."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError
from weir.planning.read import exact_text_of

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

__all__ = ["CODINGS", "FORMS", "LANES", "PREFIXES", "Port", "convert", "lint", "tables"]

LANES = (1, 2, 4, 8, 15)
"""Data lanes that a port can have."""
PREFIXES = ("qos", "qos_ca", "qos_rtr", "qos_sw0", "qos_swe")
"""With which the names of options begin: all ports, adapters, routers, port 0 and other ports of switches."""
CODINGS = ("none", "8b/10b", "64b/66b", "128b/130b")
"""How data are coded on a line."""
FORMS = ("plan", "scenario")
"""What an options file is made into: a request for `weir plan`, or a scenario of the fabric."""
_KIND = "an options file of OpenSM"
_MOST_ENTRIES = 64
_SIZES = {"B": 1, "kB": 1000, "KiB": 1024}
_RATES = {"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9}
_MOST_MTU = 65536
_MOST_RATE = 10**15  # bit/s


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """The port that is to be programmed.

    Attributes
    ----------
    mtu : str
        The largest packet.
    capacity : int
        Entries of its low table, and of its high table unless ``high_capacity`` says otherwise.
    high_capacity : int, optional
        Entries of its high table.
    lanes : int
        Data lanes that it has: 1, 2, 4, 8 or 15.
    """

    mtu: str = "2048B"
    capacity: int = 8
    high_capacity: int | None = None
    lanes: int = 8

    def numbers(self) -> dict[str, int]:
        """Return the port as the engine takes it.

        Raises
        ------
        ConfigError
            If a value is out of its bounds.
        """
        high = self.capacity if self.high_capacity is None else self.high_capacity
        for name, value in (("capacity", self.capacity), ("high_capacity", high)):
            if not 1 <= value <= _MOST_ENTRIES:
                raise ConfigError(
                    f"{name} is {value}, must be from 1 to {_MOST_ENTRIES}",
                    "write what `smpquery portinfo` calls VLArbLowCap and VLArbHighCap",
                )
        if self.lanes not in LANES:
            known = ", ".join(map(str, LANES))
            raise ConfigError(
                f"lanes is {self.lanes}, must be one of {known}",
                "write what `smpquery portinfo` calls OperVLs",
            )
        mtu = _quantity("mtu", self.mtu, _SIZES, "2048B")
        if not 1 <= mtu <= _MOST_MTU:
            raise ConfigError(f"mtu is {self.mtu}, must be from 1B to {_MOST_MTU}B", "write `--mtu 2048B`")
        return {
            "mtu": mtu,
            "high_capacity": high,
            "low_capacity": self.capacity,
            "lanes": self.lanes,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the port as a JSON object."""
        return asdict(self)


def lint(file: str | os.PathLike[str], port: Port | None = None) -> list[dict[str, Any]]:
    """Return what is wrong with an options file on a port, by line; it is read as OpenSM 3.3.23 reads it.

    Each finding has ``severity`` (``"error"``, ``"warning"`` or ``"note"``), ``rule``, ``option``, ``line``,
    ``column``, ``what``, ``why`` and ``remedy``.

    Raises
    ------
    ConfigError
        If the file cannot be read, or a value of the port is out of its bounds.
    PlanError
        If no line of the file has an option of OpenSM.
    """
    from weir import _weir

    numbers = (port or Port()).numbers()
    told = _weir.opensm_lint(exact_text_of(file, _KIND), str(file), **numbers)
    findings: list[dict[str, Any]] = json.loads(told)
    return findings


def tables(file: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """Return the options that hold for each kind of port, by prefix, as OpenSM reads them.

    Each has ``own`` (whether the file sets any of its options), ``max_vls`` (which limits nothing), ``lanes``
    (the most data lanes in operation, by ``max_op_vls``), ``high_limit``, ``high`` and ``low`` (pairs of lane
    and weight, not yet modulo 15 and 256) and ``sl2vl`` (lanes, not yet modulo 16).

    Raises
    ------
    ConfigError
        If the file cannot be read.
    PlanError
        If no line of it has an option of OpenSM.
    """
    from weir import _weir

    told: dict[str, dict[str, Any]] = json.loads(_weir.opensm_tables(exact_text_of(file, _KIND), str(file)))
    return told


def convert(
    file: str | os.PathLike[str],
    form: str = FORMS[0],
    *,
    port: Port | None = None,
    prefix: str | None = None,
    rate: str = "10Gbit",
    coding: str = "8b/10b",
) -> str:
    """Return a request or a scenario made of an options file, as TOML with comments.

    Parameters
    ----------
    file : path
        The options file.
    form : str
        One of `FORMS`.
    port : Port, optional
        What reaches its tables is converted.
    prefix : str, optional
        One of `PREFIXES`; by default the first that the file sets.
    rate, coding : str
        Of the links; a file does not say.

    Raises
    ------
    ConfigError
        If the file cannot be read, sets no table, has one that OpenSM does not read as it is written, or
        serves no lane, or if a value is out of its bounds.
    PlanError
        If no line of the file has an option of OpenSM.
    """
    from weir import _weir

    for name, value, known in (("as", form, FORMS), ("coding", coding, CODINGS)):
        if value not in known:
            raise ConfigError(f"{name} is {value!r}, must be one of {', '.join(known)}", "use one of them")
    bits = _quantity("rate", rate, _RATES, "10Gbit")
    if not 1 <= bits <= _MOST_RATE:
        raise ConfigError(f"rate is {rate}, must be above 0 and at most 1000000Gbit", "write `--rate 10Gbit`")
    numbers = (port or Port()).numbers()
    text = exact_text_of(file, _KIND)
    if prefix is None:
        prefix = next((name for name, told in tables(file).items() if told["own"]), PREFIXES[0])
    if prefix not in PREFIXES:
        raise ConfigError(f"prefix is {prefix!r}, must be one of {', '.join(PREFIXES)}", "use one of them")
    return _weir.opensm_import(
        text, str(file), prefix, form == "scenario", **numbers, rate_bits=bits, coding=coding
    )


def _quantity(name: str, text: str, units: Mapping[str, int], example: str) -> int:
    parts = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([A-Za-z]+)", text)
    if parts is None or parts[2] not in units:
        raise ConfigError(
            f"{name} is {text!r}, must be a number with its unit ({', '.join(units)})",
            f"write it as in `{example}`",
        )
    value = Fraction(parts[1]) * units[parts[2]]
    if value.denominator != 1:
        raise ConfigError(f"{name} is {text}, finer than one {next(iter(units))}", "round it")
    return int(value)
