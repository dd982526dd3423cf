"""`fitdoctor lint` as people expect of a linter."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from fitdoctor.catalogue import catalogue


def write(path, text="x = BAD\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def paths(done):
    return [line.split(":")[0] for line in done.out.splitlines()]


def concise(run, *words):
    return run("lint", "--output-format", "concise", *words)


# --- what is read --------------------------------------------------------------------------------------------------


def test_a_finding_ends_with_1_and_a_clean_file_with_0(run, project):
    write(project / "a.py")
    write(project / "b.py", "x = 1\n")
    assert run("lint", "a.py").status == 1
    done = run("lint", "b.py")
    assert (done.status, done.out) == (0, "no problems found (1 file)\n")


def test_folders_are_walked_in_a_stable_order(run, project):
    for name in ("z.py", "a.py", "pkg/m.py", "pkg/notes.txt", "b.py"):
        write(project / name)
    assert paths(concise(run)) == ["a.py", "b.py", "pkg/m.py", "z.py"]
    assert paths(concise(run, "pkg", "a.py", ".")) == ["a.py", "b.py", "pkg/m.py", "z.py"]


def test_a_file_that_is_named_is_read_whatever_it_is_called(run, project):
    write(project / "script", "x = BAD\n")
    write(project / ".venv" / "a.py")
    assert paths(concise(run, "script", ".venv/a.py")) == [".venv/a.py", "script"]


def test_globs_are_expanded(run, project):
    for name in ("src/train_a.py", "src/deep/train_b.py", "src/other.py"):
        write(project / name)
    assert paths(concise(run, "src/**/train_*.py")) == ["src/deep/train_b.py", "src/train_a.py"]
    assert run("lint", "none/*.py").status == 2
    write(project / "venv" / "train_c.py")
    (project / ".git").mkdir()
    write(project / ".gitignore", "deep/\n")
    assert paths(concise(run, "**/train_*.py")) == ["src/train_a.py"]


def test_gitignore_is_honoured(run, project):
    (project / ".git").mkdir()
    write(project / ".gitignore", "/old/\n*_generated.py\n!keep_generated.py\n# comment\n\ndata/**/raw\n")
    write(project / "pkg" / ".gitignore", "local.py\n!*_generated.py\n")
    ignored = ["old/a.py", "x_generated.py", "data/1/2/raw/a.py", "pkg/local.py"]
    read = ["keep_generated.py", "local.py", "pkg/old/a.py", "pkg/y_generated.py"]
    for name in ignored + read:
        write(project / name)
    assert paths(concise(run)) == sorted(read)


def test_gitignore_of_the_folders_above_holds_too(run, project, monkeypatch):
    (project / ".git").mkdir()
    write(project / ".gitignore", "skip.py\n")
    write(project / "pkg" / "skip.py")
    write(project / "pkg" / "take.py")
    monkeypatch.chdir(project / "pkg")
    assert paths(concise(run)) == ["take.py"]


def test_links_in_circles_end(run, project):
    write(project / "pkg" / "a.py")
    (project / "pkg" / "loop").symlink_to(project / "pkg")
    (project / "pkg" / "self.py").symlink_to(project / "pkg" / "self.py")
    assert paths(concise(run)) == ["pkg/a.py"]


def test_a_file_is_read_once_however_it_is_named(run, project):
    write(project / "a.py")
    (project / "b.py").symlink_to(project / "a.py")
    assert len(paths(concise(run, "a.py", "./a.py", ".", str(project / "a.py")))) == 1


def test_standard_input_is_read(run, project, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"x = BAD\n")))
    done = concise(run, "-", "--stdin-filename", "pkg/new.py")
    assert done.status == 1 and paths(done) == ["pkg/new.py"]


def test_a_notebook_is_told_by_cell_and_line(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cause = catalogue()["FIT201"]
    broken = (cause.folder / "broken.py").read_text("utf-8")
    marked = [n for n, line in enumerate(broken.split("\n"), start=1) if f"# <- {cause.id}" in line]
    cells = [
        {"cell_type": "markdown", "source": ["# A study"]},
        {"cell_type": "code", "source": ["%pip install keras\n", "!ls\n", "x = 1\n"]},
        {"cell_type": "code", "source": broken.splitlines(keepends=True)},
    ]
    write(tmp_path / "study.ipynb", json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}))
    done = run("lint", "study.ipynb", "--select", cause.id, "--output-format", "json")
    place = done.json["findings"][0]["location"]
    assert (place["path"], place["cell"], place["line"]) == ("study.ipynb", 2, marked[0])


def test_an_error_that_the_program_expects_is_not_told(run, project):
    write(project / "a.py", "import pytest\n\nwith pytest.raises(ValueError):\n    x = BAD\n")
    write(project / "b.py", "with self.assertRaisesRegex(ValueError, 'no'):\n    x = BAD\ny = BAD\n")
    assert run("lint", "a.py").status == 0
    assert [line.split(": ")[0] for line in concise(run, "b.py").out.splitlines()] == ["b.py:3:5"]


# --- what cannot be read -------------------------------------------------------------------------------------------


def test_a_syntax_error_is_told_with_its_line_and_the_others_go_on(run, project):
    write(project / "a.py", "x = 1\ny = (\n")
    write(project / "b.py")
    done = concise(run)
    assert done.status == 2
    assert "a.py:2: " in done.err
    assert paths(done) == ["b.py"]


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00\x01\x02\xff" * 50,
        b"x = '\xff\xfe'\n",
        b"# coding: klingon\nx = 1\n",
        b"(" * 5000,
        b"x = 1\x00\n",
    ],
    ids=["binary", "not utf-8", "unknown encoding", "deeply nested", "nul"],
)
def test_what_is_not_python_is_one_clear_line(run, project, raw):
    (project / "a.py").write_bytes(raw)
    done = run("lint", "a.py")
    assert done.status == 2
    assert done.err.startswith("fitdoctor: a.py") and done.err.count("\n") == 1


@pytest.mark.parametrize(
    "raw", [b"", b"\n\n", b"\xef\xbb\xbfx = 1\n", b"# -*- coding: latin-1 -*-\nx = '\xe9'\n"]
)
def test_empty_files_and_other_encodings_are_fine(run, project, raw):
    (project / "a.py").write_bytes(raw)
    assert run("lint", "a.py").status == 0


def test_a_folder_without_python_is_an_empty_document(run, project):
    (project / "pictures").mkdir()
    done = run("lint", "pictures", "--output-format", "json")
    assert done.status == 0 and json.loads(done.out)["findings"] == []
    assert run("lint", "pictures").out == ""


def test_a_long_file_is_read(run, project):
    write(project / "a.py", "x = 1\n" * 100_000 + "y = BAD\n")
    assert concise(run, "a.py").out.startswith("a.py:100001:5: error")


def test_a_broken_notebook_is_one_clear_line(run, project):
    write(project / "a.ipynb", '{"cells": [')
    done = run("lint", "a.ipynb")
    assert done.status == 2 and done.err.count("\n") == 1


def test_a_file_that_cannot_be_read_is_not_called_clean(run, project):
    write(project / "a.py", "def f(:\n")
    write(project / "b.py", "x = 1\n")
    assert run("lint", "a.py").out == ""
    assert run("lint", "a.py", "b.py").out == "no problems found in the other file\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_an_unreadable_file_is_one_clear_line(run, project):
    write(project / "a.py").chmod(0)
    assert run("lint", "a.py").status == 2


def test_what_does_not_exist_is_said(run, project):
    done = run("lint", "missing.py")
    assert (done.status, done.err) == (2, "fitdoctor: `missing.py` does not exist\n")


def test_a_folder_without_python_is_said(run, project):
    done = run("lint")
    assert done.status == 0 and "no Python file" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["-", "a.py"],
        ["a.py", "--stdin-filename", "b.py"],
        ["a.py", "--write-baseline"],
        ["a.py", "--select", "FIT999"],
        ["a.py", "--jobs", "-1"],
        ["a.py", "--keras", "4"],
    ],
)
def test_options_that_do_not_go_together_are_refused(run, project, words):
    write(project / "a.py")
    done = run("lint", *words)
    assert done.status == 2 and done.err.startswith("fitdoctor: ")


# --- what counts ---------------------------------------------------------------------------------------------------


def test_select_and_ignore(run, project):
    write(project / "a.py")
    assert run("lint", "a.py", "--ignore", "FIT501").status == 0
    assert run("lint", "a.py", "--ignore", "FIT2,variable-made-in-function").status == 0
    assert run("lint", "a.py", "--select", "FIT5").status == 1
    assert run("lint", "a.py", "--select", "FIT2").status == 0


def test_fail_on(run, project):
    write(project / "a.py", "x = BAD  # warn\n")
    assert run("lint", "a.py").status == 0
    assert run("lint", "a.py", "--fail-on", "warning").status == 1
    write(project / "pyproject.toml", '[tool.fitdoctor]\nfail-on = "warning"\n')
    assert run("lint", "a.py").status == 1
    assert run("lint", "a.py", "--fail-on", "error").status == 0


def test_exit_zero(run, project):
    write(project / "a.py")
    done = run("lint", "a.py", "--exit-zero")
    assert done.status == 0 and "FIT501" in done.out


def test_the_configuration_holds_for_its_own_folder(run, project):
    write(project / "one" / "a.py")
    write(project / "two" / "a.py")
    write(project / "one" / "pyproject.toml", '[tool.fitdoctor]\nignore = ["FIT501"]\n')
    assert paths(concise(run, "one", "two")) == ["two/a.py"]


def test_exclude_and_per_file_ignores(run, project):
    write(
        project / "pyproject.toml",
        '[tool.fitdoctor]\nexclude = ["old/"]\n[tool.fitdoctor.per-file-ignores]\n"tests/" = ["FIT501"]\n',
    )
    for name in ("a.py", "old/a.py", "tests/deep/a.py", "pkg/old/a.py"):
        write(project / name)
    assert paths(concise(run)) == ["a.py"]
    assert paths(concise(run, "old/a.py")) == ["old/a.py"]


def test_a_broken_configuration_is_one_clear_line(run, project):
    write(project / "a.py")
    write(project / "pyproject.toml", "[tool.fitdoctor]\nignor = []\n")
    done = run("lint", "a.py")
    assert done.status == 2 and "did you mean `ignore`" in done.err


def test_a_suppressed_finding_is_not_told(run, project):
    write(project / "a.py", "x = BAD  # fitdoctor: ignore[FIT501]\n# noqa: FIT501\ny = BAD\nz = BAD\n")
    done = concise(run, "a.py")
    assert done.out.startswith("a.py:4:5: error FIT501") and done.out.count("\n") == 1
    assert done.err == ""


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# fitdoctor: ignore[FIT902]", "no FIT902 found on this line\n"),
        ("# fitdoctor: ignore[no-such-cause]", "unknown cause `no-such-cause`"),
        ("# fitdoctor: ignore", "no problem found on this line; remove it unless `fitdoctor run` needs it"),
        (
            "# fitdoctor: ignore[FIT203]",
            "no FIT203 found on this line; remove it unless `fitdoctor run` needs it",
        ),
        ("# fitdoctor: ignore[FIT001]", ""),
        ("# noqa: E501", ""),
    ],
    ids=["unused", "unknown", "every cause", "seen by run too", "seen only by run", "another tool's"],
)
def test_an_unused_suppression_is_reported_where_lint_looked_for_the_cause(run, project, comment, said):
    write(project / "a.py", f"x = 1  {comment}\n")
    done = run("lint", "a.py")
    assert done.status == 0
    assert done.err.startswith(f"fitdoctor: a.py:1: unused suppression: {said}" if said else "")
    assert bool(done.err) is bool(said)
    assert run("lint", "a.py").err == done.err


def test_causes_that_are_not_checked_have_no_unused_suppressions(run, project):
    write(project / "a.py", "x = 1  # fitdoctor: ignore[FIT902]\ny = 1  # fitdoctor: ignore[FIT203]\n")
    done = run("lint", "a.py", "--ignore", "FIT902")
    assert "FIT203" in done.err and "FIT902" not in done.err


def test_statistics_count_by_cause(run, project):
    write(project / "a.py", "x = BAD\ny = BAD\n")
    assert run("lint", "--statistics").out == "2  FIT501  variable-made-in-function\n"


def test_a_baseline_leaves_out_what_is_known_and_no_more(run, project):
    write(project / "a.py", "x = BAD\n")
    saved = run("lint", "--baseline", "known.json", "--write-baseline")
    assert saved.status == 0
    assert run("lint", "--baseline", "known.json").status == 0
    write(project / "a.py", "\n\n\nx = BAD\n")
    assert run("lint", "--baseline", "known.json").status == 0
    write(project / "a.py", "x = BAD\nx = BAD\n")
    assert len(paths(concise(run, "--baseline", "known.json"))) == 1
    write(project / "a.py", "z = BAD\n")
    assert run("lint", "--baseline", "known.json").status == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"baseline_version": 9}', '{"baseline_version": 1, "findings": [1]}']
)
def test_a_broken_baseline_is_one_clear_line(run, project, text):
    write(project / "a.py")
    write(project / "known.json", text)
    done = run("lint", "--baseline", "known.json")
    assert done.status == 2 and "known.json" in done.err


# --- output --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fmt", ["text", "concise", "json", "github", "sarif", "html"])
def test_every_format_to_a_file(run, project, fmt):
    write(project / "a.py")
    done = run("lint", "a.py", "--output-format", fmt, "--output-file", "out")
    assert (done.status, done.out) == (1, "")
    assert "FIT501" in (project / "out").read_text("utf-8")


def test_json_has_the_findings(run, project):
    write(project / "a.py")
    done = run("lint", "a.py", "--output-format", "json")
    (finding,) = done.json["findings"]
    assert finding["location"]["line"] == 1 and finding["moment"] == "source"


def test_a_file_that_cannot_be_written_is_said(run, project):
    write(project / "a.py")
    done = run("lint", "a.py", "--output-file", "no/such/folder/out")
    assert done.status == 2 and "cannot write" in done.err


def test_colour_is_asked_for(run, project, monkeypatch):
    write(project / "a.py")
    assert "\x1b[" not in run("lint", "a.py").out
    assert "\x1b[" in run("lint", "a.py", "--color", "always").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("lint", "a.py").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run("lint", "a.py").out


# --- repairs -------------------------------------------------------------------------------------------------------


def test_diff_shows_and_writes_nothing(run, project):
    path = write(project / "a.py", "x = BAD\ny = 1\n")
    done = run("lint", "a.py", "--diff")
    assert done.status == 1
    assert "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-x = BAD\n+x = GOOD\n y = 1\n" in done.out
    assert path.read_text("utf-8") == "x = BAD\ny = 1\n"


def test_fix_writes_what_is_safe(run, project):
    path = write(project / "a.py", "x = BAD\ny = BAD\n")
    done = run("lint", "a.py", "--fix")
    assert done.status == 0 and "fixed 2 findings" in done.err
    assert path.read_text("utf-8") == "x = GOOD\ny = GOOD\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"a = 1\r\nx = BAD\r\n\r\n",
        b"# coding: latin-1\nn = '\xe9'; x = BAD\n",
        b"\xef\xbb\xbfa = 1\nx = BAD\n",
        b"a = '\x0c'\nx = BAD",
        b"a = 1\r\nb = 2\nx = BAD\n",
    ],
    ids=["crlf", "latin-1", "bom", "no last newline", "mixed"],
)
def test_fix_changes_nothing_else(run, project, raw):
    (project / "a.py").write_bytes(raw)
    assert run("lint", "a.py", "--fix").status == 0
    assert (project / "a.py").read_bytes() == raw.replace(b"BAD", b"GOOD")


def test_fix_never_touches_a_file_that_does_not_parse(run, project):
    path = write(project / "a.py", "x = BAD\ny = (\n")
    assert run("lint", "a.py", "--fix").status == 2
    assert path.read_text("utf-8") == "x = BAD\ny = (\n"


# --- what was found clean before -------------------------------------------------------------------------------------


def entries(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def looked_at(monkeypatch):
    """Counts how often files are judged."""
    from fitdoctor.cli import lint

    looks = []
    judge = lint.lint_files

    def counted(*arguments):
        looks.append(arguments)
        return judge(*arguments)

    monkeypatch.setattr(lint, "lint_files", counted)
    return looks


def test_a_clean_file_is_judged_once(run, project, looked_at):
    write(project / "a.py", "x = 1\n")
    first, second = run("lint"), run("lint")
    assert first == second and first.out == "no problems found (1 file)\n"
    assert len(looked_at) == 1


def test_a_finding_is_never_remembered(run, project, own_cache):
    write(project / "a.py")
    assert [run("lint").status, run("lint").status] == [1, 1]
    assert entries(own_cache) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda project: write(project / "a.py", "x = 2\n"),
        lambda project: write(project / "b.py", "x = 1\n"),
        lambda project: write(project / "pyproject.toml", "[tool.fitdoctor]\nkeras = 2\n"),
        lambda project: os.utime(project / "a.py", (1, 1)),
    ],
    ids=["text", "another file", "configuration", "time"],
)
def test_a_change_is_looked_at(run, project, looked_at, change):
    write(project / "a.py", "x = 1\n")
    run("lint")
    change(project)
    run("lint")
    assert len(looked_at) == 2


@pytest.mark.parametrize(
    "words",
    [["--no-cache"], ["--verbose"], ["--output-format", "json"], ["--statistics"], ["--select", "FIT5"]],
)
def test_other_wishes_are_looked_at(run, project, looked_at, words):
    write(project / "a.py", "x = 1\n")
    run("lint")
    run("lint", *words)
    assert len(looked_at) == 2


def test_a_change_of_our_own_code_is_looked_at(run, project, looked_at, monkeypatch):
    write(project / "a.py", "x = 1\n")
    run("lint")
    monkeypatch.setattr("fitdoctor.cli.known_clean._stamp", lambda: "edited")
    run("lint")
    assert len(looked_at) == 2


def test_a_cache_that_cannot_be_written_is_no_matter(run, project, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(write(project / "a.py", "x = 1\n")))
    assert run("lint").status == 0


# --- many files ----------------------------------------------------------------------------------------------------


def test_many_files_on_several_cores_give_what_one_core_gives(tmp_path):
    example = next(
        cause for cause in catalogue().values() if "source" in {moment.value for moment in cause.moments}
    )
    broken = (example.folder / "broken.py").read_text("utf-8")
    for number in range(45):
        write(tmp_path / f"train_{number:02}.py", broken if number % 3 else "x = 1\n")

    def lint(jobs):
        command = [sys.executable, "-m", "fitdoctor", "lint", "--output-format", "json", "--jobs", jobs]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout

    assert lint("1") == lint("2") != ""


# --- standard input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "mended"),
    [
        (b"x = BAD\r\ny = BAD\r\n", b"x = GOOD\r\ny = GOOD\r\n"),
        (b"x = 1", b"x = 1"),
        (b"x = BAD\ny = (\n", b"x = BAD\ny = (\n"),
        ("# -*- coding: latin-1 -*-\nx = BAD  # é\n".encode("latin-1"), None),
        (b"\xff\xfe\x00", b"\xff\xfe\x00"),
    ],
)
def test_what_comes_in_is_given_back_mended_and_nothing_of_it_is_lost(project, raw, mended):
    command = [sys.executable, "-c", _LINTS_BAD, "lint", "-", "--fix"]
    done = subprocess.run(command, input=raw, capture_output=True, check=False)
    assert done.stdout == (raw.replace(b"BAD", b"GOOD") if mended is None else mended), done.stderr


def test_a_diff_of_what_comes_in(project):
    command = [sys.executable, "-c", _LINTS_BAD, "lint", "-", "--diff", "--stdin-filename", "new.py"]
    done = subprocess.run(command, input=b"x = BAD\n", capture_output=True, check=False)
    assert b"-x = BAD\n+x = GOOD\n" in done.stdout and b"new.py" in done.stdout
    assert done.returncode == 1


_LINTS_BAD = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.dirname(os.path.dirname(__file__)))!r})
import fitdoctor.catalogue, fitdoctor.cli.lint_files
from tests.cli.conftest import bad_cause
from fitdoctor.cli import main
cause = bad_cause()
fitdoctor.catalogue.source_causes = lambda texts, kinds: {{cause.id: cause}}
fitdoctor.cli.lint_files.TELLING = ("bad", "fitdoctor")
sys.exit(main(sys.argv[1:]))
"""


