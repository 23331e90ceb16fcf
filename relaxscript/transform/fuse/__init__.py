"""Fusion: what is computed together becomes one function.

annotate_tir_op_pattern.py  PrimFuncs say how their elements depend on those of their operands.
fuse_ops.py                 groups of calls become functions:
  tir_calls.py              which buffer each argument of a call is,
  dominators.py             where all uses of a value come together,
  grouping.py               which bindings are one group,
  fused_function.py         the function of a group.
"""
