"""Accepted programs: forms of calls. Each is printed, parsed back, and printed again the same."""

from __future__ import annotations

import warnings

import pytest

from relaxscript.errors import RelaxWarning
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same

VDEVICES = 'I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})'
PRIM_FUNCS = """
    @T.prim_func
    def scale(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi] * T.float32(2)

    @T.prim_func
    def double(x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                x[vi] = x[vi] * T.float32(2)

    @T.prim_func
    def both(x: T.Buffer((4,), "float32"), n: T.int64, y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi]
                x[vi] = T.Cast("float32", n)
"""

# What each program does with `x: R.Tensor((4,), "float32")` and `y` like it.
PURE = {
    "call_tir": 'z = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((4,), "float32"))',
    "call_tir with one argument alone": ('z = R.call_tir(cls.scale, x, R.Tensor((4,), "float32"))'),
    "call_tir_inplace": """
z = R.call_tir_inplace(
    cls.double, (x,), inplace_indices=[0], out_sinfo=R.Tensor((4,), "float32")
)""",
    "call_tir_inplace with an index alone": (
        'z = R.call_tir_inplace(cls.double, (x,), 0, R.Tensor((4,), "float32"))'
    ),
    "call_tir_inplace with new results and integers": """
z = R.call_tir_inplace(
    cls.both,
    (x,),
    out_sinfo=[R.Tensor((4,), "float32"), R.Tensor((4,), "float32")],
    inplace_indices=[0, -1],
    tir_vars=R.shape([7]),
)""",
    "call_dps_packed": """
z = R.call_dps_packed("f", (x, y), out_sinfo=[R.Tensor((4,), "float32"), R.Tensor((), "int8")])
""",
    "call_dps_packed with a tuple of one": """
z = R.call_dps_packed("f", (x, y), out_sinfo=R.Tuple(R.Tensor((4,), "float32")))
""",
    "call_pure_packed": 'z = R.call_pure_packed("f", x, y, sinfo_args=R.Tensor((4,), "float32"))',
    "call_pure_packed with a bare annotation": 'z = R.call_pure_packed("f", sinfo_args=R.Tensor)',
    "call_pure_packed with a list": """
z = R.call_pure_packed("f", x, sinfo_args=[R.Tensor((4,), "float32"), R.Object])
""",
    "call_pure_packed with a tuple": """
z = R.call_pure_packed("f", (x, y), sinfo_args=(R.Tensor(ndim=1, dtype="float32"),))
""",
    "call_inplace_packed": """
z = R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=R.Tensor((4,), "float32"))
""",
    "call_inplace_packed with an index alone": """
z = R.call_inplace_packed("f", y, x, inplace_indices=1, sinfo_args=(R.Tensor((4,), "float32"),))
""",
    "call_inplace_packed with several results": """
z = R.call_inplace_packed(
    "f", x, y, inplace_indices=[1, -1], sinfo_args=[R.Tensor((4,), "float32"), R.Object]
)
a, b = z
""",
    "call_inplace_packed of what nothing is known of": """
z = R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=R.Object)
""",
    "to_vdevice": 'z = R.to_vdevice(x, "llvm:1")',
    "to_vdevice by keyword": 'z = R.to_vdevice(data=x, dst_vdevice="llvm:1:global")',
    "to_vdevice by position": 'z = R.to_vdevice(x, I.vdevice("llvm", 1))',
    "to_vdevice of the only kind": 'z = R.to_vdevice(x, "llvm")',
    "to_vdevice of the processor": 'z = R.to_vdevice(x, "cpu:1")',
    "to_vdevice of a tuple": 'z = R.to_vdevice((x, (y,)), "llvm:1")\na = z[1][0]',
    "hint_on_device": 'z = R.hint_on_device(x, R.device("cpu"))',
    "hint_on_device with a number": 'z = R.hint_on_device(x, R.device("cuda", 1))',
    "hint_on_device by DLPack's number": "z = R.hint_on_device(x, R.device(1, 0))",
    "hint_on_device by kind": "z = R.hint_on_device(x, R.cpu(1))",
    "hint_on_device with a scope": (
        'z = R.hint_on_device(x, dst_vdevice="cuda:0", memory_scope="shared")'
    ),
    "null_value": "z = R.null_value()",
    "shape_to_tensor": "z = R.shape_to_tensor(R.shape([2, 3]))",
    "shape_of": "z = R.shape_of(x)",
    "tensor_to_shape": 'z = R.tensor_to_shape(R.const([2, 3], "int64"))',
    "make_closure": "z = R.make_closure(cls.inner, (x,))",
    "invoke_pure_closure": """
c = R.make_closure(cls.inner, (x,))
z = R.invoke_pure_closure(c, (), sinfo_args=R.Tensor((4,), "float32"))
""",
    "inspect": """
a = R.inspect.tensor_dtype_code(x)
b = R.inspect.tensor_dtype_bits(x)
c = R.inspect.tensor_dtype_lanes(x)
d = R.inspect.tensor_ndim(x)
e = R.inspect.tensor_shape_i(x, 0)
f = R.inspect.tensor_stride_i(x, R.prim_value(0))
g = R.inspect.tensor_byte_offset(x)
z = R.inspect.tensor_elem_offset(x=x)
""",
    "shifts and other bits": """
i = R.astype(x, "int32")
a = i << 2
b = 1 >> i
c = a & b | i ^ ~i
p = (i > 0) & (i < 2) | ~(i == 1) ^ R.const(True)
z = R.left_shift(R.right_shift(c, a), b)
""",
    "abs": "z = abs(x - y) * abs(x)",
    "strided_slice": "z = R.strided_slice(x, axes=[0], begin=[1], end=[-1], strides=[2])",
    "strided_slice by position": "z = R.strided_slice(x, [0], [0], [2], assume_inbound=True)",
    "strided_slice of scalars": """
z = R.strided_slice(x, (R.prim_value(0),), (R.prim_value(1),), (R.prim_value(3),))
""",
    "dynamic_strided_slice": """
z = R.dynamic_strided_slice(
    x, R.const([0], "int64"), R.const([3], "int64"), R.const([2], "int64")
)""",
    "flip": "z = R.flip(x, 0)",
}
IMPURE = {
    "call_packed": 'z = R.call_packed("f", x, sinfo_args=R.Tensor((4,), "float32"))',
    "call_packed without a description": 'z = R.call_packed("f", x)',
    "call_packed with a bare annotation": 'z = R.call_packed("f", x, sinfo_args=R.Tensor)',
    "call_packed with a list": (
        'z = R.call_packed("f", x, sinfo_args=[R.Tensor((4,), "float32"), R.Object])'
    ),
    "call_packed with a tuple": 'z = R.call_packed("f", x, sinfo_args=(R.Tensor, R.Shape(ndim=2)))',
    "call_packed with attributes": (
        'z = R.call_packed("f", x, sinfo_args=R.Object, axis=1, mode="fast", keep=True, by=[1, 2])'
    ),
    "call_packed of everything": """
z = R.call_packed("f", (x, y), R.shape([2]), R.str("s"), R.dtype("int8"), 1, R.null_value())
""",
    "call_packed of no result": 'R.call_packed("f", x, sinfo_args=R.Tuple())\nz = x',
    "call_builtin_with_ctx": """
z = R.call_builtin_with_ctx("vm.builtin.f", (x,), sinfo_args=R.Tensor((4,), "float32"))
""",
    "call_builtin_with_ctx with a list": """
z = R.call_builtin_with_ctx("vm.builtin.f", [x, y], sinfo_args=[R.Object, R.Tensor])
""",
    "call_builtin_with_ctx with a tuple of one": """
z = R.call_builtin_with_ctx("vm.builtin.f", (x,), sinfo_args=(R.Object,))
""",
    "call_builtin_with_ctx without a description": """
z = R.call_builtin_with_ctx("vm.builtin.f", ())
""",
    "invoke_closure": """
c = R.make_closure(cls.inner, (x,))
z = R.invoke_closure(c, (), sinfo_args=R.Tensor((4,), "float32"))
""",
    "memory": """
storage = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
z = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([2, 4]), R.dtype("float32"))
a = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))
R.memory.kill_tensor(a)
R.memory.kill_storage(storage)
""",
    "vm": """
storage = R.vm.alloc_storage(R.shape([32]), R.prim_value(0), R.dtype("uint8"))
a = R.vm.alloc_tensor(storage, R.prim_value(16), R.shape([4]), R.dtype("float32"))
R.vm.kill_object(a)
z = R.builtin.alloc_tensor((2, 3), "int8", 0)
""",
    "print": 'R.print(x)\nR.print(x, y, format="{} and {}")\nR.print(format="hello")\nz = x',
    "assert_op": """
R.assert_op(R.const(True))
R.assert_op(R.const(True), format="always")
R.assert_op(R.const(True), [x, y], format="{} and {}")
R.assert_op(R.const(True), x, "{}")
R.assert_op(R.const(True), (x,))
z = x
""",
}


