"""Disciplines written in Python: run, compared, queued, verified; every fault, with what is said of it."""

import heapq
import json
import re
import signal
import threading
import time
import traceback
from collections import deque
from pathlib import Path

import pytest

import weir
from weir import cli, own
from weir.errors import ConfigError, DisciplineError

EXAMPLES = Path(__file__).parents[1] / "examples"
REQUESTS = {
    "weir": 1,
    "model": "port",
    "disciplines": ["fifo"],
    "workload": {"load": 0.8, "lengths": {"mixture": [["1tok", 0.7], ["10tok", 0.3]]}},
    "service": {"per_token": "100ms", "preemption": False},
    "stop": {"messages": 4_000, "replications": 2},
}
PACKETS = {
    "weir": 1,
    "model": "port",
    "disciplines": ["fifo", "sjf"],
    "workload": {"load": 0.8},
    "stop": {"packets": 40_000, "replications": 2},
}


class Plain:
    """First in, first out."""

    def __init__(self):
        self.waiting = deque()

    def enqueue(self, now, item):  # noqa: ARG002 - of the contract
        self.waiting.append(item)

    def dequeue(self, now):  # noqa: ARG002 - of the contract
        return self.waiting.popleft() if self.waiting else None


class Shortest:
    """Shortest first."""

    def __init__(self):
        self.waiting = []
        self.count = 0

    def enqueue(self, now, item):  # noqa: ARG002 - of the contract
        self.count += 1
        heapq.heappush(self.waiting, (item.size, self.count, item))

    def dequeue(self, now):  # noqa: ARG002 - of the contract
        return heapq.heappop(self.waiting)[-1] if self.waiting else None


class Turns(Plain):
    """Round robin, two units at a time."""

    def dequeue(self, now):
        item = super().dequeue(now)
        return item and (item, min(item.size, 2))

    def requeue(self, now, item, used):  # noqa: ARG002 - of the contract
        self.waiting.append(item)


class Late(Plain):
    """Serves nobody in the first second of its wait."""

    def dequeue(self, now):
        if self.waiting and self.waiting[0].arrival + 1.0 <= now:
            return self.waiting.popleft()
        return None

    def next_event(self):
        return self.waiting[0].arrival + 1.0 if self.waiting else None


def figures(result, name):
    return [
        (row.class_, row.metric, row.statistic, row.value, row.low, row.high)
        for row in result.estimates
        if row.discipline == name
    ]


@pytest.mark.parametrize("scenario", [REQUESTS, PACKETS], ids=["whole", "packets"])
@pytest.mark.parametrize(("kind", "name"), [(Plain, "fifo"), (Shortest, "sjf")])
def test_a_class_decides_as_the_discipline_it_copies(scenario, kind, name):
    result = weir.run(scenario, disciplines=[name, kind])
    assert result.disciplines[-1] == kind.__name__
    assert figures(result, kind.__name__) == figures(result, name)
    assert result.ok


def test_what_is_given_back_is_served_on():
    result = weir.run({**PACKETS, "disciplines": ["fifo"]}, disciplines=[Turns, "rr:2"])
    assert result.ok
    turns, robin = (result.estimate(name).value for name in ("Turns", "rr:2"))
    assert turns < result.estimate("fifo").value
    assert turns == pytest.approx(robin, rel=0.5)


def test_what_is_kept_back_is_asked_for_again():
    result = weir.run(REQUESTS, disciplines=[Late])
    waits = [row.value for row in result.estimates if (row.discipline, row.metric) == ("Late", "wait")]
    assert min(waits) >= 1.0


def test_threads_and_seed_change_nothing():
    one = weir.run(REQUESTS, disciplines=[Shortest], threads=1, seed=3)
    assert weir.run(REQUESTS, disciplines=[Shortest], threads=2, seed=3).text == one.text


def test_the_result_says_that_it_is_of_python(tmp_path):
    result = weir.compare(REQUESTS, disciplines=[Shortest, Plain])
    assert "`Shortest` and `Plain` are classes of Python, and slow" in " ".join(result.verdict)
    assert json.loads(result.to_json())["own"] == ["Shortest", "Plain"]
    result.save(tmp_path / "result.json")
    assert weir.Result.from_file(tmp_path / "result.json").document["own"] == ["Shortest", "Plain"]
    assert "own" not in weir.run(REQUESTS).document


def test_it_is_listed_and_found_in_wrappers():
    assert own.name_of(Shortest) == "Shortest"
    row = next(each for each in weir.disciplines() if each["name"] == "Shortest")
    assert (row["title"], row["models"], row["source"]) == ("Shortest first", ["port"], "a class of Python")
    result = weir.run({**PACKETS, "disciplines": ["outstanding(Shortest,limit=2)"]})
    assert result.document["own"] == ["outstanding(Shortest,limit=2)"]


