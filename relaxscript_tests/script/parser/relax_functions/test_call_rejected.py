"""Rejected programs: calls in place, builtins, devices, inspection, slices."""

from __future__ import annotations

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- PrimFuncs in place


@rejected
def test_indices_of_results_in_place_name_arguments_once():
    @I.ir_module
    class M:
        @T.prim_func
        def double(x: T.Buffer((4,), "float32")):
            x[0] = x[0] * T.float32(2)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = M
            row = R.Tensor((4,), "float32")
            a = R.call_tir_inplace(cls.double, (x,), inplace_indices=[1], out_sinfo=row)
            #                                                        ^^^ error: RX0204 there is no
            #        | argument 1 among 1 argument
            #       help: arguments are counted from 0; -1 stands for a new tensor
            b = R.call_tir_inplace(cls.double, (x,), inplace_indices=[-2], out_sinfo=row)
            #                                                        ^^^^ error: RX0204 there is no
            #        | argument -2 among 1 argument
            #       help: arguments are counted from 0; -1 stands for a new tensor
            c = R.call_tir_inplace(cls.double, (x,), inplace_indices=[-1], out_sinfo=row)
            #                                                        ^^^^ error: RX0204 no result of
            #        | this call is written in place
            #       help: write `R.call_tir`, all of whose results are new
            d = R.call_tir_inplace(cls.double, (x,), [0, 0], [row, row])
            #                                        ^^^^^^ error: RX0204 two results cannot be
            #        | written into one argument
            return x


@rejected
def test_what_a_call_wrote_into_is_not_used_afterwards():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        row = R.Tensor((4,), "float32")
        y = R.exp(x)
        pair = (y, x)
        z = R.call_inplace_packed("f", y, inplace_indices=[0], sinfo_args=row)
        #   ------------------------------------------------------------------ label: writes into it
        a = R.add(z, y)
        #            ^ error: RX0403 `y` is used after `R.call_inplace_packed` wrote into it
        #              help: use what the call gives; it is the same tensor
        return (a, pair[1])


@rejected
def test_each_result_in_place_has_an_index():
    @I.ir_module
    class M:
        @T.prim_func
        def double(x: T.Buffer((4,), "float32")):
            x[0] = x[0] * T.float32(2)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = M
            row = R.Tensor((4,), "float32")
            a = R.call_tir_inplace(cls.double, (x,), inplace_indices=[0, -1], out_sinfo=row)
            #                                                        ^^^^^^^ error: RX0204 each
            #     | result needs a number that says where it is written
            # help: arguments are counted from 0; -1 stands for a new tensor
            b = R.call_tir_inplace(cls.double, (x,), inplace_indices=[], out_sinfo=row)
            #                                                        ^^ error: RX0204 no result of
            #     | this call is written in place
            # help: write `R.call_tir`, all of whose results are new
            c = R.call_tir_inplace(cls.double, (x,), inplace_indices="first", out_sinfo=row)
            #                                                        ^^^^^^^ error: RX0204 the
            #     | attribute `inplace_indices` must be an integer or a list of integers
            d = R.call_tir_inplace(cls.double, (x,), indices=[0], out_sinfo=row)
            #                                        ^^^^^^^ error: RX0103 `R.call_tir_inplace` has
            #     | no parameter `indices`
            # help: it is called as `R.call_tir_inplace(gvar, args, inplace_indices, out_sinfo,
            #     | tir_vars=None)`
            e = R.call_tir_inplace(cls.double, (x,), out_sinfo=row)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103
            #     | `R.call_tir_inplace` needs `inplace_indices`
            # help: it is called as `R.call_tir_inplace(gvar, args, inplace_indices, out_sinfo,
            #     | tir_vars=None)`
            return x


