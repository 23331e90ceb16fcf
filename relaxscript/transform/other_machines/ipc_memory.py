"""Passes for memory that several GPUs share: one process runs a program here, on processors."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["IPCAllReduceRewrite", "LowerGPUIPCAllocStorage"]


class IPCAllReduceRewrite(ModulePass):
    """Leave every `R.ccl.allreduce` as it is: there is no other kernel that would compute it.

    Before, and after:

        y = R.ccl.allreduce(x, op_type="sum", in_group=True)

    TVM calls "runtime.disco.cuda_ipc.custom_allreduce" instead where a build for CUDA has
    registered it, and leaves the module elsewhere. `allreduce_strategy` is the number of the
    algorithm of that kernel. One process runs a program here (`LowerToOneWorker`), and the sum over
    one worker is the tensor itself. Source: TVM `relax.transform.IPCAllReduceRewrite`.
    """

    def __init__(self, allreduce_strategy: int) -> None:
        self.allreduce_strategy = allreduce_strategy

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return mod


class LowerGPUIPCAllocStorage(ModulePass):
    """Leave every allocation as it is: processors have one memory, whatever its scope is called.

    Before, and after:

        x = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), "ipc_memory")

    TVM allocates what is of the scope "ipc_memory" by "runtime.disco.cuda_ipc.alloc_storage". The
    processes of other GPUs see that memory. Here it is memory of the program alone.
    Source: TVM `relax.transform.LowerGPUIPCAllocStorage`.
    """

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return mod
