"""LazySetOutput: results are handed to a callback as soon as they are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.analysis.weight_names import NUM_INPUT
from relaxscript.dtypes import DataType
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import const
from relaxscript.ir.relax import Attrs, Call, Expr, Function, PrimValue, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    TupleStructInfo,
)
from relaxscript.runtime import PackedFunc
from relaxscript.transform.normalize.remove_purity_checking import FORCE_PURE
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

from .private_copies import with_new_signatures
from .set_results import has_results, with_set
from .weight_parameters import number_of_inputs

__all__ = ["LazySetOutput"]

_UNIT = TupleStructInfo.make(())
_CALLBACK = FuncStructInfo(
    (PrimStructInfo.make(DataType("int64")), ObjectStructInfo()), _UNIT, purity=False
)


class LazySetOutput(ModulePass):
    """Hand each result of a function to a callback, as soon as it is computed.

    Before:

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = R.exp(x)
            z = R.add(y, x)
            return (z, y)

    After:

        @R.function(pure=False)
        def main(
            x: R.Tensor((4,), "float32"),
            fset_output: R.Callable((R.Prim("int64"), R.Object), R.Tuple([]), purity=False),
        ):
            y = R.exp(x)
            fset_output(R.prim_value(1), y)
            z = R.add(y, x)
            fset_output(R.prim_value(0), z)
            return ()

    The callback is given the position of the result in the tuple that the function returned; where
    that was no tuple, there is one result. Results that are parameters or constants come first.
    The callback is the last of the inputs, or the last parameter where nothing says by `num_input`
    which these are. Public functions are changed. What the module itself calls is a private copy
    of the function as it was. Where results are computed inside of dataflow blocks, a function has
    none of these any more.

    Raises `DiagnosticError` (RX0712) for a `num_input` that is no number of parameters. Source: TVM
    `relax.transform.LazySetOutput`.
    """

    changes_signatures = True
    adds_functions = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return with_new_signatures(
            mod,
            {
                var: _handing(function, var.name_hint)
                for var, function in mod.relax_functions().items()
                if _is_changed(function)
            },
        )

    def call_as_before(
        self, before: IRModule, call: Callable[..., Any], name: str, args: Sequence[Any]
    ) -> Any:
        """Call the function with a callback that collects its results."""
        function = before[name]
        if not _is_changed(function):
            return call(name, *args)
        found: dict[int, Any] = {}

        def put(index: Any, value: Any) -> tuple[()]:
            found[int(index)] = value
            return ()

        place = _place(function, name)
        call(name, *args[:place], PackedFunc("fset_output", put), *args[place:])
        values = tuple([found[index] for index in range(len(found))])
        return values if isinstance(function.ret_struct_info, TupleStructInfo) else values[0]


def _is_changed(function: Any) -> bool:
    return isinstance(function, Function) and not function.is_private and has_results(function)


def _place(function: Function, name: str) -> int:
    """The number of parameters before the callback."""
    count = number_of_inputs(function, name)
    return len(function.params) if count is None else count


def _handing(function: Function, name: str) -> Function:
    place = _place(function, name)
    callback = Var.make("fset_output", _CALLBACK)

    def put(index: int, value: Expr) -> Expr:
        return Call.make(callback, (PrimValue.make(const(index, "int64")), value), span=value.span)

    made = with_set(function, put, _UNIT)
    params = (*function.params[:place], callback, *function.params[place:])
    attrs = dict(function.attrs or Attrs())
    attrs.pop(FORCE_PURE, None)
    if NUM_INPUT in attrs:
        attrs[NUM_INPUT] += 1
    return made.replace(params=params, attrs=Attrs(attrs) if attrs else None)
