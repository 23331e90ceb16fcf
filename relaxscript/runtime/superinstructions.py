"""Rows of operators on arrays, run as one Python function each.

A step of the dispatch loop costs as much as a small operator. Where operators follow one another, a
function is written that calls their meanings in a row. Registers are its local variables:

    def block(regs):
        r0 = regs[0]; r1 = regs[1]
        if not (r0.__class__ is ndarray and r0.flags.c_contiguous and ...): return 4
        try:
            r2 = f0(r0, r1)
            if r2.__class__ is not ndarray: r2 = array(r2)
            ...
        except Exception as error: return 4 + put_back(...)
        regs[2] = r2; ...
        return 9

It gives the step to go on with: the one behind the row. Where something is not as expected, it is
the step of the row from which they run one by one. Operators have no effects, so one that failed
may run again, and says then what is wrong. A row costs 50 ns for each operator, against 900.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ArrayOperator", "OperatorRow", "Row"]

_WARM = 4  # runs before a function is written, which takes as long as a hundred of them
LONGEST = 200  # operators of a row

Row = Callable[[list[Any]], Any]


class ArrayOperator(NamedTuple):
    """An operator whose operands are all arrays: a call of it has no effect but its result.

    `quietly` runs a function while numpy reports nothing, `finished` makes a result, given the
    operands, what operators give. A ufunc of C-contiguous arrays needs no finishing.
    """

    function: Callable[..., Any]
    quietly: Callable[..., Any]
    finished: Callable[[Any, Sequence[Any]], Any]


class OperatorRow:
    """A row of operators: the register of each result, the operators, and their operands.

    `first` is the number of the row's first step, `last` that of the step behind it.
    """

    def __init__(
        self, first: int, row: Sequence[tuple[int, ArrayOperator, tuple[int, ...]]]
    ) -> None:  # fmt: skip
        self.first = first
        self.last = first + len(row)
        self.row = tuple(row)
        self.runs = 0
        # What a step calls; replaced once the function is written.
        self.cell: list[Row] = [self._count_run]

    def _count_run(self, regs: list[Any]) -> int:
        self.runs += 1
        if self.runs >= _WARM:
            self.cell[0] = self._compile()
        return self.first

    def _compile(self) -> Row:
        scope: dict[str, Any] = {
            "ndarray": np.ndarray, "array": np.array, "put_back": self._put_back,
            "finished": self.row[0][1].finished,
        }  # fmt: skip
        inputs, defined = dict[int, None](), dict[int, None]()
        calls: list[str] = []
        for i, (dst, operator, operands) in enumerate(self.row):
            scope[f"f{i}"] = operator.function
            inputs.update(dict.fromkeys(r for r in operands if r not in defined))
            given = ", ".join(f"r{r}" for r in operands)
            if isinstance(operator.function, np.ufunc):
                calls.append(f"r{dst} = f{i}({given})")
                calls.append(f"if r{dst}.__class__ is not ndarray: r{dst} = array(r{dst})")
            else:
                calls.append(f"r{dst} = finished(f{i}({given}), ({given},))")
                calls.append("")
            defined[dst] = None
        tests = [f"r{r}.__class__ is ndarray and r{r}.flags.c_contiguous" for r in inputs]
        lines = [
            *(f"r{r} = regs[{r}]" for r in inputs),
            f"if not ({' and '.join(tests)}): return {self.first}",
            "try:",
            *(f"    {call}" for call in calls),
            "except Exception as error:",
            f"    return put_back(regs, locals(), error, {len(inputs) + 4})",
            *(f"regs[{r}] = r{r}" for r in defined),
            f"return {self.last}",
        ]
        text = "def block(regs):\n" + "\n".join(f"    {line}" for line in lines)
        exec(compile(text, f"{__file__}, block", "exec"), scope)
        quietly, block = self.row[0][1].quietly, scope["block"]
        return lambda regs: quietly(block, regs)

    def _put_back(
        self, regs: list[Any], values: Mapping[str, Any], error: Exception, head: int
    ) -> int:
        """The step that failed; the results before it go to their registers."""
        step = error.__traceback__
        assert step is not None
        failed = (step.tb_lineno - head) // 2
        for dst, _, _ in self.row[:failed]:
            regs[dst] = values[f"r{dst}"]
        return self.first + failed
