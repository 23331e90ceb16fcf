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
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from relaxscript.analysis.derive import function_struct_info
from relaxscript.analysis.violation import undeclared_recursion
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import ExternFunc, Function
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.script.source.bound_names import names_inside

from .captured_functions import adopt_as, foreign_device
from .captured_ir import mistakes_in
from .class_context import ClassContext
from .decorated import Module
from .decorators import ScriptDecorator, our_decorator, read_options, script_decorators
from .diagnostics import UNKNOWN, Failed, SourceReporter
from .environment import Environment
from .expression import parse_expr
from .fixits import leave_out_bases
from .macro import Macro, macro_of
from .module_context import ModuleContext
from .module_info import parse_info
from .relax_functions.function import parse_function
from .relax_functions.language import relax_context
from .relax_functions.signature import parse_header
from .script_context import ScriptContext
from .unsupported_syntax import first_word

if TYPE_CHECKING:
    from relaxscript.dpl import PatternMatchingRewriter

__all__ = [
    "macro_named", "module_of_class", "parse_definition", "relax_function", "tir_function",
]  # fmt: skip


T = TypeVar("T")


def attempt(cx: SourceReporter, node: ast.FunctionDef, parse: Callable[[], T]) -> T | None:
    """The result of `parse` for a definition; None when mistakes were recorded."""
    try:
        return parse()
    except Failed:
        return None
    except RecursionError:
        cx.error(
            cx.source.name_span(node), "RX0104", f"`{node.name}` is nested too deeply",
            help="write it in several statements, or in several functions",
        )  # fmt: skip
        return None


def relax_function(
    around: ScriptContext, node: ast.FunctionDef, decorator: ScriptDecorator | None = None,
    check_well_formed: bool = True,
) -> Function | None:  # fmt: skip
    """A Relax function on its own; `around` is the context outside of it."""
    cx = relax_context(around, ModuleContext(check_well_formed=check_well_formed))

    def parse() -> Function | None:
        header = parse_header(cx, node, read_options(cx, decorator))
        made = parse_function(cx, node, header)
        if made is not None and cx.holds_captured_ir and cx.check_well_formed:
            for mistake in mistakes_in(made, cx.source.name_span(node)):
                cx.report(mistake)
        return made

    return attempt(cx, node, parse)


def tir_function(
    around: ScriptContext, node: ast.FunctionDef, decorator: ScriptDecorator | None = None,
    check_well_formed: bool = True, module: ModuleContext | None = None,
) -> PrimFunc | None:  # fmt: skip
    """A PrimFunc of a module, or on its own; the parser of TIR is imported by the first one."""
    from .prim_funcs.function import parse_prim_func

    options = read_options(around, decorator)
    checked = check_well_formed and options.get("check_well_formed", True)

    def parse() -> PrimFunc | None:
        return parse_prim_func(
            around.source, node, around.environment, around.reporter,
            private=options.get("private", False),
            global_vars=None if module is None else module.global_vars,
            module_name="" if module is None else module.name, module=module,
            check_well_formed=checked,
        )  # fmt: skip

    return attempt(around, node, parse)


def parse_definition(
    cx: ScriptContext, node: ast.ClassDef | ast.FunctionDef, decorator: ScriptDecorator,
    check_well_formed: bool = True,
) -> IRModule | PatternMatchingRewriter | Function | PrimFunc | Macro | None:  # fmt: skip
    """The module, rewriter, function or macro of a definition; None when mistakes were recorded.

    `check_well_formed` is what whoever reads it says beside the decorator. A macro is checked where
    it is used.
    """
    if isinstance(node, ast.ClassDef):
        options = read_options(cx, decorator)
        check_well_formed = check_well_formed and options.get("check_well_formed", True)
        with cx.reporter.strictly(options.get("strict")):
            module = module_of_class(cx, node, check_well_formed)
        if decorator.kind != "rewriter" or module is None or cx.reporter.failed:
            return module
        return _rewriter_of(cx, node, module)
    if decorator.is_macro:
        return attempt(cx, node, lambda: macro_of(cx, node, lambda: cx.environment))
    parse = tir_function if decorator.kind == "prim_func" else relax_function
    return parse(cx, node, decorator, check_well_formed)


