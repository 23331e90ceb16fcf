"""What all passes have in common, on random programs and on long ones.

Every pass that `relaxscript.transform`, `tir.transform` or `relax.backend` exports is asked. What a
pass declares of itself (`Pass.declarations`) is what these laws allow it, and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import pytest

from relaxscript.errors import VMError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, OPTIMISED, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import (
    AnnotateTIROpPattern,
    CanonicalizeBindings,
    DataflowUseInplaceCalls,
    DeadCodeElimination,
    DecomposeOpsForInference,
    EliminateCommonSubexpr,
    FoldConstant,
    FuseOps,
    FuseTIR,
    InlinePrivateFunctions,
    LegalizeOps,
    ModulePass,
    Pass,
    PassContext,
    RewriteDataflowReshape,
    Sequential,
    TopologicalSort,
    VerifyEach,
    default_build_pipeline,
)
from relaxscript.transform.pass_infra.passes import DECLARATIONS
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.every_pass import (
    EXAMPLES,
    PASSES,
    SAY_ONLY,
    Case,
    Sample,
    cases,
    legalized,
    needs_examples,
    optional_parameters,
    samples,
)
from relaxscript_tests.transform.failures import failing_as
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module
from relaxscript_tests.transform.long_programs import PROGRAMS, long_module

# Passes that tune elsewhere say at each call that they change nothing.
pytestmark = pytest.mark.filterwarnings("ignore:.*changes nothing:relaxscript.RelaxWarning")

CASES = list(cases())
# A row lowers what its own passes make no more: what comes late is not killed by what comes early.
# None makes dataflow blocks: what comes after `ConvertToDataflow` may drop what fails in them.
SIMPLIFY = (
    CanonicalizeBindings, EliminateCommonSubexpr, FoldConstant, InlinePrivateFunctions,
    CanonicalizeBindings, DeadCodeElimination,
)  # fmt: skip
FUSE = (
    DecomposeOpsForInference, TopologicalSort, LegalizeOps, FoldConstant, AnnotateTIROpPattern,
    RewriteDataflowReshape, FuseOps, FuseTIR, DataflowUseInplaceCalls, DeadCodeElimination,
)  # fmt: skip
ROWS = [
    Case("simplify", lambda mod, inputs: Sequential([step() for step in SIMPLIFY])),
    Case("fold_loops", lambda mod, inputs: Sequential([LegalizeOps(), FoldConstant()])),
    Case("simplify_fuse", lambda mod, inputs: Sequential([step() for step in (*SIMPLIFY, *FUSE)])),
    Case("default_build", lambda mod, inputs: default_build_pipeline()),
]

every_pass = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
every_pass_and_row = pytest.mark.parametrize(
    "case", [*CASES, *ROWS], ids=[case.name for case in (*CASES, *ROWS)]
)


# ---------------------------------------------------------------- what passes declare

DECLARED = {
    "changes_signatures": {
        "AllocateWorkspace", "BindParams", "BindSymbolicVars", "BundleModelParams",
        "CallTIRRewrite", "ExpandTupleArguments", "FuseTIR", "LazyGetInput", "LazySetOutput",
        "LazyTransformParams", "LiftTransformParams", "LowerToOneWorker", "RealizeVDevice",
        "RemoveUnusedOutputs", "RemoveUnusedParameters", "StaticPlanBlockMemory",
        "ToMixedPrecision", "UpdateParamStructInfo", "UpdateVDevice", "VMShapeLower",
    },
    "adds_functions": {
        "AlterOpImpl", "AttachAttrLayoutFreeBuffers", "AttachAttrNoAlias", "AttachGlobalSymbol",
        "FastMathTransform", "FuseOps", "FuseOpsByPattern", "FuseTransposeMatmul", "Gradient",
        "LambdaLift", "LazyGetInput", "LazySetOutput", "LazyTransformParams", "LegalizeOps",
        "LiftTransformParams", "MergeCompositeFunctions", "OutlineNative", "SplitCallTIRByPattern",
        "SplitLayoutRewritePreproc", "VMShapeLower", "backend.DispatchSortScan",
    },
    "removes_functions": {
        "AttachAttrLayoutFreeBuffers", "AttachAttrNoAlias", "DeadCodeElimination", "FuseTIR",
        "InlinePrivateFunctions", "MergeCompositeFunctions", "RunCodegen", "SplitCallTIRByPattern",
        "SplitLayoutRewritePreproc", "tir.Filter",
    },
    "tolerance": {
        "AdjustMatmulOrder", "ApplyDefaultSchedule", "CombineParallelMatmul", "ConvertLayout",
        "ExpandMatmulOfSum", "FastMathTransform", "FoldBatchnormToConv2D", "FuseTransposeMatmul",
        "LegalizeOps", "ReorderTakeAfterMatmul", "ToMixedPrecision", "backend.DispatchSortScan",
    },
    "fails_as": {"BindSymbolicVars", "InlinePrivateFunctions", "LegalizeOps"},
    "changes_failures": {
        "CombineParallelMatmul", "DeadCodeElimination", "LiftTransformParams",
        "RemoveUnusedOutputs",
        "ReorderTakeAfterMatmul", "TopologicalSort",
    },
    "trusts_checks": {"LazyGetInput", "LazyTransformParams", "RemoveUnusedChecks"},
    "runs_once": {
        "BindParams", "BindSymbolicVars", "TopologicalSort", "UpdateParamStructInfo",
    },
}  # fmt: skip


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_these_passes_declare_something_of_themselves(declaration):
    declaring = {name for name, found in PASSES.items() if declaration in found.declarations()}
    assert declaring == DECLARED[declaration]


def test_a_pass_declares_nothing_unless_it_says_so():
    assert Pass.declarations() == {}
    assert PASSES["DeadCodeElimination"].declarations() == {
        "removes_functions": True,
        "changes_failures": True,
    }


def test_a_pass_that_cannot_be_made_without_arguments_has_examples_of_them():
    assert needs_examples() == []


def test_examples_are_of_passes_that_there_are():
    assert set(EXAMPLES) <= set(PASSES)


def test_each_parameter_that_changes_what_a_pass_does_is_set_by_an_example(monkeypatch):
    given: set[str] = set()

    def recording(name: str, cls: type[Pass]) -> Callable[..., None]:
        made, taken = cls.__init__, signature(cls)

        def __init__(self: Pass, *args: Any, **kwargs: Any) -> None:
            for parameter, value in taken.bind(*args, **kwargs).arguments.items():
                if value != taken.parameters[parameter].default:
                    given.add(f"{name}.{parameter}")
            made(self, *args, **kwargs)

        return __init__

    chosen = {name: cls for name, cls in PASSES.items() if signature(cls).parameters}
    for name, cls in chosen.items():
        monkeypatch.setattr(cls, "__init__", recording(name, cls))
    for name, group in EXAMPLES.items():
        for case in group if name in chosen else ():
            mod = case.module(0)
            case.make(mod, inputs_for(mod["main"], 0))
    assert optional_parameters() - given == set()


def test_parameters_that_change_nothing_are_of_passes_that_there_are():
    parameters = {f"{n}.{p}" for n, cls in PASSES.items() for p in signature(cls).parameters}
    assert parameters >= SAY_ONLY


# ---------------------------------------------------------------- programs as data


@pytest.mark.slow
@every_pass_and_row
def test_a_pass_keeps_programs_well_formed_and_leaves_its_input_as_it_is(case):
    for sample in samples(case, 100):
        before = sample.mod.script(show_meta=True)
        with PassContext(instruments=[VerifyEach()]):
            case.run(sample.mod, sample.inputs)
        assert sample.mod.script(show_meta=True) == before


@pytest.mark.slow
@every_pass
def test_a_pass_settles(case):
    for sample in samples(case, 200):
        step, once = case.run(sample.mod, sample.inputs)
        if not step.runs_once:
            assert step(once) is once


@pytest.mark.slow
@every_pass
def test_a_pass_changes_no_more_of_a_module_than_it_declares(case):
    for sample in samples(case, 200):
        step, made = case.run(sample.mod, sample.inputs)
        check_functions(step, sample.mod, made)


def check_functions(step: Pass, before: IRModule, made: IRModule) -> None:
    old, new = ({var.name_hint: var for var in mod.functions} for mod in (before, made))
    public = {name for name, var in old.items() if is_public(before[var])}
    # What a code generator is to make is its own when it is made.
    theirs = {name for name, var in old.items() if "Codegen" in (before[var].attrs or {})}
    kept = public - theirs if step.removes_functions else set(old)
    assert kept - set(new) == set()
    if not step.adds_functions:
        assert set(new) - set(old) == set()
        assert {name for name, var in new.items() if is_public(made[var])} <= public
    if not step.changes_signatures:
        for name in set(old) & set(new):
            signatures = before.struct_info(old[name]), made.struct_info(new[name])
            assert structural_equal(*signatures), f"{name}: {signatures[0]}, then {signatures[1]}"


def is_public(function: Any) -> bool:
    return bool(function.attrs and "global_symbol" in function.attrs)


# ---------------------------------------------------------------- meaning


def check_meaning(case: Case, sample: Sample, executor: str) -> None:
    functions = dict(sample.mod.functions)
    step, made = case.run(sample.mod, sample.inputs)
    assert dict(sample.mod.functions) == functions, "the input has changed"
    if made is sample.mod and type(step).call_as_before is Pass.call_as_before:
        actual = sample.outcome_by(executor)  # what half of all passes do: nothing
    else:
        run = EXECUTORS[executor](made)
        actual = observe(
            lambda name, *args: step.call_as_before(sample.mod, run, name, args),
            "main",
            sample.inputs,
        )
    said = f"{executor} after the pass"
    expected = failing_as(step, sample.expected_by(executor), actual)
    near = max(step.tolerance, OPTIMISED.get(executor, 0.0))
    check_outcomes(said, actual, "before", expected, near, near)


def fails(sample: Sample) -> bool:
    return isinstance(sample.expected.value, VMError)


@pytest.mark.slow
@every_pass_and_row
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_pass_keeps_the_meaning_on_every_executor(case, executor):
    for sample in samples(case, 200):
        step = case.make(sample.mod, sample.inputs)
        if not (fails(sample) and (step.trusts_checks or step.changes_failures)):
            check_meaning(case, sample, executor)


@pytest.mark.slow
@every_pass_and_row
def test_a_pass_drops_nothing_that_fails_outside_of_dataflow_blocks(case):
    for sample in samples(case, 200, dataflow=False):
        step = case.make(sample.mod, sample.inputs)
        if not (fails(sample) and step.trusts_checks):
            check_meaning(case, sample, "interpreter")


class WithoutLastParameter(ModulePass):
    """Takes from `main` its last parameter, which nothing may use."""

    changes_signatures = True

    def transform_module(self, mod, ctx):
        main = mod["main"]
        made = mod.clone()
        made[mod.get_global_var("main")] = Function(
            main.params[:-1], main.body, main.ret_struct_info, main.is_pure, main.attrs
        )
        return made

    def call_as_before(self, before, call, name, args):
        return call(name, *(args[:-1] if name == "main" else args))


class Undeclared(WithoutLastParameter):
    """Does the same without a word."""

    changes_signatures = False
    call_as_before = Pass.call_as_before


def two_parameters(seed: int) -> IRModule:
    mod = from_source(
        """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        return R.add(x, x)
