"""Relax functions that are one native call: `model.main` as a built-in function of Python.

`plan.py` finds out whether a lowered function is calls of kernels only, and describes it as data.
`entry.py` writes the code that follows such a plan, `integers.py` its arithmetic of dimensions.
`support.py` has what all that code shares. `entries.py` compiles it and makes the built-in
functions (`builtin.py`).
"""

from __future__ import annotations

from .entries import native_entries

__all__ = ["native_entries"]
