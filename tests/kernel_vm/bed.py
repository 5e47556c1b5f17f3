"""A testbed whose router is the kernel, with a discipline of `pairs` at one interface."""

import json
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from subprocess import PIPE
from typing import Any

from kernel_vm.pairs import Pair
from weir.errors import UnsupportedError
from weir.live.run import Testbed

__all__ = ["KernelBed"]


@dataclass(slots=True)
class KernelBed(Testbed):
    """A plan with one router, which is the kernel's forwarding with a discipline of its own.

    The discipline is that of the interfaces whose queue is compared; the others have none.
    """

    pair: Pair | None = None
    _device: str = field(default="")

    def _start_routers(self) -> None:
        (router,) = self.plan.routers
        for each in router.interfaces:
            end = self._ends[router.name, each.to]
            self._site.address(end, each.address)
            if each.discipline == self.plan.discipline:
                self._device = end.interface
        for via in router.routes:
            self._site.route(self._ends[router.name, via.to], IPv4Network(f"{via.destination}/32"), via.via)
        self._run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        assert self.pair is not None
        for words in self.pair.commands(self._device, [each.port for each in self.plan.streams]):
            self._run("tc", *words.split())

    def _run(self, *command: str) -> str:
        router = self.plan.routers[0].name
        process = self._site.start(router, list(command), stdout=PIPE, stderr=PIPE)
        told, errors = process.communicate(timeout=60)
        if process.returncode:
            message = f"{' '.join(command)}: {errors.decode().strip()}"
            raise UnsupportedError(message, "take a kernel that has this discipline")
        return str(told.decode())

    def qdiscs(self) -> list[dict[str, Any]]:
        """Return what ``tc`` counts of each discipline of the interface, the shaper first."""
        told: list[dict[str, Any]] = json.loads(
            self._run("tc", "-s", "-j", "qdisc", "show", "dev", self._device)
        )
        return told

    def _waiting(self) -> bool:
        return any(each["qlen"] for each in self.qdiscs())
