"""Write the subscribers of an access network as a file for `weird route`, and say what its masts promise.

Stands in for the export of whatever knows the customers: names, addresses, tariffs, masts. The same seed
gives the same file.
"""

from __future__ import annotations

import argparse
import random
from ipaddress import IPv4Address, IPv6Network
from pathlib import Path

_TARIFFS = {"home": (1, 50), "plus": (2, 100), "office": (10, 200)}
"""What each is promised and how much it sends at most, in Mbit/s."""
_SHARES = (70, 24, 6)
_MASTS = {"hill": 300, "church": 200, "harbour": 100}
"""The radio links to them, in Mbit/s."""
_FIRST = IPv4Address("100.64.0.2")
_SITES = IPv6Network("2001:db8:4000::/36")


def subscribers(count: int, seed: int) -> list[tuple[str, str, str]]:
    """Return so many customers: name, tariff, mast."""
    drawn = random.Random(seed)  # noqa: S311 — customers, no secrets
    tariffs = drawn.choices(list(_TARIFFS), _SHARES, k=count)
    masts = drawn.choices(list(_MASTS), list(_MASTS.values()), k=count)
    return [(f"c{at:04}", tariff, mast) for at, (tariff, mast) in enumerate(zip(tariffs, masts, strict=True))]


def lines(customers: list[tuple[str, str, str]]) -> list[str]:
    """Return the lines of the file: masts are groups, since they have no address."""
    made = ["name,address,rate,ceiling,group"]
    made += [f"{name},,{rate}Mbit,{rate}Mbit," for name, rate in _MASTS.items()]
    sites = _SITES.subnets(new_prefix=56)
    for at, ((name, tariff, mast), site) in enumerate(zip(customers, sites, strict=False)):
        rate, ceiling = _TARIFFS[tariff]
        made.append(f"{name},{_FIRST + at} {site},{rate}Mbit,{ceiling}Mbit,{mast}")
    return made


def summary(customers: list[tuple[str, str, str]]) -> str:
    """Return what each mast has and what it promises."""
    rows = [f"{'mast':<10}{'customers':>10}{'has':>10}{'promises':>10}{'each gets':>11}"]
    for mast, rate in _MASTS.items():
        here = [tariff for _, tariff, its in customers if its == mast]
        promised = sum(_TARIFFS[tariff][0] for tariff in here)
        kept = min(1.0, rate / promised)
        rows.append(f"{mast:<10}{len(here):>10}{rate:>6}Mbit{promised:>6}Mbit{kept:>11.0%}")
    return "\n".join(rows)


def main() -> None:
    """Read the options, write the file, print the summary."""
    parser = argparse.ArgumentParser(description="Write the subscribers of an access network.")
    parser.add_argument("--count", type=int, default=300, help="how many customers there are")
    parser.add_argument("--seed", type=int, default=7, help="the same seed gives the same file")
    parser.add_argument("--out", type=Path, help="where the file goes; without it none is written")
    arguments = parser.parse_args()
    customers = subscribers(arguments.count, arguments.seed)
    if arguments.out is not None:
        arguments.out.write_text("\n".join(lines(customers)) + "\n", encoding="utf-8")
    print(summary(customers))


if __name__ == "__main__":
    main()
