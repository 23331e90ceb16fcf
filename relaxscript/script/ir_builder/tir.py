"""What `T.` means for frames: PrimFuncs, loops, blocks, statements, and every scalar.

from relaxscript.script.ir_builder import tir as T
"""

import inspect as _inspect
from collections.abc import Callable as _Callable, Mapping as _Mapping
from typing import Any as _Any

from relaxscript.ir.tir import Buffer as _IRBuffer
from relaxscript.script import (
    tir_compute as _tir_compute,
    tir_dtypes as _tir_dtypes,
    tir_forms as _forms,
    tir_math as _tir_math,
    tir_nodes as _tir_nodes,
)
from relaxscript.script.tir_compute import *  # noqa: F403
from relaxscript.script.tir_dtypes import *  # noqa: F403
from relaxscript.script.tir_forms import Range
from relaxscript.script.tir_math import *  # noqa: F403
from relaxscript.script.tir_nodes import *  # noqa: F403
from relaxscript.script.tir_types import BufferFront as _BufferFront, Form as _Form

from . import tir_axis as axis
from .base import refused as _refused
from .tir_frames import (
    BlockFrame as _BlockFrame,
    ChoiceFrame as _ChoiceFrame,
    HoldingFrame as _HoldingFrame,
    InitFrame as _InitFrame,
    LoopFrame as _LoopFrame,
    PrimFuncFrame as _PrimFuncFrame,
    WayFrame as _WayFrame,
    WhileFrame as _WhileFrame,
    prim_func_frame as _prim_func_frame,
    writer as _writer,
)
from .tir_writer import TirWriter as _TirWriter

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
    return _prim_func_frame("T.arg").writer.argument(name, obj)


def func_name(name: str) -> None:
    """The name of the PrimFunc."""
    _prim_func_frame("T.func_name").set_name(name)


def func_attr(attrs: _Mapping[str, _Any]) -> None:
    """Attributes of the PrimFunc."""
    _prim_func_frame("T.func_attr").writer.effect_of(_forms.func_attr(attrs))


def func_ret(ret_type: _Any) -> None:
    """The type of what the PrimFunc returns, such as `T.int32`."""
    _prim_func_frame("T.func_ret").set_result(ret_type)


# ---- buffers


def _given(maker: _Callable[..., _Form], args: _Any, kwargs: _Any) -> _Form:
    """What was written; defaults are left to the rules."""
    try:
        bound = _inspect.signature(maker).bind(*args, **kwargs)
    except TypeError as error:
        raise _refused("RX0103", f"`T.{maker.__name__}`: {error}") from None
    return _Form(maker, **bound.arguments)


def match_buffer(*args: _Any, **kwargs: _Any) -> _IRBuffer:
    """The buffer behind a `T.handle()` parameter, or in a block another name of a region.

    Arguments are those of `T.match_buffer` in scripts.
    """
    form = _given(_forms.match_buffer, args, kwargs)
    # In PrimFuncs the parameter and its buffer have one name.
    name = getattr(form.arguments["param"], "name", "") or "buffer"
    return _writer("T.match_buffer").buffer_of(form, name)


def alloc_buffer(*args: _Any, **kwargs: _Any) -> _IRBuffer:
    """A new buffer that lives as long as the block (outside of blocks: the function) runs.

    Arguments are those of `T.alloc_buffer` in scripts.
    """
    form = _given(_forms.alloc_buffer, args, kwargs)
    return _writer("T.alloc_buffer").buffer_of(form, "buffer")


def decl_buffer(*args: _Any, **kwargs: _Any) -> _HoldingFrame:
    """A buffer over memory: `with T.decl_buffer(shape, dtype, data=p) as B:`.

    Arguments are those of `T.decl_buffer` in scripts.
    """
    return _HoldingFrame(_given(_forms.decl_buffer, args, kwargs))


def buffer(*args: _Any, **kwargs: _Any) -> _IRBuffer:
    """A buffer that belongs to nothing yet: a parameter by `T.arg`, or what is read and written.

    Arguments are those of `T.buffer` in scripts.
    """
    rules = _TirWriter()
    syntax = rules.syntax(_given(_forms.buffer, args, kwargs))
    made: _IRBuffer = rules.value_of(lambda: rules.buffer("buffer", syntax, None))
    return made


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
    _writer("T.buffer_store").effect_of(_forms.buffer_store(buffer, value, indices, predicate))


# ---- loops and branches


def serial(start: _Any, stop: _Any = None, *, annotations: _Any = None) -> _LoopFrame:
    """A loop, one iteration after the other: `with T.serial(8) as i:`."""
    return _LoopFrame(_forms.serial(start, stop, annotations=annotations))


def parallel(start: _Any, stop: _Any = None, *, annotations: _Any = None) -> _LoopFrame:
    """A loop whose iterations may run at the same time."""
    return _LoopFrame(_forms.parallel(start, stop, annotations=annotations))


