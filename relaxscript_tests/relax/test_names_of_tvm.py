"""Visitors, analyses and helpers by the names, parameters and defaults that they have in TVM.

`names_of_tvm.txt` lists those of TVM 0.20 and of 0.25. Whatever differs is below, with its reason.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

from relaxscript import relax
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import ObjectStructInfo

LIST = Path(__file__).with_name("names_of_tvm.txt")

# What a call of TVM's means all the same, where ours takes more.
SIGNATURES = {
    "analysis.computable_at_compile_time": "`module` says what is known of called functions",
    "analysis.contains_impure_call": "`module` says what is known of called functions",
    "analysis.derive_call_ret_struct_info": "`ctx` may be left out",
    "analysis.remove_all_unused": "`module` says what is known of called functions",
    "transform.LambdaLift": "`direct` calls lifted functions by their names where that is possible",
}
ABSENT = {
    "analysis.has_reshape_pattern": "it comes with the pass that asks for it",
    "analysis.suggest_layout_transforms": "layouts of PrimFuncs are not transformed",
    "utils.gen_call_tir_inputs": "`BlockBuilder.call_te` makes the function and its arguments",
    "utils.metadata_partitioner": "a script and its metadata are kept apart",
    "Function.create_empty": "`Function` takes its parts",
}


def listed() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in LIST.read_text("utf-8").splitlines():
        if line.startswith("    or "):
            found[list(found)[-1]].append(line.removeprefix("    or "))
        elif not line.startswith("#"):
            name, _, signature = line.removeprefix("relax.").partition("(")
            found[name] = [f"({signature}"]
    return found


def member(name: str) -> Any:
    """What a name of `relax` stands for; None where there is nothing."""
    found: Any = relax
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def signature_of(found: Any) -> str:
    signature = inspect.signature(found)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(plain))


@pytest.mark.parametrize(("name", "signatures"), listed().items(), ids=listed())
def test_it_is_there_with_its_parameters_and_defaults(name: str, signatures: list[str]) -> None:
    found = member(name)
    if found is None:
        assert name in ABSENT
        return
    ours = signature_of(found)
    assert (ours in signatures) != (name in SIGNATURES), ours


def test_what_differs_is_in_the_list() -> None:
    assert {*SIGNATURES, *ABSENT} <= set(listed())


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
