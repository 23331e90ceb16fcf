"""Rejected programs: frames that are opened, nested, filled or ended in ways that mean nothing."""

from __future__ import annotations

from relaxscript import topi
from relaxscript.script.ir_builder import IRBuilder, ir as I, relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

TENSOR = R.Tensor((2, 3), "float32")


# ---------------------------------------------------------------- builders


@rejected
def test_frames_stand_in_a_builder():
    with R.function():
    #    ^^^^^^^^^^^^ error: RX0105 no builder is open
    # help: write it inside `with IRBuilder() as ib:`
        pass


@rejected
def test_statements_stand_in_a_builder():
    R.emit(R.const(1.0))
    # <^^^^^^^^^^^^^^^^^^^ error: RX0105 no builder is open
    # help: write it inside `with IRBuilder() as ib:`


@rejected
def test_a_builder_that_built_nothing():
    with IRBuilder() as ib:
        pass
    ib.get()
    # <^^^^^^^ error: RX0105 nothing was built
    # help: open a frame: `with R.function():`, or `with I.ir_module():` around several


@rejected
def test_what_is_asked_for_before_its_end():
    with IRBuilder() as ib, R.function():
        ib.get()
        # <^^^^^^^ error: RX0105 `R.function` is still open
        # help: ask for what was built after the end of its `with`


@rejected
def test_a_frame_that_is_never_ended():
    with IRBuilder() as ib:
        frame = R.function()
        frame.__enter__()
    ib.get()
    # <^^^^^^^ error: RX0105 `R.function` is still open
    # help: ask for what was built after the end of its `with`


@rejected
def test_a_builder_makes_one_thing():
    with IRBuilder():
        with T.prim_func():
            T.evaluate(0)
        with T.prim_func():
        #    ^^^^^^^^^^^^^ error: RX0302 a builder makes one thing, and this is the second
        # help: put several functions in `with I.ir_module():`
            T.evaluate(1)


@rejected
def test_a_statement_after_a_function():
    with IRBuilder():
        with T.prim_func():
            T.evaluate(0)
        T.evaluate(1)
        # <^^^^^^^^^^^^ error: RX0302 a builder makes one thing, and this is the second
        # help: put several functions in `with I.ir_module():`


@rejected
def test_frames_end_innermost_first():
    with IRBuilder():
        outer = I.ir_module()
        #       ^^^^^^^^^^^^^ error: RX0105 `R.function` is still open
        # help: frames end innermost first
        outer.__enter__()
        inner = R.function()
        inner.__enter__()
        outer.__exit__(None, None, None)


@rejected
def test_a_frame_that_was_never_begun_does_not_end():
    with IRBuilder():
        I.ir_module().__exit__(None, None, None)
        # <^^^^^^^^^^^^ error: RX0105 `I.ir_module` is not open


@rejected
def test_a_block_that_was_never_begun_has_no_output():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        R.dataflow().output(x)
        # <^^^^^^^^^^^^^^^^^^^^^ error: RX0105 `R.dataflow` is not open
        # help: call `output` inside `with R.dataflow() as df:`


@rejected
def test_names_are_names():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        IRBuilder.name("two words", x)
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0104 'two words' is no name
        # help: write a name such as `x`


@rejected
def test_only_variables_and_buffers_have_names():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        IRBuilder.name("y", R.add(x, x))
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0201 a Call has no name of its own
        # help: variables and buffers have names


@rejected
def test_as_many_names_as_values():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        IRBuilder.name_many(["y", "z"], [x])
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 2 names are given to 1 values


# ---------------------------------------------------------------- modules


@rejected
def test_a_module_in_a_function():
    with IRBuilder(), R.function(), I.ir_module():
    #                               ^^^^^^^^^^^^^ error: RX0105 a module is not allowed in
    # | `R.function`
        pass


@rejected
def test_a_function_in_a_function():
    with IRBuilder(), R.function(), R.function():
    #                               ^^^^^^^^^^^^ error: RX0104 a function is not allowed in
    # | `R.function`
    # help: functions are defined next to each other in `with I.ir_module():`
        pass


