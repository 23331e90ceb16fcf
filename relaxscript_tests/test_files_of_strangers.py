"""What the README promises of files that come from strangers holds, word by word."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.artifact import inspect
from relaxscript.cli import main
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.script import from_source
from relaxscript_tests.architecture import readable
from relaxscript_tests.damaged_files import WRONG, resigned

PROMISE = (
    "Files may come from strangers: `rx.load`, `rx.from_source`, `relaxscript check` and "
    "`relaxscript print` execute nothing of what they read and report its mistakes as diagnostics; "
    "a program that was loaded calls no function outside of its file but those that `allowed=` "
    "names, and neither reads nor writes memory outside of its arrays."
)


def test_the_readme_promises_this():
    assert PROMISE in " ".join(readable("README.md").split())


# ---------------------------------------------------------------- nothing is executed

TRAP = "__import__('pathlib').Path('sprung').touch()"
# The places of a definition at which Python would execute something.
TRAPS = {
    "statement": f"{TRAP}\n",
    "decorator": f"@{TRAP}\ndef g():\n    pass\n",
    "class": f"class A({TRAP}):\n    pass\n",
    "metaclass": f"class A(metaclass={TRAP}):\n    x = {TRAP}\n",
    "default": f"def g(x={TRAP}):\n    pass\n",
    "annotation": f"@R.function\ndef main(x: {TRAP}):\n    return x\n",
    "result": f'@R.function\ndef main(x: R.Tensor((2,), "int8")) -> {TRAP}:\n    return x\n',
    "shape": f'@R.function\ndef main(x: R.Tensor(({TRAP},), "int8")):\n    return x\n',
    "value": f'@R.function\ndef main(x: R.Tensor((2,), "int8")):\n    y = {TRAP}\n    return y\n',
    "argument": f'@R.function\ndef main(x: R.Tensor((2,), "int8")):\n    return R.add(x, {TRAP})\n',
    "text": f'@R.function\ndef main(x: R.Object):\n    return R.str(f"{{{TRAP}}}")\n',
    "comprehension": f'@R.function\ndef main(x: R.Object):\n    return [{TRAP} for i in "ab"]\n',
    "lambda": f"@R.function\ndef main(x: R.Object):\n    return (lambda: {TRAP})()\n",
    "extent": f'@T.prim_func\ndef f(x: T.Buffer(({TRAP},), "int8")):\n    x[0] = 1\n',
    "loop": f'@T.prim_func\ndef f(x: T.Buffer((2,), "int8")):\n    for i in range({TRAP}):\n'
    "        x[i] = T.int8(1)\n",
    "attribute": f'@T.prim_func\ndef f(x: T.Buffer((2,), "int8")):\n'
    f'    T.func_attr({{"a": {TRAP}}})\n',
    "macro": f"@T.macro\ndef m(x):\n    {TRAP}\n\n"
    "@T.prim_func\ndef f(x: T.Buffer((2,))):\n    m(x)\n",
    "module": f"@I.ir_module\nclass M:\n    {TRAP}\n",
}

# What stands there is either no name that a script has, or no part of one.
REFUSED = (
    r"RX0101\]: `__import__` is not defined|RX0104\]: (only imports|`\w` is a plain|`g` is neither)"
)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "saved.rx"
    info = 'R.Tensor((100,), "float32")'
    function = from_source(
        f"@R.function\ndef main(x: {info}, w: {info}):\n    return R.add(x, w)\n"
    )
    rx.save(rx.build(function, params={"w": np.ones(100, "float32")}), path)
    return path


@pytest.mark.parametrize("text", TRAPS.values(), ids=TRAPS)
@pytest.mark.parametrize("way", ["load", "from_source", "check", "print"])
def test_nothing_is_executed_of_what_is_read(way, text, saved, tmp_path, monkeypatch, recwarn):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "model.py"
    file.write_text("from relaxscript.script import ir as I, relax as R, tir as T\n" + text)
    match way:
        case "load":
            saved.write_bytes(resigned(saved.read_bytes(), module=text.encode()))
            with pytest.raises(DiagnosticError, match=REFUSED):
                rx.load(saved)
        case "from_source":
            with pytest.raises(DiagnosticError, match=REFUSED):
                from_source(text)
        case _:
            main([way, str(file)])
    assert not (tmp_path / "sprung").exists()


# ---------------------------------------------------------------- mistakes are diagnostics


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_file_is_a_diagnostic(name, saved):
    damage, _ = WRONG[name]
    saved.write_bytes(damage(saved.read_bytes()))
    with pytest.raises(DiagnosticError, match=r"RX0\d\d\d"):
        rx.load(saved)


@pytest.mark.parametrize("word", ["check", "print"])
def test_what_is_wrong_with_a_text_is_said(word, tmp_path, capsys):
    file = tmp_path / "model.py"
    for text in (
        "def f(:\n",
        "\0",
        "@R.function\ndef main(x: R.Tensr):\n    return y\n",
        "(" * 999,
    ):
        file.write_text(text)
        assert main([word, str(file)]) != 0
        assert "error" in capsys.readouterr().err


# ---------------------------------------------------------------- what is called

CALL = 'T.call_extern("int64", "labs", d)'
KERNEL = """
@T.prim_func
def k(x: T.Buffer((4,), "int64"), d: T.int64, out: T.Buffer((4,), "int64")):
{}
"""
HIDDEN = {
    "index": f"    out[{CALL}] = x[0]",
    "value": f"    out[0] = x[0] + {CALL}",
    "size": f'    t = T.decl_buffer(({CALL},), "int64")\n    t[0] = x[0]\n    out[0] = t[0]',
    "offset": f'    v = T.decl_buffer((1,), "int64", data=x.data, elem_offset={CALL})\n'
    "    out[0] = v[0]",
    "loop": f"    for i in range({CALL}):\n        out[i] = x[i]",
    "condition": f"    if {CALL} > 1:\n        out[0] = x[0]",
    "while": f"    while {CALL} > 1:\n        out[0] = x[0]",
    "assertion": f'    assert {CALL} > 1, "d"\n    out[0] = x[0]',
    "block": f'    with T.block("b"):\n        T.where({CALL} > 1)\n        out[0] = x[0]',
    "axis": f'    for i in range(4):\n        with T.block("b"):\n'
    f"            vi = T.axis.spatial(4, i + {CALL})\n            out[vi] = x[0]",
    "region": f'    with T.block("b"):\n'
    f'        m = T.match_buffer(out[{CALL}], (), "int64")\n        m[()] = x[0]',
    "let": f"    v: T.int64 = {CALL}\n    out[0] = v",
    "statement": f"    T.evaluate({CALL})",
    "branch": f"    out[0] = T.if_then_else(d > 0, {CALL}, x[0])",
}


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN)
def test_no_function_is_called_that_was_not_allowed(body, tmp_path):
    path = tmp_path / "model.rx"
    rx.save(rx.build(from_source(KERNEL.format(body))), path)
    with pytest.raises(DiagnosticError, match="the program calls `labs`, which was not allowed"):
        rx.load(path)
    found = inspect(path)
    assert (found.c_functions, found.addressed) == (("labs",), ())
    rx.load(path, allowed=["labs"])


def test_functions_that_handle_addresses_are_named(tmp_path, capsys):
    path = tmp_path / "model.rx"
    body = '    T.evaluate(T.call_extern("int64", "labs", d))\n'
    body += '    T.evaluate(T.call_extern("handle", "memset", T.address_of(out[0]), 0, d))'
    rx.save(rx.build(from_source(KERNEL.format(body))), path)
    assert inspect(path).addressed == ("memset",)
    assert main(["inspect", str(path)]) == 0
    assert "# handles addresses of memory with memset\n" in capsys.readouterr().out


# ---------------------------------------------------------------- what is read and written

REACHING = {
    "read": "    for i in range(4):\n        out[i] = x[d + i]",
    "write": "    for i in range(4):\n        out[d + i] = x[i]",
    "before": "    for i in range(4):\n        out[i] = x[i - d]",
    "lanes": "    out[d:d + 4] = x[0:4]",
    "element": "    out[x[0]] = x[1]",
    "masked": "    if d > 3:\n        out[d] = x[0]",
    "view": '    v = T.decl_buffer((1 << 40,), "uint8", data=x.data)\n'
    '    out[0] = T.cast(v[d], "int64")',
    "sized": '    v = T.decl_buffer((d,), "int64", data=out.data)\n    v[d] = x[0]',
    "strides": '    v = T.decl_buffer((4,), "int64", data=out.data, strides=(d,))\n    v[3] = x[0]',
    "offset": '    v = T.decl_buffer((4,), "int64", data=out.data, elem_offset=d)\n    v[3] = x[0]',
    "overflow": '    t = T.decl_buffer((d * 4611686018427387904,), "int64")\n'
    "    for i in range(16):\n        t[i * 100000] = T.int64(1)",
    "region": '    with T.block("b"):\n'
    '        m = T.match_buffer(out[d:d + 4], (4,), "int64", offset_factor=1)\n'
    "        m[0] = x[0]",
    "assumed": "    T.evaluate(T.assume(0 <= d and d < 4))\n    out[d] = x[0]",
    "address": "    T.evaluate(T.isnullptr(T.address_of(out[d])))",
}


UNWRITTEN = """
@T.prim_func
def k(n: T.int64, y: T.Buffer((8,), "int64"), z: T.Buffer((8,), "int64")):
    small = T.alloc_buffer((8,), "int64")
    large = T.alloc_buffer((n,), "int64")
    for i in T.serial(8):
        y[i] = small[i]
        z[i] = large[i]
