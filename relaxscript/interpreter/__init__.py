"""The reference semantics: what programs mean, slow and obvious.

`tir.py` evaluates PrimFuncs over numpy arrays and numbers; `scalar.py` says what each scalar
operation computes; `signature.py` fits arguments to the parameters of a PrimFunc (compiled code
uses it too); `failure.py` holds what can go wrong in a run, in the same words for every executor.

`relax.py` evaluates Relax functions on top of it, in the scopes of `frame.py`; `closure.py` has
them as values. Compiled code shares `checks.py` (StructInfo as run-time checks), `operators.py` and
`devices.py` (calls of operators on values), `prim_funcs.py` (how Relax calls PrimFuncs) and
`blame.py` (what a failing run names).
"""

from __future__ import annotations

from .relax import Interpreter, RelaxClosure

__all__ = ["Interpreter", "RelaxClosure"]
