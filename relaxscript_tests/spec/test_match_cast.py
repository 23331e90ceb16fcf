"""MatchCast, kind by kind, on every executor (spec "Evaluating MatchCast", its numbers)."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.runtime import DeviceTensor, PackedFunc, Prim, Shape, cpu
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import every_executor, failure
from relaxscript_tests.spec.rules import accepts, rejects, symbolic

CASTS = from_source("""
@I.ir_module
class Casts:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

    @R.function
    def object(o: R.Object):
        return R.match_cast(o, R.Object)

    @R.function
    def tensor(o: R.Object):
        return R.match_cast(o, R.Tensor)

    @R.function
    def typed(o: R.Object):
        return R.match_cast(o, R.Tensor("float32", ndim=2))

    @R.function
    def placed(o: R.Object):
        return R.match_cast(o, R.Tensor((2,), "float32", "llvm:1"))

    @R.function
    def held(o: R.Object, s: R.Shape):
        return R.match_cast(o, R.Tensor(s, "float32"))

    @R.function
    def computed(o: R.Object, x: R.Tensor(("n",), "float32")):
        n = T.int64()
        s: R.Shape(ndim=2) = R.shape([n, n + 1])
        return R.match_cast(o, R.Tensor(s, "float32"))

    @R.function
    def constant(o: R.Object):
        return R.match_cast(o, R.Tensor((2, 3)))

    @R.function
    def dimensions(o: R.Object, x: R.Tensor(("n",), "float32")):
        n, m = T.int64(), T.int64()
        y = R.match_cast(o, R.Tensor((m, n, m * 2), "float32"))
        return R.shape([m, n])

    @R.function
    def prim(o: R.Object):
        return R.match_cast(o, R.Prim("int64"))

    @R.function
    def float(o: R.Object):
        return R.match_cast(o, R.Prim("float32"))

    @R.function
    def three(o: R.Object):
        return R.match_cast(o, R.Prim(value=3))

    @R.function
    def value(o: R.Object, x: R.Tensor(("n",), "float32")):
        n, k = T.int64(), T.int64()
        a = R.match_cast(o, R.Tuple(R.Prim(value=k), R.Prim(value=n + 1)))
        return R.shape([k])

    @R.function
    def shape(o: R.Object):
        return R.match_cast(o, R.Shape)

    @R.function
    def plane(o: R.Object):
        return R.match_cast(o, R.Shape(ndim=2))

    @R.function
    def sizes(o: R.Object, x: R.Tensor(("n",), "float32")):
        n, m = T.int64(), T.int64()
        a = R.match_cast(o, R.Shape([4, m, n - m]))
        return R.shape([m])

    @R.function
    def unit(o: R.Object):
        return R.match_cast(o, R.Tuple())

    @R.function
    def fields(o: R.Object):
        n = T.int64()
        t = R.match_cast(
            o, R.Tuple(R.Shape([n]), R.Tuple(R.Prim(value=n), R.Tensor((n + n,), "int8")))
        )
        return R.shape([n])
