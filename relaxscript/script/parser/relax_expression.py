"""Expressions of Relax: operator calls, functions of the module, tuples, and their blame.

operand    = expression            (bound to a variable first when it is not a leaf)
call       = operator "(" arguments ")" | function "(" operands ")" | front "(" arguments ")"
function   = "cls" "." name | local function | extern function
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.analysis.finding import undeclared_recursion
from relaxscript.errors import OperandError, Source, Span, did_you_mean
from relaxscript.ir.node import Node
from relaxscript.ir.prim import EQ, NE, And, Not, Or, PrimExpr, Var as PrimVar, match_dtypes
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.relax import (
    Call,
    Expr,
    GlobalVar,
    LeafExpr,
    Op,
    ShapeExpr,
    Tuple,
    Var,
    as_expr,
)
from relaxscript.op import SYMBOLS, Operator, lookup
from relaxscript.script import relax_forms
from relaxscript.script.annotations import Front
from relaxscript.script.relax_forms import MatchCastValue

from .base import Failed, Reporter
from .context import ModuleContext, ModuleName
from .corrections import add_output, between
from .dimensions import Dims, plain
from .environment import Environment
from .python_operators import PYTHON
from .relax_blame import RelaxBlame, operand_nodes

__all__ = ["Lost", "RelaxExpressions", "mentions"]


class Lost(NamedTuple):
    """Where a variable of a dataflow block was left, and the names that left the block."""

    outputs: list[str]
    block: ast.With
    written: ast.Call | None


class RelaxExpressions(RelaxBlame):
    """Evaluates Relax expressions through the builder, which binds nested ones."""

    def __init__(
        self, source: Source, environment: Environment, reporter: Reporter, module: ModuleContext
    ) -> None:
        super().__init__(source, environment, reporter, module)
        self.lost: dict[str, Lost] = {}
        self.undeclared: dict[str, Span | None] = {}
        self.hidden: set[str] = set()
        # The dimensions that a cast with a mistake was to bind.
        self.unknown_dims: set[PrimVar] = set()
        self.leaving: set[str] = set()
        self.function_name = ""
        # The local functions that are being read, each by the variable that it is bound to.
        self.enclosing: list[Var] = []

    # ---- names

    def find_name(self, node: ast.Name) -> Any:
        if node.id in self.dims:
            return self.dims[node.id]
        if node.id in self.lost:
            lost = self.lost[node.id]
            listed = ", ".join([*lost.outputs, node.id])
            raise self.error(
                node, "RX0107", f"`{node.id}` is used outside its dataflow block",
                help=f"let it leave the block: `R.output({listed})`",
                edits=[add_output(self.source, lost.block, lost.written, node.id)],
            )  # fmt: skip
        if node.id in self.hidden:
            raise self.error(
                node, "RX0311", f"`{node.id}` belongs to the dataflow block around this function",
                help="give it to the function as an argument",
            )  # fmt: skip
        if node.id in self.undeclared:
            raise self.undeclared_recursion(node)
        try:
            value = self.environment.lookup(node.id)
        except KeyError:
            value = None
        if node.id in self.module.global_vars and not isinstance(value, (int, str, tuple, list)):
            raise self.bare_global(node)
        return super().find_name(node)

    def undeclared_recursion(self, node: ast.Name) -> Failed:
        """Record criterion 8 for a local function that calls itself."""
        return self.error(
            node, "RX0308", undeclared_recursion(node.id),
            labels=[(self.undeclared[node.id], "declare it here: `-> R.Tensor(...)`")],
        )  # fmt: skip

    def undefined(self, node: ast.Name) -> Failed:
        name, module = node.id, self.module.name
        help = None
        if name == self.function_name and not module:
            help = f"a function that calls itself stands in a module: `cls.{name}(...)`"
        elif name == "self" and module:
            help = f"a module has no `self`: write `{module}`, or `cls` after `cls = {module}`"
        elif name == "cls" and module:
            help = f"write `{module}`, or name it first: `cls = {module}`"
        if help is None:
            return super().undefined(node)
        fix = module if module and name in ("self", "cls") else None
        return self.error(node, "RX0101", f"`{name}` is not defined", help=help, fix=fix)

    def bare_global(self, node: ast.Name) -> Failed:
        """Record that a function of the module was named without `cls.`"""
        name = self.module.name
        return self.error(
            node, "RX0110", f"`{node.id}` is a function of the module",
            help=f"write `{name}.{node.id}`, or `cls.{node.id}` after `cls = {name}`",
            fix=f"{name}.{node.id}",
        )  # fmt: skip

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        match owner:
            case ModuleName():
                return self.global_var(node)
            case Expr():
                return self.value_attribute(owner, node)
        return super().attribute_of(owner, node)

    def global_var(self, node: ast.Attribute) -> GlobalVar:
        """`cls.f`: a function of the module."""
        known = self.module.global_vars.get(node.attr)
        if known is None:
            if node.attr in self.module.broken:
                raise Failed
            near = self.near(node.attr, self.module.global_vars)
            written = ast.unparse(node.value)
            sound = [name for name in self.module.global_vars if name not in self.module.broken]
            others = ", ".join(f"`{written}.{name}`" for name in sound[:5])
            raise self.error(
                node, "RX0101", f"the module has no function `{node.attr}`",
                help=did_you_mean(near and f"{written}.{near}", f"it has {others}"),
                fix=f"{written}.{near}" if near else None,
            )  # fmt: skip
        if node.attr in self.module.broken:
            raise Failed
        return known

    def value_attribute(self, owner: Expr, node: ast.Attribute) -> Any:
        """An attribute of a value of the program."""
        return super().attribute_of(owner, node)

    def is_bound(self, var: PrimVar) -> bool:
        return var in self.unknown_dims or self.builder.is_in_scope(var)

    # ---- operands

    def operand(self, node: ast.expr) -> Expr:
        """A Relax operand; whatever is not a leaf is bound to a variable, blamed here."""
        value = self.value(node)
        if isinstance(value, LeafExpr) and type(value) is not Tuple:
            return value
        return self.leaf(self.expr_of(value, node), node)

    def leaf(self, expr: Expr, node: ast.AST) -> Expr:
        """An expression as a leaf."""
        if isinstance(expr, LeafExpr) and type(expr) is not Tuple:
            return expr
        if not self.builder.has_open_scope:
            raise self.error(node, "RX0108", "nothing can be computed in an annotation")
        try:
            return self.builder.operand(expr)
        except OperandError as error:
            raise self.operand_error(error, node, expr) from None
        finally:
            self.note_obligations(node, value=expr)

    def expr_of(self, value: Any, node: ast.AST) -> Expr:
        """A value as a Relax expression."""
        match value:
            case Expr():
                return value
            case PrimVar() | PrimExpr():
                return self.prim_value(value, node)
            case tuple() | list():
                return self.tuple_of(value, node)
            case MatchCastValue():
                return self.cast(value, node)
            case ModuleName():
                raise self.error(node, "RX0201", "the module itself is not a value")
            case Operator():
                raise self.operator_as_value(value, node)
        try:
            return as_expr(plain(value))
        except TypeError:
            raise self.no_value(value, node) from None

    def no_value(self, value: Any, node: ast.AST) -> Failed:
        """Record that a value of Python is none of the program."""
        kind = "function" if callable(value) else type(value).__name__
        what = "is no value of a program"
        if value is not None:
            what = f"is a Python {kind}, and no value of a program"
        help, fix = None, None
        if isinstance(value, Mapping):
            help = "give its values as a tuple"
            fix = f"tuple({ast.unparse(node)}.values())" if isinstance(node, ast.Name) else None
            if isinstance(node, ast.Dict):
                parts = ", ".join(ast.unparse(v) for v in node.values)
                fix = f"({parts},)" if len(node.values) == 1 else f"({parts})"
            help = f"{help}: `{fix}`" if fix else help
        return self.error(node, "RX0201", f"`{ast.unparse(node)}` {what}", help=help, fix=fix)

    def operator_as_value(self, operator: Operator, node: ast.AST) -> Failed:
        """Record criterion 9: an operator is no value."""
        return self.error(
            node, "RX0309", f"the operator `R.{operator.script_name}` may only be called",
            help="write a function around it",
        )  # fmt: skip

    def tuple_of(self, values: Sequence[Any], node: ast.AST) -> Expr:
        """Several values as a tuple; dimensions of a shape as a shape."""
        parts: list[Any] = [node] * len(values)
        if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == len(values):
            parts = list(node.elts)
        if isinstance(values, Dims):
            dims = [self.as_dimension(d, n) for d, n in zip(values, parts)]
            return ShapeExpr.make(tuple(dims), span=self.source.span(node))
        fields: list[Expr] = []
        failed: Failed | None = None
        for value, part in zip(values, parts):
            try:
                # Computed here, a field is blamed by itself.
                fields.append(self.leaf(self.expr_of(value, part), part))
            except Failed as failure:
                failed = failure
        if failed is not None:
            raise failed
        return Tuple.make(tuple(fields))

    def prim_value(self, value: PrimExpr, node: ast.AST) -> Expr:
        """A scalar expression as a value (anything but a literal is computed)."""
        try:
            return relax_forms.prim_value(value)
        except OperandError as error:
            raise self.operand_error(error, node, None) from None

    def cast(self, cast: MatchCastValue, node: ast.AST) -> Expr:
        """A `R.match_cast` that stands where a value does: it is bound first."""
        value = self.leaf(self.expr_of(cast.value, node), node)
        span = self.source.span(node)
        var = self.builder.bind_match_cast(value, cast.struct_info, "", span, False, span)
        self.note_obligations(node)
        return var

    # ---- operators of Python

    # ---- order

    def waits(self, value: Any) -> bool:
        match value:
            case Call(op=Op() as op):
                return not lookup(op).pure
            case Tuple() | tuple() | list():
                return any(self.waits(item) for item in value)
        return isinstance(value, Call)

    def binds(self, node: ast.expr) -> bool:
        parts = (n for n in ast.walk(node) if isinstance(n, _OPERATIONS))
        return next(parts, None) is not None and next(parts, None) is not None

    def computed(self, value: Any, node: ast.expr) -> Any:
        if isinstance(value, list):
            return [self.computed(item, node) for item in value]
        return self.leaf(self.expr_of(value, node), node)

    def operate(self, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
        if any(isinstance(o, MatchCastValue) for o in operands):
            operands = tuple(
                self.cast(o, node) if isinstance(o, MatchCastValue) else o for o in operands
            )
        if any(isinstance(o, Expr) for o in operands):
            nodes = operand_nodes(node)
            placed = zip(operands, nodes if len(nodes) == len(operands) else [node] * len(operands))
            leaves = [self.leaf(o, n) if isinstance(o, Expr) else o for o, n in placed]
            return self.infix(symbol, leaves, node)
        if any(isinstance(o, PrimExpr) for o in operands):
            scalar = scalar_operation(symbol, operands)
            if scalar is not None:
                return scalar
            return self.scalar_python(symbol, operands, node)
        return super().operate(symbol, operands, node)

    def scalar_python(self, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
        """Arithmetic of dimensions, which is Python's own on scalar expressions."""
        if symbol in ("/", "//", "%") and operands[1] == 0 and not isinstance(operands[1], Node):
            raise self.error(node, "RX0104", "a dimension is divided by zero")
        try:
            if symbol.removeprefix("unary ") in _BITS:
                raise TypeError
            return PYTHON[symbol](*operands)
        except ValueError as error:  # a number of more than 64 bits
            raise self.error(node, "RX0104", reason(error)) from None
        except TypeError:
            written, shown = ast.unparse(node), symbol.removeprefix("unary ")
            message = f"`{shown}` has no meaning in `{written}`, which is arithmetic of dimensions"
            product = _product(node) if symbol == "**" else None
            help = f"write the product out: `{product or 'n * n'}`" if symbol == "**" else None
            raise self.error(node, "RX0104", message, help=help, fix=product) from None

    def infix(self, symbol: str, operands: list[Any], node: ast.expr) -> Any:
        """`x + y` is the call that the operator of this symbol makes."""
        operands = [self.prim_value(o, node) if isinstance(o, PrimExpr) else o for o in operands]
        operator = SYMBOLS.get(symbol)
        if operator is None:
            shown = symbol.removeprefix("unary ")
            plain = self.written(node.operand) if isinstance(node, ast.UnaryOp) else None
            help = None if plain is None else f"leave it out: `{plain}`"
            sign = {"is": "==", "is not": "!="}.get(symbol)
            edits = []
            if sign is not None and isinstance(node, ast.Compare):
                help = f"write `{sign}`"
                left, right = operand_nodes(node)
                edits = [between(self.source, left, right, f" {sign} ")]
            raise self.error(
                node, "RX0104", f"`{shown}` has no meaning in Relax", help=help, fix=plain,
                edits=edits,
            )  # fmt: skip
        try:
            call = operator.build(operands)
        except OperandError as error:
            raise self.operand_error(error, node, None, operator) from None
        spans = tuple([self.source.span(n) for n in operand_nodes(node)])
        if len(spans) != len(call.args):
            spans = ()
        return call.replace(span=self.source.span(node), arg_spans=spans)

    def subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Front):
            return self.front_subscript(owner, node)
        owner = self.before(node.slice, owner, node.value)
        return self.subscript_of(owner, self.value(node.slice), node)


