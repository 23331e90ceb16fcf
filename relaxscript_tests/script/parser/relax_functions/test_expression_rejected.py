"""Mistakes in Relax expressions: each is reported once, at its exact place."""

from __future__ import annotations

from relaxscript.testing.rejected import check_rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- expressions


def test_a_misspelt_dimension_is_offered_the_nearest_one():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor(("batch", 4), "float32")):
            y: R.Tensor((bacth, 4), "float32") = x
            #            ^^^^^ error: RX0109 the dimension `bacth` is not defined here
            # help: did you mean `batch`?
            # fix: batch
            return R.reshape(y, (4, bathc))
            #                       ^^^^^ error: RX0101 `bathc` is not defined
            # help: did you mean `batch`?
            # fix: batch
        """
    )


def test_annotations_hold_no_computation():
    check_rejected(
        """
        @R.function
        def f(
            x: R.Tensor((R.exp(R.exp(R.const(1.0))),), "float32"),
            #                  ^^^^^^^^^^^^^^^^^^^ error: RX0108 nothing can be computed in an
            #        | annotation
            y: R.Tuple(3),
            #          ^ error: RX0108 `3` is not an annotation
            # help: write for example `R.Tensor((2, 3), "float32")`
            z: R.Prim("int64", {}),
            #                  ^^ error: RX0108 `{}` is not the value of a scalar
            # help: a value is a number, a name or arithmetic
        ):
            return x
        """
    )


def test_numbers_of_scripts_do_not_outgrow_the_machine():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            y = 2 ** 100000
            #   ^^^^^^^^^^^ error: RX0104 this number or sequence is too large for a script
            z = "a" * 10000000
            #   ^^^^^^^^^^^^^^ error: RX0104 this number or sequence is too large for a script
            return x
        """, mode="data"
    )


def test_a_dimension_is_used_after_it_was_bound():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor("float32", ndim=2)):
            m = T.int64()
            y = R.reshape(x, (m, 4))
            #                 ^ error: RX0305 the dimension `m` is used before it is bound
            # help: bind it first: make it a whole dimension of a parameter or `R.match_cast`
            z = R.match_cast(x, R.Tensor((m, 4), "float32"))
            return R.reshape(z, (4, m))
        """
    )


def test_arithmetic_that_dimensions_do_not_have():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            a = n ** 2
            #   ^^^^^^ error: RX0104 `**` has no meaning in `n ** 2`, which is arithmetic of
            #        | dimensions
            # help: write the product out: `n * n`
            b = ~n
            #   ^^ error: RX0104 `~` has no meaning in `~n`, which is arithmetic of dimensions
            c = n.value
            #   ^^^^^^^ error: RX0102 `n` is a dimension and has no attribute `value`
            d = n[0]
            #   ^^^^ error: RX0208 `n` is a dimension and cannot be indexed
            e = n()
            #   ^ error: RX0201 `n` is no function and cannot be called
            g = n // 0
            #   ^^^^^^ error: RX0104 a dimension is divided by zero
            return x
        """
    )


def test_a_value_is_no_dimension():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor(("n", 4), "float32")):
            n = R.add(x, x)
            y = R.reshape(x, (n, 4))
            #                 ^ error: RX0108 a value known only at run time is not a dimension
            # help: bind its extent first: `m = T.int64()` and `R.match_cast(n, R.Tensor((m,)))`
            return y
        """
    )


def test_elements_of_tuples_are_blamed_one_by_one():
    check_rejected(
        """
        @R.function
        def f(x: R.Object):
            return (x, {"a": 1}, R.add, None)
            #          ^^^^^^^^ error: RX0201 `{'a': 1}` is a Python dict, and no value of a program
            # help: give its values as a tuple: `(1,)`
            # fix: (1,)
            #                    ^^^^^ error: RX0309 the operator `R.add` may only be called
            #                           ^^^^ error: RX0201 `None` is no value of a program
        """
    )


def test_a_name_of_a_namespace_may_be_missing_its_letter():
    check_rejected(
        """
        @R.function
        def f(x: Tensor((2,), "float32")):
        #        ^^^^^^ error: RX0101 `Tensor` is not defined
        # help: did you mean `R.Tensor`?
        # fix: R.Tensor
            y = nn.relu(x)
            #   ^^ error: RX0101 `nn` is not defined
            # help: did you mean `R.nn.relu`?
            # fix: R.nn.relu
            z = softmax(x)
            #   ^^^^^^^ error: RX0101 `softmax` is not defined
            # help: did you mean `R.nn.softmax`?
            # fix: R.nn.softmax
            return y
        """
    )


def test_letters_of_namespaces_are_not_offered_for_variables():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return R.add(x, t)
            #               ^ error: RX0101 `t` is not defined
        """
    )


