"""Saved programs: what is loaded is what was saved, and a file that is wrong is only refused."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from io import BytesIO

import ml_dtypes
import numpy as np
import pytest

import relaxscript as rx
from relaxscript import artifact
from relaxscript.artifact import FORMAT_VERSION, MANIFEST, MODULE, WEIGHTS, inspect
from relaxscript.cli import main
from relaxscript.errors import InternalError
from relaxscript.ir import structural_equal
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.damaged_files import WRONG, parts, resigned

# fmt: off
WEIGHT = np.linspace(-1, 1, 4 * 32, dtype="float32").reshape(4, 32)
UNUSUAL = {
    "bfloat16": np.arange(100).astype(ml_dtypes.bfloat16),
    "float8_e4m3fn": np.arange(70).astype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.arange(70).astype(ml_dtypes.float8_e5m2),
    "bool": np.arange(90) % 3 == 0,
    "float16": np.full((2, 50), np.nan, "float16"),
    "uint64": np.arange(2**64 - 80, 2**64, dtype="uint64"),
    "empty": np.zeros((0, 5), "float64"),
    "scalar": np.array(3.25, "float32"),
    "big-endian": np.arange(80, dtype=">i4"),
}


@I.ir_module
class Model:
    @T.prim_func
    def twice(x: T.Buffer((32,), "float32"), y: T.Buffer((32,), "float32")):
        for i in range(32):
            y[i] = x[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        y = R.sum(R.matmul(x, R.const(WEIGHT)), axis=0)
        z = R.call_tir(Model.twice, (y,), out_sinfo=R.Tensor((32,), "float32"))
        return z


@I.ir_module
class Calling:
    @T.prim_func
    def logged(x: T.Buffer((4,), "float32")):
        T.evaluate(T.call_packed("test.logged", x[0]))
        T.evaluate(T.call_extern("int32", "abs", T.int32(-1)))

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_pure_packed("test.seen", x, sinfo_args=R.Tensor((4,), "float32"))
        return y
# fmt: on

X = np.arange(12, dtype="float32").reshape(3, 4)


def refused(path, **options):
    with pytest.raises(rx.DiagnosticError) as caught:
        rx.load(path, **options)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.rx"
    rx.save(rx.build(Model), path)
    return path


@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_what_is_loaded_computes_what_was_saved(saved, target):
    expected = rx.jit(Model, target).main(X)
    loaded = rx.VirtualMachine(rx.load(saved, target=target))
    assert loaded.main(X).tobytes() == expected.tobytes()


def test_a_program_is_loaded_for_the_target_it_was_built_for(tmp_path):
    path = tmp_path / "model.rx"
    rx.save(rx.build(Model, target="llvm -opt-level=1"), path)
    module, target = rx.load(path).origin
    assert str(target) == "llvm -opt-level=1"
    assert structural_equal(module, rx.build(Model).origin[0])


def test_what_is_loaded_checks_its_indices_whatever_it_was_built_for(tmp_path):
    path = tmp_path / "model.rx"
    rx.save(rx.build(Model, target="llvm -opt-level=1 -check=0"), path)
    assert str(inspect(path).target) == "llvm -opt-level=1 -check=0"
    assert str(rx.load(path).origin[1]) == "llvm -opt-level=1"
    diagnostic = refused(path, target="llvm -check=0")
    assert diagnostic.code == "RX0703"
    assert diagnostic.message == (
        "the indices of a program that was read from a file are always checked"
    )
    assert str(rx.load(path, target="llvm -check=1").origin[1]) == "llvm -check=1"


@pytest.mark.parametrize("array", UNUSUAL.values(), ids=UNUSUAL)
def test_constants_of_every_type_come_back_bit_by_bit(tmp_path, array):
    path, constant = tmp_path / "model.rx", rx.const(array)
    rx.save(rx.build(rx.Function([], constant, None)), path)
    result = rx.VirtualMachine(rx.load(path)).main()
    expected = constant.data.astype(constant.data.dtype.newbyteorder("="))
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    assert result.tobytes() == expected.tobytes()


@I.ir_module
class Layer:
    @R.function
    def flat(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, "k"), "float32")):
        return R.nn.relu(x @ w)

    @R.function
    def inside(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, "k"), "float32")):
        with R.dataflow():
            y = R.nn.relu(x @ w)
            R.output(y)
        return y


def test_a_model_with_its_weights_is_a_file(tmp_path):
    path = tmp_path / "layer.rx"
    rx.save(rx.build(Layer, params={"w": WEIGHT}), path)
    loaded = rx.VirtualMachine(rx.load(path))
    for name in ("flat", "inside"):
        np.testing.assert_allclose(loaded[name](X), np.maximum(X @ WEIGHT, 0), rtol=1e-5)


def test_the_same_program_is_the_same_file(saved):
    before = saved.read_bytes()
    rx.save(rx.load(saved), saved)
    assert saved.read_bytes() == before


def test_other_readers_find_weights_in_the_file(saved):
    from safetensors.numpy import load

    with zipfile.ZipFile(saved) as archive:
        assert load(archive.read(WEIGHTS))["0"].tolist() == WEIGHT.tolist()


def test_only_what_was_allowed_is_called(tmp_path):
    path = tmp_path / "calling.rx"
    rx.save(rx.build(Calling), path)
    assert inspect(path).packed_funcs == ("test.logged", "test.seen")
    assert inspect(path).c_functions == ("abs",)
    diagnostic = refused(path, allowed=["test.seen"])
    assert (diagnostic.code, diagnostic.message) == (
        "RX0705", "the program calls `test.logged`, `abs`, which was not allowed"
    )  # fmt: skip
    assert diagnostic.help == (
        "if you trust it, write `allowed=['abs', 'test.logged', 'test.seen']`"
    )
    assert rx.load(path, allowed=["abs", "test.logged", "test.seen"]).has_function("main")


def test_functions_of_the_module_and_of_the_machine_need_no_leave(tmp_path):
    @I.ir_module
    class Inside:
        @T.prim_func
        def twice(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i] * T.float32(2)

        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")):
            y = R.call_dps_packed("twice", (x,), out_sinfo=R.Tensor((4,), "float32"))
            z = R.call_packed("vm.builtin.copy", y, sinfo_args=R.Tensor((4,), "float32"))
            return z

    path = tmp_path / "inside.rx"
    rx.save(rx.build(Inside), path)
    x = np.ones(4, "float32")
    assert rx.VirtualMachine(rx.load(path)).main(x).tolist() == [2, 2, 2, 2]


def test_a_name_in_the_module_does_not_hide_a_call_of_the_outside(tmp_path):
    @I.ir_module
    class Hidden:
        abs = R.ExternFunc("test.seen")

        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")):
            y = Hidden.abs(x)
            return y

        @R.function
        def seen(x: R.Tensor((4,), "float32")):
            return x

    path = tmp_path / "hidden.rx"
    rx.save(rx.build(Hidden), path)
    assert "`test.seen`" in refused(path).message


def test_a_prim_func_does_not_hide_what_another_calls_under_its_name(tmp_path):
    @I.ir_module
    class Hidden:
        @T.prim_func
        def secret(x: T.Buffer((4,), "float32")):
            x[0] = T.float32(1)

        @T.prim_func
        def main(x: T.Buffer((4,), "float32")):
            T.evaluate(T.call_packed("secret", x[0]))

    path = tmp_path / "hidden.rx"
    rx.save(rx.build(Hidden), path)
    assert "`secret`" in refused(path).message


def test_a_function_under_the_name_of_a_builtin_does_not_hide_a_call_of_what_is_registered(
    tmp_path,
):
    module = rx.from_source("""
