"""Relax, the graph-level language of deep-learning compilers, embedded in Python.

Models are decorated classes that are parsed into typed IR, checked, printed, and run:

    import relaxscript as rx
    from relaxscript.script import ir as I, relax as R, tir as T

    @I.ir_module
    class Model:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")):
            y = R.nn.relu(x)
            return y

    Model.show()
    rx.jit(Model).main(array)

Here stand the names that `tvm.relax` has, so `import relaxscript as relax` reads as before. What
compiles and runs is imported when it is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import analysis, arith, errors, ir, op, script
from .analysis.struct_infos import get_shape_of
from .builder import BlockBuilder
from .dtypes import DataType
from .errors import DiagnosticError, RelaxWarning, VMError, config, explain
from .ir import (
    GlobalVar,
    IRModule,
    Target,
    VDevice,
    assert_structural_equal,
    structural_equal,
    structural_hash,
)
from .ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from .ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from .ir.types import (
    DynTensorType,
    FuncType,
    ObjectType,
    PackedFuncType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
)
from .script import from_source, ir as I, relax as R, tir as T
from .script.ir import ir_module
from .script.relax_forms import const
from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import (
        cli,
        compiler,
        expr,
        interpreter,
        nd,
        runtime,
        struct_info,
        target,
        testing,
        tir,
        transform,
        ty,
        vm,
    )
    from .artifact import load, save
    from .compiler import VirtualMachine, build, jit
    from .runtime import (
        ExecBuilder,
        Executable,
        PackedFunc,
        Prim,
        VMExecutable,
        VMInstrumentReturnKind,
        cpu,
        device,
        get_global_func,
        list_global_func_names,
        register_func,
        remove_global_func,
    )
    from .transform import get_default_pipeline, get_pipeline, register_pipeline

__all__ = [
    "Binding",
    "BindingBlock",
    "BlockBuilder",
    "Call",
    "Constant",
    "DataType",
    "DataTypeImm",
    "DataflowBlock",
    "DataflowVar",
    "DiagnosticError",
    "DynTensorType",
    "ExecBuilder",
    "Executable",
    "Expr",
    "ExternFunc",
    "FuncStructInfo",
    "FuncType",
    "Function",
    "GlobalVar",
    "I",
    "IRModule",
    "If",
    "MatchCast",
    "ObjectStructInfo",
    "ObjectType",
    "Op",
    "PackedFunc",
    "PackedFuncType",
    "Prim",
    "PrimStructInfo",
    "PrimValue",
    "R",
    "RelaxWarning",
    "SeqExpr",
    "ShapeExpr",
    "ShapeStructInfo",
    "ShapeType",
    "StringImm",
    "StructInfo",
    "T",
    "Target",
    "TensorStructInfo",
    "TensorType",
    "Tuple",
    "TupleGetItem",
    "TupleStructInfo",
    "TupleType",
    "Type",
    "VDevice",
    "VMError",
    "VMExecutable",
    "VMInstrumentReturnKind",
    "Var",
    "VarBinding",
    "VirtualMachine",
    "analysis",
    "arith",
    "assert_structural_equal",
    "build",
    "cli",
    "compiler",
    "config",
    "const",
    "cpu",
    "device",
    "errors",
    "explain",
    "expr",
    "from_source",
    "get_default_pipeline",
    "get_global_func",
    "get_pipeline",
    "get_shape_of",
    "interpreter",
    "ir",
    "ir_module",
    "jit",
    "list_global_func_names",
    "load",
    "nd",
    "op",
    "register_func",
    "register_pipeline",
    "remove_global_func",
    "runtime",
    "save",
    "script",
    "struct_info",
    "structural_equal",
    "structural_hash",
    "target",
    "testing",
    "tir",
    "transform",
    "ty",
    "vm",
]

# Where the names stand that are imported when they are first used; "" is the room itself.
_LATER = {
    **dict.fromkeys(("VirtualMachine", "build", "jit"), "compiler"),
    **dict.fromkeys(("load", "save"), "artifact"),
    **dict.fromkeys(("get_default_pipeline", "get_pipeline", "register_pipeline"), "transform"),
    **dict.fromkeys(
        (
            "ExecBuilder",
            "Executable",
            "PackedFunc",
            "Prim",
            "VMExecutable",
            "VMInstrumentReturnKind",
            "cpu",
            "device",
            "get_global_func",
            "list_global_func_names",
            "register_func",
            "remove_global_func",
        ),
        "runtime",
    ),
    **dict.fromkeys(
        (
            "cli",
            "compiler",
            "expr",
            "interpreter",
            "nd",
            "runtime",
            "struct_info",
            "target",
            "testing",
            "tir",
            "transform",
            "ty",
            "vm",
        ),
        "",
    ),
}


def __getattr__(name: str) -> Any:
    room = _LATER.get(name)
    if room is None:
        raise AttributeError(
            f"module `relaxscript` has no attribute `{name}`", name=name, obj=sys.modules[__name__]
        )
    if not room:
        return import_module(f"{__name__}.{name}")
    value = getattr(import_module(f"{__name__}.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
