"""Disciplines of one's own, written in Python.

A class with `enqueue` and `dequeue` decides who is served next; each queue that an engine needs is an
object of it::

    class Shortest:
        def __init__(self):
            self.waiting = []

        def enqueue(self, now, item):
            heapq.heappush(self.waiting, (item.size, item.arrival, id(item), item))

        def dequeue(self, now):
            return heapq.heappop(self.waiting)[-1] if self.waiting else None

    weir.compare("scenario.toml", disciplines=[Shortest])
    queue = weir.Queue(Shortest)

The engine trusts nothing that a class returns: what it raises, or breaks of the contract, ends the run as a
`DisciplineError`. It calls Python for every operation, so a run takes many times as long as one of a
discipline of weir.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from weir import _weir, toml
from weir._weir import Item
from weir.errors import ConfigError
from weir.files import read_text
from weir.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "Discipline",
    "Item",
    "among",
    "load",
    "name_of",
    "named",
    "promises",
    "remove_all",
    "with_disciplines",
]


class Discipline(Protocol):
    """What a class needs to be a discipline; it need not inherit from this one.

    It is made without arguments. All times are in seconds; a size is in the unit of what is served: packets,
    nanoseconds of service where messages are served whole, bytes of packets, or the unit of a `weir.Queue`.
    Optional methods are called where a class has them:

    ``requeue(now, item, used)``
        ``item`` was served in part and comes back: its grant was smaller than its size, or an arrival
        preempted it. ``used`` was served since it was granted or charged, ``item.size`` is what is left.
        Without this method such an item is dropped.
    ``finish(now, item, used)``
        ``item`` was served whole.
    ``charge(now, item, used)``
        ``used`` more of the item in service was served, and it goes on.
    ``next_event()``
        When to call `dequeue` again though nothing arrives, in seconds, or None. One that keeps items back
        needs it.

    An attribute ``packets = True`` says that it orders packets, of the models ``network`` and ``fabric``, and
    not messages. Its first line of documentation is its title in listings.
    """

    def enqueue(self, now: float, item: Item) -> object:
        """Take an item: `flow`, `class_`, `size`, `arrival` and whatever is kept aside by the class.

        What is true says that it outranks the item in service, which then comes back by ``requeue``.
        """

    def dequeue(self, now: float) -> Item | tuple[Item, int] | None:
        """Return who is served next, each item once; with a number, for at most that much of its size.

        None where nothing waits, or what waits is kept back until ``next_event``.
        """


_known: dict[str, type] = {}
"""The classes that were added, by their names."""


def name_of(given: str | type) -> str:
    """Return the spec of a discipline: a class, or ``file.py:Class``, is added under its name first.

    Raises
    ------
    ConfigError
        If there is no such class, it is no discipline, or its name is that of one of weir.
    """
    if isinstance(given, str):
        return _added(load(given)) if ".py:" in given else given
    if isinstance(given, type):
        return _added(given)
    raise ConfigError(
        f"a discipline is {given!r}, must be a spec string or a class", "give the class and no object of it"
    )


def _added(kind: type) -> str:
    """Add a class to the disciplines; one of the same name that was added before is no longer found."""
    name = kind.__name__
    for method in ("enqueue", "dequeue"):
        if getattr(kind, method, None) in (None, getattr(Discipline, method)):
            raise ConfigError(
                f"`{name}` has no method `{method}`", "write one: help(weir.Discipline) has both"
            )
    try:
        kind()
    except Exception as error:
        raise ConfigError(
            f"`{name}()` raised {error!r}", "let the class be made without arguments"
        ) from error
    if _known.get(name) is not kind:
        title = ((kind.__doc__ or "").strip().splitlines() or ["a class of Python"])[0].rstrip(".")
        _weir.add_discipline(name, title, bool(getattr(kind, "packets", False)), kind)
        _known[name] = kind
    return name


def remove_all() -> None:
    """Take away every class that was added: no name finds it any more, and no listing has it."""
    for name in list(_known):
        _weir.remove_discipline(name)
        del _known[name]


def load(place: str) -> type:
    """Return the class that ``file.py:Class`` names; the file is run.

    Raises
    ------
    ConfigError
        If the file is missing, is no Python, raises something, or has no such class.
    """
    file, _, name = place.rpartition(":")
    path = Path(file)
    module = ModuleType(f"weir_own_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(path.parent))
    try:
        exec(compile(read_text(path), str(path), "exec"), module.__dict__)  # noqa: S102 - the user's file, by the user's word
    except SyntaxError as error:
        raise ConfigError(f"no Python: {error.msg}", "mend that line", str(path), error.lineno) from error
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(
            f"running it raised {error!r}", f"`python {path}` shows where", str(path)
        ) from error
    finally:
        sys.path.remove(str(path.parent))
    found = getattr(module, name, None)
    if isinstance(found, type):
        return found
    own = [each for each, kind in vars(module).items() if getattr(kind, "__module__", "") == module.__name__]
    listed = f"it has {', '.join(own)}" if own else "it defines nothing"
    raise ConfigError(f"no class is called `{name}`", f"write `{path}:Class`; {listed}", str(path))


def among(specs: Iterable[str]) -> list[str]:
    """Return which specs name a class that was added, in a wrapper too."""
    return [spec for spec in specs if named(spec)]


def named(spec: str) -> set[str]:
    """Return the classes that a text names."""
    words = "".join(each if each.isalnum() or each == "_" else " " for each in spec).split()
    return _known.keys() & set(words)


def with_disciplines(scenario: Scenario, given: Iterable[str | type]) -> Scenario:
    """Return a scenario with disciplines after its own."""
    names = [name for name in map(name_of, given) if name not in scenario.disciplines]
    if not names:
        return scenario
    document = tomllib.loads(scenario.text)
    document["disciplines"] = [*document["disciplines"], *dict.fromkeys(names)]
    return Scenario(toml.dumps(document), scenario.name, scenario.seed)


def promises(spec: str) -> list[str]:
    """Return what a class promises by its methods: one with ``requeue`` serves on what it gets back."""
    kind: Callable[..., object] | None = _known.get(spec)
    return ["resumable"] if hasattr(kind, "requeue") else []