@I.ir_module
class Hidden:
    I.module_names({"copy": "vm.builtin.copy"})

    @R.function
    def copy(x: R.Tensor((4,), "float32")):
        return x

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_packed("vm.builtin.copy", x, sinfo_args=R.Tensor((4,), "float32"))
        return y
""")
    path = tmp_path / "hidden.rx"
    rx.save(rx.build(module), path)
    assert "`vm.builtin.copy`" in refused(path).message


def test_a_script_that_reads_as_another_module_is_not_written(tmp_path, monkeypatch):
    other = rx.build(Calling).origin[0]
    monkeypatch.setattr(artifact, "read_again", lambda *args: other)
    with pytest.raises(InternalError, match="reads as another module"):
        rx.save(rx.build(Model), tmp_path / "model.rx")
    assert list(tmp_path.iterdir()) == []


def test_an_executable_that_was_made_by_hand_cannot_be_saved(tmp_path):
    with pytest.raises(rx.DiagnosticError, match="that no module was built to") as caught:
        rx.save(rx.ExecBuilder().get(), tmp_path / "model.rx")
    assert caught.value.diagnostics[0].code == "RX0704"


def test_what_cannot_be_written_leaves_what_is_there(tmp_path, saved):
    before = saved.read_bytes()
    with pytest.raises(rx.DiagnosticError, match="cannot write") as caught:
        rx.save(rx.build(Model), tmp_path)
    assert caught.value.diagnostics[0].code == "RX0701"
    assert [file.name for file in tmp_path.iterdir()] == [saved.name]
    assert saved.read_bytes() == before


def test_a_file_that_is_not_there_is_named(tmp_path):
    diagnostic = refused(tmp_path / "modle.rx")
    assert (diagnostic.code, diagnostic.message[-28:]) == (
        "RX0701", "`: No such file or directory"
    )  # fmt: skip


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    with pytest.raises(rx.DiagnosticError, match="Is a directory"):
        rx.load(tmp_path)
    os.mkfifo(tmp_path / "pipe")  # nobody writes into it
    for path in (tmp_path / "pipe", "/dev/zero"):
        assert refused(path).message == f"cannot read `{path}`: it is no regular file"


def test_a_later_format_asks_for_a_later_relaxscript(saved):
    content = resigned(saved.read_bytes(), lambda manifest: manifest.update(version=99))
    saved.write_bytes(content)
    diagnostic = refused(saved)
    assert "its format has version 99" in diagnostic.message
    assert diagnostic.help == "use a later relaxscript"


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused_with_what_is_wrong(saved, name):
    damage, reason = WRONG[name]
    saved.write_bytes(damage(saved.read_bytes()))
    diagnostic = refused(saved)
    assert diagnostic.code == "RX0701"
    assert reason in diagnostic.message


def test_the_manifest_says_what_is_in_the_file(saved):
    with zipfile.ZipFile(BytesIO(saved.read_bytes())) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        module = archive.read(MODULE)
    assert manifest["version"] == FORMAT_VERSION
    assert manifest["files"][MODULE] == {
        "bytes": len(module), "sha256": hashlib.sha256(module).hexdigest(),
    }  # fmt: skip
    assert manifest["weights"] == [{"dtype": "float32", "shape": [4, 32]}]


def test_a_file_is_inspected_without_running_it(tmp_path, capsys):
    path = tmp_path / "calling.rx"
    rx.save(rx.build(Calling), path)
    assert main(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"# saved by relaxscript {rx.__version__} for the target llvm\n")
    assert "# calls the PackedFuncs test.logged, test.seen\n# calls the C function abs\n" in out
    assert structural_equal(rx.from_source(out), inspect(path).module)


def test_constants_are_listed(saved, capsys):
    assert main(["inspect", str(saved)]) == 0
    assert "# constant 0: float32 of shape (4, 32)\n" in capsys.readouterr().out


def test_inspecting_what_is_no_program_is_a_mistake_of_the_command(tmp_path, capsys):
    (tmp_path / "a.py").write_text("x = 1\n")
    assert main(["inspect", str(tmp_path / "a.py")]) == 2
    assert "it is no saved program" in capsys.readouterr().err


def test_a_file_may_be_read_by_whom_other_files_may_be_read(tmp_path, saved):
    (tmp_path / "other").write_bytes(b"")
    assert saved.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_warnings_of_the_program_are_not_said_again(tmp_path):
    with pytest.warns(rx.RelaxWarning):
        module = rx.from_source("""
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    n = T.int64()
    z: R.Tensor((n,), "float32") = R.exp(y)
    return z
