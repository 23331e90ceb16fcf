"""What `T.` means for frames: PrimFuncs, loops, blocks, statements, and every scalar.

from relaxscript.script.ir_builder import tir as T
"""

import inspect as _inspect
from collections.abc import Callable as _Callable, Mapping as _Mapping
from typing import Any as _Any

from relaxscript.arguments import (
    ArgumentError as _ArgumentError,
    python_signature as _python_signature,
)
from relaxscript.ir.prim import Var as _Var
from relaxscript.ir.tir import Buffer as _IRBuffer
from relaxscript.script.names import (
    tir_compute as _tir_compute,
    tir_dtypes as _tir_dtypes,
    tir_forms as _forms,
    tir_math as _tir_math,
    tir_nodes as _tir_nodes,
)
from relaxscript.script.names.attributes import attribute as _attribute
from relaxscript.script.names.tir_compute import *  # noqa: F403
from relaxscript.script.names.tir_dtypes import *  # noqa: F403
from relaxscript.script.names.tir_forms import Range
from relaxscript.script.names.tir_math import *  # noqa: F403
from relaxscript.script.names.tir_nodes import *  # noqa: F403
from relaxscript.script.names.tir_types import (
    BufferFront as _BufferFront,
    ScalarType as _ScalarType,
)
from relaxscript.script.names.tir_values import dtype_of as _dtype_of
from relaxscript.tir_builder import TIRError as _TIRError

from . import tir_axis as axis
from .base import refused as _refused
from .tir_frames import (
    HoldingFrame as _HoldingFrame,
    PrimFuncFrame as _PrimFuncFrame,
    ScopeFrame as _ScopeFrame,
    prim_func_frame as _prim_func_frame,
    statements as _statements,
)
from .tir_statements import Statements as _Statements

__all__ = [
    "Assert", "Buffer", "Else", "If", "LetStmt", "Range", "Then", "While", "alloc_buffer",
    "allocate", "allocate_const", "arg", "attr", "axis", "block", "block_attr", "buffer",
    "buffer_decl", "buffer_store", "decl_buffer", "env_thread", "evaluate", "func_attr",
    "func_name", "func_ret", "grid", "init", "launch_thread", "match_buffer", "parallel",
    "prefetch", "prim_func", "reads", "realize", "serial", "thread_binding", "unroll",
    "vectorized", "where", "writes",
]  # fmt: skip
__all__ += [
    name for part in (_tir_compute, _tir_dtypes, _tir_math, _tir_nodes) for name in part.__all__
]


# ---- the function


def prim_func(is_private: bool = False) -> _PrimFuncFrame:  # type: ignore[valid-type]
    """A PrimFunc: `with T.prim_func():`."""
    return _PrimFuncFrame(is_private)


def arg(name: str, obj: _Any) -> _Any:
    """A parameter: a scalar such as `T.int64()`, `T.handle()`, or `T.Buffer(shape, dtype)`."""
    made = _prim_func_frame("T.arg").statements
    with made.told("T.arg"):
        return made.argument(name, obj)


def func_name(name: str) -> None:
    """The name of the PrimFunc."""
    _prim_func_frame("T.func_name").set_name(name)


def func_attr(attrs: _Mapping[str, _Any]) -> None:
    """Attributes of the PrimFunc."""
    with _prim_func_frame("T.func_attr").statements.told("T.func_attr") as builder:
        builder.func_attr(_attribute(attrs))


def func_ret(ret_type: _Any) -> None:
    """The type of what the PrimFunc returns, such as `T.int32`."""
    _prim_func_frame("T.func_ret").set_result(ret_type)


# ---- buffers


def _given(maker: _Callable[..., _Any], args: _Any, kwargs: _Any) -> dict[str, _Any]:
    """The arguments that were written; defaults are left to the rules."""
    try:
        taken = _python_signature(f"T.{maker.__name__}", _inspect.signature(maker), brief=True)
        return taken.bind_given(args, kwargs)
    except _ArgumentError as error:
        raise _refused(error.code, error.message, error.help) from None


def match_buffer(*args: _Any, **kwargs: _Any) -> _IRBuffer:
    """The buffer behind a `T.handle()` parameter, or in a block another name of a region.

    Arguments are those of `T.match_buffer` in scripts.
    """
    given = _given(_forms.match_buffer, args, kwargs)
    param = given.pop("param")
    # In PrimFuncs the parameter and its buffer have one name.
    name = getattr(param, "name", "") or "buffer"
    made = _statements("T.match_buffer")
    with made.told("T.match_buffer") as builder:
        if isinstance(param, _Var) and "shape" not in given:
            raise _TIRError(
                "param", f"the buffer of `{name}` needs a shape",
                help=f'write for example `T.match_buffer({name}, (n,), "float32")`',
            )  # fmt: skip
        if not isinstance(param, _Var) and "dtype" not in given:
            given["dtype"] = getattr(getattr(param, "buffer", param), "dtype", "float32")
        return builder.match_buffer(param, made.buffer(name, given))


