"""Rejected programs: annotations that say nothing sensible (RX0108)."""

from __future__ import annotations

from relaxscript.script import relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- annotations


@rejected
def test_a_shape_that_lacks_its_comma():
    @R.function
    def f(x: R.Tensor((4), "float32")):
    #                  ^ error: RX0108 a shape is a tuple, this is a single number
    #                      help: write `(4,)`
    #                      fix: 4,
        return x


@rejected
def test_a_shape_that_is_a_string():
    @R.function
    def f(x: R.Tensor("n", "float32")):
    #                 ^^^ error: RX0108 "n" is not a shape
    #                       help: write `("n",)`
    #                       fix: ("n",)
        return x


@rejected
def test_a_misspelt_data_type():
    @R.function
    def f(x: R.Tensor((4,), "flaot32")):
    #                       ^^^^^^^^^ error: RX0108 "flaot32" is not a dtype
    #                                   help: did you mean "float32"?
    #                                   fix: "float32"
        return x


@rejected
def test_a_data_type_that_relax_has_not():
    @R.function
    def f(x: R.Tensor((4,), "int4")):
    #                       ^^^^^^ error: RX0320 Relax has no dtype "int4"
    #                                help: did you mean "int8"?
    #                                fix: "int8"
        return x


@rejected
def test_a_misspelt_keyword_of_an_annotation():
    @R.function
    def f(x: R.Tensor((4,), dtyp="float32")):
    #                       ^^^^ error: RX0108 `R.Tensor` has no parameter `dtyp`
    #                            help: did you mean `dtype`?
    #                            fix: dtype
        return x


@rejected
def test_too_many_arguments_of_an_annotation():
    @R.function
    def f(x: R.Shape((4,), 1, 2)):
    #        ^^^^^^^^^^^^^^^^^^^ error: RX0108 `R.Shape` takes 2 arguments, not 3
        return x


@rejected
def test_a_rank_that_disagrees_with_the_shape():
    @R.function
    def f(x: R.Tensor((2, 3), "float32", ndim=3)):
    #                                         ^ error: RX0310 ndim is 3, but the shape has 2
    #        | dimensions
        return x


@rejected
def test_two_data_types_in_brackets():
    @R.function
    def f(x: R.Tensor[R.f32, R.i8, 4], s: R.Shape[R.i64, 4]):
    #                        ^^^^ error: RX0108 `R.i8` is not a dimension
    #                help: a dimension is a whole number, a name such as "n", or arithmetic of these
    #                                             ^^^^^ error: RX0108 `R.i64` is not a dimension
    #                help: a dimension is a whole number, a name such as "n", or arithmetic of these
        return x


@rejected
def test_a_dtype_in_quotes_before_the_dimensions_in_brackets():
    @R.function
    def f(x: R.Tensor["float32", 4], y: R.Tensor["f32", n, 4]):  # noqa: UP037
    #                 ^^^^^^^^^ error: RX0108 a dtype before dimensions is not in quotes
    # help: write `R.f32`
    # fix: R.f32
    #                                            ^^^^^ error: RX0108 a dtype before dimensions is
    #                                            | not in quotes
    # help: write `R.f32`
    # fix: R.f32
        return x


@rejected
def test_dimensions_in_brackets_of_which_only_some_are_known():
    @R.function
    def f(x: R.Tensor[R.f32, None, 4], y: R.Tensor[R.f32, ..., 4]):
    #                        ^^^^ error: RX0108 `None` is not a dimension
    # help: name an extent that is not known: `"n"`, or say the rank only: `ndim=2`
    #                                                     ^^^ error: RX0108 `...` is not a dimension
    # help: a dimension is a whole number, a name such as "n", or arithmetic of these
        return x


@rejected
def test_a_new_dimension_in_brackets_where_none_can_be_introduced():
    @R.function
    def f(x: R.Tensor((4,), "int64")):
        s: R.Shape["n"] = R.shape_of(x)  # noqa: UP037
        #          ^^^ error: RX0109 the dimension `n` is not defined here
        #       help: name it in a parameter, or write `n = T.int64()` before an `R.match_cast`
        return s


@rejected
def test_a_new_dimension_of_a_match_cast_that_nobody_declared():
    @R.function
    def f(x: R.Tensor((4,), "int64")):
        s = R.match_cast(x, R.Tensor(("n",), "int64"))
        #                             ^^^ error: RX0109 the dimension `n` is not defined here
        # help: name it in a parameter, or write `n = T.int64()` before an `R.match_cast`
        return s


