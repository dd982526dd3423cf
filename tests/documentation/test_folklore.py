"""Every claim on the page about folklore is refuted by a program that runs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts.documentation.folklore_page import page, parsed, programs
from tests.support.diagnosed import run_plain
from tests.support.fork_server import ForkServer


@pytest.mark.tf
@pytest.mark.xdist_group("folklore")
@pytest.mark.parametrize("program", programs(), ids=lambda path: path.stem)
def test_what_happens_is_what_the_page_says(program: Path, server: ForkServer) -> None:
    ended = run_plain(server, program)
    assert ended.status == 0, ended.stderr[-2000:]


@pytest.mark.parametrize("program", programs(), ids=lambda path: path.stem)
def test_a_program_asserts_something_and_says_what_is_true(program: Path) -> None:
    claim, truth, code = parsed(program)
    assert claim and truth
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(code)))


def test_the_page_has_every_claim() -> None:
    text = page()
    assert len(programs()) >= 16
    assert all(parsed(program)[0] in text for program in programs())
