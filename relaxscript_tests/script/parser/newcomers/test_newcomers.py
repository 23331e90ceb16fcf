"""What people write who come from numpy, torch, tensorflow or plain Python, line by line.

Each line is a mistake of its own, and where another spelling means the same here, it is the fix.
"""

# ruff: noqa: B008, E501, UP037  (what is rejected is not meant to be good Python)
from __future__ import annotations

import math

import numpy as np

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


class Layer:
    """What models derive from elsewhere."""

# ---------------------------------------------------------------- torch


@rejected
def test_names_of_torch():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        a = torch.relu(x)
        #   ^^^^^ error: RX0101 `torch` is not defined
        # help: did you mean `R.nn.relu`?
        # fix: R.nn.relu
        b = F.relu(x)
        #   ^ error: RX0101 `F` is not defined
        # help: did you mean `R.nn.relu`?
        # fix: R.nn.relu
        c = nn.functional.softmax(x)
        #   ^^ error: RX0101 `nn` is not defined
        # help: did you mean `R.nn.softmax`?
        # fix: R.nn.softmax
        d = nn.relu(x)
        #   ^^ error: RX0101 `nn` is not defined
        # help: did you mean `R.nn.relu`?
        # fix: R.nn.relu
        e = nn.Linear(3, 4)
        #   ^^ error: RX0101 `nn` is not defined
        # help: did you mean `R.linear`?
        g = R.nn.Linear(3, 4)
        #   ^^^^^^^^^^^ error: RX0102 `R.nn` has no `Linear`
        # help: did you mean `R.linear`?
        h = R.cat((x, x))
        #   ^^^^^ error: RX0102 `R` has no `cat`
        # help: did you mean `R.concat`?
        # fix: R.concat
        i = R.mm(x, w)
        #   ^^^^ error: RX0102 `R` has no `mm`
        # help: did you mean `R.matmul`?
        # fix: R.matmul
        return R.transpose(x)
        #      ^^^^^^^^^^^ error: RX0102 `R` has no `transpose`
        # help: did you mean `R.permute_dims`?
        # fix: R.permute_dims


@rejected
def test_parameters_of_torch():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        a = R.mean(x, dim=1)
        #             ^^^ error: RX0103 `R.mean` has no parameter `dim`
        # help: did you mean `axis`?
        # fix: axis
        b = R.mean(x, axis=1, keepdim=True)
        #                     ^^^^^^^ error: RX0103 `R.mean` has no parameter `keepdim`
        # help: did you mean `keepdims`?
        # fix: keepdims
        c = R.nn.softmax(x, dim=-1)
        #                   ^^^ error: RX0103 `R.nn.softmax` has no parameter `dim`
        # help: did you mean `axis`?
        # fix: axis
        return R.permute_dims(x, dims=(1, 0))
        #                        ^^^^ error: RX0103 `R.permute_dims` has no parameter `dims`
        # help: did you mean `axes`?
        # fix: axes


@rejected
def test_methods_of_torch():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        a = x.mm(w)
        #   ^^^^ error: RX0102 `x` has no attribute `mm`
        # help: did you mean `x.matmul`?
        # fix: x.matmul
        b = x.item()
        #   ^^^^^^ error: RX0102 `x` has no attribute `item`
        # help: values are known when the program runs: return the tensor
        c = x.detach()
        #   ^^^^^^^^ error: RX0102 `x` has no attribute `detach`
        # help: leave it out: values never change, and each is a new one
        d = x.cpu()
        #   ^^^^^ error: RX0102 `x` has no attribute `cpu`
        # help: name a device: `R.to_vdevice(x, "llvm:0")`
        e = x.float()
        #   ^^^^^^^ error: RX0102 `x` has no attribute `float`
        # help: write `.astype("float32")`
        g = x.t()
        #   ^^^ error: RX0102 `x` has no attribute `t`
        # help: write `.T`
        return x.clampp(0, 1)
        #      ^^^^^^^^ error: RX0102 `x` has no attribute `clampp`
        # help: did you mean `x.clamp`?
        # fix: x.clamp


@rejected
def test_attributes_that_are_called():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        a = x.T()
        #   ^^^ error: RX0201 `x.T` is a tensor, and only functions can be called
        # help: leave the parentheses out: `x.T`
        # fix: x.T
        b = x.shape()
        #   ^^^^^^^ error: RX0201 `x.shape` is no function and cannot be called
        # help: leave the parentheses out: `x.shape`
        # fix: x.shape
        return x


@rejected
def test_a_module_with_a_base_class_and_a_constructor():
    @I.ir_module
    class Model(Layer):
    #           ^^^^^ error: RX0104 a module has no base class
    # help: write `class Model:`
    # fix:
        def __init__(self):
        #   ^^^^^^^^ error: RX0104 a module has no `__init__`
        # help: weights are parameters of its functions, or constants: `R.const(array)`
            self.scale = 3

        @R.function
        def forward(x: R.Tensor((2, 3), "float32")):
            return x


