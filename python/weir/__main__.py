"""``python -m weir`` is the command line."""

from weir.cli import main

main()