def module(body: str, pure: bool) -> str:
    """A module in which `main` does what `body` says with tensors `x` and `y`, and gives `z`."""
    options = "" if pure else "(pure=False)"
    lines = "\n".join(f"        {line}" for line in ["cls = Calls", *body.strip().split("\n")])
    return f"""@I.ir_module
class Calls:
    {VDEVICES}
{PRIM_FUNCS}
    @R.function(private=True)
    def inner(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function{options}
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
{lines}
        return z
"""


def check(body: str, pure: bool) -> None:
    """The program parses, and what is printed of it is the same program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        mod = from_source(module(body, pure))
        text = mod.script(show_meta=True)
        again = from_source(text)
    assert_same(again, mod)
    assert again.script(show_meta=True) == text


@pytest.mark.parametrize("body", PURE.values(), ids=PURE)
def test_a_pure_call_is_printed_and_parsed_back(body: str) -> None:
    check(body, pure=True)


@pytest.mark.parametrize("body", PURE.values(), ids=PURE)
def test_a_pure_call_may_stand_in_a_dataflow_block(body: str) -> None:
    inside = "\n".join(f"    {line}" for line in body.strip().split("\n"))
    check(f"with R.dataflow():\n{inside}\n    R.output(z)", pure=True)


@pytest.mark.parametrize("body", IMPURE.values(), ids=IMPURE)
def test_an_impure_call_is_printed_and_parsed_back(body: str) -> None:
    check(body, pure=False)
