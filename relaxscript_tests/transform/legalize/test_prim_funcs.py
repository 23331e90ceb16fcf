"""What decides about a PrimFunc: one is made for all calls that need no other."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.op import REGISTRY
from relaxscript.runtime.values import Shape
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.te import compute
from relaxscript.testing.compare import assert_allclose_tree
from relaxscript.transform import LegalizeOps
from relaxscript_tests.growth import growth

EXECUTORS = "reference", "llvm"


def prim_funcs(mod):
    return sorted(gv.name_hint for gv, f in mod.functions.items() if isinstance(f, PrimFunc))


def check(mod, *operands, names):
    """The PrimFuncs of a module by their names; it prints, reads back and means the same."""
    made = LegalizeOps()(mod)
    assert prim_funcs(made) == names
    assert_structural_equal(from_source(made.script(show_meta=True)), made)
    assert LegalizeOps()(made) is made
    expected = rx.jit(mod).main(*operands)
    for target in EXECUTORS:
        found = rx.VirtualMachine(rx.build(made, target))["main"](*operands)
        assert_allclose_tree(found, expected, rtol=1e-6)


def test_functions_of_a_module_share_prim_funcs_whatever_their_dimensions_are_called():
    @I.ir_module
    class Two:
        @R.function
        def main(x: R.Tensor(("n", "m"), "float32")):
            cls = Two
            a = R.exp(x)
            return cls.other(a)

        @R.function(private=True)
        def other(y: R.Tensor(("rows", "columns"), "float32")):
            @R.function
            def inner(z: R.Tensor(("k", "l"), "float32")) -> R.Tensor(("k", "l"), "float32"):
                b = R.exp(z)
                return b

            c = R.exp(y)
            return inner(c)

    check(Two, np.linspace(-3, -1, 6, dtype="float32").reshape(2, 3), names=["exp"])


def test_dimensions_that_are_the_same_are_told_from_those_that_are_not():
    @I.ir_module
    class Squares:
        @R.function
        def main(x: R.Tensor(("n", "n"), "float32"), y: R.Tensor(("n", "m"), "float32")):
            return R.exp(x), R.exp(y)

    x = np.zeros((2, 2), "float32")
    check(Squares, x, np.ones((2, 3), "float32"), names=["exp", "exp1"])


def test_a_shared_prim_func_reads_each_operand_at_its_place():
    @I.ir_module
    class Orders:
        @R.function
        def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")):
            with R.dataflow():
                a = R.subtract(x, x)
                b = R.subtract(x, y)
                c = R.subtract(y, x)
                R.output(a, b, c)
            return a, b, c

    x = np.arange(3, dtype="float32")
    check(Orders, x, x * x + 1, names=["subtract"])


def test_scalars_that_differ_in_sign_or_dtype_only_are_different():
    @I.ir_module
    class Zeros:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            a = R.divide(x, R.const(0.0, "float32"))
            b = R.divide(x, R.const(-0.0, "float32"))
            c = R.full((2,), R.const(1, "int32"))
            d = R.full((2,), R.const(1, "int64"))
            e = R.full((2,), R.const(True, "bool"))
            return a, b, c, d, e

    names = ["divide", "divide1", "full", "full1", "full2"]
    check(Zeros, np.array([1.0, -1.0], "float32"), names=names)


def test_attributes_that_are_equal_for_python_only_are_different():
    @I.ir_module
    class Clips:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            return R.nn.leakyrelu(x, 0.0), R.nn.leakyrelu(x, -0.0), R.nn.leakyrelu(x, 0.0)

    names = ["leakyrelu", "leakyrelu1"]
    check(Clips, np.array([1.0, -1.0], "float32"), names=names)


def test_scalars_are_written_into_loops_or_given_to_them():
    @I.ir_module
    class Diagonals:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32"), k: R.Prim(value="k"), s: R.Shape(["k"])):
            n, k_ = T.int64(), T.int64()
            a = R.triu(x, R.prim_value(1))
            b = R.triu(x, R.prim_value(n))
            c = R.triu(x, k)
            return a, b, c

    operands = np.ones((3, 4), "float32"), 2, Shape((2,))
    check(Diagonals, *operands, names=["triu", "triu1", "triu2"])


def test_a_scalar_whose_value_no_loop_can_be_given_keeps_its_operator():
    @I.ir_module
    class Unknown:
        @R.function
        def main(x: R.Tensor((3, 4), "float32"), k: R.Prim("int64")):
            return R.triu(x, k)

    check(Unknown, np.ones((3, 4), "float32"), 1, names=[])


def test_constants_and_shapes_are_operands():
    @I.ir_module
    class Constants:
        @R.function
        def main(x: R.Tensor(("n", 2), "float32")):
            n = T.int64()
            a = R.add(x, R.const([1.0, 2.0], "float32"))
            b = R.zeros(R.shape([n, 3]), "float32")
            c = R.zeros(R.shape([n * 2]), "float32")
            return a, b, c

    check(Constants, np.ones((3, 2), "float32"), names=["add", "zeros", "zeros1"])


def test_each_branch_has_its_own_facts():
    @I.ir_module
    class Branches:
        @R.function
        def main(x: R.Tensor((3,), "float32"), b: R.Tensor((), "bool")):
            if b:
                y = R.exp(x)
            else:
                y = R.negative(R.exp(x))
            return y

    check(Branches, np.ones(3, "float32"), np.array(True), names=["exp", "negative"])


def test_results_and_operands_on_a_device_stay_there():
    made = LegalizeOps()(
        from_source("""