@rejected
def test_brackets_that_add_to_what_takes_nothing():
    @R.function
    def f(
        a: R.Annotated[R.Tensor[R.f32, ...], 4],
        #                                    ^ error: RX0108 this cannot be added to
        #                                     | `R.Tensor[R.f32, ...]`
        # help: write `R.Annotated[R.Shape, n, 4]` or `R.Annotated[R.Prim[R.i64], n]`
        b: R.Annotated[R.Prim[R.i64], 4, 5],
        #                             ^ error: RX0108 this cannot be added to `R.Prim[R.i64]`
        # help: write `R.Annotated[R.Shape, n, 4]` or `R.Annotated[R.Prim[R.i64], n]`
        c: R.Annotated[R.Shape],
        #  ^^^^^^^^^^^^^^^^^^^^ error: RX0108 `R.Annotated[R.Shape]` adds nothing
        # help: write `R.Annotated[R.Shape, n, 4]` or `R.Annotated[R.Prim[R.i64], n]`
        d: R.Annotated,
        #  ^^^^^^^^^^^ error: RX0108 `R.Annotated` adds nothing
        # help: write `R.Annotated[R.Shape, n, 4]` or `R.Annotated[R.Prim[R.i64], n]`
    ):
        return a


@rejected
def test_a_negative_dimension():
    @R.function
    def f(x: R.Tensor((2, -3), "float32")):
    #                     ^^ error: RX0108 a dimension cannot be negative, this is -3
        return x


@rejected
def test_a_dimension_that_is_no_whole_number():
    @R.function
    def f(x: R.Tensor((2.5, 3), "float32")):
    #                  ^^^ error: RX0108 `2.5` is not a dimension
    #                help: a dimension is a whole number, a name such as "n", or arithmetic of these
        return x


@rejected
def test_a_value_as_a_dimension():
    @R.function
    def f(x: R.Tensor((4,), "int64")):
        y: R.Tensor((x,), "int64") = x
        #            ^ error: RX0108 a value known only at run time is not a dimension
        #         help: bind its extent first: `n = T.int64()` and `R.match_cast(x, R.Tensor((n,)))`
        return y


@rejected
def test_a_tensor_as_a_shape():
    @R.function
    def f(x: R.Tensor((4,), "int64")):
        y: R.Tensor(x, "int64") = x
        #           ^ error: RX0314 only a shape is allowed here
        return y


@rejected
def test_an_annotation_that_is_none():
    @R.function
    def f(x: 3, y: int):
    #        ^ error: RX0108 `3` is not an annotation
    #            help: write for example `R.Tensor((2, 3), "float32")`
    #              ^^^ error: RX0108 `int` is not an annotation
    #                    help: write `R.Prim("int64")`
    #                    fix: R.Prim("int64")
        return x


@rejected
def test_a_string_that_is_no_dimension():
    @R.function
    def f(x: R.Tensor(("n +", 4), "float32")):
    #                  ^^^^^ error: RX0108 "n +" is not an expression
        return x


@rejected
def test_a_scalar_without_anything_said():
    @R.function
    def f(x: R.Prim()):
    #        ^^^^^^^^ error: RX0108 `R.Prim` needs a dtype or a value
    #                   help: write `R.Prim("int64")`
        return x


@rejected
def test_a_virtual_device_that_the_module_has_not():
    @R.function
    def f(x: R.Tensor((4,), "float32", "cuda:1")):
    #                                  ^^^^^^^^ error: RX0324 `cuda:1` names a virtual device of a
    #        | module, and there is none
    #                                           help: write it out: `I.vdevice("cuda", 1)`
        return x


@rejected
def test_mistakes_in_several_annotations():
    @R.function
    def f(x: R.Tensor((4), "float32"), y: R.Tensor((3,), "flot16")) -> R.Tensor((4), "float32"):
    #                  ^ error: RX0108 a shape is a tuple, this is a single number
    #                      help: write `(4,)`
    #                      fix: 4,
    #                                                    ^^^^^^^^ error: RX0108 "flot16" is not a
    #        | dtype
    #                                                               help: did you mean "float16"?
    #                                                               fix: "float16"
    #                                                                            ^ error: RX0108
    #        | a shape is a tuple, this is a single number
    #                                                                             help: write `(4,)`
    #                                                                                fix: 4,
    #                                                                            ^ error: RX0108
        return x


@rejected
def test_one_argument_of_an_annotation_given_twice():
    @R.function
    def f(x: R.Tensor((4,), "float32", dtype="int8")):
    #                                        ^^^^^^ error: RX0108 `R.Tensor` is given `dtype` twice
        return x


