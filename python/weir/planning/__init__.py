"""Plans of arbitration tables and of nodes, and the options of OpenSM.

`weir.planning.request` turns a request into a plan and a plan into what a target takes;
`weir.planning.check` simulates a plan for a table, `weir.planning.nodes` one for nodes;
`weir.planning.opensm` judges options files and makes requests and scenarios of them;
`weir.planning.terminal` and `weir.planning.nodes_terminal` show all this; `weir.planning.read` reads files.
"""
