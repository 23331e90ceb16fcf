"""Calls of PrimFuncs that tensor expressions describe: `bb.call_te(topi.matmul, x, w)`.

The operands become placeholders over dimensions of their own; the function of Python is called
once, with these. Its results and all that they read are one PrimFunc, private to the module.

Source: TVM `relax.BlockBuilder.call_te`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from keyword import iskeyword
from typing import Any, NamedTuple

from relaxscript.arguments import python_signature
from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError, OperandError, UnplacedError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.prim import INT64, PrimExpr, Var as PrimVar, as_dimension
from relaxscript.ir.relax import (
    Attrs,
    Call,
    Expr,
    GlobalVar,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.vdevice import VDevice
from relaxscript.ir.walk import substitute, walk
from relaxscript.op.calls import call_tir, call_tir_with_grad
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.tir_builder import describe

from .scope import ScopeStack

__all__ = [
    "TEArguments", "TEFunction", "call_of", "check_arguments", "check_made",
    "gen_call_tir_inputs", "gradient_of", "make_te_function", "name_of", "te_call", "te_tensor",
    "with_operands",
]  # fmt: skip

Infer = Callable[[Expr], StructInfo]


class TEArguments:
    """Arguments of Relax as those of tensor expressions.

    `tensors` are the operands with their placeholders; `variables` maps each variable of a
    dimension to the one that stands for it in the PrimFunc.
    """

    def __init__(self, infer: Infer) -> None:
        self.infer = infer
        self.tensors: list[tuple[Expr, te.Tensor]] = []
        self.variables: dict[PrimVar, PrimVar] = {}
        # Where the first operand is that says so; results are there, too.
        self.vdevice: VDevice | None = None

    def convert(self, value: Any) -> Any:
        """An argument; what is neither an expression nor holds one is left as it is."""
        match value:
            case Expr():
                return self._expression(value)
            case PrimExpr():
                return self.scalar(value)
            case list() | tuple():
                return type(value)(map(self.convert, value))
            case dict():
                return {key: self.convert(item) for key, item in value.items()}
        return value

    def _expression(self, value: Expr) -> Any:
        match value, self.infer(value):
            case ShapeExpr(values), _:
                return [self.scalar(dim) for dim in values]
            case PrimValue(scalar), _:
                return self.scalar(scalar)
            case Tuple(fields), _:
                return tuple(map(self.convert, fields))
            case _, TupleStructInfo(fields):
                count = len(fields)
                return tuple(self.convert(TupleGetItem.make(value, k)) for k in range(count))
            case _, TensorStructInfo(dims=dims) as info if (
                dims is not None and not info.dtype.is_void
            ):
                return self.tensor(value, info)
            case _, PrimStructInfo(value=scalar) if scalar is not None:
                return self.scalar(scalar)
            case _, ShapeStructInfo(values=values) if values is not None:
                return [self.scalar(dim) for dim in values]
            case _, info:
                raise _no_operand(value, info)

    def tensor(self, value: Expr, info: TensorStructInfo) -> te.Tensor:
        """A placeholder for an operand: A, B, C ..."""
        dims = [self.scalar(dim) for dim in info.dims or ()]
        number = len(self.tensors)
        name = chr(ord("A") + number) if number < 26 else f"A{number}"
        made = te.placeholder(dims, info.dtype, name)
        self.tensors.append((value, made))
        self.vdevice = self.vdevice or info.vdevice
        return made

    def scalar(self, e: PrimExpr) -> PrimExpr:
        """An expression over the variables of the PrimFunc."""
        for var in walk(e):
            if isinstance(var, PrimVar) and var not in self.variables:
                self.variables[var] = type(var).make(var.name, var.dtype)
        return substitute(e, self.variables) if self.variables else e


def _no_operand(value: Expr, info: StructInfo) -> OperandError:
    """The mistake of an operand that no tensor stands for."""
    if not isinstance(info, TensorStructInfo):
        return OperandError(
            "args", f"is {info.noun}", code="RX0203",
            message="a tensor expression takes tensors, shapes, scalars of known value and tuples "
            "of them",
        )  # fmt: skip
    name = value.name_hint if isinstance(value, Var) else "x"
    dtype = DataType("float32") if info.dtype.is_void else info.dtype
    known = f'R.Tensor((n, 4), "{dtype}")'
    if info.dims is not None:
        known = str(info.replace(dtype=dtype))
    return OperandError(
        "args", f"is {info}", code="RX0203",
        message="a tensor expression is made for operands of known shape and dtype",
        help=f"check it first: `R.match_cast({name}, {known})`",
    )  # fmt: skip


def check_arguments(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse arguments that a function of Python does not take; raises `ArgumentError`."""
    try:
        taken = signature(function)
    except (TypeError, ValueError):  # Python does not know
        return
    python_signature(getattr(function, "__name__", "the function"), taken).bind(args, kwargs)


