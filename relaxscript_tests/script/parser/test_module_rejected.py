"""Rejected programs: headers of functions, modules and whole texts (RX0104, RX0111 ...)."""

from __future__ import annotations

from relaxscript.script import ir as I, relax as R
from relaxscript.testing import check_rejected, rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- headers


@rejected
def test_default_values_and_other_kinds_of_parameters():
    @R.function
    def f(x: R.Tensor((4,), "float32") = 1, *rest, flag: R.Object = 2, **words):
    #                                    ^ error: RX0104 a Relax parameter has no default value
    #                                        help: pass the value at every call
    #                                        ^^^^ error: RX0104 it is not known how many
    #        | parameters `*rest` are
    #                                             help: take a tuple, `rest: R.Tuple(...)`, or say
    #        | what each of them is: `*rest: [R.Tensor((2,)), R.Tensor((3,))]`
    #                                              ^^^^^^^^^^^^^^ error: RX0104 `flag` cannot be
    #        | keyword-only in a Relax function
    #                                                               ^ error: RX0104 a Relax
    #        | parameter has no default value
    #                                                             help: pass the value at every call
    #                                                                    ^^^^^ error: RX0104 a
    #        | Relax function has no `**words`
    #                                                                      help: name each parameter
        return x


@rejected
def test_a_parameter_without_annotation_is_an_object_with_a_warning():
    @R.function
    def f(x):
    #     ^ warning: RX0209 the parameter `x` has no annotation: it is taken as `R.Object`
    #         help: say what it is, as in `x: R.Tensor`; `x: R.Object` is anything
    #         fix: x: R.Object
        return x


def test_an_option_that_there_is_not():
    check_rejected(
        """
        @R.function(purr=False)
        #           ^^^^ error: RX0103 `R.function` has no option `purr`
        #                help: did you mean `pure`?
        #                fix: pure
        def f(x: R.Tensor((4,), "float32")):
            return x
        """
    )


def test_an_option_that_is_not_written_out():
    flag = False

    @rejected
    def program():
        @R.function(pure=flag)
        #                ^^^^ error: RX0104 `pure` must be written as a literal
        def f(x: R.Tensor((4,), "float32")):
            return x


@rejected
def test_a_method_that_is_neither_relax_nor_tir():
    @I.ir_module
    class Module:
        def helper(x: R.Tensor((4,), "float32")):
        #   ^^^^^^ error: RX0104 `helper` is neither a Relax function nor a PrimFunc
        # help: decorate it with `@R.function`
        # fix:         @R.function\n
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x


@rejected
def test_a_statement_in_a_module():
    @I.ir_module
    class Module:
        size: int = 4
        # <^^^^^^^^^^^^ error: RX0104 a module holds functions only
        #                help: write it outside the class

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x


@rejected
def test_two_functions_of_one_name():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x

        @R.function
        def main(y: R.Tensor((4,), "float32")):
        #   ^^^^ error: RX0302 the module has two functions `main`
            return y


@rejected
def test_a_recursive_function_without_a_declared_result():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((4,), "float32")):
        #   ^ error: RX0308 `f` is recursive and has no return annotation
        #     help: annotate it: `def f(...) -> R.Tensor(...):`
            cls = Module
            return cls.f(x)


@rejected
def test_functions_that_call_each_other_without_declared_results():
    @I.ir_module
    class Module:
        @R.function
        def even(x: R.Tensor((4,), "float32")):
        #   ^^^^ error: RX0308 `even` is recursive (through `odd`) and has no return
        #        | annotation
        #        help: annotate it: `def even(...) -> R.Tensor(...):`
            cls = Module
            return cls.odd(x)

        @R.function
        def odd(x: R.Tensor((4,), "float32")):
        #   ^^^ error: RX0308 `odd` is recursive (through `even`) and has no return
        #       | annotation
            cls = Module
            return cls.even(x)


# ---------------------------------------------------------------- texts


