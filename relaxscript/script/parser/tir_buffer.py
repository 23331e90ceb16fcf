"""Buffers of PrimFuncs: their syntax, and the dimensions and other parts that they have.

    buffer    = "T.Buffer(" shape "," dtype ... ")" | "T.alloc_buffer(" shape "," dtype ... ")" ...
    shape     = "(" { dimension "," } ")" | dimension
    dimension = integer | scalar | string                   ("n", or arithmetic such as "n * 2")

A string that is a name introduces a shape variable; every dimension keeps its place.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from typing import Any

from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import Diagnostic, Span, did_you_mean
from relaxscript.ir import prim
from relaxscript.ir.prim import HANDLE, IntImm, PointerType, PrimExpr, PrimType
from relaxscript.ir.relax import ShapeExpr
from relaxscript.ir.tir import Buffer
from relaxscript.ir.walk import substitute, walk
from relaxscript.op.spellings import nearest_dtype
from relaxscript.script import tir_forms
from relaxscript.script.syntax import BUFFER_DIM_DTYPE
from relaxscript.script.tir_types import ScalarType

from .base import UNKNOWN, Failed
from .tir_call import CallParser
from .tir_scalar import counted, describe

__all__ = ["BUFFER_MAKERS", "BUFFER_PARAMETERS", "BufferParser", "BufferSyntax"]

BUFFER_PARAMETERS = tuple(inspect.signature(tir_forms.buffer).parameters)
COMMON_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                 "float16", "float32", "float64", "bfloat16", "handle")  # fmt: skip


# What a dimension lies below.
LARGEST = 1 << 63


class BufferSyntax:
    """A buffer as it was written: which argument stands where, before it has a name."""

    def __init__(self, maker: Any, nodes: dict[str, ast.expr], node: ast.expr) -> None:
        self.maker = maker
        self.nodes = nodes
        self.node = node


BUFFER_MAKERS = {
    id(f)
    for f in (tir_forms.match_buffer, tir_forms.alloc_buffer, tir_forms.decl_buffer,
              tir_forms.buffer, tir_forms.buffer_decl, tir_forms.Buffer)
}  # fmt: skip


class BufferParser(CallParser):
    """Adds buffers to expressions."""

    # Variables by what they are, for the words of messages; they cannot be assigned again.
    fixed: dict[prim.Var, str]
    # The syntax of buffers whose address the function asks for, and of all that it has made.
    addressed: set[ast.AST]
    made: dict[Buffer, ast.AST]
    # Shape variables that Python holds, each with the function's own.
    own: dict[prim.Var, prim.Var]
    # Those that it has none of, by where they stand first.
    captured: dict[prim.Var, Span | None]

    def parsed_string(self, node: ast.AST, text: str) -> ast.expr:
        try:
            return ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            raise self.error(node, "RX0108", f'"{text}" is not an expression') from None

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        if id(callee) in BUFFER_MAKERS:
            return self.buffer_syntax(callee, node)
        return super().call_value(callee, node)

    def buffer_syntax(self, callee: Any, node: ast.Call) -> BufferSyntax:
        """Which argument of a buffer stands where."""
        maker = tir_forms.buffer if callee is tir_forms.buffer_decl else callee
        signature = inspect.signature(maker)
        nodes: dict[str, ast.expr] = dict(zip(signature.parameters, node.args))
        for extra in (*node.args, *(k.value for k in node.keywords if k.arg is None)):
            if isinstance(extra, ast.Starred) or any(
                k.value is extra and k.arg is None for k in node.keywords
            ):
                raise self.error(
                    extra, "RX0104", "the arguments of a buffer are written out one by one"
                )
        keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
        given = {*nodes, *keywords}
        parameters = signature.parameters.values()
        missing = [p for p in parameters if p.default is p.empty and p.name not in given]
        if (
            missing
            or len(node.args) > len(signature.parameters)
            or set(keywords) - set(signature.parameters)
        ):
            raise self.wrong_arguments(self.written(node.func), signature, node, keywords)
        return BufferSyntax(maker, {**nodes, **keywords}, self.inside_string or node)

    def introduce_dimensions(self, syntax: BufferSyntax) -> None:
        """Make the shape variables that stand alone in a buffer's dimensions."""
        for name in ("shape", "strides", "elem_offset"):
            node = syntax.nodes.get(name)
            elements = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
            for element in elements:
                text = (
                    getattr(element, "value", None) if isinstance(element, ast.Constant) else None
                )
                if isinstance(element, ast.Name) and element.id not in self.names:
                    text = self.environment.value_of(element.id)
                texts = text if isinstance(text, (tuple, list)) else (text,)
                for one in texts:
                    if isinstance(one, str) and one.strip().isidentifier():
                        self.shape_variable(one.strip(), element)
                    elif isinstance(one, prim.Var) and one.dtype.is_integer:
                        self.own_variable(one, element or syntax.node)

    def shape_variable(self, name: str, node: ast.AST | None) -> PrimExpr:
        """The variable of a dimension's name; a new one is int64."""
        known = self.names.get(name)
        if known is UNKNOWN:
            raise Failed
        if isinstance(known, PrimExpr):
            return known
        if known is not None and node is not None:
            raise self.error(
                node, "RX0108", f"`{name}` is {describe(known)}, not a dimension",
                help="give the dimension another name",
            )  # fmt: skip
        var = prim.Var.make(name, BUFFER_DIM_DTYPE, span=None if node is None else self.span(node))
        self.names[name] = var
        self.fixed[var] = "a shape variable"
        return var

    def own_variable(self, var: prim.Var, node: ast.AST) -> None:
        """The function's own variable for a dimension that Python holds, known by its name.

        One that was made without a name, by `n = T.int64()`, has that of Python's variable.
        """
        name = var.name or self.environment.name_of(var)
        if name is None or var in self.own:
            return
        known = self.names.get(name)
        if not isinstance(known, prim.Var):
            known = prim.Var.make(name, var.dtype, span=self.span(node))
            self.names.setdefault(name, known)
            self.fixed[known] = "a shape variable"
        self.own[var] = known

    def find_name(self, node: ast.Name) -> Any:
        value = super().find_name(node)
        if isinstance(value, prim.Var) and value.name and value not in self.own:
            self.captured.setdefault(value, self.span(node))
        return self.with_own_variables(value)

    def with_own_variables(self, value: Any) -> Any:
        """A scalar that Python holds, of the function's own shape variables."""
        if isinstance(value, prim.Var):
            return self.own.get(value, value)
        return substitute(value, self.own) if isinstance(value, PrimExpr) else value

    def buffer(self, name: str, syntax: BufferSyntax, span: Span | None) -> Buffer:
        """The buffer of a name; mistakes in all its arguments are reported."""
        nodes = syntax.nodes
        failed: Failed | None = None
        parts: dict[str, Any] = {}
        for part, rule in (
            ("shape", self.dims), ("dtype", self.dtype), ("strides", self.dims),
            ("elem_offset", self.dim), ("data", self.pointer), ("scope", self.text_argument),
            ("align", self.number), ("offset_factor", self.number),
            ("buffer_type", self.text_argument), ("axis_separators", self.numbers),
        ):  # fmt: skip
            node = nodes.get(part)
            if node is None or (isinstance(node, ast.Constant) and node.value is None):
                continue
            try:
                parts[part] = rule(node)
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return self.made_buffer(name, parts, syntax, span)

    def made_buffer(
        self, name: str, parts: dict[str, Any], syntax: BufferSyntax, span: Span | None
    ) -> Buffer:
        shape, strides = parts.get("shape", ()), parts.get("strides", ())
        dtype = parts.get("dtype", prim.FLOAT32)
        if dtype.is_void:
            raise self.error(
                syntax.nodes["dtype"], "RX0108",
                f'the elements of the buffer `{name}` have no data type: "void" has no values',
                help='name the data type of an element, such as "float32"',
            )  # fmt: skip
        if strides and len(strides) != len(shape):
            raise self.error(
                syntax.nodes["strides"], "RX0108",
                f"{counted(len(shape), 'dimension')} {'needs' if len(shape) == 1 else 'need'} "
                f"{counted(len(shape), 'stride')}, not {len(strides)}",
            )  # fmt: skip
        if syntax.maker not in (tir_forms.decl_buffer, tir_forms.buffer):
            self.check_dimensions(shape, syntax)
        scope = parts.get("scope", "global")
        data = parts.get("data")
        if data is None and syntax.node in self.addressed:
            pointer = PointerType.make(PrimType.make(dtype), scope)
            data = prim.Var.make(name, HANDLE, pointer)
        offset, factor = parts.get("elem_offset"), parts.get("offset_factor", 0)
        if offset is None and factor:
            offset = self.shape_variable(f"{name}_elem_offset", None)
        kind = parts.get("buffer_type") or "default"
        buffer = Buffer.make(
            name, tuple(shape), dtype, data, tuple(strides), offset, scope,
            parts["align"] if parts.get("align", 0) > 0 else 64, factor or 1,
            "auto_broadcast" if kind == "auto" else kind,
            tuple(parts.get("axis_separators", ())), span=span,
        )  # fmt: skip
        self.made[buffer] = syntax.node
        return buffer

    def check_dimensions(self, shape: Sequence[PrimExpr], syntax: BufferSyntax) -> None:
        """Dimensions of memory are known before any element of a buffer is read."""
        for dim in shape:
            load = next((n for n in walk(dim) if isinstance(n, prim.BufferLoad)), None)
            if load is not None:
                raise self.error(
                    syntax.nodes["shape"], "RX0108", "a dimension cannot be read from a buffer",
                    labels=[(load.span, f"an element of `{load.buffer.name}`")],
                    help="pass it as a parameter: `n: T.int64`",
                )  # fmt: skip

    def data_of(self, buffer: Buffer, node: ast.AST) -> PrimExpr:
        """The address of a buffer; the buffer is made with one when the function is read again."""
        if buffer.data is not None:
            return buffer.data
        if buffer in self.made:
            self.addressed.add(self.made[buffer])
        pointer = PointerType.make(PrimType.make(buffer.dtype), buffer.scope)
        return prim.Var.make(buffer.name, HANDLE, pointer)

    def dims(self, node: ast.expr) -> tuple[PrimExpr, ...]:
        """A shape: several dimensions, or a single one."""
        if isinstance(node, (ast.Tuple, ast.List)):
            found: list[PrimExpr] = []
            failed: Failed | None = None
            for element in node.elts:
                try:
                    if isinstance(element, ast.Starred):
                        items = self.host_iterable(element.value)
                        found.extend(self.dim_of(v, element) for v in items)
                    else:
                        found.append(self.dim(element))
                except Failed as failure:
                    failed = failure
            if failed is not None:
                raise failed
            return tuple(found)
        value = self.value(node)
        if isinstance(value, ShapeExpr):
            value = value.values
        if isinstance(value, (tuple, list)):
            return tuple(self.dim_of(v, node) for v in value)
        return (self.dim_of(value, node),)

    def dim(self, node: ast.expr) -> PrimExpr:
        """One dimension, with its place."""
        if type(node) is ast.Constant and type(node.value) is int and 0 <= node.value < LARGEST:
            return IntImm.make(BUFFER_DIM_DTYPE, node.value, span=self.span(node))
        if type(node) is ast.Name and node.id not in self.names:
            return self.bare_dimension(node)
        return self.dim_of(self.value(node), node)

    def bare_dimension(self, node: ast.Name) -> PrimExpr:
        """A name that nobody declared can only be a new shape variable, which deserves a word."""
        try:
            return self.dim_of(self.environment.lookup(node.id), node)
        except KeyError:
            near = self.near(node.id, [n for n, v in self.names.items() if isinstance(v, prim.Var)])
        if near is not None:
            raise self.undefined(node)
        self.report(Diagnostic(
            "RX0109", f"the dimension `{node.id}` is not declared; it is a new shape variable",
            self.span(node), help=f"declare it first: `{node.id} = T.int64()`", severity="warning",
        ))  # fmt: skip
        return self.shape_variable(node.id, node)

    def dim_of(self, value: Any, node: ast.expr) -> PrimExpr:
        """A value that stands as a dimension."""
        value = self.with_own_variables(value)
        if isinstance(value, str) and not isinstance(value, DataType):
            return self.text_dimension(value, node)
        if isinstance(value, IntImm):
            value = value if value.value >= 0 else value.value
        if not isinstance(value, (bool, type, PrimExpr)) and hasattr(value, "__index__"):
            value = value.__index__()
        if type(value) is int and value < 0:
            raise self.error(node, "RX0108", f"a dimension cannot be negative, this is {value}")
        if type(value) is int and value >= LARGEST:
            raise self.error(
                node, "RX0108", f"a dimension is an {BUFFER_DIM_DTYPE}, this is {value}"
            )
        if type(value) is int:
            return IntImm.make(BUFFER_DIM_DTYPE, value, span=self.span(node))
        if isinstance(value, PrimExpr) and value.dtype.is_integer:
            return value
        raise self.error(
            node, "RX0108", f"a dimension is a whole number, this is {describe(value)}",
            help='write a number, a name such as "n", or arithmetic of these',
        )  # fmt: skip

    def text_dimension(self, text: str, node: ast.expr) -> PrimExpr:
        """A dimension in quotes: a name introduces a variable, arithmetic uses known ones."""
        inner = self.parsed_string(node, text)
        if isinstance(inner, ast.Name):
            return self.shape_variable(inner.id, node)
        outer, self.inside_string = self.inside_string, node
        try:
            for name in ast.walk(inner):
                if isinstance(name, ast.Name) and not self.is_known(name.id):
                    raise self.error(
                        node, "RX0109", f"the dimension `{name.id}` is not defined here",
                        help=f'it must stand alone in some shape: `T.Buffer(("{name.id}",), ...)`',
                    )  # fmt: skip
            return self.dim_of(self.value(inner), node)
        finally:
            self.inside_string = outer

    def is_known(self, name: str) -> bool:
        if name in self.names:
            return True
        try:
            self.environment.lookup(name)
        except KeyError:
            return False
        return True

    def dtype(self, node: ast.expr) -> DataType:
        """A data type by its name."""
        return self.dtype_of(self.value(node), node)

    def dtype_of(self, value: Any, node: ast.AST) -> DataType:
        """A data type by its name, or as `T.float32` or a type of numpy."""
        if isinstance(value, ScalarType):
            return value.dtype
        if isinstance(value, str) and is_dtype(value):
            return DataType(value)
        if isinstance(value, type) or hasattr(value, "itemsize"):
            with self.at(node):
                return DataType(value)
        if not isinstance(value, str):
            raise self.error(
                node,
                "RX0108",
                f'a data type is a text such as "float32", this is {describe(value)}',
            )
        near = nearest_dtype(value, COMMON_DTYPES)
        raise self.error(
            node, "RX0108", f'"{value}" is not a data type',
            help=did_you_mean(near, "known are " + ", ".join(COMMON_DTYPES), '"'),
            fix=f'"{near}"' if near else None,
        )  # fmt: skip

    def pointer(self, node: ast.expr) -> prim.Var:
        value = self.value(node)
        if isinstance(value, prim.Var) and value.dtype.kind == "handle":
            return value
        raise self.error(
            node, "RX0501", f"`data` is the address of memory, this is {describe(value)}",
            help="it comes from `T.allocate(...)` or is `A.data` of another buffer",
        )  # fmt: skip

    def text_argument(self, node: ast.expr) -> str:
        value = self.value(node)
        if isinstance(value, str):
            return value
        raise self.error(node, "RX0103", f"a text is needed here, this is {describe(value)}")

    def number(self, node: ast.expr) -> int:
        value = self.value(node)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise self.error(
            node, "RX0103", f"a whole number is needed here, this is {describe(value)}"
        )

    def numbers(self, node: ast.expr) -> tuple[int, ...]:
        value = self.value(node)
        if isinstance(value, (tuple, list)) and all(isinstance(v, int) for v in value):
            return tuple(value)
        raise self.error(
            node, "RX0103", f"whole numbers are needed here, this is {describe(value)}"
        )
