"""Programs as Python: the text runs, and does what the machine does."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies

import relaxscript as rx
from relaxscript.errors import VMError
from relaxscript.runtime import (
    Closure,
    DimBind,
    ExecBuilder,
    PackedFunc,
    PrimCheck,
    Shape,
    TensorCheck,
    TupleCheck,
    VirtualMachine,
    register_func,
)
from relaxscript.testing.compare import assert_allclose_tree, outcome
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import modules
from relaxscript_tests import examples
from relaxscript_tests.runtime.programs import adder, calling, checked, line


def loaded(executable):
    """What the text of a program defines."""
    scope = {"executable": executable}
    exec(compile(executable.as_python(), "<program>", "exec"), scope)
    return scope


def emitted(*functions, externals=None):
    ib = ExecBuilder()
    for function in functions:
        function(ib)
    return ib.get(externals)


PROGRAM = """
@I.ir_module
class Model:
    @T.prim_func
    def double(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            y[i] = x[i] * T.float32(2)

    @R.function
    def branches(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
        if c:
            if R.less(R.sum(x), R.const(3, "float32")):
                y = R.add(x, x)
            else:
                y = R.abs(x)
            z = R.negative(y)
        else:
            z = x
        return z

    @R.function
    def fact(i: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Model
        if R.less(i, R.const(2, "int64")):
            f = R.const(1, "int64")
        else:
            g = cls.fact(R.subtract(i, R.const(1, "int64")))
            f = R.multiply(i, g)
        return f

    @R.function
    def closing(x: R.Tensor(("n",), "float32")):
        n = T.int64()

        @R.function
        def shifted(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            z = R.add(x, y)
            return z

        @R.function
        def count(k: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            if R.less(k, R.const(1, "int64")):
                r = k
            else:
                r = count(R.subtract(k, R.const(1, "int64")))
            return r

        a = shifted(x)
        b = count(R.const(3, "int64"))
        return (shifted, a, b)

    @R.function
    def shapes(x: R.Tensor(("n", "m"), "float32"), s: R.Shape(["k"])):
        n, m, k = T.int64(), T.int64(), T.int64()
        cls = Model
        flat = R.reshape(x, R.shape([n * m]))
        y = R.match_cast(flat, R.Tensor((k,), "float32"))
        z = R.call_tir(cls.double, (y,), R.Tensor((k,), "float32"))
        p = R.prim_value(n + 2 * m)
        return (z, R.shape([n, m + k]), p)

    @R.function(pure=False)
    def packed(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_packed("test.sort", x, sinfo_args=R.Tensor((n,), "float32"))
        _ = R.call_packed("test.note", y, sinfo_args=R.Tuple())
        z = R.call_dps_packed("test.into", (y,), out_sinfo=R.Tensor((n,), "float32"))
        f = R.ExternFunc("test.sort")
        w = R.call_packed(f, z, sinfo_args=R.Tensor(dtype="float32", ndim=1))
        return w
"""

X = np.array([3.0, 1.0, 2.0], "float32")


@pytest.fixture
def program():
    notes = []
    register_func("test.sort", np.sort)
    register_func("test.note", lambda y: notes.append(y.tolist()))
    register_func("test.into", lambda y, out: np.negative(y, out=out))
    executable = rx.build(rx.from_source(PROGRAM), target="reference")
    return executable, loaded(executable), notes


class TestPrograms:
    @pytest.mark.parametrize(("x", "c"), [(X, True), (X, False), (X / 9, True)])
    def test_branches(self, program, x, c):
        executable, scope, _ = program
        c = np.array(c)
        assert_allclose_tree(scope["branches"](x, c), executable["branches"](x, c))

    def test_branches_are_written_as_branches(self, program):
        text = program[0].as_python()
        assert "    if truth(c):\n        r3 = " in text
        assert "    else:\n" in text
        assert "while" not in text

    def test_recursion(self, program):
        _, scope, _ = program
        assert scope["fact"](np.array(10)) == 3628800

    def test_closures(self, program):
        executable, scope, _ = program
        shifted, a, b = scope["closing"](X)
        assert isinstance(shifted, Closure)
        np.testing.assert_array_equal(shifted(X), a)
        assert b == 0
        assert repr(shifted.info) == repr(executable["closing"](X)[0].info)
        with pytest.raises(VMError, match=r"`y.shape\[0\]` is 2; must be `n = 3`") as caught:
            shifted(X[:2])
        assert caught.value.code == "RX0601"

    def test_shape_computations(self, program):
        executable, scope, _ = program
        x = np.arange(6, dtype="float32").reshape(2, 3)
        result = scope["shapes"](x, Shape([6]))
        assert_allclose_tree(result, executable["shapes"](x, Shape([6])))
        assert result[1:] == (Shape([2, 9]), 8)
        said = [
            outcome(lambda f=f: f(x, Shape([5]))) for f in (scope["shapes"], executable["shapes"])
        ]
        assert said[0].diagnostic.message == said[1].diagnostic.message

    def test_packed_functions(self, program):
        executable, scope, notes = program
        assert_allclose_tree(scope["packed"](X), executable["packed"](X))
        assert notes == [[1, 2, 3]] * 2
        register_func("test.sort", lambda x: x, override=True)
        assert scope["packed"](X).tolist() == [-3, -1, -2]

    @pytest.mark.slow
    @settings(max_examples=examples(300), phases=(Phase.explicit, Phase.reuse, Phase.generate))
    @given(modules(), strategies.integers(0, 10))
    def test_the_text_does_what_the_machine_does(self, mod, seed):
        executable = rx.build(mod, target="reference")
        inputs = [inputs_for(mod["main"], seed) for _ in "12"]
        main = VirtualMachine(executable)["main"]
        args = main.vm._start(main.vm._code(main.index), main, tuple(inputs[0]), {})[0]
        expected = outcome(lambda: executable["main"](*inputs[1]))
        actual = outcome(lambda: loaded(executable)["main"](*args[: len(inputs[0])]))
        if isinstance(expected, VMError):
            assert expected.code == actual.code
            # Operators fail in the words of the script, which the text does not know.
            if expected.code != "RX0606":
                assert expected.diagnostic.message == actual.diagnostic.message
        else:
            assert_allclose_tree(actual, expected)


class TestBytecode:
    def test_a_loop_by_jumps_becomes_a_loop(self):
        def main(ib):  # adds `step` to x while x < 10
            with ib.function("main", 2, ["x", "step"]):
                ib.emit_call("test.less", [ib.r(0), ib.imm(10)], ib.r(2))
                ib.emit_if(ib.r(2), 3)
                ib.emit_call("test.add", [ib.r(0), ib.r(1)], ib.r(0))
                ib.emit_goto(-3)
                ib.emit_ret(ib.r(0))

        executable = emitted(main)
        assert "    while True:\n" in executable.as_python()
        assert loaded(executable)["main"](np.array(1), np.array(4)) == 13
        assert loaded(executable)["main"](np.array(11), np.array(4)) == 11

    @pytest.mark.parametrize(
        ("jump", "expected"),
        [
            (lambda ib: (ib.emit_goto(2), ib.emit_ret(ib.r(1))), 0),  # over a return
            (lambda ib: (ib.emit_if(ib.r(1), 2), ib.emit_ret(ib.r(0))), 0),  # a return in a branch
            (lambda ib: (ib.emit_if(ib.r(1), 1),), 0),  # an empty branch
            (lambda ib: (ib.emit_goto(1),), 0),  # a jump to the next instruction
            (lambda ib: (ib.emit_if(ib.r(1), 2), ib.emit_goto(2), ib.emit_goto(1)), 0),
        ],
    )
    def test_jumps_of_every_kind(self, jump, expected):
        def main(ib):
            with ib.function("main", 2, ["x", "c"]):
                jump(ib)
                ib.emit_call("test.add", [ib.r(0), ib.imm(10)], ib.r(2))
                ib.emit_ret(ib.r(2))

        executable = emitted(main)
        for c in (True, False):
            result = loaded(executable)["main"](np.array(5), c)
            assert result == executable["main"](np.array(5), c)

    def test_branches_as_deep_as_wanted(self):
        def main(ib):
            with ib.function("main", 1, ["c"]):
                for depth in range(150):
                    ib.emit_if(ib.r(0), 301 - 2 * depth)
                ib.emit_call("vm.builtin.copy", [ib.imm(1)], ib.r(1))
                ib.emit_ret(ib.r(1))
                for _ in range(150):
                    ib.emit_ret(ib.r(0))

        scope = loaded(emitted(main))
        assert (scope["main"](True), scope["main"](False)) == (1, False)

    def test_arguments_of_every_kind(self):
        seen = []
        register_func("test.see", lambda *args: seen.append(args))

        def main(ib):
            with ib.function("main", 1, ["x"], heap_size=2):
                args = [
                    ib.vm_state(), None, ib.imm(-3), "text", ib.f("test.add"), ib.f("main"),
                    ib.f("linked"), ib.f("vm.builtin.copy"), ib.r(0),
                ]  # fmt: skip
                ib.emit_call("test.see", args)
                ib.emit_ret(ib.r(0))

        scope = loaded(emitted(main, externals={"linked": len}))
        scope["main"](7)
        state, *values = seen[0]
        assert (state.function, state.heap) == ("main", [None, None])
        assert values[:3] == [None, -3, "text"]
        assert [value.name for value in values[3:7]] == [
            "test.add", "main", "linked", "vm.builtin.copy",
        ]  # fmt: skip
        assert (values[4], values[7]) == (scope["main"], 7)

    def test_arguments_and_results_are_checked(self):
        register_func("test.result", lambda w: w[:2])
        executable = emitted(checked)
        main = loaded(executable)["main"]
        x, w = np.ones((2, 4), "float32"), np.ones(4, "float32")
        assert main(x, w).tolist() == [1, 1]
        register_func("test.result", lambda w: w, override=True)
        for args in ((x, w), (x,), (x, w[:3]), (w, x)):
            both = main, executable["main"]
            said = [outcome(lambda f=f, args=args: f(*args)) for f in both]
            assert said[0].diagnostic.message == said[1].diagnostic.message

    def test_what_a_call_gives_is_checked_and_binds(self):
        def main(ib):
            with ib.function("main", 1, ["x"], heap_size=1):
                both = TupleCheck((TensorCheck(shape_slot=1), PrimCheck("int64", DimBind(0, "n"))))
                ib.emit_call("vm.builtin.shape_of", [ib.r(0)], ib.r(1))
                ib.emit_call("test.pair", [ib.r(0)], ib.r(2), result=both)
                ib.emit_call("test.unit", [], ib.r(3), result=TupleCheck())
                ib.emit_call("vm.builtin.make_tuple", [ib.r(2), ib.r(3)], ib.r(2))
                ib.emit_ret(ib.r(2))

        register_func("test.unit", lambda: None)
        register_func("test.pair", lambda x: (x, 4))
        executable = emitted(main)
        scope = loaded(executable)
        assert scope["main"](X) == ((X, 4), ())
        register_func("test.pair", lambda x: (x[1:], 4), override=True)
        said = [outcome(lambda f=f: f(X)) for f in (scope["main"], executable["main"])]
        assert said[0].diagnostic.message == said[1].diagnostic.message
        assert "the result of `test.pair`" in said[0].diagnostic.message

    def test_function_values_are_called(self):
        scope = loaded(emitted(adder))
        add_two = scope["make"](np.array(2))
        assert (add_two.name, add_two.info) == ("add", "add's info")
        assert scope["apply"](add_two, np.array(3)) == 5
        assert scope["apply"](PackedFunc("p", np.sum), np.ones(3)).shape == ()
        with pytest.raises(VMError, match="an int cannot be called") as caught:
            scope["apply"](5, 1)
        assert caught.value.code == "RX0613"

    def test_a_destination_must_be_written(self):
        register_func("test.forgets", lambda x, out: x + 1)
        register_func("test.quiet", lambda x, out: operator.iadd(out, x) and None)

        def main(name):
            def emit(ib):
                with ib.function("main", 2):
                    ib.emit_call(name, [ib.r(0), ib.r(1)])
                    ib.emit_ret(ib.r(1))

            return loaded(emitted(emit))["main"]

        with pytest.raises(VMError, match=r"`test\.forgets` returned its result"):
            main("test.forgets")(np.ones(1), np.zeros(1))
        assert main("test.quiet")(np.ones(1), np.zeros(1)) == 1


class TestFailures:
    @pytest.mark.parametrize("externals", [None, {"test.broken": lambda x: 1 / 0}])
    def test_failures_are_those_of_the_machine(self, externals):
        register_func("test.broken", lambda x: [][x])
        executable = emitted(calling("test.broken"), externals=externals)
        said = [outcome(lambda f=f: f(1)) for f in (loaded(executable)["main"], executable["main"])]
        assert [(e.code, e.diagnostic.message) for e in said[:1]] == [
            (said[1].code, said[1].diagnostic.message)
        ]
        assert type(said[0].__cause__) is type(said[1].__cause__)

    def test_a_packed_function_that_is_missing(self):
        with pytest.raises(VMError, match=r"no packed function `test\.nobody`"):
            loaded(emitted(calling("test.nobody")))["main"](1)

    def test_recursion_without_end(self):
        with pytest.raises(VMError, match="calls nest deeper than Python allows") as caught:
            loaded(emitted(calling("main")))["main"](1)
        assert caught.value.code == "RX0609"


class TestNames:
    def test_names_that_python_has_not_are_made_fit(self):
        def function(name, params):
            def emit(ib):
                with ib.function(name, len(params), params):
                    ib.emit_call("vm.builtin.make_tuple", [*map(ib.r, range(len(params)))], ib.r(9))
                    ib.emit_ret(ib.r(9))

            return emit

        names = ["for", "print", "1 x", "state", "r3", "a.b", "a_b", "program", "", "ﬁ", "fi", "²"]
        params = ["state", "r9", "if", "a b", "a_b", "x", "x", "constants", "at", "ﬁx", "fix", "α"]
        executable = emitted(*(function(name, params) for name in names))
        scope = loaded(executable)
        functions = [f for f in scope.values() if isinstance(f, Closure)]
        assert [f.name for f in functions] == names
        args = tuple(range(len(params)))
        assert [f(*args) for f in functions] == [args] * len(names)
        assert "(state, state__, r9_, if_, a_b__, " in executable.as_python()

    def test_names_cannot_leave_their_comments(self):
        def main(ib):
            with ib.function("main", 1, ["x"]):
                ib.emit_call("vm.builtin.copy", [ib.r(0)], ib.r(1), span=line(3))
                ib.variable("y\nraise SystemExit", ib.r(1), 1, 2)
                ib.emit_ret(ib.r(1))

        executable = emitted(main)
        assert "# 'y\\nraise SystemExit', line 3" in executable.as_python()
        assert loaded(executable)["main"](4) == 4

    def test_one_text_for_one_program(self, program):
        assert program[0].as_python() == program[0].as_python()
