"""Display of nodes and modules: as their script, or by their fields where none is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import hooks

if TYPE_CHECKING:
    from .node import Node

__all__ = ["Displayable", "plain", "show"]


class Displayable:
    """An object with a script: a module or a node."""

    __slots__ = ()

    def script(self, **options: Any) -> str:
        """The script, which parses back to the same program.

        What is free in a part of a program is declared before it: `n = T.int64()`.

        Options, with the names and defaults of TVM: `name`, `show_meta`, `ir_prefix`,
        `tir_prefix`, `relax_prefix`, `module_alias`, `buffer_dtype`, `int_dtype`, `float_dtype`,
        `verbose_expr`, `indent_spaces`, `print_line_numbers`, `num_context_lines`, `syntax_sugar`,
        `show_object_address`, `show_all_struct_info`, `obj_to_underline`, `obj_to_annotate`,
        `path_to_underline`, `path_to_annotate`; and `line_width`.
        `relaxscript.script.printer.options` says what each means.
        """
        text: str = hooks.script_of(self, declares=True, **options)
        return text

    def show(
        self, style: str | None = None, black_format: bool | None = None, **options: Any
    ) -> None:
        """Print the script, coloured where the terminal or notebook can show it.

        `style` is "light", "dark", "ansi" or a style of pygments; `black_format` formats the text
        by ruff or black. Where they are not given, `RELAXSCRIPT_STYLE` and
        `RELAXSCRIPT_BLACK_FORMAT` of the environment decide. Other options are those of `script`.
        """
        text: str = hooks.script_of(
            self, style=style, black_format=black_format, show=True, declares=True, **options
        )
        if text:
            print(text)

    def _repr_html_(self) -> str | None:
        """The script as HTML; None where there is none. It never fails, as `show` does not."""
        if not hooks.html_of.is_filled:
            return None
        try:
            html: str = hooks.html_of(self)
        except Exception:
            return None
        return html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The representations that a notebook asks for."""
        html = self._repr_html_()
        bundle = {"text/plain": repr(self)}
        return bundle if html is None else {**bundle, "text/html": html}


def show(node: Any) -> str | None:
    """The script of a node, or None where it has none; never fails, since debuggers call it."""
    if not hooks.script_of.is_filled:
        return None
    try:
        text: str = hooks.script_of(node)
    except Exception:
        return None
    return text


def plain(node: Node) -> str:
    """`Class(field=value, ...)`, one level deep."""
    parts = [f"{f.name}={_part(getattr(node, f.name, None))}" for f in node._fields if not f.place]
    return f"{type(node).__name__}({', '.join(parts)})"


def _part(value: Any) -> str:
    if isinstance(value, tuple):
        return (
            f"({', '.join(_part(item) for item in value[:4])}{', ...' if len(value) > 4 else ''})"
        )
    if hasattr(type(value), "_fields"):
        hint = getattr(value, "name_hint", None) or getattr(value, "name", None)
        return f"<{type(value).__name__}{f' {hint}' if isinstance(hint, str) else ''}>"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
