"""Objects that are kept on disk: found by all that they depend on, and the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from contextlib import contextmanager
from weakref import WeakValueDictionary

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func, engine
from relaxscript.codegen.llvm.engine import AS_WRITTEN, Engine, compile_text, object_key, tuning
from relaxscript.errors import InternalError
from relaxscript.runtime.object_cache import ObjectCache
from relaxscript_tests.fresh_python import ROOT
from relaxscript_tests.prim_func_examples import EXAMPLES, run_example

TEXT = "define i32 @f() {\nret i32 7\n}"


class Work:
    """What an engine did: the sources that it compiled, and the objects that it linked."""

    def __init__(self) -> None:
        self.compiled: list[str] = []
        self.linked: list[bytes] = []

    def new_process(self) -> None:
        """Forget what was compiled, as another process has not."""
        self.compiled.clear()
        self.linked.clear()
        engine._codes = WeakValueDictionary()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("RELAXSCRIPT_CACHE", str(folder))
    return folder


@pytest.fixture
def work(monkeypatch):
    """What is compiled and linked from now on, by an engine that holds no code yet."""
    done = Work()
    optimise, link = Engine.optimise_source, Engine.link

    @contextmanager
    def noted(self, text, level):
        done.compiled.append(text)
        with optimise(self, text, level) as made:
            yield made

    def linking(self, image, *args):
        done.linked.append(image)
        return link(self, image, *args)

    monkeypatch.setattr(Engine, "optimise_source", noted)
    monkeypatch.setattr(Engine, "link", linking)
    monkeypatch.setattr(engine, "_codes", WeakValueDictionary())
    monkeypatch.setattr(engine, "_recent", deque(maxlen=engine.KEPT))
    return done


def test_a_text_is_compiled_once_for_all_processes(cache, work):
    for compiled in ([TEXT], [], []):
        work.new_process()
        compile_text(TEXT, "f", {}, 2)
        assert work.compiled == compiled
    assert len(os.listdir(cache)) == 1


def test_a_cache_that_is_off_keeps_nothing(tmp_path, monkeypatch, work):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("RELAXSCRIPT_CACHE", "off")
    for _ in range(2):
        work.new_process()
        compile_text(TEXT, "f", {}, 2)
        assert work.compiled == [TEXT]
    assert os.listdir(tmp_path) == []


def test_another_text_or_level_is_compiled(cache, work):
    asked = [(TEXT, 2), (TEXT + "\n", 2), (TEXT, 3), (TEXT, AS_WRITTEN), (TEXT, 0)]
    for texts in ([text for text, _ in asked], []):
        work.new_process()
        for text, level in asked:
            compile_text(text, "f", {}, level)
        assert work.compiled == texts
    assert len(os.listdir(cache)) == len(asked)


# What a module of LLVM depends on beside its text, and what it could be elsewhere or later.
OTHER = {
    "relaxscript": "9.9.9", "llvmlite": "0.1.0", "llvm": (9, 9, 9), "triple": "riscv64-unknown-elf",
    "level": 1, "tuning": {}, "cpu": "generic", "features": "-avx2", "opt": 1, "reloc": "static",
    "codemodel": "large", "jit": False,
}  # fmt: skip


@pytest.mark.parametrize("fact", OTHER)
def test_an_object_is_compiled_anew_where_anything_differs_on_which_it_depends(
    cache, work, monkeypatch, fact
):
    compile_text(TEXT, "f", {}, 2)
    dependencies = Engine.dependencies
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(
            Engine,
            "dependencies",
            lambda self, level: dependencies(self, level) | {fact: OTHER[fact]},
        )
        work.new_process()
        compile_text(TEXT, "f", {}, 2)
        assert work.compiled == [TEXT]
    work.new_process()
    compile_text(TEXT, "f", {}, 2)
    assert work.compiled == []


def test_all_that_llvm_is_told_of_a_machine_is_in_the_key():
    made = Engine()
    for level in (AS_WRITTEN, 0, 1, 2, 3):
        found = made.dependencies(level)
        assert set(found) == set(OTHER)
        assert found.items() >= made.options(level).items()
        assert found["tuning"] == tuning(level)
    keys = {object_key(TEXT, made.dependencies(level)) for level in (AS_WRITTEN, 0, 1, 2, 3)}
    assert len(keys) == 5


@pytest.mark.parametrize("image", [b"", b"no object at all", "half", "other"])
def test_an_object_that_cannot_be_linked_is_dropped_and_compiled_anew(cache, work, image):
    compile_text(TEXT, "f", {}, 2)
    if image == "half":
        image = work.linked[0][: len(work.linked[0]) // 2]
    elif image == "other":
        compile_text(TEXT.replace("@f", "@g"), "g", {}, 2)
        image = work.linked[1]
    (name,) = {entry for entry in os.listdir(cache) if key_of_text() in entry}
    ObjectCache(str(cache)).store(name.partition(".")[0], image)
    for compiled in ([TEXT], []):
        work.new_process()
        assert compile_text(TEXT, "f", {}, 2).address
        assert work.compiled == compiled


def key_of_text() -> str:
    return object_key(TEXT, Engine().dependencies(2))


def test_what_llvm_refuses_and_what_cannot_be_linked_is_not_kept(cache, work):
    missing = "declare i32 @relaxscript_no_such_function()\n"
    missing += "define i32 @f() {\n%r = call i32 @relaxscript_no_such_function()\nret i32 %r\n}"
    wrong = "define i32 @f() { ret i64 0 }"
    for text, said in ((wrong, "LLVM refuses the code"), (missing, "cannot be linked")):
        for _ in range(2):
            with pytest.raises(InternalError, match=said):
                compile_text(text, "f", {}, 0)
    assert not cache.exists()


@pytest.mark.parametrize("level", [3, 0])
@pytest.mark.parametrize("name", EXAMPLES)
def test_code_from_the_cache_is_the_code_that_is_compiled(cache, work, name, level):
    """The law of the cache: the same object, and so the same bits of all results."""
    written, objects = [], []
    for _ in range(2):
        work.new_process()
        made = EXAMPLES[name]()
        kernel = compile_prim_func(made.func, options={"level": level}, module=made.module)
        run_example(made, lambda made, kernel=kernel: kernel(*made.args))
        written.append([np.asarray(arg).tobytes() for arg in made.args])
        objects.append((bool(work.compiled), list(work.linked)))
    (first, emitted), (again, loaded) = objects
    assert (first, again) == (True, False)
    assert emitted == loaded
    assert written[0] == written[1]


MODEL = """
import hashlib, json, sys
import numpy as np
import relaxscript as rx
from relaxscript.codegen.llvm.engine import Engine
from relaxscript.script import from_source
from relaxscript.transform import get_pipeline

