"""What is proved when code is made is not checked when it runs, and the listing shows it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from relaxscript.compiler import build
from relaxscript.errors import RelaxWarning, VMError
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import EXECUTORS, every_executor


def lines(source: str, name: str = "main") -> list[str]:
    """The listing of one function of a module, each line with single spaces."""
    for part in build(module(source), "llvm -opt-level=0").as_text().split("\n\n"):
        head, *rest = part.strip().split("\n")
        if head.startswith(f"@{name}("):
            return [" ".join(line.split()) for line in rest]
    raise LookupError(name)


def module(source: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        return from_source("@I.ir_module\nclass M:\n" + source)


CALLEE = """
    @R.function(private=True)
    def callee(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("m",), "float32")) -> R.Object:
        return x
"""


def test_a_signature_is_listed_with_all_that_it_asks_for():
    listed = lines("""
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"), o: R.Object, t: R.Tuple(R.Shape(["n"]), R.Prim("int64"))
    ):
        return x
""")
    assert listed == [
        "check %0 is: a tensor of shape (n, 4) and dtype float32",
        "check %2 is: a tuple of (the shape (n,), a scalar of dtype int64)",
        "ret %0",
    ]


def test_arguments_that_are_known_to_fit_are_not_checked():
    listed = lines(
        CALLEE
        + """
    @R.function
    def main(x: R.Tensor((2, "k"), "float32"), y: R.Tensor(("k",), "float32")):
        return M.callee(x, y)
"""
    )
    assert listed[-2:] == ["call callee in: %0, %1 dst: %2 proved: %0, %1", "ret %2"]


def test_only_what_is_not_known_of_an_argument_is_left():
    listed = lines(
        CALLEE
        + """
    @R.function
    def main(x: R.Tensor((2, "k"), "float32"), y: R.Tensor(("j",), "float32")):
        return M.callee(x, y)
"""
    )
    assert listed[-2] == "call callee in: %0, %1 dst: %2 proved: %0"
    listed = lines(
        CALLEE
        + """
    @R.function
    def main(x: R.Tensor("float32", ndim=2), y: R.Tensor((3,), "float32")):
        return M.callee(x, y)
"""
    )
    assert listed[-2] == "call callee in: %0, %1 dst: %2 proved: %1"


@every_executor
def test_what_is_not_proved_is_checked_beside_what_is(load):
    model = load(
        module(
            CALLEE
            + """
    @R.function
    def main(x: R.Tensor("float32", ndim=2), y: R.Tensor((3,), "float32")):
        return M.callee(x, y)
"""
        )
    )
    x, y = np.ones((2, 3), "float32"), np.ones(3, "float32")
    assert model.main(x, y) is x
    with pytest.raises(VMError, match=r"`y.shape\[0\]` is 3; must be `m = 4` from `x.shape\[1\]`"):
        model.main(np.ones((2, 4), "float32"), y)


def test_a_recursive_call_does_not_take_its_own_variables_for_those_of_the_call():
    listed = lines("""
    @R.function
    def main(x: R.Tensor(("n * 2",), "int8"), y: R.Tensor(("n",), "int8")) -> R.Object:
        n = T.int64()
        z: R.Tensor(ndim=1, dtype="int8") = y
        w = M.main(x, z)
        return w
""")
    assert listed[-2] == "call main in: %0, %1 dst: %2"


def test_a_prim_value_that_may_be_negative_is_checked():
    callee = """
    @R.function(private=True)
    def callee(k: R.Prim(value="k")) -> R.Shape(["k"]):
        k = T.int64()
        return R.shape([k])

    @R.function
    def main(x: R.Tensor(("n",), "int8")):
        n = T.int64()
        return M.callee(R.prim_value(n SIGN 5))
