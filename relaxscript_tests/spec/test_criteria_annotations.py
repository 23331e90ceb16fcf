"""Criteria 14 to 24 of "Well-Formedness Criteria", in scripts: annotations, attributes, calls."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.analysis import ill_formed
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing import rejected

from .rules import accepts, rejects, symbolic

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

F4 = relax.TensorStructInfo((4,), "float32")

# ---------------------------------------------------------------- 14 to 16: what is in scope


@accepts("criterion 14", "criterion 15", "criterion 16")
@symbolic("criterion 14", "criterion 15", "criterion 16")
def test_annotations_use_the_dimensions_that_are_in_scope():
    @R.function
    def f(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")):
        n, m = T.int64(), T.int64()
        y: R.Tensor((n,), "float32") = R.exp(x)
        s: R.Shape([n, n + 1]) = R.shape([n, n + 1])
        p: R.Prim(value=n + 2) = R.prim_value(n + 2)
        j = R.match_cast(k, R.Prim(value=m))
        t: R.Shape([m]) = R.shape([m])
        return (y, s, p, j, t)

    assert not ill_formed(f)
    _, s, p, j, t = relax.jit(relax.IRModule({"f": f})).f(np.ones(3, "float32"), 5)
    assert (s, p, j, t) == ((3, 4), 5, 5, (5,))


@accepts("criterion 14")
def test_a_shape_may_be_a_variable_that_holds_one():
    @R.function
    def f(s: R.Shape(ndim=1), x: R.Tensor(s, "float32")) -> R.Tensor(s, "float32"):
        y: R.Tensor(s, "float32") = R.exp(x)
        return y

    assert not ill_formed(f)
    assert repr(f.params[1].struct_info) == 'R.Tensor(s, "float32")'
    assert f.params[1].struct_info.ndim == 1


@rejects("criterion 14")
@symbolic("criterion 14")
@rejected
def test_the_shape_of_a_tensor_cannot_use_a_dimension_without_a_value():
    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32")):
        m = T.int64()
        y: R.Tensor((m,), "float32") = x
        #            ^ error: RX0314 the dimension `m` is used before it is bound
        return y


@rejects("criterion 14")
@rejected
def test_what_is_no_shape_cannot_stand_for_one():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y: R.Tensor(x, "float32") = x
        #           ^ error: RX0314 only a shape is allowed here
        #           - label: is `R.Tensor((4,), "float32")`
        return y


@rejects("criterion 14")
@rejected
def test_a_shape_that_is_not_in_scope_cannot_stand_in_an_annotation():
    @R.function
    def f(x: R.Tensor(ndim=1, dtype="float32")):
        y: R.Tensor(s, "float32") = x
        #           ^ error: RX0101 `s` is not defined
        s = R.shape_of(x)
        return y


@rejects("criterion 14")
@rejected
def test_the_declared_result_of_a_packed_function_uses_what_is_in_scope():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        m = T.int64()
        return R.call_pure_packed("p", x, sinfo_args=R.Tensor((m,), "float32"))
        #                                                      ^ error: RX0314 the dimension `m` is
        #        | used
        #                                                      | before it is bound


@rejects("criterion 15")
@symbolic("criterion 15")
@rejected
def test_a_shape_annotation_cannot_use_a_dimension_without_a_value():
    @R.function
    def f(s: R.Shape(ndim=1)):
        m = T.int64()
        t: R.Shape([m]) = s
        #           ^ error: RX0315 the dimension `m` is used before it is bound
        return t


@rejects("criterion 16")
@symbolic("criterion 16")
@rejected
def test_the_value_of_a_prim_annotation_cannot_use_a_dimension_without_a_value():
    @R.function
    def f(k: R.Prim("int64")):
        m = T.int64()
        j: R.Prim(value=m) = k
        #               ^ error: RX0316 the dimension `m` is used before it is bound
        return j


# ---------------------------------------------------------------- 17 to 20: what annotations hold


@accepts("criterion 17")
def test_a_function_annotation_has_parameters_or_derives_results():
    @R.function(pure=False)
    def f(
        g: R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32"), True),
        h: R.Callable(derive_func="default_derive"),
        x: R.Tensor((4,), "float32"),
    ):
        y = g(x)
        return h(y, sinfo_args=R.Tensor((2,), "float32"))

    assert not ill_formed(f)
    assert repr(f.ret_struct_info) == 'R.Tensor((2,), "float32")'


@rejects("criterion 17")
@rejected
def test_a_function_annotation_cannot_have_both_parameters_and_a_derivation():
    @R.function
    def f(g: R.Callable((R.Object,), R.Object, True, derive_func="default_derive")):
    #                                                            ^^^^^^^^^^^^^^^^ error: RX0317 a
    #        | function
    #                                                            | has `params` or `derive_func`,
    #        | not both
        return g


@accepts("criterion 18")
def test_a_prim_value_holds_a_number_and_what_is_computed_is_a_call():
    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        return (R.prim_value(3), R.prim_value(1.5), R.prim_value(n + 1))

    assert not ill_formed(f)
    (binding,) = f.body.blocks[0].bindings
    assert binding.value.op.name == "relax.compute_prim_value"
    assert relax.jit(relax.IRModule({"f": f})).f(np.ones(2, "float32")) == (3, 1.5, 3)


@rejects("criterion 18")
@rejected
def test_a_prim_value_made_by_hand_cannot_hold_what_is_computed():
    held = relax.PrimValue(relax.tir.Var("n", "int64") + 1)

    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        return held
        #      ^^^^ error: RX0318 a PrimValue holds a number, not `n + 1`
        #           help: what is computed is written `R.prim_value(...)`


@accepts("criterion 19")
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "bfloat16", "bool"])
def test_a_prim_annotation_is_of_a_number(dtype):
    f = from_source(f'@R.function\ndef f(k: R.Prim("{dtype}")):\n    return k')
    assert not ill_formed(f)
    assert f.ret_struct_info.dtype == dtype


@rejects("criterion 19")
@rejected
def test_a_prim_annotation_cannot_be_of_a_handle():
    @R.function
    def f(k: R.Prim("handle")):
    #               ^^^^^^^^ error: RX0319 a scalar is a number, not "handle"
        return k


SUPPORTED = [
    "bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (1, 8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)), "bfloat16", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip


@accepts("criterion 20")
@pytest.mark.parametrize("dtype", SUPPORTED)
def test_the_widths_of_the_specification_and_those_of_ml_dtypes_are_taken(dtype):
    f = from_source(f'@R.function\ndef f(x: R.Tensor((4,), "{dtype}")):\n    return x')
    assert not ill_formed(f)


@rejects("criterion 20")
@pytest.mark.parametrize(
    "dtype",
    ["int4", "int7", "int24", "int128", "uint2", "float80", "float128", "float32x4"],
)
def test_no_other_width_is_taken_and_no_vector(dtype):
    text = f'@R.function\ndef f(x: R.Tensor((4,), "{dtype}"), k: R.Prim("{dtype}")):\n    return x'
    with pytest.raises(relax.DiagnosticError) as raised:
        from_source(text)
    assert [(d.code, d.span.text) for d in raised.value.diagnostics] == [
        ("RX0320", f'"{dtype}"'), ("RX0320", f'"{dtype}"'),
    ]  # fmt: skip


# ---------------------------------------------------------------- 21 to 24


@accepts("criterion 21")
def test_a_pure_function_may_ask_to_be_trusted():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.func_attr({"relax.force_pure": True})
        R.print(x, format="{}")
        return x

    assert not ill_formed(f)
    assert f.is_pure


@rejects("criterion 21")
@rejected
def test_an_impure_function_cannot_ask_to_be_trusted():
    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
    #   ^ error: RX0321 `f` is declared impure and forced to be pure
    #     help: leave out `pure=False`, or the attribute `relax.force_pure`
        R.func_attr({"relax.force_pure": True})
        return x


@accepts("criterion 22")
def test_the_value_of_a_prim_annotation_has_its_data_type():
    @R.function
    def f(j: R.Prim("int32", value=3), k: R.Prim(value=T.int64(3))):
        return (j, k)

    assert not ill_formed(f)
    assert [str(p.struct_info.value.dtype) for p in f.params] == ["int32", "int64"]


@rejects("criterion 22")
@rejected
def test_the_value_of_a_prim_annotation_cannot_have_another_data_type():
    @R.function
    def f(k: R.Prim("int32", value=T.int64(3))):
    #                              ^^^^^^^^^^ error: RX0322 the value is int64, the scalar int32
    #                                         help: give the value alone
        return k


@accepts("criterion 23", "normal form 5")
def test_arguments_of_a_prim_func_are_brought_into_a_tuple_that_is_written_out():
    @I.ir_module
    class Module:
        @T.prim_func
        def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i]

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            args = (x,)
            return R.call_tir(cls.copy, args, out_sinfo=R.Tensor((4,), "float32"))

    assert not ill_formed(Module)
    call = Module["main"].body.blocks[0].bindings[-1].value
    assert isinstance(call.args[1], relax.Tuple)


@rejects("criterion 23")
@rejected
def test_what_is_no_tuple_cannot_be_brought_into_one():
    @I.ir_module
    class Module:
        @T.prim_func
        def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i]

        @R.function
        def main(s: R.Shape([4])):
            cls = Module
            return R.call_tir(cls.copy, s, out_sinfo=F4)
            #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0201 `R.call_tir` cannot take
            #        | these operands


@accepts("criterion 24")
def test_devices_that_the_module_lists_may_be_named():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32", "llvm:1")):
            return x

    assert not ill_formed(Module)
    assert Module["main"].params[0].struct_info.vdevice.vdevice_id == 1


@rejects("criterion 24")
@rejected
def test_a_device_that_the_module_does_not_list_cannot_be_named():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0)]})

        @R.function
        def main(x: R.Tensor((4,), "float32", "llvm:1")):
        #                                     ^^^^^^^^ error: RX0324 the module has no virtual
        #        | device
        #                                            | `llvm:1`
        #                                       help: the module has `llvm:0`
            return x
