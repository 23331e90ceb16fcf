"""Names, casts, tuples, choices and sizes that only repeat what is there are removed."""

from __future__ import annotations

import pytest

from relaxscript.script import from_source
from relaxscript.transform import CanonicalizeBindings, LambdaLift
from relaxscript.transform.simplify.canonicalize_bindings import canonical_form
from relaxscript_tests.transform.before_after import check

pytestmark = pytest.mark.filterwarnings("ignore::relaxscript.RelaxWarning")


def function(params: str, *lines: str, result: str = "R.Object", options: str = "") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return f"""
@I.ir_module
class M:
    @R.function({options})
    def main({params}) -> {result}:
        n, m, k = T.int64(), T.int64(), T.int64()
{body}
"""


def canonical(before: str, after: str | None) -> None:
    check(CanonicalizeBindings(), before, after)
    check(CanonicalizeBindings(), after or before)


X = 'x: R.Tensor(("n",), "float32")'


def test_another_name_of_a_variable_is_that_variable():
    canonical(
        function(X, "y = x", "z = R.add(y, x)", "w = z", "return w"),
        function(X, "z = R.add(x, x)", "return z"),
    )


def test_sizes_are_known_beside_a_function_that_was_lifted():
    text = function(
        X, "@R.function", "def local(y: R.Object) -> R.Object:", "    return y",
        "t = R.match_cast((local, x), R.Tuple(R.Object, R.Tensor((m,), 'float32')))",
        "s = R.shape([m])", "return s",
    )  # fmt: skip
    made = CanonicalizeBindings()(LambdaLift()(from_source(text))).script()
    assert "R.shape([n])" in made
    assert "match_cast" not in made


def test_a_name_of_which_less_or_more_is_said_stays():
    canonical(
        function(
            'x: R.Tensor(ndim=1, dtype="float32")', "y: R.Tensor(ndim=1) = x",
            'z: R.Tensor((4,), "float32") = x', "w = R.match_cast(x, R.Tensor((4,)))",
            "return (y, z, w)",
        ),
        None,
    )  # fmt: skip


def test_a_cast_that_is_sure_to_pass_goes_and_what_it_binds_is_what_was_known():
    canonical(
        function(
            X, 'y = R.match_cast(x, R.Tensor((m,), "float32"))', "s = R.shape([m, n])",
            "z = R.add(x, y)", "return (s, z)",
        ),
        function(
            X, "s = R.shape([n, n])", 'z: R.Tensor(ndim=1, dtype="float32") = R.add(x, x)',
            "return (s, z)",
        ),
    )  # fmt: skip


def test_a_cast_that_may_fail_stays():
    canonical(
        function(
            X, 'y = R.match_cast(x, R.Tensor((4,), "float32"))',
            'z = R.match_cast(x, R.Tensor((n * 2,), "float32"))', "return x",
        ),
        None,
    )  # fmt: skip


def test_a_size_stays_unknown_where_an_operator_would_refuse_what_it_is():
    canonical(
        function(
            'x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 5), "float32")',
            'y = R.match_cast(x, R.Tensor((2, m), "float32"))', "z = R.matmul(y, w)", "return z",
        ),
        None,
    )  # fmt: skip


def test_a_field_of_a_tuple_is_what_was_put_there():
    canonical(
        function(X, "t = (x, R.const(1))", "a = t[0]", "b = t[1]", "return (a, b)"),
        function(X, "t = (x, R.const(1))", "b = t[1]", "return (x, b)"),
    )


def test_a_tuple_of_all_fields_of_another_is_that_one():
    t = 't: R.Tuple(R.Tensor((2,), "float32"), R.Object)'
    canonical(
        function(t, "a = t[0]", "b = t[1]", "u = (a, b)", "return u"),
        function(t, "a = t[0]", "b = t[1]", "return t"),
    )
    canonical(function(t, "a = t[0]", "b = t[1]", "u = (b, a)", "return u"), None)
    canonical(function(t, "a = t[0]", "u = (a,)", "return u"), None)


