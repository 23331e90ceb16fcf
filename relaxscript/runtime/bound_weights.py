"""Weights as the last arguments of a function, by name, looked at before any run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from relaxscript.errors import Diagnostic, DiagnosticError, Span, VMError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.weights import file_of
from relaxscript.weights.names import NamedPlace, as_written, differing_names, require_mapping

from .bytecode import VMFunction
from .checks import Check, DimBind, DimConst, DimLoad, TensorCheck, TupleCheck, describe
from .coercion import coerce
from .values import DeviceTensor, kind_of

__all__ = ["bound_weights"]

__tracebackhide__ = is_user_error


def bound_weights(function: VMFunction, params: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments after the inputs of a function, arrays by name as values of the machine.

    Raises `DiagnosticError`: RX0712 for names that are missing or unexpected, RX0206 for arrays
    that do not fit. Sizes that the inputs decide are compared when the function is called.
    """
    require_mapping(params)
    written = as_written(params, [n for name in function.weights for n in _fields(name)])
    given = {name: name for name in params if name not in written.values()} | written
    first = _first(function, given)
    weights = function.weights[first:]
    known = [name for weight in weights for name in _fields(weight)]
    missing = [
        NamedPlace(name, weight, function.place_of(first + i))
        for i, weight in enumerate(weights)
        for name in _fields(weight)
        if name not in given
    ]
    unexpected = [as_given for name, as_given in given.items() if name not in known]
    if missing or unexpected:
        raise DiagnosticError(differing_names(missing, unexpected, known, params))
    fitting = _Fitting(function, params, given)
    values = tuple(fitting.argument(first + i, weight) for i, weight in enumerate(weights))
    if fitting.wrong:
        raise DiagnosticError(fitting.wrong)
    return values


def _fields(weight: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names of an argument: its own, or those of its fields."""
    return (weight,) if isinstance(weight, str) else weight


def _first(function: VMFunction, given: Mapping[str, str]) -> int:
    """The number of the first argument that is a weight."""
    if function.num_inputs is not None:
        return function.num_inputs
    weights = function.weights
    named = (i for i, w in enumerate(weights) if any(name in given for name in _fields(w)))
    return next(named, len(weights))


class _Fitting:
    """The comparison of arrays with what a function demands, as far as weights decide it."""

    def __init__(
        self, function: VMFunction, params: Mapping[str, Any], given: Mapping[str, str]
    ) -> None:
        self.function = function
        self.params = params
        self.given = given
        self.sizes: dict[int, int] = {}
        self.wrong: list[Diagnostic] = []

    def argument(self, number: int, weight: str | tuple[str, ...]) -> Any:
        checks = self.function.param_checks
        check: Check | None = checks[number] if checks else None
        if isinstance(weight, str):
            return self.value(self.given[weight], number, check)
        fields = check.fields if isinstance(check, TupleCheck) else (None,) * len(weight)
        pairs = zip(weight, fields, strict=True)
        return tuple([self.value(self.given[name], number, field) for name, field in pairs])

    def value(self, name: str, number: int, check: Check | None) -> Any:
        place = self.function.place_of(number)
        value = self.params[name]
        if check is not None and not (type(value) is np.ndarray and value.dtype.isnative):
            try:
                value = coerce(value, check)
            except VMError as error:
                self.refuse(name, error.diagnostic.message, place)
                return value
        if isinstance(check, TensorCheck) and not self.fits(value, check):
            self.refuse(name, f"it is {kind_of(value)}, and must be {describe(check)}", place)
        return value

    def refuse(self, name: str, reason: str, place: Span | None) -> None:
        file = file_of(self.params, name)
        notes = () if file is None else (f"it is from `{file}`",)
        message = f"the array for `{name}` does not fit: {reason}"
        self.wrong.append(Diagnostic("RX0206", message, place, notes=notes))

    def fits(self, value: Any, check: TensorCheck) -> bool:
        if not isinstance(value, (np.ndarray, DeviceTensor)):
            return False
        shape = value.shape
        if check.dtype is not None and check.dtype != value.dtype.name:
            return False
        if check.ndim not in (-1, len(shape)):
            return False
        for size, dim in zip(shape, check.dims or (), strict=False):
            match dim:
                case DimConst(value=wanted) if wanted != size:
                    return False
                case DimBind(slot=slot) | DimLoad(slot=slot):
                    if self.sizes.setdefault(slot, size) != size:
                        return False
        return True
