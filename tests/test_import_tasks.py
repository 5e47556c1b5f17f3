"""Scenarios made of task sets of rt-app and of wake-ups: what they do, and every refusal with its place."""

import json
import tomllib
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weir
from weir import cli, toml
from weir.errors import ConfigError
from weir.importing import perf, rtapp
from weir.importing.places import Document, Value

TASKS = Path(__file__).parent / "tasks"


def imported(tmp_path: Path, text: str | dict, **options) -> dict:
    path = tmp_path / "tasks.json"
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return tomllib.loads(rtapp.scenario(path, **options).text)


def one(tmp_path: Path, task: dict, **options) -> dict:
    """Return the process that a task becomes."""
    return imported(tmp_path, {"tasks": {"t": task}}, **options)["process"][0]


def program(tmp_path: Path, task: dict) -> list[str]:
    return one(tmp_path, task)["program"].splitlines()


# Task sets.


def test_a_task_set_with_all_that_files_for_rt_app_have():
    made = rtapp.scenario(TASKS / "audio.json")
    found = tomllib.loads(made.text)
    assert found["model"] == "node"
    assert found["node"] == {"epoch": "100ms", "names": ["node"]}
    assert found["stop"] == {"warm_up": "200ms", "duration": "2s"}
    processes = {row["name"]: row for row in found["process"]}
    assert list(processes) == ["Tick", "Output", "Track", "Decoder", "Control", "Worker"]
    assert processes["Tick"]["program"].splitlines() == [
        "loop {",
        "  post Output@Output",
        "  sleep until every 6ms",
        "  loop 4 {",
        "    sleep until every 6ms",
        "  }",
        "}",
    ]
    assert processes["Track"]["program"].splitlines()[3:5] == ["  post queue@Decoder", "  wait queue@Track"]
    assert processes["Control"] == {
        "name": "Control", "count": 2, "priority": 2, "need": "12ms", "period": "100ms", "deadline": "100ms",
        "starts": "5ms", "program": "loop {\n  compute 10ms\n  sleep until every 100ms offset 5ms\n}\n",
    }  # fmt: skip
    assert (processes["Worker"]["need"], processes["Output"]["weight"]) == ("30ms", 71054)
    assert {row["name"]: row["owner"] for row in found["event"]} == {
        "Output@Output": "Output", "Track@Track": "Track", "queue@Track": "Track", "queue@Decoder": "Decoder",
    }  # fmt: skip
    assert "Not simulated: util_max. (Worker)" in made.notes
    assert all(f"# {note}\n" in made.text for note in made.notes)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({"run": 1500, "sleep": 2000}, ["loop {", "  compute 1500us", "  sleep 2ms", "}"]),
        ({"loop": 1, "runtime": 10, "sleep": 0}, ["compute 10us"]),
        ({"loop": 3, "run1": 1, "run2": 2}, ["loop 3 {", "  compute 1us", "  compute 2us", "}"]),
        (
            {"phases": {"a": {"loop": 2, "run": 1}, "b": {"loop": -1, "run": 2, "sleep": 1}}},
            [
                "loop {", "  loop 2 {", "    compute 1us", "  }", "  loop {", "    compute 2us",
                "    sleep 1us", "  }", "}",
            ],
        ),
        (
            {"delay": 7, "run": 1, "timer": {"ref": "unique", "period": 5, "mode": "absolute"}},
            ["loop {", "  compute 1us", "  sleep until every 5us offset 2us", "}"],
        ),
        ({"run": 5, "yield": ""}, ["loop {", "  compute 5us", "}"]),
        ({"run": 5, "resume": "nobody"}, ["loop {", "  compute 5us", "}"]),
        ({"run": 5, "suspend": ""}, ["loop {", "  compute 5us", "  wait t@t", "}"]),
    ],
)  # fmt: skip
def test_what_a_task_does(tmp_path, task, expected):
    assert program(tmp_path, task) == expected


