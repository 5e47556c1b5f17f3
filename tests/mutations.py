"""Mutations of input files: what hand, disk and exporter do to them, and what an attacker would.

Each takes the random numbers and a text, or bytes, and returns it changed in one place. `text` changes what
is read as words and values (scenarios, requests, tables, scripts), `capture` what is read as binary words.
"""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

Way = TypeVar("Way")

NUMBERS = (
    "0", "-0.0", "1", "-1", "2", "0.5", "1e308", "-1e308", "1e-308", "5e-324", "1e400", "nan", "inf", "-inf",
    "255", "65536", "1000000", "2147483648", "4294967296", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "18446744073709551615", "18446744073709551616", "1" + 400 * "0",
    "0." + 400 * "0" + "1", "", "१", "½", "0x10", "1_000", "--5", "1,5", "1e", "+7",
)  # fmt: skip
FACTORS = (0.5, 0.9, 1.1, 2, 3, 10, 100, 1_000, 1_000_000, 0.1, 0.01, 0.000_001)
UNITS = (
    "ns", "us", "ms", "s", "h", "u", "pkt", "tok", "B", "KiB", "GB", "cr", "bit", "kbit", "Mbit", "Gbit",
    "%", "", " ", "parsec",
)  # fmt: skip
VALUES = (
    "true", "[]", "{}", "[1, 2]", "[[]]", "{ a = 1 }", '""', '"x"', "'", '"all"', "2026-11-23", "10:00:00",
    "0", "-1", "1.5", '["fifo"]', '{ constant = "1u" }', '"../.."', '"/dev/null"', '"\\u0000"',
    '"\\u001b[2J"', '"é\u202e"',
)  # fmt: skip
PLACED = (
    "\0", "\x1b[31m", "\r", "\ufeff", "\u2028", "é", "\U0001f40c", '"', "'", "\\", "#", "[", "}", "(", ",",
    "=", " ",
)  # fmt: skip
NUMBER = re.compile(r"(?<![\w.-])[-+]?\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?")
DECIMAL = re.compile(r"(?<![\w.-])(?<!weir = )\d[\d_]*(?:\.\d+)?")
QUANTITY = re.compile(r"(?<![\w.-])(\d[\d_]*(?:\.\d+)?)([A-Za-z%]+)")
KEY = re.compile(r"\b[a-z_]{2,}\b(?=\s*[=:])")
VALUE = re.compile(r"(?<==)[ \t]*[^\s#][^\n#]*")
COMMENT = re.compile(r"(?m)^[ \t]*#.*\n|[ \t]+#[^\"\n]*$")
ENTRY = re.compile(r"(?m)^([\w.-]+)[ \t]*=[ \t]*(\S.*)$")
BRACKET = re.compile(r"[\[\](){}\"']")
LONG, DEEP = 200_000, 3_000


def text(numbers: random.Random, given: str, others: Sequence[str] = ()) -> bytes:
    """Return a text with one to three changes; ``others`` are texts of which lines and values may be taken.

    In most cases only values change, so that many are accepted and go further than to be read.
    """
    is_gentle = numbers.random() < 0.65
    changed = COMMENT.sub("", given) if is_gentle else given
    for _ in range(numbers.choice((1, 1, 2, 3))):
        chance = numbers.random()
        if others and chance < (0.3 if is_gentle else 0.05):
            changed = (same_key if is_gentle else borrowed)(numbers, changed, numbers.choice(others))
        else:
            changed = pick(numbers, OF_VALUES if is_gentle else OF_TEXT)(numbers, changed)
    encoded = changed.encode("utf-8", "surrogatepass")
    return pick(numbers, OF_BYTES)(numbers, encoded) if not is_gentle and numbers.random() < 0.2 else encoded


def pick(numbers: random.Random, weighted: Sequence[tuple[int, Way]]) -> Way:
    return numbers.choices([each for _, each in weighted], [weight for weight, _ in weighted])[0]


def place(numbers: random.Random, pattern: re.Pattern[str], given: str) -> tuple[int, int]:
    """Return where one of the matches of a pattern begins and ends; where there is none, anywhere."""
    found = [match.span() for match in pattern.finditer(given)]
    at = numbers.randint(0, len(given))
    return numbers.choice(found) if found else (at, at)


def put(given: str, span: tuple[int, int], new: str) -> str:
    return given[: span[0]] + new + given[span[1] :]


def number(numbers: random.Random, given: str) -> str:
    return put(given, place(numbers, NUMBER, given), numbers.choice(NUMBERS))


def amount(numbers: random.Random, given: str) -> str:
    """Change the number of a quantity, and leave it its unit."""
    begin, end = place(numbers, QUANTITY, given)
    unit = re.sub(r"^[\d_.]+", "", given[begin:end])
    return put(given, (begin, end), numbers.choice(NUMBERS) + unit)


