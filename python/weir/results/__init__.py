"""What the results of all models share: reading and its checks, rows, tables, words, terminal and page.

Nothing here knows a model: those are in `weir.models`, and each has only what it alone shows.
"""
