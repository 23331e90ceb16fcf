"""Macros that other files import: what their names mean is settled here."""

from __future__ import annotations

from relaxscript.script import relax as R, tir as T

FACTOR = 3.0


@R.macro
def scaled(x):
    return R.multiply(x, R.const(FACTOR))


@R.macro(hygienic=False)
def scaled_there(x):
    return R.multiply(x, R.const(FACTOR))


@T.macro
def filled(A, count):
    for i in range(count):
        A[i] = T.float32(FACTOR)


@R.macro
def mistaken(x):
    return R.multiply(x, R.const(FAKTOR))


@R.macro
def mistaken_twice(x):
    y = mistaken(x)
    return mistaken(y)
