"""An InfiniBand subnet without hardware: the fabric of ``ibsim``, programmed by a real OpenSM.

``ibsim`` answers management datagrams as switches and adapters do; its library stands in for the kernel's.
OpenSM reads an options file, programs the tables, and ``smpquery`` reads them back from the ports. Debian has
them in ``opensm``, ``ibsim-utils`` and ``infiniband-diags``. Ports of the simulator hold 8 + 8 entries and
have 8 data lanes; the limit of the high table reads as 0 from them whatever OpenSM is told.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Self

PROGRAMS = ("ibsim", "opensm", "smpquery")
PACKAGES = "opensm ibsim-utils infiniband-diags"
PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
# Two switches, so that a table between switches is read too.
TOPOLOGY = """\
Switch 8 "Switch1"
[1] "Host1"[1]
[2] "Host2"[1]
[8] "Switch2"[8]

Switch 8 "Switch2"
[1] "Host3"[1]
[8] "Switch1"[8]

Hca 1 "Host1"
[1] "Switch1"[1]

Hca 1 "Host2"
[1] "Switch1"[2]

Hca 1 "Host3"
[1] "Switch2"[1]
"""
PORTS = {
    "interface of Host1": ("0", 1),
    "Switch1 to Host2": ("0,1", 2),
    "Switch1 to Switch2": ("0,1", 8),
    "Switch2 to Host3": ("0,1,8", 1),
}


def library() -> Path | None:
    """Return the library that stands in for the kernel's, if it is installed."""
    return next(Path("/usr/lib").glob("**/libumad2sim.so"), None)


def missing() -> str | None:
    """Return what is missing to run a subnet, with the remedy, or None."""
    absent = [program for program in PROGRAMS if shutil.which(program, path=PATH) is None]
    absent += [] if library() else ["libumad2sim.so"]
    return f"{', '.join(absent)} missing: apt install {PACKAGES}" if absent else None


@dataclass(frozen=True)
class Arbitration:
    """What a port holds: pairs of lane and weight, and how many it has room for."""

    low: list[tuple[int, int]]
    high: list[tuple[int, int]]
    low_capacity: int
    high_capacity: int


class Subnet:
    """A running fabric; its end ends the processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        socket = f"weir-{uuid.uuid4().hex[:12]}"
        self.environment = os.environ | {
            "PATH": PATH,
            "IBSIM_SOCKNAME": socket,
            "SIM_HOST": "Host1",
            "OSM_TMP_DIR": str(folder),
            "OSM_CACHE_DIR": str(folder),
        }
        topology = folder / "topology"
        topology.write_text(TOPOLOGY)
        with (folder / "ibsim.log").open("wb") as log:
            self.process = subprocess.Popen(
                ["ibsim", "-n", "-s", topology],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._await(f"@{socket}:ctl")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def _await(self, socket: str) -> None:
        deadline = time.monotonic() + 20
        while socket not in Path("/proc/net/unix").read_text():
            log = (self.folder / "ibsim.log").read_text(errors="replace")
            assert self.process.poll() is None, f"ibsim ended: {log}"
            assert time.monotonic() < deadline, f"ibsim does not answer: {log}"
            time.sleep(0.02)

    def _simulated(self, *command: str | Path) -> str:
        environment = self.environment | {"LD_PRELOAD": str(library())}
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        assert ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
        return ended.stdout

    def program(self, options: Path) -> str:
        """Let OpenSM sweep the subnet once with an options file; return its log."""
        log = self.folder / "opensm.log"
        log.unlink(missing_ok=True)
        self._simulated("opensm", "-o", "-F", options, "-f", log)
        return log.read_text(errors="replace")

    def arbitration(self, port: str) -> Arbitration:
        """Read the tables of one of ``PORTS`` back."""
        path, number = PORTS[port]
        text = self._simulated("smpquery", "-D", "vlarb", path, str(number))
        capacities = re.search(r"LowCap (\d+) HighCap (\d+)", text)
        assert capacities, text
        low, high = text.split("# High priority")
        return Arbitration(_pairs(low), _pairs(high), int(capacities[1]), int(capacities[2]))

    def service_levels(self, port: str) -> list[int]:
        """Read the lane of each service level back, from one of ``PORTS`` that is of an adapter."""
        path, number = PORTS[port]
        text = self._simulated("smpquery", "-D", "sl2vl", path, str(number))
        row = next(line for line in text.splitlines() if line.startswith("ports:"))
        return [int(cell) for cell in row.rpartition(":")[2].strip(" |").split("|")]

    def lanes(self, port: str) -> dict[str, str]:
        """Read the attributes of one of ``PORTS`` that speak of virtual lanes."""
        path, number = PORTS[port]
        text = self._simulated("smpquery", "-D", "portinfo", path, str(number))
        return dict(re.findall(r"^(\w*VL\w*):\.*(\S+)$", text, re.MULTILINE))


def _pairs(table: str) -> list[tuple[int, int]]:
    """Return the pairs of lane and weight; one block of the table follows another."""
    read = {name: re.findall(rf"^{name}\s*:(.*)$", table, re.MULTILINE) for name in ("VL", "WEIGHT")}
    lanes, weights = (
        [int(cell, 16) for line in read[name] for cell in line.strip(" |").split("|")] for name in read
    )
    return list(zip(lanes, weights, strict=True))
