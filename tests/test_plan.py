"""Plans of arbitration tables, findings about OpenSM files, and what is imported from them."""

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from weir import _weir, cli
from weir.errors import ConfigError, PlanError
from weir.planning import opensm, request

CONFIGS = Path(__file__).resolve().parent.parent / "data" / "configs"
HEAD = """\
weir = 1
title = "Table 1 for 32 entries"

[table]
entries = 32
mtu = "2048B"
k = 2
w = 4

[link]
rate = "2.5Gbit"
coding = "8b/10b"
"""
CLASSES = (
    ("D2", 25, 2),
    ("D4", 25, 4),
    ("D8", 25, 8),
    ("D16", 12.5, 16),
    ("D32", 6.25, 32),
    ("rest", 6.25, 32),
)
REQUEST = HEAD + "".join(
    f'\n[[class]]\nname = "{name}"\nshare = "{share}%"\ndistance = {distance}\n'
    for name, share, distance in CLASSES
)
LOW = (
    "0:32,1:64,0:32,2:128,0:32,1:64,0:32,3:128,0:32,1:64,0:32,2:128,0:32,1:64,0:32,4:128,"
    "0:32,1:64,0:32,2:128,0:32,1:64,0:32,3:128,0:32,1:64,0:32,2:128,0:32,1:64,0:32,5:128"
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("request.toml")
    path.write_text(REQUEST)
    return path


@pytest.fixture
def defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copy(CONFIGS / "opensm-qos-defaults.conf", "defaults.conf"))


def call(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = cli.run([str(each) for each in arguments])
    return code, *capsys.readouterr()


def test_help(capsys):
    _, out, _ = call(capsys)
    for name in ("plan", "lint"):
        assert re.search(rf"^  {name}  ", out, re.MULTILINE)
        code, told, _ = call(capsys, name, "--help")
        assert code == 0
        assert "Example:" in told
    assert "opensm" in call(capsys, "import", "--help")[1]


def test_a_plan_as_text(capsys, monkeypatch, file: Path):
    monkeypatch.setenv("COLUMNS", "160")
    code, out, err = call(capsys, "plan", file)
    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == [
        "Table 1 for 32 entries",
        "table: entries 32, MTU 2048 B, credits of 64 B, k 2, w 4: pool 2,048, an entry weighs at most 128",
        "link:  2.500 Gbit/s, coding 8b/10b: data at 2.000 Gbit/s",
    ]
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.startswith(("D", "rest"))}
    #                     lane asked share entries distance weight total min max quantum bounds
    assert rows["D2"] == ["D2", "0", "25", "25", "16", "2", "32", "512", "25", "100", "128", "57.09", "154.4"]
    assert rows["D16"][4:10] == ["2", "16", "128", "256", "3.125", "12.5"]
    assert "placement, by lane:\n0 1 0 2 0 1 0 3 0 1 0 2 0 1 0 4 0 1 0 2 0 1 0 3 0 1 0 2 0 1 0 5\n" in out


def test_a_plan_for_opensm(capsys, file: Path):
    code, out, _ = call(capsys, "plan", file, "--target", "opensm", "--out", "qos.conf")
    assert code == 0
    assert out.endswith("\nwrote qos.conf\n")
    assert "what opensm does not keep of the plan:\n- exact shares" in out
    assert "\n- bounds of the deficit table: under the weighted table `D4` " in out
    told = opensm.tables("qos.conf")["qos"]
    pairs = [[int(each) for each in pair.split(":")] for pair in LOW.split(",")]
    assert (told["low"], told["high"], told["max_vls"], told["own"]) == (pairs, [[0, 0]], 8, True)
    assert opensm.lint("qos.conf", opensm.Port(capacity=32)) == []
    short = opensm.lint("qos.conf", opensm.Port(capacity=8))
    assert [finding["rule"] for finding in short] == ["over-capacity", "level-without-entry"]
    assert "without any entry: lanes 4, 5" in short[0]["why"]


def test_a_target_may_stand_in_the_request(capsys, file: Path):
    file.write_text(REQUEST + '\n[target]\nform = "dcb"\ninterface = "eth1"\n')
    code, out, _ = call(capsys, "plan", file)
    assert code == 0
    assert "\ndcb ets set dev eth1 willing off " in out
    assert "setpci" in call(capsys, "plan", file, "--target", "pcie")[1]


