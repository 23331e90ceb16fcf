"""Scalar expressions as syntax, for dimensions of Relax and everywhere in TIR.

A literal number is written plainly only where the parser gives it back its dtype: beside an
operand that is no literal, or where the dtype is the default of its place. Everywhere else it
is written `T.int64(3)`. Comparisons keep a typed literal on their left, where Python would turn
them around. Start reading at `ScalarPrinter.scalar`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, cast

from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError
from relaxscript.ir import prim
from relaxscript.ir.device_functions import TYPED_LAST, builds
from relaxscript.ir.intrinsic import lookup
from relaxscript.ir.node import Node, fields_of
from relaxscript.ir.relax import GlobalVar, Op
from relaxscript.ir.scalar_functions import DEVICE_FUNCTIONS
from relaxscript.script.names.syntax import SCALAR_CALLS, SCALAR_OPERATORS, Level
from relaxscript.script.names.tir_dtypes import __all__ as LITERAL_DTYPES

from . import tree
from .names import Names
from .session import Session

__all__ = ["DEEPEST", "LITERAL_DTYPES", "FunctionScope", "ScalarPrinter"]

# Python takes 200 brackets inside each other.
DEEPEST = 150


# What `verbose_expr` writes by the names of the nodes.
_SYMBOLS = (prim.Binary, prim.Comparison, prim.Logic, prim.Not)


class FunctionScope:
    """The scalar variables that a function introduces; those marked are declared in its body."""

    def __init__(self) -> None:
        self.variables: dict[prim.Var, bool] = {}


class ScalarPrinter:
    """Writes scalar expressions in one function and those nested in it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.names = Names(session.reserved(), session.options.show_object_address)
        self.scopes: list[FunctionScope] = [FunctionScope()]
        self.trees: dict[Node, ast.Name] = {}
        self.depth = 0

    # ---- variables

    def variable(self, var: prim.Var) -> ast.expr:
        """A use of a scalar variable; one that nobody introduced is declared in the function."""
        known = self.trees.get(var)
        if known is not None:
            return known
        for scope in reversed(self.scopes):
            if var in scope.variables:
                scope.variables[var] = True
                break
        else:
            if self.names.get(var) is None:
                self.introduce(var, declared=True)
        found = self.trees[var] = self.session.at(var, tree.name(self.names[var]))
        return found

    def introduce(self, var: prim.Var, *, declared: bool) -> str:
        """Name a variable that is visible in the whole function."""
        special = isinstance(var, prim.SizeVar) or var.dtype != prim.INT64
        self.scopes[-1].variables[var] = declared or special
        return self.names.define_for_all(var, var.name)

    def declarations(self) -> list[ast.stmt]:
        """`n = T.int64()` for each variable of this function that its body needs."""
        found: list[ast.stmt] = []
        for var, needed in self.scopes[-1].variables.items():
            if needed:
                sized = tree.constant(True) if isinstance(var, prim.SizeVar) else None
                made = tree.call(self.dtype_word(var.dtype), is_size_var=sized)
                target = self.session.at(var, tree.name(self.names[var]))
                found.append(tree.assign(target, made))
        return found

    def dtype_word(self, dtype: DataType) -> ast.expr:
        """`T.float32`."""
        return self.session.member("tir", str(dtype))

    # ---- expressions

    def scalar(self, e: prim.PrimExpr, default: DataType | None = None) -> ast.expr:
        """The expression, where a plain whole number means one of dtype `default`.

        What lies deeper than Python can read is written `...`.
        """
        if self.depth > DEEPEST:
            return tree.constant(...)
        self.session.write(1, e)
        self.depth += 1
        made = self._scalar(e, default)
        self.depth -= 1
        return self.session.at(e, made) if self.session.record else made

    def _scalar(self, e: prim.PrimExpr, default: DataType | None) -> ast.expr:
        if self.session.options.verbose_expr and isinstance(e, _SYMBOLS):
            return self.verbose(e)
        match e:
            case prim.Var():
                return self.variable(e)
            case prim.Immediate():
                return self.literal(e, default)
            case prim.Binary() | prim.Comparison() if is_operator(e):
                return self.binary(e)
            case prim.Logic():
                return self.logic(e)
            case prim.Not(a):
                return ast.UnaryOp(ast.Not(), self.scalar(a))
            case prim.BufferLoad():
                return self.load(e)
            case prim.Call():
                return self.call(e)
            case prim.Let(var, value, body):
                self.depth += 1  # it has two brackets
                bound = tree.dictionary([(self.variable(var), self.scalar(value))])
                made = tree.call(self.member("Let"), [self.scalar(body)], where=bound)
                self.depth -= 1
                return made
        return self.node(e)

    def verbose(self, e: prim.PrimExpr) -> ast.expr:
        """`T.Add(a, b)`."""
        operands = [getattr(e, info.name) for info in fields_of(type(e))]
        word = self.session.member("tir", type(e).__name__)
        return tree.call(word, self.arguments(operands))

    def member(self, path: str) -> ast.expr:
        """`T.<path>`."""
        return self.session.member("tir", path)

    def literal(self, e: prim.Immediate, default: DataType | None) -> ast.expr:
        """A number, with its dtype where the place does not give it."""
        value = e.value  # type: ignore[attr-defined]
        if e.dtype.is_bool:
            return tree.call(self.member("bool"), [tree.constant(bool(value))])
        number = tree.number(value)
        plain = e.dtype is default and not self.is_always_typed(e.dtype)
        if plain and (e.dtype.is_integer or isinstance(number, ast.Constant)):
            return number
        if e.dtype not in LITERAL_DTYPES:
            return tree.call(self.member(type(e).__name__), [tree.constant(str(e.dtype)), number])
        return tree.call(self.dtype_word(e.dtype), [number])

    def is_always_typed(self, dtype: DataType) -> bool:
        """True if literals of a dtype are never plain numbers."""
        return False

    def beside(self, e: prim.PrimExpr, other: prim.PrimExpr) -> ast.expr:
        """An operand; a literal takes the dtype of an operand beside it that is no literal."""
        plain = other.dtype.is_integer or other.dtype.is_float
        if isinstance(e, prim.Immediate) and not isinstance(other, prim.Immediate) and plain:
            return self.scalar(e, other.dtype if other.dtype.lanes == 1 else None)
        return self.scalar(e)

    def binary(self, e: prim.Binary | prim.Comparison) -> ast.expr:
        """An operator with two operands; long chains to the left are walked, not recursed."""
        chain: list[prim.Binary | prim.Comparison] = [e]
        left = e.a
        while isinstance(left, prim.Binary) and is_operator(left):
            chain.append(left)
            left = left.a
        inner = chain[-1]
        turned = isinstance(inner, prim.Comparison)
        made = self.scalar(left) if turned else self.beside(left, inner.b)
        for node in reversed(chain):
            made = self._operation(node, made)
            if self.session.record and node is not e:
                made = self.session.at(node, made)
        return made

    def _operation(self, e: prim.Binary | prim.Comparison, left: ast.expr) -> ast.expr:
        row = SCALAR_OPERATORS[type(e)]
        literals = isinstance(e.a, prim.Immediate) and isinstance(e.b, prim.Immediate)
        typed = isinstance(left, ast.Call)
        right = self.scalar(e.b, e.a.dtype) if literals and typed else self.beside(e.b, e.a)
        if row.level is Level.COMPARE:
            return ast.Compare(left, [cast(Any, row.syntax())], [right])
        return ast.BinOp(left, cast(Any, row.syntax()), right)

    def logic(self, e: prim.Logic) -> ast.expr:
        """`a and b and c`; the parser groups to the left, any other grouping has parentheses."""
        operands: list[prim.PrimExpr] = []
        left: prim.PrimExpr = e
        while type(left) is type(e):
            operands.append(left.b)
            left = left.a
        operands.append(left)
        row = SCALAR_OPERATORS[type(e)]
        return ast.BoolOp(cast(Any, row.syntax()), [self.scalar(x) for x in reversed(operands)])

    def load(self, e: prim.BufferLoad) -> ast.expr:
        """An element of a buffer; only PrimFuncs have them."""
        raise InternalError("a load from a buffer is outside of a PrimFunc")

    def call(self, e: prim.Call) -> ast.expr:
        """A call of an intrinsic, or of a PrimFunc of the module."""
        args = self.arguments(e.args)
        if isinstance(e.op, GlobalVar):
            return tree.call(self.global_function(e.op), args)
        if not isinstance(e.op, Op):
            raise InternalError(f"the printer does not know the callee {e.op!r}")
        row = lookup(e.op)
        dtype = tree.constant(str(e.dtype))
        if row is not None and row.script_name in DEVICE_FUNCTIONS:
            # Nothing matches the operands to each other: a plain number is an int32.
            args = [self.scalar(x, prim.INT32) for x in e.args]
            row = row if builds(row, e) else None
        if row is None or row.arity not in (None, len(e.args)):
            # No function of `T` builds it.
            operands = tree.items([self.scalar(x, prim.INT32) for x in e.args])
            return tree.call(self.member("Call"), [dtype, tree.constant(e.op.name), operands])
        word = self.member(row.script_name)
        if row.is_typed:
            return tree.call(word, [*args, dtype] if row.name in TYPED_LAST else [dtype, *args])
        if row.result_dtype(e.args) != e.dtype:
            return tree.call(word, args, dtype=dtype)
        return tree.call(word, args)

    def global_function(self, var: GlobalVar) -> ast.expr:
        """A function of the module."""
        return tree.attribute(
            tree.name(self.session.module_name), self.session.function_name(var.name_hint)
        )

    def arguments(self, exprs: Sequence[prim.PrimExpr]) -> list[ast.expr]:
        """Arguments of an intrinsic: a plain number among them is an int32, or like the others."""
        plain = all(x.dtype is prim.INT32 for x in exprs) or len(exprs) == 1
        return [self.scalar(x, prim.INT32 if plain else None) for x in exprs]

    def node(self, e: prim.PrimExpr) -> ast.expr:
        """A string, or a node that is written as a call with its fields."""
        if isinstance(e, prim.StringImm):
            return tree.constant(e.value)
        word = SCALAR_CALLS.get(type(e))
        if word is None:
            raise InternalError(f"the printer does not know the scalar {type(e).__name__}")
        args: list[ast.expr] = []
        for info in fields_of(type(e)):
            match getattr(e, info.name):
                case DataType() as dtype:
                    args.append(tree.constant(str(dtype)))
                case prim.PrimExpr() as inner:
                    args += self.arguments([inner])
                case tuple() as several:
                    args.append(tree.items(self.arguments(several)))
                case number:
                    args.append(tree.number(number))
        return tree.call(self.member(word), args)


def is_operator(e: prim.Binary | prim.Comparison) -> bool:
    """True if a node is written with a symbol: `/` is for floats, `//` and `%` for integers."""
    if type(e) not in SCALAR_OPERATORS:
        return False
    return not isinstance(e, (prim.Div, prim.FloorDiv, prim.FloorMod)) or (
        e.dtype.is_float == isinstance(e, prim.Div)
    )