def _rewriter_of(
    cx: ScriptContext, node: ast.ClassDef, module: IRModule
) -> PatternMatchingRewriter | None:
    """The rewriter that a class under `R.rewriter` describes; None after recording why not."""
    from relaxscript.dpl.rewriter_module import rewriter_of

    try:
        return rewriter_of(module)
    except DiagnosticError as error:
        for found in error.diagnostics:
            inside = found.span is not None and found.span.source == cx.source
            at = found.span if inside else cx.source.name_span(node)
            cx.reporter.record(replace(found, span=at))
        return None


def class_context(
    around: ScriptContext, node: ast.ClassDef, check_well_formed: bool
) -> ClassContext:
    """The state of a class before its members are parsed: their names."""
    functions = [m for m in node.body if isinstance(m, ast.FunctionDef)]
    macros = {m.name for m in functions if is_macro(m, around.environment)}
    names = [m.name for m in functions if m.name not in macros]
    names += [t.id for m in node.body if isinstance(m, ast.Assign) for t in m.targets
              if isinstance(t, ast.Name)]  # fmt: skip
    module = ModuleContext(node.name, names, check_well_formed)
    # Macros are known by their plain names too, as nothing in the module could have these.
    scopes = around.environment.scopes
    known = around.environment.with_scopes([module.macros, *scopes])
    cx = ClassContext(around.source, node, known, around.reporter, module)
    module.macro_named = partial(macro_named, module.macros, known)
    return cx


def macro_named(
    macros: Mapping[str, Any], environment: Environment, callee: ast.expr
) -> ast.FunctionDef | None:
    """The definition of the macro that a callee names, of this class or captured."""
    match callee:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name) if name in macros:
            found = macros[name]
        case ast.Name(id=name):
            found = next((s[name] for s in environment.scopes if name in s), None)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            module = next((s[owner] for s in environment.scopes if owner in s), None)
            found = vars(module).get(name) if isinstance(module, ModuleType) else None
        case _:
            return None
    return found.node if isinstance(found, Macro) else None


def is_macro(member: ast.FunctionDef, environment: Environment) -> bool:
    """True if a member of a class is a macro."""
    return any(d.is_macro for d in script_decorators(member, environment))


def module_of_class(
    around: ScriptContext, node: ast.ClassDef, check_well_formed: bool = True
) -> IRModule | None:
    """The module that a class means; None when mistakes were recorded."""
    cx = class_context(around, node, check_well_formed)
    check_bases(cx)
    for member in cx.node.body:
        try:
            parse_member(cx, member)
        except Failed:
            cx.module.broken.update(n for n in names_inside(member) if n in cx.module.global_vars)
    for name, definition in cx.tir.items():
        checked = cx.module.check_well_formed
        enter(cx, name, tir_function(cx, definition, cx.decorators[name], checked, cx.module))
    for name, definition in cx.relax.items():
        parse_member_header(cx, name, definition)
    parse_member_functions(cx)
    for name, function in cx.module.adopted.items():  # from outside, as they were mentioned
        cx.module.global_vars[name] = cx.module.var_of(name)
        cx.parsed[name] = function
    if cx.module.check_well_formed:
        check_devices(cx)
        check_entry_point(cx)
    if cx.reporter.failed:
        return None
    order = [n for n in cx.module.global_vars if cx.parsed.get(n) is not None]
    made = IRModule(
        {cx.module.global_vars[name]: cx.parsed[name] for name in order},
        cx.attrs or None, cx.module.global_infos, cx.source.span(cx.node),
        cx.node.name,
    )  # fmt: skip
    if any(inner.holds_captured_ir and inner.check_well_formed for inner, _ in cx.headers.values()):
        for mistake in mistakes_in(made, cx.source.name_span(cx.node)):
            cx.report(mistake)
    return made


