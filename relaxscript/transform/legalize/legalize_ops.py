"""LegalizeOps: operators become calls of PrimFuncs, by their computes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from relaxscript.analysis.repeatable import REPEATABLE, run_once
from relaxscript.analysis.value_failures import fails_by_values
from relaxscript.arguments import ArgumentError
from relaxscript.builder import BlockBuilder, ExprMutator
from relaxscript.errors import Diagnostic, DiagnosticError, Span, UnplacedError, warn
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import (
    Binding,
    Call,
    Function,
    GlobalVar,
    Op,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.ir.tir import PrimFunc
from relaxscript.opdef.operator import REGISTRY, Operator, operator_named
from relaxscript.opdef.traits import Trait
from relaxscript.transform.pass_infra.checked_arguments import checks_arguments
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .customize import Customizer, Legalization
from .packed_calls import packed_call
from .prim_funcs import OperatorFunctions, Stays
from .registered import registered_legalizations

__all__ = ["LegalizeOps", "Legalizer", "write_functions"]

# Operators that compute nothing: loops would do no more than lowering does.
_OF_THE_MACHINE = {Trait.AS_IS, Trait.ALLOCATES, Trait.VIEW}


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
    Where elements decide what is computed, a packed function is called: "relax.run.unique".

    An operator stays where it has no compute, and on tensors of unknown shape or dtype. It stays
    where only the run shows whether its operands go together. With `enable_warning` what stays is
    named in warnings, and with `require_all` it is a mistake. With `keep_failures` an operator that
    may fail stays in functions that call packed functions or have other effects. It stays in what
    these functions mention as well. There it tells in its own words what is wrong; elsewhere the
    run can be repeated for that. With `keep_faster` an
    operator stays whose meaning in numpy is faster on large tensors than its loops.

    `customize_legalize_map` says by the name of an operator ("relax.add") what takes the place of
    its calls. `legalize(builder, call)` gives an expression, or the call itself for one to keep.
    `register_legalize` says so for all uses of this pass.

    Source: TVM `relax.transform.LegalizeOps`.
    """

    adds_functions = True
    # Computes have mathematical functions and orders of summing of their own.
    tolerance = 1e-6
    fails_as = (("RX0606", "RX0614"),)

    @checks_arguments("customize_legalize_map")
    def __init__(
        self,
        customize_legalize_map: Mapping[str, Legalization] | None = None,
        enable_warning: bool = False,
        *,
        require_all: bool = False,
        keep_failures: bool = False,
        keep_faster: bool = False,
    ) -> None:
        super().__init__()
        self.customize_legalize_map = dict(customize_legalize_map or {})
        for name, legalize in self.customize_legalize_map.items():
            _check_entry(name, legalize)
        self.enable_warning = enable_warning
        self.require_all = require_all
        self.keep_failures = keep_failures
        self.keep_faster = keep_faster

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        builder = BlockBuilder(mod)
        kept: Collection[Var] = ()
        changed = False
        customized = registered_legalizations() | self.customize_legalize_map
        if customized:
            customizer = Customizer(mod, builder, customized)
            changed = write_functions(customizer, builder)
            kept = customizer.kept
        legalizer = Legalizer(mod, builder, kept, self.keep_failures, self.keep_faster)
        changed |= write_functions(legalizer, builder)
        left = [left.diagnostic(self.require_all) for left in legalizer.left.values()]
        if left and self.require_all:
            raise DiagnosticError(left)
        if self.enable_warning:
            for diagnostic in left:
                warn(diagnostic)
        return builder.get() if changed else mod


def _check_entry(name: str, legalize: object) -> None:
    """Refuse what no call would ever be looked up by, or what cannot be called."""
    try:
        operator_named(name)
    except ArgumentError as error:
        raise error.as_diagnostic_error("LegalizeOps", None) from None
    if not callable(legalize):
        message = f"the legalisation of `{name}` is a Python {type(legalize).__name__}"
        help = "give a function of the builder and the call"
        raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))


def write_functions(mutator: ExprMutator, builder: BlockBuilder) -> bool:
    """Write all functions of a module again; True if one changed."""
    changed = False
    for gvar, func in builder.get().functions.items():
        if isinstance(func, Function):
            made = mutator.function(func, gvar.name_hint)
            if made is not func:
                builder.update_func(gvar, made)
                changed = True
    return changed


