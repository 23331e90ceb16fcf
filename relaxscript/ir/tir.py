"""PrimFuncs: loop programs over buffers, one class per production of TIR's grammar.

Statements are nodes like expressions. Names and the order of fields are TVM's; what later stages
of TVM add for other hardware is left out here.

Source: spec "Grammar" (PrimFunc and the note on TIR); TVM `tir.stmt`, `tir.buffer`, `tir.function`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from relaxscript.dtypes import DataType
from relaxscript.errors import meant_hint, nearest

from . import buffer_access
from .attributes import Attrs, own_attrs
from .buffer_access import StorageScope
from .field_types import brief
from .loop_kinds import AXIS_NAMES, ForKind, loop_kind
from .node import Node, field, node
from .prim import (
    HANDLE,
    INT32,
    BufferLoad,
    IntImm,
    PointerType,
    PrimExpr,
    PrimExprLike,
    PrimType,
    StringImm,
    Var,
    alike,
    as_dims,
    as_prim,
    as_scalar,
    const,
    like,
)
from .prim_checks import check_axis_separators, check_rank
from .prim_operators import ScalarLike, ScalarOperators
from .relax import BaseFunc

if TYPE_CHECKING:
    from relaxscript.errors import Span

__all__ = [
    "Allocate", "AllocateConst", "AssertStmt", "AttrStmt", "Block", "BlockRealize", "Buffer",
    "BufferRegion", "BufferStore", "DeclBuffer", "Evaluate", "For", "ForKind", "IfThenElse",
    "IterVar", "LetStmt", "MatchBufferRegion", "PrimFunc", "Range", "SeqStmt", "Stmt", "While",
]  # fmt: skip


def _exprs(values: Any) -> tuple[PrimExpr, ...]:
    return tuple(as_scalar(v) for v in values)


def _some(values: Any) -> tuple[Any, ...]:
    return tuple(values or ())


def _dims(values: Any) -> tuple[PrimExpr, ...]:
    return tuple(as_prim(v) for v in values or ())


def _maybe_expr(value: Any) -> PrimExpr | None:
    return None if value is None else as_scalar(value)


def _buffer_type(value: Any) -> str:
    known = {"": "default", "default": "default"} | dict.fromkeys(
        ("auto", "auto_broadcast"), "auto_broadcast"
    )
    if value not in known:
        raise ValueError('it is "default" or "auto_broadcast"')
    return known[value]


@node
class Buffer(Node):
    """A typed view of memory: element `[i, j]` lies at `elem_offset + i * strides[0] + ...`.

    Empty `strides` means row-major and compact. `data` is the pointer variable behind the view, by
    which others share its memory; where none is given, it is a new one of the buffer's name. One
    object is one buffer; shape variables in `shape` and `strides` are defined where the buffer
    is.
    """

    keeps_identity = True
    name: str
    shape: tuple[PrimExpr, ...] = field(convert=as_dims)
    dtype: DataType = field(convert=DataType, default=DataType("float32"))
    data: Var = field(default=...)  # never None, by `replace` neither
    strides: tuple[PrimExpr, ...] = field(convert=_dims, default=())
    elem_offset: PrimExpr | None = field(
        convert=lambda v: None if v is None else as_prim(v), default=None
    )
    scope: StorageScope = field(convert=StorageScope, default=StorageScope("global"))
    data_alignment: int = 64
    offset_factor: int = 1
    buffer_type: str = field(convert=_buffer_type, default="default")
    axis_separators: tuple[int, ...] = field(convert=tuple, default=())

    @staticmethod
    def _arrange(
        name: Any, shape: Any, dtype: Any, data: Any, strides: Any, elem_offset: Any, scope: Any,
        *others: Any,
    ) -> tuple[Any, ...]:  # fmt: skip
        if data is None or data is ...:
            data = buffer_access.pointer_variable(name, dtype, scope)
        return name, shape, dtype, data, strides, elem_offset, scope, *others

    def _check(self) -> None:
        if self.dtype.is_void:
            raise ValueError(
                f"`Buffer.dtype`: the elements of the buffer `{self.name}` have a dtype, "
                'for example "float32"; "void" has no values'
            )
        if self.strides and len(self.strides) != len(self.shape):
            raise ValueError(
                f"`Buffer.strides`: the buffer `{self.name}` has {len(self.shape)} dimensions, "
                f"but there are {len(self.strides)} strides"
            )
        check_axis_separators(self)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    # Indices are no items to go through.
    __iter__ = None

    READ = buffer_access.READ
    WRITE = buffer_access.WRITE

    def vload(
        self, begin: Any, dtype: str | None = None, predicate: PrimExpr | None = None
    ) -> BufferLoad:
        """The element at `begin`, or a vector of `dtype` that begins there."""
        return buffer_access.load(self, begin, dtype, predicate)

    def vstore(self, begin: Any, value: Any, predicate: PrimExpr | None = None) -> BufferStore:
        """Write an element at `begin`, or a vector that begins there."""
        lanes = value.dtype.lanes if isinstance(value, PrimExpr) else 1
        indices = buffer_access.indices_of(begin, lanes // self.dtype.lanes)
        return BufferStore(self, value, indices, predicate)

    def access_ptr(
        self, access_mask: str | int, ptr_type: str = "handle", content_lanes: int = 1,
        offset: PrimExprLike = 0, extent: PrimExprLike | None = None,
    ) -> PrimExpr:  # fmt: skip
        """The address of a part, and what is done there ("r", "w", "rw"), for an intrinsic."""
        return buffer_access.access_ptr(self, access_mask, ptr_type, content_lanes, offset, extent)

    def offset_of(self, indices: Any) -> tuple[PrimExpr, ...]:
        """The number of elements before an element, for each axis of the memory."""
        return buffer_access.offset(self, indices)

    def get_flattened_buffer(self) -> Buffer:
        """The same memory with one dimension."""
        return buffer_access.flattened(self)

    def __getitem__(self, indices: Any) -> BufferLoad | BufferRegion:
        """`A[i, j]` is an element, `A[i, 0:4]` a region; raises `IndexError` for another rank."""
        given = indices if isinstance(indices, tuple) else (indices,)
        if len(given) != self.ndim:
            raise IndexError(
                f"the buffer `{self.name}` has {self.ndim} dimensions, {len(given)} indices "
                "are given"
            )
        if not any(isinstance(index, slice) for index in given):
            return BufferLoad(self, tuple(as_scalar(i) for i in given))
        return BufferRegion(self, tuple(_range_of(i, d) for i, d in zip(given, self.shape)))


def _range_of(index: Any, extent: PrimExpr) -> Range:
    """The part of a dimension that an index or a slice means; raises `IndexError` for a step."""
    if not isinstance(index, slice):
        return Range.from_min_extent(as_scalar(index), const(1, as_scalar(index).dtype))
    if index.step not in (None, 1):
        raise IndexError("a region of a buffer has no steps")
    low = 0 if index.start is None else index.start
    high = plain_extent(extent) if index.stop is None else index.stop
    return Range(low, high)


def plain_extent(extent: PrimExpr) -> Any:
    """The size of a dimension as a bound of a region: a known number is a plain one."""
    return extent.value if isinstance(extent, IntImm) else extent


@node
class Range(Node):
    """The integers `min <= i < min + extent`.

    `Range(begin, end)` has those from `begin` to before `end`, `Range(end)` those from 0.
    """

    min: PrimExpr
    extent: PrimExpr

    if TYPE_CHECKING:

        def __init__(
            self,
            begin: PrimExprLike = ...,
            end: PrimExprLike | None = ...,
            *,
            min: PrimExprLike = ...,
            extent: PrimExprLike = ...,
            span: Span | None = ...,
        ) -> None: ...

    @staticmethod
    def _spelled(begin: Any, end: Any = None) -> tuple[Any, Any]:
        """`min` and `extent` of what is written `Range(begin, end)`."""
        if end is None:
            begin, end = 0, begin
        low, high = alike(begin, end)
        if isinstance(low, IntImm) and isinstance(high, IntImm):
            return low, const(high.value - low.value, high.dtype)
        return low, high if isinstance(low, IntImm) and low.value == 0 else high - low

    @staticmethod
    def _arrange(min: Any, extent: Any) -> tuple[Any, ...]:
        return alike(min, extent)

    @staticmethod
    def from_min_extent(min: PrimExprLike, extent: PrimExprLike) -> Range:
        """The `extent` integers from `min` on."""
        return Range(min=min, extent=extent)


@node
class BufferRegion(Node):
    """The part of a buffer that a block reads or writes."""

    buffer: Buffer
    region: tuple[Range, ...] = field(convert=tuple)

    def _check(self) -> None:
        if len(self.region) != len(self.buffer.shape):
            raise ValueError(
                f"`BufferRegion.region`: the buffer `{self.buffer.name}` has "
                f"{len(self.buffer.shape)} dimensions, but there are {len(self.region)} ranges"
            )


@node
class MatchBufferRegion(Node):
    """A buffer that is another name of a region of a buffer."""

    buffer: Buffer = field(definition=True)
    source: BufferRegion = field(outer=True)


def _domain(value: Any) -> Any:
    return Range(*value) if isinstance(value, (tuple, list)) else value


def _axis_kind(value: Any) -> Any:
    return AXIS_NAMES[value] if isinstance(value, int) else value


@node
class IterVar(Node, ScalarOperators, ScalarLike):
    """An axis of a block; `iter_type` is spatial, reduce, scan or opaque.

    In an expression it means its variable: `A[i, k * 2]`.
    """

    dom: Range | None = field(convert=_domain, outer=True)
    var: Var = field(definition=True)
    iter_type: str = field(convert=_axis_kind, default="spatial")
    thread_tag: str = ""
    DataPar, ThreadIndex, CommReduce, Ordered, Opaque = AXIS_NAMES[:5]
    DimInfo, Unrolled, Vectorized, Parallelized, Tensorized = AXIS_NAMES[4:]

    @staticmethod
    def _arrange(dom: Any, var: Any, iter_type: Any, thread_tag: Any) -> tuple[Any, ...]:
        """A name stands for a new variable, of the dtype of the domain."""
        if isinstance(var, str):
            var = Var(var, INT32 if dom is None else dom.extent.dtype)
        return dom, var, iter_type, thread_tag

    def asobject(self) -> Var:
        """The variable."""
        return self.var

    def _check(self) -> None:
        if self.dom is not None and self.dom.extent.dtype is not self.var.dtype:
            raise TypeError(
                f"`IterVar.dom` is of {self.dom.extent.dtype}, but the variable "
                f"`{self.var.name}` is of {self.var.dtype}"
            )


def _as_stored_value(value: Any, buffer: Any) -> PrimExpr:
    number = as_scalar(value)
    if not isinstance(buffer, Buffer) or buffer.dtype.kind == "handle":
        return number
    if buffer.dtype.is_float or isinstance(number, IntImm):
        return const(number.value, buffer.dtype.element)  # type: ignore[attr-defined]
    return number


@node
class Stmt(Node):
    """A statement of a PrimFunc."""

    __slots__ = ()


@node
class LetStmt(Stmt):
    """`body` with `var` standing for `value`."""

    var: Var = field(definition=True)
    value: PrimExpr = field(outer=True)
    body: Stmt
    is_scope = True

    @staticmethod
    def _arrange(var: Any, value: Any, body: Any) -> tuple[Any, ...]:
        return var, like(value, var), body


@node
class AttrStmt(Stmt):
    """A hint for the compiler about `body`."""

    node: Any
    attr_key: str
    value: PrimExpr = field(convert=as_scalar)
    body: Stmt


@node
class AssertStmt(Stmt):
    """Stop with `message` unless `condition` holds; then `body`."""

    condition: PrimExpr = field(convert=as_scalar)
    message: PrimExpr = field(convert=lambda v: StringImm(v) if isinstance(v, str) else v)
    body: Stmt


@node
class BufferStore(Stmt):
    """Write `value`, of the buffer's dtype, to the element at some indices."""

    buffer: Buffer
    value: PrimExpr
    indices: tuple[PrimExpr, ...] = field(convert=_exprs)
    predicate: PrimExpr | None = field(convert=_maybe_expr, default=None)

    @staticmethod
    def _arrange(buffer: Any, value: Any, indices: Any, predicate: Any) -> tuple[Any, ...]:
        # A number takes the dtype of the buffer.
        stored = value if isinstance(value, PrimExpr) else _as_stored_value(value, buffer)
        return buffer, stored, indices, predicate

    def _check(self) -> None:
        check_rank(self, self.buffer, self.indices)
        if self.value.dtype.element is not self.buffer.dtype.element:
            raise TypeError(
                f"`BufferStore.value` must be of {self.buffer.dtype.element}, as the buffer "
                f"`{self.buffer.name}` is, not of {self.value.dtype}; convert it with Cast"
            )


