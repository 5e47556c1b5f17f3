"""Scenarios made of captures: what is in the files, when they appear, and every refusal with a remedy."""

import gzip
import json
import resource
import signal
import struct
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import weir
from weir import cli
from weir.errors import CaptureError, ConfigError
from weir.importing import pcap

PYTHON = (sys.executable, "-c", "from weir.cli import main; main()")


def packet(source: int, destination: int, ports: tuple[int, int], size: int, dscp: int = 0) -> bytes:
    """Return an Ethernet frame of TCP over IPv4 with ``size`` bytes."""
    head = struct.pack("!BBHHHBBH", 0x45, dscp << 2, size - 14, 0, 0, 64, 6, 0)
    ends = bytes((10, 0, 0, source, 10, 0, 0, destination)) + struct.pack("!HH", *ports)
    return (b"\2" * 12 + b"\x08\x00" + head + ends).ljust(size, b"\0")


def record(at: float, frame: bytes, captured: int | None = None) -> bytes:
    microseconds = round(at * 1e6)
    lengths = (len(frame) if captured is None else captured, len(frame))
    return struct.pack("<IIII", *divmod(microseconds, 1_000_000), *lengths) + frame


HEADER = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
POLL = packet(1, 2, (40000, 502), 80)
ANSWER = packet(2, 1, (502, 40000), 90)
PAGE = packet(3, 4, (50000, 443), 1500)
VOICE = packet(5, 6, (7000, 7002), 200, dscp=46)
ARP = b"\2" * 12 + b"\x08\x06" + bytes(46)
CAPTURE = HEADER + b"".join(
    (
        record(1.0, POLL),
        record(1.001, ANSWER),
        record(1.5, PAGE),
        record(1.5, ARP),
        record(1.75, VOICE),
        record(2.0, POLL),
    )
)
ROWS = """\
t_ns,frame_bytes,flow,dir,ip_proto,dscp
0,80,0,f,6,0
1000000,90,0,r,6,0
500000000,1500,1,f,6,0
750000000,200,2,f,6,46
1000000000,80,0,f,6,0
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "site.pcap"
    path.write_bytes(CAPTURE)
    return path


def call(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = cli.run(["import", "pcap", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_the_command_writes_a_schedule_and_a_scenario(capsys, file):
    code, out, err = call(capsys, file)
    assert (code, err) == (0, "")
    assert out == (
        "pcap: 5 packets, 1,950 bytes, 3 flows, 1 s\n"
        "note: Left out: 1 frame without IP (ARP 1).\n"
        "wrote site/scenario.toml\n"
        "wrote site/packets.csv\n"
        "next: weir compare site/scenario.toml\n"
    )
    assert Path("site/packets.csv").read_text() == ROWS
    assert sorted(path.name for path in Path("site").iterdir()) == ["packets.csv", "scenario.toml"]
    scenario = tomllib.loads(Path("site/scenario.toml").read_text())
    assert scenario["network"] == {"hosts": ["sender", "receiver"], "classes": ["ef", "control", "web"]}
    assert [(flow["name"], flow["class"]) for flow in scenario["flow"]] == [
        ("flow 0 tcp", "control"),
        ("flow 1 tcp", "web"),
        ("flow 2 tcp", "ef"),
    ]
    assert scenario["flow"][0]["trace"] == {
        "file": "packets.csv",
        "time": "t_ns",
        "time_unit": "ns",
        "size": "frame_bytes",
        "keep": {"flow": "0", "dir": "f"},
    }
    # 1,860 bytes forward in a second, at a load of 80 %.
    assert scenario["link"] == [{"from": "sender", "to": "receiver", "rate": "19kbit"}]
    assert scenario["stop"] == {"duration": "1001ms"}
    assert scenario["disciplines"][-1] == "priority(fifo(limit=100pkt),bands=3)"


def test_a_scenario_of_a_chosen_name_and_a_compressed_capture(capsys, file):
    file.write_bytes(gzip.compress(CAPTURE))
    code, out, _ = call(capsys, file, "--out", "up.toml", "--rate", "1.344Mbit", "--json")
    told = json.loads(out)
    assert (code, told["scenario"], told["schedule"], told["rest"]) == (
        0,
        "up.toml",
        "up.packets.csv",
        None,
    )
    assert told["capture"]["notes"]["without_ip"] == {"0x0806": 1}
    assert Path("up.packets.csv").read_text() == ROWS
    scenario = tomllib.loads(Path("up.toml").read_text())
    assert scenario["link"][0]["rate"] == "1.344Mbit"
    assert scenario["flow"][0]["trace"]["file"] == "up.packets.csv"


def test_flows_beyond_the_bound_are_replayed_together(file):
    imported = pcap.write(file, "few", flows=1)
    assert imported.rest is not None
    assert imported.rest.read_text() == (
        "t_ns,frame_bytes,flow,dir,ip_proto,dscp\n0,80,0,f,6,0\n750000000,200,2,f,6,46\n1000000000,80,0,f,6,0\n"
    )
    scenario = tomllib.loads(imported.scenario.read_text())
    assert [flow["name"] for flow in scenario["flow"]] == ["flow 1 tcp", "2 other flows"]
    assert scenario["flow"][1]["start"] == "0ns"
    assert scenario["network"]["classes"] == ["web", "rest"]


def test_addresses_are_written_only_where_asked_for(file):
    assert "10.0.0.1" not in pcap.write(file, "without").schedule.read_text()
    rows = pcap.write(file, "with", addresses=True).schedule.read_text().splitlines()
    assert rows[0].endswith(",dscp,source,destination,source_port,destination_port")
    assert rows[1] == "0,80,0,f,6,0,10.0.0.1,10.0.0.2,40000,502"


def test_the_scenario_runs_and_replays_what_went_forward(file):
    for flows in (3, 1):
        result = weir.run(pcap.write(file, "replay", rate="1Mbit", flows=flows).scenario)
        packets = {total.discipline: total.offered / result.replications for total in result.totals}
        assert packets == dict.fromkeys(result.disciplines, 4)
        # A poll of 80 bytes on a line of 1 Mbit/s that is idle.
        if flows == 3:
            for name in result.disciplines:
                assert result.estimate(name, class_="control").value == pytest.approx(640e-6)


@pytest.mark.parametrize(
    ("dscp", "port", "name"),
    [(46, 502, "ef"), (34, 1, "af41"), (8, 80, "cs1"), (3, 80, "dscp3"), (0, 445, "bulk"), (0, 5, "other")],
)
def test_classes(dscp, port, name):
    assert pcap.class_of({"forward": {"dscp": dscp}, "service_port": port}) == name


def test_a_tail_that_was_cut_off_is_a_note(capsys, file):
    file.write_bytes(CAPTURE[:-1])
    code, out, _ = call(capsys, file)
    assert code == 0
    assert (
        f"note: The file ends within the record at byte {len(CAPTURE) - 96}: what is before it was read.\n"
        in out
    )
    assert Path("site/packets.csv").read_text() == ROWS.rsplit("\n", 2)[0] + "\n"


def block(kind: int, length: int, body: bytes = b"") -> bytes:
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


SECTION = block(0x0A0D0D0A, 28, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
INTERFACE = block(1, 20, struct.pack("<HHI", 1, 0, 0))
ENHANCED = struct.pack("<IIIII", 0, 0, 0, 80, 80) + POLL

REFUSED = {
    "empty": (b"", "is empty, must be a pcap or pcapng file"),
    "magic": (
        b"\x7fELF" + bytes(100),
        "byte 0: the file begins with 7f454c46, which is neither pcap nor pcapng",
    ),
    "header": (HEADER[:20], "byte 0: the file ends within its first header"),
    "version": (HEADER[:4] + b"\x09" + HEADER[5:], "byte 0: the version is 9.4, must be 2.4 of pcap, or"),
    "link": (HEADER[:20] + b"\x69\0\0\0", "byte 0: the link type is 105, must be 0 or 108"),
    "four gigabytes": (
        CAPTURE + record(3, POLL, captured=2**32 - 1),
        f"byte {len(CAPTURE)}: the captured length of the packet is 4294967295 bytes, must be at most 262144",
    ),
    "longer than it was": (
        CAPTURE + record(3, POLL, captured=81),
        f"byte {len(CAPTURE)}: the captured length is 81 bytes, more than the 80 bytes of the packet",
    ),
    "time goes back": (
        CAPTURE + record(0.5, POLL),
        f"byte {len(CAPTURE)}: time goes back by 1.5 s, at most 1 s can be corrected",
    ),
    "no packets": (HEADER + record(1, ARP), "no packet has both an IP header and a time"),
    "a block without length": (
        SECTION + INTERFACE + block(6, 0),
        "byte 48: the length of the block (type 6) is 0, must be a multiple of 4 from 32 to 1048576",
    ),
    "a block of four gigabytes": (
        SECTION + INTERFACE + block(0xBAD, 2**32 - 4),
        "byte 48: the length of the block (type 2989) is 4294967292, must be a multiple of 4 from 12 to",
    ),
    "a block with two lengths": (
        SECTION + INTERFACE + struct.pack("<II", 6, 112) + ENHANCED + struct.pack("<I", 116),
        "byte 48: the length of the block is 112 at its start and 116 at its end",
    ),
    "a packet beyond its block": (
        SECTION + INTERFACE + block(6, 32, struct.pack("<IIIII", 0, 0, 0, 80, 80)),
        "byte 48: the captured length is 80 bytes, more than the 0 bytes of room in the block",
    ),
    "an unknown interface": (
        SECTION + block(6, 112, ENHANCED),
        "byte 28: the packet names interface 0, but only 0 are described",
    ),
    "endless blocks": (
        SECTION + INTERFACE + block(5, 12) * (2**20 + 1),
        f"byte {48 + 12 * (2**20 - 2)}: 1048576 blocks in a row hold no packet",
    ),
    "damaged gzip": (gzip.compress(CAPTURE)[:-8] + bytes(8), "cannot be read: corrupt gzip stream"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_has_a_place_and_a_remedy_and_leaves_nothing(capsys, file, name):
    data, expected = REFUSED[name]
    file.write_bytes(data)
    code, out, err = call(capsys, file)
    assert (code, out) == (2, "")
    message, remedy = err.splitlines()
    assert message.startswith(f"error: {file}: {expected}")
    assert remedy.startswith("  remedy: ")
    assert [path.name for path in Path().iterdir()] == ["site.pcap"]


@pytest.mark.parametrize("name", ["four gigabytes", "a block of four gigabytes", "endless blocks"])
def test_claims_do_not_take_memory(file, name):
    file.write_bytes(REFUSED[name][0])
    limit = 512 << 20

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    command = [*PYTHON, "import", "pcap", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=bound, check=False)
    assert done.returncode == 2, done.stderr
    assert REFUSED[name][1].split(": ")[1] in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.pcap"], "missing.pcap: cannot be read: no such file or directory"),
        (["."], ".: cannot be read: is a directory"),
        (["site.pcap", "--rate", "10"], "rate is '10', must be a rate above 0 with its unit"),
        (["site.pcap", "--rate", "0Mbit"], "rate is '0Mbit', must be a rate above 0 with its unit"),
        (["site.pcap", "--flows", "0"], "flows is 0, must be from 1 to 512"),
        (
            ["site.pcap", "--out", "no/where"],
            "--out is no/where, which cannot be made: no such file or directory",
        ),
        (["site.pcap", "--out", "no/up.toml"], "no/up.toml: cannot be written: no such file or directory"),
    ],
)
def test_values_that_are_refused(capsys, file, arguments, message):
    code, _, err = call(capsys, *arguments)
    assert code == 2
    assert err.splitlines()[0] == f"error: {message}"
    assert [path.name for path in file.parent.iterdir()] == ["site.pcap"]


def test_errors_have_their_kinds(file):
    file.write_bytes(b"")
    with pytest.raises(CaptureError) as refused:
        pcap.write(file, "out")
    assert isinstance(refused.value, ConfigError)
    assert refused.value.file == str(file)


def interrupted(file, *more):
    """Interrupt an import from a pipe that nobody writes to once it waits; return code and error output."""
    subprocess.run(["mkfifo", file.with_name("pipe")], check=True)
    with subprocess.Popen(
        [*PYTHON, "import", "pcap", "pipe", *more], stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 30
        while not list(file.parent.glob("out/.packets*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    return process.returncode, err


def test_a_pipe_that_nobody_writes_to_can_be_interrupted(file):
    assert interrupted(file, "--out", "out") == (130, "interrupted: nothing was written\n")
    assert sorted(path.name for path in file.parent.iterdir()) == ["pipe", "site.pcap"]


@pytest.mark.usefixtures("file")
def test_a_capture_may_come_through_a_pipe():
    command = [*PYTHON, "import", "pcap", "/dev/stdin", "--out", "out"]
    done = subprocess.run(command, input=CAPTURE, capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert Path("out/packets.csv").read_text() == ROWS


def test_what_is_no_file_is_refused_before_anything_is_made(capsys, file):
    for name, said in (("/dev/null", "is neither a file nor a pipe"), ("missing", "cannot be read: no such")):
        code, _, err = call(capsys, name)
        assert (code, err.splitlines()[0][: len(f"error: {name}: {said}")]) == (2, f"error: {name}: {said}")
    assert [path.name for path in file.parent.iterdir()] == ["site.pcap"]


def test_a_capture_without_an_ending_has_a_folder_of_another_name(capsys, file):
    file.rename("capture")
    code, out, err = call(capsys, "capture")
    assert (code, err) == (0, "")
    assert "wrote capture.replay/scenario.toml\n" in out
    assert call(capsys, "capture")[0] == 0  # what is there is replaced


def test_one_of_a_kind_is_told_as_one(capsys, file):
    file.write_bytes(HEADER + record(1.0, POLL))
    assert call(capsys, file)[1].startswith("pcap: 1 packet, 80 bytes, 1 flow, 0 s\n")
    file.write_bytes(HEADER + record(1.0, POLL) + record(1.5, PAGE))
    call(capsys, file, "--flows", "1", "--out", "few")
    assert 'name = "1 other flow"' in Path("few/scenario.toml").read_text()


def test_out_is_given_once(capsys, file):
    code, _, err = call(capsys, file, "--out", "a", "--out", "b")
    assert code == 2
    assert err == "error: --out is given 2 times, may be given once\n  remedy: leave one of them\n"


def test_interrupted_it_writes_nothing(file):
    # Longer than the test waits: a pipe that stays open.
    pipe = file.with_name("pipe")
    subprocess.run(["mkfifo", pipe], check=True)
    with subprocess.Popen(
        [*PYTHON, "import", "pcap", "pipe", "--out", "out"], stderr=subprocess.PIPE, text=True
    ) as process:
        with pipe.open("wb", buffering=0) as source:
            source.write(CAPTURE)
            deadline = time.monotonic() + 30
            while not list(file.parent.glob("out/.packets*")) and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted: nothing was written\n")
    assert sorted(path.name for path in file.parent.iterdir()) == ["pipe", "site.pcap"]
