"""Kernels that lack something: system calls that are refused as such a kernel refuses them (seccomp(2)).

What the returned functions do holds for the process that calls them and all that it starts; they are for
``preexec_fn``. They need CAP_SYS_ADMIN.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Callable, Sequence

_CALLS = {"x86_64": {"bpf": 321, "socket": 41}, "aarch64": {"bpf": 280, "socket": 198}}
"""The numbers of system calls, where they are known."""
KNOWN = platform.machine() in _CALLS
_AF_INET, _AF_INET6, _AF_XDP = 2, 10, 44
_SET_SECCOMP, _FILTER = 22, 2
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERROR = 0x7FFF_0000, 0x0005_0000
_NUMBER, _FIRST_ARGUMENT = 0, 16
"""Places in `struct seccomp_data`; of the argument its lower half, on a machine that stores that first."""


def without_bpf() -> Callable[[], None]:
    """Return what takes bpf(2) away."""
    return _refusing("bpf", errno.ENOSYS)


def without_af_xdp() -> Callable[[], None]:
    """Return what takes sockets of AF_XDP away."""
    return _refusing("socket", errno.EAFNOSUPPORT, first=_AF_XDP)


def without_ip() -> Callable[[], None]:
    """Return what takes new sockets of IP away, as a unit of systemd does."""
    each = [_refusing("socket", errno.EAFNOSUPPORT, first=family) for family in (_AF_INET, _AF_INET6)]

    def take() -> None:
        for one in each:
            one()

    return take


def _refusing(call: str, error: int, first: int | None = None) -> Callable[[], None]:
    asked = [(_NUMBER, _CALLS[platform.machine()][call])]
    if first is not None:
        asked.append((_FIRST_ARGUMENT, first))
    steps: list[tuple[int, int, int, int]] = []
    for number, (place, value) in enumerate(asked):
        left = len(asked) - number - 1
        # One that is another jumps over what is left, and over the error.
        steps += [(_LOAD, 0, 0, place), (_EQUAL, 0, 2 * left + 1, value)]
    steps += [(_RETURN, 0, 0, _ERROR | error), (_RETURN, 0, 0, _ALLOW)]
    return lambda: _install(steps)


def _install(steps: Sequence[tuple[int, int, int, int]]) -> None:
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_SECCOMP, _FILTER, program, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
