"""`relaxscript print`: scripts as they were understood, from a file that is not run."""

from __future__ import annotations

import pytest

from relaxscript.cli import main
from relaxscript.ir import IRModule, structural_equal
from relaxscript.script import from_source
from relaxscript_tests.cli.programs import BAD, GOOD, IMPORTS, MODULE


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(text):
        (tmp_path / "a.py").write_text(text, "utf-8")
        return "a.py"

    return make


def test_what_is_printed_parses_back_to_the_same(file, capsys):
    assert main(["print", file(f"raise SystemExit\n{MODULE}")]) == 0
    out, err = capsys.readouterr()
    assert structural_equal(from_source(out), from_source(MODULE))
    assert "y: R.Tensor((2, 3), " in out
    assert err == ""


def test_large_constants_are_printed_whole(file, capsys):
    numbers = [float(i) for i in range(200)]
    text = f"{IMPORTS}\n@R.function\ndef f():\n    return R.const({numbers})\n"
    assert main(["print", file(text)]) == 0
    assert structural_equal(from_source(capsys.readouterr().out), from_source(text))


def test_types_of_bindings_can_be_left_out(file, capsys):
    assert main(["print", "--no-annotations", file(MODULE)]) == 0
    out = capsys.readouterr().out
    assert "y = cls.twice(x)" in out
    assert "y: " not in out


def test_all_scripts_are_printed_in_their_order_with_a_line_between(file, capsys):
    assert main(["print", file(GOOD + GOOD.replace("twice", "again"))]) == 0
    out = capsys.readouterr().out
    assert 0 < out.index("def twice") < out.index("\n\n# from") < out.index("def again")


def test_one_script_is_chosen_by_its_name(file, capsys):
    assert main(["print", file(GOOD + MODULE), "twice"]) == 0
    out = capsys.readouterr().out
    assert "def twice" in out
    assert "class Pair" not in out


def test_one_function_of_a_module_is_chosen_by_its_name(file, capsys):
    assert main(["print", file(MODULE), "Pair.main"]) == 0
    out = capsys.readouterr().out
    assert "def main" in out
    assert "def twice" not in out


def test_the_nearest_name_is_offered(file, capsys):
    assert main(["print", file(MODULE), "Pair.mian"]) == 2
    assert capsys.readouterr().err.startswith(
        "error[RX0703]: `a.py` has no module and no function `Pair.mian`\n"
        "  = help: did you mean `Pair.main`?\n"
    )


@pytest.mark.parametrize(
    ("text", "names"), [(MODULE, "Pair, Pair.twice, Pair.main"), ("x = 1\n", "none")]
)
def test_where_no_name_is_near_all_are_listed(file, capsys, text, names):
    assert main(["print", file(text), "xyzzy"]) == 2
    assert f"= help: there are: {names}\n" in capsys.readouterr().err


def test_mistakes_are_drawn_and_the_others_printed(file, capsys):
    assert main(["print", file(BAD + MODULE)]) == 1
    out, err = capsys.readouterr()
    assert "class Pair" in out
    assert "def main" in out
    assert "error[RX0101]: `imaeg` is not defined" in err


def test_mistakes_of_scripts_that_were_not_asked_for_do_not_matter(file, capsys):
    assert main(["print", file(BAD + MODULE), "Pair"]) == 0
    assert capsys.readouterr().err == ""


def test_a_function_of_a_module_with_mistakes_leads_to_these(file, capsys):
    text = MODULE.replace("R.exp", "R.exq")
    assert main(["print", file(text), "Pair.main"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "error[RX0102]" in err


def test_a_file_that_cannot_be_read_makes_two(capsys):
    assert main(["print", "missing.py"]) == 2
    assert "error[RX0701]: cannot read `missing.py`" in capsys.readouterr().err


def test_what_passes_make_of_a_script_is_printed(file, capsys):
    assert main(["print", "--passes", "Normalize, LegalizeOps", file(MODULE)]) == 0
    out = capsys.readouterr().out
    assert "@T.prim_func" in out
    assert "R.exp" not in out
    assert isinstance(from_source(out), IRModule)


def test_a_pipeline_is_named_like_a_pass(file, capsys):
    assert main(["print", "--passes", "zero", file(MODULE)]) == 0
    assert "@T.prim_func" in capsys.readouterr().out


def test_one_function_is_chosen_of_what_passes_make(file, capsys):
    assert main(["print", "--passes", "LegalizeOps", file(MODULE), "Pair.main"]) == 0
    out = capsys.readouterr().out
    assert "R.call_tir" in out
    assert "@T.prim_func" not in out


def test_a_function_that_passes_remove_is_refused_with_those_that_are_left(file, capsys):
    text = MODULE.replace("@R.function", "@R.function(private=True)", 1).replace(
        "cls.twice", "R.exp"
    )
    assert main(["print", "--passes", "DeadCodeElimination", file(text), "Pair.twice"]) == 2
    err = capsys.readouterr().err
    assert "after DeadCodeElimination the module has no function `twice`" in err
    assert "there are: main" in err


def test_a_function_alone_is_a_module_to_passes(file, capsys):
    assert main(["print", "--passes", "LegalizeOps", file(GOOD), "twice"]) == 0
    assert "@T.prim_func" in capsys.readouterr().out


def test_what_passes_change_is_shown_as_a_difference(file, capsys):
    assert main(["print", "--passes", "LegalizeOps", "--diff", file(MODULE), "Pair.main"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("@@ -")
    assert "\n-" in out
    assert "R.call_tir" in out
    assert main(["print", "--passes", "Normalize", "--diff", file(GOOD)]) == 0
    assert capsys.readouterr().out == "both print the same\n"


@pytest.mark.parametrize("passes", [[], ["--passes", " , "]])
def test_a_difference_is_asked_for_with_the_passes_that_make_it(file, capsys, passes):
    with pytest.raises(SystemExit) as ended:
        main(["print", *passes, "--diff", file(GOOD)])
    assert ended.value.code == 2
    said = '--diff shows what passes change; name them: --passes "FoldConstant,FuseOps"'
    assert said in capsys.readouterr().err


def test_an_unknown_pass_is_refused_with_the_nearest_name(file, capsys):
    assert main(["print", "--passes", "LegalizeOp", file(MODULE)]) == 2
    err = capsys.readouterr().err
    assert 'there is no pass "LegalizeOp"' in err
    assert 'did you mean "LegalizeOps"?' in err


def test_a_pass_that_is_made_with_arguments_is_refused(file, capsys):
    assert main(["print", "--passes", "UpdateVDevice", file(MODULE)]) == 2
    err = capsys.readouterr().err
    assert "the pass `UpdateVDevice` is made with arguments" in err
    assert "make it in Python: `UpdateVDevice(new_vdevice, index)`" in err


def test_a_pass_over_prim_funcs_is_named_with_tir(file, capsys):
    passes = "LegalizeOps,tir.Simplify"
    assert main(["print", "--passes", passes, file(MODULE), "Pair.main"]) == 0
    assert "R.call_tir" in capsys.readouterr().out
    assert main(["print", "--passes", "tir.Simplfy", file(MODULE)]) == 2
    assert 'did you mean "tir.Simplify"?' in capsys.readouterr().err
