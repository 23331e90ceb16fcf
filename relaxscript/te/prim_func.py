"""PrimFuncs of tensor expressions: a block for each tensor that is computed.

Source: TVM `te.create_prim_func`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from relaxscript.arith import YES, Facts, prove
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.errors.user_frame import report_as
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad, IntImm, PrimExpr, Var
from relaxscript.ir.tir import Buffer, IterVar, PrimFunc, Range
from relaxscript.ir.tir_compute import ProducerLoad, Reduce
from relaxscript.ir.walk import free_vars, rewrite, substitute
from relaxscript.tir_builder import TIRBuilder, make_buffer
from relaxscript.tir_builder.index_bounds import out_of_bounds_indices

from .tensor import ComputeOp, ExternOp, Operation, PlaceholderOp, Tensor

__all__ = ["check_indices", "create_prim_func", "prim_func_of", "variables_of"]

# The attribute of a compute that lists tensors whose elements may stand in any order.
LAYOUT_FREE = "layout_free_placeholders"


@report_as("te")
def create_prim_func(ops: Any, index_dtype_override: str | None = None) -> PrimFunc:
    """The PrimFunc over some tensors, which are its parameters in their order.

    Those that are placeholders are read, the others written; tensors between them are in buffers
    of their own. With `index_dtype_override` every loop and index is of that dtype. Raises
    `OperandError` for what is no tensor, and for a placeholder or a variable that is no parameter.
    """
    tensors = _tensors(ops)
    _check_variables(tensors)
    dtype = None if index_dtype_override is None else DataType(index_dtype_override)
    function = prim_func_of(tensors, "main", index_dtype=dtype)
    check_indices(function, "ops")
    return function


def check_indices(function: PrimFunc, operand: str) -> None:
    """Refuse elements that certainly do not exist; `operand` is to blame for them."""
    for found in out_of_bounds_indices(function, {}):
        raise OperandError(
            operand, "leaves a tensor", code="RX0503", message=found.message,
            help="choose by `te.if_then_else(condition, element, 0.0)` where there is none",
        )  # fmt: skip


def _check_variables(params: Sequence[Tensor | Var]) -> None:
    """Refuse a variable that has no value: no parameter is it, or has it as a dimension."""
    known = {param for param in params if isinstance(param, Var)}
    tensors = [param for param in params if isinstance(param, Tensor)]
    known |= {dim for tensor in tensors for dim in tensor.shape if isinstance(dim, Var)}
    for var in variables_of(tensors):
        if var not in known:
            raise OperandError(
                "ops", f"has no `{var.name}`", code="RX0501",
                message=f"the variable `{var.name}` is no parameter, and no dimension of one",
                help=f"add `{var.name}` to the list; an axis is reduced where it is read",
            )  # fmt: skip


def _tensors(ops: Any) -> list[Tensor]:
    given = ops if isinstance(ops, (list, tuple)) else [ops]
    for number, tensor in enumerate(given):
        if not isinstance(tensor, (Tensor, Var)):
            raise OperandError(
                f"ops[{number}]", f"is {type(tensor).__name__}", code="RX0501",
                message="`te.create_prim_func` takes tensors, and variables of scalars",
            )  # fmt: skip
    return list(given)


def prim_func_of(
    params: Sequence[Tensor | Var], name: str, *, private: bool = False,
    attrs: Mapping[str, Any] | None = None, index_dtype: DataType | None = None,
    checks: Sequence[tuple[PrimExpr, str]] = (),
) -> PrimFunc:  # fmt: skip
    """The PrimFunc over tensors and scalars; loops have the dtype of their extents, or this one.

    `checks` are conditions on its parameters, without which it stops, and what it says then.
    """
    tensors = [p for p in params if isinstance(p, Tensor)]
    order = _operations(tensors)
    _check_given(order, tensors)
    maker = _Maker(name, private, order, params, attrs or {}, index_dtype)
    for condition, message in checks:
        maker.tb.assert_holds(condition, message)
    return maker.function()


def _operations(tensors: Iterable[Tensor]) -> list[Operation]:
    """The operations behind some tensors, each once and after those that it reads."""
    found: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [(t.op, False) for t in reversed(list(tensors))]
    while stack:
        op, ready = stack.pop()
        if ready:
            found.setdefault(op)
        elif op not in found:
            stack.append((op, True))
            stack += [(t.op, False) for t in reversed(op.input_tensors)]
    return list(found)


def variables_of(tensors: Iterable[Tensor]) -> list[Var]:
    """The variables of scalars that some tensors and all that they read depend on."""
    used: dict[Node, None] = {}
    for op in _operations(tensors):
        mine: set[Node] = set()
        parts: list[Node] = [dim for tensor in op.outputs for dim in tensor.shape]
        match op:
            case ComputeOp():
                axes = (*op.axis, *op.reduce_axis)
                mine |= {axis.var for axis in axes}
                parts += [*op.body, *(axis.dom for axis in axes if axis.dom is not None)]
                for e in op.body[:1]:
                    mine |= {*e.combiner.lhs, *e.combiner.rhs} if isinstance(e, Reduce) else set()
            case ExternOp():
                parts.append(op.body)
        unknown = [part for part in parts if not isinstance(part, IntImm)]
        used |= {v: None for part in unknown for v in free_vars(part) if v not in mine}
    return [var for var in used if isinstance(var, Var) and var.dtype.kind != "handle"]


def _check_given(order: Iterable[Operation], tensors: Sequence[Tensor]) -> None:
    known = set(tensors)
    for op in order:
        if isinstance(op, PlaceholderOp) and op.output(0) not in known:
            raise OperandError(
                "ops", f"has no `{op.name}`", code="RX0501",
                message=f"the placeholder `{op.name}` is read, and is no parameter",
                help=f"add `{op.name}` to the list",
            )  # fmt: skip


class _Maker:
    """Makes one function: a buffer for each tensor, and a nest of loops for each operation."""

    def __init__(
        self, name: str, private: bool, order: list[Operation], params: Sequence[Tensor | Var],
        attrs: Mapping[str, Any], index_dtype: DataType | None,
    ) -> None:  # fmt: skip
        self.tb = TIRBuilder(name, private=private)
        self.index_dtype = None if _has_dtype(order, index_dtype) else index_dtype
        self.order = order
        self.buffers: dict[Tensor, Buffer] = {}
        self.names: set[str] = set()
        self.block_names: set[str] = set()
        for param in params:
            if isinstance(param, Var):
                self.tb.add_param(param)
            elif param not in self.buffers:
                self.buffers[param] = self._buffer(param)
                self.tb.add_param(self.buffers[param])
        self.tb.func_attr({"tir.noalias": True, **_layout_free(order, params), **attrs})

    def _buffer(self, tensor: Tensor) -> Buffer:
        """A buffer like a tensor, by a name that no other has."""
        name = _new_name(tensor.name.replace(".", "_"), self.names)
        # A dimension is an int64; only a variable stays what it is, for here it is defined.
        return make_buffer(name, [prim.as_dimension(d) for d in tensor.shape], tensor.dtype)

    def function(self) -> PrimFunc:
        """The function of all operations."""
        for op in self.order:
            for tensor in op.outputs:
                if tensor not in self.buffers:
                    self.buffers[tensor] = self._buffer(tensor)
                    self.tb.alloc_buffer(self.buffers[tensor])
            match op:
                case ComputeOp():
                    self._compute(op)
                case ExternOp():
                    self._extern(op)
        return self.tb.finish()

    def _compute(self, op: ComputeOp) -> None:
        outputs = [self.buffers[t] for t in op.outputs]
        # Where there may be nothing to combine, no iteration would start the reduction.
        apart = any(not self._is_never_empty(axis) for axis in op.reduce_axis)
        if apart:
            self._nest(op, "_init", op.axis, lambda _, axes: self._start(op, outputs, axes))
        axes = (*op.axis, *op.reduce_axis)
        self._nest(
            op, "", axes, lambda block, axes: self._elements(op, block, outputs, axes, apart)
        )

    def _nest(
        self, op: ComputeOp, suffix: str, axes: Sequence[IterVar],
        body: Callable[[Any, Mapping[Var, Var]], None],
    ) -> None:  # fmt: skip
        """A block of an operation in loops over some axes; `body` gets what these are in it."""
        tb = self.tb
        if not axes:
            with tb.block(self._block_name(self.buffers[op.output(0)].name + suffix)) as block:
                # A block without an axis would be the root, which says nothing of its accesses.
                block.spatial(1, prim.const(0, prim.INT64), "vi")
                body(block, {})
            return
        domains = [self._domain(axis) for axis in axes]
        loops = [
            Var.make(axis.var.name, domain.extent.dtype) for axis, domain in zip(axes, domains)
        ]
        kinds = "".join("R" if axis.iter_type == "reduce" else "S" for axis in axes)
        with (
            tb.nest(loops, domains, value=loops, written="T.grid"),
            tb.block(self._block_name(op.name + suffix)) as block,
        ):
            names = _distinct(f"v_{axis.var.name}" for axis in axes)
            inner = block.remap(kinds, loops, names)
            attrs = {key: value for key, value in op.attrs.items() if key != LAYOUT_FREE}
            block.annotate(attrs) if attrs else None
            body(block, dict(zip((a.var for a in axes), inner)))

    def _block_name(self, wish: str) -> str:
        """A name that no other block of the function has: steps of schedules find blocks by it."""
        return _new_name(wish, self.block_names)

    def _is_never_empty(self, axis: IterVar) -> bool:
        extent = self._domain(axis).extent
        return prove(prim.GT(extent, prim.const(0, extent.dtype)), Facts()) is YES

    def _domain(self, axis: IterVar) -> Range:
        """The values of an axis, in the dtype that indices have."""
        domain, dtype = axis.dom, self.index_dtype
        assert domain is not None, "axes of a compute have domains"
        if dtype is None:
            return domain
        return Range.make(prim.cast(domain.min, dtype), prim.cast(domain.extent, dtype))

    def _elements(
        self, op: ComputeOp, block: Any, outputs: list[Buffer], axes: Mapping[Var, Var],
        started: bool,
    ) -> None:  # fmt: skip
        """The statements that compute an element of each output, at `axes`."""
        place = [axes[axis.var] for axis in op.axis]
        first = op.body[0]
        if not isinstance(first, Reduce):
            for output, e in zip(outputs, op.body):
                self.tb.store(output, place, self._read(e, axes))
            return
        combiner = first.combiner
        buffers = _reduced(op, outputs)
        if not started:
            with block.init():
                self._start(op, outputs, axes)
        old = {v: BufferLoad.make(buffers[k], tuple(place)) for k, v in enumerate(combiner.lhs)}
        new = {v: self._read(e, axes) for v, e in zip(combiner.rhs, first.source)}
        values = [substitute(e, {**old, **new}) for e in combiner.result]
        if _is_true(first.condition):
            self._combine(values, buffers, place)
            return
        with self.tb.if_(self._read(first.condition, axes)), self.tb.then():
            self._combine(values, buffers, place)

    def _start(self, op: ComputeOp, outputs: list[Buffer], axes: Mapping[Var, Var]) -> None:
        """The statements that write what a reduction starts from."""
        place = [axes[axis.var] for axis in op.axis]
        first = op.body[0]
        assert isinstance(first, Reduce), "only reductions start from something"
        buffers = _reduced(op, outputs)
        for k, start in enumerate(first.init or first.combiner.identity_element):
            self.tb.store(buffers[k], place, self._read(start, axes))

    def _combine(
        self, values: Sequence[PrimExpr], buffers: Mapping[int, Buffer], place: Sequence[Var]
    ) -> None:
        # All are evaluated before any is written, where one needs what another replaces.
        if len(values) > 1:
            names = [f"v_{buffers[k].name}" for k in range(len(values))]
            values = [self.tb.let(name, value) for name, value in zip(names, values)]
        for k, value in enumerate(values):
            self.tb.store(buffers[k], place, value)

    def _read(self, e: PrimExpr, axes: Mapping[Var, Any]) -> PrimExpr:
        """An expression over buffers, at the axes of a block."""

        def load(node: Node) -> Node | None:
            if isinstance(node, ProducerLoad) and isinstance(node.producer, Tensor):
                return BufferLoad.make(self.buffers[node.producer], node.indices)
            return None

        found = rewrite(e, load)
        if not axes:
            return found
        if self.index_dtype is None:
            return substitute(found, axes)
        return rewrite(found, lambda e: axes[e] if isinstance(e, Var) and e in axes else _alike(e))

    def _extern(self, op: ExternOp) -> None:
        known = dict(zip(op.input_placeholders, (self.buffers[t] for t in op.inputs)))
        known |= zip(op.output_placeholders, (self.buffers[t] for t in op.outputs))
        # The address of a buffer is the variable of that of the buffer in its place.
        body = substitute(op.body, {**known, **{b.data: to.data for b, to in known.items()}})
        with self.tb.block(self._block_name(op.name)) as block:
            block.reads(*(_whole(known[b]) for b in op.input_placeholders))
            block.writes(*(_whole(known[b]) for b in op.output_placeholders))
            self.tb.add(body)


def _has_dtype(order: Sequence[Operation], index_dtype: DataType | None) -> bool:
    """True if the axes of all operations are of a dtype already."""
    axes = [a for op in order if isinstance(op, ComputeOp) for a in (*op.axis, *op.reduce_axis)]
    domains = [axis.dom for axis in axes if axis.dom is not None]
    return all(d.min.dtype is index_dtype and d.extent.dtype is index_dtype for d in domains)


def _reduced(op: ComputeOp, outputs: list[Buffer]) -> dict[int, Buffer]:
    """The buffers of the values of a reduction: only those that the body names have one."""
    return {e.value_index: b for e, b in zip(op.body, outputs) if isinstance(e, Reduce)}


def _alike(node: Node) -> Node | None:
    """A node whose operands have one dtype again, where that of an axis has changed."""
    if not isinstance(node, (prim.Binary, prim.Comparison)) or node.a.dtype is node.b.dtype:
        return None
    a, b = prim.match_dtypes(node.a, node.b)
    return type(node).make(a, b)


def _distinct(names: Iterable[str]) -> list[str]:
    """Names of which none comes twice."""
    found: set[str] = set()
    return [_new_name(wish, found) for wish in names]


def _new_name(wish: str, known: set[str]) -> str:
    """A name that is not among `known` yet, where it is entered."""
    number, name = 0, wish
    while name in known:
        number += 1
        name = f"{wish}_{number}"
    known.add(name)
    return name


def _layout_free(order: Iterable[Operation], params: Sequence[Tensor | Var]) -> dict[str, Any]:
    """The attribute that names the parameters which some operation takes in any layout."""
    free = [tensor for op in order for tensor in op.attrs.get(LAYOUT_FREE, ())]
    places = [n for n, param in enumerate(params) if any(param is tensor for tensor in free)]
    return {"layout_free_buffers": places} if places else {}


def _is_true(e: PrimExpr) -> bool:
    return isinstance(e, IntImm) and bool(e.value)


def _whole(buffer: Buffer) -> Any:
    return buffer[tuple(slice(0, extent) for extent in buffer.shape)]
