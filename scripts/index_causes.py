"""Writes down which causes reading source may find, and when: `make index`.

`lint` imports only the causes that the text and the facts of a program call for, and knows them from this index. It is
derived from the judges of source: the facts that each asks for, and the words that it `mentions`. A cause that is not in
it is always imported.
"""

from __future__ import annotations

from pathlib import Path

from fitdoctor.catalogue import ROOT, Cause, Judge, catalogue
from fitdoctor.diagnosis import Moment

INDEX = Path(ROOT, "source_index.py")

HEAD = '''"""Which causes reading source may find: written by `make index` from the causes, not by hand."""

INDEX: dict[str, tuple[str, list[tuple[set[str], tuple[str, ...]]]]] = {
'''
TAIL = '''}
"""By id: the folder, and for each judge the facts that it needs, and words of which the text must have one."""
'''


def text() -> str:
    """The module as it should be."""
    return HEAD + "".join(map(entry, catalogue().values())) + TAIL


def entry(cause: Cause) -> str:
    """The line of one cause."""
    judges = (judge for judge in cause.judges if judge.moment is Moment.SOURCE)
    needs = ", ".join(dict.fromkeys(map(_needs, judges)))
    folder = "/".join(cause.folder.parts[-2:])
    return f"    {cause.id!r}: ({folder!r}, [{needs}]),\n"


def _needs(judge: Judge) -> str:
    facts = sorted(repr(kind) for _name, kind, optional in judge.wants if not optional)
    return f"({{{', '.join(facts)}}}, {judge.words!r})"


if __name__ == "__main__":
    INDEX.write_text(text(), "utf-8")
