"""What is known already is not computed again, unless somebody would notice."""

from __future__ import annotations

import warnings

import pytest

from relaxscript.builder import ExprMutator
from relaxscript.errors import RelaxWarning
from relaxscript.ir.relax import Call, Op, VarBinding
from relaxscript.op import lookup
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import EliminateCommonSubexpr, FunctionPass
from relaxscript_tests import examples
from relaxscript_tests.transform.before_after import check

X = 'x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")'
PRIM_FUNCS = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def double(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i] * T.float32(2)

    @T.prim_func(private=True)
    def greedy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]
            a[i] = T.float32(0)

    @R.function(pure=False)
    def main({params}) -> R.Object:
{body}
"""


def program(*lines: str, params: str = X) -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return PRIM_FUNCS.format(params=params, body=body)


def merges(
    before: tuple[str, ...],
    after: tuple[str, ...] | None,
    params: str = X,
    step: EliminateCommonSubexpr | None = None,
) -> None:
    step = step or EliminateCommonSubexpr()
    text = None if after is None else program(*after, params=params)
    check(step, program(*before, params=params), text)
    check(step, text or program(*before, params=params))


def test_a_call_that_was_computed_before_is_not_computed_again():
    merges(
        ("a = R.add(x, y)", "b = R.add(x, y)", "c = R.multiply(a, b)", "return c"),
        ("a = R.add(x, y)", "b = a", "c = R.multiply(a, a)", "return c"),
    )
    merges(
        (
            'a = R.call_tir(M.double, (x,), R.Tensor((4,), "float32"))',
            'b = R.call_tir(M.double, (x,), R.Tensor((4,), "float32"))', "c = R.add(a, b)",
            "return c",
        ),
        (
            'a = R.call_tir(M.double, (x,), R.Tensor((4,), "float32"))', "b = a",
            "c = R.add(a, a)", "return c",
        ),
    )  # fmt: skip


def test_what_is_the_same_by_then_is_merged_too():
    merges(
        (
            "a = R.exp(x)", "b = R.exp(x)", "c = R.log(a)", "d = R.log(b)", "e = R.add(c, d)",
            "return e",
        ),
        (
            "a = R.exp(x)", "b = a", "c = R.log(a)", "d = c", "e = R.add(c, c)", "return e",
        ),
    )  # fmt: skip


def test_calls_that_differ_in_operands_attributes_or_constants_stay():
    merges(
        (
            "a = R.sum(x, axis=0)", "b = R.sum(y, axis=0)", "c = R.sum(x, axis=0, keepdims=True)",
            'd = R.divide(x, R.const(0.0, "float32"))',
            'e = R.divide(x, R.const(-0.0, "float32"))', "f = R.subtract(x, y)",
            "g = R.subtract(y, x)", "return (a, b, c, d, e, f, g)",
        ),
        None,
    )  # fmt: skip


def test_tuples_fields_shapes_and_scalars_are_merged_unless_only_calls_are_asked_for():
    before = (
        "t = (x, y)", "u = (x, y)", "a = t[0]", "b = u[0]", "s = R.shape([2])", "r = R.shape([2])",
        "p = R.add(a, b)", "return (t, u, p, s, r)",
    )  # fmt: skip
    merges(
        before,
        (
            "t = (x, y)", "u = t", "a = t[0]", "b = a", "s = R.shape([2])", "r = s",
            "p = R.add(a, a)", "return (t, t, p, s, s)",
        ),
    )  # fmt: skip
    merges(before, None, step=EliminateCommonSubexpr(call_only=True))


def test_an_output_of_a_dataflow_block_stays_one():
    merges(
        (
            "with R.dataflow():", "    a = R.add(x, y)", "    b = R.add(x, y)",
            "    c = R.multiply(a, b)", "    R.output(b, c)", "d = R.add(b, c)", "return d",
        ),
        (
            "with R.dataflow():", "    a = R.add(x, y)", "    b = a", "    c = R.multiply(a, a)",
            "    R.output(b, c)", "d = R.add(b, c)", "return d",
        ),
    )  # fmt: skip


def test_casts_that_define_no_sizes_are_merged():
    unknown = 'x: R.Tensor(dtype="float32")'
    before = (
        'a = R.match_cast(x, R.Tensor((4,), "float32"))',
        'b = R.match_cast(x, R.Tensor((4,), "float32"))', "c = R.add(a, b)", "return c",
    )  # fmt: skip
    merges(before, (before[0], "b = a", "c = R.add(a, a)", "return c"), params=unknown)
    merges(before, None, params=unknown, step=EliminateCommonSubexpr(call_only=True))
    other = (
        "n, m = T.int64(), T.int64()", 'a = R.match_cast(x, R.Tensor((n,), "float32"))',
        'b = R.match_cast(x, R.Tensor((m,), "float32"))', "return (a, b)",
    )  # fmt: skip
    merges(other, None, params=unknown)


def test_what_a_dataflow_block_kept_to_itself_is_computed_again_behind_it():
    merges(
        (
            "with R.dataflow():", "    a = R.add(x, y)", "    b = R.exp(a)", "    R.output(b)",
            "c = R.add(x, y)", "return (b, c)",
        ),
        None,
    )  # fmt: skip


def test_a_branch_uses_what_stands_before_it_and_keeps_what_it_computes():
    merges(
        (
            "a = R.add(x, y)", "if R.const(True):", "    b = R.add(x, y)", "    c = R.exp(b)",
            "    z = R.log(c)", "else:", "    z = R.exp(a)", "d = R.exp(a)", "e = R.add(z, d)",
            "return e",
        ),
        (
            "a = R.add(x, y)", "if R.const(True):", "    b = a", "    c = R.exp(a)",
            "    z = R.log(c)", "else:", "    z = R.exp(a)", "d = R.exp(a)", "e = R.add(z, d)",
            "return e",
        ),
    )  # fmt: skip


def test_calls_with_effects_and_of_packed_functions_stay():
    merges(
        (
            'a = R.call_packed("f", sinfo_args=R.Object)',
            'b = R.call_packed("f", sinfo_args=R.Object)',
            'c = R.call_pure_packed("f", x, sinfo_args=R.Tensor((4,), "float32"))',
            'd = R.call_pure_packed("f", x, sinfo_args=R.Tensor((4,), "float32"))',
            "return (a, b, c, d)",
        ),
        None,
    )  # fmt: skip


def test_tensors_that_may_be_written_into_stay_two():
    merges(
        (
            "a = R.zeros((4,), \"float32\")", "b = R.zeros((4,), \"float32\")",
            'c = R.call_packed("f", a, sinfo_args=R.Object)', "d = R.add(b, b)", "return d",
        ),
        None,
    )  # fmt: skip
    merges(
        (
            "a = R.exp(x)", "b = R.exp(x)",
            'c = R.call_tir_inplace(M.greedy, (a, y), [0, 1], [R.Tensor((4,), "float32"), '
            'R.Tensor((4,), "float32")])', "d = R.add(b, c[0])", "return d",
        ),
        None,
    )  # fmt: skip
    merges(
        (
            "a = R.exp(x)", 'c = R.call_packed("f", x, sinfo_args=R.Object)', "b = R.exp(x)",
            "d = R.add(a, b)", "return d",
        ),
        None,
    )  # fmt: skip


def test_a_prim_func_that_writes_into_its_operand_is_called_again():
    merges(
        (
            'a = R.call_tir(M.greedy, (x,), R.Tensor((4,), "float32"))',
            'b = R.call_tir(M.greedy, (x,), R.Tensor((4,), "float32"))', "d = R.add(a, b)",
            "return d",
        ),
        None,
    )  # fmt: skip


def test_two_results_of_a_function_are_two_arrays():
    merges(("a = R.exp(x)", "b = R.exp(x)", "return (a, b)"), None)


def test_a_value_of_which_less_is_said_keeps_its_name():
    merges(
        ("a = R.exp(x)", "b: R.Tensor(ndim=1) = R.exp(x)", "c = R.add(a, b)", "return c"),
        ("a = R.exp(x)", "b: R.Tensor(ndim=1) = a", "c = R.add(a, b)", "return c"),
    )


def test_what_asks_for_calls_only_is_a_bool():
    with pytest.raises(TypeError, match="`call_only` of `EliminateCommonSubexpr` is True or False"):
        EliminateCommonSubexpr(3)


class _Twice(FunctionPass):
    """Every call of a pure operator stands twice."""

    def transform_function(self, func, mod, ctx):
        return _Doubler(mod).function(func)


class _Doubler(ExprMutator):
    def binding(self, binding):
        value = binding.value
        if isinstance(binding, VarBinding) and isinstance(value, Call) and isinstance(value.op, Op):
            if lookup(value.op).pure:
                self.emit(value.replace(span=None), "twin", None)
        super().binding(binding)


def test_a_program_in_which_calls_stand_twice_means_the_same():
    merged = 0
    for seed in range(examples(200)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelaxWarning)
            mod = random_module(seed)
            before = _Twice()(mod)
            after = EliminateCommonSubexpr()(before)
        merged += after is not before
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](before), "main", inputs)
        for name in ("interpreter", "reference"):
            actual = observe(EXECUTORS[name](after), "main", inputs)
            check_outcomes(name, actual, "before", expected)
    assert merged


def test_the_first_of_two_calls_that_fail_fails():
    mod = from_source(
        program(
            'i = R.const([9], "int32")', "a = R.take(x, i, axis=0)", "b = R.take(x, i, axis=0)",
            "c = R.add(a, b)", "return c",
        )
    )  # fmt: skip
    inputs = inputs_for(mod["main"], 0)
    expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
    made = EliminateCommonSubexpr()(mod)
    assert made is not mod
    check_outcomes("after", observe(EXECUTORS["interpreter"](made), "main", inputs), "", expected)
