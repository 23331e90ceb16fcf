from __future__ import annotations

import pytest

from relaxscript.codegen.llvm.engine import compile_text
from relaxscript.errors import InternalError


def test_text_that_llvm_refuses_is_a_mistake_of_ours():
    with pytest.raises(InternalError, match="LLVM refuses the code of a PrimFunc"):
        compile_text("define i32 @f() { ret i64 0 }", "f", {}, 0)


def test_code_that_is_not_well_formed_is_refused_before_it_is_compiled():
    text = "define i32 @f(i1 %c) {\nbr i1 %c, label %a, label %b\na:\n%x = add i32 1, 2\n"
    text += "br label %b\nb:\nret i32 %x\n}"
    with pytest.raises(InternalError, match="LLVM refuses the code of a PrimFunc"):
        compile_text(text, "f", {}, 0)


def test_functions_that_are_nowhere_are_missed():
    text = "declare i32 @relaxscript_no_such_function()\n"
    text += "define i32 @f() {\n%r = call i32 @relaxscript_no_such_function()\nret i32 %r\n}"
    with pytest.raises(InternalError, match="cannot be linked"):
        compile_text(text, "f", {}, 0)
    missing = "relaxscript_no_such_function"
    with pytest.raises(InternalError, match="this computer has no function `relaxscript_no"):
        compile_text(text, "f", {missing: missing}, 0)
