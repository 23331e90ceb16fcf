"""The virtual devices of all tensors of a program.

`DeviceFlow` goes through the functions of a module once. It links the places of tensors wherever
the rules say that they are on one device. What flows forward in the spec by deriving again, and
backward by `update_struct_info`, are the two directions of one link.

Source: spec "Propagating Virtual Device Information". Read with these choices: arguments of
functions are where the parameters are, and parameters are not where some argument is; the branches
of an `if` are where its value is, and its value is where both are; `R.to_vdevice` and packed
functions may take a tensor that is elsewhere than their result.
"""

from __future__ import annotations

from relaxscript.analysis.derive import Context
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op.device import hint_on_device
from relaxscript.visitor import ScopedVisitor

from .device_calls import hinted_device, is_closure_call, is_kernel_call, listed_devices
from .graph import (
    DeviceGraph,
    FunctionNode,
    TensorNode,
    Tree,
    Use,
    matches,
    tensor_nodes,
    tree_of_node,
)

__all__ = ["DeviceFlow"]


class DeviceFlow(ScopedVisitor):
    """The graph of all tensors in the Relax functions of a module, and what is known of them.

    `conflicts` are tensors that would be on two devices. `undecided` are calls of operators and
    PrimFuncs with an argument on no known device, one for tensors that belong together.
    `unlisted` are hints that name a device which the module has not.
    """

    def __init__(self, module: IRModule) -> None:
        super().__init__()
        self.module = module
        self.trees: dict[Var, Tree] = {}
        self.signatures: dict[Function, FunctionNode] = {}
        self.unlisted: list[Call] = []
        self._context = Context(module)
        self._graph = DeviceGraph(listed_devices(module))
        self._calls: list[tuple[Call, TensorNode]] = []
        # The trees of expressions that have parts, until what holds them is visited.
        self._inside: dict[Node, Tree] = {}
        functions = module.relax_functions()
        self._by_name = {v.name_hint: self._signature(f) for v, f in functions.items()}
        for function in dict.fromkeys(functions.values()):
            self.visit(function)
        self._graph.propagate()
        self.conflicts = self._graph.conflicts
        self.undecided = self._undecided_calls()

    def _undecided_calls(self) -> list[Call]:
        found: list[Call] = []
        seen: set[TensorNode] = set()
        for call, place in self._calls:
            if place.device is None and place not in seen:
                found.append(call)
                seen.update(place.belonging())
        return found

    # -- functions and bindings --------------------------------------------------------------------

    def _signature(self, function: Function) -> FunctionNode:
        if function in self.signatures:
            return self.signatures[function]
        for param in function.params:
            at = Use(param, function, param.span)
            self.trees[param] = self._graph.new_tree(param.struct_info, at)
        result, declared = None, function.ret_struct_info
        if declared is not None:
            result = self._graph.new_tree(declared, Use(declared, function, function.ret_span))
        params = tuple(self.trees[param] for param in function.params)
        signature = self.signatures[function] = FunctionNode(params, result)
        return signature

    def enter(self, node: Node) -> None:
        match node:
            case Binding(value=Function() as function):  # which may use the variable
                self.trees[node.var] = self._signature(function)

    def leave(self, node: Node) -> None:
        match node:
            case Binding():
                if not isinstance(node.value, Function):
                    self._binding(node)
            case Function():
                self._function(node)
            case Expr():
                self._inside[node] = self._made_of(node)

    def _function(self, function: Function) -> None:
        body, signature = function.body, self._signature(function)
        at = Use(body, function, body.span)
        if isinstance(body, SeqExpr):
            at = Use(body.body, body, body.body_span)
        self._graph.connect(signature.result, self._value(body), at)
        self._inside[function] = signature

    def _binding(self, binding: Binding) -> None:
        var, tree = binding.var, self._value(binding.value)
        infos = [binding.struct_info] if isinstance(binding, MatchCast) else []
        infos += [] if var.struct_info is None else [var.struct_info]
        at = Use(var, binding, var.span)
        if infos and not matches(infos[0], tree):
            tree = self._graph.new_tree(infos.pop(0), at)
        for info in infos:
            self._graph.assign_declared(info, tree, at)
        self.trees[var] = tree

    # -- values ------------------------------------------------------------------------------------

    def _value(self, expr: Expr) -> Tree:
        match expr:
            case Var():
                return self.trees.get(expr)
            case GlobalVar(name):
                return self._by_name.get(name)
            case Constant():
                return TensorNode()
        return self._inside.get(expr)

    def _made_of(self, expr: Expr) -> Tree:
        """The places in an expression whose parts were looked at."""
        at = Use(expr, None, expr.span)
        match expr:
            case Call():
                return self._call(expr)
            case Tuple(fields):
                return [self._value(field) for field in fields]
            case TupleGetItem(value, index):
                held = self._value(value)
                if isinstance(held, list) and 0 <= index < len(held):
                    return held[index]
                return self._graph.new_tree(self._info(expr), at)
            case SeqExpr(body=body):
                return self._value(body)
            case If(true_branch=yes, false_branch=no):
                tree = self._graph.new_tree(self._info(expr), at)
                self._graph.merge(tree, self._value(yes), self._value(no), at)
                return tree
        return None

    def _info(self, expr: Expr) -> StructInfo:
        return self._context.struct_info(expr)

    # -- calls -------------------------------------------------------------------------------------

    def _call(self, call: Call) -> Tree:
        args = [self._value(arg) for arg in call.args]
        match call.op:
            case hint_on_device.op:
                return self._hint(call)
            case op if is_closure_call(op):
                return self._apply(args[0], args[1], call)
            case _ if is_kernel_call(call, self.module):
                return self._kernel(call, args)
            case Op():
                return self._graph.new_tree(self._info(call), _use(call))
            case callee:
                return self._apply(self._value(callee), args, call)

    def _hint(self, call: Call) -> Tree:
        place, device = TensorNode(), hinted_device(call, self.module)
        if device is None:
            self.unlisted.append(call)
        else:
            self._graph.assign(place, device, _use(call))
        return place

    def _kernel(self, call: Call, args: list[Tree]) -> Tree:
        """An operator runs on one device: its operands are there, and its results."""
        here, at = TensorNode(), _use(call)
        operands = list(tensor_nodes(args))
        for place in operands:
            place.link(here, at)
        if operands:
            self._calls.append((call, here))
        info = self._info(call)
        tree = tree_of_node(info, here)
        self._graph.assign_declared(info, tree, at)
        return tree

    def _apply(self, callee: Tree, args: Tree, call: Call) -> Tree:
        """Arguments are where the parameters are; the result is that of the function."""
        match callee, args:
            case FunctionNode(params, result), list() if len(params) == len(args):
                for i, (param, arg) in enumerate(zip(params, args)):
                    self._graph.connect(param, arg, _use_of(call, i), both=False)
                self._graph.assign_declared(self._info(call), result, _use(call))
                return result
        return self._graph.new_tree(self._info(call), _use(call))


def _use_of(call: Call, index: int) -> Use:
    """The use of an argument."""
    arg = call.args[index] if index < len(call.args) else call
    return Use(arg, call, call.arg_spans[index] if index < len(call.arg_spans) else call.span)


def _use(call: Call) -> Use:
    return Use(call, None, call.span)
