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

from collections.abc import Callable
from typing import Any

from relaxscript.ir.field_types import brief

from .effect import Effect
from .module import Module, ModuleDict, ModuleList
from .parameter import Parameter
from .trace import model_error, nested_too_deeply

__all__ = ["Mutator"]


class Mutator:
    """Visits a model from the outside in; `name` is the path of attributes from where it began.

    Each method gives what takes the place of the node: the node itself, unless it is overridden.
    The attributes of modules are changed where they are. What occurs twice is visited once.

    Raises `DiagnosticError` (RX0711) where a method gives nothing that can be in a model.
    """

    def visit(self, name: str, node: Any) -> Any:
        """The node, or what is in its place, after the visit of all that is in it."""
        done = self.__dict__.setdefault("_done", {})
        if not done:
            try:
                return self._visit(name, node, done)
            except RecursionError:
                raise nested_too_deeply(
                    f"the model is nested too deeply for `{type(self).__name__}`"
                ) from None
            finally:
                done.clear()
        return self._visit(name, node, done)

    def _visit(self, name: str, node: Any, done: dict[int, tuple[Any, Any]]) -> Any:
        if id(node) in done:
            return done[id(node)][1]
        done[id(node)] = (node, node)  # for a module inside of itself
        method = self._method_for(node)
        made = node if method is None else _required(method(name, node), method, name)
        done[id(node)] = (node, made)
        return made

    def _method_for(self, node: Any) -> Callable[[str, Any], Any] | None:
        match node:
            case ModuleList():
                return self.visit_modulelist
            case ModuleDict():
                return self.visit_moduledict
            case Module():
                return self.visit_module
            case Effect():
                return self.visit_effect
            case Parameter():
                return self.visit_param
        return None

    def _replacement(self, name: str, node: Any) -> Any:
        """The value in the place of a member, by a `visit` that may be the user's."""
        return _required(self.visit(name, node), self.visit, name)

    def visit_module(self, name: str, node: Module) -> Any:
        """Visit the attributes of a module."""
        for key, value in list(vars(node).items()):
            if isinstance(value, (Module, Parameter, Effect)):
                setattr(node, key, self._replacement(_inside(name, key), value))
        return node

    def visit_modulelist(self, name: str, node: ModuleList) -> Any:
        """Visit the modules of a list."""
        for index, module in enumerate(node.modules):
            node.modules[index] = self._replacement(_inside(name, str(index)), module)
        return node

    def visit_moduledict(self, name: str, node: ModuleDict) -> Any:
        """Visit the modules of a dict."""
        for key, module in list(node.modules.items()):
            node.modules[key] = self._replacement(_inside(name, key), module)
        return node

    def visit_effect(self, name: str, node: Effect) -> Any:
        """An effect."""
        return node

    def visit_param(self, name: str, node: Parameter) -> Any:
        """A parameter."""
        return node


def _required(made: Any, method: Callable[..., Any], name: str) -> Any:
    """The result of a method for a node, which must be a part of a model."""
    if isinstance(made, (Module, Parameter, Effect)):
        return made
    code = method.__code__ if hasattr(method, "__code__") else None
    raise model_error(
        f"`{method.__name__}` gives {brief(made)} for `{name}`, which is no part of a model",
        help="return the node, or the module, parameter or effect that takes its place",
        notes=(f"it is defined in {code.co_filename}:{code.co_firstlineno}",) if code else (),
    )


def _inside(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
