"""`te` and `topi` as computes know them: imported when the first of their names is asked for.

Operators are typed, printed and evaluated without tensor expressions, which only compiling needs.
So `import relaxscript` does without them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import relaxscript.te as te
    from relaxscript.te import topi

__all__ = ["OnDemand", "te", "topi"]


class OnDemand:
    """A module that is imported with the first of its names, which are kept here.

    Python's own import lets one thread import it and the others wait.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what is asked of any object is no reason to import
            raise AttributeError(name)
        value = getattr(import_module(self._module), name)
        setattr(self, name, value)
        return value


if not TYPE_CHECKING:
    te = OnDemand("relaxscript.te")
    topi = OnDemand("relaxscript.te.topi")
