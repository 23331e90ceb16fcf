"""CallTIRRewrite: results are allocated, and functions write into them, in so many words."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import is_
from typing import NamedTuple

from relaxscript.analysis import function_struct_info
from relaxscript.arith import YES
from relaxscript.builder import ExprMutator
from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.ir.known_results import is_closed
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import FloatImm, IntImm, PrimExpr, Var as ScalarVar, const
from relaxscript.ir.relax import (
    Attrs,
    Binding,
    Call,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    MatchCast,
    Op,
    PrimValue,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    equal_at_a_glance,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.op import builtin
from relaxscript.op.base import invoke_closure
from relaxscript.op.calls import call_dps_packed, call_tir, call_tir_with_grad
from relaxscript.op.device import to_vdevice
from relaxscript.op.inplace import call_tir_inplace
from relaxscript.op.results import NEW, in_their_places, inplace_indices
from relaxscript.opdef.operands import compute_operand
from relaxscript.semantics.check_calls import match_cast
from relaxscript.semantics.checks import device_of
from relaxscript.semantics.error_context import name_of_call
from relaxscript.semantics.prim_funcs import result_struct_infos
from relaxscript.sinfo import is_subtype
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import FunctionPass

__all__ = ["CallTIRRewrite"]

_INT64 = DataType("int64")
_OBJECT = ObjectStructInfo()
_UNIT = TupleStructInfo.make(())
# Where all tensors are allocated: on the host, in its memory.
_DEVICE, _SCOPE = PrimValue.make(const(0, "int64")), StringImm.make("global")


class CallTIRRewrite(FunctionPass):
    """Allocate the results of destination-passing calls, and call the function itself on them.

    Before:

        y = R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((n, 4), "float32"))

    After:

        alloc: R.Tensor((n, 4), "float32") = R.builtin.alloc_tensor(
            R.shape([n, 4]), R.dtype("float32"), R.prim_value(0), R.str("global")
        )
        cls.f(x, alloc)
        y: R.Tensor((n, 4), "float32") = alloc

    `R.call_dps_packed` becomes a call of its packed function likewise, with a check of what that
    wrote. `R.call_tir_inplace` becomes one whose value is the argument that is written into. This
    is checked where it is not known to fit. Integers are given where the PrimFunc has its scalar
    parameters. A result on a device other than the host is allocated, then moved there.

    A call of a PrimFunc stays one, `R.call_tir_inplace`, where only its kernel can check the
    arguments. Such are a pointer that no buffer stands for, and `tir_vars` of unknown number.
    So is a computed integer of another dtype than its parameter.

    Source: TVM `relax.transform.CallTIRRewrite`.
    """

    changes_signatures = True
    required = ("LowerToOneWorker", "ToNonDataflow", "RemovePurityChecking")

    def transform_function(self, func: Function, mod: IRModule, ctx: PassContext) -> Function:
        return _ResultAllocator(mod).function(func)


class _Kernel(NamedTuple):
    """A PrimFunc as its calls see it: a look at it for each call would cost as much as the rest.

    Calls of one that `is_typed` are: it takes tensors and numbers, and no pointers. `takes_tensor`
    has an item for each parameter, `scalars` the dtypes of the others. `params` are what is known
    of the parameters: None where a size is no number, and for a function that gives one.
    """

    is_typed: bool
    takes_tensor: tuple[bool, ...]
    scalars: tuple[DataType, ...]
    params: tuple[StructInfo, ...] | None

    def takes_just(self, args: Iterable[StructInfo]) -> bool:
        """True if a call surely fits and gives nothing: its arguments have the sizes of tensors."""
        return self.params is not None and all(map(equal_at_a_glance, args, self.params))


class _ResultAllocator(ExprMutator):
    """Allocates what destination-passing calls write into, and calls the functions themselves."""

    operators = frozenset(
        {call_tir.name, call_tir_with_grad.name, call_tir_inplace.name, call_dps_packed.name}
    )

    def __init__(self, mod: IRModule) -> None:
        super().__init__(mod)
        self._kernels: dict[Expr, _Kernel | None] = {}

    def binding(self, binding: Binding) -> None:
        value, call = None, binding.value
        if (
            isinstance(call, Call)
            and isinstance(call.op, Op)
            and call.op.name in self.operators
            and not self.in_dataflow
        ):
            is_packed = call.op.name == call_dps_packed.name
            write_out = self._packed_call if is_packed else self._kernel_call
            value = write_out(call, binding.span)
        if value is None:
            self.keep(binding)
        elif isinstance(value, Var) and not isinstance(binding, MatchCast):
            self.keep(VarBinding.make(binding.var, value, span=binding.span))
        elif isinstance(binding, MatchCast):
            self.replace_value(binding, self.emit(value, "value", binding.span))
        else:
            self.replace_value(binding, value)

    # -- PrimFuncs ---------------------------------------------------------------------------------

    def _kernel_call(self, call: Call, span: Span | None) -> Expr | None:
        """The call of a PrimFunc written out; its value, None where it stays as it is."""
        callee, held, *rest = call.args
        kernel, given = self._kernel(callee), self._fields(held)
        if kernel is None or given is None:
            return None
        info = _result_info(call)
        results = result_struct_infos(info)
        indices = _indices(call, results)
        new = [result for index, result in zip(indices, results) if index == NEW]
        known = self.builder.context.struct_info
        numbers = [arg for arg in given if isinstance(known(arg), PrimStructInfo)]
        tensors = len(given) + len(new) - len(numbers)
        integers = self._integers(rest)
        scalars = self._scalars(kernel, numbers, integers, tensors)
        if scalars is not None:
            self._match_integers(rest, integers or (), span)
        fitting = list(given)
        for index, result in zip(indices, results):
            if index != NEW:
                fitting[index] = self._check_fits(given[index], index, result, call.span or span)
        made = self._allocate(new, call)
        if scalars is None:
            if not made and all(map(is_, fitting, given)):
                return None
            return _inplace_call(call, callee, (*fitting, *made), tuple(rest), indices)
        args = [*fitting, *made]
        if scalars:
            buffers = iter(
                [*(a for a in fitting if not isinstance(known(a), PrimStructInfo)), *made]
            )
            others = iter(scalars)
            args = [next(buffers if tensor else others) for tensor in kernel.takes_tensor]
        done = Call.make(callee, tuple(args), span=call.span)
        if isinstance(held, Tuple) and kernel.takes_just(map(known, args)):
            remember_struct_info(done, _UNIT)  # what would be derived
            self._emit_normal(done, _UNIT, "_", span)
        else:
            self.emit(done, "_", span)
        return _assemble(info, iter(in_their_places(made, fitting, indices)), call.span)

    def _kernel(self, callee: Expr) -> _Kernel | None:
        """The PrimFunc of the module that a callee is; None where it is none."""
        if callee in self._kernels:
            return self._kernels[callee]
        func = self.mod[callee] if isinstance(callee, GlobalVar) and callee in self.mod else None
        if func is None:
            self.builder.struct_info(callee)  # which refuses what the module has not
        kernel = None
        if isinstance(func, PrimFunc):
            known = function_struct_info(func)
            assert isinstance(known, FuncStructInfo)
            fixed = known.ret == _UNIT and all(map(is_closed, known.params or ()))
            params = known.params if fixed else None
            takes_tensor = tuple([param in func.buffer_map for param in func.params])
            scalars = tuple([p.dtype for p in func.params if p not in func.buffer_map])
            is_typed = all(dtype.kind != "handle" for dtype in scalars)
            kernel = _Kernel(is_typed, takes_tensor, scalars, params)
        self._kernels[callee] = kernel
        return kernel

    def _scalars(
        self,
        kernel: _Kernel,
        numbers: Sequence[Expr],
        integers: Sequence[PrimExpr] | None,
        tensors: int,
    ) -> list[Expr] | None:
        """The scalar arguments of a direct call, None where only the kernel can check them.

        `numbers` are those among the arguments. `tensors` is the number of the others, and of those
        that are to be allocated.
        """
        dtypes = kernel.scalars
        if integers is None or not kernel.is_typed:
            return None
        if tensors + len(dtypes) != len(kernel.takes_tensor):
            return None
        given: list[Expr | PrimExpr] = [*numbers, *integers]
        wanted = [self._convert_number(e, dtype) for e, dtype in zip(given, dtypes)]
        placed = [_operand(e) for e in wanted if e is not None]
        if len(placed) != len(dtypes) or len(given) != len(dtypes):
            return None
        return placed

    def _integers(self, tir_vars: Sequence[Expr]) -> Sequence[PrimExpr] | None:
        """The integers of a shape: new variables for those that are known only when it runs."""
        if not tir_vars:
            return ()
        info = self.builder.struct_info(tir_vars[0])
        if not isinstance(info, ShapeStructInfo) or (info.values is None and info.ndim < 0):
            return None
        if info.values is not None:
            return info.values
        return [ScalarVar.make(f"n{axis}", _INT64) for axis in range(info.ndim)]

    def _match_integers(
        self, tir_vars: Sequence[Expr], integers: Sequence[PrimExpr], span: Span | None
    ) -> None:
        """Bind what `_integers` made new variables for."""
        for shape in tir_vars:
            info = self.builder.struct_info(shape)
            if isinstance(info, ShapeStructInfo) and info.values is None:
                self.changed = True
                matched = ShapeStructInfo.make(tuple(integers), len(integers))
                self.builder.bind_match_cast(shape, matched, "shape", span)

    def _convert_number(self, number: Expr | PrimExpr, dtype: DataType) -> Expr | PrimExpr | None:
        """A number for a parameter of `dtype`; None where only its kernel can check that."""
        if isinstance(number, Expr):
            info = self.builder.struct_info(number)
            assert isinstance(info, PrimStructInfo)
            if info.dtype is dtype:
                return number
            return None if info.value is None else self._convert_number(info.value, dtype)
        if number.dtype is dtype:
            return number
        if isinstance(number, (IntImm, FloatImm)):
            with suppress(TypeError, ValueError, OverflowError):
                literal = const(number.value, dtype)
                same = isinstance(literal, (IntImm, FloatImm)) and literal.value == number.value
                return literal if same else None
        return None

    def _check_fits(self, arg: Expr, index: int, wanted: StructInfo, span: Span | None) -> Expr:
        """An argument that is written in place, checked where it is not known to fit its result."""
        known, scope = self.builder.struct_info(arg), self.builder.context.shape_scope or ()
        if is_subtype(known, wanted, self.builder.context.facts, in_scope=scope) is YES:
            return arg
        words = f"`args[{index}]`, which is written in place,"
        return self.emit(match_cast(arg, words, wanted, span), "args", span)

    # -- packed functions --------------------------------------------------------------------------

    def _packed_call(self, call: Call, span: Span | None) -> Expr | None:
        """The call of a packed function written out; its value."""
        callee, held = call.args
        given = self._fields(held)
        if given is None:
            return None
        info = _result_info(call)
        made = self._allocate(result_struct_infos(info), call)
        args = (*given, *made)
        if isinstance(callee, ExternFunc):
            done = Call.make(callee, args, None, (_OBJECT,), span=call.span)
        else:
            op = invoke_closure.op
            done = Call.make(op, (callee, Tuple.make(args)), None, (_OBJECT,), span=call.span)
        self.emit(done, "_", span)
        value = _assemble(info, iter(made), call.span)
        words = name_of_call(callee) or "what was written"
        return match_cast(value, words, info, call.span or span)

    # -- arguments and results ---------------------------------------------------------------------

    def _fields(self, args: Expr) -> list[Expr] | None:
        """The arguments of a call that gives them as a tuple; None where nobody knows how many."""
        if isinstance(args, Tuple):
            return list(args.fields)
        info = self.builder.struct_info(args)
        if not isinstance(info, TupleStructInfo):
            return None
        return [TupleGetItem.make(args, index) for index in range(len(info.fields))]

    def _allocate(self, infos: Sequence[TensorStructInfo], call: Call) -> list[Expr]:
        """New tensors for results that a call describes."""
        made: list[Expr] = []
        for info in infos:
            held = info.shape
            shape = held if isinstance(held, Var) else ShapeExpr.make(info.dims or ())
            args = (shape, DataTypeImm.make(info.dtype), _DEVICE, _SCOPE)
            alloc = Call.make(builtin.alloc_tensor.op, args, span=call.span)
            if info.dims is not None and info.vdevice is None:
                remember_struct_info(alloc, info)  # what would be derived again
                tensor = self._emit_normal(alloc, info, "alloc", call.span)
            else:
                tensor = self.emit(alloc, "alloc", call.span)
            place = device_of(info.vdevice)
            if place is not None and not place.is_host:
                attrs = Attrs({"dst_vdevice": info.vdevice})
                moved = Call.make(to_vdevice.op, (tensor,), attrs, span=call.span)
                tensor = self.emit(moved, "alloc", call.span)
            made.append(tensor)
        return made

    def _emit_normal(self, call: Call, info: StructInfo, name: str, span: Span | None) -> Var:
        """As `emit`, of a call of leaves that is known to be `info`, in no dataflow block.

        To look at its operands again would be a tenth of what the pass costs.
        """
        self.changed = True
        var = Var.make(name, info)
        self.keep(VarBinding.make(var, call, span=span))
        return var


def _operand(arg: Expr | PrimExpr) -> Expr:
    match arg:
        case IntImm() | FloatImm():
            return PrimValue.make(arg)
        case PrimExpr():
            return compute_operand(arg)
    return arg


def _inplace_call(
    call: Call, callee: Expr, given: tuple[Expr, ...], rest: tuple[Expr, ...],
    indices: Sequence[int],
) -> Call:  # fmt: skip
    """The call of a PrimFunc whose results are all among its arguments, the new ones last."""
    new = itertools.count(len(given) - list(indices).count(NEW))
    places = tuple([next(new) if index == NEW else index for index in indices])
    args, attrs = (callee, Tuple.make(given), *rest), Attrs({"inplace_indices": places})
    return Call.make(call_tir_inplace.op, args, attrs, call.sinfo_args, span=call.span)


def _indices(call: Call, results: Sequence[StructInfo]) -> tuple[int, ...]:
    """For each result of a call of a PrimFunc, which argument it is, or that it is new."""
    is_in_place = isinstance(call.op, Op) and call.op.name == call_tir_inplace.name
    return inplace_indices(call) if is_in_place else (NEW,) * len(results)


def _result_info(call: Call) -> StructInfo:
    """The results that a destination-passing call describes."""
    infos = call.sinfo_args
    return infos[0] if len(infos) == 1 else TupleStructInfo.make(infos)


def _assemble(info: StructInfo, tensors: Iterator[Expr], span: Span | None) -> Expr:
    """The tensors as the value that is described: one, or tuples of them."""
    if isinstance(info, TupleStructInfo):
        fields = tuple([_assemble(field, tensors, span) for field in info.fields])
        return Tuple.make(fields, span=span)
    return next(tensors)
