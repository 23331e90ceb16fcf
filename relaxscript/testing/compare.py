"""Whether two programs, two results, or the executors of one program are the same.

Start reading at `check_executors_agree`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import VMError
from relaxscript.ir.module import IRModule
from relaxscript.ir.same import assert_structural_equal
from relaxscript.runtime.values import Closure, DeviceTensor, Prim, Shape, text_of

__all__ = [
    "EXECUTORS", "assert_allclose_tree", "assert_same", "check_executors_agree", "check_outcomes",
    "outcome",
]  # fmt: skip

Run = Callable[..., Any]


def assert_same(actual: Any, expected: Any) -> None:
    """Two programs are the same but for the names of variables; shows the first difference."""
    assert_structural_equal(actual, expected)


def assert_allclose_tree(
    actual: Any, expected: Any, rtol: float = 0.0, atol: float = 0.0, place: str = "the result"
) -> None:
    """Two run-time values agree: kind, data type, shape, and numbers within a tolerance.

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
            agree = type(actual) is type(expected) and actual == expected
    if not agree:
        raise AssertionError(f"{place}: {text_of(actual)}, not {text_of(expected)}")


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
    "llvm": _machine("llvm"),
}


def outcome(run: Callable[[], Any]) -> Any:
    """The value of a run, or the `VMError` with which it ends; other exceptions are not caught."""
    try:
        return run()
    except VMError as error:
        return error


def check_executors_agree(
    mod: IRModule,
    inputs: Sequence[Any],
    function: str = "main",
    rtol: float = 0.0,
    atol: float = 0.0,
    executors: Sequence[str] = tuple(EXECUTORS),
) -> Any:
    """Call a function of the module by every executor; returns what all of them agree on.

    That is a value, or a `VMError`: then all must end in one, with the same code. Arguments are
    copied for each. Raises `AssertionError` naming the executor that differs from the first.
    """
    found: dict[str, Any] = {}
    for name in executors:
        args = copy.deepcopy(list(inputs))
        run = EXECUTORS[name](mod)
        found[name] = outcome(lambda run=run, args=args: run(function, *args))  # type: ignore[misc]
    first, *others = executors
    for name in others:
        check_outcomes(name, found[name], first, found[first], rtol, atol)
    return found[first]


def check_outcomes(
    name: str, actual: Any, first: str, expected: Any, rtol: float = 0.0, atol: float = 0.0
) -> None:
    """What `name` gave is what `first` gave: the same value, or errors of the same code.

    Raises `AssertionError` that names both.
    """
    if isinstance(actual, VMError) or isinstance(expected, VMError):
        codes = [v.code if isinstance(v, VMError) else "no error" for v in (actual, expected)]
        if codes[0] != codes[1]:
            shown = f"{name}: {actual}\n{first}: {expected}"
            raise AssertionError(f"{name} ends in {codes[0]}, {first} in {codes[1]}\n{shown}")
        return
    try:
        assert_allclose_tree(actual, expected, rtol, atol)
    except AssertionError as error:
        raise AssertionError(f"{name} and {first} differ: {error}") from None