def with_operands(error: DiagnosticError, arguments: TEArguments) -> DiagnosticError:
    """A mistake that speaks of tensors by their names says which arguments they are."""
    found = []
    for diagnostic in error.diagnostics:
        said = " ".join([diagnostic.message, *diagnostic.notes, *(t for _, t in diagnostic.labels)])
        notes = tuple(
            f"`{tensor.name}` is {_written(expr)}`{arguments.infer(expr)}`"
            for expr, tensor in arguments.tensors if f"`{tensor.name}`" in said
        )  # fmt: skip
        found.append(replace(diagnostic, notes=(*diagnostic.notes, *notes)))
    return DiagnosticError(found)


def _written(expr: Expr) -> str:
    return f"`{expr.name_hint}`, " if isinstance(expr, Var) else ""


class TEFunction(NamedTuple):
    """A PrimFunc, the results of a call of it, and the variables that it takes as scalars."""

    function: PrimFunc
    results: tuple[TensorStructInfo, ...]
    scalars: tuple[PrimVar, ...]
    is_tuple: bool


def make_te_function(
    arguments: TEArguments, made: Any, name: str, attrs: Mapping[str, Any] | None = None,
    checks: Sequence[tuple[PrimExpr, str]] = (),
) -> TEFunction:  # fmt: skip
    """The PrimFunc of what a function of Python gave for some arguments.

    Results have the dimensions of the caller; scalars are the caller's, too. Loops and indices are
    of int64, as dimensions are. `checks` are those of
    `prim_func_of`. Raises `OperandError` for what is no tensor.
    """
    _check_attributes(attrs)
    inputs = [tensor for _, tensor in arguments.tensors]
    outputs: list[te.Tensor] = []
    for tensor in _results(made, name):
        # A parameter is written once, and read or written.
        outputs.append(topi.identity(tensor) if tensor in (*inputs, *outputs) else tensor)
    # What a function knows of the caller, beside its arguments, is given to the PrimFunc, too.
    own = set(arguments.variables.values())
    captured = [var for var in te.prim_func.variables_of([*inputs, *outputs]) if var not in own]
    for var in captured:
        arguments.scalar(var)
    inside = arguments.variables if captured else {}
    shapes = [[substitute(d, inside) for d in t.shape] for t in (*inputs, *outputs)]
    scalars = _unbound(shapes, arguments.variables.values())
    function = te.prim_func_of(
        [*inputs, *scalars, *outputs], name, private=True, attrs=attrs, checks=checks,
        index_dtype=INT64,
    )  # fmt: skip
    back = {own: var for var, own in arguments.variables.items()}
    infos = tuple(
        TensorStructInfo.make(
            ShapeExpr.make(tuple(_outside(d, back) for d in t.shape)), t.dtype,
            arguments.vdevice, t.ndim,
        )
        for t in outputs
    )  # fmt: skip
    return TEFunction(
        substitute(function, inside) if captured else function, infos,
        tuple(back[v] for v in scalars), isinstance(made, (list, tuple)),
    )  # fmt: skip


