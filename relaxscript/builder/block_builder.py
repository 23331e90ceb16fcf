"""BlockBuilder: the one place where a binding is normalised and typed.

Everything that makes IR goes through here: the parser, passes, importers, and people who write
programs as Python calls. A builder keeps a stack of scopes; `emit` brings an expression into
normal form (spec, "Normal Form" 1-5), derives its StructInfo, checks purity and appends a binding.

    bb = BlockBuilder()
    x = Var("x", TensorStructInfo(("n", 4), "float32"))
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(op.add(x, x))
            z = bb.emit_output(op.nn.relu(y))
        bb.emit_func_output(z)
    mod = bb.finalize()

Source: TVM `relax.BlockBuilder` for names; spec "Normal Form" and "Derivation Rules" for meaning.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    OperandError,
    Span,
    UnplacedError,
    is_strict,
    warn,
)
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule, ModuleFunction
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    NO_ATTRS,
    Attrs,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    SeqExpr,
    Tuple,
    Var,
    as_expr,
    remember_struct_info,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import free_vars
from relaxscript.op import DeferredCheck
from relaxscript.sinfo import differs_in_devices_only, free_shape_vars

from . import manual_blocks
from .known_functions import KnownFunctions
from .normal_form import Normalizer
from .scope import OpenFunction, no_open_function, own_module
from .te_calls import te_call

__all__ = ["BlockBuilder", "left_to_devices", "left_to_run_time", "undecided"]


class BlockBuilder(Normalizer):
    """Writes functions binding by binding, and modules function by function.

    `mod` is the module to start from; it is not changed. A `shared` one is looked at as it is, and
    copied when a function is added: whoever writes one function of many asks for that. Mistakes
    raise `DiagnosticError` at the line of Python that called; undecided preconditions are
    `RelaxWarning`s, or under `config(strict=True)` mistakes as well.
    """

    _active = threading.local()
    # The functions of the module for `add_func`; None before it is called.
    _known: KnownFunctions | None = None
    _is_called = False  # by Python, not by the parser, which places blame itself

    @staticmethod
    def current() -> BlockBuilder | None:
        """The builder whose `function` block encloses the caller in this thread, or None."""
        stack: list[BlockBuilder] = getattr(BlockBuilder._active, "stack", [])
        return stack[-1] if stack else None

    @contextmanager
    def blame_caller(self) -> Iterator[None]:
        """Mistakes inside are blamed on the line of Python that called the builder."""
        self.deferred_checks.clear()
        outer, self._is_called = self._is_called, True
        try:
            yield
        except UnplacedError as error:
            raise error.as_diagnostic_error("the builder", caller_span()) from None
        except RecursionError:
            message, help = "the expression is nested too deeply", "emit its parts one by one"
            raise DiagnosticError(Diagnostic("RX0104", message, caller_span(), help=help)) from None
        finally:
            self._is_called = outer
        for deferred in self.deferred_checks:
            warning = undecided(deferred, caller_span(), "bb.match_cast")
            warn(warning if deferred.relation == "never" else left_to_run_time(warning))
        self.deferred_checks.clear()

    def _defer_check(self, deferred: DeferredCheck) -> None:
        """Under `strict`, refuse what is undecided before what depends on it is written."""
        if self._module.global_infos.get("vdevice") and left_to_devices(deferred):
            return
        decides = deferred.relation in ("inside", "never")
        if self._is_called and not decides and is_strict():
            warning = undecided(deferred, caller_span(), "bb.match_cast")
            mistake = replace(warning, severity="error")
            raise DiagnosticError(mistake)
        super()._defer_check(deferred)

    # ---- functions and modules

    @contextmanager
    def function(
        self,
        name: str,
        params: Sequence[Var] | Var | None = None,
        attrs: Mapping[str, Any] | None = None,
        pure: bool = True,
        private: bool = False,
    ) -> Iterator[None]:
        """Write a function of the module; it must end with `emit_func_output`."""
        attributes = dict(attrs or {})
        if not private:
            attributes.setdefault("global_symbol", name)
        given = [params] if isinstance(params, Var) else list(params or [])
        with self.blame_caller():
            _check_parameters(given)
        self.begin_function(name, given, pure, Attrs(attributes) if attributes else None)
        stack = BlockBuilder._active.__dict__.setdefault("stack", [])
        stack.append(self)
        try:
            yield
            with self.blame_caller():
                self._finish_public_function(name)
        except BaseException:
            self.abandon_function()
            raise
        finally:
            stack.pop()

    def _finish_public_function(self, name: str) -> None:
        frame = self._frames[-1]
        if frame.result is None:
            raise OperandError(
                "function", "has no result", code="RX0105",
                message=f"the function `{name}` has no result",
                help="end it with `bb.emit_func_output(value)`",
            )  # fmt: skip
        function = self.end_function()
        declared = frame.global_var
        if declared is None:
            declared = GlobalVar(_free_name(self, name))
        unique = declared.name_hint
        if function.attrs.get("global_symbol") == name != unique:
            function = function.replace(attrs=Attrs({**function.attrs, "global_symbol": unique}))
        own_module(self)[declared] = function
        if self._known is not None:
            self._known.add(declared)

    def add_func(self, func: ModuleFunction, func_name: str) -> GlobalVar:
        """Add a function under a name made unique; one that is there already is shared."""
        with self.blame_caller():
            _check_function(func)
        if self._known is None:
            self._known = KnownFunctions(self._module)
        for gv in self._known.alike(func, self._module):
            named = gv.name_hint.startswith(func_name)
            if named and structural_equal(self._module[gv], func):
                return gv
        name = _free_name(self, func_name)
        own_module(self)[name] = func
        added = self._module.get_global_var(name)
        self._known.add(added)
        return added

    def update_func(self, gv: GlobalVar, updated_func: ModuleFunction) -> None:
        """Replace the function of a name that the module has."""
        with self.blame_caller():
            _check_function(updated_func)
            if gv not in self._module:
                name = getattr(gv, "name_hint", gv)
                raise OperandError(
                    "function", "is not there", code="RX0101",
                    message=f"the module has no function `{name}`",
                )  # fmt: skip
        own_module(self)[gv] = updated_func
        if self._known is not None:
            self._known.add(gv)

    def get(self) -> IRModule:
        """The module so far."""
        return self._module.clone()

    def finalize(self) -> IRModule:
        """The finished module; raises when a function is still open."""
        if self._frames:
            with self.blame_caller():
                raise OperandError(
                    "function", "is still open", code="RX0105",
                    message=f"the function `{self._frames[-1].name}` is still open",
                )  # fmt: skip
        return self.get()

    # ---- dataflow blocks

    @contextmanager
    def dataflow(self) -> Iterator[None]:
        """Bindings inside form a dataflow block; `emit_output` binds what leaves it."""
        with self.blame_caller():
            if self.current_block_is_dataflow():
                raise OperandError(
                    "block", "is inside another", code="RX0104",
                    message="a dataflow block is not allowed inside another",
                )  # fmt: skip
            self.begin_dataflow()
        try:
            yield
        finally:
            self.end_dataflow()

    # Mutators of TVM write blocks by these names.
    _begin_binding_block = manual_blocks.begin_binding_block
    _begin_dataflow_block = manual_blocks.begin_dataflow_block
    _end_block = manual_blocks.end_block

    # ---- bindings

    def emit(self, expr: Any, name_hint: str = "") -> Var:
        """Bind an expression to a new variable (of the dataflow block, inside one).

        The bindings of a SeqExpr go before it, into the block that is open.
        """
        with self.blame_caller():
            self._check_open()
            return self.bind(_to_flatten(self, _expression(expr)), self._unique(name_hint))

    def normalize(self, expr: Any) -> Expr:
        """The expression in normal form, with its StructInfo; what does not fit is refused.

        Operands that are no leaves are bound to variables. Where no function is open there is no
        place for these: then the expression is checked and typed as it is.
        """
        with self.blame_caller():
            given = _expression(expr)
            if self.has_open_scope:
                normal = self.normal(given)
                self.struct_info(normal)
                return normal
            return self._normal_alone(given)

    def _normal_alone(self, expr: Expr) -> Expr:
        """`normalize` in a scope of its own, in which all that is free in `expr` is known."""
        # All that is free in it has a value.
        free = free_vars(expr)
        self.begin_scope()
        depth = len(self._scopes)
        scope = self._scopes[-1]
        infos = [var.struct_info for var in free if isinstance(var, Var)]
        for var in (*free, *(v for info in infos if info for v in free_shape_vars(info))):
            if isinstance(var, Var):
                self._define(var)
            if isinstance(var, PrimVar) and var not in self._shape_scope:
                self._shape_scope.add(var)
                scope.shape_vars.append(var)
        scope.signature = frozenset(scope.shape_vars)
        try:
            normal = self.normal(expr)
            info = self.struct_info(normal)
            if isinstance(expr, SeqExpr):
                return self.end_scope(normal, expr.span)
            if not scope.bindings:
                return normal
            if expr.known_info is None:
                remember_struct_info(expr, info)
            return expr
        finally:
            while len(self._scopes) >= depth:
                self._leave(self._scopes.pop())

    def _check_open(self) -> None:
        """Bindings belong inside a function that has no result yet."""
        if self._frames and self._frames[-1].result is not None:
            raise OperandError(
                "function", "has its result", code="RX0105",
                message=f"nothing can follow the result of the function `{self._frames[-1].name}`",
                help="call `bb.emit_func_output` once, at the end",
            )  # fmt: skip

    def match_cast(self, value: Any, struct_info: StructInfo, name_hint: str = "") -> Var:
        """Bind a value that is checked against `struct_info` at run time."""
        with self.blame_caller():
            self._check_open()
            if not isinstance(struct_info, StructInfo):
                raise OperandError(
                    "struct_info", "is none", code="RX0108",
                    message=f"`{struct_info!r}` is not a StructInfo",
                    help='write for example `TensorStructInfo((2, 3), "float32")`',
                )  # fmt: skip
            return self.bind_match_cast(_expression(value), struct_info, self._unique(name_hint))

    def emit_output(self, output: Any, name_hint: str = "") -> Var:
        """Bind an expression to a variable that outlives the dataflow block."""
        with self.blame_caller():
            if not self.current_block_is_dataflow():
                raise OperandError(
                    "output", "is emitted outside a dataflow block", code="RX0107",
                    message="`emit_output` belongs in a dataflow block", help="use `bb.emit(...)`",
                )  # fmt: skip
            self._check_open()
            value = _to_flatten(self, _expression(output))
            return self.bind(value, self._unique(name_hint), outlives=True)

    def _unique(self, name_hint: str) -> str:
        """A hint as the name that a variable gets; none is left to be made where it is bound."""
        return self.get_unique_name(name_hint) if name_hint else ""

    def emit_func_output(self, output: Any, params: Sequence[Var] | Var | None = None) -> GlobalVar:
        """Give the function its result (and its parameters, if they were not given before).

        Returns the variable by which other functions call it, once it is finished.
        """
        with self.blame_caller():
            if not self._frames:
                raise no_open_function()
            self._check_open()
            if params is not None:
                given = (params,) if isinstance(params, Var) else tuple(params)
                _check_parameters(given)
                if self._frames[-1].params:
                    raise OperandError(
                        "params", "are given twice", code="RX0105",
                        message=f"the function `{self._frames[-1].name}` has its parameters",
                        help="give them in `bb.function` or in `bb.emit_func_output`, not in both",
                    )  # fmt: skip
                self.add_parameters(given)
            result = _expression(output)
            _check_leaves_block(result)
            self.set_result(result)
            frame = self._frames[-1]
            frame.global_var = GlobalVar(_free_name(self, frame.name))
            return frame.global_var

    # ---- tensor expressions

    def call_te(
        self,
        func: Callable[..., Any],
        *args: Any,
        primfunc_name_hint: str | None = None,
        primfunc_attrs: Mapping[str, Any] | None = None,
        te_grad_name: str | None = None,
        te_grad_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Call:
        """A call of the PrimFunc that `func` describes, which the module gets.

        `func` is called with a `te.Tensor` for each tensor among the arguments, and with other
        arguments as they are; it gives one tensor or a list of them. `te_grad_name` names its
        gradient, as in `R.call_tir_with_grad`. Raises `DiagnosticError`.
        """
        with self.blame_caller():
            return te_call(
                self, self.add_func, func, *args, primfunc_name_hint=primfunc_name_hint,
                primfunc_attrs=primfunc_attrs, te_grad_name=te_grad_name,
                te_grad_kwargs=te_grad_kwargs, **kwargs,
            )  # fmt: skip

    def emit_te(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Var:
        """Bind a call of the PrimFunc that `func` describes, as `call_te` makes it."""
        name_hint = kwargs.pop("name_hint", "")
        return self.emit(self.call_te(func, *args, **kwargs), name_hint)

    def call_te_with_grad(
        self, func: Callable[..., Any], *args: Any, te_grad_name: str,
        te_grad_kwargs: Mapping[str, Any] | None = None, **kwargs: Any,
    ) -> Call:  # fmt: skip
        """`call_te` with a gradient; TVM's name."""
        return self.call_te(
            func, *args, te_grad_name=te_grad_name, te_grad_kwargs=te_grad_kwargs, **kwargs
        )

    def emit_te_with_grad(
        self, func: Callable[..., Any], *args: Any, te_grad_name: str,
        te_grad_kwargs: Mapping[str, Any] | None = None, **kwargs: Any,
    ) -> Var:  # fmt: skip
        """`emit_te` with a gradient; TVM's name."""
        return self.emit_te(
            func, *args, te_grad_name=te_grad_name, te_grad_kwargs=te_grad_kwargs, **kwargs
        )

    def lookup_binding(self, var: Var) -> Expr | None:
        """The value that this builder bound to a variable."""
        self._index.update({binding.var: binding.value for binding in self._log})
        self._log.clear()
        return self._index.get(var)

    @contextmanager
    def testing_scope(self, def_vars: Sequence[PrimVar]) -> Iterator[None]:
        """A scope in which shape variables are defined, for trying rules outside a function."""
        self._frames.append(OpenFunction("test", (), False, NO_ATTRS))
        self.begin_scope()
        self._shape_scope.update(def_vars)
        self._scopes[-1].shape_vars.extend(def_vars)
        try:
            yield
        finally:
            self.abandon_function()