@node
class Allocate(Stmt):
    """Memory for `body`, addressed through `buffer_var`."""

    buffer_var: Var = field(definition=True)
    dtype: DataType = field(convert=DataType)
    extents: tuple[PrimExpr, ...] = field(convert=_exprs, outer=True)
    condition: PrimExpr = field(convert=as_scalar, outer=True)
    body: Stmt
    annotations: Attrs = field(convert=Attrs, default=Attrs())
    is_scope = True


@node
class AllocateConst(Stmt):
    """Constant memory for `body`."""

    buffer_var: Var = field(definition=True)
    dtype: DataType = field(convert=DataType)
    extents: tuple[PrimExpr, ...] = field(convert=_exprs, outer=True)
    data: Any
    body: Stmt
    annotations: Attrs = field(convert=Attrs, default=Attrs())
    is_scope = True


@node
class DeclBuffer(Stmt):
    """A buffer over memory that exists, for `body`."""

    buffer: Buffer = field(definition=True)
    body: Stmt
    is_scope = True


def _flatten(values: Any) -> tuple[Stmt, ...]:
    return tuple(s for v in values for s in (v.seq if isinstance(v, SeqStmt) else (v,)))


@node
class SeqStmt(Stmt):
    """Two or more statements one after the other; those of a SeqStmt inside are taken over."""

    seq: tuple[Stmt, ...] = field(convert=_flatten)

    def __len__(self) -> int:
        return len(self.seq)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int) -> Stmt:
        return self.seq[index]

    def _check(self) -> None:
        if len(self.seq) < 2:
            raise ValueError(
                f"a SeqStmt has at least two statements, not {len(self.seq)}; "
                "one statement needs no SeqStmt, and none is `Evaluate(0)`"
            )


