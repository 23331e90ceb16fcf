"""Modules, the places of nodes in the printed text, and options of printing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import InternalError
from relaxscript.ir import prim, relax, tir
from relaxscript.ir.module import DummyGlobalInfo, IRModule, VDevice
from relaxscript.ir.prim import Var
from relaxscript.ir.relax import DataflowBlock, ExternFunc, Function, If, MatchCast, VarBinding
from relaxscript.ir.walk import walk
from relaxscript.script.printer.module import Printer, script
from relaxscript_tests.growth import growth

from .programs import (
    add,
    call,
    comes_back,
    function,
    int32,
    loop,
    prim_func,
    sequence,
    tensor,
    text,
)

n = prim.Var("n", "int64")
x = relax.Var("x", tensor(n, 4))


def named(title: str) -> Function:
    dim = prim.Var("n", "int64")
    p = relax.Var("x", tensor(dim, 4))
    return Function([p], sequence(result=p), tensor(dim, 4), attrs={"global_symbol": title})


def test_functions_come_in_the_order_of_kinds_and_names_and_main_last():
    kernel = prim_func(tir.Evaluate(int32(0)), attrs={"global_symbol": "zz"})
    module = IRModule({
        "main": named("main"), "b": named("b"), "zz": kernel, "a": named("a"),
        "e": ExternFunc("sym"),
    })  # fmt: skip
    printed = script(module)
    starts = [printed.index(word) for word in ("def zz", "e = R.Ext", "def a", "def b", "def main")]
    assert starts == sorted(starts)
    comes_back(module)


def test_a_module_says_its_attributes_and_infos():
    module = IRModule(
        {"main": named("main")}, {"a": [1, "b"], "c": {"d": None}},
        {"vdevice": [VDevice("llvm"), VDevice("cuda -arch=sm_80", 1, "shared")]}, name="Mine",
    )  # fmt: skip
    assert script(module) == text("""
        # from relaxscript.script import ir as I
        # from relaxscript.script import relax as R


        @I.ir_module
        class Mine:
            I.module_attrs({"a": [1, "b"], "c": {"d": None}})
            I.module_global_infos(
                {"vdevice": [I.vdevice("llvm"), I.vdevice("cuda -arch=sm_80", 1, "shared")]}
            )

            @R.function
            def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
                return x
    """)
    comes_back(module)


def test_an_empty_module_is_a_class_that_says_so():
    assert script(IRModule({})).endswith("@I.ir_module\nclass Module:\n    pass")
    assert "class Mine:" in script(IRModule({}), name="Mine")


def test_other_infos_are_written_too():
    module = IRModule({}, None, {"dummy": [DummyGlobalInfo()]})
    assert 'I.module_global_infos({"dummy": [I.dummy_global_info()]})' in script(module)
    assert script(VDevice("llvm", 2)) == 'I.vdevice("llvm", 2)'


def test_the_first_lines_say_what_the_prefixes_are():
    printed = script(named("main"), relax_prefix="relax", tir_prefix="tir")
    assert printed.startswith("# from relaxscript.script import relax\n\n\n@relax.function\n")


def test_an_extern_function_with_a_name_is_a_definition():
    assert script(ExternFunc("sym"), name="f").endswith('f = R.ExternFunc("sym")')
    assert script(ExternFunc("sym")) == 'R.ExternFunc("sym")'


def test_pieces_of_functions_have_scripts():
    y = relax.Var("y", tensor(n, 4))
    binding = VarBinding(y, add(x, x))
    assert script(binding) == 'y: R.Tensor((n, 4), "float32") = R.add(x, x)'
    assert script(relax.BindingBlock([binding])) == script(binding)
    assert script(DataflowBlock([binding])).startswith("with R.dataflow():\n    y: ")
    assert script(sequence((y, add(x, x)), result=y)).endswith("\ny")
    assert (
        script(MatchCast(y, x, tensor(n, 4))) == 'y = R.match_cast(x, R.Tensor((n, 4), "float32"))'
    )


def test_what_has_no_script_is_refused():
    with pytest.raises(TypeError, match="a dict has no script"):
        script({})


def test_an_option_that_there_is_not_is_refused_with_the_nearest_one():
    with pytest.raises(
        TypeError, match=r"`script` has no option `show_mtea`; did you mean `show_meta`[?]"
    ):
        script(x, show_mtea=True)
    with pytest.raises(TypeError, match=r"has no option `qqqqq`$"):
        script(x, qqqqq=True)


def test_indentation_is_as_wide_as_it_is_asked_for():
    shown = script(named("main"), indent_spaces=2, line_width=40)
    assert shown.endswith(
        text("""
        @R.function
        def main(
          x: R.Tensor(("n", 4), "float32"),
        ) -> R.Tensor(("n", 4), "float32"):
          return x
    """)
    )


def test_printing_twice_gives_the_same_text():
    module = IRModule({"main": named("main"), "other": named("other")})
    assert script(module) == script(module) == module.script() == str(module) == repr(module)


# ---------------------------------------------------------------- where things stand


def test_each_node_stands_where_its_text_is():
    y, z = relax.Var("y", tensor(n, 4)), relax.Var("z", tensor(n, 4))
    inner = add(x, x)
    first, second = VarBinding(y, inner), VarBinding(z, add(y, x))
    f = function([x], first, second, result=z, ret=tensor(n, 4))
    printer = Printer("<here>")
    printer.print(f)
    where = printer.where
    assert where[inner].text == "R.add(x, x)"
    assert where[first].text == 'y: R.Tensor((n, 4), "float32") = R.add(x, x)'
    assert where[second.value].text == "R.add(y, x)"
    assert where[y].text == "y"
    assert (where[y].filename, where[y].line, where[y].column) == ("<here>", 8, 5)
    assert where[x].text == 'x: R.Tensor(("n", 4), "float32")'
    assert where[f].text.startswith("@R.function\n")
    assert [span.text for span in printer.places[y]] == ["y", "y"]


def test_what_is_not_written_itself_stands_where_its_parts_are():
    y = relax.Var("y", tensor(n, 4))
    block = relax.BindingBlock([VarBinding(y, add(x, x))])
    body = relax.SeqExpr([block], y)
    printer = Printer()
    printer.print(Function([x], body, tensor(n, 4)))
    span = printer.place(block)
    assert span is not None
    assert span.text == 'y: R.Tensor((n, 4), "float32") = R.add(x, x)'
    assert printer.place(relax.Var("strange", None)) is None
    assert printer.place(3) is None


def everything() -> IRModule:
    """A module with long lines, branches, loops and constants."""
    a, b, y = (relax.Var(name, tensor(n, 4)) for name in "aby")
    c = relax.Var("c", tensor(dtype="bool"))
    big = relax.Constant(np.arange(100.0, dtype="float32"))
    long = call(
        "nn.layer_norm",
        x,
        big,
        big,
        attrs={"axes": (-1,), "epsilon": 0.5, "center": True, "scale": True},
    )
    yes = sequence((a, long), result=a)
    no = sequence((b, add(x, add(x, x))), result=b)
    f = function([x, c], (y, If(c, yes, no)), result=relax.Tuple([y, relax.PrimValue(3)]))
    B = tir.Buffer("B", (n, 64), "float32")
    i, j, s = Var("i", "int64"), Var("j"), Var("s", "int32")
    value = prim.BufferLoad(B, (i, j)) * 2.0 + 1.0
    store = tir.BufferStore(B, value, (i, j))
    other = tir.IfThenElse(s < 3, store, tir.IfThenElse(prim.And(s < 5, prim.Not(s < 4)), store))
    kernel = prim_func(loop(i, n, loop(j, 64, other)), B, s, attrs={"global_symbol": "kernel"})
    return IRModule({"main": f, "kernel": kernel})


@pytest.mark.parametrize("width", [40, 100])
def test_every_place_lies_in_the_text_and_inside_of_its_parent(width: int):
    kinds = (relax.Call, prim.Binary, prim.BufferLoad, tir.For, tir.IfThenElse)
    module = everything()
    printer = Printer(line_width=width)
    written = printer.print(module)
    assert printer.source.text == written
    for node, spans in printer.places.items():
        for span in spans:
            assert span.text == span.text.strip() != ""
        if isinstance(node, kinds):
            parts = [p for p in walk(node) if isinstance(p, kinds) and len(printer.places[p]) == 1]
            assert all(printer.where[node].contains(printer.where[p]) for p in parts), node


def test_a_part_that_many_share_has_one_place_for_each_time_it_is_written():
    info = tensor(n, 4)
    variables = [relax.Var(f"v{i}", info) for i in range(9)]
    pairs = pairwise(variables)
    block = relax.BindingBlock([VarBinding(var, add(last, last)) for last, var in pairs])
    printer = Printer()
    printer.print(Function(variables[:1], relax.SeqExpr([block], variables[-1]), info))
    for node in (info, n):
        places = printer.places[node]
        assert len({(span.line, span.column) for span in places}) == len(places)


@pytest.mark.slow
def test_places_are_found_with_work_by_the_line():
    def prepare(size: int) -> Any:
        variables = [relax.Var(f"v{i}", tensor(n, 4)) for i in range(size + 1)]
        pairs = pairwise(variables)
        block = relax.BindingBlock([VarBinding(var, add(last, last)) for last, var in pairs])
        body = relax.SeqExpr([block], variables[-1])
        printer = Printer()
        printer.print(Function(variables[:1], body, tensor(n, 4)))
        return lambda: printer.places

    assert growth(prepare, 100) < 9


def test_the_text_is_the_same_with_and_without_places():
    for width in (30, 60, 100):
        printer = Printer(line_width=width)
        written = printer.print(everything())
        assert printer.places
        assert printer.source.text == written


def test_two_texts_of_one_program_are_our_mistake(monkeypatch: pytest.MonkeyPatch):
    printer = Printer()
    printer.print(x)
    monkeypatch.setattr(printer, "_root", named("main"))
    with pytest.raises(InternalError, match="printing twice gave two texts"):
        assert printer.places


@pytest.mark.slow
def test_ten_thousand_bindings_take_no_recursion():
    bindings: list[Any] = []
    last = x
    for _ in range(10_000):
        following = relax.Var("lv", tensor(n, 4))
        bindings.append((following, add(last, x)))
        last = following
    printed = script(function([x], *bindings, result=last))
    assert printed.endswith("return lv_9999")