@pytest.mark.parametrize(
    ("task", "need"),
    [
        ({"run": 10_000, "timer": {"ref": "u", "period": 40_000}}, "25ms"),
        ({"run": 1, "sleep": 2}, "33334us"),
        (
            {"phases": {"a": {"loop": 2, "run": 10, "timer": {"period": 50}}, "b": {"run": 20, "sleep": 80}}},
            "20ms",
        ),
        ({"policy": "SCHED_DEADLINE", "dl-runtime": 3, "dl-period": 10, "run": 9}, "30ms"),
        ({"policy": "SCHED_DEADLINE", "runtime": 3, "period": 10, "deadline": 5}, "30ms"),
        ({"run": 10}, None),
        ({"run": 10, "suspend": ""}, None),
        ({"sleep": 10}, None),
    ],
)  # fmt: skip
def test_needs(tmp_path, task, need):
    assert one(tmp_path, task).get("need") == need


def test_the_epoch_scales_needs(tmp_path):
    assert one(tmp_path, {"run": 1, "sleep": 3}, epoch="20ms")["need"] == "5ms"


@pytest.mark.parametrize(
    ("policy", "priority", "weight"),
    [("SCHED_IDLE", 0, None), ("SCHED_OTHER", 1, 1024), ("SCHED_RR", 2, None), ("SCHED_FIFO", 2, None)],
)
def test_policies_become_priorities(tmp_path, policy, priority, weight):
    made = one(tmp_path, {"policy": policy, "priority": 0, "run": 1})
    assert (made["priority"], made.get("weight")) == (priority, weight)


def test_broad_wakes_every_instance_that_waits(tmp_path):
    waiters = {"instance": 2, "wait": {"ref": "go", "mutex": "m"}, "run": 1}
    found = imported(tmp_path, {"tasks": {"w": waiters, "b": {"broad": "go", "sleep": 9}}})
    assert [row["name"] for row in found["process"]] == ["w.1", "w.2", "b"]
    assert [row["owner"] for row in found["event"]] == ["w.1", "w.2"]
    assert found["process"][2]["program"].splitlines()[1:3] == ["  post go@w.1", "  post go@w.2"]


def test_sync_signals_and_waits(tmp_path):
    first = {"sync": {"ref": "q", "mutex": "m"}, "run": 1}
    second = {"wait": {"ref": "q", "mutex": "m"}, "run": 1, "signal": "q"}
    found = imported(tmp_path, {"tasks": {"a": first, "b": second}})
    assert found["process"][0]["program"].splitlines()[1:3] == ["  post q@b", "  wait q@a"]


def test_processors_become_nodes(tmp_path):
    tasks = {
        "a": {"cpus": [3], "run": 1}, "b": {"cpus": [0], "run": 1}, "c": {"cpus": [0, 3], "run": 1},
        "none": {"instance": 0, "cpus": [7], "run": 1},
    }  # fmt: skip
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"tasks": tasks}))
    made = rtapp.scenario(path)
    found = tomllib.loads(made.text)
    assert found["node"]["names"] == ["cpu0", "cpu3"]
    assert [row["node"] for row in found["process"]] == ["cpu3", "cpu0", "cpu0"]
    assert "Put on cpu0, as it is tied to no processor: (c)" in made.notes
    assert "Left out, without an instance: (none)" in made.notes


def test_names_become_words_and_stay_apart(tmp_path):
    task = {"suspend": "a b", "suspend2": "a,b", "run": 1}
    found = imported(tmp_path, {"tasks": {"x y": task, "w": {"resume": "a b", "run": 1}}})
    assert [row["name"] for row in found["event"]] == ["a_b@x_y", "a_b@x_y.2"]
    assert found["process"][0]["name"] == "x y"


def test_names_that_results_have_for_something_else_are_changed(tmp_path):
    path = tmp_path / "tasks.json"
    waiting = {"suspend": "", "run": 1}
    tasks = {"idle": waiting, "idle_": {"run": 1, "resume": "idle"}, "all": {"instance": 2, "run": 1}}
    path.write_text(json.dumps({"tasks": tasks, "global": {"duration": 1}}))
    made = rtapp.scenario(path)
    weir.Scenario.from_toml(made.text, str(tmp_path / "s.toml"))
    found = tomllib.loads(made.text)
    assert [row["name"] for row in found["process"]] == ["idle__", "idle_", "all_"]
    assert found["event"] == [{"name": "idle@idle__", "owner": "idle__"}]
    assert "post idle@idle__" in found["process"][1]["program"]
    assert "Task 'idle' is called 'idle__' here: results have 'idle' for something else." in made.notes


