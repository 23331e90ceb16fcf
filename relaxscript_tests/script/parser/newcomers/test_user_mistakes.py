"""What people report of other compilers, each as a program of ours: named after what they did.

Undefined names, misspelt operators, shapes that disagree, Python that is not the language's: the
common mistakes, with every label, since these are the messages that most people will ever see.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source, ir as I, relax as R
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- names


@rejected
def test_a_name_was_never_defined():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, z)
        #            ^ error: RX0101 `z` is not defined
        return y


@rejected
def test_a_dimension_was_never_declared():
    @R.function
    def f(x: R.Tensor((n, 3), "float32")):
    #                  ^ error: RX0109 the dimension `n` is not defined here
    # help: write `"n"`, or declare it in the body: `n = T.int64()`
    # fix: "n"
        return x


@rejected
def test_an_operator_was_misspelt_and_its_namespace_forgotten():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return R.sofmax(x)
        #      ^^^^^^^^ error: RX0102 `R` has no `sofmax`
        # help: did you mean `R.nn.softmax`?
        # fix: R.nn.softmax


@rejected
def test_an_operator_was_written_as_onnx_writes_it():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        y = R.MatMul(x, w)
        #   ^^^^^^^^ error: RX0102 `R` has no `MatMul`
        # help: did you mean `R.matmul`?
        # fix: R.matmul
        return R.Softmax(y)
        #      ^^^^^^^^^ error: RX0102 `R` has no `Softmax`
        # help: did you mean `R.nn.softmax`?
        # fix: R.nn.softmax


@rejected
def test_an_attribute_was_called_by_another_name():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.sum(x, axes=1)
        #            ^^^^ error: RX0103 `R.sum` has no parameter `axes`
        # help: did you mean `axis`?
        # fix: axis
        z = R.sum(x, axs=1)
        #            ^^^ error: RX0103 `R.sum` has no parameter `axs`
        # help: did you mean `axis`?
        # fix: axis
        return R.sum(x, dim=1)
        #               ^^^ error: RX0103 `R.sum` has no parameter `dim`
        # help: did you mean `axis`?
        # fix: axis


@rejected
def test_another_function_of_the_class_was_called_by_its_bare_name():
    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Tensor((2, 3), "float32")):
            return x

        @R.function
        def main(x: R.Tensor((2, 3), "float32")):
            return g(x)
            #      ^ error: RX0110 `g` is a function of the module
            # help: write `Module.g`, or `cls.g` after `cls = Module`
            # fix: Module.g


@rejected
def test_a_method_of_numpy_was_misspelt():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return x.reshap((3, 2))
        #      ^^^^^^^^ error: RX0102 `x` has no attribute `reshap`
        # help: did you mean `x.reshape`?
        # fix: x.reshape


# ---------------------------------------------------------------- shapes and annotations


@rejected
def test_the_result_is_not_what_its_annotation_says():
    @R.function
    def f(x: R.Tensor((3, 4), "float32")) -> R.Tensor((4, 3), "float32"):
    #                                        --------------------------- label: declared here
        return x
        #      ^ error: RX0205 the result does not fit the return annotation
        # help: it is `R.Tensor((3, 4), "float32")`, declared as `R.Tensor((4, 3), "float32")`
        #      - label: dimension 0 is `3`, not `4`


@rejected
def test_a_shape_of_one_dimension_was_written_without_its_comma():
    @R.function
    def f(x: R.Tensor((4), "float32")):
    #                  ^ error: RX0108 a shape is a tuple, this is a single number
    # help: write `(4,)`
    # fix: 4,
        return x


@rejected
def test_matrices_were_multiplied_that_do_not_fit():
    @R.function
    def f(x: R.Tensor((3, 4), "float32"), w: R.Tensor((5, 6), "float32")):
    #                                                  - label: `w` has 5 rows here
    #        --------------------------- label: `x` has 4 columns here
        return R.matmul(x, w)
        #                  ^ error: RX0203 `R.matmul` cannot multiply these operands
        # help: the last axis of `x` must equal the last-but-one axis of `w`
        #                  - label: has 5 rows
        #               - label: has 4 columns


@rejected
def test_a_tensor_was_reshaped_to_another_number_of_elements():
    @R.function
    def f(x: R.Tensor(("n", 4), "float32")):
    #        ----------------------------- label: `x` has n * 4 elements, in shape (n, 4) here
        return R.reshape(x, (3, 5))
        #                ^ error: RX0203 `R.reshape` keeps the number of elements
        #                - label: has n * 4 elements, in shape (n, 4)
        #                   ------ label: has 15 elements, in shape (3, 5)


# ---------------------------------------------------------------- statements


@rejected
def test_a_loop_went_over_a_tensor():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        for row in x:
        #          ^ error: RX0104 `x` is a tensor, which cannot be gone through by `for`
        # help: only a tuple and values known while the script is parsed can be
            y = R.exp(row)
        return x


@rejected
def test_a_loop_went_over_a_python_object_that_cannot_be_gone_through():
    class Image:
        pass

    image = Image()

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        for row in image:
        #          ^^^^^ error: RX0104 `image` is a Python Image, which cannot be gone through by
        #     | `for`
            y = R.add(x, row)
        return x


@rejected
def test_an_error_was_to_be_caught():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        try:
        # <^^ error: RX0104 `try` cannot be used in a Relax function
        # help: Relax has no exceptions: check values with `R.match_cast` or `R.assert_op`
            y = R.exp(x)
        except ValueError:
            y = x
        return y


@rejected
def test_an_if_has_no_else():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        if c:
        #  ^ error: RX0106 this `if` has no `else`
        # help: both ways must bind a value: add `else:` with `y = ...`
            y = R.exp(x)
        return x


@rejected
def test_an_if_without_else_changes_what_was_bound_before():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        y = R.exp(x)
        if c:
        #  ^ error: RX0106 this `if` has no `else`
        # help: both ways must bind a value: add `else:` with `y = y`
        # fix: \n        else:\n            y = y
            y = R.exp(y)
        return y


@rejected
def test_both_branches_of_an_if_return():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        if c:
            return R.exp(x)
            # <^^^^^^^^^^^^^^ error: RX0105 a branch cannot return from the function
            # help: bind the value in both branches, and return it after the `if`
            # fix: result =
            # fix: result =
            # fix: \n        return result
        else:
            return x
            # <------- label: returns as well


@rejected
def test_the_return_was_forgotten():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
    #   ^ error: RX0105 the function `f` does not return anything
    # help: end the function with `return z`
    # fix: \n        return z
        y = R.exp(x)
        z = R.add(x, y)


@rejected
def test_nothing_leaves_the_dataflow_block():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            y = R.exp(x)
        return y
        #      ^ error: RX0107 `y` is used outside its dataflow block
        # help: let it leave the block: `R.output(y)`
        # fix: \n            R.output(y)


@rejected
def test_a_variable_of_a_dataflow_block_is_used_and_another_was_output():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            y = R.exp(x)
            z = R.exp(y)
            R.output(z)
        return R.add(y, z)
        #            ^ error: RX0107 `y` is used outside its dataflow block
        # help: let it leave the block: `R.output(z, y)`
        # fix: , y


@rejected
def test_several_mistakes_in_one_function():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 5), "float32")):
    #                                                  - label: `w` has 4 rows here
    #        --------------------------- label: `x` has 3 columns here
        a = R.add(x, offset)
        #            ^^^^^^ error: RX0101 `offset` is not defined
        b = R.nn.sofmax(x)
        #   ^^^^^^^^^^^ error: RX0102 `R.nn` has no `sofmax`
        # help: did you mean `R.nn.softmax`?
        # fix: R.nn.softmax
        c = R.matmul(x, w)
        #               ^ error: RX0203 `R.matmul` cannot multiply these operands
        # help: the last axis of `x` must equal the last-but-one axis of `w`
        #               - label: has 4 rows
        #            - label: has 3 columns
        return R.sum(x, axes=0)
        #               ^^^^ error: RX0103 `R.sum` has no parameter `axes`
        # help: did you mean `axis`?
        # fix: axis


# ---------------------------------------------------------------- what was accepted in silence


def test_a_loop_over_a_range_is_written_out_and_augmented_assignment_binds():
    text = """