def test_what_leaves_a_dataflow_block_is_bound_by_its_own_name():
    canonical(
        function(
            X, "with R.dataflow():", "    a = R.exp(x)", "    b = R.log(a)", "    gv = b",
            "    c = R.exp(b)", "    R.output(gv, c)", "return (gv, c)",
        ),
        function(
            X, "with R.dataflow():", "    a = R.exp(x)", "    gv = R.log(a)",
            "    c = R.exp(gv)", "    R.output(gv, c)", "return (gv, c)",
        ),
    )  # fmt: skip


def test_what_is_not_used_behind_its_dataflow_block_ends_with_it():
    canonical(
        function(
            X, "with R.dataflow():", "    a = R.exp(x)", "    b = R.log(a)", "    R.output(a, b)",
            "return b",
        ),
        function(
            X, "with R.dataflow():", "    a = R.exp(x)", "    b = R.log(a)", "    R.output(b)",
            "return b",
        ),
    )  # fmt: skip


def test_what_a_local_function_captures_leaves_the_dataflow_block():
    canonical(
        function(
            X, "with R.dataflow():", "    a = R.exp(x)", "    @R.function",
            '    def f(v: R.Tensor((2,), "float32")) -> R.Object:', "        w = (a, v)",
            "        return w", "    R.output(a, f)", "return f",
        ),
        None,
    )  # fmt: skip


def test_a_name_of_a_variable_of_an_ended_dataflow_block_stays():
    canonical(
        function(
            X, "with R.dataflow():", "    a = R.exp(x)", "    t = (a, x)", "    R.output(t)",
            "b = t[0]", "c = t[1]", "return (b, c)",
        ),
        function(
            X, "with R.dataflow():", "    a = R.exp(x)", "    t = (a, x)", "    R.output(t)",
            "b = t[0]", "return (b, x)",
        ),
    )  # fmt: skip


def test_a_branch_whose_condition_is_constant_takes_the_place_of_the_choice():
    lines = (
        "with R.dataflow():", "    a = R.exp(x)", "    R.output(a)",
        "y = R.match_cast(o, R.Tensor((m,), \"float32\"))", "z = R.add(a, a)",
    )  # fmt: skip
    cast = "q = R.match_cast(o, R.Shape([m]))"
    canonical(
        function(
            f"{X}, o: R.Object", "if R.const(True):", *(f"    {line}" for line in lines),
            "else:", "    z = x", cast, "return (z, q)",
        ),
        function(
            f"{X}, o: R.Object", *lines[:3], lines[3].replace("m,", "k,"), lines[4], cast,
            "return (z, q)",
        ),
    )  # fmt: skip
    canonical(
        function(
            X, "if R.prim_value(False):", "    z = R.exp(x)", "else:", "    z = x", "return z",
        ),
        function(X, "return x"),
    )  # fmt: skip


def test_branches_and_local_functions_are_canonical_too():
    canonical(
        function(
            f"{X}, c: R.Prim('bool')",
            "@R.function", 'def f(v: R.Tensor((2,), "float32")) -> R.Object:', "    w = v",
            "    u = R.exp(w)", "    return u",
            "if c:", "    y = x", "    z = R.exp(y)", "else:", "    z = x", "return (z, f)",
        ),
        function(
            f"{X}, c: R.Prim('bool')",
            "@R.function", 'def f(v: R.Tensor((2,), "float32")) -> R.Object:',
            "    u = R.exp(v)", "    return u",
            "if c:", "    z = R.exp(x)", "else:", "    z = x", "return (z, f)",
        ),
    )  # fmt: skip


def test_names_of_memory_that_is_given_back_stay():
    canonical(
        function(
            'x: R.Tensor((4,), "float32")', "y = x", "_ = R.memory.kill_tensor(y)", "return x",
            options="pure=False",
        ),
        None,
    )  # fmt: skip


