"""A model that is trained: loss, gradients and optimizer as functions of a module."""

import numpy as np
import tvm
from tvm import relax, topi
from tvm.relax.testing import nn
from tvm.relax.training import AppendLoss, SetupTrainer, Trainer
from tvm.relax.training.loss import CrossEntropyLoss, MSELoss
from tvm.relax.training.optimizer import SGD, Adam
from tvm.relax.training.utils import register_te_gradient
from tvm.relax.transform import Gradient, LegalizeOps
from tvm.script import ir as I, relax as R

rng = np.random.default_rng(0)


@I.ir_module
class MLP:
    I.module_attrs({"param_num": 4, "state_num": 0})

    @R.function
    def backbone(
        x: R.Tensor((16, 8), "float32"),
        w0: R.Tensor((8, 12), "float32"),
        b0: R.Tensor((12,), "float32"),
        w1: R.Tensor((12, 3), "float32"),
        b1: R.Tensor((3,), "float32"),
    ):
        with R.dataflow():
            lv0 = R.matmul(x, w0)
            lv1 = R.add(lv0, b0)
            lv2 = R.nn.relu(lv1)
            lv3 = R.matmul(lv2, w1)
            out = R.add(lv3, b1)
            R.output(out)
        return out


# ---- a trainer

scores = relax.TensorStructInfo((16, 3), "float32")
classes = relax.TensorStructInfo((16,), "int64")
setup = SetupTrainer(CrossEntropyLoss(reduction="mean"), Adam(0.05), [scores, classes])
train_mod = setup(MLP)
assert train_mod.attrs["input_num"] == 1
ex = relax.build(train_mod, tvm.target.Target("llvm"))
vm = relax.VirtualMachine(ex, tvm.cpu(), profile=True)
trainer = Trainer(train_mod, vm, tvm.cpu())
trainer.xaiver_uniform_init_params()

x = tvm.nd.array(rng.normal(size=(16, 8)).astype("float32"))
y = tvm.nd.array(rng.integers(0, 3, 16).astype("int64"))
losses = [float(trainer.update(x, y).numpy()) for _ in range(40)]
assert losses[-1] < 0.5 * losses[0]
assert trainer.predict(x).numpy().shape == (16, 3)

params = trainer.export_params()
assert sorted(params) == ["b0", "b1", "w0", "w1"]
other = Trainer(train_mod, vm, tvm.cpu(), zero_init_param_state=False)
other.load_params({name: value.numpy() for name, value in params.items()})
other.load_states([])
np.testing.assert_allclose(other.predict(x).numpy(), trainer.predict(x).numpy(), rtol=1e-6)
trainer.profile_adjoint(x, y)

# ---- the parts one by one

loss = MSELoss(reduction="sum")(scores, scores)
with_loss = AppendLoss("backbone", loss, new_func_name="cost")(MLP)
with_gradient = LegalizeOps()(
    Gradient("cost", require_grads=with_loss["cost"].params[1:5])(with_loss)
)
run = relax.VirtualMachine(relax.build(with_gradient, "llvm"), tvm.cpu())
arrays = [params[name] for name in ("w0", "b0", "w1", "b1")]
target = tvm.nd.array(np.zeros((16, 3), "float32"))
cost, grads = run["cost_adjoint"](x, *arrays, target)
np.testing.assert_allclose(cost.numpy(), (trainer.predict(x).numpy() ** 2).sum(), rtol=1e-4)
assert [grad.numpy().shape for grad in grads] == [(8, 12), (12,), (12, 3), (3,)]

weights = [relax.Var("w", relax.TensorStructInfo((2, 2), "float32"))]
sgd = SGD(0.5).init(weights)
bb = relax.BlockBuilder()
bb.add_func(sgd.get_function().with_attr("global_symbol", "SGD"), "SGD")
step = relax.VirtualMachine(relax.build(bb.get(), "llvm"), tvm.cpu())["SGD"]
ones = tvm.nd.array(np.ones((2, 2), "float32"))
(moved,), (count,) = step((ones,), (ones,), sgd.state)
assert moved.numpy().max() == 0.5
assert count.numpy() == 1


# ---- checkpoints, and the gradient of loops


@register_te_gradient("tvm_programs_square")
def square_gradient(output_grad, data):
    return topi.multiply(topi.multiply(output_grad, data), tvm.tir.const(2, "float32"))


bb = relax.BlockBuilder()
with bb.function("main"):
    data = nn.Placeholder((3, 4), name="data")
    with bb.dataflow():
        called = bb.call_te_with_grad(
            lambda a: topi.multiply(a, a), data, te_grad_name="tvm_programs_square"
        )
        kept = nn.emit_checkpoint(lambda v: nn.emit(relax.op.exp(v)), nn.emit(called))
        total = bb.emit_output(relax.op.sum(kept))
    bb.emit_func_output(total, params=[data])
adjoint = Gradient("main")(bb.get())
vm = relax.VirtualMachine(relax.build(LegalizeOps()(adjoint), "llvm"), tvm.cpu())
value = rng.normal(size=(3, 4)).astype("float32")
_, (found,) = vm["main_adjoint"](tvm.nd.array(value))
np.testing.assert_allclose(found.numpy(), 2 * value * np.exp(value**2), rtol=1e-4)
