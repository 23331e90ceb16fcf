"""The four ways to run a program, by name; each gives an object with functions as attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from relaxscript.compiler import jit
from relaxscript.errors import VMError
from relaxscript.interpreter import Interpreter

EXECUTORS: dict[str, Callable[[Any], Any]] = {
    "interpreter": Interpreter,
    "reference": lambda mod: jit(mod, target="reference"),
    "plain": lambda mod: jit(mod, target="llvm -opt-level=0"),
    "llvm": lambda mod: jit(mod, target="llvm"),
}

every_executor = pytest.mark.parametrize("load", EXECUTORS.values(), ids=EXECUTORS)


def failure(call: Callable[[], Any]) -> VMError:
    """The `VMError` that a call ends with."""
    with pytest.raises(VMError) as caught:
        call()
    return caught.value
