"""Traversal and rewriting, derived from the fields of the nodes: one copy serves every IR.

Nothing here recurses, so expressions may be nested a hundred thousand deep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

from . import prim, relax
from .node import Node, traversal_of
from .relax import Attrs
from .struct_info import PrimStructInfo, ShapeStructInfo, TensorStructInfo, TupleStructInfo
from .tir import Buffer

__all__ = [
    "bound_vars", "children", "free_vars", "post_order", "rewrite", "rewrite_top_down",
    "substitute", "variables", "walk",
]  # fmt: skip

N = TypeVar("N", bound=Node)
Step = Callable[[Node], "Node | None"]

_inner: dict[type[Node], tuple[str, ...]] = {}


def _inner_fields(cls: type[Node]) -> tuple[str, ...]:
    names = _inner.get(cls)
    if names is None:
        names = _inner[cls] = tuple(f.name for f in traversal_of(cls) if not f.leaf)
    return names


def children(node: Node) -> list[Node]:
    """The nodes directly inside a node, definitions before their uses."""
    found: list[Node] = []
    for name in _inner_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif value.__class__ in (tuple, dict, Attrs):
            _collect(value, found)
    return found


def _collect(value: Any, found: list[Node]) -> None:
    # Tuples and mappings nest as deep as the declaration of the field, so recursion is shallow.
    if isinstance(value, Node):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, found)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _collect(key, found)
            _collect(item, found)


def walk(root: Node) -> Iterator[Node]:
    """Every node inside `root`, itself first, parents before children; shared nodes each time."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def post_order(root: Node) -> Iterator[Node]:
    """Every node inside `root` once, children before parents, `root` last."""
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children(node)))


def rewrite(root: N, step: Step) -> N:
    """Rebuild bottom-up; `step` returns a replacement, or None to keep the node.

    Unchanged subtrees come back as the same objects, so `result is root` means nothing happened.
    Each shared node is rebuilt once, so a variable stays one variable. Places of operands are kept.
    """
    done: dict[int, Node] = {}
    for node in post_order(root):
        rebuilt = _rebuild(node, done)
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
            done[id(node)] = _rebuild(node, done)
        elif id(node) not in done:
            replacement = step(node)
            if replacement is not None:
                done[id(node)] = replacement
                continue
            stack.append((node, True))
            stack.extend((c, False) for c in reversed(children(node)) if id(c) not in done)
    return cast(N, done[id(root)])


def _rebuild(node: Node, done: dict[int, Node]) -> Node:
    changes: dict[str, Any] = {}
    for name in _inner_fields(type(node)):
        value = getattr(node, name)
        new = _replaced(value, done)
        if new is not value:
            changes[name] = new
    return node.replace(**changes) if changes else node


def _replaced(value: Any, done: dict[int, Node]) -> Any:
    if isinstance(value, Node):
        return done.get(id(value), value)
    if value.__class__ is tuple:
        items = [_replaced(item, done) for item in value]
        return tuple(items) if any(a is not b for a, b in zip(items, value)) else value
    if isinstance(value, Mapping):
        pairs = [(_replaced(k, done), _replaced(v, done)) for k, v in value.items()]
        if all(k is k0 and v is v0 for (k, v), (k0, v0) in zip(pairs, value.items())):
            return value
        return Attrs(dict(pairs)) if isinstance(value, Attrs) else dict(pairs)
    return value


def substitute(root: N, mapping: Mapping[Any, Node]) -> N:
    """`root` with variables (of Relax, scalars or buffers) replaced, where defined and where used.

    Where a mapped variable is defined, the replacement must be a variable too. Replacements are
    not substituted again. Since one object is one variable, nothing is ever captured.
    """
    if not mapping:
        return root
    return rewrite_top_down(root, lambda node: mapping.get(node))


def is_variable(node: Node) -> bool:
    """Whether a node stands for a variable: identity is its meaning."""
    return isinstance(node, (relax.Var, prim.Var, Buffer))


def variables(root: Node) -> list[Node]:
    """All variables in `root` in the order of their first occurrence."""
    return list(dict.fromkeys(node for node in _once(root) if is_variable(node)))


def _once(root: Node) -> Iterator[Node]:
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(reversed(children(node)))


def bound_vars(root: Node) -> list[Node]:
    """The variables that `root` defines: Relax variables, shape and loop variables, buffers."""
    bound: dict[Node, None] = {}
    for node in _once(root):
        for info in traversal_of(type(node)):
            if info.definition:
                _collect_defined(getattr(node, info.name), bound)
    return list(bound)


def _collect_defined(value: Any, bound: dict[Node, None]) -> None:
    stack: list[Node] = []
    _collect(value, stack)
    while stack:
        node = stack.pop(0)
        if is_variable(node):
            bound[node] = None
        match node:
            case relax.Var():
                # A parameter or match_cast defines the dimensions that stand alone in it.
                stack.extend(_definable(node.struct_info))
            case Buffer():
                stack.extend(v for e in (*node.shape, *node.strides) for v in [e] if is_variable(v))
                stack.extend([] if node.data is None else [node.data])
                offset = node.elem_offset
                stack.extend([offset] if offset is not None and is_variable(offset) else [])
            case prim.PrimExpr():
                continue
            case _:
                stack.extend(_definable(node))


def _definable(info: Node | None) -> list[Node]:
    match info:
        case TensorStructInfo(shape=relax.ShapeExpr(dims)) | ShapeStructInfo(values=tuple(dims)):
            return [v for v in dims if isinstance(v, prim.Var)]
        case PrimStructInfo(value=prim.Var() as value):
            return [value]
        case TupleStructInfo(fields):
            return [v for f in fields for v in _definable(f)]
    return []


def free_vars(root: Node) -> list[Node]:
    """The variables that `root` uses and does not define, in the order of their occurrence."""
    bound = set(bound_vars(root))
    return [v for v in variables(root) if v not in bound]
