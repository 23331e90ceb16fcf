"""What depends on constants only is computed; what fails, has effects or is large stays."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.builder import BlockBuilder
from relaxscript.interpreter.relax import Interpreter
from relaxscript.ir.relax import Call, Constant
from relaxscript.op.manipulate.axes import permute_dims
from relaxscript.script import from_source
from relaxscript.transform import FoldConstant, PassContext
from relaxscript_tests.transform.before_after import check

PRIM_FUNCS = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def double(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i] * T.float32(2)

    @T.prim_func(private=True)
    def outside(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i + T.Cast("int32", a[i]) + 7]

    @T.prim_func(private=True)
    def greedy(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i]
            a[i] = T.float32(0)

    @R.function(pure=False)
    def main({params}):
{body}
"""
C = 'c = R.const([1.0, 2.0], "float32")'


def program(*lines: str, params: str = "") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return PRIM_FUNCS.format(params=params, body=body)


def folds(before: tuple[str, ...], after: tuple[str, ...] | None, params: str = "") -> None:
    text = None if after is None else program(*after, params=params)
    check(FoldConstant(), program(*before, params=params), text)
    check(FoldConstant(), text or program(*before, params=params))


def test_calls_of_operators_and_prim_funcs_on_constants_become_constants():
    folds(
        (
            C, "a = R.add(c, R.const([3.0, 4.0], \"float32\"))", "with R.dataflow():",
            '    b = R.call_tir(M.double, (a,), R.Tensor((2,), "float32"))',
            "    d = R.multiply(x, b)", "    R.output(d)", "return d",
        ),
        (
            C, 'a = R.const([4.0, 6.0], "float32")', "with R.dataflow():",
            '    b = R.const([8.0, 12.0], "float32")', "    d = R.multiply(x, b)",
            "    R.output(d)", "return d",
        ),
        'x: R.Tensor((2,), "float32")',
    )  # fmt: skip


def test_tuples_and_scalars_are_constants_too():
    folds(
        (C, "s = R.split(c, 2)", "a = s[1]", "b = R.negative(a)", "return b"),
        (
            C, 's = (R.const([1.0], "float32"), R.const([2.0], "float32"))', "a = s[1]",
            'b = R.const([-2.0], "float32")', "return b",
        ),
    )  # fmt: skip


def test_operators_without_operands_are_folded_where_the_result_is_small():
    folds(
        ('a = R.zeros((2,), "float32")', "return a"),
        ('a = R.const([0.0, 0.0], "float32")', "return a"),
    )
    folds(('a = R.zeros((1000000000,), "float32")', "return a"), None)


def test_the_size_of_results_is_bounded_by_an_option_and_by_the_operands():
    text = program(
        'c = R.const([1.0, 2.0, 3.0], "float32")', "a = R.negative(c)",
        "b = R.concat((a, c), axis=0)", "return b",
    )  # fmt: skip
    with PassContext(config={"relax.FoldConstant.max_bytes": 8}):
        made = FoldConstant()(from_source(text))
    a, b = made["main"].body.blocks[0].bindings[1:]
    assert isinstance(a.value, Constant)
    assert isinstance(b.value, Call)


def test_what_fails_stays_and_fails_when_it_runs():
    folds((C, 'a = R.take(c, R.const([5], "int32"), axis=0)', "return a"), None)
    folds((C, 'a = R.call_tir(M.outside, (c,), R.Tensor((2,), "float32"))', "return a"), None)


def test_random_packed_and_effectful_calls_stay():
    folds(
        (
            C, "k = R.random.key(1)", 'r = R.random.uniform(R.const([1, 2], "uint32"), (2,))',
            'p = R.call_pure_packed("f", c, sinfo_args=R.Tensor((2,), "float32"))',
            '_ = R.print(c, format="{}")', "return (k, r, p)",
        ),
        None,
    )  # fmt: skip


def test_what_may_be_written_into_is_no_constant():
    folds(
        (C, 'd = R.call_packed("f", c, sinfo_args=R.Object)', "a = R.negative(c)", "return a"), None
    )
    folds(
        (
            C, 'd = R.call_tir(M.greedy, (c,), R.Tensor((2,), "float32"))',
            "v = R.reshape(c, (1, 2))", "a = R.negative(v)", "return a",
        ),
        None,
    )  # fmt: skip


def test_what_is_on_a_device_stays():
    check(
        FoldConstant(),
        """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

    @R.function
    def main():
        c = R.const([1.0, 2.0], "float32")
        d: R.Tensor((2,), "float32", "llvm") = R.to_vdevice(c, "llvm")
        a = R.negative(d)
        return a
""",
    )


def test_results_have_the_bits_of_a_run():
    text = program(
        'c = R.const([0.1, 3.7], "float32")', "a = R.exp(c)", "b = R.sum(a)", "d = R.tanh(b)",
        "return (a, b, d)",
    )  # fmt: skip
    mod = from_source(text)
    before, after = (Interpreter(m).main() for m in (mod, FoldConstant()(mod)))
    assert all(x.tobytes() == y.tobytes() for x, y in zip(before, after, strict=True))


def test_prim_funcs_run_by_what_the_context_says():
    called = []

    def evaluate(mod, name, args):
        called.append(name)
        args[-1][:] = 9

    mod = from_source(
        program(C, 'a = R.call_tir(M.double, (c,), R.Tensor((2,), "float32"))', "return a")
    )
    with PassContext(evaluate=evaluate):
        made = FoldConstant()(mod)
    assert called == ["double"]
    np.testing.assert_array_equal(Interpreter(made).main(), np.float32([9, 9]))


def test_what_evaluates_is_a_function():
    with pytest.raises(TypeError, match="`evaluate` is a function, not 3"):
        PassContext(evaluate=3)


def test_transposed_weights_are_folded_without_a_copy():
    """Of `w.T`, as frameworks store it, the transpose is what is in memory already."""
    weight = Constant(np.arange(6, dtype="float32").reshape(2, 3).T)
    bb = BlockBuilder()
    with bb.function("main", []):
        bb.emit_func_output(bb.emit(permute_dims(weight)))
    (binding,) = FoldConstant()(bb.get())["main"].body.blocks[0].bindings
    folded = binding.value
    assert folded.data.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert folded.data.flags.c_contiguous
    assert np.shares_memory(folded.data, weight.data)
