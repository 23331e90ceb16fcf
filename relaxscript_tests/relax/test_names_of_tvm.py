"""Passes, analyses, builders and nodes by the names, parameters and defaults that TVM has.

`names_of_tvm.txt` lists those of TVM 0.20 and of 0.25. Whatever differs is below, with its reason.
Patterns and TIR have lists of their own, `dpl/test_names.py` and `tir/test_names.py`.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import relaxscript
from relaxscript import relax, transform
from relaxscript.errors import DiagnosticError
from relaxscript.errors.not_built import PASSES
from relaxscript.ir import IRModule
from relaxscript.ir.node import Node, fields_of
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.relax.testing import lib_comparator as lib_comparator, vm as vm
from relaxscript.transform import Pass, PassContext
from relaxscript.transform.pass_infra.passes import find_pass

LIST = Path(__file__).with_name("names_of_tvm.txt")


def each(reason: str, room: str, names: str) -> dict[str, str]:
    """One reason for several names of a room."""
    return {f"{room}.{name}": reason for name in names.split()}


CALLED = "`module` says what is known of called functions"
ATTRS = "`attrs` are those of the call"
# What a call of TVM's means all the same, where ours takes more, or less.
SIGNATURES = {
    **each(CALLED, "relax.analysis", "computable_at_compile_time contains_impure_call"),
    "relax.analysis.remove_all_unused": CALLED,
    "relax.analysis.derive_call_ret_struct_info": "`ctx` may be left out",
    "relax.transform.CanonicalizeBindings": "`keep_failures` leaves names that a failure may say",
    "relax.transform.DeadCodeElimination": "`keep_failures` removes nothing that a run may notice",
    "relax.transform.DecomposeOpsForInference": "`keep_training` leaves what is for training",
    "relax.transform.LambdaLift": "`direct` calls lifted functions by name where possible",
    "relax.transform.LegalizeOps": "`require_all` refuses operators that are left",
    "ir.transform.PassContext": "traces are for tuning; `evaluate` runs code for passes",
    "ir.transform.PassInfo": "`declares` is what a pass may do beyond the bodies of functions",
    "ir.IRModule": "the class in the source has a place and a name",
    "relax.Call": "no `sinfo_args` are an empty tuple",
    "relax.Constant": "the array says what is known of it",
    "relax.ExternFunc": "calls say in `sinfo_args` what they give",
    "relax.expr.extern": "it is the class `ExternFunc`, whose field is `global_symbol`",
    "relax.extern": "it is the class `ExternFunc`, whose field is `global_symbol`",
    "relax.GlobalVar": "a `type_annot` has been of no use since Relay",
    "relax.Function.__call__": ATTRS,
    "relax.GlobalVar.__call__": ATTRS,
    "relax.FuncStructInfo": "`derive_func` is that of a callee whose parameters are not known",
    "relax.BlockBuilder": "`shared` writes into the module itself",
    "relax.BlockBuilder.call_te": "keywords that TVM reads are listed",
    "relax.training.Trainer.xaiver_uniform_init_params": "`seed` draws the same numbers again",
    "relax.BlockBuilder.end_scope": "the result of the scope and its places in the source",
}
TUNING = "for tuning and schedules, which there are none of"
ABSENT = {
    **each(
        TUNING, "ir.transform.PassContext",
        "push_trace pop_trace get_trace_stack get_trace_stack_size get_current_trace "
        "set_num_evals inc_num_evals get_tuning_api_database",
    ),
    **each(
        "for tuning, which there is none of: `ApplyDefaultSchedule` arranges loops", "relax",
        "transform.tuning_api pipeline.static_shape_tuning_pipeline",
    ),
    **each(
        "`LowerToOneWorker` runs what is distributed by one process", "relax.distributed.transform",
        "PropagateSharding LowerGlobalViewToLocalView LegalizeRedistribute LowerDistIR",
    ),
    **each(
        "for machines that programs do not run on", "relax.backend",
        "gpu_generic cuda rocm adreno metal.coreml.partition_for_coreml "
        "contrib.nnapi.partition_for_nnapi",
    ),
    "relax.backend.utils.BackendDispatcher": "on one kind of machine nothing is dispatched",
    "ir.IRModule._relax_script": "`script` gives the text, and notebooks ask for it by themselves",
}  # fmt: skip


def listed() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in LIST.read_text("utf-8").splitlines():
        if line.startswith("    or "):
            found[list(found)[-1]].append(line.removeprefix("    or "))
        elif not line.startswith("#"):
            name, _, signature = line.partition("(")
            found[name] = [f"({signature}"] if signature else []
    return found


def member(name: str) -> Any:
    """What a name of the package stands for; None where there is nothing."""
    found: Any = relaxscript
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def signature_of(found: Any) -> str:
    """Names and defaults; of a node without the places in the source, which are keywords of it."""
    signature = inspect.signature(found)
    parts = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    if isinstance(found, type) and issubclass(found, Node):
        places = {"span", *(f.name for f in fields_of(found) if f.place)}
        parts = [p for p in parts if p.name not in places]
    return str(inspect.Signature(parts))


def without_span(signature: str) -> str:
    return signature.replace(", span=None", "").replace("span=None", "")


@pytest.mark.parametrize(("name", "signatures"), listed().items(), ids=listed())
def test_it_is_there_with_its_parameters_and_defaults(name: str, signatures: list[str]) -> None:
    found = member(name)
    assert (found is None) == (name in ABSENT), "either absent, or not listed so"
    if found is None or not signatures:
        return
    if isinstance(found, type) and issubclass(found, Node):
        signatures = [without_span(signature) for signature in signatures]
    ours = signature_of(found)
    assert (ours in signatures) != (name in SIGNATURES), ours


def test_of_each_pass_that_is_absent_is_said_what_to_use() -> None:
    passes = {name.split(".")[2] for name in ABSENT if name.startswith("relax.transform.")}
    assert set(PASSES) == {*passes, "tuning_api"}  # which is a package, of no list of functions
    for name, instead in PASSES.items():
        for home in (transform, relax.transform):
            with pytest.raises(AttributeError) as raised:
                getattr(home, name)
            assert str(raised.value) == f"`{home.__name__}.{name}` is not built yet; {instead}"
        with pytest.raises(DiagnosticError, match=f"the pass `{name}` is not built yet") as found:
            find_pass(f"relax.transform.{name}")
        assert found.value.diagnostics[0].help == instead


def has(home: ModuleType, path: str) -> bool:
    found: Any = home
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is not None


def test_what_differs_is_in_the_list() -> None:
    assert {*SIGNATURES, *ABSENT} <= set(listed())


def test_passes_that_a_sequence_runs_from_level_1_on_are_those_of_tvm() -> None:
    passes = {name: member(name) for name in listed() if name.startswith("relax.transform.")}
    levels = {
        name.rpartition(".")[2]: found.opt_level
        for name, found in passes.items()
        if isinstance(found, type) and issubclass(found, Pass)
    }
    assert {name for name, level in levels.items() if level} == {
        "BindSymbolicVars", "BundleModelParams", "CanonicalizeBindings", "DeadCodeElimination",
        "EliminateCommonSubexpr", "ExpandMatmulOfSum", "LambdaLift", "LiftTransformParams",
        "Normalize",
        "ReorderPermuteDimsAfterConcat", "ReorderTakeAfterMatmul", "UpdateParamStructInfo",
    }  # fmt: skip
    assert set(levels.values()) == {0, 1}


OPTIONS = {
    "relax.FuseOps.max_depth": "int", "relax.backend.use_cuda_graph": "bool",
    "relax.fallback_device_type": "int", "relax.transform.apply_legalize_ops": "bool",
    "relax.lift_transform_params.consume_params": "bool", "testing.immutable_module": "bool",
}  # fmt: skip


def test_a_context_takes_the_options_of_tvm_that_are_not_of_one_backend() -> None:
    known = {name: found["type"] for name, found in PassContext.list_configs().items()}
    # One of ours: what FoldConstant may add to a module.
    assert known == {**OPTIONS, "relax.FoldConstant.max_bytes": "int"}


def test_a_module_has_the_fields_of_tvm() -> None:
    for name in ("functions", "attrs", "global_infos"):
        assert hasattr(IRModule(), name)
    # Each function of ours knows where it is in the source.
    assert not hasattr(IRModule(), "source_map")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("expr_functor", "PyExprVisitor"), ("expr_functor", "PyExprMutator"),
        ("expr_functor", "ExprFunctor"), ("expr_functor", "visitor"), ("expr_functor", "mutator"),
        ("testing.ast_printer", "dump_ast"), ("testing.ast_printer", "ASTPrinter"),
        ("utils", "copy_with_new_vars"), ("utils", "args_converter"),
    ],
)  # fmt: skip
def test_it_is_imported_from_where_tvm_has_it(module: str, name: str) -> None:
    last = module.rpartition(".")[2]
    home = importlib.import_module(f"relaxscript.relax.{module.partition('.')[0]}")
    home = getattr(home, last) if "." in module else home
    assert getattr(home, name) is not None


def test_the_identity_of_a_variable_is_its_vid() -> None:
    x = Var("x", ObjectStructInfo())
    assert x.vid is x
