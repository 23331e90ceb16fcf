"""Names, parameters and defaults of `relaxscript.tir` are those of `tvm.tir`, 0.20 to 0.25."""

from __future__ import annotations

import inspect
from operator import attrgetter

import pytest

from relaxscript import tir

# Each with its parameters and defaults.
SIGNATURES = """
stmt_functor.post_order_visit(stmt, fvisit)
stmt_functor.pre_order_visit(stmt, fvisit)
stmt_functor.ir_transform(stmt, preorder, postorder, only_enable=None)
stmt_functor.substitute(node, vmap)
stmt_functor.renew_defs(func)
functor.visitor(cls)
functor.mutator(cls)
PyStmtExprVisitor()
PyStmtExprMutator()
PyStmtExprVisitor.visit_stmt(self, stmt)
PyStmtExprMutator.visit_expr(self, expr)
IndexMap.from_func(mapping_function, ndim=None, inverse_index_map=None, index_dtype='int64')
IndexMap.from_func_with_separators(mapping_function, ndim=None, inverse_index_map=None, index_dtype='int64')
IndexMap.map_indices(self, indices, analyzer=None)
IndexMap.map_shape(self, shape, analyzer=None)
IndexMap.map_ndarray(self, arr_src)
IndexMap.map_tensor(self, arr_src)
IndexMap.inverse(self, shape, analyzer=None)
IndexMap.non_surjective_inverse(self, shape, analyzer=None)
IndexMap.is_equivalent_to(self, other_map, analyzer=None)
analysis.expr_deep_equal(lhs, rhs)
analysis.undefined_vars(node, defs=None)
analysis.verify_ssa(func)
analysis.verify_well_formed(obj, assert_mode=True)
analysis.get_block_access_region(block, buffer_var_map)
analysis.get_block_read_write_region(block, buffer_var_map)
analysis.calculate_allocated_bytes(func_or_mod)
analysis.estimate_tir_flops(stmt_or_mod)
transform.prim_func_pass(pass_func=None, opt_level=None, name=None, required=None, traceable=False)
transform.Apply(ftransform)
transform.Filter(fcond)
transform.Simplify()
transform.RemoveNoOp()
transform.ConvertSSA()
transform.LowerInitBlock()
transform.ConvertBlocksToOpaque()
transform.PlanAndUpdateBufferAllocationLocation()
transform.CompactBufferAllocation()
transform.FlattenBuffer()
transform.LowerOpaqueBlock()
transform.UnrollLoop()
transform.VectorizeLoop(enable_vectorize=True)
transform.AnnotateEntryFunc()
transform.BindTarget(target)
PrimFunc.specialize(self, param_map)
PrimFunc.with_body(self, new_body, span=None)
PrimFunc.with_attrs(self, attr_map)
"""  # noqa: E501


@pytest.mark.parametrize("line", SIGNATURES.strip().splitlines())
def test_a_name_has_the_parameters_that_tvm_gives_it(line: str) -> None:
    name = line.partition("(")[0]
    parameters = [
        p.name if p.default is p.empty else f"{p.name}={p.default!r}"
        for p in inspect.signature(attrgetter(name)(tir)).parameters.values()
    ]
    assert f"{name}({', '.join(parameters)})" == line


def test_modules_of_tir_list_what_is_tested() -> None:
    tested = {line.partition("(")[0] for line in SIGNATURES.strip().splitlines()}
    for module in ("stmt_functor", "analysis", "transform"):
        names = {f"{module}.{name}" for name in getattr(tir, module).__all__}
        assert names - tested <= {"transform.CompactScheduledBuffers", "transform.PrimFuncPass"}


def test_the_separator_of_axes_is_a_name() -> None:
    assert tir.IndexMap.AXIS_SEPARATOR == "axis_separator"
