"""Instruments: functions that a machine tells of every packed call, before and after it.

Source: TVM `VirtualMachine.set_instrument`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from relaxscript.errors import VMError
from relaxscript.runtime.coercion import call_packed
from relaxscript.runtime.packed_func import PackedFunc
from relaxscript.runtime.values import kind_of

__all__ = ["VMInstrumentReturnKind", "instrument_function"]


class VMInstrumentReturnKind:
    """The answer of an instrument before a call: let it run, or skip it."""

    NO_OP = 0
    SKIP_RUN = 1


def instrument_function(
    instrument: Callable[..., Any], name: str, function: Callable[..., Any]
) -> Callable[..., Any]:
    """`function`, of which `instrument` is told under `name`; it may answer that it be left out.

    An exception of the instrument and an invalid answer are a `VMError` (RX0604, RX0605). It names
    the instrument, not the function.
    """

    def call(*args: Any) -> Any:
        answer = _notify(instrument, name, [function, name, True, None, *args])
        result = None if _skips(answer, instrument) else function(*args)
        _notify(instrument, name, [function, name, False, result, *args])
        return result

    return call


def _notify(instrument: Callable[..., Any], name: str, facts: Sequence[Any]) -> Any:
    try:
        return call_packed(_name_of(instrument), instrument, facts)
    except VMError as error:
        if error.__cause__ is not None and not error.diagnostic.notes:
            note = f"it is the instrument, at a call of `{name}`"
            error.diagnostic = replace(error.diagnostic, notes=(note,))
        raise


def _skips(answer: Any, instrument: Callable[..., Any]) -> bool:
    try:
        number = VMInstrumentReturnKind.NO_OP if answer is None else operator.index(answer)
    except TypeError:
        number = -1
    if number not in (VMInstrumentReturnKind.NO_OP, VMInstrumentReturnKind.SKIP_RUN):
        text = f"the instrument `{_name_of(instrument)}` answered {kind_of(answer)}"
        hint = "it answers NO_OP (0), SKIP_RUN (1) or None"
        raise VMError(text, code="RX0605", notes=[hint])
    return number == VMInstrumentReturnKind.SKIP_RUN


def _name_of(instrument: Any) -> str:
    if isinstance(instrument, PackedFunc):
        return instrument.name
    return str(getattr(instrument, "__name__", type(instrument).__name__))