def _free_name(builder: BlockBuilder, wanted: str) -> str:
    """The name, made unique in the module and among functions that will be there."""
    name = wanted
    declared = {f.global_var.name_hint for f in builder._frames if f.global_var is not None}
    while name in builder._module or name in declared:
        name = builder.get_unique_name(wanted)
    return name


def _expression(value: Any) -> Expr:
    """A value as an expression; raises `OperandError` for what is none."""
    try:
        return as_expr(value)
    except TypeError as error:
        raise OperandError("value", "is none", code="RX0201", message=str(error)) from None


def _check_parameters(params: Sequence[Any]) -> None:
    """Parameters are variables, and each is one of its own."""
    before: set[int] = set()
    for param in params:
        if not isinstance(param, Var):
            raise OperandError(
                "parameter", "is no Var", code="RX0201",
                message=f"a parameter is a `Var`, this is {param!r}",
                help='write for example `Var("x", TensorStructInfo((2, 3), "float32"))`',
            )  # fmt: skip
        if id(param) in before:
            raise OperandError(
                "parameter", "is given twice", code="RX0302",
                message=f"`{param.name_hint}` is given twice among the parameters",
                help="make a `Var` for each",
            )  # fmt: skip
        before.add(id(param))


def _check_function(function: Any) -> None:
    if not isinstance(function, (Function, PrimFunc, ExternFunc)):
        raise OperandError(
            "function", "is none", code="RX0201",
            message=f"{function!r} cannot be a function of a module",
        )  # fmt: skip


