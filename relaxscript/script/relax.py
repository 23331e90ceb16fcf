"""The names behind `R.`: annotations, decorators, leaf values, and every operator.

from relaxscript.script import relax as R
"""

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from relaxscript.op.linear_algebra import matmul as _matmul
from relaxscript.op.namespace import *  # noqa: F403
from relaxscript.op.namespace import __all__ as _operators
from relaxscript.opdef.user_operators import offer as _offer_user_operators

from .names.annotations import Annotated, Callable, Object, Prim, Shape, Tensor, Tuple
from .names.members import absent_member as _absent_member
from .names.relax_devices import *  # noqa: F403
from .names.relax_devices import __all__ as _devices
from .names.relax_distributed import *  # noqa: F403
from .names.relax_distributed import __all__ as _distributed
from .names.relax_forms import *  # noqa: F403
from .names.relax_forms import __all__ as _forms, builder_forms as _builder_forms
from .names.relax_typed import *  # noqa: F403
from .names.relax_typed import __all__ as _typed
from .names.safe_callables import safe_callables as _safe_callables
from .parser.entry import function, relax_macro as macro, rewriter

func = function
# What later versions of TVM call an object, and the RFC a product of matrices.
Any = Object
dot = _matmul
_safe_callables(Annotated, Callable, Object, Prim, Shape, Tensor, Tuple)

__all__ = [
    "Annotated", "Any", "Callable", "Object", "Prim", "Shape", "Tensor", "Tuple", "dot", "func",
    "function", "macro", "rewriter", *_devices, *_distributed, *_forms, *_operators, *_typed,
]  # fmt: skip

_offer_user_operators(_sys.modules[__name__])

if not _TYPE_CHECKING:
    # What only programs say that are written as calls, inside of an `IRBuilder`.
    _BUILDER_NAMES = frozenset({
        "Else", "If", "Then", "arg", "emit", "emit_match_cast", "emit_var_binding",
        "emit_with_sinfo", "func_name", "func_ret_struct_info", "func_ret_value",
    })  # fmt: skip
    __dir__ = __all__.copy  # a prompt offers names of the language

    def __getattr__(name):  # type: ignore[no-untyped-def]
        forms = _builder_forms() if name in _BUILDER_NAMES else None
        if forms is not None:
            return getattr(forms, name)
        return _absent_member(_sys.modules[__name__], "R", name)
