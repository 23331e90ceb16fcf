from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

from relaxscript import register_func
from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.codegen.llvm.engine import KEPT, LIBRARIES, compile_text
from relaxscript.errors import InternalError, VMError
from relaxscript.script import from_source
from relaxscript_tests import examples
from relaxscript_tests.fresh_python import ROOT


def test_text_that_llvm_refuses_is_a_mistake_of_ours():
    with pytest.raises(InternalError, match="LLVM refuses the code of a PrimFunc"):
        compile_text("define i32 @f() { ret i64 0 }", "f", {}, 0)


def test_code_that_is_not_well_formed_is_refused_before_it_is_compiled():
    text = "define i32 @f(i1 %c) {\nbr i1 %c, label %a, label %b\na:\n%x = add i32 1, 2\n"
    text += "br label %b\nb:\nret i32 %x\n}"
    with pytest.raises(InternalError, match="LLVM refuses the code of a PrimFunc"):
        compile_text(text, "f", {}, 0)


def test_functions_that_are_nowhere_are_missed():
    text = "declare i32 @relaxscript_no_such_function()\n"
    text += "define i32 @f() {\n%r = call i32 @relaxscript_no_such_function()\nret i32 %r\n}"
    with pytest.raises(InternalError, match="cannot be linked"):
        compile_text(text, "f", {}, 0)
    missing = "relaxscript_no_such_function"
    with pytest.raises(InternalError, match="this computer has no function `relaxscript_no"):
        compile_text(text, "f", {missing: missing}, 0)


DOUBLED = """
@T.prim_func
def doubled(x: T.Buffer((4,), "int64"), y: T.Buffer((4,), "int64")):
    for i in range(4):
        y[i] = x[i] * T.int64({factor})
"""


def test_equal_code_is_compiled_once_while_anybody_uses_it():
    first, again, other = (
        compile_prim_func(from_source(DOUBLED.format(factor=factor))) for factor in (2, 2, 3)
    )
    assert first.entry.code is again.entry.code
    assert first.entry.code is not other.entry.code
    assert first.llvm_ir == again.llvm_ir != other.llvm_ir


@pytest.mark.slow
def test_code_that_nobody_uses_any_more_is_let_go_when_enough_other_code_is_made():
    code = weakref.ref(compile_prim_func(from_source(DOUBLED.format(factor=5))).entry.code)
    gc.collect()
    assert code() is not None
    for number in range(KEPT):
        compile_text(f"define i32 @f() {{\nret i32 {number}\n}}", "f", {}, 0)
    gc.collect()
    assert code() is None


def test_some_dozens_of_codes_share_an_engine_for_linking_and_no_more():
    texts = (
        f"define i32 @f() {{\nret i32 {number + 10_000}\n}}" for number in range(LIBRARIES + 1)
    )
    codes = [compile_text(text, "f", {}, 0) for text in texts]
    assert len({id(code.jit) for code in codes}) == 2


def test_equal_code_fails_at_the_place_in_the_text_of_each():
    text = """
@T.prim_func
def positive(x: T.Buffer((), "int64")):
    assert x[()] > T.int64(0), "{message}"
"""
    for message in ("first", "second"):
        kernel = compile_prim_func(from_source(text.format(message=message)))
        with pytest.raises(VMError, match=message):
            kernel(np.array(0))


def test_code_that_calls_python_is_not_shared():
    text = """
@T.prim_func
def call():
    T.evaluate(T.call_packed("test.engine.count"))
"""
    calls = []
    register_func("test.engine.count", lambda: calls.append(1), override=True)
    first, again = (compile_prim_func(from_source(text)) for _ in range(2))
    assert first.entry.code is not again.entry.code
    first(), again()
    assert len(calls) == 2


# One in twenty thousand such programs ended the process in an assertion of LLVM.
AT_THE_ENDS = """
@T.prim_func
def k(a: T.Buffer(("n", "m"), "{dtype}"), out: T.Buffer(("n", "m"), "{dtype}")):
    n = T.int64()
    m = T.int64()
    for i, j in T.grid(n, m):
        out[i, j] = {value}
"""
CONSTANTS = [2**63 - 1, 2**63 - 2, 2**63 - 3, -(2**63), 1 - 2**63, 2**62, 2**62 - 1, -7]
COMPILE = """
import json, sys
from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.script import from_source
for text in json.load(sys.stdin):
    compile_prim_func(from_source(text), options={"check": False})
print("all of them")
"""


def far_index(rng: np.random.Generator, size: str, depth: int) -> str:
    if depth == 0 or rng.integers(4) == 0:
        return str(rng.choice(["i", "j", f"T.int64({rng.choice(CONSTANTS)})"]))
    a, b = (far_index(rng, size, depth - 1) for _ in range(2))
    forms = [f"T.floormod({a}, {size})", f"({a} + {b})", f"({a} - {b})", f"({a} * {b})"]
    forms += [f"T.max({a}, {b})", f"T.floordiv({a}, {size})", f"({a} ^ {b})"]
    return str(rng.choice(forms))


@pytest.mark.slow
def test_constants_near_the_ends_of_int64_do_not_end_the_process(rng):
    texts = []
    for _ in range(examples(600)):
        loads = [f"a[{far_index(rng, 'n', 3)}, {far_index(rng, 'm', 3)}]" for _ in range(4)]
        value = " + ".join(loads[: rng.integers(1, 5)])
        dtype = rng.choice(["int8", "float16", "float32", "int64"])
        texts.append(AT_THE_ENDS.format(dtype=dtype, value=value))
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], input=json.dumps(texts), text=True, capture_output=True,
        check=False, cwd=ROOT,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "all of them\n"), done.stderr[-2000:]


FORKS = """
import os, sys, threading
import numpy as np
import relaxscript as rx
from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.script import from_source

TEXT = '''
@T.prim_func
def scaled(x: T.Buffer((4,), "int64"), y: T.Buffer((4,), "int64")):
    for i in range(4):
        y[i] = x[i] * T.int64(%d)
'''

def run(factor):
    y = np.zeros(4, "int64")
    compile_prim_func(from_source(TEXT % factor))(np.arange(4), y)
    return y.tolist() == [0, factor, 2 * factor, 3 * factor]

run(2)  # so that the thread imports nothing: a child has no use for what is half imported
running, factor = True, 1000
def build():
    global factor
    while running:
        factor += 1
        assert run(factor)
thread = threading.Thread(target=build)
thread.start()
failed = 0
for child in range(5):
    pid = os.fork()
    if not pid:
        rx.register_func(f"test.child.{child}", lambda: None)
        os._exit(0 if run(child + 2) else 1)
    failed += os.waitpid(pid, 0)[1] != 0
running = False
thread.join()
print("failed:", failed)
"""


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["off", "cache"])
def test_a_child_forked_while_another_thread_builds_can_build_and_run(cache, tmp_path):
    folder = str(tmp_path / cache) if cache != "off" else "off"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS], text=True, capture_output=True, check=False,
        timeout=300, cwd=ROOT, env={**os.environ, "RELAXSCRIPT_CACHE": folder},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "failed: 0\n"), done.stderr[-2000:]
