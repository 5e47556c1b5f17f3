"""Result files that are damaged: each is read, or refused with its place and a remedy; nothing else."""

import copy
import io
import json
import random

import pytest
from rich.console import Console

import fabric_results
import made_result
import network_results
import node_results
import weir
from weir import cli
from weir.errors import ConfigError, ResultError
from weir.results import page as report
from weir.results.terminal import show_comparison, show_run


def port():
    """Return a small result of the port: two disciplines, a few bins of each histogram."""
    document = json.loads(made_result.made(("fifo", "sf")))
    for row in document["distributions"]:
        row.update({key: row[key][::40] for key in ("low", "high", "count")})
    return json.dumps(document)


def fabric():
    """Return a small result of the fabric: two disciplines, two channels, two loads."""
    latencies = {name: {0.5: [1e-6, 2e-6], 1.0: [2e-6, 3e-6]} for name in ("drr", "scfq")}
    return json.dumps(fabric_results.document(latencies, channels=("a", "b"), saturated={("drr", "a"): 1.0}))


def node():
    """Return a small result of the node: two disciplines, one epoch of a timeline."""
    document = node_results.document(("epoch", "eevdf"))
    names = [row["name"] for row in document["processes"]]
    return json.dumps(
        {
            **document,
            "timelines": [node_results.timeline("epoch", names, epochs=1)],
            "samples": document["samples"][:2],
        }
    )


DOCUMENTS = {"fabric": fabric, "node": node, "port": port, "network": network_results.made}
JUNK = (
    None, True, 0, -1, 5, 2**70, 10**400, 0.5, -0.25, 1e-300, -1e300, 1e308, float("nan"), float("inf"),
    "", "x", "all", "\ud800", [], [1], ["x"], [None], [[]], {}, {"a": 1}, [{"a": 1}],
)  # fmt: skip


def places(value, path=()):
    """Yield the path of everything in a document; of long lists only the first and the last."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for place in sorted({0, len(value) // 2, len(value) - 1}) if value else ():
            yield from places(value[place], (*path, place))


def damaged(document, paths, draw):
    """Return the document with one thing replaced, left out or doubled."""
    made = copy.copy(document)
    path = draw.choice(paths)
    inside = made
    for key in path[:-1]:
        inside[key] = copy.copy(inside[key])
        inside = inside[key]
    how = draw.random()
    if how < 0.1:
        del inside[path[-1]]
    elif how < 0.15 and isinstance(inside, list):
        inside.append(inside[path[-1]])
    elif how < 0.25 and isinstance(inside[path[-1]], int | float):
        inside[path[-1]] *= draw.choice((-1, 0, 1e30, 1e-30))
    else:
        inside[path[-1]] = draw.choice(JUNK)
    return json.dumps(made)


def used(text, *, with_page):
    """Read a result and show it in every form."""
    result = weir.Result.from_json(text)
    out = Console(file=io.StringIO(), width=100)
    show_run(out, result)
    show_comparison(out, result)
    result.to_arrow()
    if with_page:
        report.html(result).encode()


@pytest.mark.parametrize("model", DOCUMENTS)
@pytest.mark.parametrize(("count", "with_page"), [(150, False), (10, True)])
def test_a_damaged_result_is_refused_or_shown(model, count, with_page):
    document = json.loads(DOCUMENTS[model]())
    paths = [path for path in places(document) if path]
    draw = random.Random(f"{model} {with_page}")  # noqa: S311 - which damage is drawn
    refused = []
    for _ in range(count):
        text = damaged(document, paths, draw)
        try:
            used(text, with_page=with_page)
        except ConfigError as error:
            refused.append((bool(error.remedy), error.file))
    assert set(refused) == {(True, "result")}
    assert len(refused) > count / 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"links": None}, "links is null, must be a list"),
        ({"disciplines": 5}, "disciplines is 5, must be a list, each of it text"),
        ({"disciplines": []}, "disciplines is [], must be one or more, each once"),
        ({"estimates": [5]}, "estimates[0] is 5, must be an object"),
        ({"replications": "a"}, 'replications is "a", must be a whole number'),
        ({"reference": "nobody"}, 'reference is "nobody", must be one of `disciplines`'),
        ({"series": [{"a": 1}]}, "is not a result of weir: `series[0].discipline` is missing"),
        ({"model": ["network"]}, "model is \"['network']\", must be one of port, network"),
        ({"seed": True}, "seed is true, must be a whole number"),
        ({"title": "\ud800"}, "is not JSON: 'utf-8' codec can't encode"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(changes, said, tmp_path, capsys):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**json.loads(network_results.made()), **changes}))
    with pytest.raises(ResultError) as refused:
        weir.Result.from_file(path)
    assert refused.value.message.startswith(said)
    assert cli.run(["report", str(path)]) == 2
    error, remedy = capsys.readouterr().err.splitlines()
    assert error.startswith(f"error: {path}: ")
    assert remedy == "  remedy: give a file that `weir run --out FILE.json` wrote"
    assert [each.name for each in tmp_path.iterdir()] == ["r.json"]


def test_a_value_that_is_no_number_has_its_place():
    document = json.loads(network_results.made())
    for value, said in (("x", '"x"'), (1e200, "1e+200"), (False, "false")):
        document["estimates"][7]["value"] = value
        with pytest.raises(ResultError, match=r"estimates\[7\].value is ") as refused:
            weir.Result.from_json(json.dumps(document))
        assert refused.value.message == f"estimates[7].value is {said}, must be a finite number or null"
        assert refused.value.key == "estimates[7].value"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": NaN}', "5", "1" * 5000, "", "\0", '{"a": -Infinity}'])
def test_what_is_no_object_of_numbers_is_refused(text):
    with pytest.raises(ResultError) as refused:
        weir.Result.from_json(text)
    assert refused.value.remedy
