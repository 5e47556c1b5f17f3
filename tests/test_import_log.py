"""Scenarios made of logs of services: every format, what is asked and noted, every refusal with its place."""

import gzip
import json
import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weir
from weir import cli
from weir.errors import ConfigError, TraceError
from weir.importing import log
from weir.importing.log_columns import Asked, is_total, remembered

EXAMPLE = Path(__file__).parents[1] / "examples/service-log/access.log"
PYTHON = (sys.executable, "-c", "from weir.cli import main; main()")
NGINX = '192.0.2.1 - - [11/May/2026:09:30:{:02} +0200] "GET /{} HTTP/1.1" {} 5 "-" "x" {} {}\n'
APACHE = '192.0.2.1 - - [11/May/2026:09:30:{:02} +0200] "GET / HTTP/1.1" 200 5 "-" "x" {}\n'
ENVOY = (
    '[2026-05-11T09:30:{:02}.250Z] "GET /a?x=1 HTTP/2" 200 - 1 2 {} {} "-" "x" "id" "host" "192.0.2.1:80"\n'
)
CSV = "arrival_s,service_ms,class\n1.0,20,a\n1.5,30,b\n3.0,10,a\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def imported(
    text: str | bytes, out: str = "replay", *, ask=None, name: str = "a.log", **options
) -> log.Imported:
    """Import a text as a log; ``asked`` are options of `Asked`, the others those of `log.write`."""
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    own = {key: options.pop(key) for key in ("fitted", "cores", "disorder") if key in options}
    return log.write(name, out, asked=Asked(**options), ask=ask, **own)


def rows(found: log.Imported) -> list[str]:
    return found.requests.read_text().splitlines()


def scenario(found: log.Imported) -> dict:
    return tomllib.loads(found.scenario.read_text())


# What is written.


def test_columns_with_plain_names_are_found():
    found = imported(CSV, klass="class")
    assert rows(found) == [
        "time_ns,service_ns,class",
        "0,20000000,a",
        "500000000,30000000,b",
        "2000000000,10000000,a",
    ]
    made = scenario(found)
    assert made["class"] == [{"name": "a"}, {"name": "b"}]
    assert made["workload"]["trace"] == {
        "file": "requests.csv",
        "time": "time_ns",
        "time_unit": "ns",
        "service": {"per_unit": {"service_ns": "1ns"}},
        "class": "class",
    }
    result = weir.run(found.scenario)
    assert result.estimate("cfcfs", metric="delay").count == 3


def test_a_log_may_be_compressed_and_its_times_of_the_end():
    lines = "end,duration_ms\n2026-05-11T09:00:01Z,1000\n2026-05-11T09:00:01.5Z,250\n"
    found = imported(gzip.compress(lines.encode()), "x.toml", name="a.csv.gz")
    assert found.requests == Path("x.requests.csv")
    assert rows(found)[1:] == ["0,1000000000", "1250000000,250000000"]
    assert found.notes[0].startswith("Warning: `duration_ms` is the time from a request to its answer.")
    assert f"# {found.notes[0]}\n" in found.scenario.read_text()
    assert any("a request arrived `duration_ms` earlier" in note for note in found.notes)


