"""The message port of the alpha report, as its listing runs it: naive, slow, for few packets.

One server hands out instants; every queue gives one packet at each. A queue is a linear list, as in the
original: a message is placed by scanning it. Written from the description of the model, sharing nothing with
the engines, to be an independent oracle. Times are floats in mean packet services.
"""

import bisect
import itertools
import math
import random
from dataclasses import dataclass

LENGTHS = (1, 2, 3, 4, 5, 20)
SHARES = (0.18, 0.18, 0.18, 0.18, 0.18, 0.10)
SHORTEST_FIRST = 1e6


@dataclass
class Message:
    """A message in a queue: when it came, what remains, and its priority; the lowest is served first."""

    at: float
    length: int
    remaining: int
    priority: float = 0.0


class ListQueue:
    """The queue of the listing under one strategy: ``fifo``, ``rr``, ``rr_head``, ``sf`` or ``alpha:K``."""

    def __init__(self, spec):
        self.spec = spec
        self.alpha = SHORTEST_FIRST if spec == "sf" else float(spec.partition(":")[2] or 0)
        self.tick = 0
        self.waiting = []
        self.latencies = []

    def insert(self, message):
        message.priority = 0 if self.spec == "rr_head" else self.alpha * message.remaining + self.tick
        if self.waiting and self.waiting[0].priority > message.priority:
            self.waiting.insert(0, message)
            return
        place = 1
        while place < len(self.waiting) and self.waiting[place].priority <= message.priority:
            place += 1
        self.waiting.insert(place, message)

    def take(self, now):
        """Accept one packet of the head at ``now``."""
        self.tick += 1
        head = self.waiting[0]
        head.remaining -= 1
        head.priority -= self.alpha
        if head.remaining == 0:
            self.waiting.pop(0)
            self.latencies.append((head.at, head.length, now - head.at))
        elif self.spec in {"rr", "rr_head"}:
            head.priority = self.tick
            self.waiting.append(self.waiting.pop(0))

    @property
    def packets(self):
        return sum(message.remaining for message in self.waiting)


def arrivals(load, messages, seed):
    """Yield (time, length): Poisson, the first at 0, with the lengths of the report."""
    random_ = random.Random(f"arrivals {seed}")  # noqa: S311 - a simulation
    gap = sum(map(math.prod, zip(LENGTHS, SHARES, strict=True))) / load
    now = 0.0
    for _ in range(messages):
        yield now, random_.choices(LENGTHS, SHARES)[0]
        now += random_.expovariate(1 / gap)


def services(seed):
    """Yield packet services: 0.5 plus an exponential of mean 0.5."""
    random_ = random.Random(f"services {seed}")  # noqa: S311 - a simulation
    while True:
        yield 0.5 + random_.expovariate(2.0)


def simulate(specs, incoming, service, period=200.0):
    """Run all strategies on the same arrivals and services until everything is served.

    Returns
    -------
    queues : list of ListQueue
        With ``latencies`` as (arrival, length, latency), in order of completion.
    samples : list of int
        Packets waiting at each multiple of ``period``.
    end : float
        When the server last became free.
    """
    queues = [ListQueue(spec) for spec in specs]
    samples = []
    free = 0.0
    pending = next(incoming, None)
    while pending is not None or queues[0].waiting:
        now = free if queues[0].waiting else max(free, pending[0])
        while pending is not None and (pending[0] < now or not queues[0].waiting):
            _sample(samples, queues[0], pending[0], period)
            for queue in queues:
                queue.insert(Message(pending[0], pending[1], pending[1]))
            pending = next(incoming, None)
        _sample(samples, queues[0], now, period)
        for queue in queues:
            queue.take(now)
        free = now + next(service)
    return queues, samples, free


def _sample(samples, queue, until, period):
    """Take the samples due up to an event, at which the queue is still what it was."""
    while (len(samples) + 1) * period <= until:
        samples.append(queue.packets)


