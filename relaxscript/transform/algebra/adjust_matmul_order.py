"""AdjustMatmulOrder: of the orders of a product of several matrices, the one of least work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from relaxscript.arith import YES, prove, prove_equal
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import INT64, LE, IntImm, Mul, PrimExpr
from relaxscript.ir.relax import Call, Expr, Function, Var
from relaxscript.op.linear_algebra import matmul
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .algebraic_rewriter import (
    AlgebraicRewriter,
    dims_of,
    rewrite_by,
    rounds_alike,
    uses_of,
)
from .transposes import transpose, transposed_operand

__all__ = ["AdjustMatmulOrder"]

Dims = Sequence[PrimExpr]
_ONE: PrimExpr = IntImm.make(INT64, 1)


class AdjustMatmulOrder(FunctionPass):
    """Multiply several matrices in the order that takes the least work.

    Before, where `x` has 1 row, and `a` and `b` are of 64 x 8 and 8 x 64:

        w = R.matmul(a, b)
        y = R.matmul(x, w)

    After:

        lv = R.matmul(x, a)
        y = R.matmul(lv, b)

    A transposed product is the product of the transposed in the other order. That one order takes
    less work than the other has to be proved for all sizes. A product that is used elsewhere, too,
    stays there, and its work is counted. Floats are rounded in another order. Products with a
    dtype of their own stay, and so do those which a run has to check.

    Source: TVM `relax.transform.AdjustMatmulOrder`.
    """

    tolerance = 1e-5

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewrite_by(_Orders(func), func, mod)


class _Factor(NamedTuple):
    """A tensor of a product, or what it is with rows and columns exchanged."""

    tensor: Expr
    dims: Dims
    is_transposed: bool = False


class _Order(NamedTuple):
    """Another order of a product: what is multiplied first, and with what, on which side, then."""

    inner: tuple[_Factor, _Factor]
    other: _Factor
    other_is_left: bool
    passed: tuple[Var, ...]


class _Orders:
    """The law for one function; `uses` says how often each variable is mentioned by now."""

    operator = matmul.op.name
    in_block = False

    def __init__(self, func: Function) -> None:
        self.uses: Counter[Var] = uses_of(func)

    def rewritten(self, at: AlgebraicRewriter, call: Call) -> Expr | None:
        """The product in another order, as often as another one is better."""
        if not rounds_alike(call):
            return None
        left, right = (_factor(arg) for arg in call.args)
        if left is None or right is None:
            return None
        waiting: list[_Order] = []
        passed: list[Var] = []
        while True:
            order = self._order(at, left, right)
            if order is not None:
                waiting.append(order)
                passed += order.passed
                left, right = order.inner
                continue
            if not passed:
                return None
            made: Expr = matmul(self._value(at, left), self._value(at, right))
            if not waiting:
                self._count(at, passed)
                return made
            var = at.step(made)
            inner = _Factor(var, dims_of(var) or ())
            order = waiting.pop()
            left, right = (order.other, inner) if order.other_is_left else (inner, order.other)

    def _order(self, at: AlgebraicRewriter, left: _Factor, right: _Factor) -> _Order | None:
        """An order that takes less work than `left` times `right`, if there is one."""
        outer = self._work(at, left.dims, right.dims)
        if outer is None:
            return None
        for whole, other, is_left in ((left, right, False), (right, left, True)):
            found = self._factors(at, whole)
            if found is None:
                continue
            (a, b), passed = found
            triple = (other, a, b) if is_left else (a, b, other)
            # The middle one is multiplied with the other first.
            inner, last = (triple[:2], triple[2]) if is_left else (triple[1:], triple[0])
            order = _Order((inner[0], inner[1]), last, not is_left, passed)
            if _is_associative(*triple) and self._is_less(at, order, outer, a, b):
                return order
        return None

    def _factors(
        self, at: AlgebraicRewriter, whole: _Factor
    ) -> tuple[tuple[_Factor, _Factor], tuple[Var, ...]] | None:
        """The factors of what is a product itself, and the variables between."""
        tensor, is_transposed = whole.tensor, whole.is_transposed
        passed = []
        within = transposed_operand(at, tensor)
        if within is not None and isinstance(tensor, Var):
            passed.append(tensor)
            tensor, is_transposed = within, not is_transposed
        found = at.definition(tensor)
        if not isinstance(found, Call) or found.op is not matmul.op or not rounds_alike(found):
            return None
        assert isinstance(tensor, Var), "what is defined is a variable"
        passed.append(tensor)
        a, b = (_factor(arg) for arg in found.args)
        if a is None or b is None:
            return None
        if not is_transposed:
            return (a, b), tuple(passed)
        if len(a.dims) < 2 or len(b.dims) < 2:
            return None
        return (_transposed(b), _transposed(a)), tuple(passed)

    def _is_less(
        self, at: AlgebraicRewriter, order: _Order, outer: PrimExpr, a: _Factor, b: _Factor
    ) -> bool:
        """True if an order takes no more work for any sizes, and less for some."""
        saved = [outer]
        if all(self._is_used_once(at, var) for var in order.passed):
            product = self._work(at, a.dims, b.dims)
            saved += [] if product is None else [product]
        first = self._work(at, order.inner[0].dims, order.inner[1].dims)
        between = self._product_dims(at, order.inner[0].dims, order.inner[1].dims)
        if first is None or between is None:
            return False
        pair = (order.other.dims, between) if order.other_is_left else (between, order.other.dims)
        second = self._work(at, *pair)
        if second is None:
            return False
        now, then = reduce(lambda x, y: x + y, saved), first + second
        facts = at.facts
        return prove_equal(then, now, facts) is not YES and prove(LE.make(then, now), facts) is YES

    def _is_used_once(self, at: AlgebraicRewriter, var: Var) -> bool:
        return at.is_step(var) or self.uses[var] == 1

    def _work(self, at: AlgebraicRewriter, left: Dims, right: Dims) -> PrimExpr | None:
        """The number of multiplications of a product; None where it is not known."""
        dims = self._product_dims(at, left, right)
        return None if dims is None else reduce(_times, [*dims, left[-1]], _ONE)

    def _product_dims(self, at: AlgebraicRewriter, left: Dims, right: Dims) -> Dims | None:
        if not left or not right:
            return None
        batch = self._broadcast(at, left[:-2], right[:-2])
        columns = right[-1:] if len(right) > 1 else ()
        return None if batch is None else [*batch, *left[-2:-1], *columns]

    def _broadcast(self, at: AlgebraicRewriter, a: Dims, b: Dims) -> Dims | None:
        """The dimensions that both are spread to, where that is sure."""
        long, short = (a, b) if len(a) >= len(b) else (b, a)
        found = list(long[: len(long) - len(short)])
        for x, y in zip(long[len(found) :], short):
            if _is_one(x) or _is_one(y):
                found.append(y if _is_one(x) else x)
            elif at.same([x], [y]):
                found.append(x)
            else:
                return None
        return found

    def _value(self, at: AlgebraicRewriter, factor: _Factor) -> Expr:
        if not factor.is_transposed:
            return factor.tensor
        return at.step(transpose(factor.tensor, len(factor.dims)))

    def _count(self, at: AlgebraicRewriter, passed: Sequence[Var]) -> None:
        """Note that a product is used once less; where it stays, its factors are used once more."""
        for var in passed:
            value = at.bound(var)
            if self.uses[var] > 1 and isinstance(value, Call):
                self.uses[var] -= 1
                self.uses.update(arg for arg in value.args if isinstance(arg, Var))


def _factor(expr: Expr) -> _Factor | None:
    dims = dims_of(expr)
    return None if dims is None else _Factor(expr, dims)


def _transposed(factor: _Factor) -> _Factor:
    dims = factor.dims
    return _Factor(
        factor.tensor, [*dims[:-2], dims[-1], dims[-2]], is_transposed=not factor.is_transposed
    )


def _is_associative(a: _Factor, b: _Factor, c: _Factor) -> bool:
    """True if it does not matter which product is made first: vectors go with matrices only."""
    ranks = [len(factor.dims) for factor in (a, b, c)]
    if ranks[1] < 2 or 0 in ranks:
        return False
    return 1 not in ranks or max(ranks) == 2


def _times(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return b if a is _ONE else Mul.make(a, b)


def _is_one(dim: PrimExpr) -> bool:
    return isinstance(dim, IntImm) and dim.value == 1
