"""The page of an operator: everything on it is made of what its block declares.

Meaning, signature and parameters are at its top. Below are an example with its types and values,
the accuracy of the compute, the gradient, names in other libraries.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxscript.builder import BlockBuilder
from relaxscript.dtypes import DataType
from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.opdef.composite import CompositeOp
from relaxscript.opdef.gradient import gradients_of, has_gradient
from relaxscript.opdef.operator import Operator
from relaxscript.opdef.shapes import number, tensor_of
from relaxscript.opdef.user_operators import is_user_operator

from .counterparts import COUNTERPARTS, NOT_IN_TVM
from .examples import EXAMPLES, SCRIPTS

__all__ = ["Example", "example_of", "further_sections"]

# The sizes of letters where an example is run.
_SIZES = {"b": 1, "n": 2, "m": 3, "k": 2}
_OPERAND = re.compile(r"(?P<name>\w+):\s*(?P<words>[^=]*?)\s*(?:=\s*(?P<value>.*))?$")


@dataclass(frozen=True)
class Operand:
    """An operand of an example: its declaration, its value, and how that is written."""

    info: TensorStructInfo
    value: Any
    written: str


@dataclass(frozen=True)
class Example:
    """A call of an operator as it is written, and its operands by their names."""

    operands: Mapping[str, Operand]
    call: str

    def build(self) -> relax.Call:
        """The call of variables."""
        variables = {n: relax.Var(n, o.info) for n, o in self.operands.items()}
        call: relax.Call = self._evaluate(variables)
        return call

    def run(self) -> Any:
        """The value of the call."""
        return self._evaluate({name: operand.value for name, operand in self.operands.items()})

    def _evaluate(self, names: Mapping[str, Any]) -> Any:
        from relaxscript.script import relax as namespace

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(self.call, {"R": namespace, **names})  # what is in `examples.py`


def example_of(operator: Operator | CompositeOp) -> Example | None:
    """The example of an operator; one without any is called with matrices, where that goes."""
    text = EXAMPLES.get(operator.script_name)
    if isinstance(operator, Operator) and operator.example is not None:
        text = operator.example
    if text is not None:
        return _read(text)
    required = [p for p in operator.parameters if p.is_required]
    if not required or any(p.wants not in ("tensor", "scalar") for p in required):
        return None
    operands = "".join(f"{p.name}: n m; " for p in required)
    call = f"R.{operator.script_name}({', '.join(p.name for p in required)})"
    example = _read(operands + call)
    try:
        example.build()
        example.run()
    except Exception:  # it was a guess, and the rules of users raise what they like
        return None
    return example


def _read(text: str) -> Example:
    *operands, call = text.split("; ")
    dims: dict[str, prim.Var] = {}
    return Example(dict(_operand(part, dims) for part in operands), call)


def _operand(text: str, dims: dict[str, prim.Var]) -> tuple[str, Operand]:
    """`x: n 4 int64 = [...]`; letters are the same dimensions in all operands."""
    found = _OPERAND.match(text)
    assert found is not None, text
    words = found["words"].split()
    dtype = "float32"
    if words and len(words[-1]) > 1 and not words[-1].isdigit():
        dtype = words.pop()
    shape = [number(int(w)) if w.isdigit() else dims.setdefault(w, _dim(w)) for w in words]
    info = tensor_of(shape, DataType(dtype))
    listed = found["value"]
    if listed is None:
        sizes = tuple(int(w) if w.isdigit() else _SIZES[w] for w in words)
        value = np.arange(np.prod(sizes, dtype=int), dtype=dtype).reshape(sizes)
        reshaped = f".reshape{sizes}" if len(sizes) > 1 else ""
        written = f'np.arange({value.size}, dtype="{dtype}"){reshaped}'
    else:
        value = np.array(eval(listed), dtype)  # numbers in `examples.py`
        written = f'np.array({listed}, "{dtype}")'
    return found["name"], Operand(info, value, written)


def _dim(letter: str) -> prim.Var:
    return prim.Var(letter, DataType("int64"))


def further_sections(operator: Operator | CompositeOp) -> list[str]:
    """The sections of a page below the parameters."""
    found = []
    example = None if operator.script_name in SCRIPTS else example_of(operator)
    if example is not None:
        found.append(_section("Types", _types(example)))
        found.append(_section("Example", _session(example)))
    elif operator.script_name in SCRIPTS:
        found.append(_section("Example", SCRIPTS[operator.script_name].strip("\n").splitlines()))
    if isinstance(operator, Operator):
        found.append(_section("Compute", [_compute(operator)]))
        found.append(_section("Gradient", list(_gradient(operator, example))))
    elsewhere = list(_elsewhere(operator))
    return [*found, _section("Elsewhere", elsewhere)] if elsewhere else found


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([f"{title}:", *(f"    {line}".rstrip() for line in lines)])


def _types(example: Example) -> list[str]:
    """The operands and the result of a call, as scripts annotate them."""
    declared = [f"{name}: {operand.info}" for name, operand in example.operands.items()]
    return [*declared, *f"{example.call}: {example.build().struct_info}".splitlines()]


def _session(example: Example) -> list[str]:
    """A session of Python in which a call is run."""
    with np.printoptions(precision=4, suppress=True, threshold=30):
        value = repr(example.run())
    given = [f">>> {name} = {operand.written}" for name, operand in example.operands.items()]
    return [*given, f">>> {example.call}", *value.splitlines()]


def _compute(operator: Operator) -> str:
    """The accuracy of the PrimFunc that an operator becomes, or why there is none."""
    if "compute" not in operator.rules:
        return f"none: {operator.reasons.get('compute', 'it is called as it is')}"
    ulp, sums = operator.accuracy.ulp, operator.accuracy.sums
    bounds = []
    if ulp:
        bounds.append(f"{ulp:g} {'unit' if ulp == 1 else 'units'} in the last place")
    if sums:
        bounds.append(f"{sums:g} times the machine epsilon times the sum of its terms' sizes")
    return f"within {' and '.join(bounds)}" if bounds else "exact"


def _gradient(operator: Operator, example: Example | None) -> Iterator[str]:
    """The gradient of a loss by each operand, where `grad` is that by the result."""
    if "gradient" not in operator.rules:
        yield f"none: {operator.reasons.get('gradient', 'it computes nothing')}"
        return
    call = None if example is None else example.build()
    if call is None or not isinstance(call, relax.Call) or call.op != operator.op:
        yield "by its rule"
        return
    out = relax.Var("out", call.struct_info)
    if not has_gradient(call.struct_info):
        yield "none: a result of integers or bools has none"
        return
    grad = relax.Var("grad", call.struct_info)
    found = gradients_of(call, out, grad, BlockBuilder().call_te)
    for name, made in zip(operator.operand_names(call), found):
        if made is not None:
            first, *more = str(made).splitlines()
            yield f"{name}: {first}" if not more else f"{name}:"
            yield from (f"    {line}" for line in ([first, *more] if more else []))


def _elsewhere(operator: Operator | CompositeOp) -> Iterator[str]:
    """The names of an operator in other libraries."""
    name = operator.script_name
    onnx = [word for word in COUNTERPARTS.get(name, "").split() if "." not in word]
    others = [word for word in COUNTERPARTS.get(name, "").split() if "." in word]
    yield from (f"ONNX {word}" for word in onnx)
    yield from others
    if name not in NOT_IN_TVM and not is_user_operator(f"relax.{name}"):
        yield f"tvm.relax.op.{name}"