@rejected
def test_a_tensor_that_is_written_in_place_is_like_its_result():
    @I.ir_module
    class M:
        @T.prim_func
        def double(x: T.Buffer((4,), "float32")):
            x[0] = x[0] * T.float32(2)

        @R.function
        def main(x: R.Tensor((4,), "float32"), o: R.Object, s: R.Shape((4,))):
            cls = M
            a = R.call_tir_inplace(cls.double, (x,), [0], R.Tensor((5,), "float32"))
            #                                   ^ error: RX0203 a tensor that is written in place
            #        | has the shape and dtype of its result
            b = R.call_tir_inplace(cls.double, (x,), [0], R.Tensor((4,), "int8"))
            #                                   ^ error: RX0202 a tensor that is written in place
            #        | has the shape and dtype of its result
            c = R.call_tir_inplace(cls.double, (x,), [0], R.Tensor((4, 1), "float32"))
            #                                   ^ error: RX0203 a tensor that is written in place
            #        | has the shape and dtype of its result
            d = R.call_tir_inplace(cls.double, (o,), [0], R.Tensor((4,), "float32"))
            #                                   ^ error: RX0201 a tensor that is written in place
            #        | has the shape and dtype of its result
            e = R.call_tir_inplace(cls.double, (s,), [0], R.Tensor((4,), "float32"))
            #                                   ^ error: RX0201 a tensor that is written in place
            #        | has the shape and dtype of its result
            return x


@rejected
def test_a_tensor_that_is_written_in_place_may_differ_from_its_result():
    @I.ir_module
    class M:
        @T.prim_func
        def double(x: T.Buffer((4,), "float32")):
            x[0] = x[0] * T.float32(2)

        @R.function
        def main(x: R.Tensor(("n",), "float32")):
            cls = M
            a = R.call_tir_inplace(cls.double, (x,), [0], R.Tensor((4,), "float32"))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            #        | warning: RX0207 `x` has n elements along axis 0, not 4; it is checked
            #        | when the program runs
            return a


@rejected
def test_what_is_given_in_place_does_not_fit_the_prim_func():
    @I.ir_module
    class M:
        @T.prim_func
        def double(x: T.Buffer((4,), "float32")):
            x[0] = x[0] * T.float32(2)

        @T.prim_func
        def swap(x: T.Buffer((4,), "float32"), n: T.int64, y: T.Buffer((4,), "float32")):
            y[0] = x[n]

        @R.function
        def main(x: R.Tensor((4,), "float32"), y: R.Tensor((5,), "float32")):
            cls = M
            row = R.Tensor((4,), "float32")
            a = R.call_tir_inplace(cls.double, (x, x), inplace_indices=[0], out_sinfo=row)
            #                                  ^^^^^^ error: RX0203 `double` takes another number of
            #        | tensors
            #       help: a PrimFunc has a buffer for each argument and for each new result
            b = R.call_tir_inplace(cls.swap, (x,), inplace_indices=[0, -1], out_sinfo=[row, row])
            #                                ^^^^ error: RX0203 `swap` takes another number of
            #        | integers
            #       help: write `tir_vars=R.shape([...])` with one integer for each scalar parameter
            c = R.call_tir_inplace(cls.double, (y,), [0], R.Tensor((5,), "float32"))
            #                                             ^^^^^^^^^^^^^^^^^^^^^^^^^
            #        | error: RX0203 `double` takes another shape there
            d = R.call_tir_inplace(x, (x,), inplace_indices=[0], out_sinfo=row)
            #                      ^ error: RX0201 `R.call_tir_inplace` calls a PrimFunc of the
            #        | module by its name
            #       help: write `cls.name_of_the_function` with `cls = ` the module's class
            return x


@rejected
def test_a_function_of_the_module_that_a_text_names():
    @I.ir_module
    class M:
        @T.prim_func
        def double(x: T.Buffer((4,), "float32")):
            x[0] = x[0] * T.float32(2)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            row = R.Tensor((4,), "float32")
            a = R.call_tir_inplace("duoble", (x,), [0], row)
            #                      ^^^^^^^^ error: RX0101 the module has no function `duoble`
            #                          help: did you mean `"double"`?
            #                          fix: "double"
            b = R.call_tir("scale", (x,), row)
            #              ^^^^^^^ error: RX0101 the module has no function `scale`
            c = R.make_closure("inner", (x,))
            #                  ^^^^^^^ error: RX0101 the module has no function `inner`
            return x


# ---------------------------------------------------------------- packed functions in place


