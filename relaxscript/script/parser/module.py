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
from types import ModuleType
from typing import Any

from relaxscript.analysis.derive import function_struct_info
from relaxscript.analysis.finding import undeclared_recursion
from relaxscript.errors import Diagnostic, Label, Source
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import ExternFunc, Function
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo
from relaxscript.ir.tir import PrimFunc

from .assigned import names_inside
from .base import UNKNOWN, ExpressionParser, Failed, Reporter
from .capture import adopted_as, foreign_device
from .context import ModuleContext
from .corrections import leave_out_bases
from .decorated import Module
from .decorators import OurDecorator, our_decorator, our_decorators, read_options
from .environment import Environment
from .handmade import mistakes_in
from .macro import Macro, macro_of
from .module_info import ModuleInfoParser
from .relax_meta import RelaxMetaParser as RelaxParser
from .relax_signature import Header
from .statements import first_word

__all__ = ["module_of_class", "relax_function", "tir_function"]


def parse_prim_func(
    *args: Any, module: ModuleContext | None = None, **options: Any
) -> PrimFunc | None:
    """`tir.parse_prim_func`; the parser of TIR is imported by the first PrimFunc that needs it."""
    from .tir_function import parse_prim_func as parse
    from .tir_meta import TirMetaParser

    def make(source: Source, environment: Environment, reporter: Reporter) -> TirMetaParser:
        return TirMetaParser(source, environment, reporter, module)

    return parse(*args, make=make, **options)


def relax_function(
    source: Source, node: ast.FunctionDef, environment: Environment, reporter: Reporter,
    decorator: OurDecorator | None = None, check_well_formed: bool = True,
) -> Function | None:  # fmt: skip
    """A Relax function on its own."""
    context = ModuleContext(check_well_formed=check_well_formed)
    parser = RelaxParser(source, environment, reporter, context)
    try:
        header = parser.header(node, read_options(parser, decorator))
        made = parser.function(node, header)
        if made is not None and parser.holds_handmade and parser.check_well_formed:
            for mistake in mistakes_in(made, source.name_span(node)):
                parser.report(mistake)
        return made
    except RecursionError:
        nested_too_deeply(parser, node)
        return None
    except Failed:
        return None


def tir_function(
    source: Source, node: ast.FunctionDef, environment: Environment, reporter: Reporter,
    decorator: OurDecorator | None = None, check_well_formed: bool = True,
) -> PrimFunc | None:  # fmt: skip
    """A PrimFunc on its own."""
    parser = ExpressionParser(source, environment, reporter)
    options = read_options(parser, decorator)
    try:
        return parse_prim_func(
            source, node, environment, reporter, private=options.get("private", False),
            global_vars=None,
            check_well_formed=check_well_formed and options.get("check_well_formed", True),
        )  # fmt: skip
    except Failed:
        return None
    except RecursionError:
        nested_too_deeply(parser, node)
        return None


def nested_too_deeply(parser: ExpressionParser, node: ast.FunctionDef) -> None:
    """Record that a definition nests deeper than Python lets us follow it."""
    parser.report(
        Diagnostic(
            "RX0104", f"`{node.name}` is nested too deeply", parser.source.name_span(node),
            help="write it in several statements, or in several functions",
        )
    )  # fmt: skip


def module_of_class(
    source: Source, node: ast.ClassDef, environment: Environment, reporter: Reporter,
    check_well_formed: bool = True,
) -> IRModule | None:  # fmt: skip
    """The module that a class means; None when mistakes were recorded."""
    return _ModuleParser(source, node, environment, reporter, check_well_formed).module()


