"""Writes down which causes judge when, and what they find in source by: `make index`.

Only the causes are imported that a moment, or the text and the facts of a program, call for; they are known from this
index. It is derived from the judges: their moments, and for those of source the facts that each asks for, what it is
`doubting`, and the words that it `mentions`. A cause that is not in it is always imported.
"""

from __future__ import annotations

from pathlib import Path

from fitdoctor.catalogue import ROOT, Cause, Judge, catalogue
from fitdoctor.diagnosis import Moment

INDEX = Path(ROOT, "judge_index.py")

HEAD = '''"""Which causes judge when, and by what in the source: written by `make index` from the causes, not by hand."""

INDEX: dict[str, tuple[str, tuple[str, ...], list[tuple[set[str], tuple[str, ...]]]]] = {
'''
TAIL = '''}
"""By id: the folder, the moments, and for each judge of source the facts and doubts that it needs, and words of which
the text must have one."""
'''


def text() -> str:
    """The module as it should be."""
    return HEAD + "".join(map(entry, catalogue().values())) + TAIL


def entry(cause: Cause) -> str:
    """The line of one cause."""
    judges = (judge for judge in cause.judges if judge.moment is Moment.SOURCE)
    needs = ", ".join(dict.fromkeys(map(_needs, judges)))
    folder = "/".join(cause.folder.parts[-2:])
    moments = tuple(moment.value for moment in cause.moments)
    return f"    {cause.id!r}: ({folder!r}, {moments!r}, [{needs}]),\n"


def _needs(judge: Judge) -> str:
    facts = ", ".join(map(repr, sorted(judge.needs | judge.doubts)))
    return f"({{{facts}}}, {judge.words!r})"


if __name__ == "__main__":
    INDEX.write_text(text(), "utf-8")
