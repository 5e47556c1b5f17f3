"""Slowdown by size: how much longer a message takes than on an idle link, for each tenth of the messages."""

from __future__ import annotations

import argparse
from pathlib import Path

import weir


def table(result: weir.Result) -> str:
    """Return the mean slowdown, one line a class of size and one column a discipline."""
    head = f"{'size':<16}" + "".join(f"{name:>11}" for name in result.disciplines)
    lines = (
        f"{each.name:<16}" + "".join(_cell(result, name, each.name) for name in result.disciplines)
        for each in result.classes
    )
    return "\n".join(("mean slowdown", head, *lines))


def _cell(result: weir.Result, discipline: str, class_: str) -> str:
    estimate = result.estimate(discipline, metric="slowdown", class_=class_)
    return f"{'n/a':>11}" if estimate is None or estimate.value is None else f"{estimate.value:>11.2f}"


def main() -> None:
    """Run a scenario and print its table."""
    parser = argparse.ArgumentParser(description="Print the slowdown by size of message.")
    parser.add_argument("scenario", type=Path, help="a scenario of this folder")
    print(table(weir.run(parser.parse_args().scenario)))


if __name__ == "__main__":
    main()
