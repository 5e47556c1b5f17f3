"""Real packets: namespaces, the testbed that builds a scenario out of them, and what was measured there.

`weir.live.namespaces` makes network namespaces and takes down what it made, even after a crash; nothing else
in weir touches the network of the machine. The packets themselves are moved by the daemon ``weird``.
"""
