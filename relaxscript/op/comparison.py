"""Comparisons of two tensors of one dtype, element by element; the results are bools.

Source: numpy's functions of the same names. Every comparison with NaN is false but `not_equal`.
"""

from __future__ import annotations

import numpy as np

from relaxscript.opdef.families import comparison
from relaxscript.opdef.tensor_expressions import te

from .gradients import constant

__all__ = ["equal", "greater", "greater_equal", "less", "less_equal", "not_equal"]

# fmt: off
# ruff: noqa: E501
equal         = comparison("equal",         "any", np.equal,         "True where `x1` equals `x2`.", "==", te=lambda a, b: te.element.equal(a, b), grad=constant)
not_equal     = comparison("not_equal",     "any", np.not_equal,     "True where `x1` differs from `x2`.", "!=", te=lambda a, b: te.element.not_equal(a, b), grad=constant)
less          = comparison("less",          "any", np.less,          "True where `x1` is below `x2`; False is below True.", "<", te=lambda a, b: te.element.less(a, b), grad=constant)
less_equal    = comparison("less_equal",    "any", np.less_equal,    "True where `x1` is at most `x2`.", "<=", te=lambda a, b: te.element.less_equal(a, b), grad=constant)
greater       = comparison("greater",       "any", np.greater,       "True where `x1` is above `x2`.", ">", te=lambda a, b: te.element.greater(a, b), grad=constant)
greater_equal = comparison("greater_equal", "any", np.greater_equal, "True where `x1` is at least `x2`.", ">=", te=lambda a, b: te.element.greater_equal(a, b), grad=constant)
# fmt: on
