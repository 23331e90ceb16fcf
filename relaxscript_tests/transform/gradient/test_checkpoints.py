"""Checkpoints: what a gradient computes anew instead of keeping it."""

from __future__ import annotations

import numpy as np

from relaxscript.ir.relax import Call, Op
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import EliminateCommonSubexpr, Gradient

from .test_gradient import ONES, X34, adjoint_of, module, run

TWO_STAGES = module(
    X34,
    """
    a = R.grad.start_checkpoint(x)
    b = R.sin(a)
    c = R.exp(b)
    d = R.grad.end_checkpoint(c)
    e = R.multiply(d, d)
    f = R.grad.start_checkpoint(e)
    g = R.tanh(f)
    h = R.grad.end_checkpoint(g)
    gv = R.sum(h)
    R.output(gv)
    """,
)


def test_what_is_inside_is_written_again_before_the_gradient_that_needs_it():
    assert (
        adjoint_of(TWO_STAGES)
        == """\
b: R.Tensor((3, 4), "float32") = R.sin(x)
c: R.Tensor((3, 4), "float32") = R.exp(b)
e: R.Tensor((3, 4), "float32") = R.multiply(c, c)
g: R.Tensor((3, 4), "float32") = R.tanh(e)
gv: R.Tensor((), "float32") = R.sum(g)
gv_adjoint: R.Tensor((), "float32") = R.ones(R.shape([]), dtype="float32")
g_adjoint: R.Tensor((3, 4), "float32") = R.broadcast_to(gv_adjoint, R.shape([3, 4]))
f_cp: R.Tensor((3, 4), "float32") = R.grad.end_checkpoint(e)
g_cp: R.Tensor((3, 4), "float32") = R.tanh(f_cp)
lv: R.Tensor((3, 4), "float32") = R.square(g_cp)
lv1: R.Tensor((3, 4), "float32") = R.subtract(R.const(1.0, "float32"), lv)
e_adjoint: R.Tensor((3, 4), "float32") = R.multiply(g_adjoint, lv1)
c_adjoint: R.Tensor((3, 4), "float32") = R.multiply(e_adjoint, c)
lv2: R.Tensor((3, 4), "float32") = R.multiply(e_adjoint, c)
c_adjoint1: R.Tensor((3, 4), "float32") = R.add(c_adjoint, lv2)
a_cp: R.Tensor((3, 4), "float32") = R.grad.end_checkpoint(x)
b_cp: R.Tensor((3, 4), "float32") = R.sin(a_cp)
c_cp: R.Tensor((3, 4), "float32") = R.exp(b_cp)
b_adjoint: R.Tensor((3, 4), "float32") = R.multiply(c_adjoint1, c_cp)
lv3: R.Tensor((3, 4), "float32") = R.cos(x)
x_adjoint: R.Tensor((3, 4), "float32") = R.multiply(b_adjoint, lv3)
x_adjoint_out: R.Tensor((3, 4), "float32") = x_adjoint
R.output(gv, x_adjoint_out)
return (gv, (x_adjoint_out,))"""
    )


def test_marks_do_not_change_the_gradient():
    plain = TWO_STAGES
    for mark in ("start", "end"):
        plain = plain.replace(f"R.grad.{mark}_checkpoint", "R.grad.no_grad")
    plain = plain.replace("R.grad.no_grad(", "R.reshape(").replace("(x)\n", "(x, (3, 4))\n", 1)
    for operand in "cge":
        plain = plain.replace(f"R.reshape({operand})", f"R.reshape({operand}, (3, 4))")
    x = np.linspace(-1, 1, 12, dtype="f").reshape(3, 4)
    for one, other in zip(run(TWO_STAGES, x), run(plain, x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_what_is_computed_anew_is_not_what_was_computed_before():
    mod = Gradient("main")(from_source(TWO_STAGES))
    calls = [node.op.name for node in walk(EliminateCommonSubexpr()(mod)["main_adjoint"])
             if isinstance(node, Call) and isinstance(node.op, Op)]  # fmt: skip
    assert (calls.count("relax.sin"), calls.count("relax.tanh")) == (2, 2)
    # In what is run, a mark costs no tensor of its own.
    for load in EXECUTORS.values():
        _, (by_x,) = load(mod)("main_adjoint", ONES)
        np.testing.assert_allclose(by_x, run(TWO_STAGES, ONES)[1][0], rtol=1e-5)


def test_what_no_gradient_asks_for_is_not_computed_anew():
    text = module(
        X34,
        """
        a = R.grad.start_checkpoint(x)
        b = R.add(a, a)
        c = R.negative(b)
        d = R.grad.end_checkpoint(c)
        gv = R.sum(d)
        R.output(gv)
        """,
    )
    assert "_cp" not in adjoint_of(text)


def test_what_leaves_a_checkpoint_elsewhere_is_computed_anew_as_well():
    text = module(
        X34,
        """
        a = R.grad.start_checkpoint(x)
        b = R.sin(a)
        c = R.exp(b)
        d = R.grad.end_checkpoint(c)
        e = R.multiply(d, b)
        gv = R.sum(e)
        R.output(gv)
        """,
    )
    body = adjoint_of(text)
    assert body.count("R.sin(") == 2
    assert "d_adjoint" not in body
    x = np.linspace(-1, 1, 12, dtype="f").reshape(3, 4)
    expected = np.exp(np.sin(x)) * np.cos(x) * (1 + np.sin(x))
    np.testing.assert_allclose(run(text, x)[1][0], expected, rtol=1e-5)


def test_a_checkpoint_in_a_checkpoint_is_a_part_of_it():
    text = module(
        X34,
        """
        a = R.grad.start_checkpoint(x)
        b = R.sin(a)
        c = R.grad.start_checkpoint(b)
        d = R.exp(c)
        e = R.grad.end_checkpoint(d)
        gv = R.sum(e)
        R.output(gv)
        """,
    )
    body = adjoint_of(text)
    assert "b_cp" in body
    assert "c_cp" not in body
    np.testing.assert_allclose(run(text, ONES)[1][0], np.exp(np.sin(1)) * np.cos(1) * ONES, 1e-5)


def test_marked_results_stay_results():
    text = module(
        X34,
        """
        a = R.grad.start_checkpoint(x)
        b = R.sin(a)
        d = R.grad.end_checkpoint(b)
        gv = R.sum(d)
        R.output(gv, a, d)
        """,
        "(gv, a, d)",
    )
    (_, a, d), (by_x,) = run(text, ONES)
    np.testing.assert_array_equal(a, ONES)
    np.testing.assert_allclose(d, np.sin(ONES), rtol=1e-6)
    np.testing.assert_allclose(by_x, np.cos(ONES), rtol=1e-6)


def test_a_cast_and_a_tuple_inside_are_computed_anew():
    text = module(
        'x: R.Tensor(("n", 4), "float32")',
        """
        a = R.grad.start_checkpoint(x)
        b = R.sin(a)
        c = R.match_cast(b, R.Tensor((m, 4), "float32"))
        t = (c, b)
        d = R.multiply(t[0], c)
        e = R.grad.end_checkpoint(d)
        gv = R.sum(e)
        R.output(gv)
        """,
    ).replace(
        "        with R.dataflow", "        n, m = T.int64(), T.int64()\n        with R.dataflow"
    )
    assert "c_cp = R.match_cast(b_cp" in adjoint_of(text)
    x = np.linspace(-1, 1, 8, dtype="f").reshape(2, 4)
    np.testing.assert_allclose(run(text, x)[1][0], 2 * np.sin(x) * np.cos(x), rtol=1e-5)
