"""Nodes are made by hand, looked at, and visited."""

import numpy as np
import pytest
import tvm
from tvm import relax as rx, tir
from tvm.script import relax as R

x = rx.Var("foo", R.Tensor((54, 96), "float32"))
assert x.name_hint == "foo"
assert x.struct_info.ndim == 2
assert x.struct_info.dtype == "float32"
assert int(x.struct_info.shape[0]) == 54
assert [int(d) for d in x.struct_info.shape] == [54, 96]
tvm.ir.assert_structural_equal(x.struct_info, rx.TensorStructInfo((54, 96), "float32"))

m, n = tir.Var("m", "int64"), tir.Var("n", "int64")
s = rx.ShapeExpr([m, n, 10])
assert s.values[0] == m
assert isinstance(s.struct_info, rx.ShapeStructInfo)
c = rx.const([[0.1, 1.2], [3.1, 4.2]])
assert c.data.shape == (2, 2)
t = rx.Tuple([x, s])
assert t.fields[0] == x
assert t[1] == t.fields[1] or isinstance(t[1], rx.TupleGetItem)
assert rx.PrimValue(tir.IntImm("int64", 1)).value.value == 1
assert rx.StringImm("hello").value == "hello"
assert rx.DataTypeImm("int32").value == "int32"
assert rx.extern("my_func").global_symbol == "my_func"
assert tvm.ir.structural_equal(rx.convert_to_expr([x, 1]), rx.Tuple([x, rx.PrimValue(1)]))

y = rx.Var("y", rx.TensorStructInfo([54, 96], "float32"))
call = rx.call_tir(rx.GlobalVar("f"), [x], rx.TensorStructInfo((54, 96), "float32"))
assert call.op.name == "relax.call_tir"
assert isinstance(call.sinfo_args[0], rx.TensorStructInfo)
block = rx.BindingBlock([rx.VarBinding(y, rx.op.add(x, x))])
func = rx.Function([x], rx.SeqExpr([block], y), rx.TensorStructInfo([54, 96], "float32"))
func = func.with_attr("global_symbol", "func")
mod = tvm.IRModule.from_expr(func)
assert mod["func"].attrs["global_symbol"] == "func"
seen = []
rx.analysis.post_order_visit(func, lambda e: seen.append(type(e).__name__))
assert "Call" in seen
assert rx.analysis.free_vars(rx.op.add(x, y)) == [x, y]
assert rx.get_shape_of(x).values[1] == 96
with pytest.raises(ValueError, match="<root>"):
    tvm.ir.assert_structural_equal(func, func.with_attr("a", 1))
match = rx.MatchCast(rx.Var("z", R.Tensor([m, n], "float32")), x, R.Tensor([m, n], "float32"))
assert match.struct_info == R.Tensor([m, n], "float32")
binding = rx.VarBinding(y, rx.const(np.zeros((54, 96), "float32")))
assert binding.var.same_as(y)
