"""Scenarios from what others have written: traffic scripts and captures.

One module a form: `weir.importing.tg`, `weir.importing.pcap`.
"""
