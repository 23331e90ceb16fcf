"""Models as modules: exported, transformed, built and run."""

import numpy as np
import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op, spec


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 256)
        self.relu1 = nn.ReLU()
        self.fc2 = nn.Linear(256, 10, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = self.fc1(x)
        x = self.relu1(x)
        x = self.fc2(x)
        return x


# ---- a model with its parameters as arguments

mod, param_spec = MLP().export_tvm(spec={"forward": {"x": nn.spec.Tensor((1, 784), "float32")}})
assert [name for name, _ in param_spec] == ["fc1.weight", "fc1.bias", "fc2.weight"]
mod = relax.get_pipeline("zero")(mod)
ex = tvm.compile(mod, tvm.target.Target("llvm"))
vm = relax.VirtualMachine(ex, tvm.cpu())
data = np.random.rand(1, 784).astype("float32")
params = [np.random.rand(*param.shape).astype("float32") for _, param in param_spec]
w1, b1, w2 = params
params = [tvm.nd.array(param, device=tvm.cpu()) for param in params]
got = vm["forward"](tvm.nd.array(data), *params).numpy()
np.testing.assert_allclose(got, np.maximum(data @ w1.T + b1, 0) @ w2.T, rtol=1e-4)


# ---- integers that are sizes


class Layer(nn.Module):
    def forward(self, x: nn.Tensor, n: int):
        return op.reshape(x, (n, 2, -1)) + 1.0


exported, _ = Layer().export_tvm(
    spec={"forward": {"x": spec.Tensor(["n", 8], "float32"), "n": int}}
)
assert isinstance(exported, tvm.IRModule)
assert relax.analysis.well_formed(exported)
vm = relax.VirtualMachine(tvm.compile(exported, target="llvm"), tvm.cpu())
x = np.zeros((3, 8), "float32")
assert vm["forward"](x, tvm.runtime.ShapeTuple([3])).shape == (3, 2, 4)


# ---- packed parameters, several methods, subroutines


class Block(nn.Module):
    define_subroutine = True

    def __init__(self, width, dtype="float32"):
        self.weight = nn.Parameter((width, width), dtype=dtype)
        self.width = width

    def forward(self, x):
        return op.relu(op.matmul(x, op.permute_dims(self.weight)))


class Decoder(nn.Module):
    def __init__(self):
        self.layers = nn.ModuleList([Block(8) for _ in range(3)])
        self.dtype = "float32"

    def prefill(self, x: nn.Tensor):
        return self.layers(x)

    def decode(self, x: nn.Tensor, states: list):
        first, second = states
        return self.layers(x) + first, second

    def get_default_spec(self):
        packed = {"param_mode": "packed", "effect_mode": "none"}
        mod_spec = {
            "prefill": {"x": nn.spec.Tensor(["n", 8], self.dtype), "$": packed},
            "decode": {
                "x": nn.spec.Tensor([1, 8], self.dtype),
                "states": (nn.spec.Tensor([8], self.dtype), nn.spec.Object(nn.Object)),
                "$": packed,
            },
        }
        return nn.spec.ModuleSpec.from_raw(mod_spec, self)


model = Decoder()
mod, named_params = model.export_tvm(spec=model.get_default_spec())
names = {gv.name_hint for gv in mod.get_global_vars()}
assert names == {"block", "block1", "prefill", "decode"}  # one for each shape
vm = relax.VirtualMachine(tvm.compile(mod, target="llvm"), tvm.cpu())
weights = [np.random.rand(*p.shape).astype(p.dtype) for _, p in named_params]
x = np.random.rand(3, 8).astype("float32")
wanted = x
for weight in weights:
    wanted = np.maximum(wanted @ weight.T, 0)
np.testing.assert_allclose(vm["prefill"](x, tuple(weights)), wanted, rtol=1e-4)
result, state = vm["decode"](x[:1], (np.ones(8, "float32"), "state"), tuple(weights))
np.testing.assert_allclose(result, wanted[:1] + 1, rtol=1e-4)
assert state == "state"


# ---- state dicts, dtypes, and running at once

model = MLP()
assert list(model.state_dict()) == ["fc1.weight", "fc1.bias", "fc2.weight"]
for name, param in model.named_parameters():
    param.data = tvm.nd.array(np.ones(param.shape, param.dtype))
compiled = model.jit(
    spec={"forward": {"x": nn.spec.Tensor(("n", 784), "float32")}},
    device="cpu",
    out_format="numpy",
)
np.testing.assert_allclose(compiled["forward"](data), compiled.forward(data))
model.to("float16")
assert all(param.dtype == "float16" for param in model.parameters())
assert nn.get_default_dtype() == "float32"
missing, unexpected = model.load_state_dict(model.state_dict(), strict=True)
assert not missing
assert not unexpected
