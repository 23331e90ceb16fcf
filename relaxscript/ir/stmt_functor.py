"""Visits and transformations of statements and scalars of TIR, by TVM's names.

Only statements and scalar expressions are visited. Variables that are defined, buffers and the
combiners of reductions are no such parts: a loop's variable is visited where it is used.

Source: TVM `tir.stmt_functor`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import is_not
from typing import Any, TypeVar

from relaxscript.errors import meant_hint, nearest

from . import prim, tir, tir_compute, walk
from .field_types import brief
from .node import Node, fields_of, traversal_of
from .prim import PrimExpr, Var
from .prim_func_facts import facts_of
from .tir import Block, Buffer, PrimFunc, SeqStmt, Stmt

__all__ = [
    "all_parts", "inner_statements", "ir_transform", "part_names", "parts_of_tir",
    "post_order_visit", "pre_order_visit", "rebuild_tir", "renew_defs", "renewed_buffer",
    "rewrite_tir", "substitute",
]  # fmt: skip

Part = TypeVar("Part", bound=Node)
Transform = Callable[[Any], Any]

# What is between a statement and the scalars in it.
_CONTAINERS = (tir.Range, tir.IterVar, tir.BufferRegion, tir.MatchBufferRegion)
_names: dict[type[Node], tuple[str, ...]] = {}
_readers: dict[type[Node], Callable[[Any], list[Stmt | PrimExpr]]] = {}
_rebuilders: dict[type[Node], Callable[[Any, Mapping[int, Any]], Any]] = {}


def part_names(cls: type[Node]) -> tuple[str, ...]:
    """The fields of a class in which statements and scalars are that belong to a node."""
    found = _names.get(cls)
    if found is None:
        own = [f for f in traversal_of(cls) if not (f.leaf or f.definition)]
        if issubclass(cls, Block):  # A block starts what its body goes on with.
            own.sort(key=lambda f: f.name == "body")
        hidden = {"annotations", "node", "combiner", "producer", "data"}
        found = _names[cls] = tuple(f.name for f in own if f.name not in hidden)
    return found


def parts_of_tir(node: Node) -> list[Stmt | PrimExpr]:
    """The statements and scalars directly in a node, in the order of its fields."""
    read = _readers.get(node.__class__)
    return (_reader(node.__class__) if read is None else read)(node)


# What a field of a declared type adds to the parts of a node; nothing where it holds none.
_ADDED = {
    "Block": "node.{0}",
    "Buffer": "",
    "BufferRegion": "*_parts(node.{0})",
    "IterVar | None": "*(() if node.{0} is None else _parts(node.{0}))",
    "Op | GlobalVar": "",
    "PointerType | None": "",
    "PrimExpr": "node.{0}",
    "PrimExpr | None": "*(() if node.{0} is None else (node.{0},))",
    "Range | None": "*(() if node.{0} is None else _parts(node.{0}))",
    "Stmt": "node.{0}",
    "Stmt | None": "*(() if node.{0} is None else (node.{0},))",
    "tuple[BufferRegion, ...]": "*[part for each in node.{0} for part in _parts(each)]",
    "tuple[IterVar, ...]": "*[part for each in node.{0} for part in _parts(each)]",
    "tuple[MatchBufferRegion, ...]": "*[part for each in node.{0} for part in _parts(each)]",
    "tuple[PrimExpr, ...]": "*node.{0}",
    "tuple[Range, ...]": "*[part for each in node.{0} for part in (each.min, each.extent)]",
    "tuple[Stmt, ...]": "*node.{0}",
}


def _reader(cls: type[Node]) -> Callable[[Any], list[Stmt | PrimExpr]]:
    """A function that reads the parts of the nodes of a class, made of the types of its fields."""
    declared = {f.name: f.annotation for f in traversal_of(cls)}
    added = [_ADDED.get(declared[n], "*_collected(node.{0})").format(n) for n in part_names(cls)]
    source = f"lambda node: [{', '.join(filter(None, added))}]"
    read: Callable[[Any], list[Stmt | PrimExpr]] = eval(
        source, {"_collected": _collected, "_parts": parts_of_tir}
    )
    _readers[cls] = read
    return read


def inner_statements(stmt: Stmt) -> list[Stmt]:
    """The statements directly in one; scalars, which are most of a function, are passed by."""
    read = _INNER.get(stmt.__class__, _inner)
    return read(stmt)


def _inner(stmt: Stmt) -> list[Stmt]:
    return [part for part in parts_of_tir(stmt) if isinstance(part, Stmt)]


_INNER: dict[type[Stmt], Callable[[Any], list[Stmt]]] = {
    tir.SeqStmt: lambda stmt: [*stmt.seq],
    tir.BufferStore: lambda stmt: [],
    tir.Evaluate: lambda stmt: [],
    tir.BlockRealize: lambda stmt: [stmt.block],
    tir.Block: lambda stmt: [stmt.body] if stmt.init is None else _inner(stmt),
    tir.For: lambda stmt: [stmt.body],
    tir.LetStmt: lambda stmt: [stmt.body],
    tir.DeclBuffer: lambda stmt: [stmt.body],
}


def _collected(value: Any) -> list[Stmt | PrimExpr]:
    found: list[Stmt | PrimExpr] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[Stmt | PrimExpr]) -> None:
    if isinstance(value, (Stmt, PrimExpr)):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, found)
    elif isinstance(value, _CONTAINERS):
        found += parts_of_tir(value)


def rebuild_tir(node: Part, replacement: Callable[[Any], Any]) -> Part:
    """A node with its parts replaced; itself where each is replaced by itself."""
    changes = {}
    for name in part_names(type(node)):
        value = getattr(node, name)
        new = _replaced(value, replacement)
        if new is not value:
            changes[name] = new
    if not changes:
        return node
    made = node.replace(**changes)
    if isinstance(made, SeqStmt) and any(isinstance(part, SeqStmt) for part in made.seq):
        return SeqStmt(made.seq).replace(span=made.span)  # type: ignore[return-value]
    return made


# How a field of a declared type is made of the parts that are done.
_REBUILT = {
    "Block": "done[id(old_{0})]",
    "BufferRegion": "_rebuilt(old_{0}, done)",
    "IterVar | None": "None if old_{0} is None else _rebuilt(old_{0}, done)",
    "PrimExpr": "done[id(old_{0})]",
    "PrimExpr | None": "None if old_{0} is None else done[id(old_{0})]",
    "Stmt": "done[id(old_{0})]",
    "Stmt | None": "None if old_{0} is None else done[id(old_{0})]",
    "Range | None": "None if old_{0} is None else _rebuilt(old_{0}, done)",
    "tuple[BufferRegion, ...]": "_containers(old_{0}, done)",
    "tuple[IterVar, ...]": "_containers(old_{0}, done)",
    "tuple[MatchBufferRegion, ...]": "_containers(old_{0}, done)",
    "tuple[PrimExpr, ...]": "_items(old_{0}, done)",
    "tuple[Range, ...]": "_containers(old_{0}, done)",
}


def _rebuilder(cls: type[Node]) -> Callable[[Any, Mapping[int, Any]], Any]:
    """A function of a node of a class, and of what each of its parts becomes by its identity.

    It gives what `rebuild_tir` gives. It is made of the types of the fields, where these are plain.
    """
    declared = {f.name: f.annotation for f in traversal_of(cls)}
    names = part_names(cls)
    if cls is SeqStmt or any(
        _REBUILT.get(declared[n], _ADDED.get(declared[n])) is None for n in names
    ):
        rebuild = _rebuild_slowly
    else:
        names = tuple([n for n in names if declared[n] in _REBUILT])
        lines = [
            f"    old_{n} = node.{n}; new_{n} = {_REBUILT[declared[n]].format(n)}" for n in names
        ]
        same = " and ".join([f"new_{n} is old_{n}" for n in names]) or "True"
        fields = [f"new_{f.name}" if f.name in names else f"node.{f.name}" for f in fields_of(cls)]
        made = f"_cls.make({', '.join(fields)}, span=node.span)"
        source = ["def rebuild(node, done):", *lines, f"    return node if {same} else {made}"]
        scope: dict[str, Any] = {
            "_cls": cls, "_containers": _containers, "_items": _items, "_rebuilt": _rebuilt,
        }  # fmt: skip
        exec("\n".join(source), scope)
        rebuild = scope["rebuild"]
    _rebuilders[cls] = rebuild
    return rebuild


def _rebuild_slowly(node: Any, done: Mapping[int, Any]) -> Any:
    return rebuild_tir(node, lambda part: done[id(part)])


def _items(old: tuple[Any, ...], done: Mapping[int, Any]) -> tuple[Any, ...]:
    new = tuple([done[id(item)] for item in old])
    return new if any(map(is_not, new, old)) else old


def _rebuilt(node: Any, done: Mapping[int, Any]) -> Any:
    """A container between a statement and scalars, with these replaced."""
    return (_rebuilders.get(node.__class__) or _rebuilder(node.__class__))(node, done)


def _containers(old: tuple[Any, ...], done: Mapping[int, Any]) -> tuple[Any, ...]:
    new = tuple([_rebuilt(item, done) for item in old])
    return new if any(map(is_not, new, old)) else old


def _replaced(value: Any, replacement: Callable[[Any], Any]) -> Any:
    if isinstance(value, (Stmt, PrimExpr)):
        return replacement(value)
    if isinstance(value, tuple):
        items = tuple([_replaced(item, replacement) for item in value])
        return items if any(a is not b for a, b in zip(items, value)) else value
    return rebuild_tir(value, replacement) if isinstance(value, _CONTAINERS) else value


def _root(name: str, node: Any) -> Stmt | PrimExpr:
    """The statement or scalar at which a visit begins; that of a PrimFunc is its body."""
    root = node.body if isinstance(node, PrimFunc) else node
    if not isinstance(root, (Stmt, PrimExpr)):
        raise TypeError(
            f"`tir.stmt_functor.{name}` takes a statement, a scalar or a PrimFunc, "
            f"not {brief(node)}"
        )
    return root


def post_order_visit(stmt: Stmt | PrimExpr | PrimFunc, fvisit: Callable[[Any], Any]) -> None:
    """Call `fvisit` with every statement and scalar in `stmt` once, parts before the whole.

        parts = []
        post_order_visit(func.body, parts.append)
        loads = [e for e in parts if isinstance(e, tir.BufferLoad)]

    Source: TVM `tir.stmt_functor.post_order_visit`.
    """
    seen: set[int] = set()
    # None stands above a node whose parts have been visited.
    stack: list[Stmt | PrimExpr | None] = [_root("post_order_visit", stmt)]
    while stack:
        node = stack.pop()
        if node is None:
            fvisit(stack.pop())
        elif id(node) not in seen:
            seen.add(id(node))
            parts = parts_of_tir(node)
            if not parts:
                fvisit(node)
            else:
                stack += (node, None, *parts[::-1])


def pre_order_visit(stmt: Stmt | PrimExpr | PrimFunc, fvisit: Callable[[Any], Any]) -> None:
    """Call `fvisit` with every statement and scalar in `stmt` once, the whole before its parts.

    Where it returns False, the parts are not visited. Source: TVM
    `tir.stmt_functor.pre_order_visit`.
    """
    seen: set[int] = set()
    stack = [_root("pre_order_visit", stmt)]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        # As in TVM, nothing returned is no reason to stop.
        goes_on = fvisit(node)
        if goes_on is None or goes_on:
            stack += parts_of_tir(node)[::-1]


def all_parts(func: PrimFunc) -> tuple[Stmt | PrimExpr, ...]:
    """All statements and scalars of a PrimFunc, each once, the whole before its parts.

    They are remembered: many passes ask a function for its calls or its stores.
    """
    facts = facts_of(func)
    if "parts" not in facts:
        parts: list[Stmt | PrimExpr] = []
        pre_order_visit(func.body, parts.append)
        facts["parts"] = tuple(parts)
    found: tuple[Stmt | PrimExpr, ...] = facts["parts"]
    return found


def rewrite_tir(
    root: Part, step: Transform | None, first: Mapping[type[Node], Transform] | None = None
) -> Part:
    """Rebuild statements and scalars bottom-up, each once; None from `step` keeps a node.

    As `walk.rewrite`, but variables that are defined and buffers stay. They are not visited, and
    most of the nodes around a load. `first` has functions for some classes, asked before the parts
    of a node: what one of them gives takes its place, without `step` and entered no more.
    """
    done: dict[int, Any] = {}
    early = first or {}
    # None stands above a node whose parts are done.
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            node = stack.pop()
            made = (_rebuilders.get(node.__class__) or _rebuilder(node.__class__))(node, done)
        elif id(node) in done:
            continue
        else:
            ask = early.get(node.__class__)
            if ask is not None and (made := ask(node)) is not None:
                done[id(node)] = made
                continue
            parts = (_readers.get(node.__class__) or _reader(node.__class__))(node)
            if parts:
                parts.reverse()
                stack += (node, None, *parts)
                continue
            made = node
        replacement = None if step is None else step(made)
        done[id(node)] = made if replacement is None else replacement
    return done[id(root)]  # type: ignore[no-any-return]


def ir_transform(
    stmt: Stmt | PrimExpr, preorder: Transform | None, postorder: Transform | None,
    only_enable: Sequence[str] | None = None,
) -> Any:  # fmt: skip
    """`stmt` with its parts replaced by what two functions return; None leaves a part.

    What `preorder` returns takes the place of a part, which is then not entered. `postorder` gets a
    part after its own parts were replaced. `only_enable` names the classes for which they are
    called, `["tir.For"]`. The same object comes back where nothing is replaced.

    Raises `TypeError` where a statement would take the place of a scalar, or the other way round.
    Raises `ValueError` for a name of no class. Source: TVM `tir.stmt_functor.ir_transform`.
    """
    root = _root("ir_transform", stmt)
    if root is not stmt:
        raise TypeError("`tir.stmt_functor.ir_transform` takes the body of a PrimFunc, `func.body`")
    enabled = None if only_enable is None else tuple([_class_named(name) for name in only_enable])
    done: dict[int, Node] = {}
    stack: list[tuple[Stmt | PrimExpr, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        called = not enabled or isinstance(node, enabled)
        if ready:
            made = rebuild_tir(node, lambda part: done[id(part)])
            new = _result("postorder", postorder if called else None, made)
            done[id(node)] = made if new is None else new
        elif id(node) not in done:
            new = _result("preorder", preorder if called else None, node)
            if new is not None:
                done[id(node)] = new
                continue
            stack.append((node, True))
            stack += [(part, False) for part in reversed(parts_of_tir(node))]
    return done[id(root)]


def _result(name: str, function: Transform | None, node: Stmt | PrimExpr) -> Node | None:
    """The replacement that a function gives for a node; None for none."""
    found = None if function is None else function(node)
    wanted, noun = (Stmt, "statement") if isinstance(node, Stmt) else (PrimExpr, "scalar")
    if found is not None and not isinstance(found, wanted):
        raise TypeError(f"`{name}` gives {brief(found)}, where {brief(node)} is a {noun}")
    return found


_CLASSES = {
    name: cls
    for module in (prim, tir, tir_compute)
    for name in module.__all__
    if isinstance(cls := getattr(module, name), type) and issubclass(cls, (Stmt, PrimExpr))
}


def _class_named(name: str) -> type[Node]:
    """The class that TVM registers by a name, "tir.For"."""
    found = _CLASSES.get(name.rpartition(".")[2])
    if found is None:
        hint = meant_hint(nearest(name.rpartition(".")[2], _CLASSES))
        raise ValueError(
            f"`only_enable` names classes of statements and scalars, not {name!r}{hint}"
        )
    return found


def substitute(node: Any, vmap: Mapping[Var, Any]) -> Any:
    """`node` with variables replaced by scalars, also in the shapes of buffers.

    A number is taken in the dtype of its variable. A variable that is defined inside can be
    replaced by another variable only. Raises `TypeError` for anything else, and where dtypes
    differ.

    Source: TVM `tir.stmt_functor.substitute`.
    """
    return walk.substitute(node, {var: _value(var, value) for var, value in vmap.items()})


def _value(var: Any, value: Any) -> Any:
    if not isinstance(var, Var):
        return value
    made = prim.like(value, var)
    if made.dtype is not var.dtype:
        raise TypeError(
            f"`{var.name}` is of {var.dtype}, and what would replace it of {made.dtype}; "
            f'convert it: `.astype("{var.dtype}")`'
        )
    return made


def renew_defs(func: PrimFunc) -> PrimFunc:
    """A copy of a PrimFunc in which everything that it defines is new: variables and buffers.

    Two copies in one module share nothing. Source: TVM `tir.stmt_functor.renew_defs`.
    """
    bound = walk.bound_vars(func)
    renamed = walk.Substitution(
        {
            var: type(var).make(var.name, var.dtype, var.type_annotation)
            for var in bound
            if isinstance(var, Var)
        }
    )
    buffers = {b: renewed_buffer(b, renamed) for b in bound if isinstance(b, Buffer)}
    for old, new in buffers.items():
        renamed[old] = new
    return renamed.apply(func)


def renewed_buffer(buffer: Buffer, renamed: walk.Substitution) -> Buffer:
    """A new buffer over renamed variables."""
    values = {f.name: getattr(buffer, f.name) for f in traversal_of(Buffer)}
    for name in ("shape", "strides"):
        values[name] = tuple([renamed.apply(e) for e in values[name]])
    values["data"] = renamed.get(buffer.data, buffer.data)
    if buffer.elem_offset is not None:
        values["elem_offset"] = renamed.apply(buffer.elem_offset)
    return Buffer.make(**values)
