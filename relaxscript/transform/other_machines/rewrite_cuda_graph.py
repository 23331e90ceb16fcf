"""RewriteCUDAGraph: on processors there are no graphs of kernels to capture."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["RewriteCUDAGraph"]


class RewriteCUDAGraph(ModulePass):
    """Leave the module as it is: a CUDA graph replays launches of GPU kernels, and there are none.

    Before, and after:

        storage = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), "global", "float32")
        y = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        cls.exp(x, y)

    In TVM it does nothing either, unless `relax.backend.use_cuda_graph` is set in the context. Then
    it makes functions of regions of static shape, which a GPU captures once and replays. Programs
    run on processors here, so that setting changes nothing. Source: TVM
    `relax.transform.RewriteCUDAGraph`.
    """

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return mod
