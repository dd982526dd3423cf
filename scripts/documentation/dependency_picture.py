"""Draws the packages of fitdoctor and their dependencies, as the imports are.

    python -m scripts.documentation.dependency_picture

writes docs/images/packages.svg; a test compares it with the imports.
"""

from __future__ import annotations

import ast
import html
from collections.abc import Iterator
from pathlib import Path

from fitdoctor.report.layered import laid_out

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/fitdoctor"
PICTURE = ROOT / "docs/images/packages.svg"

PARTS = {
    "ways in": "cli, api, integrations",
    "repair": "finds and proves repairs",
    "runner": "runs the user's program",
    "scan": "reads all the data",
    "report": "draws a diagnosis",
    "diagnose": "one diagnosis per moment",
    "engine_inputs": "facts of a moment as cases",
    "engine": "runs the judges, ranks",
    "catalogue": "the causes",
    "collect": "living objects to facts",
    "failure": "reads exceptions",
    "source": "reads Python",
    "memory": "simulates a step",
    "edits": "text edits and fixes",
    "facts": "plain, frozen data",
    "diagnosis": "findings, evidence, fixes",
}
"""The parts in the picture. What only helps them (JSON, records, settings, tables) is left out."""
WAYS_IN = ("cli", "api", "integrations")
SHOWS_ITSELF = {("diagnosis", "report"), ("memory", "report"), ("scan", "report")}
"""A result that is printed asks its renderer then, inside a function."""
_WIDTH, _HEIGHT, _MARGIN = 176.0, 44.0, 12.0


def dependencies() -> set[tuple[str, str]]:
    """Return (part, part it imports) for all imports that run."""
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        part = _part(path.relative_to(PACKAGE).parts[0].removesuffix(".py"))
        if part in PARTS and not path.name.startswith(("broken", "fixed")):
            found |= {
                (part, other) for other in map(_part, _imported(path)) if other in PARTS and other != part
            }
    return found - SHOWS_ITSELF


def _part(name: str) -> str:
    return "ways in" if name in WAYS_IN else name


def _imported(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text("utf-8"))
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node not in for_types and node.module:
            words = node.module.split(".")
            if words[0] == "fitdoctor":
                yield from [words[1]] if len(words) > 1 else [alias.name for alias in node.names]


def direct(edges: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the edges that no path through other parts implies."""

    def reaches(start: str, end: str) -> bool:
        waiting, seen = [other for one, other in edges if one == start and other != end], set()
        while waiting:
            current = waiting.pop()
            if current == end:
                return True
            if current not in seen:
                seen.add(current)
                waiting += [other for one, other in edges if one == current]
        return False

    return sorted(edge for edge in edges if not reaches(*edge))


def picture() -> str:
    """Return the picture as SVG."""
    edges = direct(dependencies())
    layout = laid_out(dict.fromkeys(_ordered(edges), (_WIDTH, _HEIGHT)), edges)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_MARGIN:g} {-_MARGIN:g} '
        f'{layout.width + 2 * _MARGIN:.0f} {layout.height + 2 * _MARGIN:.0f}" role="img" '
        'font-family="system-ui, sans-serif" text-anchor="middle">',
        "<title>The packages of fitdoctor; a line leads from a package down to one that it imports</title>",
        "<style>rect{fill:#fff;stroke:#57606a}polyline{fill:none;stroke:#8c959f}.n{font-weight:600;fill:#1f2328}"
        ".w{font-size:11px;fill:#57606a}@media(prefers-color-scheme:dark){rect{fill:#22272e;stroke:#8c959f}"
        "polyline{stroke:#636c76}.n{fill:#e6edf3}.w{fill:#9ea7b3}}</style>",
    ]
    for _one, _other, points in layout.edges:
        course = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        lines.append(f'<polyline points="{course}"/>')
    for name, (x, y) in layout.places.items():
        lines += [
            f'<rect x="{x - _WIDTH / 2:.0f}" y="{y:.0f}" width="{_WIDTH:g}" height="{_HEIGHT:g}" rx="6"/>',
            f'<text class="n" x="{x:.0f}" y="{y + 18:.0f}" font-size="14">{name}</text>',
            f'<text class="w" x="{x:.0f}" y="{y + 34:.0f}">{html.escape(PARTS[name])}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def _ordered(edges: list[tuple[str, str]]) -> list[str]:
    """Return the parts so that no edge points back."""
    ordered: list[str] = []
    while len(ordered) < len(PARTS):
        free = [
            part
            for part in PARTS
            if part not in ordered and all(one in ordered for one, other in edges if other == part)
        ]
        if not free:
            raise ValueError(f"packages import each other in a circle: {sorted(set(PARTS) - set(ordered))}")
        ordered += free
    return ordered


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