def test_packets_at_a_link():
    class Tail(Plain):
        """First in, first out, of packets."""

        packets = True

    uplink = weir.Scenario.from_file(EXAMPLES / "first-questions" / "uplink.toml").normalised
    stop = {"duration": "2s", "warm_up": "0s"}
    scenario = {**uplink, "disciplines": ["fifo"], "stop": stop}
    scenario.pop("reference", None)
    result = weir.run(scenario, disciplines=[Tail])
    assert result.disciplines == ("fifo", "Tail")
    mean = {
        name: [row.value for row in result.estimates if row.discipline == name] for name in result.disciplines
    }
    assert mean["fifo"] == mean["Tail"]


def test_a_queue_takes_a_class():
    queue = weir.Queue(Shortest)
    for name, size in (("long", 20), ("short", 1), ("middle", 5)):
        queue.put_nowait(name, size=size, now=0.0)
    assert [queue.get_nowait(now=1.0) for _ in range(3)] == ["short", "middle", "long"]
    with pytest.raises(weir.Empty):
        queue.get_nowait(now=1.0)


def test_a_queue_of_many_threads():
    queue, found = weir.Queue(Shortest), []

    def work():
        for number in range(200):
            queue.put_nowait(number, size=1 + number % 7)
            len(queue)
            found.append(queue.get(timeout=30.0))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(found) == sorted(list(range(200)) * 4)


# Faults.


class Raises(Plain):
    """Raises at the tenth item."""

    def dequeue(self, now):
        if now > 1.0:
            raise IndexError("no such thing")
        return super().dequeue(now)


class Loses(Plain):
    """Forgets every item longer than one."""

    def enqueue(self, now, item):
        if item.size < 200_000_000:
            super().enqueue(now, item)


class Twice(Plain):
    """Serves an item again."""

    def dequeue(self, now):
        return self.waiting[0] if self.waiting else super().dequeue(now)


class Else(Plain):
    """Returns a size."""

    def dequeue(self, now):
        item = super().dequeue(now)
        return item and item.size


class More(Plain):
    """Grants more than there is."""

    def dequeue(self, now):
        item = super().dequeue(now)
        return item and (item, item.size + 1)


class Past(Late):
    """Says that it is to be asked again when that has passed."""

    def next_event(self):
        return 0.0 if self.waiting else None


class Never(Plain):
    """Never returns."""

    def dequeue(self, now):
        while now > 1.0:
            pass
        return super().dequeue(now)


FAULTS = [
    (Raises, r"`Raises.dequeue` raised IndexError\('no such thing'\) \(.*test_own.py:\d+\)"),
    (
        Loses,
        r"`Loses.dequeue` returned None at [\d.]+ s while \d+ items? waits?, and `next_event` names no time",
    ),
    (Twice, r"`Twice.dequeue` returned <weir.Item of size \d+, flow 0, class \d, .*>, which does not wait"),
    (Else, r"`Else.dequeue` returned \d+, which is no item"),
    (More, r"`More.dequeue` granted \S+ of <weir.Item of size"),
    (
        Past,
        r"`Past.dequeue` returned None at [\d.]+ s while 1 item waits, and `next_event` says 0 s, which has",
    ),
]


@pytest.mark.parametrize(("kind", "said"), FAULTS, ids=lambda each: getattr(each, "__name__", ""))
def test_a_fault_ends_the_run(kind, said):
    with pytest.raises(DisciplineError, match=said) as raised:
        weir.run(REQUESTS, disciplines=[kind])
    assert raised.value.remedy
    assert weir.run(REQUESTS, disciplines=[Plain]).ok, "the next run knows nothing of it"


def test_what_a_class_raised_is_the_cause_with_its_traceback():
    with pytest.raises(DisciplineError) as raised:
        weir.run(REQUESTS, disciplines=[Raises])
    assert isinstance(raised.value.__cause__, IndexError)
    assert 'raise IndexError("no such thing")' in "".join(traceback.format_exception(raised.value))


def test_a_queue_ends_with_the_fault():
    queue = weir.Queue(Raises)
    queue.put_nowait("first", size=1, now=0.0)
    assert queue.get_nowait(now=0.5) == "first"
    queue.put_nowait("second", size=1, now=2.0)
    for _ in range(2):
        with pytest.raises(DisciplineError, match="no such thing"):
            queue.get_nowait(now=2.0)
    other = weir.Queue(Raises)
    other.put_nowait("first", size=1, now=0.0)
    assert other.get_nowait(now=0.5) == "first"


def test_a_method_may_not_use_its_own_queue():
    class Inside(Plain):
        """Looks at its queue."""

        def dequeue(self, now):
            queue.backlog()
            return super().dequeue(now)

    queue = weir.Queue(Inside)
    queue.put_nowait("first", size=1)
    with pytest.raises(DisciplineError, match="used by a method of its own discipline"):
        queue.get_nowait()


@pytest.mark.slow
def test_a_method_that_does_not_return_is_interrupted():
    with pytest.raises(DisciplineError, match=r"`Never.dequeue` did not return in time, and was interrupted"):
        weir.run(REQUESTS, disciplines=[Never])
    assert weir.run(REQUESTS, disciplines=[Plain]).ok


