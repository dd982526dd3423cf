"""What `lint` and `explain` say about every program of the corpus is what was recorded, and repaired programs are silent.

After a change that is meant: `python -m scripts.corpus --record`, and review the diff of tests/corpus/verdicts.tsv.
"""

from __future__ import annotations

import pytest

from scripts.corpus import CORPUS, changes, is_right, name_of, programs, read_verdicts, verdict

GROUPS = sorted(
    {name_of(path)[: len("failing/fit1")] for path in programs() if path.parent.name == "failing"}
)


@pytest.mark.parametrize("group", [*GROUPS, "fixed/", "working/"])
def test_verdicts_are_as_recorded(group: str) -> None:
    chosen = [path for path in programs() if name_of(path).startswith(group)]
    found = {name_of(path): {column: verdict(path, column) for column in ("lint", "text")} for path in chosen}
    changed = [
        f"{name} ({column}): {before} -> {now}"
        for name, column, before, now in changes(found, read_verdicts())
    ]
    assert not changed, "\n" + "\n".join(changed)


def test_no_alarm_on_repaired_and_working_programs_is_recorded() -> None:
    """A note (info) may be recorded for a working program; nothing else."""
    loud = {
        name: said
        for name, said in read_verdicts().items()
        if not name.startswith("failing/") and not is_right(CORPUS / name, said["lint"])
    }
    assert set(loud) <= NOTES, loud


NOTES = {"working/whole_queries_are_shuffled.py", "fixed/whole_queries_are_shuffled.py"}


def test_every_program_is_recorded_once() -> None:
    assert set(read_verdicts()) == {name_of(path) for path in programs()}
