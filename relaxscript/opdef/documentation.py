"""The documentation of operators as `help` shows it, their parameters one by one."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from relaxscript.ir.hooks import further_sections

from .parameters import Parameter

if TYPE_CHECKING:
    from .composite import CompositeOp
    from .operator import Operator

__all__ = ["MEANINGS", "Documentation", "documentation", "python_signature"]

# What the words of annotations mean to whoever writes a call.
MEANINGS = {
    "Attributes": "a dict of names and values",
    "Axes": "an integer, or several",
    "Callee": "a function of the module",
    "DType": 'a dtype such as "float32"',
    "DTypeValue": 'a dtype such as "float32"',
    "Device": "a device, such as `R.cpu()`",
    "Floats": "a number, or several",
    "Indices": "a function of indices, `lambda i, j: (j, i)`",
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


def documentation(operator: Operator | CompositeOp) -> str:
    """The page of an operator: meaning, signature, what each parameter takes, example and more."""
    call = f"R.{operator.script_name}{operator.__signature__}"
    parts = [inspect.cleandoc(operator.summary or ""), call]
    width = max((len(parameter.name) for parameter in operator.parameters), default=0)
    lines = [f"{p.name:{width}}  {_describe(p)}".rstrip() for p in operator.parameters]
    if lines:
        parts.append("\n".join(lines))
    more: list[str] = further_sections(operator)
    return "\n\n".join([*parts, *more])


class Documentation:
    """`__doc__` of a class whose objects are operators: of each its page, of the class its own."""

    def __init__(self, of_class: str | None) -> None:
        self.of_class = of_class

    def __get__(self, operator: Operator | CompositeOp | None, owner: type) -> str | None:
        if operator is None:
            return self.of_class
        return documentation(operator)

    def __set__(self, operator: Operator | CompositeOp, text: str | None) -> None:
        operator.summary = text


def python_signature(parameters: Iterable[Parameter]) -> inspect.Signature:
    """The signature of an operator as `inspect` has it."""
    kinds = inspect.Parameter
    found = []
    for p in parameters:
        kind: Any = kinds.KEYWORD_ONLY if p.keyword_only else kinds.POSITIONAL_OR_KEYWORD
        default = kinds.empty if p.is_required or p.kind == "rest" else p.default
        kind = kinds.VAR_POSITIONAL if p.kind == "rest" else kind
        found.append(kinds(p.name, kind, default=default))
    return inspect.Signature(found)


def _describe(parameter: Parameter) -> str:
    """ "a tensor"; "an integer; 0 unless given" """
    if parameter.kind == "rest":
        return "any number of values"
    words = parameter.annotation.split(" | ")
    meant = [word for word in words if word != "int" or "Axes" not in words]
    taken = ", or ".join(MEANINGS.get(word, word) for word in meant)
    return taken if parameter.is_required else f"{taken}; {parameter.default!r} unless given"
