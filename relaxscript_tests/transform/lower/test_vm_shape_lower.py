"""Checks and shapes are written out: as programs, with the same meaning and the same messages."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import build, jit
from relaxscript.errors import RelaxWarning, VMError
from relaxscript.ir.relax import ShapeExpr, StringImm, VarBinding
from relaxscript.ir.walk import compounds, walk
from relaxscript.runtime import Prim, VirtualMachine, cpu, register_func, remove_global_func
from relaxscript.script import from_source
from relaxscript.semantics.check_calls import check_of
from relaxscript.transform import VMShapeLower
from relaxscript_tests.end_to_end.executors import every_executor, failure
from relaxscript_tests.transform.before_after import check

pytestmark = pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")


def function(params: str, body: str, result: str = "") -> str:
    return f"""
@I.ir_module
class M:
    @R.function(pure=False)
    def main({params}){result}:
        n = T.int64()
        m = T.int64()
{body}
"""


def checks(mod) -> list[str]:
    """The checks that `main` makes, in order."""
    found = (check_of(node) for node in compounds(mod["main"]))
    return [check[0].removeprefix("vm.builtin.") for check in found if check is not None]


def texts(mod) -> list[str]:
    """What the checks of `main` call the values that they look at."""
    return [node.value for node in walk(mod["main"].body) if isinstance(node, StringImm)]


def test_a_signature_is_one_check_and_a_shape_a_variable():
    before = function('x: R.Tensor(("n", 4), "float32")', "        return R.shape([n, 4])")
    after = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Shape(["n", 4]):
        R.func_attr({"relax.shapes_lowered": True})
        n = T.int64()
        _ = R.call_builtin_with_ctx(
            "vm.builtin.match_arguments", (x,), sinfo_args=R.Tuple(R.Tensor((n, 4), "float32"))
        )
        s = R.shape([n, 4])
        return s
"""
    made = check(VMShapeLower(), before, after)
    assert VMShapeLower()(made) is made


def test_a_match_cast_is_one_check_however_much_it_asks_for():
    body = """
        k = T.int64()
        y = R.match_cast(x, R.Tuple(R.Tensor((n, n + m), "float32"), R.Shape([k, 2])))
        return y"""
    made = VMShapeLower()(from_source(function('x: R.Object, z: R.Tensor(("m",))', body)))
    assert checks(made) == ["match_arguments", "match_cast"]
    assert texts(made) == ["`x`"]


def test_what_is_known_is_not_checked():
    body = """
        y = R.match_cast(x, R.Tensor(ndim=1))
        z: R.Tensor = y
        return z"""
    made = VMShapeLower()(from_source(function('x: R.Tensor(("n",))', body, " -> R.Tensor")))
    assert checks(made) == ["match_arguments"]


def test_a_result_and_an_annotation_that_are_not_known_are_checked():
    body = """
        y: R.Tensor((n,)) = x
        return y"""
    with pytest.warns(RelaxWarning):
        made = from_source(function("x: R.Tensor, s: R.Shape(['n'])", body, " -> R.Tensor((2,))"))
    lowered = VMShapeLower()(made)
    assert checks(lowered) == ["match_arguments", "match_cast", "match_result"]
    assert texts(lowered) == ["`y`"]


def test_what_is_computed_once_is_computed_once():
    body = """
        a = R.zeros(R.shape([n, 2, m]), "float32")
        if c:
            b = R.ones(R.shape([n, 2, m]), "float32")
        else:
            d = R.ones(R.shape([m]), "float32")
            b = R.zeros(R.shape([m]), "float32")
        return (a, b, R.shape([m]))"""
    made = VMShapeLower()(from_source(function('x: R.Tensor(("n", "m")), c: R.Prim("bool")', body)))
    shapes = [
        node for node in walk(made["main"].body)
        if isinstance(node, VarBinding) and isinstance(node.value, ShapeExpr)
    ]  # fmt: skip
    assert len(shapes) == 3


def test_words_are_left_out_where_they_are_not_wanted():
    mod = from_source(function("x: R.Object", "        return R.match_cast(x, R.Tensor((n,)))"))
    assert texts(VMShapeLower(emit_err_ctx=False)(mod)) == ["the value"]
    assert texts(VMShapeLower()(mod)) == ["`x`"]


