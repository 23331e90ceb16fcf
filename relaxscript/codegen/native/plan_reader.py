"""Reading the plan of a lowered function, where it is calls of kernels and nothing else.

    _ = R.call_builtin_with_ctx("vm.builtin.match_arguments", (x,), sinfo_args=...)
    alloc = R.call_packed("vm.builtin.alloc_tensor", R.shape([n, 4]), R.dtype("float32"), ...)
    cls.kernel(x, R.const([1.0, 2.0, 3.0, 4.0]), alloc)
    return alloc

A call of another function of the module is read as the bindings of that function. The arguments say
what its shape variables are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relaxscript.arith import YES, prove_equal
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
from relaxscript.ir.walk import substitute
from relaxscript.op import vm
from relaxscript.op.base import compute_prim_value, shape_of
from relaxscript.op.manipulate import reshape
from relaxscript.runtime.builtins import MATCH_ARGUMENTS, MATCH_CAST, MATCH_RESULT
from relaxscript.semantics.check_calls import check_of
from relaxscript.semantics.fill_sets import filled_params
from relaxscript.semantics.make_closure import captured_count

from .branches import BranchDraft, add_choice
from .plan import (
    PYTHON_NUMBERS,
    ArrayFacts,
    EntryPlan,
    Given,
    Made,
    Number,
    Param,
    PlannedCall,
    Scalar,
    ShapeValue,
)
from .plan_draft import (
    TENSORS,
    PlanDraft,
    Unplanned,
    bytes_of,
    require_fitting,
)
from .work import Rounds, rounds_of

__all__ = ["ModuleKernels", "entry_plan", "prim_func_plan"]

# So many functions are read in the place of calls of them for one plan, and so many calls of
# kernels in a module: what would be longer is left to the machine.
_MOST_FUNCTIONS, _MOST_CALLS = 32, 10_000


@dataclass
class ModuleKernels:
    """A lowered module and the callables of its PrimFuncs by their names, for all of its plans."""

    module: IRModule
    kernels: Mapping[str, Any]
    calls_left: int = _MOST_CALLS
    known_rounds: dict[str, tuple[Rounds, ...] | None] = field(default_factory=dict)

    def rounds(self, name: str, function: tir.PrimFunc) -> tuple[Rounds, ...] | None:
        """The work of a kernel, which is counted once."""
        if name not in self.known_rounds:
            found = rounds_of(function, self.module)
            self.known_rounds[name] = None if found is None else tuple(found)
        return self.known_rounds[name]


@dataclass(frozen=True, eq=False)
class _Storage:
    """A storage that was allocated, by the number of its elements and their dtype."""

    sizes: tuple[prim.PrimExpr, ...]
    dtype: DataType


def entry_plan(name: str, function: relax.Function, source: ModuleKernels) -> EntryPlan | None:
    """The plan of a lowered function, None where it is more than calls of kernels."""
    if function.is_private or captured_count(function):
        return None
    draft = PlanDraft()
    try:
        reader = _FunctionReader(function, source, draft, [])
        reader.take([param.struct_info for param in function.params])
        value = reader.sequence(function.body)
        return draft.plan(name, reader.params, value)
    except Unplanned:
        return None


def prim_func_plan(name: str, function: tir.PrimFunc, source: ModuleKernels) -> EntryPlan | None:
    """The plan of a function that hands its arguments to a kernel as they are, and gives None.

    `name` is that of the function in the module.
    """
    kernel = source.kernels[name]
    if not isinstance(kernel, Kernel) or kernel.calls_out or kernel.returns:
        return None
    buffers = [function.buffer_map.get(param) for param in function.params]
    params = tuple([ArrayFacts(buffer.dtype, buffer.shape) for buffer in buffers if buffer])
    operands = tuple(map(Given, range(len(buffers))))
    if len(params) < len(buffers):
        return None
    call = PlannedCall(kernel, operands, frozenset(), source.rounds(name, function))
    plan = EntryPlan(name, operands, params, (), (), (), (), (), (call,), None)
    try:
        require_fitting(plan, call)
    except Unplanned:
        return None
    return plan


class _FunctionReader:
    """Reads the bindings of a function in their order; `values` has what variables stand for.

    `sizes` are shape variables of the function in terms of those of the entry, `known` the
    variables of the entry. `callers` are the functions in which the function is read, and
    `read` all that were read.
    """

    def __init__(
        self, function: relax.Function, source: ModuleKernels, draft: PlanDraft,
        read: list[relax.Function], callers: tuple[relax.Function, ...] = (),
    ) -> None:  # fmt: skip
        self.function = function
        self.source = source
        self.draft = draft
        self.read = read
        self.callers = callers
        self.values: dict[relax.Var, Any] = {}
        self.sizes: dict[prim.Var, prim.PrimExpr] = {}
        self.known: set[prim.PrimExpr] = set()
        self.params: tuple[Param, ...] = ()
        self.taken: list[_Storage] = []

    def sequence(self, body: relax.Expr) -> Any:
        """The meaning of bindings and the value after them."""
        if not isinstance(body, relax.SeqExpr):
            raise Unplanned
        for block in body.blocks:
            for binding in block.bindings:
                value = self.values[binding.var] = self.value(binding.value)
                if isinstance(binding, relax.MatchCast):
                    self.fit([(value, binding.struct_info)])
        return self.value(body.body)

    # ------------------------------------------------------------ parameters

    def take(self, infos: Sequence[StructInfo | None]) -> None:
        """Note what the entry demands of its arguments."""
        self.draft.given.clear()
        self.params = tuple(map(self.param, infos))
        self.values = dict(zip(self.function.params, map(_value_of, self.params), strict=True))

    def param(self, info: StructInfo | None) -> Param:
        """The parameter for a demand."""
        match info:
            case TensorStructInfo():
                facts = _array_facts(info)
                self.known.update(facts.shape)
                self.draft.given.append(facts)
                return Given(len(self.draft.given) - 1)
            case TupleStructInfo(fields):
                return tuple(map(self.param, fields))
            case ShapeStructInfo(values=None, ndim=ndim) if ndim >= 0:
                return ShapeValue(tuple([_unknown("int64") for _ in range(ndim)]))
            case ShapeStructInfo(values=tuple(dims)):
                self.known.update(dims)
                return ShapeValue(dims)
            case PrimStructInfo(dtype=dtype, value=None) if _is_number(dtype):
                return Scalar(_unknown(dtype), is_size=False)
            case PrimStructInfo(dtype=dtype, value=value) if value is not None and dtype == "int64":
                self.known.add(value)
                return Scalar(value, is_size=isinstance(value, prim.Var))
        raise Unplanned

    def fit(self, pairs: Sequence[tuple[Any, StructInfo | None]]) -> None:
        """Have values be what is demanded of them, which binds variables that are new.

        As when the program runs, all variables are bound before any size is compared.
        """
        later: list[tuple[prim.PrimExpr, prim.PrimExpr]] = []
        for value, info in pairs:
            self.bind(value, info, later)
        for demand, size in later:
            self.draft.require_equal(self.own(demand), size)

    def bind(
        self, value: Any, info: StructInfo | None, later: list[tuple[prim.PrimExpr, prim.PrimExpr]]
    ) -> None:
        """Take the values of variables out of a value; `later` are sizes to be compared."""
        match info:
            case TensorStructInfo() if isinstance(value, TENSORS):
                facts, wanted = self.draft.facts(value), _array_facts(info)
                if facts.dtype != wanted.dtype:
                    raise Unplanned
                self.bind_sizes(facts.shape, wanted.shape, later)
            case ShapeStructInfo(values=dims, ndim=ndim) if isinstance(value, tuple):
                if dims is not None:
                    self.bind_sizes(value, dims, later)
                elif ndim not in (-1, len(value)):
                    raise Unplanned
            case TupleStructInfo(fields) if isinstance(value, list) and len(value) == len(fields):
                for one, part in zip(value, fields, strict=True):
                    self.bind(one, part, later)
            case PrimStructInfo(dtype=dtype, value=None) if isinstance(value, Number):
                if value.value.dtype != dtype:
                    raise Unplanned
            case _:
                raise Unplanned

    def bind_sizes(
        self, sizes: Sequence[prim.PrimExpr], demands: Sequence[prim.PrimExpr],
        later: list[tuple[prim.PrimExpr, prim.PrimExpr]],
    ) -> None:  # fmt: skip
        if len(sizes) != len(demands):
            raise Unplanned
        for size, demand in zip(sizes, demands, strict=True):
            bound = demand in self.known or demand in self.sizes
            if isinstance(demand, prim.Var) and not bound:
                self.sizes[demand] = size
            elif demand is not size:
                later.append((demand, size))

    def own(self, size: prim.PrimExpr) -> prim.PrimExpr:
        """An integer in the variables of the entry."""
        if not self.sizes or isinstance(size, prim.IntImm):
            return size
        made: prim.PrimExpr = substitute(size, self.sizes)
        return made

    # ------------------------------------------------------------ expressions

    def value(self, expr: relax.Expr) -> Any:
        """The meaning of an expression: a tensor, a shape, a number, a list of values."""
        match expr:
            case relax.Var() if expr in self.values:
                return self.values[expr]
            case relax.Constant(data=data):
                return self.draft.constant(data)
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
                return tuple(map(self.own, values))
            case relax.PrimValue(value=value) if value.dtype.is_integer:
                return Number(self.own(value))
            case relax.DataTypeImm():
                return DataType(expr.value)
        raise Unplanned

    def call(self, call: relax.Call) -> Any:
        """The meaning of a call, whose effect is a step."""
        found = check_of(call)
        if found is not None:
            return self.check(*found)
        match call.op:
            case relax.ExternFunc("vm.builtin.reshape") | reshape.op:
                return self.draft.view(*map(self.value, call.args))
            case compute_prim_value.op:
                (number,) = self.value(call.args[0])
                return Number(number)
            case shape_of.op:
                tensor = self.value(call.args[0])
                if isinstance(tensor, TENSORS):
                    return self.draft.facts(tensor).shape
            case relax.GlobalVar() as callee if callee in self.source.module:
                return self.call_of(callee.name_hint, self.source.module[callee], call.args)
        return self.memory(call)

    def check(self, name: str, values: Sequence[relax.Expr], info: StructInfo) -> list[Any]:
        """A check of a value, or that of the arguments, which says what they must be; unit."""
        if name in (MATCH_CAST, MATCH_RESULT):
            self.fit([(self.value(values[0]), info)])
            return []
        params = self.function.params
        same = len(values) == len(params) and all(
            value is param for value, param in zip(values, params, strict=True)
        )
        if name != MATCH_ARGUMENTS or not same or not isinstance(info, TupleStructInfo):
            raise Unplanned
        if self.callers:
            self.fit([(self.value(v), one) for v, one in zip(values, info.fields, strict=True)])
        elif self.values.keys() == set(params):
            self.take(info.fields)
        else:
            raise Unplanned
        return []

    # ------------------------------------------------------------ memory

    def memory(self, call: relax.Call) -> Any:
        """A new tensor or storage, or the end of one."""
        match call.op:
            case relax.ExternFunc("vm.builtin.alloc_tensor") if len(call.args) == 2:
                return self.draft.tensor(*map(self.value, call.args))
            case vm.alloc_storage.op:
                return self.storage(call.args)
            case vm.alloc_tensor.op:
                return self.tensor_in_storage(call.args)
            case vm.kill_object.op:
                return []
        raise Unplanned

    def storage(self, args: Sequence[relax.Expr]) -> _Storage:
        """A storage on the host."""
        shape, device, dtype = map(self.value, args[:3])
        at_host = isinstance(device, Number) and _is_zero(device.value)
        if not at_host or not isinstance(shape, tuple) or not isinstance(dtype, DataType):
            raise Unplanned
        return _Storage(shape, dtype)

    def tensor_in_storage(self, args: Sequence[relax.Expr]) -> Made:
        """A tensor that is the whole of a storage, which no other has: that is a tensor alone."""
        holder, offset, *rest = args
        storage, begin = self.value(holder), self.value(offset)
        shape, dtype = map(self.value, rest[:2])
        if not isinstance(storage, _Storage) or not isinstance(begin, Number):
            raise Unplanned
        made = self.draft.tensor(shape, dtype)
        same = prove_equal(bytes_of(storage.sizes, storage.dtype), bytes_of(shape, dtype))
        if not _is_zero(begin.value) or same is not YES or storage in self.taken:
            raise Unplanned
        self.taken.append(storage)
        return made

    # ------------------------------------------------------------ steps

    def choose(self, choice: relax.If) -> Any:
        """The value of an `if` on a bool, which is a tensor of rank 0 or a number."""
        condition = self.value(choice.cond)
        is_number = isinstance(condition, Number) and condition.value.dtype.is_bool
        if not is_number:
            if not isinstance(condition, TENSORS):
                raise Unplanned
            facts = self.draft.facts(condition)
            if not facts.dtype.is_bool or facts.shape:
                raise Unplanned
        then, otherwise = map(self.branch, (choice.true_branch, choice.false_branch))
        return add_choice(self.draft, condition, then, otherwise)

    def branch(self, body: relax.Expr) -> BranchDraft:
        """The steps of a branch and its value."""
        draft, first = self.draft, len(self.draft.made)
        outer, draft.steps = draft.steps, []
        value = self.sequence(body)
        steps, draft.steps = tuple(draft.steps), outer
        return BranchDraft(steps, value, range(first, len(draft.made)))

    def call_of(self, name: str, callee: object, args: Sequence[relax.Expr]) -> Any:
        """The meaning of a call of a function of the module."""
        values = [self.value(arg) for arg in args]
        match callee:
            case tir.PrimFunc():
                return self.kernel(name, callee, values)
            case relax.Function() if len(values) == len(callee.params):
                return self.inside(callee, values)
        raise Unplanned

    def inside(self, callee: relax.Function, values: Sequence[Any]) -> Any:
        """The value of a call of a function, whose steps are part of this plan."""
        callers = (*self.callers, self.function)
        if callee in callers or captured_count(callee) or len(self.read) >= _MOST_FUNCTIONS:
            raise Unplanned
        self.read.append(callee)
        self.draft.is_straight = False
        reader = _FunctionReader(callee, self.source, self.draft, self.read, callers)
        reader.values = dict(zip(callee.params, values, strict=True))
        infos = [param.struct_info for param in callee.params]
        reader.fit(list(zip(values, infos, strict=True)))
        return reader.sequence(callee.body)

    def kernel(self, name: str, function: tir.PrimFunc, values: Sequence[Any]) -> list[Any]:
        """The call of a kernel, whose value is unit."""
        kernel = self.source.kernels.get(name)
        if not isinstance(kernel, Kernel) or kernel.calls_out or kernel.returns:
            raise Unplanned
        if self.callers:
            self.source.calls_left -= 1
            if self.source.calls_left < 0:
                raise Unplanned
        operands = tuple(values)
        if not all(isinstance(value, (*TENSORS, Number)) for value in operands):
            raise Unplanned
        filled = filled_params(function, self.source.module) & kernel.signature.written
        whole = frozenset(o for i, o in enumerate(operands) if i in filled)
        rounds = self.source.rounds(name, function)
        self.draft.steps.append(PlannedCall(kernel, operands, whole, rounds))
        return []


def _is_number(dtype: DataType) -> bool:
    """True if 64 bits of an integer, or a double, hold a scalar of a dtype."""
    return dtype in (*PYTHON_NUMBERS, "float32") or (dtype.is_integer and dtype.bits <= 32)


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
        raise Unplanned
    if info.vdevice is not None and info.vdevice.vdevice_id != 0:
        raise Unplanned
    return ArrayFacts(info.dtype, tuple(info.dims))


def _is_zero(value: prim.PrimExpr) -> bool:
    return isinstance(value, prim.IntImm) and value.value == 0