# --- what is installed here ------------------------------------------------------------------------------------------

TRAINS = """import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.ones((8, 3)), np.ones((8, 1)))
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Makes it look as if these distributions, and no others, were installed."""

    def install(*distributions):
        folder = tmp_path / "site"
        for distribution in distributions:
            name, version = distribution.split("-")
            metadata = folder / f"{distribution}.dist-info" / "METADATA"
            metadata.parent.mkdir(parents=True)
            metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
        monkeypatch.setattr(sys, "path", [str(folder), *sys.path])

    return install


@pytest.mark.parametrize(
    ("distributions", "told"),
    [
        (["tensorflow-2.16.2", "numpy-2.1.0", "keras-3.4.1"], "was built for NumPy 1"),
        (["tensorflow_cpu-2.17.0", "numpy-1.26.4", "keras-2.15.0"], "the package `keras` is Keras 2"),
        (["tensorflow-2.16.2", "numpy-1.26.4", "keras-3.4.1"], ""),
        (["tensorflow-2.18.0", "numpy-2.0.2", "keras-3.6.0"], ""),
    ],
)
def test_what_cannot_be_imported_here_is_told_once(run, tmp_path, installed, distributions, told):
    installed(*distributions)
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(TRAINS, "utf-8")
    ran = run("lint", "--output-format", "concise", str(tmp_path / "one.py"), str(tmp_path / "two.py"))
    assert ran.out.count("FIT901") == bool(told)
    assert told in ran.out
    if told:
        # Who says which Keras it is for says that it is not for what is installed here.
        ran = run("lint", "--keras", "3", "--output-format", "concise", str(tmp_path / "one.py"))
        assert "FIT901" not in ran.out


