"""Weights bound by name: to parameters and fields of tuples, all of them or none."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.compiler import with_params
from relaxscript.runtime import Device
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.transform.normalize.normalize import normalize_module
from relaxscript_tests.architecture import ROOT

NAMES = ["fc1.weight", "fc1.bias"]


@I.ir_module
class Plain:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        w: R.Tensor((4, "k"), "float32"),
        b: R.Tensor(("k",), "float32"),
    ):
        R.func_attr({"num_input": 1, "param_names": NAMES})
        return R.add(R.matmul(x, w), b)


@I.ir_module
class Packed:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        params: R.Tuple(R.Tensor((4, 3), "float32"), R.Tensor((3,), "float32")),
    ):
        R.func_attr({"num_input": 1, "param_names": NAMES})
        return R.add(R.matmul(x, params[0]), params[1])

    @R.function
    def bias(x: R.Tensor(("n", 3), "float32"), params: R.Tuple(R.Tensor((3,), "float32"))):
        R.func_attr({"num_input": 1, "param_names": ["fc1.bias"]})
        return R.add(x, params[0])

    @R.function
    def other(x: R.Tensor(("n", 3), "float32")):
        return x


X = np.arange(8, dtype="float32").reshape(2, 4)
W = np.arange(12, dtype="float32").reshape(4, 3)
B = np.float32([1, 2, 3])
WEIGHTS = {"fc1.weight": W, "fc1.bias": B}


def refused(module, params):
    with pytest.raises(rx.DiagnosticError) as caught:
        rx.build(module, "reference", params=params)
    return caught.value.diagnostics


def bound(module, params):
    return with_params(normalize_module(module), params)


@pytest.mark.parametrize("target", ["llvm", "reference"])
@pytest.mark.parametrize("module", [Plain, Packed])
def test_the_parameters_after_the_inputs_are_bound_by_name(module, target):
    model = rx.jit(module, target, params=WEIGHTS)
    assert model.main(X).tolist() == (X @ W + B).tolist()
    with pytest.raises(rx.VMError, match="main` takes 1 argument"):
        model.main(X, W)


def test_every_function_that_says_its_inputs_gets_its_weights():
    model = rx.jit(Packed, params=WEIGHTS)
    assert model.bias(X[:, :3]).tolist() == (X[:, :3] + B).tolist()
    assert model.other(X[:, :3]) is not None


def test_what_is_bound_is_a_variable_of_its_name():
    made = bound(Packed, WEIGHTS)
    text = made["main"].script()
    assert "fc1_weight: R.Tensor" in text
    assert "params" not in text
    assert dict(made["main"].attrs) == {"num_input": 1, "global_symbol": "main"}
    assert rx.structural_equal(rx.from_source(made.script(show_meta=True)), made)


def test_constants_have_no_other_names_and_are_not_copied_by_a_run():
    assert "vm.builtin.constant" not in rx.build(Packed, params=WEIGHTS).as_text()

    @I.ir_module
    class Bound:
        @R.function
        def main(params: R.Tuple(R.Tensor((3,), "float32"), R.Tensor((4, 3), "float32"))):
            R.func_attr({"num_input": 0})
            k = T.int64()
            with R.dataflow():
                bias = params[0]
                weight = params[1]
                R.output(bias, weight)
            with R.dataflow():
                y = R.add(weight, bias)
                R.output(y)
            cast = R.match_cast(params[0], R.Tensor((k,), "float32"))
            return (y, cast)

    made = bound(Bound, {"params.0": B, "params.1": W})
    assert [len(block.bindings) for block in made["main"].body.blocks] == [2, 1, 1]
    y, cast = rx.jit(Bound, params={"params.0": B, "params.1": W}).main()
    assert (y.tolist(), cast.tolist()) == ((W + B).tolist(), B.tolist())


def test_a_weight_by_a_name_of_the_user_is_copied_by_no_run():
    @I.ir_module
    class Named:
        @R.function
        def main(
            x: R.Tensor(("n", 4), "float32"),
            w: R.Tensor((4, 3), "float32"),
            b: R.Tensor((3,), "float32"),
        ):
            R.func_attr({"num_input": 1, "param_names": NAMES})
            weight = w
            with R.dataflow():
                bias = b
                again = bias
                y = R.add(R.matmul(x, weight), again)
                R.output(y)
            return y

    assert "vm.builtin.constant" not in rx.build(Named, params=WEIGHTS).as_text()
    assert rx.jit(Named, params=WEIGHTS).main(X).tolist() == (X @ W + B).tolist()


def test_a_tuple_that_is_used_as_a_whole_is_made_again():
    @I.ir_module
    class Whole:
        @R.function
        def main(params: R.Tuple(R.Tensor((3,), "float32"), R.Tensor((4, 3), "float32"))):
            R.func_attr({"num_input": 0})
            first = params[0]
            return (params, first)

    both, first = rx.jit(Whole, params={"params.0": B, "params.1": W}).main()
    assert [part.tolist() for part in (*both, first)] == [B.tolist(), W.tolist(), B.tolist()]


def test_names_are_known_in_the_spelling_of_scripts():
    text = Plain.script().replace('"num_input": 1, "param_names": ["fc1.weight", "fc1.bias"]',
                                  '"num_input": 1')  # fmt: skip
    text = text.replace(" w:", " fc1_weight:").replace(" b:", " fc1_bias:")
    text = text.replace("(x, w)", "(x, fc1_weight)").replace(", b)", ", fc1_bias)")
    model = rx.jit(rx.from_source(text), params=WEIGHTS)
    assert model.main(X).tolist() == (X @ W + B).tolist()
    (found,) = refused(rx.from_source(text), {**WEIGHTS, "fc1/bias": B})
    assert found.message == (
        "there is no array for `fc1_bias`, and no parameters `fc1.bias`, `fc1/bias`"
    )


def test_without_a_number_of_inputs_any_parameters_are_bound():
    module = rx.from_source(Plain.script().replace('"num_input": 1, "param_names"', '"names"'))
    model = rx.jit(module, params={"b": B})
    assert model.main(X, W).tolist() == (X @ W + B).tolist()
    inputs = rx.jit(Plain, params={**WEIGHTS, "x": X})
    assert inputs.main().tolist() == (X @ W + B).tolist()
    assert bound(Plain, {**WEIGHTS, "x": X})["main"].attrs["num_input"] == 0


def test_names_of_what_stays_a_parameter_are_kept():
    text = Plain.script().replace('"num_input": 1, "param_names": [', '"param_names": ["x", ')
    made = bound(rx.from_source(text), {"fc1.weight": W})
    assert made["main"].attrs["param_names"] == ("x", "fc1.bias")


def test_arrays_of_mapped_files_are_constants_without_a_copy(tmp_path):
    rx.save_weights(WEIGHTS, tmp_path / "a.safetensors")
    weights = rx.load_weights(tmp_path / "a.safetensors")
    executable = rx.build(Plain, params=weights)
    constants = [c for c in executable.constants if isinstance(c, np.ndarray)]
    places = {array.__array_interface__["data"][0] for array in weights.values()}
    assert {array.__array_interface__["data"][0] for array in constants} == places
    assert rx.VirtualMachine(executable).main(X).tolist() == (X @ W + B).tolist()


GIGABYTE = '''
import numpy as np
import relaxscript as rx

def resident():
    words = open("/proc/self/smaps_rollup").read().split()
    return int(words[words.index("Rss:") + 1]) << 10

with open("big.safetensors", "wb") as file:  # the elements are a hole of the file system
    text = b'{"w":{"dtype":"F32","shape":[16384,16384],"data_offsets":[0,1073741824]}}'
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    file.truncate(8 + len(text) + (1 << 30))
model = rx.from_source("""
@R.function
def main(
    rows: R.Tensor((1,), "int64"), params: R.Tuple({"w": R.Tensor((16384, 16384), "float32")})
):
    return R.take(params["w"], rows, axis=0)
