"""The names of a function's weights: parameters, and the fields of parameters that are tuples.

    R.func_attr({"num_input": 1, "param_names": ["fc1.weight", "fc1.bias"]})

The attribute `num_input` says how many of the first parameters are inputs; the weights follow.
`param_names` are the names of the weights in order, those of a tuple one after another. Without it
a weight is called as its parameter, and the third field of the tuple `params` is "params.2".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.errors import Diagnostic, DiagnosticError, Label
from relaxscript.ir.relax import Attrs, Function, Var
from relaxscript.ir.struct_info import StructInfo, TupleStructInfo

__all__ = [
    "NUM_INPUT",
    "PARAM_NAMES",
    "NamedWeight",
    "named_weights",
    "names_of_weights",
    "weights_of",
]

NUM_INPUT, PARAM_NAMES = "num_input", "param_names"


class NamedWeight(NamedTuple):
    """A parameter by its name, or a field of one that is a tuple.

    `is_input` says that it is among the inputs, None that it is not known which these are.
    """

    name: str
    param: Var
    field: int | None
    info: StructInfo
    is_input: bool | None


def weights_of(function: Function) -> list[NamedWeight]:
    """All parameters of a function by name, the inputs among them, tuples by their fields.

    Raises `DiagnosticError` (RX0712) where `param_names` are not as many as the weights, no
    strings, or not different from each other.
    """
    found, mistake = named_weights(function.params, function.attrs or Attrs())
    if mistake is not None:
        raise DiagnosticError(Diagnostic("RX0712", mistake, function.span))
    return found


def named_weights(
    params: Sequence[Var], attrs: Mapping[str, Any]
) -> tuple[list[NamedWeight], str | None]:
    """The parameters by name, and what is wrong with the names that the attributes give."""
    count = attrs.get(NUM_INPUT)
    known = isinstance(count, int) and not isinstance(count, bool) and count >= 0
    count = count if known else None
    found: list[NamedWeight] = []
    for i, param in enumerate(params):
        info = param.struct_info
        is_input = None if count is None else i < count
        if isinstance(info, TupleStructInfo):
            found += (
                NamedWeight(f"{param.name_hint}.{j}", param, j, field, is_input)
                for j, field in enumerate(info.fields)
            )
        else:
            found.append(NamedWeight(param.name_hint, param, None, info, is_input))
    if PARAM_NAMES not in attrs:
        return found, None
    return _named(found, attrs[PARAM_NAMES])


def _named(found: list[NamedWeight], names: object) -> tuple[list[NamedWeight], str | None]:
    inputs = [weight for weight in found if weight.is_input]
    weights = found[len(inputs) :]
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
        return found, f"`{PARAM_NAMES}` is a list of strings"
    if len(names) != len(weights):
        return found, f"`{PARAM_NAMES}` has {len(names)} names for {len(weights)} weights"
    if len({*names}) < len(names):
        name = next(name for i, name in enumerate(names) if name in names[:i])
        return found, f"`{PARAM_NAMES}` has `{name}` twice"
    named = (weight._replace(name=name) for weight, name in zip(weights, names, strict=True))
    return [*inputs, *named], None


def names_of_weights(weights: Sequence[NamedWeight]) -> dict[str, NamedWeight]:
    """Weights by their names. Raises `DiagnosticError` (RX0712) where two have one name."""
    found: dict[str, NamedWeight] = {}
    for weight in weights:
        other = found.setdefault(weight.name, weight)
        if other is not weight:
            message = f"two parameters are called `{weight.name}`, so no array is that of either"
            places = [w.param.span for w in (other, weight)]
            labels = [Label(span, "is called so") for span in places if span is not None]
            raise DiagnosticError(Diagnostic("RX0712", message, places[1], tuple(labels[:1])))
    return found


def names_by_parameter(
    function: Function,
) -> tuple[list[str | tuple[str, ...]], int | None]:
    """The name of each parameter, or those of its fields, and the number of inputs if it is known.

    Names of the attributes that are not those of the weights are passed over.
    """
    attrs = function.attrs or Attrs()
    weights, _ = named_weights(function.params, attrs)
    fields: dict[Var, list[str]] = {}
    for weight in weights:
        fields.setdefault(weight.param, []).append(weight.name)
    names = [
        tuple(fields.get(param, ()))
        if isinstance(param.struct_info, TupleStructInfo)
        else fields[param][0]
        for param in function.params
    ]
    known = any(weight.is_input is not None for weight in weights)
    return names, attrs[NUM_INPUT] if known else None
