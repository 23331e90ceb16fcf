"""Accepted programs: weights by name in one parameter, whose annotation is made of a mapping."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, ir as I, relax as R
from relaxscript_tests.script.parser.round_trip import accepted, round_trip

W = {
    "layers.0.weight": np.arange(12, dtype="float32").reshape(4, 3),
    "layers.0.bias": np.ones(3, "float32"),
    "layers.1.weight": np.eye(3, 2, dtype="float32"),
    "layers.1.bias": np.zeros(2, "float32"),
}
X = np.arange(8, dtype="float32").reshape(2, 4)

WRITTEN = """
@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        params: R.Tuple(
            R.Tensor((4, 3), "float32"), R.Tensor((3,), "float32"),
            R.Tensor((3, 2), "float32"), R.Tensor((2,), "float32"),
        ),
    ):
        R.func_attr({
            "num_input": 1,
            "param_names": [
                "layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"
            ],
        })
        x0 = R.add(R.matmul(x, params[0]), params[1])
        x1 = R.add(R.matmul(x0, params[2]), params[3])
        return x1
"""


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), params: R.Tuple(W)):
        for i in range(2):
            x = R.add(R.matmul(x, params[f"layers.{i}.weight"]), params[f"layers.{i}.bias"])
        return x


def test_fields_are_called_by_the_names_of_a_mapping():
    assert_structural_equal(Model, from_source(WRITTEN))
    round_trip(Model)
    assert Model["main"].attrs["param_names"] == tuple(W)
    expected = (X @ W["layers.0.weight"] + 1) @ W["layers.1.weight"]
    assert rx.jit(Model, params=W).main(X).tolist() == expected.tolist()
    assert rx.jit(Model).main(X, tuple(W.values())).tolist() == expected.tolist()


def test_fields_are_called_by_the_names_of_the_attribute():
    named = WRITTEN.replace("params[0]", 'params["layers.0.weight"]')
    assert_structural_equal(from_source(named), Model)


def test_weights_in_a_file_say_what_they_are_and_are_not_read(tmp_path):
    rx.save_weights(W, tmp_path / "a.safetensors")
    weights = rx.load_weights(tmp_path / "a.safetensors", dtype="float16")

    @R.function
    def f(params: R.Tuple(weights)):
        return params["layers.0.bias"]

    assert [repr(info) for info in f.params[0].struct_info.fields] == [
        f'R.Tensor({weights.shape(name)}, "float16")' for name in weights
    ]
    assert not weights._arrays
    assert rx.jit(f, params=weights).f().tolist() == [1, 1, 1]


class Foreign:
    """A tensor of a library that names its dtypes as torch does."""

    shape, dtype = (2, 3), "torch.bfloat16"


VALUES = [
    (R.Tensor((2, 2)), "R.Tuple(R.Tensor((2, 2)))"),
    (R.Tensor, "R.Tuple(R.Tensor)"),
    (W["layers.1.bias"], 'R.Tuple(R.Tensor((2,), "float32"))'),
    (Foreign(), 'R.Tuple(R.Tensor((2, 3), "bfloat16"))'),
    (np.float16(3), 'R.Tuple(R.Tensor((), "float16"))'),
    ((R.Tensor, R.Shape), "R.Tuple(R.Tuple(R.Tensor, R.Shape))"),
]


@pytest.mark.parametrize(("value", "info"), VALUES, ids=[info for _, info in VALUES])
def test_the_values_of_a_mapping_are_annotations_or_arrays(value, info):
    given = {"w": value}

    @R.function
    def f(t: R.Tuple(given)):
        return t["w"]

    assert repr(f.params[0].struct_info) == info
    round_trip(f)


@pytest.mark.parametrize(
    "form",
    [
        'R.Tuple({"w": R.Tensor(("n", 2))})',
        'R.Tuple({name: R.Tensor(("n", 2)) for name in ["w"]})',
        'R.Tuple(dict(w=R.Tensor(("n", 2))))', 'R.Tuple[{"w": R.Tensor(("n", 2))}]',
    ],
)  # fmt: skip
def test_a_mapping_is_written_as_python_has_it(form):
    text = f"@R.function\ndef f(t: {form}):\n    return t['w']"
    function = from_source(text, mode="python")
    assert repr(function.params[0].struct_info) == "R.Tuple(R.Tensor((n, 2)))"
    round_trip(function)


def test_a_mapping_is_read_where_nothing_is_evaluated():
    module = accepted("""
        @R.function
        def f(x: R.Tensor(("n", "k")), t: R.Tuple({"a.b": R.Tensor(("k", 2))})):
            return R.matmul(x, t["a.b"])
        """)
    assert module.attrs["param_names"] == ("a.b",)
    assert module.attrs["num_input"] == 1


def test_several_parameters_are_groups_of_weights():
    first, second = {"a": R.Tensor((2,))}, {"b": R.Tensor((3,)), "c": R.Tensor((4,))}

    @R.function
    def f(x: R.Tensor((2,)), p: R.Tuple(first), q: R.Tuple(second)):
        return (p["a"], q["c"], x)

    round_trip(f)
    assert (f.attrs["num_input"], f.attrs["param_names"]) == (1, ("a", "b", "c"))


def test_who_says_the_number_of_inputs_may_have_parameters_in_any_order():
    @R.function
    def f(p: R.Tuple({"a": R.Tensor((2,))}), x: R.Tensor((2,)), q: R.Tuple(R.Shape)):
        R.func_attr({"num_input": 1})
        return (p["a"], x, q)

    assert f.attrs["param_names"] == ("x", "q.0")


def test_helpers_and_local_functions_take_weights_and_say_nothing_of_inputs():
    @I.ir_module
    class Helped:
        @R.function(private=True)
        def layer(params: R.Tuple(W), x: R.Tensor(("n", 4), "float32")):
            return R.matmul(x, params["layers.0.weight"])

        @R.function
        def main(x: R.Tensor(("n", 4), "float32"), params: R.Tuple(W)):
            @R.function
            def inner(ps: R.Tuple(W), y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
                return R.add(ps["layers.0.bias"], y)

            b = inner(params, params["layers.0.bias"])
            return R.add(Helped.layer(params, x), b)

    round_trip(Helped)
    assert not Helped["layer"].attrs
    expected = X @ W["layers.0.weight"] + 2
    assert rx.jit(Helped, params=W).main(X).tolist() == expected.tolist()


def test_the_form_takes_a_mapping_outside_of_scripts_too():
    assert repr(R.Tuple({"a": R.Tensor((2,)), "b": R.Shape})) == "R.Tuple(R.Tensor((2,)), R.Shape)"
    for wrong, message in (
        ({3: R.Tensor}, "the names of a tuple's fields are strings, not `3`"),
        ({"a": R.Tensor, "b": 4}, "the field `b`: `4` is not an annotation"),
        ({"c": np.zeros(2, "complex64")}, "the field `c`: "),
    ):
        with pytest.raises(rx.DiagnosticError, match=message):
            R.Tuple(wrong)
