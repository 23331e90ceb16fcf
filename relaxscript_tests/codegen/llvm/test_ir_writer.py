"""Text of functions: what is computed once, and what literals decide."""

from __future__ import annotations

from relaxscript.codegen.llvm.ir_writer import FailureSites, FunctionWriter, Value

X, Y = Value("i64", "%x"), Value("i64", "%y")


def literal(value: int) -> Value:
    return Value("i64", str(value))


def test_what_a_block_has_computed_is_not_computed_again():
    asm = FunctionWriter(FailureSites())
    first = asm.operation("add nsw", X, Y)
    assert asm.operation("add nsw", X, Y) == first
    assert asm.operation("add", X, Y) != first
    asm.begin("next")
    assert asm.operation("add nsw", X, Y) != first


def test_a_load_is_made_again():
    asm = FunctionWriter(FailureSites())
    assert asm.value("i64", "load i64, ptr %p") != asm.value("i64", "load i64, ptr %p")


def test_behind_a_check_is_known_what_was_computed_before_it():
    asm = FunctionWriter(FailureSites())
    first = asm.operation("add nsw", X, Y)
    asm.fail_if(asm.compare("icmp slt", first, literal(0)), lambda details: ValueError())
    assert asm.operation("add nsw", X, Y) == first


def test_literals_decide_comparisons_and_branches():
    asm = FunctionWriter(FailureSites())
    assert asm.compare("icmp slt", literal(-2), literal(5)) == Value("i1", "true")
    assert asm.compare("icmp sge", literal(-2), literal(5)) == Value("i1", "false")
    assert asm.compare("icmp ult", literal(2), literal(5)).text.startswith("%")
    asm.branch(Value("i1", "true"), "yes", "no")
    assert asm.lines[-1].strip() == "br label %yes"


def test_a_failure_that_cannot_be_has_no_code():
    sites = FailureSites()
    asm = FunctionWriter(sites)
    asm.fail_if(Value("i1", "false"), lambda details: ValueError())
    assert not asm.lines
    assert not sites.explanations


def test_literals_that_are_small_do_not_wrap():
    asm = FunctionWriter(FailureSites())
    assert asm.overflowing("smul", literal(6), literal(7)) == (literal(42), Value("i1", "false"))
    assert asm.overflowing("umul", literal(6), literal(7))[0] == literal(42)
    assert asm.overflowing("usub", literal(6), literal(7))[1].text.startswith("%")
    assert asm.overflowing("smul", literal(1 << 40), literal(7))[1].text.startswith("%")


def test_what_changes_nothing_is_not_written():
    asm = FunctionWriter(FailureSites())
    assert asm.operation("add nsw", X, literal(0)) == X
    assert asm.operation("add nsw", literal(0), X) == X
    assert asm.operation("mul", X, literal(1)) == X
    assert asm.operation("sub", X, literal(0)) == X
    assert asm.operation("sub", literal(0), X) != X
    assert asm.overflowing("sadd", X, literal(0)) == (X, Value("i1", "false"))
    assert asm.operation("fadd", Value("float", "%f"), Value("float", "0")).text != "%f"
