"""Data for parameters by name: all of them, or none and what is wrong with each.

model.load_state_dict(torch_model.state_dict())
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from relaxscript.errors.suggest import meant_hint, nearest
from relaxscript.ir.field_types import brief

from .parameter import Parameter, weights_error

__all__ = ["load_state"]

_MOST = 20  # names with a note of their own


def load_state(
    parameters: Mapping[str, Parameter], given: Mapping[str, Any], strict: bool
) -> tuple[list[str], list[str]]:
    """Give parameters the data of their names; gives the names missing and unexpected.

    Raises `DiagnosticError` (RX0712), and then no parameter has changed.
    """
    if not isinstance(given, Mapping):
        raise weights_error(
            f"a state_dict maps names to data, this is {brief(given)}",
            help="give for example `dict(np.load(path))`",
        )
    loaded = {id(parameters[name]) for name in given if name in parameters}
    missing = [name for name, parameter in parameters.items() if id(parameter) not in loaded]
    unexpected = [name for name in given if name not in parameters]
    arrays, notes = _arrays(parameters, given)
    help = None
    if strict:
        strangers = [str(name) for name in unexpected]
        help = _help(missing, strangers)
        notes = [*_strangers(missing, strangers, parameters, help is None), *notes]
    if notes:
        raise weights_error("these data are not those of the model", help=help, notes=notes)
    for parameter, array in arrays:
        parameter.data = array
    return missing, unexpected


def _arrays(
    parameters: Mapping[str, Parameter], given: Mapping[str, Any]
) -> tuple[list[tuple[Parameter, Any]], list[str]]:
    """The arrays that parameters get, and what is wrong with the others."""
    notes: list[str] = []
    found: dict[int, tuple[str, Any]] = {}
    for name, parameter in parameters.items():
        if name not in given:
            continue
        array, mistake = parameter.fit(given[name])
        first, before = found.setdefault(id(parameter), (name, array))
        if mistake is not None:
            notes.append(f"`{name}` {mistake}")
        elif before is not array and not np.array_equal(before, array):
            notes.append(f"`{name}` and `{first}` are one parameter, and get different data")
    by_id = {id(parameter): parameter for parameter in parameters.values()}
    return [(by_id[key], array) for key, (_, array) in found.items()], notes


def _strangers(
    missing: list[str], unexpected: list[str], known: Collection[str], offers: bool
) -> Iterator[str]:
    """A note for each name that is missing or unexpected; the last one of each kind has the rest.

    Offering what was meant compares a name with all others, so the first ones have it only.
    """
    for name in unexpected[:_MOST]:
        meant = (nearest(name, missing) or nearest(name, known)) if offers else None
        yield f"`{name}` is no parameter of the model{meant_hint(meant)}"
    if len(unexpected) > _MOST:
        yield f"no parameters of the model are {_listed(unexpected[_MOST:])}"
    for name in missing[:_MOST]:
        yield f"`{name}` is missing"
    if len(missing) > _MOST:
        yield f"missing are {_listed(missing[_MOST:])}"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _help(missing: list[str], unexpected: list[str]) -> str | None:
    """The way to rename all at once, where the names differ in what they begin with."""
    if not missing or not unexpected:
        return None
    prefix = _common_prefix(unexpected, missing)
    if prefix is not None:
        renamed = f'k.removeprefix("{prefix}")'
        return f"drop `{prefix}`: `{{{renamed}: v for k, v in d.items()}}`"
    prefix = _common_prefix(missing, unexpected)
    if prefix is not None:
        return f'add `{prefix}`: `{{"{prefix}" + k: v for k, v in d.items()}}`'
    return None


def _common_prefix(longer: list[str], shorter: list[str]) -> str | None:
    """The prefix of all longer names without which the first one is one of the others."""
    first, others = longer[0], set(shorter)
    ends = (place + 1 for place, letter in enumerate(first) if letter == ".")
    for end in ends:
        prefix = first[:end]
        if first[end:] in others and all(name.startswith(prefix) for name in longer):
            return prefix
    return None
