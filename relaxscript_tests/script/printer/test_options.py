"""The options of printing: what each does to the text, and what is refused."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import pytest

from relaxscript.ir import assert_structural_equal
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source, ir, relax, tir
from relaxscript.script.printer.options import Options

# The printer's options of TVM, with its defaults.
TVM = {
    "name": None, "show_meta": False, "ir_prefix": "I", "tir_prefix": "T", "relax_prefix": "R",
    "module_alias": "cls", "buffer_dtype": "float32", "int_dtype": "int32", "float_dtype": "void",
    "verbose_expr": False, "indent_spaces": 4, "print_line_numbers": False,
    "num_context_lines": -1, "syntax_sugar": True, "show_object_address": False,
    "show_all_struct_info": True, "path_to_underline": None, "path_to_annotate": None,
    "obj_to_underline": None, "obj_to_annotate": None,
}  # fmt: skip


@pytest.fixture
def module() -> IRModule:
    mod = from_source(
        textwrap.dedent(
            """
            @I.ir_module
            class Mine:
                @T.prim_func
                def k(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
                    s = T.alloc_buffer((4,), "float32")
                    h = T.alloc_buffer((4,), "float16")
                    for i in range(4):
                        s[i] = x[i] * T.float32(2)
                        h[i] = T.float16(1)
                        y[i] = s[i] + T.Cast("float32", T.int64(3)) * T.float32(i + 1)

                @R.function
                def main(x: R.Tensor((4,), "float32"), my: R.Tensor((4,), "float32")):
                    cls = Mine
                    R.print(x, format="{}")
                    a = R.call_tir(cls.k, (x,), out_sinfo=R.Tensor((4,), "float32"))
                    b = R.add(a, my)
                    return b
            """
        ).replace("@R.function", "@R.function(pure=False)")
    )
    assert isinstance(mod, IRModule)
    return mod


def test_tvms_own_defaults_change_nothing(module):
    assert module.script(**TVM) == module.script()


@pytest.mark.parametrize(
    "options",
    [
        {"name": "Other"},
        {"show_meta": True},
        {"buffer_dtype": "float16"},
        {"buffer_dtype": "void"},
        {"int_dtype": "int64"},
        {"int_dtype": "void"},
        {"float_dtype": "float32"},
        {"float_dtype": "float64"},
        {"verbose_expr": True},
        {"verbose_expr": True, "int_dtype": "void", "float_dtype": "float64"},
        {"indent_spaces": 1},
        {"line_width": 20},
        {"syntax_sugar": False},
        {"show_object_address": True},
        {"show_all_struct_info": False},
        {"module_alias": ""},
        {"module_alias": "x"},
        {"relax_prefix": "x", "tir_prefix": "my", "ir_prefix": "a"},
    ],
    ids=str,
)
def test_the_text_parses_back_under_every_option(module, options: dict[str, Any]):
    names = {"x": relax, "my": tir, "a": ir} if "relax_prefix" in options else {}
    again = from_source(module.script(**options), extra_vars=names)
    assert_structural_equal(again, module)
    if not options.get("show_object_address"):
        assert again.script(**options) == module.script(**options)


def test_a_prefix_with_dots_is_used_as_it_is(module):
    text = module.script(relax_prefix="rx.script.relax")
    assert "# rx.script.relax is relaxscript.script.relax" in text
    assert "@rx.script.relax.function" in text


def test_the_data_type_of_buffers_is_left_out_where_the_parser_takes_it_for_granted(module):
    text = module.script()
    assert "s = T.alloc_buffer((4,))\n" in text
    assert 'h = T.alloc_buffer((4,), "float16")\n' in text
    assert 's = T.alloc_buffer((4,), "float32")\n' in module.script(buffer_dtype="float16")


def test_literals_of_another_type_than_the_one_asked_for_are_typed(module):
    assert "x[i] * 2.0" in module.script()
    assert "i + 1" in module.script()
    assert "x[i] * T.float32(2.0)" in module.script(float_dtype="float64")
    assert "i + T.int32(1)" in module.script(int_dtype="int64")
    assert "T.int32(4)" not in module.script(int_dtype="int32")


def test_scalars_can_be_written_by_the_names_of_their_nodes(module):
    assert "T.Add(i, 1)" in module.script(verbose_expr=True)


def test_addresses_tell_objects_of_one_name_apart(module):
    name = re.search(r"b_(0x[0-9a-f]+)", module.script(show_object_address=True))
    assert name is not None
    assert int(name[1], 16) == id(module["main"].body.body)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            {"show_all_sinfo": True},
            TypeError,
            "has no option `show_all_sinfo`; did you mean `show_",
        ),
        (
            {"path_to_underline": ["p"]},
            TypeError,
            "`path_to_underline` takes paths, `ObjectPath.root().attr(...)`, not str ('p')",
        ),
        ({"path_to_annotate": {"p": ""}}, TypeError, "`path_to_annotate` takes paths, `ObjectP"),
        ({"path_to_annotate": "p"}, TypeError, "`path_to_annotate` maps paths to remarks"),
        ({"obj_to_annotate": 3}, TypeError, "`obj_to_annotate` maps nodes to remarks"),
        ({"relax_prefix": "if"}, ValueError, "`relax_prefix` must be a name of Python, not 'if'"),
        ({"tir_prefix": ""}, ValueError, "`tir_prefix` must be a name of Python, not ''"),
        ({"tir_prefix": "R"}, ValueError, "`tir_prefix` and `relax_prefix` are both 'R'"),
        ({"module_alias": "a.b"}, ValueError, "`module_alias` must be a name of Python, not 'a.b'"),
        ({"module_alias": "R"}, ValueError, "`relax_prefix` and `module_alias` are both 'R'"),
        ({"ir_prefix": "float"}, ValueError, "scripts use that name themselves"),
        ({"line_width": 0}, ValueError, "`line_width` is a whole number from 1 on, not 0"),
        ({"indent_spaces": "4"}, ValueError, "`indent_spaces` is a whole number from 1 on"),
        ({"name": 3}, TypeError, "`name` is a string, not 3"),
        ({"int_dtype": "integer"}, ValueError, "integer"),
    ],
    ids=str,
)
def test_what_would_spoil_the_text_is_refused(options, kind, message, module):
    with pytest.raises(kind, match=re.escape(message)):
        module.script(**options)


def test_nothing_given_is_the_default():
    assert Options.read({}) == Options()