def test_without_an_end_the_scenario_has_one(tmp_path):
    task = {"tasks": {"t": {"run": 1}}}
    assert imported(tmp_path, task)["stop"] == {"warm_up": "1s", "duration": "11s"}
    short = {**task, "global": {"duration": 1}}
    assert imported(tmp_path, short, epoch="2s")["stop"] == {"warm_up": "0us", "duration": "4s"}


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", (1, 1), "found the end of the file where a value must be"),
        ("[]", (1, 1), "the file is [, must be an object"),
        ('{"global": {}}', (1, 1), "`tasks` is missing"),
        ('{"tasks": {}}', (1, 11), "`tasks` has none that runs"),
        ('{"tasks": {"t": {"run": 1}', (1, 27), "found the end of the file where a comma or `}` must be"),
        ('{"tasks": {"t": {"run": 1} "u"', (1, 28), 'found "u" where a comma'),
        ('{"tasks": {t: 1}}', (1, 12), "found t where a key in quotation marks must be"),
        ('{"tasks": {"t": {\n "run" 1}}}', (2, 8), "found 1 where a colon must be"),
        ('{"tasks": /* open', (1, 11), "'/*' is no part of JSON"),
        ('{"tasks": "\\q"}', (1, 12), "text is refused: invalid \\escape"),
        ('{"tasks": yes}', (1, 11), "`yes` is no value of JSON"),
        ('{"tasks": 1e9}', (1, 11), "tasks is 1e9, must be an object"),
        ('{"tasks": 1e}', (1, 11), "'1e}' is no part of JSON"),
        ("[" * 40, (1, 33), "nothing deeper"),
        ('{"tasks": {"t": {"run": 1}}} x', (1, 30), "found x where the end of the file must be"),
        ('{"tasks": {"t": {"run": -1}}}', (1, 25), "run is -1, must be a whole number from 0"),
        ('{"tasks": {"t": {"run": 1.5}}}', (1, 25), "run is 1.5, must be a whole number"),
        ('{"tasks": {"t": {"run": 1e30}}}', (1, 25), "run is 1e30, must be a whole number"),
        ('{"tasks": {"t": {"run": 1' + 29 * "0" + "}}}", (1, 25), "must be a whole number from 0 to"),
        ('{"tasks": {"t": {"run": true}}}', (1, 25), "run is true, must be"),
        ('{"tasks": {"t": {"run": 1, "loop": 0}}}', (1, 36), "loop is 0, must be -1 (for ever) or from 1"),
        ('{"tasks": {"t": {"loop": 5}}}', (1, 12), '"t" has no events'),
        ('{"tasks": {"t": {"phases": {}}}}', (1, 28), 'task "t" has no phases'),
        ('{"tasks": {"t": {"run": 1, "prioriti": 1}}}', (1, 28), '"prioriti" is unknown'),
        ('{"tasks": {"t": {"loop": 1, "loop": 2, "run": 1}}}', (1, 29), '"loop" of task "t" stands twice'),
        ('{"tasks": {"t": {"run": 1}, "t": {"run": 1}}}', (1, 29), 'task "t" stands twice'),
        ('{"tasks": {"t": {"run": 1, "policy": "SCHED_EXT"}}}', (1, 38), 'policy is "SCHED_EXT"'),
        ('{"tasks": {"t": {"run": 1, "priority": 50}}}', (1, 40), "priority is 50, must be"),
        ('{"tasks": {"t": {"run": 1, "instance": 99999}}}', (1, 40), "instance is 99999, must be"),
        ('{"tasks": {"t": {"instance": 9999, "run": 1}, "u": {"instance": 2, "run": 1}}}', (1, 47), "10,000"),
        ('{"tasks": {"t": {"run": 1, "cpus": []}}}', (1, 36), "cpus is [, must be an array"),
        ('{"tasks": {"t": {"timer": 5}}}', (1, 27), '"timer" is 5, must be an object'),
        ('{"tasks": {"t": {"timer": {"ref": "a"}}}}', (1, 18), '"timer" has no `period`'),
        ('{"tasks": {"t": {"timer": {"period": 0}}}}', (1, 38), "period is 0, must be from 1"),
        (
            '{"tasks": {"t": {"timer": {"period": 5}, "timer2": {"period": 6}}}}',
            (1, 18),
            'timer "unknown" has the periods 5 us and 6 us, may have one here',
        ),
        ('{"tasks": {"t": {"mem": 5}}}', (1, 18), "the event `mem` is not simulated"),
        ('{"tasks": {"t": {"run": 1, "barrier": "b"}}}', (1, 28), "the event `barrier` is not simulated"),
        ('{"tasks": {"t": {"run": 1, "fork": "u"}}}', (1, 28), "the event `fork` is not simulated"),
        ('{"tasks": {"t": {"lock": "m", "run": 1, "unlock": "m"}}}', (1, 18), '"m" guards no condition'),
        ('{"tasks": {"t": {"run": 1, "resume": 5}}}', (1, 38), '"resume" is 5, must be text'),
        ('{"tasks": {"": {"run": 1}}}', (1, 12), 'the name of task "" must have 1 to 100 characters'),
        ('{"tasks": {" t": {"run": 1}}}', (1, 12), "no outer blanks"),
        ('{"tasks": {"t\\u0085": {"run": 1}}}', (1, 12), "no control characters"),
        ('{"tasks": {"t\\ud800": {"run": 1}}}', (1, 12), "no control characters"),
        ('{"tasks": {"' + "t" * 101 + '": {"run": 1}}}', (1, 12), "must have 1 to 100 characters"),
        ('{"tasks": {"t": {"run": 1, "resume": "a\\n"}}}', (1, 38), 'the name "a\\n" of "resume" must have'),
        ('{"tasks": {"t": {"wait": {"ref": "a\\n"}}}}', (1, 34), 'ref "a\\n" must have 0 to 100 characters'),
        (
            '{"tasks": {"' + "t" * 99 + '": {"instance": 2, "run": 1}}}',
            (1, 12),
            "whose name may have 100 characters",
        ),
        (
            '{"tasks": {"t": {"instance": 2, "run": 1}, "t.2": {"run": 1}}}',
            (1, 44),
            'task "t.2" makes a process "t.2", as another task does',
        ),
        ('{"tasks": {"t": {"run": 0}}}', (1, 12), 'task "t" never runs, sleeps or waits'),
        (
            '{"tasks": {"t": {"run": 1, "policy": "SCHED_DEADLINE"}}}',
            (1, 12),
            'task "t" is SCHED_DEADLINE and has dl-runtime 0 us',
        ),
        (
            '{"tasks": {"w": {"instance": 2, "wait": {"ref": "q"}}, "s": {"signal": "q", "run": 1}}}',
            (1, 62),
            'signal "q": 2 threads wait for it, and who is first is not simulated',
        ),
    ],
)  # fmt: skip
def test_a_task_set_is_refused_with_its_place(tmp_path, text, place, said):
    with pytest.raises(ConfigError) as refused:
        imported(tmp_path, text)
    assert said in refused.value.message
    assert (refused.value.line, refused.value.column) == place
    assert refused.value.remedy
    assert refused.value.file == str(tmp_path / "tasks.json")


