"""What of a function nothing needs: dead bindings that may go without anybody noticing.

Inside a dataflow block every pure binding may go, a `match_cast` too. Outside, errors and calls
that do not end are part of what a program does, so only what calls nothing goes: tuples, their
fields, constants, names, local functions. Source: TVM `relax.analysis.remove_all_unused`; spec
"Optimizations".
"""

from __future__ import annotations

from typing import TypeVar

from relaxscript.ir import walk
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Div, FloorDiv, FloorMod, Mod
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    Expr,
    Function,
    If,
    MatchCast,
    SeqExpr,
)

from .call_graph import is_pure
from .derive import Context
from .struct_infos import wanted

__all__ = ["remove_all_unused"]


F = TypeVar("F", Function, SeqExpr)


def remove_all_unused(func: F, *, module: IRModule | None = None) -> F:
    """The function, or sequence of blocks, without the bindings that nothing needs.

    It is `func` itself where all are needed. Bindings of branches and local functions go as well.
    Impure calls stay. What calls a function of the module goes from a dataflow block, where only
    pure calls stand; in a function that is pure by force (`relax.force_pure`) it stays unless
    `module` says that it is pure.
    """
    if not isinstance(func, SeqExpr):
        wanted("remove_all_unused.func", func, Function)
    uses = _Uses(func, Context(module))
    dead = uses.droppable - uses.live()

    def step(node: Node) -> Node | None:
        match node:
            case BindingBlock(bindings) if any(b.var in dead for b in bindings):
                return node.replace(bindings=tuple(b for b in bindings if b.var not in dead))
            case SeqExpr(blocks) if not all(block.bindings for block in blocks):
                return node.replace(blocks=_consolidated(blocks))
        return None

    return walk.rewrite(func, step) if dead else func


def _consolidated(blocks: tuple[BindingBlock, ...]) -> tuple[BindingBlock, ...]:
    """Blocks without the empty ones; what then are neighbours of a kind is one block."""
    merged: list[BindingBlock] = []
    for block in blocks:
        if merged and type(merged[-1]) is type(block):
            merged[-1] = merged[-1].replace(bindings=(*merged[-1].bindings, *block.bindings))
        elif block.bindings:
            merged.append(block)
    return tuple(merged)


# What may fail or not end, or has parts that may.
_MAY_FAIL = (Call, If, MatchCast, Div, Mod, FloorDiv, FloorMod)


class _Uses:
    """Which variables are needed for which: an edge from a variable to what its binding uses.

    What stays in any case is needed by the innermost local function around it, by None where there
    is none: a function that nothing needs needs nothing itself.
    """

    def __init__(self, func: Function | SeqExpr, context: Context) -> None:
        self.context = context
        self.droppable: set[Node] = set()
        self._needs: dict[Node | None, list[Node]] = {}
        # What is to be looked at: an expression, and who needs it.
        self._todo: list[tuple[Expr, Node | None]] = [(func, None)]
        # What the parameters say is known without any cast.
        params = func.params if isinstance(func, Function) else ()
        self._given = set(walk.defined_by(func, params))
        functions = (node for node in walk.post_order(func) if isinstance(node, Function))
        self._trusts = not any((f.attrs or Attrs()).get("relax.force_pure") for f in functions)
        while self._todo:
            self._look_at(*self._todo.pop())

    def live(self) -> set[Node]:
        """The variables that what stays needs."""
        seen: set[Node] = set()
        todo: list[Node | None] = [None]
        while todo:
            for used in self._needs.get(todo.pop(), ()):
                if used not in seen:
                    seen.add(used)
                    todo.append(used)
        return seen

    def _need(self, who: Node | None, *what: Node) -> None:
        self._needs.setdefault(who, []).extend(what)

    def _look_at(self, expr: Expr, who: Node | None) -> None:
        match expr:
            case Function(params, body, result):
                parts: list[Node] = [*params, *([] if result is None else [result])]
                self._need(who, *(v for part in parts for v in walk.variables(part)))
                self._todo.append((body, who))
            case SeqExpr(blocks, body):
                for block in blocks:
                    for binding in block.bindings:
                        self._bound(binding, isinstance(block, DataflowBlock), who)
                self._todo.append((body, who))
            case If(cond, true_branch, false_branch):
                self._todo += [(part, who) for part in (cond, true_branch, false_branch)]
            case _:
                self._need(who, *walk.variables(expr))

    def _bound(self, binding: Binding, dataflow: bool, who: Node | None) -> None:
        var, value = binding.var, binding.value
        key: Node | None = who
        if self._may_go(binding, dataflow):
            self.droppable.add(var)
            key = var
        known = [] if var.struct_info is None else walk.variables(var.struct_info)
        self._need(key, *known)
        if isinstance(binding, MatchCast):
            inside = walk.variables(binding.struct_info)
            self._need(key, *inside)
            for defined in walk.defined_by(binding, (binding.struct_info,)):
                if defined not in self._given:
                    self._need(defined, var)
        self._todo.append((value, key))

    def _may_go(self, binding: Binding, dataflow: bool) -> bool:
        value = binding.value
        if isinstance(value, Function):
            return True
        if dataflow:
            return is_pure(value, self.context, otherwise=self._trusts)
        return not any(isinstance(node, _MAY_FAIL) for node in walk.post_order(binding))
