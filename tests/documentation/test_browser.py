"""The documentation in Chromium, as a reader meets it. `FITDOCTOR_SCREENSHOTS=FOLDER` keeps pictures of every page."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.documentation import playground_files
from tests.support.diagnosed import explain

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ROOT = Path(__file__).parents[2]
TRACEBACKS = ROOT / "tests/corpus/tracebacks"
CATALOGUE = ROOT / "src/fitdoctor/catalogue"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
PAGES = (
    "index.html",
    "playground.html",
    "messages.html",
    "folklore.html",
    "causes/index.html",
    "causes/FIT203.html",
    "causes/FIT403.html",
    "commands/lint.html",
    "reference/api.html",
    "guides/first_repair.html",
)

pytest.importorskip("playwright", reason="Playwright is not installed: `pip install '.[docs]'`")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("documentation"),
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
needs_pyodide = pytest.mark.skipif(
    not playground_files.available(), reason="npm has not installed Pyodide: run `make docs`"
)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and logs nothing."""

    def log_message(self, *args: Any) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """Says nothing about pages that the browser left before they were loaded."""

    def handle_error(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    quiet = ("background-networking", "component-update", "sync", "gpu", "quic")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in quiet)],
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
        self.page.on(
            "console", lambda said: said.type in ("error", "warning") and self.troubles.append(said.text)
        )
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("requestfailed", lambda request: self.troubles.append(request.url))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def picture(self, name: str) -> None:
        folder = os.environ.get("FITDOCTOR_SCREENSHOTS")
        if folder:
            self.page.screenshot(path=f"{folder}/{name.replace('/', '_')}-{self.name}.png")


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_pages_load_in_both_themes_and_widths(browser: Any, address: str, size: str, scheme: str) -> None:
    visit = Visit(browser, size, scheme)
    wide = []
    for name in PAGES:
        visit.page.goto(address + name)
        colours = visit.page.evaluate("document.body.dataset.mdColorScheme")
        assert colours == ("slate" if scheme == "dark" else "default")
        if visit.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
        visit.picture(name.removesuffix(".html"))
    assert not visit.troubles
    assert not wide, "these pages scroll sideways"
    assert all(url.startswith((address, "data:")) for url in visit.requests)
    visit.context.close()


SEARCHED = {
    "InvalidArgumentError: Received a label value of 10 which is outside the valid range of [0, 10)": "FIT203",
    "ValueError: Data cardinality is ambiguous. Make sure all arrays contain the same number of samples.": "FIT108",
    "InaccessibleTensorError is out of scope and cannot be used here": "FIT40",
    "labels-out-of-range": "FIT203",
}


@pytest.mark.parametrize("served", [True, False], ids=["served", "from disk"])
def test_search_finds_a_message(browser: Any, address: str, site: Path, served: bool) -> None:
    visit = Visit(browser)
    visit.page.goto(address if served else (site / "index.html").as_uri())
    for text, cause in SEARCHED.items():
        visit.page.keyboard.press("f")
        box = visit.page.locator("input.md-search__input")
        box.fill(text)
        found = visit.page.locator(f"li.md-search-result__item:nth-child(-n+6) a[href*='causes/{cause}']")
        found.first.wait_for(timeout=15_000)
        visit.picture("search")
        box.fill("")
    assert not visit.troubles
    visit.context.close()


def ask(visit: Visit, text: str) -> str:
    """The id of the first cause that the playground names; "" if it names none."""
    visit.page.fill("#pg-text", text)
    visit.page.click("#pg-ask")
    visit.page.wait_for_function("!document.getElementById('pg-ask').disabled", timeout=120_000)
    badges = visit.page.locator("#pg-answer .fd-badge")
    names = [badges.nth(index).inner_text() for index in range(badges.count())]
    return next((name for name in names if name.startswith("FIT")), "")


@needs_pyodide
def test_the_playground_answers_and_its_repair_applies(browser: Any, address: str) -> None:
    visit = Visit(browser)
    visit.page.goto(f"{address}playground.html")
    assert not [url for url in visit.requests if "pyodide" in url], "it is loaded only when used"
    asked = {path.stem: path.read_text("utf-8") for path in sorted(TRACEBACKS.glob("*.txt"))[::60]}
    told = {name: next((found.id for found in explain(text).findings), "") for name, text in asked.items()}
    assert {name: ask(visit, text) for name, text in asked.items()} == told
    assert len([cause for cause in told.values() if cause]) >= 6
    program = (CATALOGUE / "labels/labels_out_of_range/broken.py").read_text("utf-8")
    assert ask(visit, program) == "FIT203"
    visit.picture("playground-program")
    visit.page.click("text=Copy the fixed text")
    fixed = visit.page.evaluate("navigator.clipboard.readText()")
    assert fixed != program and "- 1" in fixed
    assert ask(visit, fixed) == ""
    assert "No problems found" in visit.page.inner_text("#pg-answer")
    assert ask(visit, "ValueError: <img src=x onerror=\"document.title='run'\">") == ""
    assert visit.page.title() != "run" and not visit.page.locator("#pg-answer img").count()
    assert not visit.troubles
    assert all(url.startswith((address, "data:")) for url in visit.requests)
    visit.context.close()


@needs_pyodide
def test_a_link_to_the_playground_carries_the_text(browser: Any, address: str) -> None:
    text = (TRACEBACKS / "fit101_mnist_flatten_script.txt").read_text("utf-8") + "\n# ü €"
    visit = Visit(browser, "phone", "dark")
    visit.page.goto(f"{address}playground.html")
    visit.page.fill("#pg-text", text)
    visit.page.click("#pg-ask")
    visit.page.click("#pg-link")
    link = visit.page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{address}playground.html#")
    visit.page.goto("about:blank")  # the answer of the first page does not matter
    visit.page.wait_for_timeout(300)
    visit.troubles.clear()
    visit.page.goto(link)
    visit.page.wait_for_selector("#pg-answer .fd-badge", timeout=120_000)
    assert visit.page.input_value("#pg-text") == text
    assert "FIT101" in visit.page.inner_text("#pg-answer")
    visit.picture("playground-link")
    assert not visit.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not visit.troubles
    visit.context.close()


def test_the_palette_can_be_switched_and_code_copied(browser: Any, address: str) -> None:
    visit = Visit(browser)
    visit.page.goto(f"{address}causes/FIT203.html")
    visit.page.click("label[title='Switch to dark mode']:visible")
    assert visit.page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    visit.page.locator(
        "button[data-clipboard-target]:visible, .md-code__button[data-md-type=copy]:visible"
    ).first.click()
    assert "InvalidArgumentError" in visit.page.evaluate("navigator.clipboard.readText()")
    assert not visit.troubles
    visit.context.close()
