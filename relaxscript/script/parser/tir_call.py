"""Calls and attributes in PrimFuncs: the functions of `T`, of the module, and Python's own.

    call      = "T." name "(" arguments ")" | module "." function "(" arguments ")"
    attribute = buffer "." name | scalar ".dtype" | scalar ".astype"

Python's `min`, `max`, `sum`, `all`, `any`, `abs`, `int`, `float`, `bool`, `pow`, `round` and
`range` mean what a reader expects of them. What a function of ours refuses is blamed on the
argument.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import operator
import re
from collections.abc import Sequence
from functools import partial, reduce
from types import ModuleType
from typing import Any

from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    Edit,
    InternalError,
    Span,
    UnplacedError,
    did_you_mean,
    unplaced,
)
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.low_level_functions import TYPED_LAST
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BOOL, PrimExpr, const
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.ir.tir import Buffer, BufferRegion
from relaxscript.op import Operator, Sugar
from relaxscript.op.spellings import meant_keyword, nearest_dtype
from relaxscript.script import tir_axis, tir_compute, tir_dtypes, tir_forms, tir_nodes
from relaxscript.script.syntax import TIR_INT_DTYPE
from relaxscript.script.tir_types import Form, ScalarType

from .base import Failed
from .blame import in_the_users_words
from .context import ModuleName
from .corrections import by_position
from .python_values import LocalFunction
from .tir_operator import OperatorParser
from .tir_scalar import counted, describe

__all__ = [
    "METHODS",
    "OURS",
    "PYTHON_NAMES",
    "PYTHON_RANGE",
    "SCALAR_FUNCTIONS",
    "CallParser",
    "given",
    "vstore",
]

# Functions of `T.` whose operands are scalars: elements and regions of buffers become loads.
SCALAR_FUNCTIONS = {
    id(f)
    for f in (*FUNCTIONS.values(), *(getattr(tir_nodes, n) for n in tir_nodes.__all__))
    if f not in (tir_nodes.BufferLoad, FUNCTIONS["address_of"])
}

PACKED_CALLS = [FUNCTIONS[f"{before}call_{kind}"]
                for before in ("", "tvm_") for kind in ("packed", "cpacked")]  # fmt: skip

OURS = {
    *SCALAR_FUNCTIONS,
    *(id(getattr(tir_compute, n)) for n in tir_compute.__all__),
    *(id(getattr(tir_forms, n)) for n in tir_forms.__all__),
    *(id(getattr(tir_axis, n)) for n in tir_axis.__all__),
    *(id(getattr(tir_dtypes, n)) for n in tir_dtypes.__all__),
    id(tir_nodes.BufferLoad),
    id(FUNCTIONS["address_of"]),
}

# What only builders of other devices' programs have; TVM's scripts know the name.
OTHER_DEVICES = frozenset({"call_kernel"})

BUFFER_ATTRIBUTES = ("data", "dtype", "elem_offset", "name", "ndim", "scope", "shape", "strides")


def astype(self: PrimExpr, dtype: str) -> PrimExpr:
    """`x.astype("float32")`."""
    return tir_nodes.cast(self, dtype)


def vload(
    self: Buffer, begin: Any, dtype: str | None = None, predicate: PrimExpr | None = None
) -> PrimExpr:
    """`A.vload([i])`: a load with a predicate for each lane, or of several lanes by `dtype`."""
    return self.vload(begin, dtype, predicate)


def vstore(self: Buffer, begin: Any, value: Any, predicate: PrimExpr | None = None) -> Form:
    """`A.vstore([i], value)`: a store with a predicate for each lane."""
    return Form(vstore, buffer=self, indices=begin, value=value, predicate=predicate)


METHODS = (Buffer.access_ptr, Buffer.offset_of, astype, vload, vstore)

# What a node says of a field that cannot hold a value.
_OF_A_FIELD = re.compile(r"`\w+\.(\w+)` must be .+, not (\w+) \(.*\)")


class Places(dict[str, ast.expr]):
    """Where the arguments of a call stand; one without a place of its own, where the call does."""

    def __init__(self, node: ast.expr) -> None:
        self.node = node

    def __missing__(self, name: str) -> ast.expr:
        return self.node


class CallParser(OperatorParser):
    """Adds calls and attributes to operators."""

    global_vars: dict[str, GlobalVar] | None = None
    module_name: str = ""

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
        if owner is tir_compute.CallEffectKind:
            return self.kind_of_effect(node)
        if isinstance(owner, ModuleType) and node.attr in OTHER_DEVICES:
            raise self.error(
                node, "RX0505", f"`{self.written(node)}` belongs to the threads of a GPU",
                help="on a CPU write `T.parallel(...)`",
            )  # fmt: skip
        return super().attribute_of(owner, node)

    def kind_of_effect(self, node: ast.Attribute) -> int:
        """`T.CallEffectKind.Pure`."""
        kinds = tir_compute.CallEffectKind.__members__
        if node.attr in kinds:
            return int(kinds[node.attr])
        near = self.near(node.attr, kinds)
        base = self.written(node.value)
        raise self.error(
            node, "RX0102", f"`{base}` has no `{node.attr}`",
            help=did_you_mean(near and f"{base}.{near}", f"it has {', '.join(kinds)}"),
            fix=f"{base}.{near}" if near else None,
        )  # fmt: skip

    def function_of_module(self, node: ast.Attribute) -> GlobalVar:
        known = self.global_vars or {}
        if node.attr in known:
            return known[node.attr]
        near = self.near(node.attr, known)
        base = self.written(node.value)
        raise self.error(
            node, "RX0102", f"the module has no function `{node.attr}`",
            help=did_you_mean(near and f"{base}.{near}"),
            fix=f"{base}.{near}" if near else None,
        )  # fmt: skip

    def buffer_attribute(self, buffer: Buffer, node: ast.Attribute) -> Any:
        if node.attr == "data":
            return self.data_of(buffer, node)
        for method in (Buffer.offset_of, vload, vstore):
            if node.attr == method.__name__:
                return partial(method, buffer)
        if node.attr in ("READ", "WRITE"):
            return getattr(Buffer, node.attr)
        if node.attr == "access_ptr":
            return partial(Buffer.access_ptr, buffer.replace(data=self.data_of(buffer, node)))
        if node.attr in BUFFER_ATTRIBUTES:
            return getattr(buffer, node.attr)
        near = self.near(node.attr, BUFFER_ATTRIBUTES)
        base = self.written(node.value)
        raise self.error(
            node, "RX0102", f"a buffer has no `{node.attr}`",
            help=did_you_mean(near and f"{base}.{near}", "a loop goes over its elements"),
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
                return partial(astype, e)
            case "name" if isinstance(e, prim.Var):
                return e.name
        raise self.error(
            node, "RX0102", f"a scalar has no `{node.attr}`",
            help='it has `.dtype` and `.astype("float32")`',
        )  # fmt: skip

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        kind = id(callee)
        if kind in OURS:
            return self.call_ours(callee, node)
        if isinstance(callee, GlobalVar):
            return self.call_function(callee, node)
        if isinstance(callee, partial) and callee.func in METHODS:
            args, kwargs = self.arguments(node)
            if callee.func is vload:
                self.check_indices(callee.args[0], args[:1], node.args[:1])
            return self.guarded(callee, args, kwargs, node)
        rule = PYTHON_NAMES.get(kind)
        if rule is not None:
            return self.call_builtin(callee, rule, node)
        if isinstance(callee, LocalFunction):
            return self.call_local(callee, node)
        if isinstance(callee, (Operator, Sugar)):
            raise self.of_relax(callee, node)
        if not callable(callee):
            raise self.not_called(callee, node)
        return self.call_python(callee, node)

    def of_relax(self, callee: Operator | Sugar, node: ast.Call) -> Failed:
        """Record a call of `R.`, which is of tensors, with the scalar function of its name."""
        written = self.written(node.func)
        same = self.member_named(ast.Name(written.rpartition(".")[2]))
        meant = same if same is not None and same.startswith("T.") else None
        return self.error(
            node.func, "RX0501", f"`{written}` computes with tensors, and a PrimFunc with scalars",
            help=f"write `{meant}`" if meant else None, fix=meant,
        )  # fmt: skip

    def not_called(self, callee: Any, node: ast.Call) -> Failed:
        """Record that something is no function; elements of buffers stand in brackets."""
        span = self.span(node)
        if not isinstance(callee, Buffer) or not node.args or node.keywords or span is None:
            return self.error(node.func, "RX0103", f"{describe(callee)} cannot be called")
        element = f"{self.written(node.func)}[{', '.join(self.written(a) for a in node.args)}]"
        return self.error(
            node.func, "RX0103", f"{describe(callee)} cannot be called",
            help=f"elements stand in brackets: `{element}`", edits=[Edit(span, element)],
        )  # fmt: skip

    def call_ours(self, callee: Any, node: ast.Call) -> Any:
        node = typed_first(callee, node)
        args, kwargs = self.arguments(node)
        if callee in PACKED_CALLS:
            places = node.args if len(args) == len(node.args) else [node] * len(args)
            args = [self.packed(v, at) for v, at in zip(args, places)]
        if id(callee) in SCALAR_FUNCTIONS or isinstance(callee, ScalarType):
            args = [self.operand(v, at) for v, at in zip(args, node.args)] if len(args) == len(
                node.args) else args  # fmt: skip
        if callee is tir_nodes.BufferLoad and args and isinstance(args[0], Buffer):
            self.check_indices(args[0], args[1:2], node.args[1:2])
        if callee is FUNCTIONS["address_of"]:
            args = [self.first_element(v) for v in args]
        return self.guarded(callee, args, kwargs, node)

    def check_indices(self, buffer: Buffer, given: list[Any], nodes: list[ast.expr]) -> None:
        """The indices that a call names are integers, one for each dimension."""
        if not given or not nodes or isinstance(nodes[0], ast.Starred):
            return
        values = list(given[0]) if isinstance(given[0], (list, tuple)) else given
        at = nodes[0]
        places = at.elts if isinstance(at, (ast.List, ast.Tuple)) else [at] * len(values)
        if len(values) != buffer.ndim:
            takes = counted(buffer.ndim, "index", "indices")
            raise self.error(at, "RX0503", f"`{buffer.name}` takes {takes}, not {len(values)}")
        self.indices(buffer, values, places)

    def packed(self, value: Any, node: ast.AST) -> Any:
        """An operand of a packed function; a buffer is handed over with its shape."""
        if not isinstance(value, Buffer):
            return value
        strides: Any = 0
        if value.strides:
            strides = FUNCTIONS["tvm_stack_make_shape"](*value.strides)
        return FUNCTIONS["tvm_stack_make_array"](
            self.data_of(value, node), FUNCTIONS["tvm_stack_make_shape"](*value.shape), strides,
            value.ndim, const(0, value.dtype), value.elem_offset or 0,
        )  # fmt: skip

    def first_element(self, value: Any) -> Any:
        """The address of a buffer is that of its first element."""
        if not isinstance(value, Buffer):
            return value
        zeros = tuple(const(0, TIR_INT_DTYPE) for _ in value.shape)
        return prim.BufferLoad.make(value, zeros)

    def operand(self, value: Any, node: ast.AST) -> Any:
        """An operand of a scalar function: buffers are refused here, regions become vectors."""
        if isinstance(value, (Buffer, BufferRegion)) or (
            isinstance(value, prim.Var) and not value.name
        ):
            return self.scalar(value, node)
        if isinstance(value, (list, tuple)):
            nodes = getattr(node, "elts", [])
            places = nodes if len(nodes) == len(value) else [node] * len(value)
            return [self.operand(v, at) for v, at in zip(value, places)]
        return value

    def guarded(self, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call) -> Any:
        """Call a function of ours; what it refuses is blamed on the argument."""
        try:
            result = callee(*args, **kwargs)
        except (UnplacedError, DiagnosticError, TypeError, ValueError, AttributeError) as error:
            said = unplaced(error)
            if said is None and isinstance(error, (TypeError, ValueError, AttributeError)):
                raise self.misfit(callee, args, kwargs, node, error) from None
            if said is None:
                raise
            spans = self.argument_spans(callee, node)
            diagnostic = said.diagnostic(self.written(node.func), self.span(node), spans)
            nodes = self.argument_nodes(callee, node).items()
            words = {n: self.written(at) for n, at in nodes if not isinstance(at, ast.Constant)}
            raise self.report(in_the_users_words(diagnostic, words)) from None
        if type(result) is prim.Call and result.span is None:
            return prim.Call.make(result.dtype, result.op, result.args, span=self.span(node))
        return result

    def argument_nodes(self, callee: Any, node: ast.Call) -> Places:
        """Where the argument of each parameter stands; those of `*rest` are `rest[0]`, ..."""
        names = list(inspect.signature(callee).parameters.values())
        rest = next((p for p in names if p.kind is p.VAR_POSITIONAL), None)
        fixed = [p for p in names if p.kind is p.POSITIONAL_OR_KEYWORD]
        found = Places(node)
        if any(isinstance(at, ast.Starred) for at in node.args):
            return found
        for position, at in enumerate(node.args):
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
                near = nearest_dtype(str(value), tir_dtypes.__all__)
                return self.error(
                    places.get(name, node), "RX0502", f'"{value}" is not a data type',
                    help=did_you_mean(near, 'write for example `"float32"`', '"'),
                    fix=f'"{near}"' if near else None,
                )  # fmt: skip
        why = reason(error)
        field = _OF_A_FIELD.fullmatch(why)
        if field is not None:
            message = f"`{written}` cannot take a Python {field[2]} as its `{field[1]}`"
            return self.error(places.get(field[1], node), "RX0502", message)
        at = next(iter(places.values())) if len(places) == 1 else node
        return self.error(at, "RX0502", f"`{written}` cannot take this: {why}")

    def wrong_arguments(
        self, written: str, signature: inspect.Signature, node: ast.Call, kwargs: dict[str, Any]
    ) -> Failed:
        parameters = signature.parameters
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in parameters:
                near = meant_keyword(keyword.arg, parameters)
                listed = signature_text(signature)
                place = self.source.name_span(keyword)
                fix = (Edit(place, near),) if near else ()
                help = did_you_mean(near and f"{near}=", f"write `{written}{listed}`")
                message = f"`{written}` has no parameter `{keyword.arg}`"
                return self.report(Diagnostic("RX0103", message, place, help=help, fix=fix))
        takes = [p for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        needed = [p.name for p in takes if p.default is p.empty]
        missing = [name for name in needed[len(node.args) :] if name not in kwargs]
        if missing:
            names = " and ".join(f"`{name}`" for name in missing)
            return self.error(node, "RX0103", f"`{written}` needs {names}",
                              help=f"write `{written}{signature_text(signature)}`")  # fmt: skip
        count = "no arguments" if not takes else counted(len(takes), "argument")
        at = node.args[len(takes)] if len(node.args) > len(takes) else node
        return self.error(at, "RX0103", f"`{written}` takes {count}, {given(node.args)}",
                          help=f"write `{written}{signature_text(signature)}`")  # fmt: skip

    def call_function(self, callee: GlobalVar, node: ast.Call) -> PrimExpr:
        """A call of another PrimFunc of the module; buffers are passed by their address."""
        args, kwargs = self.arguments(node)
        if kwargs:
            raise self.error(
                node.keywords[0], "RX0103", "arguments of PrimFuncs are given by position",
                help="give the arguments in the order of the parameters",
                edits=by_position(self.source, self.sibling(callee.name_hint), node),
            )  # fmt: skip
        sibling = self.sibling(callee.name_hint)
        takes = None if sibling is None else len(sibling.args.posonlyargs) + len(sibling.args.args)
        if takes is not None and takes != len(args):
            raise self.error(
                node, "RX0103",
                f"`{self.written(node.func)}` takes {counted(takes, 'argument')}, {given(args)}",
            )  # fmt: skip
        places = node.args if len(node.args) == len(args) else [node] * len(args)
        operands = tuple(
            self.data_of(v, at) if isinstance(v, Buffer) else self.scalar(v, at)
            for v, at in zip(args, places)
        )
        dtype = self.result_dtype(sibling)
        return prim.Call.make(dtype, callee, operands, span=self.span(node))

    def sibling(self, name: str) -> ast.FunctionDef | None:
        """The definition of another function of the module, where it stands in the same class."""
        return None

    def result_dtype(self, definition: ast.FunctionDef | None) -> DataType:
        """What a function says that it returns; "void" where it says nothing."""
        returns = None if definition is None else definition.returns
        if returns is None or (isinstance(returns, ast.Constant) and returns.value is None):
            return DataType("void")
        value = self.value(returns)
        return value.dtype if isinstance(value, ScalarType) else DataType("void")

    def call_builtin(self, callee: Any, rule: Any, node: ast.Call) -> Any:
        """Python's own functions on scalars; on Python values they are Python's."""
        args, kwargs = self.arguments(node)
        if callee in OF_ITEMS and len(args) == 1 and isinstance(args[0], (list, tuple)):
            args = list(args[0])
            if not any(isinstance(v, Node) for v in args):
                args = [args]
        if not any(isinstance(v, Node) for v in args):
            with self.at(node):
                return callee(*args, **kwargs)
        if any(isinstance(v, (Buffer, BufferRegion)) for v in args):
            args = [self.operand(v, at) for v, at in zip(args, node.args)]
        return self.guarded(rule, args, kwargs, node)

    def check_python_arguments(self, callee: Any, name: str, node: ast.Call) -> None:
        """Python's own functions know neither buffers nor what is known only later."""
        if callee is builtins.isinstance or callee is builtins.type:
            return
        args, _ = self.arguments(node)
        for value, at in zip(args, node.args):
            if isinstance(value, (Buffer, BufferRegion)):
                what = "a buffer" if isinstance(value, Buffer) else "a region of a buffer"
                instead = OF_BUFFERS.get(name) if isinstance(value, Buffer) else None
                meant = instead.format(self.written(at)) if instead else None
                raise self.error(
                    node, "RX0501", f"`{name}` computes with Python values now, and "
                    f"`{self.written(at)}` is {what}", help=f"write `{meant}`" if meant else None,
                    fix=meant if len(node.args) == 1 else None,
                )  # fmt: skip
            if callee is builtins.print and isinstance(value, Node):
                raise self.error(
                    node, "RX0501", "`print` would print now, while the program is read",
                    help="store the value into a buffer, and print that after the call",
                )  # fmt: skip

    def call_python(self, callee: Any, node: ast.Call) -> Any:
        name = getattr(callee, "__name__", "")
        home = getattr(callee, "__module__", None) or getattr(type(callee), "__module__", "")
        if str(home).partition(".")[0] in ("math", "numpy"):
            args, _ = self.arguments(node)
            if any(isinstance(v, Node) for v in args):
                written = self.written(node.func)
                ours = OF_NUMPY.get(name, name)
                instead = f"T.{ours}" if ours in FUNCTIONS else None
                raise self.error(
                    node.func, "RX0501", f"`{written}` computes with Python numbers only",
                    help=f"write `{instead}`" if instead else None, fix=instead,
                )  # fmt: skip
        if home == "builtins":
            self.check_python_arguments(callee, name, node)
        return super().call_python(callee, node)


