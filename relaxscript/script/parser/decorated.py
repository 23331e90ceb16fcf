"""What type checkers take a decorated class for: a module, whose functions are attributes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relaxscript.ir.module import IRModule

__all__ = ["DecoratedModule"]

if TYPE_CHECKING:

    class DecoratedModule(IRModule):
        """A class under `@I.ir_module`."""

        def __getattr__(self, name: str) -> Any: ...

else:
    DecoratedModule = IRModule
