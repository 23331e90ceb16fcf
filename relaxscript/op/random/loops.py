"""The loops of random numbers: the bits of Threefry-2x32, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.dtypes import DataType
from relaxscript.ir.prim import PrimExpr, cast, const
from relaxscript.ir.scalar_functions import FUNCTIONS, reinterpret
from relaxscript.ir.tir import Buffer, Stmt
from relaxscript.opdef.tensor_expressions import te
from relaxscript.tir_builder import TIRBuilder

from .normal_quantile import FAR, LN2_HIGH, LN2_LOW, MIDDLE, TAIL, TERMS
from .threefry import PARITY, ROTATIONS

__all__ = ["high_word", "keys", "low_word", "normal_quantile", "random_tensor", "share_of"]

_FLOAT64 = DataType("float64")
_UINT32, _UINT64 = DataType("uint32"), DataType("uint64")

# A key, and the third word that follows from it.
_Words = tuple[PrimExpr, PrimExpr, PrimExpr]
_Make = Callable[[TIRBuilder, PrimExpr], PrimExpr]


def high_word(bits: PrimExpr) -> PrimExpr:
    """The high half of 64 bits."""
    return cast(te.element.right_shift(bits, const(32, _UINT64)), _UINT32)


def low_word(bits: PrimExpr) -> PrimExpr:
    """The low half of 64 bits."""
    return cast(te.element.bitwise_and(bits, const(0xFFFFFFFF, _UINT64)), _UINT32)


def _words(tb: TIRBuilder, key: Buffer) -> _Words:
    first, second = tb.let("k0", te.element.load(key, 0)), tb.let("k1", te.element.load(key, 1))
    both = te.element.bitwise_xor(
        te.element.bitwise_xor(first, second), const(int(PARITY), _UINT32)
    )
    return first, second, tb.let("k2", both)


def _threefry(
    tb: TIRBuilder, words: _Words, first: PrimExpr, second: PrimExpr
) -> tuple[PrimExpr, PrimExpr]:
    """The statements that compute the two words for a counter."""
    x, y = tb.let("x", first + words[0]), tb.let("y", second + words[1])
    for group in range(5):
        for by in ROTATIONS[group % 2]:
            x = tb.let("x", x + y)
            left = te.element.left_shift(y, const(by, _UINT32))
            right = te.element.right_shift(y, const(32 - by, _UINT32))
            y = tb.let("y", te.element.bitwise_xor(te.element.bitwise_or(left, right), x))
        x = tb.let("x", x + words[(group + 1) % 3])
        y = tb.let("y", y + words[(group + 2) % 3] + const(group + 1, _UINT32))
    return x, y


def random_tensor(
    key: te.Tensor, shape: Sequence[PrimExpr], dtype: DataType, make: _Make
) -> te.Tensor:
    """A tensor of what is made of the bits of each element."""

    def statements(ins: Sequence[Buffer], outs: Sequence[Buffer]) -> Stmt:
        tb = TIRBuilder(rooted=False)
        words = _words(tb, ins[0])

        def element(i: Sequence[PrimExpr]) -> None:
            found = cast(i[0], _UINT64) if i else const(0, _UINT64)
            for index, size in zip(i[1:], outs[0].shape[1:]):
                found = found * cast(size, _UINT64) + cast(index, _UINT64)
            place = tb.let("place", found)
            x, y = _threefry(tb, words, high_word(place), low_word(place))
            both = te.element.bitwise_or(
                te.element.left_shift(cast(x, _UINT64), const(32, _UINT64)), cast(y, _UINT64)
            )
            tb.store(outs[0], tuple(i), make(tb, tb.let("bits", both)))

        if outs[0].shape:
            with tb.grid(*outs[0].shape) as i:
                element(tuple(i))
        else:
            element(())
        return tb.body()

    made: te.Tensor = te.extern(shape, [key], statements, name="T_random", dtype=dtype)
    return made


def keys(key: te.Tensor, shape: Sequence[PrimExpr], first: int) -> te.Tensor:
    """A key in each row, of a counter whose first word is given."""

    def statements(ins: Sequence[Buffer], outs: Sequence[Buffer]) -> Stmt:
        tb = TIRBuilder(rooted=False)
        words = _words(tb, ins[0])
        with tb.grid(outs[0].shape[0]) as i:
            row = i[0] if isinstance(i, (tuple, list)) else i
            x, y = _threefry(tb, words, const(first, _UINT32), cast(row, _UINT32))
            tb.store(outs[0], (row, 0), x)
            tb.store(outs[0], (row, 1), y)
        return tb.body()

    made: te.Tensor = te.extern(shape, [key], statements, name="T_keys", dtype=_UINT32)
    return made


def share_of(bits: PrimExpr, digits: int) -> PrimExpr:
    """A number from 0 to below 1 of so many of the highest bits."""
    high = te.element.right_shift(bits, const(64 - digits, _UINT64))
    return cast(high, _FLOAT64) * 2.0**-digits


# ---------------------------------------------------------------- the normal distribution


def _polynomial(coefficients: Sequence[float], x: PrimExpr) -> PrimExpr:
    total: PrimExpr = const(coefficients[0], _FLOAT64)
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def _quotient(parts: tuple[Sequence[float], Sequence[float]], x: PrimExpr) -> PrimExpr:
    return _polynomial(parts[0], x) / _polynomial(parts[1], x)


def _natural_logarithm(tb: TIRBuilder, x: PrimExpr) -> PrimExpr:
    """The same steps as those of the meaning; powers of 2 are read from the bits of a number."""
    bits = tb.let("pattern", reinterpret("uint64", x))
    exponent = cast(te.element.right_shift(bits, const(52, _UINT64)), DataType("int64")) - 1022
    pattern = te.element.bitwise_or(
        te.element.bitwise_and(bits, const((1 << 52) - 1, _UINT64)), const(1022 << 52, _UINT64)
    )
    half = tb.let("half", reinterpret("float64", pattern))
    is_low = tb.let("is_low", half < 0.5**0.5)
    share = tb.let("share", te.element.select(is_low, half * 2.0, half))
    power = tb.let("power", cast(exponent - cast(is_low, exponent.dtype), _FLOAT64))
    ratio = tb.let("ratio", (share - 1.0) / (share + 1.0))
    square = tb.let("square", ratio * ratio)
    series = _polynomial([1 / (2 * n + 1) for n in reversed(range(TERMS))], square)
    return power * LN2_HIGH + (power * LN2_LOW + ratio * 2.0 * series)


def normal_quantile(tb: TIRBuilder, p: PrimExpr) -> PrimExpr:
    """The number that a standard normal one is below with probability `p`, between 0 and 1."""
    q = tb.let("q", p - 0.5)
    outer = tb.let("outer", te.element.select(q < 0.0, p, 1.0 - p))
    r = tb.let("r", FUNCTIONS["sqrt"](_natural_logarithm(tb, outer) * -1.0))
    tail, far = tb.let("tail", r - 1.6), tb.let("far", r - 5.0)
    distance = tb.let(
        "distance", te.element.select(r <= 5.0, _quotient(TAIL, tail), _quotient(FAR, far))
    )
    near = tb.let("near", 0.180625 - q * q)
    middle = q * _quotient(MIDDLE, near)
    is_near = FUNCTIONS["abs"](q) <= 0.425
    return te.element.select(is_near, middle, te.element.select(q < 0.0, distance * -1.0, distance))
