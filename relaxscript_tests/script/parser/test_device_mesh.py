"""Distributed tensors in scripts: what is accepted, and each mistake at its place."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import build, from_source
from relaxscript.errors import VMError
from relaxscript.ir import IRModule, Range, assert_structural_equal
from relaxscript.ir.distributed import DeviceMesh, Placement
from relaxscript.ir.struct_info import DTensorStructInfo, TensorStructInfo
from relaxscript.runtime import VirtualMachine
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.script.ir_builder import IRBuilder, ir as BI
from relaxscript.testing import check_rejected

# fmt: off

SQUARE = DeviceMesh((2, 2), Range(0, 4))


@I.ir_module
class OnMeshes:
    I.module_attrs({"device_num": 10})
    I.module_global_infos(
        {"mesh": [R.device_mesh((2, 2), I.Range(0, 4)), R.device_mesh((2,), [7, 5])]}
    )

    @R.function
    def main(
        x: R.DTensor((128, "n"), "float32", device_mesh="mesh[0]", placement="S[0], R"),
        y: R.DTensor(dtype="float32", ndim=1, device_mesh="mesh[1]", placement="S[0]"),
        z: R.DTensor((2,), "int8", R.device_mesh((1,), [3]), "R"),
        w: R.DTensor((3,)),
        s: R.Shape(ndim=1),
        v: R.DTensor(s, device_mesh="mesh[ 1 ]", placement="S[0]"),
    ) -> R.Tuple(R.DTensor((128, "n"), "float32", "mesh[0]", "S[0], R"), R.Object):
        n = T.int64()
        a: R.DTensor((128, n), "float32", "mesh[0]", "S[0], R") = x
        return (a, v)


def test_a_distributed_tensor_says_what_its_annotation_says():
    x, y, z, w, _, v = (param.struct_info for param in OnMeshes["main"].params)
    n = x.tensor_sinfo.dims[1]
    assert x == DTensorStructInfo(TensorStructInfo((128, n), "float32"), SQUARE, "S[0], R")
    other = DeviceMesh((2,), (7, 5))
    assert y == DTensorStructInfo(TensorStructInfo(None, "float32", ndim=1), other, "S[0]")
    assert z.device_mesh == DeviceMesh((1,), (3,))
    assert (w.device_mesh, str(w.placement)) == (DeviceMesh((), (0,)), "")
    assert v.device_mesh == other
    assert OnMeshes.global_infos["mesh"] == (SQUARE, other)


def test_a_module_of_distributed_tensors_prints_the_meshes_by_name_and_parses_back():
    text = OnMeshes.script()
    assert 'x: R.DTensor((128, "n"), "float32", "mesh[0]", "S[0], R")' in text
    assert 'y: R.DTensor(dtype="float32", ndim=1, device_mesh="mesh[1]", placement="S[0]")' in text
    assert 'z: R.DTensor((2,), "int8", R.device_mesh((1,), I.Range(3, 4)), "R")' in text
    assert "R.device_mesh((2,), [7, 5])" in text
    again = from_source(text)
    assert_structural_equal(again, OnMeshes)
    assert again.script() == text


def test_a_function_alone_writes_its_meshes_out_and_parses_back():
    function = OnMeshes["main"]
    text = function.script()
    assert '"float32", R.device_mesh((2, 2), I.Range(0, 4)), "S[0], R")' in text
    assert_structural_equal(from_source(text), function)
    assert repr(SQUARE) == "R.device_mesh((2, 2), I.Range(0, 4))"


def test_a_placement_by_itself_is_its_text():
    placement = Placement.from_text("S[0], R")
    assert placement.script().strip() == '"S[0], R"'
    assert placement.dim_specs[0].script().strip() == '"S[0]"'


def test_of_two_equal_meshes_the_first_name_is_printed():
    mesh = DeviceMesh((2,), (0, 1))
    module = IRModule(dict(OnMeshes.functions), global_infos={"mesh": [SQUARE, mesh, SQUARE]})
    assert "mesh[2]" not in module.script()


@pytest.mark.parametrize("target", ["reference", "llvm"])
def test_one_worker_has_the_whole_of_a_distributed_tensor(target: str):
    machine = VirtualMachine(build(OnMeshes, target))
    x, v = np.ones((128, 3), "float32"), np.ones(4)
    arguments = [np.ones(2, "float32"), np.ones(2, "int8"), np.ones(3), (4,), v]
    a, b = machine["main"](x, *arguments)
    np.testing.assert_array_equal(a, x)
    np.testing.assert_array_equal(b, v)
    with pytest.raises(VMError, match=r"`x\.shape\[0\]` is 127; must be 128"):
        machine["main"](np.ones((127, 3), "float32"), *arguments)


def test_a_name_of_a_mesh_means_that_of_the_module_that_is_being_built():
    with IRBuilder() as ib, BI.ir_module():
        BI.module_global_infos({"mesh": [SQUARE]})
        info = R.DTensor((4,), "float32", "mesh[0]", "S[0], R")
        BI.def_function("main", OnMeshes["main"])
    assert isinstance(ib.get(), IRModule)
    assert info == DTensorStructInfo(TensorStructInfo((4,), "float32"), SQUARE, "S[0], R")


def test_annotations_that_python_evaluates_are_left_to_the_parser():
    @R.function
    def f(x: R.DTensor((4,), "float32", R.device_mesh((2,), I.Range(0, 2)), "S[0]")):
        return x

    assert f.params[0].struct_info.placement == Placement.from_text("S[0]")


def test_meshes_that_cannot_be_are_the_only_mistake():
    check_rejected(
        """
        @I.ir_module
        class M:
            I.module_global_infos({"mesh": [R.device_mesh((2, 2), I.Range(0, 3))]})
            #                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0201 a
            #       | mesh of
            #        | shape (2, 2) has 4 devices, and 3 are numbered
            #                               help: number its devices: `I.Range(0, 4)`

            @R.function
            def main(x: R.DTensor((4,), "float32", "mesh[0]", "R, R")):
                return x
        """
    )


def test_global_infos_that_are_no_meshes():
    check_rejected(
        """
        @I.ir_module
        class M:
            I.module_global_infos({"mesh": R.device_mesh((2,), I.Range(0, 2))})
            #                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0104 the
            #       | global
            #        | infos `mesh` are a list of such infos
            # help: write `{"mesh": [R.device_mesh((2, 2), I.Range(0, 4))]}`

            @R.function
            def main(x: R.DTensor((4,), "float32", "mesh[0]", "R")):
                return x
        """
    )


def test_a_mesh_that_the_module_does_not_list():
    check_rejected(
        """
        @I.ir_module
        class M:
            I.module_global_infos(
                {"mesh": [R.device_mesh((2, 2), I.Range(0, 4)), R.device_mesh((3,), [0, 1, 2])]}
            )

            @R.function
            def main(
                x: R.DTensor((4, 6), "float32", "mesh[2]", "R, R"),
                #                               ^^^^^^^^^ error: RX0324 the module has no mesh
                #       | `mesh[2]`
                #                               help: did you mean `"mesh[0]"`?
                #                               fix: "mesh[0]"
                y: R.DTensor((4, 6), "float32", "nodes", "R, R"),
                #                               ^^^^^^^ error: RX0324 the module has no mesh `nodes`
                #                               help: the module has `mesh[0]`, `mesh[1]`
            ):
                return x
        """
    )


def test_a_mesh_by_name_where_there_is_none():
    check_rejected(
        """
        @I.ir_module
        class M:
            @R.function
            def main(x: R.DTensor((4, 6), "float32", "mesh[0]", "R, R")):
            #                                        ^^^^^^^^^ error: RX0324 the module has no mesh
            #       | `mesh[0]`
            # help: declare it: `I.module_global_infos({"mesh": [R.device_mesh((2, 2), I.Range(0,
            #       | 4))]})`
                return x
        """
    )
    check_rejected(
        """
        @R.function
        def main(x: R.DTensor((4, 6), "float32", "mesh[0]", "R, R")):
        #                                        ^^^^^^^^^ error: RX0324 `mesh[0]` names a mesh of a
        #      | module, and there is none
        #                                        help: write it out: `R.device_mesh((2, 2),
        #       | I.Range(0, 4))`
            return x
        """
    )


def test_placements_that_do_not_fit_the_mesh_or_the_tensor():
    check_rejected(
        """
        @I.ir_module
        class M:
            I.module_global_infos({"mesh": [R.device_mesh((2, 2), I.Range(0, 4))]})

            @R.function
            def main(
                x: R.DTensor((4, 5), "float32", "mesh[0]", "S[0]"),
                #                                          ^^^^^^ error: RX0326 the placement
                #       | "S[0]" is
                #       | for 1 axis of a mesh, and the mesh has 2 axes
                #                                          help: write `"S[0], R"`
                #                                          fix: "S[0], R"
                y: R.DTensor((4, 5), "float32", "mesh[0]", "R, S[1]"),
                #                                          ^^^^^^^^^ error: RX0326 axis 1 has 5
                #       | elements,
                #       | which 2 devices cannot share evenly
                #                                          help: cut an axis that 2 divides, or
                #       | write
                #       | `R` in its place
                z: R.DTensor((4, 5), "float32", "mesh[0]", "S[2], R"),
                #                                          ^^^^^^^^^ error: RX0326 the placement
                #       | "S[2], R" cuts axis 2, and the rank of the tensor is 2
                #                                          help: axes count from 0; `R` leaves the
                #       | tensor whole
                w: R.DTensor((4, 5), "float32", "mesh[0]", "S[0], T"),
                #                                          ^^^^^^^^^ error: RX0108 "S[0], T" is not
                #       | a
                #       | placement
                #                                          help: write `S[axis]` or `R` for each
                #       | axis
                #       | of the mesh, as in `"S[0], R"`
                v: R.DTensor((4, 5), "float32", "mesh[0]", 4),
                #                                          ^ error: RX0108 `4` is not a placement
                #                                          help: write for example `"S[0], R"`
                u: R.DTensor((4, 5), "float32", 3, "R"),
                #                               ^ error: RX0108 `3` is not a mesh of devices
                #                               help: write "mesh[0]", the first of the module's, or
                #       | `R.device_mesh((2, 2), I.Range(0, 4))`
            ):
                return x
        """
    )


def test_another_mesh_or_placement_is_another_annotation():
    check_rejected(
        """
        @I.ir_module
        class M:
            I.module_global_infos(
                {"mesh": [R.device_mesh((2,), I.Range(0, 2)), R.device_mesh((2,), [2, 3])]}
            )

            @R.function
            def main(x: R.DTensor((4,), "float32", "mesh[0]", "S[0]")):
                y: R.DTensor((4,), "float32", "mesh[1]", "S[0]") = x
                #                                                  ^ error: RX0205 the value does
                #       | not fit
                #        | the annotation
                #                                                  help: it is `R.DTensor((4,),
                #       | "float32",
                #        | R.device_mesh((2,), I.Range(0, 2)), "S[0]")`, declared as
                #       | `R.DTensor((4,),
                #        | "float32", R.device_mesh((2,), I.Range(2, 4)), "S[0]")`
                z: R.Tensor((4,), "float32") = x
                #                              ^ error: RX0205 the value does not fit the annotation
                #                              help: it is `R.DTensor((4,), "float32",
                #        | R.device_mesh((2,), I.Range(0, 2)), "S[0]")`, declared as `R.Tensor((4,),
                #        | "float32")`
                return x
        """
    )
