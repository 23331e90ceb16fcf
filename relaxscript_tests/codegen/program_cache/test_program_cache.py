"""Programs that are kept on disk: found by all that they depend on, and as good as those built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import opdef
from relaxscript.codegen.llvm import engine
from relaxscript.codegen.native import entries
from relaxscript.codegen.program_cache import program_key
from relaxscript.errors import DiagnosticError, RelaxWarning, VMError
from relaxscript.ir import relax
from relaxscript.ir.instrument import PassInstrument
from relaxscript.op import exp
from relaxscript.runtime.object_cache import HEADER, OBJECT, PROGRAM, ObjectCache, object_cache
from relaxscript.transform import PassContext
from relaxscript.transform.pipeline import PIPELINE_MAP
from relaxscript_tests.fresh_python import ROOT

TEXT = """
@I.ir_module
class Model:
    @T.prim_func
    def pick(
        x: T.Buffer(("n",), "float32"), at: T.Buffer((2,), "int64"), y: T.Buffer((2,), "float32")
    ):
        n = T.int64()
        for i in range(2):
            with T.block("pick"):
                vi = T.axis.spatial(2, i)
                y[vi] = x[at[vi]]

    @R.function
    def main(x: R.Tensor(("n",), "float32"), at: R.Tensor((2,), "int64")):
        n = T.int64()
        y = R.exp(x) * R.const([2.0], "float32")
        return R.call_tir(Model.pick, (y, at), out_sinfo=R.Tensor((2,), "float32"))
"""
X, AT = np.arange(3, dtype="float32"), np.array([2, 0])


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of the test's own, and no code that other tests have in theirs."""
    monkeypatch.setattr(engine, "_codes", type(engine._codes)())
    monkeypatch.setenv("RELAXSCRIPT_CACHE", str(tmp_path / "cache"))
    return object_cache()


@pytest.fixture
def built(monkeypatch):
    """A note for each build that really was one."""
    from relaxscript import compiler

    done, make = [], compiler._make
    monkeypatch.setattr(compiler, "_make", lambda *args: done.append(1) or make(*args))
    return done


def programs() -> list[str]:
    return [file.path for file in object_cache().files() if file.kind == PROGRAM]


def model(text: str = TEXT) -> rx.IRModule:
    return rx.from_source(text)


# ---------------------------------------------------------------- what is found


def test_a_module_is_built_once(cache, built):
    first, again = (rx.build(model()) for _ in range(2))
    assert (len(built), len(programs())) == (1, 1)
    assert again.as_text() == first.as_text()
    expected = (np.exp(X) * 2)[AT]
    for executable in (first, again):
        np.testing.assert_allclose(executable["main"](X, AT), expected, rtol=1e-6)


def test_without_a_cache_nothing_is_kept(tmp_path, monkeypatch, built):
    monkeypatch.setenv("RELAXSCRIPT_CACHE", "off")
    for _ in range(2):
        rx.build(model())
    assert len(built) == 2


@pytest.mark.parametrize("target", ["reference", "llvm -opt-level=0"])
def test_what_takes_no_time_to_compile_is_not_kept(target, cache, built):
    for _ in range(2):
        rx.build(model(), target)
    assert (len(built), programs()) == (2, [])


def test_the_program_of_a_moved_module_tells_the_new_places(cache, built):
    moved = "# A comment.\n\n" + TEXT
    executables = [rx.build(rx.from_source(text)) for text in (TEXT, moved)]
    assert len(built) == 1
    lines = []
    for executable in executables:
        with pytest.raises(VMError, match="element") as failed:
            executable["main"](X, np.array([3, 0]))
        lines.append((failed.value.diagnostic.message, failed.value.span.line))
    (text, line), (other, below) = lines
    assert (text, line + 2) == (other, below)


def test_a_failure_in_native_code_says_what_it_says_of_a_program_that_was_built(cache, built):
    mod, errors = model(), []
    for executable in [rx.build(mod) for _ in range(2)]:
        for wrong in (np.array([0, 7]), np.array([-1, 0])):
            with pytest.raises(VMError, match=r"\w") as failed:
                executable["main"](X, wrong)
            errors.append((str(failed.value), failed.value.span))
    assert errors[:2] == errors[2:]
    assert errors[0] != errors[1]
    # One for each to tell what failed, operator by operator; what was read is made for that.
    assert len(built) == 4