@node
class IfThenElse(Stmt):
    condition: PrimExpr = field(convert=as_scalar)
    then_case: Stmt
    else_case: Stmt | None = None


@node
class Evaluate(Stmt):
    """Compute a value for its effect."""

    value: PrimExpr = field(convert=as_scalar)


@node
class For(Stmt):
    """`body` for each `loop_var` from `min` on, `extent` times; `kind` is one of ForKind."""

    loop_var: Var = field(definition=True)
    min: PrimExpr = field(outer=True)
    extent: PrimExpr = field(outer=True)
    kind: str = field(convert=loop_kind)
    body: Stmt
    thread_binding: IterVar | None = None
    annotations: Attrs = field(convert=Attrs, default=Attrs())
    is_scope = True

    @staticmethod
    def _arrange(loop_var: Any, min: Any, extent: Any, *rest: Any) -> tuple[Any, ...]:
        return loop_var, like(min, loop_var), like(extent, loop_var), *rest

    def _check(self) -> None:
        if self.kind not in ForKind.ALL:
            near = nearest(self.kind, ForKind.ALL)
            hint = meant_hint(near)
            raise ValueError(f"`For.kind` must be one of ForKind.ALL, not `{self.kind}`{hint}")


@node
class While(Stmt):
    condition: PrimExpr = field(convert=as_scalar)
    body: Stmt


