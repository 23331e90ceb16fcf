"""The header of a Relax function: decorator options, parameters, result, shape variables.

header     = "@R.function" [options] "def" name "(" parameters ")" ["->" annotation]
parameters = name [":" annotation] { "," ... }
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from typing import Any

from relaxscript.dtypes import is_dtype
from relaxscript.errors import Diagnostic, Edit, Span, did_you_mean
from relaxscript.ir.prim import INT64, Var as PrimVar
from relaxscript.ir.relax import Attrs, Var
from relaxscript.ir.struct_info import ObjectStructInfo, ShapeStructInfo, StructInfo
from relaxscript.script.names import tir_nodes
from relaxscript.script.names.annotations import Tuple as TUPLE
from relaxscript.script.parser.annotation import gathered_annotations, parse_annotation
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.expression import (
    add_attributes,
    check_attributes,
    key_of,
    parse_beginning,
    parse_expr,
)
from relaxscript.script.parser.fixits import defaults_of, leave_out_default, leave_out_parameter
from relaxscript.sinfo import definable_shape_vars, free_shape_vars

from .context import Header, RelaxContext
from .expression import mentions
from .legacy_forms import calls_packed, has_legacy_calls
from .named_fields import name_fields, name_weights

__all__ = ["is_bare_tuple", "parse_header", "parse_parameters", "prelude", "shape_declaration"]


# header = decorators "def" name "(" parameters ")" ["->" annotation]
def parse_header(
    cx: RelaxContext, node: ast.FunctionDef, options: dict[str, bool], local: bool = False
) -> Header:
    """The header of a function; mistakes are recorded, and `failed` says so."""
    before = len(cx.reporter.diagnostics)
    cx.reporter.reading = (cx.source, node)
    outer = dict(cx.dims)
    parse_type_parameters(cx, node)
    prelude(cx, node.body)
    cx.unknown_parameters = set()
    cx.definition = node
    params = parse_parameters(cx, node)
    gathered = gathered_parameters(cx, node.args, params)
    unknown = frozenset(cx.unknown_parameters)
    cx.may_bind_any = bool(unknown) or (local and cx.may_bind_any)
    ret = parse_returns(cx, node, params)
    failed = cx.reporter.failed_since(before)
    failed = failed or bool(unknown)  # by a mistake elsewhere, of what an annotation names
    header = Header(
        node.name, params, ret, failed=failed, returns=node.returns, unknown=unknown,
        gathered=gathered,
    )  # fmt: skip
    if not local:
        cx.strict = options.get("strict")
        cx.check_well_formed &= options.get("check_well_formed", True)
        cx.builder.check_well_formed = cx.check_well_formed
        cx.builder.check_types = cx.check_well_formed
        cx.older = "pure" not in options and has_legacy_calls(cx, node)
    header.pure = options.get("pure", not (cx.older and calls_packed(node.body)))
    header.private = options.get("private", False) or local
    if not failed and cx.check_well_formed:
        check_bound(cx, node, params, ret, set(outer.values()))
        header.failed = len(cx.reporter.diagnostics) > before and cx.reporter.failed
    header.introduced = {n: v for n, v in cx.dims.items() if outer.get(n) is not v}
    if local:
        cx.dims = outer
    header.attrs = function_attrs(cx, node, header, local)
    return header


def parse_type_parameters(cx: RelaxContext, node: ast.FunctionDef) -> None:
    """`def main[n](...)`: the shape variables of a function, as Python 3.12 allows."""
    for parameter in getattr(node, "type_params", ()):
        name = parameter.name
        if type(parameter).__name__ != "TypeVar":
            cx.error(
                parameter, "RX0104", f"`{ast.unparse(parameter)}` is not a dimension",
                help="name each dimension: `def main[n, m](...)`",
            )  # fmt: skip
        elif name not in cx.dims:
            cx.dims[name] = PrimVar.make(name, INT64, span=cx.span(parameter))


def prelude(cx: RelaxContext, body: list[ast.stmt]) -> None:
    """Shape variables declared in the body belong to the signature as well."""
    for statement in body:
        if statement.__class__ is not ast.Assign:
            continue
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                declare(cx, name, value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for target, value in zip(names, values):
                    if isinstance(target, ast.Name):
                        declare(cx, target.id, value)


def declare(cx: RelaxContext, name: str, value: ast.expr) -> None:
    with suppress(Failed):
        shape_declaration(cx, name, value)


_VARS = ("Var", "SizeVar")


def declared_variable(cx: RelaxContext, name: str, value: ast.expr) -> PrimVar | None:
    """The variable that `n = T.int64()` or `n = T.Var("n", "int64")` declares, or None."""
    match value:
        case ast.Call(func=ast.Attribute(attr=attr) as func, args=args) if attr in _VARS:
            literals = [*args, *(keyword.value for keyword in value.keywords)]
            known = all(isinstance(literal, ast.Constant) for literal in literals)
            makers = (tir_nodes.Var, tir_nodes.SizeVar)
            if known and parse_beginning(cx, func, value) in makers:
                made = parse_expr(cx, value)
                return made.replace(name=name, span=cx.source.span(func))  # type: ignore[no-any-return]
        case ast.Call(func=ast.Attribute(attr=attr) as func, args=[]) if is_dtype(attr):
            constructor = parse_beginning(cx, func, value)
            made = constructor() if callable(constructor) else None
            if isinstance(made, PrimVar):
                return made.replace(name=name, span=cx.source.span(func))
    return None


def shape_declaration(cx: RelaxContext, name: str, value: ast.expr) -> PrimVar | None:
    """The shape variable that a statement of the body declares; the same as in the header."""
    if value.__class__ is ast.Call and value.args and getattr(value.func, "attr", "") not in _VARS:
        return None  # as nearly every statement
    var = declared_variable(cx, name, value) if isinstance(value, ast.Call) else None
    return None if var is None else cx.dims.setdefault(name, var)


# parameters = name [":" annotation] { "," ... }
def parse_parameters(cx: RelaxContext, node: ast.FunctionDef) -> list[Var]:
    refuse_other_parameters(cx, node.args)
    arguments = [*node.args.posonlyargs, *node.args.args]
    refuse_repeated(cx, arguments)
    with cx.new_dimensions():
        # A function type may mention the dimensions of any other parameter.
        order = sorted(range(len(arguments)), key=lambda i: _has_function_type(arguments[i]))
        made = parameters_in_order(cx, arguments, order)
    return [made[i] for i in range(len(arguments))]


def parameters_in_order(
    cx: RelaxContext, arguments: list[ast.arg], order: list[int]
) -> dict[int, Var]:
    """Parameters by their places; a shape is known to the annotations after it."""
    made: dict[int, Var] = {}
    known: dict[str, Var] = {}
    for i in order:
        with cx.state(names={**cx.names, **known} if known else cx.names):
            made[i] = parse_parameter(cx, arguments[i])
        if isinstance(made[i].struct_info, ShapeStructInfo):
            known[arguments[i].arg] = made[i]
    return made


def refuse_repeated(cx: RelaxContext, arguments: list[ast.arg]) -> None:
    """Criterion 2: each parameter has a name of its own."""
    first: dict[str, ast.arg] = {}
    for arg in arguments:
        if first.setdefault(arg.arg, arg) is arg:
            continue
        cx.error(
            cx.source.name_span(arg), "RX0302", f"two parameters are called `{arg.arg}`",
            labels=[(cx.source.name_span(first[arg.arg]), "the first one")],
            help="rename one of them",
        )  # fmt: skip


def refuse_other_parameters(cx: RelaxContext, args: ast.arguments) -> None:
    """Defaults, `*args` and keyword-only parameters are refused, never dropped in silence."""
    if args.kwarg is not None:
        cx.error(
            args.kwarg, "RX0104", f"a Relax function has no `**{args.kwarg.arg}`",
            help="name each parameter",
        )  # fmt: skip
    for arg in args.kwonlyargs:
        cx.error(
            arg, "RX0104", f"`{arg.arg}` cannot be keyword-only in a Relax function",
            help="leave out the `*` before it: arguments are given by position",
        )  # fmt: skip
    for arg, default in defaults_of(args):
        bare = arg.annotation is None and isinstance(default, (ast.Call, ast.Subscript))
        written = f"{arg.arg}: {cx.written(default)}"
        cx.error(
            default, "RX0104", "a Relax parameter has no default value",
            help=f"write `{written}`" if bare else "pass the value at every call",
            edits=[leave_out_default(cx.source, arg, default)]
            if bare or arg.annotation is not None else [],
        )  # fmt: skip


def gathered_parameters(cx: RelaxContext, args: ast.arguments, params: list[Var]) -> dict[str, Any]:
    """The parameters of `*ws: *annotations`: one for each, a tuple of them in the script.

    Adds these to the parameters. Names of parameters that there are not are unknown.
    """
    others = [arg for arg in (*args.kwonlyargs, args.kwarg) if arg is not None]
    names: dict[str, Any] = {arg.arg: UNKNOWN for arg in others}
    star = args.vararg
    if star is None:
        return names
    infos: list[StructInfo] | None = None
    names[star.arg], span = UNKNOWN, cx.source.name_span(star)
    try:
        with cx.new_dimensions():
            if star.annotation is not None:
                infos = gathered_annotations(cx, star.annotation)
    except Failed:
        cx.unknown_parameters.add(star.arg)
        return names
    if infos is None:
        cx.error(
            span, "RX0104", f"it is not known how many parameters `*{star.arg}` are",
            help=f"take a tuple, `{star.arg}: R.Tuple(...)`, or say what each of them is: "
            f"`*{star.arg}: [R.Tensor((2,)), R.Tensor((3,))]`",
        )  # fmt: skip
        return names
    taken = {param.name_hint for param in params}
    free = (name for i in count() if (name := f"{star.arg}{i}") not in taken)
    made = [Var.make(next(free), info, span=span) for info in infos]
    params += made
    return {**names, star.arg: tuple(made)}


def parse_parameter(cx: RelaxContext, node: ast.arg) -> Var:
    span = cx.source.name_span(node)
    if node.annotation is None:
        unannotated(cx, node, span)
        return Var.make(node.arg, ObjectStructInfo(), span=span)
    try:
        check_says_its_fields(cx, node.arg, node.annotation)
        info = parse_annotation(cx, node.annotation)
    except Failed:
        cx.unknown_parameters.add(node.arg)
        info = ObjectStructInfo()
    param = Var.make(node.arg, info, span=span)
    name_fields(cx, param, node.annotation)
    return param


def check_says_its_fields(cx: RelaxContext, name: str, annotation: ast.expr) -> None:
    """Of a variable `R.Tuple` alone leaves the fields to its value; a parameter has none."""
    if is_bare_tuple(cx, annotation):
        raise cx.error(
            annotation, "RX0108", f"it is not known what fields the parameter `{name}` has",
            help="write for example `R.Tuple(R.Tensor, R.Shape)`; `R.Tuple()` has no fields, "
            "and `R.Object` is any value",
        )  # fmt: skip


def unannotated(cx: RelaxContext, node: ast.arg, span: Span) -> None:
    if node.arg == "self" and cx.module.name:
        cx.unknown_parameters.add(node.arg)
        help = f"leave it out; functions of the module are called as `{cx.module.name}.f(...)`"
        message, edits = "a function of a module has no `self`", without_self(cx, node)
        cx.error(span, "RX0104", message, help=help, edits=edits)
        return
    fix = (Edit(span, f"{node.arg}: R.Object"),)
    message = f"the parameter `{node.arg}` has no annotation: it is taken as `R.Object`"
    cx.unannotated_at[node.arg] = span
    help = f"say what it is, as in `{node.arg}: R.Tensor`; `{node.arg}: R.Object` is anything"
    cx.report(Diagnostic("RX0209", message, span, (), (), help, fix, "warning"))


def without_self(cx: RelaxContext, parameter: ast.arg) -> tuple[Edit, ...]:
    """The function without its `self`, the module's name wherever it is written in the body."""
    function = cx.definition
    if function is None:
        return ()
    uses = (n for s in function.body for n in ast.walk(s) if isinstance(n, ast.Name))
    named = [Edit(cx.source.span(n), cx.module.name) for n in uses if n.id == "self"]
    return (leave_out_parameter(cx.source, function, parameter), *named)


