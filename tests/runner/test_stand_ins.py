"""Repaired copies are read instead of the user's files."""

from __future__ import annotations

import builtins
import io
import json
import sys
from pathlib import Path

import pytest

from fitdoctor.runner.stand_ins import stand_in


def test_a_configuration_file_is_read_from_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, copy = tmp_path / "base.json", tmp_path / ".fitdoctor-1-base.py"
    own.write_text('{"size": 28}')
    copy.write_text('{"size": 32}')
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(builtins, "open", builtins.open)
    monkeypatch.setattr(io, "open", io.open)
    stand_in({str(own): str(copy)})
    with open(own) as file:
        assert json.load(file) == {"size": 32}
    assert json.loads(own.read_text()) == {"size": 32}
    with open(own, "a") as file:
        file.write("\n")
    assert copy.read_text() == '{"size": 32}'
