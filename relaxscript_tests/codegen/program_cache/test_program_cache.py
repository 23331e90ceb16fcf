"""Programs that are kept on disk: found by all that they depend on, and as good as those built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.llvm import engine
from relaxscript.codegen.native import entries
from relaxscript.errors import VMError
from relaxscript.runtime.object_cache import HEADER, OBJECT, PROGRAM, ObjectCache
from relaxscript_tests.codegen.program_cache.models import AT, TEXT, X, model, programs
from relaxscript_tests.fresh_python import ROOT

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


def test_a_stored_program_has_the_text_of_its_code(cache):
    mod = model()
    first, again = rx.build(mod), rx.build(mod)
    assert again is not first
    assert "define" in again.get_source()
    assert again.get_source("ll") == first.get_source("ll")


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


def test_weights_in_another_order_in_memory_have_the_same_stored_program(cache, built, rng):
    text = """
@R.function
def main(x: R.Tensor((2, 8), "float32"), w: R.Tensor((8, 16), "float32")):
    return R.matmul(x, w), R.matmul(x, R.permute_dims(R.reshape(w, (16, 8)))), w
"""
    x, w = rng.normal(size=(2, 8)).astype("float32"), rng.normal(size=(16, 8)).astype("float32").T
    found = []
    for weight in (w, w, np.array(w, order="C")):
        results = rx.build(rx.from_source(text), params={"w": weight})["main"](x)
        found.append([result.tobytes() for result in results])
    assert len(built) == 1
    assert found[0] == found[1] == found[2]


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
    for _ in range(2):
        rx.build(model())
    assert (len(built), programs()) == (2, [])


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