@node
class Block(Stmt):
    """A unit of computation over its own axes.

    `init` runs before `body` whenever all reduction axes are at their start.
    """

    iter_vars: tuple[IterVar, ...] = field(convert=tuple, first=True)
    reads: tuple[BufferRegion, ...] = field(convert=tuple)
    writes: tuple[BufferRegion, ...] = field(convert=tuple)
    name_hint: str
    body: Stmt
    is_scope = True
    init: Stmt | None = None
    alloc_buffers: tuple[Buffer, ...] = field(convert=_some, default=(), definition=True)
    match_buffers: tuple[MatchBufferRegion, ...] = field(convert=_some, default=(), first=True)
    annotations: Attrs = field(convert=Attrs, default=Attrs())


@node
class BlockRealize(Stmt):
    """A block with values for its axes, run where `predicate` holds."""

    iter_values: tuple[PrimExpr, ...] = field(convert=_exprs)
    predicate: PrimExpr = field(convert=as_scalar)
    block: Block

    def _check(self) -> None:
        axes = len(self.block.iter_vars)
        if len(self.iter_values) != axes:
            raise ValueError(
                f"`BlockRealize.iter_values`: the block `{self.block.name_hint}` has {axes} axes, "
                f"but there are {len(self.iter_values)} values"
            )


