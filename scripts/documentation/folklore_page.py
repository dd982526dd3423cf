"""The page about folklore, from programs that show what really happens; the tests run them."""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs/folklore"

HEAD = """\
# Folklore

Answers on forums, blog posts and language models repeat explanations of TensorFlow errors that are not true, or no longer
true. Each claim below comes with a program that shows what really happens. The tests run all of them on TensorFlow 2.21
with Keras 3.15, on a CPU.
"""


def page() -> str:
    """Return the page as Markdown."""
    parts = [HEAD]
    for path in programs():
        claim, truth, code = parsed(path)
        parts.append(f"## “{claim}”\n\n{truth}\n\n```python\n{code}\n```\n")
    return "\n".join(parts)


def programs() -> list[Path]:
    """Return the programs, in the order of the page."""
    return sorted(FOLDER.glob("*.py"))


def parsed(path: Path) -> tuple[str, str, str]:
    """Return the claim, what is true instead, and the code of a program: the parts of its docstring, and the rest."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    docstring = ast.get_docstring(tree) or ""
    claim, _, truth = docstring.partition("\n\n")
    end = tree.body[0].end_lineno or 0
    code = "\n".join(text.split("\n")[end:]).strip()
    return " ".join(claim.split()).rstrip("."), truth.strip(), code
