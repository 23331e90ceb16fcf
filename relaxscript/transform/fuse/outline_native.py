"""OutlineNative: rows of calls of PrimFuncs become one PrimFunc each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import is_

from relaxscript.analysis.repeatable import is_repeatable
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    remember_struct_info,
)
from relaxscript.ir.struct_info import TensorStructInfo, TupleStructInfo
from relaxscript.ir.walk import rewrite_compounds, variables
from relaxscript.op.calls import call_tir
from relaxscript.semantics.fill_sets import filled_params
from relaxscript.transform.default_schedule.apply_default_schedule import SCHEDULE
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .function_names import FunctionNames
from .native_function import CallRow, write_native_function
from .tir_calls import TIRCall, TIRCalls, tensors_of

__all__ = ["OutlineNative"]


class OutlineNative(ModulePass):
    """Make one PrimFunc of calls of PrimFuncs that follow each other.

    Before:

        lv = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((n, 4), "float32"))
        y = R.call_tir(cls.sum, (lv,), out_sinfo=R.Tensor((n,), "float32"))

    After:

        @T.prim_func(private=True)
        def main_native(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n",), "float32")):
            n = T.int64()
            with T.block("root"):
                T.reads(x[0:n, 0:4])
                T.writes(y[0:n])
                lv = T.alloc_buffer((n, 4))
                cls.exp(x.data, lv.data)
                cls.sum(lv.data, y.data)

        y = R.call_tir(cls.main_native, (x,), out_sinfo=R.Tensor((n,), "float32"))

    A call of the function is then a call of native code. That has memory for what lies between the
    kernels. Only calls whose sizes are known to fit are taken. Their PrimFuncs are arranged by a
    schedule, call no packed functions and write all of their results. A single call stays. What is
    bound to a constant or to a field between calls is bound ahead of them.

    The order of calls stays, and with it what fails first.
    """

    adds_functions = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        made, names, calls = mod.clone(), FunctionNames(mod), TIRCalls(mod)
        taken: dict[str, bool] = {}
        for gvar, function in mod.relax_functions().items():
            outliner = _Outliner(mod, made, calls, names, taken, f"{gvar.name_hint}_native")
            made[gvar] = outliner.outlined(function)
        return mod if len(made) == len(mod) else made


class _Outliner:
    """Writes the blocks of one function again; new PrimFuncs are added to the module `made`."""

    def __init__(
        self, mod: IRModule, made: IRModule, calls: TIRCalls, names: FunctionNames,
        taken: dict[str, bool], wanted: str,
    ) -> None:  # fmt: skip
        self.mod = mod
        self.made = made
        self.calls = calls
        self.names = names
        self.taken = taken
        self.wanted = wanted
        # Where each variable is used: bindings, and what is no binding.
        self.uses: dict[Var, set[int]] = {}

    def outlined(self, func: Function) -> Function:
        """The function with rows of calls made one."""
        if not isinstance(func.body, SeqExpr):
            return func
        self._note_uses(func.body)

        def step(node: Node) -> Node | None:
            return self._block(node) if isinstance(node, BindingBlock) else None

        made: Function = rewrite_compounds(func, step)
        return made

    def _note_uses(self, seq: Expr) -> None:
        """Note which binding uses which variable, inside of branches and functions, too."""
        if not isinstance(seq, SeqExpr):
            self._use(seq, id(seq))
            return
        for block in seq.blocks:
            for binding in block.bindings:
                match binding.value:
                    case If(cond, true_branch, false_branch):
                        self._use(cond, id(binding))
                        self._note_uses(true_branch)
                        self._note_uses(false_branch)
                    case Function(body=body):
                        self._note_uses(body)
                    case value:
                        self._use(value, id(binding))
        self._use(seq.body, id(seq))

    def _use(self, value: Expr, user: int) -> None:
        for var in _variables_in(value):
            self.uses.setdefault(var, set()).add(user)

    def _block(self, block: BindingBlock) -> BindingBlock | None:
        bindings: list[Binding] = []
        row = _Row()
        for binding in block.bindings:
            if not self._joins(binding, row):
                bindings += self._flush(row, block)
                row = _Row()
                if not self._joins(binding, row):
                    bindings.append(binding)
        bindings += self._flush(row, block)
        if all(map(is_, bindings, block.bindings)) and len(bindings) == len(block.bindings):
            return None
        return block.replace(bindings=tuple(bindings))

    def _joins(self, binding: Binding, row: _Row) -> bool:
        """True if a binding is part of a row of calls, which it is added to."""
        match binding:
            case VarBinding(var, TupleGetItem(Var() as whole, index)) if whole in row.tuples:
                row.names[var] = row.tuples[whole][index]
            case VarBinding(value=TupleGetItem(Var()) | Constant()) if row.calls:
                # It needs nothing of the row and never fails.
                row.bindings.append(binding)
                row.ahead.append(binding)
                return True
            case VarBinding(var, Call() as value):
                call = self.calls.match(value)
                if call is None or not self._takes(call):
                    return False
                row.add(var, value, call)
                row.spans.append(value.span or binding.span)
            case _:
                return False
        row.bindings.append(binding)
        row.own.append(binding)
        return True

    def _takes(self, call: TIRCall) -> bool:
        """True if a call is one of native code alone."""
        name = call.gvar.name_hint
        if name not in self.taken:
            attrs = call.signature.func.attrs
            arranged = attrs is not None and SCHEDULE in attrs
            whole = arranged and self._fills_results(call)
            self.taken[name] = whole and is_repeatable(self.mod, name)
        infos = tensors_of(call.result) or ()
        return self.taken[name] and not any(info.vdevice is not None for info in infos)

    def _fills_results(self, call: TIRCall) -> bool:
        """True if a PrimFunc writes all of its results; what one leaves out is zero elsewhere."""
        func = call.signature.func
        buffers = [i for i, param in enumerate(func.params) if param in func.buffer_map]
        return filled_params(func, self.mod).issuperset(buffers[len(call.args) :])

    def _flush(self, row: _Row, block: BindingBlock) -> Iterator[Binding]:
        """The bindings in the place of those of a row."""
        if len(row.calls) < 2:
            yield from row.bindings
            return
        inside = set(map(id, row.own))
        wanted = [
            (var, tensor)
            for var, tensor in row.names.items()
            if not self.uses.get(var, set()) <= inside
        ]
        whole = [v for v in row.tuples if not self.uses.get(v, set()) <= inside]
        if whole or not wanted or len({tensor for _, tensor in wanted}) < len(wanted):
            yield from row.bindings
            return
        yield from row.ahead
        yield from self._call(row, wanted, block)

    def _call(
        self, row: _Row, wanted: Sequence[tuple[Var, int]], block: BindingBlock
    ) -> Iterator[Binding]:
        infos = tuple([row.infos[tensor] for _, tensor in wanted])
        out = infos[0] if len(infos) == 1 else TupleStructInfo.make(infos)
        rows = CallRow(row.calls, row.given, row.results, row.infos, row.spans)
        function, inputs, integers = write_native_function(rows, [tensor for _, tensor in wanted])
        gvar = GlobalVar(self.names.unique(self.wanted))
        self.made[gvar] = function
        args: tuple[Expr, ...] = gvar, Tuple.make(inputs)
        if integers:
            args = (*args, ShapeExpr.make(integers))
        call = Call.make(call_tir.op, args, None, (out,), span=row.own[0].value.span)
        remember_struct_info(call, out)
        if len(wanted) == 1:
            yield VarBinding.make(wanted[0][0], call, span=row.own[-1].span)
            return
        kind = DataflowVar if isinstance(block, DataflowBlock) else Var
        whole = kind(gvar.name_hint, out)
        yield VarBinding.make(whole, call, span=row.own[0].span)
        for index, (var, _) in enumerate(wanted):
            yield VarBinding.make(var, TupleGetItem.make(whole, index), span=row.own[0].span)


def _variables_in(value: Expr) -> Iterator[Var]:
    """The variables that an expression uses, without what is known of them."""
    match value:
        case Var():
            yield value
        case TupleGetItem(Var() as whole):
            yield whole
        case Call(op=op, args=args):
            for part in (op, *args):
                yield from _variables_in(part)
        case Tuple(fields):
            for part in fields:
                yield from _variables_in(part)
        case _:
            yield from (var for var in variables(value) if isinstance(var, Var))


class _Row:
    """Calls that follow each other; the tensors that they make are numbered.

    `names` are the variables of tensors, `tuples` those of tuples of them. `given` has for each
    call its operands: numbers of tensors, or expressions from outside. Of the `bindings`
    some are its `own`, and those `ahead` may as well be before it.
    """

    def __init__(self) -> None:
        self.bindings: list[Binding] = []
        self.own: list[Binding] = []
        self.ahead: list[Binding] = []
        self.calls: list[TIRCall] = []
        self.given: list[list[int | Expr]] = []
        self.results: list[list[int]] = []
        self.spans: list[object] = []
        self.infos: list[TensorStructInfo] = []
        self.names: dict[Var, int] = {}
        self.tuples: dict[Var, list[int]] = {}

    def add(self, var: Var, value: Call, call: TIRCall) -> None:
        """Take a call whose result a variable is."""
        found = [self.names.get(arg, arg) if isinstance(arg, Var) else arg for arg in call.args]
        infos = tensors_of(call.result) or []
        results = [len(self.infos) + k for k in range(len(infos))]
        self.infos += infos
        self.calls.append(call)
        self.given.append(found)
        self.results.append(results)
        if isinstance(call.result, TensorStructInfo):
            self.names[var] = results[0]
        else:
            self.tuples[var] = results
