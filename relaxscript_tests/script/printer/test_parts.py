"""Scripts of parts of programs: what is free in them is declared before them."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from relaxscript import relax, tir
from relaxscript.ir import structural_equal
from relaxscript.ir.walk import walk
from relaxscript.script import from_source, relax as R

x, v = tir.Var("x", "int64"), tir.Var("v", "int32")
a = relax.Var("a", R.Tensor((1, x, 3), "float32"))
s = relax.Var("s", relax.ShapeStructInfo(ndim=2))
A = tir.decl_buffer((4, x), "float32", "A")
STORE = tir.BufferStore(A, tir.const(1.0, "float32"), [0, x])
X, A_OF_X = "x = T.int64()\n", 'a: R.Tensor((1, x, 3), "float32")\n'
PARTS = [
    (x + 1, X + "x + 1"),
    (v < 10, "v = T.int32()\nv < 10"),
    (tir.And(v < 10, x > 1), "v = T.int32()\nx = T.int64()\nv < 10 and x > 1"),
    (x, X + "x"),
    (R.Tensor((1, x, 3), "float32"), X + 'R.Tensor((1, x, 3), "float32")'),
    (relax.TensorStructInfo(s), 's: R.Shape(ndim=2)\nR.Tensor(s, "float32")'),
    (R.Tensor((2,), "int8"), 'R.Tensor((2,), "int8")'),
    (a, X + A_OF_X + "a"),
    (relax.op.add(a, a), X + A_OF_X + "R.add(a, a)"),
    (relax.ShapeExpr([x, 2]), X + "R.shape([x, 2])"),
    (relax.Tuple([a, relax.PrimValue(x)]), X + A_OF_X + "(a, R.prim_value(x))"),
    (STORE, X + 'A = T.Buffer((4, x), "float32")\nA[0, x] = T.float32(1.0)'),
    (tir.BufferLoad(A, [0, x]), X + 'A = T.Buffer((4, x), "float32")\nA[0, x]'),
    (A, X + 'T.Buffer((4, x), "float32")'),
    (relax.FuncStructInfo([R.Tensor((x,))], R.Tensor((x,))),
     'R.Callable((R.Tensor(("x",)),), R.Tensor(("x",)))'),
    (tir.For(v, 0, 10, tir.ForKind.SERIAL, STORE),
     X + 'A = T.Buffer((4, x), "float32")\nfor v in range(10):\n    A[0, x] = T.float32(1.0)'),
    (relax.TensorType(2, "float32"), 'R.Tensor(dtype="float32", ndim=2)'),
]  # fmt: skip


@pytest.mark.parametrize(("part", "shown"), PARTS, ids=range(len(PARTS)))
def test_what_is_free_is_declared_before_the_part(part, shown):
    assert part.script() == shown
    assert shown.endswith(repr(part))


def test_what_is_bound_inside_is_not_declared():
    b = relax.Var("b", R.Tensor((1, x, 3), "float32"))
    block = relax.BindingBlock([relax.VarBinding(b, relax.op.add(a, a))])
    last = 'b: R.Tensor((1, x, 3), "float32") = R.add(a, a)\nb'
    assert relax.SeqExpr([block], b).script() == X + A_OF_X + last


def test_statements_read_back_behind_their_declarations():
    text = f"@T.prim_func(check_well_formed=False)\ndef f():\n{indent(STORE.script(), '    ')}\n"
    stores = [n for n in walk(from_source(text)) if isinstance(n, tir.BufferStore)]
    assert [structural_equal(n, STORE, map_free_vars=True) for n in stores] == [True]


def test_scripts_of_functions_declare_nothing_twice():
    text = dedent("""\
        # from relaxscript.script import tir as T
        # from relaxscript.script import relax as R


        @R.function
        def f(s: R.Shape(["n"])) -> R.Shape(["n * 2"]):
            n = T.int64()
            return R.shape([n * 2])
    """)
    assert from_source(text).script() == text.rstrip()