@rejected
def test_functions_with_self():
    @I.ir_module
    class Model:
        @R.function
        def layer(self, x: R.Tensor((2, 3), "float32")):
        #         ^^^^ error: RX0104 a function of a module has no `self`
        # help: leave it out; functions of the module are called as `Model.f(...)`
        # fix:
            return R.exp(x)

        @R.function
        def main(self, x: R.Tensor((2, 3), "float32")):
        #        ^^^^ error: RX0104 a function of a module has no `self`
        # help: leave it out; functions of the module are called as `Model.f(...)`
        # fix:
        # fix: Model
        # fix: Model
            y = self.layer(x)
            return self.layer(y)


@rejected
def test_weights_in_the_class():
    @I.ir_module
    class Model:
        scale = 3
        #       ^ error: RX0104 only functions can be members of a module
        # help: define it outside of the class, where functions can use it as well

        @R.function
        def main(x: R.Tensor((2, 3), "float32")):
            return x


@rejected
def test_annotations_of_torch_and_numpy():
    @R.function
    def f(
        a: torch.Tensor,
        #  ^^^^^ error: RX0101 `torch` is not defined
        # help: did you mean `R.Tensor`?
        # fix: R.Tensor
        b: np.ndarray,
        #  ^^^^^^^^^^ error: RX0108 `ndarray` is not an annotation
        # help: write `R.Tensor`
        # fix: R.Tensor
        c: "float32",
        #  ^^^^^^^^^ error: RX0108 "float32" is a dtype, and no annotation
        # help: write for example `R.Tensor((2, 3), "float32")`
        d: tuple,
        #  ^^^^^ error: RX0108 `tuple` is not an annotation
        # help: write `R.Object`
        # fix: R.Object
        e: T.Buffer((2, 3), "float32"),
        #  ^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 `T.Buffer((2, 3), "float32")` is not an
        #     | annotation
        # help: write `R.Tensor((2, 3), "float32")`
        # fix: R.Tensor((2, 3), "float32")
    ):
        return b


# ---------------------------------------------------------------- numpy and Python


@rejected
def test_functions_of_numpy_and_of_python():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        a = np.matmul(x, w)
        #   ^^^^^^^^^^^^^^^ error: RX0112 `np.matmul` is Python's own, and cannot take values that
        #     | are known only later
        # help: write `R.matmul(...)`
        # fix: R.matmul
        b = np.tanh(x)
        #   ^^^^^^^^^^ error: RX0112 `np.tanh` is Python's own, and cannot take values that are
        #     | known only later
        # help: write `R.tanh(...)`
        # fix: R.tanh
        c = math.sqrt(x)
        #   ^^^^^^^^^^^^ error: RX0112 `math.sqrt` is Python's own, and cannot take values that are
        #     | known only later
        # help: write `R.sqrt(...)`
        # fix: R.sqrt
        d = max(x, 0)
        #   ^^^^^^^^^ error: RX0112 `max` is Python's own, and cannot take values that are known
        #     | only later
        # help: write `R.maximum(...)`
        # fix: R.maximum
        e = sum(x)
        #   ^^^^^^ error: RX0112 `sum` is Python's own, and cannot take values that are known only
        #     | later
        # help: write `R.sum(...)`
        # fix: R.sum
        g = float(x)
        #   ^^^^^^^^ error: RX0112 `float` is Python's own, and cannot take values that are known
        #     | only later
        # help: write `R.astype(x, "float32")`
        # fix: R.astype(x, "float32")
        h = int(x)
        #   ^^^^^^ error: RX0112 `int` is Python's own, and cannot take values that are known only
        #     | later
        # help: write `R.astype(x, "int64")`
        # fix: R.astype(x, "int64")
        return print(x)
        #      ^^^^^^^^ error: RX0112 `print` would print now, while the program is read
        # help: print values by `R.print(x, format=...)`


@rejected
def test_shapes_and_axes_one_by_one():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        a = R.reshape(x, 3, 2)
        #                ^^^^ error: RX0103 `R.reshape` takes `shape` as one tuple
        # help: write `(3, 2)`
        # fix: (3, 2)
        b = R.zeros(2, 3, "float32")
        #           ^^^^ error: RX0103 `R.zeros` takes `shape` as one tuple
        # help: write `(2, 3)`
        # fix: (2, 3)
        c = R.permute_dims(x, 1, 0)
        #                     ^^^^ error: RX0103 `R.permute_dims` takes `axes` as one tuple
        # help: write `(1, 0)`
        # fix: (1, 0)
        d = R.concat(x, x)
        #            ^^^^ error: RX0103 `R.concat` takes `tensors` as one tuple
        # help: write `(x, x)`
        # fix: (x, x)
        e = R.concat(x, x, axis=0)
        #            ^^^^ error: RX0103 `R.concat` takes `tensors` as one tuple
        # help: write `(x, x)`
        # fix: (x, x)
        return R.stack(x, x)
        #              ^^^^ error: RX0103 `R.stack` takes `tensors` as one tuple
        # help: write `(x, x)`
        # fix: (x, x)


