"""Chromium, driven by Playwright: one for all tests of a process. `FITDOCTOR_SCREENSHOTS=FOLDER` keeps pictures."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
MISSING = (
    "Chromium is not installed"
    if CHROMIUM is None
    else "Playwright is not installed: `pip install '.[docs]'`"
    if find_spec("playwright") is None
    else ""
)
"""Why there is no browser; "" if there is one."""
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
QUIET = ("background-networking", "component-update", "sync", "gpu", "quic", "dev-shm-usage")


@contextmanager
def started() -> Iterator[Any]:
    """A running browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in QUIET)],
        )
        yield running
        running.close()


class Visit:
    """A page, and everything that went wrong on it."""

    def __init__(self, browser: Any, size: str = "desktop", scheme: str = "light") -> None:
        width, height = SIZES[size]
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page = self.context.new_page()
        self.name = f"{size}-{scheme}"
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._answered)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)

    def _failed(self, request: Any) -> None:
        # Leaving a page aborts what it still loads: that is the reader's doing, not a fault of the page.
        if request.failure != "net::ERR_ABORTED":
            self.troubles.append(f"{request.url}: {request.failure}")

    def _answered(self, response: Any) -> None:
        if response.status >= 400:
            self.troubles.append(f"{response.url}: {response.status}")

    @property
    def scrolls_sideways(self) -> bool:
        """Whether the page is wider than the window."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))

    def copied(self, button: Any) -> str:
        """The text in the clipboard after a click on a button."""
        self.page.evaluate("navigator.clipboard.writeText('')")
        button.click()
        for _ in range(100):  # a page may forbid scripts that wait in it
            if text := str(self.page.evaluate("navigator.clipboard.readText()")):
                return text
            self.page.wait_for_timeout(100)
        raise AssertionError("nothing was copied")

    def picture(self, name: str, *, whole: bool = False) -> None:
        """Keep a picture of the page, if pictures are wanted."""
        folder = os.environ.get("FITDOCTOR_SCREENSHOTS")
        if folder:
            path = Path(folder) / f"{name.replace('/', '_')}-{self.name}.png"
            self.page.screenshot(path=path, full_page=whole)


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *args: Any) -> None:
        """Say nothing about pages that the browser left before they were loaded."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder."""
    server = _Server(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
