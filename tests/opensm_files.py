"""Mutated options files, and what OpenSM itself makes of them.

``opensm -F FILE -c OUT`` reads a file, says on its standard output what it does not like, and writes every
option as it has read it, without a subnet: some 10 ms. What ports are then programmed with, a simulated
subnet shows (`simulated_subnet.Subnet`): some 200 ms.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulated_subnet import PATH

if TYPE_CHECKING:
    import random

CONFIGS = Path(__file__).resolve().parent.parent / "data" / "configs"
OWN = """\
# one of each
qos TRUE
max_op_vls 4 # 8 lanes
log_flags 0x3
qos_max_vls 8
qos_high_limit 0x3
qos_vlarb_high 0:4
qos_vlarb_low 0:64,1:64, 2:64,7:255 # four
qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,15
qos_swe_vlarb_low '1:32,2:32'
qos_ca_high_limit -1
qos_ca_vlarb_high (null)
"""
SEEDS = (
    OWN,
    *(
        "qos TRUE\n" + (CONFIGS / f"opensm-qos-{name}.conf").read_text(encoding="utf-8")
        for name in ("defaults", "example")
    ),
)
CHARACTERS = " \t,:;#\"'-+x0123456789\n\r\x0bq_"
INSERTED = (
    " ",
    " ",
    ",",
    ":",
    "#",
    "-",
    "0x",
    "99",
    "256",
    "18446744073709551616",
    " # note",
    "\t",
    '"',
    "(null)",
)
OPTION = re.compile(
    r"(?:qos(?:_ca|_rtr|_sw0|_swe)?_(?:max_vls|high_limit|vlarb_high|vlarb_low|sl2vl))|max_op_vls"
)
COMPLAINT = re.compile(rf"(?:-E- Parsing error in field|Cached Option:?) ({OPTION.pattern})[=:, ]")


def mutated(numbers: random.Random) -> str:
    """Return one of the seeds with one to four changes, most of them where values are."""
    text = numbers.choice(SEEDS)
    for _ in range(numbers.randint(1, 4)):
        at = numbers.randrange(len(text))
        match numbers.randrange(6):
            case 0:
                text = text[:at] + numbers.choice(CHARACTERS) + text[at + 1 :]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + numbers.choice(INSERTED) + text[at:]
            case 3:
                commas = [place for place, each in enumerate(text) if each in ",:"]
                at = numbers.choice(commas) + numbers.randrange(2)
                text = text[:at] + numbers.choice(INSERTED) + text[at:]
            case 4:
                lines = text.splitlines(keepends=True)
                lines.insert(numbers.randrange(len(lines) + 1), numbers.choice(lines))
                text = "".join(lines)
            case _:
                other = numbers.randrange(len(text))
                text = text[: min(at, other)] + text[max(at, other) :] if abs(at - other) < 9 else text
    return text


@dataclass(frozen=True)
class Reading:
    """What OpenSM makes of a file.

    ``values`` are the options as they are read, by name; ``unknown`` the names that it does not know;
    ``warned`` the options of arbitration that it says something of.
    """

    values: dict[str, str]
    unknown: set[str]
    warned: set[str]


def reading(file: Path) -> Reading:
    """Let OpenSM read a file."""
    out = file.with_suffix(".out")
    out.unlink(missing_ok=True)
    program = shutil.which("opensm", path=PATH)
    assert program is not None
    ended = subprocess.run(
        [program, "-F", file, "-c", out],
        env=os.environ | {"OSM_TMP_DIR": str(file.parent), "OSM_CACHE_DIR": str(file.parent)},
        capture_output=True,
        timeout=60,
    )
    assert out.exists(), ended.stdout + ended.stderr
    log = ended.stdout.decode("utf-8", "replace")
    lines = (line.partition(" ") for line in out.read_bytes().decode("utf-8", "replace").split("\n"))
    known = {name: value for name, _, value in lines if name == "qos" or OPTION.fullmatch(name)}
    return Reading(
        values=known,
        unknown=set(re.findall(r'Unrecognized token: "(.*?)"$', log, re.MULTILINE | re.DOTALL)),
        warned=set(COMPLAINT.findall(log)),
    )


def rewritten(values: dict[str, str]) -> str:
    """Return the options that OpenSM has read as a file in which nothing can be read in two ways."""
    return "".join(
        f'{name} "{value}"\n' if name.endswith(("high", "low", "sl2vl")) else f"{name} {value}\n"
        for name, value in values.items()
    )
