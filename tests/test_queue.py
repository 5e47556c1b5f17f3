"""`weir.Queue`: its order is that of a naive model, and no item is lost between threads and tasks."""

import asyncio
import gc
import pickle
import queue as standard
import threading
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weir

REGISTERED = {row["name"]: row for row in weir.disciplines() if row["kind"] == "message"}


class Naive:
    """Alpha by its definition, in a list: the key is alpha * size + what was served before the arrival."""

    def __init__(self, alpha: float | None) -> None:
        self.alpha = alpha
        self.clock = 0
        self.waiting: list[tuple[float, int, int]] = []

    def enqueue(self, number: int, size: int) -> None:
        key = size if self.alpha is None else self.alpha * size + self.clock
        self.waiting.append((key, number, size))

    def dequeue(self) -> int:
        first = min(self.waiting)
        self.waiting.remove(first)
        self.clock += first[2]
        return first[1]


# None is a dequeue, a number the size of what is enqueued.
OPERATIONS = st.lists(st.none() | st.integers(1, 30), max_size=120)


@pytest.mark.parametrize(
    ("spec", "alpha"), [("fifo", 0.0), ("alpha:0", 0.0), ("alpha:0.5", 0.5), ("alpha:10", 10.0), ("sf", None)]
)
@given(operations=OPERATIONS)
def test_the_order_is_that_of_the_naive_model(spec: str, alpha: float | None, operations: list[int | None]):
    if spec.split(":")[0] not in REGISTERED:
        pytest.fail(f"{spec} is not registered")
    queue: weir.Queue[int] = weir.Queue(spec)
    model = Naive(alpha)
    for number, size in enumerate(operations):
        if size is not None:
            queue.put_nowait(number, size=size)
            model.enqueue(number, size)
        elif model.waiting:
            assert queue.get_nowait() == model.dequeue()
        assert len(queue) == len(model.waiting)
        assert queue.backlog.size == sum(each[2] for each in model.waiting)


@pytest.mark.parametrize("name", REGISTERED)
def test_every_discipline_gives_back_what_it_took(name: str):
    queue: weir.Queue[int] = weir.Queue(REGISTERED[name]["example"])
    for number in range(200):
        queue.put_nowait(number, size=1 + number * 7 % 23, flow=number % 5)
    assert len(queue) == 200
    assert sorted(queue.get_nowait() for _ in range(200)) == list(range(200))
    with pytest.raises(weir.Empty):
        queue.get_nowait()


def test_empty_is_the_error_of_the_standard_library_too():
    with pytest.raises(standard.Empty):
        weir.Queue("fifo").get_nowait()
    with pytest.raises(weir.Empty, match="until the timeout"):
        weir.Queue("fifo").get(timeout=0)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"size": 0}, "size is 0, must be from 1 to"),
        ({"size": -3}, "size is -3"),
        ({"size": 2**40 + 1}, "size is 1099511627777"),
        ({"size": 1.5}, "size is 1.5, must be a whole number"),
        ({"size": True}, "size is True"),
        ({"size": 1, "flow": -1}, "flow is -1"),
        ({"size": 1, "flow": 2**32}, "flow is 4294967296"),
        ({"size": 1, "class_": 2**16}, "class_ is 65536"),
        ({"size": 1, "now": float("nan")}, "now is nan"),
        ({"size": 1, "now": float("inf")}, "now is inf"),
        ({"size": 1, "now": -1.0}, "now is -1.0"),
    ],
)
def test_values_outside_their_bounds_are_refused_and_change_nothing(arguments: dict, told: str):
    queue: weir.Queue[str] = weir.Queue("fifo")
    with pytest.raises(weir.ConfigError, match=told.replace(".", r"\.")) as caught:
        queue.put_nowait("item", **arguments)
    assert isinstance(caught.value, ValueError)
    assert caught.value.remedy
    assert len(queue) == 0


@pytest.mark.parametrize(
    "spec", ["", "fofo", "fifo:3", "fifo:depth=3", "alpha:", "alpha:-1", "alpha:nan", "alpha:ten", "fifo)"]
)
def test_specs_that_name_nothing_are_refused(spec: str):
    with pytest.raises(weir.ConfigError) as caught:
        weir.Queue(spec)
    assert caught.value.remedy


def test_a_clock_that_goes_back_counts_as_standing():
    queue: weir.Queue[str] = weir.Queue("fifo")
    queue.put_nowait("first", size=1, now=5.0)
    queue.put_nowait("second", size=1, now=4.0)
    assert [queue.get_nowait(now=3.0), queue.get_nowait(now=6.0)] == ["first", "second"]


def test_a_grant_is_given_back_and_taken_again():
    queue: weir.Queue[str] = weir.Queue("sf")
    queue.put_nowait("long", size=10)
    grant = queue.take()
    assert (grant.item, grant.remaining, grant.preempted) == ("long", 10, False)
    queue.charge(grant, used=2)
    assert queue.put_nowait("short", size=3)
    assert grant.preempted
    queue.requeue(grant, used=1)
    assert queue.backlog == (2, 10)
    assert queue.get_nowait() == "short"
    again = queue.take()
    assert (again.item, again.remaining) == ("long", 7)
    assert queue.finish(again) == "long"
    assert queue.backlog == (0, 0)


