"""Relax functions that are one native call: `model.main` as a built-in function of Python.

`plan_reader.py` finds out whether a lowered function is calls of kernels only, and describes it as
data, which `plan.py` declares. `entry.py` writes the code that follows such a plan: `arguments.py`
the tests of arguments, `results.py` what is returned, `integers.py` the arithmetic of dimensions.
`support.py` and `argument_tests.py` have what all that code shares. `entries.py` compiles it and
makes the built-in functions (`builtin.py`).
"""

from __future__ import annotations

from .entries import native_entries

__all__ = ["native_entries"]
