"""The language of what is around functions: Python's own meanings, with our namespaces."""

from __future__ import annotations

import ast

from relaxscript.errors import Source

from . import expression
from .environment import Environment
from .python_call import call_python, parse_call
from .reporter import Reporter
from .script_context import Language, ScriptContext
from .suggestions import explain, undefined

__all__ = ["PYTHON", "python_context"]

PYTHON = Language(
    rules={
        ast.Name: expression.parse_name,
        ast.Constant: expression.parse_constant,
        ast.Attribute: expression.parse_attribute,
        ast.Call: parse_call,
        ast.BinOp: expression.parse_binary,
        ast.UnaryOp: expression.parse_unary,
        ast.Compare: expression.parse_comparison,
        ast.BoolOp: expression.parse_boolean,
        ast.Subscript: expression.parse_subscript,
        ast.Tuple: expression.parse_tuple,
        ast.List: expression.parse_list,
        ast.Dict: expression.parse_dict,
        ast.IfExp: expression.parse_conditional,
        ast.JoinedStr: expression.parse_f_string,
        ast.Slice: expression.parse_slice,
    },
    find_name=expression.captured_name,
    undefined=undefined,
    explain=explain,
    attribute_of=expression.python_attribute,
    subscript_of=expression.python_item,
    call_value=call_python,
    operate=expression.python_operation,
    items_of=expression.python_items,
)


def python_context(source: Source, environment: Environment, reporter: Reporter) -> ScriptContext:
    """A context outside of any function."""
    return ScriptContext(source, environment, reporter, PYTHON)
