"""Small networks that write into the function that is open."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.builder import BlockBuilder
from relaxscript.errors import DiagnosticError
from relaxscript.interpreter import Interpreter
from relaxscript.ir import IRModule
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Constant
from relaxscript.op.linear_algebra import matmul
from relaxscript.op.statistical import sum as sum_of
from relaxscript.op.unary import cos, exp, log, sin, tan
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.testing import nn
from relaxscript.transform import Gradient


def body_of(make) -> str:
    """The bindings that `make` writes of `x`, without annotations."""
    bb = BlockBuilder()
    with bb.function("main"):
        x = nn.Placeholder((3, 4), name="x")
        with bb.dataflow():
            made = bb.emit_output(make(x))
        bb.emit_func_output(made, [x])
    lines = bb.get()["main"].script(show_all_struct_info=False).splitlines()
    return "\n".join(line.strip() for line in lines if " = " in line)


def model_module(model, *shape) -> IRModule:
    bb = BlockBuilder()
    with bb.function("main"):
        data = nn.Placeholder(shape)
        bb.emit_func_output(model(data), [data, *model.parameters()])
    return bb.get()


def test_a_network_computes_what_its_modules_do(rng):
    bb = BlockBuilder()
    with bb.function("main"):
        model = nn.Sequential(
            nn.Linear(8, 7), nn.ReLU(), nn.Linear(7, 5, bias=False), nn.LogSoftmax()
        )
        data = nn.Placeholder((3, 8), name="data")
        bb.emit_func_output(model(data), [data, *model.parameters()])
    mod = bb.get()
    names = [param.name_hint for param in mod["main"].params]
    assert names == ["data", "linear_weight", "linear_bias", "linear_weight1"]
    x, w, b, v = (rng.normal(size=size).astype("float32") for size in ((3, 8), (8, 7), 7, (7, 5)))
    scores = np.maximum(x @ w + b, 0) @ v
    expected = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(Interpreter(mod).main(x, w, b, v), expected, rtol=1e-4, atol=1e-5)


def test_parameters_are_found_in_lists_and_dictionaries_each_once():
    class Parts(nn.Module):
        def __init__(self):
            self.w = nn.Parameter((4, 4), name="w")
            self.parts = [nn.Linear(4, 4), nn.ReLU()]
            self.more = {"again": self.w, "b": nn.Parameter((4,), "float64", "b")}

    found = Parts().parameters()
    assert [(param.name_hint, str(param.struct_info.dtype)) for param in found] == [
        ("w", "float32"), ("linear_weight", "float32"), ("linear_bias", "float32"),
        ("b", "float64"),
    ]  # fmt: skip


def test_parameters_begin_as_zeros_and_inputs_are_left_out():
    made = nn.init_params(model_module(nn.Linear(4, 5), 3, 4))
    assert [array.numpy().tolist() for array in made] == [[[0.0] * 5] * 4, [0.0] * 5]


def test_expressions_and_tensor_expressions_are_bound():
    text = body_of(lambda x: nn.emit_te(topi.nn.relu, nn.emit(sin(x), "waves")))
    assert text.splitlines()[1:3] == [
        "waves = R.sin(x)",
        'lv = R.call_tir(cls.relu, (waves,), out_sinfo=R.Tensor((3, 4), "float32"))',
    ]


def twice(x):
    return nn.emit(sin(nn.emit(cos(x))))


def test_a_checkpoint_marks_arguments_and_results():
    assert body_of(lambda x: nn.checkpoint(twice, x)).splitlines() == [
        "lv = R.grad.start_checkpoint(x)",
        "lv1 = R.cos(lv)",
        "lv2 = R.sin(lv1)",
        "gv = R.grad.end_checkpoint(lv2)",
    ]


def test_a_bound_checkpoint_is_called_as_what_it_marks():
    text = body_of(lambda x: nn.emit_checkpoint(lambda x, n: [twice(x), n], x, n=x)[0])
    assert text.splitlines()[:6] == [
        "x_scp = R.grad.start_checkpoint(x)",
        "x_scp1 = R.grad.start_checkpoint(x)",
        "lv = R.cos(x_scp)",
        "lv1 = R.sin(lv)",
        "lv1_ecp = R.grad.end_checkpoint(lv1)",
        "x_scp1_ecp = R.grad.end_checkpoint(x_scp1)",
    ]


FUNCTIONS = [lambda x, f=f: nn.emit(f(x)) for f in (sin, cos, tan, exp, log)]


@pytest.mark.parametrize(
    ("segments", "last", "marks"),
    [
        (2, False, "( sin cos ) ( tan exp ) log"),
        (2, True, "( sin cos ) ( tan exp ) ( log )"),
        ([0, 3], False, "( sin cos tan ) exp log"),
        ([0, 3, 5], True, "( sin cos tan ) ( exp log )"),
        ([1, 3], True, "( cos tan ) ( exp log )"),
        (1, False, "sin cos tan exp log"),
    ],
)
def test_segments_are_computed_anew(segments, last, marks):
    text = body_of(lambda x: nn.emit_checkpoint_sequential(FUNCTIONS, segments, x, last))
    signs = {"start_checkpoint": "(", "end_checkpoint": ")"}
    called = [line.split("(")[0].rpartition(".")[2] for line in text.splitlines() if "(" in line]
    assert " ".join(signs.get(name, name) for name in called) == marks


def test_what_is_computed_anew_is_no_other_gradient(rng):
    adjoints = []
    for run in (twice, lambda x: nn.emit_checkpoint(twice, x)):
        bb = BlockBuilder()
        with bb.function("main"):
            x = nn.Placeholder((3, 4), name="x")
            with bb.dataflow():
                total = bb.emit_output(sum_of(run(x)))
            bb.emit_func_output(total, [x])
        adjoints.append(Interpreter(Gradient("main")(bb.get()))["main_adjoint"])
    x = rng.normal(size=(3, 4)).astype("float32")
    (_, (first,)), (_, (second,)) = (adjoint(x) for adjoint in adjoints)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: nn.checkpoint(lambda x: 3, x), "is an expression, or several, not int"),
        (lambda x: nn.emit_checkpoint_sequential(FUNCTIONS, 0, x), "parted into the segments 0"),
        (lambda x: nn.emit_checkpoint_sequential(FUNCTIONS, 6, x), "parted into the segments 6"),
        (lambda x: nn.emit_checkpoint_sequential(FUNCTIONS, [3, 1], x), r"segments \[3, 1\]"),
        (lambda x: nn.emit_checkpoint_sequential(FUNCTIONS, [], x), r"the segments \[\]"),
        (lambda x: nn.Module()(x), "the module `Module` defines no `forward`"),
    ],
)
def test_what_cannot_be_written_is_refused(call, said):
    with pytest.raises(DiagnosticError, match=said):
        body_of(call)


def test_without_a_function_nothing_is_bound():
    with pytest.raises(DiagnosticError, match="no function is open that takes a binding"):
        nn.emit(Constant(np.float32(1)))


@pytest.mark.parametrize("rows", [3, "n"])
def test_a_subroutine_is_a_private_function_that_equal_uses_share(rows):
    class HalfLayer(nn.Module):
        define_subroutine = True

        def __init__(self):
            self.w = nn.Parameter((4, 4), name="w")

        def forward(self, input, times=1):
            return nn.emit(matmul(input, self.w))

    class Net(nn.Module):
        def __init__(self):
            self.first, self.second = HalfLayer(), HalfLayer()

        def forward(self, input):
            return self.second(self.first(input), times=2)

    bb = BlockBuilder()
    size = PrimVar("n", "int64") if rows == "n" else rows
    with bb.function("main"):
        net = Net()
        data = nn.Placeholder((size, 4))
        with bb.dataflow():
            made = bb.emit_output(net(data))
        bb.emit_func_output(made, [data, *net.parameters()])
    mod = bb.get()
    assert not ill_formed(mod)
    assert sorted(var.name_hint for var in mod.functions) == ["half_layer", "main"]
    assert mod["half_layer"].is_private
    assert mod["main"].script().count("cls.half_layer(") == 2
    w, v = np.full((4, 4), 0.5, "float32"), np.full((4, 4), 0.25, "float32")
    found = Interpreter(mod).main(np.ones((3, 4), "float32"), w, v)
    np.testing.assert_array_equal(found, np.full((3, 4), 2, "float32"))


def test_a_subroutine_that_fails_leaves_the_function_around_it_open():
    class Broken(nn.Module):
        define_subroutine = True

    bb = BlockBuilder()
    with bb.function("main"):
        data = nn.Placeholder((3, 4))
        with pytest.raises(DiagnosticError, match="the module `Broken` defines no `forward`"):
            Broken()(data)
        bb.emit_func_output(nn.emit(sin(data)), [data])
    assert [var.name_hint for var in bb.get().functions] == ["main"]


def test_a_module_of_ones_own_is_called():
    class Twice(nn.Module):
        def __init__(self):
            self.w = nn.Parameter((4, 4), name="w")

        def forward(self, input):
            return nn.emit(matmul(nn.emit(matmul(input, self.w)), self.w))

    mod = model_module(Twice(), 3, 4)
    w = np.full((4, 4), 0.5, "float32")
    found = Interpreter(mod).main(np.ones((3, 4), "float32"), w)
    np.testing.assert_array_equal(found, np.full((3, 4), 4, "float32"))
