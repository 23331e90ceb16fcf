"""The command `relaxscript` as a whole: arguments, exit status, streams, pipes."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import relaxscript
from relaxscript.cli import main
from relaxscript.errors import CODES
from relaxscript_tests.architecture import ROOT
from relaxscript_tests.cli.programs import BAD, GOOD


def command(*arguments, **options):
    """`python -m relaxscript` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "relaxscript", *arguments],
        capture_output=True, text=True, check=False, cwd=ROOT, **options,
    )  # fmt: skip


@pytest.mark.slow
def test_the_module_is_the_command():
    done = command("explain", "RX0203")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("RX0203: ")


@pytest.mark.slow
def test_the_exit_status_of_main_is_that_of_the_process():
    done = command("check", "-", input=BAD)
    assert done.returncode == 1
    assert done.stdout == "1 error in 1 definition of 1 file\n"
    assert done.stderr.startswith("error[RX0101]")


@pytest.mark.slow
def test_without_a_terminal_nothing_is_coloured():
    done = command("check", "-", input=BAD)
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error():
    with subprocess.Popen(
        [sys.executable, "-m", "relaxscript", "print", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
    ) as process:  # fmt: skip
        process.stdout.close()
        process.stdin.write(GOOD.encode())
        process.stdin.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (1, b"")


@pytest.mark.slow
def test_a_program_that_is_run_may_lose_its_reader(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("input()\nfor i in range(100000):\n    print(i)\n")
    with subprocess.Popen(
        [sys.executable, "-m", "relaxscript", "run", str(file)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
    ) as process:  # fmt: skip
        process.stdout.close()
        process.stdin.write(b"\n")
        process.stdin.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (1, b"")


@pytest.mark.slow
def test_a_broken_pipe_of_the_program_itself_is_shown(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("raise BrokenPipeError(32, 'the far end has gone')\n")
    done = command("run", str(file))
    assert done.returncode == 1
    assert done.stderr.endswith("BrokenPipeError: [Errno 32] the far end has gone\n")


def test_colours_are_for_terminals_that_want_them(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["explain", "RX9999"]) == 2
    assert "\x1b[1;31merror[RX0703]\x1b[0m" in capsys.readouterr().err
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["explain", "RX9999"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"relaxscript {relaxscript.__version__}\n"


def test_every_code_is_listed_with_its_title(capsys):
    assert main(["explain"]) == 0
    titles = capsys.readouterr().out.splitlines()
    assert [title[:6] for title in titles] == list(CODES)
    assert all(re.fullmatch(r"RX\d{4}: \S.*", title) for title in titles)


def test_an_unknown_code_leads_to_the_nearest(capsys):
    assert main(["explain", "RX0230"]) == 2
    assert capsys.readouterr().err.startswith(
        "error[RX0703]: there is no diagnostic code `RX0230`\n  = help: did you mean RX02"
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["chek"], "invalid choice: 'chek'"),
        (["check"], "the following arguments are required: FILE"),
        (["check", "--jsn", "a.py"], "unrecognized arguments: --jsn"),
        (["run"], "the following arguments are required: FILE"),
        (["explain", "RX0203", "RX0204"], "unrecognized arguments: RX0204"),
    ],
)
def test_a_command_line_that_makes_no_sense_makes_two(capsys, arguments, complaint):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err


def test_the_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert all(
        f"\n    {name} " in out
        for name in ("run", "check", "print", "inspect", "explain", "ops", "cache", "doctor")
    )


@pytest.mark.slow
def test_llvm_is_loaded_by_no_command_that_does_not_need_it():
    code = (
        "import sys\nfrom relaxscript.cli import main\n"
        "main(['explain', 'RX0203']), main(['check', '-'])\nprint('llvmlite' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=GOOD, capture_output=True, text=True, check=False,
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["chek", "a.py"], "check"),
        (["check", "--strct", "a.py"], "--strict"),
        (["check", "--jsn", "a.py"], "--json"),
        (["explain", "--every"], None),
        (["quaternion"], None),
    ],
)
def test_the_nearest_command_or_option_is_offered(words, near, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words)
    said = capsys.readouterr().err
    assert caught.value.code == 2
    assert said.rstrip().endswith(f"; did you mean {near}?") == (near is not None)
    assert ("did you mean" in said) == (near is not None)
