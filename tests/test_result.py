"""Results: typed rows, tables in three libraries, files that are whole or absent."""

import json
from pathlib import Path

import pytest
from pyarrow import csv, parquet

import weir
from made_result import MEANS, made
from weir.results.verdict import verdict


@pytest.fixture(scope="module")
def result() -> weir.Result:
    return weir.Result.from_json(made())


def test_rows_are_typed_and_found(result: weir.Result):
    row = result.estimate("alpha:10", class_="5pkt")
    assert row is not None
    assert (row.value, row.unit, row.class_) == (67.75, "u", "5pkt")
    assert result.estimate("alpha:10", statistic="p12") is None
    assert result.estimate(None, metric="queue").value == 102.69
    assert result.difference("sf").relative == pytest.approx(30.59 / 107.0 - 1, abs=0.01)
    assert result.closed_form("fifo", class_="1pkt").agrees
    with pytest.raises(AttributeError):
        row.value = 0.0


def test_the_table_is_the_same_in_three_libraries(result: weir.Result):
    table = result.to_arrow()
    assert table.num_rows == len(result.estimates)
    assert table.schema.metadata[b"weir.fingerprint"] == b"6b1f0c9a2d3e4f50"
    frame, polars = result.to_pandas(), result.to_polars()
    assert list(frame.columns) == polars.columns == table.column_names
    assert frame["value"].tolist() == polars["value"].to_list()
    assert frame["count"].sum() == polars["count"].sum()


def test_json_goes_round_byte_by_byte(result: weir.Result, tmp_path: Path):
    path = tmp_path / "result.json"
    result.save(path)
    assert weir.Result.from_file(path).document == result.document
    assert path.read_text() == result.to_json() + "\n"
    assert weir.Result.from_json(result.to_json()) == result
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]


def test_a_file_is_what_its_name_ends_in(result: weir.Result, tmp_path: Path):
    for name in ("r", "r.json", "r.html", "r.csv", "r.parquet"):
        result.save(tmp_path / name)
    assert (tmp_path / "r").read_text() == (tmp_path / "r.json").read_text() == result.to_json() + "\n"
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert csv.read_csv(tmp_path / "r.csv").column_names == result.to_arrow().column_names
    assert parquet.read_table(tmp_path / "r.parquet") == result.to_arrow()
    with pytest.raises(weir.ConfigError, match=r"r\.txt, must end in one of \.json, "):
        result.save(tmp_path / "r.txt")
    assert not (tmp_path / "r.txt").exists()
    with pytest.raises(weir.ConfigError, match="cannot be written: no such file"):
        result.save(str(tmp_path / "nowhere" / "r.csv"))


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "is not JSON"), ("[]", "is not a result"), ('{"weir": "0.1.0"}', "`classes` is missing")],
)
def test_what_is_no_result_is_refused(text: str, told: str):
    with pytest.raises(weir.ResultError, match=told) as caught:
        weir.Result.from_json(text, "run.json")
    assert caught.value.file == "run.json"
    assert isinstance(caught.value, ValueError)


def test_a_file_that_cannot_be_written_leaves_nothing(result: weir.Result, tmp_path: Path):
    with pytest.raises(weir.ConfigError, match="cannot be written: no such file"):
        result.save(tmp_path / "nowhere" / "result.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(weir.ConfigError, match="cannot be written"):
        result.save(tmp_path / "folder.json")
    assert [each.name for each in tmp_path.iterdir()] == ["folder.json"]


def test_the_verdict_names_the_best_and_by_how_much():
    assert verdict(weir.Result.from_json(made(("fifo", "sf")))) == (
        "The lowest mean latency is that of sf, 30.59 u, 71 % below fifo (95 % interval 71 to 72 %). Its "
        "price against fifo: the mean latency of 20pkt is 116 % longer and the longest latency is 2.0 times "
        "as long. 14 of 14 closed forms agree with the simulation; all 3 self-checks hold."
    )


def test_the_verdict_says_when_two_cannot_be_told_apart():
    document = json.loads(made(("fifo", "alpha:1")))
    for row in document["differences"]:
        row["low"], row["high"] = -20.0, 3.0
    told = verdict(weir.Result.from_json(json.dumps(document)))
    assert "that of alpha:1, 101.8 u, not distinguishable from fifo" in told


def test_the_verdict_when_the_reference_is_best_names_the_runner_up():
    assert "; alpha:100 comes next, 0.9 % above" in verdict(
        weir.Result.from_json(made(("sf", "fifo", "alpha:100")))
    )


def test_the_verdict_labels_what_is_not_a_whole_run():
    told = verdict(weir.Result.from_json(made(("fifo", "sf"), interrupted=True)))
    assert told.startswith("Interrupted after 2,000,000 messages")
    unstable = made(("fifo", "sf"), unstable="offered load 1.2 is not below 1")
    told = verdict(weir.Result.from_json(unstable))
    assert told.startswith("No steady state: offered load 1.2 is not below 1.")
    assert "lowest" not in told


def test_a_single_discipline_has_a_mean_and_no_rival():
    assert verdict(weir.Result.from_json(made(("rr",)))).startswith("Under rr the mean latency is 87.34 u.")


def test_nothing_is_nan():
    assert "NaN" not in made()
    assert set(MEANS) == set(weir.Result.from_json(made()).disciplines)
