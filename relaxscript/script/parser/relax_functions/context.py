"""The state of parsing one Relax function: names, dimensions, the module, and the builder."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from relaxscript.builder import BlockBuilder
from relaxscript.errors import Diagnostic, Edit, Label, Span
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Attrs, Var
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo
from relaxscript.script.parser.fixits import between
from relaxscript.script.parser.module_context import ModuleContext
from relaxscript.script.parser.script_context import Language, ScriptContext

__all__ = ["DataflowLocal", "Header", "RelaxContext", "TEOperand"]


class DataflowLocal(NamedTuple):
    """The dataflow block that a variable is local to, and the names that leave the block."""

    outputs: list[str]
    block: ast.With
    written: ast.Call | None


class TEOperand(NamedTuple):
    """An argument of a function of tensor expressions: the tensor it is there, and what it is."""

    name: str
    span: Span
    info: StructInfo


@dataclass
class Header:
    """The first lines of a function: parameters, return annotation and attributes."""

    name: str
    params: list[Var]
    ret: StructInfo | None
    pure: bool = True
    private: bool = False
    attrs: Attrs | None = None
    failed: bool = False
    introduced: dict[str, PrimVar] = field(default_factory=dict)
    returns: ast.expr | None = None
    # What is bound beside parameters: all that `*ws` gathers.
    gathered: dict[str, Any] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()

    def type_with(self, ret: StructInfo) -> FuncStructInfo:
        """The type of the function where its result is this."""
        return FuncStructInfo.make(tuple(p.struct_info for p in self.params), ret, self.pure)


class RelaxContext(ScriptContext):
    """One Relax function that is being parsed; `dims` holds the shape variables in scope by name.

    A context is used for one function, and for those inside it.
    """

    def __init__(self, around: ScriptContext, module: ModuleContext, language: Language) -> None:
        super().__init__(around.source, around.environment, around.reporter, language)
        self.module = module
        self.builder = BlockBuilder()
        self.builder.share_signatures(module.signatures)
        # Whether mistakes are looked for that a program made by hand could have as well.
        self.check_well_formed = module.check_well_formed
        # What the function says of things that cannot be decided; None when it says nothing.
        self.strict: bool | None = None
        # Whether it is in the spelling of the RFC and does not say its purity.
        self.older = False
        # Whether it may hold nodes that the parser did not make.
        self.holds_captured_ir = False
        self._dimensions()
        self._function()

    def _dimensions(self) -> None:
        """Dimensions and annotations."""
        self.dims: dict[str, PrimVar] = {}
        # The function's own variables for those that Python captured.
        self.own_dims: dict[PrimVar, PrimVar] = {}
        self.other_dtypes: set[PrimVar] = set()
        # The dimensions that a cast with a mistake was to bind.
        self.unknown_dims: set[PrimVar] = set()
        # True where it is not known which dimensions a parameter binds.
        self.may_bind_any = False
        # The variables of functions that lambdas are written for, such as an index map.
        self.lambda_dims: set[PrimVar] = set()
        self.introduces = False
        self.binding = False
        self.in_function_type = False
        self.names_dims = False
        self.unbound_code = "RX0305"
        # What annotations meant, by their source; None for one that was met once.
        self.annotation_memo: dict[str, object] = {}
        # Where variables were annotated that have their StructInfo from elsewhere.
        self.annotated: dict[Var, ast.expr] = {}
        # The names of a tuple's fields: by the mapping that its annotation is made of, and of
        # the parameters that have this annotation.
        self.names_of_fields: dict[ast.expr, tuple[str, ...]] = {}
        self.field_names: dict[Var, tuple[str, ...]] = {}
        # Parameters of which nothing is said.
        self.unannotated_at: dict[str, Span | None] = {}
        self.unknown_parameters: set[str] = set()

    def _function(self) -> None:
        """Set up the state of reading one function: its place in it, and what it has met."""
        self.function_name = ""
        self.definition: ast.FunctionDef | None = None
        self.declared: Header | None = None
        # The function in which the macro that is being expanded is used.
        self.expanded_in: Header | None = None
        # The local functions that are being read, each by the variable that it is bound to.
        self.enclosing: list[Var] = []
        # The statement that is being read.
        self.current: ast.stmt | None = None
        # The `x += y` that is being read as `x = x + y`.
        self.augmented: ast.AugAssign | None = None
        # The tensors of the function of tensor expressions that is being run.
        self.te_operands: Sequence[TEOperand] = ()
        self.returned = False
        self.has_result = False
        self.last_bound = ""
        self.outputs: set[ast.Name] = set()
        self.leaving: set[str] = set()
        self.scopes: list[list[tuple[str, Any]]] = []
        self.unrolling = False
        # Names that mean nothing here, and why.
        self.dataflow_locals: dict[str, DataflowLocal] = {}
        self.undeclared: dict[str, Span | None] = {}
        self.hidden: set[str] = set()

    def complete(self, diagnostic: Diagnostic) -> Diagnostic:
        diagnostic = self._with_te_operands(super().complete(diagnostic))
        node = self.augmented
        if node is None or not diagnostic.fix:
            return diagnostic
        # A correction of the left operand of `x += y` writes it as `x = ... + y`.
        if diagnostic.fix[0].span != self.source.span(node.target):
            return diagnostic
        sign = between(self.source, node.target, node.value, "").span.text.replace("=", "")
        new = f"{diagnostic.fix[0].new_text} {sign.strip()} {self.written(node.value)}"
        whole = f"{self.written(node.target)} = {new}"
        return replace(diagnostic, fix=(Edit(self.source.span(node), whole),))

    def _with_te_operands(self, diagnostic: Diagnostic) -> Diagnostic:
        """A diagnostic that speaks of tensors by their names shows which arguments they are."""
        said = " ".join([diagnostic.message, *diagnostic.notes, *(t for _, t in diagnostic.labels)])
        labels = tuple(
            Label(span, f"`{name}` is this `{info}`")
            for name, span, info in self.te_operands if f"`{name}`" in said
        )  # fmt: skip
        return replace(diagnostic, labels=(*diagnostic.labels, *labels))

    def known_names(self) -> list[str]:
        return [*super().known_names(), *self.dims]

    # ---- dimensions

    def is_bound(self, var: PrimVar) -> bool:
        """True if a shape variable has a value here."""
        known = var in self.unknown_dims or var in self.lambda_dims or self.may_bind_any
        return known or self.builder.is_in_scope(var)

    def admit(self, values: Sequence[Any]) -> None:
        self.lambda_dims.update(value for value in values if isinstance(value, PrimVar))

    @contextmanager
    def new_dimensions(self) -> Iterator[None]:
        """New names are new dimensions inside, as in the annotations of parameters."""
        with self.state(introduces=True), self.unbound_dimensions():
            yield

    def unquoted_dimensions(self) -> AbstractContextManager[None]:
        """A name that means nothing yet is a dimension inside, without quotes."""
        return self.state(names_dims=True)

    def unbound_dimensions(self) -> AbstractContextManager[None]:
        """Dimensions that have no value yet may be named inside: this is where they get one."""
        return self.state(binding=True)

    # ---- names

    def bind_name(self, name: str, value: Any) -> None:
        """A name from here on; scopes restore what it meant before."""
        if self.scopes:
            self.scopes[-1].append((name, self.names.get(name, self)))
        self.names[name] = value
        self.dataflow_locals.pop(name, None)
        if self.observer is not None:
            self.observer.bind(self, name, value, self.current)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names bound inside mean what they meant before again afterwards."""
        self.scopes.append([])
        try:
            yield
        finally:
            for name, before in reversed(self.scopes.pop()):
                if before is self:
                    self.names.pop(name, None)
                else:
                    self.names[name] = before
