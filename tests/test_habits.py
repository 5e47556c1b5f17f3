"""What a person expects of a command line: names, settings, standard input, outputs that fail."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

import network_results
import weir
from test_import_pcap import CAPTURE, ROWS
from weir import cli, progress
from weir.cli.scenarios import begun
from weir.models import MODELS
from weir.registry import discipline, disciplines, textbook
from weir.results import page, terminal
from weir.results.labels import is_classic, labels

WEIR = [sys.executable, "-m", "weir"]
PORT = """\
weir = 1
model = "port"
disciplines = ["fifo", "in_order(sf)", "alpha:10.0"]
[workload]
load = 0.5
[stop]
packets = 2_000
"""


def call(capsys, *arguments: object) -> tuple[int, str, str]:
    code = cli.run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "port.toml"
    path.write_text(PORT)
    return path


def shell(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHON": sys.executable, **more}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


# Finding C3: names.


@pytest.mark.parametrize("columns", ["100", "60"])
def test_c3_the_list_always_shows_the_kind_and_who_takes_it(columns: str, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, _ = call(capsys, "list")
    rows = [line.split() for line in out.splitlines()]
    assert code == 0
    assert [row[1:3] for row in rows if row[:1] == ["rr"]] == [["message", "port"], ["dispatcher", "server"]]
    row = next(row for row in rows if row[:1] == ["fifo"])
    assert row[1:3] == ["message", "port,"]
    assert "not shown at this width: work per item, parameters" in " ".join(out.split())


def test_c3_a_model_lists_what_it_takes(capsys):
    out = call(capsys, "list", "--model", "server", "--json")[1]
    kinds = {row["kind"] for row in json.loads(out)}
    assert kinds == {"dispatcher", "pool"}
    assert "per_server(jsq,discipline=sf)" in call(capsys, "list", "--model", "server")[1]
    code, _, err = call(capsys, "list", "--model", "router")
    assert (code, "'port', 'network', 'fabric', 'node', 'server'" in err) == (2, True)


def refusal_of(model: str, spec: str) -> weir.ScenarioError | None:
    document = tomllib.loads(begun(model)) | {"disciplines": [spec]}
    del document["reference"]
    try:
        weir.Scenario.from_dict(document)
    except weir.ScenarioError as error:
        return error
    return None


@pytest.mark.parametrize("model", MODELS)
def test_c3_a_model_takes_what_is_listed_for_it_and_nothing_else(model: str):
    names = {(row["name"], row["kind"]) for row in disciplines() if model in row["models"]}
    for row in disciplines():
        error = refusal_of(model, row["example"])
        about = f"{row['name']}: {error}"
        if (row["name"], row["kind"]) in names:
            assert error is None or "not a discipline of" not in error.message, about
        elif row["name"] != "rr":
            assert "not a discipline of" in str(error), about


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("fcfs", "fifo"),
        ("FCFS", "fifo"),
        ("srpt", "sf"),
        ("spt", "sjf"),
        ("foreground-background", "las"),
        ("edf", "cbs"),
    ],
)
def test_c3_textbook_names_are_explained(name: str, here: str, capsys):
    code, out, _ = call(capsys, "explain", name)
    first = out.splitlines()[0]
    assert (code, f"is called `{here}` here" in first) == (0, True)
    assert f"\n{here}: " in out
    assert discipline(name)["name"] == here


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("lcfs", "rank:-arrival"),
        ("LCFS preemptive", "rank(-arrival,preempt=yes)"),
        ("nonpreemptive-priority", "rank:class"),
        ("preemptive priority", "rank(class,preempt=yes)"),
    ],
)
def test_textbook_names_that_are_one_use_of_a_discipline_are_written_out(name: str, here: str, capsys):
    code, out, _ = call(capsys, "explain", name)
    assert (code, f"is written `{here}` here" in out.splitlines()[0], "\nrank: " in out) == (0, True, True)


def test_what_is_not_here_is_said_to_be_so(capsys):
    code, _, err = call(capsys, "explain", "M/M/1")
    assert (code, "weir new port" in err, "did you mean" in err) == (2, True, False)
    assert textbook("alpha") is None


def test_c3_a_port_that_is_asked_for_fcfs_is_told_of_fifo(capsys, file: Path):
    code, _, err = call(capsys, "check", file, "--set", 'disciplines=["fcfs"]')
    assert (code, "first come, first served is called `fifo` here" in err, "cfcfs" in err) == (2, True, False)


@pytest.mark.parametrize(
    ("name", "orders"), [("eevdf", "processes of a node"), ("darc", "requests to a pool of cores")]
)
def test_c3_a_queue_says_what_it_takes(name: str, orders: str):
    with pytest.raises(
        weir.ConfigError,
        match=rf"^`{name}` orders {orders}, and a queue takes disciplines of messages and of packets",
    ) as refused:
        weir.Queue(name)
    assert refused.value.remedy.startswith("choose one of `fifo`, `rr`")


# Finding C3: settings, check, standard input, new scenarios.


def test_c3_settings_take_the_place_of_keys(capsys, file: Path):
    given = ("--set", "workload.load=0.9", "--set", "seed=7", "--set", 'disciplines=["fifo", "sf"]')
    code, out, _ = call(capsys, "run", file, *given, "--json")
    result = json.loads(out)
    assert code != 2
    assert (result["load"], result["seed"], result["disciplines"]) == (0.9, 7, ["fifo", "sf"])
    written = PORT.replace("0.5", "0.9").replace('"in_order(sf)", "alpha:10.0"', '"sf"')
    same = weir.Scenario.from_toml(f"seed = 7\n{written}")
    assert result["fingerprint"] == same.fingerprint


def test_c3_settings_reach_into_lists_and_carry_units(capsys, tmp_path: Path):
    path = tmp_path / "network.toml"
    path.write_text(begun("network"))
    for key in ("link.0.rate", "link[0].rate"):
        out = call(capsys, "check", path, "--set", f"{key}=20Mbit", "--json")[1]
        assert json.loads(out)[0]["ok"]
    found = {
        call(capsys, "check", path, "--set", f"link.0.rate={rate}")[1]
        for rate in ("20Mbit", "20_000_000bit", "9Mbit")
    }
    assert len(found) == 3


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("workload.lood=0.9", "--set workload.lood=0.9: workload.lood is not a key here"),
        ("workload.load=x", '--set workload.load=x: workload.load is "x", of the wrong type'),
        ("workload.load.mean=1", "`workload.load` is 0.5 in the file, and has no key `mean`"),
        ("disciplines.9=sf", "`disciplines` is a list, which has no place `9`"),
        ("load", "--set is 'load', must be a key and its value"),
        ("=3", "--set is '=3', must be a key and its value"),
    ],
)
def test_c3_a_setting_that_is_refused_is_named(setting: str, says: str, capsys, file: Path):
    for command in ("check", "run", "compare", "theory"):
        code, out, err = call(capsys, command, file, "--set", setting)
        assert (code, out, says in err) == (2, "", True), err


def test_c3_an_error_of_the_file_keeps_its_place_under_settings(capsys, file: Path):
    file.write_text(PORT.replace("packets = 2_000", "packet = 2_000"))
    err = call(capsys, "check", file, "--set", "seed=3")[2]
    assert f"{file}:7:1: stop.packet is not a key here" in err


def test_c3_check_reads_files_and_runs_nothing(capsys, file: Path, tmp_path: Path):
    bad = tmp_path / "bad.toml"
    bad.write_text(PORT.replace("load =", "laod ="))
    code, out, err = call(capsys, "check", file)
    fingerprint = weir.Scenario.from_file(file).fingerprint
    assert (code, out, err) == (0, f"{file}: OK, port, 3 disciplines, fingerprint {fingerprint}\n", "")
    code, out, err = call(capsys, "check", bad, file, tmp_path / "none.toml")
    assert (code, out.count(": OK, "), err.count("error: ")) == (2, 1, 2)
    rows = json.loads(call(capsys, "check", bad, file, "--json")[1])
    assert [row["ok"] for row in rows] == [False, True]
    assert (rows[0]["error"]["key"], rows[1]["fingerprint"]) == ("workload.laod", fingerprint)


def test_c3_standard_input_is_a_scenario(file: Path, tmp_path: Path):
    done = shell(f"$PYTHON -m weir run - --json < {file}", tmp_path)
    found = json.loads(done.stdout)
    # It is too short for its quantiles.
    assert (done.returncode, found["file"]) == (1, "standard input")
    assert found["estimates"] == json.loads(weir.run(file).to_json())["estimates"]
    done = shell("echo 'weir = 2' | $PYTHON -m weir check -", tmp_path)
    assert (done.returncode, "error: standard input:1:" in done.stderr) == (2, True)


def test_c3_standard_input_is_a_capture(tmp_path: Path):
    (tmp_path / "uplink.pcap").write_bytes(CAPTURE)
    done = shell("cat uplink.pcap | $PYTHON -m weir import pcap -", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "capture" / "packets.csv").read_text() == ROWS
    assert weir.Scenario.from_file(tmp_path / "capture" / "scenario.toml").model == "network"


def test_c3_standard_input_is_a_task_set(tmp_path: Path):
    tasks = {"tasks": {"control": {"loop": -1, "run": 3000, "timer": {"ref": "tick", "period": 20000}}}}
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    piped = shell("cat tasks.json | $PYTHON -m weir import rtapp -", tmp_path)
    named = shell("$PYTHON -m weir import rtapp tasks.json", tmp_path)
    assert piped.returncode == named.returncode == 0, piped.stderr
    assert piped.stdout.replace("stdin", "tasks.json") == named.stdout
    refused = shell("echo | $PYTHON -m weir import tg -", tmp_path)
    assert (refused.returncode, "save the script" in refused.stderr) == (2, True)


@pytest.mark.parametrize("model", MODELS)
def test_c3_a_new_scenario_runs_as_it_stands(model: str, capsys, tmp_path: Path):
    target = tmp_path / f"{model}.toml"
    code, out, _ = call(capsys, "new", model, "--out", target)
    assert (code, out) == (0, f"wrote {target}\nnext: weir compare {target}\n")
    assert target.read_text() == call(capsys, "new", model)[1]
    result = weir.compare(target)
    assert (result.model, result.ok, result.interrupted) == (model, True, False)
    comments = [line for line in target.read_text().splitlines() if "#" in line]
    assert len(comments) > 10
    assert max(map(len, target.read_text().splitlines())) <= 120
    code, _, err = call(capsys, "new", model, "--out", target)
    assert (code, "exists" in err) == (2, True)


@pytest.mark.parametrize("model", MODELS)
def test_c3_what_a_new_scenario_leaves_commented_out_is_accepted_too(model: str):
    text = begun(model)
    for found in re.finditer(r"(?m)^# ((?:\w+ = |\[).*)$", text):
        key = found[1].split(" = ")[0]
        if found[1].startswith(("[", "packet ", "trace ")):
            continue  # a section with its key below, and a file that nobody has
        changed = re.sub(rf"(?m)^{key} = .*\n", "", text).replace(found[0], found[1])
        assert weir.Scenario.from_toml(changed).model == model, found[1]


# Finding C3: completion.


def completed(line: list[str], folder: Path) -> set[str]:
    words = " ".join(f"'{word}'" for word in line)
    script = (
        f"source <($PYTHON -m weir completion bash); COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _weir"
    )
    done = shell(f'{script}; printf "%s\\n" "${{COMPREPLY[@]}}"', folder)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_c3_bash_completes_what_the_parser_has(tmp_path: Path):
    assert completed(["weir", "re"], tmp_path) == {"reproduce", "report"}
    assert completed(["weir", "import", ""], tmp_path) == {
        "tg",
        "pcap",
        "opensm",
        "rtapp",
        "perf",
        "exec",
        "log",
    }
    assert completed(["weir", "run", "x.toml", "--se"], tmp_path) == {"--set", "--seed", "--settle"}
    assert completed(["weir", "list", "--model", "n"], tmp_path) == {"network", "node"}
    assert completed(["weir", "explain", "fq"], tmp_path) == {"fq", "fq_codel"}
    assert completed(["weir", "new", ""], tmp_path) == set(MODELS)


def test_c3_each_command_has_a_sound_manual_page(tmp_path: Path, capsys):
    assert call(capsys, "manual", tmp_path) == (0, "", "")
    names = {page.stem for page in tmp_path.iterdir()}
    assert {"weir", "weir-run", "weir-import-tg", "weir-live-testbed"} <= names
    shown = {
        f"weir-{name}"
        for name in re.findall(r"(?m)^  (\w+)  ", call(capsys, "--help")[1].partition("Commands:")[2])
    }
    assert len(shown) > 20
    assert shown <= names
    run = (tmp_path / "weir-run.1").read_text()
    assert all(
        f"\n.SH {part}\n" in run for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "OPTIONS")
    )
    assert "\\fB\\-\\-threads\\fR \\fIN\\fR" in run
    if shutil.which("groff"):
        for page in sorted(tmp_path.iterdir()):
            read = subprocess.run(
                ["groff", "-man", "-ww", "-z", "-Tutf8", page], capture_output=True, text=True, check=True
            )
            assert read.stderr == "", page.name


def test_c3_manual_pages_need_a_folder(tmp_path: Path, capsys):
    code, _, err = call(capsys, "manual", tmp_path / "none")
    assert (code, "which is no folder" in err, list(tmp_path.iterdir())) == (2, True, [])


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_c3_a_shell_reads_its_script(name: str, tmp_path: Path, capsys):
    code, script, _ = call(capsys, "completion", name)
    assert (code, "reproduce" in script, "--threads" in script or "-l threads" in script) == (0, True, True)
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    (tmp_path / "script").write_text(script)
    subprocess.run([name, "-n", tmp_path / "script"], check=True)
    assert call(capsys, "completion", "tcsh")[0] == 2


# Finding C4: what a pipe shows.


def test_c4_a_pipe_is_as_wide_as_the_documents(file: Path, tmp_path: Path):
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    for arguments in (["list"], ["compare", str(file)], ["explain", "alpha"]):
        done = subprocess.run(
            [*WEIR, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert max(map(len, done.stdout.splitlines())) <= 100


def test_c4_a_narrow_terminal_is_honoured(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "72")
    assert terminal.console().width == 72
    out = call(capsys, "explain", "alpha")[1]
    assert max(map(len, out.splitlines())) <= 72


def test_c4_a_reproduction_can_be_one_line(monkeypatch, capsys):
    import test_reproduce_checks as made

    assert made
    from weir.cli import tour

    class Found:
        def line(self) -> str:
            return "alpha, quick: 3 of 3 checks met, 0 not met, 0 artefact"

        empty = interrupted = not_met = not_checkable = 0

    monkeypatch.setattr(tour, "_reproduced", lambda *_, **__: Found())
    assert call(capsys, "reproduce", "alpha", "--quick", "--brief") == (0, f"{Found().line()}\n", "")


# Finding C6: names as they are written.


def test_c6_a_result_names_disciplines_as_they_are_written(file: Path):
    result = weir.run(file)
    assert result.disciplines == ("fifo", "in_order(sf)", "alpha:10.0")
    assert result.canonical == ("fifo", "in_order:sf", "alpha:10")
    assert json.loads(result.to_json())["canonical"] == list(result.canonical)
    one, other = (result.estimate(name) for name in ("in_order(sf)", "in_order:sf"))
    assert one is other is not None
    assert one.discipline == "in_order(sf)"
    assert result.difference("alpha:10") is result.difference("alpha:10.0") is not None
    assert weir.Scenario.from_file(file).disciplines == result.disciplines


def test_c6_quantities_keep_their_units():
    text = PORT.replace('"fifo", "in_order(sf)", "alpha:10.0"', '"las:1ms", "rr(quantum=2ms)"')
    service = '[service]\nper_token = "1ms"\n[stop]\nmessages'
    text = text.replace("load = 0.5", 'load = 0.5\nlengths = { constant = "5tok" }').replace(
        "[stop]\npackets", service
    )
    result = weir.run(weir.Scenario.from_toml(text))
    assert result.disciplines == ("las:1ms", "rr(quantum=2ms)")
    assert result.canonical == ("las:1000000", "rr:2000000")


def test_c6_a_result_without_canonical_names_is_still_read():
    old = json.loads(network_results.made())
    old.pop("canonical", None)
    assert weir.Result.from_json(json.dumps(old)).canonical == ()
    old["canonical"] = ["fifo"] * (len(old["disciplines"]) + 1)
    with pytest.raises(weir.ResultError, match="as many as `disciplines`"):
        weir.Result.from_json(json.dumps(old))


def test_a_result_that_is_saved_is_the_one_that_is_read(file: Path, tmp_path: Path):
    result = weir.run(file)
    result.save(tmp_path / "r.json")
    read = weir.Result.from_file(tmp_path / "r.json")
    assert (read, hash(read), read.to_json()) == (result, hash(result), result.to_json())
    assert read.digest == result.digest == sha256(result.text.encode()).hexdigest()


# Finding C7: progress.


class Log:
    """An error output that is no terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def test_c7_a_log_gets_a_line_from_time_to_time(monkeypatch):
    now, log = [0.0], Log()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", log)
    with progress.Progress("packets", name="weir reproduce alpha") as shown:
        for second in range(91):
            now[0] = float(second)
            shown({"done": second * 1e6, "total": 1e8})
    lines = log.text.splitlines()
    assert lines == [
        "weir reproduce alpha: 30%  30 M packets  1 M/s  1 min 10 s left",
        "weir reproduce alpha: 60%  60 M packets  1 M/s  40 s left",
        "weir reproduce alpha: 90%  90 M packets  1 M/s  10 s left",
    ]


