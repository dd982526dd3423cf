"""What the pages tell people to type exists, and prints what they show."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fitdoctor.cli import COMMANDS

pytest.importorskip("mkdocs", reason="the documentation needs `pip install '.[docs]'`")
from scripts.documentation.hook import linked

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_every_option_on_a_page_exists(page: Path) -> None:
    for block in blocks(page.read_text("utf-8"), "console"):
        for line in re.findall(r"^\S* ?\d* ?\$ (?:.*\| )?fitdoctor (.+)$", block, re.MULTILINE):
            words = line.split("#")[0].split()
            command = words[0] if words[0] in COMMANDS else "run"
            parser = importlib.import_module(f"fitdoctor.cli.{command}").make_parser()
            if command in ("run", "fix"):  # what follows the program is its own
                script = next(
                    (at for at, word in enumerate(words) if word.endswith((".py", ".ipynb"))), len(words)
                )
                words = words[:script]
            given = {word.split("=")[0] for word in words if word.startswith("--")}
            assert given <= set(parser._option_string_actions), line


def test_the_first_repair_prints_what_the_guide_shows(tmp_path: Path) -> None:
    guide = (DOCS / "guides/first_repair.md").read_text("utf-8")
    shutil.copy(DOCS / "programs/first_repair/train.py", tmp_path)
    shown = next(
        block for block in blocks(guide, "console") if block.startswith("$ fitdoctor lint train.py\n")
    )
    done = subprocess.run(
        [sys.executable, "-m", "fitdoctor", "lint", "--no-cache", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "88", "PYTHONPATH": str(DOCS.parent / "src")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == shown.split("\n", 1)[1]


def test_ids_become_links_in_prose_only() -> None:
    text = "# FIT203\n\nSee FIT203, `FIT203` and [FIT203](x.md).\n\n```python\n# FIT203\n```\n\nFIT999 is not a cause.\n"
    assert linked(text, "causes/") == text.replace("See FIT203", "See [FIT203](causes/FIT203.md)")
    assert linked("FIT203", "", here="FIT203") == "FIT203"
