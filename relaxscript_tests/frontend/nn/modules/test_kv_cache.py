"""A cache grows from call to call, and is the same in all methods of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError
from relaxscript.ir import assert_structural_equal
from relaxscript.relax.frontend import nn


class Cached(nn.Module):
    """A model that appends what it gets, and gives all so far."""

    def __init__(self, dtype: str | None = None) -> None:
        self.cache = nn.KVCache(2, [3], dtype)

    def forward(self, x: nn.Tensor, total: Any) -> nn.Tensor:
        self.cache.append(x)
        return self.cache.view(total)

    def add_one(self, x: nn.Tensor, total: Any) -> nn.Tensor:
        return self.forward(x * 2.0, total)


ROWS = nn.spec.Tensor(("n", 3), "float32")
SPEC = {
    "forward": {"x": ROWS, "total": int},
    "add_one": {"x": nn.spec.Tensor((1, 3), "float32"), "total": int},
}


@pytest.mark.parametrize("mode", ["plain", "packed"])
def test_a_cache_keeps_what_all_methods_append(mode: str):
    spec = {name: {**args, "$": {"effect_mode": mode}} for name, args in SPEC.items()}
    run = Cached().jit(spec)
    x = np.arange(9, dtype="float32").reshape(3, 3)
    assert run.forward(x, 3).tolist() == x.tolist()
    assert run.add_one(x[:1], 4)[3:].tolist() == (x[:1] * 2).tolist()
    assert run.forward(x, 7)[4:].tolist() == x.tolist()


def test_what_is_exported_with_a_cache_reads_back():
    mod, _ = Cached().export_tvm(SPEC)
    assert rx.analysis.well_formed(mod)
    assert_structural_equal(rx.from_source(mod.script(show_meta=True)), mod)
    names = [param.name_hint for param in mod["forward"].params]
    assert names == ["x", "total", "cache"]
    bound = [b.var.name_hint for b in mod["_initialize_effect"].body.blocks[0].bindings]
    assert bound == ["zeros", "cache"]


def test_the_dtype_of_a_cache_is_that_of_the_model():
    model = Cached()
    model.to("float16")
    assert model.cache.dtype == "float16"
    model.to()
    assert model.cache.dtype == "float16"


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize("spec", [(("n", 4), "float32"), (("n", 3, 1), "float32"),
                                  (("n", 3), "float16")])  # fmt: skip
def test_rows_that_a_cache_does_not_hold_are_refused(spec: Any):
    with pytest.raises(DiagnosticError) as raised:
        Cached().export_tvm({"forward": {"x": nn.spec.Tensor(*spec), "total": int}})
    (found,) = raised.value.diagnostics
    assert found.message.startswith("a `KVCache` of shape (_, 3) and dtype float32 cannot append")
    assert found.help == 'write `x.reshape(-1, 3).astype("float32")`'


def test_what_is_no_tensor_is_not_appended():
    class Wrong(Cached):
        def forward(self, x: nn.Tensor, total: Any) -> nn.Tensor:
            self.cache.append([1.0])  # type: ignore[arg-type]
            return x

    with pytest.raises(DiagnosticError, match=r"cannot append \[1\.0\]"):
        Wrong().export_tvm({"forward": SPEC["forward"]})


def test_a_cache_is_none_where_a_method_has_no_effects():
    spec = {"forward": {**SPEC["forward"], "$": {"effect_mode": "none"}}}
    with pytest.raises(DiagnosticError, match=r"`append` of a `KVCache` is called where"):
        Cached().export_tvm(spec)
    with pytest.raises(DiagnosticError, match=r"`view` of a `KVCache` is called where"):
        nn.KVCache(2, [3]).view(1)