def check_made(made: TEFunction, name: str, is_known: Callable[[PrimVar], bool]) -> None:
    """Refuse elements that do not exist, and results of dimensions that have no value there."""
    te.prim_func.check_indices(made.function, "func")
    for var in (v for info in (*made.results, *made.scalars) for v in walk(info)):
        if isinstance(var, PrimVar) and not is_known(var):
            raise OperandError(
                "func", f"has `{var.name}`", code="RX0305",
                message=f"`{name}` makes a tensor of the variable `{var.name}`, which has no value "
                "where it is called", help="make it of the dimensions of its arguments",
            )  # fmt: skip


def _check_attributes(attrs: Any) -> None:
    if attrs is not None and not isinstance(attrs, Mapping):
        raise OperandError(
            "primfunc_attrs", f"is {describe(attrs)}", code="RX0103",
            message="`primfunc_attrs` are the attributes of a PrimFunc by their names",
            help='write for example `primfunc_attrs={"op_pattern": 0}`',
        )  # fmt: skip


def _results(made: Any, name: str) -> list[te.Tensor]:
    """The tensors that a function of Python gave."""
    results = list(made) if isinstance(made, (list, tuple)) else [made]
    for result in results or [made]:
        if not isinstance(result, te.Tensor):
            what = describe(result) if results else "nothing"
            raise OperandError(
                "func", f"gives {what}", code="RX0203",
                message=f"`{name}` gives {what} where a tensor or a list of tensors is needed",
                help="end it with `return` and the tensor" if made is None else None,
            )  # fmt: skip
    return results


def name_of(function: Any, wanted: Any = None) -> str:
    """The name of the PrimFunc of a function of Python; raises `OperandError` for what is none."""
    if wanted is not None:
        if isinstance(wanted, str) and wanted.isidentifier() and not iskeyword(wanted):
            return wanted
        raise OperandError(
            "primfunc_name_hint", "is no name", code="RX0103",
            message=f"`primfunc_name_hint` is the name of a PrimFunc, and {wanted!r} is none",
        )  # fmt: skip
    while hasattr(function, "func"):  # what `functools.partial` has made of it
        function = function.func
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() and not iskeyword(name) else "te_func"


def _outside(dim: PrimExpr, back: Mapping[PrimVar, PrimVar]) -> PrimExpr:
    return as_dimension(substitute(dim, back) if back else dim)


def gradient_of(name: Any, kwargs: Any = None) -> Attrs | None:
    """The attributes of `R.call_tir_with_grad`; None for a call whose gradient has no name."""
    if name is None and kwargs is None:
        return None
    if not isinstance(name, str):
        known = name is not None
        raise OperandError(
            "te_grad_name" if known else "te_grad_kwargs",
            f"is {describe(name)}" if known else "is of no gradient", code="RX0103",
            message="`te_grad_name` is the name under which a gradient is registered",
            help="register it: `relax.training.register_te_gradient(name, gradient)`",
        )  # fmt: skip
    try:
        return Attrs(te_grad_name=name, te_grad_kwargs=None if kwargs is None else Attrs(kwargs))
    except (TypeError, ValueError):
        raise OperandError(
            "te_grad_kwargs", f"is {describe(kwargs)}", code="RX0103",
            message="`te_grad_kwargs` is a dict of names and of values that a script can say",
        ) from None  # fmt: skip


def _unbound(
    shapes: Iterable[Iterable[PrimExpr]], known: Iterable[PrimVar]
) -> list[PrimVar]:  # fmt: skip
    """The variables that are no whole dimension of a tensor: the PrimFunc is given their values."""
    bound = {dim for shape in shapes for dim in shape if isinstance(dim, PrimVar)}
    return [var for var in known if var not in bound]