def alloc_buffer(*args: _Any, **kwargs: _Any) -> _IRBuffer:
    """A new buffer that lives as long as the block (outside of blocks: the function) runs.

    Arguments are those of `T.alloc_buffer` in scripts.
    """
    given = _given(_forms.alloc_buffer, args, kwargs)
    made = _statements("T.alloc_buffer")
    with made.told("T.alloc_buffer") as builder:
        return builder.alloc_buffer(made.buffer("buffer", given))


def decl_buffer(*args: _Any, **kwargs: _Any) -> _HoldingFrame:
    """A buffer over memory: `with T.decl_buffer(shape, dtype, data=p) as B:`.

    Arguments are those of `T.decl_buffer` in scripts.
    """
    given = _given(_forms.decl_buffer, args, kwargs)
    return _HoldingFrame(
        "T.decl_buffer",
        lambda made: made.builder.decl_buffer(made.buffer("buffer", given, is_view=True)),
    )


def buffer(*args: _Any, **kwargs: _Any) -> _IRBuffer:
    """A buffer that belongs to nothing yet: a parameter by `T.arg`, or what is read and written.

    Arguments are those of `T.buffer` in scripts.
    """
    given = _given(_forms.buffer, args, kwargs)
    made = _Statements()
    with made.told("T.buffer"):
        return made.buffer("buffer", given, is_view=True)


buffer_decl = buffer


class _BufferMaker(_BufferFront):
    """`T.Buffer` of statements that Python makes: a buffer, where no dimension is a new name."""

    def __call__(self, *args: _Any, **kwargs: _Any) -> _Any:
        """The same as `buffer`; with names of dimensions in texts, what `T.arg` takes."""
        shape = args[0] if args else kwargs.get("shape", ())
        dims = shape if isinstance(shape, (tuple, list)) else [shape]
        if any(isinstance(dim, str) for dim in dims):
            return super().__call__(*args, **kwargs)
        return buffer(*args, **kwargs)


Buffer = _BufferMaker(_forms.buffer)


def buffer_store(buffer: _IRBuffer, value: _Any, indices: _Any, predicate: _Any = None) -> None:
    """Store a value into an element of a buffer."""
    with _statements("T.buffer_store").told("T.buffer_store") as builder:
        builder.store(buffer, indices, value, predicate)


# ---- loops and branches


def _loop(kind: str, start: _Any, stop: _Any, annotations: _Any, **more: _Any) -> _ScopeFrame:
    notes = _attribute(annotations)

    def opened(made: _Statements) -> _Any:
        return made.builder.loop(kind, start, stop, annotations=notes, **more)

    return _ScopeFrame(f"T.{'unroll' if kind == 'unrolled' else kind}", opened)


def serial(start: _Any, stop: _Any = None, *, annotations: _Any = None) -> _ScopeFrame:
    """A loop, one iteration after the other: `with T.serial(8) as i:`."""
    return _loop("serial", start, stop, annotations)


def parallel(start: _Any, stop: _Any = None, *, annotations: _Any = None) -> _ScopeFrame:
    """A loop whose iterations may run at the same time."""
    return _loop("parallel", start, stop, annotations)


def vectorized(start: _Any, stop: _Any = None, *, annotations: _Any = None) -> _ScopeFrame:
    """A loop whose iterations may run as lanes of vector instructions."""
    return _loop("vectorized", start, stop, annotations)


def unroll(start: _Any, stop: _Any = None, *, annotations: _Any = None) -> _ScopeFrame:
    """A loop whose iterations are written out."""
    return _loop("unrolled", start, stop, annotations)


def thread_binding(
    start: _Any, stop: _Any = None, thread: str | None = None, *, annotations: _Any = None
) -> _ScopeFrame:
    """A loop whose iterations are the threads of a device."""
    if thread is None and isinstance(stop, str):
        stop, thread = None, stop
    return _loop("thread_binding", start, stop, annotations, thread=thread)


def grid(*extents: _Any) -> _ScopeFrame:
    """Nested serial loops: `with T.grid(2, 3) as (i, j):`."""

    def opened(made: _Statements) -> _Any:
        if not extents:
            raise _TIRError("", "`T.grid` needs an extent for each loop", code="RX0103",
                            help="write for example `T.grid(16, 16)`")  # fmt: skip
        scope = made.builder.grid(*extents)
        if len(extents) == 1:
            (scope.value,) = scope.value
        return scope

    return _ScopeFrame("T.grid", opened)


def While(condition: _Any) -> _ScopeFrame:
    """`with T.While(condition):`."""
    return _ScopeFrame("T.While", lambda made: made.builder.while_(condition))


def If(condition: _Any) -> _ScopeFrame:
    """A choice: `with T.If(condition):` holds `T.Then()` and perhaps `T.Else()`."""
    return _ScopeFrame("T.If", lambda made: made.builder.if_(condition))


