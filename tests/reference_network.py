"""The network of the SFQ report, straight from its rules: one link after the other, in whole nanoseconds.

It shares nothing with the engine but the result's shape, and is slow: some seconds for one experiment. Tests
hold the engine against it, and take its documents where they need the result of a network.
"""

import math
import random
from collections import deque
from dataclasses import dataclass, field

SECOND = 1_000_000_000
T1 = 1.344e6
SIZE = 782
TICK = SECOND // 100
MEANS = {60: 0.007692, 95: 0.004902, 20: 0.023256}
OVERHEAD = {"fifo": 143_000, "sfq": 252_000, "fq": 252_000}
JITTER = 100_000  # uniform, to either side
FORWARD, FORWARD_JITTER, HOST = 500_000, 300_000, 300_000
RING = 2
ETHERNET = (10e6, 0)

LINKS = {
    "SRI-AMES": 500_000,
    "LAWTAIL-AMES": 500_000,
    "LBL-LA": 5_000_000,
    "AMES-LA": 2_500_000,
    "LA-ANT": 500_000,
    "LA-DC": 24_500_000,
    "DC-MALARKY": 500_000,
    "DC-DART5": 7_000_000,
    "DC-DART3": 9_500_000,
    "MALARKY-DC": 500_000,
    "DC-LA": 24_500_000,
    "LA-AMES": 2_500_000,
    "AMES-SRI": 500_000,
}
"""Propagation of every line, by name; an order in which each link stands after those that feed it."""
ORDER = tuple(LINKS)
PATHS = {
    "Dartnet1 to Malarky": ("SRI-AMES", "AMES-LA", "LA-DC", "DC-MALARKY"),
    "LBL to Dart3": ("LBL-LA", "LA-DC", "DC-DART3"),
    "Lawndart to Dart5": ("LAWTAIL-AMES", "AMES-LA", "LA-DC", "DC-DART5"),
    "MM6 to Ant": ("SRI-AMES", "AMES-LA", "LA-ANT"),
    "Lawndart to Ant": ("LAWTAIL-AMES", "AMES-LA", "LA-ANT"),
    "MM6 to Dart5": ("SRI-AMES", "AMES-LA", "LA-DC", "DC-DART5"),
    "Malarky to Dartnet1": ("MALARKY-DC", "DC-LA", "LA-AMES", "AMES-SRI"),
}
EXPERIMENTS = {
    "fair": {
        "Dartnet1 to Malarky": (0, 60),
        "Lawndart to Dart5": (0, 60),
        "LBL to Dart3": (0, 60),
        "MM6 to Ant": (0, 60),
    },
    "starve": {"Lawndart to Ant": (0, 95), "MM6 to Dart5": (0, 20), "Dartnet1 to Malarky": (0, 20)},
    "degrade": {
        "Dartnet1 to Malarky": (0, 60),
        "LBL to Dart3": (30, 60),
        "Lawndart to Dart5": (60, 60),
        "MM6 to Ant": (90, 60),
    },
    "resource": {"Lawndart to Ant": (0, 95), "MM6 to Dart5": (0, 20), "Malarky to Dartnet1": (0, 95)},
}
LENGTH = 245
"""Seconds that every stream lasts."""


def bsd_random():
    """Yield the numbers of the 4.3BSD ``random()`` with its default seed."""
    state = [1]
    for _ in range(30):
        state.append((1103515245 * state[-1] + 12345) % 2**32)
    front, rear = 3, 0

    def step():
        nonlocal front, rear
        state[front] = (state[front] + state[rear]) % 2**32
        value = state[front] >> 1
        front, rear = (front + 1) % 31, (rear + 1) % 31
        return value

    for _ in range(310):
        step()
    while True:
        yield step()


def departures(per_cent):
    """Return the departures of a stream since its start, in nanoseconds, before the clock's tick."""
    time, made = 0.0, []
    for value in bsd_random():
        time -= MEANS[per_cent] * math.log((value + 1) / 2**31)
        if time >= LENGTH:
            return made
        made.append(round(time * SECOND))
    return made


@dataclass
class Queues:
    """Packet-by-packet turns over queues of 100 packets; FIFO is one queue."""

    place: object
    """The queue of a stream."""
    waiting: dict = field(default_factory=dict)
    turns: deque = field(default_factory=deque)

    def push(self, packet):
        place = self.place(packet[0])
        queue = self.waiting.setdefault(place, deque())
        if len(queue) >= 100:
            return False
        if not queue:
            self.turns.append(place)
        queue.append(packet)
        return True

    def pop(self):
        if not self.turns:
            return None
        place = self.turns.popleft()
        queue = self.waiting[place]
        packet = queue.popleft()
        if queue:
            self.turns.append(place)
        return packet


