"""Plans of Relax functions that are calls of kernels and nothing else, as data.

A plan is for a lowered function that does no more than this: it checks its arguments and makes
tensors. It calls compiled PrimFuncs on these and on constants. It returns tensors, shapes and
numbers, and tuples of them. `plan_reader.py` finds out what the plan of a function is.

Who follows a plan accepts only arguments that fit at first sight, and hands
all others to the machine: so a plan may ask for more than the function does, never for less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxscript.codegen.llvm import Kernel
from relaxscript.dtypes import DataType, result_dtype
from relaxscript.ir import prim

from .work import Rounds

__all__ = [
    "PYTHON_NUMBERS",
    "ArrayFacts",
    "Branch",
    "Choice",
    "Chosen",
    "EntryPlan",
    "Given",
    "Literal",
    "Made",
    "Number",
    "Param",
    "PlannedCall",
    "Returned",
    "Scalar",
    "ShapeValue",
    "Step",
    "Tensor",
    "View",
    "chosen_tensors",
    "leaves_of",
    "uses_of",
    "writes_arguments",
    "written_tensors",
]


# The dtypes of numbers that Python's own scalars stand for; others are in a `Prim`.
PYTHON_NUMBERS = ("int64", "float64", "bool")


@dataclass(frozen=True)
class Given:
    """Tensor number `index` of those in the arguments of the function."""

    index: int


@dataclass(frozen=True)
class Made:
    """Tensor number `index` of those that the function makes."""

    index: int


@dataclass(frozen=True)
class Literal:
    """Constant number `index` of the plan."""

    index: int


@dataclass(frozen=True)
class View:
    """View number `index`: the elements of another tensor in another shape."""

    index: int


@dataclass(frozen=True)
class Chosen:
    """Tensor number `index` of those that are one tensor or another, as an `if` goes."""

    index: int


@dataclass(frozen=True)
class Number:
    """An integer that variables determine, or a variable of another dtype itself."""

    value: prim.PrimExpr


@dataclass(frozen=True)
class Scalar:
    """A parameter that is a number; a value that nothing says is a variable of its own.

    A number that is a size is at least 0.
    """

    value: prim.PrimExpr
    is_size: bool


@dataclass(frozen=True)
class ShapeValue:
    """A shape, as a parameter or a result."""

    dims: tuple[prim.PrimExpr, ...]


Tensor = Given | Made | Literal | View | Chosen
# What a function is given for a parameter: tensors, numbers, shapes, and tuples of these.
Param = Given | Scalar | ShapeValue | tuple[Any, ...]
# The value that a function returns: the same, and what it made.
Returned = Given | Made | View | Chosen | Number | ShapeValue | tuple[Any, ...] | None


@dataclass(frozen=True)
class ArrayFacts:
    """The dtype and shape of a tensor; shapes are in terms of the function's shape variables."""

    dtype: DataType
    shape: tuple[prim.PrimExpr, ...]

    @classmethod
    def of(cls, data: np.ndarray[Any, Any]) -> ArrayFacts:
        """The facts of an array."""
        shape = tuple(prim.IntImm.make(prim.INT64, size) for size in data.shape)
        return cls(result_dtype(data), shape)


@dataclass(frozen=True)
class PlannedCall:
    """A call of a kernel on operands, in the order of its parameters.

    It may write into those that are `written`, and writes every element of those that are `filled`.
    Its innermost statements run so many `rounds`, None where that is not known.
    """

    kernel: Kernel
    operands: tuple[Tensor | Number, ...]
    filled: frozenset[Tensor | Number]
    rounds: tuple[Rounds, ...] | None

    @property
    def written(self) -> frozenset[Tensor | Number]:
        """The operands that the kernel may write into."""
        return frozenset(self.operands[i] for i in self.kernel.signature.written)


@dataclass(frozen=True)
class Branch:
    """One way of an `if`: its steps, and the tensors that the chosen ones are then."""

    steps: tuple[Step, ...]
    results: tuple[tuple[Chosen, Tensor], ...]


