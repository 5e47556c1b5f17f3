"""`weir.Queue` behaves as the queues of the standard library do, where it has their methods."""

import asyncio
import queue as standard
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weir

HAS_SHUTDOWN = sys.version_info >= (3, 13)


def outcome(call: Callable[[], Any]) -> object:
    """What a call returned, or the class of the standard library that it raised."""
    try:
        return call()
    except standard.Empty:
        return "Empty"
    except standard.Full:
        return "Full"
    except ValueError:
        return "ValueError"
    except Exception as error:  # `queue.ShutDown` has no name before 3.13
        return "ShutDown" if "ShutDown" in {each.__name__ for each in type(error).__mro__} else repr(error)


def scripts() -> dict[str, list[tuple[str, ...]]]:
    """Calls in order, each a method and its arguments; their outcomes are compared."""
    put, get = ("put_nowait", "x"), ("get_nowait",)
    return {
        "bounded": [
            ("full",),
            put,
            put,
            ("full",),
            put,
            ("put", "x", False),
            ("put", "x", True, 0.01),
            ("qsize",),
        ],
        "empty": [
            ("empty",),
            get,
            ("get", False),
            ("get", True, 0.01),
            ("get", True, -1),
            put,
            ("empty",),
            get,
        ],
        "negative": [put, put, ("put", "x", True, -1)],
        "tasks": [("task_done",), put, get, ("task_done",), ("task_done",), ("join",)],
        "shutdown": [
            put,
            put,
            ("shutdown",),
            put,
            ("put", "x", True, 1),
            get,
            ("get",),
            get,
            ("get",),
            ("qsize",),
        ],
        "immediate": [put, put, get, ("shutdown", True), ("qsize",), get, put, ("task_done",), ("join",)],
        "immediately joined": [put, put, ("shutdown", True), ("join",), ("task_done",)],
        "twice": [put, ("shutdown",), ("shutdown",), ("shutdown", True), get],
    }


# What Python 3.13 does; a Python that has it is asked too.
OF_SHUTDOWN = {
    "shutdown": [None, None, None, "ShutDown", "ShutDown", "x", "x", "ShutDown", "ShutDown", 0],
    "immediate": [None, None, "x", None, 0, "ShutDown", "ShutDown", None, None],
    "immediately joined": [None, None, None, None, "ValueError"],
    "twice": [None, None, None, None, "ShutDown"],
}


def outcomes(queue: Any, script: list[tuple[str, ...]]) -> list[object]:
    found = [outcome(lambda call=call: getattr(queue, call[0])(*call[1:])) for call in script]  # type: ignore[misc]
    # `put` of weir says whether the item outranks an open grant; there is none here.
    return [
        None if value is False and call[0].startswith("put") else value
        for call, value in zip(script, found, strict=True)
    ]


@pytest.mark.parametrize("name", scripts())
def test_the_same_calls_have_the_same_outcomes(name: str):
    script = scripts()[name]
    found = outcomes(weir.Queue("fifo", maxsize=2), script)
    assert found == OF_SHUTDOWN.get(name, found)
    if HAS_SHUTDOWN or name not in OF_SHUTDOWN:
        assert found == outcomes(standard.Queue(maxsize=2), script)


def test_errors_are_those_of_both_libraries():
    assert {standard.Empty, asyncio.QueueEmpty} <= set(weir.Empty.__mro__)
    assert {standard.Full, asyncio.QueueFull} <= set(weir.Full.__mro__)
    if HAS_SHUTDOWN:
        assert {standard.ShutDown, asyncio.QueueShutDown} <= set(weir.ShutDown.__mro__)
    queue: weir.Queue[int] = weir.Queue("fifo", maxsize=1)
    queue.put(1)
    with pytest.raises(weir.Full, match="1 items wait") as caught:
        queue.put_nowait(2)
    assert caught.value.remedy


