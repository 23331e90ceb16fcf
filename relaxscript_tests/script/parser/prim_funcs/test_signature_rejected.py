"""Rejected programs: parameters and buffers of PrimFuncs."""

from __future__ import annotations

from relaxscript.script import relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- parameters and buffers


@rejected
def test_parameters_without_a_type_of_tir():
    @T.prim_func
    def f(
        a,
        # < error: RX0108 the parameter `a` has no annotation
        # help: write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`
        b: int,
        #  ^^^ error: RX0108 `int` does not say how many bits the scalar has
        # help: write `T.int64`
        # fix: T.int64
        c: float,
        #  ^^^^^ error: RX0108 `float` does not say how many bits the scalar has
        # help: write `T.float32`
        # fix: T.float32
        d: T.Buffer,
        #  ^^^^^^^^ error: RX0108 a buffer needs a shape
        # help: write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`
        e: T.grid,
        #  ^^^^^^ error: RX0108 `T.grid` is not the type of a parameter of a PrimFunc
        # help: write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`
        h: T.i64,
        #  ^^^^^ error: RX0108 `T.i64` is what a buffer or tensor holds
        # help: write `T.int64`, a scalar
        # fix: T.int64
        g: 3,
        #  ^ error: RX0108 `3` is not the type of a parameter of a PrimFunc
        # help: write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`
    ):
        pass


@rejected
def test_a_parameter_with_the_annotation_of_relax():
    @T.prim_func
    def f(x: R.Tensor((4,), "float32")):
    #        ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0108 `R.Tensor((4,), "float32")` is not the type
    #        | of a parameter of a PrimFunc
    # help: write `T.Buffer((4,), "float32")`
        pass


@rejected
def test_parameters_that_tir_does_not_have():
    @T.prim_func
    def f(n: T.int32 = 3, *rest: T.int32, m: T.int64, **options: T.int32):
    #                  ^ error: RX0104 a parameter of a PrimFunc has no default value
    # help: pass the value at every call
    #                      ^^^^^^^^^^^^^ error: RX0104 a PrimFunc has no `*rest`
    # help: name each parameter
    #                                     ^^^^^^^^^^ error: RX0104 `m` cannot be keyword-only
    #                                                   ^^^^^^^^^^^^^^^^ error: RX0104 a PrimFunc
    #        | has no `**options`
    # help: name each parameter
        pass


@rejected
def test_a_data_type_that_is_misspelt():
    @T.prim_func
    def f(
        x: T.Buffer((4,), "flaot32"),
        #                 ^^^^^^^^^ error: RX0108 "flaot32" is not a dtype
        # help: did you mean "float32"?
        # fix: "float32"
        y: T.Buffer((4,), "quaternion"),
        #                 ^^^^^^^^^^^^ error: RX0108 "quaternion" is not a dtype
        # help: known are bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16,
        #        | float32, float64, bfloat16, handle
        z: T.Buffer((4,), 7),
        #                 ^ error: RX0108 a dtype is a string such as "float32", this is a
        #        | Python int
    ):
        pass


@rejected
def test_calls_of_buffer_that_do_not_fit():
    @T.prim_func
    def f(
        x: T.Buffer(),
        #  ^^^^^^^^^^ error: RX0103 `T.Buffer` needs `shape`
        # help: it is called as `T.Buffer(shape, ...)`
        y: T.Buffer((4,), dtpe="int32"),
        #                 ^^^^ error: RX0103 `T.Buffer` has no parameter `dtpe`
        # help: did you mean `dtype`?
        # fix: dtype
        z: T.Buffer((4,), *["int32"]),
        #                 ^^^^^^^^^^ error: RX0104 the arguments of a buffer are written out one by
        #     | one
    ):
        pass


@rejected
def test_buffers_in_brackets_without_a_data_type_of_their_own():
    @T.prim_func
    def f(
        x: T.Buffer["float32"],  # noqa: UP037
        #           ^^^^^^^^^ error: RX0108 "float32" is a dtype, where a shape comes first
        # help: write `T.f32` for it
        v: T.Buffer["int8", 4],  # noqa: UP037
        #           ^^^^^^ error: RX0108 "int8" is a dtype, where a shape comes first
        # help: write `T.i8` for it
        # fix: T.i8
        y: T.Buffer["float32x4", 64],  # noqa: UP037
        #           ^^^^^^^^^^^ error: RX0108 "float32x4" is a dtype, where a shape comes first
        # help: write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`
        z: T.Buffer[16, 64],
        #           ^^^^^^ error: RX0108 dimensions in brackets follow a dtype
        # help: write `T.Buffer[T.f32, 16, 64]`
        w: T.Buffer[f32, 64],
        #           ^^^ error: RX0101 `f32` is not defined
        # help: did you mean `T.f32`?
        # fix: T.f32
    ):
        pass


