"""Conditions that leave cells out: ``workload.load > 0.9 and discipline == 'fifo'``.

The names are the axes; a place in a list is written in brackets, ``link[0].delay``. There are numbers,
texts, lists, comparisons, ``in``, ``and``, ``or``, ``not``, and arithmetic; nothing else is evaluated.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from weir.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

__all__ = ["Condition"]

_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, others: one in others,
    ast.NotIn: lambda one, others: one not in others,
}
_COMPUTE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_EXAMPLE = "write one such as `workload.load > 0.9 and discipline == 'fifo'`"


class Condition:
    """A condition over axes, checked when it is made.

    Raises
    ------
    ConfigError
        If it is no condition, or names what is no axis.
    """

    def __init__(self, text: str, keys: Collection[str]) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ConfigError(f"--except {text!r} is no condition", _EXAMPLE) from None
        self._keys = keys
        self._check(self._tree)

    def __call__(self, cell: Mapping[str, Any]) -> bool:
        """Return whether it holds in a cell."""
        try:
            return bool(self._value(self._tree, cell))
        except (TypeError, ArithmeticError) as error:
            raise ConfigError(
                f"--except {self.text!r} cannot be evaluated where {_name(cell)}: {str(error).lower()}",
                "compare numbers with numbers, and texts with texts in quotes",
            ) from None

    def _check(self, node: ast.AST) -> None:
        key = _key(node)
        if key is not None:
            if key not in self._keys:
                known = ", ".join(self._keys) or "there is none"
                raise ConfigError(f"--except {self.text!r}: `{key}` is no axis", f"name an axis: {known}")
            return
        match node:
            case ast.Constant(value=bool() | int() | float() | str()):
                parts: Sequence[ast.AST] = []
            case ast.List(elts=inside) | ast.Tuple(elts=inside) | ast.BoolOp(values=inside):
                parts = inside
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=one):
                parts = [one]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMPUTE:
                parts = [left, right]
            case ast.Compare(left=left, ops=ops, comparators=others) if all(
                type(op) in _COMPARE for op in ops
            ):
                parts = [left, *others]
            case _:
                raise ConfigError(f"--except {self.text!r}: `{ast.unparse(node)}` is not evaluated", _EXAMPLE)
        for part in parts:
            self._check(part)

    def _value(self, node: ast.AST, cell: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever an axis can hold
        key = _key(node)
        if key is not None:
            return cell.get(key)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self._value(part, cell) for part in parts]
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self._value(part, cell) for part in parts)
            case ast.BoolOp(values=parts):
                return any(self._value(part, cell) for part in parts)
            case ast.UnaryOp(op=ast.Not(), operand=one):
                return not self._value(one, cell)
            case ast.UnaryOp(operand=one):
                return -self._value(one, cell)
            case ast.BinOp(left=left, op=op, right=right):
                return _COMPUTE[type(op)](self._value(left, cell), self._value(right, cell))
            case ast.Compare(left=left, ops=ops, comparators=others):
                values = [self._value(each, cell) for each in (left, *others)]
                pairs = zip(ops, values, values[1:], strict=False)
                return all(_COMPARE[type(op)](one, other) for op, one, other in pairs)
        raise TypeError("it is not evaluated")


def _key(node: ast.AST) -> str | None:
    """Return the key that a name with dots and places stands for, if it is one."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=before, attr=name):
            return None if (key := _key(before)) is None else f"{key}.{name}"
        case ast.Subscript(value=before, slice=ast.Constant(value=int() as place)):
            return None if (key := _key(before)) is None else f"{key}.{place}"
    return None


def _name(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} is {value!r}" for key, value in cell.items())
