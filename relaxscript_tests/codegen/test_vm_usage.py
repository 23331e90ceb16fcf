"""What one walk over a function finds for code generation."""

from __future__ import annotations

from typing import Any

from relaxscript.codegen.vm import program as vm_program
from relaxscript.codegen.vm.escape import usage_of
from relaxscript.compiler import build
from relaxscript.script import from_source

MODULE = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Object):
        m = T.int64()
        a = R.add(x, x)
        b = R.match_cast(y, R.Tensor((m,), "float32"))
        kept = R.call_pure_packed("keep", a, sinfo_args=R.Object)
        c = R.call_pure_packed(R.ExternFunc("other"), b, sinfo_args=R.Object)
        e = R.add(a, a)
        return (kept, c)
"""


def main_of(text: str) -> Any:
    module = from_source(text)
    return module["main"], module


def test_a_walk_finds_what_escapes_what_is_named_and_what_is_matched() -> None:
    found = usage_of(*main_of(MODULE))
    assert {v.name_hint for v in found.escaping} == {"y", "a", "b", "c", "kept"}
    assert found.symbols == {"keep", "other"}
    assert [v.name for v in found.matched] == ["m"]
    assert not found.gives_back


def test_a_function_that_gives_values_back_is_known() -> None:
    text = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        y = R.add(x, x)
        _ = R.memory.kill_tensor(y)
        return x
"""
    assert usage_of(*main_of(text)).gives_back


def test_a_build_walks_over_each_function_of_the_module_once(monkeypatch: Any) -> None:
    walked: list[Any] = []

    def counted(function: Any, module: Any) -> Any:
        walked.append(function)
        return usage_of(function, module)

    monkeypatch.setattr(vm_program, "usage_of", counted)
    build(from_source(MODULE))
    assert len(walked) == len(set(walked)) == 1
