"""Accepted programs: annotations in all their spellings, and what they mean."""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import relax as R
from relaxscript_tests.script.parser.round_trip import accepted

HEAD = (
    "@R.function\n"
    'def main(s: R.Shape(ndim=2), t: R.Tensor(("n", "m"), "int8"), x: {}):\n    return x\n'
)

ANNOTATIONS = [
    "R.Tensor",
    "R.Tensor()",
    'R.Tensor("float32")',
    "R.Tensor((2, 3))",
    "R.Tensor([2, 3])",
    'R.Tensor((2, 3), "float32")',
    'R.Tensor(("n", 3), dtype="float32")',
    "R.Tensor(ndim=2)",
    'R.Tensor(dtype="int8", ndim=3)',
    "R.Tensor(())",
    "R.Tensor([])",
    'R.Tensor((), "bool")',
    'R.Tensor(("k",), "bfloat16")',
    'R.Tensor(("n * m + 1",), "int8")',
    'R.Tensor(("n // 2", "n % 3"))',
    'R.Tensor(("max(n, m)", "min(n, 4)"))',
    'R.Tensor(("n", "n", 0, 1))',
    'R.Tensor((2, 3), "float8_e4m3fn")',
    "R.Tensor[(2, 3)]",
    'R.Tensor[(n, 3), "float32"]',
    'R.Tensor[_, "float32"]',
    'R.Tensor["float32"]',
    "R.Shape",
    "R.Shape()",
    "R.Shape([2, 3])",
    'R.Shape(("n", "k"))',
    "R.Shape([])",
    "R.Shape(ndim=3)",
    'R.Prim("int64")',
    'R.Prim("bool")',
    "R.Prim(value=3)",
    'R.Prim(value="k")',
    'R.Prim("float32")',
    'R.Prim("int64", 4)',
    'R.Prim("float16", 1.5)',
    "R.Object",
    "R.Object()",
    "R.Any",
    "R.Tuple()",
    "R.Tuple(R.Tuple)",
    "R.Tuple(R.Tensor)",
    'R.Tuple(R.Tensor(("n",), "int8"), R.Shape, R.Object)',
    'R.Tuple([R.Tensor((2,)), R.Prim("int64")])',
    "R.Tuple(R.Tuple(R.Tuple(R.Tensor)))",
    "R.Callable",
    "R.Callable()",
    "R.Callable((R.Tensor,), R.Tensor)",
    "R.Callable([R.Tensor], R.Object, purity=False)",
    "R.Callable((), R.Tuple())",
    "R.Callable(ret=R.Tensor)",
    "R.Callable(purity=True)",
    'R.Callable((R.Tensor(("a", "b"), "int8"),), R.Tensor(("b", "a"), "int8"), True)',
    'R.Callable(derive_func="tests.derive", purity=False)',
    'R.Callable((R.Callable((R.Tensor(("a",)),), R.Tensor(("a",))), R.Tensor((2,))), R.Tensor)',
    '"R.Tensor((2, 3), \\"float32\\")"',
    "(R.Tensor, R.Shape)",
    "[R.Tensor, R.Object]",
    "None",
]


@pytest.mark.parametrize("annotation", ANNOTATIONS)
def test_an_annotation_is_accepted_and_printed_back(annotation):
    accepted(HEAD.format(annotation))


@pytest.mark.parametrize(
    ("older", "today"),
    [
        ('R.Tensor[(2, 3), "float32"]', 'R.Tensor((2, 3), "float32")'),
        ('R.Tensor[(n, k), "float32"]', 'R.Tensor(("n", "k"), "float32")'),
        ('R.Tensor[_, "float32"]', 'R.Tensor(dtype="float32")'),
        ("R.Tensor[2, 3]", "R.Tensor((2, 3))"),
        ('R.Tensor["n", 3]', 'R.Tensor(("n", 3))'),
        ("R.Any", "R.Object"),
        ("None", "R.Tuple()"),
        ("(R.Tensor, R.Shape)", "R.Tuple(R.Tensor, R.Shape)"),
        ('"R.Tensor((2,))"', "R.Tensor((2,))"),
        ("R.Tensor([2, 3])", "R.Tensor((2, 3))"),
        ('R.Tensor("int8")', 'R.Tensor(dtype="int8")'),
    ],
)
def test_two_spellings_of_an_annotation_mean_the_same(older, today):
    assert_structural_equal(accepted(HEAD.format(older)), accepted(HEAD.format(today)))


def test_a_shape_alone_in_brackets_may_have_names():
    n = R.dim("n")

    @R.function
    def f(x: R.Tensor[n, 3], y: R.Tensor[(2 * n, n)]):
        return x

    infos = [param.struct_info for param in f.params]
    assert [str(info) for info in infos] == ["R.Tensor((n, 3))", "R.Tensor((2 * n, n))"]


RESULTS = [
    "R.Tensor",
    'R.Tensor(("n", "m"), "int8")',
    'R.Tensor(("n", "m"))',
    "R.Object",
    "R.Tensor(ndim=2)",
]


@pytest.mark.parametrize("annotation", RESULTS)
def test_a_result_may_be_declared_less_precisely(annotation):
    accepted(
        f'@R.function\ndef main(t: R.Tensor(("n", "m"), "int8")) -> {annotation}:\n    return t\n'
    )


def test_dimensions_may_be_declared_in_the_body():
    accepted(
        """
        @R.function
        def main(
            x: R.Tensor((n, m), "float32"), y: R.Tensor((n * m,), "int8")
        ) -> R.Tensor((m, n), "float32"):
            n, m = T.int64(), T.int64()
            z: R.Tensor((m, n), "float32") = R.permute_dims(x)
            return z
        """
    )
