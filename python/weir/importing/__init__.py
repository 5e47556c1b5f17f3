"""Scenarios from what others have written: traffic scripts, captures, task sets and wake-ups.

One module a form: `weir.importing.tg`, `weir.importing.pcap`, `weir.importing.rtapp`, `weir.importing.perf`.
"""
