"""Programs of one product or attention, packed functions, and an instrument that compares."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import VirtualMachine, build
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.interpreter import Interpreter
from relaxscript.op.binary import add
from relaxscript.op.nn.activation import relu
from relaxscript.runtime.packed_func import get_global_func
from relaxscript.runtime.values import cpu
from relaxscript.script import from_source
from relaxscript.testing.attention import (
    get_relax_attention_module,
    get_relax_stacked_attention_module,
)
from relaxscript.testing.lib_comparator import LibCompareVMInstrument
from relaxscript.testing.matmul import get_relax_matmul_module
from relaxscript.testing.runtime_builtin import MakeShapeCode, MatchShapeCode
from relaxscript.testing.vm import check_saved_func


def draw(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype("float32")


def test_a_product_goes_on_as_is_asked_for():
    mod = get_relax_matmul_module(
        (3, 4), (4, 4), "float32", None, True, (4,), relu, add, relu
    )  # fmt: skip
    x, y, bias = draw(3, 4), draw(4, 4), draw(4)
    expected = np.maximum(np.maximum(x @ y.T + bias, 0) + x, 0)
    np.testing.assert_allclose(Interpreter(mod).main(x, y, bias), expected, rtol=1e-5, atol=1e-6)


def test_a_product_alone_has_the_dtype_that_is_asked_for():
    mod = get_relax_matmul_module((2, 3, 4), (4, 5), "float16", "float32")
    assert str(mod["main"].ret_struct_info) == 'R.Tensor((2, 3, 5), "float32")'


def attend(q, k, v, bias=0.0, scale=None):
    q, k, v = (x.transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.swapaxes(2, 3) * (scale or q.shape[-1] ** -0.5) + bias
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (shares / shares.sum(axis=-1, keepdims=True) @ v).transpose(0, 2, 1, 3)


@pytest.mark.parametrize("with_bias", [False, True])
def test_an_attention_is_that_of_its_operands(with_bias):
    q, k, v, bias = draw(2, 5, 2, 4), draw(2, 6, 2, 4), draw(2, 6, 2, 3), draw(2, 2, 5, 6)
    more = (bias,) if with_bias else ()
    mod = get_relax_attention_module(
        q.shape, k.shape, v.shape, dtype="float32", qk_scale=0.25,
        bias_shape=bias.shape if with_bias else None,
    )  # fmt: skip
    found = Interpreter(mod).main(q, k, v, *more)
    np.testing.assert_allclose(found, attend(q, k, v, *more, scale=0.25), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["split", "strided_slice"])
@pytest.mark.parametrize("layout", ["BS3NH", "SBN3H"])
def test_a_stacked_attention_takes_its_operands_out_of_one_tensor(op, layout):
    b, s, n, h, h_v = 2, 5, 3, 4, 6
    flat = layout == "BS3NH"
    qkv = draw(b, s, n * (2 * h + h_v)) if flat else draw(s, b, n, 2 * h + h_v)
    bias = draw(b, n, s, s)
    mod = get_relax_stacked_attention_module(
        qkv, b, s, n, h, h_v, op, bias, 0.25, layout=layout
    )  # fmt: skip
    parts = np.split(qkv, [n * h, 2 * n * h] if flat else [h, 2 * h], axis=-1)
    operands = [part.reshape(b, s, n, -1) if flat else part.transpose(1, 0, 2, 3) for part in parts]
    expected = attend(*operands, bias, 0.25)
    expected = expected if flat else expected.transpose(1, 0, 2, 3)
    np.testing.assert_allclose(Interpreter(mod).main(qkv, bias), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("given", [("take",), ("split", None, None, False, "BNSH")])
def test_another_stacked_attention_is_refused(given):
    with pytest.raises(DiagnosticError, match=f"no stacked attention of '{given[-1]}'"):
        get_relax_stacked_attention_module(draw(2, 5, 24), 2, 5, 2, 4, 4, *given)


def test_numbers_of_builtins_are_those_of_tvm():
    assert [code.name for code in MatchShapeCode] == [
        "ASSERT_EQUAL_TO_IMM", "STORE_TO_HEAP", "NO_OP", "ASSERT_EQUAL_TO_LOAD",
    ]  # fmt: skip
    assert [*MatchShapeCode] == [0, 1, 2, 3]
    assert (MakeShapeCode.USE_IMM, MakeShapeCode.LOAD_SHAPE) == (0, 1)


ONE = np.ones((2, 2), "float32")


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("move", (ONE,), ONE), ("add", (ONE, ONE), 2 * ONE), ("mul", (ONE, 3 * ONE), 3 * ONE),
        ("equal_zero", (np.zeros(()),), True), ("equal_zero", (ONE,), False),
        ("subtract_one", (ONE,), 0 * ONE), ("add_scalar", (1, 2), 3),
        ("get_device_id", (cpu(1),), 1), ("check_if_defined", (None,), False),
        ("check_if_defined", (ONE,), True),
    ],
)  # fmt: skip
def test_packed_functions_for_tests_are_registered(name, args, expected):
    np.testing.assert_array_equal(get_global_func(f"test.vm.{name}")(*args), expected)


@pytest.mark.parametrize(("name", "columns"), [("identity", 2), ("tile", 4)])
def test_packed_functions_for_tests_write_into_their_last_argument(name, columns):
    result = np.zeros((2, columns), "float32")
    get_global_func(f"test.vm.{name}")(ONE, result)
    assert result.all()


PROGRAM = """
@I.ir_module
class Program:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.call_dps_packed("test.vm.tile", (x,), out_sinfo=R.Tensor((2, 6), "float32"))
        z = R.call_dps_packed("test.vm.identity", (y,), out_sinfo=R.Tensor((2, 6), "float32"))
        return z
