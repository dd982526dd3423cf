"""A small cause of our own, so that the command line is tested apart from the catalogue."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fitdoctor.catalogue import Cause
from fitdoctor.cli import main
from fitdoctor.diagnosis import Location, Severity
from fitdoctor.edits import Edit, fix


class Module:
    """Stands for the analysis of a file in annotations; only its name is read."""


def bad_cause() -> Cause:
    """Blames every `BAD` in a file; `GOOD` mends it."""
    cause = Cause(id="FIT501", slug="variable-made-in-function", severity=Severity.ERROR)

    @cause.in_source
    def judge(module: Module):
        for number, line in enumerate(module.text.split("\n"), start=1):
            column = line.find("BAD") + 1
            if column:
                place = Location(module.path, number, column, number, column + 3)
                mended = fix("write `GOOD`", (Edit(place, "GOOD"),))
                severity = Severity.WARNING if "warn" in line else Severity.ERROR
                yield cause.finding("`BAD` is bad", place, mended, severity=severity)

    return cause


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch) -> Path:
    """What was found clean in one test is not known in the next."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """An empty folder, where `BAD` is what is wrong."""
    monkeypatch.chdir(tmp_path)
    cause = bad_cause()
    monkeypatch.setattr("fitdoctor.engine.causes_at", lambda moments: {cause.id: cause})
    monkeypatch.setattr("fitdoctor.catalogue.source_causes", lambda texts, kinds: {cause.id: cause})
    monkeypatch.setattr("fitdoctor.cli.lint_files.TELLING", ("bad", "fitdoctor"))
    return tmp_path


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


@pytest.fixture
def run(capsys) -> Callable[..., Ran]:
    """Runs a command in this process."""

    def run(*words: object) -> Ran:
        status = main([str(word) for word in words])
        printed = capsys.readouterr()
        return Ran(status, printed.out, printed.err)

    return run