def is_bare_tuple(cx: RelaxContext, node: ast.expr) -> bool:
    """True if an annotation is `R.Tuple` alone: a tuple, its fields as they are derived."""
    return (
        isinstance(node, ast.Attribute) and node.attr == "Tuple" and parse_expr(cx, node) is TUPLE
    )


def calls_itself(cx: RelaxContext, node: ast.FunctionDef) -> bool:
    """True if a function may call itself, so that its result must be declared."""
    own = any(isinstance(n, ast.Name) and n.id == node.name for n in ast.walk(node))
    return own or cx.module.reaches(node.name, node.name)


def parse_returns(cx: RelaxContext, node: ast.FunctionDef, params: list[Var]) -> StructInfo | None:
    """The declared result; a parameter that is a shape may be the shape of a tensor in it."""
    if node.returns is None:
        return None
    if is_bare_tuple(cx, node.returns) and not calls_itself(cx, node):
        return None
    shapes = {p.name_hint: p for p in params if isinstance(p.struct_info, ShapeStructInfo)}
    with suppress(Failed), cx.new_dimensions(), cx.state(names={**cx.names, **shapes}):
        return parse_annotation(cx, node.returns)
    return None


def check_bound(
    cx: RelaxContext, node: ast.FunctionDef, params: list[Var], ret: StructInfo | None,
    outer: set[PrimVar],
) -> None:  # fmt: skip
    """Criteria 4 and 6: each shape variable is alone in some parameter."""
    bound = outer.union(*(definable_shape_vars(p.struct_info) for p in params))
    arguments = [*node.args.posonlyargs, *node.args.args]
    gathered = [node.args.vararg] * len(params) if node.args.vararg else []
    for param, arg in zip(params, [*arguments, *gathered]):
        for var in free_shape_vars(param.struct_info):
            if var not in bound:
                unbound_dimension(cx, var, arg.annotation or arg, "RX0306", bound)
                bound.add(var)
    for var in free_shape_vars(ret) if ret is not None else ():
        if var not in bound and node.returns is not None:
            unbound_dimension(cx, var, node.returns, "RX0304", bound)
            bound.add(var)


