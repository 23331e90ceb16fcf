"""Rejected programs: operands and attributes of operators on whole tensors."""

from __future__ import annotations

from relaxscript.script import ir as I, relax as R
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@rejected
def test_ranges_and_identity_matrices():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        a = R.arange(0, 5, 0)
        #                  ^ error: RX0204 a step of 0 leads nowhere
        b = R.arange(0, x)
        #               ^ error: RX0201 `R.arange` cannot take these operands
        c = R.eye(-1)
        #         ^^ error: RX0204 a tensor has no dimension below 0
        d = R.eye(2, 2.5)
        #            ^^^ error: RX0202 the size of a matrix is an integer
        e = R.eye_like(x)
        #              ^ error: RX0203 only a matrix has a diagonal
        return x


@rejected
def test_elements_in_order():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        a = R.sort(x, axis="last")
        #                  ^^^^^^ error: RX0204 the attribute `axis` must be an integer
        c = R.topk(x, ret_type="all")
        #                      ^^^^^ error: RX0204 `R.topk` gives "both", "values" or "indices"
        d = R.argsort(x, dtype="bool")
        #                      ^^^^^^ error: RX0202 the result holds numbers, not bools
        #                          help: write for example `dtype="float32"`
        e = R.cumsum(x, axis=1)
        #                    ^ error: RX0204 there is no axis 1
        #                        help: the axes are 0 to 0, or -1 to -1 counted from the end
        return x


@rejected
def test_indices_and_updates():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), i: R.Tensor((2, 3), "int64"), v: R.Tensor((3,), "int64")):
        a = R.gather_elements(x, x)
        #                        ^ error: RX0202 `R.gather_elements` cannot take these operands
        #                            help: it takes integers: write `R.astype(x, "int64")`
        #                            fix: R.astype(x, "int64")
        b = R.gather_elements(x, v)
        #                        ^ error: RX0203 `R.gather_elements` cannot take these operands
        #                            help: `v` and `x` have one rank
        c = R.gather_nd(x, i)
        #                  ^ error: RX0203 `R.gather_nd` cannot take these operands
        d = R.scatter_elements(x, i, x, reduction="mean")
        #                                         ^^^^^^ error: RX0204 it is one of "update", "add",
        #        | "mul", "max", "min"
        e = R.scatter_nd(x, R.const([[0], [1]], "int64"), i)
        #                                                 ^ error: RX0202 `R.scatter_nd` cannot take
        #        | these operands
        #                                                     help: write `R.astype(i, "float32")`
        #                                                     fix: R.astype(i, "float32")
        g = R.one_hot(i, 1, 0.5, depth=3)
        #                   ^^^ error: RX0202 `R.one_hot` cannot take these operands
        return x


@rejected
def test_tensors_that_are_repeated_and_joined():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 4), "float32")):
        a = R.stack([x, y])
        #               ^ error: RX0203 `R.stack` cannot take these operands
        #                   help: all must have one shape
        b = R.stack([])
        #           ^^ error: RX0203 `R.stack` cannot take these operands
        #               help: give at least one tensor to stack
        c = R.repeat(x, -1)
        #               ^^ error: RX0204 nothing is repeated less than 0 times
        d = R.tile(x, [1, -1])
        #             ^^^^^^^ error: RX0204 nothing is repeated less than 0 times
        e = R.collapse_sum_to(x, (2, 2))
        #                     ^ error: RX0203 `R.collapse_sum_to` cannot take these operands
        #                         help: each dimension of the result must be 1, or that of `x`
        return x


@rejected
def test_products_by_named_axes():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), y: R.Tensor((4, 5), "float32")):
        a = R.einsum([x, y], "ij,jk->ik")
        #                ^ error: RX0203 `R.einsum` cannot take these operands
        b = R.einsum([x, y], "ij,kl->im")
        #                    ^^^^^^^^^^^ error: RX0204 `m` is an axis of the result, and of no
        #        | operand
        c = R.einsum([x, y], "ij;kl")
        #                    ^^^^^^^ error: RX0204 subscripts have the form "ij,jk->ik": letters,
        #        | commas, `...` and one arrow
        d = R.einsum([x], "ij,kl->i")
        #            ^^^ error: RX0203 `R.einsum` cannot take these operands
        k = R.einsum([x, y], "...j,kl->kl")
        #                    ^^^^^^^^^^^^^ error: RX0204 the axes of `...` are missing in the
        #        | result
        g = R.einsum([x, y], "...i,...j->...ij")
        #                ^ error: RX0203 `R.einsum` cannot take these operands
        h = R.einsum([x], "i...jk->i...")
        #             ^ error: RX0203 `R.einsum` cannot take these operands
        e = R.outer(x, y)
        #           ^ error: RX0203 both operands have rank 1
        return x


