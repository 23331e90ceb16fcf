"""Programs whose StructInfo is trusted: only shape variables that are used take their values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from relaxscript.compiler import build, jit
from relaxscript.errors import RelaxWarning, VMError
from relaxscript.interpreter import Interpreter
from relaxscript.runtime import Prim, register_func
from relaxscript.script import from_source
from relaxscript.transform import RemoveUnusedChecks
from relaxscript_tests.transform.before_after import check

# Passes make use of what is trusted, and checks that are left are then others.
AS_WRITTEN = "llvm -opt-level=0"

CASTS = """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"), s: R.Shape(["n", "k"]), t: R.Tuple(R.Prim(value="j"))
    ) -> R.Object:
        n, m, k, j = T.int64(), T.int64(), T.int64(), T.int64()
        y = R.match_cast(x, R.Tensor((2, m), "float32"))
        z = R.match_cast(x, R.Tensor((3, 5), "float32"))
        return R.shape([m, j])

    @R.function
    def given(
        x: R.Tensor(("n", "n"), "float32"), s: R.Shape(["n"]), k: R.Prim("int32"), f: R.Callable
    ) -> R.Tensor((7, 7), "float32"):
        return x

    @R.function
    def closes(x: R.Tensor(("n",), "float32")):
        n = T.int64()

        @R.function
        def inner(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.zeros(R.shape([n]), "float32")

        return inner
"""


@pytest.fixture(scope="module", name="casts")
def _casts():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        return from_source(CASTS)


def listing(mod, name):
    text = build(mod, AS_WRITTEN, remove_checks="unused").as_text()
    (part,) = (part for part in text.split("\n\n") if part.startswith(f"@{name}("))
    return [" ".join(line.split()) for line in part.strip().split("\n")[1:]]


def test_every_function_is_marked_and_nothing_else_changes():
    before = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return y

        return inner(x)
"""
    mark = 'R.func_attr({"relax.trust_struct_info": True})'
    head = '    def main(x: R.Tensor((4,), "float32")):\n'
    inner = '        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):\n'
    after = before.replace(head, f"{head}        {mark}\n")
    after = after.replace(inner, f"{inner}            {mark}\n")
    check(RemoveUnusedChecks(), before, after)
    check(RemoveUnusedChecks(), after)


def test_only_variables_that_are_used_take_their_values(casts):
    assert listing(casts, "main") == [
        "check %0 is: a tensor",
        "check %1 is: a shape",
        "check %2 is: a tuple of (a scalar of dtype int64 equal to `j`)",
        "call vm.builtin.match_cast in: vm, %0, c[0], c[1] dst: %3 is: a tensor of shape (_, m)",
        "call vm.builtin.make_shape in: vm, c[2] dst: %3",
        "ret %3",
    ]


def test_what_is_not_as_the_program_says_goes_unnoticed(casts):
    model = jit(casts, AS_WRITTEN, remove_checks="unused")
    assert tuple(model.main(np.ones((9, 8), "int8"), (1, 2, 3), (6,))) == (8, 6)
    x = np.ones(5)
    assert model.given(x, [], np.int32(3), len) is x


def test_kinds_of_values_are_told_apart_and_converted_all_the_same(casts):
    model = jit(casts, remove_checks="unused")
    assert model.given(np.ones(5), [2, 3], Prim(1, "int32"), len).shape == (5,)
    for wrong in (
        ([1.0], (2,), Prim(1, "int32"), len),
        (np.ones(5), "2", Prim(1, "int32"), len),
        (np.ones(5), (2,), 1, len),
        (np.ones(5), (2,), Prim(1, "int32"), 5),
    ):
        with pytest.raises(VMError, match="RX0601"):
            model.given(*wrong)


def test_a_variable_that_is_used_needs_a_tensor_of_that_rank(casts):
    model = jit(casts, AS_WRITTEN, remove_checks="unused")
    with pytest.raises(VMError, match=r"`x\.ndim` is 1; must be 2"):
        model.main(np.ones(9, "int8"), (1, 2, 3), (6,))
    with pytest.raises(VMError, match=r"`t\[0\]` is -1; must be at least 0"):
        model.main(np.ones((9, 8), "int8"), (1, 2, 3), (-1,))


def test_closures_take_along_what_they_use(casts):
    inner = jit(casts, remove_checks="unused").closes(np.ones(3, "float32"))
    assert inner(np.ones(5, "float32")).shape == (3,)
    assert "R.Tensor((3,)" in repr(inner.info)


def test_the_interpreter_goes_on_checking(casts):
    with pytest.raises(VMError, match=r"`x\.shape\[1\]` is 8; must be 4"):
        Interpreter(RemoveUnusedChecks()(casts)).main(np.ones((9, 8), "float32"), (9, 2), (6,))


KERNELS = """
@I.ir_module
class M:
    @T.prim_func
    def first(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            y[i] = x[i, 3]

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        return R.call_tir(M.first, (x,), out_sinfo=R.Tensor((n,), "float32"))

    @R.function
    def packed(x: R.Tensor((2, 4), "float32")):
        y = R.call_pure_packed("tests.trusted", x, sinfo_args=R.Tensor((2, 4), "float32"))
        return R.call_tir(M.first, (y,), out_sinfo=R.Tensor((2,), "float32"))
"""


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_kernels_test_the_arrays_that_they_are_given(target):
    register_func("tests.trusted", lambda x: x[:, :1].copy(), override=True)
    model = jit(from_source(KERNELS), target, remove_checks="unused")
    x = np.ones((2, 4), "float32")
    assert model.main(x).tolist() == [1, 1]
    for wrong, why in (
        (x[:, :3], "is 3"), (x.astype("float64"), "dtype"), (x[0], "ndim"), (x[..., None], "ndim")
    ):  # fmt: skip
        with pytest.raises(VMError, match=why):
            model.main(wrong)
    with pytest.raises(VMError, match="dimension 1 of argument `x` of `first` is 1, not 4"):
        model.packed(x)
