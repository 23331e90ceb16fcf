"""What visitors and mutators by hooks cost, by the binding: a program of 10,000, and one of 1,000.

The yardstick is an `np.add` of 64 floats.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relaxscript.ir.relax import Call, Expr
from relaxscript.relax.expr_functor import PyExprMutator, PyExprVisitor
from relaxscript.script import from_source

from .front_end import program
from .timing import in_turns

SMALL, LARGE = 1_000, 10_000


class Calls(PyExprVisitor):
    """Counts calls."""

    def __init__(self) -> None:
        self.count = 0

    def visit_call_(self, call: Call) -> None:
        self.count += 1
        super().visit_call_(call)


class Again(PyExprMutator):
    """Writes every call as a new node."""

    def visit_call_(self, call: Call) -> Expr:
        made = super().visit_call_(call)
        assert isinstance(made, Call)
        return Call.make(
            made.op, made.args, made.attrs, made.sinfo_args, made.arg_spans, span=made.span
        )


def main() -> None:
    numbers = np.ones(64, "float32")

    def adds() -> None:
        for _ in range(1_000):
            np.add(numbers, numbers)

    actions: dict[str, Callable[[], object]] = {"np.add": adds}
    for count in (SMALL, LARGE):
        function = from_source(program(count))
        actions[f"reads {count}"] = lambda function=function: Calls().visit_expr(function)
        actions[f"keeps {count}"] = lambda function=function: PyExprMutator().visit_expr(function)
        actions[f"writes {count}"] = lambda function=function: Again().visit_expr(function)
    times = in_turns(actions)
    yard = times["np.add"] / 1_000
    print(f"np.add of 64 floats {yard * 1e6:8.2f} us")
    for what, aim in (("reads", 14), ("keeps", 14), ("writes", 44)):
        cost = times[f"{what} {LARGE}"] / LARGE
        growth = times[f"{what} {LARGE}"] / times[f"{what} {SMALL}"]
        print(f"{what:6} {cost * 1e6:8.2f} us a binding, {cost / yard:6.1f} np.add (aim: {aim})")
        print(f"       10,000 as a multiple of 1,000 {growth:8.2f}    (aim: at most 12)")


if __name__ == "__main__":
    main()
