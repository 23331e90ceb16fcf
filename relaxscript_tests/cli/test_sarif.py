"""`relaxscript check --sarif` writes what SARIF 2.1.0 asks for, and everything that is known."""

from __future__ import annotations

import copy
import json

import pytest

from relaxscript.cli import main
from relaxscript.cli.check import Checked
from relaxscript.cli.sarif import as_sarif
from relaxscript.errors import CODES, Diagnostic, Edit, Label, Source
from relaxscript_tests.cli.programs import BAD, GOOD, IMPORTS
from relaxscript_tests.cli.sarif_rules import problems_of

SOURCE = Source("my models/é:1.py", "x = é(a{0})\ny = 1\n")


def run_of(*diagnostics, name=SOURCE.filename, failed=False):
    log = as_sarif([Checked(name, 1, diagnostics, failed=failed)])
    assert problems_of(log) == []
    [run] = log["runs"]
    return run


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """What the command prints for a text, as data, and its status."""
    monkeypatch.chdir(tmp_path)

    def check(text, *options):
        (tmp_path / "a.py").write_text(text, "utf-8")
        status = main(["check", "--sarif", *options, "a.py"])
        out, err = capsys.readouterr()
        assert err == ""
        log = json.loads(out)
        assert problems_of(log) == []
        return status, log["runs"][0]

    return check


def test_a_mistake_is_a_result_with_its_rule_place_and_fix(printed):
    status, run = printed(BAD)
    assert status == 1
    [rule] = run["tool"]["driver"]["rules"]
    assert rule["id"] == "RX0101"
    assert rule["shortDescription"] == {"text": "a name is not defined"}
    assert rule["help"]["text"] == CODES["RX0101"]
    assert "```python\n@R.function\n" in rule["help"]["markdown"]
    assert rule["defaultConfiguration"] == {"level": "error"}
    region = {"startLine": 5, "startColumn": 25, "endLine": 5, "endColumn": 30}
    artifact = {"uri": "a.py"}
    assert run["results"] == [
        {
            "ruleId": "RX0101",
            "ruleIndex": 0,
            "level": "error",
            "message": {"text": "`imaeg` is not defined\nhelp: did you mean `image`?"},
            "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
            "fixes": [
                {
                    "description": {"text": "did you mean `image`?"},
                    "artifactChanges": [
                        {
                            "artifactLocation": artifact,
                            "replacements": [
                                {"deletedRegion": region, "insertedContent": {"text": "image"}}
                            ],
                        }
                    ],
                }
            ],
        }
    ]


def test_a_good_file_has_no_results(printed):
    status, run = printed(GOOD)
    assert (status, run["results"], run["tool"]["driver"]["rules"]) == (0, [], [])
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_warnings_have_their_level(printed):
    text = f"{IMPORTS}\n@R.function\ndef f(x):\n    return x\n"
    status, run = printed(text)
    assert status == 0
    assert [result["level"] for result in run["results"]] == ["warning"]
    [rule] = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "a parameter has no annotation"
    assert rule["defaultConfiguration"] == {"level": "warning"}


def test_after_fixing_only_what_is_left_is_a_result(printed):
    assert printed(BAD, "--fix")[1]["results"] == []


def test_labels_are_related_locations_and_notes_follow_the_message():
    label = Label(SOURCE.between(12, 13), "is {1}")
    found = Diagnostic("RX0203", "wrong", SOURCE.between(4, 5), (label,), ("a note",), "write `x`")
    [result] = run_of(found)["results"]
    assert result["message"]["text"] == "wrong\nnote: a note\nhelp: write `x`"
    [related] = result["relatedLocations"]
    assert related["message"] == {"text": "is {{1}}"}
    assert related["physicalLocation"]["region"]["startLine"] == 2


def test_files_are_uris():
    [result] = run_of(Diagnostic("RX0203", "wrong", SOURCE.between(4, 5)))["results"]
    [place] = result["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "my%20models/%C3%A9%3A1.py"}
    [result] = run_of(Diagnostic("RX0203", "wrong", None), name="<stdin>")["results"]
    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "%3Cstdin%3E"}}}
    ]


