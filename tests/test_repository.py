"""The files that state the same thing agree."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def requirements(name: str) -> list[str]:
    lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-r", " "))]


def pins(name: str) -> dict[str, str]:
    """Return the version of each project of a lock."""
    return dict(line.rstrip(" \\").split("==") for line in requirements(name))


def test_what_the_package_declares_is_what_is_locked() -> None:
    assert requirements("runtime.in") == toml("pyproject.toml")["project"]["dependencies"]


def test_the_build_backend_declared_is_the_one_locked() -> None:
    assert set(toml("pyproject.toml")["build-system"]["requires"]) <= set(requirements("build.in"))


def test_the_locks_agree_with_each_other() -> None:
    everything = pins("dev.txt")
    for lock in ("build.txt", "runtime.txt"):
        assert pins(lock).items() <= everything.items(), f"{lock} is not a subset of dev.txt: run `make lock`"


def test_every_locked_file_has_a_hash() -> None:
    for lock in ("build.txt", "runtime.txt", "dev.txt"):
        text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
        hashed = re.findall(r"^\S+==\S+ \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)
        assert len(hashed) == len(pins(lock))


def crates() -> list[dict[str, Any]]:
    """Return what cargo knows of every crate, ours and others."""
    command = "cargo metadata --format-version 1 --locked --filter-platform x86_64-unknown-linux-gnu"
    metadata = subprocess.run(command.split(), cwd=ROOT, capture_output=True, check=True)
    return json.loads(metadata.stdout)["packages"]


def test_the_licence_of_every_crate_is_allowed() -> None:
    allowed = set(toml("deny.toml")["licenses"]["allow"])
    for crate in crates():
        assert permits(crate["license"], allowed), f"{crate['name']}: {crate['license']}"


def test_no_model_knows_another() -> None:
    models = {f"weir-{name}" for name in ("port", "network", "fabric", "node", "server")}
    names = {crate["name"]: {each["name"] for each in crate["dependencies"]} for crate in crates()}
    below = {name: uses & names.keys() for name, uses in names.items() if name.startswith("weir-")}
    for model in models:
        reached, ahead = set(), [model]
        while ahead:
            found = below.get(ahead.pop(), set()) - reached
            reached |= found
            ahead += found
        assert not reached & (models - {model} | {"weir-sim"}), model
    assert not [name for name in below["weir-core"] if name.startswith("weir-")]


def permits(expression: str, allowed: set[str]) -> bool:
    """Say whether an SPDX expression of AND, OR and brackets can be met with the licences allowed."""
    while (inner := re.search(r"\(([^()]*)\)", expression)) is not None:
        met = "MET" if permits(inner[1], allowed) else "UNMET"
        expression = expression[: inner.start()] + met + expression[inner.end() :]
    alternatives = re.split(r" OR |/", expression)
    return any({term.strip() for term in each.split(" AND ")} <= allowed | {"MET"} for each in alternatives)


def test_the_changelog_keeps_its_sections() -> None:
    unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    sections = re.findall(r"^### (.*)$", unreleased, re.MULTILINE)
    assert sections == ["Added", "Changed", "Fixed", "Value-breaking"]
