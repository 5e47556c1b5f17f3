"""``python -m weir.reproduce.sfq.study [--quick] [--out FILE.html]``: run the study, print its tables."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from weir.progress import Progress
from weir.reproduce.sfq import study


def main() -> int:
    """Run the study and write what it found."""
    parser = argparse.ArgumentParser(prog="python -m weir.reproduce.sfq.study", description=study.__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 256 flows, two replications")
    parser.add_argument("--out", type=Path, help="also write the page, an HTML file")
    parser.add_argument("--threads", type=int, help="threads to use; never changes a result")
    arguments = parser.parse_args()
    with Progress() as progress:
        found = study.run(quick=arguments.quick, threads=arguments.threads, progress=progress)
    sys.stdout.write(found.text())
    if arguments.out is not None:
        found.write_html(arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