def test_an_access_log_of_nginx():
    lines = [
        NGINX.format(n // 2, "ab"[n % 2], 504 if n == 3 else 200, f"{0.2 + n / 100:.3f}", f"{n / 100:.3f}")
        for n in range(5)
    ]
    found = imported("".join([*lines, NGINX.format(9, "c", 304, "0.000", "-")]), klass="path")
    assert found.reading["service"] == ["upstream_response_time", "s"]
    assert found.reading["duration"] == ["request_time", "s"]
    assert (found.reading["time_of"], found.reading["status"]) == ("end", "status")
    assert [row["name"] for row in scenario(found)["class"]] == ["/a", "/b"]
    notes = "\n".join(found.notes)
    assert "Times are in whole seconds" in notes
    assert "Left out: 1 request that no server behind the proxy saw." in notes
    assert "1 request took 0, less than the log tells: each counts as 500.0 µs." in notes
    assert "Statuses: 4 2xx, 1 3xx, 1 5xx." in notes
    assert "1 request ended with status 408, 499 or 504" in notes


def test_an_access_log_of_apache_needs_the_unit_once():
    lines = "".join(APACHE.format(n, 1500 * n + 1) for n in range(4))
    with pytest.raises(ConfigError, match=r"unit of `duration` is not known.*%D of Apache is in us"):
        imported(lines)
    found = imported(lines, unit="us")
    assert found.reading["time_of"] == "arrival"
    assert sorted(int(row.split(",")[1]) for row in rows(found)[1:]) == [1000, 1501000, 3001000, 4501000]
    assert imported(lines).reading == found.reading  # the scenario remembers it


def test_an_access_log_of_envoy():
    found = imported("".join(ENVOY.format(n, 30 + n, 20 + n) for n in range(3)))
    assert found.reading["service"] == ["upstream_service_time", "ms"]
    assert rows(found)[1:] == ["0,20000000", "1000000000,21000000", "2000000000,22000000"]


def test_json_lines_with_objects_within():
    lines = [{"ts": 1778484600.5 + n, "http": {"took": f"{n + 1}ms", "method": "GET"}} for n in range(3)]
    found = imported(
        "".join(f"{json.dumps(line)}\n" for line in lines), time_of="arrival", klass="http.method"
    )
    assert found.reading["service"] == ["http.took", "written"]
    assert rows(found)[2] == "1000000000,2000000,GET"


def test_laws_are_fitted():
    times = [f"{n / 10:.1f},{20 + 7 * n % 13},{'ab'[n % 4 == 0]}\n" for n in range(200)]
    found = imported("arrival_s,service_ms,kind\n" + "".join(times), klass="kind", fitted=True, cores=3)
    assert found.requests is None
    made = scenario(found)
    assert made["server"] == {"cores": 3}
    assert [(row["name"], row["share"]) for row in made["class"]] == [("b", 0.25), ("a", 0.75)]
    assert made["workload"] == {"rate": "10/s", "arrivals": "deterministic"}
    weir.Scenario.from_file(found.scenario)
    assert not Path("replay/requests.csv").exists()


def test_a_poisson_log_is_fitted_as_one():
    # Quantiles of an exponential law in a shuffled order, which is fixed.
    from math import log as ln

    gaps = [-ln(1 - ((n * 389 % 997) + 0.5) / 997) for n in range(997)]
    at, lines = 0.0, ["arrival_s,service_us\n"]
    for gap in gaps:
        at += gap
        lines.append(f"{at:.6f},{100_000 + len(lines) % 7}\n")
    made = scenario(imported("".join(lines), fitted=True))
    assert "arrivals" not in made["workload"]
    assert made["workload"]["rate"].startswith("0.999")


def test_uneven_gaps_are_a_renewal_process():
    at, lines = 0.0, ["arrival_s,service_us\n"]
    for n in range(400):
        at += (0.01, 0.02, 0.03, 4.0)[n * 7 % 4] * (1 + n % 13 / 20)
        lines.append(f"{at:.6f},{100 + n % 7}\n")
    made = scenario(imported("".join(lines), fitted=True))
    assert len(made["workload"]["arrivals"]["renewal"]) == 1
    weir.Scenario.from_file("replay/scenario.toml")


# What is asked.


def test_what_is_not_known_is_asked_once():
    text = "a,b,c\n5,17,x\n6,18,y\n"
    answers = iter(["a", "ms", "b", "arrival", "us"])
    questions = []

    def answer(*question):
        questions.append(question)
        return next(answers)

    found = imported(text, ask=answer)
    assert found.reading == {
        "format": {"csv": ["comma", True]}, "time": "a", "stamp": "ms", "time_of": "arrival",
        "service": ["b", "us"], "duration": None, "class": None, "status": None,
    }  # fmt: skip
    assert len(questions) == 5
    again = imported(text, ask=lambda *_: pytest.fail("nothing is asked again"))
    assert again.reading == found.reading
    assert remembered(Path("replay/scenario.toml"))["service"] == ["b", "us"]
    other = imported(text, unit="ms", time_of="end")
    assert (other.reading["service"], other.reading["time_of"]) == (["b", "ms"], "end")


def test_the_columns_of_another_log_are_not_taken():
    imported(CSV, klass="class")
    other = imported("start_s,took_ms\n1,5\n2,7\n")
    assert (other.reading["time"], other.reading["class"]) == ("start_s", None)


def test_a_line_of_columns_that_is_broken_is_refused():
    imported(CSV)
    path = Path("replay/scenario.toml")
    path.write_text(path.read_text().replace("# columns: {", "# columns: {{"))
    with pytest.raises(ConfigError, match="the columns of the import before are not understood") as caught:
        imported(CSV)
    assert caught.value.line == 2


def test_a_terminal_is_asked():
    Path("a.csv").write_text("t,ms\n1,5\n2,6\n")
    master, slave = pty.openpty()
    command = [*PYTHON, "import", "log", "a.csv", "--time-unit", "s", "--service", "ms", "--unit", "ms"]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        os.write(master, b"t\nnext\narrival\n")
        said = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # the terminal is closed
                break
            if not part:
                break
            said += part
    os.close(master)
    assert process.returncode == 0, said
    assert b"Which column has the time of a request? (t, ms)" in said
    assert b"`next` is none of them." in said
    assert Path("a/requests.csv").read_text() == "time_ns,service_ns\n0,5000000\n1000000000,6000000\n"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("upstream_response_time", False),
        ("latency_ms", True),
        ("http.took", True),
        ("Service-Time", False),
        ("x", None),
    ],
)
def test_what_contains_waiting(name, expected):
    assert is_total(name) is expected


