"""ExpandMatmulOfSum: a product with a sum becomes a sum of products."""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Expr, Function
from relaxscript.op.binary import add
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.manipulate.axes import permute_dims
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .algebraic_rewriter import AlgebraicRewriter, dims_of, rewrite_by, rounds_alike

__all__ = ["ExpandMatmulOfSum"]


class ExpandMatmulOfSum(FunctionPass):
    """Multiply by the terms of a sum one by one, and add up the products.

    Before:

        s = R.add(w, d)
        y = R.matmul(x, s)

    After:

        lv = R.matmul(x, w)
        lv_1 = R.matmul(x, d)
        y = R.add(lv, lv_1)

    It is for the right operand, a sum of sums and a permuted sum as well: of use where a term is
    a product itself, which `AdjustMatmulOrder` then multiplies with `x` first. A term stays that is
    spread over the rows or columns of the sum. Floats are rounded in another order. A sum that is
    used elsewhere, too, stays there. What a run has to check stays.

    Source: TVM `relax.transform.ExpandMatmulOfSum`.
    """

    opt_level = 1
    tolerance = 1e-5

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewrite_by(_Expansion(), func, mod)


class _Term(NamedTuple):
    """A tensor, and the permutations of its axes that come before it is multiplied."""

    tensor: Expr
    permutations: tuple[tuple[int, ...] | None, ...] = ()


class _Expansion:
    """The law: `x (a + b)` is `x a + x b`."""

    operator = matmul.op.name
    in_block = False

    def rewritten(self, at: AlgebraicRewriter, call: Call) -> Expr | None:
        """The sum of the products with all terms; each is made once."""
        if not rounds_alike(call) or dims_of(call.args[0]) is None:
            return None
        left, right = call.args
        sums: dict[_Term, tuple[_Term, _Term] | None] = {}
        products: dict[_Term, Expr] = {}
        root = _Term(right)
        todo = [root]
        while todo:
            term = todo[-1]
            if term not in sums:
                sums[term] = self._summands(at, term)
            missing = [t for t in sums[term] or () if t not in products]
            if missing:
                todo += missing[::-1]
                continue
            todo.pop()
            if term not in products and term is not root:
                products[term] = at.step(self._product(at, left, term, sums[term], products))
        return None if sums[root] is None else self._product(at, left, root, sums[root], products)

    def _product(
        self,
        at: AlgebraicRewriter,
        left: Expr,
        term: _Term,
        summands: tuple[_Term, _Term] | None,
        products: dict[_Term, Expr],
    ) -> Call:
        """The product with a term: that with the tensor, or the sum of those with its summands."""
        if summands is not None:
            total: Call = add(*(products[summand] for summand in summands))
            return total
        tensor = term.tensor
        for axes in term.permutations:
            tensor = at.step(permute_dims(tensor, axes))
        product: Call = matmul(left, tensor)
        return product

    def _summands(self, at: AlgebraicRewriter, term: _Term) -> tuple[_Term, _Term] | None:
        """The terms of what is a sum, or a permuted sum."""
        tensor, permutations = term
        found = at.definition(tensor)
        while isinstance(found, Call) and found.op is permute_dims.op:
            permutations = (permute_dims.attributes(found)["axes"], *permutations)
            tensor = found.args[0]
            found = at.definition(tensor)
        if not isinstance(found, Call) or found.op is not add.op:
            return None
        if not all(self._is_alike(at, arg, tensor, bool(permutations)) for arg in found.args):
            return None
        first, second = (_Term(arg, permutations) for arg in found.args)
        return first, second

    def _is_alike(self, at: AlgebraicRewriter, summand: Expr, total: Expr, whole: bool) -> bool:
        """True if a summand has rows and columns of the sum, or `whole`, all of its axes."""
        dims, wanted = dims_of(summand), dims_of(total)
        if dims is None or wanted is None:
            return False
        if whole or len(wanted) < 2:
            return at.same(dims, wanted)
        return len(dims) > 1 and at.same(dims[-2:], wanted[-2:])