def scaled(numbers: random.Random, given: str) -> str:
    """Multiply a number, so that it often remains one that is taken."""
    begin, end = place(numbers, DECIMAL, given)
    whole, _, part = given[begin:end].replace("_", "").partition(".")
    factor = numbers.choice(FACTORS)
    product = float(f"{whole or 1}.{part}") * factor
    new = f"{product:.9f}".rstrip("0").rstrip(".")
    return put(given, (begin, end), new if part or factor < 0.1 else str(round(min(product, 1e30))))


def unit(numbers: random.Random, given: str) -> str:
    begin, end = place(numbers, QUANTITY, given)
    return put(given, (begin, end), re.sub(r"[A-Za-z%]+$", "", given[begin:end]) + numbers.choice(UNITS))


def key(numbers: random.Random, given: str) -> str:
    begin, end = place(numbers, KEY, given)
    name, at = given[begin:end], numbers.randint(0, max(end - begin - 1, 0))
    ways = (
        name[:at] + name[at + 1 :],
        name + name[-1:],
        name.upper(),
        name[:at] + "_" + name[at:],
        "",
        f'"{name}"',
    )
    return put(given, (begin, end), numbers.choice(ways))


def value(numbers: random.Random, given: str) -> str:
    return put(given, place(numbers, VALUE, given), " " + numbers.choice(VALUES))


def swapped_values(numbers: random.Random, given: str) -> str:
    one, other = place(numbers, VALUE, given), place(numbers, VALUE, given)
    if one > other:
        one, other = other, one
    if one[1] > other[0]:
        return given
    first, second = given[slice(*one)], given[slice(*other)]
    return put(put(given, other, first), one, second)


def bracket(numbers: random.Random, given: str) -> str:
    return put(given, place(numbers, BRACKET, given), numbers.choice(("", "", '"', "'", "]", "}", "(")))


def word(numbers: random.Random, given: str) -> str:
    """Put a word of the text in the place of another."""
    words = re.compile(r"\w+")
    begin, end = place(numbers, words, given)
    other = place(numbers, words, given)
    return put(given, (begin, end), given[slice(*other)])


def character(numbers: random.Random, given: str) -> str:
    at = numbers.randint(0, len(given))
    return put(given, (at, min(at + numbers.randint(0, 2), len(given))), numbers.choice(PLACED))


def lines(numbers: random.Random, given: str) -> str:
    """Delete, double, move, join or repeat lines."""
    kept = given.splitlines(keepends=True) or [""]
    at, other = numbers.randrange(len(kept)), numbers.randrange(len(kept))
    match numbers.randrange(6):
        case 0:
            del kept[at]
        case 1:
            kept.insert(other, kept[at])
        case 2:
            kept[at], kept[other] = kept[other], kept[at]
        case 3:
            kept[at] = kept[at].rstrip("\n")
        case 4:
            del kept[min(at, other) : max(at, other)]
        case _:
            first, last = sorted((at, min(other, at + 6)))
            kept[first:last] = kept[first:last] * numbers.choice((2, 70, 1100))
    return "".join(kept)


def cut(numbers: random.Random, given: str) -> str:
    return given[: numbers.randint(0, len(given))]


def long(numbers: random.Random, given: str) -> str:
    at = numbers.randint(0, len(given))
    return put(given, (at, at), numbers.choice(("x", "9", " ", "\n", "é", "1,", "# ")) * LONG)