def test_a_grant_is_closed_once():
    queue: weir.Queue[str] = weir.Queue("fifo")
    queue.put_nowait("a", size=4)
    queue.put_nowait("b", size=4)
    grant = queue.take()
    for call in (queue.take, queue.get_nowait):
        with pytest.raises(weir.GrantError, match="a grant is open"):
            call()
    with pytest.raises(weir.ConfigError, match="used is 5, only 4"):
        queue.charge(grant, used=5)
    with pytest.raises(weir.ConfigError, match="nothing of the item remains"):
        queue.requeue(grant, used=4)
    assert queue.finish(grant, used=3) == "a"
    for close in (queue.requeue, queue.charge, queue.finish):
        with pytest.raises(weir.GrantError, match="closed already"):
            close(grant, used=1)
    assert queue.get_nowait() == "b"


@pytest.mark.parametrize("name", REGISTERED)
def test_what_is_given_back_comes_again_with_what_remains(name: str):
    queue: weir.Queue[str] = weir.Queue(REGISTERED[name]["example"])
    queue.put_nowait("item", size=4)
    served = 0
    while served < 3:
        grant = queue.take()
        queue.requeue(grant, used=1)
        served += 1
    grant = queue.take()
    assert (grant.item, grant.remaining) == ("item", 1)
    queue.finish(grant)
    assert queue.backlog == (0, 0)


def test_what_a_discipline_drops_is_handed_back_with_the_reason():
    class Full:
        def enqueue(self, handle: int, *_: int) -> tuple[bool, list[tuple[int, str]]]:
            return False, [(handle, "the queue is full")]

    queue: weir.Queue[str] = weir.Queue("fifo")
    queue._raw = Full()
    with pytest.raises(weir.Dropped, match="1 dropped: the queue is full") as caught:
        queue.put_nowait("item", size=1)
    assert caught.value.items == ("item",)
    assert pickle.loads(pickle.dumps(caught.value)).items == ("item",)  # noqa: S301


def test_many_threads_lose_nothing_and_all_end():
    queue: weir.Queue[tuple[int, int]] = weir.Queue("sf")
    producers, consumers, each = 6, 6, 500
    seen: list[list[tuple[int, int]]] = [[] for _ in range(consumers)]

    def produce(who: int) -> None:
        for number in range(each):
            queue.put_nowait((who, number), size=1 + number % 9, flow=who)

    def consume(mine: list[tuple[int, int]]) -> None:
        mine.extend(queue.get(timeout=30) for _ in range(producers * each // consumers))

    threads = [threading.Thread(target=produce, args=(who,)) for who in range(producers)]
    threads += [threading.Thread(target=consume, args=(mine,)) for mine in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    taken = sorted(item for mine in seen for item in mine)
    assert taken == [(who, number) for who in range(producers) for number in range(each)]


def test_tasks_take_from_threads_and_cancelling_loses_nothing():
    queue: weir.Queue[int] = weir.Queue("fifo")
    total = 400

    async def take(mine: list[int]) -> None:
        while True:
            mine.append(await queue.aget())

    async def main() -> list[int]:
        mine: list[int] = []
        tasks = [asyncio.create_task(take(mine)) for _ in range(8)]
        feeder = threading.Thread(
            target=lambda: [queue.put_nowait(number, size=1) for number in range(total)]
        )
        feeder.start()
        for victim in tasks[:6]:
            await asyncio.sleep(0.001)
            victim.cancel()
        async with asyncio.timeout(30):
            while len(mine) < total:
                await asyncio.sleep(0.001)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        feeder.join()
        return mine

    assert sorted(asyncio.run(main())) == list(range(total))
    assert len(queue) == 0


def test_a_cancelled_task_hands_its_wake_up_on():
    async def main() -> None:
        queue: weir.Queue[str] = weir.Queue("fifo")
        first, second = (asyncio.create_task(queue.aget()) for _ in range(2))
        await asyncio.sleep(0)
        queue.put_nowait("only", size=1)
        await asyncio.sleep(0)  # the wake-up of the first is under way
        first.cancel()
        async with asyncio.timeout(5):
            assert "only" in await asyncio.gather(first, second, return_exceptions=True)
            second.cancel()

    async def bounded() -> None:
        async with asyncio.timeout(10):
            task = asyncio.create_task(main())
            await asyncio.wait({task}, timeout=5)
            if not task.done():
                task.cancel()

    asyncio.run(bounded())


def test_a_loop_that_was_closed_over_a_sleeper_stops_nobody():
    queue: weir.Queue[str] = weir.Queue("fifo")
    loop = asyncio.new_event_loop()
    sleeper = loop.create_task(queue.aget())
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    queue.put_nowait("item", size=1)
    assert queue.get(timeout=1) == "item"
    sleeper.get_coro().close()


def test_a_destructor_may_use_the_queue():
    queue: weir.Queue[object] = weir.Queue("fifo")

    class Restless:
        def __del__(self) -> None:
            queue.put_nowait("parting", size=1)

    queue.put_nowait(Restless(), size=1)
    queue.get_nowait()
    gc.collect()
    assert queue.get_nowait() == "parting"


def test_a_queue_in_a_cycle_is_collected():
    queue: weir.Queue[object] = weir.Queue("fifo")
    queue.put_nowait(queue, size=1)
    gone = weakref.ref(queue)
    del queue
    gc.collect()
    assert gone() is None