# What numpy calls functions of ours.
OF_NUMPY = {"absolute": "abs", "arccos": "acos", "arcsin": "asin", "arctan": "atan",
            "arctan2": "atan2", "floor_divide": "floordiv", "invert": "bitwise_not",
            "left_shift": "shift_left", "maximum": "max", "minimum": "min", "mod": "floormod",
            "power": "pow", "right_shift": "shift_right", "rint": "nearbyint"}  # fmt: skip
OF_BUFFERS = {"len": "{}.shape[0]", "list": "[{}[i] for i in range(n)]"}


def typed_first(callee: Any, node: ast.Call) -> ast.Call:
    """The call of an intrinsic with its data type as the first argument, also where it is named."""
    row = INTRINSICS.get(f"tir.{getattr(callee, '__name__', '')}")
    if row is None or not row.is_typed or row.name in TYPED_LAST:
        return node
    dtype = [k.value for k in node.keywords if k.arg == "dtype"]
    if not dtype:
        return node
    others = [k for k in node.keywords if k.arg != "dtype"]
    moved = ast.Call(func=node.func, args=[*dtype, *node.args], keywords=others)
    return ast.copy_location(moved, node)


def given(args: Sequence[Any]) -> str:
    """`1 is given`, `2 are given`."""
    return f"{len(args)} {'is' if len(args) == 1 else 'are'} given"


def signature_text(signature: inspect.Signature) -> str:
    """`(start, stop=None)`: a signature without its annotations; of a long one the beginning."""
    if len(signature.parameters) > 6:
        needed = [n for n, p in signature.parameters.items() if p.default is p.empty]
        return f"({', '.join(needed)}, ...)"
    # What may be given by keyword only, and is left out, is nothing to type.
    plain = [
        p.replace(annotation=p.empty) for p in signature.parameters.values()
        if p.kind is not p.KEYWORD_ONLY or p.default is p.empty
    ]  # fmt: skip
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


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


def _sum(*values: PrimExpr) -> PrimExpr:
    """`sum([x, y])`."""
    return reduce(operator.add, values)


def _all(*values: PrimExpr) -> PrimExpr:
    """`all([a < b, b < c])`."""
    return reduce(prim.And, values)


def _any(*values: PrimExpr) -> PrimExpr:
    """`any([a < b, b < c])`."""
    return reduce(prim.Or, values)


PYTHON_RANGE = _range
# Functions of the items of one sequence.
OF_ITEMS = (builtins.min, builtins.max, builtins.sum, builtins.all, builtins.any)

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
    id(builtins.sum): _sum,
    id(builtins.all): _all,
    id(builtins.any): _any,
}
