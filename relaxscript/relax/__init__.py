"""Names that users know as `tvm.relax`: expressions, operators, building, passes, running.

    from relaxscript import relax

    x = relax.Var("x", relax.TensorStructInfo((2, 3), "float32"))

`import relaxscript as relax` has the same names, and `relaxscript` more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.analysis.struct_infos import get_shape_of
from relaxscript.builder import BlockBuilder, args_converter, convert_to_expr
from relaxscript.builder.expr_functor import ExprFunctor, PyExprVisitor
from relaxscript.builder.expr_mutator import PyExprMutator
from relaxscript.compiler import build
from relaxscript.dpl.binding_rewrite import DataflowBlockRewrite
from relaxscript.errors import Span
from relaxscript.ir.relax import (
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
    GlobalVar,
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
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.types import (
    DynTensorType,
    FuncType,
    ObjectType,
    PackedFuncType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
)
from relaxscript.ir.vdevice import DummyGlobalInfo, VDevice
from relaxscript.op.calls import call_dps_packed, call_pure_packed, call_tir, call_tir_with_grad
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.runtime import (
    ExecBuilder,
    Executable,
    VirtualMachine,
    VMExecutable,
    VMInstrumentReturnKind,
)
from relaxscript.script.names.relax_forms import const, prim_value
from relaxscript.transform import get_default_pipeline, get_pipeline, register_pipeline

from . import (
    analysis,
    backend,
    binding_rewrite,
    block_builder,
    distributed,
    dpl,
    exec_builder,
    expr,
    expr_functor,
    frontend,
    ir,
    op,
    pipeline,
    struct_info,
    testing,
    training,
    transform,
    ty,
    utils,
    vm,
    vm_build,
)

if not TYPE_CHECKING:
    from relaxscript.errors.not_built import of_relax as __getattr__  # noqa: F401

__all__ = [
    "Binding", "BindingBlock", "BlockBuilder", "Call", "Constant", "DataTypeImm", "DataflowBlock",
    "DataflowBlockRewrite", "DataflowVar", "DummyGlobalInfo", "DynTensorType",
    "ExecBuilder", "Executable", "Expr",
    "ExprFunctor", "ExternFunc", "FuncStructInfo", "FuncType", "Function", "GlobalVar", "Id", "If",
    "MatchCast", "ObjectStructInfo", "ObjectType", "Op", "PackedFuncType", "PrimStructInfo",
    "PrimValue", "PyExprMutator", "PyExprVisitor", "SeqExpr", "ShapeExpr", "ShapeStructInfo",
    "ShapeType", "Span", "StringImm", "StructInfo", "TensorStructInfo", "TensorType", "Tuple",
    "TupleGetItem", "TupleStructInfo", "TupleType", "Type", "VDevice", "VMExecutable",
    "VMInstrumentReturnKind", "Var", "VarBinding", "VirtualMachine", "analysis", "args_converter",
    "backend", "binding_rewrite", "block_builder", "build", "call_dps_packed", "call_pure_packed",
    "call_tir",
    "call_tir_inplace", "call_tir_with_grad", "const", "convert_to_expr", "distributed", "dpl",
    "exec_builder", "expr", "expr_functor", "extern", "frontend", "get_default_pipeline",
    "get_pipeline", "get_shape_of", "ir", "op", "pipeline", "prim_value", "register_pipeline",
    "struct_info", "testing", "training", "transform", "ty", "utils", "vm", "vm_build",
]  # fmt: skip
