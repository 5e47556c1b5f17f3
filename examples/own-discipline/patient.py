"""Shortest first, but whoever has waited for a minute is next: a discipline of one's own for `weir`."""

import heapq
from itertools import count

PATIENCE = 60.0


class Patient:
    """Shortest first, with limited patience."""

    def __init__(self):
        self.by_size, self.by_arrival = [], []
        self.waiting, self.numbers = set(), count()

    def enqueue(self, now, item):
        number = next(self.numbers)
        self.waiting.add(number)
        heapq.heappush(self.by_size, (item.size, number, item))
        heapq.heappush(self.by_arrival, (item.arrival, number, item))

    def dequeue(self, now):
        for line in (self.by_arrival, self.by_size):
            while line and line[0][1] not in self.waiting:
                heapq.heappop(line)
        if not self.waiting:
            return None
        late = now - self.by_arrival[0][0] > PATIENCE
        _, number, item = heapq.heappop(self.by_arrival if late else self.by_size)
        self.waiting.remove(number)
        return item
