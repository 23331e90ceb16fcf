"""The functions of the language where parsing starts: the decorators and `from_source`.

What parses is imported by the first of them that is called; a program that only runs what was saved
or makes its modules by the builder does without it. The traceback that a user sees ends at the
decorated line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, Literal, overload

from relaxscript.errors import DiagnosticError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir import hooks
from relaxscript.ir.relax import Function
from relaxscript.ir.tir import PrimFunc

from .decorated import DecoratedModule

if TYPE_CHECKING:
    from relaxscript.dpl import PatternMatchingRewriter

__all__ = [
    "from_source", "function", "ir_module", "prim_func", "relax_macro", "rewriter", "tir_macro",
]  # fmt: skip

__tracebackhide__ = is_user_error


@overload
def ir_module(
    mod: type, *, check_well_formed: bool = True, strict: bool | None = None
) -> DecoratedModule: ...


@overload
def ir_module(
    mod: None = None, *, check_well_formed: bool = True, strict: bool | None = None
) -> Callable[[type], DecoratedModule]: ...


def ir_module(
    mod: Any = None, *, check_well_formed: bool = True, strict: bool | None = None, **unknown: Any
) -> Any:  # fmt: skip
    """Decorate a class whose methods are functions of a module; the class becomes an `IRModule`.

    `check_well_formed=False` accepts work in progress that is ill-typed or breaks criteria of
    well-formedness. One of these is 12, that something can be called from outside. Syntax and names
    must have a meaning all the same. What is ill-typed has the StructInfo that it declares, if any.
    `relaxscript.analysis.ill_formed` says what is wrong. `strict=True` makes errors of the warnings
    about what can only be checked at run time; None leaves that to `relaxscript.config`. Raises
    `DiagnosticError` with every mistake in the class.
    """
    from .definitions import parse_class

    frame = sys._getframe(1)
    if mod is None or isinstance(mod, bool):
        return lambda cls: _shortly(parse_class, cls, frame, check_well_formed, strict, unknown)
    try:
        return parse_class(mod, frame, check_well_formed, strict, unknown)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def rewriter(mod: type) -> PatternMatchingRewriter:
    """Decorate a class of two functions, `pattern` and `replacement`; it becomes a rewriter.

    Called with a function or module, it puts the replacement into the place of what `pattern`
    returns. That is found wherever the operands fit the parameters. Raises `DiagnosticError`.
    """
    from relaxscript.dpl.rewriter_module import rewriter_of

    from .definitions import parse_class

    frame = sys._getframe(1)
    try:
        return rewriter_of(parse_class(mod, frame, True, None, written="R.rewriter"))
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


@overload
def function(
    f: Callable[..., Any], pure: bool = True, private: bool = False, check_well_formed: bool = True,
    strict: bool | None = None,
) -> Function: ...  # fmt: skip


@overload
def function(
    f: None = None, pure: bool = True, private: bool = False, check_well_formed: bool = True,
    strict: bool | None = None,
) -> Callable[[Callable[..., Any]], Function]: ...  # fmt: skip


def function(
    f: Any = None, pure: bool = True, private: bool = False, check_well_formed: bool = True,
    strict: bool | None = None, **unknown: Any,
) -> Any:  # fmt: skip
    """Decorate a Python function: its body is parsed as Relax, and it becomes a `Function`.

    `pure=False` allows side effects; `private=True` hides it outside its module;
    `check_well_formed=False` is explained with `ir_module`; `strict=True` makes errors of the
    warnings about what can only be checked at run time, None leaves that to `relaxscript.config`.
    Inside a class under `I.ir_module` the function is left to the module, and what it says of
    itself holds. Raises `DiagnosticError`.
    """
    from .definitions import parse_decorated

    frame = sys._getframe(1)
    given = {"pure": pure, "private": private, "check_well_formed": check_well_formed}
    if f is None or isinstance(f, bool):
        return lambda inner: _shortly(
            parse_decorated, inner, frame, "function", strict, unknown, given
        )
    try:
        return parse_decorated(f, frame, "function", strict, unknown, given)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


@overload
def prim_func(
    func: Callable[..., Any], private: bool = False, check_well_formed: bool = True,
    s_tir: bool = False,
) -> PrimFunc: ...  # fmt: skip


@overload
def prim_func(
    func: None = None, private: bool = False, check_well_formed: bool = True, s_tir: bool = False
) -> Callable[[Callable[..., Any]], PrimFunc]: ...


def prim_func(
    func: Any = None, private: bool = False, check_well_formed: bool = True, s_tir: bool = False,
    **unknown: Any,
) -> Any:  # fmt: skip
    """Decorate a Python function: its body is parsed as TIR, and it becomes a `PrimFunc`.

    Inside a class under `I.ir_module` the function is left to the module. Raises `DiagnosticError`.
    """
    from .definitions import parse_decorated

    frame = sys._getframe(1)
    given = {"private": private}
    if func is None or isinstance(func, bool):
        return lambda inner: _shortly(
            parse_decorated, inner, frame, "prim_func", None, unknown, given
        )
    try:
        return parse_decorated(func, frame, "prim_func", None, unknown, given)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def relax_macro(f: Any = None, *, hygienic: bool = True, **unknown: Any) -> Any:
    """Decorate a Python function: calls of it in Relax functions are replaced by its body.

    It ends with `return`, and the call has the value of what is returned. With `hygienic=False`
    names mean what they mean where the macro is used. Raises `DiagnosticError`.
    """
    return _macro("relax_macro", f, sys._getframe(1), unknown)


def tir_macro(f: Any = None, *, hygienic: bool = True, **unknown: Any) -> Any:
    """Decorate a Python function: its statements are added to a PrimFunc wherever it is called.

    It returns nothing. With `hygienic=False` names mean what they mean where the macro is used.
    Raises `DiagnosticError`.
    """
    return _macro("tir_macro", f, sys._getframe(1), unknown)


def from_source(
    text: str | type | FunctionType, *, filename: str = "<text>",
    mode: Literal["data", "python"] = "data", extra_vars: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None, check_well_formed: bool = True,
    strict: bool | None = None,
) -> Any:  # fmt: skip
    """The module or function in a string of source; the last one when there are several.

    The script of a part (`expr.script()`, of a binding, a StructInfo, a statement, a scalar) reads
    as the part: a script that defines nothing, in which what is free is declared first.
    In "data" mode no Python is evaluated, so that the script of a stranger can be read. Literals,
    plain assignments of them and the names of `I`, `R` and `T` are known. In "python" mode the
    statements around the definitions are executed as in a file, in a namespace of their own. Both
    know `extra_vars`. `metadata` holds the constants that a script printed without them refers to;
    a script with `show_meta=True` brings its own. `strict=True` makes errors of the warnings about
    what can only be checked at run time; None leaves that to `relaxscript.config`. A decorated
    class or function is parsed again from its source. Raises `DiagnosticError` with every mistake.
    """
    from .from_source import read_source

    frame = sys._getframe(1)
    try:
        return read_source(
            text, frame, filename, mode, extra_vars or {}, metadata, check_well_formed, strict
        )
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


@hooks.parsed.fill
def _parse_printed(script: str) -> Any:
    from .from_source import read_again

    return read_again(script, "<printed>", {})


def _shortly(parse: Callable[..., Any], *args: Any) -> Any:
    """The user's line matters, our frames do not: errors leave without them."""
    try:
        return parse(*args)
    except DiagnosticError as error:
        raise error.with_traceback(None) from None


def _macro(kind: str, f: Any, frame: FrameType, unknown: Mapping[str, Any]) -> Any:
    from .macro_definitions import capture_macro

    if f is None:
        return lambda inner: capture_macro(kind, inner, frame, unknown)
    return capture_macro(kind, f, frame, unknown)