class Batches:
    """Sums over windows of time, for means with standard errors and paired differences."""

    def __init__(self, end, count=40):
        self.edges = [end * i / count for i in range(1, count)]
        self.count = count
        self.sums = {}

    def add(self, key, at, value):
        batch = bisect.bisect(self.edges, at)
        cell = self.sums.setdefault(key, [[0, 0.0] for _ in range(self.count)])[batch]
        cell[0] += 1
        cell[1] += value

    def mean(self, key):
        """Return mean, standard error, count, and the residual of every batch."""
        cells = self.sums.get(key)
        if cells is None:
            return None
        count, total = (sum(column) for column in zip(*cells, strict=True))
        value = total / count
        residuals = [(part - value * n) * self.count / count for n, part in cells]
        return value, self._error(residuals), count, residuals

    def _error(self, residuals):
        return math.sqrt(sum(each * each for each in residuals) / (self.count - 1) / self.count)

    def difference(self, key, base):
        mine, theirs = self.mean(key), self.mean(base)
        paired = [a - b for a, b in zip(mine[3], theirs[3], strict=True)]
        ratio = mine[0] / theirs[0] if theirs[0] else None
        scaled = (
            []
            if ratio is None
            else [(a - ratio * b) / theirs[0] for a, b in zip(mine[3], theirs[3], strict=True)]
        )
        beside = (ratio, None if ratio is None else self._error(scaled))
        return (mine[0] - theirs[0], self._error(paired)), beside


STUDENT_39 = 2.022690920036762
"""The 97.5 % point of Student's distribution at 39 degrees of freedom, for 40 batches."""


def interval(value, error):
    return {"low": value - STUDENT_39 * error, "high": value + STUDENT_39 * error}


def result(specs, load, messages, seed, reference="sf", period=200.0):
    """Return a simulation as a result document, with what a reproduction reads."""
    queues, samples, end = simulate(specs, arrivals(load, messages, seed), services(seed), period)
    batches = Batches(end)
    for spec, (at, length, latency) in ((queue.spec, each) for queue in queues for each in queue.latencies):
        for name in ("all", f"{length}pkt"):
            batches.add((spec, name, "latency"), at, latency)
    for index, packets in enumerate(samples):
        batches.add((None, "all", "queue"), (index + 1) * period, packets)
    names = ["all", *(f"{length}pkt" for length in LENGTHS)]
    keys = [(None, "all", "queue"), *((spec, name, "latency") for spec in specs for name in names)]
    pairs = [(spec, name) for spec in specs for name in names if spec != reference]
    return {
        "load": load,
        "seed": seed,
        "disciplines": list(specs),
        "reference": reference,
        "interrupted": False,
        "ticks": queues[0].tick,
        "messages": messages,
        "unfinished": 0,
        "duration": end,
        "estimates": [estimate(batches, key) for key in keys],
        "differences": list(
            itertools.starmap(lambda spec, name: difference(batches, spec, reference, name), pairs)
        ),
    }


def estimate(batches, key):
    found = batches.mean(key)
    row = dict(zip(("discipline", "class", "metric"), key, strict=True)) | {
        "flow": None,
        "statistic": "mean",
        "unit": "u",
    }
    if found is None:
        absent = dict.fromkeys(("value", "low", "high", "standard_error"))
        return row | absent | {"count": 0, "reason": "no message of this class"}
    value, error, count, _ = found
    return (
        row
        | {"value": value, "standard_error": error, "count": count, "reason": None}
        | interval(value, error)
    )


def difference(batches, spec, reference, name):
    row = {
        "discipline": spec,
        "reference": reference,
        "class": name,
        "metric": "latency",
        "statistic": "mean",
        "unit": "u",
    }
    keys = ((spec, name, "latency"), (reference, name, "latency"))
    if any(batches.mean(key) is None for key in keys):
        absent = ("value", "low", "high", "ratio", "ratio_low", "ratio_high", "ratio_standard_error")
        return row | dict.fromkeys(absent) | {"reason": "no message of this class"}
    (value, error), (ratio, ratio_error) = batches.difference(*keys)
    row |= {"value": value, "ratio": ratio, "ratio_standard_error": ratio_error, "reason": None}
    ends = {"low": None, "high": None} if ratio is None else interval(ratio, ratio_error)
    return row | interval(value, error) | {f"ratio_{name}": end for name, end in ends.items()}
