"""Edits reach the user's files and nothing else changes."""

from __future__ import annotations

import json
import subprocess

import pytest

from fitdoctor.diagnosis import Edit, Location
from fitdoctor.repair import writing
from fitdoctor.repair.files import CannotEdit, Change, edited, may_edit, project_root, read_file
from fitdoctor.repair.notebooks import script_of, with_edits
from fitdoctor.repair.writing import back_up, write


def edit(path, line, column, end_column, text, cell=None):
    return Edit(Location(str(path), line, column, line, end_column, cell), text)


def change(path, new):
    return Change(read_file(str(path)), new)


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("x = 1\ny = 2\n")
    return path


# --- plain files --------------------------------------------------------------------------------------------------


def test_an_edit_changes_its_span_only(script):
    file = read_file(str(script))
    assert edited(file, file.text, [edit(script, 2, 5, 6, "3")]) == "x = 1\ny = 3\n"


def test_overlapping_edits_are_refused(script):
    file = read_file(str(script))
    with pytest.raises(CannotEdit, match="are not compatible"):
        edited(file, file.text, [edit(script, 2, 1, 6, "3"), edit(script, 2, 5, 6, "4")])


def test_an_edit_that_breaks_the_file_is_refused(script):
    file = read_file(str(script))
    with pytest.raises(CannotEdit, match="not parse"):
        edited(file, file.text, [edit(script, 2, 5, 6, "(")])


