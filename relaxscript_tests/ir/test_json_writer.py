"""Programs as JSON: what `save_json` writes reads back as the same, for every node there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from relaxscript import te
from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError, SequentialSpan, Source
from relaxscript.ir import IRModule, load_json, prim, relax, save_json, structural_equal, tir
from relaxscript.ir.node import Node, field, node
from relaxscript.ir.relax import Attrs
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, TensorStructInfo
from relaxscript.ir.walk import walk
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript.testing.prim_scripts import random_prim_script
from relaxscript.testing.programs import random_module
from relaxscript.testing.scripts import random_script
from relaxscript.transform import get_pipeline
from relaxscript_tests import examples
from relaxscript_tests.node_samples import node_classes, sample


@I.ir_module
class Model:
    @T.prim_func(private=True)
    def double(x: T.Buffer(("n", 3), "float32"), y: T.Buffer(("n", 3), "float32")):
        n = T.int64()
        for i, j in T.grid(n, 3):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        cls = Model
        with R.dataflow():
            a = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n, 3), "float32"))
            gv = R.add(a, R.const([[1.0, 2.0, 3.0]], "float32"))
            R.output(gv)
        return gv


def read_back(value: Any) -> Any:
    """What is read of a saved value; saving it again gives the same text."""
    text = save_json(value)
    again = load_json(text)
    assert save_json(again) == text
    return again


@pytest.mark.parametrize("make", [random_module, random_script, random_prim_script])
def test_random_programs_read_back_as_the_same(make: Callable[[int], Any]):
    for seed in range(examples(300)):
        program = make(seed)
        again = read_back(program)
        assert structural_equal(again, program), seed
        assert again.script(show_meta=True) == program.script(show_meta=True), seed


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["zero", "default_build"])
def test_programs_that_passes_lowered_read_back_as_the_same(pipeline: str):
    for seed in range(examples(100)):
        lowered = get_pipeline(pipeline)(random_module(seed))
        again = read_back(lowered)
        assert structural_equal(again, lowered), seed
        assert again.script(show_meta=True) == lowered.script(show_meta=True), seed


@pytest.mark.parametrize("name", node_classes())
def test_a_node_of_every_class_reads_back_as_the_same(name: str):
    for seed in range(4):
        one = sample(node_classes()[name], seed)
        again = read_back(one)
        assert type(again) is type(one)
        assert structural_equal(again, one, map_free_vars=True)


def test_what_was_one_object_is_one_object():
    again = read_back(Model)
    main = again["main"]
    call, total = main.body.blocks[0].bindings
    assert call.value.args[1].fields[0] is main.params[0]
    assert total.value.args[0] is call.var
    assert call.value.args[0] is again.get_global_var("double")
    (n, _) = main.params[0].struct_info.dims
    assert call.value.sinfo_args[0].dims[0] is n
    assert len({id(v) for v in walk(again["double"]) if isinstance(v, tir.Buffer)}) == 2


def test_two_constants_of_the_same_elements_stay_two():
    ones = [relax.Constant(np.ones(20, "float32")) for _ in range(2)]
    first, second, third = read_back(relax.Tuple([*ones, ones[0]])).fields
    assert first is third
    assert first is not second


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint64", "float16", "float32", "float64", "bfloat16", "float8_e4m3fn",
     "float8_e5m2"],
)  # fmt: skip
def test_constants_keep_every_bit(dtype: str):
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    bits = np.arange(2 * 3 * kind.itemsize, dtype=np.uint8).reshape(2, 3 * kind.itemsize)
    data = (bits % 2 if dtype == "bool" else bits * 37).astype(np.uint8).view(kind)
    again = read_back(relax.Constant(data)).data
    assert (again.dtype, again.shape) == (kind, data.shape)
    assert again.tobytes() == data.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        again[0, 0] = 0


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_constants_of_one_element_or_none_keep_their_shape(shape: tuple[int, ...]):
    assert read_back(relax.Constant(np.zeros(shape, "int32"))).data.shape == shape


def test_attributes_keep_every_kind_of_value():
    attrs = Attrs(
        a=None, b=True, c=1, d=-0.0, e="text", f=(1, ("x",)), g=DataType("int8"), h=Attrs(k=2.5),
        i=prim.Var("n", "int64"), j=np.arange(3), k=1 << 200, l=float("nan"), m=float("-inf"),
    )  # fmt: skip
    again = read_back(attrs)
    assert list(again) == list(attrs)
    assert repr(again["d"]) == "-0.0"
    assert again["l"] != again["l"]
    assert [again[name] for name in "abcefkm"] == [attrs[name] for name in "abcefkm"]
    assert type(again["b"]) is bool
    assert (again["g"].bits, again["h"].k, again["i"].name) == (8, 2.5, "n")
    assert again["j"].data.tolist() == [0, 1, 2]


def test_places_are_where_they_were():
    again = read_back(Model)
    mine, theirs = Model["main"], again["main"]
    assert theirs.span == mine.span
    bindings = zip(mine.body.blocks[0].bindings, theirs.body.blocks[0].bindings)
    assert all(a.span == b.span and a.value.arg_spans == b.value.arg_spans for a, b in bindings)
    assert theirs.span.source.text == mine.span.source.text


def test_a_place_of_several_pieces_stays_one():
    source = Source("é.py", "x = é + 1\ny = x\n")
    span = SequentialSpan([source.between(4, 5), source.between(10, 11)])
    again = read_back(relax.Var("x", ObjectStructInfo(), span=span)).span
    assert again.spans == span.spans
    assert [one.text for one in again.spans] == ["é", "y"]


def test_sources_of_a_program_are_written_once():
    assert len(json.loads(save_json(Model))["sources"]) == 1


def test_a_list_and_a_mapping_of_nodes_share_their_variables():
    x = relax.Var("x", ObjectStructInfo())
    first, second = read_back([x, relax.Tuple([x])])
    assert second.fields[0] is first
    assert list(read_back({"x": x})) == ["x"]


def test_modules_keep_names_attributes_and_global_infos():
    module = from_source(
        "@I.ir_module\nclass Named:\n"
        "    I.module_attrs({'k': 1})\n"
        "    I.module_global_infos({'vdevice': [I.vdevice('llvm', 0)]})\n"
        "    @R.function\n"
        "    def main(x: R.Tensor((2,), 'float32', 'vdevice:0')) -> R.Object:\n"
        "        return x\n"
    )  # fmt: skip
    again = read_back(module)
    assert again.__name__ == "Named"
    assert again["main"].params[0].struct_info.vdevice is again.global_infos["vdevice"][0]
    assert again.script() == module.script()


def test_derivations_are_known_by_their_names():
    def derive(call, context):
        return ObjectStructInfo()

    for rule in (None, derive, "default_derive"):
        info = FuncStructInfo.opaque_func(derive_func=rule)
        assert structural_equal(read_back(info), info)
    assert read_back(FuncStructInfo.opaque_func(derive_func=derive)).derive_func == "derive"


def test_ten_thousand_bindings_and_scalars_as_deep_are_written_and_read():
    n = prim.Var("n", "int64")
    size: Any = n
    for _ in range(10_000):
        size = size + 1
    info = TensorStructInfo([n], "float32")
    x = last = relax.Var("x", info)
    body: Any = x
    bindings = []
    for _ in range(10_000):
        y = relax.Var("y", info)
        bindings.append(relax.VarBinding(y, relax.Call(relax.Op("relax.exp"), [last])))
        last = y
    for _ in range(10_000):
        body = relax.SeqExpr([relax.BindingBlock([])], body)
    shape = relax.ShapeExpr([prim.Max(size, n)])
    seq = relax.SeqExpr([relax.BindingBlock(bindings)], relax.Tuple([last, body, shape]))
    function = relax.Function([x], seq, ObjectStructInfo())
    again = load_json(save_json(function))
    assert len(again.body.blocks[0].bindings) == 10_000
    assert structural_equal(again, function)


def test_the_same_program_has_the_same_text():
    texts = {save_json(random_module(7)) for _ in range(3)}
    assert len(texts) == 1


# ---------------------------------------------------------------- what no file can say


@node
class Foreign(Node):
    """A node that is none of ours."""

    value: int = field(default=0)


def codegens() -> IRModule:
    made = IRModule({"main": Model["main"]})
    made.external_mods = ({"dnnl_add": print},)
    return made


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda: te.placeholder((2, 3), name="A"), "the program has Tensor (Tensor(shape=[2, 3]"),
        (lambda: Foreign(1), "the program has Foreign (Foreign(value=1)), which no file can say"),
        (lambda: [1, print], "the root has builtin_function_or_method (<built-in function print>)"),
        (
            lambda: tir.AttrStmt(object, "key", 1, tir.Evaluate(0)),
            "`AttrStmt.node` has type (<class 'object'>), which no file can say",
        ),
        (
            lambda: tir.AllocateConst(
                prim.Var("p", "handle"), "float32", [1], np.array([object()]), tir.Evaluate(0)
            ),
            "`AllocateConst.data` has ndarray (array([<object",
        ),
        (codegens, "functions of code generators are not saved, and the program has `dnnl_add`"),
    ],
)
def test_what_only_this_process_has_is_refused(value: Callable[[], Any], message: str):
    with pytest.raises(DiagnosticError) as raised:
        save_json(value())
    assert raised.value.diagnostics[0].code == "RX0704"
    assert message in raised.value.diagnostics[0].message