def test_braces_and_brackets_of_a_message_stand_for_themselves():
    [result] = run_of(Diagnostic("RX0203", "a{0} and x[i](y) and z[j]", None))["results"]
    assert result["message"]["text"] == "a{{0}} and x\\[i](y) and z[j]"


def test_a_fix_of_two_files_changes_both_in_their_order():
    other = Source("b.py", "abc")
    edits = [Edit(other.between(1, 1), ""), Edit(SOURCE.between(4, 5), "{}"),
             Edit(SOURCE.between(0, 1), "y")]  # fmt: skip
    [result] = run_of(Diagnostic("RX0203", "wrong", None, fix=edits))["results"]
    [fix] = result["fixes"]
    assert fix["description"] == {"text": "apply the fix"}
    first, second = fix["artifactChanges"]
    assert first["artifactLocation"] == {"uri": "b.py"}
    assert first["replacements"] == [
        {
            "deletedRegion": {"startLine": 1, "startColumn": 2, "endLine": 1, "endColumn": 2},
            "insertedContent": {"text": ""},
        }
    ]
    assert [r["insertedContent"]["text"] for r in second["replacements"]] == ["y", "{}"]


def test_a_file_that_cannot_be_read_is_a_notification_of_the_tool(capsys):
    assert main(["check", "--sarif", "missing.py"]) == 2
    log = json.loads(capsys.readouterr().out)
    assert problems_of(log) == []
    [run] = log["runs"]
    assert run["results"] == []
    [invocation] = run["invocations"]
    assert not invocation["executionSuccessful"]
    [said] = invocation["toolExecutionNotifications"]
    assert said["message"]["text"].startswith("cannot read `missing.py`: No such file")


@pytest.mark.parametrize("code", CODES)
def test_every_code_makes_a_rule(code):
    run = run_of(Diagnostic(code, "wrong", SOURCE.between(4, 5)))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == (
        [] if code.startswith("RX07") else [code]
    )


# ---- the validator


def damaged(change):
    found = Diagnostic(
        "RX0203", "w", SOURCE.between(4, 5), [Label(SOURCE.whole, "l")],
        fix=[Edit(SOURCE.between(4, 5), "x")],
    )  # fmt: skip
    log = copy.deepcopy(as_sarif([Checked(SOURCE.filename, 1, (found,))]))
    change(log, log["runs"][0], log["runs"][0]["results"][0])
    return problems_of(log)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda log, run, result: log.update(version="2.0.0"), "log.version is no version"),
        (lambda log, run, result: run["tool"].pop("driver"), "tool has no driver"),
        (lambda log, run, result: run.update(columns=1), "columns is unknown"),
        (lambda log, run, result: result.update(message={}), "message has no text"),
        (lambda log, run, result: result.update(message={"text": "{x"}), "text is no string"),
        (lambda log, run, result: result.update(ruleIndex=1), "does not point at its rule"),
        (lambda log, run, result: result.update(level="bad"), "level is no level"),
        (lambda log, run, result: result["relatedLocations"].append(
            result["relatedLocations"][0]), "have the same id"),
        (lambda log, run, result: result["fixes"][0].update(artifactChanges=[]), "is empty"),
        (lambda log, run, result: result["locations"][0]["physicalLocation"].update(
            region={"startLine": 0}), "startLine is no count"),
        (lambda log, run, result: result["locations"][0]["physicalLocation"].update(
            region={"startLine": 2, "endLine": 1}), "ends before it begins"),
        (lambda log, run, result: result["locations"][0]["physicalLocation"].update(
            artifactLocation={"uri": "a b"}), "uri is no uri"),
    ],
)  # fmt: skip
def test_the_validator_sees_what_is_wrong(change, problem):
    assert any(problem in said for said in damaged(change))