@rejected
def test_buffers_in_brackets_without_a_shape():
    @T.prim_func
    def f(
        x: T.Buffer[T.f32],
        #  ^^^^^^^^^^^^^^^ error: RX0108 a buffer needs a shape
        # help: write `T.Buffer[T.f32, n, 64]`, of a single element `T.Buffer[T.f32, ()]`
        y: T.Buffer[T.f16, 4, ...],
        #                     ^^^ error: RX0108 a buffer needs a shape
        # help: write `T.Buffer[T.f16, n, 64]`, of a single element `T.Buffer[T.f16, ()]`
    ):
        pass


@rejected
def test_two_data_types_of_a_buffer():
    @T.prim_func
    def f(x: T.Buffer[T.f32, T.i8, T.float16, 64]):
    #                        ^^^^ error: RX0108 a dimension is a whole number, this is the dtype
    #        | `int8`
    # help: write a number, a name such as "n", or arithmetic of these
    #                              ^^^^^^^^^ error: RX0108 a dimension is a whole number, this is
    #        | the dtype `T.float16`
    # help: write a number, a name such as "n", or arithmetic of these
        pass


@rejected
def test_dimensions_of_python_that_no_shape_gives_a_value():
    n, k = T.dim("n"), T.dim("k")

    @T.prim_func
    def f(x: T.Buffer[T.f32, n], y: T.Buffer[T.f32, k * 2]):
    #                                               ^ error: RX0109 `k` has no value: no shape gives
    #        | it one
    # help: make it a whole dimension of a shape: `T.Buffer(("k",), ...)`
        pass


@rejected
def test_dimensions_that_are_none():
    @T.prim_func
    def f(
        x: T.Buffer((-4, 2.5), "float32"),
        #            ^^ error: RX0108 a dimension cannot be negative, this is -4
        #                ^^^ error: RX0108 a dimension is a whole number, this is a Python float
        # help: write a number, a name such as "n", or arithmetic of these
        y: T.Buffer(("n +", True), "float32"),
        #            ^^^^^ error: RX0108 "n +" is not an expression
        #                   ^^^^ error: RX0108 a dimension is a whole number, this is a Python bool
        # help: write a number, a name such as "n", or arithmetic of these
    ):
        pass


@rejected
def test_a_dimension_that_is_defined_nowhere():
    @T.prim_func
    def f(x: T.Buffer(("n * 2",), "float32")):
    #                  ^^^^^^^ error: RX0109 the dimension `n` is not defined here
    # help: it must be a whole dimension of some shape: `T.Buffer(("n",), ...)`
        pass


@rejected
def test_a_dimension_with_the_name_of_a_buffer():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), h: T.handle):
        y = T.match_buffer(h, ("x",), "float32")
        #                      ^^^ error: RX0108 `x` is the buffer `x`, not a dimension
        # help: give the dimension another name


@rejected
def test_a_dimension_that_is_not_declared():
    @T.prim_func
    def f(a: T.handle):
        A = T.match_buffer(a, (n, 4), "float32")
        #                      ^ warning: RX0109 the dimension `n` is not declared; it is a new
        #        | shape variable
        # help: declare it first: `n = T.int64()`
        for i in range(n):
            A[i, 0] = 0.0


@rejected
def test_a_dimension_that_is_misspelt():
    @T.prim_func
    def f(a: T.handle):
        rows = T.int64()
        A = T.match_buffer(a, (rowss, rows), "float32")
        #                      ^^^^^ error: RX0101 `rowss` is not defined
        # help: did you mean `rows`?
        # fix: rows


@rejected
def test_a_declared_variable_that_no_shape_defines():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        n = T.int64()
        # < error: RX0109 `n` has no value: no shape gives it one
        # help: make it a whole dimension of a shape: `T.Buffer(("n",), ...)`
        for i in range(n):
            x[i] = 0.0


@rejected
def test_strides_of_another_rank():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32", strides=(1,))):
    #                                            ^^^^ error: RX0108 2 dimensions need 2 strides,
    #        | not 1
        pass


@rejected
def test_a_buffer_of_void():
    @T.prim_func
    def f(x: T.Buffer((4,), "")):
    #                       ^^ error: RX0108 the elements of the buffer `x` have no dtype:
    #        | "void" has no values
    #                       help: name the dtype of an element, such as "float32"
        x[0] = 1.0


