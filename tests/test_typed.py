"""What the documentation shows passes the type checker of whoever copies it."""

import re
import subprocess
import sys
from pathlib import Path

import weir

REQUEST = "from typing import Any\n\nimport weir\n\nrequest: Any = object()\n"


def checked(tmp_path: Path, program: str) -> str:
    """What mypy says of a program under ``--strict``."""
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "program.py"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout


def test_the_example_of_the_package_passes_strictly(tmp_path: Path):
    assert weir.__doc__ is not None
    example = re.findall(r"(?m)^    (.+)$", weir.__doc__)
    assert any("estimate" in line for line in example)
    rest = """
load: float | None = result.load
found = result.estimate("alpha:10", statistic="p99")
if found is not None:
    value: float | None = found.value
port = weir.run("scenario.toml")
if isinstance(port, weir.PortResult):
    row: weir.Estimate | None = port.estimate("sf", class_="all")

queue_of_text: weir.Queue[str] = weir.Queue("sf", maxsize=3, on_drop=lambda item, reason: print(item, reason))
with queue_of_text:
    preempts: bool = queue_of_text.put("item", timeout=1.0, size=3)
    texts: list[str] = [queue_of_text.get(), queue_of_text.peek(), *queue_of_text]

servers: weir.Dispatcher[str] = weir.Dispatcher("jsq", servers=2)
with servers.get(servers.put("item").server) as item:
    upper: str = item.upper()
is_through: bool = weir.Limiter(rate=10, burst=2).acquire(timeout=1.0)


async def main() -> None:
    async with queue_of_text:
        await queue_of_text.aput("item")
        text: str = await queue_of_text.aget()
        await weir.Limiter(rate="1Mbit", burst="64KiB").aacquire(len(text))
"""
    assert checked(tmp_path, "\n".join([REQUEST, *example, rest])) == ""


def test_a_mistake_is_found(tmp_path: Path):
    program = REQUEST + 'queue: weir.Queue[str] = weir.Queue("sf")\nqueue.put(3)\n'
    assert "incompatible type" in checked(tmp_path, program)