def test_what_is_no_function_is_not_called():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            y = 3(x)
            #   ^ error: RX0201 `3` is no function and cannot be called
            z = x(x)
            #   ^ error: RX0201 `x` is a tensor, and only functions can be called
            return y
        """
    )


def test_arguments_of_unpacked_dicts_have_names():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            y = R.add(x, **{3: x})
            #              ^^^^^^ error: RX0103 an argument is given by its name, and 3 is no
            #        | name
            z = {[]: 3}
            #    ^^ error: RX0112 evaluating this Python raised TypeError: unhashable type:
            #        | 'list'
            return x
        """
    )


def test_an_assignment_expression_has_no_consequences():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return R.add((y := x), y)
            #             ^^^^^^ error: RX0104 `:=` cannot be used here
            # help: assign in a statement of its own
        """
    )


def test_an_f_string_is_made_before_the_program_runs():
    check_rejected(
        """
        @R.function(pure=False)
        def f(x: R.Tensor((2,), "float32")):
            R.print(x, format=f"{x} {oops}")
            #                    ^ error: RX0104 `x` is known only later, and an f-string is
            #        | made now
            # help: print values by `R.print(x, format=...)`
            return x
        """
    )


def test_constants_fit_their_data_types():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            a = R.const(3000000000)
            #   ^^^^^^^^^^^^^^^^^^^ error: RX0201 3000000000 does not fit in int32
            b = 3000000000
            #   ^^^^^^^^^^ error: RX0201 3000000000 does not fit in int32
            # help: write `R.const(3000000000, "int64")`
            c = R.const(300, "int8")
            #   ^^^^^^^^^^^^^^^^^^^^ error: RX0201 300 does not fit in int8
            d = R.const(1, "int3")
            #   ^^^^^^^^^^^^^^^^^^ error: RX0201 "int3" is not a dtype
            # help: did you mean "int32"?
            e = R.const([[1], [2, 3]])
            #   ^^^^^^^^^^^^^^^^^^^^^^ error: RX0201 the lists of a constant have different lengths
            g = R.const("text")
            #   ^^^^^^^^^^^^^^^ error: RX0201 a constant is made of numbers, a string is none
            h = R.const(x)
            #   ^^^^^^^^^^ error: RX0201 a constant is made of numbers, this is a value of the
            #     | program
            i = R.const()
            #   ^^^^^^^^^ error: RX0103 `R.const` needs `value`
            # help: it is called as `R.const(value, dtype=None)`
            j = R.const(99999999999999999999)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0201 99999999999999999999 does not fit in
            #     | int64
            return x
        """
    )


def test_logic_is_blamed_pair_by_pair():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32"), b: R.Tensor((2,), "bool")):
            y = b and x and b
            #         ^ error: RX0202 `b and x` cannot take these operands
            # help: write `R.astype(x, "bool")`
            # fix: R.astype(x, "bool")
            return y
        """
    )


def test_a_match_cast_takes_two_arguments():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            y = R.match_cast(x)
            #   ^^^^^^^^^^^^^^^ error: RX0103 `R.match_cast` takes a value and an annotation
            # help: write `R.match_cast(x, R.Tensor((n, 4), "float32"))`
            z = R.match_cast(x, sinfo=R.Tensor)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.match_cast` takes a value and
            #        | an annotation
            # help: write `R.match_cast(x, R.Tensor((n, 4), "float32"))`
            return y
        """
    )


