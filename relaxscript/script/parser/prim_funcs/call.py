"""Calls and attributes in PrimFuncs: the functions of `T`, of the module, and Python's own.

    call      = "T." name "(" arguments ")" | module "." function "(" arguments ")"
    attribute = buffer "." name | scalar ".dtype" | scalar ".astype"

Python's functions (`min`, `max`, `sum`, `all`, `any`, `abs`, `int`, `float`, `bool`, `pow`,
`round`, `range`) mean what a reader expects of them. What a function of ours refuses is blamed on
the argument.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import (
    DiagnosticError,
    Edit,
    UnplacedError,
    did_you_mean,
    quantity,
    unplaced_error,
)
from relaxscript.ir import prim
from relaxscript.ir.device_functions import TYPED_LAST
from relaxscript.ir.field_types import FieldError
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.prim import PrimExpr, const
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.scalar_functions import FUNCTIONS, packed_operand
from relaxscript.ir.tir import Buffer, BufferRegion
from relaxscript.op import CompositeOp, Operator
from relaxscript.opdef.aliases import nearest_dtype
from relaxscript.script.names import tir_axis, tir_compute, tir_dtypes, tir_nodes, tir_statements
from relaxscript.script.names.syntax import TIR_INT_DTYPE
from relaxscript.script.names.tir_types import PythonForm, ScalarType, StmtForm
from relaxscript.script.parser.argument_errors import bind_arguments
from relaxscript.script.parser.captured_functions import macro_of_module
from relaxscript.script.parser.diagnostics import Failed, with_user_names
from relaxscript.script.parser.expression import parse_expr, python_attribute
from relaxscript.script.parser.fixits import by_position
from relaxscript.script.parser.module_context import ModuleName
from relaxscript.script.parser.python_call import parse_arguments
from relaxscript.script.parser.suggestions import member_named, namespace_member
from relaxscript.tir_builder import describe

from .context import TirContext
from .scalar import indices_in_list, to_scalar

__all__ = [
    "METHODS",
    "OURS",
    "Places",
    "argument_nodes",
    "attribute_of_value",
    "call_function",
    "call_guarded",
    "call_ours",
    "check_indices",
    "refuse_call",
    "refuse_operand",
    "refuse_relax",
    "to_operand",
    "vload",
    "vstore",
    "with_place",
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
    *(id(getattr(tir_statements, n)) for n in tir_statements.__all__),
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


def vstore(self: Buffer, begin: Any, value: Any, predicate: PrimExpr | None = None) -> StmtForm:
    """`A.vstore([i], value)`: a store with a predicate for each lane."""
    return PythonForm(vstore, buffer=self, indices=begin, value=value, predicate=predicate)


METHODS = (Buffer.access_ptr, Buffer.offset_of, astype, vload, vstore)


class Places(dict[str, ast.expr]):
    """The syntax of the arguments of a call by name; the whole call for any other name."""

    def __init__(self, node: ast.expr) -> None:
        self.node = node

    def __missing__(self, name: str) -> ast.expr:
        return self.node


def attribute_of_value(cx: TirContext, owner: Any, node: ast.Attribute) -> Any:
    match owner:
        case Buffer():
            return buffer_attribute(cx, owner, node)
        case PrimExpr():
            return scalar_attribute(cx, owner, node)
        case _ if owner is ModuleName or isinstance(owner, ModuleName):
            return function_of_module(cx, node)
    if owner is tir_axis:
        return namespace_member(cx, owner, node)
    if owner is tir_compute.CallEffectKind:
        return kind_of_effect(cx, node)
    if isinstance(owner, ModuleType) and node.attr in OTHER_DEVICES:
        raise cx.error(
            node, "RX0505", f"`{cx.written(node)}` belongs to the threads of a GPU",
            help="on a CPU write `T.parallel(...)`",
        )  # fmt: skip
    return python_attribute(cx, owner, node)


def refuse_attribute(
    cx: TirContext, node: ast.Attribute, owner: str, known: Iterable[str],
    otherwise: str | None = None, kind: str = "",
) -> Failed:  # fmt: skip
    """Record an attribute that its owner does not have, with the nearest of those it has."""
    near = cx.near(node.attr, known)
    meant = near and f"{cx.written(node.value)}.{near}"
    return cx.error(
        node, "RX0102", f"{owner} has no {kind}`{node.attr}`", help=did_you_mean(meant, otherwise),
        fix=meant,
    )  # fmt: skip


def kind_of_effect(cx: TirContext, node: ast.Attribute) -> int:
    """`T.CallEffectKind.Pure`."""
    kinds = tir_compute.CallEffectKind.__members__
    if node.attr in kinds:
        return int(kinds[node.attr])
    raise refuse_attribute(
        cx, node, f"`{cx.written(node.value)}`", kinds, f"it has {', '.join(kinds)}"
    )


def function_of_module(cx: TirContext, node: ast.Attribute) -> Any:
    """A function or a macro of the module, by its name."""
    macro = macro_of_module(cx.module, node.attr)
    if macro is not None:
        return macro
    known = cx.global_vars or {}
    if node.attr in known:
        return known[node.attr]
    raise refuse_attribute(cx, node, "the module", known, kind="function ")


def buffer_attribute(cx: TirContext, buffer: Buffer, node: ast.Attribute) -> Any:
    if node.attr == "data":
        return buffer.data
    for method in (Buffer.offset_of, vload, vstore):
        if node.attr == method.__name__:
            return partial(method, buffer)
    if node.attr in ("READ", "WRITE"):
        return getattr(Buffer, node.attr)
    if node.attr == "access_ptr":
        return partial(Buffer.access_ptr, buffer)
    if node.attr in BUFFER_ATTRIBUTES:
        return getattr(buffer, node.attr)
    raise refuse_attribute(cx, node, "a buffer", BUFFER_ATTRIBUTES, "a loop goes over its elements")


def scalar_attribute(cx: TirContext, e: PrimExpr, node: ast.Attribute) -> Any:
    match node.attr:
        case "dtype":
            return e.dtype
        case "astype":
            return partial(astype, e)
        case "name" if isinstance(e, prim.Var):
            return e.name
    raise cx.error(
        node, "RX0102", f"a scalar has no `{node.attr}`",
        help='it has `.dtype` and `.astype("float32")`',
    )  # fmt: skip


def refuse_relax(cx: TirContext, callee: Operator | CompositeOp, node: ast.Call) -> Failed:
    """Record a call of `R.`, which is of tensors, with the scalar function of its name."""
    written = cx.written(node.func)
    same = member_named(cx, ast.Name(written.rpartition(".")[2]))
    meant = same if same is not None and same.startswith("T.") else None
    return cx.error(
        node.func, "RX0501", f"`{written}` computes with tensors, and a PrimFunc with scalars",
        help=f"write `{meant}`" if meant else None, fix=meant,
    )  # fmt: skip


def refuse_call(cx: TirContext, callee: Any, node: ast.Call) -> Failed:
    """Record that something is no function; elements of buffers are in brackets."""
    span = cx.span(node)
    if not isinstance(callee, Buffer) or not node.args or node.keywords or span is None:
        return cx.error(node.func, "RX0103", f"{describe(callee)} cannot be called")
    element = f"{cx.written(node.func)}[{', '.join(cx.written(a) for a in node.args)}]"
    return cx.error(
        node.func, "RX0103", f"{describe(callee)} cannot be called",
        help=f"elements are written in brackets: `{element}`", edits=[Edit(span, element)],
    )  # fmt: skip


def places_of_operands(args: Sequence[Any], node: ast.Call) -> Sequence[ast.expr]:
    """The syntax of each argument; where some were unpacked, all of the call."""
    return node.args if len(node.args) == len(args) else [node] * len(args)


def call_ours(cx: TirContext, callee: Any, node: ast.Call) -> Any:
    node = typed_first(callee, node)
    args, kwargs = parse_arguments(cx, node)
    places = places_of_operands(args, node)
    if callee in PACKED_CALLS:
        args = list(map(packed_operand, args))
    if id(callee) in SCALAR_FUNCTIONS or isinstance(callee, ScalarType):
        args = [to_operand(cx, v, at) for v, at in zip(args, places)]
    if callee is tir_nodes.BufferLoad and args and isinstance(args[0], Buffer):
        check_indices(cx, args[0], args[1:], node.args[1:])
    if callee is FUNCTIONS["address_of"]:
        args = [first_element(cx, v) for v in args]
    return call_guarded(cx, callee, args, kwargs, node)


def check_indices(cx: TirContext, buffer: Buffer, given: list[Any], nodes: list[ast.expr]) -> None:
    """The first argument of these has the indices of an element: integers, one a dimension."""
    if given and nodes and not isinstance(nodes[0], ast.Starred):
        indices_in_list(cx, buffer, given[0], nodes[0])


def first_element(cx: TirContext, value: Any) -> Any:
    """The address of a buffer is that of its first element."""
    if not isinstance(value, Buffer):
        return value
    zeros = tuple(const(0, TIR_INT_DTYPE) for _ in value.shape)
    return prim.BufferLoad.make(value, zeros)


def to_operand(cx: TirContext, value: Any, node: ast.AST) -> Any:
    """An operand of a scalar function: buffers are refused here, regions become vectors."""
    if isinstance(value, (Buffer, BufferRegion)) or (
        isinstance(value, prim.Var) and not value.name
    ):
        return to_scalar(cx, value, node)
    if isinstance(value, (list, tuple)):
        nodes = getattr(node, "elts", [])
        places = nodes if len(nodes) == len(value) else [node] * len(value)
        return [to_operand(cx, v, at) for v, at in zip(value, places)]
    return value


def call_guarded(
    cx: TirContext, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call
) -> Any:
    """Call a function of ours; what it refuses is blamed on the argument."""
    try:
        result = callee(*args, **kwargs)
    except (UnplacedError, DiagnosticError, TypeError, ValueError, AttributeError) as error:
        said = unplaced_error(error)
        if said is None and isinstance(error, (TypeError, ValueError, AttributeError)):
            raise explain_misfit(cx, callee, args, kwargs, node, error) from None
        if said is None:
            raise
        places = argument_nodes(callee, node)
        words = {n: at for n, at in places.items() if not isinstance(at, ast.Constant)}
        raise refuse_operand(cx, said, cx.written(node.func), node, places, words) from None
    return with_place(cx, result, node)


def refuse_operand(
    cx: TirContext, said: UnplacedError, callee: str, node: ast.AST,
    places: Mapping[str, ast.AST], words: Mapping[str, ast.AST],
) -> Failed:  # fmt: skip
    """Record what a function of ours says of its parameters, which the user writes as `words`."""
    spans = {name: cx.span(at) for name, at in places.items()}
    diagnostic = said.diagnostic(callee, cx.span(node), spans)
    return cx.report(
        with_user_names(diagnostic, {name: cx.written(at) for name, at in words.items()})
    )


def with_place(cx: TirContext, result: Any, node: ast.AST) -> Any:
    """A call of an intrinsic with its place."""
    if type(result) is prim.Call and result.span is None:
        return prim.Call.make(result.dtype, result.op, result.args, span=cx.span(node))
    return result


def argument_nodes(callee: Any, node: ast.Call) -> Places:
    """The syntax of the argument of each parameter; those of `*rest` are `rest[0]`, ..."""
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


def explain_misfit(
    cx: TirContext, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call,
    error: Exception,
) -> Failed:  # fmt: skip
    """Record why a call of ours cannot be: its arguments, or what they are."""
    written = cx.written(node.func)
    bound = bind_arguments(cx, inspect.signature(callee), node, args, kwargs, brief=True)
    places = argument_nodes(callee, node)
    for name, value in bound.items():
        if name != "dtype" or (value is None and name not in places):
            continue
        if not is_dtype(value) and not isinstance(value, ScalarType):
            near = nearest_dtype(str(value), tir_dtypes.__all__)
            return cx.error(
                places[name], "RX0502", f'"{value}" is not a dtype',
                help=did_you_mean(near, 'write for example `"float32"`', '"'),
                fix=f'"{near}"' if near else None,
            )  # fmt: skip
    why = reason(error)
    if isinstance(error, FieldError) and not hasattr(error.given, "__told__"):
        kind = type(error.given).__name__
        message = f"`{written}` cannot take a Python {kind} as its `{error.field}`"
        return cx.error(places[error.field], "RX0502", message)
    at = next(iter(places.values())) if len(places) == 1 else node
    return cx.error(at, "RX0502", f"`{written}` cannot take this: {why}")


def call_function(cx: TirContext, callee: GlobalVar, node: ast.Call) -> PrimExpr:
    """A call of another PrimFunc of the module; buffers are passed by their address."""
    args, kwargs = parse_arguments(cx, node)
    if kwargs:
        raise cx.error(
            node.keywords[0], "RX0103", "arguments of PrimFuncs are given by position",
            help="give the arguments in the order of the parameters",
            edits=by_position(cx.source, cx.module.definitions.get(callee.name_hint), node),
        )  # fmt: skip
    sibling = cx.module.definitions.get(callee.name_hint)
    takes = None if sibling is None else len(sibling.args.posonlyargs) + len(sibling.args.args)
    if takes is not None and takes != len(args):
        raise cx.error(
            node, "RX0103",
            f"`{cx.written(node.func)}` takes {quantity(takes, 'argument')}, not {len(args)}",
        )  # fmt: skip
    operands = tuple(
        v.data if isinstance(v, Buffer) else to_scalar(cx, v, at)
        for v, at in zip(args, places_of_operands(args, node))
    )
    dtype = result_dtype(cx, sibling)
    return prim.Call.make(dtype, callee, operands, span=cx.span(node))


def result_dtype(cx: TirContext, definition: ast.FunctionDef | None) -> DataType:
    """The dtype that a function declares for its result; "void" where it declares none."""
    returns = None if definition is None else definition.returns
    if returns is None or (isinstance(returns, ast.Constant) and returns.value is None):
        return DataType("void")
    value = parse_expr(cx, returns)
    return value.dtype if isinstance(value, ScalarType) else DataType("void")


def typed_first(callee: Any, node: ast.Call) -> ast.Call:
    """The call of an intrinsic with its dtype as the first argument, also where it is named."""
    row = INTRINSICS.get(f"tir.{getattr(callee, '__name__', '')}")
    if row is None or not row.is_typed or row.name in TYPED_LAST:
        return node
    dtype = [k.value for k in node.keywords if k.arg == "dtype"]
    if not dtype:
        return node
    others = [k for k in node.keywords if k.arg != "dtype"]
    moved = ast.Call(func=node.func, args=[*dtype, *node.args], keywords=others)
    return ast.copy_location(moved, node)
