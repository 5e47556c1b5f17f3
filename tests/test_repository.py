"""The files that state the same thing agree."""

import ast
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import weir
from weir.models import MODELS
from weir.results.view import View

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
    project = toml("pyproject.toml")["project"]
    extras = project["optional-dependencies"]
    assert requirements("light.in") == project["dependencies"]
    assert requirements("runtime.in") == sorted(
        {*project["dependencies"], *extras["report"], *extras["live"]}
    )


def test_the_build_backend_declared_is_the_one_locked() -> None:
    assert set(toml("pyproject.toml")["build-system"]["requires"]) <= set(requirements("build.in"))


def test_the_locks_agree_with_each_other() -> None:
    everything = pins("dev.txt")
    for lock in ("build.txt", "runtime.txt", "light.txt"):
        assert pins(lock).items() <= everything.items(), f"{lock} is not a subset of dev.txt: run `make lock`"
    # What both have is installed once, in one environment.
    shared = {name: version for name, version in pins("site.txt").items() if name in everything}
    assert shared.items() <= everything.items(), "site.txt is not in step with dev.txt: run `make lock`"


def test_every_locked_file_has_a_hash() -> None:
    for lock in ("build.txt", "runtime.txt", "light.txt", "wheel.txt", "dev.txt", "site.txt"):
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
    # Itself, with its suite, for its tests.
    assert {name for name in below["weir-core"] if name.startswith("weir-")} == {"weir-core"}


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


def imported(folder: str) -> set[str]:
    """Return the modules of weir that a folder of the package imports, in functions too."""
    found = set()
    for file in (ROOT / "python" / "weir" / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {f"{node.module}.{name.name}" for name in node.names}
    return {name for name in found if name.startswith("weir.")}


def test_no_result_knows_a_model_and_no_model_another():
    above = ("weir.cli", "weir.live", "weir.planning", "weir.reproduce")
    shared = imported("results")
    assert {name for name in shared if name.startswith("weir.models")} == {"weir.models.MODELS"}
    for model in MODELS:
        own = imported(f"models/{model}")
        assert own
        others = {name for name in own if name.startswith("weir.models.")}
        assert all(name.startswith(f"weir.models.{model}.") for name in others)
        assert not any(name.startswith(above) for name in own | shared)


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_every_model_has_results_that_can_be_shown(model):
    result = model.result()
    assert getattr(weir, model.result_class) is result
    assert issubclass(result, weir.Result)
    assert issubclass(type(result("{}").view()), View)
    assert (ROOT / "python" / "weir" / "models" / model.name).is_dir()


def test_every_model_of_a_scenario_is_listed():
    folders = {path.name for path in (ROOT / "python" / "weir" / "models").iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == set(MODELS)


def test_e3_the_public_modules_of_the_core_are_those_that_it_promises() -> None:
    text = (ROOT / "crates" / "weir-core" / "src" / "lib.rs").read_text(encoding="utf-8")
    hidden = set(re.findall(r"#\[doc\(hidden\)\]\npub mod (\w+);", text))
    public = set(re.findall(r"^pub mod (\w+);", text, re.MULTILINE)) - hidden
    readme = (ROOT / "crates" / "weir-core" / "README.md").read_text(encoding="utf-8")
    promised, _, kept = readme.partition("documentation shows:")[2].partition("Four more modules")
    assert set(re.findall(r"`(\w+)`", promised)) == public
    assert set(re.findall(r"`(\w+)`", kept.partition("\n\n")[0])) == hidden
    assert "ranked" not in public | hidden


def test_every_target_that_a_release_or_an_image_makes_is_there() -> None:
    targets = set(
        re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    image = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
    made = set(re.findall(r"\bmake ([a-z-]+)$", workflow + image, re.MULTILINE))
    assert {"test-wheel", "tarball", "weird", "wheel"} <= made <= targets
    jobs = set(re.findall(r"^  (\w+):$", workflow.partition("\njobs:\n")[2], re.MULTILINE))
    assert set(re.findall(r"needs: \[(.*)\]", workflow)[0].split(", ")) == jobs - {"files"}
    for copied in re.findall(r"COPY --from=build /src/(\S+) ", image):
        assert copied in {".venv/bin/weird", "LICENSE", "dist", "requirements/runtime.txt"}
