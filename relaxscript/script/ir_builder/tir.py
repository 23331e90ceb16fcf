"""The namespace `T` of the builder: PrimFuncs, loops, blocks, statements, and every scalar.

from relaxscript.script.ir_builder import tir as T
"""

from collections.abc import Mapping as _Mapping
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from relaxscript.ir.tir import Buffer as _IRBuffer
from relaxscript.script.names import (
    tir_compute as _tir_compute,
    tir_dtypes as _tir_dtypes,
    tir_math as _tir_math,
    tir_nodes as _tir_nodes,
    tir_statements as _table,
)
from relaxscript.script.names.attributes import attribute as _attribute
from relaxscript.script.names.tir_compute import *  # noqa: F403
from relaxscript.script.names.tir_dtypes import *  # noqa: F403
from relaxscript.script.names.tir_math import *  # noqa: F403
from relaxscript.script.names.tir_nodes import *  # noqa: F403
from relaxscript.script.names.tir_types import BufferForm as _BufferForm

from . import tir_axis as axis
from .tir_frames import (
    PrimFuncFrame as _PrimFuncFrame,
    build_of as _build_of,
    frame_function as _frame_function,
    prim_func_frame as _prim_func_frame,
)
from .tir_statements import Statements as _Statements

__all__ = ["arg", "axis", "func_name", "func_ret", "prim_func"]
__all__ += [
    name
    for part in (_table, _tir_compute, _tir_dtypes, _tir_math, _tir_nodes)
    for name in part.__all__
    if name != "meta_var"
]


# ---- the function


def prim_func(is_private: bool = False) -> _PrimFuncFrame:
    """A PrimFunc: `with T.prim_func():`."""
    return _PrimFuncFrame(is_private)


def arg(name: str, obj: _Any) -> _Any:
    """A parameter: a scalar such as `T.int64()`, `T.handle()`, or `T.Buffer(shape, dtype)`."""
    made = _prim_func_frame("T.arg").statements
    with made.blame_caller("T.arg"):
        return made.argument(name, obj)


def func_name(name: str) -> None:
    """The name of the PrimFunc."""
    _prim_func_frame("T.func_name").set_name(name)


def func_attr(attrs: _Mapping[str, _Any]) -> None:
    """Attributes of the PrimFunc."""
    with _prim_func_frame("T.func_attr").statements.blame_caller("T.func_attr") as builder:
        builder.func_attr(_attribute(attrs))


def func_ret(ret_type: _Any) -> None:
    """The type of what the PrimFunc returns, such as `T.int32`."""
    _prim_func_frame("T.func_ret").set_result(ret_type)


# ---- statements


def buffer(*args: _Any, **kwargs: _Any) -> _IRBuffer:
    """A buffer that belongs to nothing yet: a parameter by `T.arg`, or what is read and written.

    Arguments are those of `T.buffer` in scripts.
    """
    made = _Statements()
    with made.blame_caller("T.buffer"):
        return _build_of(_table.buffer, args, kwargs)(made)  # type: ignore[no-any-return]


buffer_decl = buffer


class _BufferMaker(_BufferForm):
    """`T.Buffer` of statements that Python makes: a buffer, where no dimension is a new name."""

    def __call__(self, *args: _Any, **kwargs: _Any) -> _Any:
        """The same as `buffer`; with names of dimensions in strings, what `T.arg` takes."""
        shape = args[0] if args else kwargs.get("shape", ())
        dims = shape if isinstance(shape, (tuple, list)) else [shape]
        if any(isinstance(dim, str) for dim in dims):
            return super().__call__(*args, **kwargs)
        return buffer(*args, **kwargs)


Buffer = _BufferMaker(_table.buffer)

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any:
        """The statements of the table, under their names in scripts."""

else:
    for _name in _table.__all__:
        globals().setdefault(_name, _frame_function(getattr(_table, _name)))