"""
    assert lines(callee.replace("SIGN", "+"))[-2].endswith("proved: %1")
    assert "proved" not in lines(callee.replace("SIGN", "-"))[-2]
    for load in EXECUTORS.values():
        with pytest.raises(VMError, match="`k` is -3; must be at least 0"):
            load(module(callee.replace("SIGN", "-"))).main(np.ones(2, "int8"))


def test_a_shape_that_a_variable_of_the_callee_holds_is_checked():
    listed = lines("""
    @R.function
    def main(s: R.Shape(ndim=1), x: R.Tensor(s, "int8")) -> R.Object:
        w = M.main(R.shape([3]), x)
        return w
""")
    assert listed[-2].endswith("proved: c[0]")


@every_executor
def test_shape_variables_come_out_of_proved_arguments_of_every_kind(load):
    model = load(
        module("""
    @R.function(private=True)
    def callee(
        t: R.Tuple(R.Tensor(("a",), "int8"), R.Shape([2, "b"])), k: R.Prim(value="c"), o: R.Object
    ) -> R.Shape(["a", "b", "c"]):
        a, b, c = T.int64(), T.int64(), T.int64()
        return R.shape([a, b, c])

    @R.function
    def main(x: R.Tensor(("n", "m"), "int8")):
        n, m = T.int64(), T.int64()
        return M.callee((R.sum(x, axis=[0]), R.shape([2, n * m])), R.prim_value(n + 1), x)
""")
    )
    assert tuple(model.main(np.ones((3, 5), "int8"))) == (5, 15, 4)


def test_what_a_local_function_captures_is_not_checked():
    listed = lines("""
    @R.function
    def main(x: R.Tensor(("n",), "int8")):
        n = T.int64()

        @R.function
        def inner(y: R.Tensor((n,), "int8")) -> R.Tensor((n,), "int8"):
            return R.add(x, y)

        return inner(x)
""")
    assert listed[-2].endswith("in: %0, %0, %1 dst: %3 proved: %0, %0, %1")


def test_a_match_cast_that_cannot_fail_is_not_made():
    listed = lines("""
    @R.function
    def main(x: R.Tensor((2, "n"), "float32")):
        n = T.int64()
        a = R.match_cast(x, R.Tensor((2, n), "float32"))
        b = R.match_cast(a, R.Tensor(ndim=2))
        c = R.match_cast(a, R.Tensor((2, n * 2 - n)))
        d = R.match_cast(c, R.Object)
        return c
""")
    assert listed == ["check %0 is: a tensor of shape (2, n) and dtype float32", "ret %0"]


def test_a_match_cast_that_may_fail_or_binds_is_listed_with_what_it_asks_for():
    listed = lines("""
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n, m, k = T.int64(), T.int64(), T.int64()
        a = R.match_cast(x, R.Tensor((n, n), "float32"))
        b = R.match_cast(x, R.Tensor((k, m), "float32"))
        return R.shape([k])
""")
    assert [line.rpartition("is: ")[2] for line in listed if "match_cast" in line] == [
        "a tensor of shape (n, n) and dtype float32", "a tensor of shape (k, m) and dtype float32",
    ]  # fmt: skip


def test_a_result_that_the_body_implies_is_not_checked():
    source = """
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor((DIM,), "float32"):
        n = T.int64()
        return x
"""
    assert lines(source.replace("DIM", '"n"'))[-1] == "ret %0"
    checked = "ret %0 is: a tensor of shape (n * 2,) and dtype float32"
    assert lines(source.replace("DIM", '"n * 2"'))[-1] == checked


def test_only_an_operator_whose_rule_cannot_decide_looks_at_its_operands():
    listed = lines("""
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), w: R.Tensor(("m", "k"), "float32")):
        y = R.matmul(x, w)
        z = R.matmul(y, w)
        return z
""")
    assert [line.endswith("checks operands") for line in listed if "matmul" in line] == [
        False,
        True,
    ]


def test_what_a_packed_function_gives_is_checked():
    listed = lines("""
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return R.call_packed("f", x, sinfo_args=R.Tensor((n,), "float32"))
""")
    assert listed[1] == "call f in: %0 dst: %1 is: a tensor of shape (n,) and dtype float32"