@rejected
def test_brackets_instead_of_parentheses():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        return R.matmul[x, w]
        #      ^^^^^^^^^^^^^^ error: RX0103 `R.matmul` is called with parentheses
        # help: write `R.matmul(x, w)`
        # fix: R.matmul(x, w)


@rejected
def test_parts_of_values_are_assigned():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        x[0] = 1.0
        # <^^^ error: RX0104 only names can be assigned in Relax, values never change
        # help: bind a new value: `x = R.slice_scatter(x, R.full((1, 3), 1.0, "float32"), 0, 1, 1,
        # | axis=0)`
        x[0, :] += 1.0
        # <^^^^^^ error: RX0104 only names can be assigned in Relax, values never change
        # help: bind a new value: `x = ...`, made by `R.slice_scatter`
        x.name = "x"
        # <^^^^^ error: RX0104 only names can be assigned in Relax, values never change
        # help: bind the new value to a name
        return x


@rejected
def test_a_comparison_instead_of_an_assignment():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y == R.exp(x)
        # < error: RX0101 `y` is not defined
        # help: to bind it, write `=`
        # fix:  =
        return y


@rejected
def test_an_integer_that_tensors_are_added_to():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        total = 0
        for i in range(3):
            total += x
            # <^^^^ error: RX0202 `total + x` cannot take these operands
            # help: write `R.astype(total, "float32")`
            # fix: total = R.astype(total, "float32") + x
        return total


@rejected
def test_signs_that_relax_has_not():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        a = +x
        #   ^^ error: RX0104 `+` has no meaning in Relax
        # help: leave it out: `x`
        # fix: x
        b = x is x
        #   ^^^^^^ error: RX0104 `is` has no meaning in Relax
        # help: write `==`
        # fix:  ==
        c = x is not x
        #   ^^^^^^^^^^ error: RX0104 `is not` has no meaning in Relax
        # help: write `!=`
        # fix:  !=
        d = x in (x,)
        #   ^^^^^^^^^ error: RX0104 `in` has no meaning in Relax
        return "x" + x
        #      ^^^ error: RX0201 `'x' + x` cannot take these operands


@rejected
def test_a_dict_of_results():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        return {"x": x, "w": w}
        #      ^^^^^^^^^^^^^^^^ error: RX0201 `{'x': x, 'w': w}` is a Python dict, and no value of a
        #     | program
        # help: give its values as a tuple: `(x, w)`
        # fix: (x, w)


@rejected
def test_lists_of_numbers_and_of_tensors_as_operands():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        a = R.take(x, [0, 1], axis=0)
        #             ^^^^^^ error: RX0201 `R.take` cannot take these operands
        # help: make a tensor of it: `R.const([0, 1])`
        # fix: R.const([0, 1])
        return R.exp([x, x])
        #            ^^^^^^ error: RX0201 `R.exp` cannot take these operands
        # help: make one tensor of it: `R.stack([x, x])`, or `R.concat([x, x])`


# ---------------------------------------------------------------- signatures and shapes


@rejected
def test_arguments_of_tensor_in_another_order():
    @R.function
    def f(a: R.Tensor(2, 3, "float32"), b: R.Tensor("float32", (2, 3)), c: R.Tensor("n", 4)):
    #                 ^ error: RX0108 a shape is one tuple
    # help: write `(2, 3)`
    # fix: (2, 3)
    #                                               ^^^^^^^^^ error: RX0108 the shape comes before
    #     | the dtype
    # help: write `((2, 3), "float32")`
    # fix: (2, 3)
    # fix: "float32"
    #                                                                               ^^^ error: RX0108
    #     | a shape is one tuple
    # help: write `("n", 4)`
    # fix: ("n", 4)
        return a


@rejected
def test_dimensions_that_are_not_known():
    @R.function
    def f(
        a: R.Tensor((-1, 3), "float32"),
        #            ^^ error: RX0108 a dimension cannot be negative, this is -1
        # help: name an extent that is not known: `"n"`, or say the rank only: `ndim=2`
        b: R.Tensor((None, 3), "float32"),
        #            ^^^^ error: RX0108 `None` is not a dimension
        # help: name an extent that is not known: `"n"`, or say the rank only: `ndim=2`
        c: R.Tensor(("?", 3), "float32"),
        #            ^^^ error: RX0108 "?" is not an expression
        # help: name an extent that is not known: `"n"`, or say the rank only: `ndim=2`
        d: R.Tensor((_, 3), "float32"),
        #            ^ error: RX0109 the dimension `_` is not defined here
        # help: name an extent that is not known: `"n"`, or say the rank only: `ndim=2`
    ):
        return a


