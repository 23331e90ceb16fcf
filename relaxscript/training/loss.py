"""Losses: what predictions cost, as Relax functions of predictions and targets.

    loss = CrossEntropyLoss(reduction="sum")
    function = loss(TensorStructInfo(("n", 10), "float32"), TensorStructInfo(("n",), "int64"))

Source: TVM `relax.training.loss`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from relaxscript.arith import NO, prove_equal
from relaxscript.builder import BlockBuilder
from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    Label,
    OperandError,
    Span,
    UnplacedError,
)
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import IntImm
from relaxscript.ir.relax import Expr, Function, Var
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.binary import multiply, subtract
from relaxscript.op.datatype import astype
from relaxscript.op.manipulate.axes import expand_dims
from relaxscript.op.nn.activation import log_softmax
from relaxscript.op.nn.loss import nll_loss
from relaxscript.op.search import argmax
from relaxscript.op.statistical import mean, sum as sum_of
from relaxscript.op.unary import abs as abs_of, negative
from relaxscript.opdef.format import shape_fact

__all__ = ["CategoricalCrossEntropyLoss", "CrossEntropyLoss", "L1Loss", "Loss", "MSELoss"]

Reduction = Literal["mean", "sum", "none"]
_REDUCTIONS = ("mean", "sum", "none")


class Loss:
    """A maker of the function of a loss: called with what is known of operands, it gives it.

    `loss_name` is the name of the function. The first `num_backbone_outputs` of its parameters are
    results of the model, the others targets. `reduction` says what becomes of the losses of single
    predictions: their "mean", their "sum", or "none": they stay apart.

    A loss of one's own derives from this class and defines `__call__`, which gives a Function.
    Raises `DiagnosticError` (RX0204) for another reduction. Source: TVM `relax.training.loss.Loss`.
    """

    def __init__(
        self, loss_name: str, num_backbone_outputs: int, reduction: Reduction = "mean"
    ) -> None:
        if reduction not in _REDUCTIONS:
            message = f"a loss has no reduction {reduction!r}"
            help = 'there are "mean", "sum" and "none"'
            raise DiagnosticError(Diagnostic("RX0204", message, caller_span(), help=help))
        self._loss_name = loss_name
        self._reduction = reduction
        self._num_backbone_outputs = num_backbone_outputs

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of reduction {self._reduction!r}>"

    @property
    def loss_name(self) -> str:
        """The name of the function."""
        return self._loss_name

    @property
    def num_backbone_outputs(self) -> int:
        """The number of results of the model among its parameters, which are the first."""
        return self._num_backbone_outputs

    @property
    def reduction(self) -> Reduction:
        """The fate of the losses of single predictions."""
        return self._reduction

    def __call__(self, *args: Any) -> Function:
        """The function, for a StructInfo or variable of each operand."""
        message = f"the loss `{type(self).__name__}` defines no `__call__`"
        help = "give it one that makes a Function of what is known of predictions and targets"
        raise DiagnosticError(Diagnostic("RX0105", message, caller_span(), help=help))

    def _with_reduction(self, expr: Expr) -> Expr:
        """The losses of single predictions, as `reduction` wants them."""
        reduced: Expr = expr
        if self._reduction == "mean":
            reduced = mean(expr)
        elif self._reduction == "sum":
            reduced = sum_of(expr)
        return reduced

    def _function(
        self, operands: Mapping[str, object], body: Callable[[BlockBuilder, Sequence[Var]], Expr]
    ) -> Function:
        """The function of some operands, left out where None, whose result `body` writes."""
        span, callee = caller_span(), type(self).__name__
        try:
            given = {name: info for name, info in operands.items() if info is not None}
            params = [_parameter(info, name) for name, info in given.items()]
            builder = BlockBuilder()
            with builder.function(self._loss_name, params):
                with builder.dataflow():
                    result = builder.bind(body(builder, params), "gv", outlives=True)
                builder.emit_func_output(result)
        except UnplacedError as error:
            raise DiagnosticError(_by_name(error, callee, span)) from None
        made: Function = builder.get()[self._loss_name]
        return made


class L1Loss(Loss):
    """The mean absolute difference of predictions and targets.

    Both are tensors of one dtype of floats. Targets have the shape of the predictions, or broadcast
    to it; the loss is a scalar, or with the reduction "none" of that shape. Source: TVM
    `relax.training.loss.L1Loss`.
    """

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__("l1_loss", 1, reduction)

    def __call__(self, predictions: Var | StructInfo, targets: Var | StructInfo) -> Function:
        def body(builder: BlockBuilder, params: Sequence[Var]) -> Expr:
            apart = builder.bind(_difference(*params))
            return _reduced(self, builder, abs_of(apart))

        return self._function({"predictions": predictions, "targets": targets}, body)


class MSELoss(Loss):
    """The mean squared difference of predictions and targets.

    Operands and result are as those of `L1Loss`. Source: TVM `relax.training.loss.MSELoss`.
    """

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__("mse_loss", 1, reduction)

    def __call__(self, predictions: Var | StructInfo, targets: Var | StructInfo) -> Function:
        def body(builder: BlockBuilder, params: Sequence[Var]) -> Expr:
            apart = builder.bind(_difference(*params))
            return _reduced(self, builder, multiply(apart, apart))

        return self._function({"predictions": predictions, "targets": targets}, body)


class CrossEntropyLoss(Loss):
    """The negative logarithm of the probability of the right class, by `R.nn.nll_loss`.

    `predictions` are scores, floats of shape (N, C, d1, ...) or (C,); the probabilities are their
    softmax along the classes. `targets` are numbers of classes, integers of shape (N, d1, ...) or
    (). What is of class `ignore_index` counts nothing. `weights` of shape (C,) weigh the classes,
    and the mean is that by weight. The loss is a scalar, or with the reduction "none" of the shape
    of the targets. Source: TVM `relax.training.loss.CrossEntropyLoss`.
    """

    def __init__(self, reduction: Reduction = "mean", ignore_index: int = -100) -> None:
        super().__init__("cross_entropy_loss", 1, reduction)
        self.ignore_index = ignore_index

    def __call__(
        self,
        predictions: Var | StructInfo,
        targets: Var | StructInfo,
        weights: Var | StructInfo | None = None,
    ) -> Function:
        def body(builder: BlockBuilder, params: Sequence[Var]) -> Expr:
            scores, *rest = params
            logarithms = builder.bind(log_softmax(scores, _class_axis(scores)))
            return _of_classes(self, self.ignore_index, logarithms, *rest)

        operands = {"predictions": predictions, "targets": targets, "weights": weights}
        return self._function(operands, body)


class CategoricalCrossEntropyLoss(Loss):
    """The cross entropy of targets that give each class a probability.

    `predictions` are scores, floats of shape (N, C, d1, ...) or (C,), and `targets` integers or
    floats of the same shape: a one for the right class, or shares. `weights` of shape (C,) weigh
    the classes. The mean is that of all elements, over classes too. With the reduction "none" the
    loss has the shape of the predictions.

    With an `ignore_index` of 0 or more the class of the largest target is the right one. The loss
    is that of `CrossEntropyLoss` then. Source: TVM
    `relax.training.loss.CategoricalCrossEntropyLoss`.
    """

    def __init__(self, reduction: Reduction = "mean", ignore_index: int = -100) -> None:
        super().__init__("categorical_cross_entropy_loss", 1, reduction)
        self.ignore_index = ignore_index

    def __call__(
        self,
        predictions: Var | StructInfo,
        targets: Var | StructInfo,
        weights: Var | StructInfo | None = None,
    ) -> Function:
        operands = {"predictions": predictions, "targets": targets, "weights": weights}
        return self._function(operands, self._by_class)

    def _by_class(self, builder: BlockBuilder, params: Sequence[Var]) -> Expr:
        scores, shares, *weights = params
        axis = _class_axis(scores)
        _require_shape(shares, scores)
        logarithms = builder.bind(log_softmax(scores, axis))
        if self.ignore_index >= 0:
            right = builder.bind(argmax(shares, axis))
            return _of_classes(self, self.ignore_index, logarithms, right, *weights)
        costs = builder.bind(negative(logarithms))
        if _tensor(shares).dtype != _tensor(scores).dtype:
            shares = builder.bind(astype(shares, _tensor(scores).dtype))
        weighed: Expr = multiply(costs, shares)
        for weight in weights:
            _require_weights(weight, scores)
            trailing = list(range(1, _tensor(scores).ndim - 1))
            by_class = builder.bind(expand_dims(weight, trailing)) if trailing else weight
            weighed = multiply(builder.bind(weighed), by_class)
        return _reduced(self, builder, weighed)


# ---------------------------------------------------------------- operands


def _by_name(error: UnplacedError, callee: str, span: Span | None) -> Diagnostic:
    """The mistake in a call of a loss, in which an operand has a name and no place."""
    made = error.diagnostic(callee, span, {})
    if span is None or not isinstance(error, OperandError):
        return made
    return replace(made, labels=(Label(span, f"`{error.operand}` {error.fact}"),))


def _parameter(given: object, name: str) -> Var:
    """A parameter of the function of a loss: a variable as it is, or one of a StructInfo."""
    if isinstance(given, Var):
        return given
    if isinstance(given, StructInfo):
        return Var(name, given)
    raise OperandError(
        name, f"is {brief(given)}", code="RX0201",
        message="a loss is made for operands of which the StructInfo is known",
        help='write for example `TensorStructInfo((2, 10), "float32")`',
    )  # fmt: skip


def _tensor(param: Var) -> TensorStructInfo:
    """The StructInfo of an operand, which is a tensor."""
    info = param.struct_info
    if isinstance(info, TensorStructInfo):
        return info
    raise OperandError(
        param.name_hint, f"is {'not known' if info is None else info.noun}", wanted="a tensor",
        code="RX0201",
    )  # fmt: skip


def _of_classes(loss: Loss, ignored: int, logarithms: Var, *rest: Var) -> Expr:
    """The loss of targets that are numbers of classes, and of weights of classes, if any."""
    made: Expr = nll_loss(logarithms, *rest, reduction=loss.reduction, ignore_index=ignored)
    return made


def _reduced(loss: Loss, builder: BlockBuilder, made: Expr) -> Expr:
    """The loss of which the elements are `made`."""
    if loss.reduction == "none":
        return made
    return loss._with_reduction(builder.bind(made))


def _difference(predictions: Var, targets: Var) -> Expr:
    """The predictions without the targets, which may be broadcast and do not broadcast others."""
    scores, wanted = _tensor(predictions), _tensor(targets)
    if scores.dtype != wanted.dtype and not (scores.dtype.is_void or wanted.dtype.is_void):
        raise OperandError(
            targets.name_hint, f"has dtype {wanted.dtype}",
            also={predictions.name_hint: f"has dtype {scores.dtype}"}, code="RX0202",
            help=f'it has the dtype of the predictions: `R.astype(targets, "{scores.dtype}")`',
        )  # fmt: skip
    if scores.dims is not None and wanted.dims is not None:
        pairs = zip(reversed(scores.dims), reversed(wanted.dims))
        misfits = (not _is_one(b) and prove_equal(a, b) is NO for a, b in pairs)
        if len(wanted.dims) > len(scores.dims) or any(misfits):
            raise _misfit(targets, predictions, "or one that broadcasts to it")
    made: Expr = subtract(predictions, targets)
    return made


def _require_shape(targets: Var, predictions: Var) -> None:
    """Refuse targets that do not have the shape of the predictions."""
    scores, wanted = _tensor(predictions), _tensor(targets)
    if scores.dims is None or wanted.dims is None:
        return
    misfits = (prove_equal(a, b) is NO for a, b in zip(scores.dims, wanted.dims))
    if len(scores.dims) != len(wanted.dims) or any(misfits):
        raise _misfit(targets, predictions, "one share for each class")


def _misfit(targets: Var, predictions: Var, remark: str) -> OperandError:
    return OperandError(
        targets.name_hint, shape_fact(_tensor(targets)),
        also={predictions.name_hint: shape_fact(_tensor(predictions))},
        help=f"targets have the shape of the predictions, {remark}",
    )  # fmt: skip


def _require_weights(weights: Var, predictions: Var) -> None:
    """Refuse weights that are not one for each class."""
    scores, given = _tensor(predictions), _tensor(weights)
    if scores.dims is None or given.dims is None:
        return
    classes = scores.dims[_class_axis(predictions)]
    if len(given.dims) != 1 or prove_equal(given.dims[0], classes) is NO:
        raise OperandError(
            weights.name_hint, shape_fact(given),
            also={predictions.name_hint: shape_fact(scores)}, help="weigh each class by one number",
        )  # fmt: skip


def _class_axis(predictions: Var) -> int:
    """The axis along which the classes are: the second one, or the only one."""
    info = _tensor(predictions)
    if info.ndim == 0:
        raise OperandError(
            predictions.name_hint, "is a scalar",
            help="its classes are along its only axis, or along its second one",
        )  # fmt: skip
    if info.ndim < 0:
        raise OperandError(
            predictions.name_hint, "has an unknown number of dimensions",
            help='say it: `TensorStructInfo(dtype="float32", ndim=2)`',
        )  # fmt: skip
    return 1 if info.ndim > 2 else -1


def _is_one(dim: object) -> bool:
    return isinstance(dim, IntImm) and dim.value == 1