def carry(arrivals, queues, overhead, noise):
    """Send packets over one T1 line; return those that got through with the end of their transmission."""
    ends, sent = deque(), []
    line = SIZE * 8 * SECOND / T1

    def start(now):
        packet = queues.pop()
        if packet is not None:
            begin = max(now, ends[-1]) if ends else now
            ends.append(begin + round(line + overhead + noise.uniform(-JITTER, JITTER)))
            sent.append((ends[-1], packet))

    for now, packet in arrivals:
        while ends and ends[0] <= now:
            start(ends.popleft())
        if queues.push(packet) and len(ends) < RING:
            start(now)
    while ends:
        start(ends.popleft())
    return sent


def simulate(experiment, kind, queues_of, seed, phases=None):
    """Return each stream's packets as (sent, delivered or None), in order of sending.

    ``queues_of`` gives the queues of a link by its name, ``phases`` the first tick of a stream's host in
    nanoseconds, 0 where it has none.
    """
    noise = random.Random(seed)  # noqa: S311 - a simulation
    flows = EXPERIMENTS[experiment]
    phases = phases or {}

    def tick(name, at):
        phase = phases.get(name, 0)
        return phase + max(0, -(-(at - phase) // TICK)) * TICK

    sent = {
        name: [tick(name, start * SECOND + at) for at in departures(rate)]
        for name, (start, rate) in flows.items()
    }
    ethernet = round(SIZE * 8 * SECOND / ETHERNET[0])
    inputs = {}  # by link: one list of (time, packet) an input, in order
    for name in flows:
        wire = 0 if name.startswith("LBL") else ethernet
        inputs.setdefault(PATHS[name][0], []).append(
            [(at + HOST + wire, (name, i)) for i, at in enumerate(sent[name])]
        )
    delivered = {name: [None] * len(each) for name, each in sent.items()}
    for link in ORDER:
        arrivals = []
        for each in inputs.pop(link, []):
            release = 0
            for at, packet in each:
                wait = FORWARD + round(noise.expovariate(1 / FORWARD_JITTER))
                if packet[0].startswith("LBL") and link == "LBL-LA":
                    wait = 0
                release = max(release, at + wait)
                arrivals.append((release, packet))
        arrivals.sort(key=lambda each: each[0])
        extra = 16_000 if link == "LA-DC" and kind != "fifo" else 0
        by_next = {}
        for end, packet in carry(arrivals, queues_of(link), OVERHEAD[kind] + extra, noise):
            name, index = packet
            at = end + LINKS[link]
            path = PATHS[name]
            where = path.index(link)
            if where + 1 < len(path):
                by_next.setdefault(path[where + 1], []).append((at, packet))
            else:
                wait = FORWARD + round(noise.expovariate(1 / FORWARD_JITTER)) + ethernet + HOST
                delivered[name][index] = at + wait
        for following, packets in by_next.items():
            inputs.setdefault(following, []).append(packets)
    return {name: list(zip(sent[name], delivered[name], strict=True)) for name in flows}


def fifo(_link):
    return Queues(lambda _name: 0)


def fair(_link):
    return Queues(lambda name: name)


def colliding(pairs):
    """Return a function for `simulate`: those streams share a queue at those links (None: at all)."""

    def of(link):
        def place(name):
            for where, one, other in pairs:
                if where in {None, link} and name == other:
                    return one
            return name

        return Queues(place)

    return of


DARTNET_MM6 = (None, "Dartnet1 to Malarky", "MM6 to Ant")
FROZEN = (("SRI-AMES", *DARTNET_MM6[1:]), ("LA-DC", "LBL to Dart3", "Lawndart to Dart5"))


def figures(packets, low, high):
    """Return offer, throughput (bit/s), mean and variance of delay of packets sent from low to high (s)."""
    chosen = [(at, got) for at, got in packets if low * SECOND <= at < high * SECOND]
    delays = [(got - at) / SECOND for at, got in chosen if got is not None]
    bits = SIZE * 8 / (high - low)
    mean = sum(delays) / len(delays) if delays else None
    variance = sum((each - mean) ** 2 for each in delays) / len(delays) if delays else None
    return len(chosen) * bits, len(delays) * bits, mean, variance
