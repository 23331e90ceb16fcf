"""Scripts whose annotations type checkers and linters have nothing to say against."""

import relaxscript as rx
from relaxscript.script import ir as I, relax as R

n = R.dim("n")
width = 4


@R.function
def double(x: R.Tensor[R.f32, n, width]) -> R.Tensor[R.f32, n * 2, 4]:
    y = R.concat((x, x), axis=0)
    return y


@R.function(private=True)
def scaled(x: R.Tensor[R.f16, ...], by: R.Prim[R.i64], s: R.Shape) -> R.Tensor[R.Any, ...]:
    with R.dataflow():
        y = R.astype(x, R.f32)
        z = R.multiply(y, R.const(2.0, R.f32))
        R.output(z)
    return z


@I.ir_module
class Digits:
    @R.function
    def relu(x: R.Tensor[R.f32, n, 4]) -> R.Tensor[R.f32, n, 4]:
        y = R.nn.relu(x)
        return y

    @R.function(pure=False)
    def main(
        x: R.Tensor[R.f32, n, 4],
        w: R.Tensor[R.f32, (4, 4)],
        both: R.Tuple[R.Tensor[R.f32, n, 4], R.Tensor[R.i64, ()]],
        f: R.Callable[[R.Tensor[R.f32, n, 4]], R.Object],
    ) -> R.Tuple[R.Tensor[R.f32, n, 4], R.Object]:
        cls = Digits
        h = x @ w + both[0]
        a = cls.relu(h)
        _ = R.print(a, format="{}")
        b = f(a)
        return (a, b)


def texts() -> list[str]:
    """What scripts are used for: their methods are known to checkers."""
    return [double.script(show_meta=True), str(scaled)]


def parsed() -> rx.Function:
    """A function from a text."""
    function = rx.from_source(texts()[0])
    assert isinstance(function, rx.Function)
    return function
