"""Modules: a class whose methods are functions.

    module   = "@I.ir_module" "class" name ":" { member }
    member   = relax function | prim_func | "I.module_attrs(...)" | "I.module_global_infos(...)"
             | name "=" "R.ExternFunc(...)" | docstring

All names are declared before any body is parsed, so functions may call each other in any order.
Functions whose result is declared are known by their header; the others are parsed before their
callers, and recursion needs a declared result (well-formedness 8).
"""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.analysis.derive import function_struct_info
from relaxscript.errors import Diagnostic, Source
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import ExternFunc, Function
from relaxscript.ir.struct_info import FuncStructInfo
from relaxscript.ir.tir import PrimFunc

from .assigned import names_inside
from .base import ExpressionParser, Failed, Reporter
from .context import ModuleContext
from .environment import Environment
from .relax import RelaxParser
from .relax_signature import Header

__all__ = ["module_of_class", "relax_function", "tir_function"]


def parse_prim_func(*args: Any, **options: Any) -> PrimFunc | None:
    """`tir.parse_prim_func`; the parser of TIR is imported by the first PrimFunc that needs it."""
    from .tir import parse_prim_func as parse

    return parse(*args, **options)


def relax_function(
    source: Source, node: ast.FunctionDef, environment: Environment, reporter: Reporter
) -> Function | None:
    """A Relax function on its own."""
    parser = RelaxParser(source, environment, reporter, ModuleContext())
    try:
        header = parser.header(node, parser.decorator_options(node))
        return parser.function(node, header)
    except Failed:
        return None


def tir_function(
    source: Source, node: ast.FunctionDef, environment: Environment, reporter: Reporter
) -> PrimFunc | None:
    """A PrimFunc on its own."""
    try:
        private = _is_private(source, node, environment, reporter)
        return parse_prim_func(
            source, node, environment, reporter, private=private, global_vars=None
        )
    except Failed:
        return None


def _is_private(
    source: Source, node: ast.FunctionDef, environment: Environment, reporter: Reporter
) -> bool:
    parser = ExpressionParser(source, environment, reporter)
    for decorator in node.decorator_list:
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "private":
                return bool(parser.literal(keyword.value, "`private`"))
    return False


def module_of_class(
    source: Source, node: ast.ClassDef, environment: Environment, reporter: Reporter,
    check_well_formed: bool = True,
) -> IRModule | None:  # fmt: skip
    """The module that a class means; None when mistakes were recorded."""
    parser = _ModuleParser(source, node, environment, reporter)
    parser.check_well_formed = check_well_formed
    return parser.module()