# What is computed: of two such, the inner one is bound before the outer one.
_OPERATIONS = (ast.BinOp, ast.Call, ast.Compare, ast.Subscript, ast.UnaryOp)


def _product(node: ast.expr) -> str | None:
    """`n ** 3` as `n * n * n`."""
    match node:
        case ast.BinOp(left=ast.Name(id=name), right=ast.Constant(value=int(count))):
            return " * ".join([name] * count) if 2 <= count <= 4 else None
    return None


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a piece of syntax is a name, or a string that holds it."""
    match node:
        case ast.Name(id=found):
            return found == name
        case ast.Constant(value=str(text)):
            try:
                inner = ast.parse(text.strip(), mode="eval")
            except (SyntaxError, ValueError):
                return False
            return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(inner))
    return False


# Operators on bits, which the arithmetic of dimensions has not.
_BITS = frozenset({"<<", ">>", "&", "|", "^", "~"})


def scalar_operation(symbol: str, operands: tuple[Any, ...]) -> PrimExpr | None:
    """Comparison for equality and logic of scalar expressions, which Python cannot overload."""
    if symbol == "not":
        return Not.make(operands[0])
    makers: dict[str, Any] = {"==": EQ, "!=": NE, "and": And, "or": Or}
    maker = makers.get(symbol)
    if maker is None:
        return None
    a, b = match_dtypes(*operands)
    result: PrimExpr = maker.make(a, b)
    return result
