"""KillAfterLastUse: what is not needed any more is given back."""

from __future__ import annotations

from relaxscript.analysis import Context
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import rewrite_compounds
from relaxscript.op import Operator, Trait, memory, traits_of, vm
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .liveness import ends_of_lifetimes

__all__ = ["KillAfterLastUse"]

_UNIT = TupleStructInfo.make(())


class KillAfterLastUse(FunctionPass):
    """Give back each value that a function makes, after the last binding that may look at it.

    Before:

        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        x = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
        cls.f(a, x)
        y = x
        cls.f(y, b)
        return b

    After:

        storage = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        x = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
        cls.f(a, x)
        y = x
        cls.f(y, b)
        R.vm.kill_object(y)
        R.memory.kill_tensor(x)
        R.memory.kill_storage(storage)
        return b

    Every variable of a value is killed when the last of them has had its last use. Parameters, what
    is returned, constants, numbers and shapes are not killed, nor is what may be one of these. Nor
    is anything that the program kills itself. What an outer scope binds is killed there, behind the
    `if` whose branch has the last use. Source: TVM `relax.transform.KillAfterLastUse`.
    """

    required = ("ToNonDataflow", "RemovePurityChecking")

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        ends = ends_of_lifetimes(func, mod)
        if not ends:
            return func
        context = Context(mod)
        killers: dict[Var, Operator] = {}

        def block(node: Node) -> Node | None:
            if not isinstance(node, BindingBlock):
                return None
            killers.update({b.var: _killer(b.value, context) for b in node.bindings})
            if isinstance(node, DataflowBlock):
                return None
            written: list[Binding] = []
            for binding in node.bindings:
                written.append(binding)
                if binding.var not in ends:
                    continue
                # What is cut out of a storage goes before it, another name before the first.
                ending = ends[binding.var][::-1]
                for var in sorted(ending, key=lambda v: killers[v] is memory.kill_storage):
                    kill = Call.make(killers[var].op, (var,), span=binding.span)
                    written.append(VarBinding.make(Var.make("_", _UNIT), kill, span=binding.span))
            return node.replace(bindings=tuple(written))

        return rewrite_compounds(func, block)


def _killer(value: Expr, context: Context) -> Operator:
    """The operator that gives a value back."""
    if not isinstance(value, Call) or Trait.ALLOCATES not in traits_of(value.op):
        return vm.kill_object
    is_tensor = isinstance(context.struct_info(value), TensorStructInfo)
    return memory.kill_tensor if is_tensor else memory.kill_storage
