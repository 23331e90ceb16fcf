"""Pages of RX0314 to RX0326: annotations, values, calls, devices, and normal form.

The first half of RX03 is in `well_formed.py`. RX0325 stands for "Normal Form", which must be kept
beside the criteria.
"""

from __future__ import annotations

PAGES: dict[str, str] = {
    "RX0314": """
RX0314: the shape of a tensor annotation is not permitted here

A shape is a tuple of dimensions or a variable that holds a shape. What it uses is in scope
already; only a `match_cast` and parameters may bring in new dimensions, each standing alone.

Wrong:

    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        m = T.int64()
        y: R.Tensor((m,), "float32") = R.add(x, x)
        return y

Right:

    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y: R.Tensor((n,), "float32") = R.add(x, x)
        return y
""",
    "RX0315": """
RX0315: the dimensions of a shape annotation are not permitted here

What `R.Shape([...])` uses is in scope already; only a `match_cast` and parameters may bring in new
dimensions, each standing alone. `ndim`, if given, is their number.

Wrong:

    @R.function
    def f(s: R.Shape(ndim=1)):
        m = T.int64()
        t: R.Shape([m]) = s
        return t

Right:

    @R.function
    def f(s: R.Shape(ndim=1)):
        m = T.int64()
        t = R.match_cast(s, R.Shape([m]))
        return t
""",
    "RX0316": """
RX0316: the value of a prim annotation is not permitted here

What `R.Prim(value=...)` uses is in scope already; only a `match_cast` and parameters may bring in
a new variable, standing alone.

Wrong:

    @R.function
    def f(k: R.Prim("int64")):
        n = T.int64()
        j: R.Prim(value=n) = k
        return j

Right:

    @R.function
    def f(k: R.Prim("int64")):
        n = T.int64()
        j = R.match_cast(k, R.Prim(value=n))
        return j
""",
    "RX0317": """
RX0317: a function annotation has both or neither of `params` and `derive_func`

Either the parameters are known, or a function derives the result of a call. An annotation about
which nothing is known is `R.Object`.

Wrong:

    tensor = relax.TensorStructInfo((4,), "float32")

    def derive(call, builder):
        return tensor

    info = relax.FuncStructInfo(params=[tensor], ret=tensor, derive_func=derive)
    g = relax.Var("g", info)
    f = relax.Function([g], relax.SeqExpr([], g), relax.ObjectStructInfo())
    print(*relax.analysis.ill_formed(f))

Right:

    tensor = relax.TensorStructInfo((4,), "float32")
    info = relax.FuncStructInfo(params=[tensor], ret=tensor)
    g = relax.Var("g", info)
    f = relax.Function([g], relax.SeqExpr([], g), relax.ObjectStructInfo())
    print(*relax.analysis.ill_formed(f))
""",
    "RX0318": """
RX0318: a PrimValue holds something other than a number

A PrimValue is an integer or a float with one lane. What is computed is written `R.prim_value(n +
1)`.

Wrong:

    n = tir.Var("n", "int64")
    s = relax.Var("s", relax.ShapeStructInfo([n]))
    f = relax.Function([s], relax.SeqExpr([], relax.PrimValue(n + 1)), relax.ObjectStructInfo())
    print(*relax.analysis.ill_formed(f))

Right:

    n = tir.Var("n", "int64")
    s = relax.Var("s", relax.ShapeStructInfo([n]))
    f = relax.Function([s], relax.SeqExpr([], relax.PrimValue(3)), relax.ObjectStructInfo())
    print(*relax.analysis.ill_formed(f))
""",
    "RX0319": """
RX0319: the dtype of a prim annotation is not a number's

A scalar is an integer, an unsigned integer, a float or a bool, not a handle.

Wrong:

    @R.function
    def f(x: R.Prim("handle")):
        return x

Right:

    @R.function
    def f(x: R.Prim("int64")):
        return x
""",
    "RX0320": """
RX0320: a dtype that Relax does not have

Integers have 1, 8, 16, 32 or 64 bits and floats 16, 32 or 64, all with one lane; bfloat16 and
floats of 8 bits are there for tensors.

Wrong:

    @R.function
    def f(x: R.Tensor((4,), "int24")):
        return x

Right:

    @R.function
    def f(x: R.Tensor((4,), "int32")):
        return x
""",
    "RX0321": """
RX0321: `relax.force_pure` on a function that is not declared pure

The attribute says that impure calls inside shall be trusted, so the function must claim to be pure.

Wrong:

    @R.function(pure=False)
    def f(x: R.Tensor((4,), "float32")):
        R.func_attr({"relax.force_pure": True})
        return x

Right:

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.func_attr({"relax.force_pure": True})
        return x
""",
    "RX0322": """
RX0322: dtype and value of a prim annotation disagree

The value has a dtype of its own. It is enough to give one of the two.

Wrong:

    info = relax.PrimStructInfo(dtype="int32", value=tir.IntImm("int64", 3))
    k = relax.Var("k", info)
    f = relax.Function([k], relax.SeqExpr([], k), relax.ObjectStructInfo())
    print(*relax.analysis.ill_formed(f))

Right:

    info = relax.PrimStructInfo(value=tir.IntImm("int64", 3))
    k = relax.Var("k", info)
    f = relax.Function([k], relax.SeqExpr([], k), relax.ObjectStructInfo())
    print(*relax.analysis.ill_formed(f))
""",
    "RX0323": """
RX0323: the call of an operator is not in its normal form

Some operators want their operands in one form, `R.call_tir` a tuple of arguments that is written
out, for example. A BlockBuilder makes it so; a call built by hand has to be normalized.

Wrong:

    @T.prim_func
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + x[i]

    info = relax.TensorStructInfo((4,), "float32")
    x, y = relax.Var("x", info), relax.Var("y", info)
    t = relax.Var("t", relax.TupleStructInfo([info]))
    op, callee = rx.ir.Op.get("relax.call_tir"), relax.GlobalVar("double")
    call = relax.Call(op, [callee, t], sinfo_args=[info])
    body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(y, call)])], y)
    main = relax.Function([x, t], body, info).with_attr("global_symbol", "main")
    print(*relax.analysis.ill_formed(rx.IRModule({"double": double, "main": main})))

Right:

    @T.prim_func
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + x[i]

    info = relax.TensorStructInfo((4,), "float32")
    x, y = relax.Var("x", info), relax.Var("y", info)
    t = relax.Var("t", relax.TupleStructInfo([info]))
    op, callee = rx.ir.Op.get("relax.call_tir"), relax.GlobalVar("double")
    call = relax.Call(op, [callee, relax.Tuple([x])], sinfo_args=[info])
    body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(y, call)])], y)
    main = relax.Function([x, t], body, info).with_attr("global_symbol", "main")
    print(*relax.analysis.ill_formed(rx.IRModule({"double": double, "main": main})))
""",
    "RX0324": """
RX0324: a device, or a mesh of devices, is not listed by the module

Every device that an annotation names is listed in the module's `global_infos` under "vdevice". So
is a mesh that an annotation names: "mesh[0]" is the first under "mesh".

Wrong:

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32", "llvm:1")):
            return x

Right:

    @I.ir_module
    class Module:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def main(x: R.Tensor((4,), "float32", "llvm:1")):
            return x
""",
    "RX0325": """
RX0325: a program is not in normal form

Operands are variables and constants (or tuples of these). Bodies and branches are SeqExprs with
such a result, and SeqExprs are used nowhere else. Blocks are not empty, neighbours of a kind are
one block, and a dataflow block has no ordinary block inside. Scripts and programs of a BlockBuilder
are always so; nodes made by hand are brought there by `relax.transform.Normalize()`.

Wrong:

    info = relax.TensorStructInfo((4,), "float32")
    x = relax.Var("x", info)
    y = relax.Var("y", info)
    block = relax.BindingBlock([relax.VarBinding(y, relax.op.exp(relax.op.add(x, x)))])
    f = relax.Function([x], relax.SeqExpr([block], y), info)
    print(*relax.analysis.ill_formed(f))

Right:

    info = relax.TensorStructInfo((4,), "float32")
    x = relax.Var("x", info)
    y = relax.Var("y", info)
    z = relax.Var("z", info)
    block = relax.BindingBlock([
        relax.VarBinding(z, relax.op.add(x, x)),
        relax.VarBinding(y, relax.op.exp(z)),
    ])
    f = relax.Function([x], relax.SeqExpr([block], y), info)
    print(*relax.analysis.ill_formed(f))
""",
    "RX0326": """
RX0326: a distributed tensor does not fit the mesh that it lies on

A placement says for each axis of the mesh which axis of the tensor is cut along it (`S[0]`), or
that each device has the whole tensor (`R`). The tensor has that axis, and its devices share it
evenly.

Wrong:

    @I.ir_module
    class Module:
        I.module_global_infos({"mesh": [R.device_mesh((2, 2), I.Range(0, 4))]})

        @R.function
        def main(x: R.DTensor((5, 4), "float32", "mesh[0]", "S[0], R")):
            return x

Right:

    @I.ir_module
    class Module:
        I.module_global_infos({"mesh": [R.device_mesh((2, 2), I.Range(0, 4))]})

        @R.function
        def main(x: R.DTensor((5, 4), "float32", "mesh[0]", "S[1], R")):
            return x
""",
}