@dataclass(frozen=True)
class Choice:
    """An `if`: the first branch where the condition holds, else the second.

    The condition is a tensor of one bool, or a number that is a bool.
    """

    condition: Tensor | Number
    branches: tuple[Branch, Branch]


Step = PlannedCall | Choice


@dataclass(frozen=True)
class EntryPlan:
    """A function that is calls of kernels: what it takes and makes, its steps, what it returns.

    The facts of tensors are by their numbers. A view is what it is of, which is no view, and its
    own dtype and shape. The integers of each pair in `equal` must be equal.
    """

    name: str
    params: tuple[Param, ...]
    given: tuple[ArrayFacts, ...]
    constants: tuple[np.ndarray[Any, Any], ...]
    made: tuple[ArrayFacts, ...]
    views: tuple[tuple[Tensor, ArrayFacts], ...]
    equal: tuple[tuple[prim.PrimExpr, prim.PrimExpr], ...]
    chosen: tuple[ArrayFacts, ...]
    steps: tuple[Step, ...]
    returned: Returned

    @property
    def calls(self) -> tuple[PlannedCall, ...]:
        """All calls in the order in which they are written, those in branches included."""
        return tuple(_calls_in(self.steps))

    def facts(self, tensor: Tensor) -> ArrayFacts:
        """The dtype and shape of a tensor of the plan."""
        match tensor:
            case Given(index):
                return self.given[index]
            case Made(index):
                return self.made[index]
            case View(index):
                return self.views[index][1]
            case Chosen(index):
                return self.chosen[index]
        return ArrayFacts.of(self.constants[tensor.index])

    def root(self, tensor: Tensor) -> Tensor:
        """The tensor whose elements these are: itself where it is no view."""
        return self.views[tensor.index][0] if isinstance(tensor, View) else tensor


def _calls_in(steps: Iterable[Step]) -> Iterator[PlannedCall]:
    for step in steps:
        if isinstance(step, PlannedCall):
            yield step
        else:
            for branch in step.branches:
                yield from _calls_in(branch.steps)


def uses_of(plan: EntryPlan, step: Step) -> set[Tensor]:
    """The tensors whose elements a step needs or writes, none of them a view."""
    if isinstance(step, PlannedCall):
        return {plan.root(o) for o in step.operands if not isinstance(o, Number)}
    used = set() if isinstance(step.condition, Number) else {plan.root(step.condition)}
    for branch in step.branches:
        used.update(*(uses_of(plan, inner) for inner in branch.steps))
        used.update(plan.root(leaf) for _, leaf in branch.results)
    return used


def chosen_tensors(plan: EntryPlan, steps: Iterable[Step]) -> set[Tensor]:
    """The tensors that chosen ones may be, none of them a view."""
    found = set[Tensor]()
    for step in steps:
        for branch in step.branches if isinstance(step, Choice) else ():
            found |= {plan.root(leaf) for _, leaf in branch.results}
            found |= chosen_tensors(plan, branch.steps)
    return found


def leaves_of(returned: Any) -> Iterator[Given | Made | View | Chosen]:
    """The tensors in a value that is returned, one as often as it is there."""
    if isinstance(returned, tuple):
        for field in returned:
            yield from leaves_of(field)
    elif returned is not None and not isinstance(returned, (Number, ShapeValue)):
        yield returned


def writes_arguments(plan: EntryPlan, calls: Iterable[PlannedCall] | None = None) -> bool:
    """True if some calls, or any, write into arguments: these must not run twice then."""
    return any(isinstance(written, Given) for written in written_tensors(plan, calls))


def written_tensors(plan: EntryPlan, calls: Iterable[PlannedCall] | None = None) -> set[Tensor]:
    """The tensors into which some calls write, or any, none of them a view."""
    chosen = plan.calls if calls is None else calls
    written = [operand for call in chosen for operand in call.written]
    return {plan.root(operand) for operand in written if not isinstance(operand, Number)}
