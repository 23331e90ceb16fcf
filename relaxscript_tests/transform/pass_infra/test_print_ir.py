"""PrintIR: the module between two passes."""

from __future__ import annotations

import pytest

from relaxscript.ir import transform as tvm_transform
from relaxscript.script import from_source
from relaxscript.transform import Normalize, PrintIR, Sequential
from relaxscript_tests.transform.models import Model


def test_a_module_is_printed_below_its_header_and_passed_on(capsys):
    assert Sequential([Normalize(), PrintIR("normal")])(Model) is Model
    assert capsys.readouterr().out == f"# normal\n{Model.script()}\n\n"


def test_without_a_header_the_name_of_the_pass_is_above(capsys):
    PrintIR()(Model)
    assert capsys.readouterr().out.startswith("# PrintIR\n")


def test_constants_are_printed_whole_where_that_is_wanted(capsys):
    numbers = [float(i) for i in range(200)]
    mod = from_source(f"""
@I.ir_module
class M:
    @R.function
    def main():
        return R.const({numbers}, "float32")
""")
    PrintIR()(mod)
    assert "metadata[" in capsys.readouterr().out
    PrintIR(show_meta_data=True)(mod)
    assert from_source(capsys.readouterr().out)["main"].body is not None


def test_a_header_is_a_string():
    with pytest.raises(TypeError, match=r"`header` of `PrintIR` is a string, not int \(3\)"):
        PrintIR(3)


def test_it_is_where_users_of_tvm_look():
    assert tvm_transform.PrintIR is PrintIR
