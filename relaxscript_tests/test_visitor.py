"""The scoped visitor: what it says is in scope, against programs of which that is known."""

from __future__ import annotations

import inspect

import pytest

from relaxscript import op, visitor
from relaxscript.analysis import ill_formed
from relaxscript.ir import relax
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    Op,
    SeqExpr,
    ShapeExpr,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import post_order, rewrite, variables
from relaxscript.script import from_source
from relaxscript.testing.generate.choices import Seeded
from relaxscript.testing.programs import random_module
from relaxscript.visitor import ScopedVisitor
from relaxscript_tests import examples
from relaxscript_tests.growth import growth

F4 = TensorStructInfo((4,))
BOOL = TensorStructInfo((), "bool")


class InScope(ScopedVisitor):
    """What is in scope before each binding, by the name of its variable."""

    def __init__(self) -> None:
        super().__init__()
        self.at: dict[str, str] = {}

    def enter(self, node: Node) -> None:
        if isinstance(node, Binding):
            names = [*(v.name_hint for v in self.variables), *(v.name for v in self.shape_vars)]
            self.at[node.var.name_hint] = " ".join(sorted(names))


def in_scope(*lines: str) -> dict[str, str]:
    header = ["@R.function", 'def main(x: R.Tensor(("n", 4)), c: R.Tensor((), "bool")):']
    function = from_source("\n".join([*header, *(f"    {line}" for line in lines)]))
    seen = InScope()
    seen.visit(function)
    return seen.at


def test_parameters_and_bindings_are_in_scope_from_where_they_are_bound():
    seen = in_scope("a = R.exp(x)", "b = R.exp(a)", "return b")
    assert seen == {"a": "c n x", "b": "a c n x"}


def test_what_leaves_a_dataflow_block_is_in_scope_behind_it_and_nothing_else_of_it():
    seen = in_scope(
        "with R.dataflow():", "    a = R.exp(x)", "    b = R.exp(a)", "    R.output(b)",
        "d = R.exp(b)", "return d",
    )  # fmt: skip
    assert seen == {"a": "c n x", "b": "a c n x", "d": "b c n x"}


def test_branches_see_what_is_around_them_and_nobody_sees_into_them():
    seen = in_scope(
        "if c:", "    a = R.exp(x)", "    r = R.exp(a)", "else:", "    r = R.log(x)",
        "d = R.exp(r)", "return d",
    )  # fmt: skip
    assert seen["a"] == "c n x"
    assert seen["d"] == "c n r x"


def test_a_local_function_sees_its_surroundings_and_its_own_name():
    seen = in_scope(
        "a = R.exp(x)",
        "@R.function",
        'def g(y: R.Tensor(("m",))) -> R.Tensor(("m",)):',
        "    b = g(y)",
        "    return b",
        'd = g(R.const([1.0, 2.0], "float32"))',
        "return d",
    )
    assert seen == {"a": "c n x", "g": "a c n x", "b": "a c g m n x y", "d": "a c g n x"}


def test_a_match_cast_binds_shape_variables_to_the_end_of_its_scope():
    seen = in_scope(
        "if c:", "    m = T.int64()", "    a = R.match_cast(x, R.Tensor((m, 4)))",
        "    r = R.sum(a)", "else:", "    r = R.sum(x)", "d = R.exp(r)", "return d",
    )  # fmt: skip
    assert (seen["a"], seen["d"]) == ("c n x", "c n r x")
    assert in_scope(
        "m = T.int64()", "a = R.match_cast(x, R.Tensor((m, 4)))", "b = R.exp(a)", "return b"
    )["b"] == "a c m n x"  # fmt: skip


def test_bindings_are_known_by_their_variables_and_parameters_by_their_function():
    seen: dict[str, Node] = {}

    class Bindings(ScopedVisitor):
        def leaf(self, expr: Expr) -> None:
            if isinstance(expr, Var):
                seen[expr.name_hint] = self.variables[expr]

    x, y = Var("x", F4), Var("y", F4)
    binding = VarBinding(y, op.exp(x))
    function = Function([x], SeqExpr([BindingBlock([binding])], y), F4)
    Bindings().visit(function)
    assert seen == {"x": function, "y": binding}


