"""ReorderTakeAfterMatmul: columns are taken from a product, not from its operand."""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Expr, Function
from relaxscript.op.contraction import einsum
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.manipulate.axes import permute_dims
from relaxscript.op.manipulate.shapes import reshape
from relaxscript.op.search import take
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .algebraic_rewriter import AlgebraicRewriter, dims_of, rewrite_by

__all__ = ["ReorderTakeAfterMatmul"]


class ReorderTakeAfterMatmul(FunctionPass):
    """Multiply by a whole tensor, and take from the product what was taken from the tensor.

    Before:

        chosen = R.take(w, indices, axis=1)
        y = R.matmul(x, chosen)

    After:

        lv = R.matmul(x, w)
        y = R.take(lv, indices, axis=1)

    So it is for columns, chosen by indices of rank 1. A matrix may be chosen for each matrix of
    `x`, from a tensor of rank 3. Then `x` is multiplied with all of them, and each takes its own:
    that is more work, but by one product of two matrices. It is done inside of dataflow blocks
    only, since an index that is not there is found out later.

    Source: TVM `relax.transform.ReorderTakeAfterMatmul`.
    """

    opt_level = 1
    tolerance = 1e-5
    changes_failures = True

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewrite_by(_TakenBehind(), func, mod)


class _Choice(NamedTuple):
    """The operands of a call of `R.take`."""

    tensor: Expr
    axis: int
    indices: Expr
    mode: str


class _TakenBehind:
    """The law: columns of a product are products with columns.

    What is taken outside of the dataflow block at hand may fail there, and stays.
    """

    operator = matmul.op.name
    in_block = True

    def rewritten(self, at: AlgebraicRewriter, call: Call) -> Expr | None:
        """The product with a whole tensor, from which is taken what was taken from the tensor."""
        left, right = call.args
        out_dtype = matmul.attributes(call)["out_dtype"]
        taken: list[tuple[Expr, str]] = []
        while (found := self._taken(at, right)) is not None and found.axis > 0:
            right = found.tensor
            taken.append((found.indices, found.mode))
        product: Expr = matmul(left, right, out_dtype)
        if found is not None:
            each = self._matrices(at, left, found, out_dtype)
            if each is None and not taken:
                return None
            product = product if each is None else each
        elif not taken:
            return None
        for indices, mode in reversed(taken):
            whole = at.step(product)
            product = take(whole, indices, len(dims_of(whole) or ()) - 1, mode)
        return product

    def _taken(self, at: AlgebraicRewriter, expr: Expr) -> _Choice | None:
        """The tensor from which indices of rank 1 take, along its first or last axis."""
        found = at.definition(expr)
        if not isinstance(found, Call) or found.op is not take.op:
            return None
        tensor, indices = found.args
        dims, places = dims_of(tensor), dims_of(indices)
        options = take.attributes(found)
        if dims is None or len(dims) < 2 or places is None or len(places) != 1:
            return None
        axis = (options["axis"] or 0) % len(dims)
        if axis not in (0, len(dims) - 1):
            return None
        return _Choice(tensor, axis, indices, options["mode"])

    def _matrices(
        self, at: AlgebraicRewriter, left: Expr, found: _Choice, out_dtype: object
    ) -> Expr | None:
        """The products with all matrices, of which each matrix on the left takes its own."""
        dims, rows, places = (dims_of(e) or () for e in (found.tensor, left, found.indices))
        if not (len(dims) == len(rows) == 3 and at.same(rows[:1], places)):
            return None
        count, inner, columns = dims
        beside = at.step(permute_dims(found.tensor, [1, 0, 2]))
        wide = at.step(reshape(beside, [inner, count * columns]))
        product = at.step(matmul(left, wide, out_dtype))
        each = at.step(reshape(product, [*rows[:2], count, columns]))
        chosen = at.step(take(each, found.indices, 2, found.mode))
        made: Expr = einsum([chosen], "ijik->ijk")
        return made
