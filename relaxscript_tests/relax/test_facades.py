"""Facades: the names that users of TVM know are the very objects of the rooms they come from."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import relaxscript
from relaxscript import relax
from relaxscript.errors import not_built
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.architecture import FACADES, PACKAGE, ROOT

# Where the public names of each facade are at home, where that is one module.
HOMES = {
    "relax.analysis": "analysis",
    "relax.distributed": "distributed",
    "relax.expr": "ir.relax",
    "relax.frontend.nn": "frontend.nn",
    "relax.frontend.nn.op": "frontend.nn.op",
    "relax.frontend.nn.spec": "frontend.nn.spec",
    "relax.ir.instrument": "ir.instrument",
    "relax.op": "op.namespace",
    "relax.op.builtin": "op.builtin",
    "relax.op.ccl": "op.ccl",
    "relax.op.distributed": "op.dist",
    "relax.op.grad": "op.grad",
    "relax.op.image": "op.image",
    "relax.op.inspect": "op.inspect",
    "relax.op.memory": "op.memory",
    "relax.op.nn": "op.nn",
    "relax.op.random": "op.random",
    "relax.op.vision": "op.vision",
    "relax.op.vm": "op.vm",
    "relax.pipeline": "transform.pipeline",
    "relax.struct_info": "ir.struct_info",
    "relax.transform": "transform",
    "relax.training.loss": "training.loss",
    "relax.training.optimizer": "training.optimizer",
    "relax.ty": "ir.types",
    "relax.vm": "vm",
}


def module(name: str) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.{name}")


def public(found: ModuleType) -> dict[str, object]:
    """What a module lists, modules in it left out."""
    listed = {name: getattr(found, name) for name in found.__all__}
    return {name: value for name, value in listed.items() if not isinstance(value, ModuleType)}


def facades() -> list[str]:
    inside = [
        found.name.removeprefix(f"{PACKAGE}.")
        for found in pkgutil.walk_packages(relax.__path__, f"{PACKAGE}.relax.")
    ]
    absent = [name for name in FACADES if name == "te"]
    return [*(name for name in FACADES if name not in absent), *inside]


@pytest.mark.parametrize("name", sorted(HOMES))
def test_a_facade_has_all_public_names_of_its_home(name: str):
    facade, home = module(name), module(HOMES[name])
    for found, value in public(home).items():
        assert getattr(facade, found) is value, found


@pytest.mark.parametrize("name", sorted(facades()))
def test_what_a_facade_lists_belongs_to_a_room_that_is_none(name: str):
    """No facade defines, wraps or copies."""
    listed = public(module(name))
    rooms = [found for key, found in sys.modules.items() if is_a_room(key)]
    held = {id(value) for room in rooms for value in vars(room).values()}
    assert [found for found, value in listed.items() if id(value) not in held] == []


def is_a_room(name: str) -> bool:
    inside = name.removeprefix(f"{PACKAGE}.")
    return name.startswith(f"{PACKAGE}.") and not any(
        inside == top or inside.startswith(f"{top}.") for top in FACADES
    )


@pytest.mark.parametrize("name", relax.__all__)
def test_every_name_of_relax_is_in_the_package_itself(name: str):
    """`import relaxscript as relax` reads as `from relaxscript import relax`."""
    here = getattr(relax, name)
    if not isinstance(here, ModuleType):
        assert getattr(relaxscript, name) is here
        assert name in relaxscript.__all__


def test_the_operators_stand_in_the_files_that_tvm_has():
    for name in ("binary", "unary", "manipulate", "nn", "statistical", "base"):
        assert isinstance(getattr(relax.op, name), ModuleType)
    assert relax.op.binary.add is relax.op.add is relaxscript.op.add
    assert relax.op.nn.relu is relaxscript.op.nn.relu
    assert relax.extern is relax.ExternFunc


@pytest.mark.parametrize(
    ("inside", "names"),
    [
        ("ir.attrs", "DictAttrs make_node"),
        ("ir.expr", "GlobalVar PrimExpr Range"),
        ("ir.function", "BaseFunc"),
        ("ir.global_info", "DummyGlobalInfo VDevice"),
        ("ir.type", "PrimType TupleType"),
        ("relax.dpl.context", "PatternContext"),
        ("relax.dpl.pattern", "DFPattern is_op wildcard"),
        ("relax.dpl.rewrite", "rewrite_bindings rewrite_call"),
        ("relax.frontend.nn.subroutine", "SubroutineMixin"),
        ("relax.frontend.nn.visitor", "Mutator"),
        ("relax.testing.ast_printer", "dump_ast"),
        ("relax.transform.transform", "FuseOps PassContext"),
        ("te.operation", "compute create_prim_func placeholder"),
        ("tir.buffer", "Buffer decl_buffer"),
        ("tir.expr", "EqualOp IntImm Reduce"),
        ("tir.function", "IndexMap PrimFunc"),
        ("tir.op", "exp if_then_else"),
        ("tir.schedule.schedule", "BlockRV Schedule"),
        ("tir.schedule.trace", "Trace"),
        ("tir.stmt", "Block For SeqStmt"),
        ("topi.broadcast", "add maximum"),
        ("topi.math", "exp"),
        ("topi.reduction", "sum"),
        ("topi.transform", "concatenate reshape"),
    ],
)
def test_names_stand_in_the_files_that_tvm_has_as_well(inside: str, names: str):
    file, holder = module(inside), module(inside.rpartition(".")[0])
    for name in names.split():
        assert getattr(file, name) is getattr(holder, name)
        assert name in file.__all__


IMPORTS = """
import json, sys
import relaxscript
first = sorted(name for name in sys.modules if name.startswith("relaxscript."))
from relaxscript import relax
import relaxscript.relax.transform
import relaxscript.relax as again
from relaxscript.relax.op.nn import relu
from relaxscript.relax import transform, op as operators
from relaxscript import tir, IRModule, ir
import relaxscript.ir.transform
from relaxscript.ir.base import assert_structural_equal
assert again is relax and transform is relax.transform
assert relaxscript.ir.transform.Sequential is relaxscript.transform.Sequential
print(json.dumps(first))
"""


@pytest.mark.slow
def test_importing_the_package_imports_the_ir_and_what_it_needs_only():
    command = [sys.executable, "-W", "error", "-c", IMPORTS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    early = json.loads(done.stdout)
    rooms = {name.split(".")[1] for name in early}
    assert rooms == {"dtypes", "errors", "format_string", "ir", "runtime", "version"}


# ---------------------------------------------------------------- what is not built


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "from relaxscript import dlight",
            "`relaxscript.dlight` is not built yet; "
            "`relaxscript.transform.ApplyDefaultSchedule()` arranges all loops; `relaxscript.tir",
        ),
        ("from relaxscript import meta_schedule as ms", "`relaxscript.meta_schedule` is not built"),
        (
            "from relaxscript.relax.frontend import torch",
            "`relaxscript.relax.frontend.torch` is not built yet; write the model with",
        ),
        ("from relaxscript.tir import TensorIntrin", "`relaxscript.tir.TensorIntrin` is not built"),
        ("from relaxscript.te import create_schedule", "`relaxscript.te.create_schedule` is not"),
        (
            "from relaxscript.relax.transform import tuning_api",
            "`relaxscript.relax.transform.tuning_api` is not built yet; leave it out",
        ),
    ],
)
def test_importing_what_is_not_built_says_so_and_what_to_use(statement: str, message: str):
    with pytest.raises(ImportError) as raised:
        exec(statement, {})
    assert str(raised.value).startswith(message)


def test_asking_for_what_is_not_built_is_an_attribute_error():
    """So that `hasattr`, and whoever looks through a module, gets an answer."""
    for home, name in (
        (relaxscript, "dlight"),
        (relax.frontend, "onnx"),
        (relaxscript.tir, "TensorIntrin"),
    ):
        assert not hasattr(home, name)
        with pytest.raises(AttributeError, match=f"`{home.__name__}.{name}` is not built yet; "):
            getattr(home, name)


def test_a_name_that_nobody_knows_is_pythons_own_error():
    with pytest.raises(ImportError, match=r"cannot import name 'fronted' from 'relaxscript.relax'"):
        exec("from relaxscript.relax import fronted", {})
    with pytest.raises(AttributeError, match=r"module `relaxscript.relax` has no attribute `nn`"):
        relax.nn
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'relaxscript.dlihgt'"):
        importlib.import_module("relaxscript.dlihgt")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("import relaxscript.dlight", "`relaxscript.dlight` is not built yet; `relaxscript.transf"),
        ("from relaxscript.dlight import gpu", "`relaxscript.dlight` is not built yet; "),
        ("import relaxscript.contrib.cutlass", "`relaxscript.contrib` is not built yet; register"),
        ("from relaxscript.meta_schedule import tune_tir", "`relaxscript.meta_schedule` is not"),
        (
            "import relaxscript.relax.frontend.torch",
            "`relaxscript.relax.frontend.torch` is not built yet; write the model with",
        ),
        (
            "from relaxscript.relax.frontend.onnx import from_onnx",
            "`relaxscript.relax.frontend.onnx` is not built yet; ",
        ),
        ("import relaxscript.runtime.disco", "`relaxscript.runtime.disco` is not built yet; "),
        ("from relaxscript.runtime import disco", "`relaxscript.runtime.disco` is not built yet; "),
        ("import relaxscript.relax.backend.cuda", "`relaxscript.relax.backend.cuda` is not built"),
        ("from relaxscript.relax.backend import cuda", "`relaxscript.relax.backend.cuda` is not"),
        ("from relaxscript.script import relay", "`relaxscript.script.relay` is not built yet; "),
        ("import relaxscript.te.hybrid", "`relaxscript.te.hybrid` is not built yet; write the loo"),
        (
            "from relaxscript.runtime.relax_vm import VirtualMachine",
            "`relaxscript.runtime.relax_vm` is no module here; its names are in `relaxscript.runt",
        ),
        ("from relaxscript.tir import generic", "`relaxscript.tir.generic` is no module here; "),
        ("from relaxscript.relax.frontend.common import detach_params", "`relaxscript.relax.fr"),
    ],
)
def test_a_module_of_tvm_that_is_not_here_says_what_there_is_instead(statement, message):
    with pytest.raises(ImportError) as raised:
        exec(statement, {})
    assert str(raised.value).startswith(message)


def test_modules_that_are_not_here_are_known_to_no_search_for_modules():
    for name in ("relaxscript.dlight", "relaxscript.relax.frontend.torch"):
        with pytest.raises(ModuleNotFoundError) as raised:
            importlib.import_module(name)
        assert raised.value.name == name
        assert name not in sys.modules
    found = {info.name for info in pkgutil.iter_modules(relaxscript.__path__)}
    assert "dlight" not in found
    assert {"ir", "relax"} <= found


def test_where_python_has_forgotten_the_finder_a_module_is_missing_in_its_words(monkeypatch):
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError, match="is not built yet"):
        importlib.import_module("relaxscript.dlight")
    monkeypatch.setattr(sys, "path_importer_cache", {})
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'relaxscript.dlight'"):
        importlib.import_module("relaxscript.dlight")


def test_the_facades_to_which_modules_of_tvm_lead_are_there():
    for facade in not_built._IN_FACADE:
        assert importlib.import_module(facade).__name__ == facade
        for name in not_built._IN_FACADE[facade]:
            assert importlib.util.find_spec(facade) is not None
            with pytest.raises(ModuleNotFoundError, match=f"its names are in `{facade}`"):
                importlib.import_module(f"{facade}.{name}")


# ---------------------------------------------------------------- editors


@pytest.mark.slow
def test_every_name_of_every_facade_is_known_to_editors(tmp_path: Path):
    lines = ["import relaxscript as tvm", "import relaxscript.relax.transform"]
    lines += ["from relaxscript import relax, tir", "from relaxscript.relax import op"]
    wrong = len(lines) + 1
    lines += ["relax.Vra", "tvm.trasnform", "tvm.ir.transfrom", "relax.op.nn.relus"]
    lines += ["relaxscript.relax.transform.Normalize", "op.add"]
    lines += [f"tvm.{name}" for name in relaxscript.__all__]
    for name in facades():
        lines += [f"tvm.{name}.{found}" for found in module(name).__all__]
    path = tmp_path / "names.py"
    path.write_text("\n".join(lines) + "\n")
    settings = {"include": ["names.py"], "extraPaths": [str(ROOT)], "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)["generalDiagnostics"]
    unknown = [
        d["message"] for d in said if not wrong <= d["range"]["start"]["line"] + 1 < wrong + 4
    ]
    assert unknown == []
    assert len(said) == 4


NAMESPACES = {
    **{
        name: module(name)
        for name in ("relax", "tir", "te", "topi", "target", "nd", "vm", "transform")
    },
    **{name: module(name) for name in ("analysis", "arith", "ir", "runtime", "script", "testing")},
    "relax.transform": relax.transform,
    "relax.analysis": relax.analysis,
    "R": R,
    "T": T,
    "I": I,
}

# Functions that are made of the rows of a table have their types in the stub of `T`.
INTRINSICS = {"relaxscript.ir.device_functions", "relaxscript.ir.scalar_functions"}


@pytest.mark.parametrize("name", NAMESPACES)
def test_what_a_facade_offers_is_typed_and_described(name: str):
    space = NAMESPACES[name]
    listed = getattr(space, "__all__", None) or [n for n in dir(space) if not n.startswith("_")]
    offered = {n: getattr(space, n) for n in listed}
    called = {n: o for n, o in offered.items() if isinstance(o, (FunctionType, type))}
    assert called
    assert [n for n, o in called.items() if not (inspect.getdoc(o) or "").strip()] == []
    functions = {
        n: o for n, o in called.items()
        if isinstance(o, FunctionType) and o.__module__ not in INTRINSICS
    }  # fmt: skip
    assert [n for n, o in functions.items() if not is_typed(inspect.signature(o))] == []


def is_typed(signature: inspect.Signature) -> bool:
    """True if every parameter and the result have a type."""
    types = [p.annotation for p in signature.parameters.values()]
    return inspect.Signature.empty not in [*types, signature.return_annotation]


def test_operators_of_object_detection_are_operators_of_relax_by_themselves():
    for name in relax.op.vision.__all__:
        assert getattr(relax.op, name) is getattr(relax.op.vision, name)
