"""Calls of Relax: operators, functions of the module, closures, and the forms that mean calls.

    call       = operator "(" arguments ")" | function "(" operands ")" | form "(" arguments ")"
    function   = "cls" "." name | local function | extern function

Start reading at `operator_call`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from relaxscript.analysis.derive import check_argument_count
from relaxscript.errors import OperandError, Span, did_you_mean
from relaxscript.ir.field_types import FieldError
from relaxscript.ir.prim import PrimExpr, Var as PrimVar
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.relax import (
    Call,
    DataflowVar,
    Expr,
    GlobalVar,
    LeafExpr,
    ShapeExpr,
    Tuple,
    Var,
)
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo
from relaxscript.op import ArgumentError, CompositeOp, Operator, Parameter
from relaxscript.op.calls import call_packed, call_pure_packed
from relaxscript.opdef.parameters import SYNONYMS, convert_attribute
from relaxscript.script.names import relax_forms
from relaxscript.script.names.relax_forms import MatchCastValue
from relaxscript.script.parser.annotation import (
    annotation_argument,
    known_vdevice,
    parse_annotation,
)
from relaxscript.script.parser.argument_errors import argument_error
from relaxscript.script.parser.device_mesh import known_mesh
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed, Failures, PartlyFailed
from relaxscript.script.parser.dimensions import plain
from relaxscript.script.parser.expression import parse_expr, parse_iterable
from relaxscript.script.parser.fixits import by_position, gather, leave_out_argument
from relaxscript.script.parser.python_call import parse_keywords, without_parentheses
from relaxscript.sinfo import definable_shape_vars, free_shape_vars

from .context import RelaxContext
from .dimension import as_dimension, check_bound_here, parse_dimensions
from .expression import as_leaf, bind_cast, expr_of, mentions, operator_as_value
from .legacy_forms import annotate_packed_call, is_destination_passing, modernize, of_known_shape
from .operand_errors import is_prim_func, operand_error
from .python_function import call_of_python

__all__ = [
    "argument",
    "call_operands",
    "check_dimensions_bound",
    "composite_call",
    "function_call",
    "keyword_values",
    "match_cast_call",
    "operator_call",
    "shape_call",
    "with_places",
]  # fmt: skip


class OperatorCall(NamedTuple):
    """A call of an operator as it is written, with the values of its arguments."""

    operator: Operator | CompositeOp
    node: ast.Call
    args: list[Any]
    kwargs: dict[str, Any]


def match_cast_call(cx: RelaxContext, node: ast.Call) -> MatchCastValue:
    """`R.match_cast(value, annotation)`: dimensions that are alone get a value here."""
    given = dict(zip(("value", "struct_info"), node.args))
    given.update({SYNONYMS.get(k.arg, k.arg): k.value for k in node.keywords if k.arg})
    if set(given) != {"value", "struct_info"} or len(node.args) + len(node.keywords) != 2:
        raise cx.error(
            node, "RX0103", "`R.match_cast` takes a value and an annotation",
            help='write `R.match_cast(x, R.Tensor((n, 4), "float32"))`',
        )  # fmt: skip
    value, failures = None, Failures()
    with failures:
        value = parse_expr(cx, given["value"])
        if isinstance(value, Expr):
            value = as_leaf(cx, value, given["value"])
    annotation = given["struct_info"]
    with cx.unbound_dimensions():
        info = parse_annotation(cx, annotation)
    check_dimensions_bound(cx, info, annotation, set(definable_shape_vars(info)))
    failures.settle()
    return MatchCastValue(value, info)


def check_dimensions_bound(
    cx: RelaxContext, info: StructInfo, annotation: ast.expr, known: set[PrimVar]
) -> None:
    """Refuse dimensions in an annotation that have no value, but for those in `known`."""
    for var in free_shape_vars(info):
        if var not in known and not cx.is_bound(var):
            place = next((n for n in ast.walk(annotation) if mentions(n, var.name)), annotation)
            check_bound_here(cx, var, place)  # type: ignore[arg-type]


def shape_call(cx: RelaxContext, node: ast.Call) -> Any:
    """`R.shape([n, 4])`: the elements are dimensions."""
    match node:
        case ast.Call(args=[ast.List(elts=dims) | ast.Tuple(elts=dims)], keywords=[]):
            return ShapeExpr.make(tuple(parse_dimensions(cx, dims)), span=cx.source.span(node))
    return call_of_python(cx, relax_forms.shape, node)


def operator_call(cx: RelaxContext, operator: Operator, node: ast.Call) -> Any:
    """`R.add(x, y)`: the common case, operands only, is built without ceremony."""
    nodes = node.args
    arity = operator.fast_arity
    if arity != len(nodes) or node.keywords:
        return general_call(cx, operator, node)
    args = named_variables(cx, nodes)
    if args is None:
        args = call_operands(cx, nodes)
        plain = len(args) == arity and all(isinstance(arg, Expr) for arg in args)
        if not plain or any(type(arg) is Tuple for arg in args):
            return build_call(cx, OperatorCall(operator, node, args, {}))
    span_of = cx.source.span
    spans = tuple(map(span_of, nodes))
    return Call.make(
        operator.op, tuple(args), operator.default_attrs, (), spans, span=span_of(node)
    )


def named_variables(cx: RelaxContext, nodes: list[ast.expr]) -> list[Any] | None:
    """The operands where each is the name of a variable, as in most calls; else None."""
    if cx.inside_string is not None:
        return None
    names, found = cx.names, []
    for node in nodes:
        if node.__class__ is not ast.Name:
            return None
        value = names.get(node.id)
        kind = value.__class__
        if kind is not DataflowVar and kind is not Var:
            return None
        found.append(value)
    return found


def call_operands(cx: RelaxContext, nodes: list[ast.expr]) -> list[Any]:
    """Positional operands; nested calls are bound in order, mistakes in all are reported."""
    found: list[Any] = []
    failed = uncounted = False
    for node in nodes:
        try:
            if type(node) is ast.Starred:
                found.extend(parse_iterable(cx, node.value))
                continue
            value = parse_expr(cx, node)
            if isinstance(value, Expr) and not isinstance(value, LeafExpr):
                value = as_leaf(cx, value, node)
            elif isinstance(value, MatchCastValue):
                value = bind_cast(cx, value, node)
            found.append(value)
        except Failed:
            failed = True
            uncounted = uncounted or type(node) is ast.Starred
            found.append(UNKNOWN)
    if failed:
        raise PartlyFailed(None if uncounted else found)
    return found


def general_call(cx: RelaxContext, operator: Operator | CompositeOp, node: ast.Call) -> Any:
    operator, node = modernize(cx, operator, node)
    failed: Failed | None = None
    args: list[Any] | None = []
    kwargs: dict[str, Any] = {}
    try:
        args = call_operands(cx, node.args)
    except PartlyFailed as failure:
        failed, args = failure, failure.values
    for keyword in node.keywords:
        try:
            kwargs.update(keyword_values(cx, keyword))
        except Failed as failure:
            failed = failure
            if keyword.arg is None:
                args = None
            else:
                kwargs[keyword.arg] = UNKNOWN
    if failed is None and args is not None:
        return build_call(cx, OperatorCall(operator, node, args, kwargs))
    if args is not None:
        blame_arguments(cx, OperatorCall(operator, node, args, kwargs))
    raise failed or Failed


def keyword_values(cx: RelaxContext, keyword: ast.keyword) -> dict[str, Any]:
    if keyword.arg is None:
        return dict(parse_keywords(cx, keyword.value))
    name = SYNONYMS.get(keyword.arg, keyword.arg)
    if name in ("out_sinfo", "sinfo_args"):
        return {keyword.arg: annotation_argument(cx, keyword.value)}
    return {keyword.arg: call_operands(cx, [keyword.value])[0]}


def build_call(cx: RelaxContext, made: OperatorCall) -> Any:
    """The call, its mistakes blamed on the arguments that made them."""
    operator, node, args, kwargs = made
    if is_destination_passing(operator):
        args = [of_known_shape(cx, value) for value in args]
        kwargs = {name: of_known_shape(cx, value) for name, value in kwargs.items()}
    for given, place in with_places(cx, args, node):
        if isinstance(given, Operator):
            raise operator_as_value(cx, given, place)
    args = [plain(argument(cx, a, n)) for a, n in with_places(cx, args, node)]
    kwargs = {key: plain(argument(cx, value, node)) for key, value in kwargs.items()}
    made = OperatorCall(operator, node, args, kwargs)
    _find_named(cx, made)
    try:
        call = operator.build(args, kwargs)
    except (OperandError, ArgumentError) as error:
        explain_arguments(cx, made)
        raise blame_arguments(cx, made) or mistaken_call(cx, error, made) from None
    except (TypeError, ValueError) as error:
        # An attribute of a packed function that no attribute can be.
        field = error.field if isinstance(error, FieldError) else None
        at = next((k for k in node.keywords if field is not None and k.arg == field), node)
        raise cx.error(at, "RX0103", reason(error)) from None
    if not isinstance(call, Call):
        return call
    spans: tuple[Span | None, ...] = ()
    if len(call.args) == len(node.args):
        spans = tuple([cx.source.span(n) for n in node.args])
    return call.replace(span=cx.source.span(node), arg_spans=spans)


def blame_arguments(cx: RelaxContext, made: OperatorCall) -> Failed | None:
    """Record every mistake in the arguments that does not follow from an UNKNOWN one."""
    failed: Failed | None = None
    for error in made.operator.mistakes(made.args, made.kwargs, UNKNOWN):
        failed = mistaken_call(cx, error, made)
    return failed


def mistaken_call(
    cx: RelaxContext, error: ArgumentError | OperandError, made: OperatorCall
) -> Failed:
    if isinstance(error, OperandError):
        return operand_error(cx, error, made.node, None, made.operator)
    return argument_error(cx, error, made.node)


def explain_arguments(cx: RelaxContext, made: OperatorCall) -> None:
    """Record that arguments were given one by one where one takes them all, if that is it."""
    operator, node, args, kwargs = made
    for index, count in argument_runs(operator.parameters, args):
        gathered = [*args[:index], tuple(args[index : index + count]), *args[index + count :]]
        try:
            cx.builder.struct_info(operator.build(gathered, kwargs))
        except (OperandError, ArgumentError, TypeError, ValueError):
            continue
        if len(node.args) != len(args):
            return
        edit, written = gather(cx.source, node.args[index : index + count])
        name, callee = operator.parameters[index].name, ast.unparse(node.func)
        said = f"`{callee}` takes `{name}` as one tuple"
        raise cx.error(edit.span, "RX0103", said, help=f"write `{written}`", fix=written)


def _find_named(cx: RelaxContext, made: OperatorCall) -> None:
    """Strings name dimensions, virtual devices and functions: `R.reshape(x, ("n", 4))`."""
    operator, node, args, kwargs = made
    places: dict[Any, ast.expr] = dict(enumerate(node.args))
    places.update({k.arg: k.value for k in node.keywords})
    for position, parameter in enumerate(operator.parameters):
        given: Any = args if position < len(args) else kwargs
        key: Any = position if position < len(args) else parameter.name
        if given is kwargs and key not in kwargs:
            continue
        if parameter.kind == "shape":
            known = given is args and len(node.args) == len(args)
            given[key] = _named_dimensions(cx, given[key], places[key] if known else node)
        elif parameter.annotation == "VirtualDevice":
            given[key] = _vdevice_named(cx, parameter, given[key], places.get(key, node))
        elif parameter.annotation == "Mesh":
            given[key] = known_mesh(cx, given[key], places.get(key, node))
        elif parameter.wants == "function":
            given[key] = _function_named(cx, given[key], places.get(key, node))


def _vdevice_named(cx: RelaxContext, parameter: Parameter, value: Any, node: ast.expr) -> Any:
    try:
        asked = convert_attribute(parameter, value)
    except OperandError:
        return value  # said when the call is built
    return known_vdevice(cx, value, asked, node)


def _function_named(cx: RelaxContext, value: Any, node: ast.expr) -> Any:
    if not isinstance(value, str):
        return value
    known = cx.module.global_vars.get(value)
    if known is None:
        near = cx.near(value, cx.module.global_vars)
        raise cx.error(
            node, "RX0101", f"the module has no function `{value}`",
            help=did_you_mean(near and f'"{near}"'),
            fix=f'"{near}"' if near else None,
        )  # fmt: skip
    if value in cx.module.broken:
        raise Failed
    return known


def _named_dimensions(cx: RelaxContext, shape: Any, node: ast.expr) -> Any:
    if not isinstance(shape, (tuple, list)):
        return shape
    parts: Sequence[ast.expr] = getattr(node, "elts", ())
    parts = parts if len(parts) == len(shape) else [node] * len(shape)
    return [
        as_dimension(cx, d, _place_of(cx, d, at)) if isinstance(d, (str, Expr)) else d
        for d, at in zip(shape, parts)
    ]


def _place_of(cx: RelaxContext, value: Any, call: ast.expr) -> ast.expr:
    """The syntax of a dimension among the arguments of a call."""
    for node in ast.walk(call):
        match node:
            case ast.Name(id=name) if cx.names.get(name) is value:
                return node
            case ast.Constant(value=known) if isinstance(value, str) and known == value:
                return node
    return call


def with_places(cx: RelaxContext, args: list[Any], node: ast.Call) -> list[tuple[Any, ast.expr]]:
    nodes = node.args if len(node.args) == len(args) else [node] * len(args)
    return list(zip(args, nodes))


def argument(cx: RelaxContext, value: Any, node: ast.expr) -> Any:
    """Values inside tuples are bound too; shapes and plain Python values stay as they are."""
    if isinstance(value, Expr) and (type(value) is Tuple or not isinstance(value, LeafExpr)):
        return as_leaf(cx, value, node)
    if isinstance(value, (tuple, list)) and any(isinstance(v, Expr) for v in value):
        return tuple(argument(cx, v, node) for v in value)
    return value


def composite_call(cx: RelaxContext, composite_op: CompositeOp, node: ast.Call) -> Any:
    """A form that stands for several nodes, such as `R.call_packed` or `R.linear`."""
    in_dataflow = cx.older and cx.builder.current_block_is_dataflow()
    if composite_op is call_packed and in_dataflow:
        return general_call(cx, call_pure_packed, annotate_packed_call(cx, node))
    return general_call(cx, composite_op, node)


def function_call(cx: RelaxContext, callee: Expr, node: ast.Call) -> Call:
    """`cls.f(x)`, `g(x)`: a call of a Relax function, PrimFunc, closure or PackedFunc."""
    stray = next((k for k in node.keywords if k.arg != "sinfo_args"), None)
    if stray is not None:
        raise cx.error(
            stray, "RX0103", "a Relax function takes positional arguments only",
            help="give the arguments in the order of the parameters",
            edits=by_position(
                cx.source, cx.module.definitions.get(getattr(callee, "name_hint", "")), node
            ),
        )  # fmt: skip
    check_recursion(cx, callee, node)
    # The callee is evaluated first; what cannot be called is said after its arguments.
    target, uncallable = callee, Failures()
    with uncallable:
        target = as_leaf(cx, callee, node.func)
    try:
        values = call_operands(cx, node.args)
    except PartlyFailed as failure:
        uncallable.settle()
        # A PrimFunc is not called in this way anyway.
        if failure.values is not None and not is_prim_func(cx, getattr(callee, "name_hint", "")):
            check_count(cx, callee_type(cx, callee, node), len(failure.values), node)
        raise
    uncallable.settle()
    args = tuple([as_leaf(cx, expr_of(cx, v, n), n) for v, n in with_places(cx, values, node)])
    spans = tuple([cx.source.span(n) for _, n in with_places(cx, values, node)])
    infos = results_of(cx, callee_type(cx, target, node), node)
    return Call.make(target, args, None, infos, spans, span=cx.source.span(node))


def callee_type(cx: RelaxContext, callee: Expr, node: ast.Call) -> FuncStructInfo:
    """The type of what is called."""
    try:
        info = cx.builder.struct_info(callee)
    except OperandError as error:
        raise operand_error(cx, error, node, None) from None
    if isinstance(info, FuncStructInfo):
        return info
    written = ast.unparse(node.func)
    raise cx.error(
        node.func, "RX0201",
        f"`{written}` is {info.noun}, and only functions can be called",
        **without_parentheses(cx, node),
    )  # fmt: skip


def check_count(cx: RelaxContext, callee: FuncStructInfo, given: int, node: ast.Call) -> None:
    """Refuse more or fewer arguments than a function takes."""
    try:
        check_argument_count(callee, given)
    except OperandError as error:
        raise operand_error(cx, error, node, None) from None


def results_of(cx: RelaxContext, info: FuncStructInfo, node: ast.Call) -> tuple[StructInfo, ...]:
    """The `sinfo_args` of a call: what it says of the results of a PackedFunc."""
    if not node.keywords:
        return ()
    if info.params is not None:
        raise cx.error(
            node.keywords[0], "RX0103", "the results of this function are known",
            help="leave out `sinfo_args`: it describes what a PackedFunc gives",
            edits=[leave_out_argument(cx.source, node, node.keywords[0])],
        )  # fmt: skip
    found = annotation_argument(cx, node.keywords[0].value)
    return tuple(found) if isinstance(found, list) else (found,)


def check_recursion(cx: RelaxContext, callee: Expr, node: ast.Call) -> None:
    """Criterion 7: no call in a dataflow block may lead back to a function it is in."""
    if not (cx.check_well_formed and cx.builder.current_block_is_dataflow()):
        return
    while isinstance(callee, Var):
        # One that is only another name for a function is that function.
        value = cx.builder.lookup_binding(callee)
        if not isinstance(value, (Var, GlobalVar)):
            break
        callee = value
    match callee:
        case GlobalVar(name):
            own = cx.function_name
            recursive = name == own or cx.module.reaches(name, own)
        case _:
            recursive = any(callee is var for var in cx.enclosing)
    if recursive:
        written = ast.unparse(node.func)
        raise cx.error(
            node, "RX0307",
            f"`{written}` is recursive and cannot be called in a dataflow block",
            help="move the call out of the dataflow block",
        )  # fmt: skip


def argument_runs(
    parameters: Sequence[Parameter], args: Sequence[Any]
) -> Iterator[tuple[int, int]]:
    """Runs of arguments that could be meant as one: the first one's index, and their number."""
    for index, parameter in enumerate(parameters):
        if parameter.kind not in ("shape", "tensors") and not parameter.annotation.startswith(
            "Axes"
        ):
            continue
        kind = Expr if parameter.kind == "tensors" else (int, PrimExpr)
        count = next((n for n, a in enumerate(args[index:]) if not isinstance(a, kind)), None)
        many = len(args) - index if count is None else count
        yield from ((index, number) for number in range(many, 0, -1))
