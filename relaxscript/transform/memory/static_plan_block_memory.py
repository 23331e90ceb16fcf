"""StaticPlanBlockMemory: tensors that do not live at the same time share a storage.

`_FunctionPlan` goes through a function in the order of its evaluation. It decides for each tensor
in which storage it lies. `_Pool` has the storages that are free at a point of it. When all is
decided, and the sizes of all storages are known, the function is written again.
"""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass, field

from relaxscript.analysis import Context
from relaxscript.analysis.memory_usage import bytes_of_tensor
from relaxscript.arith import YES, prove, prove_equal
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, LE, IntImm, PrimExpr, const, match_dtypes
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    If,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.ir.walk import compounds, rewrite_compounds
from relaxscript.op import builtin, memory
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .kernels import Kernels
from .liveness import Lifetimes
from .size_bounds import SizeBounds, has_bounds

__all__ = ["StaticPlanBlockMemory"]

_ALLOC = builtin.alloc_tensor.name
_OBJECT = ObjectStructInfo()
_ZERO = PrimValue.make(const(0, "int64"))
# A tensor takes no storage that is so many times as large: a larger one will want that.
_RATIO = 16
# So many storages of symbolic size are asked for one that suffices, the last freed ones first.
_TRIES = 16


class StaticPlanBlockMemory(ModulePass):
    """Put tensors that do not live at the same time into one storage.

    Before:

        a = R.builtin.alloc_tensor(R.shape([n, 4]), R.dtype("float32"), R.prim_value(0))
        cls.exp(x, a)
        b = R.builtin.alloc_tensor(R.shape([n, 4]), R.dtype("float32"), R.prim_value(0))
        cls.exp(a, b)
        c = R.builtin.alloc_tensor(R.shape([n, 2]), R.dtype("float32"), R.prim_value(0))
        cls.half(b, c)
        d = R.builtin.alloc_tensor(R.shape([n, 2]), R.dtype("float32"), R.prim_value(0))
        cls.exp_2(c, d)
        return d

    After:

        storage = R.memory.alloc_storage(R.shape([n * 16]), R.prim_value(0), "global", "float32")
        a = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n, 4]), R.dtype("float32"))
        cls.exp(x, a)
        storage_1 = R.memory.alloc_storage(R.shape([n * 16]), R.prim_value(0), "global", "float32")
        b = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([n, 4]), R.dtype("float32"))
        cls.exp(a, b)
        c = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n, 2]), R.dtype("float32"))
        cls.half(b, c)
        d = R.builtin.alloc_tensor(R.shape([n, 2]), R.dtype("float32"), R.prim_value(0))
        cls.exp_2(c, d)
        return d

    A tensor is planned where nobody has it when the function ends. What reaches a packed function,
    a closure, another function, a result or an object stays as it is. The same holds for what a
    branch of an `if` gives. After the last use of what lies there, a storage is used again for what
    is proved no larger. Where no storage is large enough, one of known size grows.

    A new tensor is zero, and a storage that is used again is not. So what is put there is first
    used by a PrimFunc that is proved to write all of it. Other tensors are the first in a storage
    of their own.

    Sizes may be symbolic. The attribute `tir_var_upper_bound` of a function promises the largest
    values of variables, so that sizes of these are known: `{"n": 2048}`. A call that breaks the
    promise fails where it allocates. Scalars that are not negative are named in
    `tir_non_negative_var`; dimensions never are.

    Raises `DiagnosticError` (RX0703) for a bound that is no positive integer. Warns of names that
    are no variables of the function. Source: TVM `relax.transform.StaticPlanBlockMemory`.
    """

    changes_signatures = True
    required = ("CallTIRRewrite",)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        kernels, context = Kernels(mod), Context(mod)
        changed = {}
        for var, function in mod.relax_functions().items():
            plan: _Plan = {}
            if has_bounds(function) or any(map(_is_allocation, compounds(function))):
                bounds = SizeBounds(function, var.name_hint)
                for node in compounds(function):
                    if isinstance(node, Function):
                        plan.update(_FunctionPlan(node, kernels, context, bounds).plan)
            if plan:
                changed[var] = _write(function, plan)
        if not changed:
            return mod
        made = mod.clone()
        for var, function in changed.items():
            made[var] = function
        return made


