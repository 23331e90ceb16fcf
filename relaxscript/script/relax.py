"""What `R.` means: annotations, decorators, leaf values, and every operator.

from relaxscript.script import relax as R
"""

from relaxscript.op.namespace import *  # noqa: F403
from relaxscript.op.namespace import __all__ as _operators

from .annotations import Callable, Object, Prim, Shape, Tensor, Tuple
from .parser.entry import function
from .relax_forms import *  # noqa: F403
from .relax_forms import __all__ as _forms

func = function

__all__ = [
    "Callable", "Object", "Prim", "Shape", "Tensor", "Tuple", "func", "function", *_forms,
    *_operators,
]  # fmt: skip
