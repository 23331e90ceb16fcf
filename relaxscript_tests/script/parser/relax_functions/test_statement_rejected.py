"""Mistakes in headers, modules and statements: each is reported once, at its exact place."""

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
        # help: write `@R.function(pure=True)`
        # fix: pure=True
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
        # help: decorate it with `@R.function`
        # fix: @R.function\\n
            return x


        class Module:
        #     ^^^^^^ error: RX0104 `Module` is a plain class
        # help: decorate it with `@I.ir_module`
        # fix: @I.ir_module\\n
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
            # <^^^^ error: RX0104 a module holds functions only
            # help: write it outside the class
                pass

            for i in range(3):
            # <^^ error: RX0104 a module holds functions only
            # help: write it outside the class
                pass

            print("hello")
            # <^^^^^^^^^^^^^ error: RX0104 a module holds functions only
            # help: write it outside the class

            async def later(x: R.Object):
            # <^^^^ error: RX0104 a module holds functions only
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
                # help: write `Module`, or name it first: `cls = Module`
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
            #   ^^^ error: RX0308 `odd` is recursive (through `even`) and has no
            #       | return annotation
            # help: annotate it: `def odd(...) -> R.Tensor(...):`
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
            #                                  ^^^^^^^^ error: RX0324 the module has no virtual
            #        | device `cuda:1`
            # help: the module has `llvm:0`, `cuda:0`
            #                                                                          ^^^^^^^
            #        | error: RX0324 the module has no virtual device `metal`
            # help: the module has `llvm:0`, `cuda:0`
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
            # help: a function that calls itself belongs in a module: `cls.f(...)`
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
                #      ^^^^ error: RX0308 `loop` is recursive and has no return annotation

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
                # <^^^^^^^^^^ error: RX0107 `R.output` belongs at the end of a dataflow block
                # help: write it as the last statement of the block, with all names that leave
                #        | it
                z = R.add(y, y)
            R.output(x)
            # <^^^^^^^^^^ error: RX0107 `R.output` belongs at the end of a dataflow block
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


def test_a_function_does_not_capture_variables_of_its_dataflow_block():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            with R.dataflow():
                y = R.exp(x)

                @R.function
                def inner(z: R.Tensor((2,), "float32")):
                    def deeper(w: R.Tensor((2,), "float32")):
                        return R.add(w, y)
                        #               ^ error: RX0311 `y` belongs to the dataflow block
                        #        | around this function
                        # help: give it to the function as an argument

                    return R.add(deeper(z), x)

                z = inner(y)
                R.output(z)
            return z
        """
    )


def test_attributes_are_names_and_values_known_now():
    check_rejected(
        """
        @R.function
        def f(x: R.Object):
            R.func_attr(3)
            #           ^ error: RX0104 attributes are given as a dict of names and values
            # help: write `R.func_attr({"name": value})`
            R.func_attr({3: 4})
            #           ^^^^^^ error: RX0104 attributes are given as a dict of names and values
            # help: write `R.func_attr({"name": value})`
            R.func_attr({"a": x})
            #                 ^ error: RX0104 the attribute `a` must be known now, `x` is known
            #     | later
            R.func_attr({"b": R.add})
            #           ^^^^^^^^^^^^ error: RX0104 the attribute `b` cannot hold a Python function
            return x
        """
    )


def test_a_type_of_python_is_no_annotation():
    check_rejected(
        """
        @R.function
        def f(x: int, y: T.int64, z: list):
        #        ^^^ error: RX0108 `int` is not an annotation
        # help: write `R.Prim("int64")`
        # fix: R.Prim("int64")
        #                ^^^^^^^ error: RX0108 `T.int64` is not an annotation
        # help: write `R.Prim("int64")`
        # fix: R.Prim("int64")
        #                            ^^^^ error: RX0108 `list` is not an annotation
        # help: write `R.Object`
        # fix: R.Object
            return x
        """
    )


def test_an_unknown_value_of_a_branch_has_no_consequences():
    check_rejected(
        """
        @R.function
        def f(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
            z = R.add(x, oops)
            #            ^^^^ error: RX0101 `oops` is not defined
            if c:
                y = z
            else:
                y = x
            return y
        """
    )


def test_a_branch_gives_a_value_of_the_program():
    check_rejected(
        """
        @R.function
        def f(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
            if c:
                y = R.add
                # <^^^^^^^^ error: RX0106 `y` is a value of Python, and a branch gives one of
                #        | the program
            else:
                y = x
            return x
        """
    )
