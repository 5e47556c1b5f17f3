"""What the tests of all reproductions try: progress, interruption, an unknown fidelity."""

from functools import partial

import pytest

from weir import cli
from weir.errors import ConfigError


def stopped_after(results, count):
    """Return a runner that gives these results, and is interrupted after so many."""
    given = iter(list(results)[:count])

    def runner(*_, **__):
        try:
            return next(given)
        except StopIteration:
            raise KeyboardInterrupt from None

    return runner


def progress_is_that_of_all_runs(reproduction, results):
    """Run a reproduction on these results, and look at the progress that it reports."""
    seen, given = [], iter(results)

    def runner(text, name, *, threads, progress):
        assert (threads, ".toml" in name, "weir = 1" in text) == (2, True, True)
        progress({"done": 5.0, "total": 10.0})
        return next(given)

    made = reproduction.run(fidelity="quick", threads=2, progress=seen.append, runner=runner)
    assert made.checks.fidelity == "quick"
    shares = [state["done"] / state["total"] for state in seen]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1


def an_unknown_fidelity_is_refused(reproduction):
    with pytest.raises(ConfigError, match="fidelity is 'slow', must be one of quick, default, full"):
        reproduction.run(fidelity="slow")


def an_interruption_never_exits_with_0(reproduction, results, count, patches, where):
    """Run the command and interrupt it after so many runs.

    ``patches`` is pytest's monkeypatch and capsys, ``where`` a folder for its output.
    """
    monkeypatch, capsys = patches
    name = reproduction.__name__.rpartition(".")[2]
    monkeypatch.chdir(where)
    monkeypatch.setattr(reproduction, "run", partial(reproduction.run, runner=stopped_after(results, count)))
    assert cli.run(["reproduce", name, "--quick", "--out", f"{name}.json"]) == 130
    assert ("nothing was finished" in capsys.readouterr().err) == (count == 0)
    assert (where / f"{name}.json").exists() == (count > 0)
