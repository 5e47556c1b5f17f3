"""What results of some models can be written as: a trace of who ran when, samples or windows over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from weir.cli.shared import form_of
from weir.errors import ConfigError
from weir.files import same_file
from weir.results.saving import save_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weir.results.result import Result
    from weir.scenario import Scenario

__all__ = ["Exports"]

_SAMPLES = (".csv", ".parquet")
_KEYS = {
    "node": ("sample", 'write `sample = "1s"` under [measure]'),
    "fabric": ("over_time", 'write `window = "1ms"` and `over_time = true` under [measure]'),
    "network": ("over_time", 'write `window = "1s"` and `over_time = true` under [measure]'),
    "port": ("over_time", 'write `window = "10000u"` and `over_time = true` under [measure]'),
    "server": ("over_time", 'write `window = "1s"` and `over_time = true` under [measure]'),
}
"""The key that asks for samples, by model, and what to write."""


class Exports(NamedTuple):
    """Where a trace and samples go, if anywhere."""

    trace: Path | None = None
    samples: Path | None = None

    def check(self, scenario: Scenario, out: Sequence[Path] | None) -> None:
        """Refuse what could not be written, before anything is run.

        Raises
        ------
        ConfigError
            With the remedy.
        """
        for path, option in ((self.trace, "--trace"), (self.samples, "--samples")):
            others = [*(out or ()), *([self.samples] if option == "--trace" and self.samples else [])]
            if path is not None and any(same_file(path, other) for other in others):
                raise ConfigError(
                    f"{option} is {path}, which another option names too", "name each file once"
                )
        if self.trace is not None:
            from weir.models.node import trace

            form_of(self.trace, (trace.ENDING,), "--trace")
            trace.check_scenario(scenario)
        if self.samples is not None:
            form_of(self.samples, _SAMPLES, "--samples")
            _check_samples(scenario)

    def write(self, result: Result) -> list[Path]:
        """Write what was asked for and return the paths; no other model is loaded for what was not."""
        if self.samples is not None:
            _save_samples(result, self.samples)
        if self.trace is not None:
            from weir.models.node.result import NodeResult

            if isinstance(result, NodeResult):
                result.save_trace(self.trace)
        return [path for path in (self.trace, self.samples) if path is not None]


def _save_samples(result: Result, path: Path) -> None:
    """Write the samples or windows of a result that can have them."""
    from weir.models.server.result import ServerResult
    from weir.results.windowed import Windowed

    if isinstance(result, ServerResult | Windowed):
        save_table(result.samples_to_arrow(), path)


def _check_samples(scenario: Scenario) -> None:
    key, remedy = _KEYS[scenario.model]
    measure = scenario.normalised.get("measure", {})
    if not any(measure.get(asked) for asked in (key, "over_time")):
        raise ConfigError(
            f"measure.{key} is not given, so nothing is sampled",
            remedy,
            scenario.name,
            key=f"measure.{key}",
        )
