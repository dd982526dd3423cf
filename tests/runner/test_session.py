"""What the child tells reaches the parent whole, whatever happens in between."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fitdoctor.diagnosis import Diagnosis, Location, Script
from fitdoctor.runner.saved import default_path, load, save
from fitdoctor.runner.session import (
    Options,
    Recorder,
    read_now,
    read_options,
    read_pieces,
    write_options,
)


def test_options_come_through(tmp_path: Path) -> None:
    options = Options(script="a b.py", arguments=("--x", "ü"), ignore=("FIT203",), smoke=True, parent=7)
    write_options(tmp_path, options)
    assert read_options(tmp_path) == options


def test_pieces_come_in_order_and_broken_ones_are_left_out(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    for number in range(12):
        recorder.write("call", number=number)
    (tmp_path / "000005-call.json").write_text('{"kind": "call", "num')
    assert [piece["number"] for piece in read_pieces(tmp_path)] == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]


def test_the_call_under_way_is_the_last_one_said(tmp_path: Path) -> None:
    assert read_now(tmp_path) == {}
    recorder = Recorder(tmp_path)
    recorder.now(method="fit", line=3)
    recorder.now(method="evaluate", line=4)
    assert read_now(tmp_path) == {"method": "evaluate", "line": 4}
    recorder.now()
    assert read_now(tmp_path) == {}


def test_places_stay_right_when_the_program_changes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere, pieces = tmp_path / "home", tmp_path / "elsewhere", tmp_path / "pieces"
    for folder in (home, elsewhere, pieces):
        folder.mkdir()
    monkeypatch.chdir(home)
    recorder = Recorder(pieces)
    monkeypatch.chdir(elsewhere)
    recorder.write("call", places=[Location("near.py", 1), Location(str(home / "train.py"), 2)])
    paths = [place["path"] for place in read_pieces(pieces)[0]["places"]]
    assert paths == [str(elsewhere / "near.py"), "train.py"]


def test_a_session_folder_that_is_gone_does_not_hurt_the_program(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    recorder = Recorder(folder)
    folder.rmdir()
    recorder.write("call", number=1)
    recorder.now(method="fit")


def test_a_saved_run_is_read_again(tmp_path: Path) -> None:
    diagnosis = Diagnosis(script=Script(exit_code=1))
    path = tmp_path / "new folder" / "run.json"
    save(path, diagnosis, ({"kind": "call", "number": 1}, {"kind": "crash", "where": "x", "error": "y"}), 1.5)
    assert load(path) == diagnosis
    plain = json.loads(path.read_text())
    assert [piece["number"] for piece in plain["facts"]] == [1]
    assert [piece["kind"] for piece in plain["events"]] == ["crash"]
    assert os.listdir(path.parent) == ["run.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema_version": 1, "findings": [{"id"', "truncated"),
        ('{"schema_version": 99}', "schema version 99"),
        ("[]", "not a fitdoctor diagnosis"),
        ('{"a": 1}', "not a fitdoctor diagnosis"),
        ("hello", "not JSON"),
        ('{"schema_version": 1, "findings": 3}', "expected a list"),
    ],
)
def test_what_is_no_saved_run_is_refused_with_a_reason(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        load(path)


def test_the_last_run_is_kept_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_path() == Path("/somewhere/fitdoctor/last-run.json")