# What is refused.


@pytest.mark.parametrize(
    ("text", "options", "place", "said"),
    [
        ("", {}, (None, None), "is empty"),
        ("arrival_s,service_ms\n", {}, (None, None), "has no requests"),
        (
            "arrival_s,service_ms\n1,2\n2,\n",
            {},
            (3, 2),
            "service_ms is empty, must be a number of milliseconds",
        ),
        ("arrival_s,service_ms\n1,2\n\n2\n", {}, (4, 1), "the row has 1 fields, must have 2"),
        ("arrival_s,service_ms\n1,-2\n", {}, (2, 2), "service_ms is -2, must be a number"),
        ("arrival_s,service_ms\n-1,2\n", {}, (2, 1), "arrival_s is -1, must be a number"),
        ("arrival_s,service_ms\n9,2\n4,2\n", {}, (3, 1), "arrival_s 4 is 5.000000000 s before a line above"),
        (
            NGINX.format(1, "", 200, "0.1", "0.1") + "no line\n",
            {},
            (2, 1),
            "the line has 2 parts, must have 11",
        ),
        ('{"arrival_s": 1, "took_ms": 2}\n{"arr\n', {}, (2, 1), "the line is no JSON"),
        ('{"arrival_s": 1, "took_ms": 2}\n{"arrival_s": 2}\n', {}, (2, 1), "took_ms is empty, must be"),
        (ENVOY.format(1, "x", 3), {}, (1, 1), "duration is x"),
        (
            "arrival_s,service_ms\n1,2\n",
            {"klass": "kind"},
            (None, None),
            "--class is `kind`, which is not a column",
        ),
    ],
)
def test_refusals_name_the_place(text, options, place, said):
    if "duration is x" in said:
        options = {"service": "duration"}
    with pytest.raises(ConfigError) as caught:
        imported(text, **options)
    assert said in str(caught.value)
    assert (caught.value.line, caught.value.column) == place
    assert caught.value.file == "a.log"
    assert caught.value.remedy
    assert [path.name for path in Path().iterdir()] == ["a.log"]


