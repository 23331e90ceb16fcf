"""Reading the plan of a lowered function, where it is calls of kernels and nothing else.

_ = R.call_builtin_with_ctx("vm.builtin.match_arguments", (x,), sinfo_args=...)
alloc = R.call_packed("vm.builtin.alloc_tensor", R.shape([n, 4]), R.dtype("float32"), ...)
cls.kernel(x, R.const([1.0, 2.0, 3.0, 4.0]), alloc)
return alloc
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxscript.arith import NO, YES, prove_equal
from relaxscript.codegen.llvm import Kernel
from relaxscript.dtypes import DataType
from relaxscript.ir import prim, relax, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.op import vm
from relaxscript.op.base import compute_prim_value, shape_of
from relaxscript.op.manipulate import reshape
from relaxscript.runtime.builtins import MATCH_ARGUMENTS, MATCH_CAST
from relaxscript.semantics.check_calls import check_of
from relaxscript.semantics.fill_sets import filled_params
from relaxscript.semantics.make_closure import captured_count
from relaxscript.semantics.prim_func_abi import BufferParam, ScalarParam

from .plan import (
    ArrayFacts,
    Branch,
    Choice,
    Chosen,
    EntryPlan,
    Given,
    Literal,
    Made,
    Number,
    Param,
    PlannedCall,
    Returned,
    Scalar,
    ShapeValue,
    Step,
    Tensor,
    View,
    leaves_of,
    writes_arguments,
)
from .work import Rounds, rounds_of

__all__ = ["entry_plan", "prim_func_plan"]

# The dtypes of numbers that Python's own scalars stand for.
_TENSORS = Given, Made, Literal, View, Chosen
_PYTHON_NUMBERS = ("int64", "float64", "bool")


class _Unplanned(Exception):
    """The function does something that no plan describes."""


@dataclass(frozen=True, eq=False)
class _Storage:
    """A storage that was allocated, by the number of its elements and their dtype."""

    sizes: tuple[prim.PrimExpr, ...]
    dtype: DataType


def entry_plan(
    name: str, function: relax.Function, module: IRModule, kernels: Mapping[str, Any]
) -> EntryPlan | None:
    """The plan of a lowered function, None where it is more than calls of kernels.

    `kernels` has the callables of the module's PrimFuncs by their names.
    """
    if function.is_private or captured_count(function):
        return None
    try:
        return _PlanReader(function, module, kernels).read(name)
    except _Unplanned:
        return None


def prim_func_plan(
    name: str, function: tir.PrimFunc, kernel: Any, module: IRModule
) -> EntryPlan | None:
    """The plan of a function that hands its arguments to a kernel as they are."""
    if not isinstance(kernel, Kernel) or kernel.calls_out or kernel.returns:
        return None
    buffers = [function.buffer_map.get(param) for param in function.params]
    params = tuple([ArrayFacts(buffer.dtype, buffer.shape) for buffer in buffers if buffer])
    operands = tuple(map(Given, range(len(buffers))))
    if len(params) < len(buffers):
        return None
    rounds = rounds_of(function, module)
    call = PlannedCall(kernel, operands, frozenset(), None if rounds is None else tuple(rounds))
    plan = EntryPlan(name, operands, params, (), (), (), (), (), (call,), ())
    try:
        _require_fitting(plan, call)
    except _Unplanned:
        return None
    return plan


class _PlanReader:
    """Reads the bindings of a function in their order; `values` has what variables stand for."""

    def __init__(
        self, function: relax.Function, module: IRModule, kernels: Mapping[str, Any]
    ) -> None:
        self.function = function
        self.module = module
        self.kernels = kernels
        self.values: dict[relax.Var, Any] = {}
        self.params: tuple[Param, ...] = ()
        self.given: list[ArrayFacts] = []
        self.constants: list[np.ndarray[Any, Any]] = []
        self.made: list[ArrayFacts] = []
        self.taken: list[_Storage] = []
        self.views: list[tuple[Tensor, ArrayFacts]] = []
        self.steps: list[Step] = []
        self.chosen: list[tuple[Tensor, Tensor]] = []
        self.equal: list[tuple[prim.PrimExpr, prim.PrimExpr]] = []
        self.known_rounds: dict[str, tuple[Rounds, ...] | None] = {}

    def read(self, name: str) -> EntryPlan:
        body = self.function.body
        self.take([param.struct_info for param in self.function.params])
        returned = self.returned(self.sequence(body))
        self.require_separate(returned)
        plan = EntryPlan(
            name, self.params, tuple(self.given), tuple(self.constants), tuple(self.made),
            tuple(self.views), tuple(self.equal),
            tuple([self.facts(one) for one, _ in self.chosen]), tuple(self.steps), returned,
        )  # fmt: skip
        if not plan.calls or (len(plan.calls) > 1 and writes_arguments(plan)):
            raise _Unplanned
        for call in plan.calls:
            _require_fitting(plan, call)
        return plan

    def sequence(self, body: relax.Expr) -> Any:
        """The meaning of bindings and the value after them."""
        if not isinstance(body, relax.SeqExpr):
            raise _Unplanned
        for block in body.blocks:
            for binding in block.bindings:
                if not isinstance(binding, relax.VarBinding):
                    raise _Unplanned
                self.values[binding.var] = self.value(binding.value)
        return self.value(body.body)

    def take(self, infos: Sequence[StructInfo | None]) -> None:
        """Note what the function demands of its arguments."""
        self.given.clear()
        self.params = tuple(map(self.param, infos))
        self.values = dict(zip(self.function.params, map(_value_of, self.params), strict=True))

    def param(self, info: StructInfo | None) -> Param:
        """The parameter for a demand; numbers are of dtypes that Python has."""
        match info:
            case TensorStructInfo():
                self.given.append(_array_facts(info))
                return Given(len(self.given) - 1)
            case TupleStructInfo(fields):
                return tuple(map(self.param, fields))
            case ShapeStructInfo(values=dims, ndim=ndim) if ndim >= 0:
                return ShapeValue(
                    tuple([_unknown("int64") for _ in range(ndim)] if dims is None else dims)
                )
            case PrimStructInfo(dtype=dtype, value=None) if dtype in _PYTHON_NUMBERS:
                return Scalar(_unknown(dtype), is_size=False)
            case PrimStructInfo(dtype=dtype, value=value) if value is not None and dtype == "int64":
                return Scalar(value, is_size=isinstance(value, prim.Var))
        raise _Unplanned

    def require_separate(self, returned: Returned) -> None:
        """Leave functions alone that return a view and what it is of: one of them may be a copy."""
        leaves = set(leaves_of(returned))
        views = [leaf for leaf in leaves if isinstance(leaf, View)]
        roots = [self.views[view.index][0] for view in views]
        if any(root in leaves or roots.count(root) > 1 for root in roots):
            raise _Unplanned

    def value(self, expr: relax.Expr) -> Any:
        """The meaning of an expression: a tensor, a shape, a number, a list of values."""
        match expr:
            case relax.Var() if expr in self.values:
                return self.values[expr]
            case relax.Constant(data=data):
                return self.constant(data)
            case relax.Tuple(fields):
                return [self.value(field) for field in fields]
            case relax.TupleGetItem(tuple_value, index):
                fields = self.value(tuple_value)
                if isinstance(fields, list) and 0 <= index < len(fields):
                    return fields[index]
            case relax.Call():
                return self.call(expr)
            case relax.If():
                return self.choose(expr)
        return self.leaf(expr)

    def leaf(self, expr: relax.Expr) -> Any:
        """The meaning of a shape, a number or a dtype."""
        match expr:
            case relax.ShapeExpr(values):
                return tuple(values)
            case relax.PrimValue(value=value) if value.dtype.is_integer:
                return Number(value)
            case relax.DataTypeImm():
                return DataType(expr.value)
        raise _Unplanned

    def constant(self, data: Any) -> Literal:
        flags = data.flags
        if not (data.dtype.isnative and flags.c_contiguous and flags.aligned):
            raise _Unplanned
        self.constants.append(data.view(np.ndarray))
        return Literal(len(self.constants) - 1)

    def call(self, call: relax.Call) -> Any:
        found = check_of(call)
        if found is not None:
            return self.check(*found)
        match call.op:
            case relax.ExternFunc("vm.builtin.alloc_tensor") if len(call.args) == 2:
                shape, dtype = map(self.value, call.args)
                return self.tensor(shape, dtype)
            case relax.ExternFunc("vm.builtin.reshape") | reshape.op:
                return self.view(*map(self.value, call.args))
            case compute_prim_value.op:
                (number,) = self.value(call.args[0])
                return Number(number)
            case shape_of.op:
                return self.facts(self.tensor_of(call.args[0])).shape
            case vm.alloc_storage.op:
                return self.storage(call.args)
            case vm.alloc_tensor.op:
                return self.tensor_in_storage(call.args)
            case vm.kill_object.op:
                return ()
            case relax.GlobalVar() as callee:
                return self.kernel(callee, call.args)
        raise _Unplanned

    def check(self, name: str, values: Sequence[relax.Expr], info: StructInfo) -> tuple[()]:
        """The check of the arguments, which says what they must be, or one that surely holds."""
        if name == MATCH_CAST and self.holds(self.value(values[0]), info):
            return ()
        params = self.function.params
        same = len(values) == len(params) and all(
            value is param for value, param in zip(values, params, strict=True)
        )
        if name != MATCH_ARGUMENTS or not same or not isinstance(info, TupleStructInfo):
            raise _Unplanned
        if self.values.keys() != set(params):
            raise _Unplanned
        self.take(info.fields)
        return ()

    def holds(self, tensor: Any, info: StructInfo) -> bool:
        """True if a tensor has the dtype and shape that are demanded, which binds no variables."""
        if not isinstance(tensor, _TENSORS):
            return False
        facts, wanted = self.facts(tensor), _array_facts(info)
        sizes = zip(facts.shape, wanted.shape, strict=False)
        return (
            facts.dtype == wanted.dtype
            and len(facts.shape) == len(wanted.shape)
            and all(prove_equal(size, other) is YES for size, other in sizes)
        )

    def tensor(self, shape: Any, dtype: Any) -> Made:
        if not isinstance(shape, tuple) or not isinstance(dtype, DataType) or not dtype.has_numpy:
            raise _Unplanned
        self.made.append(ArrayFacts(dtype, shape))
        return Made(len(self.made) - 1)

    def tensor_of(self, expr: relax.Expr) -> Tensor:
        """The tensor that an expression is."""
        found = self.value(expr)
        if not isinstance(found, _TENSORS):
            raise _Unplanned
        return found

    def view(self, tensor: Any, shape: Any) -> View:
        """A tensor in another shape, which has as many elements."""
        if not isinstance(tensor, _TENSORS) or not isinstance(shape, tuple):
            raise _Unplanned
        facts = self.facts(tensor)
        root = self.views[tensor.index][0] if isinstance(tensor, View) else tensor
        made = ArrayFacts(facts.dtype, shape)
        self.require_equal(_bytes(facts.shape, facts.dtype), _bytes(shape, facts.dtype))
        self.views.append((root, made))
        return View(len(self.views) - 1)

    def require_equal(self, one: prim.PrimExpr, other: prim.PrimExpr) -> None:
        """Have the code test that two integers are equal, where they may be."""
        match prove_equal(one, other):
            case proved if proved is NO:
                raise _Unplanned
            case proved if proved is not YES:
                self.equal.append((one, other))

    def facts(self, tensor: Tensor) -> ArrayFacts:
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

    def storage(self, args: Sequence[relax.Expr]) -> _Storage:
        shape, device, dtype = map(self.value, args[:3])
        at_host = isinstance(device, Number) and _is_zero(device.value)
        if not at_host or not isinstance(shape, tuple) or not isinstance(dtype, DataType):
            raise _Unplanned
        return _Storage(shape, dtype)

    def tensor_in_storage(self, args: Sequence[relax.Expr]) -> Made:
        """A tensor that is the whole of a storage, which no other has: that is a tensor alone."""
        holder, offset, *rest = args
        storage, begin = self.value(holder), self.value(offset)
        shape, dtype = map(self.value, rest[:2])
        if not isinstance(storage, _Storage) or not isinstance(begin, Number):
            raise _Unplanned
        made = self.tensor(shape, dtype)
        same = prove_equal(_bytes(storage.sizes, storage.dtype), _bytes(shape, dtype))
        if not _is_zero(begin.value) or same is not YES or storage in self.taken:
            raise _Unplanned
        self.taken.append(storage)
        return made

    def kernel(self, callee: relax.GlobalVar, args: Sequence[relax.Expr]) -> tuple[()]:
        function = self.module[callee] if callee in self.module else None  # noqa: SIM401
        kernel = self.kernels.get(callee.name_hint)
        if not isinstance(function, tir.PrimFunc) or not isinstance(kernel, Kernel):
            raise _Unplanned
        if kernel.calls_out or kernel.returns:
            raise _Unplanned
        operands = tuple([self.value(arg) for arg in args])
        if not all(isinstance(value, (*_TENSORS, Number)) for value in operands):
            raise _Unplanned
        filled = filled_params(function, self.module) & kernel.signature.written
        whole = frozenset(o for i, o in enumerate(operands) if i in filled)
        self.steps.append(PlannedCall(kernel, operands, whole, self.rounds(callee, function)))
        return ()

    def rounds(
        self, callee: relax.GlobalVar, function: tir.PrimFunc
    ) -> tuple[Rounds, ...] | None:  # fmt: skip
        """The work of a kernel, which is counted once."""
        name = callee.name_hint
        if name not in self.known_rounds:
            found = rounds_of(function, self.module)
            self.known_rounds[name] = None if found is None else tuple(found)
        return self.known_rounds[name]

    def choose(self, choice: relax.If) -> Any:
        """The value of an `if`; where both branches make a tensor of one shape it is one tensor."""
        condition = self.value(choice.cond)
        is_tensor = isinstance(condition, _TENSORS)
        facts = self.facts(condition) if is_tensor else None
        is_number = isinstance(condition, Number) and condition.value.dtype.is_bool
        if not is_number and facts != ArrayFacts(DataType("bool"), ()):
            raise _Unplanned
        first = len(self.made)
        then, one = self.branch(choice.true_branch)
        second = len(self.made)
        otherwise, other = self.branch(choice.false_branch)
        ones, others = list(_tensors_in(one)), list(_tensors_in(other))
        same: dict[Tensor, Tensor] = {}
        for a, b in zip(ones, others, strict=False):
            own = (
                isinstance(a, Made) and isinstance(b, Made) and first <= a.index < second <= b.index
            )
            if own and ones.count(a) == others.count(b) == 1 and self.are_alike(a, b):
                same[b] = a
        otherwise = _renamed(otherwise, same)
        self.views[:] = [(same.get(root, root), facts) for root, facts in self.views]
        begin = len(self.chosen)
        value = self.join(one, other, same)
        pairs = list(enumerate(self.chosen[begin:], begin))
        branches = (
            Branch(then, tuple([(Chosen(k), a) for k, (a, _) in pairs])),
            Branch(otherwise, tuple([(Chosen(k), b) for k, (_, b) in pairs])),
        )
        self.steps.append(Choice(condition, branches))
        return value

    def branch(self, body: relax.Expr) -> tuple[tuple[Step, ...], Any]:
        """The steps of a branch and its value."""
        outer, self.steps = self.steps, []
        value = self.sequence(body)
        steps, self.steps = tuple(self.steps), outer
        return steps, value

    def join(self, one: Any, other: Any, same: Mapping[Tensor, Tensor]) -> Any:
        """The value that is one or another; `same` are tensors for which others stand."""
        match one, other:
            case list(), list() if len(one) == len(other):
                return [self.join(a, b, same) for a, b in zip(one, other, strict=True)]
            case tuple(), tuple() if _are_equal(one, other):
                return one
            case Number(a), Number(b) if a is b or (a.dtype == b.dtype and _are_equal([a], [b])):
                return one
        if not isinstance(one, _TENSORS) or not isinstance(other, _TENSORS):
            raise _Unplanned
        other = same.get(other, other)
        if one == other:
            return one
        if not self.are_alike(one, other):
            raise _Unplanned
        self.chosen.append((one, other))
        return Chosen(len(self.chosen) - 1)

    def are_alike(self, one: Tensor, other: Tensor) -> bool:
        """True if two tensors certainly have one dtype and shape."""
        a, b = self.facts(one), self.facts(other)
        return a.dtype == b.dtype and _are_equal(a.shape, b.shape)

    def is_object(self, tensor: Tensor, *kinds: type) -> bool:
        """True if a tensor is of some kinds, and a chosen one is an argument or was made here."""
        if isinstance(tensor, Chosen):
            ways = self.chosen[tensor.index]
            return Chosen in kinds and all(self.is_object(t, Given, Made, Chosen) for t in ways)
        return isinstance(tensor, kinds)

    def returned(self, value: Any) -> Returned:
        match value:
            case list():
                return tuple(map(self.returned, value))
            case tuple():
                return ShapeValue(value)
            case Number(number) if number.dtype in _PYTHON_NUMBERS:
                return value
            case View(index) if self.is_object(self.views[index][0], Made, Chosen):
                return value
            case Given() | Made() | Chosen() if self.is_object(value, Given, Made, Chosen):
                return value
        raise _Unplanned


def _tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors in a value, one as often as it is there."""
    if isinstance(value, list):
        for field in value:
            yield from _tensors_in(field)
    elif isinstance(value, _TENSORS):
        yield value