class _ModuleParser(ModuleInfoParser):
    """Parses one class."""

    def __init__(
        self, source: Source, node: ast.ClassDef, environment: Environment, reporter: Reporter,
        check_well_formed: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(source, environment, reporter)
        self.node = node
        self.parsed: dict[str, Any] = {}
        self.decorators: dict[str, OurDecorator] = {}
        self.relax: dict[str, ast.FunctionDef] = {}
        self.tir: dict[str, ast.FunctionDef] = {}
        self.headers: dict[str, tuple[RelaxParser, Header]] = {}
        self.undeclared: set[str] = set()
        self.macro_names = [
            m.name for m in node.body if isinstance(m, ast.FunctionDef) and self.is_macro(m)
        ]
        names = [
            m.name
            for m in node.body
            if isinstance(m, ast.FunctionDef) and m.name not in self.macro_names
        ]
        names += [t.id for m in node.body if isinstance(m, ast.Assign) for t in m.targets
                  if isinstance(t, ast.Name)]  # fmt: skip
        self.context = ModuleContext(node.name, names, check_well_formed)
        self.context.macro_named = self.macro_named
        # Macros are known by their plain names too, as nothing in the module could have these.
        self.environment = environment.with_scopes([self.context.macros, *environment.scopes])

    def macro_named(self, callee: ast.expr) -> ast.FunctionDef | None:
        """The definition of the macro that a callee names, of this class or captured."""
        match callee:
            case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name) if (
                name in self.context.macros
            ):
                found = self.context.macros[name]
            case ast.Name(id=name):
                found = next((s[name] for s in self.environment.scopes if name in s), None)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                module = next((s[owner] for s in self.environment.scopes if owner in s), None)
                found = vars(module).get(name) if isinstance(module, ModuleType) else None
            case _:
                return None
        return found.node if isinstance(found, Macro) else None

    def is_macro(self, member: ast.FunctionDef) -> bool:
        return any(d.is_macro for d in our_decorators(member, self.environment))

    def module(self) -> IRModule | None:
        self.check_bases()
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
        self.take_in()
        if self.context.check_well_formed:
            self.check_devices()
            self.check_entry_point()
        if self.reporter.failed:
            return None
        order = [n for n in self.context.global_vars if self.parsed.get(n) is not None]
        made = IRModule(
            {self.context.global_vars[name]: self.parsed[name] for name in order},
            self.attrs or None, self.context.global_infos, self.source.span(self.node),
            self.node.name,
        )  # fmt: skip
        if any(
            parser.holds_handmade and parser.check_well_formed
            for parser, _ in self.headers.values()
        ):
            for mistake in mistakes_in(made, self.source.name_span(self.node)):
                self.report(mistake)
        return made

    def check_bases(self) -> None:
        """A module is a class of its own: other bases and metaclasses are refused, not ignored."""
        refused = [base for base in self.node.bases if not self.is_no_base(base)]
        help = f"write `class {self.node.name}:`"
        mixed = len(refused) < len(self.node.bases)
        plain = not refused and not self.node.keywords
        without = [] if mixed or plain else [leave_out_bases(self.source, self.node)]
        for base in refused:
            self.error(base, "RX0104", "a module has no base class", help=help, edits=without)
        for keyword in self.node.keywords:
            self.error(
                keyword, "RX0104", "a module has no arguments of its class", help=help,
                edits=without,
            )  # fmt: skip

    def is_no_base(self, base: ast.expr) -> bool:
        """`object`, or `I.Module`, which only type checkers read."""
        match base:
            case ast.Name(id=name):
                return name == "object" or self.environment.value_of(name) is Module
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                module = self.environment.value_of(owner)
                return isinstance(module, ModuleType) and vars(module).get(name) is Module
        return False

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
            case ast.Expr(value=ast.Call() as call):
                self.info(call)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.existing(name, value)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return
            case _:
                self.context.broken.update(names_inside(member))
                place = first_word(self.source, member) or self.source.span(member)
                message = "only functions can stand in a module"
                help = "decorate it with `@R.function` or `@T.prim_func`"
                if not isinstance(member, ast.AsyncFunctionDef):
                    help = "write it outside the class"
                raise self.report(Diagnostic("RX0104", message, place, help=help))

    def declare(self, name: str, member: ast.FunctionDef) -> None:
        if name in self.macro_names:
            self.context.macros[name] = UNKNOWN
            environment = self.environment
            self.context.macros[name] = macro_of(self, member, lambda: environment)
            return
        before = self.relax.get(name) or self.tir.get(name)
        if before is not None:
            at = self.source.name_span(member)
            labels = (Label(self.source.name_span(before), "the first one"),)
            message = f"the module has two functions `{name}`"
            raise self.report(Diagnostic("RX0302", message, at, labels, help="rename one of them"))
        decorator = our_decorator(self, member)
        self.decorators[name] = decorator
        (self.tir if decorator.kind == "prim_func" else self.relax)[name] = member
        if decorator.kind == "prim_func":
            self.context.prim_funcs.add(name)
        self.context.definitions[name] = member

    def member_of_module(self, node: ast.expr) -> Any:
        """What a class takes over; of another module the module and the name of its function."""
        match node:
            case ast.Attribute(value=base, attr=name):
                owner = self.value(base)
            case ast.Subscript(value=base, slice=ast.Constant(value=str(name))):
                owner = self.value(base)
            case _:
                return self.value(node)
        if isinstance(owner, IRModule) and name in owner:
            return owner, name
        return self.value(node)

    def take_in(self) -> None:
        """The functions from outside that were mentioned are functions of the module."""
        for name, function in self.context.adopted.items():
            self.context.global_vars[name] = self.context.var_of(name)
            self.parsed[name] = function

    def check_devices(self) -> None:
        """Criterion 24 for the functions from outside; those of the class were checked before."""
        for function, node in self.context.captured:
            device = foreign_device(self.context, function)
            if device is not None:
                needs = f"`{ast.unparse(node)}` needs the virtual device `{device.short}`"
                message, help = f"{needs}, which the module has not", self.context.devices(device)
                self.error(node, "RX0324", message, help=help)

    def existing(self, name: str, node: ast.expr) -> None:
        """`name = R.ExternFunc("...")`, or a function that Python holds already."""
        value = self.member_of_module(node)
        if isinstance(value, Macro):
            del self.context.global_vars[name]
            self.context.macros[name] = value
            return
        if not isinstance(value, (ExternFunc, Function, PrimFunc, tuple)):
            raise self.error(
                node, "RX0104", "only functions can be members of a module",
                help="define it outside of the class, where functions can use it as well",
            )  # fmt: skip
        self.parsed[name] = adopted_as(self, self.context, value, name, node)
        self.context.sign(name, function_struct_info(self.parsed[name]))

    def prim_func(self, name: str, node: ast.FunctionDef) -> None:
        try:
            options = read_options(self, self.decorators[name])
            checked = self.context.check_well_formed and options.get("check_well_formed", True)
            function = parse_prim_func(
                self.source, node, self.environment, self.reporter,
                private=options.get("private", False), global_vars=self.context.global_vars,
                module_name=self.node.name, module=self.context, check_well_formed=checked,
            )  # fmt: skip
        except Failed:
            function = None
        except RecursionError:
            nested_too_deeply(self, node)
            function = None
        if function is None:
            self.context.broken.add(name)
            return
        self.parsed[name] = function
        self.context.sign(name, function_struct_info(function))

    def relax_header(self, name: str, node: ast.FunctionDef) -> None:
        parser = RelaxParser(self.source, self.environment, self.reporter, self.context)
        try:
            header = parser.header(node, read_options(parser, self.decorators[name]))
        except Failed:
            self.context.broken.add(name)
            return
        except RecursionError:
            nested_too_deeply(parser, node)
            self.context.broken.add(name)
            return
        if header.failed:
            self.context.broken.add(name)
        self.headers[name] = (parser, header)
        if header.ret is not None:
            infos = tuple(p.struct_info for p in header.params)
            self.context.sign(name, FuncStructInfo.make(infos, header.ret, header.pure))

    def relax_functions(self) -> None:
        """Bodies, functions without a declared result before those that call them."""
        pending = list(self.headers)
        self.undeclared = {name for name, (_, h) in self.headers.items() if h.ret is None}
        for name, (parser, header) in self.headers.items():
            if header.ret is None and self.context.reaches(name, name):
                if parser.check_well_formed:
                    self.undeclared_recursion(name)
                else:
                    infos = tuple(p.struct_info for p in header.params)
                    known = FuncStructInfo.make(infos, ObjectStructInfo(), header.pure)
                    self.context.sign(name, known)
        for name in self.in_order(pending):
            parser, header = self.headers[name]
            try:
                function = parser.function(self.relax[name], header)
            except Failed:
                function = None
            except RecursionError:
                nested_too_deeply(parser, self.relax[name])
                function = None
            if function is None:
                self.context.broken.add(name)
                continue
            self.parsed[name] = function
            self.context.sign(name, function_struct_info(function))

    def in_order(self, names: list[str]) -> list[str]:
        """Callees first where their result is not declared."""
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
                    if callee not in state:
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
        if not self.undeclared:
            return []
        return [n for n in self.context.mentioned(name) if n in self.undeclared]

    def undeclared_recursion(self, name: str) -> None:
        if name in self.context.broken:
            return
        self.context.broken.add(name)
        definition = self.relax[name]
        parser, _ = self.headers[name]
        reaches = self.context.reaches
        others = [n for n in self.headers if n != name and reaches(name, n) and reaches(n, name)]
        parser.error_at(
            self.source.name_span(definition), "RX0308", undeclared_recursion(name, others),
            f"declare it: `def {name}(...) -> R.Tensor(...):`",
        )  # fmt: skip
