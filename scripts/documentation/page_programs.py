"""The programs behind the hand-written pages: each shows that what a page says about TensorFlow is true; the tests run them.

`docs/programs/PAGE/NAME.py` belongs to the page of that name. Its docstring holds sentences or table rows of the page, word
for word. A program without a docstring is only shown on the page, and has a test of its own.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "programs"

HEAD = """
## {title}

What this page says about TensorFlow is shown by {shown}. The tests run them on TensorFlow 2.21 with Keras 3.15 (and Keras 2,
where the page names it), on a CPU.
"""


def programs(page: str = "*") -> list[Path]:
    """Return the programs that back a page, or all of them."""
    return [path for path in sorted(FOLDER.glob(f"{page}/*.py")) if claims(path)]


def claims(path: Path) -> list[str]:
    """Return what a program shows, in the words of its page."""
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return [" ".join(paragraph.split()) for paragraph in docstring.split("\n\n") if paragraph]


def code(path: Path) -> str:
    """Return a program without its docstring."""
    text = path.read_text("utf-8")
    end = ast.parse(text).body[0].end_lineno if claims(path) else 0
    return "\n".join(text.split("\n")[end:]).strip()


def words(markdown: str) -> str:
    """Return the text of a page as claims quote it: on one line, without the targets of its links."""
    return " ".join(re.sub(r"\[([^\[\]]*)\]\([^)]*\)", r"\1", markdown).split())


def section(page: str) -> str:
    """Return the end of a page: its programs, folded; "" if it has none."""
    parts = []
    for path in programs(page):
        shown = "".join(f"    - {claim.replace(' | ', ': ')}\n" for claim in claims(path))
        body = "\n".join(f"    {line}" if line else "" for line in code(path).split("\n"))
        parts.append(f'??? example "{path.name}"\n\n{shown}\n    ```python\n{body}\n    ```\n')
    if not parts:
        return ""
    if page.startswith("FIT"):
        head = HEAD.format(title="More programs", shown="the two programs above and by these")
    else:
        head = HEAD.format(title="Programs behind this page", shown="these programs")
    return head + "\n" + "\n".join(parts)