def vectorized(start: _Any, stop: _Any = None, *, annotations: _Any = None) -> _LoopFrame:
    """A loop whose iterations may run as lanes of vector instructions."""
    return _LoopFrame(_forms.vectorized(start, stop, annotations=annotations))


def unroll(start: _Any, stop: _Any = None, *, annotations: _Any = None) -> _LoopFrame:
    """A loop whose iterations are written out."""
    return _LoopFrame(_forms.unroll(start, stop, annotations=annotations))


def thread_binding(
    start: _Any, stop: _Any = None, thread: str | None = None, *, annotations: _Any = None
) -> _LoopFrame:
    """A loop whose iterations are the threads of a device."""
    return _LoopFrame(_forms.thread_binding(start, stop, thread, annotations=annotations))


def grid(*extents: _Any) -> _LoopFrame:
    """Nested serial loops: `with T.grid(2, 3) as (i, j):`."""
    return _LoopFrame(_forms.grid(*extents))


def While(condition: _Any) -> _WhileFrame:
    """`with T.While(condition):`."""
    return _WhileFrame(_forms.While(condition))


def If(condition: _Any) -> _ChoiceFrame:
    """A choice: `with T.If(condition):` holds `T.Then()` and perhaps `T.Else()`."""
    return _ChoiceFrame(_forms.If(condition))


def Then() -> _WayFrame:
    """What is done when the condition of `T.If` holds."""
    return _WayFrame(_forms.Then())


def Else() -> _WayFrame:
    """What is done when the condition of `T.If` does not hold."""
    return _WayFrame(_forms.Else())


# ---- blocks


def block(name: str = "", no_realize: bool = False) -> _BlockFrame:  # type: ignore[valid-type]
    """A unit of computation over its own axes: `with T.block("matmul"):`."""
    return _BlockFrame(_forms.block(name, no_realize))


def init() -> _InitFrame:
    """What a block does first wherever its reduction axes start."""
    return _InitFrame(_forms.init())


def where(predicate: _Any) -> None:
    """The block runs only where `predicate` holds."""
    _writer("T.where").effect_of(_forms.where(predicate))


def reads(*buffer_slices: _Any) -> None:
    """The regions that the block reads; without it they are derived from the body."""
    _writer("T.reads").effect_of(_forms.reads(*buffer_slices))


def writes(*buffer_slices: _Any) -> None:
    """The regions that the block writes; without it they are derived from the body."""
    _writer("T.writes").effect_of(_forms.writes(*buffer_slices))


def block_attr(attrs: _Mapping[str, _Any]) -> None:
    """Annotations of the block."""
    _writer("T.block_attr").effect_of(_forms.block_attr(attrs))


# ---- other statements


def evaluate(value: _Any) -> None:
    """Compute a value for its effect."""
    _writer("T.evaluate").effect_of(_forms.evaluate(value))


def prefetch(buffer: _IRBuffer, bounds: _Any) -> None:
    """Bring a part of a buffer near."""
    _writer("T.prefetch").effect_of(_forms.prefetch(buffer, bounds))


def realize(buffer_slice: _Any, storage_scope: str, condition: _Any = True) -> _HoldingFrame:
    """The region of a buffer that exists while the statements inside run."""
    return _HoldingFrame(_forms.realize(buffer_slice, storage_scope, condition))


def launch_thread(thread: _Any, extent: _Any) -> _HoldingFrame:
    """The statements inside run on several threads: `with T.launch_thread("threadIdx.x", 32):`."""
    return _HoldingFrame(_forms.launch_thread(thread, extent))


def env_thread(thread_tag: str, dtype: str = "int32") -> _Any:
    """A thread that is launched later."""
    return _writer("T.env_thread").thread_of(_forms.env_thread(thread_tag, dtype))


def Assert(condition: _Any, message: str) -> _HoldingFrame:
    """Stop with `message` unless `condition` holds: `with T.Assert(condition, message):`."""
    return _HoldingFrame(_forms.Assert(condition, message))


def attr(node: _Any, attr_key: str, value: _Any) -> _HoldingFrame:
    """A hint for the compiler about the statements inside."""
    return _HoldingFrame(_forms.attr(node, attr_key, value))


def LetStmt(value: _Any, type_annotation: _Any = None, *, var: _Any = None) -> _HoldingFrame:
    """A scalar variable: `with T.LetStmt(a + b) as c:`."""
    return _HoldingFrame(_forms.LetStmt(value, type_annotation, var=var))


def allocate(
    extents: _Any, dtype: str, scope: str = "global", condition: _Any = None,
    annotations: _Any = None,
) -> _HoldingFrame:  # fmt: skip
    """Memory for as long as the statements inside run: `with T.allocate([8], "float32") as p:`."""
    return _HoldingFrame(_forms.allocate(extents, dtype, scope, condition, annotations))


def allocate_const(
    data: _Any, dtype: str, extents: _Any, annotations: _Any = None
) -> _HoldingFrame:
    """Memory that holds constants."""
    return _HoldingFrame(_forms.allocate_const(data, dtype, extents, annotations))
