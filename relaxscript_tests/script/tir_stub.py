"""Writes `relaxscript/script/tir.pyi`, from which type checkers and editors know what `T.` has.

Signatures and docstrings are those of the functions. What a statement gives is not: a function of
`T` describes it and returns a `StmtForm`, and the parser makes loop variables and buffers of it:
that is in `GIVES`. Dtypes are classes for checkers, since they are used in annotations.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from relaxscript.ir.prim import Var
from relaxscript.ir.tir import Buffer
from relaxscript.script import tir as T
from relaxscript.script.names import tir_axis, tir_compute, tir_math, tir_nodes, tir_statements
from relaxscript.script.names.relax_typed import DTYPES
from relaxscript.script.names.statement import ROWS, Role
from relaxscript.script.names.tir_types import ScalarType
from relaxscript_tests.architecture import ROOT

__all__ = ["PATH", "written"]

PATH = ROOT / "relaxscript" / "script" / "tir.pyi"

HEAD = '''"""What checkers and editors know of `T.`; written by `relaxscript_tests/script/stub.py`.

They read `x: T.Buffer[T.f32, n, 4]` as `Annotated[f32, n, 4]`: any expression may be a dimension,
and `f32` is what a buffer can do. Statements have the types of what the parser makes of them.
"""

# ruff: noqa: E501, RUF022

from builtins import bool as _bool, int as _int, str as _str
from collections.abc import Callable as _Callable, Iterator as _Iterator
from collections.abc import Mapping as _Mapping, Sequence as _Sequence
from contextlib import AbstractContextManager as _Scope
from typing import Annotated as Buffer, Any as _Any, Protocol as _Protocol, TypeAlias as _TypeAlias

from relaxscript.dtypes import DataType as _DataType
from relaxscript.ir.module import Target as _Target
from relaxscript.ir.prim import BufferLoad as _BufferLoad, PrimExpr as _PrimExpr
from relaxscript.ir.prim import PrimExprLike as _PrimExprLike, Var as _Var
from relaxscript.ir.relax import GlobalVar as _GlobalVar, Op as _Op
from relaxscript.ir.tir import IterVar as _IterVar
from relaxscript.ir.tir_compute import CommReducer as _CommReducer, IndexMap as _IndexMap
from relaxscript.ir.tir_compute import ProducerLoad as _Load, Reduce as _Reduce

from .parser.entry import prim_func as prim_func, tir_macro as macro
from .names.relax_typed import dim as dim
from .names.tir_compute import CallEffectKind as CallEffectKind
from .names.tir_nodes import FloatImm as FloatImm, IntImm as IntImm, StringImm as StringImm
from .names.tir_types import StmtForm as _Form
'''

TYPES = '''
__all__ = ALL

_Attributes: _TypeAlias = _Mapping[_str, _Any]

class _Elements(_Protocol):
    """A buffer: its elements are read as `x[i, j]` and written by `x[i, j] = value`."""

    @property
    def name(self) -> _str: ...
    @property
    def shape(self) -> tuple[_PrimExpr, ...]: ...
    @property
    def dtype(self) -> _DataType: ...
    @property
    def data(self) -> _Var:
        """The address of its memory."""
    @property
    def strides(self) -> tuple[_PrimExpr, ...]: ...
    @property
    def elem_offset(self) -> _PrimExpr | None: ...
    @property
    def scope(self) -> _str: ...
    @property
    def ndim(self) -> _int: ...
    def __getitem__(self, indices: _Indices) -> _BufferLoad: ...
    def __setitem__(self, indices: _Indices, value: _PrimExprLike) -> None: ...
    def vload(self, begin: _Any, dtype: _str | None = None) -> _PrimExpr:
        """Some elements that lie side by side, as a vector."""
    def vstore(self, begin: _Any, value: _PrimExprLike) -> _PrimExpr:
        """Store a vector to elements that lie side by side."""

class _Scalar(_Var):
    """A scalar: `n: T.int64` is a parameter, `T.int64()` a new variable, `T.int64(x)` a value."""

    def __init__(
        self, expr: _PrimExprLike | _str | None = None, is_size_var: _bool = False
    ) -> None: ...

class _Vars(_Var):
    """A variable, or several, which are unpacked."""

    def __iter__(self) -> _Iterator[_Var]: ...

class _BufferScope(_Elements, _Protocol):
    """A buffer, which `with` may give an end."""

    def __enter__(self) -> _Elements: ...
    def __exit__(self, *error: object) -> None: ...

class _VarScope(_Var):
    """A variable, which `with` may give an end."""

    def __enter__(self) -> _Var: ...
    def __exit__(self, *error: object) -> None: ...

# A dtype is a text, or the class that stands for one here.
_DType: _TypeAlias = _str | type[_Any]
_Indices: _TypeAlias = _PrimExprLike | slice | tuple[_PrimExprLike | slice, ...]
'''

HANDLE = '''
class handle(_Var):
    """An address: `a: T.handle` is a parameter that `T.match_buffer(a, ...)` reads as a buffer."""

    def __init__(
        self,
        dtype: _DType | None = None,
        storage_scope: _str = "global",
        *,
        is_size_var: _bool = False,
    ) -> None: ...
'''

BOOL = '''
class bool(_Scalar):
    """A scalar that is true or false; in `T.Buffer[T.bool, n]`, buffers of these."""

    shape: tuple[_PrimExpr, ...]
    def __getitem__(self, indices: _Indices) -> _BufferLoad: ...
    def __setitem__(self, indices: _Indices, value: _PrimExprLike) -> None: ...

boolean = bool
'''

# What the parser makes of statements, by the columns of their table.
OF_ROLE: dict[tuple[Role, type | None], str] = {
    (Role.ADDS, None): "None",
    (Role.LOOPS, Var): "_Iterator[_Var]",
    (Role.OPENS, None): "_Scope[None]",
    (Role.HOLDS, None): "_Scope[None]",
    (Role.HOLDS, Var): "_VarScope",
    (Role.HOLDS, Buffer): "_BufferScope",
    (Role.GIVES, Var): "_Var",
    (Role.GIVES, Buffer): "_Elements",
}
# What others give.
GIVES = {
    **dict.fromkeys(("buffer", "buffer_decl"), "_BufferScope"),
    **dict.fromkeys(("iter_var", "IterVar"), "_IterVar"),
    "Range": "_Form",
    "meta_var": "_Any",
    "grid": "_Iterator[_Vars]",
    "remap": "_Vars",
}

# Words of annotations that are one thing in a file of ours and another in `T`.
WORDS = {"tir.Buffer": "_Elements", "tir.IterVar": "_IterVar", "prim.Var": "_Var", "None": "None"}


def typed(annotation: Any, name: str, home: Any) -> str:
    """An annotation of ours as the stub has it."""
    if annotation is inspect.Parameter.empty and name.endswith("dtype"):
        return "_DType | None"
    if annotation is inspect.Parameter.empty:
        return "_PrimExprLike" if home == "relaxscript.ir.scalar_functions" else "_Any"
    if name.endswith("dtype") and annotation == "str":
        return "_DType"

    def word(match: re.Match[str]) -> str:
        return WORDS.get(match[0], "_" + match[0].lstrip("_"))

    return re.sub(r"[A-Za-z_][\w.]*", word, str(annotation))


def signature(function: Callable[..., Any]) -> str:
    """The parameters of a function, with their types."""
    parts: list[str] = []
    star = False
    for p in inspect.signature(function).parameters.values():
        kind = typed(p.annotation, p.name, function.__module__)
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or p.kind in (p.VAR_POSITIONAL, p.KEYWORD_ONLY)
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f" = {shown(p.default)}"
        parts.append(f"{stars}{p.name}: {kind}{default}")
    return f"({', '.join(parts)})"


def shown(default: Any) -> str:
    return repr(default) if isinstance(default, (bool, int, float, str, type(None))) else "..."


def definition(name: str, function: Callable[..., Any], inside: bool = False) -> str:
    """A function as a stub has it."""
    doc = _indented(f'"""{_docstring(function)}"""\n')
    heads = ["@staticmethod"] if inside else []
    row = ROWS.get(function)
    given = GIVES.get(function.__name__) or (row and OF_ROLE[row.role, row.gives])
    if given is None:
        returned = inspect.signature(function).return_annotation
        result = typed(returned, "", function.__module__)
        given = "_PrimExpr" if returned is inspect.Signature.empty else result
    return "\n".join([*heads, f"def {name}{signature(function)} -> {given}:", doc])


def _docstring(value: Any) -> str:
    text = inspect.cleandoc(inspect.getdoc(value) or "").replace("\\", "\\\\")
    return f"{text}\n" if "\n" in text else text


def _indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(True))


def data_type(name: str) -> str:
    """A dtype as a class: what `n: T.int64` is, and what `T.int64(x)` takes."""
    return f'class {name}(_Scalar):\n    """Scalars of type {name}."""\n'


def element(name: str) -> str:
    """A short dtype as a class: what `x: T.Buffer[T.f32, n]` is."""
    return f'class {name}(_Elements, _Protocol):\n    """Buffers of {getattr(T, name)}."""\n'


def written() -> str:
    """The text of the stub."""
    parts = [HEAD, TYPES.replace("ALL", repr(list(T.__all__))), HANDLE, BOOL]
    parts += [element(name) for name in DTYPES if name != "bool"]
    for name in T.__all__:
        value = getattr(T, name)
        if isinstance(value, ScalarType) and name not in ("bool", "boolean", "handle"):
            parts.append(data_type(name))
    inner = "".join(definition(n, getattr(tir_axis, n), True) for n in tir_axis.__all__)
    body = f'"""{_docstring(tir_axis)}"""\n{inner}'
    parts.append(f"class axis:\n{_indented(body)}")
    for home in (tir_statements, tir_compute, tir_nodes, tir_math):
        for name in home.__all__:
            if name != "Buffer" and inspect.isfunction(getattr(home, name)):
                parts.append(definition(name, getattr(home, name)))
    return "\n".join(parts)
