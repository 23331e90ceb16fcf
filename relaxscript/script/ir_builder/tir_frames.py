"""Frames of TIR: PrimFuncs, and the scopes of the builder that they open and close."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from relaxscript.arguments import ArgumentError, python_signature
from relaxscript.ir.prim import PrimType
from relaxscript.ir.tir import Stmt
from relaxscript.script.names.statement import ROWS, Role
from relaxscript.script.names.tir_types import ScalarType, StmtForm, name_of
from relaxscript.tir_builder import Scope

from .base import Frame, IRBuilder, builder_error, innermost, with_names
from .module_frame import ModuleFrame
from .relax_frames import FunctionFrame
from .tir_statements import Statements

__all__ = [
    "BodyStmtFrame", "PrimFuncFrame", "ScopeFrame", "build_of", "frame_function", "prim_func_frame",
    "statements",
]  # fmt: skip


class PrimFuncFrame(Frame):
    """`with T.prim_func():`; in a module it needs a name."""

    written = "T.prim_func"

    def __init__(self, is_private: bool) -> None:
        self.is_private = is_private
        self.name = ""
        self.statements = Statements()
        self.module: ModuleFrame | None = None

    def open(self, builder: IRBuilder) -> PrimFuncFrame:
        around = builder.frames[-1] if builder.frames else None
        if around is not None and not isinstance(around, ModuleFrame):
            raise builder_error(
                "RX0104", f"a PrimFunc is not allowed in `{around.written}`",
                "functions are defined next to each other in `with I.ir_module():`",
            )  # fmt: skip
        self.module = around
        return self

    def close(self, builder: IRBuilder) -> None:
        if self.module is not None and not self.name:
            raise builder_error("RX0105", "a function of a module has a name",
                                'give it one: `T.func_name("main")`')  # fmt: skip
        function = self.statements.finish(self.name, self.is_private)
        if self.module is None:
            builder.finish(function)
        else:
            self.module.define(self.name, function)

    def set_name(self, name: str) -> None:
        if self.name:
            raise builder_error("RX0302", f"the function is called `{self.name}` already")
        self.name = name

    def set_result(self, ret_type: Any) -> None:
        """The type of what the function returns."""
        if isinstance(ret_type, ScalarType):
            ret_type = PrimType.make(ret_type.dtype)
        if not isinstance(ret_type, PrimType):
            raise builder_error("RX0108", f"`{ret_type!r}` is not the type of a scalar",
                                "write for example `T.int32`")  # fmt: skip
        self.statements.builder.ret_type = ret_type

    def rename(self, value: Any, name: str) -> None:
        self.statements.builder.names[value] = name


class FragmentFrame(Frame):
    """Statements outside of any PrimFunc; it ends with its builder."""

    def __init__(self) -> None:
        self.statements = Statements()

    def open(self, builder: IRBuilder) -> None:
        """Opened by the first statement."""

    def close(self, builder: IRBuilder) -> None:
        """Never closed."""

    def whole(self) -> Stmt:
        builder = self.statements.builder
        return with_names(builder.body(), builder.names)

    def rename(self, value: Any, name: str) -> None:
        self.statements.builder.names[value] = name


def prim_func_frame(what: str) -> PrimFuncFrame:
    """The PrimFunc that is open; `what` needs one."""
    frame = innermost(PrimFuncFrame)
    if frame is None:
        raise builder_error("RX0105", f"`{what}` belongs in a PrimFunc",
                            "open one: `with T.prim_func():`")  # fmt: skip
    return frame


def statements(what: str) -> Statements:
    """The list to which the next statement of TIR is added; `what` is that statement."""
    builder = IRBuilder.current()
    frame = innermost((PrimFuncFrame, FunctionFrame, ModuleFrame))
    if isinstance(frame, PrimFuncFrame):
        return frame.statements
    if frame is not None:
        raise builder_error("RX0105", f"`{what}` belongs in a PrimFunc, not in `{frame.written}`",
                            "open one: `with T.prim_func():`")  # fmt: skip
    if not builder.finished:
        builder.finish(FragmentFrame())
    piece = builder.finished[-1]
    if not isinstance(piece, FragmentFrame):
        raise builder_error("RX0302", "a builder makes one thing, and this is the second",
                            "put several functions in `with I.ir_module():`")  # fmt: skip
    return piece.statements


class ScopeFrame(Frame):
    """A scope of the builder: `make` gives it when the `with` begins."""

    def __init__(self, written: str, make: Callable[[Statements], Scope]) -> None:
        self.written = written
        self.make = make
        self.scope: Scope | None = None

    def open(self, builder: IRBuilder) -> Any:
        made = statements(self.written)
        with made.blame_caller(self.written):
            scope = self.make(made)
            value = scope.__enter__()
        self.scope = scope
        return value

    def close(self, builder: IRBuilder) -> None:
        if self.scope is not None:
            with statements(self.written).blame_caller(self.written):
                self.scope.__exit__(None, None, None)

    def abandon(self) -> None:
        if self.scope is not None:
            self.scope.abandon()


class BodyStmtFrame(ScopeFrame):
    """The scope of a statement that lasts to the end of the `with`, such as `T.allocate`."""

    def __init__(self, written: str, begin: Callable[[Statements], Any]) -> None:
        super().__init__(written, lambda made: made.builder.scope())
        self.begin = begin

    def open(self, builder: IRBuilder) -> Any:
        super().open(builder)
        made = statements(self.written)
        try:
            with made.blame_caller(self.written):
                return self.begin(made)
        except BaseException:
            self.abandon()
            raise


def frame_function(maker: Callable[..., StmtForm]) -> Callable[..., Any]:
    """A statement of the table as a call of Python: what it opens is a frame."""

    @wraps(maker)
    def call(*args: Any, **kwargs: Any) -> Any:
        make, written = build_of(maker, args, kwargs), name_of(maker)
        match ROWS[maker].role:
            case Role.OPENS | Role.LOOPS:
                return ScopeFrame(written, make)
            case Role.HOLDS:
                return BodyStmtFrame(written, make)
        made = statements(written)
        with made.blame_caller(written):
            return make(made)

    return call


def build_of(
    maker: Callable[..., StmtForm], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Callable[[Statements], Any]:
    """The function that builds a statement; a dtype that is not given is left to the builder."""
    taken = python_signature(name_of(maker), inspect.signature(maker), brief=True)
    try:
        given = taken.bind_given(args, kwargs)
    except ArgumentError as error:
        raise builder_error(error.code, error.message, error.help) from None
    arguments = maker(*args, **kwargs).arguments
    wanted = {k: v for k, v in arguments.items() if k != "dtype" or k in given}
    return lambda made: ROWS[maker].build(made.builder, **made.arguments(wanted))
