"""The statements that `T.` names: loops, blocks and their parts, buffers, scopes.

Each function describes one statement and returns a `Form`: the function itself and its arguments,
by name. The parser gives forms their meaning where they stand; plain Python may make and read them
too. Nothing is checked here, because Python evaluates annotations before any parser sees them.

Source: TVM `tvm.script.parser.tir` for names, order of parameters and defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .tir_types import BufferFront, Form

__all__ = [
    "Assert", "Buffer", "Else", "If", "LetStmt", "Range", "Then", "While",
    "alloc_buffer", "allocate",
    "allocate_const", "attr", "block", "block_attr", "buffer", "buffer_decl", "buffer_store",
    "decl_buffer", "env_thread", "evaluate", "func_attr", "grid", "init", "launch_thread",
    "match_buffer", "meta_var", "parallel", "prefetch", "reads", "realize", "serial",
    "thread_binding", "unroll", "vectorized", "where", "writes",
]  # fmt: skip


Attributes = Mapping[str, Any]


# ---- loops


def serial(start: Any, stop: Any = None, *, annotations: Attributes | None = None) -> Form:
    """A loop over `start <= i < stop` (or `0 <= i < start`), one iteration after the other."""
    return Form(serial, start=start, stop=stop, annotations=annotations)


def parallel(start: Any, stop: Any = None, *, annotations: Attributes | None = None) -> Form:
    """A loop whose iterations may run at the same time, on several threads."""
    return Form(parallel, start=start, stop=stop, annotations=annotations)


def vectorized(start: Any, stop: Any = None, *, annotations: Attributes | None = None) -> Form:
    """A loop whose iterations may run as lanes of vector instructions."""
    return Form(vectorized, start=start, stop=stop, annotations=annotations)


def unroll(start: Any, stop: Any = None, *, annotations: Attributes | None = None) -> Form:
    """A loop whose iterations are written out one after the other."""
    return Form(unroll, start=start, stop=stop, annotations=annotations)


def thread_binding(
    start: Any,
    stop: Any = None,
    thread: str | None = None,
    *,
    annotations: Attributes | None = None,
) -> Form:
    """A loop whose iterations are the threads of a device: `T.thread_binding(4, "threadIdx.x")`."""
    if thread is None and isinstance(stop, str):
        stop, thread = None, stop
    return Form(thread_binding, start=start, stop=stop, thread=thread, annotations=annotations)


def grid(*extents: Any) -> Form:
    """Nested serial loops, one for each extent: `for i, j in T.grid(n, 64)`."""
    return Form(grid, extents=extents)


def launch_thread(thread: Any, extent: Any) -> Form:
    """The statements after it run on `extent` threads of a GPU: `bx = T.launch_thread("blockIdx.x",
    4)`; `thread` is the name of a thread, or a variable that `T.env_thread` gave."""
    return Form(launch_thread, thread=thread, extent=extent)


def env_thread(thread_tag: str, dtype: str = "int32") -> Form:
    """The number of a thread, for launches that come later: `tx = T.env_thread("threadIdx.x")`."""
    return Form(env_thread, thread_tag=thread_tag, dtype=dtype)


# ---- blocks


def block(name: str = "", no_realize: bool = False) -> Form:
    """A unit of computation over its own axes: `with T.block("matmul"):`."""
    return Form(block, name=name, no_realize=no_realize)


def init() -> Form:
    """What a block does first wherever its reduction axes start: `with T.init():`."""
    return Form(init)


def where(predicate: Any) -> Form:
    """The block runs only where `predicate` holds."""
    return Form(where, predicate=predicate)


def reads(*buffer_slices: Any) -> Form:
    """The regions of buffers that a block reads; without it they are derived from the body."""
    return Form(reads, regions=buffer_slices)


def writes(*buffer_slices: Any) -> Form:
    """The regions of buffers that a block writes; without it they are derived from the body."""
    return Form(writes, regions=buffer_slices)


def block_attr(attrs: Attributes) -> Form:
    """Annotations of a block."""
    return Form(block_attr, attrs=attrs)


def func_attr(attrs: Attributes) -> Form:
    """Attributes of the function."""
    return Form(func_attr, attrs=attrs)


# ---- buffers and memory


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
) -> Form:
    """The buffer behind a `T.handle` parameter, or in a block another name of a region."""
    return Form(match_buffer, **locals())


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
) -> Form:
    """A new buffer that lives as long as the block (outside of blocks: the function) runs.

    What it holds before it is written is unspecified: store first. The target "reference" gives
    NaN, the least integer (the largest, where none is negative) or True, so that a mistake is seen.
    Native code begins with zeros where the program was loaded from a file or built for
    "llvm -zero-memory=1".
    """
    return Form(alloc_buffer, **locals())


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
) -> Form:
    """A buffer over the memory at `data`; without `data`, over memory allocated for it."""
    return Form(decl_buffer, **locals())


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
) -> Form:
    """The same as `decl_buffer`."""
    return Form(buffer, **locals())


def buffer_decl(*args: Any, **kwargs: Any) -> Form:
    """The same as `decl_buffer`, by its older name."""
    return buffer(*args, **kwargs)


def buffer_store(buffer: Any, value: Any, indices: Sequence[Any], predicate: Any = None) -> Form:
    """`buffer[indices] = value`; with `predicate`, in the lanes where it holds."""
    return Form(buffer_store, buffer=buffer, value=value, indices=indices, predicate=predicate)


def allocate(
    extents: Sequence[Any],
    dtype: str,
    scope: str = "global",
    condition: Any = None,
    annotations: Attributes | None = None,
) -> Form:
    """Memory for as long as the statements after it run; its value is the address."""
    return Form(allocate, **locals())


def allocate_const(
    data: Sequence[Any],
    dtype: str,
    extents: Sequence[Any],
    annotations: Attributes | None = None,
) -> Form:
    """Memory that holds constants; its value is the address."""
    return Form(allocate_const, **locals())


def realize(buffer_slice: Any, storage_scope: str, condition: Any = True) -> Form:
    """A region of a buffer exists, in a scope of memory, while the statements after it run."""
    return Form(realize, **locals())


def prefetch(buffer: Any, bounds: Sequence[Any]) -> Form:
    """A hint that a region of a buffer, a range for each axis or none, will be read soon."""
    return Form(prefetch, buffer=buffer, bounds=bounds)


# ---- scopes and control


def LetStmt(value: Any, type_annotation: Any = None, *, var: Any = None) -> Form:
    """A scalar variable: `with T.LetStmt(a + b) as c:`, which is `c = a + b` with a visible end."""
    return Form(LetStmt, value=value, type_annotation=type_annotation, var=var)


def attr(node: Any, attr_key: str, value: Any) -> Form:
    """A hint for the compiler about the statements after it."""
    return Form(attr, node=node, attr_key=attr_key, value=value)


def Assert(condition: Any, message: str) -> Form:
    """Stop with `message` unless `condition` holds: `assert condition, message`."""
    return Form(Assert, condition=condition, message=message)


def While(condition: Any) -> Form:
    """`while condition:` as a scope."""
    return Form(While, condition=condition)


def If(condition: Any) -> Form:
    """`if condition:` as a scope that holds `with T.Then():` and perhaps `with T.Else():`."""
    return Form(If, condition=condition)


def Then() -> Form:
    """What is done when the condition of the `T.If` around it holds."""
    return Form(Then)


def Else() -> Form:
    """What is done when the condition of the `T.If` around it does not hold."""
    return Form(Else)


def evaluate(value: Any) -> Form:
    """Compute a value for its effect."""
    return Form(evaluate, value=value)


# ---- what is no statement by itself


def meta_var(value: Any) -> Form:
    """`x = T.meta_var(e)` makes `x` another name of `e`, without a variable in the program."""
    return Form(meta_var, value=value)


def Range(begin: Any, end: Any) -> Form:
    """The integers `begin <= i < end`, as the domain of an axis."""
    return Form(Range, begin=begin, end=end)


Buffer = BufferFront(buffer)
