"""Layouts of what a PrimFunc reads, by those of what it writes."""

from __future__ import annotations

import pytest

from relaxscript.analysis import suggest_layout_transforms
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import BlockRealize, Buffer, PrimFunc
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.ir.walk import walk
from relaxscript.script import from_source


def function(params: str, body: str) -> PrimFunc:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    made = from_source(f"@T.prim_func\ndef f({params}):\n{lines}\n")
    assert isinstance(made, PrimFunc)
    return made


def said(func: PrimFunc, *transforms) -> dict[str, dict[str, str]]:
    """The maps of each block by names, as `i, j -> j, i`; its own under "axes"."""
    found = suggest_layout_transforms(func, list(transforms))
    return {
        block.name_hint: {
            part.name if isinstance(part, Buffer) else "axes": written(made)
            for part, made in maps.items()
        }
        for block, maps in found.items()
    }


def written(index_map: IndexMap) -> str:
    before = ", ".join(v.name for v in index_map.initial_indices)
    return f"{before} -> {', '.join(str(e) for e in index_map.final_indices)}"


def packed(n, c, w):
    return n, c // 4, w, c % 4


RELU = function(
    'x: T.Buffer((2, 8, 6), "float32"), y: T.Buffer((2, 8, 6), "float32")',
    """
for n, c, w in T.grid(2, 8, 6):
    with T.block("relu"):
        vn, vc, vw = T.axis.remap("SSS", [n, c, w])
        y[vn, vc, vw] = T.max(x[vn, vc, vw], T.float32(0))
""",
)
PACKED = "vn, vc, vw -> vn, vc // 4, vw, vc % 4"


def test_what_is_read_at_the_same_place_is_laid_out_as_what_is_written():
    found = suggest_layout_transforms(RELU, [packed])
    [(block, maps)] = found.items()
    x, y = (RELU.buffer_map[p] for p in RELU.params)
    assert set(maps) == {block, x, y}
    assert structural_equal(maps[x], IndexMap.from_func(packed))
    assert said(RELU, IndexMap.from_func(packed)) == {
        "relu": {"axes": PACKED, "x": PACKED, "y": "n, c, w -> n, c // 4, w, c % 4"}
    }


def test_a_map_of_other_integers_gives_maps_of_these():
    narrow = IndexMap.from_func(packed, index_dtype="int32")
    [maps] = suggest_layout_transforms(RELU, [narrow]).values()
    assert {i.dtype for made in maps.values() for i in made.final_indices} == {"int32"}


def test_nothing_is_said_of_results_nothing_is_suggested_of():
    assert suggest_layout_transforms(RELU, []) == {}


def test_what_has_fewer_dimensions_keeps_those_of_its_own():
    bias = function(
        'x: T.Buffer((2, 8, 6), "float32"), b: T.Buffer((1, 8, 1), "float32"), '
        'y: T.Buffer((2, 8, 6), "float32")',
        """
for n, c, w in T.grid(2, 8, 6):
    with T.block("bias"):
        vn, vc, vw = T.axis.remap("SSS", [n, c, w])
        y[vn, vc, vw] = x[vn, vc, vw] + b[0, vc, 0]
""",
    )
    assert said(bias, packed)["bias"]["b"] == "i0, vc, i2 -> i0, vc // 4, vc % 4, i2"


SUM = function(
    'x: T.Buffer((2, 8, 6), "float32"), y: T.Buffer((2, 8), "float32")',
    """
for n, k, c in T.grid(2, 6, 8):
    with T.block("sum"):
        vn, vk, vc = T.axis.remap("SRS", [n, k, c])
        with T.init():
            y[vn, vc] = T.float32(0)
        y[vn, vc] = y[vn, vc] + x[vn, vc, vk]
""",
)