def test_arguments_that_do_not_fit_are_refused_without_a_build(cache, built):
    mod, errors = model(), []
    for executable in [rx.build(mod) for _ in range(2)]:
        for wrong in ((X.astype("float64"), AT), (X, AT[:1]), (X,), (X, None)):
            with pytest.raises(VMError, match=r"\w") as failed:
                executable["main"](*wrong)
            errors.append(str(failed.value))
    assert errors[:4] == errors[4:]
    assert len(built) == 1


def test_kernels_of_a_stored_program_tell_what_they_are(cache):
    mod = model()
    first, again = (rx.build(mod).externals["pick"] for _ in range(2))
    assert again is not first
    assert (again.llvm_ir, again.name) == (first.llvm_ir, first.name)
    assert again.func.script() == first.func.script()


def test_the_origin_of_a_stored_program_is_the_module(cache, tmp_path):
    mod = model()
    rx.build(mod)
    again = rx.build(mod)
    assert again.origin[0] is mod
    rx.save(again, tmp_path / "model.rx")
    np.testing.assert_array_equal(
        rx.load(tmp_path / "model.rx")["main"](X, AT), again["main"](X, AT)
    )


@pytest.mark.parametrize("options", [
    {"relax_pipeline": "zero"}, {"remove_checks": "redundant"}, {"params": {"at": AT}},
], ids=str)  # fmt: skip
def test_the_origin_is_found_when_somebody_asks_for_it(options, cache, built):
    mod = model()
    first, again = (rx.build(mod, **options) for _ in range(2))
    assert len(built) == 1
    assert again.origin[0].script(show_meta=True) == first.origin[0].script(show_meta=True)
    assert len(built) == 2
    assert again.origin[1] == first.origin[1] or str(again.origin[1]) == str(first.origin[1])


def test_a_stored_program_is_explained(cache):
    mod = model()
    first, again = (rx.VirtualMachine(rx.build(mod)) for _ in range(2))
    assert str(again.explain()) == str(first.explain())


def test_weights_are_told_by_their_contents(cache, built):
    at = AT.copy()
    first = rx.build(model(), params={"at": at})
    again = rx.build(model(), params={"at": AT.copy()})
    assert len(built) == 1
    at[:] = 1
    AT_AGAIN = rx.build(model(), params={"at": at})
    assert len(built) == 2
    results = [executable["main"](X) for executable in (first, again, AT_AGAIN)]
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_weights_that_are_written_into_later_do_not_change_a_stored_program(cache):
    rx.build(model(), params={"at": AT})
    at = AT.copy()
    again = rx.build(model(), params={"at": at})
    before = again["main"](X)
    at[:] = 1
    np.testing.assert_array_equal(again["main"](X), before)
    assert "[2, 0]" in again.origin[0].script()


def test_a_module_that_is_changed_later_does_not_change_its_program(cache):
    rx.build(model())
    mod = model()
    again = rx.build(mod)
    mod["pick"] = rx.from_source(TEXT.replace("x[at[vi]]", "x[0]"))["pick"]
    with pytest.raises(VMError, match=r"\w") as failed:
        again["main"](X, np.array([0, 9]))
    assert failed.value.span.line == 12


def test_constants_that_the_compiler_made_are_kept(cache, built):
    text = """
@R.function
def main(x: R.Tensor((3,), "float32")):
    return x + R.exp(R.const([0.0, 1.0, 2.0], "float32"))
"""
    results = [rx.build(rx.from_source(text), relax_pipeline="zero")["main"](X) for _ in range(2)]
    assert len(built) == 1
    assert results[0].tobytes() == results[1].tobytes()


def test_constants_of_a_stored_program_are_aligned_and_nobody_writes_into_them(cache):
    text = """
@R.function
def main(x: R.Tensor((3,), "float32"), y: R.Tensor((5,), "float64")):
    return x + R.exp(R.const([0.0, 1.0, 2.0], "float32")), y + R.exp(R.const(1.0, "float64"))
"""
    mod = rx.from_source(text)
    first, again = (rx.build(mod, relax_pipeline="zero") for _ in range(2))
    arrays = [c for c in again.constants if isinstance(c, np.ndarray)]
    assert [array.dtype for array in arrays] == [
        c.dtype for c in first.constants if isinstance(c, np.ndarray)
    ]
    assert len(arrays) == 2
    for array in arrays:
        assert (array.ctypes.data % 64, array.flags.writeable) == (0, False)


CALLED = """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    with R.dataflow():
        y = R.exp(x) + R.const([1.0], "float32")
        R.output(y)
    return y
"""


