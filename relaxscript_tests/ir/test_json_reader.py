"""`load_json` refuses what `save_json` did not write, and says where it is wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import load_json, prim, relax, save_json
from relaxscript.ir.node import NODE_CLASSES
from relaxscript.testing.scripts import random_script
from relaxscript_tests import examples
from relaxscript_tests.ir.test_json_writer import Model

Said = dict[str, Any]


def program() -> Any:
    constant = relax.Constant(np.array([[1.0, 2.0, 3.0]], "float32"))
    return relax.Tuple([constant, relax.ShapeExpr([prim.Var("n", "int64"), 4])])


def refusal(text: Any) -> str:
    with pytest.raises(DiagnosticError) as raised:
        load_json(text)
    (found,) = raised.value.diagnostics
    assert found.code == "RX0701"
    prefix = "cannot read the JSON: "
    assert found.message.startswith(prefix)
    return found.message.removeprefix(prefix)


def row(said: Said, name: str) -> list[Any]:
    """The last row of a class."""
    found: list[Any] = [row for row in said["nodes"] if row[0] == name][-1]
    return found


def entry(key: str, *value: Any) -> Callable[[Said], object]:
    return lambda said: said.__setitem__(key, *value)


def cell(name: str, index: int, value: Any) -> Callable[[Said], object]:
    """Another value in a row."""
    return lambda said: row(said, name).__setitem__(index, value)


ARRAY = "entry 0 of `arrays`: "
WRONG: dict[str, Callable[[Said], object]] = {
    "`save_json` did not write it": entry("format", "other"),
    "its version is 2, and this relaxscript reads 1": entry("version", 2),
    "its version is True,": entry("version", True),
    "it has no `nodes`, or another than `save_json` writes": lambda said: said.pop("nodes"),
    "it has no `arrays`": entry("arrays", {}),
    "`root`: int (99) is no row before this one": entry("root", 99),
    "`root`: list (['whole', 3]) stands for no value": entry("root", ["whole", 3]),
    # Rows.
    "row 0 of `nodes`: a row is the name of a class and": lambda said: said["nodes"].insert(0, 3),
    "row 0 of `nodes`, `ir.relax.Constnat`: there is no such class; did you mean `ir.relax.C":
        lambda said: said["nodes"].insert(0, ["ir.relax.Constnat", None]),
    "row 0 of `nodes`, `os.system`: there is no such class":
        lambda said: said["nodes"].insert(0, ["os.system", "ls"]),
    "row 0 of `nodes`, `ir.nowhere.Var`: there is no such class":
        lambda said: said["nodes"].insert(0, ["ir.nowhere.Var", "x"]),
    "its fields are values, and `fields` says otherwise":
        lambda said: said["fields"].update({"ir.relax.ShapeExpr": ["sizes"]}),
    "`ir.prim.Var`: it has 2 values, not 4":
        lambda said: row(said, "ir.prim.Var").__delitem__(slice(2, 4)),
    "`ir.relax.Tuple`, field `fields`: int (4) is no row before this one":
        cell("ir.relax.Tuple", 1, ["tuple", 4]),
    "`ir.relax.Tuple`: `Tuple.fields` must be a sequence whose items are each an Expr":
        cell("ir.relax.Tuple", 1, ["tuple", "x"]),
    "`ir.relax.ShapeExpr`: `ShapeExpr.values` must be a sequence whose items are each a PrimExpr":
        cell("ir.relax.ShapeExpr", 1, ["tuple", 0]),
    "field `field_spans`: it cannot hold tuple (('here',))":
        cell("ir.relax.Tuple", 2, ["tuple", "here"]),
    "`ir.relax.Tuple`: str ('here') is no place": cell("ir.relax.Tuple", 3, "here"),
    "`ir.prim.IntImm`: 'str' object cannot be interpreted as an integer":
        cell("ir.prim.IntImm", 2, "4"),
    "field `value`: it cannot hold bool (True)": cell("ir.prim.IntImm", 2, True),
    '`ir.prim.IntImm`: "int99999" is not a dtype': cell("ir.prim.IntImm", 1, ["dtype", "int99999"]),
    # Values.
    "field `value`: list (['4']) is no integer": cell("ir.prim.IntImm", 2, ["int", "4"]),
    "field `value`: list ([]) is no float": cell("ir.prim.IntImm", 2, ["float"]),
    "field `dtype`: list ([1]) is no dtype": cell("ir.prim.IntImm", 1, ["dtype", 1]),
    "field `value`: float (4.5) stands for no value": cell("ir.prim.IntImm", 2, 4.5),
    "field `data`: list ([1]) is no entry of `arrays`": cell("ir.relax.Constant", 1, ["array", 1]),
    "field `value`: a key has no value, or is none": cell("ir.prim.IntImm", 2, ["attrs", "k"]),
    "field `value`: a key is there twice": cell("ir.prim.IntImm", 2, ["map", "k", 1, "k", 1]),
    "field `value`: a place is a source, line, column": cell("ir.prim.IntImm", 2, ["span", 0]),
    "field `value`: a place of several pieces is made of": cell("ir.prim.IntImm", 2, ["spans", 0]),
    "is no entry of `sources`": cell("ir.prim.IntImm", 3, ["span", 1, 1, 1, 1, 1]),
    "the place is not in its source, which has 1 lines":
        cell("ir.prim.IntImm", 3, ["span", 0, 2, 1, 2, 1]),
    # Sources and arrays.
    "entry 0 of `sources`: a source is a name, a text,": entry("sources", [["f.py", None, None]]),
    f"{ARRAY}an array is a dtype, a shape": entry("arrays", [["float32", 3, ""]]),
    f"{ARRAY}a shape is a list of sizes": entry("arrays", [["float32", [-1], ""]]),
    f'{ARRAY}"floaty" is not a dtype': entry("arrays", [["floaty", [1], "AAAA"]]),
    f"{ARRAY}handle has no numpy equivalent": entry("arrays", [["handle", [1], "AAAA"]]),
    f"{ARRAY}its elements are not in base64": entry("arrays", [["int8", [1], "!!"]]),
    f"{ARRAY}it has 3 bytes, and an array of int8 and shape [2] has 2":
        entry("arrays", [["int8", [2], "AAAA"]]),
    f"{ARRAY}elements are neither true nor false": entry("arrays", [["bool", [3], "AAUA"]]),
    f"{ARRAY}the sizes [4611686018427387904, 4611686018427387904, 0] are too":
        entry("arrays", [["int8", [1 << 62, 1 << 62, 0], ""]]),
}  # fmt: skip


@pytest.mark.parametrize("reason", WRONG)
def test_a_forged_file_is_refused_where_it_is_wrong(reason: str):
    said = json.loads(save_json(program()))
    said["sources"] = [["f.py", "x", None]]
    WRONG[reason](said)
    assert reason in refusal(json.dumps(said))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (3, "it is the text that `save_json` gives, not int (3)"),
        ("", "it is damaged or cut off at line 1, column 1"),
        ("[1,\n2", "it is damaged or cut off at line 2, column 2"),
        (b"\xff", "it is damaged: "),
        ("[NaN]", "it is damaged: `NaN` is no number of JSON"),
        ('{"a": 1, "a": 2}', "it is damaged: it has str ('a') twice"),
        ("[" * 100_000, "it is nested too deeply"),
        ("7", "`save_json` did not write it"),
        ('{"root": 1, "nodes": [], "b64ndarrays": []}', "it was written by TVM, whose format is"),
    ],
)
def test_what_is_no_file_of_ours_is_refused(text: Any, reason: str):
    assert refusal(text).startswith(reason)


def test_values_in_values_in_values_are_refused_before_they_overflow():
    text = save_json(program()).replace('"root": 4', f'"root": {"[" * 800}0{"]" * 800}')
    deep = (
        text.replace("[[", '["tuple", [').replace("[[", '["tuple", [').replace("[0]", '["int", 0]')
    )
    assert "nested too deeply" in refusal(deep)


def test_a_module_that_has_a_name_twice_is_refused():
    said = json.loads(save_json(Model))
    module = said["nodes"][-1]
    said["nodes"].insert(-1, ["ir.relax.GlobalVar", "main", None])
    module[2] += [len(said["nodes"]) - 2, module[2][2]]
    assert "`ir.module.IRModule`: two functions have one name" in refusal(json.dumps(said))


@pytest.mark.parametrize(
    ("index", "value", "reason"),
    [
        (1, None, "a module has a name, functions, attributes and global infos"),
        (2, ["map", "f", "g"], "a module holds Functions, PrimFuncs and ExternFuncs; `f` is str"),
        (4, ["map", "vdevice", ["tuple", "cpu"]], "the global infos `vdevice` must be GlobalInfos"),
        (4, ["map", ["int", 3], ["tuple"]], "two functions have one name, or global infos have"),
    ],
)
def test_a_module_of_anything_else_is_refused(index: int, value: Any, reason: str):
    said = json.loads(save_json(Model))
    row(said, "ir.module.IRModule")[index] = value
    assert reason in refusal(json.dumps(said))
    row(said, "ir.module.IRModule").append(None)
    assert "it has 6 values, not 5" in refusal(json.dumps(said))


def test_a_message_has_nothing_that_changes_a_terminal():
    said = json.loads(save_json(program()))
    said["nodes"].insert(0, ["ir.\x1b[31m", None])
    assert refusal(json.dumps(said)).isprintable()


def test_classes_of_other_rooms_are_none_of_the_file():
    assert any(name.startswith("te.") for name in NODE_CLASSES)
    for name in NODE_CLASSES:
        if not name.startswith("ir."):
            said = {**json.loads(save_json(program())), "nodes": [[name]], "root": 0}
            assert "there is no such class" in refusal(json.dumps(said))


def test_every_file_that_is_cut_off_is_refused():
    text = save_json(Model)
    for length in range(0, len(text), 97):
        refusal(text[:length])


@pytest.mark.slow
def test_a_file_that_is_damaged_anywhere_is_refused_or_says_another_program(rng):
    """Nothing but a diagnostic is raised, whatever a stranger writes."""
    draw = random.Random(int(rng.integers(1 << 30)))
    for seed in range(examples(300)):
        text = save_json(random_script(seed))
        said = json.loads(text)
        for _ in range(10):
            changed = json.loads(text)
            one = draw.choice(changed["nodes"])
            other = draw.choice(said["nodes"])
            one[draw.randrange(len(one))] = draw.choice(other)
            try:
                found = load_json(json.dumps(changed))
            except DiagnosticError:
                continue
            assert save_json(found)
