"""What several GPUs would do together is done by one process."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source
from relaxscript.transform import IPCAllReduceRewrite, LowerGPUIPCAllocStorage, Sequential
from relaxscript_tests.transform.before_after import check

SUM = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        y = R.ccl.allreduce(x, op_type="sum", in_group=True)
        return y
"""
SHARED = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")):
        a = R.builtin.alloc_tensor(
            R.shape([3]), R.dtype("float32"), R.prim_value(0), R.str("ipc_memory")
        )
        return (x, a)
"""


@pytest.mark.parametrize("strategy", [0, 1, 2, 3])
def test_a_sum_of_all_workers_stays(strategy):
    check(IPCAllReduceRewrite(strategy), SUM)


def test_memory_of_several_processes_stays_memory_of_the_program():
    check(LowerGPUIPCAllocStorage(), SHARED)


def test_a_program_runs_after_both():
    mod = Sequential([IPCAllReduceRewrite(1), LowerGPUIPCAllocStorage()])(from_source(SUM))
    x = np.array([1, 2, 3], "float32")
    np.testing.assert_array_equal(rx.VirtualMachine(rx.build(mod))["main"](x), x)


def test_the_algorithm_is_a_number():
    with pytest.raises(DiagnosticError, match=r"`allreduce_strategy` of .* is an integer, not str"):
        IPCAllReduceRewrite("ring")
