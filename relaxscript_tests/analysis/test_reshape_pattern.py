"""PrimFuncs that are reshapes, and those that look like one."""

from __future__ import annotations

import pytest

from relaxscript.analysis import has_reshape_pattern
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source


def is_reshape(shapes: str, body: str, dtype: str = "float32") -> bool:
    """True if a function from a buffer into one of other shape is found to be a reshape."""
    source, target = shapes.split(" -> ")
    sizes = "".join(f"    {name} = T.int64()\n" for name in "mn" if name in shapes)
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    function = from_source(
        f'@T.prim_func\ndef f(x: T.Buffer({source}, "float32"), '
        f'y: T.Buffer({target}, "{dtype}")):\n'
        f"{sizes}{lines}\n"
    )
    assert isinstance(function, PrimFunc)
    return has_reshape_pattern(function)


@pytest.mark.parametrize(
    ("shapes", "body"),
    [
        ("(6, 4) -> (24,)", "for a in range(24):\n    y[a] = x[a // 4, a % 4]"),
        ("(24,) -> (6, 4)", "for a, b in T.grid(6, 4):\n    y[a, b] = x[a * 4 + b]"),
        ("(6, 4) -> (3, 8)", "for k in range(24):\n    y[k // 8, k % 8] = x[k // 4, k % 4]"),
        ("(6, 4) -> (6, 1, 4)", "for a, b in T.grid(6, 4):\n    y[a, 0, b] = x[a, b]"),
        ("('n', 4) -> ('n * 4',)", "for a in range(n * 4):\n    y[a] = x[a // 4, a % 4]"),
        ("('n', 'm') -> ('n * m',)", "for a, b in T.grid(n, m):\n    y[a * m + b] = x[a, b]"),
        ("(6, 4) -> (6, 4)", "for b, a in T.grid(4, 6):\n    y[a, b] = x[a, b]"),
        ("(1,) -> ()", "y[()] = x[0]"),
        (
            "(6, 4) -> (24,)",
            "for i, j in T.grid(3, 8):\n    with T.block('y'):\n"
            "        a = T.axis.spatial(24, i * 8 + j)\n        y[a] = x[a // 4, a % 4]",
        ),
    ],
)  # fmt: skip
def test_a_copy_of_elements_in_their_order_is_a_reshape(shapes: str, body: str) -> None:
    assert is_reshape(shapes, body)


@pytest.mark.parametrize(
    ("shapes", "body"),
    [
        ("(6, 4) -> (4, 6)", "for a, b in T.grid(4, 6):\n    y[a, b] = x[b, a]"),
        ("(24,) -> (12,)", "for a in range(12):\n    y[a] = x[a]"),
        ("(24,) -> (24,)", "for a in range(12):\n    y[a] = x[a]"),
        ("(24,) -> (24,)", "for a in range(24):\n    y[a] = x[23 - a]"),
        ("(24,) -> (24,)", "for a in range(24):\n    y[a] = x[a] + T.float32(0)"),
        ("(24,) -> (24,)", "for a in range(24):\n    if a < 12:\n        y[a] = x[a]"),
        ("(24,) -> (24,)", "for a, b in T.grid(24, 0):\n    y[a] = x[a]"),
        ("(24,) -> (24,)", "for a in range(24):\n    y[a] = y[a]"),
        ("(24,) -> (24,)", "for a in range(24):\n    x[a] = y[a]"),
        ("('n', 'm') -> ('m', 'n')", "for a, b in T.grid(m, n):\n    y[a, b] = x[b, a]"),
        ("('n',) -> ('m',)", "for a in range(m):\n    y[a] = x[a]"),
        ("(24,) -> (24,)", "for a in range(24):\n    y[a] = x[a]\n    y[a] = x[a]"),
        (
            "(24,) -> (24,)",
            "for i in range(24):\n    with T.block('y'):\n        a = T.axis.spatial(24, i)\n"
            "        T.where(i < 12)\n        y[a] = x[a]",
        ),
    ],
)  # fmt: skip
def test_anything_else_is_none(shapes: str, body: str) -> None:
    assert not is_reshape(shapes, body)


def test_elements_that_are_converted_are_no_reshape() -> None:
    body = "for a in range(24):\n    y[a] = T.Cast('int32', x[a])"
    assert not is_reshape("(24,) -> (24,)", body, "int32")


def test_two_operands_are_no_reshape() -> None:
    function = from_source(
        '@T.prim_func\ndef f(x: T.Buffer((4,), "float32"), v: T.Buffer((4,), "float32"), '
        'y: T.Buffer((4,), "float32")):\n    for a in range(4):\n        y[a] = x[a]\n'
    )
    assert isinstance(function, PrimFunc)
    assert not has_reshape_pattern(function)