def test_whole_numbers_of_numpy_are_taken():
    queue: weir.Queue[str] = weir.Queue("sf", maxsize=np.int64(3))
    queue.put("long", size=np.int32(20), flow=np.uint8(1), class_=np.int16(2))
    queue.put_nowait("short", size=np.uint64(2))
    queue.push_front("front", size=np.int8(1))
    assert queue.backlog == (3, 23)
    grant = queue.take()
    queue.finish(grant, used=np.int64(1))
    assert list(queue) == ["short", "long"]
    for value in (np.float64(2.0), np.bool_(True), "2", None):
        with pytest.raises(weir.ConfigError, match="must be a whole number"):
            queue.put("item", size=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("maxsize", [-1, 1.5, True, "3"])
def test_bounds_that_are_none_are_refused(maxsize: Any):
    with pytest.raises(weir.ConfigError, match="maxsize"):
        weir.Queue("fifo", maxsize)


def test_a_put_waits_for_room():
    queue: weir.Queue[int] = weir.Queue("fifo", maxsize=1)
    queue.put(1)
    thread = threading.Thread(target=queue.put, args=(2,))
    thread.start()
    time.sleep(0.02)
    assert (thread.is_alive(), len(queue)) == (True, 1)
    assert queue.get() == 1
    thread.join(timeout=30)
    assert (thread.is_alive(), queue.get()) == (False, 2)


def test_room_that_remove_finish_or_a_grant_makes_is_used():
    queue: weir.Queue[str] = weir.Queue("fifo", maxsize=1)

    def is_put_after(make_room: Callable[[], object]) -> bool:
        thread = threading.Thread(target=queue.put, args=("next",))
        thread.start()
        make_room()
        thread.join(timeout=30)
        return not thread.is_alive()

    queue.put("next")
    assert is_put_after(lambda: queue.remove("next"))
    assert is_put_after(lambda: queue.finish(queue.take()))
    assert is_put_after(queue.get)
    assert len(queue) == 1


def test_the_bound_holds_under_contention_and_nothing_is_lost():
    queue: weir.Queue[tuple[int, int]] = weir.Queue("sf", maxsize=3)
    producers, consumers, each = 6, 4, 400
    seen: list[list[tuple[int, int]]] = [[] for _ in range(consumers)]
    most = 0

    def produce(who: int) -> None:
        for number in range(each):
            if number % 3:
                queue.put((who, number), size=1 + number % 9)
            else:
                asyncio.run(queue.aput((who, number), size=1 + number % 9))

    def consume(mine: list[tuple[int, int]]) -> None:
        nonlocal most
        while True:
            most = max(most, len(queue))
            try:
                mine.append(queue.get(timeout=60))
            except weir.ShutDown:
                return
            queue.task_done()

    threads = [threading.Thread(target=produce, args=(who,)) for who in range(producers)]
    workers = [threading.Thread(target=consume, args=(mine,)) for mine in seen]
    for thread in threads + workers:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    queue.join()
    queue.shutdown()
    for thread in workers:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads + workers)
    assert sorted(item for mine in seen for item in mine) == [
        (who, number) for who in range(producers) for number in range(each)
    ]
    assert most <= 3


async def storm(
    queue: weir.Queue[int],
    got: list[int],
    putters: list[asyncio.Task[None]],
    getters: list[asyncio.Task[None]],
    chance: random.Random,
) -> None:
    """Cancel some; whoever puts still is served, unless a wake-up was lost."""
    for _ in range(chance.randrange(4)):
        await asyncio.sleep(0)
    for task in chance.sample(putters + getters, 6):
        task.cancel()
    for _ in range(chance.randrange(3)):
        await asyncio.sleep(0)
    while not all(task.done() for task in putters):
        if not queue.empty():
            got.append(queue.get_nowait())
        await asyncio.sleep(0)
    for task in getters:
        task.cancel()
    await asyncio.gather(*putters, *getters, return_exceptions=True)


def test_a_storm_of_cancelled_puts_and_gets_loses_nothing():
    queue: weir.Queue[int] = weir.Queue("alpha:10", maxsize=2)
    chance = random.Random(7)  # noqa: S311
    put: list[int] = []
    got: list[int] = []

    async def produce(number: int) -> None:
        await queue.aput(number, size=1 + number % 5)
        put.append(number)

    async def consume() -> None:
        got.append(await queue.aget())

    async def main() -> None:
        async with asyncio.timeout(60):
            for number in range(150):
                produced = [asyncio.create_task(produce(8 * number + each)) for each in range(8)]
                await storm(queue, got, produced, [asyncio.create_task(consume()) for _ in range(8)], chance)
        got.extend(queue.get_nowait() for _ in range(len(queue)))

    asyncio.run(main())
    assert len(got) == len(set(got))
    assert sorted(got) == sorted(put)
    assert put


def test_a_cancelled_put_hands_its_wake_up_on():
    async def main() -> None:
        queue: weir.Queue[int] = weir.Queue("fifo", maxsize=1)
        queue.put(0)
        first, second = (asyncio.create_task(queue.aput(number)) for number in (1, 2))
        await asyncio.sleep(0)
        queue.get_nowait()
        first.cancel()
        async with asyncio.timeout(30):
            await second
        assert (first.cancelled(), queue.get_nowait()) == (True, 2)

    asyncio.run(main())


