"""Traversal and rewriting, derived from the fields of the nodes: one copy serves every IR.

Nothing here recurses, so expressions may be nested a hundred thousand deep.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from . import prim, relax
from .field_roles import dimensions, parts_of
from .field_types import brief
from .inner_nodes import (
    CHILDLESS,
    HOLDERS,
    READERS,
    children,
    inner_fields,
    nodes_in,
    reader_of,
)
from .known_results import is_renamed_by_operands, renamed_call
from .node import FieldInfo, Node, traversal_of
from .relax import Attrs
from .struct_info import FuncStructInfo, StructInfo
from .tir import Buffer
from .variable_shapes import has_variable_shape

__all__ = [
    "Substitution", "TypeVariables", "bound_vars", "children", "compounds",
    "defined_by", "free_vars", "is_variable", "mentioned", "nodes_in", "post_order", "rewrite",
    "rewrite_compounds", "rewrite_top_down", "scope_order", "sees_itself",
    "substitute", "variables", "walk",
]  # fmt: skip

N = TypeVar("N", bound=Node)
R = TypeVar("R", bound=relax.Expr)

Step = Callable[[Node], "Node | None"]


def walk(root: Node) -> Iterator[Node]:
    """Every node inside `root`, itself first, parents before children.

    A node that is shared comes each time, but what is inside of it once.
    """
    entered: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        cls = node.__class__
        # Most are variables and numbers, in which there is nothing.
        if cls not in CHILDLESS and id(node) not in entered:
            entered.add(id(node))
            inside = (READERS.get(cls) or reader_of(cls))(node)
            inside.reverse()
            stack += inside


def post_order(root: Node) -> Iterator[Node]:
    """Every node inside `root` once, children before parents, `root` last."""
    seen: set[int] = set()
    # None stands above a node whose parts have been gone through.
    stack: list[Node | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            yield cast(Node, stack.pop())
        elif id(node) not in seen:
            seen.add(id(node))
            cls = node.__class__
            inside = (READERS.get(cls) or reader_of(cls))(node)
            if inside:
                inside.reverse()
                stack += (node, None, *inside)
            else:
                yield node


_LEAVES = frozenset({
    relax.Constant, relax.Var, relax.DataflowVar, relax.GlobalVar, relax.PrimValue, relax.StringImm,
    relax.DataTypeImm, relax.ShapeExpr, relax.ExternFunc, relax.Op,
})  # fmt: skip


def compounds(root: relax.Expr, without: type[Node] | None = None) -> Iterator[Node]:
    """The parts of an expression above its leaves: functions, blocks, bindings, calls, tuples.

    Parents come before children, each once. Neither leaves nor what is known of them is gone
    through, which is most of a program: whoever looks for calls or bindings asks here, not `walk`.
    Nodes of the class `without` are left out, with all that is inside of them.
    """
    if root.__class__ is not relax.Function or without is not None:
        return _compounds(root, without)
    inside: tuple[Node, ...] | None = root.known_compounds
    if inside is None:
        # Without itself: it would hold itself, and only the collector would end it.
        inside = (*_compounds(root, None),)[1:]
        relax.remember_compounds(root, inside)
    return iter((root, *inside))


def _compounds(root: Node, without: type[Node] | None) -> Iterator[Node]:
    seen: set[int] = set()
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if node.__class__ in _LEAVES or id(node) in seen or node.__class__ is without:
            continue
        seen.add(id(node))
        yield node
        stack.extend(_inside(node))


def _inside(node: Node) -> Sequence[Node]:
    """The expressions, blocks and bindings directly in a node, the last one first."""
    match node:
        case relax.VarBinding(value=value) | relax.MatchCast(value=value):
            return () if value.__class__ in _LEAVES else (value,)
        case relax.Call(op=op, args=args):
            return [e for e in (*reversed(args), op) if e.__class__ not in _LEAVES]
        case relax.BindingBlock(bindings=bindings):
            return bindings[::-1]
        case relax.Tuple(fields=fields):
            return [e for e in reversed(fields) if e.__class__ not in _LEAVES]
        case relax.SeqExpr(blocks=blocks, body=body):
            return (body, *reversed(blocks))
        case relax.Function(body=body):
            return (body,)
    return [n for n in reversed(children(node)) if isinstance(n, relax.Expr)]


def rewrite(root: N, step: Step) -> N:
    """Rebuild bottom-up; `step` returns a replacement, or None to keep the node.

    Unchanged subtrees come back as the same objects, so `result is root` means nothing happened.
    Each shared node is rebuilt once, so a variable stays one variable. Places of operands are kept.
    """
    done: dict[int, Node] = {}
    for node in post_order(root):
        rebuilt = _rebuild(node, done, inner_fields(type(node)))
        replacement = step(rebuilt)
        done[id(node)] = rebuilt if replacement is None else replacement
    return cast(N, done[id(root)])


def rewrite_top_down(root: N, step: Step) -> N:
    """As `rewrite`, but `step` sees the original node, and its replacement is not entered.

    Use it to replace whole subtrees, or to keep some from being visited.
    """
    done: dict[int, Node] = {}
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            done[id(node)] = _rebuild(node, done, inner_fields(type(node)))
        elif id(node) not in done:
            replacement = step(node)
            if replacement is not None:
                done[id(node)] = replacement
                continue
            stack.append((node, True))
            stack.extend((c, False) for c in reversed(children(node)) if id(c) not in done)
    return cast(N, done[id(root)])


def rewrite_compounds(root: R, step: Step) -> R:
    """As `rewrite`, of what `compounds` goes through only: functions, blocks, bindings, branches.

    `step` is not asked about calls and tuples, which hold none of these in normal form.
    """
    done: dict[int, Node] = {}
    for node in reversed(list(compounds(root))):
        if node.__class__ in (relax.Call, relax.Tuple, relax.TupleGetItem):
            continue
        rebuilt = _rebuild(node, done, _HOLDS.get(type(node), ()))
        replacement = step(rebuilt)
        made = rebuilt if replacement is None else replacement
        if made is not node:
            done[id(node)] = made
    return cast(R, done.get(id(root), root))


_HOLDS: dict[type[Node], tuple[str, ...]] = {
    relax.Function: ("body",),
    relax.SeqExpr: ("blocks", "body"),
    relax.BindingBlock: ("bindings",),
    relax.DataflowBlock: ("bindings",),
    relax.VarBinding: ("value",),
    relax.MatchCast: ("value",),
    relax.If: ("true_branch", "false_branch"),
}


def _rebuild(node: Node, done: dict[int, Node], fields: tuple[str, ...]) -> Node:
    changes: dict[str, Any] = {}
    for name in fields:
        value = getattr(node, name)
        if isinstance(value, Node):
            new: Any = done.get(id(value), value)
        elif value.__class__ in HOLDERS:
            new = _replace_parts(value, done)
        else:
            continue
        if new is not value:
            changes[name] = new
    return node.replace(**changes) if changes else node


def _replace_parts(value: Any, done: dict[int, Node]) -> Any:
    if isinstance(value, Node):
        return done.get(id(value), value)
    if value.__class__ not in HOLDERS:
        return value  # To ask whether a text is a mapping takes longer than all else here.
    if value.__class__ is tuple:
        items = [_replace_parts(item, done) for item in value]
        return value if all(map(operator.is_, items, value)) else tuple(items)
    if isinstance(value, Mapping):
        pairs = [(_replace_parts(k, done), _replace_parts(v, done)) for k, v in value.items()]
        if all(k is k0 and v is v0 for (k, v), (k0, v0) in zip(pairs, value.items())):
            return value
        return Attrs(dict(pairs)) if isinstance(value, Attrs) else dict(pairs)
    return value


class Substitution:
    """Variables (of Relax, scalars or buffers) and what takes the place of each.

    Each is checked once, when it is entered. So a pass may enter a variable, apply what it knows so
    far, and go on to the next.
    """

    def __init__(self, mapping: Mapping[Any, Node] | None = None) -> None:
        self._mapping: dict[Node, Node] = {}
        # Whether variables become variables only, which can occur where they are defined.
        self._renames = True
        # Whether Relax variables become expressions, so that no number or shape changes.
        self._of_relax = True
        for old, new in (mapping or {}).items():
            self[old] = new

    def __setitem__(self, old: Node, new: Node) -> None:
        if not (isinstance(old, Node) and is_variable(old)):
            raise TypeError(f"only variables are substituted, not {brief(old)}")
        if not isinstance(new, Node):
            raise TypeError(f"`{_hint(old)}` can be replaced by a node only, not by {brief(new)}")
        self._renames = self._renames and isinstance(new, _kind(old))
        self._of_relax &= isinstance(old, relax.Var) and isinstance(new, relax.Expr)
        self._mapping[old] = new

    def __bool__(self) -> bool:
        return bool(self._mapping)

    def get(self, var: Any, default: Any = None) -> Any:
        """The replacement of a variable, or `default`."""
        return self._mapping.get(var, default)

    def apply(self, root: N) -> N:
        """`root` with the variables replaced, where defined and where used."""
        if not self._mapping:
            return root
        if self._of_relax and (made := self._step(root)) is not None:
            return cast(N, made)
        rename = self._renames and not self._of_relax
        return rewrite_top_down(root, self._renamed if rename else self._step)

    def _renamed(self, node: Node) -> Node | None:
        # To look up anything else would hash all that it says.
        return self._mapping.get(node) if isinstance(node, _VARIABLES) else None

    def in_call(self, call: relax.Call) -> relax.Call | None:
        """A call of leaves with its variables replaced; None where it must be gone through."""
        if not is_renamed_by_operands(call, self._of_relax):
            return None
        if call.attrs and not all(isinstance(n, prim.Immediate) for n in nodes_in(call.attrs)):
            return None
        op, args = self._leaf(call.op), call.args
        made: list[relax.Expr | None] = [self._leaf(arg, True) for arg in args]
        if op is None or None in made:
            return None
        if op is call.op and all(map(operator.is_, made, args)):
            return call
        return renamed_call(call, op, tuple(made))  # type: ignore[arg-type]

    def _leaf(self, leaf: relax.Expr, operand: bool = False) -> relax.Expr | None:
        """A leaf, or an operand that is a tuple of some; None where it must be gone through."""
        if isinstance(leaf, relax.Var):
            found: relax.Expr = self._mapping.get(leaf, leaf)  # type: ignore[assignment]
            return None if has_variable_shape(leaf.struct_info) else found
        if leaf.__class__ in _LEAVES:
            return leaf
        if not operand or leaf.__class__ is not relax.Tuple:
            return None
        made = [self._leaf(field) for field in leaf.fields]
        if None in made:
            return None
        if all(map(operator.is_, made, leaf.fields)):
            return leaf
        return relax.Tuple.make(tuple(made), leaf.field_spans, span=leaf.span)

    def _step(self, node: Node) -> Node | None:
        if self._of_relax:
            if isinstance(node, StructInfo) and not has_variable_shape(node):
                return node
            if node.__class__ is relax.Call and (made := self.in_call(node)) is not None:
                return made
        if not self._renames:
            _refuse_definition(node, self._mapping)
        return self._mapping.get(node)


def substitute(root: N, mapping: Mapping[Any, Node]) -> N:
    """`root` with variables (of Relax, scalars or buffers) replaced, where defined and where used.

    Where a mapped variable is defined, the replacement must be a variable too. Replacements are
    not substituted again. Since one object is one variable, nothing is ever captured. Where one
    mapping is applied to many roots, `Substitution` checks it once.
    """
    return Substitution(mapping).apply(root)


def _hint(var: Any) -> str:
    return str(var.name_hint if isinstance(var, relax.Var) else var.name)


def _kind(var: Node) -> type[Node]:
    return next(cls for cls in (relax.Var, prim.Var, Buffer) if isinstance(var, cls))


def _refuse_definition(node: Node, mapping: Mapping[Any, Node]) -> None:
    """Refuse to replace the definition of a variable by anything but a variable."""
    for info in traversal_of(type(node)):
        if not info.definition:
            continue
        for var in nodes_in(getattr(node, info.name)):
            if is_variable(var) and var in mapping and not isinstance(mapping[var], _kind(var)):
                raise TypeError(
                    f"`{_hint(var)}` is defined here, so only another variable can replace it, "
                    f"not {brief(mapping[var])}"
                )


_VARIABLES = (relax.Var, prim.Var, Buffer)


def is_variable(node: Node) -> bool:
    """True if a node stands for a variable: identity is its meaning."""
    return isinstance(node, _VARIABLES)


def variables(root: Node) -> list[Node]:
    """All variables in `root` in the order of their first occurrence."""
    return list(dict.fromkeys(filter(is_variable, walk(root))))


def mentioned(expr: relax.Expr) -> list[relax.Var]:
    """The Relax variables among `variables(expr)`; quick for what most bindings are."""
    found: dict[relax.Var, None] = {}
    pending: list[relax.Expr] = [expr]
    if isinstance(expr, relax.Call):
        if any(map(has_variable_shape, expr.sinfo_args)):
            return _relax_variables(expr)
        pending = [expr.op, *expr.args][::-1]
    seen: set[int] = set()
    while pending:
        leaf = pending.pop()
        if isinstance(leaf, relax.Var):
            if has_variable_shape(leaf.struct_info):
                return _relax_variables(expr)
            found[leaf] = None
        elif isinstance(leaf, relax.TupleGetItem):
            pending.append(leaf.tuple_value)
        elif isinstance(leaf, relax.Tuple):
            if id(leaf) not in seen:
                seen.add(id(leaf))
                pending += leaf.fields[::-1]
        elif leaf.__class__ not in _LEAVES:
            return _relax_variables(expr)
    return list(found)


def _relax_variables(root: Node) -> list[relax.Var]:
    return [v for v in variables(root) if isinstance(v, relax.Var)]


def bound_vars(root: Node) -> list[Node]:
    """The variables that `root` defines: Relax variables, shape and loop variables, buffers."""
    bound: dict[Node, None] = {}
    for node in walk(root):
        for info in traversal_of(node.__class__):
            if info.definition:
                bound |= dict.fromkeys(defined_by(node, getattr(node, info.name)))
    return list(bound)


def defined_by(node: Node, value: Any) -> list[Node]:
    """The variables that `value`, which is in a defining field of `node`, defines.

    Parameters and match_casts define the dimensions that stand alone in their StructInfos; the
    variable of a binding takes its StructInfo from its value, so it defines nothing but itself.
    """
    found: list[Node] = []
    stack = nodes_in(value)[::-1]
    # StructInfos may share their parts: what one of them defines is defined.
    met: set[int] = set()
    while stack:
        item = stack.pop()
        if item.is_compound:
            if id(item) in met:
                continue
            met.add(id(item))
        match item:
            case relax.Var():
                found.append(item)
                if not isinstance(node, relax.Binding) and item.struct_info is not None:
                    stack.append(item.struct_info)
            case prim.Var():
                found.append(item)
            case Buffer():
                found.append(item)
                parts = [*item.shape, *item.strides, item.data, item.elem_offset]
                stack.extend(v for v in reversed(parts) if isinstance(v, prim.Var))
            case prim.PrimExpr():
                continue
            case _:
                stack.extend(reversed(_definable(item)))
    return found


def _definable(info: Node) -> list[Node]:
    if not isinstance(info, StructInfo) or info.is_scope:
        return []
    return [*(v for v in dimensions(info) if isinstance(v, prim.Var)), *parts_of(info)]


_ENTER, _DEFINE, _LEAVE = range(3)


def free_vars(root: Node) -> list[Node]:
    """The variables that `root` uses where nothing defines them, in the order of their occurrence.

    A definition reaches to the end of what opens a scope: a function, a SeqExpr, a loop, a Let.
    """
    free: dict[Node, None] = {}
    bound: dict[Node, int] = {}
    # A node is looked at once as long as no scope that was open then has been closed.
    seen: set[int] = set()
    opened: list[tuple[list[Node], list[int]]] = [([], [])]
    types = TypeVariables()
    stack: list[tuple[int, Any]] = [(_ENTER, root)]
    while stack:
        action, node = stack.pop()
        if action == _LEAVE:
            defined, visited = opened.pop()
            for var in defined:
                bound[var] -= 1
            seen.difference_update(visited)
        elif action == _DEFINE:
            for var in node:
                bound[var] = bound.get(var, 0) + 1
            opened[-1][0].extend(node)
        elif id(node) not in seen:
            if isinstance(node, FuncStructInfo):
                seen.add(id(node))
                opened[-1][1].append(id(node))
                free |= {v: None for v in types.free(node) if not bound.get(v)}
                continue
            if node.is_scope:
                stack.append((_LEAVE, None))
                opened.append(([], []))
            seen.add(id(node))
            opened[-1][1].append(id(node))
            if is_variable(node) and not bound.get(node):
                free[node] = None
            _schedule(node, stack)
    return list(free)


def _schedule(node: Node, stack: list[tuple[int, Any]]) -> None:
    """Put the parts of a node on the stack, each definition just before what it reaches."""
    fields = scope_order(type(node), sees_itself(node))
    defined: list[Node] = []
    for info in fields:
        if info.definition:
            defined += defined_by(node, getattr(node, info.name))
    parts: list[tuple[int, Any]] = []
    for info in fields:
        if info.definition and defined:
            parts.append((_DEFINE, defined))
            defined = []
        if not info.leaf:
            parts += [(_ENTER, part) for part in nodes_in(getattr(node, info.name))]
    stack += parts[::-1]


_Ordered = dict[Node, None]


class TypeVariables:
    """The variables of function types and scalars, each part looked at once while this lives.

    Function types share their parts, each in a scope of its own: what is known of a part is made of
    what is known of the parts inside of it.
    """

    def __init__(self) -> None:
        # The parts are kept alive, so that no id is used twice.
        self._known: dict[int, tuple[Node, _Ordered, frozenset[Node]]] = {}

    def free(self, root: Node) -> _Ordered:
        """The variables that nothing inside defines, in the order of their occurrence."""
        return self._of(root)[1]

    def mentioned_variables(self, root: Node) -> frozenset[Node]:
        """Also those that a function type in `root` binds, if they are not known around it."""
        return self._of(root)[2]

    def _of(self, root: Node) -> tuple[Node, _Ordered, frozenset[Node]]:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                self._known[id(node)] = (node, *self._combine(node))
            elif id(node) not in self._known:
                stack.append((node, True))
                stack.extend((child, False) for child in children(node))
        return self._known[id(root)]

    def _combine(self, node: Node) -> tuple[_Ordered, frozenset[Node]]:
        """The variables of a node, from those of its parts."""
        free: _Ordered = {node: None} if is_variable(node) else {}
        met = set(free)
        bound: set[Node] = set()
        defined: set[Node] = set()
        for info in scope_order(type(node)):
            inside = nodes_in(getattr(node, info.name))
            if info.definition:
                bound.update(defined_by(node, getattr(node, info.name)))
                defined.update(filter(is_variable, inside))
            for part in inside:
                _, theirs, all_theirs = self._known[id(part)]
                free |= {v: None for v in theirs if v not in bound}
                met |= all_theirs - defined
        return free, frozenset(met)


def sees_itself(node: Node) -> bool:
    """True if this is the binding of a function, which may call itself."""
    return isinstance(node, relax.VarBinding) and isinstance(node.value, relax.Function)


_orders: dict[tuple[type[Node], bool], tuple[FieldInfo, ...]] = {}


def scope_order(cls: type[Node], recursive: bool = False) -> tuple[FieldInfo, ...]:
    """The fields that are part of the structure: what cannot see the definitions, then these, then
    what can. A `recursive` binding is seen by its own value.
    """
    found = _orders.get((cls, recursive))
    if found is None:
        fields = sorted(traversal_of(cls), key=lambda f: not (f.outer and not recursive))
        found = _orders[cls, recursive] = tuple(fields)
    return found
