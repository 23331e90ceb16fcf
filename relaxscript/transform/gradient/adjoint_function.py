"""The adjoint of a function: its bindings, then gradients from the target to the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from relaxscript.builder import BlockBuilder
from relaxscript.builder.mutator import with_parts
from relaxscript.errors import Diagnostic, DiagnosticError, OperandError, Span
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataflowVar,
    Expr,
    Function,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import mentioned
from relaxscript.op import Operator, create, grad, lookup
from relaxscript.opdef.gradient import gradients_of, has_gradient
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf

from .adjoints import Adjoint, Adjoints, as_expression, field_of
from .checkpoints import Checkpoints, marked_by
from .emitter import Emitter

__all__ = ["AdjointWriter", "TargetScalar"]


class TargetScalar(NamedTuple):
    """The scalar to differentiate: a value that the function returns, or a field of one."""

    value: Expr
    info: TensorStructInfo
    field: int | None = None


class AdjointWriter:
    """Writes the adjoint of a function of one dataflow block, whose variables are its own.

    `wanted` are the parameters by which the target is differentiated.
    """

    def __init__(
        self, builder: BlockBuilder, func: Function, target: TargetScalar, wanted: Sequence[Var]
    ) -> None:
        assert isinstance(func.body, SeqExpr)
        self._builder = builder
        self._func, self._body = func, func.body
        self._bindings = [b for block in self._body.blocks for b in block.bindings]
        self._target = target
        self._wanted = wanted
        self._active: set[Var] = set()
        self._emitter = Emitter(builder)
        self._adjoints = Adjoints(self._emitter)

    def write(self, name: str) -> Function:
        """The function that returns what `func` does, and the gradients by the parameters."""
        func, body, builder = self._func, self._body, self._builder
        builder.begin_function(name, func.params, func.is_pure, _renamed(func.attrs, name))
        try:
            builder.begin_dataflow()
            for var in (*func.params, *(binding.var for binding in self._bindings)):
                builder.get_unique_name(var.name_hint)
            self._checkpoints = Checkpoints(self._bindings, builder)
            self._emitter.before_use = self._checkpoints.before_use
            written = self._write_forward()
            self._active = _depending([binding for binding, _ in written], self._wanted)
            self._write_backward(written)
            grads = [self._write_output(param) for param in self._wanted]
            builder.end_dataflow(body.blocks[0].span if body.blocks else None)
            builder.set_result(Tuple.make((body.body, Tuple.make(tuple(grads)))), body.body_span)
            return builder.end_function(None, func.span, body.span)
        except BaseException:
            builder.abandon_function()
            raise

    def _write_forward(self) -> list[tuple[Binding, Expr]]:
        """The bindings of the function without the marks of checkpoints, which are written.

        Beside each is its value with them.
        """
        written = []
        for binding in self._bindings:
            marked_value, marked = binding.value, marked_by(binding.value)
            if marked is not None and isinstance(binding.var, DataflowVar):
                continue
            value = self._checkpoints.kept(binding.value if marked is None else marked)
            if value is not binding.value:
                binding = with_parts(binding, binding.var, value)
            self._builder.emit_normalized(binding)
            written.append((binding, marked_value))
        return written

    # -- backwards ---------------------------------------------------------------------------------

    def _write_backward(self, written: Sequence[tuple[Binding, Expr]]) -> None:
        self._begin_at_target()
        for binding, marked in reversed(written):
            if binding.var in self._adjoints:
                self._emitter.span = binding.span
                self._differentiate(binding, marked, self._adjoints.pop(binding.var))
        self._emitter.span = None

    def _begin_at_target(self) -> None:
        value, info, field = self._target
        leaf = self._checkpoints.kept(value)
        if not (isinstance(leaf, Var) and leaf in self._active):
            return
        one = create.ones((), info.dtype)
        if info.vdevice is not None:
            one = create.ones_like(leaf if field is None else field_of(leaf, field))
        seed = self._emitter.bind(one, f"{leaf.name_hint}_adjoint")
        if field is None:
            self._adjoints.add(leaf, seed)
        else:
            self._adjoints.add_to_field(leaf, field, seed)

    def _differentiate(self, binding: Binding, marked: Expr, adjoint: Adjoint) -> None:
        match binding.value:
            case Var() as leaf if isinstance(binding, MatchCast):
                cast = self._cast(leaf, adjoint, struct_info_of_leaf(leaf))
                self._adjoints.add(leaf, self._pruned(leaf, cast))
            case Var() | Tuple() as leaf:
                self._adjoints.add(leaf, self._pruned(leaf, adjoint))
            case TupleGetItem(Var() as held, index) if held in self._active:
                self._adjoints.add_to_field(held, index, adjoint)
            case Call() as call:
                known = self._checkpoints.known(marked)
                assert isinstance(known, Call)
                self._differentiate_call(binding, call, known, adjoint)

    def _cast(self, leaf: Var, adjoint: Adjoint, info: StructInfo) -> Adjoint:
        """The adjoint of what was cast, of which the same is known as of what is cast."""
        if isinstance(adjoint, list) and isinstance(info, TupleStructInfo):
            pairs = zip(adjoint, info.fields, strict=True)
            return [self._cast(leaf, part, field) for part, field in pairs]
        if adjoint is None or not isinstance(info, TensorStructInfo) or info.dims is None:
            return adjoint
        return self._emitter.cast(adjoint, info, f"{leaf.name_hint}_adjoint")

    def _pruned(self, leaf: Expr, adjoint: Adjoint) -> Adjoint:
        """An adjoint without that of variables which do not depend on the parameters."""
        if isinstance(leaf, Tuple) and adjoint is not None:
            return [self._pruned(f, part) for f, part in zip(leaf.fields, adjoint, strict=True)]
        return adjoint if isinstance(leaf, Var) and leaf in self._active else None

    def _differentiate_call(
        self, binding: Binding, call: Call, known: Call, adjoint: Adjoint
    ) -> None:
        """Add what a call gives to the adjoints of its operands; `known` is over what is known."""
        operator = _operator_with_rule(binding, call)
        out = self._checkpoints.known(binding.var)
        given = as_expression(adjoint, out, struct_info_of_leaf(binding.var))
        if given is None:
            raise _not_differentiable(binding, _lacks(operator, "it gives more than tensors"))
        try:
            found = gradients_of(known, out, given, self._builder.call_te)
            parts = [self._part(*pair) for pair in zip(call.args, found, strict=True)]
            leaves = iter(self._emitter.leaves(list(self._named(call.args, parts))))
        except OperandError as error:
            mistake = error.diagnostic(f"R.{operator.script_name}", _place(binding), {})
            raise DiagnosticError(
                replace(mistake, notes=(*mistake.notes, _flow(binding)))
            ) from None
        for arg, part in zip(call.args, parts):
            self._adjoints.add(arg, _of_leaves(part, leaves))

    def _part(self, arg: Expr, made: Expr | None) -> Adjoint:
        """The gradient by an operand, that of a tuple by its fields; None where nobody wants it."""
        if made is None:
            return None
        if isinstance(arg, Tuple):
            return [self._part(field, field_of(made, k)) for k, field in enumerate(arg.fields)]
        if isinstance(arg, Var) and arg in self._active:
            return _by_fields(made, struct_info_of_leaf(arg))
        return None

    def _named(self, args: Iterable[Expr], parts: Iterable[Adjoint]) -> Iterator[tuple[Expr, str]]:
        """The gradients by operands, and the names of those that are the first by theirs."""
        seen: set[Var] = set()
        pending = list(zip(args, parts))[::-1]
        while pending:
            arg, part = pending.pop()
            if isinstance(part, list):
                fields = arg.fields if isinstance(arg, Tuple) else [arg] * len(part)
                pending += list(zip(fields, part))[::-1]
            elif part is not None:
                name = ""
                if isinstance(arg, Var) and arg not in self._adjoints and arg not in seen:
                    seen.add(arg)
                    name = f"{arg.name_hint}_adjoint"
                yield part, name

    def _write_output(self, param: Var) -> Var:
        """The gradient by a parameter as a result of the block."""
        made = as_expression(self._adjoints.pop(param), param, struct_info_of_leaf(param))
        assert made is not None
        if isinstance(made, Tuple):
            (made,) = self._emitter.leaves([(made, "")])
        self._emitter.note_use(made)
        return self._emitter.bind(made, f"{param.name_hint}_adjoint_out", outlives=True)


def _by_fields(made: Expr, info: StructInfo) -> Adjoint:
    """The gradient by a value as an adjoint; None for what has none, as integers."""
    if isinstance(info, TupleStructInfo):
        return [_by_fields(field_of(made, k), field) for k, field in enumerate(info.fields)]
    return made if has_gradient(info) else None


def _of_leaves(part: Adjoint, leaves: Iterator[Expr]) -> Adjoint:
    """The same adjoint, of the leaves that its expressions are bound to, in their order."""
    if isinstance(part, list):
        return [_of_leaves(field, leaves) for field in part]
    return None if part is None else next(leaves)


def _renamed(attrs: Attrs | None, name: str) -> Attrs | None:
    """The attributes of a function, if it is public those of one with another name."""
    if attrs is None or "global_symbol" not in attrs:
        return attrs
    return Attrs({**attrs, "global_symbol": name})


# ---------------------------------------------------------------- what depends on parameters


def _depending(bindings: Sequence[Binding], params: Sequence[Var]) -> set[Var]:
    """The parameters and what depends on them, as far as a gradient may flow."""
    found = set(params)
    for binding in bindings:
        value = binding.value
        if isinstance(value, Call) and value.op == grad.no_grad.op:
            continue
        if _may_flow(struct_info_of_leaf(binding.var)) and not found.isdisjoint(mentioned(value)):
            found.add(binding.var)
    return found


def _may_flow(info: StructInfo) -> bool:
    """True for what may have a gradient, or may hold what has one."""
    if isinstance(info, TupleStructInfo):
        return any(map(_may_flow, info.fields))
    return isinstance(info, (ObjectStructInfo, FuncStructInfo)) or has_gradient(info)


# ---------------------------------------------------------------- mistakes


def _operator_with_rule(binding: Binding, call: Call) -> Operator:
    """The operator of a call; raises `DiagnosticError` (RX0713) where it has no gradient."""
    operator = lookup(call.op) if isinstance(call.op, Op) else None
    if operator is None:
        callee = getattr(call.op, "name_hint", None) or getattr(call.op, "global_symbol", "")
        help = "inline it: `InlinePrivateFunctions()` does that with a private function"
        message = f"the call of `{callee}` has no gradient: only operators have one"
        raise _not_differentiable(binding, message, help)
    if "gradient" not in operator.rules:
        raise _not_differentiable(binding, _lacks(operator))
    return operator


def _lacks(operator: Operator, reason: str = "none is declared") -> str:
    reason = operator.reasons.get("gradient", reason)
    return f"`R.{operator.script_name}` has no gradient: {reason}"


def _not_differentiable(
    binding: Binding, message: str, help: str = "stop before it: `R.grad.no_grad(x)`"
) -> DiagnosticError:
    note = _flow(binding)
    return DiagnosticError(Diagnostic("RX0713", message, _place(binding), notes=(note,), help=help))


def _flow(binding: Binding) -> str:
    return f"the gradient flows through `{binding.var.name_hint}`"


def _place(binding: Binding) -> Span | None:
    return binding.value.span or binding.span
