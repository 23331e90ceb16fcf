"""Format strings of `R.print` and `R.assert_op`: what of `str.format` they may hold.

    "n is {}, loss {:.3f}"    values in their order
    "{1} of {0:>6d}"          values by their positions

A field names a position or nothing; nothing of a value can be asked for. `str.format` itself would
follow attributes and items of the values. So a format could read whatever hangs on them, and write
texts of any length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from string import Formatter

__all__ = ["MOST_CHARACTERS", "FormatError", "check_format", "fill"]

# The most characters to which a field may be padded, and the most digits of a number.
MOST_CHARACTERS = 1000

_SPEC = re.compile(
    r"(?:.?[<>=^])?[-+ ]?z?\#?(?P<width>\d*)[,_]?(?:\.(?P<precision>\d+))?[a-zA-Z%]?", re.DOTALL
)
_FORMATTER = Formatter()


class FormatError(ValueError):
    """A string is no format, or does not go with so many values."""


def fill(form: str, count: int, text: Callable[[int, str], str]) -> str:
    """`form` with each field replaced by `text(position, spec)`, for `count` values.

    Raises `FormatError` before the first text is made: for braces that do not match, fields that
    are not positions of values, and conversions. It is also raised for specs that are not plain or
    ask for more than `MOST_CHARACTERS` characters.
    """
    fields = _parse(form, count)
    return "".join(
        before if position is None else before + text(position, spec)
        for before, position, spec in fields
    )


def check_format(form: str, count: int) -> None:
    """Raise `FormatError` where `form` is no format for `count` values."""
    _parse(form, count)


def _parse(form: str, count: int) -> list[tuple[str, int | None, str]]:
    """Each text between fields with the position and the spec of the field behind it."""
    try:
        parts = list(_FORMATTER.parse(form))
    except ValueError as error:
        raise FormatError(str(error)) from error
    found: list[tuple[str, int | None, str]] = []
    numbered: bool | None = None
    following = 0
    for before, name, spec, conversion in parts:
        if name is None:
            found.append((before, None, ""))
            continue
        shown = "{" + name + "}"
        if conversion:
            raise FormatError(
                f"`!{conversion}` converts a value; a format writes values as they are"
            )
        if not re.fullmatch("[0-9]*", name):
            raise FormatError(f"`{shown}` is no position of a value, as `{{}}` and `{{0}}` are")
        if numbered not in (None, bool(name)):
            raise FormatError(
                f"`{shown}` is mixed with fields {'without' if name else 'with'} numbers"
            )
        numbered = bool(name)
        position = _position(name, count) if name else following
        following += 1
        if position >= count:
            raise FormatError(f"there is no value {name or position} for `{shown}`")
        found.append((before, position, _plain(spec or "")))
    return found


def _position(digits: str, count: int) -> int:
    # Python reads no more digits than some thousands; beyond the values they are all the same.
    return int(digits) if len(digits) < 10 else count


def _plain(spec: str) -> str:
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise FormatError(f"`:{spec}` is not a plain format of a number or a string")
    for name in ("width", "precision"):
        digits = match[name] or "0"
        if len(digits) > 9 or int(digits) > MOST_CHARACTERS:
            raise FormatError(f"a {name} of {digits} is more than {MOST_CHARACTERS} characters")
    return spec
