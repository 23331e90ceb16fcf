"""Packed functions by their names as parts of programs."""

from __future__ import annotations

import pytest

from relaxscript import register_func
from relaxscript.errors import VMError
from relaxscript.ir import load_json, relax, save_json, structural_equal
from relaxscript.ir.env_func import EnvFunc
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, TensorStructInfo
from relaxscript.runtime import remove_global_func


def test_a_registered_function_is_found_and_called():
    register_func("test.env.add", lambda a, b: a + b)
    add = EnvFunc.get("test.env.add")
    assert add(1, 2) == 3
    assert (add.name, add.__name__, add.func.name) == ("test.env.add",) * 3
    register_func("test.env.add", lambda a, b: a - b, override=True)
    assert add(1, 2) == -1


def test_one_that_nobody_registered_is_refused():
    register_func("test.env.add", max)
    with pytest.raises(VMError, match=r"`test.env.ad` .*"):
        EnvFunc.get("test.env.ad")
    kept = EnvFunc.get("test.env.add")
    remove_global_func("test.env.add")
    with pytest.raises(VMError, match=r"test\.env\.add"):
        kept(1, 2)


def test_it_is_an_attribute_that_is_compared_and_saved_by_its_name():
    one, other = (
        relax.Call(relax.ExternFunc("f"), [], {"rule": EnvFunc(name)}) for name in ("a", "b")
    )
    assert structural_equal(load_json(save_json(one)), one)
    assert not structural_equal(one, other)


def test_it_derives_results():
    result = TensorStructInfo((2, 3), "float32")
    register_func("test.env.derive", lambda call, context: result)
    info = FuncStructInfo.opaque_func(derive_func=EnvFunc.get("test.env.derive"))
    function = relax.Var("f", info)
    assert relax.Call(function, [relax.Var("x", ObjectStructInfo())]).struct_info is result
    assert structural_equal(info, FuncStructInfo.opaque_func(derive_func="test.env.derive"))
