"""Programs for passes on private functions: those that take and return more than is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript import transform
from relaxscript_tests.transform.pass_case import Case
from relaxscript_tests.transform.simplify.private_programs import private_functions

__all__ = ["PRIVATE"]

PRIVATE: Mapping[str, Sequence[Case]] = {
    "ExpandTupleArguments": [
        Case("private", lambda mod, inputs: transform.ExpandTupleArguments(), private_functions)
    ],
    "RemoveUnusedOutputs": [
        Case("private", lambda mod, inputs: transform.RemoveUnusedOutputs(), private_functions)
    ],
    "RemoveUnusedParameters": [
        Case("private", lambda mod, inputs: transform.RemoveUnusedParameters(), private_functions)
    ],
}
