"""`weir.Limiter`: no more than burst + rate * t is let through, in the order of asking."""

import asyncio
import threading
import time

import pytest

import weir


def test_a_burst_is_there_at_first_and_then_what_accrues():
    limiter = weir.Limiter(rate=1000, burst=3)
    began = time.monotonic()
    assert [limiter.try_acquire() for _ in range(3)] == [True] * 3
    assert limiter.acquire(3, timeout=30)
    assert limiter.acquire(timeout=30)
    # 7 units, of which 3 were there.
    assert time.monotonic() - began >= 0.004


def test_a_refused_try_and_a_timeout_take_nothing():
    limiter = weir.Limiter(rate=0.001, burst=2)
    assert limiter.try_acquire()
    assert not limiter.try_acquire(2)
    assert not limiter.acquire(2, timeout=0.01)
    assert not limiter.acquire(2, timeout=0)
    assert limiter.try_acquire()
    assert not limiter.try_acquire()


@pytest.mark.parametrize("workers", [1, 8])
def test_the_rate_holds_over_threads_and_tasks(workers: int):
    limiter = weir.Limiter(rate=2000, burst=5)
    each = 80 // workers

    def take() -> None:
        for _ in range(each):
            assert limiter.acquire(timeout=60)

    async def main() -> None:
        async def take_too() -> None:
            for _ in range(each):
                await limiter.aacquire()

        async with asyncio.timeout(60):
            await asyncio.gather(*(take_too() for _ in range(workers)))

    began = time.monotonic()
    threads = [threading.Thread(target=take) for _ in range(workers)]
    for thread in threads:
        thread.start()
    asyncio.run(main())
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert time.monotonic() - began >= (2 * each * workers - 5) / 2000


def test_those_who_wait_are_served_in_the_order_of_asking():
    async def main() -> list[int]:
        limiter = weir.Limiter(rate=500, burst=4)
        through: list[int] = []

        async def ask(number: int, size: int) -> None:
            await limiter.aacquire(size)
            through.append(number)

        assert limiter.try_acquire(4)
        tasks = [asyncio.create_task(ask(number, size)) for number, size in enumerate((4, 1, 2, 1))]
        await asyncio.sleep(0)
        async with asyncio.timeout(30):
            await asyncio.gather(*tasks)
        return through

    assert asyncio.run(main()) == [0, 1, 2, 3]


def test_nobody_passes_those_who_wait():
    async def main() -> None:
        limiter = weir.Limiter(rate=0.001, burst=2)
        assert limiter.try_acquire()
        task = asyncio.create_task(limiter.aacquire(2))
        await asyncio.sleep(0)
        assert not limiter.try_acquire()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert limiter.try_acquire()

    asyncio.run(main())


def test_who_is_cancelled_takes_nothing_and_holds_nobody_up():
    async def main() -> None:
        limiter = weir.Limiter(rate=100, burst=1000)
        assert limiter.try_acquire(1000)
        greedy = [asyncio.create_task(limiter.aacquire(1000)) for _ in range(20)]
        modest = asyncio.create_task(limiter.aacquire(1))
        await asyncio.sleep(0)
        for task in greedy:
            task.cancel()
        async with asyncio.timeout(5):  # a greedy one would have taken ten seconds
            await modest
        await asyncio.gather(*greedy, return_exceptions=True)

    asyncio.run(main())


def test_bytes_are_counted_where_units_are_given():
    limiter = weir.Limiter(rate="80bit", burst="1KiB")
    assert limiter.try_acquire(1024)
    assert not limiter.try_acquire(100)
    with pytest.raises(weir.ConfigError, match="size is 1025, more than the burst 1KiB"):
        limiter.acquire(1025)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"rate": 0, "burst": 1}, "rate is 0"),
        ({"rate": float("nan"), "burst": 1}, "rate is nan"),
        ({"rate": -1, "burst": 1}, "rate is -1"),
        ({"rate": 1, "burst": 0}, "burst is 0"),
        ({"rate": 1, "burst": 1.5}, "burst is 1.5, must be a whole number"),
        ({"rate": "1Mbit", "burst": 10}, "both numbers or both text"),
        ({"rate": "fast", "burst": "1KiB"}, "rate"),
        ({"rate": "1Mbit", "burst": "much"}, "burst"),
    ],
)
def test_what_is_no_rate_or_burst_is_refused(arguments: dict, told: str):
    with pytest.raises(weir.ConfigError, match=told) as caught:
        weir.Limiter(**arguments)
    assert caught.value.remedy


@pytest.mark.parametrize("size", [0, -1, 1.5, 11])
def test_sizes_beyond_the_burst_are_refused(size: int):
    limiter = weir.Limiter(rate=1, burst=10)
    for call in (limiter.try_acquire, limiter.acquire, lambda size: asyncio.run(limiter.aacquire(size))):
        with pytest.raises(weir.ConfigError, match="size is"):
            call(size)
    assert limiter.try_acquire(10)
