"""One browser and one site for a run; pictures go to the folder that `SCREENSHOTS` names."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Nothing of this reaches the network: without these, the browser itself would try to.
_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The Chromium of the system, without a window."""
    from playwright.sync_api import sync_playwright

    found = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=list(_FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site that `.ci/browser` has built."""
    return Path(os.environ["SITE"])


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[Page], None]:
    """Keep a picture of a page under the name of the test, where a folder is given for them."""
    folder = os.environ.get("SCREENSHOTS")

    def keep(page: Page) -> None:
        if folder:
            name = re.sub(r"[^\w.-]+", "_", request.node.name.removeprefix("test_"))
            page.screenshot(path=str(Path(folder) / f"{name}.png"))

    return keep
