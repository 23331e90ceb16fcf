"""Tensors of tensor expressions, and the operations that give them.

A `Tensor` is a shape, a dtype and the operation that produces its elements. Indexing one gives a
scalar, which other tensors are computed from; nothing is computed before a PrimFunc is made.

Source: TVM `te.tensor`, `te.operation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from relaxscript.arith import YES, Facts, format_expr, prove
from relaxscript.dtypes import DataType
from relaxscript.errors import Described, OperandError
from relaxscript.errors.user_frame import report_as
from relaxscript.ir import prim
from relaxscript.ir.node import Node, field, node
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.prim_operators import ScalarLike
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import Buffer, IterVar, Stmt
from relaxscript.ir.tir_compute import DataProducer, ProducerLoad, Reduce
from relaxscript.ir.walk import walk
from relaxscript.tir_builder import describe

__all__ = [
    "TENSOR_OPERATORS", "ComputeOp", "ExternOp", "Operation", "PlaceholderOp", "Tensor",
    "TensorLike", "TensorSlice", "as_element", "tensors_in",
]  # fmt: skip

# What Python's operators on tensors build, filled by `topi/`.
TENSOR_OPERATORS: dict[str, Callable[..., Any]] = {}


class TensorArithmetic(Described):
    """Python's operators on tensors, element by element; shapes broadcast as in numpy."""

    __slots__ = ()

    @property
    def advice(self) -> str | None:
        return None

    def describe(self) -> str:
        return "a tensor of tensor expressions"

    def __add__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["+"](self, other)

    def __radd__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["+"](other, self)

    def __sub__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["-"](self, other)

    def __rsub__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["-"](other, self)

    def __mul__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["*"](self, other)

    def __rmul__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["*"](other, self)

    def __truediv__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["/"](self, other)

    def __rtruediv__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["/"](other, self)

    def __floordiv__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["//"](self, other)

    def __rfloordiv__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["//"](other, self)

    def __mod__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["%"](self, other)

    def __rmod__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["%"](other, self)

    def __pow__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["**"](self, other)

    def __rpow__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["**"](other, self)

    def __lshift__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["<<"](self, other)

    def __rshift__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS[">>"](self, other)

    def __and__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["&"](self, other)

    def __or__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["|"](self, other)

    def __xor__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["^"](self, other)

    def __neg__(self) -> Any:
        return TENSOR_OPERATORS["*"](self, -1)

    def __invert__(self) -> Any:
        return TENSOR_OPERATORS["~"](self)

    def astype(self, dtype: Any, span: Any = None) -> Any:
        """The elements in another dtype, with C's rules."""
        return TENSOR_OPERATORS["astype"](self, dtype)

    def __lt__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["<"](self, other)

    def __le__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS["<="](self, other)

    def __gt__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS[">"](self, other)

    def __ge__(self, other: TensorLike) -> Any:
        return TENSOR_OPERATORS[">="](self, other)


@node
class Tensor(Node, DataProducer, TensorArithmetic):
    """A tensor by its `shape` and `dtype`; `op` gives its elements, as its output `value_index`.

    `A[i, j]` is an element, and `A[i]` of a matrix a row that can be indexed further.
    """

    keeps_identity = True
    shape: tuple[PrimExpr, ...]
    dtype: DataType
    # How the elements are made is no part of an expression that reads them: who wants to follow
    # it asks for `op.input_tensors`.
    op: Any = field(place=True, default=None)
    value_index: int = field(place=True, default=0)

    # An axis is no item to go through.
    __iter__ = None

    @property
    def name(self) -> str:
        """The name of the operation; of several outputs, with a number."""
        own: str = self.op.name
        return own if self.op.num_outputs == 1 else f"{own}.v{self.value_index}"

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @report_as("te")
    def __getitem__(self, indices: Any) -> Any:
        """The element, or what is left of the axes; raises `OperandError` for an index too many."""
        return indexed(self, (), indices)

    def __call__(self, *indices: Any) -> Any:
        """The same as indexing."""
        return self[indices]

    def __repr__(self) -> str:
        dims = ", ".join(map(format_expr, self.shape))
        return f"Tensor(shape=[{dims}], op.name={self.name})"

    def _repr_html_(self) -> str:
        from .rich_form import tensor_html

        return tensor_html(self)


class TensorSlice(TensorArithmetic, ScalarLike):
    """A tensor with some of its first axes indexed."""

    __slots__ = ("indices", "tensor")

    def __init__(self, tensor: Tensor, indices: tuple[PrimExpr, ...]) -> None:
        self.tensor = tensor
        self.indices = indices

    @property
    def dtype(self) -> DataType:
        """The dtype of the elements."""
        return self.tensor.dtype

    @report_as("te")
    def __getitem__(self, indices: Any) -> Any:
        """The element, or what is left of the axes; raises `OperandError` for an index too many."""
        return indexed(self.tensor, self.indices, indices)

    @report_as("te")
    def asobject(self) -> PrimExpr:
        """The element; raises `DiagnosticError` where an axis is left."""
        tensor, known = self.tensor, len(self.indices)
        if known < tensor.ndim:
            raise OperandError(
                "indices", f"has {known}", code="RX0503",
                message=f"the tensor `{tensor.name}` has {tensor.ndim} axes, and {known} of them "
                "are indexed: an element is needed here",
            )  # fmt: skip
        return ProducerLoad.make(tensor, self.indices)


