"""The header of a Relax function: decorator options, parameters, result, shape variables.

header     = "@R.function" [options] "def" name "(" parameters ")" ["->" annotation]
parameters = name [":" annotation] { "," ... }
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from relaxscript.dtypes import is_dtype
from relaxscript.errors import Diagnostic, Edit, Label, Source, Span, did_you_mean
from relaxscript.ir.prim import INT64, Var as PrimVar
from relaxscript.ir.relax import Attrs, Var
from relaxscript.ir.struct_info import ObjectStructInfo, ShapeStructInfo, StructInfo
from relaxscript.script import tir_nodes
from relaxscript.script.annotations import Tuple as TUPLE
from relaxscript.sinfo import definable_shape_vars, free_shape_vars

from .base import UNKNOWN, Failed, Reporter, key_of
from .context import ModuleContext
from .corrections import add_argument, defaults_of, leave_out_default, leave_out_parameter
from .decorators import our_decorators
from .environment import Environment
from .relax_expression import mentions
from .relax_older import RelaxOlderForms, calls_packed
from .statements import STATEMENTS, first_word

__all__ = ["Header", "RelaxSignatures"]


@dataclass
class Header:
    """What the first lines of a function say."""

    name: str
    params: list[Var]
    ret: StructInfo | None
    pure: bool = True
    private: bool = False
    attrs: Attrs | None = None
    failed: bool = False
    introduced: dict[str, PrimVar] = field(default_factory=dict)
    returns: ast.expr | None = None
    # What is bound beside parameters: all that `*ws` gathers.
    gathered: dict[str, Any] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()


class RelaxSignatures(RelaxOlderForms):
    """Reads headers; the state of the statement parser lives here too."""

    def __init__(
        self, source: Source, environment: Environment, reporter: Reporter, module: ModuleContext
    ) -> None:
        super().__init__(source, environment, reporter, module)
        self.returned = False
        self.has_result = False
        self.unknown_parameters: set[str] = set()
        self.last_bound = ""
        self.outputs: set[ast.Name] = set()
        self.scopes: list[list[tuple[str, Any]]] = []
        self.declared: Header | None = None
        self.definition: ast.FunctionDef | None = None

    def error_at(
        self, span: Span | None, code: str, message: str, help: str | None = None
    ) -> Failed:
        """Record a mistake at a place that no single piece of syntax covers."""
        return self.report(Diagnostic(code, message, span, help=help))

    # header = decorators "def" name "(" parameters ")" ["->" annotation]
    def header(
        self, node: ast.FunctionDef, options: dict[str, bool], local: bool = False
    ) -> Header:
        """The header of a function; mistakes are recorded, and `failed` says so."""
        before = len(self.reporter.diagnostics)
        outer = dict(self.dims)
        self.type_parameters(node)
        self.prelude(node.body)
        self.unknown_parameters = set()
        self.definition = node
        params = self.parameters(node)
        gathered = self.gathered_parameters(node.args, params)
        unknown = frozenset(self.unknown_parameters)
        ret = self.return_annotation(node, params)
        failed = any(d.severity == "error" for d in self.reporter.diagnostics[before:])
        failed = failed or bool(unknown)  # by a mistake elsewhere, of what an annotation names
        header = Header(
            node.name, params, ret, failed=failed, returns=node.returns, unknown=unknown,
            gathered=gathered,
        )  # fmt: skip
        if not local:
            self.strict = options.get("strict")
            self.check_well_formed &= options.get("check_well_formed", True)
            self.builder.check_well_formed = self.check_well_formed
            self.builder.check_types = self.check_well_formed
        if not local:
            self.older = "pure" not in options and self.is_older(node)
        header.pure = options.get("pure", not (self.older and calls_packed(node.body)))
        header.private = options.get("private", False) or local
        if not failed and self.check_well_formed:
            self.check_bound(node, params, ret, set(outer.values()))
            header.failed = len(self.reporter.diagnostics) > before and self.reporter.failed
        header.introduced = {n: v for n, v in self.dims.items() if outer.get(n) is not v}
        if local:
            self.dims = outer
        header.attrs = self.function_attrs(node, header, local)
        return header

    def type_parameters(self, node: ast.FunctionDef) -> None:
        """`def main[n](...)`: the shape variables of a function, as Python 3.12 lets them stand."""
        for parameter in getattr(node, "type_params", ()):
            name = parameter.name
            if type(parameter).__name__ != "TypeVar":
                self.error(
                    parameter, "RX0104", f"`{ast.unparse(parameter)}` is not a dimension",
                    help="name each dimension: `def main[n, m](...)`",
                )  # fmt: skip
            elif name not in self.dims:
                self.dims[name] = PrimVar.make(name, INT64, span=self.span(parameter))

    def prelude(self, body: list[ast.stmt]) -> None:
        """Shape variables declared in the body belong to the signature as well."""
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.declare(name, value)
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                    for target, value in zip(names, values):
                        if isinstance(target, ast.Name):
                            self.declare(target.id, value)

    def declare(self, name: str, value: ast.expr) -> None:
        try:
            var = self.declared_variable(name, value)
        except Failed:
            return
        if var is not None:
            self.dims.setdefault(name, var)

    def declared_variable(self, name: str, value: ast.expr) -> PrimVar | None:
        """The variable that `n = T.int64()` or `n = T.Var("n", "int64")` declares, or None."""
        match value:
            case ast.Call(func=ast.Attribute(attr="Var" | "SizeVar") as func, args=args):
                literals = [*args, *(keyword.value for keyword in value.keywords)]
                known = all(isinstance(literal, ast.Constant) for literal in literals)
                if known and self.callee(value) in (tir_nodes.Var, tir_nodes.SizeVar):
                    made = self.value(value)
                    return made.replace(name=name, span=self.source.span(func))  # type: ignore[no-any-return]
            case ast.Call(func=ast.Attribute(attr=attr) as func, args=[]) if is_dtype(attr):
                constructor = self.callee(value)
                made = constructor() if callable(constructor) else None
                if isinstance(made, PrimVar):
                    return made.replace(name=name, span=self.source.span(func))
        return None

    def shape_declaration(self, name: str, value: ast.expr) -> PrimVar | None:
        """The shape variable that a statement of the body declares; the same as in the header."""
        if not isinstance(value, ast.Call):
            return None
        var = self.declared_variable(name, value)
        if var is None:
            return None
        return self.dims.setdefault(name, var)

    # parameters = name [":" annotation] { "," ... }
    def parameters(self, node: ast.FunctionDef) -> list[Var]:
        self.refuse_other_parameters(node.args)
        arguments = [*node.args.posonlyargs, *node.args.args]
        self.refuse_repeated(arguments)
        with self.introducing():
            # A function type may mention the dimensions of any other parameter.
            order = sorted(range(len(arguments)), key=lambda i: _has_function_type(arguments[i]))
            made = self.parameters_in_order(arguments, order)
        return [made[i] for i in range(len(arguments))]

    def parameters_in_order(self, arguments: list[ast.arg], order: list[int]) -> dict[int, Var]:
        """Parameters by their places; a shape is known to the annotations after it."""
        made: dict[int, Var] = {}
        known: dict[str, Var] = {}
        before = self.names
        try:
            for i in order:
                self.names = {**before, **known} if known else before
                made[i] = self.parameter(arguments[i])
                if isinstance(made[i].struct_info, ShapeStructInfo):
                    known[arguments[i].arg] = made[i]
        finally:
            self.names = before
        return made

    def refuse_repeated(self, arguments: list[ast.arg]) -> None:
        """Criterion 2: each parameter has a name of its own."""
        first: dict[str, ast.arg] = {}
        for arg in arguments:
            if first.setdefault(arg.arg, arg) is arg:
                continue
            message = f"two parameters are called `{arg.arg}`"
            labels = (Label(self.source.name_span(first[arg.arg]), "the first one"),)
            place = self.source.name_span(arg)
            self.report(Diagnostic("RX0302", message, place, labels, help="rename one of them"))

    def refuse_other_parameters(self, args: ast.arguments) -> None:
        """Defaults, `*args` and keyword-only parameters are refused, never dropped in silence."""
        if args.kwarg is not None:
            self.error(
                args.kwarg, "RX0104", f"a Relax function has no `**{args.kwarg.arg}`",
                help="name each parameter",
            )  # fmt: skip
        for arg in args.kwonlyargs:
            self.error(
                arg, "RX0104", f"`{arg.arg}` cannot be keyword-only in a Relax function",
                help="leave out the `*` before it: arguments are given by position",
            )  # fmt: skip
        for arg, default in defaults_of(args):
            bare = arg.annotation is None and isinstance(default, (ast.Call, ast.Subscript))
            written = f"{arg.arg}: {self.written(default)}"
            self.error(
                default, "RX0104", "a Relax parameter has no default value",
                help=f"write `{written}`" if bare else "pass the value at every call",
                edits=[leave_out_default(self.source, arg, default)]
                if bare or arg.annotation is not None else [],
            )  # fmt: skip

    def gathered_parameters(self, args: ast.arguments, params: list[Var]) -> dict[str, Any]:
        """What `*ws: *annotations` stands for: a parameter for each, a tuple of them in the script.

        Adds these to the parameters. Names of parameters that there are not are unknown.
        """
        others = [arg for arg in (*args.kwonlyargs, args.kwarg) if arg is not None]
        names: dict[str, Any] = {arg.arg: UNKNOWN for arg in others}
        star = args.vararg
        if star is None:
            return names
        infos: list[StructInfo] | None = None
        names[star.arg], span = UNKNOWN, self.source.name_span(star)
        try:
            with self.introducing():
                if star.annotation is not None:
                    infos = self.gathered_annotations(star.annotation)
        except Failed:
            self.unknown_parameters.add(star.arg)
            return names
        if infos is None:
            self.error_at(
                span, "RX0104", f"it is not known how many parameters `*{star.arg}` are",
                f"take a tuple, `{star.arg}: R.Tuple(...)`, or say what each of them is: "
                f"`*{star.arg}: [R.Tensor((2,)), R.Tensor((3,))]`",
            )  # fmt: skip
            return names
        taken = {param.name_hint for param in params}
        free = (name for i in count() if (name := f"{star.arg}{i}") not in taken)
        made = [Var.make(next(free), info, span=span) for info in infos]
        params += made
        return {**names, star.arg: tuple(made)}

    def parameter(self, node: ast.arg) -> Var:
        span = self.source.name_span(node)
        if node.annotation is None:
            self.unannotated(node, span)
            return Var.make(node.arg, ObjectStructInfo(), span=span)
        try:
            info = self.annotation(node.annotation)
        except Failed:
            self.unknown_parameters.add(node.arg)
            info = ObjectStructInfo()
        return Var.make(node.arg, info, span=span)

    def unannotated(self, node: ast.arg, span: Span | None) -> None:
        if node.arg == "self" and self.module.name:
            self.unknown_parameters.add(node.arg)
            message = "a function of a module has no `self`"
            help = (
                f"leave it out; functions of the module are called as `{self.module.name}.f(...)`"
            )
            edits = self.without_self(node)
            self.report(Diagnostic("RX0104", message, span, help=help, fix=edits))
            return
        fix = (Edit(span, f"{node.arg}: R.Object"),) if span is not None else ()
        message = f"the parameter `{node.arg}` has no annotation: it is taken as `R.Object`"
        self.unannotated_at[node.arg] = span
        help = f"say what it is, as in `{node.arg}: R.Tensor`; `{node.arg}: R.Object` is anything"
        self.report(Diagnostic("RX0209", message, span, (), (), help, fix, "warning"))

    def impure(self) -> tuple[Edit, ...]:
        if self.definition is None:
            return ()
        decorators = our_decorators(self.definition, self.environment)
        if len(decorators) != 1 or decorators[0].kind != "function":
            return ()
        decorator = decorators[0].node
        if decorator is None:
            return ()
        for option in getattr(decorator, "keywords", ()):
            if option.arg == "pure":
                return (Edit(self.source.span(option.value), "False"),)
        return (add_argument(self.source, decorator, "pure=False"),)

    def without_self(self, parameter: ast.arg) -> tuple[Edit, ...]:
        """The function without its `self`, the module's name wherever it stands in the body."""
        function = self.definition
        if function is None:
            return ()
        uses = (n for s in function.body for n in ast.walk(s) if isinstance(n, ast.Name))
        named = [Edit(self.source.span(n), self.module.name) for n in uses if n.id == "self"]
        return (leave_out_parameter(self.source, function, parameter), *named)

    def is_bare_tuple(self, node: ast.expr) -> bool:
        """Whether an annotation is `R.Tuple` alone: a tuple, its fields as they are derived."""
        return (
            isinstance(node, ast.Attribute) and node.attr == "Tuple" and self.value(node) is TUPLE
        )

    def calls_itself(self, node: ast.FunctionDef) -> bool:
        """Whether a function may call itself, so that its result must be declared."""
        own = any(isinstance(n, ast.Name) and n.id == node.name for n in ast.walk(node))
        return own or self.module.reaches(node.name, node.name)

    def return_annotation(self, node: ast.FunctionDef, params: list[Var]) -> StructInfo | None:
        """The declared result; a parameter that is a shape may be the shape of a tensor in it."""
        if node.returns is None:
            return None
        if self.is_bare_tuple(node.returns) and not self.calls_itself(node):
            return None
        shapes = [p for p in params if isinstance(p.struct_info, ShapeStructInfo)]
        before = self.names
        try:
            with self.introducing():
                self.names = {**before, **{p.name_hint: p for p in shapes}}
                return self.annotation(node.returns)
        except Failed:
            return None
        finally:
            self.names = before

    def check_bound(
        self, node: ast.FunctionDef, params: list[Var], ret: StructInfo | None, outer: set[PrimVar]
    ) -> None:
        """Criteria 4 and 6: each shape variable stands alone in some parameter."""
        bound = outer.union(*(definable_shape_vars(p.struct_info) for p in params))
        arguments = [*node.args.posonlyargs, *node.args.args]
        gathered = [node.args.vararg] * len(params) if node.args.vararg else []
        for param, arg in zip(params, [*arguments, *gathered]):
            for var in free_shape_vars(param.struct_info):
                if var not in bound:
                    self.unbound_dimension(var, arg.annotation or arg, "RX0306", bound)
                    bound.add(var)
        for var in free_shape_vars(ret) if ret is not None else ():
            if var not in bound and node.returns is not None:
                self.unbound_dimension(var, node.returns, "RX0304", bound)
                bound.add(var)

    def unbound_dimension(self, var: PrimVar, at: ast.AST, code: str, known: set[PrimVar]) -> None:
        self.unknown_dims.add(var)
        place = next((n for n in ast.walk(at) if mentions(n, var.name)), at)
        near = self.near(var.name, [v.name for v in known])
        if near is not None:
            fix = f'"{near}"' if isinstance(place, ast.Constant) else near
            message = f"the dimension `{var.name}` is not defined here"
            self.error(place, code, message, help=did_you_mean(near), fix=fix)
            return
        self.error(
            place, code,
            f"no parameter has `{var.name}` as a dimension of its own, so it has no value",
            help=f"let a parameter have the dimension `{var.name}` by itself",
        )  # fmt: skip

    def function_attrs(self, node: ast.FunctionDef, header: Header, local: bool) -> Attrs | None:
        """`R.func_attr({...})` of the body, and the global symbol of a public function."""
        attrs: dict[str, Any] = {}
        for statement in node.body:
            match statement:
                case ast.Expr(value=ast.Call(func=ast.Attribute(attr="func_attr"), args=[given])):
                    try:
                        found = self.attributes(given, header)
                        self.add_attributes(attrs, found, given)
                    except Failed:
                        header.failed = True
        if self.check_well_formed:
            self.check_attrs(node, header, attrs, local)
        if not header.private:
            attrs.setdefault("global_symbol", self.module.symbol(header.name))
        return Attrs(attrs) if attrs else None

    def attributes(self, node: ast.expr, header: Header) -> Mapping[str, Any]:
        """The value of `R.func_attr`'s argument: names, and values known while parsing."""
        before = self.names
        self.names = {**before, **{p.name_hint: p for p in header.params}}
        try:
            with self.unbound_dimensions():
                found = self.value(node)
        finally:
            self.names = before
        if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
            raise self.error(
                node, "RX0104", "attributes are given as a dict of names and values",
                help='write `R.func_attr({"name": value})`',
            )  # fmt: skip
        for key, value in found.items():
            if isinstance(value, Var):
                place = next((n for n in ast.walk(node) if mentions(n, value.name_hint)), node)
                raise self.error(
                    place, "RX0104",
                    f"the attribute `{key}` must be known now, `{value.name_hint}` is known later",
                )  # fmt: skip
        return self.checked_attributes(found, node)

    def check_attrs(
        self, node: ast.FunctionDef, header: Header, attrs: dict[str, Any], local: bool
    ) -> None:
        """Criteria 13 and 21: what attributes say agrees with the rest of the header."""
        name = self.module.symbol(header.name)
        symbol = attrs.get("global_symbol", name)
        # Criterion 13 is one of global functions: one that stands alone may have any symbol.
        if header.private and not local and "global_symbol" in attrs:
            places = (key_of(inner, "global_symbol") for inner in ast.walk(node))
            self.error(
                next((place for place in places if place is not None), node), "RX0313",
                f"`{header.name}` is private and has a global symbol",
                help="leave out `private=True`, or the attribute `global_symbol`",
            )  # fmt: skip
            header.failed = True
        elif symbol != name and self.module.name and not local:
            self.error_at(
                self.source.name_span(node), "RX0313",
                f"the global symbol of `{header.name}` is `{symbol}`", "use one name for both",
            )  # fmt: skip
            header.failed = True
        if attrs.get("relax.force_pure", False) and not header.pure:
            self.error_at(
                self.source.name_span(node), "RX0321",
                f"`{header.name}` is declared impure and forced to be pure",
                "leave out `pure=False`, or the attribute `relax.force_pure`",
            )  # fmt: skip
            header.failed = True

    def unsupported_statement(self, node: ast.stmt) -> Failed:
        """Record a statement of Python that Relax does not have, with what to write instead."""
        name, help = STATEMENTS.get(type(node), (f"`{type(node).__name__}`", None))
        span = self.source.span(node)
        keyword = first_word(self.source, node)
        return self.error_at(
            keyword or span, "RX0104", f"{name} cannot be used in a Relax function", help
        )


def _has_function_type(node: ast.arg) -> bool:
    """Whether the annotation of a parameter holds the type of a function."""
    annotation = node.annotation
    return annotation is not None and any(
        isinstance(inner, ast.Attribute) and inner.attr == "Callable"
        for inner in ast.walk(annotation)
    )
