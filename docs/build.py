"""Builds the documentation: docs/*.md and a page for every cause, as HTML in site/."""

from __future__ import annotations

import difflib
import re
import shutil
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from fitdoctor import __version__
from fitdoctor.catalogue import FAMILIES, Cause, catalogue

HERE = Path(__file__).parent
SITE = HERE.parent / "site"
ORDER = ("index", "notebook", "configuration", "scan", "memory", "ci", "json", "architecture")

MOMENTS = {"source": "lint", "before_fit": "check", "after_failure": "explain", "while_training": "run"}


def main() -> None:
    """Write the whole site anew."""
    shutil.rmtree(SITE, ignore_errors=True)
    (SITE / "causes").mkdir(parents=True)
    template = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(
        (HERE / "page.html.jinja").read_text("utf-8")
    )
    pages = {path.stem: path.read_text("utf-8") for path in HERE.glob("*.md")}
    menu = [(name, title_of(pages[name])) for name in ORDER] + [("causes/index", "Causes")]
    pages["causes/index"] = index_of_causes()
    for cause in catalogue().values():
        pages[f"causes/{cause.id}"] = page_of(cause)
    for name, text in pages.items():
        body = html_of(text)
        check_links(name, text, pages)
        drawn = template.render(
            title=title_of(text),
            body=body,
            menu=menu,
            here=name,
            up="../" * name.count("/"),
            version=__version__,
        )
        (SITE / f"{name}.html").write_text(drawn, "utf-8")
    shutil.copytree(HERE / "images", SITE / "images")
    print(f"{len(pages)} pages in {SITE}")


def title_of(text: str) -> str:
    """The first heading of a page."""
    return text.lstrip("# ").split("\n", 1)[0].strip()


def html_of(text: str) -> Markup:
    """Markdown as HTML; raw HTML in it stays text, and links lead to the pages."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    drawn = str(markdown.render(text))
    return Markup(re.sub(r'href="(?!https?:)([^"#]+)\.md(#[^"]*)?"', r'href="\1.html\2"', drawn))


def check_links(name: str, text: str, pages: dict[str, str]) -> None:
    """Every link to a page leads to one."""
    folder = Path(name).parent
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\.md", text):
        resolved = (folder / target).as_posix()
        while "/../" in f"/{resolved}":
            resolved = re.sub(r"(^|/)[^/]+/\.\./", r"\1", resolved, count=1)
        if resolved not in pages:
            raise SystemExit(f"docs: `{name}` links to `{target}.md`, which is not there")


def index_of_causes() -> str:
    """The catalogue as tables, a family each."""
    lines = [
        "# Causes",
        "",
        "Every id means one cause, for ever. `fitdoctor explain ID` prints its page.",
        "",
    ]
    for digit, family in FAMILIES.items():
        causes = [cause for cause in catalogue().values() if cause.id[3] == digit]
        if not causes:
            continue
        lines += [
            f"## {family.capitalize()}",
            "",
            "| id | cause | severity | found by |",
            "| --- | --- | --- | --- |",
        ]
        for cause in causes:
            found = ", ".join(MOMENTS[moment.value] for moment in cause.moments)
            lines.append(
                f"| [{cause.id}]({cause.id}.md) | {cause.title} | {cause.severity.value} | {found} |"
            )
        lines.append("")
    return "\n".join(lines)


def page_of(cause: Cause) -> str:
    """A cause's own prose, with its two programs or the text that was recorded."""
    prose = cause.page.strip().split("\n", 1)
    raises = (cause.raises,) if isinstance(cause.raises, str) else cause.raises or ()
    shown = " or ".join(f"`{name}`" for name in raises) or "nothing: training runs, and the result is wrong"
    return "\n".join(
        [
            f"# {cause.id}: {cause.title}",
            "",
            f"`{cause.slug}`, {cause.severity.value}. Raises {shown}.",
            "",
            prose[1].strip() if len(prose) > 1 else "",
            "",
            *example_of(cause),
        ]
    )


def example_of(cause: Cause) -> list[str]:
    """The two programs of a cause; a recorded text where there are none."""
    if not (cause.folder / "broken.py").exists():
        text = sorted(cause.folder.glob("broken*.txt"))[0].read_text("utf-8")
        return ["## What it looks like", "", f"```\n{text.strip()}\n```", ""]
    marker = re.compile(r"[ \t]*# <[-~] FIT\d+.*$", re.MULTILINE)
    broken, fixed = (
        marker.sub("", (cause.folder / f"{name}.py").read_text("utf-8")) for name in ("broken", "fixed")
    )
    diff = "\n".join(
        difflib.unified_diff(broken.split("\n"), fixed.split("\n"), "broken.py", "fixed.py", n=2, lineterm="")
    )
    return [
        "## A program that fails so",
        "",
        f"```python\n{broken.strip()}\n```",
        "",
        "## The change that mends it",
        "",
        f"```diff\n{diff}\n```",
        "",
    ]


if __name__ == "__main__":
    main()
