"""Paths as data: their steps, their text, which begins which."""

from __future__ import annotations

import copy
import pickle

import pytest

from relaxscript import ir, runtime
from relaxscript.runtime.object_path import (
    ArrayIndexPath,
    AttributeAccessPath,
    MapValuePath,
    MissingArrayElementPath,
    MissingMapEntryPath,
    ObjectPath,
    RootPath,
    UnknownAttributeAccessPath,
)

ROOT = ObjectPath.root()
BLOCK = ROOT.attr("body").attr("blocks").array_index(0)
PATHS = {
    "<root>": ROOT,
    "mod": ObjectPath.root("mod"),
    "<root>.body.blocks[0]": BLOCK,
    "<root>.<unknown attribute>": ROOT.attr(None),
    "<root>[<missing element #2>]": ROOT.missing_array_element(2),
    '<root>["axis"]': ROOT.map_value("axis"),
    '<root>.functions[I.GlobalVar("f")]': ROOT.attr("functions").map_value(ir.GlobalVar("f")),
    "<root>[<missing entry>]": ROOT.missing_map_entry(),
}


@pytest.mark.parametrize("text", PATHS)
def test_a_path_says_its_steps(text: str):
    assert repr(PATHS[text]) == str(PATHS[text]) == text


def test_each_step_is_of_its_kind_and_says_what_it_is():
    kinds = (
        (ROOT, RootPath, "root_name", None), (ROOT.attr("x"), AttributeAccessPath, "attr_key", "x"),
        (ROOT.attr(None), UnknownAttributeAccessPath, "length", 2),
        (ROOT.array_index(3), ArrayIndexPath, "index", 3),
        (ROOT.missing_array_element(3), MissingArrayElementPath, "index", 3),
        (ROOT.map_value("k"), MapValuePath, "key", "k"),
        (ROOT.missing_map_entry(), MissingMapEntryPath, "length", 2),
    )  # fmt: skip
    for path, kind, name, value in kinds:
        assert type(path) is kind
        assert isinstance(path, ObjectPath)
        assert getattr(path, name) == value


def test_paths_of_the_same_steps_are_equal():
    again = ObjectPath.root().attr("body").attr("blocks").array_index(0)
    assert again == BLOCK
    assert again is not BLOCK
    assert len({again, BLOCK}) == 1
    others = [*PATHS.values(), ROOT.array_index(2), ROOT.attr("axis"), ROOT.map_value(2), 3]
    assert all((a == b) is (a is b) for a in others for b in others)
    unhashable = ROOT.map_value([1])
    assert unhashable == ROOT.map_value([1])
    assert unhashable != ROOT.map_value([2])


def test_a_parent_is_the_path_without_its_last_step():
    assert BLOCK.parent == ROOT.attr("body").attr("blocks")
    assert ROOT.parent is None
    assert [str(path) for path in BLOCK.steps()] == [
        "<root>", "<root>.body", "<root>.body.blocks", "<root>.body.blocks[0]",
    ]  # fmt: skip


def test_a_path_begins_with_its_prefixes():
    for path in BLOCK.steps():
        assert path.is_prefix_of(BLOCK)
        assert BLOCK.is_prefix_of(path) is (path == BLOCK)
    assert not ROOT.attr("params").is_prefix_of(BLOCK)


def test_paths_are_pickled_and_copied_however_long_they_are():
    long = ROOT
    for index in range(20_000):
        long = long.array_index(index)
    for path in (long, *PATHS.values()):
        if "GlobalVar" not in str(path):
            assert pickle.loads(pickle.dumps(path)) == path == copy.deepcopy(path)
    other = ROOT.attr("x")
    for index in range(20_000):
        other = other.array_index(index)
    assert other != long
    assert str(long).endswith("[19999]")


def test_the_names_are_where_users_look_for_them():
    assert runtime.ObjectPath is ir.ObjectPath is ObjectPath
    assert runtime.ObjectPathPair is ir.ObjectPathPair
