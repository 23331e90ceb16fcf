"""`%%relax`: a module that is written in a cell is checked, run and shown."""

from __future__ import annotations

import pytest

from relaxscript_tests.ipython_shell import Shown, run_cells

MODULE = """@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((SIZE, "n"), "float32")):
        y = R.exp(x)
        return y
"""
WRONG = """ran = True

@R.function
def f(x: R.Tensor((2, 3), "float32")):
    y = R.add(x, z)
    return R.sum(x, axes=1)
"""
DOUBTFUL = """@R.function
def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    return R.add(x, y)
"""
FUNCTION = "@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    return R.exp(x)\n"

# The cells, by what is tested of them; they run in this order in one shell.
CELLS = {
    "load": "%load_ext relaxscript",
    "captured": "SIZE = 3\nimport numpy as np",
    "module": f"%%relax\n{MODULE}",
    "use": "print(sorted(M.functions)[0].name_hint, R.__name__)",
    "passes": f"%%relax --passes LegalizeOps\n{MODULE}",
    "written": "print(len(M.functions))",
    "diff": f"%%relax --passes 'LegalizeOps,FuseOps' --diff\n{FUNCTION}",
    "graph": f"%%relax --graph\n{FUNCTION}",
    "no show": f"%%relax --no-show\n{FUNCTION}",
    "wrong": f"%%relax\n{WRONG}",
    "below": f"%%time\n%%relax\n\n\n{WRONG}",
    "ran": "print('ran' in globals())",
    "doubtful": f"%%relax --no-show\n{DOUBTFUL}",
    "strict": f"%%relax --strict\n{DOUBTFUL}",
    "run": f"%%relax\n{FUNCTION}1 / 0",
    "known in a run": f"%%relax --no-show\nk = max(len('ab'), 1)\n{FUNCTION.replace('2,', 'k,')}",
    "no definition": "%%relax\n\nx = 1",
    "empty": "%%relax\n\n",
    "no Python": "%%relax\ndef f(:",
    "option": f"%%relax --pases a\n{FUNCTION}",
    "quote": f"%%relax --passes 'a\n{FUNCTION}",
    "diff alone": f"%%relax --diff\n{FUNCTION}",
    "pass": f"%%relax --passes Fusop\n{FUNCTION}",
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> dict[str, Shown]:
    found = run_cells(list(CELLS.values()), tmp_path_factory.mktemp("shell"))
    return dict(zip(CELLS, found))


def number(name: str) -> int:
    return list(CELLS).index(name) + 1


@pytest.mark.slow
def test_a_module_is_shown_and_is_there_afterwards(shown):
    assert shown["module"].succeeded
    assert 'y: R.Tensor((3, n), "float32") = R.exp(x)' in shown["module"].printed
    assert shown["use"].printed == "main relaxscript.script.relax\n"


@pytest.mark.slow
def test_passes_change_what_is_shown_and_not_what_is_defined(shown):
    assert "R.call_tir(cls.exp, (x,)" in shown["passes"].printed
    assert shown["written"].printed == "1\n"
    assert "-    return gv\n" not in shown["diff"].printed
    assert "R.call_tir(cls.exp" in shown["diff"].printed
    assert shown["graph"].printed.endswith("(2,) float32\n  return gv\n")
    assert shown["no show"] == Shown("", True)


@pytest.mark.slow
def test_all_mistakes_are_shown_at_the_lines_of_the_cell_and_nothing_runs(shown):
    for name, line in (("wrong", 6), ("below", 9)):
        said = shown[name].printed
        assert f"--> Cell In[{number(name)}], line {line}\n" in said
        assert f"--> Cell In[{number(name)}], line {line + 1}\n" in said
        assert "`z` is not defined" in said
        assert "did you mean `axis`?" in said
        assert "Traceback" not in said
        assert not shown[name].succeeded or name == "below"
    assert shown["ran"].printed == "False\n"


@pytest.mark.slow
def test_what_only_a_run_can_check_is_a_warning_or_with_strict_an_error(shown):
    assert f"Cell In[{number('doubtful')}]:4: RelaxWarning: " in shown["doubtful"].printed
    assert shown["doubtful"].succeeded
    assert not shown["strict"].succeeded
    assert f"--> Cell In[{number('strict')}], line 4" in shown["strict"].printed


@pytest.mark.slow
def test_what_fails_in_a_run_shows_the_line_of_the_cell_and_nothing_of_ours(shown):
    said = shown["run"].printed
    assert f"Cell In[{number('run')}], line 5" in said
    assert "----> 5 1 / 0" in said
    assert "relaxscript/" not in said


@pytest.mark.slow
def test_what_is_known_only_in_a_run_is_left_to_it(shown):
    assert shown["known in a run"] == Shown("", True)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "message"), [
    ("no definition", "error[RX0703]: the cell has no module and no function\n"
                      " --> Cell In[{}], line 3\n  |\n3 | x = 1\n"),
    ("empty", "error[RX0703]: the cell has no module and no function\n"),
    ("no Python", " --> Cell In[{}], line 2\n  |\n2 | def f(:\n"),
    ("option", "UsageError: unrecognized arguments: --pases a; did you mean --passes?"),
    ("quote", "UsageError: No closing quotation"),
    ("diff alone", "UsageError: --diff shows what passes change; name them"),
    ("pass", 'there is no pass "Fusop"'),
])  # fmt: skip
def test_what_cannot_be_done_is_said(shown, name, message):
    assert not shown[name].succeeded
    assert message.format(number(name)) in shown[name].printed


def test_the_package_is_an_extension_of_ipython():
    import relaxscript
    from relaxscript.cli.magic import load_ipython_extension

    assert relaxscript.load_ipython_extension is load_ipython_extension


def test_a_cell_without_a_definition_is_refused_at_its_first_line_of_code():
    from relaxscript.cli.magic import check
    from relaxscript.errors import DiagnosticError, Source

    with pytest.raises(DiagnosticError, match="the cell has no module and no function") as caught:
        check(Source("<cell>", "\nx = 1\n"), {}, None)
    assert caught.value.diagnostics[0].span.line == 2
