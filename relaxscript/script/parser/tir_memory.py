"""Buffers of the body of a PrimFunc and their memory.

    name "=" "T.match_buffer(" parameter | region "," shape ... ")" | name "=" "T.alloc_buffer(...)"
    | name "=" "T.decl_buffer(...)" | name "=" "T.allocate(...)" | name "=" "T.allocate_const(...)"

What is allocated by `T.alloc_buffer` belongs to the block; what the others begin lasts to the end
of the statements around them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, Span
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import HANDLE, PointerType, PrimExpr, PrimType, const
from relaxscript.ir.tir import Buffer, BufferRegion
from relaxscript.script import tir_forms
from relaxscript.script.syntax import TIR_INT_DTYPE
from relaxscript.script.tir_types import Form

from .tir_block import BlockParser
from .tir_buffer import BufferSyntax
from .tir_call import Places
from .tir_scalar import counted, describe

__all__ = ["MemoryParser"]


class MemoryParser(BlockParser):
    """Adds the buffers and the memory of a body to blocks."""

    # The buffers without memory that no `T.realize` gave any, and where they stand.
    homeless: dict[Buffer, ast.AST]

    def bind_buffer(self, target: ast.Name, syntax: BufferSyntax, statement: ast.stmt) -> Buffer:
        """A buffer of the body: of a parameter, allocated, or over memory that exists."""
        span = self.span(target)
        if syntax.maker is tir_forms.match_buffer:
            return self.match_buffer(target, syntax, span)
        buffer = self.buffer(target.id, syntax, span)
        if syntax.maker is tir_forms.alloc_buffer:
            self.block.alloc_buffers.append(buffer)
            return buffer
        needs_memory = "data" not in syntax.nodes
        if syntax.maker is not tir_forms.decl_buffer and needs_memory:
            self.homeless[buffer] = syntax.node
            return buffer
        return self.declare(buffer, needs_memory, self.span(statement))

    def check_memory(self) -> None:
        """Every buffer has memory; it may be that of a `T.realize`."""
        for node in self.homeless.values():
            help = "allocate it: `T.alloc_buffer(shape, dtype)`, or give `data=`"
            message = "this buffer has no memory"
            self.report(Diagnostic("RX0501", message, self.span(node), help=help))

    def declare(self, buffer: Buffer, needs_memory: bool, span: Span | None) -> Buffer:
        """`T.decl_buffer`; without `data` the memory is allocated as well."""
        if needs_memory:
            pointer = PointerType.make(PrimType.make(buffer.dtype), buffer.scope)
            data = buffer.data
            if data is None:
                data = prim.Var.make(buffer.name, HANDLE, pointer)
            syntax = self.made[buffer]
            buffer = buffer.replace(data=data)
            self.made[buffer] = syntax
            true = const(1, prim.BOOL)
            self.items.append(
                lambda body: tir.Allocate.make(
                    data, buffer.dtype, buffer.shape, true, body, span=span
                )
            )
        self.items.append(lambda body: tir.DeclBuffer.make(buffer, body, span=span))
        return buffer

    def match_buffer(self, target: ast.Name, syntax: BufferSyntax, span: Span | None) -> Buffer:
        """The buffer of a parameter, or of a region."""
        at = syntax.nodes["param"]
        source = self.value(at)
        if isinstance(source, prim.Var):
            if "shape" not in syntax.nodes:
                name = self.written(at)
                raise self.error(
                    syntax.node, "RX0501", f"the buffer of `{name}` needs a shape",
                    help=f'write for example `T.match_buffer({name}, (n,), "float32")`',
                )  # fmt: skip
            buffer = self.buffer(target.id, syntax, span)
            self.match_parameter(source, buffer, at)
            return buffer
        if self.block is self.root or not isinstance(
            source, (Buffer, BufferRegion, prim.BufferLoad)
        ):
            raise self.error(
                at, "RX0501", "`T.match_buffer` takes a parameter `a: T.handle`",
                labels=[(at, f"is {describe(source)}")],
            )  # fmt: skip
        region = self.region_of(source, at)
        if "dtype" not in syntax.nodes:
            text = ast.copy_location(ast.Constant(str(region.buffer.dtype)), syntax.node)
            syntax = BufferSyntax(syntax.maker, {**syntax.nodes, "dtype": text}, syntax.node)
        buffer = self.buffer(target.id, syntax, span)
        self.matched_region(buffer, region, syntax.node)
        return buffer

    def match_parameter(self, param: prim.Var, buffer: Buffer, node: ast.AST) -> None:
        known = self.signature.buffers.get(param)
        if known is not None:
            raise self.error(
                node, "RX0501", f"`{param.name}` is the buffer `{known.name}` already",
                labels=[(known.span, "matched here")],
            )  # fmt: skip
        if param not in self.signature.params or param.dtype.kind != "handle":
            what = f"is {param.dtype}" if param in self.signature.params else "is no parameter"
            raise self.error(
                node, "RX0501", "`T.match_buffer` takes a parameter `a: T.handle`",
                labels=[(node, what)],
            )  # fmt: skip
        self.signature.buffers[param] = buffer

    def bind_memory(
        self, target: ast.Name, form: Form, node: ast.expr, statement: ast.stmt
    ) -> prim.Var:
        """`p = T.allocate(...)`: memory, by its address."""
        places = Places(node)
        if isinstance(node, ast.Call):
            places = self.argument_nodes(form.maker, node)
        dtype = self.dtype_of(form.arguments["dtype"], places["dtype"])
        extents = self.extents(form.arguments["extents"], places["extents"])
        scope = form.arguments.get("scope", "global")
        if not isinstance(scope, str):
            raise self.error(places["scope"], "RX0103", "the scope of memory is a text")
        pointer = PointerType.make(PrimType.make(dtype), scope)
        var = prim.Var.make(target.id, HANDLE, pointer, span=self.span(target))
        notes = self.attributes(form.arguments["annotations"], places["annotations"])
        span = self.span(statement)
        self.fixed[var] = "the address of memory"
        if form.maker is tir_forms.allocate_const:
            data = self.constant_data(form.arguments["data"], dtype, extents, places)
            self.items.append(lambda body: tir.AllocateConst.make(
                var, dtype, extents, data, body, notes, span=span))  # fmt: skip
            return var
        given = form.arguments["condition"]
        condition = const(1, prim.BOOL)
        if given is not None:
            condition = self.condition(given, places["condition"])
        self.items.append(lambda body: tir.Allocate.make(
            var, dtype, extents, condition, body, notes, span=span))  # fmt: skip
        return var

    def constant_data(
        self, given: Any, dtype: DataType, extents: Sequence[PrimExpr], places: Places
    ) -> Any:
        """The numbers of `T.allocate_const`, as many as the extents say."""
        if not (dtype.is_float or dtype.is_integer or dtype.is_bool) or dtype.lanes != 1:
            raise self.error(places["dtype"], "RX0108", f"constants are numbers, not of {dtype}")
        with self.at(places["data"]):
            data = np.asarray(given, dtype.numpy)
        sizes = [e.value for e in extents if isinstance(e, prim.IntImm)]
        if len(sizes) == len(extents) and data.size != prod(sizes):
            raise self.error(
                places["data"], "RX0108",
                f"{counted(data.size, 'value')} cannot fill {counted(prod(sizes), 'element')}",
                labels=[(places["extents"], counted(prod(sizes), "element"))],
            )  # fmt: skip
        return data

    def extents(self, values: Any, node: ast.expr) -> tuple[PrimExpr, ...]:
        """The extents of memory, one for each axis."""
        given = values if isinstance(values, (tuple, list)) else (values,)
        nodes = node.elts if isinstance(node, (ast.Tuple, ast.List)) else []
        places = nodes if len(nodes) == len(given) else [node] * len(given)
        return tuple(self.extent(v, at) for v, at in zip(given, places))

    def extent(self, value: Any, node: ast.AST) -> PrimExpr:
        """The extent of memory along one axis."""
        e = (
            self.immediate(value, TIR_INT_DTYPE, node)
            if type(value) is int
            else self.scalar(value, node)
        )
        if e.dtype.is_integer:
            return e
        raise self.error(node, "RX0108", f"an extent is a whole number, this is {describe(e)}")