def test_a_text_that_is_not_python():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((4,), "float32")):
            y = = x
            #   ^ error: RX0113 this is not Python: invalid syntax
            return y
        """
    )


def test_a_text_without_a_program():
    check_rejected(
        """
        from relaxscript.script import ir as I, relax as R, tir as T
        # error: RX0111 the script defines no module and no function
        # help: write a class under `@I.ir_module` or a function under `@R.function`
        """
    )


def test_a_statement_beside_the_programs_of_a_text():
    check_rejected(
        """
        print(4)
        # <^^^^^^^ error: RX0104 only imports, modules and functions are allowed here
        #           help: Python is run with `mode="python"`, or by `relaxscript run FILE`

        @R.function
        def f(x: R.Tensor((4,), "float32")):
            return x
        """,
        mode="data",
    )


def test_python_is_not_run_in_data_mode():
    check_rejected(
        """
        @R.function
        def f(x: R.Tensor((4,), "float32")):
            y = R.reshape(x, ("2".upper(), 2))
            #                 ^^^^^^^^^^^ error: RX0104 `'2'.upper` is not called in data mode
            z = print(x)
            #   ^^^^^ error: RX0101 `print` is not defined
            return y
        """,
        mode="data",
    )


@rejected
def test_a_module_whose_functions_are_all_private():
    @I.ir_module
    class Module:
    #     ^^^^^^ error: RX0312 every function of `Module` is private, so none can be called
    #              help: leave out `private=True` of one of them
        @R.function(private=True)
        def f(x: R.Tensor((4,), "float32")):
            return x


@rejected
def test_a_global_symbol_that_is_not_the_name():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((4,), "float32")):
        #   ^ error: RX0313 the global symbol of `f` is `g`
        #       help: use one name for both
            R.func_attr({"global_symbol": "g"})
            return x


@rejected
def test_a_function_that_is_impure_and_forced_to_be_pure():
    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
    #   ^ error: RX0321 `f` is declared impure and forced to be pure
    #       help: leave out `pure=False`, or the attribute `relax.force_pure`
        R.func_attr({"relax.force_pure": True})
        return x


@rejected
def test_a_value_that_is_no_function_in_a_module():
    size = 4

    @I.ir_module
    class Module:
        extern = R.ExternFunc("f")
        number = size
        #        ^^^^ error: RX0104 only functions can be members of a module

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x


def test_a_class_where_a_function_is_decorated():
    @rejected
    def program():
        @R.function
        #^^^^^^^^^^ error: RX0111 `R.function` decorates a function
        #         help: decorate a class with `@I.ir_module`
        class Module:
            pass


def test_a_function_where_a_class_is_decorated():
    @rejected
    def program():
        @I.ir_module
        #^^^^^^^^^^^ error: RX0111 `I.ir_module` decorates a class
        #          help: decorate a function with `@R.function` or `@T.prim_func`
        def main(x: R.Object):
            return x


# ---------------------------------------------------------------- names that Python has not


@rejected
def test_a_name_for_a_function_that_there_is_not():
    @I.ir_module
    class Module:
        I.module_names({"mian": "main.1"})
        #               ^^^^^^ error: RX0101 the module has no function `mian`
        #                      help: did you mean "main"?
        #                      fix: "main"

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x


@rejected
def test_one_name_for_two_functions():
    @I.ir_module
    class Module:
        I.module_names({"f": "main"})
        #              ^^^^^^^^^^^^^ error: RX0302 the module has two functions `main`
        #                            help: rename one of them

        @R.function
        def f(x: R.Tensor((4,), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x


@rejected
def test_a_name_of_a_function_that_is_no_text():
    @I.ir_module
    class Module:
        I.module_names({"main": 3})
        #              ^^^^^^^^^^^ error: RX0103 the name of a function is a string, not 3

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x


# ---------------------------------------------------------------- what a module says of itself


def test_what_a_module_says_of_itself_and_cannot():
    check_rejected(
        """
        @I.ir_module
        class M:
            I.module_attrs({"level": 1})
            I.module_attrs({"level": 2})
            #              ^^^^^^^^^^^^ error: RX0302 the module has the attribute `level` already
            # help: to replace it, write `allow_overwrite=True`
            I.module_attrs([1])
            #              ^^^ error: RX0104 this is given as a dict
            I.module_attrs()
            # <^^^^^^^^^^^^^^^ error: RX0103 `I.module_attrs` needs `attrs`
            # help: it is called as `I.module_attrs(attrs, allow_overwrite=False)`
            I.module_atrs({})
            # <^^^^^^^^^^^^ error: RX0102 `I` has no `module_atrs`
            # help: did you mean `I.module_attrs`?
            # fix: I.module_attrs
            R.add(1)
            # <^^^^^^^ error: RX0104 a module holds functions only
            # help: write it outside the class

            @R.function
            def f(x: R.Object):
                return x
        """
    )


def test_global_infos_that_are_none():
    check_rejected(
        """
        @I.ir_module
        class M:
            I.module_global_infos({"vdevice": 3})
            #                     ^^^^^^^^^^^^^^ error: RX0104 the global infos `vdevice` are a list
            #        | of such infos
            # help: write `{"vdevice": [I.vdevice("llvm")]}`
            I.module_global_infos({"other": [3]})
            #                     ^^^^^^^^^^^^^^ error: RX0104 the global infos `other` are a list
            #        | of such infos
            # help: write `{"other": [I.vdevice("llvm")]}`
            I.module_global_infos({1: []})
            #                     ^^^^^^^ error: RX0104 the kind of global infos is a string, not 1

            @R.function
            def f(x: R.Object):
                return x
        """
    )


def test_a_device_that_the_module_does_not_list():
    check_rejected(
        """
        @I.ir_module
        class M:
            I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 1)]})

            @R.function
            def main(
                x: R.Tensor((4,), "float32", "lvm:0"),
                #                            ^^^^^^^ error: RX0324 the module has no virtual device
                #       | `lvm:0`
                #                            help: did you mean `"llvm:0"`?
                #                            fix: "llvm:0"
                y: R.Tensor((4,), "float32", "llvm:1"),
                #                            ^^^^^^^^ error: RX0324 the module has no virtual device
                #       | `llvm:1`
                #                            help: the module has `llvm:0`, `cuda:1`
                z: R.Tensor((4,), "float32"),
            ):
                w = R.to_vdevice(z, "cuad:1")
                #                   ^^^^^^^^ error: RX0324 the module has no virtual device `cuad:1`
                #                   help: did you mean `"cuda:1"`?
                #                   fix: "cuda:1"
                return w
        """
    )


def test_devices_that_cannot_be_read_are_the_only_mistake():
    check_rejected(
        """
        @I.ir_module
        class M:
            I.module_global_infos({"vdevice": [I.vdevice("llvm", -1)]})
            #                                  ^^^^^^^^^^^^^^^^^^^^^ error: RX0112 evaluating this
            #        | Python raised ValueError: `VDevice.vdevice_id` counts from 0, and is -1

            @R.function
            def main(x: R.Tensor((4,), "float32", "llvm:0")):
                return x
        """
    )


@R.function
def on_a_device(x: R.Tensor((4,), "float32", I.vdevice("llvm"))):
    y = R.add(x, x)
    return y


@rejected
def test_a_captured_function_needs_a_device_that_the_module_has_not():
    @I.ir_module
    class Module:
        g = on_a_device
        #   ^^^^^^^^^^^ error: RX0324 `on_a_device` needs the virtual device `llvm:0`, which
        # | the module has not
        #         help: declare it: `I.module_global_infos({"vdevice": [I.vdevice("llvm", 0)]})`

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x


@rejected
def test_a_mentioned_function_needs_a_device_that_the_module_has_not():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm -mcpu=znver4")]})

        @R.function
        def main(x: R.Tensor((4,), "float32", I.vdevice("llvm -mcpu=znver4"))):
            y = on_a_device(x)
            #   ^^^^^^^^^^^ error: RX0324 `on_a_device` needs the virtual device `llvm:0`,
            #             | which the module has not
            #               help: the module has `llvm -mcpu=znver4:0`
            #               ^ error: RX0206 argument 1 does not fit the function's parameter
            #                 help: the parameter is `R.Tensor((4,), "float32", vdevice="llvm:0")`
            return y


@rejected
def test_a_device_whose_target_has_options_is_another_than_one_without():
    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

        @R.function
        def main(x: R.Tensor((4,), "float32", I.vdevice("llvm -mcpu=znver4"))):
        #                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0324 the
        #          | module has no virtual device `llvm -mcpu=znver4:0`
        #                                     help: the module has `llvm:0`
            return x


def test_bases_of_a_module_that_are_not_the_one_for_type_checkers():
    check_rejected(
        """
        from relaxscript.script import ir as I, relax as R

        @I.ir_module
        class Wrong(I.Range, I.Modul, I.Module.x, Module):
        #           ^^^^^^^ error: RX0104 a module has no base class
        # help: write `class Wrong:`
        #                    ^^^^^^^ error: RX0104 a module has no base class
        # help: write `class Wrong:`
        #                             ^^^^^^^^^^ error: RX0104 a module has no base class
        # help: write `class Wrong:`
        #                                         ^^^^^^ error: RX0104 a module has no base class
        # help: write `class Wrong:`
            @R.function
            def main(x: R.Object):
                return x
        """
    )