""")
rx.jit(model)
before = resident()
weights = rx.load_weights("big.safetensors")
runs = [rx.jit(model, params=weights).main, rx.jit(model).bind_params(weights)]
for run in runs:
    assert run(np.array([7])).shape == (1, 16384)
assert resident() - before < 64 << 20, resident() - before
'''


@pytest.mark.slow
def test_a_gigabyte_is_bound_and_run_without_a_copy(tmp_path):
    subprocess.run(
        [sys.executable, "-c", GIGABYTE], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True
    )


def test_one_array_under_two_names_is_one_constant():
    text = Plain.script().replace('(4, "k")', "(3,)").replace('("k",)', "(3,)")
    text = text[: text.index("        n = ")] + "        return (x, w, b)\n"
    text = text.replace(' -> R.Tensor(("n", "k"), "float32")', "")
    made = bound(rx.from_source(text), {"fc1.weight": B, "fc1.bias": B})
    first, second = made["main"].body.blocks[0].bindings[:2]
    assert first.value is second.value


def test_a_tensor_of_another_device_is_taken_to_the_host():
    moved = {name: rx.nd.array(array, Device("cpu", 1)) for name, array in WEIGHTS.items()}
    assert rx.jit(Plain, params=moved).main(X).tolist() == (X @ W + B).tolist()


# ---------------------------------------------------------------- what is refused


def test_names_that_are_missing_and_unexpected_are_one_message(tmp_path):
    (found,) = refused(Packed, {"fc1.wieght": W, "head": B})
    assert found.code == "RX0712"
    assert found.message == (
        "there are no arrays for `fc1.weight`, `fc1.bias`, and no parameters `fc1.wieght`, `head`"
    )
    assert found.notes == ("`fc1.wieght` is no parameter; did you mean `fc1.weight`?",)
    assert [(label.span.text, label.text) for label in found.labels] == [
        ("params", "lacks `fc1.weight`, `fc1.bias`"), ("params", "lacks `fc1.bias`"),
    ]  # fmt: skip
    (found,) = refused(Plain, {"fc1.weight": W})
    assert found.message == "there is no array for `fc1.bias`"
    assert found.span.text == "b"
    rx.save_weights({**WEIGHTS, "head": B}, tmp_path / "a.safetensors")
    (found,) = refused(Plain, rx.load_weights(tmp_path / "a.safetensors"))
    assert found.message == "there is no parameter `head`"
    assert found.notes == (f"`head` of `{tmp_path / 'a.safetensors'}` is no parameter",)


def test_a_tuple_is_bound_as_a_whole():
    text = Packed.script().replace('"num_input": 1, ', "").replace(
        '["fc1.weight"', '["x", "fc1.weight"'
    ).replace('["fc1.bias"]', '["x", "fc1.bias"]')  # fmt: skip
    (found,) = refused(rx.from_source(text), {"fc1.weight": W})
    assert found.message == "there is no array for `fc1.bias`"


def test_all_arrays_that_do_not_fit_are_said_with_their_file_and_parameter(tmp_path):
    path = tmp_path / "a.safetensors"
    rx.save_weights({"fc1.weight": W.T, "fc1.bias": B.astype("float64")}, path)
    first, second = refused(Packed, rx.load_weights(path))[:2]
    assert first.code == second.code == "RX0206"
    assert first.message.startswith("the array for `fc1.weight` does not fit: ")
    assert second.message == (
        "the array for `fc1.bias` does not fit: the dtype is float64, not float32"
    )
    assert first.notes == (f"it is from `{path}`",)
    assert first.span.text == "params"


def test_sizes_that_contradict_each_other_are_said():
    first, *more = refused(Plain, {"fc1.weight": W, "fc1.bias": np.ones(5, "float32")})
    assert first.message.startswith("the array for `fc1.bias` does not fit: ")
    assert (first.span.text, more) == ("b", [])


def test_what_is_no_array_is_said_with_what_does_not_fit():
    first, second = refused(Plain, {"fc1.weight": [1.0], "fc1.bias": W})
    assert first.message.startswith("the value for `fc1.weight` is no array: ")
    assert second.message == "the array for `fc1.bias` does not fit: the rank is 2, not 1"


def test_pairs_of_names_and_arrays_are_no_mapping():
    (found,) = refused(Plain, list(WEIGHTS.items()))
    assert found.code == "RX0712"
    assert found.message.startswith("weights are given as a mapping from names to arrays, not as ")
    assert found.help == "where they are pairs of names and arrays, `dict(pairs)` is one"
