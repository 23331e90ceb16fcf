"""AllocateWorkspace: who gets a workspace, how large it is, and who allocates it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.dpl import is_op, wildcard
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.runtime import register_func
from relaxscript.runtime.packed_func import remove_global_func
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, assert_same
from relaxscript.transform import (
    AllocateWorkspace,
    FuseOpsByPattern,
    FusionPattern,
    MergeCompositeFunctions,
    PassContext,
    RunCodegen,
    VerifyEach,
)

X = np.array([1.0, 2.0, 3.0], "float32")
TENSOR = 'R.Tensor((3,), "float32")'
SMALL = f"""
    @R.function
    def small(x: {TENSOR}) -> {TENSOR}:
        R.func_attr({{"Codegen": "mine", "WorkspaceSize": 16}})
        return R.exp(x)
"""


def module(main: str, *others: str) -> IRModule:
    lines = "\n".join(f"        {line}" for line in main.strip().split("\n"))
    found = from_source(f"""
@I.ir_module
class M:
{"".join(others) or SMALL}
    @R.function
    def main(x: {TENSOR}):
        cls = M
{lines}
""")
    assert isinstance(found, IRModule)
    return found


def allocated(mod: IRModule) -> IRModule:
    before = mod.script(show_meta=True)
    with PassContext(instruments=[VerifyEach()]):
        made = AllocateWorkspace()(mod)
    assert mod.script(show_meta=True) == before
    assert AllocateWorkspace()(made) is made
    for name in made.relax_functions():
        assert "WorkspaceSize" not in (made[name].attrs or {})
    return made


LOCAL = f"""
    @R.function
    def theirs(x: {TENSOR}) -> {TENSOR}:
        R.func_attr({{"Codegen": "mine", "WorkspaceSize": 64}})

        @R.function
        def composite(y: {TENSOR}) -> {TENSOR}:
            R.func_attr({{"Composite": "mine.exp", "WorkspaceSize": 64}})
            return R.exp(y)

        gv: {TENSOR} = composite(x)
        return gv
"""


def test_a_function_and_those_inside_of_it_get_a_parameter_that_the_caller_allocates():
    made = allocated(
        module("with R.dataflow():\n    y = cls.theirs(x)\n    R.output(y)\nreturn y", LOCAL)
    )
    assert_same(
        made,
        from_source(f"""
@I.ir_module
class M:
    @R.function
    def theirs(x: {TENSOR}, workspace: R.Tensor((64,), "uint8")) -> {TENSOR}:
        R.func_attr({{"Codegen": "mine"}})

        @R.function
        def composite(y: {TENSOR}, workspace: R.Tensor((64,), "uint8")) -> {TENSOR}:
            R.func_attr({{"Composite": "mine.exp"}})
            return R.exp(y)

        gv: {TENSOR} = composite(x, workspace)
        return gv

    @R.function
    def main(x: {TENSOR}) -> {TENSOR}:
        cls = M
        with R.dataflow():
            workspace_main = R.builtin.alloc_tensor(
                R.shape([64]), R.dtype("uint8"), R.prim_value(0)
            )
            y = cls.theirs(x, workspace_main)
            R.output(y)
        return y
