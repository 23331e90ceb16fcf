"""LegalizeOps: operators become calls of PrimFuncs, by their computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from relaxscript.arith import YES
from relaxscript.builder import BlockBuilder, ExprMutator
from relaxscript.builder.te_calls import TEArguments, TEFunction, call_of, make_te_function
from relaxscript.dtypes import DataType
from relaxscript.errors import Diagnostic, DiagnosticError, warn
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import traversal_of
from relaxscript.ir.prim import IntImm, PrimExpr, Var as PrimVar, const
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    Op,
    PrimValue,
    Tuple,
    TupleGetItem,
)
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.walk import substitute
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.operator import REGISTRY, Operator
from relaxscript.opdef.parameters import Parameter
from relaxscript.sinfo import is_subtype
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["LegalizeOps"]

Legalization = Callable[[BlockBuilder, Call], Expr]


class LegalizeOps(ModulePass):
    """Replace each operator that has a compute by a call of the PrimFunc that this describes.

    Before:

        y = R.add(x, w)

    After:

        @T.prim_func(private=True)
        def add(A: T.Buffer(("n", 4), "float32"), B: T.Buffer((4,), "float32"), T_add: ...):
            ...

        y = R.call_tir(cls.add, (x, w), out_sinfo=R.Tensor((n, 4), "float32"))

    There is one PrimFunc for one operator on operands that differ in the names of dimensions only.
    Operators on tensors of unknown shape or dtype stay as they are, and so do those without a
    compute. `customize_legalize_map` says by the name of an operator ("relax.add") what takes the
    place of its calls: `legalize(builder, call)` gives an expression. With `enable_warning` what
    stays is named in warnings.

    Source: TVM `relax.transform.LegalizeOps`.
    """

    def __init__(
        self,
        customize_legalize_map: Mapping[str, Legalization] | None = None,
        enable_warning: bool = False,
    ) -> None:
        super().__init__()
        self.customize_legalize_map = dict(customize_legalize_map or {})
        self.enable_warning = enable_warning

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        legalizer = _Legalizer(mod, self.customize_legalize_map)
        for gvar, func in mod.functions.items():
            if isinstance(func, Function):
                made = legalizer.function(func, gvar.name_hint)
                if made is not func:
                    legalizer.builder.update_func(gvar, made)
        if self.enable_warning:
            for name in sorted(legalizer.left):
                message = f"`{name}` is not legalised: it has no compute"
                warn(Diagnostic("RX0703", message, None, severity="warning"))
        return legalizer.builder.get()


class _Legalizer(ExprMutator):
    """Writes the functions of a module again; `left` has the operators that have no compute."""

    def __init__(self, mod: IRModule, customized: Mapping[str, Legalization]) -> None:
        super().__init__(mod, BlockBuilder(mod))
        self.customized = customized
        self.left: set[str] = set()
        # The PrimFuncs by what decides about them, so that each is made once.
        self.made: dict[Any, _Made] = {}

    def binding(self, binding: Binding) -> None:
        call = binding.value
        if not isinstance(call, Call) or not isinstance(call.op, Op):
            self.keep(binding)
            return
        legalize = self.customized.get(call.op.name)
        if legalize is not None:
            self._customized(binding, call, legalize)
            return
        legal = self._legal(call, binding)
        if legal is None:
            self.keep(binding)
        else:
            self.rebind(binding, legal)

    def _customized(self, binding: Binding, call: Call, legalize: Legalization) -> None:
        made = legalize(self.builder, call)
        if not isinstance(made, Expr):
            raise _refused(
                call, f"gives a Python {type(made).__name__}, not an expression", binding
            )
        before, after = (
            self._derive_struct_info(call, binding.span),
            self._derive_struct_info(made, binding.span),
        )
        context = self.builder.context
        scope = context.shape_scope or ()
        if is_subtype(after, before, context.facts, in_scope=scope) is not YES:
            raise _refused(call, f"gives {after}, where the operator gives {before}", binding)
        if made is call:
            self.keep(binding)
        else:
            self.rebind(binding, made)

    def _legal(self, call: Call, binding: Binding) -> Call | None:
        """The call of a PrimFunc in the place of an operator; None where there is none."""
        assert isinstance(call.op, Op)
        operator = REGISTRY.get(call.op.name)
        if operator is None:
            return None
        if "compute" not in operator.rules:
            self.left.add(call.op.name)
            return None
        out = self._derive_struct_info(call, binding.span)
        operands = [_written_in(p, e) for p, e in operator.arguments(call) if p.is_operand]
        infos = [self._info(value) for value in operands]
        if not all(map(_is_known, [out, *infos])):
            return None
        key = _Key()
        decides = (
            call.op.name, tuple(operator.attributes(call).values()),
            tuple(map(key.of, infos)), key.of(out),
        )  # fmt: skip
        known = self.made.get(decides)
        if known is None:
            known = self._make(operator, call, operands, out, key.variables)
            self.made[decides] = known
        gvar, made, own = known
        tensors = [e for value, info in zip(operands, infos) for e in _tensors(value, info)]
        # The same function for other dimensions, where it was made for another call.
        renamed = dict(zip(own, key.variables))
        scalars = tuple(renamed[var] for var in made.scalars)
        return call_of(gvar, made._replace(scalars=scalars, results=_results(out)), tensors)

    def _info(self, operand: Any) -> Any:
        """The StructInfo of an operand, a tuple of them for several, None for one left out."""
        if isinstance(operand, tuple):
            return tuple(map(self.builder.struct_info, operand))
        return None if operand is None else self.builder.struct_info(operand)

    def _make(
        self, operator: Operator, call: Call, operands: list[Any], out: StructInfo,
        variables: list[PrimVar],
    ) -> _Made:  # fmt: skip
        arguments = TEArguments(self.builder.struct_info)
        given = [None if value is None else arguments.convert(value) for value in operands]
        for info in _flat(out):
            for dim in info.dims or ():
                arguments.scalar(dim)
        context = ComputeContext(substitute(out, arguments.variables))
        made = operator.rules["compute"](context, *given, **operator.attributes(call))
        name = operator.__name__
        function = make_te_function(arguments, made, name)
        return self.builder.add_func(function.function, name), function, tuple(variables)


# A PrimFunc, what is known of its calls, and the variables of the call that it was made for.
_Made = tuple[GlobalVar, TEFunction, tuple[PrimVar, ...]]


def _refused(call: Call, fact: str, binding: Binding) -> DiagnosticError:
    assert isinstance(call.op, Op)
    message = f"the legalisation of `{call.op.name}` {fact}"
    return DiagnosticError(Diagnostic("RX0703", message, binding.span))


def _written_in(parameter: Parameter, operand: Any) -> Any:
    """An operand; a constant that is a scalar is written into the loops, where one may stand."""
    if parameter.wants == "scalar" and isinstance(operand, Constant) and not operand.data.ndim:
        dtype = DataType(operand.data.dtype)
        return PrimValue.make(const(operand.data.item(), dtype))
    return operand


def _is_known(info: Any) -> bool:
    """True if loops can be made over a value: shapes and dtypes are known, scalars have values."""
    match info:
        case None:
            return True
        case TensorStructInfo():
            return info.dims is not None and not info.dtype.is_void
        case PrimStructInfo():
            return info.value is not None
        case ShapeStructInfo():
            return info.values is not None
        case TupleStructInfo():
            return all(map(_is_known, info.fields))
        case tuple():
            return all(map(_is_known, info))
    return False


def _flat(info: StructInfo) -> Iterator[TensorStructInfo]:
    """The tensors of a result."""
    fields = info.fields if isinstance(info, TupleStructInfo) else (info,)
    for field in fields:
        if isinstance(field, TensorStructInfo):
            yield field
        elif isinstance(field, TupleStructInfo):
            yield from _flat(field)


def _results(out: StructInfo) -> tuple[TensorStructInfo, ...]:
    return tuple(_flat(out))


def _tensors(value: Any, info: Any) -> Iterator[Expr]:
    """The tensors that an operand holds, each as an expression."""
    match value, info:
        case tuple(), _:
            for item, inner in zip(value, info):
                yield from _tensors(item, inner)
        case Tuple(fields), TupleStructInfo():
            for item, inner in zip(fields, info.fields):
                yield from _tensors(item, inner)
        case Expr(), TupleStructInfo():
            for number, inner in enumerate(info.fields):
                yield from _tensors(TupleGetItem.make(value, number), inner)
        case Expr(), TensorStructInfo():
            yield value


class _Key:
    """The key of a PrimFunc, which has dimensions by their order and not by their names."""

    def __init__(self) -> None:
        self.numbers: dict[PrimVar, int] = {}

    @property
    def variables(self) -> list[PrimVar]:
        """The variables in the order of their numbers."""
        return list(self.numbers)

    def of(self, info: Any) -> Any:
        """The part of the key that one operand or result is."""
        match info:
            case TensorStructInfo():
                dims = tuple(map(self._scalar, info.dims or ()))
                return info.dtype, dims
            case PrimStructInfo():
                return info.dtype, self._scalar(info.value)
            case ShapeStructInfo():
                return tuple(map(self._scalar, info.values or ()))
            case TupleStructInfo():
                return tuple(map(self.of, info.fields))
            case tuple():
                return tuple(map(self.of, info))
        return None

    def _scalar(self, e: Any) -> Any:
        match e:
            case IntImm():
                return e.value
            case PrimVar():
                return "var", self.numbers.setdefault(e, len(self.numbers)), e.dtype
            case PrimExpr():
                parts = (getattr(e, field.name) for field in traversal_of(type(e)))
                return type(e), e.dtype, *map(self._scalar, parts)
            case tuple():
                return tuple(map(self._scalar, e))
        return e
