"""Fusion: what is computed together becomes one function.

annotate_tir_op_pattern.py  PrimFuncs say how their elements depend on those of their operands.
fuse_ops.py                 groups of calls become functions:
  tir_calls.py              which buffer each argument of a call is,
  dominators.py             where all uses of a value come together,
  grouping.py               which bindings are one group,
  fused_function.py         the function of a group,
  function_names.py         and its name.
fuse_ops_by_pattern.py      what patterns match becomes functions:
  fusion_pattern.py         a pattern, its name and conditions,
  group_function.py         the function of any bindings.
fuse_tir.py                 such functions become PrimFuncs:
  joined_function.py        what a function does, and the PrimFunc that does it,
  definite_writes.py        whether all of a buffer is written before it is read,
  body_template.py          a body, to be written with other buffers.
rewrite_dataflow_reshape.py  calls that only reshape become `R.reshape`.
"""
