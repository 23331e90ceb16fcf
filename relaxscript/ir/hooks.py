"""The few places where the IR calls upward: each is a late-bound function, filled by a later room.

`x + y` needs the operators, `mod.show()` the printer, `call.struct_info` the derivation rules; the
rooms that know these fill the hooks when they are imported, so `ir/` imports none of them. Where
such a room is not imported yet, the package has said how to: it is when a hook is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.errors import InternalError, UnplacedError
from relaxscript.errors.user_frame import caller_span

__all__ = [
    "Hook",
    "apply_operator",
    "ask_index_map",
    "bind_params",
    "bind_symbolic_vars",
    "blame",
    "create_empty",
    "evaluate",
    "further_sections",
    "graph_of",
    "html_of",
    "inline_functions",
    "is_base_of",
    "is_eager",
    "legalize_call",
    "metadata_of",
    "op_attribute_of",
    "operator_of",
    "packed_func_named",
    "parsed",
    "places",
    "run_function",
    "script_of",
    "static_type_of",
    "struct_info_for_users",
    "struct_info_of",
    "unfilled",
]  # fmt: skip


class Hook:
    """A function that somebody else provides."""

    __slots__ = ("_function", "_load", "meaning", "name")

    def __init__(self, name: str, meaning: str) -> None:
        self.name = name
        self.meaning = meaning
        self._function: Callable[..., Any] | None = None
        self._load: Callable[[], object] | None = None

    def fill(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Provide the function; also usable as a decorator."""
        self._function = function
        return function

    def fill_when_called(self, load: Callable[[], object]) -> None:
        """Call `load`, which imports the room that fills this, when it is called unfilled."""
        self._load = load

    @property
    def is_filled(self) -> bool:
        return self._function is not None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._function is None and self._load is not None:
            self._load()
        if self._function is None:
            raise InternalError(f"the hook `{self.name}` ({self.meaning}) was never filled")
        return self._function(*args, **kwargs)


apply_operator = Hook("apply_operator", "(symbol, *operands) -> the call that `x + y` means")
operator_of = Hook("operator_of", "(full name) -> the Op of the operator that has it")
op_attribute_of = Hook("op_attribute_of", "(full name, key) -> what its definition says, or None")
legalize_call = Hook(
    "legalize_call", "(builder, call) -> the call of the PrimFunc that computes it"
)
packed_func_named = Hook("packed_func_named", "(name) -> the PackedFunc that is registered by it")
struct_info_of = Hook("struct_info_of", "(expr) -> its StructInfo, derived from its parts")
static_type_of = Hook("static_type_of", "(StructInfo or None) -> the type of what has it")
script_of = Hook("script_of", "(node, **options) -> its script")
html_of = Hook("html_of", "(node) -> its script as coloured HTML")
graph_of = Hook("graph_of", "(module or function, ...) -> the graph of its dataflow")
parsed = Hook("parsed", "(script) -> the module that it says, read in data mode")
metadata_of = Hook("metadata_of", "(node) -> the constants that its script refers to, as data")
is_base_of = Hook("is_base_of", "(base, derived) -> whether what has one surely has the other")
is_eager = Hook("is_eager", "(arguments) -> whether there are arrays in them, no expressions")
run_function = Hook("run_function", "(function, args, named) -> what it computes of arrays")
bind_params = Hook("bind_params", "(function, values) -> it without these parameters")
bind_symbolic_vars = Hook("bind_symbolic_vars", "(function, sizes) -> it for these sizes")
inline_functions = Hook("inline_functions", "(function, callees) -> it with their bodies")
create_empty = Hook("create_empty", "(params, result, ...) -> a function without a body")
evaluate = Hook("evaluate", "(module, name of a PrimFunc, args) -> None: it writes into arrays")
blame = Hook("blame", "(root, node, message) -> the printed root with the node underlined")
places = Hook("places", "(root, [(node, within)]) -> where they are in the printed root")
ask_index_map = Hook("ask_index_map", "(question, index map, ...) -> what arithmetic answers")
# What only rooms know that print: the example and the gradient of an operator.
further_sections = Hook("further_sections", "(operator) -> the sections below its parameters")


def struct_info_for_users(expr: Any) -> Any:
    """`struct_info_of`; what does not fit is blamed on the place of `expr`, or on who asks."""
    try:
        return struct_info_of(expr)
    except UnplacedError as error:
        raise error.as_diagnostic_error("this call", expr.span or caller_span()) from None


_ALL = (
    apply_operator, operator_of, struct_info_of, static_type_of, script_of, html_of, parsed,
    graph_of, metadata_of, is_base_of, is_eager, run_function, evaluate, blame, places,
    ask_index_map, further_sections,
    bind_params, bind_symbolic_vars, inline_functions, create_empty, op_attribute_of,
    legalize_call, packed_func_named,
)  # fmt: skip


def unfilled() -> list[str]:
    """The names of the hooks that nobody has filled."""
    return [hook.name for hook in _ALL if not hook.is_filled]