def Then() -> _ScopeFrame:
    """What is done when the condition of `T.If` holds."""
    return _ScopeFrame("T.Then", lambda made: made.builder.then())


def Else() -> _ScopeFrame:
    """What is done when the condition of `T.If` does not hold."""
    return _ScopeFrame("T.Else", lambda made: made.builder.else_())


# ---- blocks


def block(name: str = "", no_realize: bool = False) -> _ScopeFrame:  # type: ignore[valid-type]
    """A unit of computation over its own axes: `with T.block("matmul"):`."""
    return _ScopeFrame("T.block", lambda made: made.builder.block(name, no_realize=no_realize))


def init() -> _ScopeFrame:
    """What a block does first wherever its reduction axes start."""
    return _ScopeFrame("T.init", lambda made: made.builder.innermost.init())


def where(predicate: _Any) -> None:
    """The block runs only where `predicate` holds."""
    with _statements("T.where").told("T.where") as builder:
        builder.innermost.where(predicate)


def reads(*buffer_slices: _Any) -> None:
    """The regions that the block reads; without it they are derived from the body."""
    with _statements("T.reads").told("T.reads") as builder:
        builder.innermost.reads(*buffer_slices)


def writes(*buffer_slices: _Any) -> None:
    """The regions that the block writes; without it they are derived from the body."""
    with _statements("T.writes").told("T.writes") as builder:
        builder.innermost.writes(*buffer_slices)


def block_attr(attrs: _Mapping[str, _Any]) -> None:
    """Annotations of the block."""
    with _statements("T.block_attr").told("T.block_attr") as builder:
        builder.innermost.annotate(_attribute(attrs))


# ---- other statements


def evaluate(value: _Any) -> None:
    """Compute a value for its effect."""
    with _statements("T.evaluate").told("T.evaluate") as builder:
        builder.evaluate(value)


def prefetch(buffer: _IRBuffer, bounds: _Any) -> None:
    """Bring a part of a buffer near."""
    made = _statements("T.prefetch")
    with made.told("T.prefetch") as builder:
        builder.prefetch(buffer, made.plain(bounds))


def realize(buffer_slice: _Any, storage_scope: str, condition: _Any = True) -> _HoldingFrame:
    """The region of a buffer that exists while the statements inside run."""
    return _HoldingFrame(
        "T.realize", lambda made: made.builder.realize(buffer_slice, storage_scope, condition)
    )


def launch_thread(thread: _Any, extent: _Any) -> _HoldingFrame:
    """The statements inside run on several threads: `with T.launch_thread("threadIdx.x", 32):`."""
    return _HoldingFrame("T.launch_thread", lambda made: made.builder.launch_thread(thread, extent))


def env_thread(thread_tag: str, dtype: str = "int32") -> _Any:
    """A thread that is launched later."""
    with _statements("T.env_thread").told("T.env_thread") as builder:
        return builder.env_thread(thread_tag, dtype=_dtype_of(dtype))


def Assert(condition: _Any, message: str) -> _HoldingFrame:
    """Stop with `message` unless `condition` holds: `with T.Assert(condition, message):`."""
    return _HoldingFrame("T.Assert", lambda made: made.builder.assert_holds(condition, message))


def attr(node: _Any, attr_key: str, value: _Any) -> _HoldingFrame:
    """A hint for the compiler about the statements inside."""
    return _HoldingFrame(
        "T.attr", lambda made: made.builder.attr(made.plain(node), attr_key, value)
    )


def LetStmt(value: _Any, type_annotation: _Any = None, *, var: _Any = None) -> _HoldingFrame:
    """A scalar variable: `with T.LetStmt(a + b) as c:`."""
    dtype = type_annotation.dtype if isinstance(type_annotation, _ScalarType) else None
    name = var if isinstance(var, _Var) else "x"
    return _HoldingFrame("T.LetStmt", lambda made: made.builder.let(name, value, dtype))


def allocate(
    extents: _Any, dtype: str, scope: str = "global", condition: _Any = None,
    annotations: _Any = None,
) -> _HoldingFrame:  # fmt: skip
    """Memory for as long as the statements inside run: `with T.allocate([8], "float32") as p:`."""

    def begin(made: _Statements) -> _Var:
        element, notes = _dtype_of(dtype), _attribute(annotations)
        return made.builder.allocate("memory", extents, element, scope, condition, notes)

    return _HoldingFrame("T.allocate", begin)


def allocate_const(
    data: _Any, dtype: str, extents: _Any, annotations: _Any = None
) -> _HoldingFrame:
    """Memory that holds constants."""

    def begin(made: _Statements) -> _Var:
        element, notes = _dtype_of(dtype), _attribute(annotations)
        return made.builder.allocate_const("memory", data, element, extents, notes)

    return _HoldingFrame("T.allocate_const", begin)
