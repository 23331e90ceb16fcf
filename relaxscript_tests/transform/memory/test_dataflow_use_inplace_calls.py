"""Where results are written into operands: where nobody can see that, and nowhere else."""

from __future__ import annotations

import random

import numpy as np
import pytest

from relaxscript.analysis import well_formed
from relaxscript.ir.relax import Call, Op
from relaxscript.ir.walk import walk
from relaxscript.runtime import register_func, remove_global_func
from relaxscript.script import from_source
from relaxscript.testing.compare import (
    EXECUTORS,
    assert_same,
    check_executors_agree,
    check_outcomes,
)
from relaxscript.transform import DataflowUseInplaceCalls
from relaxscript_tests import examples
from relaxscript_tests.growth import growth

MODULE = """
@I.ir_module
class M:
    @T.prim_func
    def exp(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.exp(x[vi, vj])

    @T.prim_func
    def plus(x: T.Buffer(("n", 4), "float32"), z: T.Buffer((4,), "float32"),
             y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            y[i, j] = x[i, j] + z[j]

    @R.function(private=True)
    def same(x: R.Object) -> R.Object:
        return x

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), v: R.Tensor((4,), "float32"),
             c: R.Tensor((), "bool")):
        n = T.int64()
        cls = M
"""
ARGS = (np.arange(8, dtype="float32").reshape(2, 4), np.ones(4, "float32"), np.array(True))


def program(lines: str) -> str:
    """A script of some lines; F is a tensor like `x`, and the last line is returned."""
    *body, result = [line.strip() for line in lines.strip().splitlines()]
    text = MODULE + "        with R.dataflow():\n"
    text += "".join(f"            {line}\n" for line in body)
    text += f"            gv = {result}\n            R.output(gv)\n        return gv\n"
    return text.replace("F,", 'R.Tensor((n, 4), "float32"),').replace(
        "F)", 'R.Tensor((n, 4), "float32"))'
    )


def inplace(lines: str) -> dict[str, list[int]]:
    """The variables of bindings that write in place, and the operands into which they do.

    Check that the program means the same, and that its arguments are left as they are.
    """
    mod = from_source(program(lines))
    made = DataflowUseInplaceCalls()(mod)
    assert DataflowUseInplaceCalls()(made) is made
    assert well_formed(made)
    args = [arg.copy() for arg in ARGS]
    expected = check_executors_agree(mod, args)
    check_outcomes("in place", check_executors_agree(made, args), "before", expected)
    for arg, before in zip(args, ARGS):
        np.testing.assert_array_equal(arg, before)
    found = {}
    for node in walk(made["main"]):
        call = getattr(node, "value", None)
        if isinstance(call, Call) and call.op == Op("relax.call_tir_inplace"):
            found[node.var.name_hint] = list(call.attrs["inplace_indices"])
    if not found:
        assert made is mod
    return found


def test_a_prim_func_that_reads_what_it_writes_gets_a_twin_that_writes_in_place():
    before = program("a = R.add(x, x)\nR.call_tir(cls.exp, (a,), F)")
    twin = """
    @T.prim_func(private=True)
    def exp_inplace(x: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("exp"):
                vi, vj = T.axis.remap("SS", [i, j])
                x[vi, vj] = T.exp(x[vi, vj])
"""
    call = "R.call_tir_inplace(cls.exp_inplace, (a,), inplace_indices=[0], out_sinfo=F)"
    after = program(f"a = R.add(x, x)\n{call}").replace("class M:\n", "class M:" + twin)
    mod = from_source(before)
    assert_same(DataflowUseInplaceCalls()(mod), from_source(after))


def test_operators_write_into_an_operand_that_ends_and_never_into_parameters():
    lines = """
        a = R.add(x, x)
        b = R.multiply(a, x)
        d = R.subtract(x, b)
        R.nn.relu(d)
    """
    assert inplace(lines) == {"b": [0], "d": [1], "gv": [0]}


def test_what_is_looked_at_later_is_not_written_to_under_any_name():
    lines = """
        a = R.add(x, x)
        b = a
        d = R.exp(a)
        t = (d, a)
        e = R.exp(d)
        g = R.add(t[0], e)
        R.add(b, g)
    """
    assert inplace(lines) == {"g": [1], "gv": [0]}


def test_an_operand_that_is_given_twice_is_one_parameter():
    assert inplace("a = R.add(x, x)\nR.multiply(a, a)") == {"gv": [0]}


@pytest.mark.parametrize(
    "lines",
    [
        "R.exp(x)",
        "k = R.const([[1, 2, 3, 4]], 'float32')\nR.exp(k)",
        "a = R.reshape(x, R.shape([n * 4]))\nR.exp(a)",
        "t = (x, v)\na = t[0]\nR.exp(a)",
        "a = R.exp(v)\nR.add(x, a)",
        "a = R.exp(x)\nR.astype(a, 'float64')",
        "a = R.exp(x)\nR.cumsum(a, axis=0)",
        "a = R.exp(x)\nR.nn.softmax(a)",
        "a = R.exp(x)\nR.flip(a, axis=0)",
        "a = R.exp(x)\nR.permute_dims(a)",
        "a = cls.same(x)\nb = R.match_cast(a, R.Tensor((n, 4), 'float32'))\nR.exp(b)",
    ],
)
def test_other_calls_stay_as_they_are(lines):
    assert inplace(lines) == {}