@rejected
def test_windows():
    @R.function
    def f(x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 2, 3, 3), "float32")):
        a = R.nn.conv2d(x, w)
        #                  ^ error: RX0203 the weight is for another number of channels
        #                      help: the channels of `x` are those of a group of `w`, times `groups`
        b = R.nn.conv2d(x, w, strides=[1, 2, 3])
        #                             ^^^^^^^^^ error: RX0204 there is one for each of the 2 spatial
        #        | axes, or one for all
        c = R.nn.conv2d(x, w, data_layout="NCXY")
        #                                 ^^^^^^ error: RX0204 it names the axes N, C, H, W in some
        #        | order, as "NCHW" does, and inner parts of them, as "NCHW16c"
        d = R.nn.max_pool2d(x, pool_size=9)
        #                   ^ error: RX0203 the window is larger than the tensor with its padding
        e = R.nn.avg_pool1d(x)
        #                   ^ error: RX0203 the layout "NCW" has 3 axes
        g = R.nn.rel(x)
        #   ^^^^^^^^ error: RX0102 `R.nn` has no `rel`
        #       help: did you mean `R.nn.relu`?
        #       fix: R.nn.relu
        h = R.nn.pad(x, [1, 1])
        #               ^^^^^^ error: RX0204 there are two for each axis, how many before and how
        #        | many behind
        return x


@rejected
def test_attention_and_losses():
    @R.function
    def f(
        x: R.Tensor((2, 3), "float32"), q: R.Tensor((1, 6, 4, 8), "float32"),
        t: R.Tensor((2,), "float32"),
    ):
        a = R.nn.attention(q, x, q)
        #                     ^ error: RX0203 attention takes batch, sequence, heads and features
        b = R.nn.attention(q, q, q, causal_mask="Left")
        #                                       ^^^^^^ error: RX0204 the mask is "TopLeft",
        #        | "BottomRight" or None
        c = R.nn.nll_loss(x, t)
        #                    ^ error: RX0202 `R.nn.nll_loss` cannot take these operands
        #                        help: it takes integers: write `R.astype(t, "int64")`
        #                        fix: R.astype(t, "int64")
        d = R.nn.dropout(x, rate=2)
        #                        ^ error: RX0204 a rate is from 0 to below 1
        e = R.nn.batch_norm(x, x, x, x, x, axis=1)
        #                      ^ error: RX0203 `gamma` has one element for each channel
        return x


@rejected
def test_storage():
    @R.function
    def f(o: R.Object):
        a = R.memory.alloc_tensor(o, 0, (2,), "flot32")
        #                                     ^^^^^^^^ error: RX0201 `R.memory.alloc_tensor` cannot
        #        | take these operands
        b = R.memory.alloc_tensor(o, -4, (2,), "float32")
        #                            ^^ error: RX0204 a tensor begins in its storage
        c = R.builtin.alloc_tensor((2, -1), "float32", 0)
        #                          ^^^^^^^ error: RX0204 a tensor has no dimension below 0
        d = R.memory.kill_storage(o)
        #   ^^^^^^^^^^^^^^^^^^^^^ error: RX0401 `R.memory.kill_storage` is impure and cannot be
        #        | called in a pure function
        #       help: declare the function impure: `@R.function(pure=False)`, or vouch
        #       | for it: `R.func_attr({"relax.force_pure": True})`
        return o


@rejected
def test_parts_and_their_replacements():
    @R.function
    def f(x: R.Tensor((4, 3), "float32"), i: R.Tensor((2,), "int64"), v: R.Tensor((5,), "float32")):
        a = R.index_tensor(x, [v])
        #                      ^ error: RX0202 `R.index_tensor` cannot take these operands
        #                          help: it takes integers: write `R.astype(v, "int64")`
        #                          fix: R.astype(v, "int64")
        b = R.index_put(x, [i], v)
        #                       ^ error: RX0203 `R.index_put` cannot take these operands
        c = R.slice_scatter(x, x, 0, 4, 0)
        #                               ^ error: RX0204 the step goes forward
        d = R.slice_scatter(x, x, 0, 2, 1)
        #                      ^ error: RX0203 `R.slice_scatter` cannot take these operands
        e = R.bucketize(x, x)
        #                  ^ error: RX0203 the boundaries are a row of numbers in order
        g = R.meshgrid([v, x])
        #                  ^ error: RX0203 a grid is made of rows of numbers
        h = R.meshgrid([v, v], indexing="rows")
        #                               ^^^^^^ error: RX0204 the indexing of a grid is "ij" or "xy"
        return x


