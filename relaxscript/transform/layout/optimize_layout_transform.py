"""OptimizeLayoutTransform: layouts that are undone at once are not made."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import YES, Facts, prove_equal, simplify
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import GE, INT64, LT, IntImm, PrimExpr, Var, cast, const
from relaxscript.ir.relax import Call, Expr, Function
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.ir.walk import substitute
from relaxscript.op.manipulate.relayout import layout_transform
from relaxscript.opdef.shapes import product
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass
from relaxscript.transform.simplify.shortened_chains import ChainShortener, shortened

__all__ = ["OptimizeLayoutTransform"]


class OptimizeLayoutTransform(FunctionPass):
    """Remove each `R.layout_transform` that undoes the one before it.

    Before:

        with R.dataflow():
            lv = R.layout_transform(x, index_map=lambda i, j: (i // 4, j, i % 4))
            lv1 = R.layout_transform(lv, index_map=lambda i, j, k: (i * 4 + k, j))
            gv = R.nn.relu(lv1)
            R.output(gv)

    After, where `x` has 4 rows or a multiple of them:

        with R.dataflow():
            gv = R.nn.relu(x)
            R.output(gv)

    Both maps together give each element the place that it had, and the first adds no padding: that
    is proved for all values of shape variables. Pairs stay where their result is returned and `x`
    is too, or is a parameter: these are two tensors.

    Source: TVM `relax.transform.OptimizeLayoutTransform`.
    """

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return shortened(func, mod, layout_transform.op, _source)


def _source(chain: ChainShortener, call: Call) -> Expr | None:
    """The tensor that a call gives its own layout again; None for other calls."""
    inner = chain.call_behind(call.args[0])
    if inner is None:
        return None
    first, second = (layout_transform.attributes(c)["index_map"] for c in (inner, call))
    known, between, wanted = map(chain.dims, (inner.args[0], inner, call))
    if known is None or between is None or wanted is None or len(known) != len(wanted):
        return None
    pairs = [(product(known), product(between)), *zip(known, wanted)]
    if not all(prove_equal(a, b) is YES for a, b in pairs):
        return None
    return inner.args[0] if _is_undone(first, second, known) else None


def _is_undone(first: IndexMap, second: IndexMap, dims: Sequence[PrimExpr]) -> bool:
    """True if an index map gives every index of a shape back that another one has changed."""
    facts, places = Facts(), []
    for var, dim in zip(first.initial_indices, dims):
        place = Var.make(var.name, INT64)
        places.append(place)
        if isinstance(dim, IntImm):
            facts = facts.with_range(place, 0, dim.value - 1)
        else:
            facts = facts.with_condition(GE(place, const(0, INT64)))
            facts = facts.with_condition(LT(place, dim))
    there = _mapped(first, places)
    back = _mapped(second, there)
    return all(prove_equal(a, b, facts) is YES for a, b in zip(back, places))


def _mapped(index_map: IndexMap, places: Sequence[PrimExpr]) -> list[PrimExpr]:
    own = {v: cast(e, v.dtype) for v, e in zip(index_map.initial_indices, places)}
    return [cast(simplify(substitute(e, own)), INT64) for e in index_map.final_indices]