# Finding B13: outputs that fail, and interrupts.


@pytest.mark.parametrize(
    "command", ["list", "list --json", "explain alpha", "schema", "run port.toml", "run port.toml --json"]
)
def test_b13_a_full_or_closed_output_is_an_error_in_one_line(command: str, file: Path):
    for output, reason in ((">/dev/full", "no space left on device"), (">&-", "bad file descriptor")):
        done = shell(f"$PYTHON -m weir {command} {output}", file.parent)
        assert done.returncode == 2, (output, done.stderr)
        assert done.stderr == (
            f"error: standard output cannot be written: {reason}\n  remedy: make room, or write elsewhere\n"
        )


def test_b13_a_file_is_written_whatever_becomes_of_the_output(file: Path):
    done = shell("$PYTHON -m weir run port.toml --out r.json >&-", file.parent)
    assert done.returncode == 2
    assert weir.Result.from_file(file.parent / "r.json").ok


@pytest.mark.parametrize("errors", ["2>&-", "2>/dev/full", "2>&- >&-", "<&- 2>&-"])
def test_b13_bad_input_is_bad_input_without_an_error_output(errors: str, file: Path):
    file.write_text("weir = 2\n")
    for command in ("run port.toml", "explain nobody", "run --nothing"):
        assert shell(f"$PYTHON -m weir {command} {errors}", file.parent).returncode == 2
    assert shell(f"$PYTHON -m weir --version {errors}", file.parent).returncode == (
        2 if ">&- >" in errors else 0
    )


