"""Tensors of dataflow blocks in other orders of axes, from where these are asked for.

Each variable in another order is known with it. An operator with a rule takes it as it is; whoever
has none gets a tensor in the order of the source, made once in a block. Outside of the block every
variable is as it was, and so is one into which somebody may write: who writes into a copy writes
elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.arith import YES
from relaxscript.builder import ExprMutator
from relaxscript.errors import UnplacedError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    MatchCast,
    Op,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.op.manipulate.axes import permute_dims
from relaxscript.op.manipulate.relayout import layout_transform
from relaxscript.opdef.layout import (
    ConvertedCall,
    NLayout,
    convert_layout,
    index_map_between,
    is_order,
    plain,
)
from relaxscript.opdef.shapes import tensor_of
from relaxscript.sinfo import is_subtype
from relaxscript.sinfo.axis_order import AxisOrder
from relaxscript.transform.simplify.shared_memory import SharedMemory

__all__ = ["LayoutConverter"]


class LayoutConverter(ExprMutator):
    """Writes a function with calls in the layouts that are `desired` of their operators.

    The order of a value is None where its axes are where they were.
    """

    def __init__(
        self, mod: IRModule, func: Function, desired: Mapping[str, tuple[str, ...]]
    ) -> None:
        super().__init__(mod)
        self._desired = desired
        self._memory = SharedMemory(func, mod)
        # Of variables that are in another order than they were.
        self._orders: dict[Var, NLayout] = {}
        # For each open block, what was made of variables and constants there, by order.
        self._made: list[dict[tuple[Expr, NLayout], Expr]] = []

    def enter(self, node: Node) -> bool | None:
        if isinstance(node, DataflowBlock):
            self._made.append({})
        return super().enter(node)

    def leave(self, node: Node) -> None:
        if isinstance(node, DataflowBlock):
            self._made.pop()
        super().leave(node)

    def binding(self, binding: Binding) -> None:
        value = binding.value
        if not self.builder.current_block_is_dataflow():
            super().binding(binding)
        elif isinstance(binding, MatchCast):
            self._cast(binding)
        elif isinstance(value, Call):
            self._call(binding, value)
        elif isinstance(value, (Var, Tuple, TupleGetItem)):
            self._bind_in_order(binding, value, self._order(value))
        else:
            super().binding(binding)

    # -- bindings ----------------------------------------------------------------------------------

    def _call(self, binding: Binding, call: Call) -> None:
        desired = self._desired.get(call.op.name, ()) if isinstance(call.op, Op) else ()
        orders = [self._order(arg) for arg in call.args]
        is_moved = any(order is not None for order in orders)
        made = self._converted(orders, desired) if is_moved or desired else None
        wanted = [None] * len(orders) if made is None else list(map(_moved, made.input_layouts))
        order = None if made is None else _moved(made.output_layouts)
        args = [self._in_order(arg, own, call) for arg, own in zip(call.args, wanted)]
        if made is not None and (order is not None or any(own is not None for own in wanted)):
            # Arguments that are no tensors may be others, such as the axes of a slice.
            named = zip(args, made.call.args, _original(self).args)
            args = [arg if new is old else new for arg, new, old in named]
            call = made.call.replace(args=tuple(args))
        elif any(new is not old for new, old in zip(args, call.args)):
            call = call.replace(args=tuple(args))
        self._bind_in_order(binding, call, order)
        if call.op is permute_dims.op and isinstance(call.args[0], Var):
            self._note_transposed(self._var_of(binding), call, call.args[0])

    def _note_transposed(self, var: Var, call: Call, x: Var) -> None:
        """Note that a transposed tensor, in another order, is the one that it was made of."""
        info = x.struct_info
        if not isinstance(info, TensorStructInfo) or info.ndim < 0:
            return
        axes = permute_dims.attributes(call)["axes"] or range(info.ndim)[::-1]
        places = [axis % info.ndim for axis in axes]
        order = tuple([places.index(axis) for axis in range(info.ndim)])
        seen = (self.original.var, x)
        if _moved(order) is not None and not any(map(self._memory.is_exposed, seen)):
            self._made[-1].setdefault((var, order), x)

    def _converted(self, orders: list[NLayout], desired: tuple[str, ...]) -> ConvertedCall | None:
        call = _original(self)
        try:
            return convert_layout(call, orders, self.builder.context, desired)
        except UnplacedError as error:
            assert isinstance(call.op, Op), "only operators have rules"
            error.callee = error.callee or call.op.name.replace("relax.", "R.", 1)
            span = call.span or self.original.span
            raise error.as_diagnostic_error(error.callee, span) from None

    def _cast(self, binding: MatchCast) -> None:
        """Match a tensor whose axes are elsewhere with a StructInfo whose axes are there, too."""
        order, dims = self._order(binding.value), _dims_of_cast(binding)
        if order is None:
            super().binding(binding)
        elif dims is None or isinstance(order, AxisOrder) or not self._may_move():
            self.retype(binding, self._in_order(binding.value, None, binding.value))
        else:
            info: Any = binding.struct_info
            moved = tensor_of([dims[axis] for axis in order], info.dtype, info.vdevice)
            var = self._with_info(binding.var, moved)
            self.changed = True
            self.keep(binding.replace(var=var, struct_info=moved))
            self._orders[var] = order

    def _bind_in_order(self, binding: Binding, value: Expr, order: NLayout) -> None:
        """Bind a value that is in an order, or what it was, where nobody may see it otherwise."""
        if order is None:
            if value is binding.value:
                super().binding(binding)
            else:
                self.retype(binding, value)
            return
        if self._may_move() and self._is_as_derived(binding):
            self.retype(binding, value)
            self._orders[self._var_of(binding)] = order
            return
        if isinstance(value, Call):
            value = self.emit(value, "lv", binding.span)
            self._orders[value] = order
        self.retype(binding, self._changed(value, order, None, binding.value))
        if isinstance(value, Var) and not self._memory.is_exposed(self.original.var):
            self._made[-1][self._var_of(binding), order] = value

    def _may_move(self) -> bool:
        """True if a variable may be in another order: it is seen in this block only."""
        var = self.original.var
        return isinstance(var, DataflowVar) and not self._memory.is_exposed(var)

    def _is_as_derived(self, binding: Binding) -> bool:
        """True if no more is said of a variable than is known of its value."""
        declared, value = binding.var.struct_info, self.original.value
        if declared is None or declared is value.known_info:
            return True
        context = self.builder.context
        known = self._derive_struct_info(value, binding.span)
        scope = context.shape_scope or ()
        return is_subtype(known, declared, context.facts, in_scope=scope) is YES

    def _var_of(self, binding: Binding) -> Var:
        """The variable that a binding that was written has bound."""
        var = self._substitute(binding.var)
        assert isinstance(var, Var), "variables are replaced by variables"
        return var

    # -- orders ------------------------------------------------------------------------------------

    def _order(self, expr: Expr) -> NLayout:
        """The order in which a value is by now."""
        match expr:
            case Var():
                return self._orders.get(expr)
            case Tuple(fields=fields):
                orders = tuple(map(self._order, fields))
                return orders if any(order is not None for order in orders) else None
            case TupleGetItem(tuple_value=whole, index=index):
                order: Any = self._order(whole)
                return None if order is None else order[index]
        return None

    def _in_order(self, expr: Expr, order: NLayout, of: Expr) -> Expr:
        """A leaf in another order; variables are made for it where there are none yet.

        What fails is shown at the place of `of`.
        """
        own = self._order(expr)
        if own == order:
            return expr
        key, known = (expr, order), self._made[-1]
        if key not in known:
            value = self._changed(expr, own, order, of)
            if isinstance(value, Tuple):
                return value
            made = self.emit(value, "lv", of.span)
            self._orders[made] = order
            if isinstance(expr, Var) and self._memory.is_exposed(expr):
                return made
            known[key] = made
        return known[key]

    def _changed(self, expr: Expr, own: NLayout, order: NLayout, of: Expr) -> Expr:
        """The value in an order of a leaf, or of a field, that is in another one."""
        if isinstance(expr, TupleGetItem):
            expr = self._field(expr.tuple_value, expr.index, of)
        example: Any = order if own is None else own
        if is_order(example):
            return _transformed(expr, own, order).replace(span=of.span)
        places = range(len(example))
        if isinstance(expr, Tuple):
            fields = list(expr.fields)
        else:
            fields = [self._field(expr, place, of) for place in places]
        wanted: Any = order if order is not None else [None] * len(places)
        return Tuple.make(tuple([self._in_order(fields[k], wanted[k], of) for k in places]))

    def _field(self, whole: Expr, index: int, of: Expr) -> Expr:
        """A field of a tuple, as a variable."""
        if isinstance(whole, Tuple):
            return whole.fields[index]
        item = TupleGetItem.make(whole, index)
        order = self._order(item)
        made = self.emit(item.replace(span=of.span), "lv", of.span)
        if order is not None:
            self._orders[made] = order
        return made


def _original(mutator: ExprMutator) -> Call:
    """The call at hand on the operands that it had, of which rules know what they were."""
    call = mutator.original.value
    assert isinstance(call, Call), "a call takes the place of a call"
    return call


def _dims_of_cast(binding: MatchCast) -> Sequence[PrimExpr] | None:
    """The dimensions that a tensor is to have; None where the variable is said to have others."""
    info, declared = binding.struct_info, binding.var.struct_info
    if declared is None or not structural_equal(info, declared):
        return None
    return info.dims if isinstance(info, TensorStructInfo) else None


def _moved(orders: NLayout) -> NLayout:
    """The orders of a value, None for those whose axes are where they were."""
    if orders is None or isinstance(orders, AxisOrder):
        return orders
    if is_order(orders):
        return None if orders == plain(len(orders)) else orders
    made = tuple(map(_moved, orders))
    return made if any(order is not None for order in made) else None


def _transformed(x: Expr, own: NLayout, order: NLayout) -> Expr:
    """A tensor that is in one order in another; None stands for the order that it had."""
    known: Any = own if own is not None else order
    base = plain(len(known.letters) if isinstance(known, AxisOrder) else len(known))
    old: Any = base if own is None else own
    new: Any = base if order is None else order
    made: Expr
    if isinstance(old, AxisOrder) or isinstance(new, AxisOrder):
        made = layout_transform(x, index_map_between(old, new))
    else:
        made = permute_dims(x, [old.index(axis) for axis in new])
    return made
