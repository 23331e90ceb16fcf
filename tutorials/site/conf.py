"""The settings of Sphinx for the site; `build.py` puts the pages together."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from relaxscript.version import __version__

# What Sphinx's own extensions warn of is nothing that pages could mend.
warnings.simplefilter("ignore", DeprecationWarning)
warnings.simplefilter("ignore", PendingDeprecationWarning)

project = "relaxscript"
author = "the authors of relaxscript"
copyright = "the authors of relaxscript, Apache License 2.0"
release = version = __version__
extensions = ["myst_nb", "sphinx_copybutton", "tutorials.site.names"]

source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
root_doc = "index"
nitpicky = True
suppress_warnings = ["mystnb.unknown_mime_type"]

nb_execution_mode = "off"  # what is shown is what the tests of the tutorials compare
nb_merge_streams = True
nb_render_error_lexer = "text"  # our errors are no tracebacks of frames
myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

add_module_names = False
python_maximum_signature_line_length = 88
highlight_language = "python"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"relaxscript {version}"
html_static_path = ["_static"]
html_favicon = "assets/favicon.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_permalinks_icon = "#"
# A summary would be fetched, which browsers refuse of files that are opened without a server.
html_show_search_summary = False
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_theme_options: dict[str, Any] = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#1f6f54", "color-brand-content": "#1f6f54"},
    "dark_css_variables": {"color-brand-primary": "#7bd3b0", "color-brand-content": "#7bd3b0"},
}
pygments_style = "default"
pygments_dark_style = "github-dark"
