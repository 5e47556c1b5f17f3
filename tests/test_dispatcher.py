"""`weir.Dispatcher`: requests join the server that the rule of core says, and leave it when they are done."""

import asyncio
import contextlib
import threading

import pytest

import weir

RULES = [row["name"] for row in weir.disciplines() if row["kind"] == "dispatcher"]
MEASURING = {"dynamic", "dynamic_separated"}
HEARING = {"health", "jiq", "local", "peak_ewma", "stale"}


def test_the_shortest_queue_counts_what_is_in_service():
    servers: weir.Dispatcher[str] = weir.Dispatcher("jsq", servers=3)
    assert [servers.put(name).server for name in "abcd"] == [0, 1, 2, 0]
    with servers.get(1) as item:
        assert item == "b"
        assert [load.items for load in servers.loads] == [2, 1, 1]
    assert servers.put("e").server == 1
    taken = servers.get(2)
    taken.done()
    taken.done()
    assert [load.items for load in servers.loads] == [2, 1, 0]


def test_least_work_sees_sizes():
    servers: weir.Dispatcher[str] = weir.Dispatcher("least_work", servers=2, discipline="sf")
    assert [servers.put(str(size), size=size).server for size in (10, 3, 4, 2)] == [0, 1, 1, 1]
    assert servers.loads == ((1, 10), (3, 9))
    assert [servers.get(1).item for _ in range(3)] == ["2", "3", "4"]


@pytest.mark.parametrize("name", sorted(set(RULES) - MEASURING - HEARING))
def test_every_rule_places_all_and_counts_to_zero(name: str):
    example = next(
        row["example"] for row in weir.disciplines() if (row["name"], row["kind"]) == (name, "dispatcher")
    )
    servers: weir.Dispatcher[int] = weir.Dispatcher(example, servers=4)
    for number in range(40):
        servers.put(number, size=1 + number % 5, flow=number)
    served = []
    for server, queue in enumerate(servers.queues):
        while len(queue):
            with servers.get(server) as item:
                served.append(item)
    assert sorted(served) == list(range(40))
    assert set(servers.loads) == {(0, 0)}


@pytest.mark.parametrize("name", sorted(MEASURING & set(RULES)))
def test_rules_that_measure_are_refused(name: str):
    with pytest.raises(weir.ConfigError, match="measures delays"):
        weir.Dispatcher(name, servers=2)


@pytest.mark.parametrize("name", sorted(HEARING & set(RULES)))
def test_rules_that_hear_of_answers_are_refused(name: str):
    example = next(row["example"] for row in weir.disciplines() if row["name"] == name)
    with pytest.raises(weir.ConfigError, match="hears when and by whom"):
        weir.Dispatcher(example, servers=2)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"rule": "sf", "servers": 2}, "`sf` orders messages, and is no dispatcher"),
        ({"rule": "nothing", "servers": 2}, "no discipline is called `nothing`"),
        ({"rule": "jsq", "servers": 0}, "servers is 0"),
        ({"rule": "jsq", "servers": 1025}, "servers is 1025"),
        ({"rule": "jsq", "servers": 2, "discipline": "nothing"}, "nothing"),
    ],
)
def test_what_is_no_rule_is_refused(arguments: dict, told: str):
    with pytest.raises(weir.ConfigError, match=told) as caught:
        weir.Dispatcher(**arguments)
    assert caught.value.remedy


def test_a_request_that_finds_no_room_is_not_the_servers():
    servers: weir.Dispatcher[str] = weir.Dispatcher("rr", servers=2, maxsize=1)
    servers.put("a")
    servers.put("b")
    with pytest.raises(weir.Full):
        servers.put("c")
    assert [load.items for load in servers.loads] == [1, 1]
    limited: weir.Dispatcher[str] = weir.Dispatcher("rr", servers=1, discipline="fifo:limit=1pkt")
    limited.put("a")
    with pytest.raises(weir.Dropped) as caught:
        limited.put("b")
    assert caught.value.items == ("b",)
    assert limited.loads == ((1, 1),)


def test_what_is_sent_elsewhere_is_counted_too():
    servers: weir.Dispatcher[str] = weir.Dispatcher("jsq", servers=2)
    first = servers.assign("a", size=7)
    assert (first.server, servers.loads[0]) == (0, (1, 7))
    with servers.assign("b") as item:
        assert (item, servers.loads[1].items) == ("b", 1)
    assert servers.assign("c").server == 1
    first.done()
    assert servers.loads[0] == (0, 0)


def test_what_is_removed_or_shut_out_leaves_the_server():
    servers: weir.Dispatcher[str] = weir.Dispatcher("rr", servers=1)
    first = servers.put("a")
    second = servers.put("b")
    assert servers.remove(second)
    assert not servers.remove(second)
    assert servers.loads == ((1, 1),)
    assert servers.get(0).item == first.item
    servers.shutdown()
    with pytest.raises(weir.ShutDown):
        servers.put("c")
    assert servers.loads == ((1, 1),)
    other: weir.Dispatcher[str] = weir.Dispatcher("rr", servers=2)
    other.put("a")
    other.shutdown(immediate=True)
    assert other.loads == ((0, 0), (0, 0))


def test_workers_of_all_kinds_serve_all():
    servers: weir.Dispatcher[int] = weir.Dispatcher("jsq", servers=4, discipline="sf")
    served: list[int] = []

    def work(server: int) -> None:
        with contextlib.suppress(weir.ShutDown):
            while True:
                with servers.get(server, timeout=60) as item:
                    served.append(item)

    async def main() -> None:
        async def work_too(server: int) -> None:
            while True:
                with await servers.aget(server) as item:
                    served.append(item)

        tasks = [asyncio.create_task(work_too(server)) for server in (2, 3)]
        for number in range(300):
            servers.put(number, size=1 + number % 7)
            if number % 10 == 0:
                await asyncio.sleep(0)
        servers.shutdown()
        async with asyncio.timeout(60):
            await asyncio.gather(*tasks, return_exceptions=True)

    threads = [threading.Thread(target=work, args=(server,)) for server in (0, 1)]
    for thread in threads:
        thread.start()
    asyncio.run(main())
    for thread in threads:
        thread.join(timeout=60)
    assert sorted(served) == list(range(300))
    assert set(servers.loads) == {(0, 0)}
