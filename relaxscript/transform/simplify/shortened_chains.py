"""Chains of calls that end where they began: what takes their place, and what is left over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from relaxscript.arith import YES
from relaxscript.builder import ExprMutator
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    MatchCast,
    Op,
    SeqExpr,
    Var,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import compounds, mentioned, rewrite_compounds
from relaxscript.op import Trait, traits_of
from relaxscript.sinfo import is_subtype

from .shared_memory import SharedMemory

__all__ = ["ChainShortener", "shortened"]

Rule = Callable[["ChainShortener", Call], Expr | None]


class ChainShortener(ExprMutator):
    """Asks a rule what takes the place of the calls of an operator.

    `rule(shortener, call)` gives a variable that is the same, another call, or the call itself.
    A result that shares no memory with its operand is another tensor. There a variable takes the
    place of a call only where no caller gets both.
    """

    def __init__(self, mod: IRModule, func: Function, op: Op, rule: Rule) -> None:
        super().__init__(mod)
        self._root, self._op, self._rule = func, op, rule
        self._may_share = Trait.VIEW in traits_of(op)
        self._memory: SharedMemory | None = None

    def binding(self, binding: Binding) -> None:
        value = binding.value
        if (
            isinstance(binding, MatchCast)
            or not isinstance(value, Call)
            or value.op is not self._op
        ):
            super().binding(binding)
            return
        made = self._rule(self, value)
        if isinstance(made, Var) and self._become(binding, made):
            return
        if made is value or not isinstance(made, Call):
            super().binding(binding)
        else:
            self.retype(binding, made)

    def dims(self, expr: Expr) -> Sequence[PrimExpr] | None:
        """The dimensions of a tensor, where they are known."""
        info = self.builder.struct_info(expr)
        return info.dims if isinstance(info, TensorStructInfo) else None

    def call_behind(self, var: Expr) -> Call | None:
        """The call of the operator to which a variable is bound; None for others."""
        made = self.builder.lookup_binding(var) if isinstance(var, Var) else None
        return made if isinstance(made, Call) and made.op is self._op else None

    def is_visible(self, expr: Expr) -> bool:
        """True for what is in scope here, and no variable of a block that has ended."""
        return not isinstance(expr, DataflowVar) or expr in self.variables

    def _become(self, binding: Binding, known: Var) -> bool:
        """Use a variable in the place of a binding; False where somebody could tell them apart."""
        var = binding.var
        if not self.is_visible(known) or not self._may_be_one(var, known):
            return False
        mine, theirs = self.builder.struct_info(var), self.builder.struct_info(known)
        leaves = self.builder.current_block_is_dataflow() and not isinstance(var, DataflowVar)
        if not leaves and structural_equal(mine, theirs):
            self.changed = True
            self.replace_var(var, known)
        elif is_subtype(theirs, mine) is YES and not self._mentions_replaced(binding):
            self.rebind(binding, known)
        else:
            return False
        return True

    def _may_be_one(self, var: Var, known: Var) -> bool:
        if self._memory is None:
            self._memory = SharedMemory(self._root, self.mod)
        memory = self._memory
        if memory.is_exposed(var) or memory.is_exposed(known):
            return False
        if self._may_share:
            return True
        if memory.is_returned(var) and (memory.is_returned(known) or known in self._params):
            return False
        memory.merge(known, var)
        return True

    @property
    def _params(self) -> Collection[Var]:
        """The parameters of the function at hand, which are its callers' tensors."""
        return self.functions[-1].params if self.functions else ()


def shortened(func: Function, mod: IRModule, op: Op, rule: Rule) -> Function:
    """A function in which a rule has shortened the calls of an operator, and none is left over."""
    if not any(isinstance(node, Call) and node.op is op for node in compounds(func)):
        return func
    made = ChainShortener(mod, func, op, rule).function(func)
    return func if made is func else _without_unused_calls(made, op)


def _without_unused_calls(func: Function, op: Op) -> Function:
    """A function without those calls of an operator in dataflow blocks that nothing uses."""

    def step(node: Node) -> Node | None:
        match node:
            case DataflowBlock(bindings):
                left = _without(bindings, op)
                return node if len(left) == len(bindings) else node.replace(bindings=left)
            case SeqExpr(blocks) if not all(block.bindings for block in blocks):
                return node.replace(blocks=tuple(filter(_has_bindings, blocks)))
        return None

    return rewrite_compounds(func, step)


def _has_bindings(block: BindingBlock) -> bool:
    return bool(block.bindings)


def _without(bindings: Iterable[Binding], op: Op) -> tuple[Binding, ...]:
    used: set[Var] = set()
    left: list[Binding] = []
    for binding in reversed(tuple(bindings)):
        value, var = binding.value, binding.var
        dead = isinstance(var, DataflowVar) and var not in used
        if dead and isinstance(value, Call) and value.op is op:
            continue
        used.update(mentioned(value))
        left.append(binding)
    return tuple(left[::-1])
