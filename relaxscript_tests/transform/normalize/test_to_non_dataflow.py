"""Dataflow blocks become ordinary ones."""

from __future__ import annotations

from relaxscript.transform import ToNonDataflow
from relaxscript_tests.transform.before_after import check


def test_blocks_become_ordinary_and_neighbours_one():
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        with R.dataflow():
            lv = R.log(a)
            gv = R.add(lv, lv)
            R.output(gv)
        b = R.exp(gv)
        return b
"""
    after = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        lv = R.log(a)
        gv = R.add(lv, lv)
        b = R.exp(gv)
        return b
"""
    made = check(ToNonDataflow(), before, after)
    assert len(made["main"].body.blocks) == 1
    check(ToNonDataflow(), after)


def test_blocks_of_branches_and_local_functions_become_ordinary():
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Prim("bool")):
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            with R.dataflow():
                a = R.exp(y)
                R.output(a)
            return a

        if c:
            with R.dataflow():
                b = R.log(x)
                R.output(b)
            z = inner(b)
        else:
            z = x
        return z
"""
    after = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Prim("bool")):
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            a = R.exp(y)
            return a

        if c:
            b = R.log(x)
            z = inner(b)
        else:
            z = x
        return z
"""
    check(ToNonDataflow(), before, after)


def test_a_shape_that_is_a_variable_of_the_block_stays_one():
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor("float32")) -> R.Tensor("float32"):
        with R.dataflow():
            s: R.Shape = R.shape_of(x)
            y = R.match_cast(x, R.Tensor(s, "float32"))
            z: R.Tensor("float32") = y
            R.output(z)
        return z
"""
    after = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor("float32")) -> R.Tensor("float32"):
        s: R.Shape = R.shape_of(x)
        y = R.match_cast(x, R.Tensor(s, "float32"))
        z: R.Tensor("float32") = y
        return z
"""
    check(ToNonDataflow(), before, after)
