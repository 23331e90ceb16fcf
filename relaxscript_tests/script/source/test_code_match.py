"""A definition is found plausible by its words, which are looked up, not searched for."""

from __future__ import annotations

import ast

from relaxscript.script.source.code_match import inner_codes, may_match


class Text(str):
    """A text that counts how often it is searched from end to end."""

    searched = 0

    def __contains__(self, part: str) -> bool:  # type: ignore[override]
        self.searched += 1
        return str.__contains__(self, part)


def is_plausible(text: str, of: str) -> bool:
    (code,) = inner_codes(compile(of, "f.py", "exec"))
    return may_match(ast.parse(text).body[0], code, text)


def test_a_name_of_many_costs_no_search_of_the_text():
    text = Text("def f(x):\n" + "".join(f"    v{i} = g{i}(x)\n" for i in range(500)))
    assert is_plausible(text, of=text)
    assert text.searched == 0


def test_the_parts_of_a_dotted_name_are_found_where_the_text_joins_them():
    text = Text("def f():\n    import os.path as p\n    return p\n")
    assert is_plausible(text, of=text)
    assert text.searched == 1


def test_private_names_of_a_class_are_looked_up_as_they_were_written():
    text = "class Model:\n    __private = 1\n    _Model__public = __private\n"
    assert is_plausible(text, of=text)


def test_a_text_without_one_of_the_names_is_not_plausible():
    assert not is_plausible("def f(x):\n    return g(x)\n", of="def f(x):\n    return h(x)\n")