def indexed(tensor: Tensor, known: tuple[PrimExpr, ...], indices: Any) -> Any:
    """The element of a tensor at indices behind those that are known, or what is left of it."""
    given = indices if isinstance(indices, tuple) else (indices,)
    places = range(len(known), len(known) + len(given))
    if places.stop > tensor.ndim:
        number = f"{tensor.ndim} {'axis' if tensor.ndim == 1 else 'axes'}"
        raise OperandError(
            "indices", f"has {places.stop}", code="RX0503",
            message=f"the tensor `{tensor.name}` has {number}, not {places.stop}",
        )  # fmt: skip
    found = (*known, *(_index(tensor, axis, i) for axis, i in zip(places, given)))
    if len(found) < tensor.ndim:
        return TensorSlice(tensor, found)
    return ProducerLoad.make(tensor, found)


def _index(tensor: Tensor, axis: int, value: Any) -> PrimExpr:
    """An index of an axis, as a whole number that may exist."""
    e = as_element(value)
    extent = tensor.shape[axis]
    if not e.dtype.is_integer:
        raise OperandError(
            "indices", f"is {e.dtype}", code="RX0503",
            message=f"axis {axis} of the tensor `{tensor.name}` is indexed by a value of "
            f"{e.dtype}, which is no integer",
        )  # fmt: skip
    if isinstance(e, IntImm) and (
        e.value < 0 or prove(prim.LE(extent, prim.const(e.value, extent.dtype)), Facts()) is YES
    ):
        raise OperandError(
            "indices", f"is {e.value}", code="RX0503",
            message=f"axis {axis} of the tensor `{tensor.name}` has extent {format_expr(extent)}, "
            f"and no element {e.value}",
        )  # fmt: skip
    return e


def as_element(value: Any) -> PrimExpr:
    """A value of Python as a scalar of TIR; raises `OperandError` for what is none."""
    match value:
        case TensorSlice():
            return value.asobject()
        case Tensor() if not value.shape:
            return ProducerLoad.make(value, ())
        case Tensor():
            raise OperandError(
                "value", "is a tensor", code="RX0503",
                message=f"`{value.name}` is a whole tensor, and an element is needed here",
                help=f"index it: `{value.name}[{', '.join('ijklmn'[: value.ndim])}]`",
            )  # fmt: skip
    try:
        return prim.as_scalar(value)
    except (TypeError, ValueError):
        raise OperandError(
            "value", f"is {describe(value)}", code="RX0501",
            message=f"an element of a tensor is a scalar, this is {describe(value)}",
        ) from None  # fmt: skip


TensorLike: TypeAlias = Tensor | TensorSlice | PrimExpr | int | float


# ---------------------------------------------------------------- operations


class Operation:
    """The source of tensors: its `name`, `tag` and `attrs`, and its outputs by shape and dtype."""

    def __init__(
        self, name: str, tag: str, attrs: Attrs,
        outputs: Iterable[tuple[Sequence[PrimExpr], DataType]],
    ) -> None:  # fmt: skip
        self.name = name
        self.tag = tag
        self.attrs = attrs
        self.outputs = tuple(
            Tensor.make(tuple(shape), dtype, self, number)
            for number, (shape, dtype) in enumerate(outputs)
        )

    @property
    def num_outputs(self) -> int:
        """The number of tensors it gives."""
        return len(self.outputs)

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that it reads, each once, in the order in which they are met."""
        return ()

    def output(self, index: int) -> Tensor:
        """The tensor at `index`."""
        return self.outputs[index]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class PlaceholderOp(Operation):
    """A tensor that is given."""


class ComputeOp(Operation):
    """Tensors of one shape whose elements are expressions over its axes.

    `body` has an expression for each output; where one is a `Reduce`, all are values of the same.
    """

    def __init__(
        self, name: str, tag: str, attrs: Attrs, axis: tuple[IterVar, ...],
        body: tuple[PrimExpr, ...], shape: Sequence[PrimExpr],
    ) -> None:  # fmt: skip
        super().__init__(name, tag, attrs, ((shape, e.dtype) for e in body))
        self.axis = axis
        self.body = body

    @property
    def reduce_axis(self) -> tuple[IterVar, ...]:
        """The axes that are reduced; none for what is computed element by element."""
        first = self.body[0]
        return first.axis if isinstance(first, Reduce) else ()

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        # The values of one reduction hold its sources all; one says everything.
        said = self.body[:1] if self.reduce_axis else self.body
        return tuple(dict.fromkeys(t for e in said for t in tensors_in(e)))


class ExternOp(Operation):
    """Tensors that statements write: `body` over buffers in the place of inputs and outputs."""

    def __init__(
        self, name: str, tag: str, attrs: Attrs, inputs: tuple[Tensor, ...],
        input_placeholders: tuple[Buffer, ...], output_placeholders: tuple[Buffer, ...], body: Stmt,
    ) -> None:  # fmt: skip
        super().__init__(name, tag, attrs, ((b.shape, b.dtype) for b in output_placeholders))
        self.inputs = inputs
        self.input_placeholders = input_placeholders
        self.output_placeholders = output_placeholders
        self.body = body

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        return tuple(dict.fromkeys(self.inputs))


def tensors_in(e: PrimExpr) -> Iterator[Tensor]:
    """The tensors that an expression reads, as often as it does."""
    for inner in walk(e):
        if isinstance(inner, ProducerLoad) and isinstance(inner.producer, Tensor):
            yield inner.producer
