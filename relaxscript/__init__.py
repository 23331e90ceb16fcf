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

Here are the names that `tvm` has and those of `tvm.relax`, so `import relaxscript as tvm`,
`import relaxscript as relax` and `from relaxscript import relax, tir, IRModule` all read as before.
What compiles and runs is imported when it is first used.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import errors, ir
from .dtypes import DataType
from .errors import (
    DiagnosticError,
    RelaxWarning,
    Span,
    TVMError,
    VMError,
    absent_modules,
    config,
    explain,
    not_built,
)
from .ir import (
    DummyGlobalInfo,
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
    ExternFunc as extern,
    Function,
    Id,
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
from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import (
        analysis,
        arith,
        base,
        cli,
        compiler,
        distributed,
        dpl,
        error,
        expr,
        frontend,
        interpreter,
        nd,
        op,
        relax,
        runtime,
        s_tir,
        script,
        struct_info,
        target,
        te,
        testing,
        tir,
        topi,
        transform,
        ty,
        vm,
    )
    from .analysis.struct_infos import get_shape_of
    from .artifact import load, save
    from .builder import BlockBuilder, args_converter, convert_to_expr
    from .builder.expr_functor import ExprFunctor, PyExprVisitor
    from .builder.expr_mutator import PyExprMutator
    from .cli.magic import load_ipython_extension
    from .compiler import VirtualMachine, build, compile, jit
    from .dpl.binding_rewrite import DataflowBlockRewrite
    from .ir import instrument
    from .op.calls import call_dps_packed, call_pure_packed, call_tir, call_tir_with_grad
    from .op.inplace import call_tir_inplace
    from .runtime import (
        ExecBuilder,
        Executable,
        PackedFunc,
        Prim,
        VMExecutable,
        VMInstrumentReturnKind,
        cpu,
        cuda,
        device,
        ext_dev,
        get_global_func,
        gpu,
        hexagon,
        list_global_func_names,
        metal,
        opencl,
        register_func,
        register_global_func,
        remove_global_func,
        rocm,
        vpi,
        vulkan,
        webgpu,
    )
    from .script import from_source, ir as I, relax as R, tir as T
    from .script.difference import diff
    from .script.ir import ir_module
    from .script.names.relax_forms import const, prim_value
    from .transform import get_default_pipeline, get_pipeline, register_pipeline
    from .weights import load_weights, save_weights

__all__ = [
    "Binding",
    "BindingBlock",
    "BlockBuilder",
    "Call",
    "Constant",
    "DataType",
    "DataTypeImm",
    "DataflowBlock",
    "DataflowBlockRewrite",
    "DataflowVar",
    "DiagnosticError",
    "DummyGlobalInfo",
    "DynTensorType",
    "ExecBuilder",
    "Executable",
    "Expr",
    "ExprFunctor",
    "ExternFunc",
    "FuncStructInfo",
    "FuncType",
    "Function",
    "GlobalVar",
    "I",
    "IRModule",
    "Id",
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
    "PyExprMutator",
    "PyExprVisitor",
    "R",
    "RelaxWarning",
    "SeqExpr",
    "ShapeExpr",
    "ShapeStructInfo",
    "ShapeType",
    "Span",
    "StringImm",
    "StructInfo",
    "T",
    "TVMError",
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
    "args_converter",
    "arith",
    "assert_structural_equal",
    "base",
    "build",
    "call_dps_packed",
    "call_pure_packed",
    "call_tir",
    "call_tir_inplace",
    "call_tir_with_grad",
    "cli",
    "compile",
    "compiler",
    "config",
    "const",
    "convert_to_expr",
    "cpu",
    "cuda",
    "device",
    "diff",
    "distributed",
    "dpl",
    "error",
    "errors",
    "explain",
    "expr",
    "ext_dev",
    "extern",
    "from_source",
    "frontend",
    "get_default_pipeline",
    "get_global_func",
    "get_pipeline",
    "get_shape_of",
    "gpu",
    "hexagon",
    "instrument",
    "interpreter",
    "ir",
    "ir_module",
    "jit",
    "list_global_func_names",
    "load",
    "load_ipython_extension",
    "load_weights",
    "metal",
    "nd",
    "op",
    "opencl",
    "prim_value",
    "register_func",
    "register_global_func",
    "register_pipeline",
    "relax",
    "remove_global_func",
    "rocm",
    "runtime",
    "s_tir",
    "save",
    "save_weights",
    "script",
    "struct_info",
    "structural_equal",
    "structural_hash",
    "target",
    "te",
    "testing",
    "tir",
    "topi",
    "transform",
    "ty",
    "vm",
    "vpi",
    "vulkan",
    "webgpu",
]

# Where the names are defined that are imported when they are first used; "" is the room itself.
_LATER = {
    **dict.fromkeys(("VirtualMachine", "build", "compile", "jit"), "compiler"),
    **dict.fromkeys(("load", "save"), "artifact"),
    **dict.fromkeys(("load_weights", "save_weights"), "weights"),
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
            "cuda",
            "device",
            "ext_dev",
            "get_global_func",
            "gpu",
            "hexagon",
            "list_global_func_names",
            "metal",
            "opencl",
            "register_func",
            "register_global_func",
            "remove_global_func",
            "rocm",
            "vpi",
            "vulkan",
            "webgpu",
        ),
        "runtime",
    ),
    "ExprFunctor": "builder.expr_functor",
    "PyExprMutator": "builder.expr_mutator",
    "PyExprVisitor": "builder.expr_functor",
    "DataflowBlockRewrite": "dpl.binding_rewrite",
    # What `%load_ext relaxscript` calls.
    "load_ipython_extension": "cli.magic",
    "diff": "script.difference",
    "instrument": "ir",
    "get_shape_of": "analysis.struct_infos",
    **dict.fromkeys(("BlockBuilder", "args_converter", "convert_to_expr"), "builder"),
    **dict.fromkeys(
        ("call_dps_packed", "call_pure_packed", "call_tir", "call_tir_with_grad"), "op.calls"
    ),
    "call_tir_inplace": "op.inplace",
    "const": "script.names.relax_forms",
    "prim_value": "script.names.relax_forms",
    "from_source": "script",
    "ir_module": "script.ir",
    **dict.fromkeys(
        (
            "analysis",
            "arith",
            "base",
            "cli",
            "compiler",
            "distributed",
            "dpl",
            "error",
            "expr",
            "frontend",
            "interpreter",
            "nd",
            "op",
            "relax",
            "runtime",
            "s_tir",
            "script",
            "struct_info",
            "target",
            "te",
            "testing",
            "tir",
            "topi",
            "transform",
            "ty",
            "vm",
        ),
        "",
    ),
}
_SHORT = {"I": "script.ir", "R": "script.relax", "T": "script.tir"}


