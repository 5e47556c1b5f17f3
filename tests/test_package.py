"""The wheel: what is in it, and what it does in an environment that has nothing else, and no Rust.

By default the wheel is of the profile `editing`, made of the extension that is built already, and what it
depends on is copied from this environment, so that nothing is compiled or fetched. ``WEIR_WHEEL=FILE``, as
`make test-wheel` has it, tries that wheel, and pip fetches what it depends on.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from weir.extras import EXTRAS
from weir.reproduce import DOCUMENTS

ROOT = Path(__file__).resolve().parent.parent
GIVEN = os.environ.get("WEIR_WHEEL")
LARGEST_WHEEL, LARGEST_ENVIRONMENT = 6e6, 60e6
"""Bytes."""
TOP = {"weir", f"weir-{metadata.version('weir')}.dist-info"}
DISTRIBUTIONS = {"vl_convert": "vl-convert-python"}
"""Those that are not called as their module."""


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if GIVEN:
        return Path(GIVEN).resolve()
    folder = tmp_path_factory.mktemp("wheel")
    offline = ["--no-build-isolation", "--no-index", "--no-deps"]
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", *offline, "--wheel-dir", folder, ROOT]
    environment = {**os.environ, "MATURIN_PEP517_ARGS": "--profile editing"}
    subprocess.run(command, env=environment, check=True, timeout=1200)
    [made] = folder.glob("weir-*.whl")
    return made


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def needed(name: str, found: set[str]) -> set[str]:
    """Return a distribution and all that it depends on here."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    if name not in found:
        found.add(name)
        for text in metadata.requires(name) or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needed(requirement.name, found)
    return found


def lay(name: str, site: Path) -> None:
    """Copy an installed distribution."""
    for file in metadata.files(name) or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), target)


@pytest.fixture(scope="module")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment into which the wheel alone was installed."""
    folder = tmp_path_factory.mktemp("light")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet"]
    if not GIVEN:
        [site] = folder.glob("lib/python3*/site-packages")
        found: set[str] = set()
        for each in project()["dependencies"]:
            needed(Requirement(each).name, found)
        for name in found:
            lay(name, site)
        install.append("--no-index")
    subprocess.run([*install, wheel], check=True, timeout=600)
    return folder


def run(home: Path, folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command of the environment in a folder of its own, with no other program of ours in reach."""
    environment = {"PATH": str(home / "bin"), "HOME": str(folder), "LANG": "C.UTF-8"}
    command = [str(each) for each in arguments]
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )


