"""A decorated class for type checkers: a module, whose functions are attributes of it.

pyright reads it off the decorator. mypy takes no notice of decorators of classes; for it the class
says so by its base, `class Digits(I.Module):`, which means nothing when it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relaxscript.ir.module import IRModule

__all__ = ["DecoratedModule", "Module"]

if TYPE_CHECKING:

    class DecoratedModule(IRModule):
        """A class under `@I.ir_module`."""

        def __getattr__(self, name: str) -> Any: ...

    class ModuleClass(type, IRModule):
        """The type of a class with the base `I.Module`: a module."""

    # The first parameter of a method may be of any type where a base may be anything.
    class Module(Any, metaclass=ModuleClass):  # type: ignore[misc]
        """The base of a class under `@I.ir_module`, for type checkers: mypy needs it."""

else:
    DecoratedModule = IRModule

    class Module:
        """The base of a class under `@I.ir_module`, for type checkers: mypy needs it.

        `class Digits(I.Module):` is the same module as `class Digits:`; only then does mypy know
        that `Digits` has `show`, `script` and the other methods of modules.
        """
