"""Annotations as type checkers read them: what they mean in scripts and in plain Python."""

from __future__ import annotations

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import structural_equal
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.script.names.relax_typed import __all__ as TYPED

n = R.dim("n")
anonymous = T.int64()
other = T.int64()
Image = R.Tensor((anonymous, 3), "float32")
gpu = I.vdevice("llvm", 1)
sizes = (2, 3)

SPELLINGS = [
    ("R.Tensor[R.f32, n, 4]", 'R.Tensor((n, 4), "float32")'),
    ("R.Tensor[R.f32, n * 2 + 1, n]", 'R.Tensor((n * 2 + 1, n), "float32")'),
    ("R.Tensor[R.f32, (n, 4)]", 'R.Tensor((n, 4), "float32")'),
    ("R.Tensor[R.f16, 4]", 'R.Tensor((4,), "float16")'),
    ("R.Tensor[R.i64, ()]", 'R.Tensor((), "int64")'),
    ("R.Tensor[R.bool, ...]", 'R.Tensor(dtype="bool")'),
    ("R.Tensor[R.bf16]", 'R.Tensor(dtype="bfloat16")'),
    ("R.Tensor[R.Any, 2, n]", "R.Tensor((2, n))"),
    ("R.Tensor[R.Object, ...]", "R.Tensor"),
    ("R.Tensor[()]", "R.Tensor(())"),
    ("R.Tensor[R.f32, None, None]", 'R.Tensor(dtype="float32", ndim=2)'),
    ("R.Tensor[R.Any, None]", "R.Tensor(ndim=1)"),
    ("R.Tensor[R.f32, n, 4, gpu]", 'R.Tensor((n, 4), "float32", gpu)'),
    ('R.Tensor[R.f32, ..., I.vdevice("llvm", 1)]', 'R.Tensor(dtype="float32", vdevice=gpu)'),
    ('R.Tensor[R.f32, None, I.vdevice("llvm", 1)]', 'R.Tensor(None, "float32", gpu, 1)'),
    ("R.Prim[R.i64]", 'R.Prim("int64")'),
    ("R.Annotated[R.Prim[R.i64], n * 2]", 'R.Prim("int64", n * 2)'),
    ("R.Shape[n, 4]", "R.Shape((n, 4))"),
    ("R.Shape[n * 2]", "R.Shape((n * 2,))"),
    ("R.Shape[sizes]", "R.Shape((2, 3))"),
    ("R.Shape[()]", "R.Shape(())"),
    ("R.Annotated[R.Shape, n, 4]", "R.Shape((n, 4))"),
    ("R.Annotated[R.Shape, (n, 4)]", "R.Shape((n, 4))"),
    ("R.Annotated[R.Shape, None, None]", "R.Shape(ndim=2)"),
    ("R.Callable[..., R.Object]", "R.Callable(ret=R.Object)"),
    ("R.Tuple[R.Tensor[R.f32, n], R.Shape]", 'R.Tuple(R.Tensor((n,), "float32"), R.Shape)'),
    (
        "R.Callable[[R.Tensor[R.f32, 2]], R.Tensor[R.f32, 2]]",
        'R.Callable([R.Tensor((2,), "float32")], R.Tensor((2,), "float32"))',
    ),
]


def parsed(annotation: str):
    head = "n = R.dim('n')\ngpu = I.vdevice('llvm', 1)\nsizes = (2, 3)\n@R.function\n"
    return from_source(f"{head}def f(m: R.Tensor((n,)), x: {annotation}):\n    return x\n")


@pytest.mark.parametrize(("typed", "usual"), SPELLINGS)
def test_each_spelling_means_the_usual_one(typed, usual):
    assert structural_equal(parsed(typed), parsed(usual))


@pytest.mark.parametrize(("typed", "usual"), SPELLINGS)
def test_each_may_have_a_name_in_data_mode(typed, usual):
    head = "n = R.dim('n')\ngpu = I.vdevice('llvm', 1)\nsizes = (2, 3)\n"
    text = "@R.function\ndef f(m: R.Tensor((n,)), x: Named):\n    return x\n"
    assert structural_equal(from_source(f"{head}Named = {typed}\n{text}"), parsed(usual))


@pytest.mark.parametrize(("typed", "usual"), SPELLINGS)
def test_python_makes_the_same_of_them(typed, usual):
    first, second = R.Tuple(eval(typed)), R.Tuple(eval(usual))
    assert structural_equal(first, second, map_free_vars=True)


def test_every_data_type_of_relax_has_a_short_name():
    names = [name for name in TYPED if name != "dim"]
    assert len(names) == 15
    for name in names:
        dtype = getattr(R, name)
        assert str(parsed(f"R.Tensor[R.{name}, 2]").params[1].struct_info.dtype) == dtype
        assert R.const(1, dtype).data.dtype == dtype.numpy


def test_short_names_stand_wherever_a_data_type_does():
    @R.function
    def f(x: R.Tensor[R.f32, n, 4]) -> R.Tensor[R.f16, n, 4]:
        y = R.add(x, R.const(1.0, R.f32))
        z = R.astype(y, R.f16)
        return z

    assert 'R.astype(y, dtype="float16")' in f.script()


def test_dimensions_of_python_belong_to_each_function_by_their_names():
    @R.function
    def f(x: R.Tensor[R.f32, n, 4], y: R.Tensor(("n",), "float32")) -> R.Tensor[R.f32, n, 4]:
        return x

    @R.function
    def g(x: R.Tensor[R.f32, n, 4]):
        return x

    first, second = (p.struct_info.dims[0] for p in f.params)
    assert first is second
    assert first is not n
    assert first is not g.params[0].struct_info.dims[0]
    assert first.name == "n"


def test_variables_without_a_name_have_that_of_pythons_variable_and_are_told_apart():
    @R.function
    def f(x: R.Tensor((anonymous, other), "float32"), y: Image):
        return x

    first, second = f.params[0].struct_info.dims
    assert (first.name, second.name) == ("anonymous", "other")
    assert f.params[1].struct_info.dims[0] is first


def test_an_annotation_of_python_has_the_functions_own_variables():
    @R.function
    def f(y: Image, z: R.Tuple(Image, Image)):
        return y

    assert f.params[0].struct_info.dims[0].name == "anonymous"
    (own,) = {d for p in f.params[1].struct_info.fields for d in p.dims[:1]}
    assert own is f.params[0].struct_info.dims[0]
    assert own is not anonymous


@pytest.mark.parametrize("name", ["2", "", "a b", 3, None])
def test_a_dimension_has_a_name(name):
    with pytest.raises(ValueError, match="a dimension has a name such as `n`"):
        R.dim(name)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ((R.Shape,), "`R.Annotated` adds nothing"),
        ((R.Object, 4), "`R.Annotated` cannot add this to `R.Object`"),
        ((R.Shape, R.f32), "`'float32'` is not a dimension"),
    ],
)
def test_python_refuses_to_add_what_has_no_place(items, message):
    with pytest.raises(DiagnosticError, match=message):
        R.Annotated[items]