""")


def zeros(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


def refused(load, name, *args):
    """The message of the failure, whose place must be the whole of the cast."""
    error = failure(lambda: load(CASTS)[name](*args))
    assert error.code == "RX0605"
    assert error.span.text.startswith("R.match_cast(")
    return error.diagnostic.message


@accepts("match cast 1")
@every_executor
@pytest.mark.parametrize("value", [None, 5, "text", (), zeros(2), Shape([1]), PackedFunc("f", len)])
def test_any_value_is_an_object(load, value):
    assert load(CASTS).object(value) is value or load(CASTS).object(value) == value


@accepts("match cast 2")
@every_executor
def test_rank_and_data_type_of_a_tensor_are_checked_as_far_as_they_are_given(load):
    model = load(CASTS)
    for value in (zeros(), zeros(2, 3, dtype="int8"), zeros(1, 1, 1)):
        assert model.tensor(value) is value
    assert model.typed(x := zeros(2, 3)) is x


@rejects("match cast 2")
@every_executor
def test_a_value_of_another_kind_is_no_tensor(load):
    for value, words in (
        (5, "an int"),
        (Shape([2]), "the shape (2,)"),
        (None, "None"),
        ((), "tuple"),
    ):
        assert words in refused(load, "tensor", value)
    assert refused(load, "typed", zeros(2)) == "`o.ndim` is 1; must be 2"
    assert refused(load, "typed", zeros(2, 2, dtype="int8")) == "`o.dtype` is int8; must be float32"


@accepts("match cast 2")
@rejects("match cast 2")
@every_executor
def test_a_tensor_must_be_on_the_device_that_is_named(load):
    there = DeviceTensor(zeros(2), cpu(1))
    assert load(CASTS).placed(there) is there
    assert refused(load, "placed", zeros(2)) == "`o` is on cpu:0; must be on cpu:1"


@accepts("match cast 2.1")
@rejects("match cast 2.1")
@every_executor
def test_a_shape_that_a_variable_holds_is_compared_whole(load):
    x = zeros(2, 3)
    assert load(CASTS).held(x, Shape([2, 3])) is x
    assert refused(load, "held", x, Shape([3, 2])) == "`o.shape` is (2, 3); must be `s = (3, 2)`"
    assert "must be `s = (2,)`" in refused(load, "held", x, Shape([2]))


@symbolic("match cast 2.1")
@every_executor
def test_a_shape_that_a_variable_holds_may_have_been_computed(load):
    x = zeros(2, 3)
    assert load(CASTS).computed(x, zeros(2)) is x
    assert "must be `s = (3, 4)`" in refused(load, "computed", x, zeros(3))


@accepts("match cast 2.2")
@rejects("match cast 2.2")
@every_executor
def test_constant_dimensions_are_compared_one_by_one(load):
    x = zeros(2, 3, dtype="int8")
    assert load(CASTS).constant(x) is x
    assert refused(load, "constant", zeros(2, 4)) == "`o.shape[1]` is 4; must be 3"
    assert refused(load, "constant", zeros(2)) == "`o.ndim` is 1; must be 2"


@symbolic("match cast 2.2")
@every_executor
def test_an_unbound_variable_takes_the_dimension_and_bound_ones_must_meet_it(load):
    assert load(CASTS).dimensions(zeros(3, 2, 6), zeros(2)) == Shape([3, 2])
    said = refused(load, "dimensions", zeros(3, 4, 6), zeros(2))
    assert said == "`o.shape[1]` is 4; must be `n = 2` from `x.shape[0]`"
    said = refused(load, "dimensions", zeros(3, 2, 7), zeros(2))
    assert said == "`o.shape[2]` is 7; must be `m * 2` with `m = 3` from `o.shape[0]`, that is 6"


@accepts("match cast 3")
@rejects("match cast 3")
@every_executor
def test_a_prim_value_has_exactly_its_data_type(load):
    model = load(CASTS)
    assert model.prim(-5) == -5
    assert model.float(Prim(1.5, "float32")) == Prim(1.5, "float32")
    assert refused(load, "float", 5) == "`o` is 5 of dtype int64; must be of dtype float32"
    assert refused(load, "prim", True) == "`o` is True of dtype bool; must be of dtype int64"
    assert refused(load, "prim", 5.5) == "`o` is 5.5 of dtype float64; must be of dtype int64"
    assert "`o` is a tensor of shape () and dtype int64" in refused(load, "prim", np.array(5))


@accepts("match cast 3")
@rejects("match cast 3")
@every_executor
def test_the_value_of_a_prim_value_is_compared(load):
    assert load(CASTS).three(3) == 3
    assert refused(load, "three", 4) == "`o` is 4; must be 3"


@symbolic("match cast 3")
@every_executor
def test_a_prim_value_gives_a_variable_its_value(load):
    assert load(CASTS).value((7, 3), zeros(2)) == Shape([7])
    said = refused(load, "value", (7, 4), zeros(2))
    assert said == "`o[1]` is 4; must be `n + 1` with `n = 2` from `x.shape[0]`, that is 3"
    assert "`o[0]` is -1; must be at least 0" in refused(load, "value", (-1, 3), zeros(2))


@accepts("match cast 4")
@rejects("match cast 4")
@every_executor
def test_a_shape_value_has_as_many_dimensions_as_are_asked_for(load):
    model = load(CASTS)
    assert model.shape(Shape([])) == Shape([])
    assert model.plane(Shape([2, 3])) == Shape([2, 3])
    assert refused(load, "plane", Shape([2])) == "`len(o)` is 1; must be 2"
    assert refused(load, "shape", (2, 3)) == "`o` is a tuple of 2; must be a shape"


@symbolic("match cast 4")
@every_executor
def test_dimensions_of_a_shape_value_bind_and_are_compared(load):
    assert load(CASTS).sizes(Shape([4, 2, 1]), zeros(3)) == Shape([2])
    assert refused(load, "sizes", Shape([5, 2, 1]), zeros(3)) == "`o[0]` is 5; must be 4"
    assert refused(load, "sizes", Shape([4, 2, 2]), zeros(3)) == (
        "`o[2]` is 2; must be `n - m` with `n = 3` from `x.shape[0]` and `m = 2` from `o[1]`, "
        "that is 1"
    )


@accepts("match cast 5")
@rejects("match cast 5")
@every_executor
def test_a_tuple_has_as_many_fields_as_are_asked_for(load):
    assert load(CASTS).unit(()) == ()
    assert refused(load, "unit", (1,)) == "`len(o)` is 1; must be 0"
    assert refused(load, "unit", None) == "`o` is None (the null object); must be the empty tuple"
    assert refused(load, "fields", (Shape([3]),)) == "`len(o)` is 1; must be 2"


@symbolic("match cast 5")
@every_executor
def test_fields_share_their_variables(load):
    fields = Shape([3]), (3, zeros(6, dtype="int8"))
    assert load(CASTS).fields(fields) == Shape([3])
    said = refused(load, "fields", (Shape([4]), fields[1]))
    assert said == "`o[1][0]` is 3; must be `n = 4` from `o[0][0]`"
    said = refused(load, "fields", (fields[0], (3, zeros(5, dtype="int8"))))
    assert said == "`o[1][1].shape[0]` is 5; must be `n + n` with `n = 3` from `o[0][0]`, that is 6"
    assert "`o[1][1].dtype`" in refused(load, "fields", (fields[0], (3, zeros(6))))


FUNCTIONS = from_source("""
@I.ir_module
class Functions:
    @R.function
    def pair(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return x

    @R.function
    def any(x: R.Object) -> R.Object:
        return x

    @R.function
    def rows(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("m",), "float32"):
        return R.sum(x, axis=[0])

    @R.function(pure=False)
    def loud(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        u = R.print(x)
        return x

    @R.function
    def closure(o: R.Object):
        return R.match_cast(o, R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32")))

    @R.function
    def impure(o: R.Object):
        f = R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32"), False)
        return R.match_cast(o, f)

    @R.function
    def narrow(o: R.Object):
        return R.match_cast(o, R.Callable((R.Tensor((3,), "int8"),), R.Object))

    @R.function
    def packed(o: R.Object):
        return R.match_cast(o, R.Callable)

    @R.function
    def symbolic(o: R.Object, x: R.Tensor(("k", 3), "float32")):
        k = T.int64()
        return R.match_cast(
            o, R.Callable((R.Tensor((k, 3), "float32"),), R.Tensor((3,), "float32"))
        )

    @R.function
    def sized(o: R.Object, x: R.Tensor(("k",), "float32")):
        k = T.int64()
        return R.match_cast(o, R.Callable((R.Tensor((k,), "float32"),), R.Tensor((k,), "float32")))

    @R.function
    def adder(x: R.Tensor(("k",), "float32")):
        k = T.int64()

        @R.function
        def add(y: R.Tensor((k,), "float32")) -> R.Tensor((k,), "float32"):
            return R.add(x, y)

        return add
""")


def function_refused(load, name, function, *args):
    model = load(FUNCTIONS)
    error = failure(lambda: model[name](function(model), *args))
    assert error.code == "RX0605"
    assert error.span.text.startswith("R.match_cast(")
    return error.diagnostic.message


@accepts("match cast 6")
@every_executor
def test_a_closure_is_taken_for_what_its_own_type_is_a_subtype_of(load):
    model = load(FUNCTIONS)
    assert model.closure(model.pair).name == "pair"
    assert model.impure(model.pair).name == "pair"
    assert model.impure(model.loud).name == "loud"
    assert model.narrow(model.any).name == "any"


@rejects("match cast 6")
@every_executor
def test_parameters_result_and_purity_of_a_closure_are_verified(load):
    said = function_refused(load, "narrow", lambda m: m.pair)
    assert said == (
        "`o` is a closure (`pair`) that does not fit: "
        "in parameter 0, the dtype is int8, not float32"
    )
    said = function_refused(load, "closure", lambda m: m.any)
    assert said.endswith("in the result, nothing is known of it, and a tensor is needed")
    assert function_refused(load, "closure", lambda m: m.loud).endswith("it is impure, not pure")


@accepts("match cast 6")
@rejects("match cast 6")
@every_executor
def test_closures_and_packed_functions_are_told_apart(load):
    model = load(FUNCTIONS)
    assert model.packed(PackedFunc("f", len)).name == "f"
    assert "is a closure (`pair`); must be a packed function" in function_refused(
        load, "packed", lambda m: m.pair
    )
    assert "is a packed function (`f`); must be a function of type" in function_refused(
        load, "closure", lambda m: PackedFunc("f", len)
    )


@symbolic("match cast 6")
@every_executor
def test_shape_variables_of_a_closure_are_matched_under_the_values_in_scope(load):
    model = load(FUNCTIONS)
    assert model.symbolic(model.rows, zeros(5, 3)).name == "rows"
    assert model.sized(model.pair, zeros(2)).name == "pair"
    said = function_refused(load, "sized", lambda m: m.pair, zeros(3))
    assert said == (
        "`o` is a closure (`pair`) that does not fit with `k = 3` from `x.shape[0]`: "
        "in parameter 0, dimension 0 is `3`, not `2`"
    )


@symbolic("match cast 6")
@every_executor
def test_a_closure_keeps_the_values_of_the_variables_that_it_captured(load):
    model = load(FUNCTIONS)
    add = model.adder(zeros(2))
    assert model.closure(add) is add
    said = function_refused(load, "closure", lambda m: m.adder(zeros(3)))
    assert said.endswith("in parameter 0, dimension 0 is `2`, not `3`")


@every_executor
@pytest.mark.parametrize("block", [relax.BindingBlock, relax.DataflowBlock])
def test_a_cast_without_a_variable_checks_and_binds_dimensions(load, block):
    n, x = relax.tir.Var("n", "int64"), relax.Var("x", relax.ObjectStructInfo())
    square = relax.TensorStructInfo((n, n), "float32")
    cast = relax.MatchCast(None, x, square)
    assert (cast.var.name_hint, cast.var.struct_info) == ("_", square)
    blocks = [block([cast, relax.MatchCast(None, x, relax.TensorStructInfo(ndim=2))])]
    attrs = {"global_symbol": "main"}
    body, result = relax.SeqExpr(blocks, relax.ShapeExpr([n])), relax.ShapeStructInfo(ndim=1)
    main = relax.Function([x], body, result, attrs=attrs)
    assert relax.analysis.well_formed(relax.IRModule({"main": main}))
    for function in (main, from_source(main.script())):
        assert relax.ir.structural_equal(function, main)
        program = load(relax.IRModule({"main": function}))
        assert tuple(program.main(np.ones((3, 3), "float32"))) == (3,)
        assert failure(lambda p=program: p.main(np.ones((3, 4), "float32"))).code == "RX0605"
