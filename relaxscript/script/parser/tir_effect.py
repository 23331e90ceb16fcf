"""Statements of PrimFuncs that are expressions: effects, hints, assertions, attributes.

scalar | "T.evaluate(" scalar ")" | "T.buffer_store(...)" | "T.attr(...)" | "T.func_attr(...)"
| "T.Assert(...)" | "T.reads(...)" ... | "assert" scalar ["," text]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from relaxscript.errors import Span
from relaxscript.ir import prim, tir
from relaxscript.ir.buffer_access import indices_of
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.tir import Buffer, Evaluate
from relaxscript.script import tir_compute, tir_forms
from relaxscript.script.tir_types import Form

from .tir_buffer import BufferSyntax
from .tir_call import vstore
from .tir_compute import ComputeParser
from .tir_loop import LOOPS
from .tir_scalar import counted, describe

__all__ = ["EffectParser"]


class EffectParser(ComputeParser):
    """Adds statements that are expressions to loops."""

    # The forms that are statements of their own, and those that open a scope.
    effects: dict[Any, Callable[[Form, ast.Call], None]]
    scopes: dict[Any, Callable[[Form, ast.With, Sequence[ast.stmt]], None]]
    attrs: dict[str, Any]

    # statement = scalar | "T.evaluate(...)" | ...
    def expression(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, type(...))):
            return
        self.effect(self.value(node.value), node.value)

    def effect(self, value: Any, node: ast.expr) -> None:
        """A statement that is an expression."""
        match value:
            case None:
                return
            case Form() if value.maker in self.effects and isinstance(node, ast.Call):
                self.effects[value.maker](value, node)
            case bool() | int() | float() | prim.PrimExpr():
                self.items.append(Evaluate.make(self.scalar(value, node), span=self.span(node)))
            case Form() if value.maker in LOOPS or value.maker is tir_forms.grid:
                raise self.error(node, "RX0501", f"`{value.name}` is what a loop goes over",
                                 help=f"write `for i in {self.written(node)}:`")  # fmt: skip
            case Form() if value.maker in self.scopes:
                raise self.error(node, "RX0501", f"`{value.name}` opens a scope",
                                 help=f"write `with {self.written(node)}:`")  # fmt: skip
            case Form() | BufferSyntax():
                name = f"`{value.name}`" if isinstance(value, Form) else "a buffer"
                raise self.error(node, "RX0501", f"{name} needs a name here",
                                 help=f"write `x = {self.written(node)}`")  # fmt: skip
            case _:
                raise self.error(node, "RX0501", f"{describe(value)} does nothing by itself",
                                 help="a statement stores, loops, or calls something")  # fmt: skip

    def func_attr(self, form: Form, call: ast.Call) -> None:
        at = self.argument_nodes(form.maker, call)["attrs"]
        found = self.attributes(form.arguments["attrs"], at)
        self.add_attributes(self.attrs, found, at)

    def launch_thread(self, form: Form, call: ast.Call) -> None:
        """`T.launch_thread(tx, 32)` without a name of its own."""
        self.launch(form, call)

    def evaluate(self, form: Form, call: ast.Call) -> None:
        at = self.argument_nodes(form.maker, call)["value"]
        value = self.scalar(form.arguments["value"], at)
        self.items.append(Evaluate.make(value, span=self.span(call)))

    def buffer_store(self, form: Form, call: ast.Call) -> None:
        places = self.argument_nodes(form.maker, call)
        if form.maker is vstore and isinstance(call.func, ast.Attribute):
            # The buffer stands before the dot.
            places = self.argument_nodes(partial(vstore, form.arguments["buffer"]), call)
            places.update({"buffer": call.func.value, "indices": places["begin"]})
        buffer, indices = form.arguments["buffer"], form.arguments["indices"]
        if not isinstance(buffer, Buffer):
            raise self.error(
                places["buffer"], "RX0501", f"this is {describe(buffer)}, not a buffer"
            )
        given = list(indices) if isinstance(indices, (list, tuple)) else [indices]
        at = places["indices"]
        nodes = list(at.elts) if isinstance(at, (ast.List, ast.Tuple)) else [at] * len(given)
        if len(given) != buffer.ndim:
            takes = counted(buffer.ndim, "index", "indices")
            raise self.error(at, "RX0503", f"`{buffer.name}` takes {takes}, not {len(given)}")
        found = self.indices(buffer, given, nodes)
        value = form.arguments["value"]
        if form.maker is vstore and found and isinstance(value, PrimExpr):
            # A vector is stored from the element on at which it begins.
            lanes = value.dtype.lanes if found[-1].dtype.lanes == 1 else 1
            found = indices_of(found, lanes // buffer.dtype.lanes)
        made = self.made_store(
            buffer, found, form.arguments["value"], places["value"], places["buffer"]
        )
        predicate = form.arguments["predicate"]
        if predicate is not None:
            made = made.replace(predicate=self.scalar(predicate, places["predicate"]))
        self.items.append(made.replace(span=self.span(call)))

    def attr(self, form: Form, call: ast.Call) -> None:
        """A hint about the statements after it."""
        places = self.argument_nodes(form.maker, call)
        key = form.arguments["attr_key"]
        if not isinstance(key, str):
            raise self.error(places["attr_key"], "RX0103", "the name of a hint is a text")
        value = self.scalar(form.arguments["value"], places["value"])
        node = self.attr_node(form.arguments["node"], places["node"])
        span = self.span(call)
        self.items.append(lambda body: tir.AttrStmt.make(node, key, value, body, span=span))

    def attr_node(self, value: Any, node: ast.AST) -> Any:
        """What a hint is about: an axis, a buffer, a scalar, or a text."""
        if isinstance(value, Form) and value.maker is tir_compute.iter_var:
            return self.iter_var(value, node)
        if isinstance(value, (bool, int, float)):
            return self.scalar(value, node)
        if value is None or isinstance(value, (Node, str)):
            return value
        raise self.error(node, "RX0501", f"a hint cannot be about {describe(value)}")

    # statement = "assert" scalar ["," text]
    def assertion(self, node: ast.Assert) -> None:
        condition = self.checked_condition(node.test)
        message: Any = "" if node.msg is None else self.value(node.msg)
        if condition is not None:
            self.add_assertion(condition, message, node.msg or node, self.span(node))

    def assert_form(self, form: Form, call: ast.Call) -> None:
        places = self.argument_nodes(form.maker, call)
        condition = self.condition(form.arguments["condition"], places["condition"])
        self.add_assertion(condition, form.arguments["message"], places["message"], self.span(call))

    def add_assertion(
        self, condition: PrimExpr, message: Any, node: ast.AST, span: Span | None
    ) -> None:
        if not isinstance(message, (str, prim.StringImm)):
            raise self.error(
                node,
                "RX0501",
                f"the message of an assertion is a text, this is {describe(message)}",
            )
        text = prim.StringImm.make(message) if isinstance(message, str) else message
        self.items.append(lambda body: tir.AssertStmt.make(condition, text, body, span=span))
