"""No kernels are captured on processors, whatever a context asks for."""

from __future__ import annotations

import pytest

from relaxscript.script import from_source
from relaxscript.transform import (
    PassContext,
    RewriteCUDAGraph,
    StaticPlanBlockMemory,
    default_build_pipeline,
)
from relaxscript_tests.transform.other_machines.programs import STATIC


@pytest.mark.parametrize("asked", [False, True])
def test_a_module_with_planned_memory_stays(asked):
    planned = StaticPlanBlockMemory()(from_source(STATIC))
    with PassContext(config={"relax.backend.use_cuda_graph": asked}):
        assert RewriteCUDAGraph()(planned) is planned


def test_it_is_where_tvm_has_it():
    names = [step.info.name for step in default_build_pipeline().passes]
    place = names.index("RewriteCUDAGraph")
    assert names[place - 1 : place + 2 : 2] == ["StaticPlanBlockMemory", "LowerAllocTensor"]
