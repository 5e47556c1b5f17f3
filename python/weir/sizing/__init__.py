"""Sizing: which value of one key of a scenario is the first that meets what is needed.

`vary` reads the key and its values, `need` what must hold, `direction` says on which side of the answer the
needs are met, `probe` runs one value until its needs are decided, `search` chooses what is tried next, `run`
puts them together, `result` and `terminal` tell what was found.
"""