if not TYPE_CHECKING:
    absent_modules.answer_for(__path__)

    def __getattr__(name: str) -> Any:
        if name in _SHORT:
            return import_module(f"{__name__}.{_SHORT[name]}")
        room = _LATER.get(name)
        if room is None:
            return not_built.of_package(name)
        if not room:
            return import_module(f"{__name__}.{name}")
        from .runtime.collector import collector_paused

        # A room makes a hundred thousand objects, and none of them is garbage.
        with collector_paused():
            value = getattr(import_module(f"{__name__}.{room}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def _run_function(function: Any, args: Any, named: Any) -> Any:
    from .compiler import run_function

    return run_function(function, args, named)


def _evaluate(mod: Any, name: Any, args: Any) -> None:
    from .compiler import evaluate_prim_func

    evaluate_prim_func(mod, name, args)


ir.hooks.run_function.fill(_run_function)
ir.hooks.evaluate.fill(_evaluate)
# Which rooms fill the other hooks: each is imported when the first of its hooks is called.
for _room, _hooks in {
    "analysis": ("struct_info_of",),
    "arith": ("ask_index_map",),
    "builder": ("bind_params", "bind_symbolic_vars", "create_empty", "inline_functions"),
    "graph": ("graph_of",),
    "op": ("apply_operator", "is_eager", "op_attribute_of", "operator_of"),
    "script": (
        "blame",
        "further_sections",
        "html_of",
        "metadata_of",
        "parsed",
        "places",
        "script_of",
    ),
    "semantics.packed_calls": ("packed_func_named",),
    "sinfo": ("is_base_of", "static_type_of"),
    "transform": ("legalize_call",),
}.items():
    for _name in _hooks:
        getattr(ir.hooks, _name).fill_when_called(partial(import_module, f"{__name__}.{_room}"))
