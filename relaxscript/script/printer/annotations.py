"""StructInfos as annotations.

In the signature of a function dimensions are strings, for they introduce the shape variables;
everywhere else they are expressions of variables that the function has declared. One StructInfo is
shared by many variables, so each is turned into syntax once.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError
from relaxscript.ir import prim
from relaxscript.ir.distributed import DeviceMesh, Placement
from relaxscript.ir.module import Target, VDevice, as_target
from relaxscript.ir.relax import Attrs, Expr, ShapeExpr
from relaxscript.ir.struct_info import (
    DTensorStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
    empty_derive,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.ir.walk import variables
from relaxscript.script.names.syntax import DIM_DTYPE
from relaxscript.sinfo import definable_shape_vars

from . import tree
from .index_map import print_index_map
from .prim import LITERAL_DTYPES, FunctionScope, ScalarPrinter
from .session import Session

__all__ = ["AnnotationPrinter", "mesh_call", "vdevice_call"]


class AnnotationPrinter(ScalarPrinter, ABC):
    """Adds StructInfos to scalar expressions."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.quoting = False
        # The first scope whose dimensions are strings while quoting.
        self.quoted_from = 0
        # With the StructInfo, so that its number stays its own, and how much each has written.
        self._annotations: dict[Any, tuple[ast.expr, StructInfo, int]] = {}

    def annotation(self, info: StructInfo) -> ast.expr:
        """The annotation that means a StructInfo."""
        if self.quoting or self.session.record:
            self.session.write(1, info)
            return self.session.at(info, self._annotation(info))
        key: Any = id(info)
        if isinstance(info, TensorStructInfo) and info.dims is not None:
            dims = [
                d.value if isinstance(d, prim.IntImm) and d.dtype is DIM_DTYPE else d
                for d in info.dims
            ]
            key = (info.dtype, info.vdevice, info.ndim, *dims)
        found = self._annotations.get(key)
        if found is None:
            before = self.session.parts
            self.session.write(1, info)
            made = self._annotation(info)
            found = self._annotations[key] = (made, info, self.session.parts - before)
        else:
            self.session.write(found[2], info)
        return found[0]

    def signature(self, info: StructInfo) -> ast.expr:
        """An annotation in the signature of a function."""
        self.quoting, self.quoted_from = True, len(self.scopes) - 1
        try:
            return self.annotation(info)
        finally:
            self.quoting = False

    def _annotation(self, info: StructInfo) -> ast.expr:
        match info:
            case TensorStructInfo():
                args, keywords = self.tensor_arguments(info)
                return self.relax_call("Tensor", args, **keywords)
            case DTensorStructInfo():
                return self.distributed_info(info)
            case ShapeStructInfo(values, ndim):
                shape = None if values is None else [tree.items(self.dims(values))]
                rank = tree.number(ndim) if values is None and ndim != -1 else None
                return self.relax_call("Shape", shape or [], ndim=rank)
            case PrimStructInfo():
                return self.scalar_info(info)
            case TupleStructInfo(fields):
                return self.relax_call("Tuple", [self.annotation(f) for f in fields])
            case FuncStructInfo():
                return self.function_info(info)
            case ObjectStructInfo():
                return self.member_of_relax("Object")
        raise InternalError(f"the printer does not know the StructInfo {type(info).__name__}")

    def member_of_relax(self, path: str) -> ast.expr:
        """`R.<path>`."""
        return self.session.member("relax", path)

    def relax_call(
        self, word: str, args: Iterable[ast.expr], **keywords: ast.expr | None
    ) -> ast.expr:
        """`R.Word(...)`, or the bare word where nothing is to be said."""
        made = tree.call(self.member_of_relax(word), args, **keywords)
        return made if made.args or made.keywords else made.func

    # ---- the kinds

    def tensor_arguments(
        self, info: TensorStructInfo
    ) -> tuple[list[ast.expr], dict[str, ast.expr]]:
        """The arguments of `R.Tensor((n, 64), "float32")`, by position and by name."""
        args: list[ast.expr] = []
        rank = info.ndim
        if info.dims is not None:
            shape = tree.items(self.dims(info.dims), ast.Tuple)
            args.append(self.session.at(info.shape, shape))
            rank = -1
        elif info.shape is not None:
            args.append(self.use(info.shape))
            known = info.shape.struct_info
            rank = -1 if getattr(known, "ndim", -1) == rank else rank
        keywords: dict[str, ast.expr] = {}
        if not info.dtype.is_void:
            dtype = tree.constant(str(info.dtype))
            if args:
                args.append(dtype)
            else:
                keywords["dtype"] = dtype
        if info.vdevice is not None:
            keywords["vdevice"] = self.vdevice(info.vdevice)
        if rank != -1:
            keywords["ndim"] = tree.number(rank)
        return args, keywords

    def distributed_info(self, info: DTensorStructInfo) -> ast.expr:
        """`R.DTensor((n, 64), "float32", "mesh[0]", "S[0], R")`."""
        args, keywords = self.tensor_arguments(info.tensor_sinfo)
        mesh, placement = self.mesh(info.device_mesh), tree.constant(str(info.placement))
        if len(args) == 2:
            args += [mesh, placement]
        else:
            keywords |= {"device_mesh": mesh, "placement": placement}
        return self.relax_call("DTensor", args, **keywords)

    def mesh(self, mesh: DeviceMesh) -> ast.expr:
        """A mesh of devices: "mesh[0]", or written out where the module does not list it."""
        name = self.session.mesh_names().get(mesh)
        return mesh_call(self.session, mesh) if name is None else tree.constant(name)

    def scalar_info(self, info: PrimStructInfo) -> ast.expr:
        """`R.Prim("int64")`, `R.Prim(value=n)`."""
        if info.value is None:
            return self.relax_call("Prim", [tree.constant(str(info.dtype))])
        dtype = None if info.value.dtype is info.dtype else tree.constant(str(info.dtype))
        value = info.value
        if isinstance(value, prim.IntImm) and value.dtype.is_bool:
            truth = tree.constant(bool(value.value))
            return self.relax_call("Prim", [], dtype=dtype, value=self.session.at(value, truth))
        return self.relax_call("Prim", [], dtype=dtype, value=self.dim(value))

    def function_info(self, info: FuncStructInfo) -> ast.expr:
        """`R.Callable((R.Object,), R.Object)`; a PackedFunc has a `derive_func` instead."""
        if info.params is not None:
            free = (v for p in info.params for v in definable_shape_vars(p))
            own = list(dict.fromkeys(v for v in free if not self.is_known(v)))
            with self.own_dimensions(own):
                params = tree.items([self.annotation(p) for p in info.params], ast.Tuple)
                result = self.annotation(info.ret)
            pure = None if info.purity else tree.constant(False)
            return self.relax_call("Callable", [params, result], purity=pure)
        derive = info.derive_func
        opaque = isinstance(info.ret, ObjectStructInfo)
        ret = None if opaque and derive is not None else self.annotation(info.ret)
        named = None if derive is None or (derive is empty_derive and ret is None) else derive
        return self.relax_call(
            "Callable", [], ret=ret, purity=tree.constant(True) if info.purity else None,
            derive_func=None if named is None else tree.constant(_derive_name(named)),
        )  # fmt: skip

    def is_known(self, var: prim.Var) -> bool:
        """True if a function around introduced a variable."""
        return any(var in scope.variables for scope in self.scopes)

    @contextmanager
    def own_dimensions(self, own: list[prim.Var]) -> Iterator[None]:
        """Dimensions that a function type binds are strings inside it, as in a signature."""
        if not own:
            yield
            return
        outer = self.quoting
        if not outer:
            self.quoting, self.quoted_from = True, len(self.scopes)
        taken = {self.names[var] for scope in self.scopes for var in scope.variables}
        taken |= self.session.reserved()
        self.scopes.append(FunctionScope())
        for var in own:
            self.scopes[-1].variables[var] = False
            taken.add(self.names.define_apart(var, var.name, taken))
        yield
        self.scopes.pop()
        self.quoting = outer
        for var in own:  # outside, the same variable is another one, and has no name yet
            self.names.forget(var)
            self.trees.pop(var, None)

    # ---- dimensions and values

    def dims(self, values: Iterable[prim.PrimExpr]) -> list[ast.expr]:
        return [self.dim(value) for value in values]

    def dim(self, value: prim.PrimExpr) -> ast.expr:
        """A dimension: in a signature a string, where it has variables of this function."""
        made: ast.expr
        if not self.quoting or isinstance(value, prim.IntImm):
            return self.scalar(value, DIM_DTYPE)
        introduced = self.introduce_all(value)
        if isinstance(value, prim.Var):
            made = tree.constant(self.names[value]) if introduced else self.variable(value)
        elif introduced:
            made = tree.constant(self.text(value))
        else:
            made = self.scalar(value, DIM_DTYPE)
        return self.session.at(value, made)

    def introduce_all(self, value: prim.PrimExpr) -> bool:
        """Name the variables of a dimension in a signature; whether any is of this function."""
        found = [value] if isinstance(value, prim.Var) else variables(value)
        own = False
        for var in found:
            if isinstance(var, prim.Var):
                if not self.is_known(var):
                    self.introduce(var, declared=False)
                own = own or any(var in s.variables for s in self.scopes[self.quoted_from :])
        return own

    def text(self, value: prim.PrimExpr, default: DataType = DIM_DTYPE) -> str:
        """The source of a dimension."""
        from .unparser import unparse

        # Names in a string are no uses that the body would have to declare.
        plain = ScalarPrinter(self.session)
        plain.names = self.names
        return unparse(plain.scalar(value, default), 10**9)

    @abstractmethod
    def use(self, expr: Expr) -> ast.expr:
        """An expression that a StructInfo or an attribute mentions."""

    def vdevice(self, device: VDevice) -> ast.expr:
        """A virtual device: `"llvm:0"`, or written out where it has options or no module."""
        if device.target.attrs or self.session.alone:
            return vdevice_call(self.session, device)
        scope = "" if device.memory_scope == "global" else f":{device.memory_scope}"
        return tree.constant(f"{device.target.kind}:{device.vdevice_id}{scope}")

    def value(self, value: Any) -> ast.expr:
        """An attribute: a number, string, dtype, node, or several of these."""
        match value:
            case tuple() | list():
                return tree.items([self.value(item) for item in value])
            case Attrs() | Mapping():
                return tree.dictionary((self.value(k), self.value(v)) for k, v in value.items())
            case DataType() if str(value) in LITERAL_DTYPES:
                return self.dtype_word(value)
            case prim.PrimExpr():
                return self.scalar(value)
            case StructInfo():
                return self.annotation(value)
            case ShapeExpr() | Expr():
                return self.use(value)
        written = self.value_of_place(value) or plain_constant(value)
        if written is None:
            raise TypeError(f"an attribute that is a {type(value).__name__} has no script")
        return written

    def value_of_place(self, value: Any) -> ast.expr | None:
        """An attribute that says where something is or runs, or its elements; else None."""
        match value:
            case VDevice():
                return vdevice_call(self.session, value)
            case DeviceMesh():
                return self.mesh(value)
            case Placement():
                return tree.constant(str(value))
            case IndexMap():
                return print_index_map(self, value)
            case Target():
                return tree.call(self.session.member("tir", "target"), [target_value(value)])
        return None


