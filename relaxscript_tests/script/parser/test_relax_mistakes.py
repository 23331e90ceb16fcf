"""Mistakes in Relax scripts: each is reported once, at its exact place, with no consequence."""

from __future__ import annotations

from relaxscript.testing.rejected import check_rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- decorators and options


def test_an_option_is_offered_the_nearest_one():
    check_rejected(
        """
        @R.function(pure=True, privat=True)
        #                      ^^^^^^ error: RX0103 `R.function` has no option `privat`
        # help: did you mean `private`?
        # fix: private
        def f(x: R.Object):
            return x
        """
    )


def test_an_option_is_true_or_false():
    check_rejected(
        """
        @R.function(pure=3)
        #                ^ error: RX0104 `pure` must be written as a literal
        # help: write `pure=True` or `pure=False`
        def f(x: R.Object):
            return x
        """
    )


def test_an_option_is_given_by_its_name():
    check_rejected(
        """
        @R.function(True)
        #           ^^^^ error: RX0103 `R.function` takes its options by name
        # help: write `@R.function(pure=...)`
        def f(x: R.Object):
            return x
        """
    )


def test_options_of_a_prim_func_and_of_a_module_are_checked_too():
    check_rejected(
        """
        @I.ir_module(check=True)
        #            ^^^^^ error: RX0103 `I.ir_module` has no option `check`
        # help: did you mean `check_well_formed`?
        # fix: check_well_formed
        class Module:
            @T.prim_func(privat=True)
            #            ^^^^^^ error: RX0103 `T.prim_func` has no option `privat`
            # help: did you mean `private`?
            # fix: private
            def f(x: T.Buffer((2,), "float32")):
                x[0] = T.float32(0)
        """
    )


def test_a_misspelt_decorator_is_reported():
    check_rejected(
        """
        @R.funcion
        #^^^^^^^^^ error: RX0102 `R` has no `funcion`
        # help: did you mean `R.function`?
        # fix: R.function
        def f(x: R.Object):
            return x
        """, mode="data"
    )


def test_a_misspelt_decorator_of_a_class_is_reported():
    check_rejected(
        """
        @I.ir_modul
        #^^^^^^^^^^ error: RX0102 `I` has no `ir_modul`
        # help: did you mean `I.ir_module`?
        # fix: I.ir_module
        class Module:
            @R.function
            def f(x: R.Object):
                return x
        """, mode="data"
    )


def test_a_definition_without_a_decorator_is_no_script():
    check_rejected(
        """
        def f(x: R.Object):
        #   ^ error: RX0104 `f` is neither a Relax function nor a PrimFunc
        # help: decorate it with `@R.function` or `@T.prim_func`
            return x


        class Module:
        #     ^^^^^^ error: RX0104 `Module` is a plain class
        # help: decorate it with `@I.ir_module`
            @R.function
            def g(x: R.Object):
                return x
        """, mode="data"
    )


def test_one_decorator_is_enough():
    check_rejected(
        """
        @I.ir_module
        class Module:
            @T.prim_func
            #^^^^^^^^^^^ error: RX0104 `f` is decorated twice
            # help: leave one of them out
            @R.function
            def f(x: R.Object):
                return x
        """
    )


# ---------------------------------------------------------------- modules


def test_a_module_has_no_bases():
    check_rejected(
        """
        @I.ir_module
        class Module(dict, metaclass=type):
        #            ^^^^ error: RX0104 a module has no base class
        # help: write `class Module:`
        #                  ^^^^^^^^^^^^^^ error: RX0104 a module has no arguments of its class
        # help: write `class Module:`
            @R.function
            def f(x: R.Object):
                return x
        """
    )


def test_only_functions_stand_in_a_module():
    check_rejected(
        """
        @I.ir_module
        class Module:
            class Inner:
            # <^^^^ error: RX0104 only functions can stand in a module
            # help: write it outside the class
                pass

            for i in range(3):
            # <^^ error: RX0104 only functions can stand in a module
            # help: write it outside the class
                pass

            print("hello")
            # <^^^^^^^^^^^^^ error: RX0104 only functions can stand in a module
            # help: write it outside the class

            async def later(x: R.Object):
            # <^^^^ error: RX0104 only functions can stand in a module
            # help: decorate it with `@R.function` or `@T.prim_func`
                return x
        """
    )


def test_the_first_of_two_functions_is_shown():
    check_rejected(
        """
        @I.ir_module
        class Module:
            @R.function
            def f(x: R.Object):
                return x

            @R.function
            def f(x: R.Object):
            #   ^ error: RX0302 the module has two functions `f`
            # help: rename one of them
                return x
        """
    )


