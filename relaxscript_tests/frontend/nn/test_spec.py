"""Specs say what the arguments of methods are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript_tests.frontend.nn.models import MLP, MLP_SPEC


class Decoder(nn.Module):
    """A method with arguments of every kind."""

    def decode(self, tokens: nn.Tensor, caches: Any, length: Any, scale: float = 2.0) -> Any:
        return tokens


TENSOR = nn.spec.Tensor((1, "n"), "int32")


def test_a_method_is_described_by_its_arguments_in_their_order():
    raw = {"length": "int", "caches": (TENSOR, [TENSOR]), "tokens": TENSOR}
    spec = nn.spec.MethodSpec.from_raw(raw, Decoder().decode)
    assert spec.arg_names == ["tokens", "caches", "length"]
    assert spec.param_mode == spec.effect_mode == "plain"
    assert repr(spec) == (
        "MethodSpec(decode(tokens: Tensor([1, 'n'], 'int32'), "
        "caches: Tuple('caches', (Tensor([1, 'n'], 'int32'), "
        "Tuple('caches_1', [Tensor([1, 'n'], 'int32')]))), length: int), plain, plain)"
    )
    assert nn.spec.MethodSpec.from_raw(spec, Decoder().decode) is spec


def test_a_method_is_described_by_examples():
    spec = nn.spec.MethodSpec.from_torch(
        [np.ones((2, 3), "int32"), (np.ones(1, "float32"), 2), 5], Decoder().decode
    )
    assert [repr(kind) for kind in spec.arg_specs] == [
        "Tensor([2, 3], 'int32')",
        "Tuple('caches', (Tensor([1], 'float32'), int))",
        "int",
    ]


def test_a_module_is_described_by_its_methods():
    model = MLP()
    spec = nn.spec.ModuleSpec.from_raw(MLP_SPEC, model)
    assert [name for name, _ in spec] == ["forward"]
    assert nn.spec.ModuleSpec.from_raw(spec, model) is spec
    assert repr(spec).startswith("ModuleSpec({'forward': MethodSpec(forward(x: Tensor(['n', 4]")


def test_an_object_is_one_of_its_class():
    class Cache(nn.Object):
        pass

    seen = []

    class Model(nn.Module):
        def forward(self, x: nn.Tensor, cache: Cache) -> Any:
            seen.append(cache)
            return x, cache

    spec = {"x": TENSOR, "cache": nn.spec.Object(Cache)}
    assert repr(spec["cache"]) == "Object(Cache)"
    mod, _ = Model().export_tvm({"forward": spec})
    assert isinstance(seen[0], Cache)
    assert repr(mod["forward"].params[1].struct_info) == "R.Object"


# ---------------------------------------------------------------- mistakes


def refused(spec: Any, *parts: str) -> None:
    with pytest.raises(DiagnosticError, match=r"(?s)RX0711.*" + ".*".join(parts)):
        Decoder().export_tvm(spec)


def test_arguments_that_are_missing_or_too_many_are_told_at_once():
    refused(
        {"decode": {"token": TENSOR, "caches": ()}},
        "spec of `decode` does not fit", "`tokens` is missing", "`length` is missing",
        "`token` is no argument", "did you mean `tokens`",
    )  # fmt: skip


def test_a_method_that_there_is_not_is_refused():
    refused({"deocde": {}}, "`Decoder` has no method `deocde`", "did you mean `decode`")
    refused({"predict": {}}, "has no method `predict`", "write `def predict")
    refused({3: {}}, "names the methods of `Decoder` by strings, not by int")


def test_a_spec_is_a_mapping_of_mappings():
    refused([], "maps the methods of a module to their arguments")
    refused({"decode": TENSOR}, "the spec of `decode` maps its arguments to what they are")


def test_modes_are_the_known_ones():
    arguments = {"tokens": TENSOR, "caches": (), "length": int}
    packed = {"decode": {**arguments, "$": {"param_mode": "pakced"}}}
    refused(
        packed, '`param_mode` is "plain", "packed" or "none", not "pakced"',
        'did you mean "packed"',
    )  # fmt: skip
    refused(
        {"decode": {**arguments, "$": {"param_mode": 3}}},
        r"not int \(3\)",
        'write "plain", "packed" or "no',
    )
    refused(
        {"decode": {"$": {"parm_mode": "plain"}}}, "has no `parm_m", "did you mean `param_mode`"
    )
    refused(
        {"decode": {"$": "pakced"}}, r"maps `param_mode` and `effect_mode` to modes.*str \('pakced",
        '`"\\$": {"param_mode": "packed", "effect_mode": "packed"}`',
    )  # fmt: skip
    refused({"decode": {"$": 3}}, r"to modes, this is int \(3\)")


def test_elements_of_a_tuple_have_names_that_nothing_of_the_user_has():
    class Sizes(nn.Module):
        def forward(self, x: Any, x_0: Any, x_1_0: nn.Tensor) -> Any:
            (first, (second,)), third = x, x_0
            made = [nn.op.ones((size,)) for size in (first, second, third)]
            return (*made, x_1_0)

    spec = {"x": (int, (int,)), "x_0": int, "x_1_0": nn.spec.Tensor(("x_1", "x_1_0"), "float32")}
    found = Sizes().jit({"forward": spec}).forward((2, (3,)), 4, np.zeros((5, 6), "float32"))
    assert [array.shape for array in found] == [(2,), (3,), (4,), (5, 6)]


def test_what_says_of_no_argument_what_it_is_is_refused():
    refused(
        {"decode": {"tokens": (1, 2), "caches": (), "length": int}}, "what the argument `tokens"
    )
    with pytest.raises(DiagnosticError, match=r"float \(1.5\) is no dimension of `nn.spec.Tensor`"):
        nn.spec.Tensor((1.5,), "float32")
    with pytest.raises(DiagnosticError, match=r"`nn.spec.Object` takes a class, not int \(3\)"):
        nn.spec.Object(3)  # type: ignore[arg-type]
    with pytest.raises(DiagnosticError, match=r"does not say what the argument `tokens` is"):
        nn.spec.MethodSpec.from_torch(["text"], Decoder().decode)
    with pytest.raises(DiagnosticError, match=r"`decode` takes 4 arguments, not 5"):
        nn.spec.MethodSpec.from_torch([1] * 5, Decoder().decode)


def test_what_is_no_tensor_cannot_be_returned():
    class Wrong(nn.Module):
        def forward(self, x: nn.Tensor) -> Any:
            return x, [x, {"x": x}]

    with pytest.raises(DiagnosticError) as raised:
        Wrong().export_tvm({"forward": {"x": TENSOR}})
    (found,) = raised.value.diagnostics
    assert found.message.startswith("the field [1][1] of what `forward` returns is dict")
    assert "test_spec.py" in found.notes[0]


def test_parameters_that_a_method_is_not_given_are_named():
    spec = {"forward": {**MLP_SPEC["forward"], "$": {"param_mode": "none"}}}
    with pytest.raises(DiagnosticError, match=r"`fc1.weight` is used in a method that is given no"):
        MLP().export_tvm(spec)


def test_outside_of_an_export_there_is_no_exporter():
    with pytest.raises(DiagnosticError, match=r"no module is being exported"):
        nn.Exporter.current()


def test_an_effect_that_has_not_begun_does_not_end():
    with pytest.raises(DiagnosticError, match=r"ends that has not begun"):
        nn.IOEffect().finalize()


def test_an_array_does_not_say_what_an_argument_is():
    refused(
        {"decode": {"tokens": np.ones((2, 2), "float32"), "caches": (), "length": int}},
        "ndarray", "does not say what the argument `tokens` is", r"write `nn\.spec\.Tensor",
    )  # fmt: skip
