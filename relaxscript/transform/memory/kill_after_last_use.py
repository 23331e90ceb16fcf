"""KillAfterLastUse: what is not needed any more is given back."""

from __future__ import annotations

from relaxscript.builder import ExprMutator
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, Call, Expr, Function, Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.op import Operator, Trait, memory, traits_of, vm
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .liveness import ends_of_lifetimes

__all__ = ["KillAfterLastUse"]


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
        return _Rewriter(func, mod).function(func)


class _Rewriter(ExprMutator):
    def __init__(self, func: Function, mod: IRModule) -> None:
        super().__init__(mod)
        self.ends = ends_of_lifetimes(func, mod)
        self.values: dict[Var, Expr] = {}

    def binding(self, binding: Binding) -> None:
        self.values[binding.var] = binding.value
        self.keep(binding)
        if self.builder.current_block_is_dataflow():
            return
        # What is cut out of a storage goes before the storage, another name before the first.
        ending = self.ends.get(binding.var, [])[::-1]
        for var in sorted(ending, key=lambda v: self._kill(v) is memory.kill_storage):
            kill = Call.make(self._kill(var).op, (var,), span=binding.span)
            self.emit(kill, "_", binding.span)

    def _kill(self, var: Var) -> Operator:
        """The operator that gives a value back."""
        value = self.values.get(var)
        if not isinstance(value, Call) or Trait.ALLOCATES not in traits_of(value.op):
            return vm.kill_object
        is_tensor = isinstance(self.builder.struct_info(value), TensorStructInfo)
        return memory.kill_tensor if is_tensor else memory.kill_storage
