"""Small modules that several tests of passes start from."""

from __future__ import annotations

from relaxscript.script import ir as I, relax as R

__all__ = ["Model"]


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Model
        with R.dataflow():
            lv = cls.twice(x)
            gv = R.exp(lv)
            R.output(gv)
        return gv

    @R.function(private=True)
    def twice(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.add(x, x)
