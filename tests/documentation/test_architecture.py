"""The architecture page names modules and functions that exist, and its picture shows the imports as they are."""

from __future__ import annotations

import ast
import re

import pytest

from scripts.documentation.dependency_picture import PACKAGE, PICTURE, ROOT, direct, picture

PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
WALKS = PAGE[PAGE.index("## One `lint`") : PAGE.index("## What every cause must prove")]


def test_the_picture_is_current() -> None:
    assert PICTURE.read_text("utf-8") == picture(), "python -m scripts.documentation.dependency_picture"


def test_an_edge_that_a_longer_path_implies_is_left_out() -> None:
    assert direct({("a", "b"), ("b", "c"), ("a", "c")}) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(\w+/[\w/]*\w\.py)`", PAGE))))
def test_a_module_that_the_page_names_exists(path: str) -> None:
    assert (PACKAGE / path).exists() or (ROOT / path).exists()


def test_the_functions_that_the_walks_name_exist() -> None:
    named = set(re.findall(r"\(`(\w+)`", WALKS) + re.findall(r"`(examine_\w+)`", WALKS))
    defined = {
        node.name
        for path in PACKAGE.rglob("*.py")
        if not path.name.startswith(("broken", "fixed"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert named and named <= defined
