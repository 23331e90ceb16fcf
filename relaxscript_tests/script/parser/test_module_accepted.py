"""Accepted programs: decorators, modules, and what stands in a module beside functions."""

from __future__ import annotations

import pytest

from relaxscript.ir import IRModule
from relaxscript_tests.script.parser.round_trip import accepted, round_trip

MODULES = {
    "a module of functions of both kinds": """
        @I.ir_module
        class Module:
            @T.prim_func
            def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
                for i in range(4):
                    B[i] = A[i] * T.float32(2)

            @R.function
            def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                y = R.call_tir(Module.double, (x,), out_sinfo=R.Tensor((4,), "float32"))
                return y
        """,
    "a decorator that is called": """
        @I.ir_module(check_well_formed=False)
        class Module:
            @R.function(private=True, pure=True, check_well_formed=False)
            def main(x: R.Tensor((4,), "float32")):
                return x
        """,
    "a base for type checkers": """
        @I.ir_module
        class Module(I.Module):
            @R.function
            def main(x: R.Tensor((4,), "float32")):
                return x
        """,
    "that base under a name of its own": """
        from relaxscript.script.ir import Module as Base

        @I.ir_module
        class Module(Base):
            @R.function
            def main(x: R.Tensor((4,), "float32")):
                return x
        """,
    "the decorators of the whole package": """
        import relaxscript
        from relaxscript.script import ir_module
        from relaxscript.script.relax import function
        from relaxscript.script.tir import prim_func as primitive

        @ir_module
        class Module:
            @function(pure=False)
            def main(x: R.Tensor((4,), "float32")):
                R.print(x)
                return x

            @primitive(private=True)
            def nothing(A: T.Buffer((4,), "float32")):
                T.evaluate(0)
        """,
    "the decorators of the RFC": """
        import tvm
        from tvm.script import relax as R, tir as T

        @tvm.script.ir_module
        class Module:
            @R.func
            def main(x: R.Tensor[(4,), "float32"]):
                return x
        """,
    "the later name of the language of PrimFuncs": """
        from relaxscript.script import ir as I, relax as R, tirx as T

        @I.ir_module
        class Module:
            @T.prim_func
            def zero(A: T.Buffer((4,), "float32")):
                for i in range(4):
                    A[i] = T.float32(0)
        """,
    "other letters for the languages": """
        from relaxscript.script import ir as module, relax as rx, tir as tt

        @module.ir_module
        class Module:
            @rx.function
            def main(x: rx.Tensor(("n",), "float32")):
                n = tt.int64()
                return rx.zeros((n,), "float32")
        """,
    "attributes of a module": """
        @I.ir_module
        class Module:
            I.module_attrs({"level": 1, "name": "x", "parts": [1, 2.5, "z", None, True]})
            @R.function
            def main(x: R.Tensor((4,), "float32")):
                R.func_attr({"level": 2, "nested": {"key": [1, 2]}})
                return x
        """,
    "global infos and virtual devices": """
        @I.ir_module
        class Module:
            I.module_global_infos({
                "vdevice": [
                    I.vdevice("llvm"),
                    I.vdevice("llvm", 1),
                    I.vdevice({"kind": "cuda"}, 0, "shared"),
                ],
                "other": [I.dummy_global_info(), I.dummy_global_info()],
            })
            @R.function
            def main(
                x: R.Tensor((4,), "float32", "llvm:1"),
                y: R.Tensor((4,), "int8", "cuda:0:shared"),
            ):
                z: R.Tensor((4,), "float32", vdevice="llvm:1") = R.exp(x)
                return z
        """,
    "attributes that replace others, and a virtual device that is looked up": """
        @I.ir_module
        class Module:
            I.module_attrs({"level": 1, "kept": True})
            I.module_attrs({"level": 2}, allow_overwrite=True)
            I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})
            @R.function
            def main(x: R.Tensor((4,), "float32", I.lookup_vdevice("llvm", 1))):
                y = R.to_vdevice(x, I.lookup_vdevice("llvm", 0))
                return y
        """,
    "virtual devices in all forms": """
        @I.ir_module
        class Module:
            I.module_global_infos(
                {
                    "vdevice": [
                        I.vdevice("cpu"),
                        I.vdevice("llvm -mcpu=znver4", 3, "local"),
                        I.vdevice({"kind": "cuda", "arch": "sm_80", "threads": 128}),
                        I.vdevice("llvm", 0, "local"),
                    ]
                }
            )
            @R.function
            def main(
                a: R.Tensor((4,), "float32", "cpu"),
                b: R.Tensor((4,), "float32", vdevice="llvm:3:local"),
                c: R.Tensor((4,), "float32", "cuda"),
                d: R.Tensor((4,), "float32", I.vdevice("llvm", 0, "local")),
                e: R.Tensor((4,), "float32", "llvm:1"),
                f: R.Tensor((4,), "float32", I.lookup_vdevice()),
                g: R.Tensor[R.f32, 4, "cpu:0"],
            ):
                x = R.to_vdevice((a, c), "llvm:0:local")
                y = R.hint_on_device(a, R.device("cpu", 1), "local")
                z = R.hint_on_device(y, R.cuda(2))
                return (x, z)
        """,
    "a packed function as a member": """
        @I.ir_module
        class Module:
            '''What the module is for.'''

            helper = R.ExternFunc("tests.helper")

            @R.function(pure=False)
            def main(x: R.Tensor((4,), "float32")) -> R.Object:
                return Module.helper(x)
        """,
    "functions that call each other, in any order": """
        @I.ir_module
        class Module:
            @R.function
            def main(x: R.Tensor(("n",), "float32")):
                cls = Module
                y = cls.later(x)
                return y

            @R.function(private=True)
            def later(x: R.Tensor(("n",), "float32")):
                me = Module
                return me.last(x)

            @R.function(private=True)
            def last(x: R.Tensor(("k",), "float32")):
                return R.exp(x)
        """,
    "functions that call each other round in a ring": """
        @I.ir_module
        class Module:
            @R.function
            def even(x: R.Tensor((), "int64")) -> R.Tensor((), "bool"):
                cls = Module
                stop = R.equal(x, R.const(0, "int64"))
                if stop:
                    r = R.const(True)
                else:
                    r = cls.odd(R.subtract(x, R.const(1, "int64")))
                return r

            @R.function
            def odd(x: R.Tensor((), "int64")) -> R.Tensor((), "bool"):
                cls = Module
                stop = R.equal(x, R.const(0, "int64"))
                if stop:
                    r = R.const(False)
                else:
                    r = cls.even(R.subtract(x, R.const(1, "int64")))
                return r
        """,
    "PrimFuncs that call each other": """
        @I.ir_module
        class Module:
            @T.prim_func(private=True)
            def next(x: T.int32) -> T.int32:
                return x + 1

            @T.prim_func
            def fill(A: T.Buffer((16,), "int32")):
                for i in range(16):
                    A[i] = Module.next(i)
        """,
    "functions as values": """
        @I.ir_module
        class Module:
            @R.function
            def twice(f: R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32")),
                      x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                return f(f(x))

            @R.function
            def root(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                return R.sqrt(x)

            @R.function
            def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                cls = Module
                t = (cls.root, x)
                return cls.twice(t[0], x)
        """,
    "names of operators, prefixes and keywords for functions": """
        @I.ir_module
        class cls:
            @R.function
            def add(R_1: R.Tensor((4,), "float32"), T_1: R.Tensor((4,), "float32")):
                n = R.add(R_1, T_1)
                return n

            @R.function
            def print(main: R.Tensor((4,), "float32")):
                x = cls.add(main, main)
                return x
        """,
}