@pytest.mark.parametrize("target", request.TARGETS)
def test_every_target_says_what_it_loses(capsys, file: Path, target: str):
    emission = request.emit(file, target)
    assert emission.text.endswith("\n")
    assert emission.lost
    code, out, _ = call(capsys, "plan", file, "--target", target, "--json")
    told = json.loads(out)
    assert code == 0
    assert told["target"] == {"form": target, "text": emission.text, "lost": list(emission.lost)}
    assert len(told["plan"]["slots"]) == 32


def test_the_emitted_scenario_is_toml(file: Path):
    scenario = tomllib.loads(request.emit(file, "scenario").text)
    assert scenario["model"] == "fabric"
    assert scenario["reference"] in scenario["disciplines"]
    assert [channel["name"] for channel in scenario["channel"]] == [name for name, _, _ in CLASSES]


def test_a_latency_becomes_a_distance(file: Path):
    classes = (
        '\n[[class]]\nname = "a"\nshare = "20%"\nlatency = "60us"\n[[class]]\nname = "b"\nshare = "70%"\n'
    )
    file.write_text(HEAD + classes)
    plan = request.plan(file)
    first = plan["classes"][0]
    assert first["distance"] == 2
    assert first["bounds"]["deficit_table"]["latency_ns"] <= first["requested"]["latency_ns"] == 60_000


def test_a_latency_is_kept_under_the_scheduler_of_the_target(capsys, file: Path):
    head = HEAD.replace("2.5Gbit", "10Gbit").replace("entries = 32", "entries = 16")
    classes = (("control", 'share = "5%"\nlatency = "35us"'), ("b", 'share = "50%"'), ("c", 'share = "30%"'))
    file.write_text(head + "".join(f'[[class]]\nname = "{name}"\n{keys}\n' for name, keys in classes))
    found = {target: request.plan(file, target) for target in (None, "opensm")}
    assert [plan["scheduler"] for plan in found.values()] == ["deficit_table", "weighted_table"]
    assert [plan["classes"][0]["distance"] for plan in found.values()] == [8, 4]
    code, out, _ = call(capsys, "plan", file, "--target", "opensm")
    assert code == 0
    assert "weighted (µs)" in out
    assert "weighted (µs)" not in call(capsys, "plan", file)[1]
    drr = tomllib.loads(request.emit(file, "scenario").text)["reference"]
    assert drr.endswith(",stall=leave")


@pytest.mark.parametrize("width", ["100", "80"])
def test_what_is_asked_for_is_shown_at_every_width(capsys, monkeypatch, width: str):
    monkeypatch.setenv("COLUMNS", width)
    file = CONFIGS.parents[1] / "examples" / "infiniband" / "request.toml"
    code, out, _ = call(capsys, "plan", file, "--check")
    assert code == 0
    first, second, *rows = out.split("\n\n")[1].splitlines()
    assert first.split() == ["weight", "latency", "bound", "under"]
    for column in ("asked (%)", "share (%)", "asked (µs)", "weighted (µs)"):
        assert column in second
    assert "bound under DRR (µs)" in " ".join(rows)
    assert max(map(len, (first, second, *rows))) <= int(width)
    first, second, *rows = out.split("check, weighted table")[1].split("\n\n")[0].splitlines()[1:]
    assert first.split()[:4] == ["saturated", "asked", "bound", "largest"]
    assert max(map(len, (first, second, *rows))) <= int(width)


def test_b9_nine_classes_on_eight_entries(file: Path):
    """Finding B9: lowering what others ask for makes no ninth entry."""
    head = HEAD.replace("entries = 32", "entries = 8").replace("k = 2", "k = 1").replace("w = 4", "w = 7")
    file.write_text(head + "".join(f'\n[[class]]\nname = "{n}"\nshare = "2%"\n' for n in range(9)))
    remedy = request.plan(file)["refused"][0]["remedy"]
    assert "lower what other classes ask for" not in remedy
    assert "join" in remedy or "one class with" in remedy


def test_b9_both_k_and_w_are_searched(file: Path):
    """Finding B9: what is proposed is tried out, and the least change of both."""
    head = HEAD.replace("entries = 32", "entries = 4").replace("w = 4", "w = 2")
    classes = "".join(
        f'\n[[class]]\nname = "{n}"\nshare = "{s}%"\n' for n, s in (("a", 30), ("b", 30), ("c", 10))
    )
    file.write_text(head + classes)
    remedy = request.plan(file)["refused"][0]["remedy"]
    assert remedy.startswith("write table.w = 3:")
    file.write_text(head.replace("w = 2", "w = 3") + classes)
    assert not request.plan(file)["refused"]