def test_facts_about_arguments_are_sentences():
    check_rejected(
        """
        @R.function
        def f(
            s: R.Shape(["n"]),
            g: R.Callable((R.Tensor((2,), "float32"),), R.Tensor),
            x: R.Tensor((3,), "float32"),
        ):
            y = g(s)
            #     ^ error: RX0206 argument 1 does not fit the function's parameter
            # help: the parameter is `R.Tensor((2,), "float32")`
            z = g(x)
            #     ^ error: RX0206 argument 1 does not fit the function's parameter
            # help: the parameter is `R.Tensor((2,), "float32")`
            return y
        """
    )


def test_functions_of_python_do_not_take_values_of_the_program():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            a = round(x)
            #   ^^^^^^^^ error: RX0112 `round` is Python's own, and cannot take values that are
            #        | known only later
            # help: write `R.round(...)`
            b = max(x, x)
            #   ^^^^^^^^^ error: RX0112 `max` is Python's own, and cannot take values that are
            #        | known only later
            # help: write `R.maximum(...)`
            d = round(x)
            #   ^^^^^^^^ error: RX0112 `round` is Python's own, and cannot take values that are
            #        | known only later
            # help: write `R.round(...)`
            return x
        """
    )


def test_a_comprehension_is_over_a_sequence_known_now():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32"), t: R.Object):
            a = [R.exp(y) for y in t]
            #                      ^ error: RX0104 `t` is an object of unknown kind,
            #        | which cannot be gone through
            #  help: only a tuple and values known while the script is parsed can be
            b = [x for i in range(3) if x]
            #                           ^ error: RX0104 a comprehension chooses by values known
            #        | now
            c = [x for i, j in (1, 2)]
            #          ^^^^ error: RX0104 this item of the loop cannot be unpacked
            d = [x for _ in range(1000000000)]
            #               ^^^^^^^^^^^^^^^^^ error: RX0104 this number or sequence is too
            #        | large for a script
            e = [oops for _ in range(3)]
            #    ^^^^ error: RX0101 `oops` is not defined
            return x
        """, mode="data"
    )


def test_declared_values_must_hold_what_they_are_given():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            a: R.Prim("int8") = 300
            #                   ^^^ error: RX0205 the value does not fit the annotation
            # help: it is `R.Tensor((), "int32")`, declared as `R.Prim("int8")`
            b: R.Prim("int64") = 1.5
            #                    ^^^ error: RX0205 the value does not fit the annotation
            # help: it is `R.Tensor((), "float32")`, declared as `R.Prim("int64")`
            c: R.Shape([2, 3]) = (2, 4)
            #                    ^^^^^^ error: RX0205 the value does not fit the annotation
            # help: it is `R.Shape([2, 4])`, declared as `R.Shape([2, 3])`
            d: R.Shape = (2, -4)
            #            ^^^^^^^ error: RX0108 a dimension cannot be negative, this is -4
            e: R.Callable = 3
            #               ^ error: RX0205 the value does not fit the annotation
            # help: it is `R.Tensor((), "int32")`, declared as `R.Callable`
            return x
        """
    )


def test_attributes_of_tensors_are_operators():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2, 3), "float32")):
            e = x.sofmax
            #   ^^^^^^^^ error: RX0102 `x` has no attribute `sofmax`
            # help: did you mean `x.softmax`?
            return x
        """
    )


def test_an_attribute_of_a_packed_function_is_data():
    check_rejected(
        """
        @R.function(pure=False)
        def f(x: R.Tensor((2,), "float32")):
            y = R.call_packed("f", x, kind=R.Object)
            #                         ^^^^^^^^^^^^^ error: RX0103 the attribute `kind` cannot hold a
            #     | Python function
            return y
        """
    )