def plain(value: Value):
    if value.pairs is not None:
        return {str(key.held): plain(each) for key, each in value.pairs}
    return value.held if value.values is None else [plain(each) for each in value.values]


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(tree=TREES, indent=st.sampled_from([None, 1]))
def test_json_is_read_as_the_standard_library_reads_it(tree, indent):
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
        file.write(json.dumps(tree, indent=indent))
        file.flush()
        assert plain(Document(Path(file.name), "repair it").root) == tree


@given(text=st.text(alphabet='{}[]:,"\\ a1-.\n/*', max_size=40))
def test_any_text_is_read_or_refused(text):
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
        file.write(text)
        file.flush()
        with suppress(ConfigError):
            Document(Path(file.name), "repair it")


def test_events_of_long_names_are_cut_and_told_apart(tmp_path):
    long = "e" * 100
    tasks = {name: {"wait": {"ref": long}, "run": 1} for name in ("a", "b")}
    tasks["poster"] = {"broad": long, "sleep": 5}
    found = imported(tmp_path, {"tasks": tasks})
    assert [(row["name"], row["owner"]) for row in found["event"]] == [
        ("e" * 90, "a"),
        ("e" * 90 + ".2", "b"),
    ]
    path = tmp_path / "s.toml"
    path.write_text(rtapp.scenario(tmp_path / "tasks.json").text)
    weir.Scenario.from_file(path)