def check_bases(cx: ClassContext) -> None:
    """A module is a class of its own: other bases and metaclasses are refused, not ignored."""
    refused = [base for base in cx.node.bases if not is_no_base(cx, base)]
    help = f"write `class {cx.node.name}:`"
    mixed = len(refused) < len(cx.node.bases)
    plain = not refused and not cx.node.keywords
    without = [] if mixed or plain else [leave_out_bases(cx.source, cx.node)]
    for base in refused:
        cx.error(base, "RX0104", "a module has no base class", help=help, edits=without)
    for keyword in cx.node.keywords:
        cx.error(
            keyword, "RX0104", "a module has no arguments of its class", help=help,
            edits=without,
        )  # fmt: skip


def is_no_base(cx: ClassContext, base: ast.expr) -> bool:
    """`object`, or `I.Module`, which only type checkers read."""
    match base:
        case ast.Name(id=name):
            return name == "object" or cx.environment.value_of(name) is Module
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            module = cx.environment.value_of(owner)
            return isinstance(module, ModuleType) and vars(module).get(name) is Module
    return False


def check_entry_point(cx: ClassContext) -> None:
    """Criterion 12: a module of Relax functions has one that can be called from outside."""
    functions = [f for f in cx.parsed.values() if isinstance(f, Function)]
    if functions and not cx.module.broken and all(f.is_private for f in functions):
        cx.error(
            cx.source.name_span(cx.node), "RX0312",
            f"every function of `{cx.node.name}` is private, so none can be called",
            help="leave out `private=True` of one of them",
        )  # fmt: skip


def parse_member(cx: ClassContext, member: ast.stmt) -> None:
    match member:
        case ast.FunctionDef(name=name):
            declare(cx, name, member)
        case ast.Expr(value=ast.Call() as call):
            parse_info(cx, call)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            bind_existing(cx, name, value)
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return
        case _:
            cx.module.broken.update(names_inside(member))
            place = first_word(cx.source, member) or cx.source.span(member)
            message = "a module holds functions only"
            help = "decorate it with `@R.function` or `@T.prim_func`"
            if not isinstance(member, ast.AsyncFunctionDef):
                help = "write it outside the class"
            raise cx.error(place, "RX0104", message, help=help)


def declare(cx: ClassContext, name: str, member: ast.FunctionDef) -> None:
    if is_macro(member, cx.environment):
        cx.module.macros[name] = UNKNOWN
        environment = cx.environment
        cx.module.macros[name] = macro_of(cx, member, lambda: environment)
        return
    before = cx.relax.get(name) or cx.tir.get(name)
    if before is not None:
        raise cx.error(
            cx.source.name_span(member), "RX0302", f"the module has two functions `{name}`",
            labels=[(cx.source.name_span(before), "the first one")], help="rename one of them",
        )  # fmt: skip
    decorator = our_decorator(cx, member)
    cx.decorators[name] = decorator
    (cx.tir if decorator.kind == "prim_func" else cx.relax)[name] = member
    if decorator.kind == "prim_func":
        cx.module.prim_funcs.add(name)
    cx.module.definitions[name] = member


def member_of_module(cx: ClassContext, node: ast.expr) -> Any:
    """The function that a class adopts; of another module, that module and the function's name."""
    match node:
        case ast.Attribute(value=base, attr=name):
            owner = parse_expr(cx, base)
        case ast.Subscript(value=base, slice=ast.Constant(value=str(name))):
            owner = parse_expr(cx, base)
        case _:
            return parse_expr(cx, node)
    if isinstance(owner, IRModule) and name in owner:
        return owner, name
    return parse_expr(cx, node)


