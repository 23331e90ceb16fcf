"""The language of Relax functions: what each form of Python's means, and how one is parsed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from relaxscript.ir.relax import Expr
from relaxscript.op import CompositeOp, Operator
from relaxscript.script.names import relax_forms
from relaxscript.script.names.annotations import AnnotationForm
from relaxscript.script.parser.annotation import form_call
from relaxscript.script.parser.compile_time import COMPILE_TIME_RULES, ScriptLambda, call_lambda
from relaxscript.script.parser.macro import macro_in
from relaxscript.script.parser.module_context import ModuleContext
from relaxscript.script.parser.python_call import parse_arguments
from relaxscript.script.parser.python_language import PYTHON
from relaxscript.script.parser.script_context import Language, ScriptContext

from . import (
    attribute as relax_attribute,
    control as relax_control,
    dimension as relax_dimension,
    expression as relax_expression,
)
from .attribute import Method, method_call
from .binding import items_of, keep
from .call import composite_call, function_call, match_cast_call, operator_call, shape_call
from .context import RelaxContext
from .legacy_forms import match_shape_call
from .macro import expand_macro
from .name import find_name, undefined
from .operand_errors import explain
from .python_function import call_of_python, check_taken, explain_failure
from .statement import parse_stmt
from .tensor_expression import te_call

__all__ = ["RELAX", "relax_context"]


def call_value(cx: RelaxContext, callee: Any, node: ast.Call) -> Any:
    """A call, by what is called."""
    if callee.__class__ is Operator:  # in nearly every line
        return operator_call(cx, callee, node)
    match callee:
        case Method():
            return operator_call(cx, callee.operator, method_call(cx, callee, node))
        case Operator():
            return operator_call(cx, callee, node)
        case AnnotationForm():
            return form_call(cx, callee, node)
        case CompositeOp():
            return composite_call(cx, callee, node)
        case ScriptLambda():
            args, kwargs = parse_arguments(cx, node)
            return call_lambda(cx, callee, args, kwargs, node)
        case Expr():
            return function_call(cx, callee, node)
    found = macro_in(callee)
    if found is not None:
        return expand_macro(cx, *found, node)
    return _FORMS.get(id(callee), call_of_python)(cx, callee, node)


# What forms mean that are functions of Python.
_FORMS: Mapping[int, Callable[[RelaxContext, Any, ast.Call], Any]] = {
    id(relax_forms.emit_te): lambda cx, callee, node: te_call(cx, node),
    id(relax_forms.match_cast): lambda cx, callee, node: match_cast_call(cx, node),
    id(relax_forms.match_shape): lambda cx, callee, node: match_shape_call(cx, node),
    id(relax_forms.shape): lambda cx, callee, node: shape_call(cx, node),
}


RELAX = Language(
    rules={
        **PYTHON.rules,
        **COMPILE_TIME_RULES,
        ast.Name: relax_dimension.parse_name,
        ast.Attribute: relax_attribute.parse_attribute,
        ast.Subscript: relax_expression.parse_subscript,
        ast.IfExp: relax_control.parse_conditional,
    },
    find_name=find_name,
    undefined=undefined,
    explain=explain,
    attribute_of=relax_attribute.attribute_of,
    subscript_of=relax_attribute.subscript_of,
    call_value=call_value,
    operate=relax_expression.operate,
    items_of=items_of,
    keep=keep,
    is_deferred=relax_expression.is_deferred,
    compute=relax_expression.compute,
    check_taken=check_taken,
    explain_failure=explain_failure,
    parse_stmt=parse_stmt,
)


def relax_context(around: ScriptContext, module: ModuleContext) -> RelaxContext:
    """A context before a function is parsed; `around` is that outside of it."""
    return RelaxContext(around, module, RELAX)
