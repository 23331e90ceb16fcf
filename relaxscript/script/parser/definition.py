"""One definition of a text or file, parsed as its decorator says: for all who read definitions."""

from __future__ import annotations

import ast

from relaxscript.errors import Source
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function
from relaxscript.ir.tir import PrimFunc

from .decorators import OurDecorator, read_options
from .diagnostics import Failed
from .environment import Environment
from .macro import Macro, macro_of
from .module import module_of_class, relax_function, tir_function
from .python_language import python_context
from .reporter import Reporter

__all__ = ["parse_definition"]


def parse_definition(
    source: Source, node: ast.ClassDef | ast.FunctionDef, environment: Environment,
    reporter: Reporter, decorator: OurDecorator, check_well_formed: bool = True,
) -> IRModule | Function | PrimFunc | Macro | None:  # fmt: skip
    """The module, function or macro of a definition; None when mistakes were recorded.

    `check_well_formed` is what whoever reads it says beside the decorator. A macro is checked where
    it is used.
    """
    if isinstance(node, ast.ClassDef):
        options = read_options(python_context(source, environment, reporter), decorator)
        check_well_formed = check_well_formed and options.get("check_well_formed", True)
        with reporter.strictly(options.get("strict")):
            return module_of_class(source, node, environment, reporter, check_well_formed)
    if decorator.is_macro:
        try:
            cx = python_context(source, environment, reporter)
            return macro_of(cx, node, lambda: environment)
        except Failed:
            return None
    parse = tir_function if decorator.kind == "prim_func" else relax_function
    return parse(source, node, environment, reporter, decorator, check_well_formed)
