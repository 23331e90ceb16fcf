"""Dead bindings of a function: what nothing needs may go without anybody noticing.

Inside a dataflow block every pure binding may go, a `match_cast` too. Outside, errors and calls
that do not end are part of what a program does. So only what calls nothing goes: tuples, their
fields, constants, names, local functions, where their annotation is sure to hold.
Source: TVM `relax.analysis.remove_all_unused`; spec "Optimizations".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from relaxscript.arith import YES
from relaxscript.ir import walk
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Div, FloorDiv, FloorMod, IntImm, Mod
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    SeqExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.sinfo import check_compatibility
from relaxscript.visitor import ScopedVisitor

from .call_graph import is_pure
from .derive import Context, call_purity
from .struct_infos import require_type

__all__ = ["consolidate", "droppable_variables", "remove_all_unused"]


F = TypeVar("F", Function, SeqExpr)


def remove_all_unused(func: F, *, module: IRModule | None = None, keep_failures: bool = False) -> F:
    """The function, or sequence of blocks, without the bindings that nothing needs.

    It is `func` itself where all are needed. Bindings of branches and local functions go as well.
    Impure calls stay. What calls a function of the module goes from a dataflow block, where
    only pure calls may be; in a function that is pure by force (`relax.force_pure`) it stays unless
    `module` says that it is pure. With `keep_failures` dataflow blocks are no exception: what may
    fail or not end stays there, too.
    """
    if not isinstance(func, SeqExpr):
        require_type("remove_all_unused.func", func, Function)
    uses = _Uses(func, Context(module), keep_failures)
    dead = uses.droppable - uses.live()

    def step(node: Node) -> Node | None:
        match node:
            case BindingBlock(bindings):
                left = tuple([b for b in bindings if b.var not in dead])
                return node.replace(bindings=left) if len(left) < len(bindings) else None
            case SeqExpr(blocks) if not all(block.bindings for block in blocks):
                return node.replace(blocks=consolidate(blocks))
        return None

    return walk.rewrite_compounds(func, step) if dead else func


def droppable_variables(func: Function, module: IRModule) -> set[Node]:
    """The variables whose bindings `remove_all_unused` removes where nothing needs them."""
    return _Uses(func, Context(module), keep_failures=False).droppable


def consolidate(blocks: tuple[BindingBlock, ...]) -> tuple[BindingBlock, ...]:
    """Blocks without the empty ones; what then are neighbours of a kind is one block."""
    merged: list[BindingBlock] = []
    for block in blocks:
        if merged and type(merged[-1]) is type(block):
            merged[-1] = merged[-1].replace(bindings=(*merged[-1].bindings, *block.bindings))
        elif block.bindings:
            merged.append(block)
    return tuple(merged)


# What may fail or not end, or has parts that may.
_MAY_FAIL = (Call, If, Div, Mod, FloorDiv, FloorMod)


def _may_fail(binding: Binding) -> bool:
    """True if computing the value of a binding, or what its annotation says, may fail."""
    value, info = binding.value, binding.var.struct_info
    if isinstance(binding, MatchCast) or isinstance(value, _MAY_FAIL):
        return True
    # What is known of a tuple is as long as the tuple, and says nothing of its fields.
    leaf = value.tuple_value if isinstance(value, TupleGetItem) else value
    if leaf.__class__ not in _NAMES and _has_any(value):
        return True
    return info is not None and _used_in_info(info) != () and _has_any(info)


_NAMES = frozenset({Var, DataflowVar, Constant, DataTypeImm, ExternFunc, GlobalVar, StringImm})


def _has_any(root: Node) -> bool:
    return any(isinstance(node, _MAY_FAIL) for node in walk.post_order(root))


class _Uses(ScopedVisitor):
    """The variables that are needed for others: an edge from a variable to what its binding uses.

    What stays in any case is needed by the innermost local function around it, by None where there
    is none: a function that nothing needs needs nothing itself.
    """

    def __init__(self, func: Function | SeqExpr, context: Context, keep_failures: bool) -> None:
        super().__init__()
        self.context = context
        self.keep_failures = keep_failures
        self.droppable: set[Node] = set()
        self._needs: dict[Node | None, list[Node]] = {}
        # Who needs what is here: around each open binding, and inside of the innermost.
        self._who: list[Node | None] = [None]
        # What the parameters say is known without any cast.
        params = func.params if isinstance(func, Function) else ()
        self._given = set(walk.defined_by(func, params))
        functions = (node for node in walk.compounds(func) if isinstance(node, Function))
        self._trusts = not any((f.attrs or Attrs()).get("relax.force_pure") for f in functions)
        self.visit(func)

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

    def _need(self, what: Iterable[Node], who: Node | None) -> None:
        self._needs.setdefault(who, []).extend(what)

    def enter(self, node: Node) -> bool | None:
        match node:
            case Function(params, ret_struct_info=result):
                parts: list[Node] = [*params, *([] if result is None else [result])]
                self._need((v for part in parts for v in walk.variables(part)), self._who[-1])
            case Binding(value=value):
                who = self._binding(node)
                if not isinstance(value, (If, Function)):
                    self._need(_used_in(value), who)
                    return False
                self._who.append(who)
            case Call() | Tuple() | TupleGetItem():
                self.leaf(node)
                return False
        return None

    def leaf(self, expr: Expr) -> None:
        self._need(_used_in(expr), self._who[-1])

    def leave(self, node: Node) -> None:
        if isinstance(node, Binding):
            self._who.pop()

    def _binding(self, binding: Binding) -> Node | None:
        """Note what a binding needs beside its value; gives who needs what is in that."""
        var, key = binding.var, self._who[-1]
        if self._may_go(binding):
            self.droppable.add(var)
            key = var
        if var.struct_info is not None:
            self._need(_used_in_info(var.struct_info), key)
        if isinstance(binding, MatchCast):
            self._need(_used_in_info(binding.struct_info), key)
            for defined in walk.defined_by(binding, (binding.struct_info,)):
                if defined not in self._given:
                    self._need((var,), defined)
        return key

    def _may_go(self, binding: Binding) -> bool:
        value = binding.value
        if isinstance(value, Function):
            return True
        if self.in_dataflow and not self.keep_failures:
            if isinstance(value, Call) and isinstance(value.op, Op):
                return call_purity(value, self.context)
            return is_pure(value, self.context, otherwise=self._trusts)
        if _may_fail(binding) or (self.keep_failures and isinstance(value, ExternFunc)):
            return False  # a packed function of that name may be missing
        # What the value is not known to be is checked when it is bound.
        declared, known = binding.var.struct_info, self.context.struct_info(value)
        return declared is None or (
            check_compatibility(known, declared, in_scope=self.shape_vars) is YES
        )


def _used_in(expr: Expr) -> Iterable[Node]:
    """The variables that an expression uses; what is known of these, their own bindings need."""
    parts: list[Expr] = [expr]
    found: list[Node] = []
    if isinstance(expr, Call):
        if expr.attrs and any(isinstance(value, Node) for value in expr.attrs.values()):
            return walk.variables(expr)
        parts = [expr.op, *expr.args]
        for info in expr.sinfo_args:
            found += _used_in_info(info)
    for part in parts:  # which grows
        if isinstance(part, Var):
            found.append(part)
        elif isinstance(part, Tuple) and len(parts) <= _MOST_PARTS:
            parts += part.fields
        elif isinstance(part, TupleGetItem) and len(parts) <= _MOST_PARTS:
            parts.append(part.tuple_value)
        elif part.__class__ not in _NAMES and part.__class__ is not Op:
            found += walk.variables(part)
    return found


# Tuples that share their parts are gone through once each, by whoever remembers what it has seen.
_MOST_PARTS = 100


def _used_in_info(info: StructInfo) -> Iterable[Node]:
    if isinstance(info, TensorStructInfo):
        dims = info.dims
        if info.shape is None or (dims is not None and all(d.__class__ is IntImm for d in dims)):
            return ()
    return walk.variables(info)
