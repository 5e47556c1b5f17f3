"""The shape of every reproduction, the thresholds that its tolerances rest on, and who imports whom."""

import ast
import json
import math
import random
from pathlib import Path
from statistics import NormalDist

import pytest
from jsonschema import validate

from weir import reproduce
from weir.reproduce import Check, Checks, Status
from weir.reproduce.engine.thresholds import (
    degrees_of_freedom,
    per_comparison,
    student_quantile,
    student_tail,
)

NUMBER_OR_TEXT = {"type": ["number", "string", "null"]}
SCHEMA = {
    "type": "object",
    "required": ["reproduction", "fidelity", "checks", "met", "not_met", "artefact", "not_checkable"],
    "additionalProperties": False,
    "properties": {
        "reproduction": {"type": "string"},
        "fidelity": {"enum": ["quick", "default", "full"]},
        **{status.value: {"type": "integer"} for status in Status},
        "interrupted": {"type": "boolean"},
        "checks": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "kind", "published", "measured", "ci95", "tolerance", "status", "note"],
                "additionalProperties": False,
                "properties": {
                    "id": {"type": "string"},
                    "kind": {"type": "string"},
                    "published": NUMBER_OR_TEXT,
                    "measured": NUMBER_OR_TEXT,
                    "ci95": {
                        "type": ["array", "null"],
                        "items": {"type": "number"},
                        "minItems": 2,
                        "maxItems": 2,
                    },
                    "tolerance": {"type": ["number", "null"]},
                    "status": {"enum": [status.value for status in Status]},
                    "note": {"type": "string"},
                },
            },
        },
    },
}


def check(**changes):
    usual = {"id": "a", "kind": "table", "published": 1.0, "measured": 1.1, "status": Status.MET}
    return Check(**{**usual, **changes})


def test_checks_survive_json():
    made = Checks("alpha", "quick", (check(), check(id="b", ci95=(1.0, 1.2), tolerance=0.3)))
    assert Checks.from_json(made.to_json()) == made
    validate(json.loads(made.to_json()), SCHEMA)


def test_counts_are_by_status():
    rows = (
        check(),
        check(id="b", status=Status.NOT_MET),
        check(id="c", status=Status.ARTEFACT, note="overflow"),
    )
    made = Checks("alpha", "quick", rows)
    assert (made.met, made.not_met, made.artefact, made.not_checkable) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"measured": math.nan}, "measured is nan, must be finite"),
        ({"published": math.inf}, "published is inf, must be finite"),
        ({"ci95": (1.0, math.nan)}, "ci95 is nan, must be finite"),
        ({"ci95": (2.0, 1.0)}, "must run from low to high"),
        ({"tolerance": -1.0}, "tolerance is -1.0, must be at least 0"),
        ({"status": Status.NOT_CHECKABLE}, "must give the reason in its note"),
    ],
)
def test_a_check_refuses_what_cannot_be_meant(changes, words):
    with pytest.raises(ValueError, match=words):
        check(**changes)


def test_ids_are_unique():
    with pytest.raises(ValueError, match="check a is there twice"):
        Checks("alpha", "quick", (check(), check()))


@pytest.mark.parametrize(
    ("level", "freedom", "value"),
    [
        (0.05, 1, 12.7062047),
        (0.05, 10, 2.2281389),
        (0.01, 5, 4.0321430),
        (0.001, 30, 3.6459586),
        (0.05, 1e9, 1.9599640),
    ],
)
def test_student_agrees_with_its_tables(level, freedom, value):
    assert student_quantile(level, freedom) == pytest.approx(value, abs=5e-7)


def test_student_tends_to_the_normal_distribution():
    for value in (0.5, 2.0, 4.5):
        assert student_tail(value, 1e7) == pytest.approx(2 * NormalDist().cdf(-value), rel=1e-4)


@pytest.mark.parametrize("freedom", [1, 3, 39, 200, 10_000])
def test_an_interval_tells_its_degrees_of_freedom(freedom):
    assert degrees_of_freedom(student_quantile(0.05, freedom)) == pytest.approx(freedom, rel=1e-3)


def test_levels_multiply_to_that_of_all():
    level = per_comparison(0.01, 1040)
    assert (1 - level) ** 1040 == pytest.approx(0.99)
    assert 1e-6 < level < 1e-5


@pytest.mark.parametrize(("chance", "comparisons"), [(0.0, 10), (1.0, 10), (0.01, 0)])
def test_a_level_needs_a_chance_and_comparisons(chance, comparisons):
    with pytest.raises(ValueError, match="must be"):
        per_comparison(chance, comparisons)


def test_false_alarms_are_as_rare_as_stated():
    """With 50 independent cells at 20 % in all, about 20 % of the tables alarm."""
    draw = random.Random(1)  # noqa: S311 - a simulation
    threshold = student_quantile(per_comparison(0.2, 50), 30)
    tables = 600
    alarms = sum(any(abs(student(draw, 30)) > threshold for _ in range(50)) for _ in range(tables))
    assert abs(alarms / tables - 0.2) < 4 * math.sqrt(0.2 * 0.8 / tables)


def test_false_alarms_of_correlated_cells_are_rarer():
    draw = random.Random(2)  # noqa: S311 - a simulation
    threshold = student_quantile(per_comparison(0.2, 50), 1e9)
    tables = 600
    alarms = 0
    for _ in range(tables):
        shared = draw.gauss()
        alarms += any(abs(0.9 * shared + math.sqrt(0.19) * draw.gauss()) > threshold for _ in range(50))
    assert alarms / tables < 0.2


def student(draw, freedom):
    return draw.gauss() / math.sqrt(draw.gammavariate(freedom / 2, 2) / freedom)


# One engine, and documents that do not know of each other.

REPRODUCE = Path(reproduce.__file__).parent
PACKAGES = {path.parent.name for path in REPRODUCE.glob("*/__init__.py")}


def imported(path):
    """Return the modules that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_every_document_has_its_package():
    assert {*reproduce.DOCUMENTS, "engine"} == PACKAGES


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_no_document_knows_of_another_and_the_engine_of_none(package):
    allowed = {package, "engine"}
    found = {
        (path.name, name)
        for path in (REPRODUCE / package).rglob("*.py")
        for name in imported(path)
        if name.startswith("weir.reproduce.") and name.split(".")[2] not in allowed
    }
    assert found == set()