def deep(numbers: random.Random, given: str) -> str:
    """Nest brackets, tables, keys, specs or blocks of a program in each other."""
    opened = numbers.choice(
        ("[", "{a=", "a.", "in_order(", "per_server(", "per_server(jsq,discipline=", "loop {\n", '{"a":')
    )
    begin, end = place(numbers, VALUE, given)
    at = numbers.choice((begin, end, (begin + end) // 2))
    return put(given, (at, at), opened * DEEP)


def ends(numbers: random.Random, given: str) -> str:
    """Change the ends of lines, or what stands before the first."""
    ways = (
        given.replace("\n", "\r\n"),
        given.replace("\n", "\r"),
        "\ufeff" + given,
        given.rstrip("\n"),
        given * 2,
    )
    return numbers.choice(ways)


def column(numbers: random.Random, given: str) -> str:
    """Delete, double or empty a field of a line, or change what separates fields."""
    kept = given.splitlines() or [""]
    at = numbers.randrange(len(kept))
    separator = next((each for each in ",\t; " if each in kept[at]), ",")
    fields = kept[at].split(separator)
    field = numbers.randrange(len(fields))
    ways: tuple[list[str], ...] = (
        fields[:field] + fields[field + 1 :],
        [*fields, fields[field]],
        [*fields[:field], "", *fields[field + 1 :]],
        [*fields[:field], f'"{fields[field]}', *fields[field + 1 :]],
        [*fields[:field], numbers.choice(NUMBERS), *fields[field + 1 :]],
    )
    kept[at] = separator.join(numbers.choice(ways))
    made = "\n".join(kept) + "\n"
    return made if numbers.random() < 0.9 else made.replace(separator, numbers.choice((";", "\t", " ", ",,")))


def borrowed(numbers: random.Random, given: str, other: str) -> str:
    """Put some lines of another text in."""
    kept, theirs = given.splitlines(keepends=True), other.splitlines(keepends=True) or [""]
    first = numbers.randrange(len(theirs))
    at = numbers.randint(0, len(kept))
    kept[at:at] = theirs[first : first + numbers.randint(1, 12)]
    return "".join(kept)


def same_key(numbers: random.Random, given: str, other: str) -> str:
    """Give a key the value that it has in another text."""
    theirs = {match[1]: match[2] for match in ENTRY.finditer(other)}
    mine = [match for match in ENTRY.finditer(given) if match[1] in theirs]
    if not mine:
        return scaled(numbers, given)
    entry = numbers.choice(mine)
    return put(given, entry.span(2), theirs[entry[1]])


def same_kind(numbers: random.Random, given: str) -> str:
    """Put one of the quantities of a text in the place of another of the same unit."""
    begin, end = place(numbers, QUANTITY, given)
    own = re.sub(r"^[\d_.]+", "", given[begin:end])
    alike = [match[0] for match in QUANTITY.finditer(given) if match[2] == own]
    return put(given, (begin, end), numbers.choice(alike)) if alike else number(numbers, given)


OF_VALUES: tuple[tuple[int, Callable[[random.Random, str], str]], ...] = (
    (30, scaled), (3, amount), (3, number), (1, unit), (1, swapped_values), (8, same_kind), (1, value),
    (2, lines),
)  # fmt: skip
OF_TEXT: tuple[tuple[int, Callable[[random.Random, str], str]], ...] = (
    (12, number), (12, amount), (14, scaled), (6, unit), (4, key), (6, value), (5, swapped_values),
    (4, bracket), (8, word), (5, character), (8, lines), (2, cut), (1, long), (1, deep), (2, ends),
    (4, column),
)  # fmt: skip


def flipped(numbers: random.Random, given: bytes) -> bytes:
    at = numbers.randrange(len(given) or 1)
    return (
        given[:at] + bytes((given[at] ^ 1 << numbers.randrange(8),)) + given[at + 1 :] if given else b"\xff"
    )


def invalid(numbers: random.Random, given: bytes) -> bytes:
    """Put in what is no UTF-8."""
    at = numbers.randint(0, len(given))
    return (
        given[:at]
        + numbers.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\0"))
        + given[at:]
    )


def compressed(numbers: random.Random, given: bytes) -> bytes:
    """Compress all of it, often with a flaw."""
    made = gzip.compress(given, mtime=0)
    return numbers.choice(
        (made, made[: numbers.randrange(len(made))], flipped(numbers, made), made + made, made + b"x")
    )


def other_coding(numbers: random.Random, given: bytes) -> bytes:
    return given.decode("utf-8", "replace").encode(
        numbers.choice(("utf-16", "utf-32", "utf-8-sig")), "replace"
    )


OF_BYTES: tuple[tuple[int, Callable[[random.Random, bytes], bytes]], ...] = (
    (5, flipped), (3, invalid), (1, compressed), (1, other_coding),
)  # fmt: skip


def cut_bytes(numbers: random.Random, given: bytes) -> bytes:
    return given[: numbers.randint(0, len(given))]


def field(numbers: random.Random, given: bytes) -> bytes:
    """Replace a number of 16, 32 or 64 bits by an extreme, or by one near it."""
    width = numbers.choice((2, 4, 4, 4, 8))
    at = (
        numbers.randrange(max(len(given) // 2, 1)) * 2
        if numbers.random() < 0.6
        else 2 * numbers.randrange(24)
    )
    order = numbers.choice(("little", "big"))
    held = int.from_bytes(given[at : at + width], order)  # type: ignore[arg-type]
    new = numbers.choice(
        (
            0,
            1,
            3,
            2 ** (8 * width) - 1,
            2 ** (8 * width - 1),
            held + 1,
            held - 1,
            held + 4,
            held * 2,
            65535,
            65536,
            2**18 + 1,
        )
    )
    return given[:at] + (new % 2 ** (8 * width)).to_bytes(width, order) + given[at + width :]  # type: ignore[arg-type]


def stretch(numbers: random.Random, given: bytes) -> bytes:
    """Delete, double or move some bytes."""
    at, length = numbers.randint(0, len(given)), numbers.choice((1, 2, 4, 8, 16, 40, 200))
    piece, rest = given[at : at + length], given[:at] + given[at + length :]
    to = numbers.randint(0, len(given))
    return numbers.choice(
        (
            rest,
            given[:at] + piece + given[at:],
            rest[:to] + piece + rest[to:],
            given[:at] + 50 * piece + given[at:],
        )
    )


OF_CAPTURES: tuple[tuple[int, Callable[[random.Random, bytes], bytes]], ...] = (
    (14, field), (6, flipped), (4, cut_bytes), (4, stretch), (1, compressed), (1, invalid),
)  # fmt: skip


def capture(numbers: random.Random, given: bytes) -> bytes:
    """Return a file of binary records with one to four changes."""
    for _ in range(numbers.randint(1, 4)):
        given = pick(numbers, OF_CAPTURES)(numbers, given)
    return given
