"""Files that are written: links stay, what is no file is written to and not replaced, failures leave nothing.

Devices are those of the system's memory only; what would replace one is never run on it.
"""

import os
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from weir import cli, files
from weir.errors import ConfigError
from weir.files import is_stream, read_text, replacing, write_text

SCRIPT = "on 1 udp 10.0.2.1.4000 at 1 arrival 0.1 length 100 time 5"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_link_stays_and_its_target_is_replaced(folder):
    (folder / "deep").mkdir()
    (folder / "deep/real.txt").write_text("old")
    (folder / "link").symlink_to("deep/real.txt")
    (folder / "link of a link").symlink_to("link")
    write_text(folder / "link of a link", "new")
    assert (folder / "link").is_symlink()
    assert (folder / "link of a link").is_symlink()
    assert (folder / "deep/real.txt").read_text() == "new"
    assert names(folder / "deep") == ["real.txt"]


def test_a_link_to_what_is_not_there_yet(folder):
    (folder / "link").symlink_to("later.txt")
    write_text(folder / "link", "new")
    assert (folder / "later.txt").read_text() == "new"
    assert (folder / "link").is_symlink()


def test_links_in_a_circle_are_refused(folder):
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    with pytest.raises(ConfigError, match="cannot be written: too many levels"):
        write_text(folder / "a", "new")
    assert names(folder) == ["a", "b"]


def test_a_pipe_gets_the_whole_and_stays_a_pipe(folder):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "all of it")
    reader.join(timeout=30)
    assert got == ["all of it"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(folder) == ["pipe"]


def test_nothing_goes_into_a_pipe_if_the_writing_fails(folder):
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    with suppress(ZeroDivisionError), replacing(pipe) as part:
        part.write_text("half")
        raise ZeroDivisionError
    assert names(folder) == ["pipe"]


def test_a_folder_is_refused(folder):
    with pytest.raises(ConfigError, match="cannot be written: is a directory"):
        write_text(folder, "new")


def test_streams_are_told_from_files(folder):
    (folder / "file").write_text("")
    (folder / "link").symlink_to("/dev/stdout")
    told = {name: is_stream(Path(name)) for name in ("file", "absent", "/dev/null", "/dev/stdout", "link")}
    assert told == {"file": False, "absent": False, "/dev/null": True, "/dev/stdout": True, "link": True}


def weir(*arguments: str, **more) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "weir", *arguments]
    return subprocess.run(command, text=True, timeout=60, check=False, **more)


def test_out_may_be_the_standard_output(folder):
    (folder / "a.tg").write_text(SCRIPT)
    expected = weir("import", "tg", "a.tg", capture_output=True).stdout
    done = weir("import", "tg", "a.tg", "--out", "/dev/stdout", capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{expected}wrote /dev/stdout\n"
    with (folder / "kept.txt").open("w") as kept:  # a descriptor of a file is continued, not begun anew
        kept.write("before\n")
        kept.flush()
        assert weir("import", "tg", "a.tg", "--out", "/dev/stdout", stdout=kept).returncode == 0
    assert (folder / "kept.txt").read_text() == f"before\n{done.stdout}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_device_is_refused_and_stays_a_device(folder, capsys):
    (folder / "a.tg").write_text(SCRIPT)
    full = Path("/dev/full")
    before = full.stat()
    (folder / "link").symlink_to(full)
    if stat.S_ISCHR(before.st_mode):
        for name in ("/dev/full", "link"):
            assert cli.run(["import", "tg", "a.tg", "--out", name]) == 2
            error, remedy = capsys.readouterr().err.splitlines()
            assert error.endswith("cannot be written: no space left on device")
            assert remedy.startswith("  remedy: ")
    assert full.stat() == before
    assert (folder / "link").is_symlink()


def test_a_stream_without_an_ending_takes_the_first_form(folder):
    from weir.cli.shared import form_of

    os.mkfifo(folder / "pipe")
    assert form_of(Path("pipe"), (".json", ".html")) == ".json"
    assert form_of(Path("/dev/stdout"), (".html",)) == ".html"
    for name, said in (("file", "must end in"), (".", "cannot be written: is a directory")):
        with pytest.raises(ConfigError, match=said):
            form_of(Path(name), (".json", ".html"))


def test_a_text_is_read_up_to_a_bound(folder, monkeypatch):
    """A device that never ends would fill the memory; a line ends as it does where texts are opened."""
    monkeypatch.setattr(files, "_MOST_BYTES", 2**21)
    with pytest.raises(ConfigError, match=r"^/dev/zero: has more than 2 MiB") as refused:
        read_text(Path("/dev/zero"))
    assert refused.value.remedy == "name the file that is meant, or cut it"
    (folder / "t").write_bytes(b"a\r\nb\rc\n" + b"d" * (2**21 - 7))
    assert read_text(folder / "t") == "a\nb\nc\n" + "d" * (2**21 - 7)
