"""AllocateWorkspace: functions of code generators get memory to work in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import children, rewrite_top_down, walk
from relaxscript.op.builtin import alloc_tensor
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["AllocateWorkspace", "workspace_size"]

_BYTE = DataType("uint8")


class AllocateWorkspace(ModulePass):
    """Give functions of code generators a tensor to work in, which their callers allocate.

    Before:

        @R.function
        def theirs(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            R.func_attr({"Codegen": "mine", "WorkspaceSize": 65536})
            ...

        gv: R.Tensor((4,), "float32") = cls.theirs(x)

    After:

        @R.function
        def theirs(
            x: R.Tensor((4,), "float32"), workspace: R.Tensor((65536,), "uint8")
        ) -> R.Tensor((4,), "float32"):
            R.func_attr({"Codegen": "mine"})
            ...

        workspace_main: R.Tensor((65536,), "uint8") = R.builtin.alloc_tensor(
            R.shape([65536]), R.dtype("uint8"), R.prim_value(0)
        )
        gv: R.Tensor((4,), "float32") = cls.theirs(x, workspace_main)

    All functions with the attributes `WorkspaceSize` and `Codegen` or `Composite` get the same
    parameter. It is as large as the largest asks for. Local functions inside of them get it too. A
    caller allocates it once, at its beginning. What is in it is left from the call before. A
    function that is used as a value keeps its parameters.

    Raises `DiagnosticError` (RX0709) for a size that is no number of bytes.

    Source: TVM `relax.transform.AllocateWorkspace`; there the functions also get other names.
    """

    changes_signatures = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        sizes = _sizes(mod)
        largest = max(sizes.values(), default=0)
        if not largest:
            return mod
        made = mod.clone()
        for gvar, func in mod.relax_functions().items():
            giving = _Giving(sizes, largest, _used_as_values([func]))
            new = giving.parameter(func) if gvar.name_hint in sizes else giving.allocation(func)
            if new is not func:
                made[gvar] = new
        return made

    def call_as_before(
        self, before: IRModule, call: Callable[..., Any], name: str, args: Sequence[Any]
    ) -> Any:
        """Call the function with a workspace of its own."""
        sizes = _sizes(before)
        if max(sizes.values(), default=0) and name in sizes:
            return call(name, *args, np.zeros(max(sizes.values()), "uint8"))
        return call(name, *args)


def _sizes(mod: IRModule) -> dict[str, int]:
    """The functions that get a workspace, by name, and how many bytes each asks for."""
    functions = mod.relax_functions()
    asking = {gvar.name_hint: func for gvar, func in functions.items() if _asks(func)}
    if not asking:
        return {}
    used = {var.name_hint for var in _used_as_values(functions.values()) if _is_global(var)}
    return {name: workspace_size(func, name) for name, func in asking.items() if name not in used}


def _asks(func: Function) -> bool:
    attrs = func.attrs or Attrs()
    return "WorkspaceSize" in attrs and ("Codegen" in attrs or "Composite" in attrs)


def workspace_size(func: Expr, name: str = "composite") -> int:
    """The number of bytes that a function asks for; 0 where it does not ask.

    Raises `DiagnosticError` (RX0709) for what is no number of bytes.
    """
    assert isinstance(func, Function)
    given = (func.attrs or Attrs()).get("WorkspaceSize", 0)
    size = given.value if isinstance(given, IntImm) else given
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    message = f"the `WorkspaceSize` of `{name}` is a number of bytes, not `{given}`"
    help = 'write for example `R.func_attr({"WorkspaceSize": 65536})`'
    raise DiagnosticError(Diagnostic("RX0709", message, func.span, help=help))


def _is_global(var: Expr) -> bool:
    return isinstance(var, GlobalVar)


def _used_as_values(functions: Iterable[Function]) -> set[Any]:
    """The variables that are used in another way than by a call of what they mean."""
    used: set[Any] = set()
    for func in functions:
        for node in walk(func):
            if isinstance(node, Call):
                used.update(arg for arg in node.args if isinstance(arg, (Var, GlobalVar)))
            elif not isinstance(node, (Binding, Function)):
                used.update(n for n in children(node) if isinstance(n, (Var, GlobalVar)))
            elif isinstance(node, Binding) and isinstance(node.value, (Var, GlobalVar)):
                used.add(node.value)
    return used


class _Giving:
    """Gives the functions of one module their workspace."""

    def __init__(self, sizes: Mapping[str, int], largest: int, used: set[Any]) -> None:
        self._sizes = sizes
        self._used = used
        self._shape = ShapeExpr.make((IntImm(DataType("int64"), largest),))
        self._info = TensorStructInfo(self._shape, _BYTE)

    def parameter(self, func: Function) -> Function:
        """The function with one parameter more, which all that it calls gets too."""
        workspace = Var.make("workspace", self._info)
        body = self._passing(func.body, workspace)
        attrs = (func.attrs or Attrs()).without("WorkspaceSize")
        return func.replace(params=(*func.params, workspace), body=body, attrs=attrs)

    def allocation(self, func: Function) -> Function:
        """The function with a workspace at its beginning; itself where it needs none."""
        body = func.body
        count = sum(map(self._gets_one, walk(body)))
        if not count:
            return func
        blocks = body.blocks if isinstance(body, SeqExpr) else ()
        for number, block in enumerate(blocks):
            inside = sum(self._gets_one(b.value) for b in block.bindings)
            if isinstance(block, DataflowBlock) and inside == count:
                held = self._allocated(DataflowVar)
                passing = self._passing(block, held.var)
                block = passing.replace(bindings=(held, *passing.bindings))
                blocks = (*blocks[:number], block, *blocks[number + 1 :])
                return func.replace(body=body.replace(blocks=blocks))
        held = self._allocated(Var)
        body = self._passing(body, held.var)
        if not isinstance(body, SeqExpr):
            return func.replace(body=SeqExpr.make((BindingBlock.make((held,)),), body))
        first = next(iter(body.blocks), BindingBlock.make(()))
        if isinstance(first, DataflowBlock):
            blocks = (BindingBlock.make((held,)), *body.blocks)
        else:
            first = first.replace(bindings=(held, *first.bindings))
            blocks = (first, *body.blocks[1:])
        return func.replace(body=body.replace(blocks=blocks))

    def _allocated(self, kind: type[Var]) -> VarBinding:
        made = alloc_tensor.build(
            (self._shape, DataTypeImm(_BYTE), PrimValue(IntImm(DataType("int64"), 0)))
        )
        remember_struct_info(made, self._info)
        return VarBinding.make(kind.make("workspace_main", self._info), made)

    def _gets_one(self, node: Node) -> bool:
        """True for a call of a function of the module that gets a workspace."""
        return (
            isinstance(node, Call)
            and isinstance(node.op, GlobalVar)
            and node.op.name_hint in self._sizes
        )

    def _passing(self, root: Any, workspace: Var) -> Any:
        """The same with the workspace passed on by each call."""
        renamed: dict[Expr, Var] = {}

        def step(node: Node) -> Node | None:
            if isinstance(node, VarBinding):
                value, var = node.value, node.var
                if isinstance(value, Function) and _asks(value) and var not in self._used:
                    inner = self.parameter(value)
                    renamed[var] = type(var).make(var.name_hint, inner.struct_info, span=var.span)
                    return VarBinding.make(renamed[var], inner, span=node.span)
            elif isinstance(node, Call) and (node.op in renamed or self._gets_one(node)):
                op = renamed.get(node.op, node.op)
                made = node.replace(op=op, args=(*node.args, workspace))
                if node.known_info is not None:
                    remember_struct_info(made, node.known_info)
                return made
            return None

        return rewrite_top_down(root, step)