def unbound_dimension(
    cx: RelaxContext, var: PrimVar, at: ast.AST, code: str, known: set[PrimVar]
) -> None:
    cx.unknown_dims.add(var)
    place = next((n for n in ast.walk(at) if mentions(n, var.name)), at)
    near = cx.near(var.name, [v.name for v in known])
    if near is not None:
        fix = f'"{near}"' if isinstance(place, ast.Constant) else near
        message = f"the dimension `{var.name}` is not defined here"
        cx.error(place, code, message, help=did_you_mean(near), fix=fix)
        return
    help = f"let a parameter have the dimension `{var.name}` by itself"
    if code == "RX0304":  # callers may not know a size that the function finds out
        open_form = "`None` for each dimension" if isinstance(at, ast.Subscript) else "`ndim=2`"
        help += f", or say the rank only: {open_form}"
    cx.error(
        place, code,
        f"no parameter has `{var.name}` as a dimension of its own, so it has no value",
        help=help,
    )  # fmt: skip


def function_attrs(
    cx: RelaxContext, node: ast.FunctionDef, header: Header, local: bool
) -> Attrs | None:
    """`R.func_attr({...})` of the body, and the global symbol of a public function."""
    attrs: dict[str, Any] = {}
    for statement in node.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="func_attr"), args=[given])):
                try:
                    found = parse_attributes(cx, given, header)
                    add_attributes(cx, attrs, found, given)
                except Failed:
                    header.failed = True
    name_weights(cx, header, attrs, local)
    if cx.check_well_formed:
        check_attrs(cx, node, header, attrs, local)
    if not header.private:
        attrs.setdefault("global_symbol", cx.module.symbol(header.name))
    return Attrs(attrs) if attrs else None