@rejected
def test_arguments_of_other_kinds_than_an_annotation_takes():
    @R.function
    def f(
        a: R.Tensor((4,), 32),
        #                 ^^ error: RX0108 `32` is not a dtype
        #                      help: write for example `"float32"`
        b: R.Tensor(R.Object, "float32"),
        #           ^^^^^^^^ error: RX0108 `Object` is not a shape
        #                      help: write a tuple such as `(2, 3)`
        c: R.Tensor((4,), "float32", "llvm:x"),
        #                            ^^^^^^^^ error: RX0108 "llvm:x" is not a virtual device
        #                                       help: write "kind:index"
        d: R.Tensor((4,), "float32", 1),
        #                            ^ error: RX0108 `1` is not a virtual device
        e: R.Tensor(ndim="two"),
        #                ^^^^^ error: RX0108 `'two'` is not a rank
        #                        help: a rank is a whole number
        f: R.Shape((2, 3), ndim=3),
        #                       ^ error: RX0310 ndim is 3, but the shape has 2 dimensions
        g: R.Prim("void"),
        #         ^^^^^^ error: RX0319 a scalar is a number, not "void"
        #              help: write for example `"int64"`
        h: R.Prim("int32", 1.5),
        #                  ^^^ error: RX0322 the value is float32, the scalar int32
    ):
        return a


@rejected
def test_a_callable_of_two_kinds():
    @R.function
    def f(x: R.Callable((R.Object,), R.Object, derive_func="default_derive")):
    #                                                      ^^^^^^^^^^^^^^^^ error: RX0317 a
    #        | function has `params` or `derive_func`, not both
        return x


@rejected
def test_a_dimension_near_to_one_that_is_known():
    @R.function
    def f(x: R.Tensor(("batch", 4), "float32")) -> R.Tensor(("bacth", 4), "float32"):
    #                                                        ^^^^^^^ error: RX0304 the dimension
    #        | `bacth` is not defined here
    #                                                                  help: did you mean `batch`?
    #                                                                  fix: "batch"
        return x


@rejected
def test_python_values_that_are_no_dimensions():
    small, half = -2, T.float32(0.5)

    @R.function
    def f(
        a: R.Tensor((small,), "float32"),
        #            ^^^^^ error: RX0108 a dimension cannot be negative, this is -2
        b: R.Tensor((True,), "float32"),
        #            ^^^^ error: RX0108 `True` is not a dimension
        #            help: a dimension is a whole number, a name such as "n", or arithmetic of these
        c: R.Tensor((half,), "float32"),
        #            ^^^^ error: RX0108 a dimension is a whole number, this is float32
        d: R.Tensor(("n - 3", "n"), "float32"),
        e: R.Tensor((T.int64(-3),), "float32"),
        #            ^^^^^^^^^^^ error: RX0108 a dimension cannot be negative, this is -3
    ):
        return a


# ---------------------------------------------------------------- annotations in plain Python


@rejected
def test_a_shape_of_plain_python():
    info = R.Tensor(3, "float32")
    #      ^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 a shape is a tuple, this is a single number
    #                               help: write `(3,)`


@rejected
def test_a_dimension_of_plain_python():
    info = R.Tensor((2, None), "float32")
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 `None` is not a dimension
    #                help: a dimension is a whole number, a name such as "n", or arithmetic of these


@rejected
def test_a_negative_dimension_of_plain_python():
    info = R.Tensor((2, -1), "float32")
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 a dimension cannot be negative, this is -1


@rejected
def test_half_a_dimension_of_plain_python():
    info = R.Shape((2.5,))
    #      ^^^^^^^^^^^^^^^ error: RX0108 `2.5` is not a whole number of elements


@rejected
def test_a_misspelt_keyword_of_plain_python():
    info = R.Tensor((2, 4), dtyp="float32")
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 `R.Tensor` has no parameter `dtyp`
    #      help: did you mean `dtype`?


@rejected
def test_a_field_of_a_tuple_by_name_in_plain_python():
    info = R.Tuple(first=R.Object)
    #      ^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 `R.Tuple` has no parameter `first`


@rejected
def test_a_parameter_that_is_a_tuple_of_unknown_fields():
    @R.function
    def f(t: R.Tuple):
        #    ^^^^^^^ error: RX0108 it is not known what fields the parameter `t` has
        #      help: write for example `R.Tuple(R.Tensor, R.Shape)`; `R.Tuple()` has no fields, and
        #      | `R.Object` is any value
        return t[0]


@rejected
def test_a_field_of_a_tuple_by_name():
    @R.function
    def f(x: R.Tuple(first=R.Object)):
        #            ^^^^^ error: RX0108 `R.Tuple` has no parameter `first`
        return x


@rejected
def test_a_dimension_beside_a_cast_that_does_not_bind_it():
    @R.function
    def f(o: R.Object):
        n, q = T.int64(), T.int64()
        y: R.Tensor((q,), "int8") = R.match_cast(o, R.Tensor((n,), "int8"))
        #            ^ error: RX0305 the dimension `q` is used before it is bound
        #        help: bind it first: make it a whole dimension of a parameter or `R.match_cast`
        return y
