"""Adds the generated pages and the playground's files to the site, and links the ids of causes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
# MkDocs loads this file by its path.
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from fitdoctor.catalogue import FAMILIES, catalogue  # noqa: E402
from fitdoctor.cli import COMMANDS  # noqa: E402
from scripts.documentation import (  # noqa: E402
    benchmark_page,
    cause_pages,
    command_pages,
    folklore_page,
    json_schema,
    message_index,
    page_programs,
    playground_files,
)

_FENCE = re.compile(r"^ {0,12}(```+|~~~+).*?^ {0,12}\1 *$", re.MULTILINE | re.DOTALL)
_NO_PROSE = re.compile(
    r"(`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\)|^#[^\n]*$|\A---\n.*?^---$)", re.MULTILINE | re.DOTALL
)
_ID = re.compile(r"\bFIT\d{3}\b")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add every page that is generated, and put it in the menu."""
    for path, text in generated_pages().items():
        files.append(File.generated(config, path, content=text))
    for path, source in playground_files.served().items():
        files.append(File.generated(config, path, abs_src_path=str(source)))
    messages = message_index.search_script()
    files.append(File.generated(config, "assets/recorded-messages.js", content=messages))
    for path, text in json_schema.texts().items():
        files.append(File.generated(config, path, content=text))
    _fill(config.nav, "Causes", _menu_of_causes())
    _fill(config.nav, "Commands", [f"commands/{name}.md" for name in COMMANDS])
    return files


def generated_pages() -> dict[str, str]:
    """Return the generated pages, as Markdown by path."""
    pages = {
        "causes/index.md": cause_pages.index(),
        "messages.md": message_index.page(),
        "folklore.md": folklore_page.page(),
        "reference/benchmarks.md": benchmark_page.page(),
        "contributing.md": (ROOT / "CONTRIBUTING.md").read_text("utf-8"),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text("utf-8"),
    }
    pages |= {f"causes/{cause.id}.md": cause_pages.page(cause) for cause in catalogue().values()}
    pages |= {f"commands/{name}.md": command_pages.page(name) for name in COMMANDS}
    return pages


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Add the programs behind a page, and link every id of a cause in its prose to the page of that cause."""
    up, name = "../" * page.file.src_uri.count("/"), Path(page.file.src_uri).stem
    markdown += page_programs.section(name)
    return linked(markdown, f"{up}causes/", here=name)


def linked(markdown: str, folder: str, here: str = "") -> str:
    """Return the page with links to causes, except in code, in headings and on the page of the cause itself."""

    def link(match: re.Match[str]) -> str:
        name = match[0]
        return f"[{name}]({folder}{name}.md)" if name in catalogue() and name != here else name

    parts, end = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [_in_prose(markdown[end : fence.start()], link), fence[0]]
        end = fence.end()
    return "".join([*parts, _in_prose(markdown[end:], link)])


def _in_prose(text: str, link: Any) -> str:
    pieces = _NO_PROSE.split(text)
    return "".join(piece if number % 2 else _ID.sub(link, piece) for number, piece in enumerate(pieces))


def _menu_of_causes() -> list[Any]:
    menu: list[Any] = ["causes/index.md"]
    for digit, family in FAMILIES.items():
        pages = [f"causes/{cause.id}.md" for cause in catalogue().values() if cause.id[3] == digit]
        if pages:
            menu.append({family.capitalize(): pages})
    return menu


def _fill(menu: Any, name: str, entries: list[Any]) -> None:
    """Set the entries of a section of the menu, wherever it is."""
    for item in menu:
        if isinstance(item, dict):
            for key, below in item.items():
                if key == name:
                    item[key] = entries
                elif isinstance(below, list):
                    _fill(below, name, entries)