def weir(home: Path, folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run(home, folder, home / "bin" / "weir", *arguments)


# What is in it.


def test_a_wheel_is_for_every_python_from_3_11_on(wheel: Path) -> None:
    assert re.fullmatch(r"weir-[\d.]+-cp311-abi3-(manylinux_\d+_\d+|manylinux2014|linux)\w*\.whl", wheel.name)
    if GIVEN:
        assert f"manylinux_2_17_{platform.machine()}" in wheel.name
        assert wheel.stat().st_size < LARGEST_WHEEL


def test_a_wheel_holds_the_package_its_tables_and_its_licences_and_nothing_else(names: list[str]) -> None:
    assert {name.split("/")[0] for name in names} == TOP
    sources = {path.relative_to(ROOT / "python").as_posix() for path in (ROOT / "python").rglob("*.py*")}
    sources = {name for name in sources if "__pycache__" not in name}
    assert sources <= set(names)
    published = {
        f"weir/reproduce/published/{path.relative_to(ROOT / 'reproduce').as_posix()}"
        for path in (ROOT / "reproduce").rglob("*")
        if path.is_file()
    }
    assert published <= set(names)
    extensions = {"py", "pyi", "typed", "so", "toml", "css", "js"}
    others = [name for name in names if name.startswith("weir/") and name not in published]
    assert {name.rpartition(".")[2] for name in others} <= extensions
    licences = {name.rpartition("/")[2] for name in names if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "LICENSE-MIT", "LICENSE-APACHE"}


def test_the_extension_has_no_debug_information_and_no_path_of_this_machine(
    wheel: Path, names: list[str], tmp_path: Path
) -> None:
    [name] = [name for name in names if name.endswith(".so")]
    with zipfile.ZipFile(wheel) as archive:
        extension = Path(archive.extract(name, tmp_path))
    command = ["readelf", "--sections", "--wide", extension]
    sections = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert ".text" in sections
    assert ".debug" not in sections
    if GIVEN:
        assert ".symtab" not in sections
    assert str(ROOT).encode() not in extension.read_bytes()


def test_the_extras_declared_are_those_that_the_package_asks_for() -> None:
    declared = {
        extra: {Requirement(each).name for each in texts}
        for extra, texts in project()["optional-dependencies"].items()
    }
    for extra, modules in EXTRAS.items():
        assert {DISTRIBUTIONS.get(module, module) for module in modules} == declared[extra], extra
    reported = set().union(*(declared[extra] for extra in ("charts", "parquet", "trace")))
    assert declared["report"] == reported
    bounds = {each for texts in project()["optional-dependencies"].values() for each in texts}
    assert len(bounds) == len({Requirement(each).name for each in bounds}), "one lower bound a package"


# What it does in an environment that has nothing else.


def test_a_plain_installation_is_small_and_has_no_extra(home: Path, tmp_path: Path) -> None:
    [site] = home.glob("lib/python3*/site-packages")
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    assert size < LARGEST_ENVIRONMENT
    asked = "from weir.extras import *; print(*[each for each in EXTRAS if has(each)])"
    said = run(home, tmp_path, "python", "-I", "-c", f"{asked}; import weir; print(weir.__file__)")
    assert said.stderr == ""
    assert said.stdout.splitlines() == ["", str(site / "weir" / "__init__.py")]
    assert run(home, tmp_path, "/bin/sh", "-c", "command -v cargo rustc cc git").stdout == ""


def test_the_tour_runs_and_says_which_extra_its_report_needs(home: Path, tmp_path: Path) -> None:
    said = weir(home, tmp_path, "demo")
    assert said.returncode == 0, said.stderr
    assert "no report: " in said.stdout
    assert "run `pip install 'weir[charts]'`" in said.stdout
    assert list(tmp_path.glob("*.html")) == []


def test_e2_a_document_is_reproduced_without_the_repository(home: Path, tmp_path: Path) -> None:
    said = weir(home, tmp_path, "reproduce", "alpha", "--quick", "--brief")
    assert said.returncode == 0, said.stdout + said.stderr
    assert "0 not met" in said.stdout


@pytest.mark.parametrize("name", DOCUMENTS)
def test_e2_every_published_table_is_there(name: str, home: Path, tmp_path: Path) -> None:
    asked = f"from weir.reproduce.engine.published import Published; print(Published({name!r}).folder())"
    said = run(home, tmp_path, "python", "-I", "-c", asked)
    assert said.stderr == ""
    folder = Path(said.stdout.strip())
    assert folder.is_relative_to(home)
    files = {path.name: path.read_bytes() for path in (ROOT / "reproduce" / name).iterdir()}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


def test_a_discipline_is_explained_run_and_put_into_a_queue(home: Path, tmp_path: Path) -> None:
    assert "alpha" in weir(home, tmp_path, "explain", "alpha").stdout
    scenario = tmp_path / "scenario.toml"
    assert weir(home, tmp_path, "new", "port", "--out", scenario).returncode == 0
    ran = weir(home, tmp_path, "run", scenario, "--out", "result.json")
    assert ran.returncode == 0, ran.stderr
    assert weir(home, tmp_path, "show", "result.json").returncode == 0
    queue = "import weir; q = weir.Queue('alpha:10'); q.put('long', size=20); q.put('short', size=1)"
    assert run(home, tmp_path, "python", "-I", "-c", f"{queue}; print(q.get())").stdout == "short\n"


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("charts", ["demo", "--out", "tour.html"]),
        ("charts", ["run", "scenario.toml", "--out", "page.html"]),
        ("charts", ["reproduce", "alpha", "--quick", "--out", "alpha.html"]),
        ("parquet", ["run", "scenario.toml", "--out", "table.csv"]),
        ("parquet", ["run", "scenario.toml", "--records", "items.parquet"]),
        ("parquet", ["sweep", "scenario.toml", "--over", "workload.load=0.5,0.6"]),
        ("trace", ["run", "node.toml", "--trace", "node.pftrace"]),
    ],
)
def test_an_extra_that_is_missing_is_named_before_anything_runs(
    extra: str, arguments: list[str], home: Path, tmp_path: Path
) -> None:
    for model, name in (("port", "scenario.toml"), ("node", "node.toml")):
        weir(home, tmp_path, "new", model, "--out", name)
    said = weir(home, tmp_path, *arguments)
    assert said.returncode == 2
    assert f"  remedy: run `pip install 'weir[{extra}]'`\n" in said.stderr
    assert "which is not installed" in said.stderr
    assert said.stdout == ""
    assert {path.name for path in tmp_path.iterdir()} <= {"scenario.toml", "node.toml", ".cache"}


@pytest.mark.parametrize(
    ("extra", "call"), [("parquet", "to_arrow"), ("pandas", "to_pandas"), ("polars", "to_polars")]
)
def test_a_method_names_the_extra_too(extra: str, call: str, home: Path, tmp_path: Path) -> None:
    weir(home, tmp_path, "new", "port", "--out", "scenario.toml")
    program = f"""
import weir
result = weir.run("scenario.toml", threads=1)
try:
    result.{call}()
except ImportError as error:
    print(isinstance(error, weir.MissingExtraError), error.remedy)
"""
    said = run(home, tmp_path, "python", "-I", "-c", program)
    assert (said.stdout, said.stderr) == (f"True run `pip install 'weir[{extra}]'`\n", "")