def test_axes_that_only_the_block_and_what_it_reads_have_stay_as_they_are():
    assert said(SUM, lambda n, c: (n, c // 4, c % 4)) == {
        "sum": {
            "axes": "vn, vk, vc -> vn, vk, vc // 4, vc % 4",
            "x": "vn, vc, vk -> vn, vc // 4, vc % 4, vk",
            "y": "n, c -> n, c // 4, c % 4",
        }
    }


def test_dimensions_that_a_map_mixes_with_others_are_not_told_apart():
    outer = function(
        'x: T.Buffer((2,), "float32"), y: T.Buffer((2, 8), "float32")',
        """
for n, c in T.grid(2, 8):
    with T.block("outer"):
        vn, vc = T.axis.remap("SS", [n, c])
        y[vn, vc] = x[vn]
""",
    )
    assert set(said(outer, lambda n, c: (n * 8 + c,))["outer"]) == {"axes", "y"}
    assert said(outer, lambda n, c: (c, n))["outer"]["x"] == "vn -> vn"


@pytest.mark.parametrize("index", ["vc, vn", "vn, vn", "vn, vc // 2", "vn, T.min(vc + 1, 7)"])
def test_what_is_read_in_another_order_or_at_other_places_is_left(index):
    read = function(
        'x: T.Buffer((8, 8), "float32"), y: T.Buffer((8, 8), "float32")',
        f"""
for n, c in T.grid(8, 8):
    with T.block("read"):
        vn, vc = T.axis.remap("SS", [n, c])
        y[vn, vc] = x[{index}]
""",
    )
    assert set(said(read, lambda n, c: (c, n))["read"]) == {"axes", "y"}


CHAIN = """
{x}t = T.alloc_buffer((8, 8))
for n, c in T.grid(8, 8):
    with T.block("first"):
        vn, vc = T.axis.remap("SS", [n, c])
        t[vn, vc] = T.exp(x[vn, vc])
for n, c in T.grid(8, 8):
    with T.block("second"):
        vn, vc = T.axis.remap("SS", [n, c])
        y[vn, vc] = t[vn, vc] + T.float32(1)
for n, c in T.grid(8, 8):
    with T.block("third"):
        vn, vc = T.axis.remap("SS", [n, c])
        z[vn, vc] = t[vn, vc] * T.float32(2)
"""
THREE = ", ".join(f'{name}: T.Buffer((8, 8), "float32")' for name in "xyz")


def test_layouts_go_from_block_to_block():
    chain = function(THREE, CHAIN.format(x=""))
    found = said(chain, lambda n, c: (c, n), lambda n, c: (c, n))
    assert list(found) == ["first", "second", "third"]
    assert found["first"]["x"] == found["first"]["axes"] == "vn, vc -> vc, vn"


def test_where_blocks_do_not_agree_on_a_buffer_it_is_left():
    chain = function(THREE, CHAIN.format(x=""))
    found = said(chain, lambda n, c: (n, c), lambda n, c: (c, n))
    assert {name: set(maps) for name, maps in found.items()} == {
        "second": {"axes", "y"}, "third": {"axes", "z"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "y[vn, vc] = x[vn, vc]\n        x[vn, vc] = T.float32(0)",
        "y[vn, 7 - vc] = x[vn, vc]",
        'with T.block("inner"):\n            y[vn, vc] = x[vn, vc]',
        "T.evaluate(0)",
    ],
    ids=["two results", "not its axes", "blocks inside", "no result"],
)
def test_of_a_block_that_is_more_than_one_result_for_its_axes_nothing_is_said(body):
    func = function(
        'x: T.Buffer((8, 8), "float32"), y: T.Buffer((8, 8), "float32")',
        f"""
for n, c in T.grid(8, 8):
    with T.block("all"):
        vn, vc = T.axis.remap("SS", [n, c])
        {body}
""",
    )
    assert "all" in [n.block.name_hint for n in walk(func.body) if isinstance(n, BlockRealize)]
    assert "all" not in said(func, lambda n, c: (c, n))


def test_maps_that_do_not_go_with_the_buffers_are_refused():
    with pytest.raises(ValueError, match="there are 3 index maps, and 2 buffers"):
        suggest_layout_transforms(RELU, [packed] * 3)
    with pytest.raises(ValueError, match="map of `y` takes 2 indices, and the buffer has 3 dim"):
        suggest_layout_transforms(RELU, [lambda n, c: (n, c)])
