"""Writes down which causes reading source may find, and when: `make index`.

`lint` imports only the causes that the text and the facts of a program call for, and knows them from this index. It is
derived from the causes: their `words`, and the facts that their judges of source ask for.
"""

from __future__ import annotations

from pathlib import Path

from fitdoctor.catalogue import ROOT, Cause, catalogue
from fitdoctor.diagnosis import Moment

INDEX = Path(ROOT, "source_index.py")

HEAD = '''"""Which causes reading source may find: written by `make index` from the causes, not by hand."""

INDEX: dict[str, tuple[str, tuple[str, ...], tuple[frozenset[str], ...]]] = {
'''


def text() -> str:
    """The module as it should be."""
    return (
        HEAD
        + "".join(_entry(cause) for cause in catalogue().values() if Moment.SOURCE in cause.moments)
        + (
            '}\n"""By id: the folder, words of which the text must have one, and what facts each judge needs."""\n'
        )
    )


def _entry(cause: Cause) -> str:
    folder = "/".join(cause.folder.parts[-2:])
    wanted = dict.fromkeys(
        tuple(sorted(kind for _name, kind, optional in judge.wants if not optional))
        for judge in cause.judges
        if judge.moment is Moment.SOURCE
    )
    facts = "".join(f"frozenset({{{', '.join(map(_quoted, kinds))}}}), " for kinds in wanted)
    words = "".join(f"{_quoted(word)}, " for word in cause.words)
    return f"    {_quoted(cause.id)}: ({_quoted(folder)}, ({words.rstrip(' ')}), ({facts.rstrip(' ')})),\n"


def _quoted(word: str) -> str:
    return f'"{word}"'


if __name__ == "__main__":
    INDEX.write_text(text(), "utf-8")
