"""Commands on laws of measured times: fit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.shared import Json, echo_json
from weir.errors import ConfigError
from weir.text import number, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weir.fitting import Fit
    from weir.results.tables import Column

__all__ = ["add_to"]

_FORMS = {".svg", ".html"}


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("fit", short_help="Fit laws to measured times.")(fit)


def fit(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A CSV file with a header, one row a value; it may be compressed by gzip.",
            show_default=False,
        ),
    ],
    column: Annotated[
        str, typer.Option("--column", metavar="NAME", help="The column of the times.", show_default=False)
    ],
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            metavar="UNIT",
            help="Their unit: ns, us, ms or s. Default: what the column ends in, as in service_ms.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the survival function of the sample and of the best three: .svg or .html.",
        ),
    ] = None,
    replicates: Annotated[
        int,
        typer.Option(
            "--replicates", metavar="COUNT", help="Samples of each law by which it is tested, 1 to 10000."
        ),
    ] = 299,
    seed: Annotated[int, typer.Option("--seed", metavar="SEED", help="The seed of these samples.")] = 1,
    as_json: Json = False,
) -> None:
    """Fit laws to measured times by maximum likelihood, and print the best three with the line of a scenario.

    Laws are exponential, Erlang, gamma, lognormal, Weibull, Pareto and hyperexponential of two branches,
    ranked by Akaike's criterion. The p-value is that of the Kolmogorov-Smirnov distance by a parametric
    bootstrap: small where the values are unlikely to be of the law.

    \b
    Example:
      weir fit services.csv --column service_ms
      weir fit services.csv.gz --column time --unit us --plot fit.svg
    """
    from weir.fitting import SHOWN, fit_column

    if plot is not None and plot.suffix not in _FORMS:
        raise ConfigError(
            f"--plot is {plot}, must be a file that ends in .svg or .html", "write --plot fit.svg"
        )
    found = fit_column(file, column, unit=unit, replicates=replicates, seed=seed)
    if plot is not None:
        from weir.files import write_text
        from weir.fitting_chart import page, svg

        write_text(plot, svg(found) if plot.suffix == ".svg" else page(found))
    if as_json:
        echo_json(asdict(found))
        return
    from weir.results import terminal

    out = terminal.console()
    mean = f"mean {number(found.mean)} {found.unit}, cv {number(found.cv, 3)}"
    terminal.say(out, f"{plural(found.count, 'value')} of {column}: {mean}\n")
    best = found.fits[:SHOWN]
    terminal.print_table(out, _columns(best, found.unit))
    if found.tested < found.count:
        terminal.say(out, f"The p-values are those of {found.tested:,} values, drawn at random.")
    out.print()
    for law in best:
        terminal.say(out, law.line or f"{law.name}: no line for a scenario, which needs a finite mean")


def _columns(fits: Sequence[Fit], unit: str) -> list[Column]:
    from weir.results.tables import Column

    def finite(value: float | None) -> str:
        return "infinite" if value is None else number(value)

    def tested(value: float | None) -> str:
        return "-" if value is None else number(value, 2)

    best = fits[0].aic if fits else 0.0
    return [
        Column("law", tuple(law.name for law in fits), numeric=False),
        Column("parameters", tuple(_parameters(law, unit) for law in fits), numeric=False),
        Column(f"mean\n({unit})", tuple(finite(law.mean) for law in fits), rank=2),
        Column("cv", tuple(finite(law.cv) for law in fits), rank=3),
        Column("AIC", tuple(f"{law.aic:.1f}" for law in fits)),
        Column("above\nthe best", tuple(f"{law.aic - best:.1f}" for law in fits), rank=4),
        Column("BIC", tuple(f"{law.bic:.1f}" for law in fits)),
        Column("distance", tuple(number(law.distance, 3) for law in fits)),
        Column("p-value", tuple(tested(law.p_value) for law in fits)),
    ]


_TIMES = {"mean", "scale", "minimum"}


def _parameters(law: Fit, unit: str) -> str:
    """Return the parameters of a law as they are read, times with their unit."""
    if "branches" in law.parameters:
        return " + ".join(
            f"{number(share)} of mean {number(mean)} {unit}" for mean, share in law.parameters["branches"]
        )
    return ", ".join(
        f"{name} {number(value)} {unit}" if name in _TIMES else f"{name} {number(value)}"
        for name, value in law.parameters.items()
    )