def test_a_function_that_is_one_call_is_native_from_the_cache_too(cache, built):
    mod = rx.from_source(CALLED)
    machines = [rx.VirtualMachine(rx.build(mod, relax_pipeline="zero")) for _ in range(2)]
    assert len(built) == 1
    kinds = [type(machine["main"]) for machine in machines]
    assert kinds[0] is kinds[1]
    assert [len(machine.executable.entries) for machine in machines] == [1, 1]
    results = [machine["main"](X) for machine in machines]
    assert results[0].tobytes() == results[1].tobytes()


def test_where_arrays_lie_otherwise_a_stored_program_has_no_native_functions(
    cache, built, monkeypatch
):
    mod = rx.from_source(CALLED)
    first = rx.build(mod, relax_pipeline="zero")
    monkeypatch.setattr(entries, "layout_is_known", lambda: False)
    again = rx.build(mod, relax_pipeline="zero")
    assert (len(built), again.entries) == (1, {})
    np.testing.assert_array_equal(again["main"](X), first["main"](X))


# ---------------------------------------------------------------- what is another program

CHANGES = {
    "a constant": TEXT.replace("[2.0]", "[3.0]"),
    "an attribute": TEXT.replace("R.exp(x)", "R.clip(x, 0.0, 1.0)"),
    "the name of a variable": TEXT.replace("y = R.exp", "z = R.exp").replace("(y, at)", "(z, at)"),
    "the name of a function": TEXT.replace("pick", "pack"),
    "a column": TEXT.replace("y = R.exp(x) * ", "y = R.exp(x)  * "),
    "a line between two": TEXT.replace("        return", "\n        return"),
    "a dimension": TEXT.replace('x: R.Tensor(("n",)', 'x: R.Tensor(("n + 1",)').replace(
        'R.Tensor(("n + 1",)', 'R.Tensor((4,)'),
}  # fmt: skip


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_another_module_is_another_program(changed, cache, built):
    rx.build(model())
    rx.build(model(changed))
    assert (len(built), len(programs())) == (2, 2)


SETTINGS = {
    "a target": lambda mod: rx.build(mod, "llvm -check=0"),
    "a level": lambda mod: rx.build(mod, "llvm -opt-level=1"),
    "a pipeline": lambda mod: rx.build(mod, relax_pipeline="default_build"),
    "checks": lambda mod: rx.build(mod, remove_checks="unused"),
    "weights": lambda mod: rx.build(mod, params={"at": AT}),
}  # fmt: skip
CONTEXTS = {
    "a level of passes": partial(PassContext, opt_level=1),
    "a pass that is left out": partial(PassContext, disabled_pass=["FoldConstant"]),
    "a pass that is not": partial(PassContext, required_pass=["FoldConstant"]),
    "an option of passes": partial(PassContext, config={"relax.FuseOps.max_depth": 3}),
    "strictness": partial(rx.config, strict=True),
}  # fmt: skip


@pytest.mark.parametrize("build", SETTINGS.values(), ids=SETTINGS)
def test_other_settings_are_another_program(build, cache, built):
    rx.build(model())
    build(model())
    assert (len(built), len(programs())) == (2, 2)


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
def test_other_surroundings_are_another_program(context, cache, built):
    rx.build(model())
    with context():
        rx.build(model())
    assert (len(built), len(programs())) == (2, 2)


def test_another_package_or_computer_is_another_program(cache, built, monkeypatch):
    rx.build(model())
    with monkeypatch.context() as other:
        other.setattr(program_key, "PACKAGE_STATE", "another")
        rx.build(model())
    facts = engine.engine_dependencies()
    for name in facts:
        with monkeypatch.context() as other:
            other.setattr(engine, "engine_dependencies", lambda name=name: {**facts, name: "other"})
            rx.build(model())
    for module, name, value in (
        (np, "__version__", "1.0"), (sys, "version", "4.0"),
        (program_key, "this_processor", lambda: "another"),
    ):  # fmt: skip
        with monkeypatch.context() as other:
            other.setattr(module, name, value)
            rx.build(model())
    assert len(built) == len(programs()) == len(facts) + 5
    assert {"cpu", "features", "llvmlite", "llvm", "relaxscript"} <= set(facts)


# ---------------------------------------------------------------- what is not kept


def not_kept(build, built) -> None:
    for _ in range(2):
        build()
    assert (len(built), programs()) == (2, [])


