"""The bindings of dataflow blocks come in the order of a search of the graph."""

from __future__ import annotations

import warnings

import pytest

from relaxscript.errors import DiagnosticError, RelaxWarning, VMError
from relaxscript.ir.relax import DataflowBlock
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import TopologicalSort
from relaxscript_tests import examples
from relaxscript_tests.transform.before_after import check

HEAD = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def greedy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]
            a[i] = T.float32(0)

    @R.function
    def main({params}):
        n, m = T.int64(), T.int64()
"""
AB = 'A: R.Tensor((4,), "float32"), B: R.Tensor((4,), "float32")'


def program(*lines: str, params: str = AB) -> str:
    return HEAD.format(params=params) + "\n".join(f"        {line}" for line in lines) + "\n"


DIAMONDS = program(
    "with R.dataflow():", "    a1 = R.exp(A)", "    b1 = R.exp(B)", "    a2 = R.exp(a1)",
    "    b2 = R.exp(b1)", "    c = R.add(a2, b2)", "    dead = R.log(A)",
    '    k = R.zeros((4,), "float32")', "    d = R.add(c, k)", "    e = R.add(c, a1)",
    '    y = R.match_cast(e, R.Tensor((4,), "float32"))',
    '    t = R.call_pure_packed("f", y, sinfo_args=R.Tensor((4,), "float32"))',
    "    R.output(d, y, a2, t)", "return (d, y, a2, t)",
)  # fmt: skip
AROUND = program(
    "P = R.exp(B)", "Q = R.exp(A)", "with R.dataflow():", "    q1 = R.exp(Q)", "    b1 = R.exp(B)",
    "    p1 = R.exp(P)", "    d1 = R.log(q1)", "    a1 = R.exp(A)",
    '    k1 = R.zeros((4,), "float32")', "    d2 = R.log(a1)",
    "    k2 = R.add(R.const(1.0), R.const(2.0))", "    q2 = R.log(Q)", "    qp = R.add(q2, p1)",
    "    R.output(q1, b1, p1, a1, k1, k2, qp)", "z1 = R.exp(k1)",
    "return (k2, a1, p1, q1, b1, z1, qp)",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "order", "direction", "names"),
    [
        (DIAMONDS, "depth-first", "from-inputs", "a1 a2 dead b1 b2 c e y t k d"),
        (DIAMONDS, "depth-first", "from-outputs", "dead a1 a2 b1 b2 c k d e y t"),
        (DIAMONDS, "breadth-first", "from-inputs", "k a1 dead b1 a2 b2 c d e y t"),
        (DIAMONDS, "breadth-first", "from-outputs", "b1 a1 b2 a2 c e y k t d dead"),
        (AROUND, "depth-first", "from-inputs", "q1 d1 q2 a1 d2 p1 qp b1 k1 k2"),
        (AROUND, "depth-first", "from-outputs", "q1 d1 a1 d2 k2 b1 k1 q2 p1 qp"),
        (AROUND, "breadth-first", "from-inputs", "k1 k2 a1 b1 q1 q2 d2 p1 d1 qp"),
        (AROUND, "breadth-first", "from-outputs", "p1 q2 k1 a1 q1 qp b1 k2 d2 d1"),
    ],
)
def test_orders_and_directions_are_those_of_tvm(text, order, direction, names):
    step = TopologicalSort(order, direction)
    made = step(from_source(text))
    (block,) = (b for b in made["main"].body.blocks if isinstance(b, DataflowBlock))
    assert [binding.var.name_hint for binding in block.bindings] == names.split()


def test_a_block_in_order_stays_the_same_object():
    check(
        TopologicalSort(),
        program(
            "with R.dataflow():", "    a = R.exp(A)", "    b = R.log(a)", "    R.output(b)",
            "return b",
        ),
    )  # fmt: skip


def test_what_uses_a_size_comes_after_the_cast_that_binds_it():
    text = program(
        "with R.dataflow():", "    a = R.exp(A)",
        '    x = R.match_cast(o, R.Tensor((m,), "float32"))', '    z = R.zeros((m,), "float32")',
        "    s = R.add(x, z)", "    R.output(a, s)", "return (a, s)", params=f"{AB}, o: R.Object",
    )  # fmt: skip
    for order in ("depth-first", "breadth-first"):
        for direction in ("from-inputs", "from-outputs"):
            made = TopologicalSort(order, direction)(from_source(text))
            names = [b.var.name_hint for b in made["main"].body.blocks[0].bindings]
            assert names.index("x") < names.index("z") < names.index("s")


def test_a_local_function_comes_after_what_it_needs_and_is_sorted_itself():
    first, second = "                p = R.log(c)", "                q = R.exp(z)"
    function = (
        "    @R.function", '    def f(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):',
        "        with R.dataflow():", "            {}", "            {}",
        "            r = R.log(q)", "            s = R.add(r, p)", "            R.output(s)",
        "        return s",
    )  # fmt: skip
    rest = ("    g = f(A)", "    h = R.add(g, b)", "    R.output(h)", "return h")
    before = [*function[:3], first[4:], second[4:], *function[5:]]
    after = [*function[:3], second[4:], function[5], first[4:], *function[6:]]
    b = "    b = R.exp(B)"
    check(
        TopologicalSort(),
        program("c = R.exp(B)", "with R.dataflow():", b, *before, *rest),
        program(
            "c = R.exp(B)", "with R.dataflow():", *after, rest[0], b, *rest[1:],
        ),
    )  # fmt: skip


def test_a_block_in_which_a_call_writes_into_its_arguments_keeps_its_order():
    for call in (
        'R.call_tir(M.greedy, (x,), R.Tensor((4,), "float32"))',
        'R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=R.Tensor((4,), "float32"))',
    ):
        check(
            TopologicalSort(),
            program(
                "with R.dataflow():", "    x = R.exp(A)", "    b = R.log(B)", f"    y = {call}",
                "    c = R.log(b)", "    R.output(c, y)", "return (c, y)",
            ),
        )  # fmt: skip


def test_another_order_or_direction_is_refused_with_the_nearest():
    with pytest.raises(DiagnosticError) as raised:
        TopologicalSort("depth_first")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == '`TopologicalSort` has no order "depth_first"'
    assert diagnostic.help == 'did you mean "depth-first"?'
    with pytest.raises(DiagnosticError, match="there are from-inputs and from-outputs"):
        TopologicalSort(direction="up")
    with pytest.raises(DiagnosticError, match="there are depth-first and breadth-first"):
        TopologicalSort("sideways")
    with pytest.raises(DiagnosticError, match="`order` of `TopologicalSort` is a string, not int"):
        TopologicalSort(3)


@pytest.mark.parametrize("order", ["depth-first", "breadth-first"])
@pytest.mark.parametrize("direction", ["from-inputs", "from-outputs"])
def test_every_order_keeps_the_meaning_of_what_succeeds(order, direction):
    for seed in range(examples(200)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelaxWarning)
            mod = random_module(seed)
            made = TopologicalSort(order, direction)(mod)
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        actual = observe(EXECUTORS["interpreter"](made), "main", inputs)
        if isinstance(expected.value, VMError):
            assert isinstance(actual.value, VMError)
        else:
            check_outcomes("sorted", actual, "before", expected)