@rejected
def test_arguments_beside_operands_that_are_unknown():
    @I.ir_module
    class Module:
        @R.function
        def g(x: R.Object, y: R.Object):
            return x

        @R.function
        def f(x: R.Tensor((4,), "float32")):
            d = R.add(x, missing)
            #            ^^^^^^^ error: RX0101 `missing` is not defined
            a = R.add(d, x, q=3)
            #               ^ error: RX0103 `R.add` has no parameter `q`
            b = R.sum(d, axis="a", keepdim=True)
            #                 ^^^ error: RX0204 the attribute `axis` must be an integer or a list
            #                   | of integers
            #                      ^^^^^^^ error: RX0103 `R.sum` has no parameter `keepdim`
            #                              help: did you mean `keepdims`?
            #                              fix: keepdims
            c = R.flip(absent)
            #          ^^^^^^ error: RX0101 `absent` is not defined
            #   ^^^^^^^^^^^^^^ error: RX0103 `R.flip` needs `axis`
            #       help: it is called as `R.flip(data, axis)`
            e = R.astype(d, dtype=nothing)
            #                     ^^^^^^^ error: RX0101 `nothing` is not defined
            h = Module.g(d)
            #   ^^^^^^^^ error: RX0206 `Module.g` takes 2 arguments, not 1
            i = R.nn.relu(*d, axis=1)
            k = R.full((2, unclear), x, "flaot32")
            #              ^^^^^^^ error: RX0101 `unclear` is not defined
            return d


@rejected
def test_every_argument_that_no_parameter_takes():
    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        a = R.sum(x, axs=0, keepdim=True)
        #            ^^^ error: RX0103 `R.sum` has no parameter `axs`
        #                help: did you mean `axis`?
        #                fix: axis
        #                   ^^^^^^^ error: RX0103 `R.sum` has no parameter `keepdim`
        #                           help: did you mean `keepdims`?
        #                           fix: keepdims
        b = R.sum(x, 0, axis=0, keepdims="yes")
        #               ^^^^ error: RX0103 `R.sum` is given `axis` twice
        #                   help: leave out one of them, in its place or as `axis=`
        #                                ^^^^^ error: RX0204 the attribute `keepdims` must be True
        #                                    | or False
        c = R.call_packed("f", x, sinfo=R.Object)
        #                         ^^^^^ error: RX0103 `R.call_packed` has no parameter `sinfo`
        #                               help: did you mean `sinfo_args`?
        #                               fix: sinfo_args
        return x


@rejected
def test_what_is_not_known_of_operands_is_said_of_each():
    @R.function(strict=True)
    def f(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("k",), "float32")):
    #        ------------------------------- label: `x` has shape (n, m) here
    #                                            --------------------------- label: `y` has shape
    #                                            | (k,) here
        c = R.add(x, y)
        #   ^^^^^^^^^^^ error: RX0207 `m` and `k` must be equal, or one of them 1
        #         - label: has shape (n, m)
        #            - label: has shape (k,)
        #   help: shapes are compared from the right: dimensions are equal, or one of them is 1
        #   note: `strict=True` leaves nothing to a check at run time
        return c


@rejected
def test_what_is_not_known_of_a_long_operand_is_said_by_the_name_of_the_parameter():
    @R.function
    def f(x: R.Tensor(("n", "m"), "float32"), w: R.Tensor(("k", 2), "float32")):
        y = R.matmul(R.add(R.multiply(x, x), R.subtract(x, x)), w)
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ warning: RX0207 `x1` has m
        #        | columns, `w` has k rows; it is checked when the program runs
        return y


@rejected
def test_every_argument_that_does_not_fit_its_parameter():
    @I.ir_module
    class Module:
        @R.function
        def g(a: R.Tensor(("n",), "float32"), b: R.Shape(["n"]), c: R.Tensor((2,), "int32")):
            return a

        @R.function
        def main(x: R.Tensor((3,), "int8"), s: R.Shape([3]), y: R.Tensor((4,), "int32")):
            z = Module.g(x, s, y)
            #            ^ error: RX0206 argument 1 does not fit the function's parameter
            #              help: the parameter is `R.Tensor((3,), "float32")`
            #                  ^ error: RX0206 argument 3 does not fit the function's parameter
            #                    help: the parameter is `R.Tensor((2,), "int32")`
            return z


@rejected
def test_a_number_that_no_scalar_holds():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.tril(x, 9223372036854775808)
        #             ^^^^^^^^^^^^^^^^^^^ error: RX0202 9223372036854775808 does not fit in int64
        #             ------------------- label: is too large
        return y