def _is_allocation(node: object) -> bool:
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == _ALLOC


@dataclass(eq=False)
class _Storage:
    """A storage: where it is, its bytes as far as they are decided, and its first tensor."""

    place: tuple[int, str]
    size: PrimExpr
    first: Var
    var: Var = field(default_factory=lambda: Var.make("storage", _OBJECT))
    in_scope: bool = True


_Plan = dict[Var, _Storage]


class _Pool:
    """The storages of one place that are free; those out of scope are passed by."""

    def __init__(self) -> None:
        self._order = itertools.count()
        # By the number of their bytes; those of one size in the order in which they were freed.
        self._known: list[tuple[int, int, _Storage]] = []
        self._symbolic: dict[_Storage, None] = {}

    def put(self, storage: _Storage) -> None:
        """Take a storage that is free now."""
        if isinstance(storage.size, IntImm):
            bisect.insort(self._known, (storage.size.value, next(self._order), storage))
        else:
            self._symbolic[storage] = None

    def take(self, size: PrimExpr, bounds: SizeBounds) -> _Storage | None:
        """A storage that is large enough, None where there is none."""
        if isinstance(size, IntImm):
            return self._take_known(size.value)
        tried: list[_Storage] = []
        while self._symbolic and len(tried) < _TRIES:
            storage, _ = self._symbolic.popitem()
            if storage.in_scope:
                tried.append(storage)
        fits = next((s for s in tried if _is_equal(size, s.size, bounds)), None)
        if fits is None:
            fits = next((s for s in tried if _is_no_larger(size, s.size, bounds)), None)
        self._symbolic.update((s, None) for s in reversed(tried) if s is not fits)
        return fits

    def _take_known(self, size: int) -> _Storage | None:
        while True:
            at = bisect.bisect_left(self._known, (size,))
            if at < len(self._known) and self._known[at][0] <= size * _RATIO:
                storage = self._known.pop(at)[2]
            elif at and self._known[at - 1][0] * _RATIO >= size:
                storage = self._known.pop(at - 1)[2]
            else:
                return None
            if storage.in_scope:
                assert isinstance(storage.size, IntImm)
                if size > storage.size.value:
                    storage.size = const(size, INT64)
                return storage


def _is_equal(size: PrimExpr, other: PrimExpr, bounds: SizeBounds) -> bool:
    return size is other or prove_equal(*match_dtypes(size, other), bounds.facts) is YES


def _is_no_larger(size: PrimExpr, other: PrimExpr, bounds: SizeBounds) -> bool:
    return prove(LE.make(*match_dtypes(size, other)), bounds.facts) is YES


