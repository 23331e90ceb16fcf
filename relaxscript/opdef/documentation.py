"""The documentation of operators as `help` shows it, their parameters one by one."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from .parameters import Parameter

if TYPE_CHECKING:
    from .operator import Operator

__all__ = ["MEANINGS", "documentation"]

# What the words of annotations mean to whoever writes a call.
MEANINGS = {
    "Attributes": "a dict of names and values",
    "Axes": "an integer, or several",
    "Callee": "a function of the module",
    "DType": 'a dtype such as "float32"',
    "DTypeValue": 'a dtype such as "float32"',
    "Device": "a device, such as `R.cpu()`",
    "Floats": "a number, or several",
    "None": "None",
    "ResultInfo": "what is known of the results, `R.Tensor(...)` or a list of these",
    "Packed": "the name of a PackedFunc",
    "Scalar": "a number, or a tensor of rank 0",
    "ShapeLike": "a shape, or its dimensions",
    "Spread": "values",
    "Tensor": "a tensor",
    "Tensors": "a tuple of tensors",
    "Text": "a string",
    "Value": "a value",
    "Values": "a tuple of values",
    "VirtualDevice": "a virtual device of the module",
    "Mesh": "a mesh of devices, by its name in the module",
    "MeshPlacement": "a placement on the mesh",
    "bool": "True or False",
    "float": "a number",
    "int": "an integer",
    "str": "a string",
}


def documentation(operator: Operator) -> str:
    """The help of an operator: its meaning, its signature, and what each parameter takes."""
    call = f"R.{operator.script_name}{operator.__signature__}"
    parts = [inspect.cleandoc(operator.summary or ""), call]
    width = max((len(parameter.name) for parameter in operator.parameters), default=0)
    lines = [f"{p.name:{width}}  {_describe(p)}".rstrip() for p in operator.parameters]
    return "\n\n".join([*parts, "\n".join(lines)] if lines else parts)


def _describe(parameter: Parameter) -> str:
    """ "a tensor"; "an integer; 0 unless given" """
    if parameter.kind == "rest":
        return "any number of values"
    words = parameter.annotation.split(" | ")
    meant = [word for word in words if word != "int" or "Axes" not in words]
    taken = ", or ".join(MEANINGS.get(word, word) for word in meant)
    return taken if parameter.is_required else f"{taken}; {parameter.default!r} unless given"