@pytest.mark.parametrize("epoch", ["", "100", "0ms", "0.5us", "1h", "2000s", "9" * 99 + "s"])
def test_an_epoch_is_checked(tmp_path, epoch):
    with pytest.raises(ConfigError, match="epoch is ") as refused:
        imported(tmp_path, {"tasks": {"t": {"run": 1}}}, epoch=epoch)
    assert refused.value.remedy


def test_a_large_file_and_one_that_is_not_there(tmp_path):
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    with pytest.raises(ConfigError, match="has 17,825,792 bytes, may have 16,777,216"):
        rtapp.scenario(tmp_path / "large.json")
    with pytest.raises(ConfigError, match="cannot be read"):
        rtapp.scenario(tmp_path / "none.json")


def test_the_command_line_imports_a_task_set(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["import", "rtapp", str(TASKS / "audio.json"), "--epoch", "50ms", "--out", "n.toml"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("note: ")
    assert out.endswith("wrote n.toml\n")
    assert tomllib.loads((tmp_path / "n.toml").read_text())["node"]["epoch"] == "50ms"
    assert cli.run(["import", "rtapp", str(TASKS / "audio.json")]) == 0
    assert tomllib.loads(capsys.readouterr().out)["model"] == "node"
    (tmp_path / "bad.json").write_text('{"tasks": {"t": {"mem": 5}}}')
    assert cli.run(["import", "rtapp", "bad.json", "--out", "bad.toml"]) == 2
    assert "error: bad.json:1:18: " in capsys.readouterr().err
    assert not (tmp_path / "bad.toml").exists()


def test_programs_stand_on_lines_of_their_own():
    text = toml.dumps({"program": 'say "x\\y"\n  end\n', "title": "a\nb"})
    assert text == 'program = """\nsay \\"x\\\\y\\"\n  end\n"""\ntitle = "a\\nb"\n'
    assert tomllib.loads(text) == {"program": 'say "x\\y"\n  end\n', "title": "a\nb"}


# Wake-ups.


def replayed(tmp_path: Path, text: str, **options) -> tuple[dict, dict[str, str]]:
    path = tmp_path / "seen.csv"
    path.write_text(text)
    made = perf.write(path, tmp_path / "out", **options)
    files = {each.name: each.read_text() for each in made.replays}
    return tomllib.loads(made.scenario.read_text()), files


def test_wake_ups_become_replays_and_needs(tmp_path):
    text = "task,wake,run_ms\na,1.0,5\nb,1.01,10\na,1.1,5\na,1.3,10\n"
    scenario, files = replayed(tmp_path, text, margin=0)
    assert files == {
        "a.csv": "wake_ns,run_ns\n0,5000000\n100000000,5000000\n300000000,10000000\n",
        "b.csv": "wake_ns,run_ns\n10000000,10000000\n",
    }
    # Four epochs of 100 ms from the first wake-up to the end of the last run.
    assert scenario["process"] == [
        {"name": "a", "need": "5000000ns", "replay": "a.csv"},
        {"name": "b", "need": "2500000ns", "replay": "b.csv"},
    ]
    assert scenario["stop"] == {"warm_up": "0s", "duration": "500000000ns"}


def test_a_margin_and_an_epoch(tmp_path):
    text = "task,wake,run\na,0,0.010\n"
    scenario, _ = replayed(tmp_path, text, margin=25, epoch="50ms")
    assert scenario["process"][0]["need"] == "12500000ns"
    scenario, _ = replayed(tmp_path, text, margin=1000, epoch="10ms")
    assert scenario["process"][0]["need"] == "10000000ns"
    assert "more than one processor has" not in (tmp_path / "out" / "scenario.toml").read_text()


def test_what_perf_prints_is_read(tmp_path):
    made = perf.write(TASKS / "timehist.csv", tmp_path / "out.toml")
    assert [path.name for path in made.replays] == ["out.player_812.csv", "out.indexer_0.csv"]
    assert made.replays[0].read_text() == ("wake_ns,run_ns\n0,2500000\n20500000,2500000\n43000000,2500000\n")
    assert made.replays[1].read_text() == "wake_ns,run_ns\n3000000,7000000\n10000000,27000000\n"
    assert "Left out: 1 row of the idle task." in made.notes
    processes = tomllib.loads(made.scenario.read_text())["process"]
    assert [row["name"] for row in processes] == ["player[812]", "indexer/0"]


def test_more_than_a_processor_is_said(tmp_path):
    text = "task,wake,run\na,0,0.09\nb,0,0.09\n"
    replayed(tmp_path, text)
    told = (tmp_path / "out" / "scenario.toml").read_text()
    assert "# The needs are 198 ms in an epoch of 100 ms: more than one processor has.\n" in told


def test_wake_ups_of_a_task_whose_name_means_something_else(tmp_path):
    scenario, _ = replayed(tmp_path, "task,wake,run_ms\nall,1.0,5\nidle,1.0,5\n")
    assert [row["name"] for row in scenario["process"]] == ["all_", "idle_"]
    weir.Scenario.from_file(tmp_path / "out" / "scenario.toml")
    assert "# Task 'all' is called 'all_' here" in (tmp_path / "out" / "scenario.toml").read_text()


def test_files_of_tasks_have_names_of_their_own(tmp_path):
    text = 'task,wake,run\n"a,b",0,1\na b,0,1\nA B,0,1\n../x,0,1\n...,0,1\n'
    _, files = replayed(tmp_path, text)
    assert list(files) == ["a_b.csv", "a_b.2.csv", "A_B.3.csv", "x.csv", "task.csv"]
    assert {path.name for path in tmp_path.iterdir()} == {"seen.csv", "out"}


def test_the_longest_span_is_one_that_a_scenario_has(tmp_path):
    replayed(tmp_path, "task,wake,run\na,1,1\nb,1000000,1\n")
    weir.Scenario.from_file(tmp_path / "out" / "scenario.toml")


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("", (None, None), "has no wake-ups"),
        ("task,wake,run\n", (None, None), "has no wake-ups"),
        ("task,wake,run\n<idle>,0,1\n", (None, None), "has no wake-ups"),
        ("task,wake\na,1\n", (1, None), "the header has no column `run`"),
        ("task,run\na,1\n", (1, None), "the header has no column `wake`"),
        ("wake,run\n1,1\n", (1, None), "the header has no column `task`"),
        ("task,wake,run,comm\n", (1, 4), "the header names `task` twice"),
        ("task,wake,run\na,1\n", (2, None), "has 2 fields, must have 3"),
        ("task,wake,run\n\na,x,1\n", (3, 2), "wake is 'x', must be a number from 0"),
        ("task,wake,run\na,1,-1\n", (2, 3), "run is '-1', must be a number from 0"),
        ("task,wake,run\na,1,nan\n", (2, 3), "run is 'nan', must be"),
        ("task,wake,run\na,1,1e99\n", (2, 3), "run is '1e99', must be a number from 0 to 1,000,000,000"),
        ("task,wake,run\na,1," + "1" * 99 + "\n", (2, 3), "run is '1111"),
        ("task,wake,run\n,1,1\n", (2, 1), "the task's name must have 1 to 100 letters"),
        (f"task,wake,run\n{'a' * 101},1,1\n", (2, 1), "the task's name must have 1 to 100 letters"),
        ("task,wake,run\na,2,1\nb,1,1\na,1.5,1\n", (4, 2), "'a' wakes at 1.5 s, before it did"),
        ("task,time,run\na,1,2\n", (2, 2), "time is 1 s, must be at least run time and delay, 2 s"),
        ('task,wake,run\n"a,1,1\n', (2, None), "is no CSV"),
        (f"task,wake,run\n{'a' * 2_000_000}", (2, None), "is no CSV: a line has more than 1,048,576"),
        (
            "task,wake,run\na,1,1\nb,1000000.5,1\n", (3, None),
            "the rows up to here span 1000000.5 s, must span at most 1000000 s",
        ),
        ("task,wake,run\na,1000001,1\nb,0.5,1\n", (3, None), "the rows up to here span 1000001.5 s"),
        ("task,wake,run\n" + "".join(f"t{n},1,1\n" for n in range(1001)), (1002, 1), "more than 1,000"),
    ],
)  # fmt: skip
def test_wake_ups_are_refused_with_their_place(tmp_path, text, place, said):
    path = tmp_path / "seen.csv"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        perf.write(path, tmp_path / "out")
    assert said in refused.value.message
    assert (refused.value.line, refused.value.column) == place
    assert refused.value.remedy
    assert refused.value.file == str(path)
    assert not (tmp_path / "out").exists()


