"""Normalize: every Relax function typed and in normal form."""

from __future__ import annotations

from collections.abc import Iterator

from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, DiagnosticError, OperandError
from relaxscript.ir import relax
from relaxscript.ir.module import IRModule
from relaxscript.ir.walk import post_order

from .context import PassContext
from .passes import ModulePass

__all__ = ["Normalize"]


class Normalize(ModulePass):
    """Bring every function into A-normal form: each operand a leaf, each binding typed.

    Before:

        return R.multiply(R.add(x, x), y)

    After:

        add: R.Tensor((4,), "float32") = R.add(x, x)
        gv: R.Tensor((4,), "float32") = R.multiply(add, y)
        return gv

    Raises `DiagnosticError` for operands that do not go together, and (RX0308) for recursion
    without a declared result. Source: spec "Normal Form" 1-5; TVM `relax.transform.Normalize`.
    """

    opt_level = 1

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return normalized(mod)


def normalized(module: IRModule) -> IRModule:
    """The module with every Relax function typed and in normal form, by the block builder.

    Functions that are so already stay the same objects. Raises `DiagnosticError` for operands that
    do not go together, and (RX0308) for recursion without a declared result.
    """
    result = module
    for var in _callees_first(module):
        function = result[var]
        if not _is_normal(function):
            result = result.clone() if result is module else result
            result[var] = _normalize(function, var.name_hint, result)
    return result


def _callees_first(module: IRModule) -> list[relax.GlobalVar]:
    """The Relax functions, those without declared result before whatever calls them."""
    done: dict[relax.GlobalVar, None] = {}
    open_: dict[relax.GlobalVar, Iterator[relax.GlobalVar]] = {}
    for root in module.relax_functions():
        stack = [] if root in done else [root]
        while stack:
            var = stack[-1]
            pending = open_.setdefault(var, _undeclared_callees(module, var))
            callee = next((v for v in pending if v not in done), None)
            if callee is None:
                done[stack.pop()] = None
            elif callee in open_:
                text = f"`{callee.name_hint}` is recursive and does not declare its result"
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


def _normalize(function: relax.Function, name: str, module: IRModule) -> relax.Function:
    builder = BlockBuilder(module)
    builder.begin_function(name, function.params, function.is_pure, function.attrs)
    try:
        builder.set_result(builder.normalize(function.body))
        return builder.end_function(
            function.ret_struct_info, function.span, function.body.span, function.ret_span
        )
    except OperandError as error:
        callee = f"the function `{name}`"
        raise DiagnosticError(error.diagnostic(callee, function.span, {})) from None


def _is_normal(function: relax.Function) -> bool:
    """Whether a function is typed and in normal form (spec, "Normal Form" 1-3)."""
    typed = function.ret_struct_info is not None and isinstance(function.body, relax.SeqExpr)
    if not typed or any(p.struct_info is None for p in function.params):
        return False
    stack: list[relax.Expr] = [function.body]
    while stack:
        seq = stack.pop()
        if not isinstance(seq, relax.SeqExpr) or not _is_leaf(seq.body):
            return False
        for binding in (b for block in seq.blocks for b in block.bindings):
            if binding.var.struct_info is None or not _is_normal_value(binding.value):
                return False
            match binding.value:
                case relax.If(true_branch=yes, false_branch=no):
                    stack += [yes, no]
                case relax.Function(body=body):
                    stack.append(body)
    return True


def _is_normal_value(value: relax.Expr) -> bool:
    match value:
        case relax.Call(op=callee, args=args):
            return all(map(_is_leaf, args)) and (isinstance(callee, relax.Op) or _is_leaf(callee))
        case relax.If(cond=cond):
            return _is_leaf(cond)
        case relax.TupleGetItem(tuple_value=tuple_value):
            return _is_leaf(tuple_value)
        case relax.Function():
            return value.ret_struct_info is not None
    return _is_leaf(value)


def _is_leaf(expr: relax.Expr) -> bool:
    if isinstance(expr, relax.Tuple):
        return all(map(_is_leaf, expr.fields))
    return isinstance(expr, relax.LeafExpr)
