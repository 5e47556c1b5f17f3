"""What the experiments measure, by the method of the report: never a cost that was put in.

Costs of messages come from equation 3, costs of schedulings from equation 2 where there are many; parts of a
cost are differences of such measurements. `TRUE` costs of messages are for `weir.reproduce.epoch.cells`,
which shows what equation 3 does to a figure, and for `Measured.marginal`, a difference of two settings.

=================  ================================================================================
restart            a generator alone, slices of 96 to 1 ms
swap               two generators in turn, where nobody posts
rounds             generator and sink in turn: a post, and a wait, in each round
demand             a sink on the normal queue, a generator that is more and more on the low one
priority           a sink of a higher priority: each message preempts
=================  ================================================================================
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from weir.reproduce.epoch import runs
from weir.reproduce.epoch.method import in_turn, message_time

if TYPE_CHECKING:
    from weir.reproduce.engine.evidence import Measured as Figure
    from weir.reproduce.epoch.evidence import Evidence
    from weir.reproduce.epoch.method import Setting

GENERATOR, SINK = "generator", "sink"
TRUE = {GENERATOR: 0.5522, "remote": 0.5522 + 0.060, SINK: 0.152, "delivery": 0.4773}
"""Milliseconds that a message takes, as the programs have it."""
_FEW, _MANY = runs.LENGTHS[0], runs.LENGTHS[-1]
_SHORT = runs.ROUNDS[-1]


class Measured:
    """The figures of the experiments; microseconds, and milliseconds a message.

    Every figure raises `weir.reproduce.engine.evidence.NotMeasuredError` where its runs are missing.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    # Costs of messages.

    def alone(self, module: str) -> tuple[Setting, Setting]:
        """Return few and many schedulings of a program by itself."""
        run = "restart" if module == GENERATOR else module
        few, many = (self.evidence.setting(f"{run}/{length}", module) for length in (_FEW, _MANY))
        return few, many

    def message(self, module: str) -> Figure:
        """Return milliseconds a message."""
        return message_time(*self.alone(module))

    # Costs of schedulings.

    @cached_property
    def restart(self) -> Figure:
        """A restart of the same process, the timer's interrupt included."""
        _, many = self.alone(GENERATOR)
        return many.overhead(self.message(GENERATOR).value)

    @property
    def _two(self) -> tuple[Setting, Setting]:
        """Two generators in turn, with few schedulings and with many."""
        few, many = (self.evidence.setting(f"swap/{length}", GENERATOR) for length in runs.SWAPS)
        return few, many

    @cached_property
    def slice_end(self) -> Figure:
        """A swap at the end of a slice, the timer's interrupt included, and no post."""
        _, many = self._two
        return many.overhead(message_time(*self._two).value)

    def rounds(self, process: str, *, length: int = _SHORT) -> Setting:
        """Return what was counted of generator or sink in turn."""
        return self.evidence.setting(f"rounds/{length}", process)

    @cached_property
    def dismiss(self) -> Figure:
        """A swap when a process waits."""
        return self.evidence.setting("priority", SINK).overhead(self.message(SINK).value)

    @cached_property
    def preempt(self) -> Figure:
        """A preemptive swap, the post included."""
        return self.evidence.setting("priority", GENERATOR).overhead(self.message(GENERATOR).value)

    @cached_property
    def post(self) -> float:
        """A post: what a round of generator and sink has more than one of two generators."""
        own, other = (self.rounds(name) for name in (GENERATOR, SINK))
        more = own.overhead(message_time(*self._two).value).value - self.slice_end.value
        return more * own.schedulings / other.schedulings

    # Parts, as differences.

    @property
    def timer(self) -> float:
        """The timer's interrupt."""
        return self.slice_end.value - self.dismiss.value

    @property
    def microcode(self) -> float:
        """The microcode of a restart."""
        return self.restart.value - self.timer

    @property
    def swap(self) -> float:
        """The registers and the microcode of a swap, by a preemption."""
        return self.preempt.value - self.post

    @property
    def registers(self) -> float:
        """The save and restore of the registers."""
        return self.dismiss.value - self.microcode

    # The sink on the normal queue, the generator on the low one.

    @cached_property
    def marginal(self) -> float:
        """What a scheduling more costs the generator, from its largest need to its smallest."""
        first, last = (
            self.evidence.setting(f"demand/{need}", GENERATOR) for need in (runs.DEMANDS[0], runs.DEMANDS[-1])
        )
        more = last.schedulings - first.schedulings
        paid = last.run_time - first.run_time - TRUE[GENERATOR] * (last.messages - first.messages)
        return 1e3 * paid / more

    def preemptions(self, need: int) -> tuple[float, float]:
        """Return how often high preempts low for each message, and for each that is sent from low."""
        view = self.evidence.view(f"demand/{need}")
        counter = view.node().high_over_low / view.elapsed
        found = view.setting(GENERATOR)
        low = view.per_epoch(view.totals(GENERATOR).windfall_time) / view.per_epoch(
            view.totals(GENERATOR).run_time
        )
        return counter / found.messages, counter / (found.messages * low) if low else 0.0

    # Rates.

    def passed(self, cost: int) -> float:
        """Return the messages a second that reach the chain's end; its sink takes ``cost`` microseconds."""
        return self.evidence.setting(f"chain/{cost}", SINK).messages

    def rate(self, length: int) -> float:
        """Return messages a second on the node."""
        return self.rounds(GENERATOR, length=length).messages

    def time(self, length: int) -> float:
        """Return milliseconds a message of both, overheads included."""
        both = [self.rounds(name, length=length) for name in (GENERATOR, SINK)]
        return sum(each.run_time for each in both) / both[0].messages

    def formula(self, length: int) -> float:
        """Return messages a second by the closed form, of what is left on the node."""
        both = [self.rounds(name, length=length) for name in (GENERATOR, SINK)]
        return in_turn(sum(each.run_time for each in both), TRUE[GENERATOR], TRUE[SINK], length)
