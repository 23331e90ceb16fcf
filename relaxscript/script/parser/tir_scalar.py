"""Expressions of PrimFuncs: arithmetic on scalars, elements and regions of buffers, intrinsics.

    element    = buffer "[" index { "," index } "]"
    region     = buffer "[" (index | [index] ":" [index]) { "," ... } "]"
    operation  = scalar operator scalar | "not" scalar | scalar "and" scalar | scalar "<" scalar ...
    choice     = scalar "if" scalar "else" scalar             (which is `T.if_then_else`)
    call       = "T." name "(" arguments ")" | module "." function "(" arguments ")"

Operators make nodes by their symbols; the truth of an expression is never asked. Python's own
`min`, `max`, `abs`, `int`, `float`, `bool`, `pow`, `round` and `range` mean what a reader expects.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import Diagnostic, InternalError, OperandError, Span, nearest
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BOOL, INT32, INT64, IntImm, PrimExpr, const, match_dtypes
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.ir.tir import Buffer, BufferRegion, Range

from .. import tir_axis, tir_dtypes, tir_forms, tir_nodes
from ..tir_dtypes import ScalarType
from ..tir_forms import Form
from .base import ExpressionParser, Failed
from .context import ModuleName

__all__ = ["Calls", "ScalarParser", "describe"]

Calls = Callable[[ast.Call], Any]

# Functions of `T.` whose operands are scalars: elements and regions of buffers become loads.
SCALAR_FUNCTIONS = {
    id(f)
    for f in (*FUNCTIONS.values(), *(getattr(tir_nodes, n) for n in tir_nodes.__all__))
    if f not in (tir_nodes.BufferLoad, FUNCTIONS["address_of"])
}
OURS = {
    *SCALAR_FUNCTIONS,
    *(id(getattr(tir_forms, n)) for n in tir_forms.__all__),
    *(id(getattr(tir_axis, n)) for n in tir_axis.__all__),
    *(id(getattr(tir_dtypes, n)) for n in tir_dtypes.__all__),
    id(tir_nodes.BufferLoad),
    id(FUNCTIONS["address_of"]),
}

# What only other devices have; TVM's scripts know these names.
OTHER_DEVICES = frozenset({"launch_thread", "env_thread", "call_kernel"})

BUFFER_ATTRIBUTES = ("data", "dtype", "elem_offset", "name", "ndim", "scope", "shape", "strides")

NODES: dict[str, Any] = {
    "+": prim.Add, "-": prim.Sub, "*": prim.Mul, "/": prim.Div, "//": prim.FloorDiv,
    "%": prim.FloorMod, "==": prim.EQ, "!=": prim.NE, "<": prim.LT, "<=": prim.LE, ">": prim.GT,
    ">=": prim.GE,
}  # fmt: skip
INTRINSICS = {
    "**": "pow", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "shift_left",
    ">>": "shift_right",
}  # fmt: skip
DIVISION = {
    "/": ("is ambiguous for integers",
          "`a // b` rounds down, `T.truncdiv(a, b)` towards zero, `T.cast(a, \"float32\") / b` not at all"),
    "//": ("divides integers", "write `T.floor(a / b)`"),
    "%": ("divides integers", "write `T.fmod(a, b)`"),
}  # fmt: skip


def describe(value: Any) -> str:
    """A value in a few words, for messages."""
    match value:
        case Buffer(name=name):
            return f"the buffer `{name}`"
        case PrimExpr():
            return f"a scalar of type {value.dtype}"
        case Form():
            return f"`{value.name}(...)`"
        case ModuleType():
            return f"the module `{value.__name__.rpartition('.')[2]}`"
        case None:
            return "`None`"
    return f"a Python {type(value).__name__}"


class BoundCast:
    """`x.astype`, before it is called."""

    def __init__(self, value: PrimExpr) -> None:
        self.value = value

    def __call__(self, dtype: str) -> PrimExpr:
        return tir_nodes.cast(self.value, dtype)


class ScalarParser(ExpressionParser):
    """Evaluates the expressions of a PrimFunc."""

    global_vars: dict[str, GlobalVar] | None = None
    module_name: str = ""

    # ---- scalars

    def scalar(self, value: Any, node: ast.AST) -> PrimExpr:
        """A value as a scalar: plain numbers are int32 (int64 where they do not fit) or float32."""
        match value:
            case PrimExpr():
                return value
            case bool() | float():
                return const(value)
            case int():
                fits = -(1 << 31) <= value < 1 << 31
                return self.immediate(value, INT32 if fits else INT64, node)
            case np.generic():
                return const(value.item(), DataType(value.dtype))
            case BufferRegion():
                return self.vector(value, node)
            case str():
                return prim.StringImm(value)
            case Buffer():
                raise self.whole_buffer(value, node)
        raise self.error(
            node, "RX0501", f"a scalar is needed here, this is {describe(value)}",
            help=self.advice_for(value),
        )  # fmt: skip

    def advice_for(self, value: Any) -> str | None:
        """What to write in the place of a value that is no scalar."""
        if isinstance(value, ScalarType):
            return f"`{value}(x)` is `x` as {value.dtype}"
        if isinstance(value, Form):
            return "it is a statement of its own"
        return None

    def immediate(self, value: int, dtype: DataType, node: ast.AST) -> IntImm:
        """A number of a data type, with its place."""
        try:
            return IntImm(dtype, value, span=self.span(node))
        except ValueError as error:
            raise self.error(node, "RX0502", str(error)) from None

    def whole_buffer(self, buffer: Buffer, node: ast.AST) -> Failed:
        """Record that a buffer stands where one of its elements should."""
        indices = ", ".join("ijklmn"[axis % 6] for axis in range(buffer.ndim)) or "()"
        return self.error(
            node, "RX0501", f"`{buffer.name}` is a whole buffer, and a scalar is needed here",
            help=f"take an element: `{buffer.name}[{indices}]`",
        )  # fmt: skip

    def condition(self, value: Any, node: ast.AST) -> PrimExpr:
        """A scalar that is true or false."""
        e = self.scalar(value, node)
        if e.dtype.is_bool:
            return e
        raise self.error(
            node, "RX0502", f"a condition is a bool, this is {e.dtype}",
            help=f"compare it: `{self.written(node)} != 0`",
        )  # fmt: skip

    def written(self, node: ast.AST) -> str:
        """The text of a piece of syntax, in one line."""
        return ast.unparse(node)

    # ---- operators

    def operate(self, symbol: str, operands: tuple[Any, ...], node: ast.expr) -> Any:
        if not any(isinstance(v, Node) for v in operands):
            return super().operate(symbol, operands, node)
        places = self.operand_nodes(node, len(operands))
        return self.combine(symbol, operands, places, node)

    def operand_nodes(self, node: ast.AST, count: int) -> Sequence[ast.AST]:
        """Where the operands of an operator stand."""
        match node:
            case ast.BinOp(left=left, right=right):
                return (left, right)
            case ast.UnaryOp(operand=operand):
                return (operand,)
            case ast.AugAssign(target=target, value=value):
                return (target, value)
        return (node,) * count

    def combine(
        self, symbol: str, operands: Sequence[Any], places: Sequence[ast.AST], node: ast.AST
    ) -> PrimExpr:
        """The node that an operator makes of its operands."""
        values = [
            v if type(v) in (int, float, bool) else self.scalar(v, at)
            for v, at in zip(operands, places)
        ]
        if len(values) == 1:
            return self.combine_one(symbol, values[0], node)
        if symbol in ("and", "or"):
            a, b = (self.condition(v, at) for v, at in zip(values, places))
            return (prim.And if symbol == "and" else prim.Or).make(a, b, span=self.span(node))
        make = NODES.get(symbol)
        if make is not None:
            a, b = self.matched(symbol, values[0], values[1], places)
            if symbol in DIVISION:
                self.check_division(symbol, a, node)
            return make.make(a, b, span=self.span(node))  # type: ignore[no-any-return]
        name = INTRINSICS.get(symbol)
        if name is None:
            help = "write `==`" if symbol in ("is", "is not") else None
            raise self.error(node, "RX0501", f"`{symbol}` has no meaning for scalars", help=help)
        return self.apply(FUNCTIONS[name], values, node, places)

    def combine_one(self, symbol: str, value: PrimExpr, node: ast.AST) -> PrimExpr:
        span = self.span(node)
        match symbol:
            case "not":
                operand = node.operand if isinstance(node, ast.UnaryOp) else node
                return prim.Not.make(self.condition(value, operand), span=span)
            case "unary +":
                return value
            case "~":
                return self.apply(FUNCTIONS["bitwise_not"], [value], node, [node])
        if isinstance(value, prim.FloatImm):
            return prim.FloatImm.make(value.dtype, -value.value, span=span)
        if isinstance(value, IntImm) and value.dtype.kind == "int":
            return self.immediate(-value.value, value.dtype, node)
        return prim.Sub.make(const(0, value.dtype), value, span=span)

    def matched(
        self, symbol: str, a: Any, b: Any, places: Sequence[ast.AST]
    ) -> tuple[PrimExpr, PrimExpr]:
        """Both operands in one data type."""
        try:
            return match_dtypes(a, b)
        except (TypeError, ValueError) as error:
            facts = [
                (at, f"is {v.dtype}")
                for v, at in zip((a, b), places)
                if isinstance(v, PrimExpr)
            ]  # fmt: skip
            reason = f": {error}" if isinstance(error, ValueError) else ""
            raise self.error(
                places[1], "RX0502", f"`{symbol}` cannot combine these operands{reason}", labels=facts
            ) from None

    def check_division(self, symbol: str, operand: PrimExpr, node: ast.AST) -> None:
        if operand.dtype.is_float == (symbol == "/"):
            return
        fact, help = DIVISION[symbol]
        match node:
            case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
                a, b = self.written(left), self.written(right)
                help = help.replace("a // b", f"{a} // {b}").replace("(a, b)", f"({a}, {b})")
                help = help.replace("a / b", f"{a} / {b}").replace("(a, ", f"({a}, ")
                help = help.replace(") / b", f") / {b}")
        what = "" if symbol == "/" else f", these are {operand.dtype}"
        raise self.error(node, "RX0502", f"`{symbol}` {fact}{what}", help=help)

    def comparison(self, node: ast.Compare) -> Any:
        """Each pair compared, combined with `and`, as in Python."""
        nodes = [node.left, *node.comparators]
        operands = self.values(nodes)
        if not any(isinstance(v, Node) for v in operands):
            return super().comparison(node)
        result: Any = None
        for i, op in enumerate(node.ops):
            pair = (operands[i], operands[i + 1])
            symbol = SYMBOLS[type(op)]
            if any(isinstance(v, Node) for v in pair):
                one: Any = self.combine(symbol, pair, nodes[i : i + 2], node)
            else:
                one = super().operate(symbol, pair, node)
            result = one if i == 0 else self.joined("and", result, one, (node, node), node)
        return result

    def boolean(self, node: ast.BoolOp) -> Any:
        symbol = "and" if type(node.op) is ast.And else "or"
        result, place = self.value(node.values[0]), node.values[0]
        for other in node.values[1:]:
            if not isinstance(result, Node) and bool(result) == (symbol == "or"):
                return result
            result = self.joined(symbol, result, self.value(other), (place, other), node)
            place = other
        return result

    def joined(
        self, symbol: str, a: Any, b: Any, places: Sequence[ast.AST], node: ast.AST
    ) -> Any:  # fmt: skip
        """`a and b`; Python values on the left are decided at once."""
        if isinstance(a, Node) and (isinstance(b, (Node, bool)) or not isinstance(b, Form)):
            return self.combine(symbol, (a, b), places, node)
        return b if bool(a) == (symbol == "and") else a

    def conditional(self, node: ast.IfExp) -> Any:
        """`a if c else b`: only the chosen value is evaluated, which is `T.if_then_else`."""
        test = self.value(node.test)
        if not isinstance(test, Node):
            return self.value(node.body if test else node.orelse)
        condition = self.condition(test, node.test)
        yes, no = self.values([node.body, node.orelse])
        values = [v if type(v) in (int, float, bool) else self.scalar(v, at)
                  for v, at in ((yes, node.body), (no, node.orelse))]  # fmt: skip
        places = [node.test, node.body, node.orelse]
        return self.apply(FUNCTIONS["if_then_else"], [condition, *values], node, places)

    # ---- elements and regions of buffers

    def subscript_of(self, owner: Any, index: Any, node: ast.Subscript) -> Any:
        if isinstance(owner, Buffer):
            places = self.index_nodes(node)
            return self.element(owner, index if isinstance(index, tuple) else (index,), places, node)
        if isinstance(owner, PrimExpr):
            raise self.not_indexable(owner, node)
        if isinstance(index, PrimExpr) and isinstance(owner, (tuple, list)):
            if not isinstance(index, IntImm):
                raise self.error(
                    node.slice, "RX0503", "this index is known only when the program runs",
                    help="a Python sequence is indexed while the program is parsed; store it in a buffer",
                )  # fmt: skip
            index = index.value
        return super().subscript_of(owner, index, node)

    def not_indexable(self, owner: PrimExpr, node: ast.Subscript) -> Failed:
        name = self.written(node.value)
        help = None
        if owner.dtype.kind == "handle":
            help = f'give it a shape: `X = T.match_buffer({name}, (n,), "float32")`'
        return self.error(
            node.value, "RX0503", f"`{name}` is {describe(owner)} and has no elements", help=help
        )

    def index_nodes(self, node: ast.Subscript) -> Sequence[ast.AST]:
        return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]

    def element(
        self, buffer: Buffer, index: Sequence[Any], places: Sequence[ast.AST], node: ast.Subscript
    ) -> PrimExpr | BufferRegion:
        """A load; a region where some index is a slice without a step."""
        self.check_rank(buffer, len(index), node)
        if any(isinstance(i, slice) for i in index):
            steps = [i.step for i in index if isinstance(i, slice)]
            if all(step is None for step in steps):
                return self.region(buffer, index, places, node)
        indices = self.indices(buffer, index, places)
        return prim.BufferLoad.make(buffer, indices, span=self.span(node))

    def check_rank(self, buffer: Buffer, given: int, node: ast.Subscript) -> None:
        if given == buffer.ndim:
            return
        takes = f"{buffer.ndim} ind{'ex' if buffer.ndim == 1 else 'ices'}"
        raise self.error(
            node.slice, "RX0503", f"`{buffer.name}` takes {takes}, not {given}",
            labels=[(buffer.span, f"`{buffer.name}` has {buffer.ndim} dimension"
                     + ("" if buffer.ndim == 1 else "s"))],
        )  # fmt: skip

    def indices(
        self, buffer: Buffer, index: Sequence[Any], places: Sequence[ast.AST]
    ) -> tuple[PrimExpr, ...]:
        """Indices as integers; a slice is the vector of its elements."""
        if len(places) != len(index):
            places = [places[0] if places else ast.Constant(None)] * len(index)
        found: list[PrimExpr] = []
        for axis, (value, place) in enumerate(zip(index, places)):
            if isinstance(value, slice):
                low, high = self.slice_bounds(buffer, axis, value, place)
                found.append(self.ramp(low, high, value.step, place))
                continue
            found.append(self.index(value, place, buffer, axis))
        for e, place in list(zip(found, places))[:-1]:
            if e.dtype.lanes != 1:
                raise self.error(place, "RX0503", "only the last index can be a vector")
        return tuple(found)

    def index(self, value: Any, place: ast.AST, buffer: Buffer, axis: int) -> PrimExpr:
        """One index: an integer."""
        if type(value) is int:
            self.check_bounds(value, place, buffer, axis)
            return self.immediate(value, INT32 if -(1 << 31) <= value < 1 << 31 else INT64, place)
        e = value if isinstance(value, PrimExpr) else self.scalar(value, place)
        if e.dtype.is_integer:
            return e
        kind = f"is {e.dtype}" if not isinstance(e, prim.StringImm) else "is a string"
        help = f'convert it: `T.cast({self.written(place)}, "int32")`' if e.dtype.is_float else None
        raise self.error(
            place, "RX0503", "an index is an integer", labels=[(place, kind)], help=help
        )

    def check_bounds(self, value: int, place: ast.AST, buffer: Buffer, axis: int) -> None:
        """Warn of an element that cannot exist; code that never runs may name it."""
        extent = buffer.shape[axis]
        if value >= 0 and not (isinstance(extent, IntImm) and value >= extent.value):
            return
        size = f"has extent {extent.value}" if isinstance(extent, IntImm) else "begins at 0"
        help = "indices do not count from the end" if value < 0 else None
        self.report(Diagnostic(
            "RX0503", f"`{buffer.name}` has no element {value} here: axis {axis} {size}",
            self.span(place), help=help, severity="warning",
        ))  # fmt: skip

    def slice_bounds(
        self, buffer: Buffer, axis: int, value: slice, place: ast.AST
    ) -> tuple[PrimExpr, PrimExpr]:
        """Where a slice begins and ends, in one data type."""
        extent = buffer.shape[axis]
        low = 0 if value.start is None else value.start
        high = extent if value.stop is None else value.stop
        parts = [
            v if type(v) is int else self.index(v, place, buffer, axis) for v in (low, high)
        ]
        if all(type(v) is int for v in parts):
            return self.immediate(low, INT32, place), self.immediate(high, INT32, place)
        return match_dtypes(*parts)

    def region(
        self, buffer: Buffer, index: Sequence[Any], places: Sequence[ast.AST], node: ast.AST
    ) -> BufferRegion:
        """Part of a buffer: a range along each axis."""
        ranges: list[Range] = []
        for axis, (value, place) in enumerate(zip(index, places)):
            if isinstance(value, slice):
                low, high = self.slice_bounds(buffer, axis, value, place)
                ranges.append(Range.make(low, extent_between(low, high)))
            else:
                e = self.index(value, place, buffer, axis)
                ranges.append(Range.make(e, const(1, e.dtype)))
        return BufferRegion.make(buffer, tuple(ranges), span=self.span(node))

    def ramp(self, low: PrimExpr, high: PrimExpr, step: Any, place: ast.AST) -> PrimExpr:
        """The vector of the indices of a slice."""
        stride = self.scalar(1 if step is None else step, place)
        extent = extent_between(low, high)
        if not isinstance(stride, IntImm) or stride.value < 1:
            raise self.error(place, "RX0503", "the step of a slice is a positive number")
        if not isinstance(extent, IntImm):
            raise self.error(
                place, "RX0503", "the number of elements of this slice is not a constant",
                help="loop over the elements: `for i in range(...)`",
            )  # fmt: skip
        lanes = -(-extent.value // stride.value)
        if lanes < 1:
            raise self.error(place, "RX0503", "this slice has no elements")
        return low if lanes == 1 else prim.Ramp.make(low, const(stride.value, low.dtype), lanes)

    def vector(self, region: BufferRegion, node: ast.AST) -> PrimExpr:
        """A region used as a value: the vector of its elements."""
        indices = []
        for place, part in zip(self.region_places(region, node), region.region):
            indices.append(self.ramp(part.min, prim.Add.make(part.min, part.extent), None, place))
        for e in indices[:-1]:
            if e.dtype.lanes != 1:
                raise self.error(node, "RX0503", "only the last index can be a vector")
        return prim.BufferLoad.make(region.buffer, tuple(indices), span=region.span)

    def region_places(self, region: BufferRegion, node: ast.AST) -> Sequence[ast.AST]:
        count = len(region.region)
        places = self.index_nodes(node) if isinstance(node, ast.Subscript) else []
        return places if len(places) == count else [node] * count

    # ---- attributes

    def find_name(self, node: ast.Name) -> Any:
        if self.module_name and node.id == self.module_name:
            return ModuleName
        return super().find_name(node)

    def attribute_of(self, owner: Any, node: ast.Attribute) -> Any:
        match owner:
            case Buffer():
                return self.buffer_attribute(owner, node)
            case PrimExpr():
                return self.scalar_attribute(owner, node)
            case _ if owner is ModuleName or isinstance(owner, ModuleName):
                return self.function_of_module(node)
        if owner is tir_axis:
            return self.namespace_member(owner, node)
        if isinstance(owner, ModuleType) and node.attr in OTHER_DEVICES:
            raise self.error(
                node, "RX0505", f"`{self.written(node)}` belongs to the threads of a GPU",
                help="on a CPU write `T.parallel(...)`",
            )  # fmt: skip
        return super().attribute_of(owner, node)

    def function_of_module(self, node: ast.Attribute) -> GlobalVar:
        known = self.global_vars or {}
        if node.attr in known:
            return known[node.attr]
        near = nearest(node.attr, known)
        base = self.written(node.value)
        raise self.error(
            node, "RX0102", f"the module has no function `{node.attr}`",
            help=f"did you mean `{base}.{near}`?" if near else None,
            fix=f"{base}.{near}" if near else None,
        )  # fmt: skip

    def buffer_attribute(self, buffer: Buffer, node: ast.Attribute) -> Any:
        if node.attr == "data":
            return self.data_of(buffer, node)
        if node.attr in BUFFER_ATTRIBUTES:
            return getattr(buffer, node.attr)
        near = nearest(node.attr, BUFFER_ATTRIBUTES)
        base = self.written(node.value)
        raise self.error(
            node, "RX0102", f"a buffer has no `{node.attr}`",
            help=f"did you mean `{base}.{near}`?" if near else None,
            fix=f"{base}.{near}" if near else None,
        )  # fmt: skip

    def data_of(self, buffer: Buffer, node: ast.AST) -> PrimExpr:
        """The address of a buffer's memory."""
        raise InternalError("only functions know the memory of buffers")

    def scalar_attribute(self, e: PrimExpr, node: ast.Attribute) -> Any:
        match node.attr:
            case "dtype":
                return e.dtype
            case "astype":
                return BoundCast(e)
            case "name" if isinstance(e, prim.Var):
                return e.name
        raise self.error(
            node, "RX0102", f"a scalar has no `{node.attr}`",
            help='it has `.dtype` and `.astype("float32")`',
        )  # fmt: skip

    # ---- calls

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        kind = id(callee)
        if kind in OURS:
            return self.call_ours(callee, node)
        if isinstance(callee, GlobalVar):
            return self.call_function(callee, node)
        if isinstance(callee, BoundCast):
            args, kwargs = self.arguments(node)
            return self.guarded(callee, args, kwargs, node)
        rule = PYTHON_NAMES.get(kind)
        if rule is not None:
            return self.call_builtin(callee, rule, node)
        if not callable(callee):
            raise self.error(node.func, "RX0103", f"{describe(callee)} cannot be called")
        return self.call_python(callee, node)

    def call_ours(self, callee: Any, node: ast.Call) -> Any:
        args, kwargs = self.arguments(node)
        if id(callee) in SCALAR_FUNCTIONS or isinstance(callee, ScalarType):
            args = [self.operand(v, at) for v, at in zip(args, node.args)] if len(args) == len(
                node.args) else args  # fmt: skip
        return self.guarded(callee, args, kwargs, node)

    def operand(self, value: Any, node: ast.AST) -> Any:
        """An operand of a scalar function: buffers are refused here, regions become vectors."""
        if isinstance(value, (Buffer, BufferRegion)):
            return self.scalar(value, node)
        return value

    def guarded(self, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call) -> Any:
        """Call a function of ours; what it refuses is blamed on the argument."""
        try:
            result = callee(*args, **kwargs)
        except OperandError as error:
            raise self.report(
                error.diagnostic(self.written(node.func), self.span(node), self.argument_spans(callee, node))
            ) from None  # fmt: skip
        except (TypeError, ValueError, AttributeError) as error:
            raise self.misfit(callee, args, kwargs, node, error) from None
        if type(result) is prim.Call and result.span is None:
            return prim.Call.make(result.dtype, result.op, result.args, span=self.span(node))
        return result

    def apply(
        self, function: Any, values: list[Any], node: ast.AST, places: Sequence[ast.AST]
    ) -> PrimExpr:
        """Call an intrinsic's function for an operator."""
        try:
            result: PrimExpr = function(*values)
        except OperandError as error:
            names = list(inspect.signature(function).parameters)
            spans = {n: self.span(at) for n, at in zip(names, places)}
            raise self.report(error.diagnostic(function.__name__, self.span(node), spans)) from None
        if type(result) is prim.Call and result.span is None:
            return prim.Call.make(result.dtype, result.op, result.args, span=self.span(node))
        return result

    def argument_nodes(self, callee: Any, node: ast.Call) -> dict[str, ast.AST]:
        """Where the argument of each parameter stands; those of `*rest` are `rest[0]`, ..."""
        names = list(inspect.signature(callee).parameters.values())
        found: dict[str, ast.AST] = {}
        for position, at in enumerate(node.args):
            rest = next((p for p in names if p.kind is p.VAR_POSITIONAL), None)
            fixed = [p for p in names if p.kind is p.POSITIONAL_OR_KEYWORD]
            if position < len(fixed):
                found[fixed[position].name] = at
            elif rest is not None:
                index = position - len(fixed)
                found[f"{rest.name}[{index}]"] = at
                found[f"operand {index}"] = at
        found.update({k.arg: k.value for k in node.keywords if k.arg is not None})
        return found

    def argument_spans(self, callee: Any, node: ast.Call) -> dict[str, Span | None]:
        return {name: self.span(at) for name, at in self.argument_nodes(callee, node).items()}

    def misfit(
        self, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call, error: Exception
    ) -> Failed:
        """Record why a call of ours cannot be: its arguments, or what they are."""
        written = self.written(node.func)
        signature = inspect.signature(callee)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return self.wrong_arguments(written, signature, node, kwargs)
        places = self.argument_nodes(callee, node)
        for name, value in bound.arguments.items():
            if name == "dtype" and not is_dtype(value) and not isinstance(value, ScalarType):
                near = nearest(str(value), tir_dtypes.__all__)
                return self.error(
                    places.get(name, node), "RX0502", f"`{value}` is not a data type",
                    help=f'did you mean "{near}"?' if near else 'write for example `"float32"`',
                    fix=f'"{near}"' if near else None,
                )  # fmt: skip
        at = next(iter(places.values())) if len(places) == 1 else node
        return self.error(at, "RX0502", f"`{written}` cannot take these operands: {error}")

    def wrong_arguments(
        self, written: str, signature: inspect.Signature, node: ast.Call, kwargs: dict[str, Any]
    ) -> Failed:
        parameters = signature.parameters
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in parameters:
                near = nearest(keyword.arg, parameters)
                listed = ", ".join(f"`{p}`" for p in parameters) or "no parameters"
                return self.error(
                    keyword, "RX0103", f"`{written}` has no parameter `{keyword.arg}`",
                    help=f"did you mean `{near}=`?" if near else f"it takes {listed}",
                )  # fmt: skip
        takes = [p for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        needed = [p.name for p in takes if p.default is p.empty]
        missing = [name for name in needed[len(node.args) :] if name not in kwargs]
        if missing:
            names = " and ".join(f"`{name}`" for name in missing)
            return self.error(node, "RX0103", f"`{written}` needs {names}",
                              help=f"write `{written}{signature_text(signature)}`")  # fmt: skip
        count = "no arguments" if not takes else f"{len(takes)} argument{'s' * (len(takes) != 1)}"
        at = node.args[len(takes)] if len(node.args) > len(takes) else node
        return self.error(at, "RX0103", f"`{written}` takes {count}, {len(node.args)} are given",
                          help=f"write `{written}{signature_text(signature)}`")  # fmt: skip

    def call_function(self, callee: GlobalVar, node: ast.Call) -> PrimExpr:
        """A call of another PrimFunc of the module; buffers are passed by their address."""
        args, kwargs = self.arguments(node)
        if kwargs:
            raise self.error(
                node.keywords[0], "RX0103", "arguments of PrimFuncs are given by position"
            )
        places = node.args if len(node.args) == len(args) else [node] * len(args)
        operands = tuple(
            self.data_of(v, at) if isinstance(v, Buffer) else self.scalar(v, at)
            for v, at in zip(args, places)
        )
        return prim.Call.make(DataType("void"), callee, operands, span=self.span(node))

    def call_builtin(self, callee: Any, rule: Any, node: ast.Call) -> Any:
        """Python's own functions on scalars; on Python values they are Python's."""
        args, kwargs = self.arguments(node)
        if not any(isinstance(v, Node) for v in args):
            with self.at(node):
                return callee(*args, **kwargs)
        if any(isinstance(v, (Buffer, BufferRegion)) for v in args):
            args = [self.operand(v, at) for v, at in zip(args, node.args)]
        return self.guarded(rule, args, kwargs, node)

    def call_python(self, callee: Any, node: ast.Call) -> Any:
        name = getattr(callee, "__name__", "")
        home = getattr(callee, "__module__", None) or getattr(type(callee), "__module__", "")
        if name in FUNCTIONS and str(home).partition(".")[0] in ("math", "numpy"):
            args, kwargs = self.arguments(node)
            if any(isinstance(v, Node) for v in args):
                raise self.error(
                    node.func, "RX0501", f"`{self.written(node.func)}` computes with Python numbers only",
                    help=f"write `T.{name}`", fix=f"T.{name}",
                )  # fmt: skip
        return super().call_python(callee, node)


def extent_between(low: PrimExpr, high: PrimExpr) -> PrimExpr:
    """`high - low`; where `high` was written `low + e`, just `e`."""
    if isinstance(high, prim.Add) and high.a is low:
        return high.b
    if isinstance(low, IntImm):
        if low.value == 0:
            return high
        if isinstance(high, prim.Add) and isinstance(high.a, IntImm) and high.a.value == low.value:
            return high.b
        if isinstance(high, IntImm):
            return const(high.value - low.value, high.dtype)
    return simplify(prim.Sub.make(high, low))


def signature_text(signature: inspect.Signature) -> str:
    """`(start, stop=None)`: a signature without its annotations."""
    plain = [
        p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()
    ]  # fmt: skip
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def _as_int(x: PrimExpr) -> PrimExpr:
    """`int(x)`: towards zero, as Python's."""
    return x if x.dtype.is_integer else tir_nodes.cast(x, "int32")


def _as_float(x: PrimExpr) -> PrimExpr:
    """`float(x)`."""
    return x if x.dtype.is_float else tir_nodes.cast(x, "float32")


def _as_bool(x: PrimExpr) -> PrimExpr:
    """`bool(x)`."""
    return x if x.dtype is BOOL else prim.NE.make(x, const(0, x.dtype))


def _round(number: PrimExpr) -> PrimExpr:
    """`round(x)`: halves go to the even number, as Python's."""
    return FUNCTIONS["nearbyint"](number)


def _range(start: Any, stop: Any = None, step: Any = 1) -> Form:
    """`range(...)` with bounds that are scalars."""
    return Form(_range, start=start, stop=stop, step=step)


PYTHON_RANGE = _range

PYTHON_NAMES: dict[int, Any] = {
    id(builtins.min): tir_nodes.min,
    id(builtins.max): tir_nodes.max,
    id(builtins.abs): FUNCTIONS["abs"],
    id(builtins.pow): FUNCTIONS["pow"],
    id(builtins.int): _as_int,
    id(builtins.float): _as_float,
    id(builtins.bool): _as_bool,
    id(builtins.round): _round,
    id(builtins.range): _range,
}
