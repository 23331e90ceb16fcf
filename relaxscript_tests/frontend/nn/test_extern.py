"""Models call functions in C: of a shared object, or of source that is compiled here."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.relax.frontend import nn
from relaxscript.runtime.dlpack import DLTensor

SOURCE = """
#include <dlpack/dlpack.h>

int scale(DLTensor *x, int64_t twice, double factor, DLTensor *y) {
  int64_t count = 1;
  if (x->ndim != 2) return 7;
  for (int i = 0; i < x->ndim; i++) count *= x->shape[i];
  for (int64_t i = 0; i < count; i++)
    ((float *)y->data)[i] = ((float *)x->data)[i] * (float)factor * (twice ? 2 : 1);
  return 0;
}
"""


def like(x: nn.Tensor, *others: Any) -> nn.Tensor:
    return nn.Tensor.placeholder(x.shape, x.dtype)


class Scaled(nn.Module):
    """A model that calls the function."""

    def __init__(self, extern: nn.ExternModule) -> None:
        self.extern = extern

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return self.extern["scale"](x + 1.0, 1, 1.5) + 0.5


SPEC = {"forward": {"x": nn.spec.Tensor(("n", 3), "float32")}}
X = np.arange(6, dtype="float32").reshape(2, 3)


@pytest.fixture(scope="module")
def source() -> nn.SourceModule:
    return nn.SourceModule({"scale": like}, SOURCE, "c")


def test_source_is_compiled_and_called(source: nn.SourceModule):
    assert Scaled(source).jit(SPEC).forward(X).tolist() == ((X + 1) * 3 + 0.5).tolist()


def test_the_call_is_that_of_a_packed_function(source: nn.SourceModule):
    mod, params, externs = Scaled(source).export_tvm(SPEC, allow_extern=True)
    assert params == []
    assert externs == [source]
    assert 'R.call_dps_packed(\n                "scale"' in mod.script() or (
        'R.call_dps_packed("scale"' in mod.script()
    )
    attached = rx.transform.AttachExternModules(externs)(mod)
    run = rx.VirtualMachine(rx.build(attached))
    assert run["forward"](X).tolist() == ((X + 1) * 3 + 0.5).tolist()


def test_a_shared_object_is_loaded(tmp_path: Path):
    header = "#include <stdint.h>\ntypedef struct { void *data; } DLTensor;\n"
    code = "int scale(DLTensor *x, int64_t a, double b, DLTensor *y)"
    text = f"{header}{code} {{ for (int i = 0; i < 6; i++) ((float *)y->data)[i] = i; return 0; }}"
    (tmp_path / "scale.c").write_text(text, "utf-8")
    library = tmp_path / "scale.so"
    command = ["cc", "-shared", "-fPIC", str(tmp_path / "scale.c"), "-o", str(library)]
    subprocess.run(command, check=True)
    run = Scaled(nn.ObjectModule({"scale": like}, library)).jit(SPEC)
    assert run.forward(X).tolist() == (X + 0.5).tolist()


def test_results_may_be_several():
    code = """
    #include <dlpack/dlpack.h>
    int both(DLTensor *x, DLTensor *y, DLTensor *z) {
      *(float *)y->data = *(float *)x->data + 1;
      *(float *)z->data = *(float *)x->data + 2;
      return 0;
    }
    """
    extern = nn.SourceModule({"both": lambda x: (like(x), like(x))}, code, "c")

    class Both(nn.Module):
        def forward(self, x: nn.Tensor) -> Any:
            first, second = extern["both"](x)
            return first, second

    run = Both().jit({"forward": {"x": nn.spec.Tensor((1,), "float32")}})
    first, second = run.forward(np.zeros(1, "float32"))
    assert (first.tolist(), second.tolist()) == ([1], [2])


def test_source_may_be_in_a_file(tmp_path: Path):
    path = tmp_path / "scale.c"
    path.write_text(SOURCE, "utf-8")
    extern = nn.SourceModule({"scale": like}, path, "c", compile_options=["-O0"], compiler="cc")
    assert set(extern.load()) == {"scale"}


def test_the_header_is_that_of_dlpack():
    code = "#include <dlpack/dlpack.h>\nint size(void) { return sizeof(DLTensor) != %d; }\n"
    extern = nn.SourceModule({"size": like}, code % ctypes.sizeof(DLTensor), "c")
    assert extern.load()["size"]() is None


# ---------------------------------------------------------------- mistakes


def refused(code: str, *parts: str) -> Any:
    return pytest.raises(DiagnosticError, match="(?s)" + code + ".*" + ".*".join(parts))


def test_an_export_that_allows_no_extern_module_is_refused(source: nn.SourceModule):
    with refused("RX0711", "does not allow them", "allow_extern=True"):
        Scaled(source).export_tvm(SPEC)


def test_a_function_that_the_module_has_not_is_refused(source: nn.SourceModule):
    with refused("RX0101", "no function `sclae`", "did you mean `scale`"):
        source["sclae"]


def test_formats_that_there_are_not_are_refused():
    with refused("RX0703", "no source format `cc`"):
        nn.SourceModule({}, SOURCE, "cc")
    with refused("RX0703", "not compiled to `wasm`"):
        nn.SourceModule({}, SOURCE, "c", output_format="wasm")


def test_source_that_cannot_be_read_is_refused(tmp_path: Path):
    with refused("RX0703", "cannot read the source `int f", "No such file", "a string of one line"):
        nn.SourceModule({}, "int f() { return 0; }", "c")
    strange = tmp_path / "strange.c"
    strange.write_bytes(b"\xff")
    with refused("RX0703", "strange.c`: it is no text in UTF-8"):
        nn.SourceModule({}, strange, "c")


def test_where_there_is_no_compiler_that_is_said():
    extern = nn.SourceModule({"scale": like}, SOURCE, "c", compiler="no-such-compiler")
    with refused("RX0702", "needs a compiler, `no-such-compiler`", "nn.ObjectModule"):
        extern.load()


def test_what_the_compiler_refuses_is_told():
    with refused("RX0703", "refuses the source", "error"):
        nn.SourceModule({"scale": like}, "int scale(\n", "c").load()


def test_a_shared_object_that_is_not_there_is_told_when_the_module_is_made(tmp_path: Path):
    with refused("RX0701", "there is no shared object `.*absent.so`", "give the path of a file"):
        nn.ObjectModule({"scale": like}, tmp_path / "absent.so")


def test_a_shared_object_without_the_function_is_refused(tmp_path: Path):
    with refused("RX0701", "no function `rotate`", 'extern "C"'):
        nn.SourceModule({"rotate": like}, SOURCE, "c").load()
    path = tmp_path / "none.so"
    path.write_text("none", "utf-8")
    with refused("RX0701", "is no shared object that can be loaded"):
        nn.ObjectModule({"scale": like}, path).load()


def test_a_function_that_fails_says_its_code(source: nn.SourceModule):
    function = source.load()["scale"]
    flat = np.zeros(6, "float32")
    with pytest.raises(VMError, match="`scale` failed with the code 7"):
        function(flat, 1, 1.0, flat)
    with pytest.raises(VMError, match="takes tensors and numbers, not a string"):
        function("text")


def test_an_extern_module_is_loaded_by_those_that_derive_from_it():
    with pytest.raises(TypeError, match=r"abstract class ExternModule .*load"):
        nn.ExternModule({})  # type: ignore[abstract]