class _FunctionPlan:
    """The storage of each tensor that a function allocates and that is planned."""

    def __init__(
        self, func: Function, kernels: Kernels, context: Context, bounds: SizeBounds
    ) -> None:
        self.kernels, self.context, self.bounds = kernels, context, bounds
        self.plan: _Plan = {}
        # By dtypes and the identities of dimensions, which the function keeps alive.
        self._sizes: dict[tuple[object, ...], PrimExpr | None] = {}
        if not isinstance(func.body, SeqExpr):
            return
        self.lifetimes = lifetimes = Lifetimes(func, kernels)
        self.homes = lifetimes.homes()
        kept = {lifetimes.group(var) for var in lifetimes.handed_on}
        self.kept = kept | lifetimes.lasting()
        self.ends: dict[Var, list[Var]] = {}
        for root, last in lifetimes.last_uses(self.homes).items():
            self.ends.setdefault(last, []).append(root)
        self.first_uses = self._first_uses()
        self.pools: dict[tuple[int, str], _Pool] = {}
        self.held: dict[Var, list[_Storage]] = {}  # by the groups whose tensors are in there
        self._visit(func.body)

    def _first_uses(self) -> dict[Var, Binding]:
        """For a variable, the first binding in its own scope that mentions it.

        A branch is part of the binding of the `if`.
        """
        found: dict[Var, Binding] = {}
        for seq, binding, used in self.lifetimes.uses:
            for var in used:
                if self.lifetimes.scopes.get(var, (0, None))[1] is seq:
                    found.setdefault(var, binding)
        return found

    def _visit(self, seq: SeqExpr) -> None:
        created: list[_Storage] = []
        for block in seq.blocks:
            for binding in block.bindings:
                if isinstance(binding.value, If):
                    for branch in (binding.value.true_branch, binding.value.false_branch):
                        if isinstance(branch, SeqExpr):
                            self._visit(branch)
                elif not isinstance(block, DataflowBlock):
                    self._allocate(binding, seq, created)
                for root in self.ends.get(binding.var, ()):
                    for storage in self.held.pop(root, ()):
                        self.pools[storage.place].put(storage)
        for storage in created:
            storage.in_scope = False

    def _allocate(self, binding: Binding, seq: SeqExpr, created: list[_Storage]) -> None:
        """Decide where the tensor of a binding lies, if it is one to be planned."""
        found = _allocation(binding)
        if found is None:
            return
        root = self.lifetimes.group(binding.var)
        if root in self.kept or self.homes[root] is not seq:
            return
        shape, dtype, place = found
        size = self._bytes(shape, dtype)
        if size is None:
            return
        pool = self.pools.setdefault(place, _Pool())
        storage = pool.take(size, self.bounds) if self._is_overwritten(binding.var) else None
        if storage is None:
            storage = _Storage(place, size, binding.var)
            created.append(storage)
        self.held.setdefault(root, []).append(storage)
        self.plan[binding.var] = storage

    def _bytes(self, shape: Expr, dtype: Expr) -> PrimExpr | None:
        """The bytes that a tensor takes at most: one object for the same dimensions.

        The arithmetic costs more than all else that is done for a tensor, and layers repeat shapes.
        """
        dims = shape.values if isinstance(shape, ShapeExpr) else (shape,)
        key = (dtype.value if isinstance(dtype, DataTypeImm) else id(dtype), *map(id, dims))
        if key not in self._sizes:
            size = bytes_of_tensor(shape, dtype, self.context)
            most = None if size is None else self.bounds.most(size)
            if most is not None:
                size = const(max(most, 0), INT64)
            self._sizes[key] = size
        return self._sizes[key]

    def _is_overwritten(self, var: Var) -> bool:
        """True if what first uses a tensor writes all of it, so that nobody sees what was there."""
        first = self.first_uses.get(var)
        match first.value if first is not None else None:
            case Call(op=GlobalVar() as callee, args=args):
                return self.kernels.overwrites(callee, args, var)
        return False


def _allocation(binding: Binding) -> tuple[Expr, Expr, tuple[int, str]] | None:
    """Shape, dtype and place of the tensor that a binding allocates, None for others."""
    if not isinstance(binding, VarBinding) or not _is_allocation(binding.value):
        return None
    assert isinstance(binding.value, Call)
    match binding.value.args:
        case (shape, dtype, PrimValue(IntImm(value=index)), StringImm(scope)):
            return shape, dtype, (index, scope)
    return None


def _write(function: Function, plan: _Plan) -> Function:
    """The function with its tensors in storages, each allocated before the first tensor in it."""

    def block(node: Node) -> Node | None:
        if not isinstance(node, BindingBlock) or not any(b.var in plan for b in node.bindings):
            return None
        written: list[Binding] = []
        for binding in node.bindings:
            storage = plan.get(binding.var)
            if storage is None:
                written.append(binding)
                continue
            call, span = binding.value, binding.span
            assert isinstance(call, Call)
            shape, dtype, index, scope = call.args
            if storage.first is binding.var:
                args = (ShapeExpr.make((storage.size,)), index, scope, dtype)
                made = Call.make(memory.alloc_storage.op, args, span=call.span)
                written.append(VarBinding.make(storage.var, made, span=span))
            cut = Call.make(
                memory.alloc_tensor.op, (storage.var, _ZERO, shape, dtype), span=call.span
            )
            written.append(VarBinding.make(binding.var, cut, span=span))
        return node.replace(bindings=tuple(written))

    return rewrite_compounds(function, block)
