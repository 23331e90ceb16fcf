"""Constructors take what people write and refuse the rest with the name of the field."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.ir import IRModule, VDevice, prim, relax, tir
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.script import relax as R

X = relax.Var("x", TensorStructInfo((2, 3), "float32"))
N = prim.Var("n", "int64")
I = prim.Var("i", "int32")  # noqa: E741
A = tir.Buffer("A", (3, 4))
NOTHING = tir.Evaluate(0)
ADD = relax.Op("relax.add")

REFUSED = {
    "`Call.op` must be an Expr, not int (5)": lambda: relax.Call(5, [X]),
    "`Call.args` must be a sequence whose items are each an Expr, not Var (x)": lambda: relax.Call(
        ADD, X
    ),
    "`Call.attrs` cannot be int (5): attributes are a mapping": lambda: relax.Call(ADD, [X, X], 5),
    "`Call.sinfo_args` must be a sequence whose items are each a StructInfo, but item 0 is int": (
        lambda: relax.Call(ADD, [X, X], None, [5])
    ),
    # Classes of other files than that of the node, which are known by their names.
    "`BufferLoad.buffer` must be a Buffer, not str ('A')": lambda: prim.BufferLoad("A", [I]),
    "`Call.op` must be an Op or a GlobalVar, not int (5)": lambda: prim.Call("int32", 5, [I]),
    "`If.cond` must be an Expr, not int (1)": lambda: relax.If(1, X, X),
    "`Var.struct_info` must be a StructInfo or None, not str": lambda: relax.Var("x", "float32"),
    "`Var.name_hint` must be a str, not int (3)": lambda: relax.Var(3),
    "`TupleGetItem.index` cannot be str ('a')": lambda: relax.TupleGetItem(X, "a"),
    "`TupleGetItem.index` cannot be bool (True)": lambda: relax.TupleGetItem(X, True),
    "`TupleGetItem.index` counts from 0": lambda: relax.TupleGetItem(X, -1),
    "a dimension is a whole number, not of float32": lambda: relax.ShapeExpr([1.5]),
    "one dimension is written `(n,)`": lambda: TensorStructInfo(3),
    "`TensorStructInfo.shape` cannot be tuple ((2.5,))": lambda: TensorStructInfo((2.5,)),
    "`TensorStructInfo.ndim` is a number of dimensions": lambda: TensorStructInfo(None, ndim=-5),
    "`TensorStructInfo.vdevice` must be a VDevice or None, not int": lambda: TensorStructInfo(
        (2,), "float32", 5
    ),
    "`ShapeStructInfo.ndim` is 3, but the shape has 2": lambda: ShapeStructInfo([N, 3], ndim=3),
    "`TupleStructInfo.fields` must be a sequence": lambda: TupleStructInfo(TensorStructInfo(())),
    "`FuncStructInfo.params` must be a sequence": lambda: FuncStructInfo([3], None),
    "`BindingBlock.bindings` must be a sequence": lambda: relax.BindingBlock(
        relax.VarBinding(X, X)
    ),
    "`Function.params`: nothing is known of the parameter `w`": lambda: relax.Function(
        [relax.Var("w")], X
    ),
    "not `R.Object` itself; write `R.Object()`": lambda: relax.Var("x", R.Object),
    "the attribute `a` cannot hold a Python object": lambda: relax.Function(
        [X], X, attrs={"a": object()}
    ),
    "the attribute `a` cannot hold a Python set": lambda: relax.Attrs({"a": {1}}),
    "the name of an attribute is a string, not int (5)": lambda: relax.Attrs({5: 1}),
    "`IntImm.value` cannot be float (3.7)": lambda: prim.IntImm("int32", 3.7),
    "`FloatImm.value` cannot be str ('3')": lambda: prim.FloatImm("float32", "3"),
    "`Add` takes two values of one dtype, not int32 and int64": lambda: prim.Add(I, N),
    "`LT` takes two values of one dtype, not int32 and int64": lambda: prim.LT(I, N),
    "`And.a` must be a bool, not of int64": lambda: prim.And(N, N),
    "`Not.a` must be a bool, not of int64": lambda: prim.Not(N),
    "`Select.condition` must be a bool": lambda: prim.Select(N, 1, 2),
    "`Select` takes two values of one dtype": lambda: prim.Select(prim.EQ(N, 0), N, I),
    "`Let` takes two values of one dtype": lambda: prim.Let(N, prim.StringImm("a"), N),
    "`Ramp.lanes` cannot be int (0): a vector has at least one lane": lambda: prim.Ramp(0, 1, 0),
    "`Shuffle.vectors` cannot be list ([])": lambda: prim.Shuffle([], []),
    "the buffer `A` has 2 dimensions, but there are 1 indices": lambda: prim.BufferLoad(A, [1]),
    "`BufferStore.indices`: the buffer `A` has 2": lambda: tir.BufferStore(A, 1.0, [1]),
    "`BufferStore.value` must be of float32": lambda: tir.BufferStore(A, I, [1, 1]),
    "the buffer `A` has 2 dimensions, but there are 1 ranges": lambda: tir.BufferRegion(
        A, [tir.Range(0, 3)]
    ),
    "the elements of the buffer `B` have a dtype": lambda: tir.Buffer("B", (2,), "void"),
    "there are 1 strides": lambda: tir.Buffer("B", (2, 2), strides=[1]),
    "not `serieal`; did you mean `serial`?": lambda: tir.For(I, 0, 5, "serieal", NOTHING),
    "the block `b` has 0 axes, but there are 1 values": lambda: tir.BlockRealize(
        [I], True, tir.Block([], [], [], "b", NOTHING)
    ),
    "`IterVar.dom` is of int64, but the variable `i` is of int32": lambda: tir.IterVar(
        tir.Range(0, prim.IntImm("int64", 8)), I
    ),
    "a SeqStmt has at least two statements, not 1": lambda: tir.SeqStmt([NOTHING]),
    "`Buffer.buffer_type` cannot be str ('mine')": lambda: tir.Buffer("B", (), buffer_type="mine"),
    "`PrimFunc.params`: Var (n) is given twice": lambda: tir.PrimFunc([N, N], NOTHING),
    "`PrimFunc.buffer_map`: int (5) is not a parameter": lambda: tir.PrimFunc(
        [N], NOTHING, None, {5: A}
    ),
    "`PrimFunc.buffer_map`: int (6) is not a Buffer": lambda: tir.PrimFunc(
        [N], NOTHING, None, {N: 6}
    ),
    'a target needs a "kind"': lambda: VDevice({"arch": "sm_80"}),
    "a target is a string": lambda: VDevice(5),
    '"cpu:x" is not a device': lambda: TensorStructInfo((2,), "float32", "cpu:x"),
    "a module holds Functions, PrimFuncs and ExternFuncs; `f` is int (5)": lambda: IRModule(
        {"f": 5}
    ),
    "`functions` of a module must be a mapping, not list": lambda: IRModule([5]),
    "a function of a module goes by its name or GlobalVar, not by int": lambda: IRModule()[5],
    "the global infos `d` must be GlobalInfos, not int (5)": lambda: IRModule(
        global_infos={"d": [5]}
    ),
    "`from_expr` makes a module of a function, not of Var (x)": lambda: IRModule.from_expr(X),
}


@pytest.mark.parametrize("words", REFUSED)
def test_nonsense_is_refused_with_the_name_of_the_field(words):
    with pytest.raises((TypeError, ValueError)) as caught:
        REFUSED[words]()
    assert words in str(caught.value)


def test_numbers_take_the_data_type_of_what_stands_beside_them():
    assert prim.Add(I, 1).b.dtype == prim.Add(1, I).a.dtype == "int32"
    assert tir.For(I, 0, 5, "serial", NOTHING).extent.dtype == "int32"
    assert tir.BufferStore(A, 1, [0, 0]).value.dtype == "float32"
    assert tir.Range.from_min_extent(I, 5).extent.dtype == "int32"
    assert tir.Range.from_min_extent(2, 3).extent.value == 3


def test_dimensions_may_be_names_and_equal_names_are_one_variable():
    first, second = relax.ShapeExpr(["n", "n"]).values
    assert first is second
    assert first.dtype == "int64"
    assert tir.Buffer("B", ["m", 4]).shape[0].name == "m"


def test_numbers_of_numpy_are_numbers():
    assert relax.TupleGetItem(X, np.int64(1)).index == 1
    assert type(relax.TupleGetItem(X, np.int64(1)).index) is int
    assert relax.PrimValue(np.float32(0.5)).value.value == 0.5
    assert relax.Function([X], X, None, np.bool_(True)).is_pure is True


def test_a_device_may_be_written_as_text():
    device = TensorStructInfo((2,), "float32", "llvm:1:local").vdevice
    assert (device.tgt.kind, device.dev_id, device.mem_scope) == ("llvm", 1, "local")
    assert VDevice().target.kind == ""


def test_arrays_among_attributes_are_constants_and_no_attributes_are_none():
    held = relax.Attrs({"a": np.arange(3), "t": np.dtype("int8")})
    assert isinstance(held["a"], relax.Constant)
    assert held["t"] == "int8"
    assert relax.Call(ADD, [X, X], {}).attrs is None


def test_a_buffer_among_the_parameters_stands_for_a_handle():
    function = tir.PrimFunc([A, N], NOTHING)
    assert function.buffer_map == {function.params[0]: A}
    assert function.params[1] is N


def test_an_unbuilt_place_cannot_be_taken_for_a_span():
    with pytest.raises(TypeError, match="positional argument"):
        relax.ExternFunc("f", FuncStructInfo([], X.struct_info))


def test_a_replaced_field_is_converted_and_refused_like_a_given_one():
    call = relax.Call(ADD, [X, X])
    assert call.replace(args=[X, 1]).args[0] is X
    assert isinstance(call.replace(args=[X, 1]).args, tuple)
    assert call.replace(attrs={"a": 1}).attrs["a"] == 1
    with pytest.raises(TypeError, match=r"`Call.op` must be an Expr, not int \(5\)"):
        call.replace(op=5)
    assert X.replace(name_hint="y").struct_info is X.struct_info
