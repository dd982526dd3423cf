"""What the pages say about TensorFlow is shown by programs that run, and the code that they show is code that runs."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.config import Config, find_config
from scripts.documentation.cause_pages import printed
from scripts.documentation.page_programs import DOCS, FOLDER, claims, programs, words
from tests.support.diagnosed import lint, run_plain
from tests.support.fork_server import ForkServer

ROOT = DOCS.parent
PAGES = sorted(DOCS.rglob("*.md"))
SHOWN = {
    "configuration/suppressed.py",
    "first_repair/train.py",
    "memory/api.py",
    "notebook/results.py",
    "scan/dispatcher.py",
    "scan/worker.py",
    "team/meant.py",
}
"""Programs that a page shows; each has a test here."""
MESSAGE = re.compile(r"^\w+(?:Error|Warning): |^[^=(]*\b\w{3,} [a-z]{2,} [a-z]{2,} \w{2,}\b")
"""What a page quotes as a message: the type of an exception and its text, or a sentence. Code has no four words in a row."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TF_CPP_MIN_LOG_LEVEL": "3", "COLUMNS": "88"}


def name(path: Path) -> str:
    return path.relative_to(FOLDER).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of every block of code on a page."""
    return re.findall(r"^ *```(\S*)[^\n]*\n(.*?)^ *```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


# --- pages and programs -------------------------------------------------------------------------------------------


def test_every_program_backs_a_page_or_is_shown_and_tested() -> None:
    every = {name(path) for path in FOLDER.rglob("*.py")}
    assert every == {name(path) for path in programs()} | SHOWN


def page_of(program: Path) -> str:
    """The page that a program belongs to: one of the hand-written ones, or that of a cause."""
    folder = program.parent.name
    if folder in catalogue():
        return catalogue()[folder].page
    [page] = [page for page in PAGES if page.stem == folder]
    return page.read_text("utf-8")


@pytest.mark.parametrize("program", programs(), ids=name)
def test_the_page_says_what_the_program_shows(program: Path) -> None:
    text = words(page_of(program))
    assert not [claim for claim in claims(program) if claim not in text]
    tree = ast.parse(program.read_text("utf-8"))
    assert (
        any(isinstance(node, ast.Assert) for node in ast.walk(tree)) or program.with_suffix(".txt").exists()
    )


def plain(text: str) -> str:
    """The words of a message, without quotes and with one digit for all numbers."""
    return " ".join(re.sub(r"\d+", "0", re.sub(r"[`'\"]|\x1b\[\d*m", "", text)).split()).lower()


@functools.cache
def recorded() -> str:
    """Everything that a program printed in a recorded run."""
    texts = [f"{seen['text']}\n{seen['message']}" for runs in printed().values() for seen in runs.values()]
    texts += [path.read_text("utf-8") for path in (ROOT / "tests/corpus/tracebacks").glob("*.txt")]
    texts += [
        path.read_text("utf-8") for cause in catalogue().values() for path in cause.folder.glob("*.txt")
    ]
    return plain("\n".join(texts))


@pytest.mark.parametrize("cause", catalogue().values(), ids=lambda cause: cause.id)
def test_a_message_on_the_page_of_a_cause_was_printed_by_a_program(cause: Cause) -> None:
    shown = recorded() + plain("\n".join(claim for path in programs() for claim in claims(path)))
    page = " ".join(cause.page.split())
    quotes = [quote for _ticks, quote in re.findall(r"(`+)(.+?)\1(?!`)", page) if MESSAGE.search(quote)]
    missing = [
        quote
        for quote in quotes
        for piece in map(plain, re.split(r"…|\.\.\.", re.sub(r"^\w+(?:Error|Warning): ", "", quote)))
        if len(piece.split()) > 2 and piece not in shown
    ]
    assert not missing or re.search(r"not run here|were not run", page), missing


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_python_on_a_page_comes_from_a_program_that_is_run(page: Path) -> None:
    for language, text in blocks(page):
        if language == "python":
            included = re.fullmatch(r'--8<-- "([^":]+)(:\w+)?"\n', text)
            assert included and included[1] in SHOWN, text
        else:
            assert language in ("console", "text", "ipython", "toml", "yaml", "json", ""), language


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_settings_on_a_page_are_valid(page: Path, tmp_path: Path) -> None:
    for number, (_language, text) in enumerate(each for each in blocks(page) if each[0] == "toml"):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
        assert find_config(folder) != Config()


# --- they run -----------------------------------------------------------------------------------------------------


@pytest.mark.tf
@pytest.mark.xdist_group("folklore")
@pytest.mark.parametrize(
    "program", [*programs(), FOLDER / "memory/api.py", FOLDER / "notebook/results.py"], ids=name
)
def test_it_runs(program: Path, server: ForkServer) -> None:
    ended = run_plain(server, program, timeout=180)
    assert ended.status == 0, ended.stderr[-2000:]
    printed = program.with_suffix(".txt")
    if printed.exists():
        assert ended.stdout == printed.read_text("utf-8")


@pytest.mark.tf
@pytest.mark.xdist_group("folklore")
@pytest.mark.parametrize("program", ["configuration/suppressed.py", "team/meant.py"])
def test_a_suppressed_finding_is_one(program: str, server: ForkServer, tmp_path: Path) -> None:
    copy = tmp_path / "train.py"
    shutil.copy(FOLDER / program, copy)
    (tmp_path / "rows.csv").write_text("1,2,3\n" * 60)
    (tmp_path / "targets.csv").write_text("1\n" * 60)
    assert run_plain(server, copy).status == 0
    assert not lint(copy).findings
    text = copy.read_text("utf-8")
    named = re.findall(r"# fitdoctor: ignore\[(\S+)\]", text)
    copy.write_text(re.sub(r"# fitdoctor: ignore.*", "", text))
    found = [each for finding in lint(copy).findings for each in (finding.id, finding.slug)]
    assert set(named) <= set(found)


def command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fitdoctor", *words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.tf
@pytest.mark.xdist_group("folklore")
def test_the_first_repair_goes_as_the_guide_says(server: ForkServer, tmp_path: Path) -> None:
    shutil.copy(FOLDER / "first_repair/train.py", tmp_path)
    failed = run_plain(server, tmp_path / "train.py").stderr
    assert "Graph execution error" in failed
    assert 30 <= failed.count("\n") <= 60 and "rng.integers" not in failed
    stopped = server.command(tmp_path, "train.py", environment=ENVIRONMENT)
    assert stopped.returncode == 1 and "label 10 appears in row 3" in " ".join(stopped.stderr.split())
    assert "certain" in stopped.stderr or "likely" not in stopped.stderr
    assert server.command(tmp_path, "fix", "--write", "train.py", environment=ENVIRONMENT).returncode == 0
    done = server.command(tmp_path, "train.py", environment=ENVIRONMENT)
    assert done.stdout == "trained\n" and "no problems found" in done.stderr


@pytest.mark.tf
def test_dispatcher_and_worker_serve_a_scan(tmp_path: Path) -> None:
    def free_port() -> str:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return str(probe.getsockname()[1])

    def listens(port: str) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", int(port))) == 0

    (tmp_path / "input_pipeline.py").write_text(
        "import tensorflow as tf\n\ntrain = tf.data.Dataset.range(1000).map(lambda n: tf.cast(n, tf.float32)).batch(10)\n"
    )
    first, second = free_port(), free_port()
    started = [
        subprocess.Popen([sys.executable, str(FOLDER / "scan" / program), *words], env=ENVIRONMENT)
        for program, words in (
            ("dispatcher.py", [first]),
            ("worker.py", [f"127.0.0.1:{first}", "127.0.0.1", second]),
        )
    ]
    try:
        deadline = time.monotonic() + 90
        while not listens(second) and time.monotonic() < deadline:
            time.sleep(0.2)
        address = f"grpc://127.0.0.1:{first}"
        done = command(
            "scan", "input_pipeline:train", "--service", address, "--output-format", "json", folder=tmp_path
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["scan"]["data"][0]["rows"] == 1000
    finally:
        for process in started:
            process.kill()
            process.wait()
