"""DispatchSortScan and DispatchSampling: which code computes sorts, running sums and samples."""

from __future__ import annotations

from relaxscript.builder import BlockBuilder
from relaxscript.ir.module import IRModule
from relaxscript.op import Operator
from relaxscript.op.sampling import multinomial_from_uniform
from relaxscript.op.scan import cumprod, cumsum
from relaxscript.op.sorting import argsort, sort, topk
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .legalize_ops import Legalizer, write_functions

__all__ = ["DispatchSampling", "DispatchSortScan"]


class DispatchSortScan(ModulePass):
    """Make calls of PrimFuncs of running sums and products; leave sorts to numpy.

    Before:

        y = R.cumsum(x, axis=1)
        z = R.sort(y, axis=1)

    After:

        @T.prim_func(private=True)
        def cumsum(data: T.Buffer((2, 3), "float32"), T_cumsum: T.Buffer((2, 3), "float32")): ...

        y = R.call_tir(cls.cumsum, (x,), out_sinfo=R.Tensor((2, 3), "float32"))
        z = R.sort(y, axis=1)

    TVM looks at the target: a GPU has kernels of libraries, and a processor the loops that
    `LegalizeOps` writes as well. `R.cumsum` and `R.cumprod` become those here. `R.sort`,
    `R.argsort` and `R.topk` stay what they are: numpy, which runs operators, sorts large tensors
    faster than their loops do. `LegalizeOps` writes these where a program has to be loops only.

    Source: TVM `relax.backend.DispatchSortScan`.
    """

    adds_functions = True
    tolerance = 1e-6  # loops sum in an order of their own

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return _dispatched(mod, argsort, cumprod, cumsum, sort, topk)


class DispatchSampling(ModulePass):
    """Call the packed function that draws indices, which a row of probabilities decides.

    Before:

        y = R.multinomial_from_uniform(prob, uniform_sample, sample_indices, dtype="int64")

    After:

        y = R.call_pure_packed(
            "relax.run.multinomial_from_uniform", prob, uniform_sample, sample_indices,
            R.str("int64"), sinfo_args=R.Tensor((3, 1), "int64"),
        )

    TVM writes a running sum and a search over it for a processor, and a kernel for a GPU. The
    packed function is the meaning of the operator in numpy, which sums in float64 and searches in
    one go. `LegalizeOps` calls it as well.

    Source: TVM `relax.backend.DispatchSampling`.
    """

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return _dispatched(mod, multinomial_from_uniform)


def _dispatched(mod: IRModule, *operators: Operator) -> IRModule:
    """The module with calls where these operators were, but for those that numpy is faster at."""
    builder = BlockBuilder(mod)
    names = {operator.name for operator in operators}
    legalizer = Legalizer(mod, builder, keep_faster=True, only=names)
    return builder.get() if write_functions(legalizer, builder) else mod
