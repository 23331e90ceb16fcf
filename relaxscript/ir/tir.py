"""PrimFuncs: loop programs over buffers, one class per production of TIR's grammar.

Statements are nodes like expressions. Names and the order of fields are TVM's; what later stages
of TVM add for other hardware is left out here.

Source: spec "Grammar" (PrimFunc and the note on TIR); TVM `tir.stmt`, `tir.buffer`, `tir.function`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from relaxscript.dtypes import DataType

from .node import Node, field, node
from .prim import HANDLE, INT32, PointerType, PrimExpr, PrimType, Var, as_prim
from .relax import Attrs, BaseFunc, as_attrs

if TYPE_CHECKING:
    from relaxscript.errors import Span

__all__ = [
    "Allocate", "AllocateConst", "AssertStmt", "AttrStmt", "Block", "BlockRealize", "Buffer",
    "BufferRegion", "BufferStore", "DeclBuffer", "Evaluate", "For", "ForKind", "IfThenElse",
    "IterVar", "LetStmt", "MatchBufferRegion", "PrimFunc", "Range", "SeqStmt", "Stmt", "While",
]  # fmt: skip


def _exprs(values: Any) -> tuple[PrimExpr, ...]:
    return tuple(as_prim(v) for v in values)


def _tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values)


def _maybe_expr(value: Any) -> PrimExpr | None:
    return None if value is None else as_prim(value)


@node
class Buffer(Node):
    """A typed view of memory: element `[i, j]` lies at `elem_offset + i * strides[0] + ...`.

    Empty `strides` means row-major and compact. `data` is the pointer variable behind the view.
    One object is one buffer; shape variables in `shape` and `strides` are defined where the buffer
    is.
    """

    name: str
    shape: tuple[PrimExpr, ...] = field(convert=_exprs)
    dtype: DataType = field(convert=DataType, default=DataType("float32"))
    data: Var | None = None
    strides: tuple[PrimExpr, ...] = field(convert=lambda v: _exprs(v or ()), default=())
    elem_offset: PrimExpr | None = field(convert=_maybe_expr, default=None)
    scope: str = "global"
    data_alignment: int = 64
    offset_factor: int = 1
    buffer_type: str = "default"
    axis_separators: tuple[int, ...] = field(convert=_tuple, default=())

    @property
    def ndim(self) -> int:
        return len(self.shape)


@node
class Range(Node):
    """The integers `min <= i < min + extent`."""

    min: PrimExpr = field(convert=as_prim)
    extent: PrimExpr = field(convert=as_prim)


@node
class BufferRegion(Node):
    """The part of a buffer that a block reads or writes."""

    buffer: Buffer
    region: tuple[Range, ...] = field(convert=_tuple)


@node
class MatchBufferRegion(Node):
    """A buffer that is another name of a region of a buffer."""

    buffer: Buffer = field(definition=True)
    source: BufferRegion


class ForKind:
    """How a loop may run."""

    SERIAL = "serial"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"
    THREAD_BINDING = "thread_binding"
    ALL = (SERIAL, PARALLEL, VECTORIZED, UNROLLED, THREAD_BINDING)


@node
class IterVar(Node):
    """An axis of a block; `iter_type` is spatial, reduce, scan or opaque."""

    dom: Range | None
    var: Var = field(definition=True)
    iter_type: str = "spatial"
    thread_tag: str = ""


@node
class Stmt(Node):
    """A statement of a PrimFunc."""

    __slots__ = ()


@node
class LetStmt(Stmt):
    """`body` with `var` standing for `value`."""

    var: Var = field(definition=True)
    value: PrimExpr = field(convert=as_prim)
    body: Stmt


@node
class AttrStmt(Stmt):
    """A hint for the compiler about `body`."""

    node: Any
    attr_key: str
    value: PrimExpr = field(convert=as_prim)
    body: Stmt


@node
class AssertStmt(Stmt):
    """Stop with `message` unless `condition` holds; then `body`."""

    condition: PrimExpr = field(convert=as_prim)
    message: PrimExpr
    body: Stmt


@node
class BufferStore(Stmt):
    buffer: Buffer
    value: PrimExpr = field(convert=as_prim)
    indices: tuple[PrimExpr, ...] = field(convert=_exprs)
    predicate: PrimExpr | None = field(convert=_maybe_expr, default=None)


@node
class Allocate(Stmt):
    """Memory for `body`, addressed through `buffer_var`."""

    buffer_var: Var = field(definition=True)
    dtype: DataType = field(convert=DataType)
    extents: tuple[PrimExpr, ...] = field(convert=_exprs)
    condition: PrimExpr = field(convert=as_prim)
    body: Stmt
    annotations: Attrs = field(convert=Attrs, default=Attrs())


@node
class AllocateConst(Stmt):
    """Constant memory for `body`."""

    buffer_var: Var = field(definition=True)
    dtype: DataType = field(convert=DataType)
    extents: tuple[PrimExpr, ...] = field(convert=_exprs)
    data: Any
    body: Stmt
    annotations: Attrs = field(convert=Attrs, default=Attrs())


@node
class DeclBuffer(Stmt):
    """A buffer over memory that exists, for `body`."""

    buffer: Buffer = field(definition=True)
    body: Stmt


@node
class SeqStmt(Stmt):
    seq: tuple[Stmt, ...] = field(convert=_tuple)


@node
class IfThenElse(Stmt):
    condition: PrimExpr = field(convert=as_prim)
    then_case: Stmt
    else_case: Stmt | None = None


@node
class Evaluate(Stmt):
    """Compute a value for its effect."""

    value: PrimExpr = field(convert=as_prim)


@node
class For(Stmt):
    """`body` for each `loop_var` from `min` on, `extent` times; `kind` is one of ForKind."""

    loop_var: Var = field(definition=True)
    min: PrimExpr = field(convert=as_prim)
    extent: PrimExpr = field(convert=as_prim)
    kind: str
    body: Stmt
    thread_binding: IterVar | None = None
    annotations: Attrs = field(convert=Attrs, default=Attrs())


@node
class While(Stmt):
    condition: PrimExpr = field(convert=as_prim)
    body: Stmt


@node
class Block(Stmt):
    """A unit of computation over its own axes.

    `init` runs before `body` whenever all reduction axes are at their start.
    """

    iter_vars: tuple[IterVar, ...] = field(convert=_tuple, first=True)
    reads: tuple[BufferRegion, ...] = field(convert=_tuple)
    writes: tuple[BufferRegion, ...] = field(convert=_tuple)
    name_hint: str
    body: Stmt
    init: Stmt | None = None
    alloc_buffers: tuple[Buffer, ...] = field(convert=_tuple, default=(), definition=True)
    match_buffers: tuple[MatchBufferRegion, ...] = field(convert=_tuple, default=(), first=True)
    annotations: Attrs = field(convert=Attrs, default=Attrs())


@node
class BlockRealize(Stmt):
    """A block with values for its axes, run where `predicate` holds."""

    iter_values: tuple[PrimExpr, ...] = field(convert=_exprs)
    predicate: PrimExpr = field(convert=as_prim)
    block: Block


def _buffer_map(value: Mapping[Var, Buffer] | None) -> Mapping[Var, Buffer]:
    return dict(value or {})


@node
class PrimFunc(BaseFunc):
    """A function over buffers and scalars that works by writing into its arguments.

    `params` are variables; those that stand for a buffer are keys of `buffer_map`.
    """

    params: tuple[Var, ...] = field(convert=_tuple, definition=True)
    body: Stmt
    ret_type: PrimType | PointerType | None = None
    buffer_map: Mapping[Var, Buffer] = field(convert=_buffer_map, definition=True, default=None)
    attrs: Attrs | None = field(convert=as_attrs, default=None)
    param_spans: tuple[Span | None, ...] = field(default=(), place=True)

    @property
    def is_private(self) -> bool:
        """Whether it has no `global_symbol`."""
        return self.attrs is None or "global_symbol" not in self.attrs


def handle_var(name: str) -> Var:
    """A new parameter variable that stands for a buffer."""
    return Var.make(name, HANDLE)


def loop_var(name: str, dtype: DataType = INT32) -> Var:
    """A new loop variable."""
    return Var.make(name, dtype)
