"""Comparison of two programs, of two results, and of the executors of one program.

Start reading at `check_executors_agree`.
"""

from __future__ import annotations

import copy
import io
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxscript.errors import VMError
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.runtime import PackedFunc
from relaxscript.runtime.values import Closure, DeviceTensor, Prim, Shape, format_value

from .effects import record_effects
from .inputs import inputs_of

__all__ = [
    "EXECUTORS", "Outcome", "assert_allclose", "assert_allclose_tree", "assert_same",
    "check_executors_agree", "check_outcomes", "observe", "outcome",
]  # fmt: skip

Run = Callable[..., Any]


def assert_same(actual: Any, expected: Any) -> None:
    """Two programs are the same but for the names of variables; shows the first difference."""
    assert_structural_equal(actual, expected)


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Two tensors, or what numpy makes arrays of, have one shape and nearly the same elements.

    Raises `AssertionError`. Source: TVM `tvm.testing.assert_allclose`.
    """
    one, other = (
        given.numpy() if isinstance(given, DeviceTensor) else np.asarray(given)
        for given in (actual, desired)
    )
    np.testing.assert_allclose(one.shape, other.shape)
    np.testing.assert_allclose(one, other, rtol=rtol, atol=atol, verbose=True)


def assert_allclose_tree(
    actual: Any, expected: Any, rtol: float = 0.0, atol: float = 0.0, place: str = "the result"
) -> None:
    """Two run-time values agree: kind, dtype, shape, and numbers within a tolerance.

    Not-a-number equals itself. Raises `AssertionError` naming the field of a tuple that differs.
    """
    match actual, expected:
        case Shape(), Shape():
            agree = actual == expected
        case tuple(), tuple() if not isinstance(actual, Shape) and not isinstance(expected, Shape):
            if len(actual) != len(expected):
                raise AssertionError(f"{place}: {len(actual)} fields, not {len(expected)}")
            for index, (a, b) in enumerate(zip(actual, expected)):
                assert_allclose_tree(a, b, rtol, atol, f"{place}[{index}]")
            return
        case np.ndarray(), np.ndarray():
            _check_arrays(actual, expected, rtol, atol, place)
            return
        case DeviceTensor(), DeviceTensor():
            agree = actual.device == expected.device
            assert_allclose_tree(actual.numpy(), expected.numpy(), rtol, atol, place)
        case (Closure(), Closure()):
            return
        case (float(), float()) | (Prim(), Prim()):
            _check_arrays(_number(actual), _number(expected), rtol, atol, place)
            return
        case _:
            agree = type(actual) is type(expected) and _plain(actual) == _plain(expected)
    if not agree:
        raise AssertionError(f"{place}: {format_value(actual)}, not {format_value(expected)}")


def _plain(value: Any) -> Any:
    """The key by which a value is compared: of a packed function its name."""
    return value.name if isinstance(value, PackedFunc) else value


def _number(value: Any) -> Any:
    return np.array(value.value, value.dtype.numpy) if isinstance(value, Prim) else np.array(value)


def _check_arrays(actual: Any, expected: Any, rtol: float, atol: float, place: str) -> None:
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        described = [f"{a.dtype} of shape {a.shape}" for a in (actual, expected)]
        raise AssertionError(f"{place}: {described[0]}, not {described[1]}")
    a, b = actual, expected
    if a.dtype.kind not in "biufc":  # the small floats of ml_dtypes
        a, b = a.astype("float32"), b.astype("float32")
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, equal_nan=True, err_msg=place)


# ---------------------------------------------------------------- executors


def _interpreter(mod: IRModule) -> Run:
    from relaxscript.interpreter.relax import Interpreter

    interpreter = Interpreter(mod)
    return lambda name, *args: interpreter.call(name, args)


def _machine(target: str) -> Callable[[IRModule], Run]:
    def prepare(mod: IRModule) -> Run:
        from relaxscript.compiler import build
        from relaxscript.runtime import VirtualMachine, cpu

        machine = VirtualMachine(build(mod, target=target), cpu())
        return lambda name, *args: machine[name](*args)

    return prepare


# Each prepares a module for calls `run(function name, *arguments)`; the first is the reference.
EXECUTORS: Mapping[str, Callable[[IRModule], Run]] = {
    "interpreter": _interpreter,
    "reference": _machine("reference"),
    "plain": _machine("llvm -opt-level=0"),
    "llvm": _machine("llvm"),
}
# All but optimised code give the bits of the reference. That has functions of its own and adds in
# other orders, which a chain of operators enlarges.
OPTIMISED = {"llvm": 1e-4}


@dataclass
class Outcome:
    """The result, the error and the effects of a run."""

    value: Any  # or the VMError with which it ended
    called: tuple[Any, ...]  # what the functions among the results give
    effects: tuple[Any, ...]
    printed: str
    args: tuple[Any, ...]  # as the run left them


def outcome(run: Callable[[], Any]) -> Any:
    """The value of a run, or the `VMError` with which it ends; other exceptions are not caught."""
    try:
        return run()
    except VMError as error:
        return error


def observe(run: Run, function: str, inputs: Sequence[Any]) -> Outcome:
    """Call a function on copies of arguments, then the functions that it returns."""
    args = tuple(copy.deepcopy(list(inputs)))
    with record_effects() as effects, redirect_stdout(io.StringIO()) as printed:
        value = outcome(lambda: run(function, *args))
        called = tuple(_call_results(value))
    return Outcome(value, called, effects.observations, printed.getvalue(), args)


def _call_results(value: Any) -> Sequence[Any]:
    """The results of the functions in a value when they are called; of an error its code."""
    results: list[Any] = []
    for item in value if type(value) is tuple else (value,):
        if isinstance(item, Closure) and (args := inputs_of(item.info)) is not None:
            result = outcome(lambda item=item, args=args: item(*args))  # type: ignore[misc]
            results.append(result.code if isinstance(result, VMError) else result)
    return results


def check_executors_agree(
    mod: IRModule,
    inputs: Sequence[Any],
    function: str = "main",
    rtol: float = 0.0,
    atol: float = 0.0,
    executors: Sequence[str] = tuple(EXECUTORS),
) -> Any:
    """Call a function of the module by every executor; returns what all of them agree on.

    That is a value, or a `VMError`: then all must end in one, with the same code, message and
    place. What optimised code gives may differ by `OPTIMISED` at least. The effects that are
    logged, what is printed and what becomes of the arguments must agree as well; arguments are
    copied for each. Functions among the results are called. Raises `AssertionError` naming the
    executor that differs from the first.
    """
    found = {name: observe(EXECUTORS[name](mod), function, inputs) for name in executors}
    first, *others = executors
    for name in others:
        least = OPTIMISED.get(name, 0.0)
        near = max(rtol, least), max(atol, least)
        check_outcomes(name, found[name], first, found[first], *near, words=True)
    return found[first].value


def _words_of(error: VMError) -> tuple[str, object]:
    """The words and place of an error; local functions are numbered in bytecode only."""
    return re.sub(r"#\d+`", "`", error.diagnostic.message), error.span


def _as_outcome(value: Any) -> Outcome:
    return value if isinstance(value, Outcome) else Outcome(value, (), (), "", ())


def check_outcomes(
    name: str, actual: Any, first: str, expected: Any, rtol: float = 0.0, atol: float = 0.0,
    words: bool = False,
) -> None:  # fmt: skip
    """Assert that a run by `name` ended as one by `first` did: outcomes, values or errors.

    Where both end in errors these must have the same code. With `words` they must say the same of
    the same place. Raises `AssertionError` that names both.
    """
    actual, expected = _as_outcome(actual), _as_outcome(expected)
    values = (actual.value, expected.value)
    if any(isinstance(value, VMError) for value in values):
        codes = [v.code if isinstance(v, VMError) else "no error" for v in values]
        shown = f"{name}: {values[0]}\n{first}: {values[1]}"
        if codes[0] != codes[1]:
            raise AssertionError(f"{name} ends in {codes[0]}, {first} in {codes[1]}\n{shown}")
        if words and _words_of(values[0]) != _words_of(values[1]):
            raise AssertionError(f"{name} and {first} fail in other words\n{shown}")
        values = ((), ())
    seen = [
        ("the result", *values),
        ("what the results give", actual.called, expected.called),
        ("the effects", actual.effects, expected.effects),
        ("the arguments afterwards", actual.args, expected.args),
    ]
    try:
        for place, a, b in seen:
            assert_allclose_tree(a, b, rtol, atol, place)
        if actual.printed != expected.printed:
            raise AssertionError(f"printed {actual.printed!r}, not {expected.printed!r}")
    except AssertionError as error:
        raise AssertionError(f"{name} and {first} differ: {error}") from None