class _Left:
    """Calls of one operator that stay for one reason: the first of them, and how many there are."""

    def __init__(self, name: str, reason: Stays, span: Span | None) -> None:
        self.name = name
        self.reason = reason
        self.span = span
        self.count = 0

    def diagnostic(self, is_mistake: bool) -> Diagnostic:
        """The warning, or the mistake."""
        more = f" (and {self.count - 1} more)" if self.count > 1 else ""
        why = (
            REGISTRY[self.name].reasons.get("compute") if self.reason is Stays.NO_COMPUTE else None
        )
        reason = f"{self.reason.value}, for {why}" if why else self.reason.value
        message = f"`{self.name}` is not legalised: {reason}{more}"
        if is_mistake:
            return Diagnostic("RX0703", message, self.span)
        return Diagnostic("RX0703", message, self.span, severity="warning")


class Legalizer(ExprMutator):
    """Writes calls of PrimFuncs; `left` has the operators that stay, by name and reason.

    Operators that are not among `only` are not looked at; without it all are.
    """

    def __init__(
        self, mod: IRModule, builder: BlockBuilder, kept: Collection[Var] = (),
        keep_failures: bool = False, keep_faster: bool = False,
        only: Collection[str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mod, builder)
        self.kept = kept
        self.keep_failures = keep_failures
        self.run_once = run_once(mod) if keep_failures else frozenset[str]()
        self.keep_faster = keep_faster
        self.only = only
        self.keeps = False  # operators of the function that may fail
        self.prim_funcs = OperatorFunctions(builder)
        self.left: dict[tuple[str, Stays], _Left] = {}

    def function(self, func: Function, name: str = "function") -> Function:
        self.keeps = name in self.run_once
        made = super().function(func, name)
        if not self.keep_failures or self.keeps or REPEATABLE in (made.attrs or {}):
            return made
        marked: Function = made.with_attr(REPEATABLE, True)
        return marked

    def binding(self, binding: Binding) -> None:
        call = binding.value
        operator = None
        if isinstance(call, Call) and isinstance(call.op, Op) and binding.var not in self.kept:
            name = call.op.name
            operator = REGISTRY.get(name) if self.only is None or name in self.only else None
        if operator is None or not isinstance(call, Call):
            super().binding(binding)
            return
        try:
            legal = self._legal(operator, call)
        except UnplacedError as error:
            callee = f"R.{operator.script_name}"
            raise error.as_diagnostic_error(callee, call.span or binding.span) from None
        if legal is Stays.NO_COMPUTE and operator.packed is not None:
            if self.keeps:
                super().binding(binding)
                return
            self.rebind(binding, packed_call(operator, call, self.builder.struct_info(call)))
            return
        if isinstance(legal, Stays):
            if legal is not Stays.NO_COMPUTE or not operator.traits & _OF_THE_MACHINE:
                left = _Left(operator.name, legal, call.span or binding.span)
                self.left.setdefault((operator.name, legal), left).count += 1
            super().binding(binding)
            return
        operands = legal.args[1]
        assert isinstance(operands, Tuple), "call_tir takes its operands as a tuple"
        if any(isinstance(e, TupleGetItem) for e in operands.fields):
            self.rebind(binding, legal)
            return
        # It is in normal form: nothing is left to be bound.
        self.changed = True
        self.keep(VarBinding.make(binding.var, legal, span=binding.span))

    def _legal(self, operator: Operator, call: Call) -> Call | Stays:
        if self.keep_faster and _is_faster(operator, self.builder.struct_info(call)):
            return Stays.SLOWER
        legal = self.prim_funcs.legalize(operator, call)
        if self.keeps and isinstance(legal, Call):
            callee = legal.args[0]
            assert isinstance(callee, GlobalVar)
            made = self.builder.get()[callee]
            if isinstance(made, PrimFunc) and fails_by_values(made):
                return Stays.MAY_FAIL
        return legal


def _is_faster(operator: Operator, result: StructInfo) -> bool:
    """True if numpy is faster at an operator, for a result like this."""
    if Trait.NUMPY_IS_FASTER in operator.traits:
        return True
    doubles = isinstance(result, TensorStructInfo) and result.dtype == "float64"
    return doubles and Trait.NUMPY_IS_FASTER_IN_FLOAT64 in operator.traits