# --- settings and files --------------------------------------------------------------------------------------------


def test_a_named_configuration_replaces_the_one_in_pyproject(run, project):
    write(project / "a.py")
    write(project / "pyproject.toml", '[tool.fitdoctor]\nignore = ["FIT501"]\n')
    write(project / "ci" / "strict.toml", 'exclude = ["old/"]\n')
    write(project / "old" / "b.py")
    assert run("lint").status == 0
    assert paths(concise(run, "--config", "ci/strict.toml")) == ["a.py"]
    assert run("lint", "--config", "pyproject.toml").status == 0


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("none.toml", None, "cannot read `none.toml`: No such file"),
        ("pyproject.toml", "[tool.ruff]\n", "there is no [tool.fitdoctor] table"),
        ("x.toml", "ignor = []\n", "did you mean `ignore`?"),
        ("x.toml", "a = = 1\n", "x.toml: "),
    ],
)
@pytest.mark.parametrize("command", [("lint", "a.py"), ("run", "a.py"), ("fix", "a.py"), ("scan", "a.csv")])
def test_a_configuration_that_cannot_be_used_is_one_clear_line(run, project, command, name, text, complaint):
    write(project / "a.py")
    if text is not None:
        write(project / name, text)
    done = run(command[0], "--config", name, command[1])
    assert done.status == 2 and complaint in done.err and done.err.count("\n") == 1