"""
    )
    assert isinstance(mod, IRModule)
    return mod


def test_a_pass_that_changes_signatures_says_how_old_calls_become_new_ones():
    case = Case("declared", lambda mod, inputs: WithoutLastParameter(), two_parameters)
    (sample,) = samples(case, 1)
    step, made = case.run(sample.mod)
    check_functions(step, sample.mod, made)
    for executor in EXECUTORS:
        check_meaning(case, sample, executor)


def test_a_pass_that_changes_signatures_without_a_word_breaks_the_laws():
    case = Case("undeclared", lambda mod, inputs: Undeclared(), two_parameters)
    (sample,) = samples(case, 1)
    step, made = case.run(sample.mod)
    with pytest.raises(AssertionError, match=r"main: R\.Callable"):
        check_functions(step, sample.mod, made)
    with pytest.raises(AssertionError, match=r"after the pass (and before differ|ends in)"):
        check_meaning(case, sample, "interpreter")


# ---------------------------------------------------------------- cost


def growth_of(case: Case, kind: str, small: int) -> float:
    """How many times more calls a pass makes on eight times the bindings."""

    def prepare(count: int) -> Callable[[], Any]:
        mod = long_module(kind, count)
        function = mod["main"]
        assert isinstance(function, Function)
        step = case.make(mod, inputs_for(function, 0))
        return lambda: step(mod)

    return growth(prepare, small)


# One that needs modules of a sort is asked on those only.
ANYWHERE = [case for case in CASES if case.module in (random_module, legalized, fusable_module)]
every_pass_anywhere = pytest.mark.parametrize(
    "case", ANYWHERE, ids=[case.name for case in ANYWHERE]
)


@pytest.mark.slow
@every_pass_anywhere
def test_a_pass_is_linear_in_the_bindings(case):
    grown = {kind: growth_of(case, kind, 24) for kind in PROGRAMS}
    assert {kind: times for kind, times in grown.items() if times > 10} == {}


@pytest.mark.long
@every_pass_anywhere
@pytest.mark.parametrize("kind", ["operators", "prim_funcs"])
def test_a_pass_is_linear_to_ten_thousand_bindings(case, kind):
    assert growth_of(case, kind, 1_250) < 10