@pytest.mark.parametrize(
    ("text", "option", "columns"),
    [
        ("when,who\nx,y\n", "--time", "when, who"),
        ("arrival_s,who\n1,y\n", "--service", "who"),
        ("timestamp,service_ms\n1778484600,5\n", "--time-of", "arrival, end"),
        ("arrival,service_ms\n12,5\n", "--time-unit", "common, iso, s, ms, us, ns"),
        ("arrival_s,service\n12,5\n", "--unit", "s, ms, us, ns, written"),
    ],
)
def test_without_a_terminal_what_is_not_known_is_refused_with_what_there_is(capsys, text, option, columns):
    Path("a.csv").write_text(text)
    assert cli.run(["import", "log", "a.csv"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: a.csv: the ")
    assert f"say {option} with one of the" in error
    assert columns in error
    assert not Path("a").exists()


@pytest.mark.parametrize(
    "options",
    [["--cores", "0"], ["--disorder", "5"], ["--time-of", "middle"], ["--unit", "min"], ["--time-unit", "h"]],
)
def test_options_have_bounds(capsys, options):
    Path("a.csv").write_text(CSV)
    assert cli.run(["import", "log", "a.csv", *options]) == 2
    assert "remedy: " in capsys.readouterr().err


def test_standard_input_pipes_and_folders_are_refused(capsys):
    os.mkfifo("pipe")
    for name, said in (
        ("-", "read twice"),
        ("pipe", "read twice"),
        (".", "is a directory"),
        ("none", "cannot be read"),
    ):
        assert cli.run(["import", "log", name]) == 2
        assert said in capsys.readouterr().err


def test_more_disorder_may_be_allowed():
    text = "arrival_s,service_ms\n9,2\n4,2\n"
    found = imported(text, disorder="5s")
    assert rows(found)[1:] == ["0,2000000", "5000000000,2000000"]
    assert any("1 line came after a later one, by up to 5.000 s" in note for note in found.notes)


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"arrival_s,service_ms\n1,2\n", b'{"arrival_s":1,"took_ms":2}\n']),
)
def test_no_bytes_are_too_much(tmp_path_factory, tail, head):
    folder = tmp_path_factory.mktemp("log")
    (folder / "a.log").write_bytes(head + tail)
    refused = None
    try:
        found = log.write(folder / "a.log", folder / "out.toml")
    except ConfigError as error:
        refused = error
    if refused is None:
        weir.Scenario.from_file(found.scenario)
    else:
        assert refused.remedy
        assert not (folder / "out.toml").exists()


def test_memory_is_that_of_the_requests():
    """A request takes 24 bytes: ten times the lines take little more than those."""
    measure = (
        "import resource, sys; from weir.cli import run; "
        "code = run(['import', 'log', sys.argv[1]]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
    )
    peak = {}
    for lines in (50_000, 500_000):
        name = f"log{lines}.csv"
        with Path(name).open("w") as text:
            text.write("arrival_s,service_us,note\n")
            text.writelines(f"{n / 1000:.3f},{100 + n % 37},{'x' * 40}\n" for n in range(lines))
        done = subprocess.run(
            [sys.executable, "-c", measure, name], capture_output=True, text=True, check=True
        )
        peak[lines] = int(done.stderr.splitlines()[-1])
    assert (peak[500_000] - peak[50_000]) * 1024 < 450_000 * 40


def test_the_example_is_what_it_says():
    found = log.write(EXAMPLE, "replay", asked=Asked(klass="path"))
    assert found.facts["dispersion"]["requests"] == 377
    with pytest.raises(TraceError, match="makes more than 64 classes"):
        log.write(EXAMPLE, "other", asked=Asked(klass="bytes"))