def test_a_function_has_no_self():
    check_rejected(
        """
        @I.ir_module
        class Module:
            @R.function
            def f(self, x: R.Object):
            #     ^^^^ error: RX0104 a function of a module has no `self`
            # help: leave it out; functions of the module are called as `Module.f(...)`
                return self.g(x)

            @R.function
            def g(x: R.Object):
                return x
        """
    )


def test_self_and_cls_are_explained():
    check_rejected(
        """
        @I.ir_module
        class Module:
            @R.function
            def f(x: R.Object):
                y = self.g(x)
                #   ^^^^ error: RX0101 `self` is not defined
                # help: a module has no `self`: write `Module`, or `cls` after `cls = Module`
                # fix: Module
                z = cls.g(x)
                #   ^^^ error: RX0101 `cls` is not defined
                # help: name the module first: `cls = Module`
                # fix: Module
                return x

            @R.function
            def g(x: R.Object):
                return x
        """
    )


def test_functions_of_the_module_are_listed_where_none_is_near():
    check_rejected(
        """
        @I.ir_module
        class Module:
            @R.function
            def f(x: R.Object):
                return Module.something(x)
                #      ^^^^^^^^^^^^^^^^ error: RX0101 the module has no function `something`
                # help: it has `Module.f`
        """
    )


def test_mutual_recursion_needs_every_result():
    check_rejected(
        """
        @I.ir_module
        class Module:
            @R.function
            def even(x: R.Object) -> R.Object:
                return Module.odd(x)

            @R.function
            def odd(x: R.Object):
            #   ^^^ error: RX0308 `odd` is recursive and does not declare its result
            # help: declare it: `def odd(...) -> R.Tensor(...):`
                return Module.even(x)
        """
    )


def test_a_virtual_device_is_one_of_those_the_module_has():
    check_rejected(
        """
        @I.ir_module
        class Module:
            I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("cuda", 0)]})

            @R.function
            def f(x: R.Tensor((2,), "float32", "cuda:1"), y: R.Tensor((2,), "float32", "metal")):
            #                                  ^^^^^^^^ error: RX0324 the module has no virtual device
            #        | `cuda:1`
            # help: the module has `llvm:0:global`, `cuda:0:global`
            #                                                                          ^^^^^^^ error:
            #        | RX0324 the module has no virtual device `metal`
            # help: the module has `llvm:0:global`, `cuda:0:global`
                return x
        """
    )


# ---------------------------------------------------------------- functions and statements


def test_parameters_have_names_of_their_own():
    check_rejected(
        """
        @R.function
        def f(x: R.Object, y: R.Object, x: R.Object):
        #                               ^ error: RX0302 two parameters are called `x`
        # help: rename one of them
            return y
        """, mode="data"
    )


def test_what_follows_return_is_reported_once():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return x
            y = R.add(x, x)
            # <^^^^^^^^^^^^^^ error: RX0105 nothing can follow `return`
            # help: a function returns once, at its end
            return y
        """
    )


def test_a_function_on_its_own_cannot_call_itself():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return f(x)
            #      ^ error: RX0101 `f` is not defined
            # help: a function that calls itself stands in a module: `cls.f(...)`
        """
    )


def test_a_local_function_that_calls_itself_declares_its_result():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            @R.function
            def loop(y: R.Tensor((2,), "float32")):
                return loop(y)
                #      ^^^^ error: RX0308 `loop` is recursive and does not declare its result

            return loop(x)
        """
    )


def test_the_body_of_a_local_function_is_read_in_spite_of_its_header():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            def g(y: R.Tensr((2,), "float32")):
            #        ^^^^^^^ error: RX0102 `R` has no `Tensr`
            # help: did you mean `R.Tensor`?
            # fix: R.Tensor
                return R.add(y, oops)
                #               ^^^^ error: RX0101 `oops` is not defined

            return g(x)
        """
    )


def test_branches_are_read_in_spite_of_their_condition():
    check_rejected(
        """
        @R.function
        def f(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
            if condition:
            #  ^^^^^^^^^ error: RX0101 `condition` is not defined
                y = R.add(x, first)
                #            ^^^^^ error: RX0101 `first` is not defined
            else:
                y = R.add(x, second)
                #            ^^^^^^ error: RX0101 `second` is not defined
            if x:
            #  ^ error: RX0201 the condition of `if` must be a bool scalar
                z = R.add(x, third)
                #            ^^^^^ error: RX0101 `third` is not defined
            else:
                z = x
            if c:
            #  ^ error: RX0106 this `if` has no `else`
            # help: both ways must bind a value: add `else:` with `w = ...`
                w = R.add(x, fourth)
                #            ^^^^^^ error: RX0101 `fourth` is not defined
            return R.add(y, z)
        """
    )


