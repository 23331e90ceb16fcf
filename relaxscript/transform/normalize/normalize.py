"""Normalize: every Relax function typed and in normal form."""

from __future__ import annotations

from collections.abc import Iterator

from relaxscript.analysis.normal_form import is_normal
from relaxscript.analysis.violation import undeclared_recursion
from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, DiagnosticError, UnplacedError
from relaxscript.ir import relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.walk import compounds, post_order
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["Normalize"]


class Normalize(ModulePass):
    """Bring every function into A-normal form: each operand a leaf, each binding typed.

    Before:

        return R.multiply(R.add(x, x), y)

    After:

        add: R.Tensor((4,), "float32") = R.add(x, x)
        gv: R.Tensor((4,), "float32") = R.multiply(add, y)
        return gv

    Variables without StructInfo get the one of their value. Whether the program is well-formed is
    not asked: impure calls and control flow stay where they are, for `well_formed` to find.

    Raises `DiagnosticError` for operands that do not go together, and (RX0308) for recursion
    without a declared result. Source: spec "Normal Form" 1-5; TVM `relax.transform.Normalize`.
    """

    opt_level = 1

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return normalize_module(mod, check_well_formed=False)


def normalize_module(module: IRModule, check_well_formed: bool = True) -> IRModule:
    """The module with every Relax function typed and in normal form, by the block builder.

    Functions that are so already stay the same objects. With `check_well_formed`, impure calls and
    control flow where they may not be are refused in the others.

    Raises `DiagnosticError` for operands that do not go together, and (RX0308) for recursion
    without a declared result.
    """
    result = module
    for var in _callees_first(module):
        function = result[var]
        if not (_is_typed(function) and is_normal(function)):
            result = result.clone() if result is module else result
            result[var] = _normalize(function, var.name_hint, result, check_well_formed)
    return result


def _callees_first(module: IRModule) -> list[relax.GlobalVar]:
    """The Relax functions, those without declared result before whatever calls them."""
    functions = module.relax_functions()
    if all(function.ret_struct_info is not None for function in functions.values()):
        return list(functions)
    done: dict[relax.GlobalVar, None] = {}
    open_: dict[relax.GlobalVar, Iterator[relax.GlobalVar]] = {}
    for root in functions:
        stack = [] if root in done else [root]
        while stack:
            var = stack[-1]
            pending = open_.setdefault(var, _undeclared_callees(module, var))
            callee = next((v for v in pending if v not in done), None)
            if callee is None:
                done[stack.pop()] = None
            elif callee in open_:
                cycle = stack[stack.index(callee) + 1 :]
                text = undeclared_recursion(callee.name_hint, [v.name_hint for v in cycle])
                raise DiagnosticError(Diagnostic("RX0308", text, module[callee].span))
            else:
                stack.append(callee)
    return list(done)


def _undeclared_callees(module: IRModule, var: relax.GlobalVar) -> Iterator[relax.GlobalVar]:
    for node in post_order(module[var].body):
        if isinstance(node, relax.GlobalVar) and node in module:
            callee = module[node]
            if isinstance(callee, relax.Function) and callee.ret_struct_info is None:
                yield module.get_global_var(node.name_hint)


def _normalize(
    function: relax.Function, name: str, module: IRModule, check_well_formed: bool
) -> relax.Function:
    builder = BlockBuilder(module, shared=True)
    builder.check_well_formed = check_well_formed
    builder.begin_function(name, function.params, function.is_pure, function.attrs)
    try:
        builder.set_result(builder.normalize(function.body))
        return builder.end_function(
            function.ret_struct_info, function.span, function.body.span, function.ret_span
        )
    except UnplacedError as error:
        raise error.as_diagnostic_error(f"the function `{name}`", function.span) from None


def _is_typed(function: relax.Function) -> bool:
    """True if something is known of all that a function binds, and of the results inside."""
    for node in compounds(function):
        match node:
            case relax.Function(params=params, ret_struct_info=result):
                if result is None or any(p.struct_info is None for p in params):
                    return False
            case relax.Binding():
                if node.var.struct_info is None:
                    return False
    return True