def _renamed(steps: Sequence[Step], same: Mapping[Tensor, Tensor]) -> tuple[Step, ...]:
    """Steps with other tensors in the place of some."""

    def new(thing: Any) -> Any:
        return same.get(thing, thing)

    found = list[Step]()
    for step in steps if same else ():
        if isinstance(step, PlannedCall):
            operands, filled = tuple(map(new, step.operands)), frozenset(map(new, step.filled))
            found.append(PlannedCall(step.kernel, operands, filled, step.rounds))
            continue
        ways = [
            Branch(_renamed(way.steps, same), tuple([(j, new(leaf)) for j, leaf in way.results]))
            for way in step.branches
        ]
        found.append(Choice(new(step.condition), (ways[0], ways[1])))
    return tuple(found) if same else tuple(steps)


def _are_equal(sizes: Sequence[prim.PrimExpr], others: Sequence[prim.PrimExpr]) -> bool:
    """True if integers are certainly equal, one by one."""
    pairs = zip(sizes, others, strict=False)
    return len(sizes) == len(others) and all(prove_equal(a, b) is YES for a, b in pairs)


def _unknown(dtype: str) -> prim.Var:
    """A variable for a number of which nothing is known."""
    return prim.Var("number", DataType(dtype))


def _value_of(param: Param) -> Any:
    """The meaning of a parameter in expressions."""
    match param:
        case tuple():
            return list(map(_value_of, param))
        case Scalar(value=value):
            return Number(value)
        case ShapeValue(dims):
            return dims
    return param


