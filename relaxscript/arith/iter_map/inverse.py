"""The inverse of a bijective iter map: the iterators, computed from the indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.arith.arguments import scalar, wrong
from relaxscript.arith.format import format_expr
from relaxscript.arith.index_algebra import IndexAlgebra, is_one, is_zero
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.iter_map import IterMark, IterSplitExpr, IterSumExpr
from relaxscript.ir.prim import PrimExpr, Var

from .normalize import normalize_iter_map_to_expr

__all__ = ["inverse_affine_iter_map"]


def inverse_affine_iter_map(
    iter_map: Sequence[IterSumExpr], outputs: Sequence[PrimExpr | int]
) -> dict[Var, PrimExpr]:
    """The value of each iterator of `iter_map` where its indices are `outputs`.

    Of `[x // 16, x % 16]` it is `{x: output_0 * 16 + output_1}`. Iterators of which no index is a
    part, such as those of extent 1, are not in it.

    Raises `TypeError` for what is no list of sums or outputs. Raises `OperandError` where the
    indices do not tell all of an iterator.
    """
    name = "inverse_affine_iter_map"
    if not isinstance(iter_map, (list, tuple)):
        raise wrong(f"{name}.iter_map", "a list of IterSumExprs", iter_map)
    for total in iter_map:
        if not isinstance(total, IterSumExpr):
            raise wrong(f"{name}.iter_map", "a list of IterSumExprs", total)
    if not isinstance(outputs, (list, tuple)):
        raise wrong(f"{name}.outputs", "a list of expressions", outputs)
    values = [scalar(f"{name}.outputs", output) for output in outputs]
    if len(values) != len(iter_map):
        raise TypeError(f"`{name}.outputs` has {len(values)} values for {len(iter_map)} indices")
    return _Inverter(iter_map).invert(values)


class _Part(NamedTuple):
    """A split of a mark that begins at `offset`, and the value that it has."""

    split: IterSplitExpr
    offset: PrimExpr
    value: PrimExpr


class _Inverter:
    """Computes the values of marks from those of the sums that use them."""

    def __init__(self, sums: Sequence[IterSumExpr]) -> None:
        self.sums = sums
        self.algebra = IndexAlgebra()
        self._parts: dict[int, list[_Part]] = {}

    def invert(self, outputs: Sequence[PrimExpr]) -> dict[Var, PrimExpr]:
        order = self._marks_by_use()
        for total, output in zip(self.sums, outputs):
            self._distribute(total, output)
        found: dict[Var, PrimExpr] = {}
        for mark in order:
            value = self._value_of(mark)
            match mark.source:
                case IterSumExpr():
                    self._distribute(mark.source, value)
                case Var() as var:
                    found[var] = self.algebra.simplify(value)
                case prim.Sub(Var() as var, least):
                    found[var] = self.algebra.simplify(value + least)
                case source:
                    raise _refused(f"has `{format_expr(source)}`", "an iterator is no variable")
        return found

    def _marks_by_use(self) -> list[IterMark]:
        """All marks, each after those of whose sums it is a part."""
        finished: list[IterMark] = []
        seen: set[int] = set()
        stack: list[tuple[IterSumExpr, IterMark | None]] = [(s, None) for s in self.sums]
        while stack:
            total, done = stack.pop()
            if done is not None:
                finished.append(done)
                continue
            for split in total.args:
                mark, _ = _unshifted(split.source)
                if id(mark) in seen:
                    continue
                seen.add(id(mark))
                stack.append((total, mark))
                if isinstance(mark.source, IterSumExpr):
                    stack.append((mark.source, None))
        return finished[::-1]

    # ------------------------------------------------------------ values

    def _distribute(self, total: IterSumExpr, value: PrimExpr) -> None:
        """Tell the marks of a sum what follows from the value of the sum."""
        rest = value if is_zero(total.base) else value - total.base
        for place, split in enumerate(self._in_order(total)):
            digit = rest if is_one(split.scale) else rest // split.scale
            if place:
                digit = digit % split.extent
            mark, offset = _unshifted(split.source)
            self._parts.setdefault(id(mark), []).append(_Part(split, offset, digit))

    def _value_of(self, mark: IterMark) -> PrimExpr:
        """The value of a mark, from its parts. Raises `OperandError` where they do not tell it."""
        low: PrimExpr = prim.like(1, mark.extent)
        value: PrimExpr | None = None
        left = self._parts[id(mark)]
        is_told = False
        while left:
            found = next((p for p in left if self._is_equal(p.split.lower_factor, low)), None)
            if found is None or is_told:
                break
            left = [part for part in left if part is not found]
            above, end = found.value, self.algebra.multiply(low, found.split.extent)
            is_told = self.algebra.is_at_most(found.split.source.extent, end)
            if not is_zero(found.offset):
                # What is known of the value already has made the offset carry, or has not.
                carried = found.offset if value is None else value + found.offset
                above = above - (carried if is_one(low) else carried // low)
                above = above if is_told else above % found.split.extent
            above = above if is_one(low) else above * low
            value, low = above if value is None else above + value, end
        if value is None or left or not self.algebra.is_at_most(mark.extent, low):
            text = format_expr(normalize_iter_map_to_expr(mark.source))
            raise _refused(f"has parts of `{text}`", "they do not tell all of it")
        return value

    def _in_order(self, total: IterSumExpr) -> list[IterSplitExpr]:
        """The splits of a sum from the largest scale to the smallest; units, which are 0, last."""
        units = [split for split in total.args if is_one(split.extent)]
        left = [split for split in total.args if not is_one(split.extent)]
        ordered: list[IterSplitExpr] = []
        while left:
            # Each but the lowest has the scale at which another one ends.
            lowest = [s for s in left if not any(self._follows(s, o) for o in left if o is not s)]
            first = lowest[0] if lowest else left[0]
            if ordered and not self._follows(first, ordered[-1]):
                text = format_expr(normalize_iter_map_to_expr(total))
                raise _refused(
                    f"has the sum `{text}`", "it takes values more than once, or not all"
                )
            ordered.append(first)
            left = [split for split in left if split is not first]
        return [*ordered[::-1], *units]

    def _follows(self, split: IterSplitExpr, other: IterSplitExpr) -> bool:
        end = self.algebra.multiply(other.scale, other.extent)
        return self._is_equal(split.scale, end)

    def _is_equal(self, a: PrimExpr, b: PrimExpr) -> bool:
        return self.algebra.is_equal(a, b)


def _unshifted(mark: IterMark) -> tuple[IterMark, PrimExpr]:
    """The mark of which `mark` is the value and an offset; `mark` itself and 0 where it is none."""
    match mark.source:
        case IterSumExpr(args=(IterSplitExpr(source=inner, lower_factor=low, scale=scale),)):
            is_all = mark.source.args[0].extent is inner.extent
            base = mark.source.base
            # An offset below 0 is that of an iterator that a predicate made smaller.
            is_shift = is_all and is_one(low) and is_one(scale) and not is_zero(base)
            if is_shift and IndexAlgebra().is_at_most(prim.like(0, base), base):
                return inner, base
    return mark, prim.like(0, mark.extent)


def _refused(label: str, message: str) -> OperandError:
    return OperandError(
        "iter_map", label, code="RX0204", message=f"the iter map is not bijective: {message}"
    )