class _ModuleParser(ExpressionParser):
    """Parses one class."""

    def __init__(
        self, source: Source, node: ast.ClassDef, environment: Environment, reporter: Reporter
    ) -> None:
        super().__init__(source, environment, reporter)
        self.node = node
        self.check_well_formed = True
        self.attrs: dict[str, Any] = {}
        self.parsed: dict[str, Any] = {}
        self.relax: dict[str, ast.FunctionDef] = {}
        self.tir: dict[str, ast.FunctionDef] = {}
        self.headers: dict[str, tuple[RelaxParser, Header]] = {}
        names = [m.name for m in node.body if isinstance(m, ast.FunctionDef)]
        names += [t.id for m in node.body if isinstance(m, ast.Assign) for t in m.targets
                  if isinstance(t, ast.Name)]  # fmt: skip
        self.context = ModuleContext(node.name, names)

    def module(self) -> IRModule | None:
        for member in self.node.body:
            try:
                self.member(member)
            except Failed:
                self.context.broken.update(
                    n for n in names_inside(member) if n in self.context.global_vars
                )
        for name, definition in self.tir.items():
            self.prim_func(name, definition)
        for name, definition in self.relax.items():
            self.relax_header(name, definition)
        self.relax_functions()
        if self.check_well_formed:
            self.check_entry_point()
        if self.reporter.failed:
            return None
        order = [n for n in self.context.global_vars if self.parsed.get(n) is not None]
        return IRModule(
            {self.context.global_vars[name]: self.parsed[name] for name in order},
            self.attrs or None, self.context.global_infos, self.source.span(self.node),
            self.node.name,
        )  # fmt: skip

    def check_entry_point(self) -> None:
        """Criterion 12: a module of Relax functions has one that can be called from outside."""
        functions = [f for f in self.parsed.values() if isinstance(f, Function)]
        if functions and not self.context.broken and all(f.is_private for f in functions):
            self.report(
                Diagnostic(
                    "RX0312",
                    f"every function of `{self.node.name}` is private, so none can be called",
                    self.source.name_span(self.node),
                    help="leave out `private=True` of one of them",
                )
            )

    def member(self, member: ast.stmt) -> None:
        match member:
            case ast.FunctionDef(name=name):
                self.declare(name, member)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(attr="module_attrs"), args=[given, *_])
            ):
                self.attrs.update(self.host_mapping(given))
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(attr="module_global_infos"), args=[given])
            ):
                for key, infos in self.host_mapping(given).items():
                    self.context.global_infos[key] = tuple(infos)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.existing(name, value)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return
            case _:
                raise self.error(
                    member, "RX0104", "only functions can stand in a module",
                    help="decorate it with `@R.function` or `@T.prim_func`",
                )  # fmt: skip

    def declare(self, name: str, member: ast.FunctionDef) -> None:
        if name in self.relax or name in self.tir:
            at = self.source.name_span(member)
            raise self.report(Diagnostic("RX0302", f"the module has two functions `{name}`", at))
        language = self.language(member)
        (self.tir if language == "prim_func" else self.relax)[name] = member
        self.context.mentions[name] = self.mentioned(member)

    def language(self, member: ast.FunctionDef) -> str:
        for decorator in reversed(member.decorator_list):
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = self.value(target)
            if getattr(value, "__module__", "").endswith("script.parser.entry"):
                return str(value.__name__)
        raise self.report(
            Diagnostic(
                "RX0104",
                f"`{member.name}` is neither a Relax function nor a PrimFunc",
                self.source.name_span(member),
                help="decorate it with `@R.function` or `@T.prim_func`",
            )
        )

    def existing(self, name: str, node: ast.expr) -> None:
        """`name = R.ExternFunc("...")`, or a function that Python holds already."""
        value = self.value(node)
        if not isinstance(value, (ExternFunc, Function, PrimFunc)):
            raise self.error(node, "RX0104", "only functions can be members of a module")
        self.parsed[name] = value
        self.context.signatures[name] = function_struct_info(value)

    def prim_func(self, name: str, node: ast.FunctionDef) -> None:
        try:
            private = _is_private(self.source, node, self.environment, self.reporter)
            function = parse_prim_func(
                self.source, node, self.environment, self.reporter, private=private,
                global_vars=self.context.global_vars, module_name=self.node.name,
            )  # fmt: skip
        except Failed:
            function = None
        if function is None:
            self.context.broken.add(name)
            return
        self.parsed[name] = function
        self.context.signatures[name] = function_struct_info(function)

    def relax_header(self, name: str, node: ast.FunctionDef) -> None:
        parser = RelaxParser(self.source, self.environment, self.reporter, self.context)
        try:
            header = parser.header(node, parser.decorator_options(node))
        except Failed:
            self.context.broken.add(name)
            return
        if header.failed:
            self.context.broken.add(name)
        self.headers[name] = (parser, header)
        if header.ret is not None:
            infos = tuple(p.struct_info for p in header.params)
            self.context.signatures[name] = FuncStructInfo.make(infos, header.ret, header.pure)

    def relax_functions(self) -> None:
        """Bodies, functions without a declared result before those that call them."""
        pending = list(self.headers)
        for name in self.in_order(pending):
            parser, header = self.headers[name]
            parser.builder.signatures.update(self.context.signatures)
            try:
                function = parser.function(self.relax[name], header)
            except Failed:
                function = None
            if function is None:
                self.context.broken.add(name)
                continue
            self.parsed[name] = function
            self.context.signatures[name] = function_struct_info(function)

    def in_order(self, names: list[str]) -> list[str]:
        """Callees first where their result is not declared; a cycle of such is a mistake."""
        order: list[str] = []
        state: dict[str, int] = {}
        for root in names:
            stack = [(root, iter(self.undeclared_callees(root)))]
            if root in state:
                continue
            state[root] = 1
            while stack:
                name, callees = stack[-1]
                for callee in callees:
                    if state.get(callee) == 1:
                        self.undeclared_recursion(callee)
                    elif callee not in state:
                        state[callee] = 1
                        stack.append((callee, iter(self.undeclared_callees(callee))))
                        break
                else:
                    state[name] = 2
                    order.append(name)
                    stack.pop()
        return order

    def undeclared_callees(self, name: str) -> list[str]:
        """The functions without declared result that a function mentions."""
        mentioned = self.context.mentions[name]
        return [n for n in mentioned if n in self.headers and self.headers[n][1].ret is None]

    def mentioned(self, node: ast.FunctionDef) -> list[str]:
        """The functions of the module that a function mentions, by syntax."""
        return [
            inner.attr
            for inner in ast.walk(node)
            if isinstance(inner, ast.Attribute)
            and isinstance(inner.value, ast.Name)
            and inner.attr in self.context.global_vars
        ]

    def undeclared_recursion(self, name: str) -> None:
        if name in self.context.broken:
            return
        self.context.broken.add(name)
        definition = self.relax[name]
        parser, _ = self.headers[name]
        parser.error_at(
            self.source.name_span(definition), "RX0308",
            f"`{name}` is recursive and does not declare its result",
            f"declare it: `def {name}(...) -> R.Tensor(...):`",
        )  # fmt: skip