@rejected
def test_dimensions_that_are_computed_from_texts():
    @R.function
    def f(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n" * 2, "m" + 1), "float32")):
    #                                                      ^^^^^^^ error: RX0108 a dimension that is
    #     | computed is quoted as a whole
    # help: write `"n * 2"`
    # fix: "n * 2"
    #                                                               ^^^^^^^ error: RX0108 a
    #     | dimension that is computed is quoted as a whole
    # help: write `"m + 1"`
    # fix: "m + 1"
        return x


@rejected
def test_the_type_of_a_dimension_without_parentheses():
    @R.function
    def f(x: R.Tensor(("n", 3), "float32")):
        n = T.int64
        #   ^^^^^^^ error: RX0109 `T.int64` is a type, and `n` a variable of it
        # help: write `T.int64()`
        # fix: T.int64()
        return R.reshape(x, (n * 3,))


@rejected
def test_the_type_of_a_dimension_from_another_namespace():
    @R.function
    def f(x: R.Tensor(("n", 3), "float32")):
        n = R.int64()
        #   ^^^^^^^ error: RX0102 `R` has no `int64`
        # help: did you mean `T.int64`?
        # fix: T.int64
        return R.reshape(x, (n * 3,))


@rejected
def test_defaults_of_parameters():
    @R.function
    def f(x: R.Tensor((2, 3), "float32") = None, w=R.Tensor((2, 3), "float32")):
    #                                      ^^^^ error: RX0104 a Relax parameter has no default value
    # help: pass the value at every call
    # fix:
    #                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0104 a Relax
    #     | parameter has no default value
    # help: write `w: R.Tensor((2, 3), "float32")`
    # fix: :
        return x


@rejected
def test_an_option_that_says_the_opposite():
    @R.function(impure=True)
    #           ^^^^^^ error: RX0103 `R.function` has no option `impure`
    # help: write `pure=False`
    # fix: pure=False
    def f(x: R.Tensor((2, 3), "float32")):
        return x


@rejected
def test_a_shape_instead_of_an_annotation():
    @R.function
    def f(x: R.Tensor(("n", 3), "float32")):
        y = R.match_cast(x, (4, 3))
        #                   ^^^^^^ error: RX0108 `(4, 3)` is a shape, and no annotation
        # help: write `R.Tensor((4, 3))`
        # fix: R.Tensor((4, 3))
        return y


# ---------------------------------------------------------------- calls


@rejected
def test_arguments_by_name():
    @I.ir_module
    class Module:
        @R.function
        def layer(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
            return R.matmul(x, w)

        @R.function
        def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
            a = Module.layer(w=w, x=x)
            #                ^^^ error: RX0103 a Relax function takes positional arguments only
            # help: give the arguments in the order of the parameters
            # fix: x
            # fix: w
            return Module.layer(x, w=w)
            #                      ^^^ error: RX0103 a Relax function takes positional arguments
            #     | only
            # help: give the arguments in the order of the parameters
            # fix: w


@rejected
def test_a_lambda_that_python_calls_with_other_arguments():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return list(map(lambda a, b: a, [x]))
        #               ^^^^^^^^^^^^^^ error: RX0103 `lambda a, b: a` is given other arguments than
        #     | it takes


@rejected
def test_effects_in_a_pure_function():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        _ = R.print(x, format="{}")
        #   ^^^^^^^ error: RX0401 `R.print` is impure and cannot be called in a pure function
        # help: declare the function impure: `@R.function(pure=False)`, or vouch for it:
        #     | `R.func_attr({"relax.force_pure": True})`
        # fix: (pure=False)
        return R.call_packed("my.function", x, sinfo_args=R.Tensor((2, 3), "float32"))
        #      ^^^^^^^^^^^^^ error: RX0401 `my.function` is impure and cannot be called in a pure
        #     | function
        # help: if it has no side effects, call it by `R.call_pure_packed`; else declare the
        #     | function impure: `@R.function(pure=False)`
        # fix: (pure=False)


@rejected
def test_a_prim_func_is_called_as_a_function():
    @I.ir_module
    class Module:
        @T.prim_func
        def double(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
            for i in range(4):
                b[i] = a[i] * 2.0

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return Module.double(x)
            #      ^^^^^^^^^^^^^ error: RX0401 `double` is impure and cannot be called in a pure
            #     | function
            # help: write `R.call_tir(Module.double, (x,), out_sinfo=R.Tensor(...))`, whose results
            #     | are new tensors
