"""The command line: what it prints, its exit codes, and every refusal on two lines."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pyarrow.csv
import pyarrow.parquet
import pytest

import weir
from weir import cli

SCENARIO = """\
weir = 1
model = "port"
title = "A small port"
seed = 7
disciplines = ["fifo", "sf", "alpha:10"]

[workload]
load = 0.8

[stop]
packets = 200_000
replications = 2
"""
NOT_SETTLED = 1
"""The exit code of a run of it: it is too short for its far quantiles."""
# Far longer than any test waits.
ENDLESS = SCENARIO.replace("packets = 200_000", "packets = 10_000_000_000")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "port.toml"
    path.write_text(SCENARIO)
    return path


def call(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = cli.run([str(each) for each in arguments])
    return code, *capsys.readouterr()


def test_help_names_every_command(capsys):
    code, out, _ = call(capsys)
    assert code == 0
    for name in (
        "demo",
        "list",
        "explain",
        "run",
        "compare",
        "sweep",
        "size",
        "theory",
        "reproduce",
        "report",
        "bench",
        "schema",
        "import",
    ):
        assert re.search(rf"^  {name}  ", out, re.MULTILINE)
        code, told, _ = call(capsys, name, "--help")
        assert code == 0
        assert "Example:" in told


def test_version(capsys):
    assert call(capsys, "--version")[:2] == (0, f"weir {weir.__version__}\n")


def test_list_is_the_registry(capsys):
    code, out, _ = call(capsys, "list")
    assert code == 0
    # A title that is too long for the width goes on in a line that begins with spaces.
    lines = out.partition("\n\n")[0].splitlines()[1:]
    listed = {line.split()[0] for line in lines if not line.startswith(" ")}
    assert {row["name"] for row in weir.disciplines()} == listed - {"not"}  # "not shown at this width"
    rows = json.loads(call(capsys, "list", "--json")[1])
    assert rows == weir.disciplines()
    assert {
        "name",
        "kind",
        "models",
        "title",
        "rule",
        "source",
        "work",
        "parameters",
        "example",
        "closed_forms",
    } == set(rows[0])


@pytest.mark.parametrize("name", [row["name"] for row in weir.disciplines()])
def test_explain_tells_all_of_every_discipline(capsys, name: str):
    code, out, _ = call(capsys, "explain", name)
    assert code == 0
    row = json.loads(call(capsys, "explain", name, "--json")[1])
    words = " ".join(out.split())
    for text in (
        row["title"],
        row["source"],
        row["work"],
        row["example"],
        *(each["meaning"] for each in row["parameters"]),
    ):
        assert " ".join(text.split()) in words


def test_explain_tells_of_both_that_share_a_name(capsys):
    out = call(capsys, "explain", "rr")[1]
    assert re.findall(r"^kind: +(\w+)$", out, re.MULTILINE) == ["message", "dispatcher"]
    row = json.loads(call(capsys, "explain", "rr", "--json")[1])
    assert [each["kind"] for each in (row, *row["also"])] == ["message", "dispatcher"]


@pytest.mark.parametrize(
    ("word", "names", "told"),
    [
        ("psjf", ["psjf"], "`weir explain psjf` gives the rule"),
        ("srpt", ["sf"], "shortest remaining processing time is called `sf` here; `weir explain srpt` gives"),
        ("fifo", ["fifo", "cfcfs"], "`weir explain NAME` gives"),
        ("lcfs", ["rank", "per_server"], "last come, first served is written `rank:-arrival` here"),
        ("strict fair", ["fq"], "`weir explain fq` gives"),
        ("SHORTEST JOB", ["sjf", "psjf"], "`weir explain NAME` gives"),
    ],
)
def test_list_finds_a_word_and_leads_to_what_explains_it(capsys, word: str, names: list[str], told: str):
    assert cli.run(["list", word, "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == names
    assert cli.run(["list", word]) == 0
    assert told in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("queue", "has", "has_not"),
    [
        ("M/M/3", {"cfcfs": "Erlang C, M/M/k"}, {"jsq", "fifo", "preemptive"}),
        ("m/d/3", {"rr": "Crommelin, E_k/D/1 on each core", "cfcfs": "Crommelin, M/D/k"}, {"jsq", "sf"}),
        ("M/G/1", {"fifo": "Pollaczek-Khinchine", "jsq": "Pollaczek-Khinchine, M/G/1"}, {"darc", "las"}),
    ],
)
def test_list_for_a_queue_has_those_with_a_closed_form(capsys, queue: str, has: dict, has_not: set):
    rows = json.loads(call(capsys, "list", "--for", queue, "--json")[1])
    formulas = {row["name"]: row["formula"] for row in rows}
    assert {name: formulas[name] for name in has} == has
    assert not has_not & set(formulas)
    assert next(iter(has.values())) in call(capsys, "list", "--for", queue)[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--for", "G/G/1"], "`G/G/1` is not a queue of Poisson arrivals"),
        (["--for", "M/M/0"], "`M/M/0` is not a queue of Poisson arrivals"),
        (["jsq", "--for", "M/M/2"], "no closed form is known of `jsq` in M/M/2"),
        (["bbr"], "no discipline is called `bbr`"),
        (["M/M/1"], "Poisson arrivals, exponential service, one server"),
        (["srpt", "--model", "fabric"], "no discipline of that name is of the model `fabric`"),
    ],
)
def test_list_refuses_what_it_does_not_find(capsys, arguments: list[str], told: str):
    assert cli.run(["list", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_explain_golden(capsys):
    assert call(capsys, "explain", "fifo:")[1] == (
        "fifo: first in, first out\n"
        "Serves whole messages in the order of their arrival.\n"
        "\n"
        "kind:          message\n"
        "models:        port, network, fabric\n"
        "source:        Cherkasova and Rokicki, alpha report, section 4 (alpha = 0)\n"
        "work per item: O(1)\n"
        "closed form:   Pollaczek-Khinchine, on packets, packet by packet\n"
        "closed form:   Pollaczek-Khinchine, whole messages\n"
        "example:       fifo\n"
        "\n"
        "parameter limit: such as `100pkt` or, for packets, `64KiB`; or `none`; default none\n"
        "  how much may wait; a newcomer that finds no room is dropped\n"
    )


def test_the_schema_accepts_what_the_engine_accepts(capsys, file: Path):
    schema = json.loads(call(capsys, "schema")[1])
    jsonschema.validate(weir.Scenario.from_file(file).normalised, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"weir": 1}, schema)


def test_compare_shows_verdict_table_and_checks(capsys, file: Path):
    code, out, err = call(capsys, "compare", file)
    lines = out.splitlines()
    assert (code, err) == (NOT_SETTLED, "")
    assert lines[0].startswith("Not settled: ")
    assert "The lowest mean latency is that of sf, " in " ".join(lines)
    header = next(i for i, line in enumerate(lines) if line.startswith("discipline"))
    assert lines[header].split() == [
        "discipline",
        "mean",
        "(u)",
        "vs",
        "fifo",
        "p99",
        "(u)",
        "max",
        "(u)",
        "theory",
        "at",
        "99.9",
        "%",
    ]
    assert [line.split()[0] for line in lines[header + 1 : header + 4]] == ["fifo", "sf", "alpha:10"]
    assert lines[header + 1].rstrip().endswith("OK")
    assert "self-checks: " in out
    assert "\x1b" not in out


def test_run_shows_each_discipline_by_class(capsys, file: Path):
    code, out, _ = call(capsys, "run", file)
    assert code == NOT_SETTLED
    for name in ("fifo", "sf", "alpha:10"):
        assert f"\n{name}: latency by class\n" in out
    assert out.count("\n20pkt") == 3


def test_json_is_the_result(capsys, file: Path):
    code, out, _ = call(capsys, "compare", file, "--json")
    result = weir.Result.from_json(out)
    assert code == NOT_SETTLED
    assert result.disciplines == ("fifo", "sf", "alpha:10")
    assert result.document["seed"] == 7
    assert result.document["file"] == str(file)
    assert all(row.value is not None or row.reason for row in result.estimates)
    assert "NaN" not in out
    assert out == weir.compare(file).to_json() + "\n"


def test_threads_change_nothing_and_seeds_do(capsys, file: Path):
    one, two, eight = (call(capsys, "compare", file, "--json", "--threads", n)[1] for n in ("1", "2", "8"))
    assert one == two == eight
    other = call(capsys, "compare", file, "--json", "--seed", "8")[1]
    assert json.loads(other)["seed"] == 8
    assert json.loads(other)["estimates"] != json.loads(one)["estimates"]


def test_theory_without_simulation(capsys, file: Path):
    code, out, _ = call(capsys, "theory", file)
    assert code == 0
    assert "25.43404" in out  # 5.43351 * 4 + 3.7, FIFO at 80 %
    assert "alpha:10: n/a (no closed form for 0 < alpha < infinity" in out
    rows = weir.Result.from_json(call(capsys, "theory", file, "--json")[1]).theory
    assert {row.discipline for row in rows} >= {"fifo", "sf", "alpha:10"}


def test_out_writes_every_form_and_report_makes_it_again(capsys, file: Path, tmp_path: Path):
    names = ("r.json", "r.html", "r.csv", "r.parquet")
    code, out, _ = call(capsys, "compare", file, *(each for name in names for each in ("--out", name)))
    assert code == NOT_SETTLED
    assert [line for line in out.splitlines() if line.startswith("wrote")] == [
        f"wrote {name}" for name in names
    ]
    rows = len(weir.Result.from_file("r.json").estimates)
    assert pyarrow.csv.read_csv("r.csv").num_rows == pyarrow.parquet.read_table("r.parquet").num_rows == rows
    assert call(capsys, "report", "r.json", "--out", "again.html")[:2] == (0, "wrote again.html\n")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "r.html").read_bytes()
    assert json.loads(call(capsys, "report", "r.json", "--json")[1]) == {"report": "r.html"}
    assert not [each for each in tmp_path.iterdir() if each.name.endswith(".part")]


def test_records_have_one_row_an_item(capsys, file: Path):
    assert (
        call(capsys, "run", file, "--records", "items.parquet", "--records", "items.parquet")[0]
        == NOT_SETTLED
    )
    table = pyarrow.parquet.read_table("items.parquet")
    assert table.column_names == [
        "discipline", "replication", "id", "flow", "class", "length",
        "arrival", "first_service", "last_service",
    ]  # fmt: skip
    assert pyarrow.parquet.read_metadata("items.parquet").metadata[b"weir.time_unit"] == b"u"
    frame = table.to_pandas()
    assert set(frame["discipline"]) == {"fifo", "sf", "alpha:10"}
    assert not frame.duplicated(["discipline", "replication", "id"]).any()
    assert (frame["arrival"] <= frame["first_service"]).all()
    assert (frame["first_service"] <= frame["last_service"]).all()
    fifo = frame[(frame["discipline"] == "fifo") & (frame["replication"] == 0)].sort_values("id")
    assert fifo["last_service"].is_monotonic_increasing
    assert call(capsys, "run", file, "--records", "items.csv")[0] == NOT_SETTLED
    assert pyarrow.csv.read_csv("items.csv").num_rows == table.num_rows


def refused(told: tuple[int, str, str], *fragments: str) -> None:
    code, _, err = told
    assert code == 2
    lines = err.splitlines()
    assert len(lines) == 2, err
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("  remedy: ")
    for fragment in fragments:
        assert fragment in err


@pytest.mark.parametrize(
    ("replace", "by", "fragments"),
    [
        ("load = 0.8", "laod = 0.8", ("port.toml:8:", "workload.laod", "did you mean `load`?")),
        ("load = 0.8", "load = -0.8", ("port.toml:8:8: workload.load is -0.8",)),
        ("load = 0.8", "load = 1.2", ("port.toml: ", "1.2 is not below 1", "lower workload.load")),
        ('"alpha:10"', '"alhpa:10"', ("port.toml:5:", "alhpa:10", "did you mean `alpha`?")),
        ('"alpha:10"', '"alpha:-1"', ("port.toml:5:", "-1")),
        ('"alpha:10"', '"alpha:nan"', ("port.toml:5:", "nan")),
        ('"alpha:10"', '"fifo"', ("port.toml:5:", "fifo")),
        ("packets = 200_000", "packets = 0", ("port.toml:11:", "stop.packets")),
        ("weir = 1\n", "", ("port.toml", "weir is missing")),
        ("[workload]", "[workload", ("port.toml:7:",)),
    ],
)
def test_a_bad_scenario_is_refused_with_its_place(
    capsys, file: Path, replace: str, by: str, fragments: tuple[str, ...]
):
    assert replace in SCENARIO
    file.write_text(SCENARIO.replace(replace, by))
    refused(call(capsys, "compare", file.name, "--out", "r.json"), *fragments)


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (("run", "nowhere.toml"), ("nowhere.toml: cannot be read: no such file",)),
        (("run", "."), ("cannot be read",)),
        (("run",), ("missing argument", "weir run --help")),
        (("run", "port.toml", "--seed", "x"), ("'--seed'", "weir run --help")),
        (("run", "port.toml", "--seed", "-1"), ("seed is -1",)),
        (("run", "port.toml", "--threads", "0"), ("threads is 0, must be from 1",)),
        (("run", "port.toml", "--records", "items.txt"), (".csv or .parquet", "--records items.parquet")),
        (("run", "port.toml", "--records", "nowhere/items.csv"), ("cannot be written",)),
        (("run", "port.toml", "--out", "r.pdf"), ("must end in one of",)),
        (("run", "port.toml", "--out", "nowhere/r.json"), ("does not exist",)),
        (("run", "port.toml", "--out", "r.json", "--out", "./r.json"), ("--out is r.json twice", "once")),
        (("report", "r.json", "--out", "a.html", "--out", "b.html"), ("--out is given 2 times",)),
        (("demo", "--out", "a.html", "--out", "b.html"), ("--out is given 2 times",)),
        (("demo", "--out", "a.txt"), ("must end in .html",)),
        (("reproduce", "sfq", "--out", "a.html", "--out", "b.html"), ("--out is given 2 times",)),
        (("reproduce", "sfq", "--out", "a.pdf"), ("must end in .html or .json",)),
        (("report", "port.toml"), ("is not JSON",)),
        (("report", "nowhere.json"), ("cannot be read",)),
        (("report", "port.toml", "--out", "r.pdf"), ("must end in .html",)),
        (("explain", "apha"), ("did you mean `alpha`?",)),
        (("explian", "alpha"), ("no such command", "weir --help")),
        (("run", "port.toml", "--fast"), ("no such option",)),
        (("reproduce", "beta"), ("'beta'", "alpha")),
        (("reproduce", "alpha", "--quick", "--full"), ("exclude each other",)),
        (("bench", "nothing/"), ("no benchmark begins with `nothing/`",)),
    ],
)
@pytest.mark.usefixtures("file")
def test_a_bad_command_is_refused_on_two_lines(
    capsys, arguments: tuple[str, ...], fragments: tuple[str, ...]
):
    refused(call(capsys, *arguments), *fragments)
    assert sorted(each.name for each in Path().iterdir()) == ["port.toml"]


def test_a_comparison_needs_two(capsys, file: Path):
    file.write_text(SCENARIO.replace('["fifo", "sf", "alpha:10"]', '["sf"]'))
    refused(call(capsys, "compare", file), "there is one discipline, `sf`", "add another")
    assert call(capsys, "run", file)[0] == 0


def test_a_comparison_of_one_is_refused_with_what_to_add(capsys, file: Path):
    file.write_text(
        'weir = 1\nmodel = "network"\ndisciplines = ["fifo:limit=9pkt"]\nnetwork = { hosts = ["a", "b"] }\n'
        'link = [{ from = "a", to = "b", rate = "1Mbit" }]\n'
        'flow = [{ from = "a", to = "b", rate = "1kbit", size = "500B" }]\nstop = { duration = "1s" }\n'
    )
    added = '["fifo:limit=9pkt", "drr:quantum=1514B"]'
    refused(call(capsys, "compare", file), "there is one discipline, `fifo:limit=9pkt`", f"as in {added}")
    file.write_text(file.read_text().replace('["fifo:limit=9pkt"]', added))
    assert call(capsys, "compare", file)[0] == 0


@pytest.mark.parametrize("columns", ["1", "40", "80"])
@pytest.mark.parametrize("command", ["theory", "list"])
def test_no_word_is_broken_however_narrow_the_terminal(capsys, file: Path, monkeypatch, columns, command):
    arguments = [command, file] if command == "theory" else [command]
    wide = call(capsys, *arguments)[1]
    monkeypatch.setenv("COLUMNS", columns)
    narrow = call(capsys, *arguments)[1]
    added = {"not", "shown", "at", "this", "width:", *(f"{word}," for word in wide.split())}
    assert set(narrow.split()) <= {*wide.split(), *added}
    assert max(len(line.split()) for line in narrow.splitlines()) > 2


def test_with_json_a_refusal_is_an_object_too(capsys, file: Path):
    file.write_text(SCENARIO.replace("load = 0.8", "load = -0.8"))
    code, out, err = call(capsys, "run", file, "--json")
    assert code == 2
    error = json.loads(out)["error"]
    assert {key: error[key] for key in ("kind", "line", "column", "key", "value", "exit_code")} == {
        "kind": "ScenarioError",
        "line": 8,
        "column": 8,
        "key": "workload.load",
        "value": "-0.8",
        "exit_code": 2,
    }
    assert error["file"] == str(file)
    assert err.count("\n") == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("load =", f"{'load' * 5000} ="),
        ("load =", '"lo\\u001b[2J" ='),
        ("alpha:10", f"alpha:{'9' * 5000}"),
        ("alpha:10", f"alpha:{'a' * 5000}=1"),
        ("alpha:10", f"alpha:{'a' * 50}=in_order({'a,' * 3000}a)"),
    ],
)
def test_what_a_refusal_repeats_is_short(capsys, file: Path, old: str, new: str):
    file.write_text(SCENARIO.replace(old, new))
    _, _, err = call(capsys, "check", file)
    assert err.startswith(f"error: {file}:")
    assert len(err) < 1500
    assert re.search(r"[\x00-\x09\x0b-\x1f]", err) is None


def test_a_trace_that_is_refused_says_where(capsys, file: Path):
    file.write_text(
        'weir = 1\nmodel = "port"\ndisciplines = ["fifo", "sf"]\n[workload]\n'
        'trace = { file = "t.csv", time_unit = "u", length_unit = "pkt" }\n'
    )
    for text, fragments in {
        "time,length\n": ("t.csv",),
        "time,length\n1.0,2\n0.5,2\n": ("t.csv:3",),
        "time,length\n1.0,0\n": ("t.csv:2",),
        "time,length\n1.0,2\n1.5\n": ("t.csv:3",),
    }.items():
        Path("t.csv").write_text(text)
        refused(call(capsys, "run", file, "--out", "r.json"), *fragments)
        with pytest.raises(weir.TraceError):
            weir.run(file)
    assert not Path("r.json").exists()


def test_demo_is_one_page_and_one_file(capsys, file: Path):
    code, out, err = call(capsys, "demo", "--out", "tour.html")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert re.match(r"The lowest mean latency is that of sf, [\d.]+ u, \d+ % below fifo", lines[0])
    assert lines[-1] == f"report: {file.parent / 'tour.html'}"
    assert "theory" in out
    assert 'queue = weir.Queue("sf")' in out
    assert out.count("OK") >= 4
    assert len(lines) < 30
    assert Path("tour.html").read_text().startswith("<!doctype html>")


def weir_process(*arguments: str | Path, **more) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "weir", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def test_interrupted_it_keeps_and_labels_what_is_finished(file: Path):
    file.write_text(ENDLESS)
    with weir_process("run", file, "--json", "--out", "r.json", "--records", "items.parquet") as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    result = weir.Result.from_json(out)
    assert result.interrupted
    assert result.document["messages"] > 0
    assert weir.Result.from_file("r.json").interrupted
    metadata = pyarrow.parquet.read_metadata("items.parquet").metadata
    assert metadata[b"weir.interrupted"] == b"True"


def test_a_closed_pipe_ends_it_quietly():
    with weir_process("list") as process:
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=30)
    assert err == ""


def read_terminal(descriptor: int, seconds: float) -> str:
    text, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and select.select([descriptor], [], [], left)[0]:
        try:
            text += os.read(descriptor, 4096)
        except OSError:
            break
        if b"left" in text:
            break
    return text.decode()


def test_progress_is_shown_on_a_terminal_only(file: Path):
    file.write_text(ENDLESS)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "weir", "run", str(file)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = read_terminal(ours, 30)
        process.kill()
    os.close(ours)
    assert re.search(r"\d+%  [\d.]+ [kMG]? ?packets  [\d.]+ [kMG]?/s  .*left", shown)


def test_the_command_starts_without_the_large_libraries():
    program = (
        "import sys, weir.cli; weir.cli.run(['list', '--json']); "
        "large = {'altair', 'numpy', 'pandas', 'polars', 'pyarrow', 'rich', 'vl_convert'}; "
        "print(*sorted(large & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""