def test_an_operator_of_the_user_is_not_kept(cache, built):
    @opdef.op("cached.twice")
    def twice(x: opdef.Tensor) -> opdef.Tensor:
        """Twice."""
        return x * 2

    twice.infer_rule(lambda context, x: x)
    try:
        text = '@R.function\ndef main(x: R.Tensor((3,), "float32")):\n    return R.cached.twice(x)'
        not_kept(lambda: rx.build(rx.from_source(text)), built)
    finally:
        opdef.remove_op("cached.twice")


def test_with_a_rule_of_the_user_nothing_is_kept(cache, built, monkeypatch):
    monkeypatch.setitem(exp.rules, "compute", lambda context, x: x)
    not_kept(lambda: rx.build(model()), built)


def test_with_a_pipeline_of_the_user_in_the_place_of_ours_nothing_is_kept(
    cache, built, monkeypatch
):
    ours = PIPELINE_MAP["llvm"]
    monkeypatch.setitem(PIPELINE_MAP, "llvm", lambda: ours())
    not_kept(lambda: rx.build(model()), built)


def test_a_pipeline_of_the_user_is_not_kept(cache, built):
    not_kept(lambda: rx.build(model(), relax_pipeline=rx.get_pipeline("default")), built)
    built.clear()
    not_kept(lambda: rx.build(model(), tir_pipeline=lambda mod: mod), built)


def test_what_an_instrument_watches_is_built(cache, built):
    with PassContext(instruments=[PassInstrument()]):
        not_kept(lambda: rx.build(model()), built)


def test_a_kernel_that_calls_python_is_not_kept(cache, built):
    text = """
@T.prim_func
def main(x: T.Buffer((3,), "float32")):
    T.evaluate(T.call_packed("test.program_cache.none"))
"""
    not_kept(lambda: rx.build(rx.from_source(text)), built)


def test_weights_that_are_no_arrays_of_numpy_are_not_kept(cache, built):
    class Named(np.ndarray):
        """An array of somebody else."""

    not_kept(lambda: rx.build(model(), params={"at": AT.view(Named)}), built)


def test_weights_that_no_tensor_can_hold_are_refused_as_ever(cache):
    with pytest.raises(DiagnosticError, match="`at`"):
        rx.build(model(), params={"at": np.array(["a", "b"])})


