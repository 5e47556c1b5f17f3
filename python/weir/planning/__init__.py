"""Plans of arbitration tables, and the options of OpenSM.

`weir.planning.request` turns a request into a plan and a plan into what a target takes;
`weir.planning.opensm` judges options files and makes requests and scenarios of them;
`weir.planning.terminal` shows both; `weir.planning.read` reads files.
"""