def _buffer_map(value: Mapping[Var, Buffer] | None) -> Mapping[Var, Buffer]:
    return dict(value or {})


_NUMERIC = frozenset({"int", "uint", "float", "bfloat", "bool"})


@node
class PrimFunc(BaseFunc):
    """A function over buffers and scalars that works by writing into its arguments.

    `params` are variables; those that stand for a buffer are keys of `buffer_map`.
    """

    params: tuple[Var, ...] = field(convert=tuple, definition=True)
    body: Stmt
    ret_type: PrimType | PointerType | None = None
    buffer_map: Mapping[Var, Buffer] = field(convert=_buffer_map, definition=True, default=None)
    attrs: Attrs = field(convert=own_attrs, default=None)
    param_spans: tuple[Span | None, ...] = field(default=(), place=True)
    __cached__ = ("known_facts",)
    is_scope = True

    @staticmethod
    def _arrange(
        params: Any, body: Any, ret_type: Any, buffer_map: Any, attrs: Any, spans: Any
    ) -> tuple[Any, ...]:
        """A buffer among the parameters stands for a new variable that is mapped to it."""
        mapped = dict(buffer_map)
        variables = tuple(
            handle_var(f"{p.name}_handle") if isinstance(p, Buffer) else p for p in params
        )
        mapped |= {v: p for v, p in zip(variables, params) if isinstance(p, Buffer)}
        return variables, body, ret_type, mapped, attrs, spans

    def _check(self) -> None:
        if len(set(self.params)) < len(self.params):
            twice = next(var for var in self.params if self.params.count(var) > 1)
            raise ValueError(f"`PrimFunc.params`: {brief(twice)} is given twice")
        for var, buffer in self.buffer_map.items():
            if var not in self.params:
                raise ValueError(f"`PrimFunc.buffer_map`: {brief(var)} is not a parameter")
            if not isinstance(buffer, Buffer):
                raise TypeError(f"`PrimFunc.buffer_map`: {brief(buffer)} is not a Buffer")

    def specialize(self, param_map: Mapping[Var | Buffer, Buffer | PrimExprLike]) -> PrimFunc:
        """The function for some buffers and values: `f.specialize({f.params[0]: buffer, n: 16})`.

        A scalar parameter of known value is none of the result. Raises a `ValueError` for what is
        no parameter, or does not fit.
        """
        from .specialize import specialize

        return specialize(self, param_map)

    def with_body(self, new_body: Stmt, span: Span | None = None) -> PrimFunc:
        """The function with the same parameters and attributes and another body."""
        return self.replace(body=new_body, span=span or self.span)

    @property
    def returned_dtype(self) -> DataType | None:
        """The dtype of the number that it declares to return, None when it declares none."""
        if isinstance(self.ret_type, PrimType) and self.ret_type.dtype.kind in _NUMERIC:
            return self.ret_type.dtype
        return None

    @property
    def __name__(self) -> str:
        """The name by which others call it."""
        if self.is_private:
            raise AttributeError("a PrimFunc without `global_symbol` has no name")
        return str(self.attrs["global_symbol"])

    @property
    def is_private(self) -> bool:
        """True if it has no `global_symbol`."""
        return "global_symbol" not in self.attrs


def handle_var(name: str) -> Var:
    """A new parameter variable that stands for a buffer."""
    return Var.make(name, HANDLE)


def loop_var(name: str, dtype: DataType = INT32) -> Var:
    """A new loop variable."""
    return Var.make(name, dtype)