def test_a_refused_class(capsys, file: Path):
    file.write_text(REQUEST + '\n[[class]]\nname = "more"\nshare = "10%"\n')
    code, out, _ = call(capsys, "plan", file, "--target", "opensm")
    assert code == 1
    assert "refused: more (line 44) asks for 10%; entries needed: 2, free: 0\n" in out
    assert "  remedy: lower what other classes ask for" in out
    assert out.endswith("not written for opensm: not every class fits\n")
    told = json.loads(call(capsys, "plan", file, "--json")[1])
    assert told["target"] is None
    assert told["plan"]["refused"][0]["name"] == "more"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ('share = "25%"', 'share = "250%"'),
            'request.toml:16:9: class.share is "250%", must be at most 100%',
        ),
        (("entries = 32", "entries = 0"), "request.toml:5:11: table.entries is 0, must be from 1 to 1024"),
        (("entries =", "entires ="), "request.toml:5:1: table.entires is not a key here"),
        (("[link]", "[link"), "request.toml:10:"),
        (("w = 4", "w = 1"), "table.w is 1, must be at least k, 2"),
    ],
)
def test_a_refused_request(capsys, file: Path, change: tuple[str, str], said: str):
    file.write_text(REQUEST.replace(*change, 1))
    with pytest.raises(PlanError):
        request.plan(file)
    code, _, err = call(capsys, "plan", file)
    assert code == 2
    assert said in err
    assert "\n  remedy: " in err
    told = json.loads(call(capsys, "plan", file, "--json")[1])["error"]
    assert (told["kind"], told["file"], told["exit_code"]) == ("PlanError", "request.toml", 2)


def test_refused_options(capsys, file: Path):
    code, _, err = call(capsys, "plan", "none.toml")
    assert (code, err.splitlines()[0]) == (2, "error: none.toml: does not exist")
    code, _, err = call(capsys, "plan", file, "--target", "ib")
    assert (code, "must be one of opensm, pcie, tc-ets, tc-drr, dcb, scenario" in err) == (2, True)
    assert call(capsys, "plan", file, "--out", "x")[0] == 2
    file.write_text(REQUEST.replace("entries = 32", "entries = 64"))
    code, _, err = call(capsys, "plan", file, "--target", "opensm")
    assert code == 2
    assert f"error: {file}: opensm cannot carry the plan: it has 64 entries" in err
    assert "  remedy: write table.entries = 32" in err


def test_the_shipped_defaults_have_findings(capsys, defaults: Path):
    code, out, _ = call(capsys, "lint", defaults)
    assert code == 1
    assert out.splitlines()[-1] == "6 warnings, 1 note"
    assert "defaults.conf:5:19: warning: qos_vlarb_low gives lanes 1, 2, 3" in out
    told = json.loads(call(capsys, "lint", defaults, "--json", "--lanes", "15", "--mtu", "4KiB")[1])
    assert told["port"] == {"mtu": "4KiB", "capacity": 8, "high_capacity": None, "lanes": 15}
    errors = [finding["rule"] for finding in told["findings"] if finding["severity"] == "error"]
    assert errors == ["over-capacity", "level-without-entry"]
    for finding in told["findings"]:
        assert finding["why"]
        assert finding["remedy"]


def test_a_clean_file(capsys, file: Path):
    call(capsys, "plan", file, "--target", "opensm", "--out", "qos.conf")
    assert call(capsys, "lint", "qos.conf", "--capacity", "32") == (0, "no findings\n", "")


@pytest.mark.parametrize(
    "port",
    [{"capacity": 0}, {"capacity": 65}, {"high_capacity": 0}, {"lanes": 3}, {"mtu": "2048"}, {"mtu": "0B"}],
)
def test_ports_are_checked(defaults: Path, port: dict[str, Any]):
    with pytest.raises(ConfigError) as refused:
        opensm.lint(defaults, opensm.Port(**port))
    assert refused.value.remedy
    assert next(iter(port)) in refused.value.message


def test_a_malformed_file(capsys, defaults: Path):
    defaults.write_text("qos_max_vls 8\nqos_vlarb_low 0:32,1-64\n")
    misread = next(finding for finding in opensm.lint(defaults) if finding["rule"] == "misread")
    assert (misread["line"], misread["column"], misread["option"]) == (2, 20, "qos_vlarb_low")
    assert misread["why"].endswith("it reads `0:32,1:64`")
    assert call(capsys, "lint", defaults)[0] == 1
    code, _, err = call(capsys, "import", "opensm", defaults)
    assert (code, "qos_vlarb_low is not read as it is written: `1-64`" in err) == (2, True)
    for path in (Path(), Path("none")):
        with pytest.raises(ConfigError):
            opensm.tables(path)