def parse_attributes(cx: RelaxContext, node: ast.expr, header: Header) -> Mapping[str, Any]:
    """The value of `R.func_attr`'s argument: names, and values known while parsing."""
    names = {**cx.names, **{p.name_hint: p for p in header.params}}
    with cx.state(names=names), cx.unbound_dimensions():
        found = parse_expr(cx, node)
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise cx.error(
            node, "RX0104", "attributes are given as a dict of names and values",
            help='write `R.func_attr({"name": value})`',
        )  # fmt: skip
    for key, value in found.items():
        if isinstance(value, Var):
            place = next((n for n in ast.walk(node) if mentions(n, value.name_hint)), node)
            raise cx.error(
                place, "RX0104",
                f"the attribute `{key}` must be known now, `{value.name_hint}` is known later",
            )  # fmt: skip
    return check_attributes(cx, found, node)


def check_attrs(
    cx: RelaxContext, node: ast.FunctionDef, header: Header, attrs: dict[str, Any], local: bool
) -> None:
    """Criteria 13 and 21: what attributes say agrees with the rest of the header."""
    name = cx.module.symbol(header.name)
    symbol = attrs.get("global_symbol", name)
    # Criterion 13 is one of global functions: one that is alone may have any symbol.
    if header.private and not local and "global_symbol" in attrs:
        places = (key_of(inner, "global_symbol") for inner in ast.walk(node))
        cx.error(
            next((place for place in places if place is not None), node), "RX0313",
            f"`{header.name}` is private and has a global symbol",
            help="leave out `private=True`, or the attribute `global_symbol`",
        )  # fmt: skip
        header.failed = True
    elif symbol != name and cx.module.name and not local:
        cx.error(
            cx.source.name_span(node), "RX0313",
            f"the global symbol of `{header.name}` is `{symbol}`", help="use one name for both",
        )  # fmt: skip
        header.failed = True
    if attrs.get("relax.force_pure", False) and not header.pure:
        cx.error(
            cx.source.name_span(node), "RX0321",
            f"`{header.name}` is declared impure and forced to be pure",
            help="leave out `pure=False`, or the attribute `relax.force_pure`",
        )  # fmt: skip
        header.failed = True


def _has_function_type(node: ast.arg) -> bool:
    """True if the annotation of a parameter holds the type of a function."""
    annotation = node.annotation
    return annotation is not None and any(
        isinstance(inner, ast.Attribute) and inner.attr == "Callable"
        for inner in ast.walk(annotation)
    )
