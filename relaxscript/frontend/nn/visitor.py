"""Mutator: visits the modules, parameters and effects of a model, and puts others in their places.

    class Quantize(nn.Mutator):
        def visit_module(self, name, node):
            if isinstance(node, nn.Linear):
                return QuantizedLinear(node)
            return super().visit_module(name, node)

    model = Quantize().visit("", model)

Source: TVM `relax.frontend.nn.visitor`.
"""

from __future__ import annotations

from typing import Any

from .effect import Effect
from .module import Module, ModuleDict, ModuleList
from .parameter import Parameter

__all__ = ["Mutator"]


class Mutator:
    """Visits a model from the outside in; `name` is the path of attributes from where it began.

    Each method gives what takes the place of the node: the node itself, unless it is overridden.
    The attributes of modules are changed where they are. What occurs twice is visited once.
    """

    def visit(self, name: str, node: Any) -> Any:
        """The node, or what is in its place, after the visit of all that is in it."""
        done = self.__dict__.setdefault("_done", {})
        if not done:
            try:
                return self._visit(name, node, done)
            finally:
                done.clear()
        return self._visit(name, node, done)

    def _visit(self, name: str, node: Any, done: dict[int, tuple[Any, Any]]) -> Any:
        if id(node) in done:
            return done[id(node)][1]
        done[id(node)] = (node, node)  # for a module inside of itself
        match node:
            case ModuleList():
                made = self.visit_modulelist(name, node)
            case ModuleDict():
                made = self.visit_moduledict(name, node)
            case Module():
                made = self.visit_module(name, node)
            case Effect():
                made = self.visit_effect(name, node)
            case Parameter():
                made = self.visit_param(name, node)
            case _:
                made = node
        done[id(node)] = (node, made)
        return made

    def visit_module(self, name: str, node: Module) -> Any:
        """Visit the attributes of a module."""
        for key, value in list(vars(node).items()):
            if isinstance(value, (Module, Parameter, Effect)):
                setattr(node, key, self.visit(_inside(name, key), value))
        return node

    def visit_modulelist(self, name: str, node: ModuleList) -> Any:
        """Visit the modules of a list."""
        for index, module in enumerate(node.modules):
            node.modules[index] = self.visit(_inside(name, str(index)), module)
        return node

    def visit_moduledict(self, name: str, node: ModuleDict) -> Any:
        """Visit the modules of a dict."""
        for key, module in list(node.modules.items()):
            node.modules[key] = self.visit(_inside(name, key), module)
        return node

    def visit_effect(self, name: str, node: Effect) -> Any:
        """An effect."""
        return node

    def visit_param(self, name: str, node: Parameter) -> Any:
        """A parameter."""
        return node


def _inside(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
