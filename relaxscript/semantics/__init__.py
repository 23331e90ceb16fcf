"""The semantics that every executor shares: the evaluators, bytecode and native code.

Start at `scalar.py`, which says what each scalar operation computes, and at `checks.py`, which
makes run-time checks of StructInfo. Further files, by what they are about:

* scalars: `expression.py` (expressions over a frame), `llvm_calls.py`, `llvm_intrinsics.py` and
  `llvm_expansions.py` (intrinsics of hardware as expressions), `reduce.py`;
* PrimFuncs: `prim_func_abi.py` (parameters, and arguments that fit them), `write_sets.py`,
  `statements.py`, `lower_buffer_realize.py`, `c_functions.py`, `packed_calls.py`, and
  `prim_funcs.py` (how Relax calls them);
* Relax: `operators.py` and `devices.py` (operators on values), `packed_operators.py` (those that
  are called by name), `check_calls.py`, `make_closure.py`;
* errors: `tir_errors.py` (what goes wrong in a PrimFunc), `error_context.py` (what a failing run
  names).
"""

from __future__ import annotations

# For its builtins, which programs call by name.
from . import packed_operators  # noqa: F401

__all__: list[str] = []
