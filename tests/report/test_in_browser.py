"""The report in a real browser: it loads without errors or network, folds, copies, and runs nothing of a hostile report.

Chromium is driven over its debugging pipe, so that nothing but the browser is needed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from fitdoctor.diagnosis import Diagnosis, Invocation
from fitdoctor.records import replace
from fitdoctor.report import render
from tests.report.samples import EVERYTHING
from tests.report.test_flow import layer, residual, way
from tests.report.test_html import component, everywhere

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome on this machine"),
    pytest.mark.xdist_group("browser"),
]

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip
ATTACK = (
    '</text></svg></pre></title></style><script>document.title=1</script><img src=x onerror="document.title=1">'
    '<svg onload="document.title=1"><a href="javascript:document.title=1">x</a>\'" `${document.title=1}`'
)


class Browser:
    """A browser with one page, and all that it reported."""

    def __init__(self, process: subprocess.Popen[bytes], sent: int, received: int) -> None:
        self.process, self.sent, self.received = process, sent, received
        self.number, self.session, self.events, self.rest = 0, "", [], b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.sent, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def next(self):
        while b"\0" not in self.rest:
            read = os.read(self.received, 1 << 20)
            assert read, "the browser ended"
            self.rest += read
        message, _end, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def run(self, script: str):
        """The value of an expression in the page."""
        found = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, path, *, theme="light", width=1000):
        self.events.clear()
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
        )
        self.ask("Page.navigate", url=path.as_uri())
        self.run(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))"
        )

    def complaints(self):
        """What went to the console, what was raised, and every request but that for the page."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            match event.get("method"):
                case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                    found.append(json.dumps(params)[:500])
                case "Network.requestWillBeSent" if not params["request"]["url"].startswith("file:"):
                    found.append(params["request"]["url"])
        return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    profile = tmp_path_factory.mktemp("profile")
    to_browser, sent = os.pipe()
    received, from_browser = os.pipe()

    def wire() -> None:  # Chromium reads commands from 3 and writes answers to 4
        os.dup2(to_browser, 103)
        os.dup2(from_browser, 104)
        os.dup2(103, 3)
        os.dup2(104, 4)

    process = subprocess.Popen(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        preexec_fn=wire,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Browser(process, sent, received)
    finally:
        with contextlib.suppress(OSError):
            os.write(sent, b'{"id": 0, "method": "Browser.close"}\0')
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(sent)
        os.close(received)


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


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 400])
def test_it_loads_in_both_themes_and_fits_a_phone(browser, report, theme, width):
    browser.open(report, theme=theme, width=width)
    assert browser.complaints() == []
    assert browser.run("document.documentElement.scrollWidth") <= width
    back = browser.run(BRIGHTNESS.format(".fitdoctor-card", "backgroundColor"))
    text = browser.run(BRIGHTNESS.format(".fitdoctor-card", "color"))
    assert (back > 200 and text < 80) if theme == "light" else (back < 60 and text > 200)
    red = browser.run("getComputedStyle(document.querySelector('rect.fd-break')).stroke")
    assert red == ("rgb(196, 38, 46)" if theme == "light" else "rgb(255, 123, 114)")


def test_text_of_the_picture_stays_in_its_boxes_and_boxes_stay_apart(browser, report):
    browser.open(report)
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    wrong = browser.run("""(() => {
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
    })()""")
    assert wrong == []


def test_blocks_open_and_the_break_is_in_sight(browser, report):
    browser.open(report)
    seen = "[...document.querySelectorAll('svg.fd-flow text')].find(each => each.textContent === '{}').checkVisibility()"
    assert browser.run(seen.format("rejects (None, 3)"))
    assert not browser.run(seen.format("Dense stage0_block0_a"))
    browser.run(
        "[...document.querySelectorAll('.fd-block > summary')].find(each => each.textContent.startsWith('stage0')).click()"
    )
    assert browser.run(seen.format("Dense stage0_block0_a"))


def test_the_copy_button_copies_the_fix(browser, report):
    browser.open(report)
    browser.run(
        "window.copied = '';"
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { copied = text } } })"
    )
    button = "document.querySelector('.fd-copy button')"
    assert browser.run(f"{button}.textContent") == "Copy"
    assert browser.run(f"{button}.click(), new Promise(done => setTimeout(() => done(copied), 100))") == (
        "model.fit(x_train, y_train - 1, epochs=5)"
    )
    assert browser.run(f"{button}.textContent") == "Copied"


def test_everything_is_printed(browser, report):
    browser.open(report)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("document.querySelectorAll('details:not([open])').length") == 0
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run("document.querySelectorAll('details:not([open])').length") > 0


def test_a_hostile_report_runs_nothing(browser, tmp_path):
    path = tmp_path / "hostile.html"
    path.write_text(render(everywhere(ATTACK), "html"), "utf-8")
    browser.open(path)
    assert browser.run("document.title") != "1"
    assert browser.complaints() == []
    assert browser.run("document.querySelectorAll('img, a, iframe, svg[onload]').length") == 0
    assert browser.run("document.scripts.length") == 1


def test_even_markup_that_got_through_would_run_nothing(browser, tmp_path):
    path = tmp_path / "through.html"
    page = render(Diagnosis(), "html")
    assert "<main>" in page
    attack = "<script>document.title=1</script><img src='x' onerror=\"document.title=1\">"
    path.write_text(page.replace("<main>", f"<main>{attack}"), "utf-8")
    browser.open(path)
    assert browser.run("new Promise(done => setTimeout(() => done(document.title), 200))") != "1"