def test_a_file_that_does_not_parse_is_never_read_for_edits(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("x = (\n")
    with pytest.raises(CannotEdit, match="does not parse"):
        read_file(str(path))


def test_a_character_that_the_encoding_lacks_is_refused(tmp_path):
    path = tmp_path / "old.py"
    path.write_bytes(b"# coding: latin-1\nx = '\xe9'\n")
    with pytest.raises(CannotEdit, match="lacks a character"):
        read_file(str(path)).encoded("x = '→'")


def test_only_files_of_the_project_may_be_edited(tmp_path):
    project = tmp_path / "project"
    installed = project / ".venv/lib/python3.11/site-packages/lib.py"
    installed.parent.mkdir(parents=True)
    own, outside = project / "src.py", tmp_path / "other.py"
    for path in (installed, own, outside):
        path.write_text("")
    (project / "pyproject.toml").write_text("")
    (project / "scripts").mkdir()
    root = project_root(str(project / "scripts/train.py"))
    assert root == str(project)
    assert may_edit(str(own), root)
    assert not may_edit(str(outside), root)
    assert not may_edit(str(installed), root)


def test_without_a_mark_the_project_is_the_scripts_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("fitdoctor.repair.files._ROOTS", ("no-such-mark",))
    assert project_root(str(tmp_path / "train.py")) == str(tmp_path)


# --- notebooks ----------------------------------------------------------------------------------------------------

LISTED = """{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["# Übung"]},
  {
   "cell_type": "code",
   "execution_count": 3,
   "metadata": {"a":1.50},
   "outputs": [{"data": {"image/png": "iVBOR\\/w0KGgo="}}],
   "source": [
    "%matplotlib inline\\n",
    "x = 1"
   ]
  },
  {"cell_type": "code", "metadata": {}, "outputs": [], "source": "y = 'é'\\nz = 2\\n"}
 ],
 "nbformat": 4,   "nbformat_minor": 5
}
"""


def test_a_notebook_keeps_every_byte_outside_the_edited_cell():
    new = with_edits(LISTED, [edit("n.ipynb", 2, 5, 6, "10\nw = 0", cell=1)])
    assert new == LISTED.replace('"x = 1"', '"x = 10\\n",\n    "w = 0"')


def test_a_cell_that_is_one_string_stays_one():
    new = with_edits(LISTED, [edit("n.ipynb", 2, 5, 6, "3", cell=2)])
    assert new == LISTED.replace("z = 2", "z = 3")


def test_several_cells_at_once():
    new = with_edits(LISTED, [edit("n.ipynb", 2, 5, 6, "7", cell=2), edit("n.ipynb", 2, 5, 6, "8", cell=1)])
    assert new == LISTED.replace("z = 2", "z = 7").replace("x = 1", "x = 8")
    assert json.loads(new)["nbformat"] == 4


@pytest.mark.parametrize("cell", [None, 0, 3])
def test_an_edit_without_its_cell_is_refused(cell):
    with pytest.raises(ValueError, match="cell"):
        with_edits(LISTED, [edit("n.ipynb", 1, 1, 1, "", cell=cell)])


def test_the_cells_are_one_script_whose_lines_lead_back():
    script = script_of(LISTED)
    lines = script.text.split("\n")
    assert lines[script.starts[0]] == "x = 1"
    assert script.place(lines.index("x = 1") + 1) == (1, 2)
    assert script.place(lines.index("z = 2") + 1) == (2, 2)
    compile(script.text, "n", "exec")


def test_a_future_import_stays_the_first_statement():
    notebook = '{"cells": [{"cell_type": "code", "source": "from __future__ import annotations\\n"}]}'
    compile(script_of(notebook).text, "n", "exec")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"cells": [', '{"cells": [{"cell_type": "code"}]}', "nonsense"]
)
def test_what_is_no_notebook_is_refused(text, tmp_path):
    path = tmp_path / "n.ipynb"
    path.write_text(text)
    with pytest.raises(CannotEdit):
        read_file(str(path))


def test_the_diff_of_a_notebook_is_of_its_cells(tmp_path):
    path = tmp_path / "n.ipynb"
    path.write_text(LISTED)
    file = read_file(str(path))
    diff = Change(file, with_edits(LISTED, [edit("n.ipynb", 2, 5, 6, "10", cell=1)])).diff("n.ipynb")
    assert "-x = 1\n+x = 10\n" in diff and "# cell 1" in diff and "iVBOR" not in diff


# --- writing ------------------------------------------------------------------------------------------------------


def test_a_backup_stays(script):
    assert write([change(script, "x = 9\n")]) == [(str(script), f"{script}.orig")]
    assert script.read_text() == "x = 9\n"
    assert (script.parent / "train.py.orig").read_text() == "x = 1\ny = 2\n"


def test_a_backup_is_never_overwritten(script):
    (script.parent / "train.py.orig").write_text("precious")
    assert back_up(str(script), b"new") == f"{script}.orig.1"
    assert (script.parent / "train.py.orig").read_text() == "precious"


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def test_git_is_backup_enough_only_while_the_file_is_clean(script):
    git(script.parent, "init", "-q")
    git(script.parent, "add", "train.py")
    git(script.parent, "commit", "-qm", "first")
    assert write([change(script, "x = 9\n")]) == [(str(script), "")]
    assert not (script.parent / "train.py.orig").exists()
    assert write([change(script, "x = 10\n")]) == [(str(script), f"{script}.orig")]


def test_a_file_that_changed_meanwhile_is_not_overwritten(script):
    stale = change(script, "x = 9\n")
    script.write_text("x = 'mine'\n")
    with pytest.raises(CannotEdit, match="has changed"):
        write([stale])
    assert script.read_text() == "x = 'mine'\n"
    assert not (script.parent / "train.py.orig").exists()


def test_when_one_of_several_files_cannot_be_written_none_is(script, monkeypatch):
    other = script.parent / "model.py"
    other.write_text("a = 1\n")
    put = writing._put

    def failing(path, raw):
        if path == str(other) and raw == b"a = 2\n":
            raise OSError(28, "No space left on device", path)
        put(path, raw)

    monkeypatch.setattr(writing, "_put", failing)
    with pytest.raises(CannotEdit, match="No space left"):
        write([change(script, "x = 9\n"), change(other, "a = 2\n")])
    assert (script.read_text(), other.read_text()) == ("x = 1\ny = 2\n", "a = 1\n")
    assert sorted(path.name for path in script.parent.iterdir()) == ["model.py", "train.py"]


def test_the_mode_of_the_file_is_kept(script):
    script.chmod(0o750)
    write([change(script, "x = 9\n")])
    assert script.stat().st_mode & 0o777 == 0o750


def test_a_hard_link_stays_one(script):
    twin = script.parent / "twin.py"
    twin.hardlink_to(script)
    write([change(script, "x = 9\n")])
    assert twin.read_text() == "x = 9\n"
