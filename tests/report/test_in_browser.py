"""The report in a real browser: it loads without errors or network, folds, copies, and runs nothing of a hostile report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fitdoctor.diagnosis import Diagnosis, Invocation
from fitdoctor.records import replace
from fitdoctor.report import render
from tests.report.samples import EVERYTHING
from tests.report.test_flow import layer, residual, way
from tests.report.test_html import component, everywhere
from tests.support import browser as chromium
from tests.support.browser import Visit

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(chromium.MISSING), reason=chromium.MISSING),
    pytest.mark.xdist_group("browser"),
]
ATTACK = (
    '</text></svg></pre></title></style><script>document.title=1</script><img src=x onerror="document.title=1">'
    '<svg onload="document.title=1"><a href="javascript:document.title=1">x</a>\'" `${document.title=1}`'
)
THEMES = [(size, theme) for size in chromium.SIZES for theme in ("light", "dark")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium.started() as running:
        yield running


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    layers = residual(48)
    layers[100] = layer(layers[100].name, *layers[100].after, note="rejects (None, 3)")
    labels = component("y", part="y", labels=((0.0, 300), (1.0, 100)), distinct=2)
    diagnosis = replace(
        EVERYTHING,
        ways=(replace(way(*layers), data=(component(), labels)),),
        trainings=everywhere("accuracy").trainings,
        memory=everywhere("fit").memory,
        invocation=Invocation("run", "train.py", (), "2026-03-01T14:05:09Z", 3.0, (("python", "3.12"),)),
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(diagnosis, "html"), "utf-8")
    return path


BRIGHTNESS = "getComputedStyle(document.querySelector('{}')).{}.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0) / 3"


@pytest.mark.parametrize(("size", "theme"), THEMES)
def test_everything_works_in_both_themes_and_on_a_phone(
    browser: Any, report: Path, size: str, theme: str
) -> None:
    with Visit(browser, size, theme) as visit:
        page = visit.page
        page.goto(report.as_uri())
        visit.picture("report", whole=True)
        assert visit.requests == [report.as_uri()]
        assert not visit.scrolls_sideways
        back = page.evaluate(BRIGHTNESS.format(".fitdoctor-card", "backgroundColor"))
        text = page.evaluate(BRIGHTNESS.format(".fitdoctor-card", "color"))
        assert (back > 200 and text < 80) if theme == "light" else (back < 60 and text > 200)
        red = page.evaluate("getComputedStyle(document.querySelector('rect.fd-break')).stroke")
        assert red == ("rgb(196, 38, 46)" if theme == "light" else "rgb(255, 123, 114)")
        broken = page.locator("svg.fd-flow text", has_text="rejects (None, 3)")
        assert broken.first.is_visible(), "the break is in sight although hundreds of layers are folded"
        first = page.locator("svg.fd-flow text", has_text="Dense stage0_block0_a").first
        assert not first.is_visible()
        page.locator(".fd-block > summary", has_text="stage0").first.click()
        first.wait_for(state="visible")
        for link in page.locator("nav a").all():
            link.click()
            place = page.locator(str(link.get_attribute("href")))
            assert place.evaluate("place => Math.abs(place.getBoundingClientRect().top) < innerHeight")
        copied = visit.copied(page.locator(".fd-copy button").first)
        assert copied == "model.fit(x_train, y_train - 1, epochs=5)"
        assert not visit.troubles


def test_text_of_the_picture_stays_in_its_boxes_and_boxes_stay_apart(browser: Any, report: Path) -> None:
    with Visit(browser) as visit:
        visit.page.goto(report.as_uri())
        visit.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        wrong = visit.page.evaluate("""() => {
          const wrong = [];
          for (const svg of document.querySelectorAll("svg.fd-flow")) {
            const boxes = [...svg.querySelectorAll("rect")].map(each => each.getBBox());
            boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
              const beside = a.x + a.width <= b.x || b.x + b.width <= a.x;
              if (!beside && a.y < b.y + b.height && b.y < a.y + a.height) wrong.push("boxes");
            }));
            for (const text of svg.querySelectorAll("text:not(.fd-out)")) {
              const t = text.getBBox(), x = t.x + t.width / 2, y = t.y + t.height / 2;
              const box = boxes.find(b => b.x <= x && x <= b.x + b.width && b.y <= y && y <= b.y + b.height);
              if (!box || t.x < box.x || t.x + t.width > box.x + box.width) wrong.push(text.textContent);
            }
          }
          return wrong;
        }""")
        assert wrong == []


def test_everything_is_printed(browser: Any, report: Path, tmp_path: Path) -> None:
    folded = "document.querySelectorAll('details:not([open], .fd-block)').length"
    with Visit(browser) as visit:
        visit.page.goto(report.as_uri())
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert visit.page.evaluate(folded) == 0
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert visit.page.evaluate(folded) > 0
        paper = visit.page.pdf(path=tmp_path / "report.pdf")
        assert paper.startswith(b"%PDF") and len(paper) > 20_000
        assert paper.count(b"/Type /Page\n") <= 15, "hundreds of layers stay folded, and the table lists them"


def test_a_hostile_report_runs_nothing(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(render(everywhere(ATTACK), "html"), "utf-8")
    with Visit(browser) as visit:
        visit.page.goto(path.as_uri())
        visit.picture("hostile", whole=True)
        assert visit.page.title() != "1"
        assert visit.page.locator("img, a:not([href^='#']), iframe, svg[onload]").count() == 0
        assert visit.page.evaluate("document.scripts.length") == 1
        assert visit.requests == [path.as_uri()]
        assert not visit.troubles


def test_even_markup_that_got_through_would_run_nothing(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "through.html"
    text = render(Diagnosis(), "html")
    assert "<main>" in text
    attack = "<script>document.title=1</script><img src='x' onerror=\"document.title=1\">"
    path.write_text(text.replace("<main>", f"<main>{attack}"), "utf-8")
    with Visit(browser) as visit:
        visit.page.goto(path.as_uri())
        visit.page.wait_for_timeout(200)
        assert visit.page.title() != "1"
