"""The documentation in Chromium, as a reader meets it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.documentation import playground_files
from tests.support import browser as chromium
from tests.support.browser import Visit
from tests.support.diagnosed import explain

ROOT = Path(__file__).parents[2]
TRACEBACKS = ROOT / "tests/corpus/tracebacks"
CATALOGUE = ROOT / "src/fitdoctor/catalogue"
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
    "reference/benchmarks.html",
    "guides/first_repair.html",
    "guides/large_data.html",
    "memory.html",
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("documentation"),
    pytest.mark.skipif(bool(chromium.MISSING), reason=chromium.MISSING),
]
needs_pyodide = pytest.mark.skipif(
    not playground_files.available(), reason="npm has not installed Pyodide: run `make docs`"
)


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with chromium.served(site) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium.started() as running:
        yield running


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_pages_load_in_both_themes_and_widths(browser: Any, address: str, size: str, scheme: str) -> None:
    wide = []
    with Visit(browser, size, scheme) as visit:
        for name in PAGES:
            visit.page.goto(address + name)
            colours = visit.page.evaluate("document.body.dataset.mdColorScheme")
            assert colours == ("slate" if scheme == "dark" else "default")
            if visit.scrolls_sideways:
                wide.append(name)
            visit.picture(name.removesuffix(".html"))
        assert not visit.troubles
        assert not wide, "these pages scroll sideways"
        assert all(url.startswith((address, "data:")) for url in visit.requests)


def searched(visit: Visit, text: str) -> list[str]:
    """The pages that the search lists first for a text."""
    visit.page.keyboard.press("f")
    box = visit.page.locator("input.md-search__input")
    box.fill("")
    visit.page.wait_for_function("!document.querySelector('li.md-search-result__item')", timeout=15_000)
    box.fill(text)
    visit.page.wait_for_selector("li.md-search-result__item", timeout=15_000)
    links = visit.page.locator("li.md-search-result__item > a.md-search-result__link").all()[:3]
    visit.picture("search")
    return [str(link.get_attribute("href")).split("?")[0].split("/")[-1].split(".")[0] for link in links]


@pytest.mark.parametrize("where", ["served", "from disk"])
def test_search_finds_a_message(browser: Any, address: str, site: Path, where: str) -> None:
    asked = json.loads(Path(__file__).with_name("searched_messages.json").read_text("utf-8"))
    with Visit(browser) as visit:
        visit.page.goto(address if where == "served" else (site / "index.html").as_uri())
        found = {text: searched(visit, text) for text in (asked if where == "served" else list(asked)[:3])}
        assert not {text: first for text, first in found.items() if asked[text] not in first}
        assert not visit.troubles


def ask(visit: Visit, text: str) -> str:
    """The id of the first cause that the playground names; "" if it names none."""
    visit.page.fill("#pg-text", text)
    visit.page.click("#pg-ask")
    visit.page.wait_for_function("!document.getElementById('pg-ask').disabled", timeout=120_000)
    names = visit.page.locator("#pg-answer .fd-badge").all_inner_texts()
    return next((name for name in names if name.startswith("FIT")), "")


REPAIRED = (
    "labels/labels_out_of_range",
    "inputs/python_list_input",
    "labels/integer_labels_with_categorical_loss",
    "environment/removed_in_keras_3",
)
"""Causes whose program `lint` repairs: the playground's repair must leave nothing to find."""


@needs_pyodide
def test_the_playground_answers_and_its_repairs_apply(browser: Any, address: str) -> None:
    asked = {path.stem: path.read_text("utf-8") for path in sorted(TRACEBACKS.glob("*.txt"))[::50]}
    told = {name: next((found.id for found in explain(text).findings), "") for name, text in asked.items()}
    assert len([cause for cause in told.values() if cause]) >= 8
    with Visit(browser) as visit:
        visit.page.goto(f"{address}playground.html")
        assert not [url for url in visit.requests if "pyodide" in url], "it is loaded only when used"
        assert {name: ask(visit, text) for name, text in asked.items()} == told
        for cause in REPAIRED:
            program = (CATALOGUE / cause / "broken.py").read_text("utf-8")
            assert ask(visit, program).startswith("FIT"), cause
            visit.picture(f"playground-{cause}")
            fixed = visit.copied(visit.page.locator("text=Copy the fixed text"))
            assert fixed != program
            assert ask(visit, fixed) == "", cause
            assert "No problems found" in visit.page.inner_text("#pg-answer")
        assert ask(visit, "ValueError: <img src=x onerror=\"document.title='run'\">") == ""
        assert visit.page.title() != "run" and not visit.page.locator("#pg-answer img").count()
        assert not visit.troubles
        assert all(url.startswith((address, "data:")) for url in visit.requests)


@needs_pyodide
def test_a_link_to_the_playground_carries_the_text(browser: Any, address: str) -> None:
    text = (TRACEBACKS / "fit101_mnist_flatten_script.txt").read_text("utf-8") + "\n# ü €"
    with Visit(browser, "phone", "dark") as visit:
        visit.page.goto(f"{address}playground.html")
        visit.page.fill("#pg-text", text)
        visit.page.click("#pg-ask")
        link = visit.copied(visit.page.locator("#pg-link"))
        assert link.startswith(f"{address}playground.html#")
    with Visit(browser, "phone", "dark") as visit:
        visit.page.goto(link)
        visit.page.wait_for_selector("#pg-answer .fd-badge", timeout=120_000)
        assert visit.page.input_value("#pg-text") == text
        assert "FIT101" in visit.page.inner_text("#pg-answer")
        visit.picture("playground-link")
        assert not visit.scrolls_sideways
        assert not visit.troubles


def test_the_palette_can_be_switched_and_code_copied(browser: Any, address: str) -> None:
    with Visit(browser) as visit:
        visit.page.goto(f"{address}causes/FIT203.html")
        visit.page.click("label[title='Switch to dark mode']:visible")
        assert visit.page.evaluate("document.body.dataset.mdColorScheme") == "slate"
        buttons = "button[data-clipboard-target]:visible, .md-code__button[data-md-type=copy]:visible"
        assert "InvalidArgumentError" in visit.copied(visit.page.locator(buttons).first)
        assert not visit.troubles