def call_of(
    gvar: GlobalVar, made: TEFunction, args: Sequence[Expr], attrs: Attrs | None = None
) -> Call:
    """The call of a PrimFunc that tensor expressions made; `attrs` say its gradient."""
    operands: tuple[Expr, ...] = (gvar, Tuple.make(tuple(args)))
    if made.scalars:
        operands = (*operands, ShapeExpr.make(tuple(made.scalars)))
    info: StructInfo = TupleStructInfo.make(made.results) if made.is_tuple else made.results[0]
    operator = call_tir if attrs is None else call_tir_with_grad
    return Call.make(operator.op, operands, attrs, (info,))


def te_call(
    scopes: ScopeStack,
    add_func: Callable[[PrimFunc, str], GlobalVar],
    func: Callable[..., Any],
    /,
    *args: Any,
    primfunc_name_hint: str | None = None,
    primfunc_attrs: Mapping[str, Any] | None = None,
    te_grad_name: str | None = None,
    te_grad_kwargs: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Call:
    """`BlockBuilder.call_te` for callers that place blame, and add the PrimFunc, themselves.

    `add_func` is given it and the name that it should have. Raises `UnplacedError`.
    """
    name = name_of(func, primfunc_name_hint)
    grad = gradient_of(te_grad_name, te_grad_kwargs)
    arguments = TEArguments(scopes.struct_info)
    made = _described(arguments, func, args, kwargs, name, primfunc_attrs)
    check_made(made, name, scopes.is_in_scope)
    gvar = add_func(made.function, name)
    return call_of(gvar, made, [expr for expr, _ in arguments.tensors], grad)


def _described(
    arguments: TEArguments, func: Callable[..., Any], args: Sequence[Any],
    kwargs: Mapping[str, Any], name: str, attrs: Mapping[str, Any] | None,
) -> TEFunction:  # fmt: skip
    """The PrimFunc of what `func` gives for some arguments of Relax."""
    converted, options = arguments.convert(args), arguments.convert(kwargs)
    check_arguments(func, converted, options)
    try:
        described = func(*converted, **options)
    except DiagnosticError as error:
        raise with_operands(error, arguments) from None
    return make_te_function(arguments, described, name, attrs)


def gen_call_tir_inputs(
    func: Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[PrimFunc, Tuple, list[TensorStructInfo], ShapeExpr | None]:
    """The PrimFunc that `func` describes for some arguments, and what a call of it is made of.

        prim_func, args, out_sinfo, tir_vars = gen_call_tir_inputs(topi.matmul, x, w)
        call = relax.call_tir(bb.add_func(prim_func, "matmul"), args, out_sinfo, tir_vars)

    `args` are the tensors among the arguments, and `tir_vars` the integers for scalar parameters,
    or None. `primfunc_attrs` are attributes of the PrimFunc. Raises `DiagnosticError` as
    `BlockBuilder.call_te`. Source: TVM `relax.utils`.
    """
    attrs = kwargs.pop("primfunc_attrs", None)
    try:
        name = name_of(func)
        arguments = TEArguments(lambda expr: expr.struct_info)
        made = _described(arguments, func, args, kwargs, name, attrs)
        check_made(made, name, lambda var: True)
    except UnplacedError as error:
        raise error.as_diagnostic_error("this call", caller_span()) from None
    operands = Tuple.make(tuple(expr for expr, _ in arguments.tensors))
    scalars = ShapeExpr.make(tuple(made.scalars)) if made.scalars else None
    return made.function, operands, list(made.results), scalars


def te_tensor(
    value: Expr, tir_var_map: Mapping[PrimVar, PrimExpr], name: str = "rxplaceholder"
) -> te.Tensor:
    """A placeholder of tensor expressions that stands for a tensor of Relax.

    In its dimensions the variables of `tir_var_map` are what these are mapped to. Raises
    `DiagnosticError` where shape or dtype is not known. Source: TVM `relax.expr.te_tensor`.
    """
    info = value.struct_info
    if not isinstance(info, TensorStructInfo) or info.dims is None or info.dtype.is_void:
        raise _no_operand(value, info).as_diagnostic_error("this call", caller_span())
    dims = [substitute(dim, dict(tir_var_map)) for dim in info.dims]
    return te.placeholder(dims, info.dtype, name)
