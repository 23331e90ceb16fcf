"""The statements of one PrimFunc that frames make, its parameters and the names of its dimensions.

A mistake is raised at the line of the caller, in the words of scripts.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from relaxscript.errors import DiagnosticError, warn
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Buffer, PrimFunc
from relaxscript.ir.walk import substitute
from relaxscript.script.names.tir_types import BufferForm, HandleType, ScalarType, StmtForm
from relaxscript.script.names.tir_values import BUFFER_PARAMETERS, PARAMETER_HELP, builder_argument
from relaxscript.tir_builder import TIRBuilder, TIRError, describe, make_buffer

from .base import with_names

__all__ = ["Statements"]

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


class Statements:
    """A builder, and the names that its parameters and dimensions have."""

    def __init__(self) -> None:
        self.builder = TIRBuilder()
        self.names: dict[str, Any] = {}
        # Buffers that exist, and the parameters that they became.
        self.parameters: dict[Buffer, Buffer] = {}

    @contextmanager
    def blame_caller(self, callee: str) -> Iterator[TIRBuilder]:
        """Mistakes inside are those of the line of Python that called."""
        builder = self.builder
        span = builder.span = caller_span()
        doubts, builder.doubts = builder.doubts, []
        try:
            yield builder
            doubts = builder.doubts
        except TIRError as error:
            raise DiagnosticError(error.diagnostic(callee, span, {})) from None
        finally:
            builder.doubts = []
        for doubt in doubts:
            warn(doubt.diagnostic(callee, span, {}))

    def finish(self, name: str, private: bool) -> PrimFunc:
        """The PrimFunc."""
        self.builder.name, self.builder.private = name, private
        self.builder.span = None
        function = self.builder.finish()
        return with_names(substitute(function, dict(self.parameters.items())), self.builder.names)

    # ---- parameters

    def argument(self, name: str, value: Any) -> Any:
        """A parameter: its variable, or its buffer."""
        if name in self.names:
            raise TIRError("name", f"two parameters are called `{name}`", code="RX0302",
                           help="rename one of them")  # fmt: skip
        if isinstance(value, Buffer):
            found: Any = value if value.name == name else value.replace(name=name)
            if found is not value:
                self.parameters[value] = found
        elif isinstance(value, StmtForm) and isinstance(value.maker, BufferForm):
            found = make_buffer(
                name, **self.arguments(_arguments_of(value)), span=self.builder.span
            )
        else:
            found = self._scalar_parameter(name, value)
        self.builder.add_param(found)
        self.names[name] = found
        return found

    def _scalar_parameter(self, name: str, value: Any) -> Var:
        span = self.builder.span
        match value:
            case HandleType():
                return Var.make(name, prim.HANDLE, span=span)
            case ScalarType() if not value.dtype.is_void:
                return Var.make(name, value.dtype, span=span)
            case Var(name=""):
                return value.replace(name=name, span=span)
            case BufferForm():
                raise TIRError("obj", "a buffer needs a shape", code="RX0108", help=PARAMETER_HELP)
        raise TIRError("obj", f"{describe(value)} is not the type of a parameter", code="RX0108",
                       help=PARAMETER_HELP)  # fmt: skip

    # ---- buffers

    def _dims(self, values: Any) -> Any:
        if isinstance(values, (list, tuple)):
            # Names first: arithmetic may use those that come after it.
            named = [self._dim(v) if _is_name(v) else v for v in values]
            return [self._dim(v) for v in named]
        return self._dim(values)

    def _dim(self, value: Any) -> Any:
        """A dimension in a string: a name introduces a variable, arithmetic uses known ones."""
        if not isinstance(value, str):
            return value
        if _is_name(value):
            known = self.names.get(value.strip())
            if known is None:
                known = Var.make(value.strip(), prim.INT64, span=self.builder.span)
                self.names[value.strip()] = known
            if isinstance(known, PrimExpr):
                return known
            raise TIRError("shape", f"`{value.strip()}` is {describe(known)}, not a dimension",
                           code="RX0108", help="give the dimension another name")  # fmt: skip
        try:
            syntax = ast.parse(value.strip(), mode="eval")
        except (SyntaxError, ValueError):
            raise TIRError("shape", f'"{value}" is not an expression', code="RX0108") from None
        return self._arithmetic(syntax.body, value)

    def _arithmetic(self, node: ast.expr, text: str) -> Any:
        match node:
            case ast.Constant(value=int() as number):
                return number
            case ast.Name(id=name):
                if not isinstance(self.names.get(name), PrimExpr):
                    raise TIRError(
                        "shape", f"the dimension `{name}` is not defined here", code="RX0109",
                        help="it must be a whole dimension of some shape: "
                             f'`T.Buffer(("{name}",), ...)`',
                    )  # fmt: skip
                return self.names[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                a, b = self._arithmetic(left, text), self._arithmetic(right, text)
                return _OPERATORS[type(op)](a, b)
        raise TIRError("shape", f'"{text}" is not an expression', code="RX0108")

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as the builder takes them; a string is a dimension where one can be."""
        found = {name: builder_argument(name, value) for name, value in given.items()}
        for name in ("shape", "strides", "elem_offset"):
            if found.get(name) is not None:
                found[name] = self._dims(found[name])
        return found


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.strip().isidentifier()


def _arguments_of(form: StmtForm) -> dict[str, Any]:
    """The arguments of `T.Buffer(...)`, by name."""
    named = {k: v for k, v in form.arguments.items() if k != "args"}
    return {**dict(zip(BUFFER_PARAMETERS, form.arguments["args"])), **named}