"""


def machine():
    return VirtualMachine(build(from_source(PROGRAM), "reference"))


def test_a_saved_function_gives_the_same():
    x = draw(2, 3)
    np.testing.assert_array_equal(check_saved_func(machine(), "main", x), np.tile(x, (1, 2)))


def tile(x, result):
    result[:] = np.concatenate([x, x], axis=1)


def run_beside(library, **options):
    vm = machine()
    instrument = LibCompareVMInstrument(library, cpu(), **options)
    vm.set_instrument(instrument)
    vm["main"](draw(2, 3))
    return instrument


def test_kernels_that_agree_are_said(capsys):
    assert run_beside({"test.vm.tile": tile}).counter == 1
    said = capsys.readouterr().out
    assert "[1] test.vm.tile agrees\n" in said
    assert "`test.vm.identity` is in one library only\n" in said


def test_what_agrees_is_not_said_unless_that_is_wanted(capsys):
    assert run_beside({"test.vm.tile": tile}, verbose=False).counter == 1
    assert capsys.readouterr().out == ""


def test_a_kernel_that_differs_is_named():
    def wrong(x, result):
        tile(x + 1, result)

    with pytest.raises(VMError, match=r"call 1, of `test\.vm\.tile`"):
        run_beside({"test.vm.tile": wrong})
    assert run_beside({"test.vm.tile": wrong}, atol=2.0).counter == 1


def test_a_class_of_ones_own_says_what_is_not_compared():
    class Some(LibCompareVMInstrument):
        def skip_instrument(self, func, name, before_run, ret_val, *args):
            return name == "test.vm.tile"

    vm, instrument = machine(), Some({"test.vm.tile": print}, "cpu")
    vm.set_instrument(instrument)
    vm["main"](draw(2, 3))
    assert instrument.counter == 0


def test_kernels_are_compared_with_those_of_an_executable():
    text = PROGRAM.replace("test.vm.", "own.")
    kernels = {"own.tile": tile, "own.identity": lambda x, result: np.copyto(result, x)}
    executable = build(from_source(text), "reference").link(kernels)
    vm = VirtualMachine(executable)
    instrument = LibCompareVMInstrument(executable, cpu(), verbose=False)
    vm.set_instrument(instrument)
    vm["main"](draw(2, 3))
    assert instrument.counter == 2