def test_a_function_keeps_its_bindings_and_blocks_where_variables_get_other_names_only():
    for lines, keeps in (
        (("y = R.exp(x)", "z = R.add(y, x)"), True),
        (("z = R.add(x, x)",), True),
        (("y = x", "z = R.add(y, x)"), False),
        (("y = R.match_cast(x, R.Tensor((m,)))", "z = R.add(x, x)"), False),
        (("t = (x, x)", "y = t[0]", "z = R.add(y, x)"), False),
    ):
        block = ["with R.dataflow():", *(f"    {line}" for line in lines)]
        bound = ", ".join(line.split(" = ")[0] for line in lines)
        mod = from_source(function(X, *block, f"    R.output({bound})", "return z"))
        made, same = canonical_form(mod["main"], mod)
        assert same is keeps
        assert canonical_form(made, mod) == (made, True)


CALLS_OUT = 'c = R.call_packed("test.log", x, sinfo_args=R.Object)'
UNKNOWN = 'x: R.Tensor(dtype="float32")'


def with_failures(pure: str, *lines: str) -> str:
    """`main` of these lines, in which variables that a failure may name stay, as text."""
    text = function(UNKNOWN, pure, *lines, options="pure=False")
    step = CanonicalizeBindings(keep_failures=True)
    made = step(from_source(text))
    assert step(made) is made
    return str(made["main"].script())


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ("y = x", 'z = R.match_cast(y, R.Tensor((3,), "float32"))', "return z"),
            "R.match_cast(y, ",
        ),
        (("y = x", "z = R.outer(y, y)", "return z"), "R.outer(y, y)"),
        (
            ("s = R.shape_of(x)", "t = s", "z = R.match_cast(x, R.Tensor(t))", "return z"),
            "R.Tensor(t",
        ),
        (("y = (x, x)", "z = y[0]", "w = R.outer(z, z)", "return w"), "R.outer(z, z)"),
    ],
)
def test_a_name_that_a_failure_may_say_stays_where_a_run_cannot_be_repeated(lines, told):
    assert told in with_failures(CALLS_OUT, *lines)
    assert told not in with_failures("c = x", *lines)


def test_a_size_that_a_check_compares_with_stays_where_a_run_cannot_be_repeated():
    lines = (
        "k4 = R.zeros((4,), 'float32')", "y = R.match_cast(k4, R.Tensor((m,), 'float32'))",
        "z = R.match_cast(x, R.Tensor((m * 2,), 'float32'))", "return (y, z)",
    )  # fmt: skip
    assert "R.Tensor((m * 2,)" in with_failures(CALLS_OUT, *lines)
    assert "R.Tensor((8,)" in with_failures("c = x", *lines)


def test_a_size_that_no_check_compares_with_goes_also_where_a_run_cannot_be_repeated():
    lines = (
        "k4 = R.zeros((4,), 'float32')", "y = R.match_cast(k4, R.Tensor((m,), 'float32'))",
        "z = R.zeros((m,), 'float32')", "return (y, z)",
    )  # fmt: skip
    assert "R.match_cast(" not in with_failures(CALLS_OUT, *lines)


def test_a_name_that_no_failure_says_goes_also_where_a_run_cannot_be_repeated():
    lines = "k4 = R.zeros((4,), 'float32')", "y = k4", "z = R.add(y, y)", "return z"
    assert "R.add(k4, k4)" in with_failures(CALLS_OUT, *lines)


def test_a_local_function_keeps_its_name_where_it_may_be_shown():
    text = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        {call}
        with R.dataflow():
            @R.function
            def inner(a: R.Tensor((4,), "float32")):
                return R.exp(a)
            shown = inner
            R.output(shown)
        return shown
"""
    step = CanonicalizeBindings(keep_failures=True)
    assert "def inner(" in step(from_source(text.format(call=CALLS_OUT)))["main"].script()
    assert "def shown(" in step(from_source(text.format(call="c = x")))["main"].script()
