"""The statements that `T.` names: one table of loops, blocks and their parts, buffers, scopes.

Each function is a row: its signature, and above it what the builder makes of the arguments. Called,
it describes the statement and returns a `StmtForm`: the function itself and its arguments by name.
The parser gives forms their meaning at their places; plain Python may make and read them too.
Nothing is checked here, because Python evaluates annotations before any parser sees them.

Source: TVM `tvm.script.parser.tir` for names, order of parameters and defaults; names of TVM 0.27
that mean the same are aliases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.ir.prim import FLOAT32, Var
from relaxscript.ir.tir import AssertStmt, AttrStmt, Buffer as _Buffer, Evaluate
from relaxscript.ir.tir_compute import Prefetch
from relaxscript.tir_builder import Scope, TIRBuilder, TIRError, make_buffer
from relaxscript.tir_builder.operands import shape_of_region

from .statement import Arguments, Role, statement
from .tir_types import BufferForm, ScalarType, StmtForm

__all__ = [
    "Assert", "Bind", "Buffer", "Else", "If", "LetStmt", "Range", "Then", "While",
    "alloc_buffer", "allocate", "allocate_const", "attr", "bind", "block", "block_attr", "buffer",
    "buffer_decl", "buffer_store", "decl_buffer", "env_thread", "evaluate", "func_attr", "grid",
    "init", "launch_thread", "match_buffer", "meta_var", "parallel", "prefetch", "reads",
    "realize", "sblock", "sblock_alloc_buffer", "sblock_attr", "serial", "thread_binding",
    "unroll", "vectorized", "where", "writes",
]  # fmt: skip


Attributes = Mapping[str, Any]


# ---- loops


@statement(Role.LOOPS, TIRBuilder.serial, Var)
def serial(start: Any, stop: Any = None, *, annotations: Attributes | None = None) -> Arguments:
    """A loop over `start <= i < stop` (or `0 <= i < start`), one iteration after the other."""
    return locals()


@statement(Role.LOOPS, TIRBuilder.parallel, Var)
def parallel(start: Any, stop: Any = None, *, annotations: Attributes | None = None) -> Arguments:
    """A loop whose iterations may run at the same time, on several threads."""
    return locals()


@statement(Role.LOOPS, TIRBuilder.vectorized, Var)
def vectorized(start: Any, stop: Any = None, *, annotations: Attributes | None = None) -> Arguments:
    """A loop whose iterations may run as lanes of vector instructions."""
    return locals()


@statement(Role.LOOPS, TIRBuilder.unroll, Var)
def unroll(start: Any, stop: Any = None, *, annotations: Attributes | None = None) -> Arguments:
    """A loop whose iterations are written out one after the other."""
    return locals()


@statement(Role.LOOPS, TIRBuilder.thread_binding, Var)
def thread_binding(
    start: Any,
    stop: Any = None,
    thread: str | None = None,
    *,
    annotations: Attributes | None = None,
) -> Arguments:
    """A loop whose iterations are the threads of a device: `T.thread_binding(4, "threadIdx.x")`."""
    if thread is None and isinstance(stop, str):
        stop, thread = None, stop
    return locals()


def check_extents(extents: Sequence[Any]) -> None:
    """Refuse `T.grid()`, which scripts mean by mistake."""
    if not extents:
        raise TIRError(
            "", "`T.grid` needs an extent for each loop", code="RX0103",
            help="write for example `T.grid(16, 16)`",
        )  # fmt: skip


def _grid(tb: TIRBuilder, extents: Sequence[Any]) -> Scope:
    check_extents(extents)
    scope = tb.grid(*extents)
    if len(extents) == 1:
        (scope.value,) = scope.value
    return scope


@statement(Role.LOOPS, _grid, Var)
def grid(*extents: Any) -> Arguments:
    """Nested serial loops, one for each extent: `for i, j in T.grid(n, 64)`."""
    return locals()


@statement(Role.HOLDS, TIRBuilder.launch_thread, Var)
def launch_thread(thread: Any, extent: Any) -> Arguments:
    """The statements after it run on `extent` threads of a GPU: `bx = T.launch_thread("blockIdx.x",
    4)`; `thread` is the name of a thread, or a variable that `T.env_thread` gave."""
    return locals()


@statement(Role.GIVES, TIRBuilder.env_thread, Var)
def env_thread(thread_tag: str, dtype: str = "int32") -> Arguments:
    """The number of a thread, for launches that come later: `tx = T.env_thread("threadIdx.x")`."""
    return locals()


# ---- blocks


@statement(Role.OPENS, TIRBuilder.block)
def block(name: str = "", no_realize: bool = False) -> Arguments:
    """A unit of computation over its own axes: `with T.block("matmul"):`."""
    return locals()


sblock = block


@statement(Role.OPENS, lambda tb: tb.innermost.init())
def init() -> Arguments:
    """The part of a block that runs first wherever its reduction axes start: `with T.init():`."""
    return locals()


@statement(Role.ADDS, lambda tb, predicate: tb.innermost.where(predicate))
def where(predicate: Any) -> Arguments:
    """The block runs only where `predicate` holds."""
    return locals()


@statement(Role.ADDS, lambda tb, regions: tb.innermost.reads(*regions))
def reads(*regions: Any) -> Arguments:
    """The regions of buffers that a block reads; without it they are derived from the body."""
    return locals()


@statement(Role.ADDS, lambda tb, regions: tb.innermost.writes(*regions))
def writes(*regions: Any) -> Arguments:
    """The regions of buffers that a block writes; without it they are derived from the body."""
    return locals()


@statement(Role.ADDS, lambda tb, attrs: tb.innermost.annotate(attrs))
def block_attr(attrs: Attributes) -> Arguments:
    """Annotations of a block."""
    return locals()


sblock_attr = block_attr


@statement(Role.ADDS, TIRBuilder.func_attr)
def func_attr(attrs: Attributes) -> Arguments:
    """Attributes of the function."""
    return locals()


# ---- buffers and memory


def _match_buffer(
    tb: TIRBuilder, param: Any, shape: Any = None, dtype: Any = None, *, name: str = "",
    **parts: Any,
) -> _Buffer:  # fmt: skip
    # In PrimFuncs a parameter and its buffer have one name.
    name = name or getattr(param, "name", "") or "buffer"
    if isinstance(param, Var) and shape is None:
        raise TIRError(
            "", f"the buffer of `{name}` needs a shape",
            help=f'write for example `T.match_buffer({name}, (n,), "float32")`',
        )  # fmt: skip
    if dtype is None:
        dtype = FLOAT32 if isinstance(param, Var) else getattr(param, "buffer", param).dtype
    if shape is None:
        tb.check_matched(param)
        shape = shape_of_region(param)
    return tb.match_buffer(param, make_buffer(name, shape, dtype, **parts, span=tb.span))


def _alloc_buffer(tb: TIRBuilder, *, name: str = "buffer", **parts: Any) -> _Buffer:
    return tb.alloc_buffer(make_buffer(name, **parts, span=tb.span))


def _decl_buffer(tb: TIRBuilder, *, name: str = "buffer", **parts: Any) -> _Buffer:
    buffer = make_buffer(name, **parts, span=tb.span, is_view=True)
    return tb.decl_buffer(buffer, needs_memory=parts.get("data") is None)


def _buffer(tb: TIRBuilder, *, name: str = "buffer", **parts: Any) -> _Buffer:
    return make_buffer(name, **parts, span=tb.span, is_view=True)


@statement(Role.GIVES, _match_buffer, _Buffer)
def match_buffer(
    param: Any,
    shape: Sequence[Any] | None = None,
    dtype: str = "float32",
    data: Any = None,
    strides: Sequence[Any] | None = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "default",
    axis_separators: Sequence[int] | None = None,
) -> Arguments:
    """The buffer behind a `T.handle` parameter, or in a block another name of a region."""
    return locals()


@statement(Role.GIVES, _alloc_buffer, _Buffer)
def alloc_buffer(
    shape: Sequence[Any],
    dtype: str = "float32",
    data: Any = None,
    strides: Sequence[Any] | None = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "default",
    axis_separators: Sequence[int] | None = None,
) -> Arguments:
    """A new buffer that lives as long as the block (outside of blocks: the function) runs.

    What it holds before it is written is unspecified: store first. The target "reference" gives
    NaN, the least integer (the largest, where none is negative) or True, so that a mistake is seen.
    Native code begins with zeros where the program was loaded from a file or built for
    "llvm -zero-memory=1".
    """
    return locals()


@statement(Role.HOLDS, _decl_buffer, _Buffer)
def decl_buffer(
    shape: Sequence[Any],
    dtype: str = "float32",
    data: Any = None,
    strides: Sequence[Any] | None = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = 0,
    offset_factor: int = 0,
    buffer_type: str = "",
    axis_separators: Sequence[int] | None = None,
) -> Arguments:
    """A buffer over the memory at `data`; without `data`, over memory allocated for it."""
    return locals()


@statement(Role.GIVES, _buffer, _Buffer)
def buffer(
    shape: Sequence[Any],
    dtype: str = "float32",
    data: Any = None,
    strides: Sequence[Any] | None = None,
    elem_offset: Any = None,
    scope: str = "global",
    align: int = 0,
    offset_factor: int = 0,
    buffer_type: str = "",
    axis_separators: Sequence[int] | None = None,
) -> Arguments:
    """The same as `decl_buffer`."""
    return locals()


sblock_alloc_buffer = alloc_buffer


def buffer_decl(*args: Any, **kwargs: Any) -> StmtForm:
    """The same as `decl_buffer`, by its older name."""
    return buffer(*args, **kwargs)


@statement(Role.ADDS, TIRBuilder.store)
def buffer_store(
    buffer: Any, value: Any, indices: Sequence[Any], predicate: Any = None
) -> Arguments:
    """`buffer[indices] = value`; with `predicate`, in the lanes where it holds."""
    return locals()


def _allocate(tb: TIRBuilder, *, name: str = "memory", **parts: Any) -> Var:
    return tb.allocate(name, **parts)


def _allocate_const(tb: TIRBuilder, *, name: str = "memory", **parts: Any) -> Var:
    return tb.allocate_const(name, **parts)


@statement(Role.HOLDS, _allocate, Var)
def allocate(
    extents: Sequence[Any],
    dtype: str,
    scope: str = "global",
    condition: Any = None,
    annotations: Attributes | None = None,
) -> Arguments:
    """Memory for as long as the statements after it run; its value is the address."""
    return locals()


@statement(Role.HOLDS, _allocate_const, Var)
def allocate_const(
    data: Sequence[Any],
    dtype: str,
    extents: Sequence[Any],
    annotations: Attributes | None = None,
) -> Arguments:
    """Memory that holds constants; its value is the address."""
    return locals()


@statement(Role.HOLDS, TIRBuilder.realize)
def realize(buffer_slice: Any, storage_scope: str, condition: Any = True) -> Arguments:
    """A region of a buffer exists, in a scope of memory, while the statements after it run."""
    return locals()


@statement(Role.ADDS, TIRBuilder.prefetch, node=Prefetch)
def prefetch(buffer: Any, bounds: Sequence[Any]) -> Arguments:
    """A hint that a region of a buffer, a range for each axis or none, will be read soon."""
    return locals()


# ---- scopes and control


def _let(
    tb: TIRBuilder, value: Any, type_annotation: Any = None, var: Any = None, name: str = "x"
) -> Var:
    dtype = type_annotation.dtype if isinstance(type_annotation, ScalarType) else None
    return tb.let(var if isinstance(var, Var) else name, value, dtype)


@statement(Role.HOLDS, _let, Var)
def LetStmt(value: Any, type_annotation: Any = None, *, var: Any = None) -> Arguments:
    """A scalar variable: `with T.LetStmt(a + b) as c:`, which is `c = a + b` with a visible end."""
    return locals()


Bind = bind = LetStmt


@statement(Role.HOLDS, TIRBuilder.attr, node=AttrStmt)
def attr(node: Any, attr_key: str, value: Any) -> Arguments:
    """A hint for the compiler about the statements after it."""
    return locals()


@statement(Role.HOLDS, TIRBuilder.assert_holds, node=AssertStmt)
def Assert(condition: Any, message: str) -> Arguments:
    """Stop with `message` unless `condition` holds: `assert condition, message`."""
    return locals()


@statement(Role.OPENS, TIRBuilder.while_)
def While(condition: Any) -> Arguments:
    """`while condition:` as a scope."""
    return locals()


@statement(Role.OPENS, TIRBuilder.if_)
def If(condition: Any) -> Arguments:
    """`if condition:` as a scope that holds `with T.Then():` and perhaps `with T.Else():`."""
    return locals()


@statement(Role.OPENS, TIRBuilder.then)
def Then() -> Arguments:
    """The branch of the `T.If` around it for a condition that holds."""
    return locals()


@statement(Role.OPENS, TIRBuilder.else_)
def Else() -> Arguments:
    """The branch of the `T.If` around it for a condition that does not hold."""
    return locals()


@statement(Role.ADDS, TIRBuilder.evaluate, node=Evaluate)
def evaluate(value: Any) -> Arguments:
    """Compute a value for its effect."""
    return locals()


# ---- what is no statement by itself


def meta_var(value: Any) -> StmtForm:
    """`x = T.meta_var(e)` makes `x` another name of `e`, without a variable in the program."""
    return StmtForm(meta_var, value=value)


@statement(Role.VALUE, lambda tb, begin, end: (begin, end))
def Range(begin: Any, end: Any) -> Arguments:
    """The integers `begin <= i < end`, as the domain of an axis."""
    return locals()


Buffer = BufferForm(buffer)
