"""What a queue says of the future is what happens; `remove` and `push_front` change nothing else."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weir

ROWS = weir.disciplines()
MESSAGE = [row["example"] for row in ROWS if row["kind"] == "message"] + [
    "in_order(sf)",
    "in_order(alpha:10)",
    "outstanding(alpha:10,limit=2)",
    "alpha(10,update=recalculate)",
    "in_order(alpha(2,update=recalculate))",
    "rank:size-3*waited",
    "rank(size+clock,preempt=yes)",
]
PACKET = [
    "drr:quantum=64B",
    "wfq:rate=8kbit,weights=4/1",
    "scfq:weights=2/1",
    "wf2q_plus",
    "sfq_linux",
]
UNCOPIED = ["fq(fifo)", "priority(fifo)"]

# None takes an item; a number puts one of that size; a flow follows from its place.
OPERATIONS = st.lists(st.none() | st.integers(1, 90), max_size=60)


def filled(spec: str, operations: list[int | None]) -> weir.Queue[int]:
    """A queue after these operations, one a second."""
    queue: weir.Queue[int] = weir.Queue(spec)
    for number, size in enumerate(operations):
        if size is not None:
            queue.put_nowait(number, size=size, flow=number % 3, class_=number % 2, now=float(number))
        elif not queue.empty():
            queue.get_nowait(now=float(number))
    return queue


def drained(queue: weir.Queue[int], now: float | None = None) -> list[int]:
    return [queue.get_nowait(now) for _ in range(len(queue))]


@pytest.mark.parametrize("spec", MESSAGE + PACKET)
@given(operations=OPERATIONS)
def test_iteration_is_in_the_order_in_which_all_leave(spec: str, operations: list[int | None]):
    queue = filled(spec, operations)
    told = list(queue)
    assert len(told) == len(queue)
    # The clock of the test stands far behind the real one, which the iteration has set.
    assert told == list(queue) == drained(queue)


@pytest.mark.parametrize("spec", MESSAGE + PACKET)
@given(operations=OPERATIONS, then=OPERATIONS)
def test_peek_is_the_next_that_leaves_and_changes_nothing(
    spec: str, operations: list[int | None], then: list[int | None]
):
    queue, untouched = filled(spec, operations), filled(spec, operations)
    for number, size in enumerate(then, len(operations)):
        now = float(number)
        if size is not None:
            for each in (queue, untouched):
                each.put_nowait(number, size=size, flow=number % 3, now=now)
        elif not untouched.empty():
            assert queue.peek(now) == queue.peek(now) == untouched.get_nowait(now)
            queue.get_nowait(now)
    assert drained(queue, 1e6) == drained(untouched, 1e6)


@pytest.mark.parametrize("spec", [*MESSAGE, *PACKET, *UNCOPIED])
@given(operations=OPERATIONS, seed=st.integers(0, 2**16))
def test_what_is_removed_never_comes_and_the_rest_keeps_its_order(
    spec: str, operations: list[int | None], seed: int
):
    queue, whole = filled(spec, operations), filled(spec, operations)
    order = drained(whole, 1e6)
    gone = {item for item in order if random.Random(f"{seed} {item}").random() < 0.4}  # noqa: S311
    assert all(queue.remove(item) for item in gone)
    assert not any(queue.remove(item) for item in gone)
    left = drained(queue, 1e6)
    assert sorted(left) == sorted(set(order) - gone)
    assert queue.backlog == (0, 0)
    # A fair queue serves others meanwhile, a flow's next message enters in the place of the removed, and
    # where the order is random, others are drawn.
    moves = ("outstanding", "waited", "recalculate", "ros")
    if spec in MESSAGE and not any(word in spec for word in moves):
        assert left == [item for item in order if item not in gone]


def test_what_is_removed_is_forgotten_at_once_by_a_discipline_of_messages():
    queue: weir.Queue[str] = weir.Queue("fifo:limit=2pkt")
    queue.put("a")
    queue.put("b")
    assert queue.remove("a")
    queue.put("c")
    with pytest.raises(weir.Dropped):
        queue.put("d")
    assert list(queue) == ["b", "c"]


def test_equals_are_removed_in_the_order_in_which_they_were_put():
    queue: weir.Queue[list[int]] = weir.Queue("fifo")
    first, second = [1], [1]
    queue.put(first)
    queue.put(second)
    assert queue.remove([1])
    assert queue.get() is second
    assert not queue.remove([1])


def test_the_item_of_an_open_grant_is_not_there_to_remove():
    queue: weir.Queue[str] = weir.Queue("ps:quantum=2")
    queue.put("job", size=5)
    grant = queue.take()
    assert not queue.remove("job")
    queue.requeue(grant, used=2)
    assert queue.backlog == (1, 3)
    assert queue.remove("job")
    assert queue.backlog == (0, 0)


@pytest.mark.parametrize("spec", ["sf", "drr:quantum=64B", "fq(fifo)"])
def test_sizes_of_what_is_removed_leave_the_backlog(spec: str):
    queue: weir.Queue[str] = weir.Queue(spec)
    for name, size in {"a": 5, "b": 7, "c": 11}.items():
        queue.put(name, size=size)
    assert queue.remove("b")
    assert queue.backlog == (2, 16)
    assert [queue.get(), queue.get()] == ["a", "c"]


def test_what_is_put_in_front_goes_first_and_moves_no_clock():
    queue: weir.Queue[str] = weir.Queue("alpha:10")
    queue.put("one", size=4)
    queue.push_front("back", size=9)
    queue.push_front("further", size=2)
    assert queue.backlog == (3, 15)
    assert list(queue) == ["further", "back", "one"]
    assert [queue.peek(), queue.get(), queue.get()] == ["further", "further", "back"]
    # Alpha's clock counts what was served; what was in front is not counted: 10*3 + 0 is before 10*4 + 0.
    queue.put("two", size=3)
    assert list(queue) == ["two", "one"]


def test_what_waits_in_front_outranks_the_open_grant_and_comes_back_to_the_front():
    queue: weir.Queue[str] = weir.Queue("ps:quantum=2")
    queue.put("job", size=5)
    grant = queue.take()
    assert queue.push_front("urgent", size=3)
    assert grant.preempted
    queue.requeue(grant, used=1)
    grant = queue.take()
    assert (grant.item, grant.quantum) == ("urgent", 3)
    queue.charge(grant, used=1)
    queue.requeue(grant, used=1)
    assert list(queue) == ["urgent", "job"]
    grant = queue.take()
    assert (grant.remaining, queue.finish(grant)) == (1, "urgent")
    assert queue.remove("job")


def test_an_open_grant_counts_as_finished_to_who_looks_ahead():
    queue: weir.Queue[str] = weir.Queue("fifo")
    queue.put("a")
    queue.put("b")
    grant = queue.take()
    assert (queue.peek(), list(queue)) == ("b", ["b"])
    assert queue.finish(grant) == "a"
    assert queue.get() == "b"


def test_what_is_held_back_is_looked_at_all_the_same():
    queue: weir.Queue[str] = weir.Queue("tbf(fifo,rate=80bit,burst=10B)")
    for name in "abc":
        queue.put_nowait(name, size=10, now=1.0)
    assert queue.get_nowait(now=1.0) == "a"
    with pytest.raises(weir.Empty):
        queue.get_nowait(now=1.5)
    assert queue.peek(now=1.5) == "b"
    assert list(queue) == ["b", "c"]


class Last:
    """Serves whoever came last."""

    def __init__(self) -> None:
        self.waiting: list[weir.Item] = []

    def enqueue(self, _: float, item: weir.Item) -> None:
        self.waiting.append(item)

    def dequeue(self, _: float) -> weir.Item | None:
        return self.waiting.pop() if self.waiting else None


@pytest.mark.parametrize("discipline", [Last, *UNCOPIED])
def test_who_cannot_look_ahead_says_so(discipline: str | type):
    queue: weir.Queue[str] = weir.Queue(discipline)
    for name in "abc":
        queue.put(name)
    for call in (queue.peek, lambda: list(queue)):
        with pytest.raises(weir.UnsupportedError, match="does not say whom it would serve next") as caught:
            call()
        assert caught.value.remedy
    queue.push_front("first")
    assert queue.peek() == "first"
    assert queue.remove("b")
    assert len(queue) == 3
    assert sorted(queue.get() for _ in range(3)) == ["a", "c", "first"]
    with pytest.raises(weir.Empty):
        queue.get_nowait()


def test_nothing_waits_nothing_is_seen():
    queue: weir.Queue[str] = weir.Queue("sf")
    assert list(queue) == []
    with pytest.raises(weir.Empty):
        queue.peek()
    assert not queue.remove("nothing")
