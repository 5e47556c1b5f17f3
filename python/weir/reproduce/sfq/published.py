"""The published tables and claims, as read from ``reproduce/sfq``.

Source: *A Report on Stochastic Fairness Queueing (SFQ) Experiments*, SRI, March 1993, Tables 1 to 11.
Offers and throughputs are in per cent of 1.344 Mb/s, delays in seconds, intervals in seconds from the start
of the first stream, by the time of sending.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from weir.reproduce.engine.published import Published

FILES = Published("sfq")
folder = FILES.folder

CAPACITY = 1.344e6
"""What per cent are of, in bit/s."""
TABLES = tuple(range(1, 12))
QUANTITIES = ("throughput", "delay")
"""What is held against the simulation, cell by cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table: a stream in one run of the report, in one interval of sending time."""

    table: int
    stream: str
    run: str
    discipline: str
    start: float
    end: float
    offer: float
    throughput: float
    delay: float
    variance: float

    @property
    def key(self) -> str:
        """What names the row in checks."""
        return f"{self.table}/{self.run}/{self.stream}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedClaim:
    """A claim of the report's text, with what its own tables say of it."""

    id: str
    section: str
    text: str
    holds: str
    evidence: str


_COPIED = (
    "the row repeats the FIFO row in all four figures; Table 6 has 25.71 % and 2.2667 s for the same run, "
    "and throughputs over LA-DC would add to 91.4 %"
)
_TRANSPOSED = (
    "with MM6 at 48.68 % the saturated AMES-LA line would carry 92.5 %, elsewhere 97.0 %; digits "
    "transposed, 48.32"
)
_LATE = (
    "the window runs past 275 s, when the queue at LA-DC drains: the variance is six times that of a clean "
    "window, and the offer 61.29 % where the exact one is 61.85 %"
)
_DIGIT = (
    "likely 2.3364, one digit: Lawndart and LBL wait in queues of their own behind the same line to DC, and "
    "what they differ by is 0.973 s in Table 7 of the same run; as printed it would be 0.840 s"
)
_BOUNDARY = "the window of this run begins or ends elsewhere: sfq31 has 61.47 %, the exact offer is 61.46 %"

ARTEFACTS: dict[tuple[int, str, str, str], str] = {
    (7, "sfq41", "Lawndart to Dart5", "throughput"): _COPIED,
    (7, "sfq41", "Lawndart to Dart5", "delay"): _COPIED,
    (9, "fifo31", "Lawndart to Dart5", "throughput"): _TRANSPOSED,
    (6, "sfq31", "Lawndart to Dart5", "delay"): _DIGIT,
    (8, "fifo31", "Lawndart to Dart5", "delay"): _LATE,
    (8, "fifo31", "Lawndart to Dart5", "offer"): _LATE,
    (3, "fifo31", "Dartnet1 to Malarky", "offer"): _BOUNDARY,
    (3, "sfq41", "Dartnet1 to Malarky", "offer"): _BOUNDARY,
}
"""Why a printed value is not what the run gave, by table, run, stream and quantity."""

SUGGESTED: dict[tuple[int, str, str, str], float] = {
    (7, "sfq41", "Lawndart to Dart5", "throughput"): 26.0,
    (7, "sfq41", "Lawndart to Dart5", "delay"): 2.27,
    (9, "fifo31", "Lawndart to Dart5", "throughput"): 48.32,
    (6, "sfq31", "Lawndart to Dart5", "delay"): 2.3364,
}
"""What stood there before the fault, as the rest of the tables suggests."""


_COLUMNS = {
    "run": "experiment",
    "start": "interval_start",
    "end": "interval_end",
    "offer": "offer_pct",
    "throughput": "throughput_pct",
    "delay": "delay_s",
    "variance": "delay_var",
}


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows of all tables, in the order of print."""
    return tuple(
        row for table in TABLES for row in FILES.rows(Row, f"table{table:02}.csv", _COLUMNS, table=table)
    )


claims = FILES.table(PublishedClaim, "claims.csv", {"text": "claim"})
"""The claims of the text, in its order."""