@rejected
def test_an_attribute_that_no_attribute_can_be():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        T.func_attr({"tir.noalias": min})
        #           ^^^^^^^^^^^^^^^^^^^^ error: RX0103 the attribute `tir.noalias` cannot hold a
        #     | Python function
        x[0] = 1.0


@rejected
def test_parts_of_a_buffer_of_the_wrong_kind():
    @T.prim_func
    def f(
        x: T.Buffer((4,), "float32", scope=1),
        #                                  ^ error: RX0103 a string is needed here, this is a Python
        #        | int
        y: T.Buffer((4,), "float32", align="much"),
        #                                  ^^^^^^ error: RX0103 a whole number is needed here,
        #        | this is a Python str
        z: T.Buffer((4,), "float32", axis_separators=[0.5]),
        #                                            ^^^^^ error: RX0103 whole numbers are needed
        #        | here, this is a Python list
        w: T.Buffer((4,), "float32", data=3),
        #                                 ^ error: RX0501 `data` is the address of memory, this is
        #        | a Python int
        # help: it comes from `T.allocate(...)` or is `A.data` of another buffer
    ):
        pass


@rejected
def test_an_annotation_in_quotes_that_is_no_expression():
    @T.prim_func
    def f(x: "T.Buffer((4,"):  # noqa: F722
    #        ^^^^^^^^^^^^^^ error: RX0108 "T.Buffer((4," is not an expression
        pass


@rejected
def test_a_result_of_an_unknown_type():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")) -> R.Tensor:
    #                                      ^^^^^^^^ error: RX0108 `R.Tensor` is not the type of a
    #        | scalar
    # help: write for example `T.int32`
        pass


@rejected
def test_match_buffer_of_what_is_no_handle():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        A = T.match_buffer(x, (4,), "float32")
        #                  ^ error: RX0501 `T.match_buffer` takes a parameter `a: T.handle`
        B = T.match_buffer(n, (4,), "float32")
        #                  ^ error: RX0501 `T.match_buffer` takes a parameter `a: T.handle`
        k = n + 1
        C = T.match_buffer(k, (4,), "float32")
        #                  ^ error: RX0501 `T.match_buffer` takes a parameter `a: T.handle`


@rejected
def test_match_buffer_twice():
    @T.prim_func
    def f(a: T.handle):
        A = T.match_buffer(a, (4,), "float32")
        B = T.match_buffer(a, (4,), "float32")
        #                  ^ error: RX0501 `a` is the buffer `A` already


@rejected
def test_a_handle_that_is_used_as_a_buffer():
    @T.prim_func
    def f(a: T.handle, n: T.int32):
        a[0] = 1.0
        # < error: RX0503 `a` is an address and has no elements
        # help: give it a shape: `X = T.match_buffer(a, (n,), "float32")`
        n[0] = 1
        # < error: RX0503 `n` is a scalar of type int32 and has no elements


@rejected
def test_a_buffer_without_memory():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        b = T.Buffer((4,), "float32")
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0501 this buffer has no memory
        # help: allocate it: `T.alloc_buffer(shape, dtype)`, or give `data=`


@rejected
def test_memory_of_an_unknown_size():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        p = T.allocate([2.5], "float32", "global")
        #               ^^^ error: RX0108 an extent is a whole number, this is a scalar of type
        #        | float32
        q = T.allocate([4], "float32", 3)
        #                              ^ error: RX0103 the scope of memory is a string
        r = T.allocate([4], "float32", annotations=5)
        #                                          ^ error: RX0103 attributes are a dict with
        #        | strings as keys
        # help: write `{"name": value}`
        s = T.allocate_const(["a"], "int32", [1])
        #                    ^^^^^ error: RX0112 evaluating this Python raised ValueError: invalid
        #        | literal for int() with base 10: 'a'


@rejected
def test_a_dimension_whose_declaration_is_misspelt():
    @T.prim_func
    def f(x: T.Buffer((2, "n"), "float32"), y: T.Buffer((2, "n"), "float32")):
        n = T.int46()
        #   ^^^^^^^ error: RX0102 `T` has no `int46`
        #         help: did you mean `T.int64`?
        #         fix: T.int64
        for i in range(n):
            y[0, i] = x[0, i]


@rejected
def test_a_private_function_with_a_symbol():
    @T.prim_func(private=True)
    def f(x: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "f"})
        #            ^^^^^^^^^^^^^^^ error: RX0313 `f` is private and has a global symbol
        # help: leave out `private=True`, or the attribute `global_symbol`
        x[0] = 1.0
