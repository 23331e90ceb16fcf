"""What one walk over a function finds for code generation."""

from __future__ import annotations

from typing import Any

from relaxscript.codegen.vm import escape, program as vm_program
from relaxscript.codegen.vm.escape import KernelArgs, usage_of, written_params
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
    return module["main"], KernelArgs(module)


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

    def counted(function: Any, kernels: Any) -> Any:
        walked.append(function)
        return usage_of(function, kernels)

    monkeypatch.setattr(vm_program, "usage_of", counted)
    build(from_source(MODULE))
    assert len(walked) == len(set(walked)) == 1


def test_the_body_of_a_kernel_is_gone_through_once_however_often_it_is_called(
    monkeypatch: Any,
) -> None:
    walked: list[Any] = []

    def counted(function: Any, callee: Any) -> Any:
        walked.append(function)
        return written_params(function, callee)

    monkeypatch.setattr(escape, "written_params", counted)
    text = """
@I.ir_module
class M:
    @T.prim_func
    def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("copy"):
                vi = T.axis.remap("S", [i])
                B[vi] = A[vi]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        a = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((4,), "float32"))
        b = R.call_tir(cls.copy, (a,), out_sinfo=R.Tensor((4,), "float32"))
        return b
"""
    build(from_source(text))
    assert walked
    assert len(walked) == len({*map(id, walked)})