@rejected
def test_a_prim_func_in_a_function():
    with IRBuilder(), R.function(), T.prim_func():
    #                               ^^^^^^^^^^^^^ error: RX0104 a PrimFunc is not allowed in
    # | `R.function`
    # help: functions are defined next to each other in `with I.ir_module():`
        pass


@rejected
def test_what_stands_in_a_module():
    with IRBuilder():
        I.module_attrs({"a": 1})
        # <^^^^^^^^^^^^^^^^^^^^^^^ error: RX0105 `I.module_attrs` belongs in a module
        # help: open one: `with I.ir_module():`


@rejected
def test_a_function_of_a_module_has_a_name():
    with IRBuilder(), I.ir_module(), R.function():
    #                                ^^^^^^^^^^^^ error: RX0105 a function of a module has a name
    # help: give it one: `R.func_name("main")`
        x = R.arg("x", TENSOR)
        R.func_ret_value(x)


@rejected
def test_a_prim_func_of_a_module_has_a_name():
    with IRBuilder(), I.ir_module(), T.prim_func():
    #                                ^^^^^^^^^^^^^ error: RX0105 a function of a module has a name
    # help: give it one: `T.func_name("main")`
        T.evaluate(0)


@rejected
def test_a_function_that_is_declared_is_defined():
    with IRBuilder(), I.ir_module():
    #                 ^^^^^^^^^^^^^ error: RX0101 the function `f` is declared and never defined
    # help: define it: `I.def_function("f", function)`
        I.decl_function("f", R.Callable([TENSOR], TENSOR))


@rejected
def test_a_function_is_declared_by_its_type():
    with IRBuilder(), I.ir_module():
        I.decl_function("f", 3)
        # <^^^^^^^^^^^^^^^^^^^^^^ error: RX0201 `f` is declared by a function or by its type


@rejected
def test_a_function_is_declared_once():
    with IRBuilder(), I.ir_module():
        I.decl_function("f", R.Callable([TENSOR], TENSOR))
        I.decl_function("f", R.Callable([TENSOR], TENSOR))
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0302 the module has a
        # | function `f` already


@rejected
def test_a_function_is_defined_by_a_function():
    with IRBuilder(), I.ir_module():
        I.def_function("f", 3)
        # <^^^^^^^^^^^^^^^^^^^^^ error: RX0201 3 cannot be a function of a module


@rejected
def test_two_functions_of_one_name():
    with IRBuilder(), I.ir_module():
        for _ in range(2):
            with R.function():
            #    ^^^^^^^^^^^^ error: RX0302 the module has two functions `f`
            # help: rename one of them
                R.func_name("f")
                R.func_ret_value(R.arg("x", TENSOR))


@rejected
def test_an_attribute_is_not_overwritten_by_accident():
    with IRBuilder(), I.ir_module():
        I.module_attrs({"a": 1})
        I.module_set_attr("a", 2)
        # <^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0302 the module has the attribute `a` already
        # help: write `allow_overwrite=True` to replace it


@rejected
def test_a_virtual_device_that_the_module_does_not_have():
    with IRBuilder(), I.ir_module():
        I.module_global_infos({"vdevice": [I.vdevice("llvm")]})
        I.lookup_vdevice("llmv", 0)
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0101 the module has no virtual device `llmv:0`
        # help: did you mean `llvm`?


# ---------------------------------------------------------------- functions


@rejected
def test_a_function_has_a_result():
    with IRBuilder(), R.function():
    #                 ^^^^^^^^^^^^ error: RX0105 the function `f` has no result
    # help: give it one: `R.func_ret_value(value)`
        R.func_name("f")
        x = R.arg("x", TENSOR)
        R.emit(R.exp(x))


@rejected
def test_a_function_has_one_name():
    with IRBuilder(), R.function():
        R.func_name("f")
        R.func_name("g")
        # <^^^^^^^^^^^^^^^ error: RX0302 the function is called `f` already


@rejected
def test_a_prim_func_has_one_name():
    with IRBuilder(), T.prim_func():
        T.func_name("f")
        T.func_name("g")
        # <^^^^^^^^^^^^^^^ error: RX0302 the function is called `f` already


