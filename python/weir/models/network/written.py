"""The flows of a network as its scenario writes them: what they are called, and whose rate follows a curve.

Source: the project's own. Work O(flows of the scenario).
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weir.models.network.result import NetworkResult


def flows(result: NetworkResult) -> list[dict[str, Any]]:
    """Return the flows of the scenario as it was understood."""
    written: list[dict[str, Any]] = tomllib.loads(result.document["scenario"]).get("flow", [])
    return written


def called(flow: Mapping[str, Any]) -> str:
    """Return what a flow is called; where it stands for several, without their numbers."""
    return flow.get("name") or f"{flow['from']} to {flow['to']}"


def curved(result: NetworkResult) -> list[str]:
    """Return the names of the flows whose rate follows a curve."""
    return [called(flow) for flow in flows(result) if "curve" in flow]