@pytest.mark.parametrize("call", ["R.call_pure_packed", "R.call_dps_packed"])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_nobody_writes_into_what_a_packed_function_has_seen(call, executor, kept):
    given = {
        "R.call_pure_packed": 'R.call_pure_packed("test.keep", a, sinfo_args=F)',
        "R.call_dps_packed": 'R.call_dps_packed("test.keep", (a,), out_sinfo=F)',
    }[call]
    mod = from_source(program(f"a = R.add(x, x)\nb = {given}\nd = R.exp(b)\nR.add(d, a)"))
    made = DataflowUseInplaceCalls()(mod)
    EXECUTORS[executor](made)("main", *ARGS)
    seen = [array.copy() for array in kept]
    np.testing.assert_array_equal(seen[0], ARGS[0] * 2)
    calls = [n for n in walk(made["main"]) if isinstance(n, Call)]
    written = [n.args[1].fields[0] for n in calls if n.op == Op("relax.call_tir_inplace")]
    assert [v.name_hint for v in written] == ["d"]


@pytest.fixture
def kept():
    """The arrays that `test.keep` has seen, its result among them."""
    held: list[np.ndarray] = []

    def keep(*arrays):
        held.extend(arrays)
        if len(arrays) == 1:
            held.append(arrays[0] + 1)
            return held[-1]
        arrays[1][...] = arrays[0] + 1
        return None

    register_func("test.keep", keep)
    yield held
    remove_global_func("test.keep")


# -- PrimFuncs that are not proved -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "is_safe"),
    [
        ("for i in range(4):\n    y[i] = x[i] * x[i]", True),
        ("for i in range(4):\n    y[i] = x[3 - i]", False),
        ("for i in range(4):\n    y[3 - i] = x[3 - i]", False),
        ("for i in range(4):\n    y[i] = x[i] + x[0]", False),
        ("for i, j in T.grid(4, 2):\n    y[i] = x[i] + T.float32(1)", False),
        (
            "for i in range(4):\n    y[i] = x[i]\nfor i in range(4):\n    y[i] = x[i] + y[i]",
            False,
        ),
        (
            't = T.alloc_buffer((4,), "float32")\nfor i in range(4):\n    t[i] = x[3 - i]\n'
            "for i in range(4):\n    y[i] = x[i] + t[i]",
            True,
        ),
        (
            't = T.alloc_buffer((4,), "float32")\nfor i in range(4):\n    y[i] = x[i]\n'
            "for i in range(4):\n    t[i] = x[i]",
            False,
        ),
        (
            't = T.alloc_buffer((4,), "float32")\nfor i in range(4):\n    y[i] = x[i] * x[i]\n'
            "for i in range(4):\n    t[i] = y[i]",
            True,
        ),
        ("for i in range(3):\n    y[i] = x[i]", False),
    ],
)
def test_an_element_is_written_when_it_has_been_read_for_the_last_time(body, is_safe):
    indented = "".join(f"        {line}\n" for line in body.splitlines())
    mod = from_source(f"""
@I.ir_module
class M:
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
{indented}
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        with R.dataflow():
            a = R.add(x, x)
            b = R.call_tir(cls.f, (a,), R.Tensor((4,), "float32"))
            R.output(b)
        return b
""")
    made = DataflowUseInplaceCalls()(mod)
    assert (made is not mod) == is_safe
    args = [np.array([1, 2, 3, 4], "float32")]
    expected = check_executors_agree(mod, args)
    check_outcomes("in place", check_executors_agree(made, args), "before", expected)


# -- any program -----------------------------------------------------------------------------------


BINARY = ["R.add", "R.multiply", "R.subtract", "R.maximum"]


def random_lines(rng: random.Random) -> str:
    """Lines that name values often, put them into tuples, take them out, and use them again."""
    names, tuples, lines = ["x"], [], []

    def pick() -> str:  # young ones more often
        return names[-1 - min(int(rng.expovariate(0.5)), len(names) - 1)]

    for i in range(rng.randint(4, 14)):
        made = f"a{i}"
        match rng.randrange(8):
            case 0 | 1 | 2:
                lines.append(f"{made} = {rng.choice(BINARY)}({pick()}, {pick()})")
            case 3:
                lines.append(f"{made} = R.call_tir(cls.exp, ({pick()},), F)")
            case 4:
                lines.append(f"{made} = R.call_tir(cls.plus, ({pick()}, v), F)")
            case 5:
                lines.append(f"t{i} = ({pick()}, {pick()})")
                tuples.append(f"t{i}")
                continue
            case 6 if tuples:
                lines.append(f"{made} = {rng.choice(tuples)}[{rng.randrange(2)}]")
            case _:
                value = {
                    "negative": f"R.negative({pick()})",
                    "relu": f"R.nn.relu({pick()})",
                    "flip": f"R.flip({pick()}, axis=0)",
                    "reshape": f"R.reshape({pick()}, R.shape([n, 4]))",
                    "name": pick(),
                    "same": f"R.match_cast(cls.same({pick()}), F)",
                }
                lines.append(f"{made} = {rng.choice(list(value.values()))}")
        names.append(made)
    result = rng.choice([names[-1], f"({names[-1]}, {names[-2]})"])
    return "\n".join([*lines, result])


@pytest.mark.slow
def test_random_blocks_write_in_place_and_mean_the_same():
    seeds = range(examples(200))
    assert sum(len(inplace(random_lines(random.Random(seed)))) for seed in seeds)


@pytest.mark.slow
def test_writing_in_place_is_linear_in_the_bindings():
    def prepare(count: int):
        lines = [f"a{i} = R.add({f'a{i - 1}' if i else 'x'}, x)" for i in range(count)]
        mod = from_source(program("\n".join([*lines, f"R.exp(a{count - 1})"])))
        return lambda: DataflowUseInplaceCalls()(mod)

    assert growth(prepare, 50) < 10
