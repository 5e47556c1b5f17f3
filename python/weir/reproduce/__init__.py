"""Reproductions: published numbers beside measured ones, each with a tolerance that has a reason.

A reproduction is a module with a function ``run``. What it returns holds the same checks whatever was
published: see `weir.reproduce.checks`.
"""

from weir.reproduce.checks import Check, Checks, Status

__all__ = ["Check", "Checks", "Status"]