def test_an_output_closes_its_dataflow_block():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            with R.dataflow():
                y = R.add(x, x)
                R.output(y)
                # <^^^^^^^^^^ error: RX0107 `R.output` stands at the end of a dataflow block
                # help: write it as the last statement of the block, with all names that leave it
                z = R.add(y, y)
            R.output(x)
            # <^^^^^^^^^^ error: RX0107 `R.output` stands at the end of a dataflow block
            # help: write it as the last statement of `with R.dataflow():`
            return x
        """
    )


def test_one_unpacking_binds_each_name_once():
    check_rejected(
        """
        @R.function
        def f(t: R.Tuple(R.Object, R.Object)):
            a, a = t
            #  ^ error: RX0302 `a` is bound twice by one unpacking
            # help: give each field a name of its own, or `_`
            b, *c, d, e = t
            # <^^^^^^^^^^ error: RX0208 3 names cannot take 2 fields
            *g, h = t
            return g
        """
    )


def test_a_statement_that_nests_too_deeply_is_named():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            y = x[0][0][0][0][0][0][0][0]
            #   ^^^^ error: RX0104 `x` is a tensor, and tensors are not indexed with `[]`
            # help: write `R.take(x, index, axis)`
            z = R.add(x, oops)
            #            ^^^^ error: RX0101 `oops` is not defined
            return y
        """
    )


# ---------------------------------------------------------------- expressions


def test_a_dimension_is_used_after_it_was_bound():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor("float32", ndim=2)):
            m = T.int64()
            y = R.reshape(x, (m, 4))
            #                 ^ error: RX0305 the dimension `m` is used before it is bound
            # help: bind it first: let it stand alone in a parameter or in an `R.match_cast`
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
            #   ^^^^^^ error: RX0104 `**` has no meaning in `n ** 2`, which is arithmetic of dimensions
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
            # help: bind its extent first: `n = T.int64()` and `R.match_cast(x, R.Tensor((n,)))`
            return y
        """
    )


def test_elements_of_tuples_are_blamed_one_by_one():
    check_rejected(
        """
        @R.function
        def f(x: R.Object):
            return (x, {"a": 1}, R.add, None)
            #          ^^^^^^^^ error: RX0201 `{'a': 1}` is not a Relax expression
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
            # help: did you mean `R.nn`?
            # fix: R.nn
            z = softmax(x)
            #   ^^^^^^^ error: RX0101 `softmax` is not defined
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
            #              ^^^^^^ error: RX0103 an argument is given by its name, and 3 is no name
            z = {[]: 3}
            #    ^^ error: RX0112 evaluating this Python raised TypeError: unhashable type: 'list'
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
            #                    ^ error: RX0104 `x` is known only later, and an f-string is made now
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
            #   ^^^^^^^^^^^^^^^^^^ error: RX0201 "int3" is not a data type; did you mean "int8"?
            e = R.const([[1], [2, 3]])
            #   ^^^^^^^^^^^^^^^^^^^^^^ error: RX0201 the lists of a constant have different lengths
            g = R.const("text")
            #   ^^^^^^^^^^^^^^^ error: RX0201 a constant is made of numbers, a text is none
            h = R.const(x)
            #   ^^^^^^^^^^ error: RX0201 a constant is made of numbers, this is a value of the program
            i = R.const()
            #   ^^^^^^^^^ error: RX0103 `R.const`: missing a required argument: 'value'
            # help: it is called as `R.const(value, dtype)`
            j = R.const(99999999999999999999)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0201 99999999999999999999 does not fit in int64
            return x
        """
    )


def test_logic_is_blamed_pair_by_pair():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32"), b: R.Tensor((2,), "bool")):
            y = b and x and b
            #         ^ error: RX0202 `x` cannot take these operands
            # note: `x1` has data type bool
            # help: write `R.astype(x2, "bool")`
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
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.match_cast` takes a value and an
            #        | annotation
            # help: write `R.match_cast(x, R.Tensor((n, 4), "float32"))`
            return y
        """
    )


def test_facts_about_arguments_are_sentences():
    check_rejected(
        """
        @R.function
        def f(s: R.Shape(["n"]), g: R.Callable((R.Tensor((2,), "float32"),), R.Tensor), x: R.Tensor((3,), "float32")):
            y = g(s)
            #     ^ error: RX0206 argument 1 does not fit the function's parameter
            # help: the parameter is `R.Tensor((2,), "float32")`
            z = g(x)
            #     ^ error: RX0206 argument 1 does not fit the function's parameter
            # help: the parameter is `R.Tensor((2,), "float32")`
            return y
        """
    )


# ---------------------------------------------------------------- places


def test_places_after_tabs_wide_letters_and_continued_lines():
    check_rejected(
        r"""
        @R.function
        def f(ñ: R.Tensor((2,), "float32")):
        	日本 = R.add(ñ,	ñx)
        	#             ^^ error: RX0101 `ñx` is not defined
        	é = R.add(ñ, \
        	  oops)
        	  # <^^^ error: RX0101 `oops` is not defined
        	return 日本
        """
    )
