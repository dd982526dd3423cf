"""The site as a whole: complete, linked, and without anything from the network."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.cli import COMMANDS
from scripts.documentation import message_index
from scripts.documentation.cause_pages import printed

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("documentation")


class Elements(HTMLParser):
    """Collects what a page links to, loads and calls its parts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.headings: list[str] = []
        self._heading = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if "src" in values:
            self.loaded.append(values["src"])
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(values.get("href", ""))
        if re.fullmatch("h[1-6]", tag):
            self._heading = True
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        if re.fullmatch("h[1-6]", tag):
            self._heading = False

    def handle_data(self, data: str) -> None:
        if self._heading:
            self.headings[-1] += data


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Elements]:
    return {
        path: Elements(path.read_text("utf-8")) for path in site.rglob("*.html") if path.name != "404.html"
    }


def test_every_cause_and_command_has_a_page(site: Path) -> None:
    assert all((site / f"causes/{name}.html").exists() for name in catalogue())
    assert all((site / f"commands/{name}.html").exists() for name in COMMANDS)


def test_every_internal_link_leads_somewhere(site: Path, pages: dict[Path, Elements]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            aim = (path.parent / unquote(target)).resolve() if target else path
            if not aim.is_file() or anchor and aim in pages and unquote(anchor) not in pages[aim].ids:
                broken.append(f"{path.relative_to(site)} -> {link}")
    assert not broken


def test_no_page_loads_anything_from_the_network(pages: dict[Path, Elements]) -> None:
    loaded = {source for page in pages.values() for source in page.loaded}
    assert loaded
    assert not [source for source in loaded if re.match(r"(https?:)?//", source)]


def test_no_page_is_an_orphan(site: Path, pages: dict[Path, Elements]) -> None:
    aims = {
        (path.parent / unquote(link.partition("#")[0])).resolve()
        for path, page in pages.items()
        for link in page.links
        if not re.match(r"[a-z]+:|#", link)
    }
    assert not {path.relative_to(site) for path in pages} - {
        path.relative_to(site) for path in aims if path in pages
    }


def test_no_heading_has_literal_backticks(pages: dict[Path, Elements]) -> None:
    assert not [heading for page in pages.values() for heading in page.headings if "`" in heading]


def test_every_benchmark_is_on_the_site(site: Path) -> None:
    found = json.loads((ROOT / "benchmarks/results.json").read_text("utf-8"))
    text = html.unescape(re.sub(r"<[^>]+>", "", (site / "reference/benchmarks.html").read_text("utf-8")))
    assert not [row["what"] for row in found["rows"] if row["what"] not in text]
    assert found["when"][:10] in text and found["versions"]["keras"] in text
    assert text.count("\nno\n") == sum(row["held"] is False for row in found["rows"])


def test_the_search_index_has_the_messages(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text("utf-8"))
    texts = {entry["location"].split("#")[0]: "" for entry in index["docs"]}
    for entry in index["docs"]:
        texts[entry["location"].split("#")[0]] += entry["text"]
    assert "outside the valid range of [0, 10)" in texts["causes/FIT203.html"]
    assert "is out of scope" in texts["messages.html"]


def test_every_broken_program_was_recorded() -> None:
    programs = {
        f"{cause.id}/{path.stem}"
        for cause in catalogue().values()
        for path in cause.folder.glob("broken*.py")
    }
    assert set(printed()) == programs, "run `python -m scripts.documentation.record_printed ID`"


def test_every_cause_that_raises_is_among_the_messages() -> None:
    page = message_index.page()
    listed = set(re.findall(r"causes/(FIT\d{3})\.md", page))
    raising = {cause.id for cause in catalogue().values() if cause.raises}
    assert raising <= listed
    for text in ("Keras 2", "in user code", "in a layer", "graph execution error"):
        assert f" {text}" in page
