"""A virtual machine with a kernel of the distribution, on the files of this one.

QEMU interprets its instructions, and its clock counts them, one a nanosecond: a busy host makes a run longer
and changes no figure, and where the guest waits for a timer, its clock jumps there. Its root is that of the
host, read-only, over 9P, so that programs and this checkout are used as they are; only /run is its own. What
it writes on its second serial line are the results.

Source: QEMU, docs/system/introduction.rst and docs/devel/tcg-icount.rst.
"""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from kernel_vm.initramfs import archive, modules

__all__ = ["MachineError", "boot", "kernel", "programs", "release"]

_PROGRAMS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "tc": "iproute2",
    "dpkg-deb": "dpkg",
}
"""What is needed here and in the guest, and the packages that have it."""
_META = "linux-image-amd64"
_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "veth", "cls_u32")
_DISCIPLINES = ("sch_tbf", "sch_sfq", "sch_drr", "sch_fq_codel", "sch_cake")
_MEMORY = "1024"
_INIT = """#!/bin/busybox sh
busybox=/bin/busybox
$busybox mount -t proc proc /proc
for module in /modules/*; do $busybox insmod $module; done
$busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=loose,ro root /host
$busybox mount -t proc proc /host/proc
$busybox mount -t sysfs sys /host/sys
$busybox mount -t devtmpfs dev /host/dev
$busybox mount -t tmpfs run /host/run
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/run TMPDIR=/run PYTHONDONTWRITEBYTECODE=1
$busybox chroot /host {command}
echo "ended with code $?"
echo o > /proc/sysrq-trigger
$busybox sleep 60
"""


class MachineError(Exception):
    """The machine could not be made, or did not do what it was to do."""


def programs(more: Mapping[str, str] = MappingProxyType({})) -> None:
    """Install what is missing; ``more`` are further programs and their packages."""
    if platform.machine() != "x86_64":
        raise MachineError(f"the machine is one of x86_64, this one is {platform.machine()}")
    wanted = {**_PROGRAMS, **more}
    if missing := [package for name, package in wanted.items() if shutil.which(name) is None]:
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *missing], check=True)


def kernel(folder: Path) -> Path:
    """Return a folder with the files of a kernel: that of the package ``KERNEL`` names, or what apt has.

    A package that is there already is not fetched again.
    """
    package = Path(named) if (named := os.environ.get("KERNEL")) else _fetched(folder)
    unpacked = folder / package.stem
    if not unpacked.exists():
        partly = unpacked.with_suffix(".partly")
        subprocess.run(["dpkg-deb", "-x", package, partly], check=True)
        partly.rename(unpacked)
    return unpacked


def _fetched(folder: Path) -> Path:
    shown = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", _META], capture_output=True, text=True, check=True
    ).stdout
    found = re.search(r"^Depends: (linux-image-\S+)", shown, re.MULTILINE)
    if found is None:
        raise MachineError(
            f"apt knows no kernel of {_META}: run `apt-get update`, or name a package by KERNEL="
        )
    name = found[1]
    if not list(folder.glob(f"{name}_*.deb")):
        subprocess.run(["apt-get", "download", name], cwd=folder, check=True)
    return max(folder.glob(f"{name}_*.deb"))


def release(files: Path) -> str:
    """Return the release of a kernel, as it calls itself."""
    return next((files / "lib" / "modules").iterdir()).name


def boot(files: Path, folder: Path, command: str, *, patience: float, console: bool = False) -> str:
    """Boot a kernel, run a command on the files of this machine, and return what it wrote on the second line.

    With ``console``, what it wrote on the first is returned, whatever its exit code.

    Parameters
    ----------
    files : path
        The kernel's package, unpacked.
    folder : path
        Where the archive and the lines are kept.
    command : str
        With an absolute path.
    patience : float
        After how many seconds of real time the machine is stopped.
    """
    (image,) = (files / "boot").glob("vmlinuz*")
    loaded = modules(files / "lib" / "modules" / release(files), _MODULES + _DISCIPLINES)
    busybox = Path(shutil.which("busybox") or "busybox")
    first = folder / "first.img"
    first.write_bytes(archive(busybox, loaded, _INIT.format(command=command)))
    lines = folder / "console.txt", folder / "results.jsonl"
    machine = [
        *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", _MEMORY),
        *("-icount", "shift=0,sleep=off", "-rtc", "clock=vm"),
        *("-nodefaults", "-display", "none", "-no-reboot"),
        *(word for path in lines for word in ("-serial", f"file:{path}")),
        *("-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"),
        *("-device", "virtio-9p-pci,fsdev=root,mount_tag=root"),
        *("-kernel", str(image), "-initrd", str(first), "-append", "console=ttyS0 quiet panic=-1"),
    ]
    try:
        subprocess.run(machine, check=True, timeout=patience)
    except subprocess.TimeoutExpired as error:
        raise MachineError(f"the machine did not end within {patience:,.0f} s: see {lines[0]}") from error
    said, results = (path.read_text(errors="replace") for path in lines)
    if console:
        return said
    if "ended with code 0" not in said:
        raise MachineError(f"what ran in the machine failed: see {lines[0]}")
    return results