"""),
    )


def test_all_functions_share_the_largest_workspace():
    large = SMALL.replace("small", "large").replace("16", "1024")
    main = "y = cls.small(x)\nz = cls.large(y)\nreturn cls.small(z)"
    made = allocated(module(main, SMALL, large))
    text = made.script()
    assert text.count("alloc_tensor") == 1
    assert [str(made[name].params[-1].struct_info) for name in ("small", "large")] == [
        'R.Tensor((1024,), "uint8")'
    ] * 2


@pytest.mark.parametrize(
    "main",
    [
        "with R.dataflow():\n    y = cls.small(x)\n    R.output(y)\nz = cls.small(y)\nreturn z",
        "if R.prim_value(True):\n    y = cls.small(x)\nelse:\n    y = x\nreturn y",
        f"@R.function\ndef f(a: {TENSOR}) -> {TENSOR}:\n    return cls.small(a)\n"
        "y = f(x)\nreturn y",
        "return cls.small(cls.small(x))",
    ],
)
def test_a_workspace_reaches_calls_everywhere(main):
    mod = module(main)
    made = allocated(mod)
    assert made.script().count("alloc_tensor") == 1
    expected = EXECUTORS["interpreter"](mod)("main", X)
    for load in EXECUTORS.values():
        np.testing.assert_allclose(load(made)("main", X), expected, rtol=1e-6)


def test_a_function_of_the_module_inside_of_another_gets_the_workspace_of_its_caller():
    inner = SMALL.replace('Codegen": "mine', 'Composite": "mine.exp').replace("small", "inner")
    outer = f"""
    @R.function
    def outer(x: {TENSOR}) -> {TENSOR}:
        R.func_attr({{"Codegen": "mine", "WorkspaceSize": 8}})
        cls = M
        return cls.inner(x)
"""
    made = allocated(module("return cls.outer(x)", inner, outer))
    assert made.script().count("alloc_tensor") == 1
    assert "cls.inner(x, workspace)" in made.script()


@pytest.mark.parametrize(
    "attr", ['"Codegen": "mine"', '"Codegen": "mine", "WorkspaceSize": 0', '"WorkspaceSize": 16']
)
def test_a_module_in_which_no_code_generator_asks_stays_as_it_is(attr):
    mod = module(
        "return cls.small(x)", SMALL.replace('"Codegen": "mine", "WorkspaceSize": 16', attr)
    )
    assert AllocateWorkspace()(mod) is mod


def test_a_function_that_is_a_value_keeps_its_parameters():
    mod = module("f = cls.small\ny = f(x)\nreturn y")
    assert AllocateWorkspace()(mod) is mod


def test_a_size_that_is_no_number_of_bytes_is_refused():
    for size, shown in (('"16"', "16"), ("-1", "-1")):
        with pytest.raises(DiagnosticError) as caught:
            AllocateWorkspace()(module("return cls.small(x)", SMALL.replace("16", size)))
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "RX0709"
        assert diagnostic.message == (
            f"the `WorkspaceSize` of `small` is a number of bytes, not `{shown}`"
        )
        assert diagnostic.help == 'write for example `R.func_attr({"WorkspaceSize": 65536})`'
        assert diagnostic.span is not None


def generate(functions: Any, options: Any, constants: Any) -> Any:
    """Kernels that use their workspace for what they compute in between."""

    def kernel(x: Any, workspace: Any, out: Any) -> None:
        held = workspace[: x.nbytes].view("float32")
        np.exp(x, out=held)
        np.negative(held, out=out)

    return {func.attrs["global_symbol"]: kernel for func in functions}


@pytest.mark.parametrize("is_merged", [False, True])
def test_a_pattern_asks_for_a_workspace_and_its_kernels_get_it(is_merged):
    mod = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main(x: {TENSOR}):
        with R.dataflow():
            y = R.negative(R.exp(x))
            z = R.negative(R.exp(R.tanh(y)))
            R.output(z)
        return z
""")
    pattern = FusionPattern(
        "mine.exp", is_op("relax.negative")(is_op("relax.exp")(wildcard())),
        attrs_getter=lambda found: {"WorkspaceSize": 12},
    )  # fmt: skip
    parts = FuseOpsByPattern([pattern], annotate_codegen=not is_merged)(mod)
    if is_merged:
        parts = MergeCompositeFunctions()(parts)
    register_func("relax.ext.mine", generate)
    try:
        made = RunCodegen()(allocated(parts))
    finally:
        remove_global_func("relax.ext.mine")
    for load in EXECUTORS.values():
        np.testing.assert_allclose(load(made)("main", X), -np.exp(np.tanh(-np.exp(X))), rtol=1e-6)
