"""What is derived from the declaration of a kind: of those that there are, and of one made here."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from relaxscript.arith import NO, UNKNOWN, YES
from relaxscript.ir import prim, struct_info
from relaxscript.ir.field_roles import Datum, Parts, Sizes, parts_of, with_parts
from relaxscript.ir.node import fields_of, node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.structural_equality import structural_equal, structural_hash
from relaxscript.ir.types import ObjectType
from relaxscript.ir.walk import defined_by, walk
from relaxscript.script import relax as R
from relaxscript.script.names.annotations import AnnotationForm
from relaxscript.sinfo import (
    check_compatibility,
    definable_shape_vars,
    erase_struct_info,
    erase_to_well_defined,
    explain_mismatch,
    free_shape_vars,
    is_subtype,
    shape_var_mapping,
    shape_vars,
    struct_info_parts,
    substitute_shape_vars,
    unify_struct_info,
    with_vdevice_of,
)
from relaxscript.testing.programs import random_module


@node
class MeshStructInfo(StructInfo):
    """A tensor that lies on a mesh of devices, as far as mesh and placement are known."""

    tensor: StructInfo
    mesh: tuple[PrimExpr, ...] | None = None
    axes: int = -1
    placement: str = ""
    noun = "a tensor on a mesh"
    roles = (
        Datum("axes", "number of axes", -1),
        Sizes("mesh", "the mesh is", given="axes"),
        Datum("placement", "placement", ""),
        Parts("tensor", "tensor"),
    )


KINDS = [
    kind
    for kind in [*vars(struct_info).values(), MeshStructInfo]
    if isinstance(kind, type) and issubclass(kind, StructInfo) and kind is not StructInfo
]
N, M, K = (prim.Var(name, "int64") for name in "nmk")


def on_mesh(
    *mesh: Any, tensor: StructInfo | None = None, placement: str = "S[0]"
) -> MeshStructInfo:
    sizes = tuple(map(prim.as_prim, mesh))
    return MeshStructInfo(tensor or TensorStructInfo((N, 4)), sizes, len(sizes), placement)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_field_has_one_role_and_sizes_come_after_what_they_depend_on(
    kind: type[StructInfo],
) -> None:
    names = [role.name for role in kind.roles]
    assert sorted(names) == sorted(f.name for f in fields_of(kind))
    sizes = [role for role in kind.roles if isinstance(role, Sizes)]
    assert len(sizes) <= 1
    assert all(names.index(role.given) < names.index(role.name) for role in sizes)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_has_a_noun_of_its_own_and_a_type_of_its_own_fields(
    kind: type[StructInfo],
) -> None:
    assert [other.noun for other in KINDS].count(kind.noun) == 1
    assert all(hasattr(kind, f.name) for f in fields_of(kind.static_type))


def test_a_new_kind_is_compared_field_by_field() -> None:
    assert is_subtype(on_mesh(2, N), on_mesh(2, N)) is YES
    assert is_subtype(on_mesh(2, N), on_mesh(2, M)) is UNKNOWN
    assert is_subtype(on_mesh(2, N), MeshStructInfo(ObjectStructInfo())) is YES
    assert is_subtype(on_mesh(2), TensorStructInfo((N, 4))) is NO
    unknown = MeshStructInfo(TensorStructInfo((N, 4)))
    assert is_subtype(unknown, on_mesh(2)) is NO
    assert check_compatibility(unknown, on_mesh(2)) is UNKNOWN


@pytest.mark.parametrize(
    ("derived", "base", "expected"),
    [
        (on_mesh(2), on_mesh(3), "dimension 0 is `2`, not `3`"),
        (on_mesh(2), on_mesh(2, 3), "the number of axes is 1, not 2"),
        (on_mesh(2), on_mesh(2, placement="R"), "the placement is S[0], not R"),
        (on_mesh(2, placement=""), on_mesh(2), "the placement is unknown, and S[0] is needed"),
        (
            MeshStructInfo(TensorStructInfo((N, 4)), None, 1, "R"), on_mesh(2, placement="R"),
            "the mesh is unknown, and `(2,)` is needed",
        ),
        (
            on_mesh(2, tensor=TensorStructInfo((N, 4), "int8")), on_mesh(2),
            "in the tensor, the dtype is int8, not float32",
        ),
        (on_mesh(2), ShapeStructInfo(), "it is a tensor on a mesh, not a shape"),
        (
            ObjectStructInfo(), on_mesh(2),
            "nothing is known of it, and a tensor on a mesh is needed",
        ),
    ],
)  # fmt: skip
def test_mismatches_of_a_new_kind_are_told_in_the_words_of_its_declaration(
    derived: StructInfo, base: StructInfo, expected: str
) -> None:
    assert explain_mismatch(derived, base) == expected


def test_the_bound_of_a_new_kind_is_what_both_say() -> None:
    a, b = on_mesh(2, N), on_mesh(2, M, placement="R", tensor=TensorStructInfo((N, 5)))
    expected = MeshStructInfo(TensorStructInfo(ndim=2), None, 2, "")
    assert unify_struct_info(a, b) == expected
    assert unify_struct_info(a, on_mesh(2, N)) is a
    assert unify_struct_info(a, TensorStructInfo((N, 4))) == ObjectStructInfo()


def test_the_variables_of_a_new_kind_are_those_of_its_sizes_and_parts() -> None:
    info = on_mesh(M, K + 1)
    assert shape_vars(info) == [M, K, N]
    assert free_shape_vars(info) == [M, K, N]
    assert definable_shape_vars(info) == [M, N]
    assert defined_by(TupleStructInfo((info,)), info) == [M, N]
    assert list(struct_info_parts(info)) == [info, info.tensor]
    assert definable_shape_vars(TupleStructInfo((info, PrimStructInfo(value=K)))) == [M, N, K]


def test_a_new_kind_binds_variables_and_takes_their_values() -> None:
    known = on_mesh(2, tensor=TensorStructInfo((7, 4)))
    mapping = shape_var_mapping((on_mesh(M),), (known,))
    assert mapping.keys() == {M, N}
    assert substitute_shape_vars(on_mesh(M), mapping) == known
    assert shape_var_mapping((TupleStructInfo((on_mesh(M),)),), (TupleStructInfo((known,)),)) == (
        mapping
    )


def test_a_new_kind_forgets_sizes_that_are_out_of_scope() -> None:
    info = on_mesh(M)
    assert erase_to_well_defined(info, (), {M, N}) is info
    lost = MeshStructInfo(TensorStructInfo(ndim=2), None, 1, "S[0]")
    assert erase_to_well_defined(info, (), ()) == lost
    assert erase_to_well_defined(TupleStructInfo((info,)), (), {N}) == TupleStructInfo(
        (MeshStructInfo(info.tensor, None, 1, "S[0]"),)
    )


def test_a_new_kind_is_equal_hashed_saved_and_rewritten_by_its_fields() -> None:
    one, other = Var("x", on_mesh(2, M)), Var("x", on_mesh(2, K))
    assert structural_equal(one, other, map_free_vars=True)
    assert structural_hash(on_mesh(2)) == structural_hash(on_mesh(2))
    assert not structural_equal(on_mesh(2), on_mesh(3))
    assert pickle.loads(pickle.dumps(on_mesh(2, tensor=ObjectStructInfo()))) == on_mesh(
        2, tensor=ObjectStructInfo()
    )
    tensor = TensorStructInfo((3,))
    assert parts_of(with_parts(on_mesh(2), [tensor])) == (tensor,)
    placed = with_vdevice_of(
        on_mesh(2), on_mesh(2, tensor=TensorStructInfo((N, 4), "float32", "llvm:1"))
    )
    (part,) = parts_of(placed)
    assert isinstance(part, TensorStructInfo)
    assert part.vdevice is not None


def test_a_kind_without_a_type_of_its_own_has_that_of_every_value() -> None:
    assert erase_struct_info(on_mesh(2)) == ObjectType()


def test_every_kind_of_the_language_has_an_annotation_whose_arguments_are_its_fields() -> None:
    forms = [value for value in vars(R).values() if isinstance(value, AnnotationForm)]
    kinds = {form.kind for form in forms}
    assert kinds == {*KINDS, StructInfo} - {MeshStructInfo}  # `R.Annotated` is of no kind
    for form in forms:
        fields = {f.name for kind in (form.kind, form.sized) for f in fields_of(kind)}
        assert {*form.parameters} <= fields


def test_every_kind_of_the_language_is_drawn_by_random_programs() -> None:
    functions = (f for seed in range(20) for f in random_module(seed).functions.values())
    drawn = {type(part) for function in functions for part in walk(function)}
    assert {*KINDS} - {MeshStructInfo} <= drawn


def test_a_variable_without_struct_info_has_no_shape_variables() -> None:
    nothing: Any = Var("x").struct_info
    assert nothing is None
    assert definable_shape_vars(nothing) == shape_vars(nothing) == free_shape_vars(nothing) == []
    assert shape_var_mapping((nothing,), (on_mesh(2),)) == {}
    assert substitute_shape_vars(nothing, {N: 2}) is None
    assert erase_to_well_defined(nothing) is None
