"""Checks that cannot fail go; those that may stay."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from relaxscript.compiler import build, jit
from relaxscript.errors import DiagnosticError, RelaxWarning, VMError
from relaxscript.script import from_source
from relaxscript.transform import RemoveRedundantChecks
from relaxscript_tests.transform.before_after import check


def function(params: str, *lines: str, result: str = "R.Object") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return f"""
@I.ir_module
class M:
    @R.function
    def main({params}) -> {result}:
        n, m, k = T.int64(), T.int64(), T.int64()
{body}
"""


def removed(before: str, after: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)  # what may fail is warned of when it is read
        check(RemoveRedundantChecks(), before, after)
        check(RemoveRedundantChecks(), after or before)


MATRIX = 'x: R.Tensor("float32", ndim=2)'
CAST = 'y = R.match_cast(x, R.Tensor((n, 4), "float32"))'


def test_a_cast_that_always_succeeds_is_a_name():
    removed(
        function(
            'x: R.Tensor(("n", 4), "float32")',
            'y = R.match_cast(x, R.Tensor((n, 4), "float32"))',
            "return y",
        ),
        function(
            'x: R.Tensor(("n", 4), "float32")',
            'y: R.Tensor((n, 4), "float32") = x',
            "return y",
        ),
    )


def test_a_second_cast_of_the_same_value_is_a_name_of_the_first():
    removed(
        function(MATRIX, CAST, 'z = R.match_cast(x, R.Tensor((n, 4), "float32"))', "return z"),
        function(MATRIX, CAST, 'z: R.Tensor((n, 4), "float32") = y', "return z"),
    )


def test_a_variable_that_is_sure_to_equal_an_expression_is_replaced_by_it():
    removed(
        function(
            'x: R.Tensor(("n", "n * 2"), "float32")',
            'y = R.match_cast(x, R.Tensor((m, k), "float32"))',
            "return R.shape([m + k])",
        ),
        function(
            'x: R.Tensor(("n", "n * 2"), "float32")',
            'y: R.Tensor((n, n * 2), "float32") = x',
            "return R.shape([n + n * 2])",
        ),
    )


def test_calls_and_operators_use_the_name_of_which_most_is_known():
    removed(
        function(
            f'{MATRIX}, w: R.Tensor((4, 2), "float32")', CAST,
            'z: R.Tensor(ndim=2, dtype="float32") = R.matmul(x, w)', "t = (x, z)", "return t",
        ),
        function(
            f'{MATRIX}, w: R.Tensor((4, 2), "float32")', CAST,
            'z: R.Tensor(ndim=2, dtype="float32") = R.matmul(y, w)', "t: R.Tuple(R.Tensor(ndim=2, "
            'dtype="float32"), R.Tensor(ndim=2, dtype="float32")) = (y, z)', "return t",
        ),
    )  # fmt: skip


def test_the_result_is_the_name_of_which_most_is_known():
    before = function(MATRIX, CAST, "return x", result='R.Tensor(ndim=2, dtype="float32")')
    removed(before, before.replace("return x", "return y"))


def test_a_name_of_which_less_is_said_gives_way():
    removed(
        function(
            'x: R.Tensor((2, 3), "float32")',
            "y: R.Tensor(ndim=2) = x",
            "z = R.match_cast(y, R.Tensor((2, 3)))",
            "return z",
        ),
        function(
            'x: R.Tensor((2, 3), "float32")',
            "y: R.Tensor(ndim=2) = x",
            "z: R.Tensor((2, 3)) = x",
            "return x",
        ),
    )


def test_what_was_seen_in_a_dataflow_block_stays_there():
    removed(
        function(
            MATRIX,
            "with R.dataflow():",
            '    lv = R.match_cast(x, R.Tensor((n, 4), "float32"))',
            "    gv = R.exp(x)",
            "    R.output(gv)",
            "y = R.exp(x)",
            "return y",
        ),
        function(
            MATRIX,
            "with R.dataflow():",
            '    lv = R.match_cast(x, R.Tensor((n, 4), "float32"))',
            '    gv: R.Tensor("float32", ndim=2) = R.exp(lv)',
            "    R.output(gv)",
            "y = R.exp(x)",
            "return y",
        ),
    )


@pytest.mark.parametrize(
    "lines",
    [
        ('y = R.match_cast(x, R.Tensor((n, n), "float32"))', "return y"),
        ('y = R.match_cast(x, R.Tensor((4, n), "float32"))', "return R.shape([n])"),
        (CAST, 'z = R.match_cast(y, R.Tensor((3, n), "float32"))', "return z"),
    ],
)
def test_a_cast_that_may_fail_stays(lines):
    removed(function(MATRIX, *lines), None)


def test_a_cast_in_a_dataflow_block_that_may_fail_stays():
    removed(
        function(MATRIX, "with R.dataflow():", f"    {CAST}", "    R.output(y)", "return y"), None
    )


def test_a_name_of_a_dataflow_block_is_not_used_behind_it():
    removed(
        function(
            MATRIX, "with R.dataflow():", f"    {CAST}", "    z = R.exp(y)", "    R.output(z)",
            "return x",
        ),
        None,
    )  # fmt: skip


def test_a_name_of_a_branch_is_not_used_behind_it():
    before = function(
        f'{MATRIX}, c: R.Prim("bool")', "if c:", f"    {CAST}", "    z = R.exp(y)", "else:",
        "    z = x", "t = (x, z)", "return t",
    )  # fmt: skip
    removed(before, None)


def test_what_a_branch_gives_keeps_its_name():
    before = function(
        f'{MATRIX}, c: R.Prim("bool")', "if c:", f"    {CAST}", "    z = x", "else:", "    z = x",
        "return z",
    )  # fmt: skip
    removed(before, None)


def test_a_variable_that_takes_a_number_that_may_be_negative_stays():
    removed(
        function(
            'x: R.Tensor(("n",), "int8")', "p = R.prim_value(n - 5)",
            "q = R.match_cast(p, R.Prim(value=m))", "return R.shape([m])",
        ),
        None,
    )  # fmt: skip


def test_what_an_operator_would_refuse_fails_when_it_runs():
    """A cast may show that what follows never succeeds: it need not be reached."""
    source = function(
        f'{MATRIX}, w: R.Tensor((5, 2), "float32")', CAST,
        'z: R.Tensor(ndim=2, dtype="float32") = R.matmul(x, w)', "return z",
    )  # fmt: skip
    removed(source, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        model = jit(from_source(source), remove_checks="redundant")
    w = np.ones((5, 2), "float32")
    with pytest.raises(VMError, match=r"`x\.shape\[1\]` is 5; must be 4"):
        model.main(np.ones((3, 5), "float32"), w)
    with pytest.raises(VMError, match=r"`R\.matmul` cannot multiply"):
        model.main(np.ones((3, 4), "float32"), w)


def test_sizes_that_become_known_are_computed():
    removed(
        function(
            'x: R.Tensor((4,), "float32")',
            'y = R.match_cast(x, R.Tensor((n,), "float32"))',
            "s: R.Shape([n * 2, n // 3]) = R.shape([n * 2, n // 3])",
            "return (y, s)",
        ),
        function(
            'x: R.Tensor((4,), "float32")',
            'y: R.Tensor((4,), "float32") = x',
            "s: R.Shape([8, 1]) = R.shape([8, 1])",
            "return (y, s)",
        ),
    )


def test_more_is_known_of_a_conditional_whose_branches_say_more():
    removed(
        function(
            's: R.Shape(["m", "m"]), b: R.Tensor((), "bool")',
            "if b:", "    t = R.match_cast(s, R.Shape([n, k]))", "    r = t",
            "else:", "    r = s",
            "if b:", "    q = r",
            "else:", "    q = s",
            "return q",
        ),
        function(
            's: R.Shape(["m", "m"]), b: R.Tensor((), "bool")',
            "if b:", "    t: R.Shape([m, m]) = s", "    r = t",
            "else:", "    r = s",
            "if b:", "    q = r",
            "else:", "    q = s",
            "return q",
        ),
    )  # fmt: skip


def test_build_takes_the_pass_by_name():
    source = function(MATRIX, CAST, 'z = R.match_cast(x, R.Tensor((m, 4), "float32"))', "return z")
    mod = from_source(source)
    assert build(mod).as_text().count("match_cast") == 2
    assert build(mod, remove_checks="redundant").as_text().count("match_cast") == 1
    with pytest.raises(
        DiagnosticError, match='there is no kind of checks to remove "redundent"'
    ) as e:
        build(mod, remove_checks="redundent")
    assert e.value.diagnostics[0].help == 'did you mean "redundant"?'
