"""What `R.` means: annotations, decorators, leaf values, and every operator.

from relaxscript.script import relax as R
"""

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from relaxscript.op.namespace import *  # noqa: F403
from relaxscript.op.namespace import __all__ as _operators

from .annotations import Callable, Object, Prim, Shape, Tensor, Tuple
from .members import absent_member as _absent_member
from .parser.base import safe_callables as _safe_callables
from .parser.entry import function
from .relax_forms import *  # noqa: F403
from .relax_forms import __all__ as _forms

func = function
_safe_callables(Callable, Object, Prim, Shape, Tensor, Tuple)

__all__ = [
    "Callable", "Object", "Prim", "Shape", "Tensor", "Tuple", "func", "function", *_forms,
    *_operators,
]  # fmt: skip

if not _TYPE_CHECKING:

    def __getattr__(name):  # type: ignore[no-untyped-def]
        return _absent_member(_sys.modules[__name__], "R", name)
