"""Forms of the RFC and of the older specification, read as what they are called today.

    R.match_shape(x, (n, m))                     R.match_cast(x, R.Tensor((n, m)))
    R.call_tir(f, [x], (n, m), dtype="float32")  R.call_tir(cls.f, [x], R.Tensor((n, m), "float32"))
    R.call_dps_packed("f", (x,), output_shape=(n,), output_dtype="float32")

Source: the Relax RFC (2022), sections D0 and D1.
"""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.analysis.derive import kind_name
from relaxscript.ir.relax import Expr, ShapeExpr
from relaxscript.ir.struct_info import ShapeStructInfo, StructInfo, TensorStructInfo
from relaxscript.op import Operator, Sugar
from relaxscript.script import relax_forms
from relaxscript.script.annotations import Tensor
from relaxscript.script.relax_forms import MatchCastValue

from .relax_call import RelaxCalls

__all__ = ["RelaxOlderForms"]

_CALLING = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_dps_packed")
_SHAPES, _DTYPES = ("output_shape", "shape"), ("dtype", "output_dtype")


class RelaxOlderForms(RelaxCalls):
    """Reads older spellings of calls."""

    def call_value(self, callee: Any, node: ast.Call) -> Any:
        if callee is relax_forms.match_shape:
            return self.match_shape_call(node)
        return super().call_value(callee, node)

    def match_shape_call(self, node: ast.Call) -> MatchCastValue:
        """`R.match_shape(value, dims)`: names that mean nothing yet are new dimensions."""
        given = dict(zip(("value", "shape"), node.args))
        given.update({k.arg: k.value for k in node.keywords if k.arg is not None})
        shape = given.get("shape")
        if set(given) != {"value", "shape"} or not isinstance(shape, (ast.Tuple, ast.List)):
            raise self.error(
                node, "RX0103", "`R.match_shape` takes a value and its dimensions",
                help="write `R.match_shape(x, (n, m))`",
            )  # fmt: skip
        value = self.expr_of(self.value(given["value"]), given["value"])
        leaf = self.leaf(value, given["value"])
        with self.introducing(), self.naming():
            dims = ShapeExpr.make(tuple(self.dimensions(shape.elts)), span=self.span(shape))
        return MatchCastValue(leaf, self._of_that_shape(leaf, dims, given["value"]))

    def _of_that_shape(self, value: Expr, dims: ShapeExpr, node: ast.expr) -> StructInfo:
        match self.builder.struct_info(value):
            case TensorStructInfo(dtype=dtype, vdevice=vdevice):
                return TensorStructInfo.make(dims, dtype, vdevice, len(dims.values))
            case ShapeStructInfo():
                return ShapeStructInfo.make(dims.values, len(dims.values))
            case info:
                written = ast.unparse(node)
                raise self.error(
                    node, "RX0201", f"`{written}` is {kind_name(info)}, which has no shape",
                    help=f"say what it is: `R.match_cast({written}, R.Tensor((n, m)))`",
                )  # fmt: skip

    def general_call(self, operator: Operator | Sugar, node: ast.Call) -> Any:
        if getattr(operator, "name", "") in _CALLING:
            node = self._as_today(operator, node)
        return super().general_call(operator, node)

    def _as_today(self, operator: Operator | Sugar, node: ast.Call) -> ast.Call:
        """The call with its callee and result written in today's form."""
        args = list(node.args)
        keywords = {k.arg: k.value for k in node.keywords}
        dtype = next((keywords[name] for name in _DTYPES if name in keywords), None)
        shape = next((keywords[name] for name in _SHAPES if name in keywords), None)
        if dtype is None or (shape is None and len(args) < 3):
            return node
        if args and getattr(operator, "name", "") != "relax.call_dps_packed":
            args[0] = self._qualified(args[0])
        if shape is None:
            shape = args.pop(2)
        result = self._described(shape, dtype)
        rest = [k for k in node.keywords if k.arg not in (*_SHAPES, *_DTYPES)]
        today = ast.Call(node.func, [*args[:2], result, *args[2:]], rest)
        return ast.copy_location(today, node)

    def _qualified(self, callee: ast.expr) -> ast.expr:
        """`f`, or `"f"`, as `cls.f`, where the module has a function of that name."""
        match callee:
            case ast.Name(id=name) if name not in self.names:
                pass
            case ast.Constant(value=str(name)):
                pass
            case _:
                return callee
        if name not in self.module.global_vars:
            return callee
        owner = ast.copy_location(ast.Name(self.module.name, ast.Load()), callee)
        return ast.copy_location(ast.Attribute(owner, name, ast.Load()), callee)

    def _described(self, shape: ast.expr, dtype: ast.expr) -> ast.expr:
        """`R.Tensor(shape, dtype)`; a list of shapes with a list of data types gives several."""
        match shape, dtype:
            case (
                ast.List(elts=shapes) | ast.Tuple(elts=shapes),
                ast.List(elts=dtypes) | ast.Tuple(elts=dtypes),
            ) if len(shapes) == len(dtypes):
                each = [self._described(s, d) for s, d in zip(shapes, dtypes)]
                return ast.copy_location(ast.List(each, ast.Load()), shape)
        front = ast.copy_location(ast.Constant(Tensor), shape)  # type: ignore[arg-type]
        return ast.copy_location(ast.Call(front, [shape, dtype], []), shape)
