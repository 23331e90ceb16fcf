"""Programs as the nodes that they consist of, for a look at what a pass sees.

    print(dump_ast(function, include_struct_info_annotations=False))

Source: TVM `relax.testing.dump_ast`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from relaxscript.builder.expr_functor import ExprFunctor, nested_too_deeply
from relaxscript.ir.prim import PrimExpr
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
    Function,
    GlobalVar,
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
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)

__all__ = ["ASTPrinter", "dump_ast"]


class ASTPrinter(ExprFunctor):
    """A functor of expressions that gives the text of their nodes.

    A node with several fields has a line for each, indented by `indent_str`. The flags say whether
    the StructInfo of expressions, their traditional types and the attributes of calls are shown.
    What is not known of an expression is left out. Source: TVM `relax.testing.ast_printer`.
    """

    def __init__(
        self,
        indent_str: str = "    ",
        include_struct_info_annotations: bool = True,
        include_type_annotations: bool = False,
        include_call_attrs: bool = True,
    ) -> None:
        self.indent_str = indent_str
        self.include_struct_info_annotations = include_struct_info_annotations
        self.include_type_annotations = include_type_annotations
        self.include_call_attrs = include_call_attrs

    def visit_expr(self, expr: Expr) -> str:
        try:
            return str(super().visit_expr(expr))
        except RecursionError:
            raise nested_too_deeply(self, expr.span) from None

    # -- form --------------------------------------------------------------------------------------

    def indent(self, text: str) -> str:
        """The lines of a text, each indented by one step."""
        return "\n".join([f"{self.indent_str}{line}" for line in text.split("\n")])

    def build_ast_node(self, nodename: str, force_newline: bool = False, **kwargs: str) -> str:
        """A node and its fields; one field alone may be on the line of the node."""
        fields = [f"{name}={text}" for name, text in kwargs.items()]
        return self._enclose(f"{nodename}(", fields, ")", force_newline)

    def build_expr(
        self, node: Expr, nodename: str, force_newline: bool = False, **kwargs: str
    ) -> str:
        """The node of an expression; behind its fields is what is known of it."""
        info = node.known_info if not isinstance(node, Var) else node.struct_info
        if info is not None and self.include_struct_info_annotations:
            kwargs["struct_info"] = self.visit_struct_info_(info)
        if info is not None and self.include_type_annotations:
            kwargs["checked_type"] = repr(node.checked_type)
        return self.build_ast_node(nodename, force_newline, **kwargs)

    def build_list(
        self, members: Iterable[str], open_tok: str = "[", close_tok: str = "]",
        force_newline: bool = False,
    ) -> str:  # fmt: skip
        """A list; one member alone may be on one line with the brackets."""
        return self._enclose(open_tok, list(members), close_tok, force_newline)

    def _enclose(self, begin: str, parts: list[str], end: str, force_newline: bool) -> str:
        if not parts:
            return begin + end
        if len(parts) == 1 and "\n" not in parts[0] and not force_newline:
            return begin + parts[0] + end
        lines = ",\n".join(map(self.indent, parts))
        return f"{begin}\n{lines}\n{end}"

    def _exprs(self, exprs: Iterable[Expr]) -> str:
        return self.build_list([self.visit_expr(expr) for expr in exprs])

    def _prims(self, exprs: Iterable[PrimExpr]) -> str:
        return self.build_list([self.visit_prim_expr_(expr) for expr in exprs])

    # -- expressions -------------------------------------------------------------------------------

    def visit_constant_(self, op: Constant) -> str:
        return self.build_expr(op, "Constant", op.data.ndim > 0, data=str(op.data))

    def visit_tuple_(self, op: Tuple) -> str:
        return self.build_expr(op, "Tuple", fields=self._exprs(op.fields))

    def visit_dataflow_var_(self, op: DataflowVar) -> str:
        return self.build_expr(op, "DataflowVar", name_hint=_quote(op.name_hint))

    def visit_var_(self, op: Var) -> str:
        return self.build_expr(op, "Var", name_hint=_quote(op.name_hint))

    def visit_shape_expr_(self, op: ShapeExpr) -> str:
        return self.build_expr(op, "ShapeExpr", values=self._prims(op.values))

    def visit_extern_func_(self, op: ExternFunc) -> str:
        return self.build_expr(op, "ExternFunc", global_symbol=_quote(op.global_symbol))

    def visit_global_var_(self, op: GlobalVar) -> str:
        return self.build_expr(op, "GlobalVar", name_hint=_quote(op.name_hint))

    def visit_function_(self, op: Function) -> str:
        fields: dict[str, Any] = {
            "params": self._exprs(op.params),
            "body": self.visit_expr(op.body),
        }
        if op.ret_struct_info is not None:
            fields["ret_struct_info"] = self.visit_struct_info_(op.ret_struct_info)
        fields["is_pure"] = str(op.is_pure)
        if op.attrs:
            fields["attrs"] = self._attributes(op.attrs)
        return self.build_expr(op, "Function", **fields)

    def visit_call_(self, op: Call) -> str:
        fields: dict[str, Any] = {"op": self.visit_expr(op.op), "args": self._exprs(op.args)}
        if op.sinfo_args:
            fields["sinfo_args"] = self.build_list(map(self.visit_struct_info_, op.sinfo_args))
        if op.attrs and self.include_call_attrs:
            fields["attrs"] = self._attributes(op.attrs)
        return self.build_expr(op, "Call", **fields)

    def _attributes(self, attrs: Any) -> str:
        parts = [f'"{name}": {_quote(v) if isinstance(v, str) else v}' for name, v in attrs.items()]
        return self.build_list(parts, "{", "}")

    def visit_seq_expr_(self, op: SeqExpr) -> str:
        blocks = self.build_list(map(self.visit_binding_block, op.blocks))
        return self.build_expr(op, "SeqExpr", blocks=blocks, body=self.visit_expr(op.body))

    def visit_if_(self, op: If) -> str:
        return self.build_expr(
            op, "If", cond=self.visit_expr(op.cond), true_branch=self.visit_expr(op.true_branch),
            false_branch=self.visit_expr(op.false_branch),
        )  # fmt: skip

    def visit_prim_value_(self, op: PrimValue) -> str:
        return self.build_expr(op, "PrimValue", value=self.visit_prim_expr_(op.value))

    def visit_string_imm_(self, op: StringImm) -> str:
        return self.build_expr(op, "StringImm", value=_quote(op.value))

    def visit_data_type_imm_(self, op: DataTypeImm) -> str:
        return self.build_expr(op, "DataTypeImm", value=str(op.value))

    def visit_op_(self, op: Op) -> str:
        return self.build_ast_node("Op", name=_quote(op.name))

    def visit_prim_expr_(self, prim_expr: PrimExpr) -> str:
        """A scalar, which is shown as it is written."""
        return self.build_ast_node("PrimExpr", value=f"`{prim_expr!r}`")

    def visit_tuple_getitem_(self, op: TupleGetItem) -> str:
        value = self.visit_expr(op.tuple_value)
        return self.build_expr(op, "TupleGetItem", tuple_value=value, index=str(op.index))

    # -- what is known -----------------------------------------------------------------------------

    def visit_struct_info_(self, struct_info_node: StructInfo) -> str:
        """The node of a StructInfo."""
        fields: dict[str, Any] = {}
        match struct_info_node:
            case ShapeStructInfo(values=values, ndim=ndim):
                fields["ndim"] = str(ndim)
                if values is not None:
                    fields["values"] = self._prims(values)
            case TensorStructInfo(shape=shape, dtype=dtype, ndim=ndim):
                fields["dtype"] = str(dtype)
                if shape is None:
                    fields["ndim"] = str(ndim)
                else:
                    fields["shape"] = self.visit_expr(shape)
            case TupleStructInfo(fields=parts):
                fields["fields"] = self.build_list(map(self.visit_struct_info_, parts))
            case PrimStructInfo(dtype=dtype, value=value):
                fields["dtype"] = str(dtype)
                if value is not None:
                    fields["value"] = self.visit_prim_expr_(value)
            case FuncStructInfo(params=params, ret=ret, purity=purity):
                if params is not None:
                    fields["params"] = self.build_list(map(self.visit_struct_info_, params))
                fields["ret"] = self.visit_struct_info_(ret)
                fields["purity"] = str(purity)
        return self.build_ast_node(type(struct_info_node).__name__, **fields)

    # -- bindings and blocks -----------------------------------------------------------------------

    def visit_binding_block_(self, block: BindingBlock) -> str:
        return self._block(block)

    def visit_dataflow_block_(self, block: DataflowBlock) -> str:
        return self._block(block)

    def _block(self, block: BindingBlock) -> str:
        bindings = self.build_list(map(self.visit_binding, block.bindings), force_newline=True)
        return self.build_ast_node(type(block).__name__, bindings=bindings)

    def visit_binding_(self, binding: Binding) -> str:
        """A binding of either kind, by the name that TVM's printer has for that."""
        return str(self.visit_binding(binding))

    def visit_var_binding_(self, binding: VarBinding) -> str:
        var, value = self.visit_expr(binding.var), self.visit_expr(binding.value)
        return self.build_ast_node("VarBinding", var=var, value=value)

    def visit_match_cast_(self, binding: MatchCast) -> str:
        var, value = self.visit_expr(binding.var), self.visit_expr(binding.value)
        info = self.visit_struct_info_(binding.struct_info)
        return self.build_ast_node("MatchCast", var=var, value=value, struct_info=info)

    def visit_var_def_(self, var: Var) -> str:
        return self.visit_expr(var)

    def visit_dataflow_var_def_(self, var: DataflowVar) -> str:
        return self.visit_expr(var)


def _quote(text: str) -> str:
    return f'"{text}"'


def dump_ast(
    exp: Expr,
    indent_str: str = "    ",
    include_struct_info_annotations: bool = True,
    include_type_annotations: bool = False,
    include_call_attrs: bool = True,
) -> str:
    """The nodes of an expression as text: classes and fields, one below the other.

    See `ASTPrinter` for what is shown. Raises `DiagnosticError` for what is no expression.
    """
    printer = ASTPrinter(
        indent_str, include_struct_info_annotations, include_type_annotations, include_call_attrs
    )
    return printer.visit_expr(exp)
