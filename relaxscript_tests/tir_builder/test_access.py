"""The regions of buffers that blocks access, where the script does not say them."""

from __future__ import annotations

from relaxscript.script import tir as T
from relaxscript_tests.script.parser.reading import block_of, regions

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off


def test_regions_are_points_over_the_axes():
    @T.prim_func
    def f(
        a: T.Buffer((4, 4), "float32"),
        b: T.Buffer((4, 4), "float32"),
        c: T.Buffer((4, 4), "float32"),
    ):
        for i, j, k in T.grid(4, 4, 4):
            with T.block("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    c[vi, vj] = 0.0
                c[vi, vj] += a[vi, vk] * b[vk, vj]

    block = block_of(f, "matmul")
    assert regions(block.reads) == ["a[vi, vk]", "b[vk, vj]"]
    assert regions(block.writes) == ["c[vi, vj]"]


def test_without_init_what_is_read_and_written_is_both():
    @T.prim_func
    def f(a: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.remap("S", [i])
                a[vi] = a[vi] + 1.0

    block = block_of(f, "b")
    assert regions(block.reads) == regions(block.writes) == ["a[vi]"]


def test_loops_inside_a_block_make_ranges_of_points():
    @T.prim_func
    def f(
        a: T.Buffer((65,), "float32"),
        b: T.Buffer((64, 8), "float32"),
        index: T.Buffer((8,), "int32"),
    ):
        for i in range(8):
            with T.block("b"):
                vi = T.axis.remap("S", [i])
                for j in range(8):
                    at = vi * 8 + j
                    b[at, 7 - j] = a[at + 1] + a[at] + a[vi * 8 + index[j]]

    block = block_of(f, "b")
    assert regions(block.writes) == ["b[vi*8:+8, 0:+8]"]
    # Where an element stands is not known before `index` is read: the whole axis.
    assert regions(block.reads) == ["a[0:+65]", "index[0:+8]"]


def test_accesses_an_unknown_distance_apart_are_the_whole_axis():
    @T.prim_func
    def f(a: T.Buffer((64,), "float32"), b: T.Buffer((64,), "float32")):
        for i in range(8):
            with T.block("b"):
                vi = T.axis.remap("S", [i])
                b[vi] = a[vi] + a[vi + 2]
                b[3] = b[40]
                b[T.Ramp(8, 2, 4)] = a[T.Ramp(8, 2, 4)]

    block = block_of(f, "b")
    # How far the axis is from 3 is not known.
    assert regions(block.writes) == ["b[0:+64]"]
    assert regions(block.reads) == ["a[0:+64]", "b[40]"]


def test_accesses_a_known_distance_apart_make_one_range():
    @T.prim_func
    def f(a: T.Buffer((64,), "float32"), b: T.Buffer((64,), "float32")):
        for i in range(8):
            with T.block("b"):
                vi = T.axis.remap("S", [i])
                b[3] = a[vi] + a[vi + 2]
                b[T.Ramp(8, 2, 4)] = T.Broadcast(a[vi + 1], 4)

    block = block_of(f, "b")
    assert regions(block.reads) == ["a[vi:+3]"]
    assert regions(block.writes) == ["b[3:+12]"]


def test_regions_of_inner_blocks_are_those_of_the_outer_one():
    @T.prim_func
    def f(a: T.Buffer((4, 4), "float32")):
        for i in range(4):
            with T.block("outer"):
                vi = T.axis.remap("S", [i])
                own = T.alloc_buffer((4,), "float32")
                for j in range(4):
                    with T.block("inner"):
                        wj = T.axis.remap("S", [j])
                        own[wj] = a[vi, wj]

    assert regions(block_of(f, "inner").writes) == ["own[wj]"]
    assert regions(block_of(f, "outer").reads) == ["a[vi, 0:+4]"]
    assert regions(block_of(f, "outer").writes) == []


def test_an_address_that_is_given_away_touches_the_whole_buffer():
    @T.prim_func
    def f(a: T.Buffer((4, 4), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.remap("S", [i])
                T.evaluate(T.call_extern("int32", "touch", T.address_of(a[vi, 0])))

    block = block_of(f, "b")
    assert regions(block.reads) == regions(block.writes) == ["a[0:+4, 0:+4]"]


def test_a_scalar_parameter_may_be_negative():
    @T.prim_func
    def f(x: T.Buffer((64,), "float32"), y: T.Buffer((64,), "float32"), k: T.int32):
        for i in range(1):
            with T.block("b"):
                vi = T.axis.remap("S", [i])
                for j in range(k, T.max(k, 0)):
                    y[j] = x[T.max(k, 0) + vi] + x[k + vi]

    block = block_of(f, "b")
    # Which of the two indices is the lesser depends on the sign of `k`.
    assert regions(block.reads) == ["x[0:+64]"]
    (written,) = block.writes
    assert repr(written) == "y[k:T.max(k, 0)]"


def test_another_name_of_a_region_accesses_the_region():
    @T.prim_func
    def f(a: T.Buffer((16,), "float32"), c: T.Buffer((16,), "float32")):
        for i in range(4):
            with T.block("part"):
                vi = T.axis.spatial(4, i)
                x = T.match_buffer(a[vi * 4 : vi * 4 + 4], (4,), offset_factor=1)
                y = T.match_buffer(c[vi * 4 : vi * 4 + 4], (4,), offset_factor=1)
                for j in range(4):
                    y[j] = x[j]

    block = block_of(f, "part")
    assert regions(block.reads) == ["a[vi*4:+4]"]
    assert regions(block.writes) == ["c[vi*4:+4]"]


def test_the_address_of_a_part_says_what_is_done_there():
    @T.prim_func
    def f(a: T.Buffer((16,), "float32"), c: T.Buffer((16,), "float32")):
        with T.block("outside"):
            T.evaluate(T.call_extern("int32", "g", a.access_ptr("r"), c.access_ptr("w")))
            T.evaluate(0)

        with T.block("other"):
            c[0] = 0.0

    block = block_of(f, "outside")
    assert regions(block.reads) == ["a[0:+16]"]
    assert regions(block.writes) == ["c[0:+16]"]
