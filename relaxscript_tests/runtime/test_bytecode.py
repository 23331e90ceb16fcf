"""Malformed programs are refused before they can run."""

from __future__ import annotations

import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.bytecode import (
    Arg,
    ArgKind,
    Call,
    Goto,
    If,
    Ret,
    SpecialReg,
    Variable,
    VMFuncKind,
    VMFunction,
    verify,
)
from relaxscript.runtime.run_check import AnyCheck

R0, R1 = Arg(ArgKind.REGISTER, 0), Arg(ArgKind.REGISTER, 1)
PACKED = VMFunction(VMFuncKind.PACKED_FUNC, "p")


def refusal(*instructions, **options):
    """What is wrong with a program; None where nothing is."""
    try:
        check(*instructions, **options)
    except VMError as error:
        return str(error)
    return None


def check(*instructions, args=1, registers=3, constants=(), functions=(), **options):
    options = {"start_instr": 0, "end_instr": len(instructions), **options}
    main = VMFunction(
        VMFuncKind.VM_FUNC, "main", num_args=args, register_file_size=registers, **options
    )
    verify([PACKED, main, *functions], instructions, constants)


def test_a_well_formed_program_passes():
    program = (
        Call(1, 0, (R0, Arg(ArgKind.CONSTANT, 0), Arg(ArgKind.FUNCTION, 1))),
        If(1, 3),
        Call(1, 0, (R1, Arg(ArgKind.IMMEDIATE, -5), Arg(ArgKind.REGISTER, SpecialReg.VM_STATE))),
        Goto(-2),
        Call(SpecialReg.VOID_ARG, 0, (Arg(ArgKind.REGISTER, SpecialReg.VOID_ARG),)),
        Ret(1),
    )
    assert refusal(*program, constants=("c",)) is None
    assert "uses constant 0" in refusal(*program)


@pytest.mark.parametrize(
    ("instructions", "options", "message"),
    [
        ([Ret(3)], {}, "instruction 0 uses register 3 of 3"),
        ([Ret(-1)], {}, "instruction 0 uses register -1 of 3"),
        ([If(7, 1), Ret(0)], {}, "instruction 0 uses register 7 of 3"),
        ([Call(3, 0, ()), Ret(0)], {}, "instruction 0 uses register 3 of 3"),
        ([Call(1, 9, ()), Ret(0)], {}, "instruction 0 calls function 9"),
        ([Call(1, 0, (Arg(ArgKind.REGISTER, 5),)), Ret(0)], {}, "uses register 5 of 3"),
        ([Call(1, 0, (Arg(ArgKind.CONSTANT, 0),)), Ret(0)], {}, "uses constant 0"),
        ([Call(1, 0, (Arg(ArgKind.FUNCTION, 2),)), Ret(0)], {}, "uses function 2"),
        ([Call(1, 0, ())], {}, "instruction 0 leads out of the function"),
        ([Goto(2), Ret(0)], {}, "instruction 0 leads out of the function"),
        ([Goto(-1), Ret(0)], {}, "instruction 0 leads out of the function"),
        ([If(0, 5), Ret(0)], {}, "instruction 0 leads out of the function"),
        ([], {}, "it has no instruction; it must end with a return"),
        ([Ret(1)], {}, "instruction 0 reads register 1 before it is written"),
        ([If(0, 2), Call(1, 0, ()), Ret(1)], {}, "instruction 2 reads register 1 before"),
        ([Call(1, 0, (Arg(ArgKind.REGISTER, 2),)), Ret(1)], {}, "reads register 2 before"),
        ([Ret(0)], {"args": 4}, "3 registers cannot hold 4 arguments"),
        ([Ret(0)], {"end_instr": 9}, "its instructions are not in the program"),
        ([Ret(0)], {"param_names": ("x", "y")}, "1 parameters, but 2 names of parameters"),
        ([Ret(0)], {"param_checks": (AnyCheck(),) * 2}, "1 parameters, but 2 checks of parameters"),
        ([Ret(0)], {"variables": [Variable("v", R0, 0, 2)]}, "`v` reaches out of the function"),
        ([Ret(0)], {"variables": [Variable("v", R0, 1, 0)]}, "`v` reaches out of the function"),
        (
            [Ret(0)],
            {"variables": [Variable("v", Arg(ArgKind.REGISTER, 4), 0, 1)]},
            "instruction 0 uses register 4 of 3",
        ),
        ([Ret(0)], {"functions": [PACKED]}, "malformed bytecode in `p`: the name is taken"),
    ],
)
def test_a_malformed_program_says_what_is_wrong(instructions, options, message):
    with pytest.raises(VMError, match=message) as info:
        check(*instructions, **options)
    assert info.value.code == "RX0612"


def test_a_register_written_on_every_way_may_be_read():
    assert refusal(If(0, 3), Call(1, 0, ()), Goto(2), Call(1, 0, ()), Ret(1)) is None
    assert "reads register 1 before" in refusal(
        If(0, 3), Call(1, 0, ()), Goto(2), Call(2, 0, ()), Ret(1)
    )


def test_a_loop_does_not_define_what_only_a_later_turn_writes():
    with pytest.raises(VMError, match="instruction 1 reads register 1 before it is written"):
        check(If(0, 4), Call(2, 0, (R1,)), Call(1, 0, ()), Goto(-3), Ret(0))
