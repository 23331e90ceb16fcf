"""The state of parsing one class: its members, and the module that they make."""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.errors import Source

from .decorators import ScriptDecorator
from .environment import Environment
from .module_context import ModuleContext
from .python_language import PYTHON
from .relax_functions.context import Header, RelaxContext
from .reporter import Reporter
from .script_context import ScriptContext

__all__ = ["ClassContext"]


class ClassContext(ScriptContext):
    """A class under `@I.ir_module` that is being parsed."""

    def __init__(
        self, source: Source, node: ast.ClassDef, environment: Environment, reporter: Reporter,
        module: ModuleContext,
    ) -> None:  # fmt: skip
        super().__init__(source, environment, reporter, PYTHON)
        self.node = node
        self.module = module
        self.attrs: dict[str, Any] = {}
        self.parsed: dict[str, Any] = {}
        self.decorators: dict[str, ScriptDecorator] = {}
        self.relax: dict[str, ast.FunctionDef] = {}
        self.tir: dict[str, ast.FunctionDef] = {}
        self.headers: dict[str, tuple[RelaxContext, Header]] = {}
        self.undeclared: set[str] = set()
