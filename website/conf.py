"""How Sphinx makes the site of what `website/stage.py` has staged; `make site` calls both.

MyST reads the Markdown of the documents as a forge does (CommonMark with tables); Python-Markdown, and so
MkDocs, would want other lists, and other indents. Furo needs no script, font or picture of another host,
and so does the search, whose index is a script of the site itself: all of it works from a folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import weir

project = "weir"
author = "The weir authors"
copyright = author  # noqa: A001 - Sphinx reads the name
release = version = weir.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "lexers"]
root_doc = "index"
source_suffix = {".md": "markdown"}
nitpicky = False

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "attrs_inline"]
# `[text](page.md#heading)` whose heading is missing is an error of the build, as every warning is.
suppress_warnings: list[str] = []

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 80
# What stands in single backquotes in a docstring: a name of Python that is linked where it has an entry.
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "weir"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_permalinks_icon = "#"
html_theme_options = {
    "navigation_with_keys": True,
    "top_of_page_buttons": [],
    "light_css_variables": {
        "color-brand-primary": "#0b5f8f",
        "color-brand-content": "#0b5f8f",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, "
        "sans-serif",
        "font-stack--monospace": "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7cc4ee",
        "color-brand-content": "#7cc4ee",
    },
}
pygments_style = "a11y-light"
pygments_dark_style = "a11y-dark"