class Log(ScopedVisitor):
    """The hooks in the order in which they are called."""

    def __init__(self, skipped: type[Node] | None = None) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.skipped = skipped

    def note(self, hook: str, node: Node) -> None:
        name = node.var.name_hint if isinstance(node, Binding) else type(node).__name__
        self.calls.append(f"{hook} {name}")

    def enter(self, node: Node) -> bool | None:
        self.note("enter", node)
        return not (self.skipped and isinstance(node, self.skipped))

    def leave(self, node: Node) -> None:
        self.note("leave", node)

    def leaf(self, expr: Expr) -> None:
        self.calls.append(expr.name_hint if isinstance(expr, Var) else "?")

    def begin_scope(self, node: Function | SeqExpr) -> None:
        self.note("begin", node)

    def end_scope(self, node: Function | SeqExpr) -> None:
        self.note("end", node)

    def begin_branch(self, choice: If, taken: bool) -> None:
        self.calls.append(f"if {taken}")

    def end_branch(self, choice: If, taken: bool) -> None:
        self.calls.append(f"end if {taken}")


def chosen() -> tuple[Var, Var, Function]:
    """A function that gives one of two parameters."""
    x, c, y = Var("x", F4), Var("c", BOOL), Var("y", F4)
    binding = VarBinding(y, If(c, SeqExpr([], x), x))
    return x, y, Function([x, c], SeqExpr([BindingBlock([binding])], y), F4)


def test_hooks_are_called_in_the_order_of_evaluation():
    _, _, function = chosen()
    log = Log()
    log.visit(function)
    assert ", ".join(log.calls) == (
        "enter Function, begin Function, enter SeqExpr, begin SeqExpr, enter BindingBlock, "
        "enter y, enter If, c, if True, enter SeqExpr, begin SeqExpr, x, end SeqExpr, "
        "leave SeqExpr, end if True, if False, x, end if False, leave If, leave y, "
        "leave BindingBlock, y, end SeqExpr, leave SeqExpr, end Function, leave Function"
    )


def test_parts_are_skipped_where_enter_says_so_and_what_is_bound_stays_bound():
    x, y, function = chosen()
    log = Log(skipped=If)
    log.visit(function)
    assert not any(call.startswith(("if", "c")) for call in log.calls)
    log, inside = Log(skipped=Binding), {}
    log.end_scope = lambda node: inside.update(dict(log.variables))
    log.visit(function)
    assert "enter If" not in log.calls
    assert {x, y} <= set(inside)


def test_whoever_asks_in_a_hook_knows_what_is_around_it():
    around: list[str] = []

    class Around(ScopedVisitor):
        def leaf(self, expr: Expr) -> None:
            path = " ".join(type(node).__name__ for node in self.path)
            around.append(f"{path} ({len(self.functions)}, {self.in_dataflow})")

    x, y, a = Var("x", F4), Var("y"), Var("a", F4)
    inner = Function([a], SeqExpr([], a), F4)
    block = DataflowBlock([VarBinding(y, inner)])
    Around().visit(Function([x], SeqExpr([block], Call(Op("relax.exp"), [x])), F4))
    assert around == [
        "Function SeqExpr DataflowBlock VarBinding Function SeqExpr (2, False)",
        "Function SeqExpr Call (1, False)",
    ]


def test_nothing_is_in_scope_behind_a_function():
    for seed in range(examples(100)):
        seen = InScope()
        for function in random_module(seed).relax_functions().values():
            seen.visit(function)
            state = (seen.variables, seen.shape_vars, seen.functions, seen.path, seen.in_dataflow)
            assert state == ({}, set(), [], [], False)