def vdevice_call(session: Session, device: VDevice) -> ast.expr:
    """`I.vdevice("llvm", 0, "global")`."""
    args: list[ast.expr] = [target_value(device.target)]
    plain = device.memory_scope == "global"
    if device.vdevice_id or not plain:
        args.append(tree.number(device.vdevice_id))
    if not plain:
        args.append(tree.constant(device.memory_scope))
    return tree.call(session.member("ir", "vdevice"), args)


def mesh_call(session: Session, mesh: DeviceMesh) -> ast.expr:
    """`R.device_mesh((2, 2), I.Range(0, 4))`."""
    shape = tree.items([tree.number(size) for size in mesh.shape], ast.Tuple)
    ids = [tree.number(number) for number in mesh.device_ids]
    devices: ast.expr = tree.items(ids, ast.List)
    if mesh.device_range is not None:
        last = tree.number(mesh.device_ids[-1] + 1)
        devices = tree.call(session.member("ir", "Range"), [ids[0], last])
    return tree.call(session.member("relax", "device_mesh"), [shape, devices])


def target_value(target: Target) -> ast.expr:
    """A target as a string; as a mapping where some option is no string without a space."""
    if structural_equal(as_target(str(target)), target):
        return tree.constant(str(target))
    options = {"kind": target.kind, **target.attrs}
    return tree.dictionary((tree.constant(k), plain_value(v)) for k, v in options.items())


def plain_value(value: Any) -> ast.expr:
    """A number, a string, or several of these."""
    match value:
        case tuple():
            return tree.items([plain_value(item) for item in value])
        case Attrs():
            return tree.dictionary((tree.constant(k), plain_value(v)) for k, v in value.items())
    written = plain_constant(value)
    if written is None:
        raise TypeError(f"an option of a target that is a {type(value).__name__} has no script")
    return written


def plain_constant(value: Any) -> ast.expr | None:
    """A number, a string, a truth value or None as a literal; None for anything else."""
    match value:
        case bool() | None | str():
            return tree.constant(str(value) if isinstance(value, str) else value)
        case int() | float():
            return tree.number(value)
    return None


def _derive_name(derive: Any) -> str:
    if derive is default_derive:
        return "default_derive"
    if derive is empty_derive:
        return "empty_derive"
    return derive if isinstance(derive, str) else str(getattr(derive, "__name__", derive))
