"""Frames of Relax make what the decorators make, and print to the same scripts."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import topi
from relaxscript.errors import RelaxWarning
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import ShapeExpr, Var, VarBinding
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, ir, relax, tir
from relaxscript.script.ir_builder import IRBuilder, ir as I, relax as R, tir as T


def check(made, expected=None):
    """What was made prints as what parses back to it, and is what was expected."""
    text = made.script(show_meta=True)
    again = from_source(text)
    assert_structural_equal(again, made)
    assert again.script(show_meta=True) == text
    if expected is not None:
        assert_structural_equal(made, expected)
        assert text == expected.script(show_meta=True)
    return text


def test_a_function():
    with IRBuilder() as ib:
        with R.function():
            R.func_name("f")
            R.func_attr({"level": 3})
            x = R.arg("x", R.Tensor(("n", 3), "float32"))
            w = R.arg("w", R.Tensor((3, 4), "float32"))
            R.func_ret_struct_info(R.Tensor(dtype="float32", ndim=2))
            h = R.emit(R.matmul(x, w))
            IRBuilder.name("h", h)
            y = R.emit(R.nn.relu(h))
            IRBuilder.name("y", y)
            R.func_ret_value(y)

    @relax.function
    def f(x: relax.Tensor(("n", 3), "float32"), w: relax.Tensor((3, 4), "float32")) -> relax.Tensor(
        dtype="float32", ndim=2
    ):
        relax.func_attr({"level": 3})
        h = relax.matmul(x, w)
        y = relax.nn.relu(h)
        return y

    made = ib.get()
    check(made, f)
    assert made.params[0] is x
    # A node never changes: what was given a name afterwards is another variable of that name.
    assert (y.name_hint, made.body.body.name_hint) == ("gv1", "y")


def test_a_dataflow_block_and_what_leaves_it():
    with IRBuilder() as ib:
        with R.function():
            R.func_name("f")
            x = R.arg("x", R.Tensor((2, 3), "float32"))
            with R.dataflow() as df:
                lv, gv = R.emit(R.exp(x)), R.emit(R.log(x))
                kept = R.emit(R.add(lv, gv))
                IRBuilder.name_many(["lv", "gv", "kept"], [lv, gv, kept])
                R.output(gv, kept)
            first, second = df.output_vars
            # Both the variable inside and the one that left mean the same after the block.
            IRBuilder.name("out", z := R.emit(R.add(first, kept)))
            R.func_ret_value(z)

    @relax.function
    def f(x: relax.Tensor((2, 3), "float32")):
        with relax.dataflow():
            lv = relax.exp(x)
            gv = relax.log(x)
            kept = relax.add(lv, gv)
            relax.output(gv, kept)
        out = relax.add(gv, kept)
        return out

    assert (first.name_hint, second.name_hint) == ("gv", "kept")
    check(ib.get(), f)


def test_a_module_with_branches_and_declared_functions():
    tensor = R.Tensor((2, 3), "float32")
    with IRBuilder() as ib, I.ir_module():
        I.module_attrs({"version": 1})
        I.module_set_attr("version", 2, allow_overwrite=True)
        assert I.module_get_attr("version") == 2
        assert I.module_get_attrs() == {"version": 2}
        last = I.decl_function("last", R.Callable([tensor], tensor))
        with R.function():
            R.func_name("main")
            c = R.arg("c", R.Tensor((), "bool"))
            x = R.arg("x", tensor)
            with R.If(c) as choice:
                with R.Then():
                    IRBuilder.name("y", R.emit(R.exp(x)))
                with R.Else():
                    IRBuilder.name("y", R.emit(x))
            assert choice.var is not None
            IRBuilder.name("z", z := R.emit(last(choice.var)))
            R.func_ret_value(z)
        with R.function(is_private=True):
            R.func_name("last")
            R.func_ret_value(R.arg("x", tensor))
        assert sorted(v.name_hint for v in I.current_ir_module()) == ["last", "main"]

    @ir.ir_module
    class Module:
        ir.module_attrs({"version": 2})

        @relax.function(private=True)
        def last(x: relax.Tensor((2, 3), "float32")) -> relax.Tensor((2, 3), "float32"):
            return x

        @relax.function
        def main(c: relax.Tensor((), "bool"), x: relax.Tensor((2, 3), "float32")):
            cls = Module
            if c:
                y = relax.exp(x)
            else:
                y = x
            z = cls.last(y)
            return z

    check(ib.get(), Module)


def test_match_casts_bindings_and_annotations():
    m, n = PrimVar("m", "int64"), PrimVar("n", "int64")
    with IRBuilder() as ib:
        with R.function():
            R.func_name("f")
            x = R.arg("x", R.Tensor(ndim=1, dtype="float32"))
            y = R.arg("y", R.Tensor(ndim=1, dtype="float32"))
            IRBuilder.name("a", a := R.emit_match_cast(x, R.Tensor((m,), "float32")))
            IRBuilder.name("b", b := R.emit_match_cast(y, R.Tensor((n,), "float32")))
            v = R.emit_var_binding(VarBinding(Var("v", R.Tensor((n,), "float32")), b))
            with pytest.warns(RelaxWarning, match="checked when the program runs"):
                c = R.emit(R.add(a, v), R.Tensor((m,), "float32"))
            IRBuilder.name("c", c)
            R.func_ret_value(ShapeExpr([m, n * 2]))

    @relax.function
    def f(x: relax.Tensor(ndim=1, dtype="float32"), y: relax.Tensor(ndim=1, dtype="float32")):
        m, n = tir.int64(), tir.int64()
        a = relax.match_cast(x, relax.Tensor((m,), "float32"))
        b = relax.match_cast(y, relax.Tensor((n,), "float32"))
        v: relax.Tensor((n,), "float32") = b
        with_warning = relax.shape([m, n * 2])
        return with_warning

    made = ib.get()
    assert_structural_equal(made.params[0].struct_info, f.params[0].struct_info)
    with pytest.warns(RelaxWarning):
        check(made)


def test_impure_calls_and_operators_by_name():
    with IRBuilder() as ib:
        with R.function(is_pure=False):
            R.func_name("f")
            x = R.arg("x", R.Tensor((2, 3), "float32"))
            call = R.call_packed("test.show", x, sinfo_args=R.Tensor((2, 3), "float32"))
            IRBuilder.name("y", y := R.emit(call))
            IRBuilder.name("z", z := R.emit(R.emit_with_sinfo("relax.exp", [y])))
            R.func_ret_value(z)

    @relax.function(pure=False)
    def f(x: relax.Tensor((2, 3), "float32")):
        y = relax.call_packed("test.show", x, sinfo_args=relax.Tensor((2, 3), "float32"))
        z = relax.exp(y)
        return z

    check(ib.get(), f)


def test_frames_written_by_loops_of_python_run():
    with IRBuilder() as ib, I.ir_module():
        with T.prim_func():
            T.func_name("twice")
            A, B = (T.arg(name, T.Buffer((4,), "float32")) for name in "AB")
            with T.serial(4) as i, T.block("twice"):
                vi = T.axis.spatial(4, i)
                T.buffer_store(B, A[vi] * 2.0, [vi])
        twice = I.decl_function("later", R.Callable([R.Tensor((4,), "float32")],
                                                    R.Tensor((4,), "float32")))  # fmt: skip
        kernel = next(v for v in I.current_ir_module() if v.name_hint == "twice")
        with R.function():
            R.func_name("later")
            x = R.arg("x", R.Tensor((4,), "float32"))
            y = x
            for _ in range(3):
                y = R.emit(R.call_tir(kernel, (y,), R.Tensor((4,), "float32")))
            R.func_ret_value(y)
        with R.function():
            R.func_name("main")
            x = R.arg("x", R.Tensor((4,), "float32"))
            R.func_ret_value(R.emit(twice(x)))
    module = ib.get()
    check(module)
    np.testing.assert_array_equal(rx.jit(module).main(np.ones(4, "float32")), np.full(4, 8.0))


def test_global_infos_and_functions_that_exist():
    @relax.function
    def double(x: relax.Tensor((4,), "float32")):
        return relax.add(x, x)

    with IRBuilder() as ib, I.ir_module():
        I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 0)]})
        assert str(I.lookup_vdevice("cuda", 0)) == "cuda:0:global"
        I.def_function("double", double)
    check(ib.get())


def test_a_builder_is_known_inside_it_only():
    assert not IRBuilder.is_in_scope()
    with IRBuilder() as outer:
        with IRBuilder() as inner:
            assert IRBuilder.current() is inner
        assert IRBuilder.current() is outer
    assert not IRBuilder.is_in_scope()


def test_a_block_builder_prints_to_the_same_script():
    x = Var("x", R.Tensor((2, 3), "float32"))
    bb = rx.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.exp(x), "y")
            z = bb.emit_output(relax.log(y), "z")
        bb.emit_func_output(z)

    @ir.ir_module
    class Module:
        @relax.function
        def main(x: relax.Tensor((2, 3), "float32")):
            with relax.dataflow():
                y = relax.exp(x)
                z = relax.log(y)
                relax.output(z)
            return z

    check(bb.finalize(), Module)


def test_a_name_given_outside_of_any_frame_makes_another_variable():
    x = Var("x", R.Tensor((2,), "float32"))
    y = IRBuilder.name("y", x)
    assert (x.name_hint, y.name_hint) == ("x", "y")
    assert y.struct_info is x.struct_info


def test_a_shape_variable_is_called_by_its_name_in_what_mentions_it():
    n = PrimVar("n", "int64")
    with IRBuilder() as ib, R.function():
        R.func_name("f")
        x = R.arg("x", R.Tensor((n, 2), "float32"))
        IRBuilder.name("rows", n)
        y = R.emit(R.add(x, x))
        IRBuilder.name("twice", y)
        R.func_ret_value(y)
    assert n.name == "n"
    text = check(ib.get())
    assert 'x: R.Tensor(("rows", 2), "float32")' in text
    assert "twice: " in text


def test_tensor_expressions_are_prim_funcs_of_the_module():
    with IRBuilder() as ib, I.ir_module():
        with R.function():
            R.func_name("exp")
            x = R.arg("x", R.Tensor(("n", 4), "float32"))
            with R.dataflow() as df:
                a = R.emit(R.emit_te(topi.exp, x))
                b = R.emit(R.emit_te(topi.exp, a, primfunc_attrs={"level": 1}))
                R.output(b)
            (b,) = df.output_vars
            R.func_ret_value(R.emit(R.emit_te(topi.add, b, x)))
        with R.function():
            R.func_name("main")
            x = R.arg("x", R.Tensor(("n", 4), "float32"))
            R.func_ret_value(R.emit(R.emit_te(topi.exp, x)))
    made = ib.get()
    check(made)
    names = [var.name_hint for var in made.functions]
    assert sorted(names) == ["add", "exp", "exp_1", "exp_2", "main"]
    x = np.ones((2, 4), "float32")
    np.testing.assert_allclose(rx.jit(made).main(x), np.exp(x), rtol=1e-6)
    np.testing.assert_allclose(rx.jit(made).exp(x), np.exp(np.exp(x)) + x, rtol=1e-6)


def test_the_body_of_a_function_has_the_dimensions_of_its_parameters():
    with IRBuilder() as ib, R.function():
        x = R.arg("x", R.Tensor(("n", 4), "float32"))
        R.func_ret_value(R.emit(R.exp(x)))
    assert str(ib.get().body.struct_info) == 'R.Tensor((n, 4), "float32")'