def test_ctrl_c_ends_a_method_that_does_not_return():
    def later():
        time.sleep(0.5)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=later).start()
    with pytest.raises((DisciplineError, KeyboardInterrupt)):
        weir.run(REQUESTS, disciplines=[Never])


def test_ctrl_c_ends_a_run():
    long = {**REQUESTS, "stop": {"messages": 100_000_000}}
    threading.Thread(target=lambda: (time.sleep(0.5), signal.raise_signal(signal.SIGINT))).start()
    assert weir.run(long, disciplines=[Plain]).interrupted


def refused(kind):
    with pytest.raises(ConfigError) as raised:
        own.name_of(kind)
    return str(raised.value)


def test_classes_that_are_no_disciplines_are_refused():
    class Lacks:
        def enqueue(self, now, item):
            pass

    class Inherits(weir.Discipline):
        def enqueue(self, now, item):
            pass

    class Takes(Plain):
        def __init__(self, quantum):
            self.quantum = quantum

    assert refused(Lacks) == "`Lacks` has no method `dequeue`"
    assert refused(Inherits) == "`Inherits` has no method `dequeue`"
    assert refused(Takes).startswith("`Takes()` raised TypeError(")
    assert refused(Plain()).startswith("a discipline is <")
    assert refused(type("fifo", (Plain,), {})) == "`fifo` is the name of a discipline of weir, choose another"


FILES = {
    "missing.py": None,
    "wrong.py": "class Mine:\n    def enqueue(self, now item):\n        pass\n",
    "raises.py": "import no_such_module\n",
    "other.py": "class Other:\n    pass\n",
    "lacks.py": "class Mine:\n    def enqueue(self, now, item):\n        pass\n",
}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing.py", r"missing.py: .*(no such file|cannot be read)"),
        ("wrong.py", r"wrong.py:2: no Python: "),
        ("raises.py", r"raises.py: running it raised ModuleNotFoundError"),
        ("other.py", r"other.py: no class is called `Mine`\n  remedy: .*it has Other"),
        ("lacks.py", r"error: `Mine` has no method `dequeue`"),
    ],
)
def test_files_without_such_a_class_are_refused(tmp_path, capsys, name, said):
    if FILES[name] is not None:
        (tmp_path / name).write_text(FILES[name])
    scenario = tmp_path / "requests.toml"
    scenario.write_text(weir.Scenario.from_dict(REQUESTS).text)
    for command in (["run", str(scenario), "--discipline"], ["verify"]):
        assert cli.run([*command, f"{tmp_path / name}:Mine"]) == 2
        assert re.search(said, capsys.readouterr().err)


MINE = """
from collections import deque

class Mine:
    def __init__(self):
        self.waiting = deque()
    def enqueue(self, now, item):
        self.waiting.append(item)
    def dequeue(self, now):
        return self.waiting.popleft() if self.waiting else None

class Wrong(Mine):
    def dequeue(self, now):
        return self.waiting.popleft() if len(self.waiting) > 1 else None
"""


def test_the_command_line_takes_files(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(MINE)
    scenario = tmp_path / "requests.toml"
    scenario.write_text(weir.Scenario.from_dict(REQUESTS).text)
    mine = f"{tmp_path / 'mine.py'}:Mine"
    assert cli.run(["compare", str(scenario), "--discipline", mine, "--discipline", "sjf", "--json"]) in (
        0,
        1,
    )
    assert json.loads(capsys.readouterr().out)["disciplines"] == ["fifo", "Mine", "sjf"]
    assert cli.run(["run", str(scenario), "--discipline", f"{tmp_path / 'mine.py'}:Wrong"]) == 2
    assert "`Wrong.dequeue` returned None" in capsys.readouterr().err


def test_verify_holds_classes_to_the_contract(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(MINE)
    mine = str(tmp_path / "mine.py")
    assert cli.run(["verify", f"{mine}:Mine", "--promise", "work_conserving", "--promise", "flow_order"]) == 0
    assert (
        "Mine keeps the contract and is work_conserving, flow_order in 432 plans" in capsys.readouterr().out
    )
    assert cli.run(["verify", f"{mine}:Wrong"]) == 1
    said = capsys.readouterr().err
    assert re.search(
        r"`Wrong` breaks the contract in plan \d+ \(\d+ arrivals, .*\): `Wrong.dequeue` returned None", said
    )


def test_verify_holds_registered_disciplines_to_what_is_promised(capsys):
    assert cli.run(["verify", "alpha:10", "--promise", "work_conserving", "--promise", "resumable"]) == 0
    assert cli.run(["verify", "drr"]) == 0
    capsys.readouterr()
    assert cli.run(["verify", "sf", "--promise", "flow_order", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert "is finished after item" in error["message"]
    assert "plan" in error["message"]
    assert cli.run(["verify", "jsq"]) == 2
    assert "`jsq` orders no messages and no packets" in capsys.readouterr().err


def test_a_class_that_serves_on_is_held_to_it():
    assert own.promises(own.name_of(Turns)) == ["resumable"]
    assert own.promises(own.name_of(Plain)) == []
    assert cli.run(["verify", "Turns"]) == 0