def test_a_variable_that_is_no_integer_takes_its_value_from_a_check():
    made = VMShapeLower()(from_source("""
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Object):
        v = T.float32()
        y = R.match_cast(x, R.Prim("float32", v))
        return R.prim_value(v * T.float32(2))
"""))  # fmt: skip
    assert checks(made) == ["match_arguments", "match_cast"]
    half = Prim(0.5, "float32")
    assert jit(made).main(half) == Prim(1.0, "float32")


def test_functions_are_made_ready_first():
    body = """
        @R.function
        def inner(y: R.Object) -> R.Object:
            return y
        z = R.call_dps_packed("f", (x,), out_sinfo=R.Tensor((n,), "float32"))
        return inner(z)"""
    made = VMShapeLower()(from_source(function('x: R.Tensor(("n",))', body)))
    assert all(f.attrs["relax.shapes_lowered"] for f in made.relax_functions().values())
    assert [var.name_hint for var in made.functions] == ["main", "main_inner"]


# Programs with arguments that fit and arguments that do not.
PROGRAMS = {
    "tensor": (
        'x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("m", "n * m"), "int32")',
        "        return R.shape([n * m, n // m, m])",
        "",
        (np.zeros((6, 2), "float32"), np.zeros((2, 12), "int32")),
        [
            (np.zeros((6, 2), "float32"), np.zeros((2, 11), "int32")),
            (np.zeros((6, 2), "float32"), np.zeros((3, 12), "int32")),
            (np.zeros((6, 2), "float32"), np.zeros((2, 12), "int64")),
            (np.zeros(6, "float32"), np.zeros((2, 12), "int32")),
            (3, np.zeros((2, 12), "int32")),
        ],
    ),
    "shape": (
        's: R.Shape(["n", "n", 3]), k: R.Shape(ndim=1)',
        "        return (s, k)",
        "",
        ([2, 2, 3], [5]),
        [([2, 1, 3], [5]), ([2, 2, 4], [5]), ([2, 2], [5]), ([2, 2, 3], []), (1, [5])],
    ),
    "prim": (
        'p: R.Prim(value="n"), q: R.Prim("bool"), x: R.Tensor(("n",))',
        "        return (R.prim_value(n), q)",
        "",
        (2, True, np.zeros(2)),
        [(2, True, np.zeros(3)), (2, 1, np.zeros(2)), (2.0, True, np.zeros(2))],
    ),
    "tuple": (
        't: R.Tuple(R.Tuple(R.Tensor(("n",), "float32"), R.Object), R.Tensor(("n + 1",)))',
        "        return t[1]",
        "",
        ((np.zeros(2, "float32"), 1), np.zeros(3)),
        [
            ((np.zeros(2, "float32"), 1), np.zeros(2)),
            ((np.zeros(2, "float64"), 1), np.zeros(3)),
            ((np.zeros(2, "float32"),), np.zeros(3)),
            (np.zeros(2, "float32"), np.zeros(3)),
        ],
    ),
    "match_cast": (
        "x: R.Object, y: R.Object",
        """
        a = R.match_cast(x, R.Tensor((n, m), "float32"))
        b = R.match_cast(y, R.Tensor((m, 2), "float32"))
        return R.shape([n + m])""",
        "",
        (np.zeros((3, 4), "float32"), np.zeros((4, 2), "float32")),
        [
            (np.zeros((3, 4), "float32"), np.zeros((3, 2), "float32")),
            (np.zeros((3, 4), "float32"), np.zeros((4, 1), "float32")),
            (np.zeros((3, 4, 1), "float32"), np.zeros((4, 2), "float32")),
            (1, np.zeros((4, 2), "float32")),
        ],
    ),
    "result": (
        'x: R.Tensor(("n",)), y: R.Tensor(("m",))',
        "        return y",
        ' -> R.Tensor(("n",))',
        (np.zeros(3), np.zeros(3)),
        [(np.zeros(3), np.zeros(4))],
    ),
    "held shape": (
        "s: R.Shape(ndim=1), x: R.Object",
        "        y = R.match_cast(x, R.Tensor(s))\n        return y",
        "",
        ([3], np.zeros(3)),
        [([3], np.zeros(4)), ([3], 1)],
    ),
    "branch": (
        'x: R.Tensor(("n",)), c: R.Prim("bool"), y: R.Object',
        """
        if c:
            a = R.match_cast(y, R.Tensor((m,)))
            s = R.shape([n + m])
        else:
            s = R.shape([n + 1])
        return (s, R.shape([n + 1]))""",
        "",
        (np.zeros(2), True, np.zeros(5)),
        [(np.zeros(2), True, 1)],
    ),
    "local function": (
        'x: R.Tensor(("n",)), y: R.Tensor(("m",)), z: R.Object',
        """
        @R.function
        def inner(k: R.Object) -> R.Tensor((n + m,)):
            a = R.match_cast(k, R.Tensor((n,)))
            return R.concat((R.add(a, x), y))
        return inner(z)""",
        "",
        (np.zeros(2), np.zeros(3), np.zeros(2)),
        [(np.zeros(2), np.zeros(3), 1), (np.zeros(2), 1, np.zeros(2))],
    ),
    "negative": (
        'x: R.Tensor(("n",))',
        "        return R.shape([1, n - 2])",
        "",
        (np.zeros(2),),
        [(np.zeros(1),)],
    ),
    "function": (
        'f: R.Callable((R.Tensor(("k",)),), R.Object), x: R.Tensor(("n",))',
        "        return x",
        "",
        None,
        [(1, np.zeros(2))],
    ),
}  # fmt: skip


