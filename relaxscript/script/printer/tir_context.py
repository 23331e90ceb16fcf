"""The context of printing one PrimFunc, its buffers: their definitions, loads, stores, regions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Set as AbstractSet
from typing import Any, NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir import prim, tir
from relaxscript.ir.relax import Expr
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script.names.syntax import BUFFER_DIM_DTYPE, TIR_INT_DTYPE

from . import tree
from .annotations import AnnotationPrinter
from .options import Options
from .relax import print_expr, relax_printer
from .session import Session

__all__ = ["TIRPrinter", "TIRSyntax", "is_plain"]


def is_plain(buffer: tir.Buffer) -> bool:
    """True if shape and dtype say all that is to be said of a buffer."""
    return not _unusual(buffer)


def _unusual(buffer: tir.Buffer) -> dict[str, Any]:
    """Facts of a buffer besides its shape and dtype, by the parameters of `T.match_buffer`."""
    facts = {name: (getattr(buffer, slot), usual) for name, (slot, usual) in _USUAL.items()}
    return {
        name: value
        for name, (value, usual) in facts.items()
        if value is not None and (usual is None or value != usual)
    }


# The fields of buffers by the parameters of `T.match_buffer`, and what they are where unsaid.
_USUAL: dict[str, tuple[str, Any]] = {
    "strides": ("strides", ()), "elem_offset": ("elem_offset", None), "scope": ("scope", "global"),
    "align": ("data_alignment", 64), "offset_factor": ("offset_factor", 1),
    "buffer_type": ("buffer_type", "default"), "axis_separators": ("axis_separators", ()),
}  # fmt: skip


# Python takes 100 levels of indentation; the function and its module need some.
DEEPEST_BLOCK = 96


class TIRSyntax(NamedTuple):
    """Functions that write parts of PrimFuncs; they give None for what is not of TIR alone."""

    statement: Callable[[TIRPrinter, tir.Stmt, list[ast.stmt]], None]
    value: Callable[[TIRPrinter, Any], ast.expr | None]
    scalar: Callable[[TIRPrinter, prim.PrimExpr], ast.expr | None]


class TIRPrinter(AnnotationPrinter):
    """One PrimFunc that is being written, or a piece of one; it is used once.

    `syntax` says how statements and what only functions know are written.
    """

    def __init__(self, session: Session, syntax: TIRSyntax) -> None:
        super().__init__(session)
        self.syntax = syntax
        # The buffers of memory whose address has no name of its own.
        self.owner: dict[prim.Var, tir.Buffer] = {}
        # The loops around, by their variables.
        self.loops: dict[prim.Var, tir.For] = {}
        # The threads that several launches share, by the variables that number them.
        self.shared: set[prim.Var] = set()
        # The handles that the function uses as they are, not as buffers.
        self.addresses: AbstractSet[prim.Var] = frozenset()
        # How many blocks of Python are open.
        self.level = 0

    def value(self, value: Any) -> ast.expr:
        """An attribute; in TIR it may be a buffer, an axis, a reducer or an index map."""
        if isinstance(value, tir.Buffer):
            return self.buffer(value)
        made = self.syntax.value(self, value)
        return super().value(value) if made is None else made

    def node(self, e: prim.PrimExpr) -> ast.expr:
        made = self.syntax.scalar(self, e)
        return super().node(e) if made is None else made

    def use(self, expr: Expr) -> ast.expr:
        """A Relax expression in an attribute: a string, a constant, a shape."""
        printer = relax_printer(self.session)
        printer.names, printer.scopes, printer.trees = self.names, self.scopes, self.trees
        return print_expr(printer, expr)

    def inner(self, s: tir.Stmt) -> list[ast.stmt]:
        """The statements of a nested block of Python; those that it could not read are `...`."""
        if self.level >= DEEPEST_BLOCK:
            return [tree.statement(tree.constant(...))]
        statements: list[ast.stmt] = []
        self.level += 1
        with self.names.scope():
            self.syntax.statement(self, s, statements)
        self.level -= 1
        return statements or [ast.Pass()]

    def is_always_typed(self, dtype: DataType) -> bool:
        """True if the options `int_dtype` and `float_dtype` forbid plain numbers."""
        options = self.session.options
        if dtype.is_float:
            return options.float_dtype not in (Options.float_dtype, dtype)
        return options.int_dtype not in (Options.int_dtype, dtype)

    def variable(self, var: prim.Var) -> ast.expr:
        """A use of a scalar variable; the memory of a buffer is `A.data`."""
        buffer = self.owner.get(var)
        if buffer is None:
            known = self.names.get(var)
            return super().variable(var) if known is None else self.named(var, known)
        return tree.attribute(tree.name(self.names[buffer]), "data")

    def named(self, var: prim.Var, name: str) -> ast.expr:
        # Loops give a name anew, so uses are not kept as they are in Relax.
        for scope in reversed(self.scopes):
            if var in scope.variables:
                scope.variables[var] = True
                break
        return self.session.at(var, tree.name(name))

    # ---- definitions

    def define_buffer(self, buffer: tir.Buffer) -> str:
        """The name of a buffer, from now on."""
        if self.names.get(buffer.data) is None:
            self.owner.setdefault(buffer.data, buffer)
        return self.names.define(buffer, buffer.name)

    def bind_buffer(self, buffer: tir.Buffer) -> ast.Name:
        """A buffer on the left of its definition."""
        return self.session.at(buffer, tree.name(self.define_buffer(buffer)))

    def buffer_call(self, word: str, buffer: tir.Buffer, before: list[ast.expr]) -> ast.expr:
        """`T.match_buffer(p, shape, dtype, ...)` and its relatives."""
        dims = tree.items([self.scalar(d, BUFFER_DIM_DTYPE) for d in buffer.shape], ast.Tuple)
        keywords: dict[str, ast.expr] = {}
        data = buffer.data
        shared = self.owner.get(data, buffer) is not buffer
        if shared or self.names.get(data) is not None:
            keywords["data"] = self.variable(data)
        for name, value in _unusual(buffer).items():
            keywords[name] = self.buffer_fact(value)
        args = [*before, dims]
        if not self.is_understood(buffer.dtype, word):
            args.append(tree.constant(str(buffer.dtype)))
        return tree.call(self.member(word), args, **keywords)

    def is_understood(self, dtype: DataType, word: str) -> bool:
        """True if a definition need not mention a dtype: the parser takes it for granted."""
        granted = Options.buffer_dtype
        return word != "Buffer" and dtype == granted == self.session.options.buffer_dtype

    def buffer_fact(self, value: Any) -> ast.expr:
        match value:
            case prim.PrimExpr():
                return self.scalar(value, BUFFER_DIM_DTYPE)
            case tuple():
                return tree.items([self.buffer_fact(v) for v in value])
        return self.value(value)

    def allocation(self, buffer: tir.Buffer) -> ast.stmt:
        """`B = T.alloc_buffer((64,), "float32")`."""
        made = self.buffer_call("alloc_buffer", buffer, [])
        return tree.assign(self.bind_buffer(buffer), made)

    def buffer(self, buffer: tir.Buffer) -> ast.expr:
        """A use of a buffer; one that nobody defined gets a name now."""
        name = self.names.get(buffer)
        if name is None:
            name = self.define_buffer(buffer)
        return self.session.at(buffer, tree.name(name))

    # ---- uses

    def load(self, e: prim.BufferLoad) -> ast.expr:
        indices = [self.scalar(i, TIR_INT_DTYPE) for i in e.indices]
        if e.predicate is not None:
            method = tree.attribute(self.buffer(e.buffer), "vload")
            return tree.call(method, [tree.items(indices)], predicate=self.scalar(e.predicate))
        return tree.subscript(self.buffer(e.buffer), indices)

    def store(self, s: tir.BufferStore) -> ast.stmt:
        """`A[i, j] = value`."""
        value = self.scalar(s.value, s.buffer.dtype if s.buffer.dtype is prim.INT32 else None)
        indices = [self.scalar(i, TIR_INT_DTYPE) for i in s.indices]
        if s.predicate is not None:
            method = tree.attribute(self.buffer(s.buffer), "vstore")
            args = [tree.items(indices), value]
            return tree.statement(tree.call(method, args, predicate=self.scalar(s.predicate)))
        return tree.assign(tree.subscript(self.buffer(s.buffer), indices), value)

    def region(self, region: tir.BufferRegion) -> ast.expr:
        """`A[i, 0:64]`."""
        index: list[ast.expr] = []
        for part in region.region:
            low = self.scalar(part.min, TIR_INT_DTYPE)
            if isinstance(part.extent, prim.IntImm) and part.extent.value == 1:
                index.append(low)
            else:
                stop = self.stop(part.min, part.extent)
                index.append(tree.pair(low, self.scalar(stop, TIR_INT_DTYPE)))
        return self.session.at(region, tree.subscript(self.buffer(region.buffer), index))

    def range(self, dom: tir.Range | None) -> ast.expr:
        """`T.Range(0, 64)`."""
        if dom is None:
            return tree.constant(None)
        ends = [dom.min, self.stop(dom.min, dom.extent)]
        return tree.call(self.member("Range"), [self.scalar(e, TIR_INT_DTYPE) for e in ends])

    def stop(self, low: prim.PrimExpr, extent: prim.PrimExpr) -> prim.PrimExpr:
        """The end of a range, in the form that gives back the extent."""
        match low, extent:
            case prim.IntImm(value=start), prim.IntImm(dtype=dtype, value=size):
                if _fits(start + size, dtype):
                    return prim.IntImm.make(dtype, start + size)
            case prim.IntImm(value=0), _:
                return extent
            case _, prim.Sub(a=end, b=start) if structural_equal(start, low):
                return end
        return prim.Add.make(low, extent)

    # ---- types

    def type(self, type_: prim.PrimType | prim.PointerType) -> ast.expr:
        """`T.int32`, `T.handle("float32")`."""
        if isinstance(type_, prim.PrimType):
            return self.dtype_word(type_.dtype)
        args: list[ast.expr] = [tree.constant(str(type_.element_type.dtype))]
        if type_.storage_scope != "global":
            args.append(tree.constant(type_.storage_scope))
        return tree.call(self.member("handle"), args)

    def variable_type(self, var: prim.Var) -> ast.expr:
        """The annotation of a parameter or of a variable that is bound."""
        if var.type_annotation is not None:
            return self.type(var.type_annotation)
        return self.dtype_word(var.dtype)

    @staticmethod
    def is_true(e: prim.PrimExpr) -> bool:
        """True if a condition is the literal true."""
        return isinstance(e, prim.IntImm) and e.value == 1 and e.dtype.is_bool


def _fits(value: int, dtype: DataType) -> bool:
    """True if an integer is one of a dtype."""
    low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
    return low <= value < low + (1 << dtype.bits)
