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


gpu = I.vdevice("llvm", 1)


@R.function
def on_its_own(
    x: R.Tensor[R.f32, n, 4, gpu],
    ranked: R.Tensor[R.f32, None, None],
    s: R.Annotated[R.Shape, n, 4],
    count: R.Annotated[R.Prim[R.i64], n],
    packed: R.Callable[..., R.Object],
    nothing: R.Tuple[()],
) -> R.Tuple[R.Tensor[R.f32, n, 4, gpu], R.Object]:
    whole = R.match_cast(ranked, R.Tensor[R.f32, n, 4])
    bound: R.Annotated[R.Shape, n, 4] = R.shape_of(whole)
    made = R.call_dps_packed("make", (whole,), R.Tensor[R.f32, n, 4, gpu])
    both = R.tuple(made, bound)
    return both


@R.function
def unit(x: R.Tensor[R.f32, ...]) -> R.Tuple[()]:
    nothing = R.tuple()
    return nothing


@I.ir_module
class Digits(I.Module):
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
    return [double.script(show_meta=True), str(scaled), Digits.script(), str(Digits["relu"])]


def length(module: rx.IRModule) -> int:
    """What takes a module."""
    return len(module.script())


def length_of_digits() -> int:
    """A decorated class is a module wherever one is taken."""
    return length(Digits)


def rows(x: object) -> int:
    """What a function gives for arrays is not known to be an expression."""
    shape: tuple[int, ...] = double(x).shape
    return shape[0] + len(Digits.main(x))


def parsed() -> rx.Function:
    """A function from a text."""
    function = rx.from_source(texts()[0])
    assert isinstance(function, rx.Function)
    return function