@rejected
def test_an_attribute_is_given_once():
    with IRBuilder(), R.function():
        R.func_attr({"a": 1})
        R.func_attr({"a": 2})
        # <^^^^^^^^^^^^^^^^^^^^ error: RX0302 the function has the attribute `a` already


@rejected
def test_a_private_function_has_no_global_symbol():
    with IRBuilder(), R.function(is_private=True):
        R.func_attr({"global_symbol": "f"})
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0313 a private function has no global symbol


@rejected
def test_parameters_come_first():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        R.emit(R.exp(x))
        R.arg("y", TENSOR)
        # <^^^^^^^^^^^^^^^^^ error: RX0105 parameters come before the first binding


@rejected
def test_a_parameter_has_a_struct_info():
    with IRBuilder(), R.function():
        R.arg("x", 3)
        # <^^^^^^^^^^^^ error: RX0108 `3` is not an annotation
        # help: write for example `R.Tensor((2, 3), "float32")`


@rejected
def test_bindings_stand_in_a_function():
    with IRBuilder():
        R.emit(R.const(1.0))
        # <^^^^^^^^^^^^^^^^^^^ error: RX0105 `R.emit` belongs in a Relax function
        # help: open one: `with R.function():`


@rejected
def test_nothing_follows_the_result():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        R.func_ret_value(x)
        R.emit(R.exp(x))
        # <^^^^^^^^^^^^^^^ error: RX0105 nothing can follow the result of a function
        # help: call `R.func_ret_value` once, at the end


@rejected
def test_a_function_does_not_return_out_of_a_block():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        with R.dataflow():
            R.func_ret_value(x)
            # <^^^^^^^^^^^^^^^^^^ error: RX0105 a function cannot return inside `R.dataflow`


@rejected
def test_operands_that_disagree():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        w = R.arg("w", R.Tensor((4, 5), "float32"))
        R.emit(R.matmul(x, w))
        # <^^^^^^^^^^^^^^^^^^^^^ error: RX0203 `R.matmul` cannot multiply these operands
        # note: `x1` has 3 columns
        # help: the last axis of `x1` must equal the last-but-one axis of `x2`
        # <--------------------- label: has 4 rows


@rejected
def test_an_annotation_that_does_not_fit():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        R.emit(R.exp(x), R.Tensor((2, 4), "float32"))
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0205 the value does not fit the
        # | annotation
        # help: it is `R.Tensor((2, 3), "float32")`, declared as `R.Tensor((2, 4), "float32")`
        # <-------------------------------------------- label: dimension 1 is `3`, not `4`


@rejected
def test_what_is_no_expression():
    with IRBuilder(), R.function():
        R.emit(object())
        # <^^^^^^^^^^^^^^^ error: RX0201 a Python object is no value of a Relax function


@rejected
def test_a_declared_result_that_does_not_fit():
    with IRBuilder(), R.function():
    #                 ^^^^^^^^^^^^ error: RX0205 the result does not fit the return annotation
    # help: it is `R.Tensor((2, 3), "float32")`, declared as `R.Tensor((2, 4), "float32")`
    #                 ------------ label: dimension 1 is `3`, not `4`
        x = R.arg("x", TENSOR)
        R.func_ret_struct_info(R.Tensor((2, 4), "float32"))
        R.func_ret_value(x)


@rejected
def test_a_side_effect_in_a_pure_function():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        R.emit(R.call_packed("test.show", x, sinfo_args=TENSOR))
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0401 `test.show` is
        # | impure and cannot be called in a pure function
        # help: if it has no side effects, call it by `R.call_pure_packed`; else
        # | declare the function impure: `@R.function(pure=False)`
        # <------------------------------------------------------- label: has side effects


# ---------------------------------------------------------------- blocks and branches


@rejected
def test_a_dataflow_block_in_another():
    with IRBuilder(), R.function(), R.dataflow(), R.dataflow():
    #                                             ^^^^^^^^^^^^ error: RX0104 a dataflow block
    # | is not allowed inside another
        pass


