"""The plan of a function while it is being read: its tensors, steps and conditions so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relaxscript.arith import NO, YES, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.constant_array import in_c_order
from relaxscript.semantics.prim_func_abi import BufferParam, ScalarParam

from .plan import (
    PYTHON_NUMBERS,
    ArrayFacts,
    Chosen,
    EntryPlan,
    Given,
    Literal,
    Made,
    Number,
    Param,
    PlannedCall,
    Returned,
    ShapeValue,
    Step,
    Tensor,
    View,
    leaves_of,
    writes_arguments,
)

__all__ = [
    "TENSORS", "PlanDraft", "Unplanned", "are_equal", "bytes_of",
    "require_fitting",
]  # fmt: skip

TENSORS = Given, Made, Literal, View, Chosen


class Unplanned(Exception):
    """The function does something that no plan describes."""


@dataclass
class PlanDraft:
    """The tensors and steps of a function until now; a chosen tensor is one of two."""

    given: list[ArrayFacts] = field(default_factory=list)
    constants: list[np.ndarray[Any, Any]] = field(default_factory=list)
    made: list[ArrayFacts] = field(default_factory=list)
    views: list[tuple[Tensor, ArrayFacts]] = field(default_factory=list)
    chosen: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    equal: list[tuple[prim.PrimExpr, prim.PrimExpr]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    is_straight: bool = True  # all calls are the function's own, one after the other

    def plan(self, name: str, params: tuple[Param, ...], value: Any) -> EntryPlan:
        """The plan of a function that returns a value. Raises `Unplanned` where there is none."""
        returned = self.returned(value)
        self.require_separate(returned)
        chosen = tuple([self.facts(one) for one, _ in self.chosen])
        plan = EntryPlan(
            name, params, tuple(self.given), tuple(self.constants), tuple(self.made),
            tuple(self.views), tuple(self.equal), chosen, tuple(self.steps), returned,
        )  # fmt: skip
        # What fails after it wrote into arguments is told by the number of the call.
        if not plan.calls or (writes_arguments(plan) and not self.is_straight):
            raise Unplanned
        for call in plan.calls:
            require_fitting(plan, call)
        return plan

    # ------------------------------------------------------------ tensors

    def constant(self, data: Any) -> Literal:
        """A constant, whose elements are code's to read."""
        data = in_c_order(data)
        if not (data.dtype.isnative and data.flags.aligned):
            raise Unplanned
        self.constants.append(data.view(np.ndarray))
        return Literal(len(self.constants) - 1)

    def tensor(self, shape: Any, dtype: Any) -> Made:
        """A new tensor."""
        if not isinstance(shape, tuple) or not isinstance(dtype, DataType) or not dtype.has_numpy:
            raise Unplanned
        self.made.append(ArrayFacts(dtype, shape))
        return Made(len(self.made) - 1)

    def view(self, tensor: Any, shape: Any) -> View:
        """A tensor in another shape, which has as many elements."""
        if not isinstance(tensor, TENSORS) or not isinstance(shape, tuple):
            raise Unplanned
        facts = self.facts(tensor)
        made = ArrayFacts(facts.dtype, shape)
        self.require_equal(bytes_of(facts.shape, facts.dtype), bytes_of(shape, facts.dtype))
        self.views.append((self.root(tensor), made))
        return View(len(self.views) - 1)

    def facts(self, tensor: Tensor) -> ArrayFacts:
        """The dtype and shape of a tensor."""
        match tensor:
            case Given(index):
                return self.given[index]
            case Made(index):
                return self.made[index]
            case View(index):
                return self.views[index][1]
            case Chosen(index):
                return self.facts(self.chosen[index][0])
        return ArrayFacts.of(self.constants[tensor.index])

    def root(self, tensor: Tensor) -> Tensor:
        """The tensor whose elements these are: itself where it is no view."""
        return self.views[tensor.index][0] if isinstance(tensor, View) else tensor

    def origins(self, tensor: Tensor) -> set[Tensor]:
        """The tensors whose elements these may be, none of them a view or chosen."""
        root = self.root(tensor)
        if not isinstance(root, Chosen):
            return {root}
        one, other = self.chosen[root.index]
        return self.origins(one) | self.origins(other)

    def are_alike(self, one: Tensor, other: Tensor) -> bool:
        """True if two tensors certainly have one dtype and shape."""
        a, b = self.facts(one), self.facts(other)
        return a.dtype == b.dtype and are_equal(a.shape, b.shape)

    # ------------------------------------------------------------ conditions

    def require_equal(self, one: prim.PrimExpr, other: prim.PrimExpr) -> None:
        """Have the code test that two integers are equal, where they may be."""
        proved = prove_equal(one, other)
        if proved is NO:
            raise Unplanned
        if proved is not YES:
            self.equal.append((one, other))

    def returned(self, value: Any) -> Returned:
        """A value as it is returned: no constant, and no view of anything but what was made."""
        match value:
            case list():
                return tuple(map(self.returned, value))
            case tuple():
                return ShapeValue(value)
            case Number(number) if number.dtype in PYTHON_NUMBERS:
                return value
            case View() if all(isinstance(t, Made) for t in self.origins(value)):
                return value
            case Given() | Made():
                return value
            case Chosen(index) if not any(isinstance(t, View) for t in self.chosen[index]):
                for way in self.chosen[index]:
                    self.returned(way)
                return value
        raise Unplanned

    def require_separate(self, returned: Returned) -> None:
        """Leave functions alone that return a view and what it is of: one of them may be a copy."""
        leaves = dict.fromkeys(leaves_of(returned))
        origins = [(leaf, self.origins(leaf)) for leaf in leaves]
        counts = Counter(origin for _, found in origins for origin in found)
        for leaf, found in origins:
            if isinstance(leaf, View) and any(counts[origin] > 1 for origin in found):
                raise Unplanned


def are_equal(sizes: Sequence[prim.PrimExpr], others: Sequence[prim.PrimExpr]) -> bool:
    """True if integers are certainly equal, one by one."""
    pairs = zip(sizes, others, strict=False)
    return len(sizes) == len(others) and all(prove_equal(a, b) is YES for a, b in pairs)


def bytes_of(sizes: Sequence[prim.PrimExpr], dtype: DataType) -> prim.PrimExpr:
    """The number of bytes of a tensor."""
    product: prim.PrimExpr = prim.IntImm.make(prim.INT64, dtype.itemsize)
    for size in sizes:
        product = product * size
    return product


def require_fitting(plan: EntryPlan, call: PlannedCall) -> None:
    """Leave kernels alone that take their arguments in another way, or that never fit."""
    signature = call.kernel.signature
    if len(call.operands) != len(signature.params):
        raise Unplanned
    for i, (param, operand) in enumerate(zip(signature.params, call.operands, strict=True)):
        match param, operand:
            case ScalarParam(var=var), Number(value) if _is_passed(value.dtype, var.dtype):
                continue
            case BufferParam(buffer=buffer), Given() | Made() | Literal() | View() | Chosen():
                facts = plan.facts(operand)
                fits = facts.dtype == buffer.dtype and len(facts.shape) == buffer.ndim
                root = plan.root(operand)
                written = i in signature.written and isinstance(root, (Literal, Chosen))
                if fits and not buffer.strides and not written:
                    continue
        raise Unplanned


def _is_passed(given: DataType, wanted: DataType) -> bool:
    """True if a number is handed to a parameter of a kernel as it is."""
    if given.is_float:
        return wanted == given or (given == "float64" and wanted == "float32")
    return wanted.is_bool if given.is_bool else wanted.is_integer