@every_executor
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_the_same_values_and_messages(name, load):
    params, body, result, right, wrong = PROGRAMS[name]
    before = from_source(function(params, body, result))
    after = VMShapeLower()(before)
    assert after["main"].attrs["relax.shapes_lowered"]
    one, other = load(before).main, load(after).main
    if right is not None:
        args = (right,) if name == "tuple" else right
        np.testing.assert_equal(other(*args), one(*args))
    for given in wrong:
        args = (given,) if name == "tuple" else given
        expected, actual = (failure(lambda run=run, args=args: run(*args)) for run in (one, other))
        assert actual.code == expected.code
        assert actual.diagnostic.message == expected.diagnostic.message
        assert (actual.span.line, actual.span.column) == (expected.span.line, expected.span.column)


@pytest.fixture
def returned_as_it_is():
    register_func("testing.shape_lower", lambda x: x)
    yield
    remove_global_func("testing.shape_lower")


@pytest.mark.usefixtures("returned_as_it_is")
def test_what_a_packed_function_returns_is_checked():
    body = """
        y = R.call_packed("testing.shape_lower", x, sinfo_args=R.Tensor((n + 1,), "float32"))
        return y"""
    mod = from_source(function('x: R.Tensor(("n",), "float32")', body))
    messages = [
        failure(lambda made=made: jit(made).main(np.zeros(2, "float32"))).diagnostic.message
        for made in (mod, VMShapeLower()(mod))
    ]
    assert messages[0] == messages[1]
    assert (
        "`shape[0]` of the result of `testing.shape_lower` is 2; must be `n + 1` with `n = 2`"
        in (messages[1])
    )


def test_a_closure_of_another_type_is_refused():
    mod = VMShapeLower()(
        from_source("""
@I.ir_module
class M:
    @R.function
    def wrong(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):
        return x

    @R.function
    def main(f: R.Object):
        g = R.match_cast(f, R.Callable((R.Tensor((3,), "int8"),), R.Object))
        return g
""")
    )
    machine = VirtualMachine(build(mod), cpu())
    with pytest.raises(VMError, match="does not fit: in parameter 0, dimension 0 is `3`, not `2`"):
        machine["main"](machine["wrong"])


def test_the_listing_shows_what_is_checked():
    body = "        y = R.match_cast(x, R.Tensor((n, n)))\n        return R.shape([n])"
    made = VMShapeLower()(from_source(function("x: R.Object", body)))
    text = build(made, relax_pipeline=None).as_text()
    assert text == build(from_source(function("x: R.Object", body))).as_text()
    assert "is: a tensor of shape (n, n)" in text
    assert "vm.builtin.make_shape" in text
