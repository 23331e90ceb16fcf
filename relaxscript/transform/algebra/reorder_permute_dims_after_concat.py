"""ReorderPermuteDimsAfterConcat: tensors are joined first, and permuted together."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Expr, Function, Tuple
from relaxscript.op.manipulate.axes import permute_dims
from relaxscript.op.manipulate.concat_split import concat
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

from .algebraic_rewriter import AlgebraicRewriter, rewrite_by
from .transposes import permutation_of

__all__ = ["ReorderPermuteDimsAfterConcat"]


class ReorderPermuteDimsAfterConcat(FunctionPass):
    """Join tensors before their axes are permuted, where all are permuted alike.

    Before:

        a = R.permute_dims(x)
        b = R.permute_dims(y)
        z = R.concat((a, b), axis=1)

    After:

        lv = R.concat((x, y), axis=0)
        z = R.permute_dims(lv)

    One tensor alone stays as it is. What is permuted for others as well stays for these. What a
    run has to check stays.

    Source: TVM `relax.transform.ReorderPermuteDimsAfterConcat`.
    """

    opt_level = 1

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return rewrite_by(_JoinedFirst(), func, mod)


# Axes as they are written; None for all of them in reverse.
_Order = tuple[int, ...] | None


class _JoinedFirst:
    """The law: what is permuted in one way, and joined, can be joined and permuted."""

    operator = concat.op.name
    in_block = False

    def rewritten(self, at: AlgebraicRewriter, call: Call) -> Expr | None:
        """The joined tensors, permuted in all ways in which each of them is."""
        tensors, axis = call.args[0], concat.attributes(call)["axis"]
        found = tensors if isinstance(tensors, Tuple) else at.definition(tensors)
        if not isinstance(found, Tuple) or len(found.fields) < 2 or axis is None:
            return None
        before, orders = list(found.fields), list[_Order]()
        while (permuted := self._permuted(at, before)) is not None:
            before, order, written = permuted
            axis = order[axis % len(order)]
            orders.append(written)
        if not orders:
            return None
        made: Expr = concat(before, axis)
        for written in reversed(orders):
            made = permute_dims(at.step(made), written)
        return made

    def _permuted(
        self, at: AlgebraicRewriter, tensors: Sequence[Expr]
    ) -> tuple[list[Expr], tuple[int, ...], _Order] | None:
        """The tensors that give some, permuted in one way, and that order, also as written."""
        before: list[Expr] = []
        orders: set[_Order] = set()
        written: set[_Order] = set()
        for tensor in tensors:
            permuted = at.definition(tensor)
            if not isinstance(permuted, Call) or permuted.op is not permute_dims.op:
                return None
            before.append(permuted.args[0])
            orders.add(permutation_of(permuted))
            written.add(permute_dims.attributes(permuted)["axes"])
        order = orders.pop()
        if orders or order is None:
            return None
        return before, order, written.pop() if len(written) == 1 else order
