"""Weights by name in a script: one parameter that is a tuple, and its fields by their names.

    def main(x: R.Tensor(("n", 784), "float32"), params: R.Tuple(weights)):
        y = R.linear(x, params["fc1.weight"], params["fc1.bias"])

`weights` is a mapping. The attribute `num_input` of the function says how many parameters are
inputs. Its `param_names` are what the weights after these are called. So it is printed, with
`params[0]`, and so it may be written without a mapping.
"""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.analysis.weight_names import NUM_INPUT, PARAM_NAMES, NamedWeight, named_weights
from relaxscript.errors import did_you_mean
from relaxscript.ir.relax import Expr, Var

from .context import Header, RelaxContext

__all__ = ["field_of_name", "name_fields", "name_weights"]


def name_fields(cx: RelaxContext, param: Var, annotation: ast.expr) -> None:
    """Note the names of the fields of a parameter whose annotation is made of a mapping."""
    match annotation:
        case ast.Call(args=[given], keywords=[]) | ast.Subscript(slice=given):
            names = cx.names_of_fields.get(given)
            if names is not None:
                cx.field_names[param] = names


def name_weights(cx: RelaxContext, header: Header, attrs: dict[str, Any], local: bool) -> None:
    """Say in the attributes what the weights are called, or read there what they are called."""
    if not local and not header.private and any(param in cx.field_names for param in header.params):
        _add_attributes(cx, header, attrs)
    weights, mistake = named_weights(header.params, attrs)
    if PARAM_NAMES not in attrs or mistake is not None:
        return
    by_param: dict[Var, list[str]] = {}
    for weight in weights:
        if weight.field is not None and weight.is_input is not True:
            by_param.setdefault(weight.param, []).append(weight.name)
    cx.field_names.update((param, tuple(names)) for param, names in by_param.items())


def _add_attributes(cx: RelaxContext, header: Header, attrs: dict[str, Any]) -> None:
    if NUM_INPUT not in attrs:
        first = next(i for i, param in enumerate(header.params) if param in cx.field_names)
        weights = header.params[first]
        for param in header.params[first:]:
            if param not in cx.field_names:
                cx.error(
                    param.span, "RX0104",
                    f"the input `{param.name_hint}` is behind weights",
                    labels=[(weights.span, "the weights")],
                    help=f"put it before `{weights.name_hint}`",
                )  # fmt: skip
                header.failed = True
                return
        attrs[NUM_INPUT] = first
    if PARAM_NAMES not in attrs:
        named, _ = named_weights(header.params, attrs)
        attrs[PARAM_NAMES] = [
            w.name if w.field is None else _name_of_field(cx, w) for w in named if not w.is_input
        ]


def _name_of_field(cx: RelaxContext, weight: NamedWeight) -> str:
    names = cx.field_names.get(weight.param)
    return weight.name if names is None else names[weight.field or 0]


def field_of_name(cx: RelaxContext, owner: Expr, name: str, node: ast.Subscript) -> int:
    """The place of the field that a script calls by its name."""
    names = cx.field_names.get(owner) if isinstance(owner, Var) else None
    written = cx.written(node.value)
    if names is None:
        raise cx.error(
            node.slice, "RX0208", f"the fields of `{written}` have no names",
            help=f"write `{written}[0]`; of a mapping, `R.Tuple(weights)` names the fields",
        )  # fmt: skip
    if name not in names:
        near = cx.near(name, names)
        shown = ", ".join(f'"{other}"' for other in names[:5])
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        raise cx.error(
            node.slice, "RX0208", f'`{written}` has no field "{name}"',
            help=did_you_mean(near, f"it has {shown}{more}", quote='"'),
            fix=None if near is None else f'"{near}"',
        )  # fmt: skip
    return names.index(name)
