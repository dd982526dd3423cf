"""Comments that silence a cause on a line."""

from __future__ import annotations

import textwrap

import pytest

from fitdoctor.diagnosis import Confidence, Finding, Location, Moment, Severity
from fitdoctor.source.module import Module
from fitdoctor.source.read import source_from_cells, source_from_text
from fitdoctor.source.suppressions import suppress, suppressions


def read(text: str) -> Module:
    return Module(source_from_text(textwrap.dedent(text), "train.py"))


def finding(line: int, id: str = "FIT203", end_line: int = 0, cell: int | None = None) -> Finding:
    return Finding(
        id,
        "labels-out-of-range" if id == "FIT203" else "other",
        Severity.ERROR,
        Confidence.LIKELY,
        Moment.SOURCE,
        "message",
        location=Location("train.py", line, end_line=end_line, cell=cell),
    )


@pytest.mark.parametrize(
    "comment",
    [
        "# fitdoctor: ignore[FIT203]",
        "#fitdoctor:ignore[fit203]",
        "# fitdoctor: ignore[FIT101, FIT203] because",
        "# fitdoctor: ignore[labels-out-of-range]",
        "# fitdoctor: ignore",
        "# noqa: FIT203",
        "# noqa: E501, FIT203",
        "# type: ignore # fitdoctor: ignore[FIT203]",
    ],
)
def test_comments_that_silence(comment: str) -> None:
    beside = read(f"x = 1\ny = f(x)  {comment}\nz = 2\n")
    assert suppress(beside, [finding(2)]).kept == ()
    assert suppress(beside, [finding(3)]).kept == (finding(3),)
    above = read(f"x = 1\n{comment}\ny = f(x)\nz = 2\n")
    assert suppress(above, [finding(3)]).kept == ()
    assert suppress(above, [finding(4)]).kept == (finding(4),)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# noqa: E501",
        "# fitdoctor: ignore[]",
        "# fitdoctor: ignore[FIT101]",
        "# fitdoctor",
        "# ignore[FIT203]",
    ],
)
def test_comments_that_do_not(comment: str) -> None:
    assert suppress(read(f"y = f(x)  {comment}\n"), [finding(1)]).kept == (finding(1),)


def test_a_comment_beside_code_does_not_reach_the_next_line() -> None:
    module = read("x = 1  # fitdoctor: ignore[FIT203]\ny = 2\n")
    assert suppress(module, [finding(2)]).kept == (finding(2),)


def test_a_comment_above_reaches_past_other_comments() -> None:
    module = read("# fitdoctor: ignore[FIT203]\n# another note\nx = 1\n")
    assert suppress(module, [finding(3)]).kept == ()


def test_the_last_line_of_a_call_counts_too() -> None:
    module = read("f(\n  1,\n)  # fitdoctor: ignore[FIT203]\n")
    assert suppress(module, [finding(1, end_line=3)]).kept == ()


def test_text_that_looks_like_a_comment_is_none() -> None:
    module = read("x = '# fitdoctor: ignore[FIT203]'\n")
    assert suppressions(module) == ()


def test_unused_ones_are_told_by_name() -> None:
    module = read(
        "x = 1  # fitdoctor: ignore[FIT203, FIT101]\ny = 1  # fitdoctor: ignore\nz = 1  # noqa: E501\n"
    )
    outcome = suppress(module, [finding(1)])
    assert outcome.suppressed == (finding(1),)
    assert [(unused.name, unused.location.line) for unused in outcome.unused] == [("FIT101", 1), ("", 2)]
    assert "FIT101" in outcome.unused[0].message


def test_comments_in_notebooks_count_in_their_cell() -> None:
    module = Module(source_from_cells(["x = 1", "%time x\ny = 2  # fitdoctor: ignore[FIT203]"], "train.py"))
    assert suppress(module, [finding(2, cell=2)]).kept == ()
    assert len(suppress(module, [finding(2, cell=1)]).kept) == 1


def test_findings_of_other_files_and_without_a_line_are_left_alone() -> None:
    from dataclasses import replace

    module = read("x = 1  # fitdoctor: ignore\n")
    elsewhere = replace(finding(1), location=Location("other.py", 1))
    nowhere = replace(finding(1), location=None)
    assert suppress(module, [elsewhere, nowhere]).kept == (elsewhere, nowhere)