class OutOfScope(ScopedVisitor):
    """The uses of Relax variables, and of shape variables in values, that nothing binds."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[Node] = set()

    def leaf(self, expr: Expr) -> None:
        if isinstance(expr, Var) and expr not in self.variables:
            self.found.add(expr)
        if isinstance(expr, ShapeExpr):
            used = {v for v in variables(expr) if isinstance(v, PrimVar)}
            self.found |= used - self.shape_vars


SCOPES = ("RX0301", "RX0302", "RX0303", "RX0305")


def out_of_scope(function: Function) -> set[str]:
    """The names that the visitor finds out of scope."""
    seen = OutOfScope()
    seen.visit(function)
    return {getattr(v, "name_hint", None) or v.name for v in seen.found}


@pytest.mark.slow
def test_what_is_used_in_well_formed_programs_is_in_scope():
    for seed in range(examples(300)):
        for function in random_module(seed).relax_functions().values():
            assert not out_of_scope(function)


@pytest.mark.slow
def test_what_is_out_of_scope_is_what_the_criteria_find():
    """In programs where one use of a variable became one of another variable of the program."""
    wrong = 0
    for seed in range(examples(500)):
        choices = Seeded(seed)
        for function in random_module(seed).relax_functions().values():
            damaged = with_another_use(function, choices)
            names = out_of_scope(damaged)
            told = {
                d.message.split("`")[1]
                for d in ill_formed(damaged, check_struct_info=False)
                if d.code in SCOPES and "bound twice" not in d.message
            }
            assert names <= told, seed
            assert not told or names, seed
            wrong += bool(names)
    assert wrong


def with_another_use(function: Function, choices: Seeded) -> Function:
    calls = [node for node in post_order(function) if isinstance(node, Call) and node.args]
    known = [v for v in variables(function) if isinstance(v, Var)]
    if not calls:
        return function
    call, var = choices.pick(calls), choices.pick(known)

    def step(node: Node) -> Node | None:
        return node.replace(args=(var, *call.args[1:])) if node is call else None

    return rewrite(function, step)


def long_function(count: int) -> Function:
    """A function with `count` bindings in a dataflow block."""
    x = last = Var("x", F4)
    bindings = []
    for index in range(count):
        bindings.append(VarBinding(DataflowVar(f"y{index}", F4), op.exp(last)))
        last = bindings[-1].var
    out = Var("out", F4)
    block = DataflowBlock([*bindings, VarBinding(out, last)])
    return Function([x], SeqExpr([block], out), F4)


def nested_function(depth: int, kind: str) -> Function:
    """Branches, functions or calls, each inside of the one before."""
    x, c = Var("x", F4), Var("c", BOOL)
    inner: Expr = x if kind == "call" else SeqExpr([], x)
    for _ in range(depth):
        y = Var("y", F4)
        match kind:
            case "call":
                inner = Call(Op("relax.exp"), [inner])
            case "if":
                choice = If(c, SeqExpr([], x), inner)
                inner = SeqExpr([BindingBlock([VarBinding(y, choice)])], y)
            case _:
                local = Function([Var("a", F4)], inner, F4)
                inner = SeqExpr([BindingBlock([VarBinding(y, local)])], x)
    return Function([x, c], SeqExpr([], inner) if kind == "call" else inner, F4)


@pytest.mark.slow
def test_ten_thousand_bindings_take_ten_times_the_steps_of_a_thousand():
    def prepare(count: int):
        function = long_function(count)
        return lambda: Log().visit(function)

    assert growth(prepare, 1_000, 10) < 10.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["call", "if", "function"])
def test_nests_of_any_depth_are_gone_through(kind):
    log = Log()
    log.visit(nested_function(10_000, kind))
    assert len(log.calls) > 20_000


def test_the_example_of_the_docstring_finds_the_unbound_shapes():
    paragraphs = inspect.cleandoc(visitor.__doc__ or "").split("\n\n")
    example = "\n\n".join(part for part in paragraphs if part.startswith("    "))
    n, m = PrimVar("n", "int64"), PrimVar("m", "int64")
    x, known, unknown = Var("x", TensorStructInfo((n,))), ShapeExpr([n]), ShapeExpr([m])
    for shape, found in ((known, []), (unknown, [unknown])):
        function = Function([x], SeqExpr([], Call(Op("relax.reshape"), [x, shape])), F4)
        scope = {**vars(visitor), **vars(relax), "variables": variables, "function": function}
        exec(inspect.cleandoc(example), scope)
        assert scope["visitor"].found == found
