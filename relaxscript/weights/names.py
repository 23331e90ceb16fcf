"""Names that should be the same on two sides, and are not: all that differ, in one message."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.errors import Diagnostic, DiagnosticError, Label, Span, meant_hint, nearest
from relaxscript.errors.exceptions import is_user_error

from .mapping import file_of

__all__ = [
    "NamedPlace", "as_written", "differing_names", "listed", "refuse_unknown", "require_mapping",
    "with_nearest",
]  # fmt: skip

__tracebackhide__ = is_user_error

_MOST = 20  # names that a message lists


def refuse_unknown(what: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise RX0712 where names are given that are not known; the nearest ones are offered."""
    unknown = [name for name in given if name not in known]
    if unknown:
        message = f"{what} has {listed(unknown)}, which the file has not"
        notes = with_nearest(unknown, known)
        raise DiagnosticError(Diagnostic("RX0712", message, None, notes=notes))


def listed(names: Collection[str]) -> str:
    """Names in a sentence, the first twenty where there are more."""
    shown = ", ".join(f"`{name}`" for name in list(names)[:_MOST])
    return shown if len(names) <= _MOST else f"{shown} and {len(names) - _MOST} more"


def with_nearest(names: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """Notes of what was probably meant, one for each name that is near a known one."""
    near = {name: nearest(name, known) for name in list(names)[:_MOST]}
    return tuple(
        f"`{name}` is not there{meant_hint(other)}" for name, other in near.items() if other
    )


class NamedPlace(NamedTuple):
    """A weight that is wanted: its name, the parameter that it is or is a field of, and where."""

    name: str
    param: Hashable
    span: Span | None


def require_mapping(params: Any) -> None:
    """Raise RX0712 for weights that are no mapping, such as pairs of names and arrays."""
    if not isinstance(params, Mapping):
        what = f"a value of type {type(params).__name__}"
        message = f"weights are given as a mapping from names to arrays, not as {what}"
        help = "where they are pairs of names and arrays, `dict(pairs)` is one"
        raise DiagnosticError(Diagnostic("RX0712", message, None, help=help))


def as_written(given: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """The given name of each parameter that is called as scripts can: `fc1_weight`."""
    found: dict[str, list[str]] = {}
    for name in given:
        if isinstance(name, str) and name not in known:
            found.setdefault(re.sub(r"\W", "_", name), []).append(name)
    return {word: name for word, (name, *more) in found.items() if word in known and not more}


def differing_names(
    missing: Sequence[NamedPlace], unexpected: Sequence[str], known: Sequence[str],
    params: Mapping[str, Any],
) -> Diagnostic:  # fmt: skip
    """The diagnostic for names of weights that are on one side only, all of them."""
    absent = list(dict.fromkeys(place.name for place in missing))
    strangers = listed([str(name) for name in unexpected])
    no = f"no {'parameter' if len(unexpected) == 1 else 'parameters'} {strangers}"
    if not absent:
        message = f"there {'is' if len(unexpected) == 1 else 'are'} {no}"
    else:
        arrays = "is no array" if len(absent) == 1 else "are no arrays"
        message = f"there {arrays} for {listed(absent)}" + (f", and {no}" if unexpected else "")
    notes = []
    for name in unexpected[:_MOST]:
        near = nearest(str(name), absent) or nearest(str(name), known)
        file = file_of(params, name)
        if near is not None or file is not None:
            place = "" if file is None else f" of `{file}`"
            notes.append(f"`{name}`{place} is no parameter{meant_hint(near)}")
    by_param: dict[Hashable, list[NamedPlace]] = {}
    for lacking in missing:
        by_param.setdefault(lacking.param, []).append(lacking)
    labels = [
        Label(first.span, f"lacks {listed(list(dict.fromkeys(p.name for p in (first, *more))))}")
        for first, *more in list(by_param.values())[:_MOST]
        if first.span is not None
    ]
    span = labels[0].span if labels else None
    help = None if notes or not known else f"there are {listed(known)}"
    return Diagnostic("RX0712", message, span, tuple(labels), tuple(notes), help)