def _check_leaves_block(result: Expr) -> None:
    """Criterion 1: a variable of a dataflow block is not used after it."""
    for part in result.fields if isinstance(result, Tuple) else (result,):
        if isinstance(part, DataflowVar):
            raise OperandError(
                "result", "belongs to a dataflow block", code="RX0301",
                message=f"`{part.name_hint}` is used outside its dataflow block",
                help="bind it with `bb.emit_output(...)`",
            )  # fmt: skip


def left_to_devices(deferred: DeferredCheck) -> bool:
    """True if only a device is not said: in a module that lists devices it is found out later.

    `RealizeVDevice` does that; it refuses what it finds to be on another device.
    """
    match deferred:
        case DeferredCheck(a=StructInfo() as given, b=StructInfo() as wanted, relation="fits"):
            return differs_in_devices_only(given, wanted)
    return False


def left_to_run_time(warning: Diagnostic) -> Diagnostic:
    """A warning of what is no mistake yet: it is checked when the program runs."""
    return replace(warning, message=f"{warning.message}; it is checked when the program runs")


def undecided(deferred: DeferredCheck, span: Span | None, cast: str | None = None) -> Diagnostic:
    """The warning of a precondition that is not decided; of its check nothing is said yet.

    `cast` is how whoever is warned writes a match_cast, which the help then names.
    """
    if deferred.relation == "never":
        message = f"this match_cast can never succeed: {deferred.text}"
        return Diagnostic("RX0205", message, span, severity="warning")
    help = None
    if cast is not None and deferred.relation == "fits":
        help = f"settle it before: `{cast}(..., {deferred.b!r})`"
    return Diagnostic(
        "RX0207",
        deferred.text,
        span,
        help=help,
        severity="warning",
    )


def _to_flatten(builder: Normalizer, expr: Expr) -> Expr:
    """A sequence whose bindings go into the open dataflow block, each if it may be there."""
    if not (isinstance(expr, SeqExpr) and builder.current_block_is_dataflow()):
        return expr
    return expr.replace(blocks=[DataflowBlock(block.bindings) for block in expr.blocks])