def test_a_module_that_no_script_can_say_is_refused_as_ever(cache):
    mod = model()
    x = relax.Var.make("x", None)
    mod["main"] = relax.Function.make((x,), relax.Tuple.make((x, object())))
    heard = []
    for folder in (cache.folder, "off"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RELAXSCRIPT_CACHE", folder)
            with pytest.raises(Exception, match=r"\w") as failed:
                rx.build(mod)
        heard.append((type(failed.value), str(failed.value)))
    assert heard[0] == heard[1]


def test_weights_that_take_long_to_hash_are_not_kept(cache, built, monkeypatch):
    monkeypatch.setattr(program_key, "MOST_BYTES", 3)
    not_kept(lambda: rx.build(model()), built)


def test_a_warning_is_heard_in_each_process(cache, built):
    text = """
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    return R.add(x, y)
"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mod = rx.from_source(text)
    heard = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rx.build(mod)
        heard.append([str(w.message) for w in caught if issubclass(w.category, RelaxWarning)])
    assert heard[0] == heard[1]


def test_what_is_refused_is_refused_again(cache):
    errors = []
    for _ in range(2):
        with pytest.raises(DiagnosticError, match="no parameter"):
            rx.build(model(), params={"att": AT})
        with pytest.raises(DiagnosticError, match="no option") as failed:
            rx.build(model(), "llvm -check-all=1")
        errors.append(str(failed.value))
    assert (errors[0], programs()) == (errors[1], [])


# ---------------------------------------------------------------- files that are not what they seem


def damage(path: str, change) -> None:
    with open(path, "r+b") as file:
        content = bytearray(file.read())
        change(content)
        file.seek(0)
        file.truncate()
        file.write(content)


@pytest.mark.slow
def test_no_change_of_a_byte_is_taken(cache, built):
    mod = model()
    rx.build(mod)
    (path,) = programs()
    size, expected = os.path.getsize(path), rx.build(mod)["main"](X, AT)
    count = len(built)
    for place in range(0, size, max(size // 40, 1)):
        damage(path, lambda content, place=place: content.__setitem__(place, content[place] ^ 1))
        np.testing.assert_array_equal(rx.build(mod)["main"](X, AT), expected)
        count += 1
        assert len(built) == count


def senseless(content: bytes, change) -> bytes:
    """The content of a program with another table, the hash of which is right."""
    end = 8 + int.from_bytes(content[:8], "little")
    table = json.loads(content[8:end])
    change(table)
    text = json.dumps(table).encode()
    return len(text).to_bytes(8, "little") + text + content[end:]


SENSELESS = {
    "a missing part": lambda table: table.pop("functions"),
    "a row that is not there": lambda table: table["functions"].append(1 << 20),
    "an unknown kind": lambda table: table["rows"].insert(0, ["ir.relax.Nothing", None]),
    "another module": lambda table: table["rows"].__setitem__(0, ["nothing.Nothing", None]),
    "too few fields": lambda table: table["rows"][table["functions"][0]].__delitem__(
        slice(1, None)
    ),
    "code that is not there": lambda table: table["codes"][0].__setitem__(0, "0" * 64),
    "a symbol that is not there": lambda table: table["codes"][0].__setitem__(1, ["nothing"]),
}


@pytest.mark.parametrize("change", SENSELESS.values(), ids=SENSELESS)
def test_a_senseless_program_is_a_miss(change, cache, built):
    mod = model()
    expected = rx.build(mod)["main"](X, AT)
    (path,) = programs()
    key = Path(path).stem
    cache.store(key, senseless(bytes(cache.load(key, PROGRAM)), change), PROGRAM)
    np.testing.assert_array_equal(rx.build(mod)["main"](X, AT), expected)
    assert len(built) == 2
    rx.build(mod)
    assert len(built) == 2


def test_any_bytes_with_the_right_hash_are_a_miss(cache, built, rng):
    mod = model()
    rx.build(mod)
    key = Path(programs()[0]).stem
    for count, content in enumerate((b"", b"{}", bytes(8), bytes(100), rng.bytes(1000)), 2):
        cache.store(key, content, PROGRAM)
        rx.build(mod)
        assert len(built) == count


def test_a_program_whose_code_is_gone_is_built_again(cache, built):
    mod = model()
    rx.build(mod)
    for file in cache.files():
        if file.kind == OBJECT:
            os.unlink(file.path)
    codes, engine._codes = engine._codes, type(engine._codes)()
    try:
        rx.build(mod)
    finally:
        engine._codes = codes
    assert len(built) == 2


@pytest.mark.parametrize("mode", [0o500, 0o777])
def test_a_folder_that_cannot_be_used_is_like_none(mode, cache, built):
    os.mkdir(cache.folder)
    os.chmod(cache.folder, mode)
    mod = model()
    results = [rx.build(mod)["main"](X, AT) for _ in range(2)]
    np.testing.assert_array_equal(*results)
    os.chmod(cache.folder, 0o700)


def test_a_program_that_would_fill_the_cache_is_not_kept(cache, built, monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_CACHE_SIZE", "0")
    not_kept(lambda: rx.build(model()), built)


def test_programs_go_when_the_cache_is_full(tmp_path):
    cache = ObjectCache(str(tmp_path / "cache"), capacity=4000)
    for number in range(8):
        key, kind = f"{number}" * 64, (OBJECT, PROGRAM)[number % 2]
        cache.store(key, bytes(500 - HEADER.size), kind)
        os.utime(tmp_path / "cache" / f"{key}.{kind}", (number, number))
    cache.shrink()
    assert sorted(Path(file.path).name[0] for file in cache.files()) == list("234567")


# ---------------------------------------------------------------- several processes

PROCESS = """
import sys
import numpy as np
import relaxscript as rx
from relaxscript import compiler

done, make = [], compiler._make
compiler._make = lambda *args: done.append(1) or make(*args)
model = rx.jit(rx.from_source(sys.stdin.read()))
print(len(done), model.main(np.arange(3, dtype="float32"), np.array([2, 0])).tobytes().hex())
"""


def start() -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", PROCESS]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)


@pytest.mark.slow
def test_another_process_builds_nothing(cache):
    said = [start().communicate(TEXT)[0].split() for _ in range(2)]
    assert [count for count, _ in said] == ["1", "0"]
    assert said[0][1] == said[1][1]


@pytest.mark.slow
def test_processes_at_once_get_the_same(cache):
    processes = [start() for _ in range(3)]
    said = [process.communicate(TEXT)[0].split() for process in processes]
    assert len({bits for _, bits in said}) == 1
    assert len(programs()) == 1
