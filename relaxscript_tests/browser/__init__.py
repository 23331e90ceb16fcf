"""What we show, seen in a real browser: `.ci/browser` runs the files `*_in_a_browser.py`.

An ordinary run of the tests collects none of them, for they need Chromium and the extra `browser`.
"""

from __future__ import annotations
