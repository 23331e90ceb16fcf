"""Pages of operators: made for each of them, run, and the same wherever they are shown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.cli import main
from relaxscript.cli.operators import operators
from relaxscript.errors import DiagnosticError
from relaxscript.runtime import register_func, remove_global_func
from relaxscript.script import from_source, relax as R
from relaxscript.script.pages.counterparts import COUNTERPARTS, NOT_IN_TVM
from relaxscript.script.pages.examples import EXAMPLES, SCRIPTS

ALL = operators()

every_operator = pytest.mark.parametrize("name", sorted(ALL))

MATMUL = """
The matrix product of the last two axes; the axes before them broadcast.

An operand of rank 1 is a row on the left and a column on the right. That axis is absent in the
result, as in `numpy.matmul`. With `out_dtype` the products are added up in that dtype.
Without it, floats of 16 bits or fewer are added up in float32 and rounded once.

R.matmul(x1, x2, out_dtype=None)

x1         a tensor
x2         a tensor
out_dtype  a dtype such as "float32", or None; None unless given

Types:
    x1: R.Tensor((n, k), "float32")
    x2: R.Tensor((k, m), "float32")
    R.matmul(x1, x2): R.Tensor((n, m), "float32")

Example:
    >>> x1 = np.arange(4, dtype="float32").reshape(2, 2)
    >>> x2 = np.arange(6, dtype="float32").reshape(2, 3)
    >>> R.matmul(x1, x2)
    array([[ 3.,  4.,  5.],
           [ 9., 14., 19.]], dtype=float32)

Compute:
    within 2 times the machine epsilon times the sum of its terms' sizes

Gradient:
    x1: R.matmul(grad, R.permute_dims(x2, axes=[1, 0]))
    x2: R.matmul(R.permute_dims(x1, axes=[1, 0]), grad)

Elsewhere:
    ONNX MatMul
    numpy.matmul
    torch.matmul
    tvm.relax.op.matmul
""".strip()


def test_a_page_says_all_that_is_known_of_an_operator():
    assert R.matmul.__doc__ == MATMUL


@pytest.mark.parametrize("command", ["ops", "explain"])
@pytest.mark.parametrize("name", ["R.matmul", "relax.matmul", "matmul"])
def test_help_and_the_command_show_the_same_page(command, name, capsys):
    assert main([command, name]) == 0
    assert capsys.readouterr().out == f"{MATMUL}\n"


@every_operator
def test_every_operator_has_a_page_with_an_example(name: str) -> None:
    page = inspect.getdoc(ALL[name])
    assert page is not None
    assert f"\nR.{name}(" in page
    assert "Example:\n" in page


def test_examples_and_counterparts_are_of_operators():
    assert not {*EXAMPLES, *SCRIPTS} - set(ALL)
    assert not NOT_IN_TVM - set(ALL)
    assert not set(COUNTERPARTS) - set(ALL)


def double(x: Any) -> Any:
    return 2 * x


def double_into(x: Any, out: Any) -> Any:
    out[:] = 2 * x
    return out


@pytest.fixture
def packed() -> Iterator[None]:
    register_func("my.double", double)
    register_func("my.double_into", double_into)
    yield
    remove_global_func("my.double")
    remove_global_func("my.double_into")


@pytest.mark.parametrize("target", ["llvm", "reference"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_on_a_page_uses_the_operator_and_runs(name, target, packed, capsys):
    assert f"R.{name}(" in SCRIPTS[name] or name == "compute_prim_value"
    machine = rx.VirtualMachine(rx.build(from_source(SCRIPTS[name]), target))
    assert machine["main"](np.arange(3, dtype="float32")) is not None


@pytest.mark.parametrize("name", COUNTERPARTS)
def test_a_counterpart_of_numpy_is_there_and_one_of_onnx_has_a_name_of_its_kind(name):
    for word in COUNTERPARTS[name].split():
        if word.startswith("numpy."):
            found: Any = np
            for part in word.split(".")[1:]:
                if part == "astype" and not hasattr(np, "astype"):
                    continue  # numpy 1 has it as a method only
                found = getattr(found, part)
        elif "." not in word:
            assert re.fullmatch(r"([A-Z][A-Za-z]+)+", word)


def test_all_operators_are_listed_with_the_first_line_of_their_page(capsys):
    assert main(["ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(ALL)
    assert any(re.match(r"R\.nn\.softmax +`exp\(x\)` divided by its sum", line) for line in lines)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("sofmax", "R.nn.softmax"), ("R.transpose", "R.permute_dims"), ("relu", "R.nn.relu")],
)
def test_an_operator_that_there_is_not_is_a_mistake_told_with_the_nearest(name, meant, capsys):
    assert main(["ops", name]) == 2
    said = capsys.readouterr().err
    assert f"there is no operator `R.{name.removeprefix('R.')}`" in said
    assert f"did you mean `{meant}`?" in said


def test_the_page_of_a_user_s_operator_has_what_is_known(capsys):
    from relaxscript.opdef import Tensor, op, remove_op

    @op("my.same")
    def same(x: Tensor) -> Tensor:
        """The tensor as it is."""
        return x

    same.infer_rule(lambda context, x: x)
    same.lacks("gradient", "nobody needs it")
    try:
        page = str(same.__doc__)
    finally:
        remove_op("my.same")
    assert page.startswith("The tensor as it is.\n\nR.my.same(x)\n\nx  a tensor\n\nTypes:\n")
    assert page.endswith("Gradient:\n    none: nobody needs it")


def test_what_is_no_operator_is_still_explained_as_a_code():
    with pytest.raises(DiagnosticError, match="there is no diagnostic code `foo`"):
        rx.explain("foo")