"""


@pytest.mark.parametrize("options", ["", " -zero-memory=0", " -opt-level=0"])
def test_memory_that_a_program_never_wrote_shows_nothing_of_the_process(options, tmp_path):
    path = tmp_path / "model.rx"
    rx.save(rx.build(from_source(UNWRITTEN), "llvm" + options), path)
    executable = rx.load(path)
    assert str(executable.origin[1]) == "llvm" + options
    loaded = rx.VirtualMachine(executable)
    for size in (8, 100, 10_000):
        secrets = [np.full(size, 77) for _ in range(20)]
        del secrets
        y, z = np.ones(8, "int64"), np.ones(8, "int64")
        loaded["k"](size, y, z)
        assert not y.any()
        assert not z.any()


@pytest.mark.parametrize("body", REACHING.values(), ids=REACHING)
@pytest.mark.parametrize("options", ["", " -check=0", " -opt-level=0"])
def test_no_memory_outside_of_the_arrays_is_reached(body, options, tmp_path):
    path = tmp_path / "model.rx"
    rx.save(rx.build(from_source(KERNEL.format(body)), "llvm" + options), path)
    loaded = rx.VirtualMachine(rx.load(path))
    for d in (4, 5, 1 << 20, (1 << 61) + 1, (1 << 63) - 1):
        with pytest.raises(VMError) as caught:
            loaded["k"](np.full(4, d), d, np.zeros(4, "int64"))
        assert caught.value.code == "RX0614"
