"""Sweeps: many scenarios made of one, their replications kept, and their figures as one table.

`axes` says which cells there are, `conditions` which of them are left out, `plan` puts them together from a
scenario file and options, and `texts` gives them to the engine; `run` plays what is missing, itself or by
the workers of a `cluster`, and makes the set; `table` is what it returns; `selection` compares the cells;
`page` and `charts` are the report.
"""
