"""Mutators of Relax by TVM's names: one hook for each kind of expression, binding and block.

    @relax.expr_functor.mutator
    class Half(PyExprMutator):
        '''Computes every exponential in float16.'''

        def visit_call_(self, call: Call) -> Expr:
            call = super().visit_call_(call)
            if call.op != Op.get("relax.exp"):
                return call
            return R.astype(R.exp(R.astype(call.args[0], "float16")), "float32")

    function = Half().visit_expr(function)

Whatever a hook gives is brought into normal form and typed by the block builder `builder_`. A
variable of which something else is known by then is another one from there on.
Source: TVM `relax.PyExprMutator`.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar, cast

from relaxscript.arith import UNKNOWN, YES
from relaxscript.errors import DiagnosticError, Span, UnplacedError
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    LeafExpr,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    StringImm,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import Substitution, mentioned, substitute
from relaxscript.sinfo import check_compatibility

from .block_builder import BlockBuilder
from .expr_functor import (
    SORTS,
    ExprFunctor,
    check_hooks,
    nested_too_deeply,
    no_such_node,
    own_hooks,
)
from .hook_mistakes import broken_use, useless_result
from .normal_form import (
    info_behind_block,
    is_left_to_run_time,
    is_simple,
    operands_of,
    same_info,
    with_operands,
)
from .scope import (
    append_block,
    attempt_scope,
    close_block,
    drop_scope,
    has_bindings,
    is_finished,
    open_block,
)

__all__ = ["PyExprMutator", "mutator"]

M = TypeVar("M", bound="type[PyExprMutator]")
Info = TypeVar("Info", bound="StructInfo | None")

# Operands that nest deeper than this are bound one by one, the innermost first.
MOST_NESTED = 40


class PyExprMutator(ExprFunctor):
    """Writes functions anew: a hook gives what takes the place of what it is given.

    A hook goes on inside by `super().visit_call_(call)`. Hooks of expressions give expressions, of
    blocks a block, of variables that are bound a variable; those of bindings write what becomes of
    the binding and give nothing. What does not change is the same object afterwards. Variables keep
    their identity while the same is known of them. Places in the source are kept.

    `builder_` is the block builder that writes: hooks may `emit` into it, ask `lookup_binding`, and
    add functions to its module, which is that of `mod`. A local function, a branch or a body is
    written in a scope of its own. Raises `DiagnosticError` for what a hook gives and nobody can
    use. Source: TVM `relax.PyExprMutator`.
    """

    builder_: BlockBuilder
    # The hooks of the class by what they are called with; the default ones too.
    _specific: ClassVar[dict[type[Node], Any]] = {}
    # Those of its own, which are called for parts; None for what is by default.
    _hooks: ClassVar[dict[type[Node], Any]] = {}

    def __init_subclass__(cls) -> None:
        own = own_hooks(cls, PyExprMutator)
        cls._specific, cls._hooks = {}, {}
        for sort, kinds in SORTS.items():
            for kind, hook in kinds.items():
                if sort == "visit_var_def":
                    continue
                cls._specific[kind] = getattr(cls, hook)
                cls._hooks[kind] = own.get(sort, own.get(hook))
        definitions = ("visit_var_def", "visit_var_def_", "visit_dataflow_var_def_")
        cls._visits_directly = "visit_expr" not in own
        cls._has_definitions = any(hook in own for hook in definitions)

    # Whether the class has hooks for variables that are bound, and none for all expressions.
    _has_definitions: ClassVar[bool] = False
    _visits_directly: ClassVar[bool] = True

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        made._prepare(None)
        return made

    def __init__(self, mod: IRModule | None = None) -> None:
        """`mod` is the module of the functions that are called; the builder has a copy of it."""
        self._prepare(mod)

    def _prepare(self, mod: IRModule | None) -> None:
        self.builder_ = BlockBuilder(mod)
        # What takes the place of variables, and for those of which something else is known by
        # whom they were made.
        self._remap: dict[Var, Var] = {}
        self._replaced = Substitution()
        self._retyped: dict[Var, str] = {}
        # The binding at hand, the hook that was the last to change anything, and what was written
        # in normal form and needs no second look.
        self._binding: Binding | None = None
        self._last_hook = ""
        self._normal_already: Expr | None = None
        self._depth = 0

    # -- what is called for whatever is visited ----------------------------------------------------

    def visit_expr(self, expr: Expr) -> Expr:
        """The replacement of an expression, in normal form; itself where nothing changes."""
        hook = self._specific.get(expr.__class__)
        if hook is None:
            raise no_such_node(self, "visit_expr", expr)
        try:
            made: Expr = hook(self, expr)
            if made is expr:
                return expr
            self._require(made, Expr, SORTS["visit_expr"][expr.__class__], expr)
            return self._normal(made)
        except UnplacedError as error:
            raise self._mistake(error, expr) from None
        except RecursionError:
            raise nested_too_deeply(self, expr.span) from None

    def visit_binding(self, binding: Binding) -> None:
        """Write what becomes of a binding."""
        hook = self._specific.get(binding.__class__)
        if hook is None:
            raise no_such_node(self, "visit_binding", binding)
        outer, self._binding = self._binding, binding
        try:
            hook(self, binding)
        except UnplacedError as error:
            raise self._mistake(error, binding) from None
        finally:
            self._binding = outer

    def visit_binding_block(self, block: BindingBlock) -> BindingBlock:
        """The replacement of a block; itself where nothing changes."""
        hook = self._specific.get(block.__class__)
        if hook is None:
            raise no_such_node(self, "visit_binding_block", block)
        made = hook(self, block)
        self._require(made, BindingBlock, SORTS["visit_binding_block"][block.__class__], block)
        return cast(BindingBlock, made)

    def visit_var_def(self, var: Var) -> Var:
        """The replacement of a variable where it is bound."""
        made = self._dispatch("visit_var_def", var)
        self._require(made, Var, SORTS["visit_var_def"][var.__class__], var)
        return cast(Var, made)

    def visit_span(self, span: Span) -> Span:
        """The place of what is written anew, which stood at `span`."""
        return span

    # -- what hooks may ask and do -----------------------------------------------------------------

    def visit_expr_post_order(self, expr: Expr) -> Expr:
        """The expression over what takes the place of its parts, as by the default hook."""
        hook = SORTS["visit_expr"].get(expr.__class__)
        if hook is None:
            raise no_such_node(self, "visit_expr_post_order", expr)
        made: Expr = getattr(PyExprMutator, hook)(self, expr)
        return made if made is expr else self._normal(made)

    def visit_with_new_scope(self, expr: Expr) -> Expr:
        """The replacement of a body or branch, written in a scope of its own: a SeqExpr."""
        builder = self.builder_
        with attempt_scope(builder):
            made = self.visit_expr(expr)
            self._require(made, Expr, "visit_expr", expr)
            if isinstance(made, SeqExpr) and not has_bindings(builder):
                drop_scope(builder)
                return made
            if isinstance(made, SeqExpr):
                for block in made.blocks:
                    append_block(builder, block)
                made = made.body
            return builder.end_scope(builder.operand(made), expr.span)

    def lookup_binding(self, var: Var) -> Expr | None:
        """The value that a variable is bound to by now; None for parameters."""
        return self.builder_.lookup_binding(self._remap.get(var, var))

    def set_var_remap(self, vid: Var, var: Var) -> None:
        """Put a variable in the place of another, `vid`, in all that follows."""
        self._remap[vid] = var
        self._replaced[vid] = var

    def get_var_remap(self, vid: Var) -> Var:
        """The variable that takes the place of another, `vid`; itself if none does."""
        return self._remap.get(vid, vid)

    def with_struct_info(self, var: Var, struct_info: StructInfo) -> Var:
        """The variable, or if something else is known of it, one of its name that has this."""
        known = var.struct_info
        if known is struct_info or (known is not None and structural_equal(known, struct_info)):
            return var
        return type(var).make(var.name_hint, struct_info, span=var.span)

    # -- default hooks -----------------------------------------------------------------------------

    def visit_constant_(self, op: Constant) -> Expr:
        return op

    def visit_shape_expr_(self, op: ShapeExpr) -> Expr:
        return op

    def visit_extern_func_(self, op: ExternFunc) -> Expr:
        return op

    def visit_global_var_(self, op: GlobalVar) -> Expr:
        return op

    def visit_op_(self, op: Op) -> Expr:
        return op

    def visit_prim_value_(self, op: PrimValue) -> Expr:
        return op

    def visit_string_imm_(self, op: StringImm) -> Expr:
        return op

    def visit_data_type_imm_(self, op: DataTypeImm) -> Expr:
        return op

    def visit_var_(self, op: Var) -> Expr:
        return self._remap.get(op, op)

    def visit_dataflow_var_(self, op: DataflowVar) -> Expr:
        return self._remap.get(op, op)

    def visit_tuple_(self, op: Tuple) -> Expr:
        fields = self._parts(op.fields)
        if fields is op.fields:
            return op
        return Tuple.make(fields, op.field_spans, span=self._span(op))

    def visit_tuple_getitem_(self, op: TupleGetItem) -> Expr:
        value = self._part(op.tuple_value)
        if value is op.tuple_value:
            return op
        return TupleGetItem.make(value, op.index, op.value_span, span=self._span(op))

    def visit_call_(self, op: Call) -> Expr:
        callee, args = self._part(op.op), self._parts(op.args)
        infos = op.sinfo_args
        if infos and self._remap:
            infos = tuple([self._info(info) for info in infos])
            infos = op.sinfo_args if all(map(_is_same, infos, op.sinfo_args)) else infos
        if callee is op.op and args is op.args and infos is op.sinfo_args:
            return op
        return Call.make(callee, args, op.attrs, infos, op.arg_spans, span=self._span(op))

    def visit_if_(self, op: If) -> Expr:
        builder = self.builder_
        cond = self._part(op.cond)
        if cond is not op.cond:
            cond = builder.operand(cond)
            builder.check_condition(cond)
        branches = []
        for branch, taken in ((op.true_branch, True), (op.false_branch, False)):
            with builder.context.branch(cond, taken):
                branches.append(self.visit_with_new_scope(branch))
        yes, no = branches
        if cond is op.cond and yes is op.true_branch and no is op.false_branch:
            return op
        self._normal_already = made = If.make(cond, yes, no, op.cond_span, span=self._span(op))
        return made

    def visit_seq_expr_(self, op: SeqExpr) -> Expr:
        builder = self.builder_
        with attempt_scope(builder):
            same = True
            for block in op.blocks:
                made = (
                    self._block(block, block.__class__ is DataflowBlock)
                    if self._hooks[block.__class__] is None
                    else self.visit_binding_block(block)
                )
                same = same and made is block and not has_bindings(builder, open_only=True)
                append_block(builder, made)
            body = self._part(op.body)
            body = body if body is op.body else builder.operand(body)
            if same and body is op.body and not has_bindings(builder, open_only=True):
                drop_scope(builder)
                return op
            self._normal_already = seq = builder.end_scope(body, self._span(op), op.body_span)
            return seq

    def visit_function_(self, op: Function) -> Expr:
        builder = self.builder_
        params = tuple([self._defined(param) for param in op.params])
        name = "function" if self._binding is None else self._binding.var.name_hint
        builder.begin_function(name, params, op.is_pure, op.attrs)
        try:
            body = self.visit_with_new_scope(op.body)
            if body is op.body and all(map(_is_same, params, op.params)):
                return op
            info = self._info_of_result(op, body)
            self._normal_already = made = Function.make(
                params, body, info, op.is_pure, op.attrs, op.ret_span, span=self._span(op)
            )
            return made
        finally:
            builder.abandon_function()

    def visit_binding_block_(self, block: BindingBlock) -> BindingBlock:
        return self._block(block, False)

    def visit_dataflow_block_(self, block: DataflowBlock) -> BindingBlock:
        return self._block(block, True)

    def visit_var_def_(self, var: Var) -> Var:
        return self._typed(var)

    def visit_dataflow_var_def_(self, var: DataflowVar) -> Var:
        return self.visit_var_def_(var)

    def visit_var_binding_(self, binding: VarBinding) -> None:
        value, direct = binding.value, self._visits_directly
        if not direct or value.__class__ in _LEAVES or isinstance(value, Var):
            value = self._part(value)
        else:
            value = self.visit_expr(value)
        var = self._defined(binding.var)
        if value is binding.value and var is binding.var:
            self.builder_.emit_normalized(binding)
            return
        value = value if direct else self.builder_.normal(value)
        if value is not binding.value:
            known = self._known_of(value, var, binding)
            var = var if known is None else self.with_struct_info(var, known)
        if var is not binding.var:
            self._define(binding.var, var)
            if isinstance(value, Function):  # which may call itself
                value = substitute(value, {binding.var: var})
        self.builder_.emit_normalized(VarBinding.make(var, value, span=self._span(binding)))

    def visit_match_cast_(self, binding: MatchCast) -> None:
        value = self._part(binding.value)
        var, info = self._defined(binding.var), self._info(binding.struct_info)
        if value is binding.value and var is binding.var and info is binding.struct_info:
            self.builder_.emit_normalized(binding)
            return
        value = self.builder_.operand(value)
        if var is not binding.var:
            self._define(binding.var, var)
        made = MatchCast.make(var, value, info, span=self._span(binding))
        self.builder_.emit_normalized(made)

    # -- parts -------------------------------------------------------------------------------------

    def _part(self, expr: Expr) -> Expr:
        """The replacement of a part, by its hook."""
        kind = expr.__class__
        hook = self._hooks.get(kind)
        if hook is None:
            if kind is DataflowVar or kind is Var:
                return self._remap.get(expr, expr)  # type: ignore[call-overload, no-any-return]
            if kind in _LEAVES:
                return expr
        if kind is Call or kind is Tuple or kind is TupleGetItem:
            return self._nested(expr)
        made = self.visit_expr(expr)
        if made is not expr:
            self._require(made, Expr, "visit_expr", expr)
        return made

    def _parts(self, exprs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        made = [self._part(expr) for expr in exprs]
        return exprs if all(map(_is_same, made, exprs)) else tuple(made)

    def _nested(self, expr: Expr) -> Expr:
        """A part that has operands, which are bound one by one where they nest too deeply."""
        if self._depth == MOST_NESTED and self.builder_.has_open_scope:
            return self._bound(expr)
        self._depth += 1
        try:
            made = self.visit_expr(expr)
            if made is not expr:
                self._require(made, Expr, "visit_expr", expr)
            return made
        finally:
            self._depth -= 1

    def _bound(self, expr: Expr) -> Expr:
        """The variable that an expression is bound to, after all operands inside of it."""
        done: dict[int, Expr] = {}
        pending = [expr]
        while pending:
            item = pending[-1]
            inner = [e for e in operands_of(item) if id(e) not in done and not is_simple(e)]
            if inner:
                pending.extend(reversed(inner))
                continue
            pending.pop()
            if id(item) not in done:
                made = self.visit_expr(with_operands(item, done))
                done[id(item)] = self.builder_.operand(made)
        return done[id(expr)]

    def _normal(self, made: Expr) -> Expr:
        """The result of a hook in normal form; its operands are bound where the builder is."""
        if made is self._normal_already or (isinstance(made, LeafExpr) and type(made) is not Tuple):
            return made
        builder = self.builder_
        if isinstance(made, Function) and is_finished(builder, made.body):
            return made
        return builder.normal(made) if builder.has_open_scope else builder.normalize(made)

    def _block(self, block: BindingBlock, dataflow: bool) -> BindingBlock:
        builder = self.builder_
        if not builder.has_open_scope:
            builder.begin_scope()
            try:
                return self._block(block, dataflow)
            finally:
                drop_scope(builder)
        around = open_block(builder, dataflow)
        for binding in block.bindings:
            self.visit_binding(binding)
        made = close_block(builder, around, block.span)
        bindings = made[0].bindings if len(made) == 1 else ()
        if len(bindings) == len(block.bindings) and all(map(_is_same, bindings, block.bindings)):
            return block
        for other in made[:-1]:
            append_block(builder, other)
        return made[-1] if made else block.replace(bindings=())

    # -- variables and what is known of them -------------------------------------------------------

    def _defined(self, var: Var) -> Var:
        """The replacement of a variable that is bound, which is in scope from here on."""
        made = self.visit_var_def(var) if self._has_definitions else self._typed(var)
        if made is not var:
            self._define(var, made)
        return made

    def _define(self, var: Var, by: Var) -> None:
        """Put a variable in the place of one that is bound, and note whose doing it is."""
        self.set_var_remap(var, by)
        if by.struct_info is not var.struct_info:
            self._retyped[by] = self._last_hook

    def _typed(self, var: Var) -> Var:
        """A variable, or one of which the same is known in terms of other variables."""
        info = var.struct_info
        return var if info is None else self.with_struct_info(var, self._info(info))

    def _info(self, info: Info) -> Info:
        return self._replaced.apply(info) if info is not None and self._remap else info

    def _known_of(self, value: Expr, var: Var, binding: VarBinding) -> StructInfo | None:
        """The StructInfo of a variable whose value is another one.

        That is what was declared, if of the new value as much is known as of the old one.
        """
        builder, declared, old = self.builder_, var.struct_info, self._known_before(binding.value)
        info = builder.struct_info(value)
        if declared is not None and old is not None:
            same = same_info(info, old)
            if same or is_left_to_run_time(builder, declared, (old, info)):
                return declared
        return info if isinstance(var, DataflowVar) else info_behind_block(info)

    def _known_before(self, value: Expr) -> StructInfo | None:
        """The StructInfo of a value before, in the variables of now; None where it is not known."""
        is_leaf = isinstance(value, LeafExpr) and not isinstance(value, (GlobalVar, Tuple))
        return self._info(self.builder_.struct_info(value) if is_leaf else value.known_info)

    def _info_of_result(self, func: Function, body: Expr) -> StructInfo | None:
        """The return annotation; what is derived, where the result does not fit it any more."""
        declared = self._info(func.ret_struct_info)
        builder, context = self.builder_, self.builder_.context
        info, old = builder.struct_info(body), self._known_before(func.body)
        if declared is None or (old is not None and structural_equal(info, old)):
            return info if declared is None else declared
        scope = context.shape_scope or ()
        answer = check_compatibility(info, declared, context.facts, in_scope=scope)
        before = (
            UNKNOWN
            if old is None
            else check_compatibility(old, declared, context.facts, in_scope=scope)
        )
        return declared if answer is YES or answer is before is UNKNOWN else info

    def _span(self, node: Node) -> Any:
        return None if node.span is None else self.visit_span(node.span)

    # -- mistakes ----------------------------------------------------------------------------------

    def _require(self, made: Any, kind: type[Node], hook: str, node: Node) -> None:
        """Refuse what a hook gave if it is of no use; note that it was the last to give another."""
        if isinstance(made, kind):
            if made is not node and getattr(type(self), hook) is not getattr(PyExprMutator, hook):
                self._last_hook = hook
            return
        raise useless_result(type(self), hook, made, kind, node, self._binding)

    def _mistake(self, error: UnplacedError, node: Node) -> DiagnosticError:
        """The mistake in a binding, with the hooks that changed what it uses."""
        binding, changes = self._binding, list[tuple[Var, Var, str]]()
        for var in () if binding is None else mentioned(binding.value):
            new = self._remap.get(var)
            if new is not None and new in self._retyped:
                changes.append((var, new, self._retyped[new]))
        return broken_use(error, type(self), self._last_hook, node, binding, changes)


PyExprMutator.__init_subclass__()  # it may be used as it is

_LEAVES = frozenset({
    Constant, DataTypeImm, ExternFunc, GlobalVar, Op, PrimValue, ShapeExpr, StringImm,
})  # fmt: skip


def _is_same(a: object, b: object) -> bool:
    return a is b


def mutator(mutator_cls: M) -> M:
    """A decorator for classes of mutators: it refuses methods that are nearly called like a hook.

    A mutator works without it, too. Source: TVM `relax.expr_functor.mutator`.
    """
    check_hooks(mutator_cls, "mutator")
    return mutator_cls
