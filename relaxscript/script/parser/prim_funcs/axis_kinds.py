"""Axes of blocks whose kind does not fit what the block writes, and reductions without a start.

All of it is legal, so each is a warning. One is about an axis that is spatial though the block
accumulates over it. One is about an axis of reduction that tells written elements apart. One is
about a sum that begins with whatever is in memory. A script that names the written buffer in its
`T.reads` says that it means to add to what is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from relaxscript.errors import Diagnostic, Edit, Label, Span, did_you_mean
from relaxscript.ir import prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import Block, Buffer, BufferStore
from relaxscript.ir.walk import children, walk

__all__ = ["AxisPlace", "doubtful_blocks"]


@dataclass(frozen=True)
class AxisPlace:
    """The place where the kind of an axis is written, and how the line reads with another kind."""

    span: Span | None
    other: Callable[[str], str | None]


@dataclass
class _Stores:
    """The stores of a block, and for each variable the axes that it depends on."""

    stores: list[BufferStore] = field(default_factory=list)
    depends: dict[prim.Var, set[prim.Var]] = field(default_factory=dict)
    is_opaque: bool = False

    def axes_of(self, root: Node) -> set[prim.Var]:
        """The axes that an expression depends on."""
        found: set[prim.Var] = set()
        for node in walk(root):
            if isinstance(node, prim.Var):
                found |= self.depends.get(node, set())
        return found

    def visit(self, root: Node) -> None:
        """Collect from a statement; what binds a variable is seen before what uses it."""
        pending = [root]
        while pending:
            node = pending.pop()
            match node:
                case BufferStore():
                    self.stores.append(node)
                    if any(isinstance(e, prim.Call) and not _is_plain(e) for e in walk(node.value)):
                        self.is_opaque = True
                    continue
                case tir.LetStmt(var=var, value=value):
                    self.depends[var] = self.axes_of(value)
                case tir.For(loop_var=var, min=low, extent=extent):
                    self.depends[var] = self.axes_of(low) | self.axes_of(extent)
                case tir.BlockRealize(iter_values=values, block=inner):
                    for axis, value in zip(inner.iter_vars, values):
                        self.depends[axis.var] = self.axes_of(value)
                    pending.extend([inner.body, *([inner.init] if inner.init else [])])
                    continue
                case prim.Call() if not _is_plain(node):
                    self.is_opaque = True
            pending.extend(c for c in reversed(children(node)) if not isinstance(c, Buffer))


def _is_plain(call: prim.Call) -> bool:
    return all(a.dtype.kind != "handle" or isinstance(a, prim.StringImm) for a in call.args)


def _accumulates(store: BufferStore) -> bool:
    """True if a store makes the new value of an element of the old one."""
    return any(
        isinstance(e, prim.BufferLoad)
        and e.buffer is store.buffer
        and structural_equal(e.indices, store.indices)
        for e in walk(store.value)
    )


def doubtful_blocks(
    func: tir.PrimFunc, places: Mapping[prim.Var, AxisPlace],
    declares_reads: Callable[[Block], bool],
) -> Iterator[Diagnostic]:  # fmt: skip
    """Warnings about the blocks of a function, in the order in which they run."""
    touched = _reached_by_address(func)
    pending: list[Node] = [func.body]
    while pending:
        node = pending.pop()
        if isinstance(node, Block):
            inner = [part for part in (node.init, node.body) if part is not None]
            if node.iter_vars:
                yield from _of_block(node, places, touched, declares_reads(node))
            # What gives another name to memory hides who writes it.
            touched.update(match.source.buffer for match in node.match_buffers)
            touched.update(match.buffer for match in node.match_buffers)
            pending.extend(reversed(inner))
            continue
        if isinstance(node, BufferStore):
            touched.add(node.buffer)
        elif isinstance(node, prim.Call):
            touched.update(e.buffer for a in node.args for e in walk(a)
                           if isinstance(e, prim.BufferLoad))  # fmt: skip
        pending.extend(c for c in reversed(children(node)) if not isinstance(c, Buffer))


def _reached_by_address(func: tir.PrimFunc) -> set[Buffer]:
    """The buffers whose pointer is used somewhere else as well: others may write into them."""
    nodes = list(walk(func))  # what is inside of a buffer is met once
    uses = Counter(node for node in nodes if isinstance(node, prim.Var))
    return {node for node in nodes if isinstance(node, Buffer) and uses[node.data] > 1}


def _of_block(
    block: Block, places: Mapping[prim.Var, AxisPlace], touched: set[Buffer], declares_reads: bool
) -> Iterator[Diagnostic]:
    found = _Stores(depends={axis.var: {axis.var} for axis in block.iter_vars})
    for part in (block.init, block.body):
        if part is not None:
            found.visit(part)
    if found.is_opaque or not found.stores:
        return
    sums = [store for store in found.stores if _accumulates(store)]
    written = set[prim.Var]().union(
        *(found.axes_of(index) for store in found.stores for index in store.indices)
    )
    used = set[prim.Var]().union(*(found.axes_of(store.value) for store in sums))
    for axis in block.iter_vars:
        place = places.get(axis.var)
        if place is None or _is_single(axis):
            continue
        wrong = axis.iter_type == "spatial" and axis.var not in written and axis.var in used
        if wrong and (sums or block.init is not None):
            yield _spatial_doubt(axis, place, sums[0], block.init is not None)
        elif axis.iter_type == "reduce" and axis.var in written and block.init is not None:
            yield _reduction_doubt(axis, place, block.init)
    if block.init is None and not declares_reads:
        yield from _without_start(block, sums, touched)


def _is_single(axis: tir.IterVar) -> bool:
    extent = None if axis.dom is None else axis.dom.extent
    return isinstance(extent, prim.IntImm) and extent.value <= 1


def _spatial_doubt(
    axis: tir.IterVar, place: AxisPlace, store: BufferStore, starts: bool
) -> Diagnostic:
    name, buffer = axis.var.name, store.buffer.name
    then = "`T.init` runs again for each of its values" if starts else "its values add up in order"
    return _doubt(
        place, "R",
        f"`{name}` is a spatial axis, but what is written to `{buffer}` does not depend on it: "
        f"{then}",
        did_you_mean("R, a reduction", quote=""), (store.span, "written here"),
    )  # fmt: skip


def _reduction_doubt(axis: tir.IterVar, place: AxisPlace, init: tir.Stmt) -> Diagnostic:
    return _doubt(
        place, "S",
        f"`{axis.var.name}` is an axis of reduction, but each of its values writes elements of "
        "its own: `T.init` runs for the first only",
        did_you_mean("S, a spatial axis", quote=""), (init.span, "the `T.init`"),
    )  # fmt: skip


def _doubt(
    place: AxisPlace, kind: str, message: str, help: str, label: tuple[Span | None, str]
) -> Diagnostic:  # fmt: skip
    new = place.other(kind)
    fix = (Edit(place.span, new),) if new is not None and place.span is not None else ()
    at, text = label
    labels = () if at is None else (Label(at, text),)
    return Diagnostic("RX0504", message, place.span, labels, (), help, fix, severity="warning")


def _without_start(
    block: Block, sums: list[BufferStore], touched: set[Buffer]
) -> Iterator[Diagnostic]:
    """A reduction into elements that nothing has written before."""
    if not any(axis.iter_type == "reduce" for axis in block.iter_vars):
        return
    for store in sums:
        if store.buffer in touched:
            continue
        name = store.buffer.name
        yield Diagnostic(
            "RX0504", f"`{name}` has no value before this reduction, which adds to what is there",
            store.span, severity="warning",
            help="begin with `with T.init():`, or say that it is meant: "
                 f"`T.reads({name}[...], ...)`",
        )  # fmt: skip
        return