def _array_facts(info: StructInfo | None) -> ArrayFacts:
    """The demand on a tensor: to be on the host, of known dtype and shape."""
    if not isinstance(info, TensorStructInfo) or info.dims is None or not info.dtype.has_numpy:
        raise _Unplanned
    if info.vdevice is not None and info.vdevice.vdevice_id != 0:
        raise _Unplanned
    return ArrayFacts(info.dtype, tuple(info.dims))


def _require_fitting(plan: EntryPlan, call: PlannedCall) -> None:
    """Leave kernels alone that take their arguments in another way, or that never fit."""
    signature = call.kernel.signature
    if len(call.operands) != len(signature.params):
        raise _Unplanned
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
        raise _Unplanned


def _is_passed(given: DataType, wanted: DataType) -> bool:
    """True if a number is handed to a parameter of a kernel as it is."""
    if given == "float64":
        return wanted in ("float32", "float64")
    return wanted.is_bool if given.is_bool else wanted.is_integer


def _bytes(sizes: Sequence[prim.PrimExpr], dtype: DataType) -> prim.PrimExpr:
    product: prim.PrimExpr = prim.IntImm.make(prim.INT64, dtype.itemsize)
    for size in sizes:
        product = product * size
    return product


def _is_zero(value: prim.PrimExpr) -> bool:
    return isinstance(value, prim.IntImm) and value.value == 0
