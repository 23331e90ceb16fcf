"""DataflowUseInplaceCalls: results are written where an operand has had its last use.

`InplaceCalls` makes the call of a PrimFunc that writes in place, for the pass and for
`relax.testing.transform`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from relaxscript.arith import YES, prove_equal
from relaxscript.builder import BlockBuilder, ExprMutator
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataflowBlock,
    Expr,
    Function,
    GlobalVar,
    Op,
    Tuple,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import PrimStructInfo, TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import compounds
from relaxscript.op import Trait, lookup
from relaxscript.op.calls import call_tir
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.opdef.compute import Accuracy
from relaxscript.transform.legalize.prim_funcs import OperatorFunctions
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .inplace_prim_func import write_in_place
from .kernels import Kernels
from .liveness import Lifetimes

__all__ = ["DataflowUseInplaceCalls", "InplaceCalls"]

_NO_LOOPS = {Trait.AS_IS, Trait.VIEW, Trait.ALLOCATES, Trait.IMPURE}


class DataflowUseInplaceCalls(ModulePass):
    """Write results of dataflow blocks into operands that nobody looks at any more.

    Before:

        with R.dataflow():
            y = R.add(x, x)
            z = R.call_tir(cls.exp, (y,), out_sinfo=R.Tensor((n, 4), "float32"))
            R.output(z)

    After:

        @T.prim_func(private=True)
        def exp_inplace(A: T.Buffer(("n", 4), "float32")):
            ...

        with R.dataflow():
            y = R.add(x, x)
            z = R.call_tir_inplace(
                cls.exp_inplace, (y,), inplace_indices=[0], out_sinfo=R.Tensor((n, 4), "float32")
            )
            R.output(z)

    An operand is written to where this is its last use, under any name that it may have. It was
    made in the same function, by an operator or a PrimFunc. No packed function, closure or other
    function of the module has seen it. Parameters and constants are never written to.

    It has shape, dtype and device of the result. The PrimFunc, also one that an operator becomes,
    is proved to read nothing of it that it has written. One that writes in place is added, and
    what it was made from stays. Other calls are left as they are. So are operators whose PrimFuncs
    round in another way: after `LegalizeOps`, these write in place, too.

    Source: TVM `relax.transform.DataflowUseInplaceCalls`.
    """

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        builder = BlockBuilder(mod)
        calls = InplaceCalls(builder, exact=True)
        kernels = Kernels(mod)
        changed = False
        for gvar, func in mod.relax_functions().items():
            ending = _ending_operands(func, kernels)
            if ending:
                made = _InplaceWriter(mod, builder, calls, ending).function(func, gvar.name_hint)
                if made is not func:
                    builder.update_func(gvar, made)
                    changed = True
        return builder.get() if changed else mod


def _ending_operands(func: Function, kernels: Kernels) -> dict[Var, set[Var]]:
    """For bindings of dataflow blocks, the operands that are only theirs and end there."""
    found: dict[Var, set[Var]] = {}
    inside = list(compounds(func))
    if not any(isinstance(node, DataflowBlock) for node in inside):
        return found
    for node in inside:
        if not isinstance(node, Function):
            continue
        lifetimes = Lifetimes(node, kernels)
        last = lifetimes.last_uses(lifetimes.homes())
        others = lifetimes.lasting() | {lifetimes.group(var) for var in lifetimes.handed_on}
        for _, binding, used in lifetimes.uses:
            if not isinstance(binding.value, Call):
                continue
            roots = [lifetimes.group(var) for var in used]
            # What may be there by another name as well is read when it has been written.
            names = Counter(roots) if len(set(roots)) < len(roots) else {}
            ending = {
                var
                for var, root in zip(used, roots)
                if last.get(root) is binding.var and names.get(root, 1) == 1 and root not in others
            }
            if ending:
                found[binding.var] = ending
    return found


class _InplaceWriter(ExprMutator):
    """Writes calls in place where an operand ends."""

    def __init__(
        self,
        mod: IRModule,
        builder: BlockBuilder,
        calls: InplaceCalls,
        ending: dict[Var, set[Var]],
    ) -> None:
        super().__init__(mod, builder)
        self.calls = calls
        self.ending = ending

    def binding(self, binding: Binding) -> None:
        ending = self.ending.get(binding.var)
        if ending and self.builder.current_block_is_dataflow():
            match binding:
                case VarBinding(value=Call() as call):
                    for made in self.calls.find(call, ending):
                        # Its operands are leaves, as those of `call` are: nobody looks at them.
                        self.changed = True
                        self.keep(VarBinding.make(binding.var, made, span=binding.span))
                        return
        super().binding(binding)


class _InPlace(NamedTuple):
    """A PrimFunc that writes in place, and the attributes of its calls, which share them."""

    name: GlobalVar
    attrs: Attrs


class InplaceCalls:
    """Calls in place; the PrimFuncs of these are added by `builder`.

    With `exact`, operators stay as they are whose PrimFuncs do not give the same bits.
    """

    def __init__(self, builder: BlockBuilder, *, exact: bool = False) -> None:
        self.builder = builder
        self.exact = exact
        # What operators become, of which only some are used.
        self._scratch = BlockBuilder(builder.get().clone())
        self._operators = OperatorFunctions(self._scratch)
        self._made: dict[tuple[GlobalVar, tuple[int, ...]], _InPlace | None] = {}

    def find(self, call: Call, operands: Container[Expr]) -> Iterator[Call]:
        """The calls that write their result into one of `operands`, the first one first."""
        info = self.builder.struct_info
        result = info(call)
        if type(result) is not TensorStructInfo or not isinstance(call.op, Op):
            return
        operator = lookup(call.op)
        held = call.args[1] if operator is call_tir else None
        args = held.fields if isinstance(held, Tuple) else call.args
        fitting = [a for a in args if a in operands and is_alike(info(a), result)]
        if not fitting:
            return
        if operator is not call_tir:
            if operator.traits & _NO_LOOPS or "compute" not in operator.rules:
                return
            if self.exact and operator.accuracy != Accuracy():
                return
            legal = self._operators.legalize(operator, call)
            if not isinstance(legal, Call):
                return
            call = legal
        for arg in dict.fromkeys(fitting):
            made = self._write(call, arg)
            if made is not None:
                yield made

    def _write(self, call: Call, arg: Expr) -> Call | None:
        """A call of a PrimFunc that writes its result into `arg`, None where it cannot."""
        callee, held, *rest = call.args
        if not isinstance(callee, GlobalVar) or not isinstance(held, Tuple):
            return None
        places = tuple([k for k, given in enumerate(held.fields) if given is arg])
        if not places:
            return None
        key = (callee, places)
        if key not in self._made:
            self._made[key] = self._make(callee, held.fields, places)
        made = self._made[key]
        if made is None:
            return None
        if len(places) > 1:
            held = Tuple.make(tuple([g for k, g in enumerate(held.fields) if k not in places[1:]]))
        args = (made.name, held, *rest)
        return Call.make(call_tir_inplace.op, args, made.attrs, call.sinfo_args, span=call.span)

    def _make(
        self, name: GlobalVar, args: Sequence[Expr], places: Sequence[int]
    ) -> _InPlace | None:
        module = self._scratch.context.module  # as it is: a copy for each call would cost much
        func = module[name] if module is not None and name in module else None
        if not isinstance(func, PrimFunc):
            return None
        info = self._scratch.struct_info
        tensors = [k for k, arg in enumerate(args) if not isinstance(info(arg), PrimStructInfo)]
        params = [param for param in func.params if param in func.buffer_map]
        if len(params) != len(tensors) + 1:
            return None
        operands = [params[tensors.index(place)] for place in places]
        made = write_in_place(func, operands, params[-1])
        if made is None:
            return None
        added = self.builder.add_func(made, f"{name.name_hint}_inplace")
        return _InPlace(added, Attrs({"inplace_indices": (places[0],)}))


def is_alike(given: object, result: object) -> bool:
    """True for what is sure to have the shape, dtype and device of a result."""
    if type(given) is not TensorStructInfo or type(result) is not TensorStructInfo:
        return False
    if given.dtype is not result.dtype or given.dtype.is_void:
        return False
    dims, others = given.dims, result.dims
    if dims is None or others is None or len(dims) != len(others):
        return False
    if given is result:
        return True
    same = given.vdevice is result.vdevice or (
        given.vdevice is not None
        and result.vdevice is not None
        and structural_equal(given.vdevice, result.vdevice)
    )
    return same and all(a is b or prove_equal(a, b) is YES for a, b in zip(dims, others))
