"""The common part of rewrites by laws of algebra: what they may look at, and what is left behind.

Such a rewrite looks through a variable at the call that it stands for. It computes from the
operands of that call: so these are read later than before, and the call may become useless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from relaxscript.analysis.derive import Context, derive_struct_info
from relaxscript.arith import YES, Facts, prove_equal
from relaxscript.builder import BlockBuilder, ExprMutator
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowVar,
    Expr,
    Function,
    If,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import compounds, mentioned, rewrite_compounds
from relaxscript.opdef.context import DeferredCheck
from relaxscript.transform.simplify.shared_memory import SharedMemory

__all__ = [
    "AlgebraicRewriter", "Law", "Unsure", "dims_of", "rewrite_by", "rounds_alike", "uses_of",
]  # fmt: skip


class Unsure(Exception):
    """A run would have to check a call that a rewrite wants to make, so that it is not made."""


class Law(Protocol):
    """The other way to write calls of one operator, the one that is named.

    With `in_block` it is for what is computed in one dataflow block.
    """

    operator: str
    in_block: bool

    def rewritten(self, at: AlgebraicRewriter, call: Call) -> Expr | None:
        """The value in the place of a call; None, or the error `Unsure`, leaves it as it is."""


class AlgebraicRewriter(ExprMutator):
    """Writes calls by a law, where it is known before the run that they give the same.

    The steps to what a call becomes are bound only if the law comes to a result.
    """

    def __init__(
        self, mod: IRModule, law: Law, func: Function, builder: BlockBuilder | None = None
    ) -> None:
        super().__init__(mod, builder)
        self.law = law
        self.root = func
        # Variables that were looked through, whose calls may have become useless.
        self.passed: set[Var] = set()
        self._memory: SharedMemory | None = None
        self._opaque: set[Var] = set()
        self._home: dict[Var, Node] = {}
        # The blocks of new variables; what binds one outside of dataflow blocks uses it there only.
        self._made: dict[Var, Node] = {}
        self._steps: dict[Var, VarBinding] = {}
        self._looked: list[Var] = []
        self._undecided: list[DeferredCheck] = []

    # -- what laws ask -----------------------------------------------------------------------------

    def definition(self, expr: Expr) -> Call | Tuple | None:
        """The call or tuple that a variable stands for, where it can be computed again here."""
        if not isinstance(expr, Var):
            return None
        if expr in self._steps:
            value = self._steps[expr].value
            return value if isinstance(value, Call) else None
        found = None if expr in self._opaque else self.builder.lookup_binding(expr)
        if not isinstance(found, (Call, Tuple)) or self._home.get(expr) is not self._place():
            return None
        if not (self.is_free(expr) and all(map(self.is_free, mentioned(found)))):
            return None
        if isinstance(found, Call) and (not isinstance(found.op, Op) or not self._is_sure(found)):
            return None
        self._looked.append(expr)
        return found

    def is_free(self, var: Var) -> bool:
        """True if a variable is in scope here, with the elements that it had when it was bound."""
        if var in self._steps:
            return True
        if self._memory is None:
            self._memory = SharedMemory(self.root, self.mod)
        return self._is_visible(var) and not self._memory.is_exposed(var)

    def _is_visible(self, var: Var) -> bool:
        """True if a variable of the function, or one that was bound anew, is in scope."""
        if var in self.variables:
            return True
        block = self._made.get(var)
        return block is not None and any(node is block for node in reversed(self.path))

    def step(self, value: Expr) -> Var:
        """A new variable for a value; raises `Unsure` where a run would have to check it."""
        kind = DataflowVar if self.builder.current_block_is_dataflow() else Var
        var = kind.make("lv", self.sure_info(value))
        self._steps[var] = VarBinding.make(var, value, span=self.original.span)
        return var

    def sure_info(self, value: Expr) -> StructInfo:
        """The StructInfo of a value; raises `Unsure` where a run would have to check it."""
        known = self.builder.context
        probe = Context(known.module, known.signatures, self._undecided.append)
        probe.results, probe.facts = None, known.facts
        probe.shape_scope, probe.is_visible = known.shape_scope, known.is_visible
        self._undecided.clear()
        info = derive_struct_info(value, probe)
        if self._undecided:
            raise Unsure
        return info

    def same(self, a: Sequence[PrimExpr], b: Sequence[PrimExpr]) -> bool:
        """True if dimensions are equal whatever the run brings."""
        facts = self.builder.context.facts
        return len(a) == len(b) and all(prove_equal(x, y, facts) is YES for x, y in zip(a, b))

    def bound(self, var: Var) -> Expr | None:
        """The value of a variable by now."""
        return self.builder.lookup_binding(var)

    @property
    def facts(self) -> Facts | None:
        """The facts about sizes at this place."""
        return self.builder.context.facts

    def is_step(self, var: Var) -> bool:
        """True if a variable is that of a step to what a call becomes."""
        return var in self._steps

    # -- going through -----------------------------------------------------------------------------

    def binding(self, binding: Binding) -> None:
        made = None
        value = binding.value
        if isinstance(value, Call) and not self._mentions_replaced(binding):
            made = self._tried(value)
        if made is None:
            super().binding(binding)
            return
        for var, step in self._steps.items():
            self._made[var] = self.path[-1]
            self.keep(step.replace(value=self._normal(step.value, step.span)))
        self._steps = {}
        self.passed.update(self._looked)
        self.replace_value(binding, made)

    def keep(self, binding: Binding) -> None:
        super().keep(binding)
        self._home[binding.var] = self._place()
        if isinstance(binding, MatchCast):
            self._opaque.add(binding.var)

    def _place(self) -> Node:
        """The node in which values are computed once: a local function may run often, or never."""
        return self.path[-1] if self.law.in_block else self.functions[-1]

    def _tried(self, call: Call) -> Expr | None:
        """The value in the place of a call, if there is one of which the same is known."""
        self._steps, self._looked = {}, []
        if not isinstance(call.op, Op) or call.op.name != self.law.operator:
            return None
        if self.law.in_block and not self.in_dataflow:
            return None
        try:
            made = self.law.rewritten(self, call)
            if made is not None and structural_equal(
                self.sure_info(made), self.builder.struct_info(call)
            ):
                return made
        except Unsure:
            pass
        self._steps = {}
        return None

    def _is_sure(self, call: Call) -> bool:
        try:
            self.sure_info(call)
        except Unsure:
            return False
        return True


def rewrite_by(
    law: Law, func: Function, mod: IRModule, builder: BlockBuilder | None = None
) -> Function:
    """The function by a law, without the calls that became useless by it.

    A `builder` is given by who adds functions to the module.
    """
    calls = (node.op for node in compounds(func) if isinstance(node, Call))
    if not any(isinstance(op, Op) and op.name == law.operator for op in calls):
        return func
    rewriter = AlgebraicRewriter(mod, law, func, builder)
    made = rewriter.function(func)
    return made if made is func else _without_unused(made, rewriter.passed)


def dims_of(expr: Expr) -> Sequence[PrimExpr] | None:
    """The dimensions of a tensor, where they are known."""
    info = expr.struct_info
    return info.dims if isinstance(info, TensorStructInfo) else None


def rounds_alike(call: Call) -> bool:
    """True if a product or sum has the dtype of its operands: no sum in between is cut off."""
    infos = [expr.struct_info for expr in (call, *call.args)]
    tensors = [info for info in infos if isinstance(info, TensorStructInfo)]
    return len(tensors) == len(infos) and len({info.dtype for info in tensors}) == 1


def uses_of(func: Function) -> Counter[Var]:
    """The number of times that a function mentions each variable."""
    uses: Counter[Var] = Counter()
    for node in compounds(func):
        match node:
            case Binding(value=value) if not isinstance(value, (If, Function)):
                uses.update(_leaves(value))
            case If(cond=leaf) | SeqExpr(body=leaf):
                uses.update(_leaves(leaf))
    return uses


def _leaves(expr: Expr) -> list[Var]:
    """The variables that a value mentions, each as often as it stands there."""
    found: list[Var] = []
    todo = [expr]
    while todo:
        match todo.pop():
            case Var() as var:
                found.append(var)
            case Call(op=op, args=args):
                todo += (op, *args)
            case Tuple(fields=fields):
                todo += fields
            case TupleGetItem(tuple_value=whole):
                todo.append(whole)
    return found


def _without_unused(func: Function, candidates: set[Var]) -> Function:
    """The function without those of the candidates that nothing needs; they cannot fail."""
    needs = _needs(func, candidates)
    live: set[Var] = set()
    todo = needs.pop(None, [])
    while todo:
        var = todo.pop()
        if var not in live:
            live.add(var)
            todo += needs.get(var, ())
    dead = needs.keys() - live
    if not dead:
        return func

    def step(node: Node) -> Node | None:
        match node:
            case BindingBlock(bindings):
                left = tuple([b for b in bindings if b.var not in dead])
                return node.replace(bindings=left) if len(left) < len(bindings) else None
            case SeqExpr(blocks) if not all(block.bindings for block in blocks):
                return node.replace(blocks=tuple([block for block in blocks if block.bindings]))
        return None

    return rewrite_compounds(func, step)


def _needs(func: Function, candidates: set[Var]) -> dict[Var | None, list[Var]]:
    """The variables that each of the candidates needs, and by None, those that all else needs."""
    needs: dict[Var | None, list[Var]] = {None: []}
    for node in compounds(func):
        match node:
            case Binding(var=var, value=value) if not isinstance(value, (If, Function)):
                needs.setdefault(var if var in candidates else None, []).extend(mentioned(value))
            case If(cond=leaf) | SeqExpr(body=leaf):
                needs[None] += mentioned(leaf)
    return needs