def test_shutdown_wakes_everybody():
    queue: weir.Queue[int] = weir.Queue("fifo", maxsize=1)
    told: list[object] = []

    def note(call: Callable[[], object]) -> None:
        told.append(outcome(call))

    getters = [threading.Thread(target=note, args=(queue.get,)) for _ in range(3)]
    for thread in getters:
        thread.start()

    async def main() -> list[object]:
        tasks = [asyncio.create_task(queue.aget()) for _ in range(3)]
        await asyncio.sleep(0.01)
        queue.shutdown()
        async with asyncio.timeout(30):
            return await asyncio.gather(*tasks, return_exceptions=True)

    assert all(isinstance(error, weir.ShutDown) for error in asyncio.run(main()))
    for thread in getters:
        thread.join(timeout=30)
    assert told == ["ShutDown"] * 3

    full: weir.Queue[int] = weir.Queue("fifo", maxsize=1)
    full.put(1)
    told.clear()
    putter, joiner = (
        threading.Thread(target=note, args=(lambda: full.put(2),)),
        threading.Thread(target=full.join),
    )
    putter.start()
    joiner.start()
    time.sleep(0.01)
    full.shutdown(immediate=True)
    putter.join(timeout=30)
    joiner.join(timeout=30)
    assert (told, joiner.is_alive(), len(full)) == (["ShutDown"], False, 0)


def test_a_block_shuts_the_queue_down():
    with weir.Queue[int]("fifo") as queue:
        queue.put(1)
    assert queue.get() == 1
    with pytest.raises(weir.ShutDown):
        queue.get()


def test_a_block_that_ends_by_an_exception_throws_the_rest_away():
    queue: weir.Queue[int] = weir.Queue("fifo")

    def fail() -> None:
        with queue:
            queue.put(1)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert len(queue) == 0


def test_a_block_of_a_task_does_so_too():

    async def main() -> None:
        async with weir.Queue[int]("fifo") as queue:
            await queue.aput(1)
            assert await queue.aget() == 1
            queue.task_done()
            await queue.ajoin()
        with pytest.raises(weir.ShutDown):
            await queue.aput(2)

    asyncio.run(main())


def test_a_join_waits_for_what_was_taken_and_not_for_what_was_removed():
    queue: weir.Queue[str] = weir.Queue("fifo")
    queue.put("a")
    queue.put("b")
    queue.push_front("c")
    assert queue.remove("b")
    ended = threading.Event()

    def wait() -> None:
        queue.join()
        ended.set()

    thread = threading.Thread(target=wait)
    thread.start()
    for _ in range(2):
        assert not ended.wait(0.01)
        queue.get()
        queue.task_done()
    thread.join(timeout=30)
    assert ended.is_set()

    async def main() -> None:
        queue.put("d")
        task = asyncio.create_task(queue.ajoin())
        await asyncio.sleep(0)
        assert not task.done()
        queue.get()
        queue.task_done()
        async with asyncio.timeout(30):
            await task

    asyncio.run(main())


def test_what_is_held_back_comes_to_who_waits_when_it_is_let_go():
    queue: weir.Queue[int] = weir.Queue("tbf(fifo,rate=80kbit,burst=10B)")
    for number in range(6):
        queue.put(number, size=10)
    began = time.monotonic()
    taken = [queue.get(timeout=30) for _ in range(3)]

    async def main() -> list[int]:
        async with asyncio.timeout(30):
            return [await queue.aget() for _ in range(3)]

    assert taken + asyncio.run(main()) == list(range(6))
    # 10 bytes a millisecond; the first are there at once.
    assert time.monotonic() - began >= 0.005


def test_tenants_share_by_their_weights():
    queue: weir.Queue[str] = weir.Queue("drr:quantum=10B,weights=3/1")
    for number in range(40):
        queue.put(f"a{number}", size=10, flow=0)
        queue.put(f"b{number}", size=10, flow=1)
    first = [queue.get()[0] for _ in range(40)]
    assert (first.count("a"), first.count("b")) == (30, 10)


def test_what_is_dropped_late_is_told_and_loses_no_other():
    told: list[tuple[str, str]] = []
    queue: weir.Queue[str] = weir.Queue(
        "codel:target=5ms,interval=10ms", on_drop=lambda *drop: told.append(drop)
    )
    silent: weir.Queue[str] = weir.Queue("codel:target=5ms,interval=10ms")
    for each in (queue, silent):
        for number in range(60):
            each.put_nowait(str(number), size=2000, now=0.0)
    taken, raised = [], []
    for number in range(60):
        now = 0.02 * (number + 1)
        if not queue.empty():
            taken.append(queue.get_nowait(now))
        while not silent.empty():
            try:
                assert silent.get_nowait(now) == taken[-1]
                break
            except weir.Dropped as dropped:
                raised.extend(dropped.items)
    assert {reason for _, reason in told} == {"its queue has stood for too long"}
    assert [item for item, _ in told] == raised
    assert sorted([item for item, _ in told] + taken, key=int) == [str(number) for number in range(60)]


def test_a_drop_at_the_door_is_told_too():
    told: list[tuple[str, str]] = []
    queue: weir.Queue[str] = weir.Queue("fifo:limit=1pkt", on_drop=lambda *drop: told.append(drop))
    queue.put("a")
    queue.put("b")
    assert told == [("b", "the queue is full")]
    queue.get()
    queue.task_done()
    queue.join()
