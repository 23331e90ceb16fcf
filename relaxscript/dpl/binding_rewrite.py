"""Rewriting the bindings of one dataflow block by hand.

    rewrite = DataflowBlockRewrite(block, func)
    rewrite.add(op.exp(x), "y", is_dfvar=True)
    rewrite.replace_all_uses(old, new)
    rewrite.remove_all_unused()
    func = rewrite.mutated_root_fn()

Source: TVM `relax.binding_rewrite`.
"""

from __future__ import annotations

from typing import Any

from relaxscript.analysis import remove_all_unused
from relaxscript.arith import YES
from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    SeqExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.walk import bound_vars, compounds, mentioned, rewrite_top_down, substitute
from relaxscript.sinfo import is_subtype

from .binding_order import in_order
from .rules import require_expr, rewrite_error

__all__ = ["DataflowBlockRewrite"]


class DataflowBlockRewrite:
    """A dataflow block, and the function in which it is, while bindings come and go.

    Both stay as they are: what is made of them is `mutated_dfb()` and `mutated_root_fn()`. Bindings
    may be added in any order; each is written behind what it uses. Cost: each method looks at the
    block once.
    """

    def __init__(self, dfb: DataflowBlock, root_fn: Function) -> None:
        blocks = compounds(root_fn) if isinstance(root_fn, Function) else iter(())
        if not isinstance(dfb, DataflowBlock) or all(block is not dfb for block in blocks):
            raise _mistake(
                "a dataflow block is rewritten within the function that has it",
                "take both from one function: `DataflowBlockRewrite(func.body.blocks[0], func)`",
            )
        self.dfb = dfb
        self.root_fn = root_fn
        self._original = root_fn
        self._names = {v.name_hint for v in bound_vars(root_fn) if isinstance(v, Var)}

    def replace_all_uses(self, old_var: Var, new_var: Var) -> None:
        """Use another variable wherever one is used, behind the block too.

        Raises `DiagnosticError` where the other is not sure to fit: it has another StructInfo, or
        it ends with the block.
        """
        for var in (old_var, new_var):
            self._require_var(var)
        if is_subtype(new_var.struct_info, old_var.struct_info) is not YES:
            raise rewrite_error(
                f"`{new_var.name_hint}` cannot stand for `{old_var.name_hint}`: it is "
                f"`{new_var.struct_info!r}`, not `{old_var.struct_info!r}`",
                help="add a binding of the same StructInfo, `rewrite.add(...)`",
            )
        bindings = [
            b.replace(value=substitute(b.value, {old_var: new_var})) for b in self.dfb.bindings
        ]
        outside = self._without_block()
        if isinstance(new_var, DataflowVar) and old_var in mentioned_in(outside):
            raise rewrite_error(
                f"`{old_var.name_hint}` is used behind the block, where `{new_var.name_hint}` ends",
                help="add it with `is_dfvar=False`",
            )
        self._write(bindings, {old_var: new_var})

    def add_binding(self, binding: Binding) -> None:
        """Add a binding, behind what it uses."""
        if not isinstance(binding, Binding):
            raise _mistake(f"`{binding!r}` is no binding", "write `VarBinding(var, value)`")
        if any(b.var is binding.var for b in self.dfb.bindings):
            name = binding.var.name_hint
            raise rewrite_error(f"`{name}` is bound already", help="bind another variable")
        self._names.add(binding.var.name_hint)
        self._write([*self.dfb.bindings, binding])

    def add(self, expr: Expr, name: str | None = None, is_dfvar: bool = False) -> Var:
        """Bind an expression to a new variable, which is given back; it is called `tmp0` and so on.

        With `is_dfvar` it ends with the block, else it leaves it.
        """
        value = BlockBuilder().normalize(require_expr(expr, "add", None))
        wanted = name or "tmp0"
        if wanted in self._names:
            stem = wanted.rstrip("0123456789")
            numbers = (f"{stem}{i}" for i in range(len(self._names) + 1))
            wanted = next(n for n in numbers if n not in self._names)
        var = (DataflowVar if is_dfvar else Var)(wanted, value.struct_info)
        self.add_binding(VarBinding(var, value))
        return var

    def remove_unused(self, var: Var, allow_undef: bool = False) -> None:
        """Remove the binding of a variable that nothing uses.

        Raises `DiagnosticError` where something does, and for what the block does not bind unless
        `allow_undef`.
        """
        found = [b for b in self.dfb.bindings if b.var is var]
        if not found:
            if allow_undef:
                return
            name = getattr(var, "name_hint", repr(var))
            meant = nearest(name, [b.var.name_hint for b in self.dfb.bindings])
            raise rewrite_error(
                f"the block does not bind `{name}`",
                help=did_you_mean(meant, "pass `allow_undef=True` where it may be gone"),
            )
        rest = [b for b in self.dfb.bindings if b.var is not var]
        users = [b.var.name_hint for b in rest if var in mentioned(b.value)]
        if users or var in mentioned_in(self._without_block()):
            by = f"`{users[0]}` uses it" if users else "it is used behind the block"
            raise rewrite_error(
                f"`{var.name_hint}` cannot be removed: {by}", found[0], "replace its uses first"
            )
        self._write(rest)

    def remove_all_unused(self) -> None:
        """Remove what nothing needs, in all blocks of the function."""
        self.root_fn = remove_all_unused(self.root_fn)
        left = self._bound_here().intersection(bound_vars(self.root_fn))
        blocks = (n for n in compounds(self.root_fn) if isinstance(n, DataflowBlock))
        here = (n for n in blocks if any(b.var in left for b in n.bindings))
        self.dfb = next(here, DataflowBlock(()))

    def _bound_here(self) -> set[Node]:
        return {binding.var for binding in self.dfb.bindings}

    def mutated_dfb(self) -> DataflowBlock:
        """The block afterwards."""
        return self.dfb

    def mutated_root_fn(self) -> Function:
        """The function afterwards."""
        return self.root_fn

    def mutate_irmodule(self, irmodule: IRModule) -> IRModule:
        """The module with the function afterwards in the place of the one that there was."""
        for var, function in irmodule.functions.items():
            if function is self._original:
                builder = BlockBuilder(irmodule)
                builder.update_func(var, self.root_fn)
                return builder.get()
        raise _mistake(
            "the module does not have the function of the block",
            'take it from this module: `mod["main"]`',
        )

    def _require_var(self, var: Any) -> None:
        if not isinstance(var, Var):
            raise _mistake(f"`{var!r}` is no variable", "the variables are `binding.var`")

    def _without_block(self) -> Function:
        return rewrite_top_down(
            self.root_fn, lambda node: DataflowBlock(()) if node is self.dfb else None
        )

    def _write(self, bindings: list[Binding], uses: dict[Var, Var] | None = None) -> None:
        ordered = in_order({b.var: b for b in bindings})
        if isinstance(ordered, tuple):
            a, b = ordered
            raise rewrite_error(
                f"`{a.name_hint}` and `{b.name_hint}` would use each other",
                help="a new value uses what does not depend on the variable that it replaces",
            )
        block = DataflowBlock.make(tuple(ordered), span=self.dfb.span)
        before = self.dfb

        def step(node: Node) -> Node | None:
            if node is before:
                return block
            if uses and isinstance(node, Var):
                return uses.get(node)
            return None

        params = self.root_fn.params  # which are defined there, not used
        self.root_fn = rewrite_top_down(self.root_fn, step).replace(params=params)
        self.dfb = block


def mentioned_in(func: Function) -> set[Var]:
    """The variables that values and results in a function use."""
    found: set[Var] = set()
    for node in compounds(func):
        if isinstance(node, Binding):
            found.update(mentioned(node.value))
        elif isinstance(node, SeqExpr):
            found.update(mentioned(node.body))
    return found


def _mistake(message: str, help: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic("RX0201", message, caller_span(), help=help))