@I.ir_module
class OnDevice:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

    @R.function
    def main(x: R.Tensor((3,), "float32", "llvm:1"), y: R.Tensor((3,), "float32")):
        return R.exp(x), R.exp(y)
""")
    )
    assert prim_funcs(made) == ["exp"]
    assert 'out_sinfo=R.Tensor((3,), "float32", vdevice="llvm:1")' in made.script()


def test_dimensions_become_elements():
    @I.ir_module
    class Dimensions:
        @R.function
        def main(x: R.Tensor(("n", "m"), "float32")):
            n, m = T.int64(), T.int64()
            return R.shape_to_tensor(R.shape([n, m * 2, 7])), R.shape_to_tensor(R.shape([]))

    names = ["shape_to_tensor", "shape_to_tensor1"]
    check(Dimensions, np.zeros((2, 3), "float32"), names=names)


@pytest.mark.parametrize("target", EXECUTORS)
def test_loops_look_at_whether_a_window_fits_before_they_begin(target):
    mod = from_source("""
@I.ir_module
class Windows:
    @R.function
    def main(x: R.Tensor((1, 2, "h", 4), "float32"), w: R.Tensor((2, 2, 3, 3), "float32")):
        y = R.nn.conv2d(x, w)
        return y
""")
    made = LegalizeOps(require_all=True)(mod)
    assert_structural_equal(from_source(made.script()), made)
    run = rx.VirtualMachine(rx.build(made, target))["main"]
    w = np.ones((2, 2, 3, 3), "float32")
    for h in (3, 4):
        x = np.ones((1, 2, h, 4), "float32")
        np.testing.assert_array_equal(run(x, w), rx.jit(mod).main(x, w))
    with pytest.raises(rx.VMError, match="the window is larger than the tensor") as caught:
        run(np.ones((1, 2, 2, 4), "float32"), w)
    assert (caught.value.span.line, caught.value.span.column) == (6, 13)
    with pytest.raises(rx.VMError, match="`h - 2`, is -1 with `h = 1`"):
        run(np.ones((1, 2, 1, 4), "float32"), w)


# ---------------------------------------------------------------- computes that do not fit


@I.ir_module
class Exp:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        y = R.exp(x)
        return y


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            lambda context, x: compute((x.shape[0], 3), lambda i, j: x[i, j]),
            "the compute of `R.exp` gives axis 1 of its result 3 elements, where the operator "
            "gives it 4",
        ),
        (
            lambda context, x: compute(x.shape, lambda i, j: x[i, j].astype("float64")),
            'gives `R.Tensor((n, 4), "float64")` as its result, where the operator gives '
            '`R.Tensor((n, 4), "float32")`',
        ),
        (
            lambda context, x: [x, x],
            "the compute of `R.exp` gives 2 tensors, where the operator gives `R.Tensor(",
        ),
        (
            lambda context, x: 3,
            "`exp` gives a Python int where a tensor or a list of tensors is needed",
        ),
    ],
)
def test_a_compute_that_gives_something_else_than_the_operator_is_refused(
    rule, message, monkeypatch
):
    monkeypatch.setitem(REGISTRY["relax.exp"].rules, "compute", rule)
    with pytest.raises(DiagnosticError) as caught:
        LegalizeOps()(Exp)
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert found.span.filename == __file__


# ---------------------------------------------------------------- cost


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "for each"])
def test_the_work_is_linear_in_the_bindings(shared):
    def prepare(count):
        lines = [
            f"        v{k} = R.multiply(v{k - 1}, R.const({1.0 if shared else float(k)}, "
            '"float32"))'
            for k in range(1, count + 1)
        ]
        mod = from_source(
            "@I.ir_module\nclass Long:\n    @R.function\n"
            '    def main(v0: R.Tensor(("n", 4), "float32")):\n'
            + "\n".join(lines)
            + f"\n        return v{count}\n"
        )
        return lambda: LegalizeOps()(mod)

    assert growth(prepare, 16) < 10
