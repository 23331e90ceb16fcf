"""From a function of Relax to the items and edges of its picture.

Whatever can stand in a function is drawn, in normal form or not, well-formed or not: one looks at
the picture of a program because something about it is not understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.node import Node as IRNode
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    DataflowBlock,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo

from .picture import Cluster, ClusterKind, DrawnEdge, DrawnNode, NodeKind, Picture
from .wording import LONGEST_DETAIL, LONGEST_SHAPE, fit, info_in_brief, literal, operator_name

__all__ = ["read_function"]

# The sources of each operand, and what is said of those without any.
_Operands: TypeAlias = "tuple[list[tuple[int, ...]], tuple[str, ...]]"


def read_function(function: Function, name: str) -> Picture:
    """The picture of a function; `DiagnosticError` (RX0104) where it is nested too deeply."""
    reader = _Reader(name)
    try:
        reader.function(function, None, name)
    except RecursionError:
        message = f"`{name}` is nested too deeply to be drawn"
        help = "split it into functions"
        raise DiagnosticError(Diagnostic("RX0104", message, function.span, help=help)) from None
    _place_leaves(reader.picture)
    return reader.picture


class _Reader:
    """Goes through a function in its order; `sources` are the items that variables come from."""

    def __init__(self, name: str) -> None:
        self.picture = Picture(name)
        self.sources: dict[Var, tuple[int, ...]] = {}

    # ---- items

    def node(self, kind: NodeKind, title: str, cluster: int, expr: Expr, var: Var | None) -> int:
        """A box for what `expr` gives, which is called `var`."""
        info = var.struct_info if var is not None else _known(expr)
        name = "" if var is None else var.name_hint
        made = DrawnNode(
            self.picture.next_key(), kind, fit(title), cluster, fit(name),
            shape=fit(info_in_brief(info), LONGEST_SHAPE), info=info, origin=expr,
        )  # fmt: skip
        return self.picture.add(made)

    def cluster(self, kind: ClusterKind, title: str, outer: int | None, origin: IRNode) -> int:
        made = Cluster(self.picture.next_key(), kind, fit(title, 60), outer, origin=origin)
        return self.picture.add(made)

    def edges(self, sources: Sequence[int], target: int, place: int = 0) -> None:
        for source in sources:
            if source not in self.picture.around(target):  # what a function says of itself
                self.picture.edges.append(DrawnEdge(source, target, place))

    # ---- functions, blocks and bindings

    def function(self, function: Function, outer: int | None, title: str) -> int:
        kind: ClusterKind = "function" if outer is None else "local function"
        cluster = self.cluster(kind, title, outer, function)
        for var in function.params:
            self.sources[var] = (self.node("parameter", var.name_hint, cluster, var, None),)
        self.result(function.body, cluster)
        return cluster

    def result(self, body: Expr, cluster: int) -> None:
        """The box at the end of a function."""
        found, last = self.value(body, cluster), _last(body)
        key = self.node("result", "return", cluster, last, None)
        made = self.picture.node(key)
        made.info, made.shape = None, ""
        made.detail = "" if found else fit(literal(last) or "()", LONGEST_DETAIL)
        self.edges(found, key)

    def blocks(self, seq: SeqExpr, cluster: int) -> None:
        for block in seq.blocks:
            inner = cluster
            if isinstance(block, DataflowBlock) and block.bindings:
                inner = self.cluster("dataflow", "dataflow", cluster, block)
            for binding in block.bindings:
                self.picture.bindings += 1
                self.binding(binding, inner)

    def binding(self, binding: Binding, cluster: int) -> None:
        var, value = binding.var, binding.value
        first = self.picture.next_key()
        match binding:
            case MatchCast():
                operands = self.operands([value], cluster)
                key = self.node("match_cast", "match_cast", cluster, value, var)
                self.put_in(operands, key)
                self.sources[var] = (key,)
            case _ if isinstance(value, Function):
                self.sources[var] = (first,)
                self.function(value, cluster, f"def {var.name_hint}")
            case _:
                self.sources[var] = self.value(value, cluster, var)
        for key in self.sources[var]:
            if key >= first:
                self.picture.items[key].origin = binding

    # ---- expressions

    def value(self, expr: Expr, cluster: int, var: Var | None = None) -> tuple[int, ...]:
        """The items that a value comes from; `var` is what it is bound to."""
        match expr:
            case SeqExpr(body=body):
                self.blocks(expr, cluster)
                return self.value(body, cluster, var)
            case Var() if var is None:
                return self.variable(expr)
            case Function():
                return (self.function(expr, cluster, "function"),)
            case If():
                return (self.choice(expr, cluster, var),)
            case Tuple(fields=fields) if var is None:
                return tuple(key for field in fields for key in self.value(field, cluster))
        if var is None and not isinstance(expr, Constant) and literal(expr) is not None:
            return ()
        kind, title, inside = _described(expr)
        if kind == "function" and title == self.picture.name:
            title = f"{fit(title, 20)} (recursion)"
        callee: tuple[int, ...] = ()
        if kind == "closure" and isinstance(expr, Call):
            callee = self.value(expr.op, cluster)
        operands = self.operands(inside, cluster)
        key = self.node(kind, title, cluster, expr, var)
        self.edges(callee, key)
        self.put_in(operands, key)
        return (key,)

    def operands(self, operands: Sequence[Expr], cluster: int) -> _Operands:
        """The sources of operands, and in words those that are no values of their own."""
        sources: list[tuple[int, ...]] = []
        said: list[str] = []
        for operand in _flat(operands):
            text = literal(operand)
            sources.append(self.value(operand, cluster) if text is None else ())
            said += [text] if text is not None else []
        return sources, tuple(said)

    def put_in(self, operands: _Operands, key: int) -> None:
        """Lead operands to the box that uses them."""
        node = self.picture.node(key)
        sources, node.literals = operands
        node.detail = fit(", ".join(node.literals), LONGEST_DETAIL)
        for place, found in enumerate(sources):
            self.edges(found, key, place)

    def variable(self, var: Var) -> tuple[int, ...]:
        """The items of a variable; one that nothing binds is a box of its own."""
        if var not in self.sources:
            self.sources[var] = (self.node("free", var.name_hint, self.picture.root, var, None),)
        return self.sources[var]

    def choice(self, expr: If, cluster: int, var: Var | None) -> int:
        """An `if`: what it asks, a cluster for each branch, and where they meet."""
        operands = self.operands([expr.cond], cluster)
        asked = self.node("condition", "if", cluster, expr, None)
        node = self.picture.node(asked)
        node.info, node.shape = None, ""
        self.put_in(operands, asked)
        ends = []
        for title, branch in (("then", expr.true_branch), ("else", expr.false_branch)):
            inner = self.cluster("branch", title, cluster, branch)
            self.picture.edges.append(DrawnEdge(asked, inner, control=True))
            found = self.value(branch, inner)
            if not any(inner in self.picture.around(key) for key in found):
                last = _last(branch)
                name = last.name_hint if isinstance(last, Var) else literal(last) or "()"
                passed = self.node("name", name, inner, last, None)
                self.edges(found, passed)
                found = (passed,)
            ends.append(found)
        merged = self.node("merge", "either", cluster, expr, var)
        for place, found in enumerate(ends):
            self.edges(found, merged, place)
        return merged


def _described(expr: Expr) -> tuple[NodeKind, str, Sequence[Expr]]:
    """The kind and title of a box, and what is put into it."""
    match expr:
        case Call(op=op, args=args):
            return _called(op, args)
        case TupleGetItem(tuple_value=value, index=index):
            return "field", f"[{index}]", [value]
        case Tuple(fields=fields):
            return "tuple", "tuple" if fields else "()", fields
        case Constant():
            return "constant", literal(expr) or "constant", []
        case Var():
            return "name", "=", [expr]
    said = literal(expr)
    return ("constant", said, []) if said is not None else ("operator", type(expr).__name__, [])


def _called(op: Expr, args: Sequence[Expr]) -> tuple[NodeKind, str, Sequence[Expr]]:
    """The same of a call; an operator that calls a function goes by its name."""
    match op, args:
        case Op(), (GlobalVar(name_hint=name), *others):
            return "kernel", name, others
        case Op(), (ExternFunc(global_symbol=name), *others):
            return "packed", name, others
        case Op(), _:
            return "operator", operator_name(op), args
        case GlobalVar(name_hint=name), _:
            return "function", name, args
        case ExternFunc(global_symbol=name), _:
            return "packed", name, args
    return "closure", op.name_hint if isinstance(op, Var) else "call", args


def _known(expr: Expr) -> StructInfo | None:
    """The StructInfo of an expression that is known already; nothing is derived for a picture."""
    if isinstance(expr, Constant):
        return expr.struct_info
    return expr.known_info if not isinstance(expr, Var) else expr.struct_info


def _last(expr: Expr) -> Expr:
    return _last(expr.body) if isinstance(expr, SeqExpr) else expr


def _flat(operands: Sequence[Expr]) -> list[Expr]:
    """The operands with those in tuples, however deep."""
    found: list[Expr] = []
    for operand in operands:
        found += _flat(operand.fields) if isinstance(operand, Tuple) else [operand]
    return found


def _place_leaves(picture: Picture) -> None:
    """Move each parameter and constant into the dataflow block in which alone it is used.

    So a constant stands beside what uses it, and a parameter beside the frame. Those that the first
    step uses stand above it. None moves into a branch or a local function, which it is outside of.
    """
    users = picture.users()

    def begins(cluster: int) -> int | None:
        """The first step of a cluster."""
        members = picture.cluster(cluster).members
        return next((key for key in members if not picture.is_leaf(key)), None)

    for node in picture.nodes():
        if not node.is_leaf or node.key not in users:
            continue
        paths = [[*picture.around(user)][::-1] for user in users[node.key]]
        shared = [level[0] for level in zip(*paths) if len(set(level)) == 1]
        if node.cluster not in shared:
            continue  # a constant of a block that is used behind it
        inside = shared[shared.index(node.cluster) + 1 :]
        home = node.cluster
        for cluster in inside:
            if picture.cluster(cluster).kind != "dataflow":
                break
            home = cluster
        if node.kind == "parameter" and begins(home) in users[node.key]:
            continue
        if home != node.cluster:
            picture.move(node.key, home)
