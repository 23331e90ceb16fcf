"""Runs that must fail, on every executor in the same words."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from relaxscript.ir.module import IRModule
from relaxscript_tests.end_to_end.executors import EXECUTORS, failure

__all__ = ["fails"]

# What must not be shown: assertions, classes of ours, objects as Python prints them by default.
_INTERNAL = re.compile(r"AssertionError|\w+StructInfo\b| object at 0x|<(closure|packed|function) ")


def fails(mod: IRModule, *args: Any, name: str = "main", **kwargs: Any) -> NoReturn:
    """Call a function of a module on every executor; raises the failure, which is that of all.

    An argument that is a text "@name" stands for that function of the module.
    """
    errors = []
    for load in EXECUTORS.values():
        model = load(mod)
        given = [_value(model, arg) for arg in args]
        errors.append(failure(lambda m=model, a=given: m[name](*a, **kwargs)))
    told = {(e.code, e.diagnostic.message, e.span, e.diagnostic.help) for e in errors}
    assert len(told) == 1, told
    for error in errors:
        assert not _INTERNAL.search(str(error)), str(error)
    raise errors[0]


def _value(model: Any, arg: Any) -> Any:
    return model[arg[1:]] if isinstance(arg, str) and arg.startswith("@") else arg
