"""Texts of programs in XML."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from relaxscript.errors.styles import visible
from relaxscript.graph.escape import xml_text
from relaxscript_tests.graph.programs import HOSTILE


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_stays_one_text_in_an_element_and_in_an_attribute(text):
    root = ElementTree.fromstring(f'<a b="{xml_text(text)}">{xml_text(text)}</a>')
    assert len(root) == 0
    assert list(root.attrib) == ["b"]
    assert (root.text or "").replace("\ufffd", "") == "".join(
        c for c in visible(text).replace("\ufffd", "") if c not in "\ud800\ufffe\uffff"
    )
