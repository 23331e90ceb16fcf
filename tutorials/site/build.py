"""The build of the documentation site: pages are put together, rendered and looked at.

Everything that Sphinx warns of is a problem, and so is a link that leads nowhere. Nothing is
written but the folder that is asked for; the pages are put together in a temporary one.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from .links import broken_links
from .sources import HERE, assemble, notebooks, places

__all__ = ["build", "main"]

ROOT = HERE.parents[1]
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def build(root: Path, out: Path, *, jobs: int = 1) -> list[str]:
    """Build the site of the checkout `root` into the folder `out`; what is wrong with it.

    A site that is there already makes room; a folder of anything else stays as it is.
    """
    if out.is_dir() and any(out.iterdir()):
        if not (out / ".buildinfo").is_file():
            return [f"{out} is not empty, and holds no site"]
        shutil.rmtree(out)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder).resolve()
        origin = assemble(root, source)
        problems = render(source, out, places(), jobs)
    problems = [_at_origin(problem, source, origin) for problem in problems]
    problems += [
        f"{path.relative_to(root).as_posix()} is on no page"
        for path in notebooks(root)
        if not (out / path.relative_to(root)).with_suffix(".html").is_file()
    ]
    return problems + broken_links(out)


def render(source: Path, out: Path, names: Mapping[str, str], jobs: int) -> list[str]:
    """Render the pages of a folder by Sphinx; what it warns of, a line each.

    A file that is no notebook would stop Sphinx without its name: with one, nothing is rendered.
    """
    if stopping := [*_no_notebooks(source)]:
        return stopping
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as trees, patch_docutils(str(HERE)), docutils_namespace():
        app = Sphinx(
            source, HERE, out, trees, "html",
            confoverrides={"relaxscript_places": dict(names), "html_static_path": [
                str(source / "_static")]},
            status=None, warning=said, freshenv=True, parallel=jobs,
        )  # fmt: skip
        app.build(force_all=True)
    return [line for line in _COLOURS.sub("", said.getvalue()).splitlines() if line.strip()]


def _no_notebooks(source: Path) -> Iterator[str]:
    for path in sorted(source.rglob("*.ipynb")):
        try:
            nbformat.validate(nbformat.read(path, as_version=4))
        except (nbformat.reader.NotJSONError, nbformat.ValidationError, AttributeError) as error:
            yield f"{path}: this is no notebook: {str(error).splitlines()[0]}"


def _at_origin(problem: str, source: Path, origin: Mapping[str, str]) -> str:
    """A warning with the file that somebody wrote in place of its copy."""
    for path in sorted(origin, key=len, reverse=True):
        problem = problem.replace(f"{source}/{path}", origin[path])
    return problem.replace(f"{source}/", "")


def main(words: Sequence[str]) -> int:
    """`python -m tutorials.site [OUT]`."""
    parser = argparse.ArgumentParser(prog="python -m tutorials.site", description=main.__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("-j", "--jobs", type=int, default=min(2, os.cpu_count() or 1))
    given = parser.parse_args(words)
    problems = build(ROOT, given.out.resolve(), jobs=given.jobs)
    if problems:
        print(*problems, f"the site has {len(problems)} problems", sep="\n", file=sys.stderr)
        return 1
    print(f"{len(list(given.out.rglob('*.html')))} pages: {given.out / 'index.html'}")
    return 0
