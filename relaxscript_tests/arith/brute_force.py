"""Random scalar expressions, and their values for thousands of assignments at once.

The meaning of each operation is written down here once more, in numpy and apart from
`relaxscript.arith.evaluate`, so that neither can hide a mistake of the other.
"""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxscript.ir import prim, walk
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.relax import Op
from relaxscript_tests.arith.scalars import VARIABLES, integer, shift

__all__ = [
    "SIGNED", "SIZES", "Assignments", "Values", "changed", "computed", "condition", "expression",
    "is_over", "known_values", "near", "values", "where",
]  # fmt: skip

# The value of an expression under each assignment, and whether it has one.
Values = tuple[NDArray[Any], NDArray[np.bool_]]
Assignments = dict[Var, NDArray[np.int64]]


def _assignments(all_of: range, some_of: range) -> Assignments:
    """Every triple of small numbers, and a few hundred of larger ones."""
    random = Random(0)
    few = [tuple(random.choice(some_of) for _ in VARIABLES) for _ in range(300)]
    rows = np.array([*itertools.product(all_of, repeat=3), *few], dtype=np.int64)
    return dict(zip(VARIABLES, rows.T))


SIZES = _assignments(range(6), range(40))
SIGNED = _assignments(range(-3, 4), range(-25, 26))

COMPARISONS = (prim.EQ, prim.NE, prim.LT, prim.LE, prim.GT, prim.GE)
ARITHMETIC = (
    *[prim.Add] * 5, *[prim.Sub] * 4, *[prim.Mul] * 4, *[prim.FloorDiv] * 3, *[prim.FloorMod] * 3,
    prim.Div, prim.Mod, prim.Min, prim.Min, prim.Max, prim.Max,
)  # fmt: skip


# ---------------------------------------------------------------- drawing


def expression(random: Random, depth: int = 3) -> PrimExpr:
    """An int64 expression."""
    if depth == 0 or random.random() < 0.15:
        if random.random() < 0.6:
            return random.choice(VARIABLES)
        return integer(random.randint(-4, 9))
    match random.randrange(18):
        case 0:
            return shift("left", expression(random, depth - 1), random.randint(0, 3))
        case 1:
            return shift("right", expression(random, depth - 1), random.randint(0, 3))
        case 2:
            return prim.Select(condition(random, depth - 1), *_two(random, depth - 1))
        case 3:
            args = (condition(random, depth - 1), *_two(random, depth - 1))
            return prim.Call("int64", "tir.if_then_else", args)
        case 4:
            return prim.Call("int64", "tir.abs", (expression(random, depth - 1),))
        case 5:
            return bits(random, depth - 1)
    make = random.choice(ARITHMETIC)
    a, b = _two(random, depth - 1)
    if make in (prim.Mul, prim.FloorDiv, prim.FloorMod, prim.Div, prim.Mod) and random.randrange(3):
        # As in shapes, most factors and divisors are numbers.
        b = integer(random.choice((1, 2, 2, 3, 4, 4, 5, 8, 8, -1, -2, -3)))
    return make(a, b)


def bits(random: Random, depth: int) -> PrimExpr:
    """An operation on bits, or a shift by something that need not be a number."""
    a, b = _two(random, depth)
    if random.randrange(2):
        b = integer(random.choice((0, 1, 3, 5, 7, 15, -1, -2, -3, -4, -8)))
    match random.randrange(6):
        case 0:
            return prim.Call("int64", "tir.bitwise_not", (a,))
        case 1:
            return prim.Call("int64", "tir.shift_right", (a, b))
        case 2:
            return prim.Call("int64", "tir.bitwise_or", (a, b))
        case 3:
            return prim.Call("int64", "tir.bitwise_xor", (a, b))
    return prim.Call("int64", "tir.bitwise_and", (a, b))


def _two(random: Random, depth: int) -> tuple[PrimExpr, PrimExpr]:
    return expression(random, depth), expression(random, depth)


def condition(random: Random, depth: int = 3) -> PrimExpr:
    """A bool expression."""
    choice = random.randrange(9)
    if depth <= 0 or choice < 6:
        a, b = _two(random, max(depth - 1, 0))
        if random.randrange(3) == 0:
            b = near(random, a)
        return random.choice(COMPARISONS)(a, b)
    if choice == 6:
        return prim.Not(condition(random, depth - 1))
    make = random.choice((prim.And, prim.Or))
    return make(condition(random, depth - 1), condition(random, depth - 1))


def near(random: Random, e: PrimExpr) -> PrimExpr:
    """An expression that is likely to be equal to `e` for many values, or for all."""
    c = random.choice((2, 3, 4, 8))
    other = expression(random, 1)
    match random.randrange(8):
        case 0:
            return e + random.choice((-1, 0, 1))
        case 1:
            return e // c * c + random.choice((0, e % c))
        case 2:
            return (e + random.choice((0, c - 1, c))) // c * c
        case 3:
            return (e * c + random.choice((0, 1, c - 1, c))) // c
        case 4:
            return prim.Max(e, random.choice((e - other, other)))
        case 5:
            return prim.Min(e, other) + prim.Max(e, other) - random.choice((e, other))
        case 6:
            return prim.Div(e, integer(c)) * c + prim.Mod(e, integer(c))
    return prim.Select(condition(random, 1), e, random.choice((e, e + other - other, other)))