def check_devices(cx: ClassContext) -> None:
    """Criterion 24 for the functions from outside; those of the class were checked before."""
    for function, node in cx.module.captured:
        device = foreign_device(cx.module, function)
        if device is not None:
            needs = f"`{ast.unparse(node)}` needs the virtual device `{device.short}`"
            message, help = f"{needs}, which the module has not", cx.module.devices(device)
            cx.error(node, "RX0324", message, help=help)


def bind_existing(cx: ClassContext, name: str, node: ast.expr) -> None:
    """`name = R.ExternFunc("...")`, or a function that Python holds already."""
    value = member_of_module(cx, node)
    if isinstance(value, Macro):
        del cx.module.global_vars[name]
        cx.module.macros[name] = value
        return
    if not isinstance(value, (ExternFunc, Function, PrimFunc, tuple)):
        raise cx.error(
            node, "RX0104", "only functions can be members of a module",
            help="define it outside of the class, where functions can use it as well",
        )  # fmt: skip
    enter(cx, name, adopt_as(cx, cx.module, value, name, node))


def enter(cx: ClassContext, name: str, function: Function | PrimFunc | None) -> None:
    """Give a function that was parsed to the module."""
    if function is None:
        cx.module.broken.add(name)
        return
    cx.parsed[name] = function
    cx.module.sign(name, function_struct_info(function))


def parse_member_header(cx: ClassContext, name: str, node: ast.FunctionDef) -> None:
    inner = relax_context(cx, cx.module)
    header = attempt(
        inner, node, lambda: parse_header(inner, node, read_options(inner, cx.decorators[name]))
    )
    if header is None or header.failed:
        cx.module.broken.add(name)
    if header is not None:
        cx.headers[name] = (inner, header)
        if header.ret is not None:
            cx.module.sign(name, header.type_with(header.ret))


def parse_member_functions(cx: ClassContext) -> None:
    """Bodies, functions without a declared result before those that call them."""
    cx.undeclared = {name for name, (_, h) in cx.headers.items() if h.ret is None}
    for name, (inner, header) in cx.headers.items():
        if header.ret is None and cx.module.reaches(name, name):
            if inner.check_well_formed:
                refuse_undeclared_recursion(cx, name)
            else:
                cx.module.sign(name, header.type_with(ObjectStructInfo()))
    for name in in_order(cx, list(cx.headers)):
        inner, header = cx.headers[name]
        parse = partial(parse_function, inner, cx.relax[name], header)
        enter(cx, name, attempt(inner, cx.relax[name], parse))


def in_order(cx: ClassContext, names: list[str]) -> list[str]:
    """Callees first where their result is not declared."""
    order: list[str] = []
    state: dict[str, int] = {}
    for root in names:
        stack = [(root, iter(undeclared_callees(cx, root)))]
        if root in state:
            continue
        state[root] = 1
        while stack:
            name, callees = stack[-1]
            for callee in callees:
                if callee not in state:
                    state[callee] = 1
                    stack.append((callee, iter(undeclared_callees(cx, callee))))
                    break
            else:
                state[name] = 2
                order.append(name)
                stack.pop()
    return order


def undeclared_callees(cx: ClassContext, name: str) -> list[str]:
    """The functions without declared result that a function mentions."""
    if not cx.undeclared:
        return []
    return [n for n in cx.module.mentioned(name) if n in cx.undeclared]


def refuse_undeclared_recursion(cx: ClassContext, name: str) -> None:
    if name in cx.module.broken:
        return
    cx.module.broken.add(name)
    definition = cx.relax[name]
    inner, _ = cx.headers[name]
    reaches = cx.module.reaches
    others = [n for n in cx.headers if n != name and reaches(name, n) and reaches(n, name)]
    inner.error(
        cx.source.name_span(definition), "RX0308", undeclared_recursion(name, others),
        help=f"annotate it: `def {name}(...) -> R.Tensor(...):`",
    )  # fmt: skip
