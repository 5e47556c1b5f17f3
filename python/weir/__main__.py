"""``python -m weir`` is the command line."""

try:
    from weir.cli import main
except KeyboardInterrupt:  # while it is loaded; `main` answers for all that comes later
    import sys

    sys.stderr.write("interrupted\n")
    sys.exit(130)

main()
