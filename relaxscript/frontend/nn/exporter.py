"""From a module of Python objects to an `IRModule`: each method is called once, and written down.

The arguments of a method are new variables; effects and parameters follow them. What the method
calls binds its results in one dataflow block, and what it returns leaves the block.

Source: TVM `relax.frontend.nn.exporter`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.errors.user_frame import CallerSpans, caller_span
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Function, SeqExpr, Tuple as TupleExpr, TupleGetItem, Var
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.ir.walk import free_vars, mentioned

from . import spec as specs
from .effect import Effect, IOEffect
from .function_values import ShapeVars, info_of, leave_block, returned, value_of
from .module import Module, named_members
from .parameter import Parameter
from .trace import Trace, bind_value, model_error, nested_too_deeply, run_module

__all__ = ["Exporter", "ModelPaths"]

__tracebackhide__ = is_user_error

Named = list[tuple[str, Any]]


class Exporter:
    """Writes the functions of one module; `builder` holds what is written.

    With `debug` there is a state `io_effect`, which printing and debug functions pass through.
    """

    def __init__(self, debug: bool = False) -> None:
        self.builder = BlockBuilder()
        self.io_effect: IOEffect | None = IOEffect() if debug else None
        self.extern_mods: list[Any] = []
        self._spans = CallerSpans()

    @staticmethod
    def current() -> Exporter:
        """The exporter of the method that runs.

        Raises `DiagnosticError` (RX0711) outside of an export.
        """
        trace = Trace.current()
        if trace is None:
            raise model_error("no module is being exported", help="call `model.export_tvm(spec)`")
        exporter: Exporter = trace.exporter
        return exporter

    def add_external_module(self, module: Any) -> None:
        """Note an extern module that a method calls, once."""
        if not any(module is known for known in self.extern_mods):
            self.extern_mods.append(module)

    def build(
        self, spec: specs.ModuleSpec
    ) -> tuple[IRModule, list[tuple[str, Parameter]], list[Any]]:
        """The functions of a module, its parameters with their names, and its extern modules."""
        parameters = list(spec.module.named_parameters())
        effects = self._effects(spec.module)
        paths = ModelPaths(spec.module)
        if effects:
            self._write_initialize(effects, paths)
        for name, method in spec:
            trace = Trace(self.builder, paths, self._spans, self)
            self._write_method(name, method, trace, (spec.module, effects, parameters))
        mod = self.builder.finalize()
        for var, function in mod.relax_functions().items():
            _require_own_values(var.name_hint, function)
        return mod, parameters, self.extern_mods

    def _effects(self, model: Module) -> Named:
        """The effects of a model by their names, each once; that of printing comes first."""
        found: dict[int, tuple[str, Effect]] = {}
        if self.io_effect is not None:
            found[id(self.io_effect)] = ("", self.io_effect)
        for name, member in named_members(model):
            if isinstance(member, Effect):
                found.setdefault(id(member), (name, member))
        return list(found.values())

    def _write_initialize(self, effects: Named, paths: ModelPaths) -> None:
        """`_initialize_effect`, which gives how the effects begin."""
        trace = Trace(self.builder, paths, self._spans, self)
        with self.builder.function("_initialize_effect"):
            with trace.running(), self.builder.dataflow():
                states = [var for name, e in effects for var in e.emit_init(name, self.builder)]
                result = leave_block(self.builder, TupleExpr(tuple(states)))
            self.builder.emit_func_output(result)

    def _write_method(
        self, name: str, spec: specs.MethodSpec, trace: Trace, model: tuple[Module, Named, Named]
    ) -> None:
        """One method as a public function: inputs, effects, parameters, in this order."""
        module, effects, parameters = model
        named = list(zip(spec.arg_names, spec.arg_specs))
        shapes = ShapeVars(dict(named))
        inputs = [Var(arg, info_of(argument, arg, shapes)) for arg, argument in named]
        states = _States(effects, spec.effect_mode)
        trace.effects = [effect for _, effect in effects] if spec.effect_mode != "none" else []
        trace.shared_effects = [effect for effect in trace.effects if effect is self.io_effect]
        weights = [Var(path, p.info_with(shapes.dims)) for path, p in parameters]
        owned = _pass_in("packed_params", spec.param_mode, weights)
        params = [*inputs, *states.params, *owned]
        attrs: dict[str, Any] = {"num_input": len(inputs) + len(states.params)}
        if spec.param_mode == "packed" and weights:
            attrs["param_names"] = [path for path, _ in parameters]
        with self.builder.function(name, params, attrs):
            with trace.running(), self.builder.dataflow():
                for var in params:
                    trace.unique_name(var.name_hint)
                pairs = zip(named, inputs)
                values = [value_of(s, var, shapes, arg) for (arg, s), var in pairs]
                states.unpack()
                given = _unpack(owned, weights) if spec.param_mode == "packed" else owned
                trace.values.update(zip((p for _, p in parameters), given))
                result = _run_method(name, module, spec, values)
                value = returned(result, spec.method)
                if states.params:
                    value = TupleExpr((value, TupleExpr(tuple(states.final()))))
                value = leave_block(self.builder, value)
            self.builder.emit_func_output(value)


def _run_method(name: str, module: Module, spec: specs.MethodSpec, values: list[Any]) -> Any:
    """The result of a method. Raises RX0104 where modules hold each other too deeply to be called.

    The mistake may have been told as one of the expression at which Python gave up.
    """
    try:
        return run_module(module, spec.method, *spec.arguments(values))
    except (DiagnosticError, RecursionError) as error:
        step: BaseException | None = error
        while step is not None and not isinstance(step, RecursionError):
            step = step.__context__
        if step is None:
            raise
    raise nested_too_deeply(f"`{name}` is nested too deeply to be exported")


def _require_own_values(name: str, function: Function) -> None:
    """Raise RX0711 where a tensor is used that neither an argument nor a binding gives."""
    body = function.body
    assert isinstance(body, SeqExpr)
    own = {*function.params}
    bindings = [binding for block in body.blocks for binding in block.bindings]
    for var, value, span in [
        *((b.var, b.value, b.span) for b in bindings),
        (None, body.body, function.span or caller_span()),
    ]:
        simple = isinstance(value, (Call, Var, TupleExpr, TupleGetItem))
        for used in mentioned(value) if simple else free_vars(value):
            if isinstance(used, Var) and used not in own:
                message = f"`{name}` uses `{used.name_hint}`, which nothing in it makes"
                help = "a tensor lives as long as the call that made it: pass it as an argument"
                raise DiagnosticError(Diagnostic("RX0711", message, span, help=help))
        if var is not None:
            own.add(var)


class _States:
    """The states of effects in one function; `params` are its parameters that they are."""

    def __init__(self, effects: Named, mode: str) -> None:
        self._effects = effects if mode != "none" else []
        self._packed = mode == "packed"
        self._vars = [effect.create(name) for name, effect in self._effects]
        flat = [var for vars in self._vars for var in vars]
        self.params = _pass_in("packed_effects", mode, flat)

    def unpack(self) -> None:
        """Have effects hold the fields of a packed parameter."""
        if not (self._packed and self.params):
            return
        fields = iter(_unpack(self.params, [var for vars in self._vars for var in vars]))
        for (_, effect), vars in zip(self._effects, self._vars):
            effect.set_state([next(fields) for _ in vars])

    def final(self) -> list[Var]:
        """The states at the end of the function."""
        return [var for _, effect in self._effects for var in effect.finalize()]


def _pass_in(packed_name: str, mode: str, variables: list[Var]) -> list[Var]:
    """The parameters of a function through which variables reach it."""
    match mode:
        case "packed":
            infos = tuple([var.struct_info for var in variables])
            return [Var(packed_name, TupleStructInfo(infos))]
        case "plain":
            return variables
    return []


def _unpack(packed: list[Var], variables: list[Var]) -> list[Var]:
    """The fields of a packed parameter, bound by the names that the variables have."""
    items = (TupleGetItem.make(packed[0], k) for k in range(len(variables)))
    return [bind_value(item, var.name_hint) for item, var in zip(items, variables)]


class ModelPaths:
    """The attributes that lead from a model to each module and parameter; read when asked."""

    def __init__(self, model: Module) -> None:
        self._model = model
        self._found: dict[Any, str] | None = None

    def __call__(self) -> Mapping[Any, str]:
        if self._found is None:
            self._found = {}
            for name, member in named_members(self._model):
                self._found.setdefault(member, name)
        return self._found