def test_bytes_that_are_no_text_and_a_file_that_is_not_there(tmp_path):
    (tmp_path / "seen.csv").write_bytes(b"task,wake,run\n\xff,1,1\n")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        perf.write(tmp_path / "seen.csv", tmp_path / "out")
    with pytest.raises(ConfigError, match="cannot be read: no such file"):
        perf.write(tmp_path / "none.csv", tmp_path / "out")


@pytest.mark.parametrize("margin", [-1, 1001, float("nan")])
def test_a_margin_is_checked(tmp_path, margin):
    with pytest.raises(ConfigError, match="margin is"):
        replayed(tmp_path, "task,wake,run\na,1,1\n", margin=margin)


def test_the_command_line_imports_wake_ups(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["import", "perf", str(TASKS / "timehist.csv"), "--margin", "20"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("6 rows of 2 tasks\nnote: Needs are what each task ran")
    assert out.endswith("next: weir compare timehist/scenario.toml\n")
    assert cli.run(["import", "perf", str(TASKS / "timehist.csv"), "--out", "n.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["replays"] == ["n.player_812.csv", "n.indexer_0.csv"]


def test_a_deadline_task_has_its_part_under_every_discipline(tmp_path):
    path = tmp_path / "tasks.json"
    served = {"policy": "SCHED_DEADLINE", "dl-runtime": 1500, "dl-period": 10_000}
    control = {**served, "run": 1000, "timer": {"ref": "t", "period": 10_000}}
    tasks = {"control": control, "hog": {"run": 1_000_000, "priority": 0}}
    path.write_text(json.dumps({"tasks": tasks, "global": {"duration": 1}}))
    made = rtapp.scenario(path).text
    found = tomllib.loads(made)["process"][0]
    assert (found["need"], found["period"], found["deadline"]) == ("15ms", "10ms", "10ms")
    result = weir.run(weir.Scenario.from_toml(made), threads=1)
    assert result.disciplines == ("epoch", "cbs:reclaim=grub", "eevdf", "priority_rr")
    assert not result.warnings
    for name in result.disciplines:
        # 1 ms of every 10, of 1.5 that are promised; what is left is the hog's.
        assert result.estimate(name, name="control", metric="epoch_run").value == pytest.approx(0.01)
        assert result.totals(name, "hog").run_time == pytest.approx(0.9 * result.measured)
        assert result.totals(name, "control").late == 0


def test_a_deadline_task_that_wants_more_gets_what_it_is_promised(tmp_path):
    path = tmp_path / "tasks.json"
    served = {"policy": "SCHED_DEADLINE", "dl-runtime": 1500, "dl-period": 10_000, "run": 9000}
    path.write_text(
        json.dumps({"tasks": {"greedy": served, "hog": {"run": 1000}}, "global": {"duration": 1}})
    )
    document = tomllib.loads(rtapp.scenario(path).text) | {"disciplines": ["cbs"]}
    result = weir.run(weir.Scenario.from_toml(toml.dumps(document)), threads=1)
    assert result.totals("cbs", "greedy").needs_missed == 0
    assert result.estimate("cbs", name="greedy", metric="share").value == pytest.approx(0.15, abs=0.002)


def test_what_is_imported_runs(tmp_path):
    short = {"stop": {"warm_up": "0s", "duration": "200ms"}, "disciplines": ["epoch", "eevdf"]}
    for made in (
        rtapp.scenario(TASKS / "audio.json").text,
        perf.write(TASKS / "timehist.csv", tmp_path / "p.toml").scenario.read_text(),
    ):
        weir.Scenario.from_toml(made, str(tmp_path / "s.toml"))
        text = toml.dumps({**tomllib.loads(made), **short})
        result = weir.run(weir.Scenario.from_toml(text, str(tmp_path / "s.toml")), threads=1)
        assert result.ok
        assert not result.interrupted