@pytest.mark.parametrize("text", ["", "# nothing\n", '[table]\nentries = 8\nmtu = "2048B"\n'])
def test_b8_a_file_that_is_not_of_opensm(capsys, defaults: Path, text: str):
    """Finding B8: it is refused, and nothing is made of it."""
    defaults.write_text(text)
    for command in (["lint"], ["import", "opensm"], ["import", "opensm", "--as", "scenario"]):
        code, out, err = call(capsys, *command, defaults)
        assert (code, out, "has no option of OpenSM" in err) == (2, "", True)


def test_b8_a_file_without_a_table_is_not_imported(capsys, defaults: Path):
    """Finding B8: the eight classes of the built-in tables are nobody's."""
    defaults.write_text("qos TRUE\nlog_flags 3\n")
    assert call(capsys, "lint", defaults)[0] == 0
    code, out, err = call(capsys, "import", "opensm", defaults)
    assert (code, out, "it sets no table for qos" in err) == (2, "", True)


def test_b9_out_may_not_name_the_request(capsys, file: Path, tmp_path: Path):
    """Finding B9: under none of its names."""
    before = file.read_text()
    (tmp_path / "other.toml").symlink_to(file.absolute())
    for name in ("request.toml", "./request.toml", file.absolute(), "other.toml"):
        code, _, err = call(capsys, "plan", file, "--target", "opensm", "--out", name)
        assert (code, "the request itself" in err) == (2, True)
    assert file.read_text() == before


def test_b9_dropped_service_levels_are_told(capsys, file: Path):
    """Finding B9: in the plan, not only in a comment of the file."""
    out = " ".join(call(capsys, "plan", file, "--target", "opensm", "--out", "qos.conf")[1].split())
    assert "note: packets of service levels 6 to 15, which no class lists, are dropped" in out


def test_a_request_made_of_options_for_a_port_of_64_entries_can_be_written(capsys, defaults: Path):
    assert call(capsys, "import", "opensm", defaults, "--capacity", "64", "--out", "r.toml")[0] == 0
    assert "entries = 32\n" in Path("r.toml").read_text()
    assert call(capsys, "plan", "r.toml", "--out", "again.conf")[0] == 0


def test_an_options_file_becomes_a_request(capsys, defaults: Path):
    code, out, _ = call(capsys, "import", "opensm", defaults, "--out", "request.toml")
    assert (code, out) == (0, "wrote request.toml\n")
    plan = request.plan("request.toml")
    assert [row["name"] for row in plan["classes"]] == [f"VL{lane}" for lane in range(8)]
    assert not plan["refused"]
    assert plan["form"] == "opensm"


def test_an_options_file_becomes_a_scenario(capsys):
    example = CONFIGS / "opensm-qos-example.conf"
    code, out, _ = call(capsys, "import", "opensm", example, "--as", "scenario", "--rate", "2.5Gbit")
    scenario = tomllib.loads(out)
    assert code == 0
    assert scenario["disciplines"] == [
        "table_weighted:table=-/1@64cr/2@128cr/3@192cr/-/4@64cr/5@64cr/6@64cr,high=0@4cr,high_limit=6"
    ]
    assert [channel["name"] for channel in scenario["channel"]] == [
        "VL0",
        "VL1",
        "VL2",
        "VL3",
        "VL5",
        "VL6",
        "VL7",
    ]
    assert scenario["fabric"]["link"] == {"rate": "2500Mbit", "coding": "8b/10b"}


@pytest.mark.parametrize(
    "option",
    [("--as", "plans"), ("--prefix", "ca"), ("--rate", "10"), ("--coding", "8b10b"), ("--rate", "0bit")],
)
def test_import_options_are_checked(capsys, defaults: Path, option: tuple[str, str]):
    code, _, err = call(capsys, "import", "opensm", defaults, *option)
    assert code == 2
    assert f"{option[0][2:]} is " in err
    assert "  remedy: " in err


def test_the_engine_names_its_targets():
    with pytest.raises(ConfigError, match=", ".join(request.TARGETS)):
        _weir.plan_emit(REQUEST, "request.toml", "none")


def test_a_file_that_serves_no_lane_makes_nothing(capsys, defaults: Path):
    defaults.write_text("qos TRUE\nqos_vlarb_low 0:0\nqos_vlarb_high 0:0\n")
    for form in opensm.FORMS:
        code, out, err = call(capsys, "import", "opensm", defaults, "--as", form)
        assert (code, out) == (2, "")
        assert "defaults.conf: no lane has an entry with weight that reaches the port\n  remedy: " in err
