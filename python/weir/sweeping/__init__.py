"""Sweeps: many scenarios made of one, their replications kept, and their figures as one table.

`axes` says which cells there are, `conditions` which of them are left out, `plan` puts them together from a
scenario file and options; `run` plays what is missing and makes the set; `table` is what it returns;
`selection` compares the cells.
"""