def test_the_files_that_would_be_read_are_listed(run, project):
    write(project / "pyproject.toml", '[tool.fitdoctor]\nexclude = ["old/"]\n')
    for name in ("b.py", "a.ipynb", "old/c.py"):
        write(project / name)
    done = run("lint", "--show-files")
    assert done.status == 0 and done.out == "a.ipynb\nb.py\n"


def test_the_settings_are_shown_as_they_apply(run, project):
    write(project / "pyproject.toml", '[tool.fitdoctor]\nignore = ["FIT9"]\nkeras = 2\n')
    write(project / "a.py")
    done = run("lint", "--show-settings", "--ignore", "FIT501")
    assert done.status == 0
    assert "ignore:           FIT501, FIT9\n" in done.out and "keras:            2\n" in done.out
    assert f"config:           {project / 'pyproject.toml'}\n" in done.out


def test_watching_checks_again_when_a_file_changes(project, monkeypatch, capsys):
    from fitdoctor.cli import main

    write(project / "a.py", "x = 1\n")
    pauses = iter([lambda: write(project / "a.py", "x = BAD\n"), lambda: None])

    def pause(_seconds):
        step = next(pauses, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr("fitdoctor.cli.watch.time.sleep", pause)
    assert main(["lint", "--watch", "a.py"]) == 1
    printed = capsys.readouterr()
    assert "error[FIT501]" in printed.out
    assert printed.err.count("watching for changes") == 2


# --- which Keras ---------------------------------------------------------------------------------------------------

KERAS_2 = """
import numpy as np
from keras.models import Sequential
from keras.layers import Dense
from keras.utils import np_utils

model = Sequential([Dense(1, input_shape=(4,))])
model.compile("sgd", "mse")
model.fit_generator(iter([(np.zeros((2, 4)), np.zeros((2, 1)))]), steps_per_epoch=1)
"""


def test_a_project_on_keras_2_gets_a_summary_of_the_move(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "requirements.txt", "tensorflow==2.5.0\n")
    write(tmp_path / "train.py", KERAS_2)
    done = run("lint", ".")
    assert done.status == 0 and done.out == "no problems found (1 file)\n"
    first, second = done.err.splitlines()
    assert first == "fitdoctor: checked for Keras 2: requirements.txt requires tensorflow==2.5.0"
    listed = run("lint", "--target", "keras3", "--output-format", "json", ".")
    count = len(listed.json["findings"])
    assert listed.status == 1 and count >= 2 and listed.err == ""
    assert second.startswith(
        f"fitdoctor: {count} places to change for Keras 3; `fitdoctor lint --target keras3`"
    )
    write(tmp_path / "requirements.txt", "tensorflow>=2.16\n")
    assert len(run("lint", "--output-format", "json", ".").json["findings"]) == count


def test_a_notebook_is_checked_for_the_keras_that_it_installs(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = ["!pip install tensorflow==2.5", KERAS_2]
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "metadata": {}}
    write(tmp_path / "old.ipynb", json.dumps(notebook))
    done = run("lint", "old.ipynb")
    assert done.status == 0 and "checked for Keras 2: a cell requires tensorflow==2.5" in done.err
    assert run("lint", "--keras", "3", "old.ipynb").status == 1