@pytest.mark.parametrize("text", MODULES.values(), ids=MODULES)
def test_a_module_is_accepted_and_printed_back(text):
    assert isinstance(accepted(text), IRModule)


FUNCTIONS = {
    "a function on its own": """
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return x
        """,
    "an impure function on its own": """
        @R.function(pure=False)
        def main(x: R.Tensor((4,), "float32")) -> R.Tuple:
            R.print(x, format="{}")
            return ()
        """,
    "a function that is forced to be pure": """
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            R.func_attr({"relax.force_pure": True})
            y = R.call_packed("tests.pure", x, sinfo_args=R.Tensor((4,), "float32"))
            return y
        """,
    "a function without parameters": """
        @R.function
        def main() -> R.Tensor((), "int32"):
            return R.const(1)
        """,
    "a local function with a symbol of its own": """
        @R.function
        def main(x: R.Tensor((4,), "float32")):
            @R.function
            def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                R.func_attr({"global_symbol": "outer", "Primitive": 1})
                return R.add(y, y)
            z = inner(x)
            return z
        """,
    "a function on its own with virtual devices": """
        @R.function
        def main(x: R.Tensor((4,), "float32", I.vdevice("llvm"))):
            s: R.Tensor((4,), "float32", vdevice=I.vdevice("llvm")) = R.add(x, x)
            y: R.Tensor((4,), vdevice=I.vdevice("cuda", 1, "shared")) = R.to_vdevice(
                s, I.vdevice("cuda", 1, "shared")
            )
            z = R.to_vdevice(y, dst_vdevice=I.vdevice({"kind": "llvm", "mcpu": "znver4"}))
            return z
        """,
    "a PrimFunc on its own": """
        @T.prim_func(check_well_formed=False)
        def main(a: T.handle, n: T.int32) -> T.int32:
            A = T.match_buffer(a, (n,), "float32")
            return n
        """,
}


@pytest.mark.parametrize("text", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_on_its_own_is_accepted_and_printed_back(text):
    accepted(text)


def test_the_last_of_several_definitions_is_the_one_that_is_meant():
    first, second = (f"@R.function\ndef f{i}():\n    return R.const({i})\n" for i in (1, 2))
    assert "f2" in round_trip(accepted(first + second))


def test_functions_are_those_of_their_own_class_when_another_has_its_name():
    text = """@I.ir_module
class Module:
    @T.prim_func(private=True)
    def next(x: T.{dtype}) -> T.{dtype}:
        return x + T.{dtype}(1)

    @T.prim_func
    def fill(A: T.Buffer((16,), "{dtype}"), x: T.{dtype}):
        for i in range(16):
            A[i] = Module.next(x)
"""
    module = accepted("\n".join(text.format(dtype=dtype) for dtype in ("float32", "int64")))
    assert "A[i] = Module.next(x)" in module.script()
