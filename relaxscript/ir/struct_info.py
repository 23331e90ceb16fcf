"""StructInfo: what is known of a value, one class per production of the spec's grammar.

A class declares all that other rooms need to know of its kind: the `roles` of its fields in the
order in which messages speak of them, its noun, its traditional type. Only function types, which
bind variables, have rules of their own.

Sources: spec "Structural Information (StructInfo) in Relax"; constructors follow TVM.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from relaxscript.dtypes import DataType
from relaxscript.errors import AdvisedValueError

from . import hooks
from .distributed import DeviceMesh, Placement, as_placement, placement_mistake
from .field_roles import Datum, Parts, Role, Sizes
from .field_types import brief
from .node import Node, field, node
from .prim import IntImm, PrimExpr, Var as PrimVar, as_prim
from .relax import Expr, ShapeExpr
from .types import ObjectType, PrimType, ShapeType, TensorType, Type, checked_rank
from .vdevice import VDevice, as_vdevice, same_vdevice

if TYPE_CHECKING:
    from relaxscript.errors import Span

    from .relax import Call

__all__ = [
    "DTensorStructInfo", "FuncStructInfo", "ObjectStructInfo", "PrimStructInfo", "ShapeStructInfo",
    "StructInfo", "TensorStructInfo", "TupleStructInfo", "default_derive", "empty_derive",
    "equal_at_a_glance",
]  # fmt: skip

VOID = DataType("void")


@node
class StructInfo(Node):
    """Structural information: facts about a value.

    Two that say the same are equal, as `structural_equal` has it.
    """

    __slots__ = ()
    keeps_identity = True
    noun = "a value"  # what messages call a value that has it
    has_memory = True  # False: values are numbers, kept nowhere
    unbound = 5  # the criterion that a shape variable breaks here which nothing binds

    if TYPE_CHECKING:
        static_type: ClassVar[type[Type]]  # the traditional type, of the fields that it shares
        roles: ClassVar[tuple[Role, ...]]
        sizes_role: ClassVar[Sizes | None]
        part_roles: ClassVar[tuple[Parts, ...]]
    else:
        static_type = ObjectType
        roles = part_roles = ()
        sizes_role = None

    def __init_subclass__(cls) -> None:
        # Read for each comparison, so sorted once for each class.
        cls.sizes_role = next((role for role in cls.roles if isinstance(role, Sizes)), None)
        cls.part_roles = tuple(role for role in cls.roles if isinstance(role, Parts))
        cls.is_compound = bool(cls.part_roles)

    def same_as(self, other: Any) -> bool:
        """True if another object is structurally equal to this StructInfo."""
        from .structural_equality import structural_equal

        return structural_equal(self, other)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self.same_as(other)

    def __hash__(self) -> int:
        # What is seen at first sight: looking into a StructInfo is for those that may be equal.
        parts = (_at_first_sight(getattr(self, f.name)) for f in self._fields if not f.place)
        return hash((type(self), *parts))

    def is_base_of(self, derived: StructInfo) -> bool:
        """True if every value with `derived` is sure to have this StructInfo, too."""
        if not isinstance(derived, StructInfo):
            raise TypeError(f"`is_base_of` compares with a StructInfo, not with {brief(derived)}")
        found: bool = hooks.is_base_of(self, derived)
        return found


def _at_first_sight(value: Any) -> Any:
    """Something hashable that equal parts of StructInfos have in common."""
    match value:
        case ShapeExpr(values=values):
            return tuple(v.value if isinstance(v, IntImm) else None for v in values)
        case tuple():
            return len(value)
        case str() | int() | None:
            return value
    return None


@node
class ObjectStructInfo(StructInfo):
    """Nothing is known: every value has it."""

    __slots__ = ()
    noun = "an object of unknown kind"


@node
class PrimStructInfo(StructInfo):
    """A scalar of a dtype, with its value where that is known."""

    dtype: DataType = field(default=None)
    value: PrimExpr | None = None
    noun = "a scalar"
    static_type = PrimType
    unbound = 16
    has_memory = False
    roles = (Datum("dtype", "dtype"), Sizes("value", "the value is", "dtype", one_scalar=True))

    @staticmethod
    def _arrange(dtype: Any, value: Any) -> tuple[DataType, PrimExpr | None]:
        if isinstance(dtype, (int, PrimExpr)) and value is None:
            dtype, value = None, dtype
        if value is not None:
            value = as_prim(value)
        if dtype is None:
            if value is None:
                raise TypeError("`PrimStructInfo` needs a dtype or a value")
            return value.dtype, value
        return DataType(dtype), value


def _shape(field_name: str, values: Any) -> ShapeExpr:
    if isinstance(values, ShapeExpr):
        return values
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(
            f"`{field_name}` must be a sequence of dimensions, not {brief(values)}; "
            "one dimension is written `(n,)`"
        )
    try:
        return ShapeExpr(values)
    except TypeError as error:
        raise TypeError(str(error).replace("ShapeExpr.values", field_name)) from None


@node
class ShapeStructInfo(StructInfo):
    """A shape, with its dimensions or its rank where these are known (rank -1: unknown)."""

    values: tuple[PrimExpr, ...] | None = None
    ndim: int = -1
    noun = "a shape"
    static_type = ShapeType
    unbound = 15
    has_memory = False
    roles = (Datum("ndim", "rank", -1), Sizes("values", "its dimensions are", given="ndim"))

    @staticmethod
    def _arrange(values: Any, ndim: int) -> tuple[tuple[PrimExpr, ...] | None, int]:
        if values is None:
            return None, checked_rank("ShapeStructInfo", ndim)
        dims = _shape("ShapeStructInfo.values", values).values
        if ndim not in (-1, len(dims)):
            raise ValueError(
                f"`ShapeStructInfo.ndim` is {ndim}, but the shape has {len(dims)} dimensions"
            )
        return dims, len(dims)


@node
class TensorStructInfo(StructInfo):
    """A tensor: its shape (a ShapeExpr, or a Var that holds one), dtype, device and rank.

    `dtype` is "void" and `ndim` -1 where unknown; `dims` are the dimensions where `shape` is
    literal, else None.
    """

    shape: Expr | None = None
    dtype: DataType = field(default="float32")
    vdevice: VDevice | None = field(convert=as_vdevice, default=None)
    ndim: int = -1
    noun = "a tensor"
    static_type = TensorType
    unbound = 14
    roles = (
        Datum("dtype", "dtype", VOID),
        Datum("ndim", "rank", -1),
        Sizes("shape", "the shape is", given="ndim"),
        Datum("vdevice", "device", None, same_vdevice),
    )
    __derived__ = {"dims": lambda shape: shape.values if type(shape) is ShapeExpr else None}

    if TYPE_CHECKING:

        @property
        def dims(self) -> tuple[PrimExpr, ...] | None: ...

    @staticmethod
    def _arrange(shape: Any, dtype: Any, vdevice: Any, ndim: int) -> tuple[Any, ...]:
        if shape is not None and not isinstance(shape, Expr):
            shape = _shape("TensorStructInfo.shape", shape)
        known = checked_rank("TensorStructInfo", ndim)
        match shape:
            case ShapeExpr(values):
                known = len(values)
            case Expr(struct_info=ShapeStructInfo(ndim=rank)):
                known = rank if rank != -1 else ndim
        if ndim not in (-1, known):
            raise ValueError(
                f"`TensorStructInfo.ndim` is {ndim}, but the shape has {known} dimensions"
            )
        return shape, VOID if dtype is None else DataType(dtype), vdevice, known


@node
class DTensorStructInfo(StructInfo):
    """A tensor on a mesh of devices: what is true of the whole tensor, and where its parts lie.

    `placement` may be given as its text, "S[0], R".
    """

    tensor_sinfo: TensorStructInfo
    device_mesh: DeviceMesh
    placement: Placement = field(convert=as_placement)
    noun = "a distributed tensor"
    static_type = TensorType
    unbound = 14
    roles = (
        Datum("device_mesh", "device mesh", is_seen=False),
        Datum("placement", "placement", is_seen=False),
        Parts("tensor_sinfo", "tensor"),
    )

    def _check(self) -> None:
        mistake = placement_mistake(self.tensor_sinfo, self.device_mesh, self.placement)
        if mistake is not None:
            raise AdvisedValueError(mistake.message, mistake.help)

    @property
    def dtype(self) -> DataType:
        """The dtype of the tensor."""
        return self.tensor_sinfo.dtype

    @property
    def ndim(self) -> int:
        """The rank of the tensor."""
        return self.tensor_sinfo.ndim


@node
class TupleStructInfo(StructInfo):
    """A tuple, field by field."""

    # What `has_variable_shape` finds: a tuple of all weights is asked for each field that is used.
    __cached__ = ("known_variable_shape",)

    if TYPE_CHECKING:

        @property
        def known_variable_shape(self) -> bool | None: ...

    fields: tuple[StructInfo, ...] = field(convert=tuple)
    noun = "a tuple"
    roles = (Parts("fields", "field"),)


remember_variable_shape = TupleStructInfo.__dict__["known_variable_shape"].__set__


@node
class FuncStructInfo(StructInfo):
    """A closure (`params` known) or a PackedFunc (`params` None, `derive_func` gives results).

    `derive_func` takes the call and the builder's context and returns the result's StructInfo; the
    names "default_derive" and "empty_derive" stand for these two.
    """

    params: tuple[StructInfo, ...] | None = field(
        convert=lambda v: None if v is None else tuple(v), definition=True
    )
    ret: StructInfo
    purity: bool = True
    derive_func: Callable[[Call, Any], StructInfo] | str | None = field(
        convert=lambda v: _DERIVATIONS.get(v, v) if isinstance(v, str) else v, default=None
    )
    is_scope = True
    noun = "a function"
    roles = (
        Datum("purity", "purity"),
        Parts("params", "parameter", contravariant=True),
        Parts("ret", "result"),
        Datum("derive_func", "derivation", None),
    )

    @staticmethod
    def opaque_func(
        *, ret: StructInfo | None = None, derive_func: Any = None, purity: bool = False,
        span: Span | None = None,
    ) -> FuncStructInfo:  # fmt: skip
        """The StructInfo of a PackedFunc; `ret` stands for a derive_func that always gives it."""
        if derive_func is None and ret is None:
            derive_func = empty_derive
        made = FuncStructInfo(None, ret or ObjectStructInfo(), purity, derive_func)
        return made if span is None else made.replace(span=span)


def default_derive(call: Call, context: Any = None) -> StructInfo:
    """The result of a PackedFunc by the call's `sinfo_args` (spec, "Auxiliary Procedures")."""
    match call.sinfo_args:
        case ():
            return ObjectStructInfo()
        case (only,):
            return only
    return TupleStructInfo(call.sinfo_args)


def empty_derive(call: Call, context: Any = None) -> StructInfo:
    """The weakest derivation: nothing is known of the result."""
    return ObjectStructInfo()


# Those that the compiler has itself, by the names that scripts use.
_DERIVATIONS: dict[str, Callable[..., StructInfo]] = {
    derive.__name__: derive for derive in (default_derive, empty_derive)
}


def equal_at_a_glance(info: Any, other: Any) -> bool | None:
    """True or False for tensors whose sizes are numbers and variables, as most are; None else.

    Variables are equal to themselves only.
    """
    if info.__class__ is not TensorStructInfo or other.__class__ is not TensorStructInfo:
        return None
    sizes, others = info.dims, other.dims
    if sizes is None or others is None or info.vdevice is not other.vdevice:
        return None
    if len(sizes) != len(others) or info.dtype != other.dtype:
        return False
    pairs: Any = zip(sizes, others)
    for a, b in pairs:
        if a is b:
            continue
        if a.__class__ is not b.__class__ or a.__class__ is not IntImm:
            return False if {a.__class__, b.__class__} <= {IntImm, PrimVar} else None
        if a.value != b.value:
            return False
        if a.dtype != b.dtype:
            return None
    return True