""")
    path = tmp_path / "model.rx"
    rx.save(rx.build(module), path)
    x = np.ones(3, "float32")
    assert rx.VirtualMachine(rx.load(path)).main(x, x).shape == (3,)


def test_what_a_stranger_calls_things_does_not_reach_the_terminal(tmp_path, capsys):
    path = tmp_path / "model.rx"
    rx.save(rx.build(Calling), path)
    named = parts(path.read_bytes())[MODULE].replace(b"test.seen", b"\\x1b[2J\\n")
    path.write_bytes(
        resigned(path.read_bytes(), lambda m: m.update(made_by="\x1b[2J"), module=named)
    )
    assert main(["inspect", str(path)]) == 0
    assert "\x1b" not in capsys.readouterr().out
    assert "\x1b" not in refused(path).message


def test_a_program_that_is_too_long_to_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setitem(artifact._LONGEST, MODULE, 100)
    with pytest.raises(rx.DiagnosticError, match=r"module\.py would have over 100 bytes") as caught:
        rx.save(rx.build(Model), tmp_path / "model.rx")
    assert caught.value.diagnostics[0].code == "RX0704"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("level", ["x", "²", "9" * 5000, 10**9, -1])
def test_options_of_the_target_are_checked_when_a_program_is_compiled(saved, level):
    content = resigned(saved.read_bytes(), lambda m: m["target"].update({"opt-level": level}))
    saved.write_bytes(content)
    diagnostic = refused(saved)
    assert "level" in diagnostic.message
    assert len(diagnostic.message) < 100