def changed(random: Random, e: PrimExpr) -> PrimExpr:
    """`e` with one of its literal numbers replaced by another, or a comparison by another."""
    parts = [p for p in walk.post_order(e) if isinstance(p, (prim.Comparison, prim.IntImm))]
    chosen = random.choice(parts)

    def step(node: Node) -> Node | None:
        if node is not chosen:
            return None
        if isinstance(node, prim.IntImm):
            return integer(node.value + random.choice((-1, 1, 2)))
        return random.choice(COMPARISONS)(node.a, node.b)  # type: ignore[attr-defined]

    return walk.rewrite(e, step)


def is_over(*expressions: PrimExpr) -> bool:
    """Whether expressions have no other variables than those of `VARIABLES`."""
    return all(v in VARIABLES for e in expressions for v in walk.free_vars(e))


# ---------------------------------------------------------------- values

TOO_LARGE = float(1 << 61)
BITS = {
    "tir.bitwise_and": np.bitwise_and,
    "tir.bitwise_or": np.bitwise_or,
    "tir.bitwise_xor": np.bitwise_xor,
}


def known_values(e: PrimExpr, given: Assignments) -> NDArray[Any]:
    """The values of `e` where it has one."""
    found, known = values(e, given)
    return found[known]


def where(condition: PrimExpr, given: Assignments) -> Assignments:
    """The assignments for which a condition holds."""
    found, known = values(condition, given)
    return {v: numbers[found & known] for v, numbers in given.items()}


def values(e: PrimExpr, given: Assignments) -> Values:
    """The values of `e`; none where it divides by zero or grows beyond int64."""
    match e:
        case prim.Var():
            return given[e], np.ones(len(given[e]), np.bool_)
        case prim.IntImm(value=value):
            size = len(next(iter(given.values())))
            kind = np.bool_ if e.dtype.is_bool else np.int64
            return np.full(size, value, kind), np.ones(size, np.bool_)
        case prim.FloatImm(value=number):
            size = len(next(iter(given.values())))
            return np.full(size, number, e.dtype.numpy), np.ones(size, np.bool_)
        case prim.Not(a):
            x, known = values(a, given)
            return ~x, known
        case prim.And(a, b) | prim.Or(a, b):
            (x, known), (y, other) = values(a, given), values(b, given)
            decided = x if isinstance(e, prim.Or) else ~x
            return (x | y if isinstance(e, prim.Or) else x & y), known & (decided | other)
        case prim.Select(c, a, b) | prim.Call(op="tir.if_then_else", args=(c, a, b)):
            (chosen, known), (x, first), (y, second) = (values(p, given) for p in (c, a, b))
            lazy = np.where(chosen, first, second)
            return np.where(chosen, x, y), known & (
                lazy if isinstance(e, prim.Call) else first & second
            )
        case prim.Call(op=Op(name), args=args):
            return _called(name, [values(a, given) for a in args])
        case prim.Binary(a, b) | prim.Comparison(a, b):
            return computed(type(e), values(a, given), values(b, given))
    raise NotImplementedError(type(e).__name__)


def _called(op: str, args: list[Values]) -> Values:
    x, known = args[0]
    if len(args) == 1:
        return np.abs(x) if op == "tir.abs" else ~x, known
    y, other = args[1]
    return (BITS[op](x, y), known & other) if op in BITS else _shifted(op, *args)


def _shifted(op: str, a: Values, b: Values) -> Values:
    (x, known), (y, other) = a, b
    # Shifting by a negative number or by all bits has no meaning.
    has_value = (y >= 0) & (y < 64)
    known = known & other & has_value
    y = np.where(has_value, y, 0)
    if op == "tir.shift_right":
        return x >> y, known
    return x << y, known & (np.abs(x.astype(np.float64)) * 2.0**y < TOO_LARGE)


def computed(kind: type[PrimExpr], a: Values, b: Values) -> Values:
    """The values of an operation on two integers."""
    (x, known), (y, other) = a, b
    known = known & other
    if kind in (prim.FloorDiv, prim.FloorMod, prim.Div, prim.Mod):
        known = known & (y != 0)
        return DIVISIONS[kind](x, np.where(y == 0, 1, y)), known
    if kind is prim.Mul:
        known = known & (np.abs(x.astype(np.float64) * y) < TOO_LARGE)
    with np.errstate(over="ignore"):
        return OPERATIONS[kind](x, y), known


def _toward_zero(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))


DIVISIONS = {
    prim.FloorDiv: np.floor_divide,
    prim.FloorMod: lambda x, y: x - np.floor_divide(x, y) * y,
    prim.Div: _toward_zero,
    prim.Mod: lambda x, y: x - _toward_zero(x, y) * y,
}
OPERATIONS: dict[type[PrimExpr], Any] = {
    prim.Add: np.add, prim.Sub: np.subtract, prim.Mul: np.multiply, prim.Min: np.minimum,
    prim.Max: np.maximum, prim.EQ: np.equal, prim.NE: np.not_equal, prim.LT: np.less,
    prim.LE: np.less_equal, prim.GT: np.greater, prim.GE: np.greater_equal,
}  # fmt: skip
