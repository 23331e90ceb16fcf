"""Parts of PrimFuncs for tensor expressions and GPUs: reducers, index maps, axes, launches.

    "T.comm_reducer(" lambda "," identities ")" | "T.index_map(" lambda ... ")"
    | "T.Reduce(" reducer "," values "," axes "," condition "," index ")"
    | name "=" "T.launch_thread(" thread "," extent ")" | name "=" "T.env_thread(" tag ")"
    | "T.realize(" region "," scope ")"

The function of a reducer or of an index map is a `lambda`, or a function of Python. It is called
with the variables.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.errors import quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.tir import Buffer, IterVar
from relaxscript.ir.tir_compute import IndexMap, parameters_of
from relaxscript.script.names import tir_compute
from relaxscript.script.names.syntax import TIR_INT_DTYPE
from relaxscript.script.names.tir_types import StmtForm
from relaxscript.script.names.tir_values import builder_argument
from relaxscript.script.parser.argument_errors import bind_arguments
from relaxscript.script.parser.compile_time import ScriptLambda
from relaxscript.script.parser.expression import parse_expr
from relaxscript.script.parser.python_call import parse_arguments
from relaxscript.tir_builder import describe

from .buffer import parse_dtype
from .call import Places, argument_nodes, call_guarded
from .context import TirContext
from .scalar import make_number, to_condition, to_scalar
from .table_statement import add_table_statement

__all__ = [
    "add_realize",
    "make_iter_var",
    "parse_comm_reducer",
    "parse_index_map",
    "parse_reduction",
]


def function_over(cx: TirContext, node: ast.expr, what: str, example: str) -> Callable[..., Any]:
    """The function of a reducer or of an index map, called with variables while parsing."""
    function = parse_expr(cx, node)
    if isinstance(function, ScriptLambda):
        if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in function.taken.parameters.values()):
            message, help = "a `lambda` has plain parameters only here", "define a function outside"
            raise cx.error(node, "RX0104", message, help=help)
        return scalars_of(cx, function, what)
    if not callable(function) or isinstance(function, prim.PrimExpr):
        message = f"{what} is a function, this is {describe(function)}"
        raise cx.error(node, "RX0103", message, help=f"write for example `{example}`")
    if cx.environment.mode == "data":
        message = f"`{cx.written(node)}` is not called in data mode"
        raise cx.error(node, "RX0104", message, help="write a `lambda`")
    return function  # type: ignore[no-any-return]


def scalars_of(cx: TirContext, function: ScriptLambda, what: str) -> Callable[..., Any]:
    """A `lambda` of the script as a function that gives scalars."""
    body = function.node.body

    def call(*variables: prim.Var) -> Any:
        cx.fixed.update(dict.fromkeys(variables, f"a parameter of {what}"))
        values = as_results(function(*variables))
        nodes = getattr(body, "elts", [body] * len(values))
        return tuple(v if type(v) is int else to_scalar(cx, v, at) for v, at in zip(values, nodes))

    vars(call)["parameters"] = function.names
    return call


def as_results(value: Any) -> Sequence[Any]:
    """The results of a function, which gives one or a tuple of them."""
    return value if isinstance(value, (tuple, list)) else (value,)


def parameter_names(cx: TirContext, function: Any, node: ast.expr) -> list[str]:
    found = getattr(function, "parameters", None)
    if isinstance(found, list):
        return found
    try:
        return parameters_of(function)
    except (TypeError, ValueError):
        raise cx.error(
            node, "RX0103", f"the parameters of `{cx.written(node)}` are not known",
            help="write a `lambda`",
        ) from None  # fmt: skip


def places_of_arguments(cx: TirContext, callee: Any, node: ast.Call) -> Places:
    """The places of the arguments; a call with the wrong ones is refused."""
    kwargs = {k.arg: k.value for k in node.keywords if k.arg is not None}
    bind_arguments(cx, inspect.signature(callee), node, node.args, kwargs, brief=True)
    return argument_nodes(callee, node)


def parse_comm_reducer(cx: TirContext, node: ast.Call) -> Any:
    """`T.comm_reducer(lambda x, y: x + y, [T.float32(0)])`."""
    places = places_of_arguments(cx, tir_compute.comm_reducer, node)
    at, combiner = places["identity"], places["combiner"]
    identity = [to_scalar(cx, v, at) for v in as_results(parse_expr(cx, at))]
    what = "the combiner of a reduction"
    function = function_over(cx, combiner, what, "lambda x, y: x + y")
    names = parameter_names(cx, function, combiner)
    count = len(identity)
    if len(names) != 2 * count:
        given = quantity(count, "identity", "identities")
        message = f"{given} needs a function of {2 * count} parameters, not {len(names)}"
        raise cx.error(combiner, "RX0103", message, labels=[(at, given)])
    dtypes = [e.dtype for e in identity] * 2
    span = cx.span(node)
    made = [prim.Var.make(n, d, span=span) for n, d in zip(names, dtypes)]
    result = results_of(cx, function, made, combiner)
    for e, dtype in zip(result, dtypes):
        if e.dtype is not dtype:
            message = f"the combiner gives {e.dtype}, not {dtype}"
            raise cx.error(combiner, "RX0502", message, labels=[(at, f"is {dtype}")])
    if len(result) != count:
        message = f"the combiner gives {quantity(len(result), 'value')}, not {count}"
        raise cx.error(combiner, "RX0103", message)
    return tir_compute.CommReducer(made[:count], made[count:], result, identity).replace(span=span)


def results_of(
    cx: TirContext, function: Callable[..., Any], variables: Sequence[prim.Var], node: ast.expr
) -> list[PrimExpr]:
    """The results of a function for variables, as scalars."""
    with cx.at(node):
        values = as_results(function(*variables))
    dtype = variables[0].dtype if variables else TIR_INT_DTYPE
    return [
        make_number(cx, v, dtype, node)
        if type(v) is int and dtype.is_integer
        else to_scalar(cx, v, node)
        for v in values
    ]


def parse_index_map(cx: TirContext, node: ast.Call) -> IndexMap:
    """`T.index_map(lambda i, j: (i // 16, j, i % 16))`."""
    places = places_of_arguments(cx, tir_compute.index_map, node)
    dtype = parse_dtype(cx, places["index_dtype"]) if "index_dtype" in places else prim.INT64
    inverse = None
    at = places.get("inverse_index_map")
    if at is not None and not (isinstance(at, ast.Constant) and at.value is None):
        known = None if isinstance(at, ast.Lambda) else parse_expr(cx, at)
        inverse = known if isinstance(known, IndexMap) else parse_mapping_function(cx, at, dtype)
    made = parse_mapping_function(cx, places["mapping"], dtype).replace(span=cx.span(node))
    return made if inverse is None else made.replace(inverse_index_map=inverse)


def parse_mapping_function(cx: TirContext, node: ast.expr, dtype: Any) -> IndexMap:
    function = function_over(cx, node, "an index map", "lambda i, j: (j, i)")
    names = parameter_names(cx, function, node)
    made = tuple(prim.Var.make(n, dtype, span=cx.span(node)) for n in names)
    finals = results_of(cx, function, made, node)
    for e in finals:
        if not e.dtype.is_integer:
            raise cx.error(node, "RX0502", f"an index is an integer, this gives {e.dtype}")
    return IndexMap.make(made, tuple(finals), None, span=cx.span(node))


def parse_reduction(cx: TirContext, node: ast.Call) -> Any:
    """`T.Reduce(combiner, [value], [axis], condition, index)`."""
    places = places_of_arguments(cx, tir_compute.Reduce, node)
    args, kwargs = parse_arguments(cx, node)
    given = {**dict(zip(inspect.signature(tir_compute.Reduce).parameters, args)), **kwargs}
    for name in ("src", "rdom", "init"):
        values = given.get(name)
        if values is not None and not isinstance(values, (list, tuple)):
            instead = f"[{cx.written(places[name])}]"
            raise cx.error(places[name], "RX0103", f"`{name}` is a list",
                           help=f"write `{instead}`", fix=instead)  # fmt: skip
        rule = make_iter_var if name == "rdom" else to_scalar
        given[name] = [rule(cx, v, places[name]) for v in values or ()]
    given["condition"] = to_condition(cx, given["condition"], places["condition"])
    return call_guarded(cx, tir_compute.Reduce, [], given, node).replace(span=cx.span(node))


def make_iter_var(cx: TirContext, value: Any, node: ast.AST) -> IterVar:
    """`T.iter_var(k, T.Range(0, 8), "CommReduce", "")`."""
    if isinstance(value, StmtForm) and value.maker is tir_compute.iter_var:
        with cx.builder_at(node) as builder:
            value = builder_argument("axis", value).replace(span=builder.span)
    if isinstance(value, IterVar):
        return value
    raise cx.error(
        node, "RX0501", f"an axis is needed here, this is {describe(value)}",
        help='write `T.iter_var(k, T.Range(0, 8), "CommReduce", "")`',
    )  # fmt: skip


def add_realize(cx: TirContext, form: StmtForm, call: ast.Call) -> None:
    """The region of a buffer that exists while the statements after it run."""
    add_table_statement(cx, form, call)
    part = form.arguments["buffer_slice"]
    cx.homeless.pop(part if isinstance(part, Buffer) else part.buffer, None)
    cx.realized[cx.builder.items[-1]] = call
