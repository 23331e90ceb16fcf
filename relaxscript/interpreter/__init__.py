"""The reference evaluators: what programs mean, slow and obvious.

Start at `relax.py`, which evaluates Relax functions: `calls.py` has the forms of calls, `frame.py`
the scopes, `closure.py` functions as values. `tir.py` evaluates PrimFuncs over numpy arrays and
numbers: `memory.py` has buffers, `reductions.py` and `external_calls.py` what expressions call.

What other executors need as well stands in `semantics/`.
"""

from __future__ import annotations

from .relax import Interpreter, RelaxClosure

__all__ = ["Interpreter", "RelaxClosure"]