@pytest.mark.parametrize("folder", ["missing", "file", "loop", "locked"])
def test_b13_a_report_needs_no_cache(folder: str, tmp_path: Path, monkeypatch):
    place = tmp_path / folder
    if folder == "file":
        place.write_text("")
    elif folder == "loop":
        place.symlink_to(place)
    elif folder == "locked":
        monkeypatch.setattr(Path, "read_text", _locked)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    assert "vegaEmbed" in page._library()


def _locked(self: Path, *_: object, **__: object) -> str:
    raise PermissionError(13, "Permission denied", str(self))


@pytest.mark.parametrize("module", ["signal", "weir.cli.commands", "typer", "weir.models"])
def test_b13_an_interrupt_before_anything_is_loaded_is_answered(module: str):
    program = (
        "import sys, weir.cli\n"
        f"sys.modules.pop({module!r}, None)\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "sys.argv[1:] = ['list']\n"
        "weir.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_b13_an_interrupt_while_commands_are_loaded_leaves_no_traceback(tmp_path: Path):
    ready = (
        "import sys, weir.cli\n"
        "class Ready:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'weir.cli.commands': print(flush=True)\n"
        "sys.meta_path.insert(0, Ready())\n"
        "sys.argv[1:] = ['list']\n"
        "weir.cli.main()\n"
    )
    for pause in (0.0, 0.005, 0.02, 0.05):
        process = subprocess.Popen(
            [sys.executable, "-c", ready],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert (process.returncode, err) in {(130, "interrupted\n"), (0, ""), (-signal.SIGINT, "")}


# Finding C2: the nine queues of 1993.


def test_c2_sfq_without_arguments_says_what_it_is(capsys):
    out = " ".join(call(capsys, "explain", "sfq")[1].split())
    assert "of 1993" in out.split("kind:")[0]
    assert "nine queues, as in 1993" in " ".join(out.split())
    named = labels(["fifo", "sfq", "sfq_linux", "fq_codel"])
    assert list(named.values()) == ["fifo", "sfq (9 queues)", "sfq_linux", "fq_codel"]
    assert labels(["fifo", "sfq:queues=9"])["sfq:queues=9"] == "sfq"
    assert is_classic("tbf(sfq,rate=1Mbit,burst=2kB)")
    assert not is_classic("sfq:127,depth=9pkt")


def test_c2_a_network_notes_the_nine_queues(capsys, tmp_path: Path):
    path = tmp_path / "network.toml"
    path.write_text(begun("network"))
    short = ("--set", "stop.duration=2s", "--set", "stop.replications=2", "--set", "reference=fq_codel")
    _, out, _ = call(capsys, "compare", path, *short, "--set", 'disciplines=["sfq", "fq_codel"]')
    words = " ".join(out.split())
    assert "warning: sfq (9 queues) is that of 1993: 2 flows share 9 queues by a hash" in words
    _, out, _ = call(capsys, "compare", path, *short, "--set", 'disciplines=["sfq:queues=9", "fq_codel"]')
    assert "warning" not in out


def test_c2_no_scenario_here_has_the_nine_queues_next_to_disciplines_of_today():
    root = Path(__file__).parent.parent
    found = [
        path
        for folder in ("examples", "docs", "python/weir/assets")
        for path in (root / folder).rglob("*.toml")
    ]
    assert found
    for path in found:
        listed = re.findall(r'"([^"]*\bsfq\b[^"]*)"', path.read_text())
        assert not [spec for spec in listed if re.match(r"[\w(]*sfq\b", spec) and is_classic(spec)], path


def test_c4_the_demo_says_how_long_it_takes_and_ends_in_lines():
    root = Path(__file__).parent.parent
    recipe = (root / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0].splitlines()
    assert "minutes" in recipe[0]
    assert "minutes" in recipe[1]
    assert "$(MAKE) $(BUILT)" in recipe[2]
    assert any("weir reproduce alpha --quick --brief" in line for line in recipe)
