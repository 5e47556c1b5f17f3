"""The packet-to-CPU lab with real packets: report, simulation and measurement of the same runs.

Source: Y. Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, as `weir.reproduce.steer` reads
it. `plan` scales the lab to a machine, `costs` says what a request takes there, `saturation` measures that,
`bed` sends packets, `counts` makes windows of what was counted, `measured` runs one case, `model` simulates
it, `orderings` compares, `run` does all of it, and `study` is what comes of it.
"""
