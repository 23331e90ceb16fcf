"""The reference evaluators: what programs mean, slow and obvious.

Start at `relax.py`, which evaluates Relax functions: `calls.py` has the forms of calls,
`environment.py` the values of variables, `closure.py` functions as values. `tir.py` evaluates
PrimFuncs over numpy arrays and numbers: `statement.py` has statements, `memory.py` buffers,
`reductions.py` and `external_calls.py` what expressions call.

What other executors need as well stands in `semantics/`.
"""

from __future__ import annotations

from .relax import Interpreter, RelaxClosure

__all__ = ["Interpreter", "RelaxClosure"]
