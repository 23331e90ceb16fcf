"""All pages of the site: those of the checkout as they stand, ours, and those made of the code.

The pages of the checkout keep their places in it, so that links between them mean the same here.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from . import api, diagnostics, operators, passes
from .house import with_drawings

__all__ = ["assemble", "notebooks", "places"]

HERE = Path(__file__).resolve().parent
# Of the checkout; pages of `tutorials/` come in as they are there.
_WHOLE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE")
_READ = (".md", ".svg", ".png")  # pages, and pictures in them
_RESULTS = "relaxscript_tests/benchmarks/RESULTS"


def notebooks(root: Path) -> list[Path]:
    """The numbered notebooks, in the order of their numbers."""
    return sorted((root / "tutorials").glob("[0-9][0-9]_*.ipynb"))


def places() -> Mapping[str, str]:
    """The page of each name that has one; what two pages claim is an operator or pass first."""
    return {
        **api.places(), **passes.places(), **operators.places(), **diagnostics.places(),
    }  # fmt: skip


def assemble(root: Path, folder: Path) -> dict[str, str]:
    """Put all pages into an empty folder; of each, by its path there, where it comes from."""
    origin = {}
    for path, source in _as_they_stand(root):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / path)
        origin[path] = source.relative_to(root).as_posix()
    for name, text, said in _written(root):
        (folder / f"{name}.md").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(text, "utf-8")
        origin[f"{name}.md"] = said
    shutil.copytree(HERE / "assets", folder / "_static")
    return origin


def _as_they_stand(root: Path) -> Iterator[tuple[str, Path]]:
    """Files of the checkout, by their path on the site."""
    tutorials = [p for p in sorted((root / "tutorials").iterdir()) if p.suffix in _READ]
    results = [root / f"{_RESULTS}{end}" for end in (".md", ".svg")]
    for source in (*(root / name for name in _WHOLE), *tutorials, *results, *notebooks(root)):
        yield source.relative_to(root).as_posix(), source


def _written(root: Path) -> Iterator[tuple[str, str, str]]:
    """Pages of this folder and those made of the code: name, Markdown, where it comes from."""
    rooms = {name.removeprefix("relaxscript."): place for name, place in api.places().items()}
    rooms |= {"op": "operators/index", "transform": "passes/index"}
    ours = {path: path.read_text("utf-8") for path in _pages(root)}
    listed = "\n".join(_listed(root, "\n".join(ours.values())))
    for path, text in ours.items():
        whole = with_drawings(text.replace("<!-- notebooks -->", listed), root, rooms)
        yield path.stem, whole, path.relative_to(root).as_posix()
    makers = (
        operators.operator_pages,
        passes.pass_pages,
        diagnostics.diagnostic_pages,
        api.api_pages,
    )
    for maker in makers:
        said = f"made by {maker.__module__}"
        yield from ((name, text, f"{name} ({said})") for name, text in maker())


def _pages(root: Path) -> list[Path]:
    return sorted((root / "tutorials/site/pages").glob("*.md"))


def _listed(root: Path, ours: str) -> Iterator[str]:
    """The tutorials by their names on the site: notebooks, and pages that no page of ours lists."""
    pages = sorted((root / "tutorials").glob("*.md"))
    for path in (*notebooks(root), *pages):
        name = path.relative_to(root).with_suffix("").as_posix()
        if not re.search(rf"^{re.escape(name)}$", ours, re.MULTILINE):
            yield name
