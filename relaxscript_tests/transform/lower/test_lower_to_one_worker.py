"""Distributed tensors become the plain ones that they are to one worker."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from relaxscript import build
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import check_executors_agree
from relaxscript.transform import LowerToOneWorker, PassContext, VerifyEach
from relaxscript_tests.transform.before_after import check

HEAD = """
@I.ir_module
class Module:
    I.module_global_infos({"mesh": [R.device_mesh((2,), I.Range(0, 2)), R.device_mesh((1,), [0])]})

    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + T.float32(1)

"""


def test_annotations_operators_and_calls_are_those_of_whole_tensors():
    made = check(
        LowerToOneWorker(),
        HEAD + """
    @R.function(private=True)
    def twice(x: R.DTensor((4,), "float32", "mesh[1]", "R")):
        y = R.add(x, x)
        return y

    @R.function
    def main(x: R.DTensor((4,), "float32", "mesh[1]", "S[0]"), c: R.Prim("bool")):
        a = R.dist.call_tir_local_view(
            Module.f, (x,), R.DTensor((4,), "float32", "mesh[1]", "S[0]")
        )
        b = R.dist.redistribute(a, "mesh[1]", "R")
        d = Module.twice(b)
        t = (d, R.dist.const(1.0, R.DTensor((), "float32", "mesh[1]", "R")))
        if c:
            e = R.add(t[0], t[1])
        else:
            g = R.dist.annotate_sharding(d, "mesh[1]", "S[0]")
            e = R.add(g, g)
        return e
""",
        HEAD + """
    @R.function(private=True)
    def twice(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Prim("bool")):
        a = R.call_tir(Module.f, (x,), R.Tensor((4,), "float32"))
        b = a
        d = Module.twice(b)
        lv = R.const(1.0, "float32")
        t = (d, lv)
        if c:
            lv1 = t[0]
            lv2 = t[1]
            e = R.add(lv1, lv2)
        else:
            g = d
            e = R.add(g, g)
        return e
""",
    )  # fmt: skip
    check_executors_agree(made, [np.ones(4, "float32"), True])


def test_a_placement_that_depends_on_dimensions_is_checked_still():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        check(
            LowerToOneWorker(),
            HEAD + """
    @R.function
    def main(x: R.DTensor(("n",), "float32", "mesh[0]", "R")):
        n = T.int64()
        y = R.dist.redistribute(x, "mesh[0]", "S[0]")
        return y
""",
            HEAD + """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.dist.annotate_sharding(x, "mesh[0]", "S[0]")
        return y
""",
        )  # fmt: skip


def test_a_module_without_distributed_tensors_is_left_as_it_is():
    check(
        LowerToOneWorker(),
        HEAD + """
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Prim("bool"), t: R.Tuple(R.Object, R.Shape)):
        if c:
            y = R.dist.annotate_sharding(x, "mesh[0]", "S[0]")
        else:
            y = R.add(x, x)
        return y
""",
    )  # fmt: skip


def test_what_runs_on_parts_of_several_devices_is_refused_with_its_place():
    mod = from_source(
        HEAD.replace("(4,)", "(2,)").replace("range(4)", "range(2)")
        + """
    @R.function
    def main(x: R.DTensor((4,), "float32", "mesh[0]", "S[0]")):
        a = R.dist.call_tir_local_view(
            Module.f, (x,), R.DTensor((4,), "float32", "mesh[0]", "S[0]")
        )
        return a
"""
    )
    with pytest.raises(DiagnosticError) as found:
        build(mod)
    (diagnostic,) = found.value.diagnostics
    assert diagnostic.code == "RX0703"
    assert diagnostic.message == "`R.dist.call_tir_local_view` runs on each of 2 devices"
    assert diagnostic.span is not None
    assert diagnostic.span.text.startswith("R.dist.call_tir_local_view(")


def test_what_mentions_a_function_knows_its_new_signature():
    after = """
@I.ir_module
class Module:
    @R.function
    def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

    @R.function
    def g():
        cls = Module
        return (cls.f, 1)

    @R.function
    def h():
        cls = Module
        return cls.f
"""
    before = after.replace(
        'R.Tensor((4,), "float32")', 'R.DTensor((4,), "float32", R.device_mesh((2,), [0, 1]), "R")'
    )
    with PassContext(instruments=[VerifyEach()]):
        made = check(LowerToOneWorker(), before, after)
    known = made["g"].body.body.known_info
    assert structural_equal(known.fields[0], made.struct_info(made.get_global_var("f")))