@rejected
def test_indices_of_a_packed_call_in_place():
    @R.function
    def f(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        row = R.Tensor((4,), "float32")
        a = R.call_inplace_packed("f", x, inplace_indices=[1], sinfo_args=row)
        #                                                 ^^^ error: RX0204 there is no argument 1
        #        | among 1 argument
        #       help: arguments are counted from 0; -1 stands for a new tensor
        b = R.call_inplace_packed("f", x, inplace_indices=[-1], sinfo_args=row)
        #                                                 ^^^^ error: RX0204 no result of this call
        #        | is written in place
        #       help: write `R.call_pure_packed`, all of whose results are new
        c = R.call_inplace_packed("f", x, y, inplace_indices=[1, 1], sinfo_args=[row, row])
        #                                                    ^^^^^^ error: RX0204 two results cannot
        #        | be written into one argument
        d = R.call_inplace_packed("f", x, y, inplace_indices=[0, 1], sinfo_args=row)
        #                                                    ^^^^^^ error: RX0204 each result needs
        #        | a number that says where it is written
        #       help: arguments are counted from 0; -1 stands for a new tensor
        e = R.call_inplace_packed("f", x, sinfo_args=row)
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.call_inplace_packed`
        #        | needs `inplace_indices`
        #       help: it is called as `R.call_inplace_packed(func, *args, inplace_indices,
        #        | sinfo_args)`
        g = R.call_inplace_packed("f", x, inplace_indices=[0])
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.call_inplace_packed`
        #        | needs `sinfo_args`
        #       help: it is called as `R.call_inplace_packed(func, *args, inplace_indices,
        #        | sinfo_args)`
        return x


@rejected
def test_an_argument_in_place_is_not_what_its_result_is_said_to_be():
    @R.function
    def f(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        a = R.call_inplace_packed(
            "f", x, y, inplace_indices=[-1, 1], sinfo_args=[R.Object, R.Tensor((4,), "int8")]
            #       ^ error: RX0203 an argument that is written in place is not what its result is
            #        | said to be
        )
        b = R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=R.Shape((4,)))
        #                              ^ error: RX0203 an argument that is written in place is not
        #        | what its result is said to be
        c = R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=R.Tensor(ndim=2))
        #                              ^ error: RX0203 an argument that is written in place is not
        #        | what its result is said to be
        return x


@rejected
def test_only_a_packed_function_is_called_in_place():
    @R.function
    def f(x: R.Tensor((4,), "float32"), g: R.Callable([R.Object], R.Object)):
        a = R.call_inplace_packed(x, x, inplace_indices=[0], sinfo_args=R.Object)
        #                         ^ error: RX0201 `R.call_inplace_packed` cannot take these operands
        b = R.call_inplace_packed(g, x, inplace_indices=[0], sinfo_args=R.Object)
        #                         ^ error: RX0201 `R.call_inplace_packed` cannot take these operands
        #                             help: call it directly: `g(...)`
        return x


# ---------------------------------------------------------------- builtins


@rejected
def test_a_builtin_is_impure():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        a = R.call_builtin_with_ctx("vm.builtin.f", (x,), sinfo_args=R.Object)
        #   ^^^^^^^^^^^^^^^^^^^^^^^ error: RX0401 `R.call_builtin_with_ctx` is impure and cannot be
        #        | called in a pure function
        #       help: declare the function impure: `@R.function(pure=False)`, or vouch
        #       | for it: `R.func_attr({"relax.force_pure": True})`
        with R.dataflow():
            b = R.call_builtin_with_ctx("vm.builtin.f", (x,), sinfo_args=R.Object)
            #   ^^^^^^^^^^^^^^^^^^^^^^^ error: RX0402 `R.call_builtin_with_ctx` is impure and cannot
            #        | be called in a dataflow block
            #       help: move it out of the dataflow block
            R.output(b)
        return x


@rejected
def test_arguments_of_a_builtin():
    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        a = R.call_builtin_with_ctx("vm.builtin.f", x, x, sinfo_args=R.Object)
        #                                           ^^^^ error: RX0103 `R.call_builtin_with_ctx`
        #     | takes `args` as one tuple
        # help: write `(x, x)`
        # fix: (x, x)
        b = R.call_builtin_with_ctx(x, (x,), sinfo_args=R.Object)
        #                           ^ error: RX0201 `R.call_builtin_with_ctx` cannot take these
        #     | operands
        c = R.call_builtin_with_ctx("vm.builtin.f", (x,), sinfo_args=3)
        #                                                            ^ error: RX0108 `3` is not an
        #     | annotation
        # help: write for example `R.Tensor((2, 3), "float32")`
        d = R.call_builtin_with_ctx("vm.builtin.f")
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.call_builtin_with_ctx` needs
        #     | `args`
        # help: it is called as `R.call_builtin_with_ctx(func, args, *, sinfo_args=None)`
        return x


# ---------------------------------------------------------------- devices


@rejected
def test_a_virtual_device_is_one_of_the_module():
    @I.ir_module
    class M:
        I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            a = R.to_vdevice(x, "llvm:2")
            #                   ^^^^^^^^ error: RX0324 the module has no virtual device `llvm:2`
            #                       help: the module has `llvm:0`, `llvm:1`
            b = R.to_vdevice(x, dst_vdevice="cuda")
            #                               ^^^^^^ error: RX0324 the module has no virtual device
            #        | `cuda`
            #       help: the module has `llvm:0`, `llvm:1`
            c = R.to_vdevice(x, "llvm:one")
            #                   ^^^^^^^^^^ error: RX0204 the attribute `dst_vdevice` must be a
            #        | virtual device, such as "llvm:0"
            d = R.to_vdevice(x, 1)
            #                   ^ error: RX0204 the attribute `dst_vdevice` must be a virtual
            #        | device, such as "llvm:0"
            e = R.to_vdevice(x)
            #   ^^^^^^^^^^^^^^^ error: RX0103 `R.to_vdevice` needs `dst_vdevice`
            #       help: it is called as `R.to_vdevice(data, dst_vdevice)`
            return x


@rejected
def test_a_virtual_device_where_there_are_none():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.to_vdevice(x, "llvm:0")
        #                   ^^^^^^^^ error: RX0324 `llvm:0` names a virtual device of a module, and
        #       | there is none
        #                            help: write it out: `I.vdevice("llvm", 0)`
        return y


@rejected
def test_only_tensors_are_moved():
    @I.ir_module
    class M:
        I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

        @R.function
        def main(x: R.Tensor((4,), "float32"), o: R.Object):
            a = R.to_vdevice(R.shape([2]), "llvm")
            #                ^^^^^^^^^^^^ error: RX0201 `R.to_vdevice` cannot take these operands
            b = R.to_vdevice((x, o), "llvm")
            #                ^^^^^^ error: RX0201 `R.to_vdevice` cannot take these operands
            #       help: say what it is, which is checked when it runs: `R.match_cast((x, o),
            #        | R.Tensor(...))`
            return x


@rejected
def test_tensors_that_were_moved_to_different_devices():
    @I.ir_module
    class M:
        I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            a = R.to_vdevice(x, "llvm:1")
            b = R.to_vdevice(x, "llvm:0")
            c = a + b
            #       ^ error: RX0203 the operands are on different devices
            #           help: put the operands on one device
            return x


@rejected
def test_a_hint_names_a_device():
    @R.function
    def f(x: R.Tensor((4,), "float32"), o: R.Object):
        a = R.hint_on_device(x, R.device("tpu"))
        #                       ^^^^^^^^^^^^^^^ error: RX0201 "tpu" names no device
        # help: write a kind and a number, as in "cpu:1"
        b = R.hint_on_device(x, R.cpu(-1))
        #                       ^^^^^^^^^ error: RX0201 the number of a device is a whole number
        #     | from 0 on
        c = R.hint_on_device(x, 0)
        #                       ^ error: RX0204 the attribute `dst_vdevice` must be a device, such
        #     | as `R.device("cpu", 0)`
        d = R.hint_on_device(o, R.cpu(0))
        #                    ^ error: RX0201 `R.hint_on_device` cannot take these operands
        # help: say what it is, which is checked when it runs: `R.match_cast(o, R.Tensor(...))`
        e = R.hint_on_device(x, R.device("cpu", id=1))
        #                                       ^^ error: RX0103 `R.device` has no parameter `id`
        # help: it is called as `R.device(dev, dev_id=None)`
        return x


# ---------------------------------------------------------------- inspection


@rejected
def test_an_axis_that_is_asked_for():
    @R.function
    def f(x: R.Tensor((4,), "float32"), y: R.Tensor(ndim=2)):
        a = R.inspect.tensor_shape_i(x, 1)
        #                               ^ error: RX0204 there is no axis 1
        #       help: the axes are 0 to 0, or -1 to -1 counted from the end
        b = R.inspect.tensor_stride_i(y, -3)
        #                                ^^ error: RX0204 there is no axis -3
        #       help: the axes are 0 to 1, or -2 to -1 counted from the end
        c = R.inspect.tensor_shape_i(x, 0.5)
        #                               ^^^ error: RX0202 an axis is an integer
        d = R.inspect.tensor_shape_i(x, y)
        #                               ^ error: RX0201 `R.inspect.tensor_shape_i` cannot take these
        #        | operands
        e = R.inspect.tensor_shape_i(x)
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.inspect.tensor_shape_i` needs
        #        | `axis`
        #       help: it is called as `R.inspect.tensor_shape_i(x, axis)`
        return x


@rejected
def test_only_tensors_are_inspected():
    @R.function
    def f(o: R.Object, s: R.Shape((4,)), x: R.Tensor((4,), "float32")):
        a = R.inspect.tensor_dtype_bits(o)
        #                               ^ error: RX0201 `R.inspect.tensor_dtype_bits` cannot take
        #        | these operands
        #       help: say what it is, which is checked when it runs: `R.match_cast(o,
        #        | R.Tensor(...))`
        b = R.inspect.tensor_ndim(s)
        #                         ^ error: RX0201 `R.inspect.tensor_ndim` cannot take these operands
        c = R.inspect.tensor_bits(x)
        #   ^^^^^^^^^^^^^^^^^^^^^ error: RX0102 `R.inspect` has no `tensor_bits`
        #       help: did you mean `R.inspect.tensor_dtype_bits`?
        #       fix: R.inspect.tensor_dtype_bits
        return o


# ---------------------------------------------------------------- bits


@rejected
def test_bits_of_what_has_none():
    @R.function
    def f(x: R.Tensor((4,), "float32"), i: R.Tensor((4,), "int32"), j: R.Tensor((3,), "int32")):
        a = x << i
        #   ^ error: RX0202 `x << i` cannot take these operands
        #       help: write `R.astype(x, "int32")`
        #       fix: R.astype(x, "int32")
        b = i >> 1.5
        #        ^^^ error: RX0202 `i >> 1.5` cannot take these operands
        #       help: convert the tensor with `R.astype(..., "float32")`, or write an integer
        c = ~x
        #    ^ error: RX0202 `~x` cannot take these operands
        #        help: it takes integers and bools: write `R.astype(x, "int64")`
        #        fix: R.astype(x, "int64")
        d = i ^ j
        #       ^ error: RX0203 `i ^ j` cannot take these operands
        #       help: shapes are compared from the right: dimensions are equal, or one of them is 1
        return x


# ---------------------------------------------------------------- slices


@rejected
def test_axes_of_a_slice():
    @R.function
    def f(x: R.Tensor((4, "n"), "float32")):
        n = T.int64()
        a = R.strided_slice(x, [2], [0], [2])
        #                      ^^^ error: RX0204 there is no axis 2
        #                          help: the axes are 0 to 1, or -2 to -1 counted from the end
        b = R.strided_slice(x, [1, -1], [0, 0], [2, 2])
        #                      ^^^^^^^ error: RX0204 axis 1 is given more than once
        c = R.strided_slice(x, [n], [0], [9])
        #                      ^^^ error: RX0204 the axes of a slice are numbers written out
        return x


@rejected
def test_bounds_of_a_slice():
    @R.function
    def f(x: R.Tensor((4, "n"), "float32")):
        a = R.strided_slice(x, [0], [0, 1], [2])
        #                           ^^^^^^ error: RX0204 each axis has a bound of each kind
        b = R.strided_slice(x, [0], [0], [2], [0])
        #                                     ^^^ error: RX0204 a stride of 0 leads nowhere
        c = R.strided_slice(x, [0, 1], [0, 0], [2, 2], strides=[1, 0])
        #                                                          ^ error: RX0204 a stride of 0
        #        | leads nowhere
        d = R.strided_slice(x, [0], [0.5], [2])
        #                            ^^^ error: RX0202 a bound is an integer
        e = R.strided_slice(x, [0], [x], [2])
        #                            ^ error: RX0201 `R.strided_slice` cannot take these operands
        g = R.strided_slice(x, [0], [0], [9], assume_inbound=True)
        #                                ^^^ error: RX0204 a bound that is said to be in the tensor
        #        | is not
        #       help: leave out `assume_inbound=True`: the bound then stops at the end
        h = R.strided_slice(x, axes=[0], begin=[0])
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.strided_slice` needs `end`
        #       help: it is called as `R.strided_slice(x, axes, begin, end, strides=None,
        #        | assume_inbound=False)`
        return x


@rejected
def test_bounds_of_a_slice_that_are_tensors():
    @R.function
    def f(x: R.Tensor((4,), "float32"), b: R.Tensor((1,), "int64"), i: R.Tensor((1,), "int32")):
        c = R.dynamic_strided_slice(x, i, b, b)
        #                              ^ error: RX0202 the bounds of a slice are int64
        #                                  help: write `R.astype(i, "int64")`
        #                                  fix: R.astype(i, "int64")
        d = R.dynamic_strided_slice(x, b, R.const([1, 2], "int64"), b)
        #                                 ^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0203 the bounds of a
        #        | slice are a tensor of rank 1, with one for each axis
        e = R.dynamic_strided_slice(x, b, b, R.const(1, "int64"))
        #                                    ^^^^^^^^^^^^^^^^^^^ error: RX0203 the bounds of a slice
        #        | are a tensor of rank 1, with one for each axis
        return x


@rejected
def test_an_axis_that_is_turned_round():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        a = R.flip(x, axis=1)
        #                  ^ error: RX0204 there is no axis 1
        #                      help: the axes are 0 to 0, or -1 to -1 counted from the end
        b = R.flip(x, [0, 1])
        #             ^^^^^^ error: RX0204 the attribute `axis` must be an integer
        c = R.flip(x)
        #   ^^^^^^^^^ error: RX0103 `R.flip` needs `axis`
        #       help: it is called as `R.flip(data, axis)`
        return x


# ---------------------------------------------------------------- messages


@rejected
def test_arguments_of_messages():
    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        R.print(x, fmt="{}")
        #          ^^^ error: RX0103 `R.print` has no parameter `fmt`
        #              help: it is called as `R.print(*values, format='')`
        R.print(x, format=3)
        #                 ^ error: RX0201 `R.print` cannot take these operands
        R.assert_op(x)
        #           ^ error: RX0203 a condition is one bool, a tensor of rank 0
        R.assert_op(R.const(True), format=["a"])
        #                                 ^^^^^ error: RX0201 `R.assert_op` cannot take these
        #        | operands
        R.assert_op()
        # <^^^^^^^^^^^^ error: RX0103 `R.assert_op` needs `condition`
        #   help: it is called as `R.assert_op(condition, format_args=None, format='')`
        a = R.null_value(x)
        #                ^ error: RX0103 `R.null_value` takes 0 arguments, not 1
        return x


@rejected
def test_the_result_of_a_packed_call_is_described_by_an_annotation():
    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        a = R.call_packed("f", x, sinfo_args=3)
        #                                    ^ error: RX0108 `3` is not an annotation
        #       help: write for example `R.Tensor((2, 3), "float32")`
        b = R.call_packed(x, sinfo_args=R.Object)
        #   ^^^^^^^^^^^^^ error: RX0201 only a function can be called
        c = R.call_packed(sinfo_args=R.Object)
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.call_packed` needs
        #        | `func`
        #       help: it is called as `R.call_packed(func, *args, sinfo_args=None)`
        return x