@R.function
def f(x: R.Tensor((2, 3), "float32")):
    for i in range(3):
        x += x
    return x
"""
    assert from_source(text).script().count("R.add(") == 3


# ---------------------------------------------------------------- how a mistake reaches people


WRONG = """
from relaxscript.script import relax as R

@R.function
def f(x: R.Tensor((2, 3), "float32")):
    return R.add(x, offset)
"""


@pytest.mark.slow
def test_a_script_that_is_run_shows_the_message_the_line_and_the_caret(tmp_path):
    script = tmp_path / "model.py"
    script.write_text(WRONG, "utf-8")
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stderr
    assert "`offset` is not defined" in said
    assert "return R.add(x, offset)" in said
    assert f'{script}", line 6' in said
    assert "the above exception" not in said.lower()
    assert len(said.splitlines()) <= 15


def test_the_error_is_a_syntax_error_that_python_itself_can_show():
    with pytest.raises(DiagnosticError) as caught:
        from_source(WRONG, filename="model.py")
    error = caught.value
    assert isinstance(error, SyntaxError)
    assert (error.filename, error.lineno, error.offset) == ("model.py", 6, 21)
    assert (error.end_lineno, error.end_offset) == (6, 27)
    assert error.text == "    return R.add(x, offset)"
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


def test_an_error_can_be_sent_to_another_process_and_be_shown_twice():
    with pytest.raises(DiagnosticError) as caught:
        from_source(WRONG, filename="model.py")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) == str(caught.value)


def test_code_that_is_executed_from_a_text_says_how_to_parse_a_text():
    text = textwrap.dedent(WRONG).replace("offset", "x")
    with pytest.raises(DiagnosticError) as caught:
        exec(text, {"__name__": "somewhere"})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "RX0111"
    assert "from_source" in diagnostic.help