TEXT = '''
@I.ir_module
class Mlp:
    @R.function
    def main(x: R.Tensor(("n", 20), "float32"), w: R.Tensor((20, 30), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.nn.softmax(R.tanh(R.matmul(x, w)))
            z = R.sum(R.exp(y) * y, axis=1)
            R.output(z)
        return z
'''
compiled = []
optimise = Engine.optimise_source
Engine.optimise_source = lambda *args: compiled.append(1) or optimise(*args)
vm = rx.VirtualMachine(rx.build(get_pipeline("zero")(from_source(TEXT)), target="llvm"))
random = np.random.default_rng(7)
x, w = (random.standard_normal(s).astype("float32") for s in ((7, 20), (20, 30)))
result = np.asarray(vm["main"](x, w))
print(json.dumps([len(compiled), hashlib.sha256(result.tobytes()).hexdigest()]))
"""


def in_processes(count: int, folder: str) -> list[list[object]]:
    """What so many processes at once say of the model."""
    environment = {**os.environ, "RELAXSCRIPT_CACHE": folder}
    command = [sys.executable, "-c", MODEL]
    started = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
        for _ in range(count)
    ]
    said = [json.loads(process.communicate()[0]) for process in started]
    assert [process.returncode for process in started] == [0] * count
    return said


@pytest.mark.slow
def test_a_new_process_compiles_nothing_that_another_did(tmp_path):
    folder = str(tmp_path / "cache")
    ((without, bits),) = in_processes(1, "off")
    assert without > 0
    assert {digest for _, digest in in_processes(2, folder)} == {bits}
    files = sorted(os.listdir(folder))
    assert in_processes(2, folder) == [[0, bits]] * 2
    assert sorted(os.listdir(folder)) == files
    # Some of what LLVM emits is parts of one module, which are a file together.
    assert 1 < [name.endswith(".object") for name in files].count(True) <= without
