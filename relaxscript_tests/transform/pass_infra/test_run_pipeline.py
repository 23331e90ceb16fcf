"""What pipelines `build` takes, and what it says of those that leave too much or break a module."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import VirtualMachine, build
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function, SeqExpr, Var
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.script import from_source
from relaxscript.transform import Sequential, VMShapeLower, module_pass

ROW = (
    "Normalize", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite", "VMShapeLower",
    "LowerRuntimeBuiltin",
)  # fmt: skip
Model = from_source("""
@I.ir_module
class Model:
    @T.prim_func
    def twice(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Model
        with R.dataflow():
            y = R.call_tir(cls.twice, (x,), R.Tensor((2,), "float32"))
            R.output(y)
        return y

    @R.function
    def closure(x: R.Object, f: R.Callable):
        cls = Model
        y = R.call_pure_packed("f", x, sinfo_args=R.Tensor((2,), "float32"))
        c = R.make_closure(cls.main, (y,))
        z = R.invoke_pure_closure(f, (c,), sinfo_args=R.Object)
        return z
""")
X = np.array([1, 2], "float32")


@pytest.mark.parametrize("row", [ROW, list(ROW), [*ROW[:4], VMShapeLower(), ROW[-1]]])
def test_a_pipeline_is_passes_in_a_row_by_name_or_themselves(row):
    machine = VirtualMachine(build(Model, relax_pipeline=row))
    np.testing.assert_array_equal(machine.main(X), X * 2)


def test_an_unknown_pass_in_a_row_is_refused():
    with pytest.raises(DiagnosticError, match='there is no pass "VMShapeLowr"') as caught:
        build(Model, relax_pipeline=["VMShapeLowr"])
    assert caught.value.diagnostics[0].help == 'did you mean "VMShapeLower"?'


LEFT = {
    1: {
        ("`main` has a dataflow block", "ToNonDataflow", 12),
        ("`y` in `main` is bound to a call of `R.call_tir`", "CallTIRRewrite", 13),
        ("`y` in `closure` is bound to a call of `R.call_pure_packed`", "RemovePurityChecking", 20),
        ("`c` in `closure` is bound to a call of `R.make_closure`", "LowerRuntimeBuiltin", 21),
        ("`z` in `closure` is bound to a call of `R.invoke_pure_closure`",
         "RemovePurityChecking", 22),
    },
    3: {
        ("`y` in `main` is bound to a call of `R.call_tir`", "CallTIRRewrite", 13),
        ("`c` in `closure` is bound to a call of `R.make_closure`", "LowerRuntimeBuiltin", 21),
        ("`z` in `closure` is bound to a call of `R.invoke_closure`", "LowerRuntimeBuiltin", 22),
    },
    5: {
        ("`c` in `closure` is bound to a call of `R.make_closure`", "LowerRuntimeBuiltin", 21),
        ("`z` in `closure` is bound to a call of `R.invoke_closure`", "LowerRuntimeBuiltin", 22),
    },
}  # fmt: skip


@pytest.mark.parametrize("count", LEFT)
def test_what_a_pipeline_leaves_is_named_with_its_line_and_the_pass_that_lowers_it(count):
    with pytest.raises(DiagnosticError) as caught:
        build(Model, "reference", relax_pipeline=ROW[:count])
    found = {(d.message, d.span.line) for d in caught.value.diagnostics}
    assert found == {
        (f"{what}, which the pass `{lowers}` lowers", line) for what, lowers, line in LEFT[count]
    }
    assert {d.code for d in caught.value.diagnostics} == {"RX0703"}


def test_a_function_whose_checks_are_not_written_out_is_refused():
    with pytest.raises(DiagnosticError, match="the checks of `f` are not written out") as caught:
        build(from_source("@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Object):\n"
                          "        return x\n"), relax_pipeline=None)  # fmt: skip
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span.line == 4
    assert diagnostic.help.startswith("add `VMShapeLower()` to the pipeline")


@module_pass(opt_level=0, name="Breaking")
def breaking(mod, ctx):
    free = Var("free", ObjectStructInfo())
    made = Function([], SeqExpr([], free), ObjectStructInfo(), attrs={"global_symbol": "broken"})
    return IRModule({**mod.functions, "broken": made})


def without_a_name(mod):
    return breaking(mod)


@pytest.mark.parametrize(
    ("pipeline", "culprit"),
    [
        ([*ROW, breaking], "the pass `Breaking`"),
        (Sequential([breaking], name="all"), "the pass `Breaking`"),
        (without_a_name, "the pass `Breaking`"),
        (lambda mod: breaking.transform_module(mod, None), "`<lambda>`"),
    ],
)
def test_a_pass_that_makes_the_module_ill_formed_is_named(pipeline, culprit):
    with pytest.raises(DiagnosticError) as caught:
        build(Model, "reference", relax_pipeline=pipeline)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "RX0706"
    assert diagnostic.message.startswith(f"after {culprit} the module is not well-formed: ")
    assert "`free`" in diagnostic.message


def test_a_local_function_that_a_pipeline_leaves_is_named_with_the_pass_that_lifts_it():
    module = from_source("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Object):
        @R.function
        def inner(y: R.Object) -> R.Object:
            return y
        return inner(x)
""")
    assert VirtualMachine(build(module, relax_pipeline=ROW))["main"]("a") == "a"
    without_checks = [name for name in ROW if name != "VMShapeLower"]
    with pytest.raises(DiagnosticError) as caught:
        build(module, relax_pipeline=without_checks)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "RX0703"
    assert diagnostic.span.line == 7
    said = "`main` has a local function, which the pass `LambdaLift` lowers"
    assert diagnostic.message == said
