"""The reference evaluators: what programs mean, slow and obvious.

Start at `relax.py`, which runs calls of Relax functions: `expression.py` has the values of
expressions, `calls.py` the forms of calls. `environment.py` has the values of variables,
`closure.py` functions as values, `module_functions.py` what names stand for. `tir.py` evaluates
PrimFuncs over numpy arrays and numbers: `statement.py` has statements, `memory.py` buffers,
`reductions.py` and `external_calls.py` what expressions call. `element_copies.py` runs those that
only copy elements.

What other executors need as well is in `semantics/`.
"""

from __future__ import annotations

from .relax import Interpreter, RelaxClosure

__all__ = ["Interpreter", "RelaxClosure"]