@rejected
def test_output_stands_in_a_dataflow_block():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        R.output(R.emit(R.exp(x)))
        # <^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0107 `R.output` belongs in a dataflow block
        # help: open one: `with R.dataflow():`


@rejected
def test_output_of_what_the_block_did_not_bind():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        with R.dataflow():
            R.output(x)
            # <^^^^^^^^^^ error: RX0107 `x` is not bound in this dataflow block
            # help: what was bound before is visible after the block anyway


@rejected
def test_output_of_what_is_no_variable():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        with R.dataflow():
            R.output(R.exp(x))
            # <^^^^^^^^^^^^^^^^^ error: RX0104 `R.output` takes variables that the block bound


@rejected
def test_output_stands_once_in_a_block():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        with R.dataflow():
            y = R.emit(R.exp(x))
            z = R.emit(R.exp(y))
            R.output(y)
            R.output(z)
            # <^^^^^^^^^^ error: RX0107 the block has its `R.output` already
            # help: name all variables that leave the block in one


@rejected
def test_a_branch_in_a_dataflow_block():
    with IRBuilder(), R.function():
        c = R.arg("c", R.Tensor((), "bool"))
        with R.dataflow(), R.If(c):
        #                  ^^^^^^^ error: RX0307 `R.If` is not allowed in a dataflow block
        # help: end the block first, or use `R.where`
            pass


@rejected
def test_a_condition_that_is_no_bool():
    with IRBuilder(), R.function():
        c = R.arg("c", R.Tensor((), "float32"))
        with R.If(c):
        #    ^^^^^^^ error: RX0201 the condition of `if` must be a bool scalar
        #    ------- label: is `R.Tensor((), "float32")`
            pass


@rejected
def test_a_branch_stands_in_a_choice():
    with IRBuilder(), R.function(), R.Then():
    #                               ^^^^^^^^ error: RX0106 `R.Then` belongs directly in `R.If`
    # help: write `with R.If(condition):` around it
        pass


@rejected
def test_a_choice_has_both_branches():
    with IRBuilder(), R.function():
        c = R.arg("c", R.Tensor((), "bool"))
        x = R.arg("x", TENSOR)
        with R.If(c), R.Then():
        #    ^^^^^^^ error: RX0106 `R.If` needs `R.Else`
        # help: write `with R.Else():` inside it
            R.emit(R.exp(x))


@rejected
def test_a_choice_has_each_branch_once():
    with IRBuilder(), R.function():
        c = R.arg("c", R.Tensor((), "bool"))
        x = R.arg("x", TENSOR)
        with R.If(c):
            with R.Then():
                R.emit(R.exp(x))
            with R.Then():
            #    ^^^^^^^^ error: RX0106 `R.If` has two `R.Then`
                R.emit(R.log(x))


@rejected
def test_a_branch_binds_its_value():
    with IRBuilder(), R.function():
        c = R.arg("c", R.Tensor((), "bool"))
        with R.If(c), R.Then():
        #             ^^^^^^^^ error: RX0106 `R.Then` binds no value
        # help: end it with `R.emit(value)`
            pass


# ---------------------------------------------------------------- tensor expressions


@rejected
def test_a_tensor_expression_stands_in_a_function_of_a_module():
    with IRBuilder(), R.function():
        x = R.arg("x", TENSOR)
        R.emit_te(topi.exp, x)
        # <^^^^^^^^^^^^^^^^^^^^^ error: RX0105 `R.emit_te` makes a PrimFunc, and a function
        # | on its own has no place for it
        # help: write the function in `with I.ir_module():`


@rejected
def test_a_tensor_expression_outside_of_any_function():
    with IRBuilder(), I.ir_module():
        R.emit_te(topi.exp, R.const(1.0))
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0105 `R.emit_te` belongs in a Relax
        # | function
        # help: open one: `with R.function():`


@rejected
def test_a_tensor_expression_that_does_not_fit():
    with IRBuilder(), I.ir_module(), R.function():
        R.func_name("main")
        x = R.arg("x", TENSOR)
        R.emit_te(topi.matmul, x, x)
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0203 `topi.matmul` sums over 3 elements of one
        # | tensor and 2 of the other
        # <--------------------------- label: has 2
