"""Operators that the machine has functions for become calls of these."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.script import from_source
from relaxscript.transform import LowerRuntimeBuiltin
from relaxscript_tests.end_to_end.executors import every_executor, failure
from relaxscript_tests.transform.before_after import check

pytestmark = pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")

BEFORE = """
@I.ir_module
class M:
    @R.function(private=True, pure=False)
    def twice(y: R.Tensor((2,), "int64"), s: R.Shape(ndim=1)) -> R.Shape(ndim=1):
        R.print(y, format="{}!")
        return s

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "int64"), c: R.Prim("bool")):
        cls = M
        R.assert_op(c, x, format="wrong: {}")
        s = R.shape_of(x)
        k = R.make_closure(cls.twice, (s,))
        r = R.invoke_closure(k, (x,), sinfo_args=R.Shape(ndim=1))
        t = R.tensor_to_shape(x)
        v = R.shape_to_tensor(t)
        m = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), "global", "float32")
        a = R.memory.alloc_tensor(m, R.prim_value(0), R.shape([2]), "int64")
        w = R.add(v, a)
        R.memory.kill_tensor(a)
        R.memory.kill_storage(m)
        z = R.reshape(w, R.shape([2, 1]))
        return (r, t, z)
"""


def lowered(name: str, args: str, info: str) -> str:
    return f'R.call_packed("{name}", {args}, sinfo_args={info})'


AFTER = BEFORE
for operator, call in {
    "R.make_closure(cls.twice, (s,))": lowered(
        "vm.builtin.make_closure", "cls.twice, s",
        'R.Callable((R.Tensor((2,), "int64"),), R.Shape(ndim=1), False)',
    ),
    "R.invoke_closure(k, (x,), sinfo_args=R.Shape(ndim=1))": lowered(
        "vm.builtin.invoke_closure", "k, x", "R.Shape(ndim=1)"
    ),
    'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), "global", "float32")':
        'R.vm.alloc_storage(R.shape([16]), R.prim_value(0), "uint8", "global")',
    "R.memory.alloc_tensor": "R.vm.alloc_tensor",
    "R.memory.kill_tensor": "R.vm.kill_object",
    "R.memory.kill_storage": "R.vm.kill_object",
}.items():  # fmt: skip
    assert operator in AFTER
    AFTER = AFTER.replace(operator, call)


def test_operators_become_calls_and_others_stay():
    check(LowerRuntimeBuiltin(), BEFORE, AFTER)
    check(LowerRuntimeBuiltin(), AFTER)


def test_a_tensor_is_moved_by_the_machine():
    check(LowerRuntimeBuiltin(), """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 1)]})

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "int64")):
        y = R.to_vdevice(x, "llvm:1")
        return y
""", """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 1)]})

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "int64")):
        y = R.call_packed(
            "vm.builtin.to_device", x, "llvm:1:global",
            sinfo_args=R.Tensor((2,), "int64", vdevice="llvm:1"),
        )
        return y
""")  # fmt: skip


def test_a_tuple_in_a_variable_is_taken_apart():
    check(LowerRuntimeBuiltin(), """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(f: R.Object, t: R.Tuple(R.Object, R.Object)):
        y = R.invoke_closure(f, t, sinfo_args=R.Object)
        return y
""", """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(f: R.Object, t: R.Tuple(R.Object, R.Object)):
        a = t[0]
        b = t[1]
        y = R.call_packed("vm.builtin.invoke_closure", f, a, b, sinfo_args=R.Object)
        return y
""")  # fmt: skip


@every_executor
def test_the_values_and_effects_stay_the_same(load, capsys):
    x = np.array([1, 2])
    results = []
    for mod in (from_source(BEFORE), LowerRuntimeBuiltin()(from_source(BEFORE))):
        results.append((load(mod).main(x, True), capsys.readouterr().out))
        assert failure(lambda mod=mod: load(mod).main(x, False)).code == "RX0611"
    np.testing.assert_equal(results[0], results[1])
    assert results[0][1] == "[1 2]!\n"


@pytest.mark.slow
@every_executor
def test_a_closure_is_entered_without_recursion_of_python(load):
    mod = from_source("""
@I.ir_module
class M:
    @R.function(pure=False)
    def main(n: R.Prim("int64"), f: R.Object) -> R.Object:
        k = T.int64()
        m = R.match_cast(n, R.Prim("int64", k))
        if R.prim_value(k > 0):
            r = R.invoke_closure(f, (R.prim_value(k - 1), f), sinfo_args=R.Object)
        else:
            r = f
        return r
""")
    machine = load(LowerRuntimeBuiltin()(mod))
    assert machine.main(5000, machine.main) is not None
