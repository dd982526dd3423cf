"""Lays out the folder of a new cause: `make cause FAMILY=labels SLUG=my-slug`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# The package beside this script, whichever is installed.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from fitdoctor.catalogue import FAMILIES, RETIRED, ROOT, Cause, catalogue

CAUSE = '''"""{title}.

## What happens

What the user sees: the exception with its message, or what goes wrong in silence.

## Why

What it comes from.

## Fix

What to change, by case.

## Known limits

Where it cannot be told, and why.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause
from fitdoctor.diagnosis import Evidence, Finding, Severity
from fitdoctor.edits import fix
from fitdoctor.source.module import Module

CAUSE = Cause(id="{id}", slug="{slug}", severity=Severity.ERROR, raises="ValueError")


@CAUSE.rule(
    "word",  # the source contains one of these words if the rule applies
    says="the words that only this cause brings",
    types=("ValueError",),
    problem="what is wrong, if the source does not show the place",
    remedy="what to do then",
    subject="what it is about",
)
def rule_name(module: Module) -> Iterator[Finding]:
    """Find the calls that fail."""
    for site in module.calls_to("keras.layers.Dense"):
        yield CAUSE.finding(
            "what is wrong, observed against expected",
            module.location(site.node),
            Evidence("what was seen", "observed", "expected"),
            fix("what to do"),
            subject="what it is about",
        )
'''

BROKEN = '''"""A complete program of at most 40 lines that fails in this way alone."""

import numpy as np
from tensorflow import keras

x = np.random.default_rng(0).random((64, 8), dtype="float32")
y = np.zeros(64)

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=1, verbose=0)  # <- {id}
'''


def main(family: str, slug: str) -> int:
    """Make the folder, and say what is left to do."""
    problem = _problem(family, slug)
    if problem:
        print(f"new_cause: {problem}", file=sys.stderr)
        return 2
    identity = next_free_id(family, catalogue())
    folder = lay_out(Path(ROOT), family, slug, identity)
    print(
        f"{identity} {slug} in {folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder}"
    )
    print("  broken.py  the smallest whole program that fails so; mark the line to blame")
    print("  fixed.py   the smallest change of it that runs")
    print("  cause.py   the page, and the rules or judges that recognize it")
    print(f"then: .venv/bin/python -m pytest tests/catalogue -k {identity}")
    return 0


def _problem(family: str, slug: str) -> str:
    if family not in FAMILIES.values():
        return f"unknown family `{family}`: choose one of {', '.join(FAMILIES.values())}"
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", slug):
        return f"`{slug}` is no slug: lower case words joined by hyphens, such as `labels-out-of-range`"
    taken = next((cause for cause in catalogue().values() if cause.slug == slug), None)
    return f"`{slug}` is taken by {taken.id}" if taken else ""


def next_free_id(family: str, causes: dict[str, Cause]) -> str:
    """The first id of the family that is above every one that is, or was, in use."""
    digit = next(digit for digit, name in FAMILIES.items() if name == family)
    used = [int(name[4:]) for name in (*causes, *RETIRED) if name.startswith(f"FIT{digit}")]
    return f"FIT{digit}{max(used, default=0) + 1:02d}"


def lay_out(root: Path, family: str, slug: str, identity: str) -> Path:
    """Write the three files."""
    folder = root / family / slug.replace("-", "_")
    folder.mkdir(parents=True)
    title = slug.replace("-", " ").capitalize()
    broken = BROKEN.format(id=identity)
    (folder / "cause.py").write_text(CAUSE.format(id=identity, slug=slug, title=title), "utf-8")
    (folder / "broken.py").write_text(broken, "utf-8")
    (folder / "fixed.py").write_text(broken.replace(f"  # <- {identity}", ""), "utf-8")
    return folder


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make cause FAMILY=labels SLUG=my-slug")
    sys.exit(main(sys.argv[1], sys.argv[2]))
