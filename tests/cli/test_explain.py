"""`fitdoctor explain`: pages, logs, and what is neither."""

from __future__ import annotations

import io
import json
import os
from types import SimpleNamespace

import pytest

from fitdoctor.catalogue import catalogue
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.report import render
from tests.report.samples import EVERYTHING, PRIMARY

COMPILE = """Epoch 1/2
Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    model.fit(x, y)
  File "/usr/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
ValueError: You must call `compile()` before using the model.
"""


@pytest.mark.parametrize("word", ["FIT203", "fit203", "labels-out-of-range", "labels_out_of_range"])
def test_a_cause_is_explained_by_id_and_slug(run, word):
    done = run("explain", word)
    assert done.status == 0
    assert done.out.startswith("error[FIT203]: Labels outside the range of the output layer\n")
    for part in (
        "What happens",
        "Why",
        "Fix",
        "Known limits",
        "Failing example",
        "Fixed",
        "InvalidArgumentError",
    ):
        assert part in done.out


@pytest.mark.parametrize("name", catalogue())
def test_every_page_can_be_drawn_at_any_width(run, monkeypatch, name):
    for width in ("60", "120"):
        monkeypatch.setenv("COLUMNS", width)
        done = run("explain", name)
        assert done.status == 0
        shown = "\nFixed\n" if (catalogue()[name].folder / "fixed.py").exists() else "\nRecorded example\n"
        assert shown in done.out and "# <-" not in done.out


def test_an_unknown_cause_brings_suggestions(run):
    done = run("explain", "labels-out-of-rage")
    assert done.status == 2 and "did you mean FIT203 (labels-out-of-range)" in done.err


def test_a_missing_file_is_said(run):
    assert "`no/such.log` does not exist" in run("explain", "no/such.log").err


def test_the_catalogue_is_listed(run):
    done = run("explain", "--list")
    named = [line.split()[0] for line in done.out.splitlines() if line.startswith("FIT")]
    assert named == list(catalogue())


def test_a_log_is_diagnosed(run, tmp_path):
    (tmp_path / "train.log").write_text(COMPILE, "utf-8")
    done = run("explain", tmp_path / "train.log")
    assert done.status == 0 and done.out.startswith("error[FIT301]") and "train.py:12" in done.out


def test_what_ended_the_program_comes_before_what_was_warned_of(run, tmp_path):
    warned = "WARNING:tensorflow:Can save best model only with val_auc available, skipping.\n"
    (tmp_path / "train.log").write_text(warned + COMPILE, "utf-8")
    done = run("explain", tmp_path / "train.log")
    assert done.out.startswith("error[FIT301]") and "FIT322" in done.out


def test_several_logs_are_diagnosed_one_after_the_other(run, tmp_path):
    first, second = tmp_path / "a.log", tmp_path / "b.log"
    first.write_text(COMPILE)
    second.write_text("IndexError: list index out of range\n")
    done = run("explain", str(first), str(second))
    assert done.status == 0
    assert done.out.startswith(f"{first}:\nerror[FIT301]")
    assert f"\n\n{second}:\nunexplained: IndexError" in done.out
    together = json.loads(run("explain", str(first), str(second), "--output-format", "json").out)
    assert [finding["id"] for finding in together["findings"]] == ["FIT301"]


def test_one_of_several_files_that_does_not_exist_is_named(run, tmp_path):
    (tmp_path / "a.log").write_text(COMPILE)
    done = run("explain", str(tmp_path / "a.log"), "missing.log")
    assert (done.status, "`missing.log` does not exist" in done.err) == (2, True)


def test_only_one_cause_is_shown_at_a_time(run):
    done = run("explain", "FIT101", "FIT102")
    assert (done.status, "one cause at a time" in done.err) == (2, True)


def test_standard_input_is_diagnosed_in_any_format(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(COMPILE.encode())))
    done = run("explain", "-", "--output-format", "json")
    assert done.json["findings"][0]["id"] == "FIT301"


def test_a_failure_that_no_cause_fits_is_told_as_such(run, tmp_path):
    text = COMPILE.replace(
        "You must call `compile()` before using the model.", "the moon is in the wrong house"
    )
    (tmp_path / "train.log").write_text(text, "utf-8")
    done = run("explain", tmp_path / "train.log")
    assert done.status == 0 and "unexplained: ValueError: the moon" in done.out


@pytest.mark.parametrize("text", ["", "Epoch 1/5\nloss: 0.3\n", "no traceback here"])
def test_a_text_without_a_failure_is_an_answer(run, tmp_path, text):
    (tmp_path / "train.log").write_text(text, "utf-8")
    done = run("explain", tmp_path / "train.log")
    assert done.status == 0 and "no failure found" in done.out


def test_binary_and_folders_are_refused(run, tmp_path):
    (tmp_path / "model.bin").write_bytes(b"\x00\x01" * 100)
    assert run("explain", tmp_path / "model.bin").status == 2
    assert run("explain", tmp_path).status == 2
    assert run("explain").status == 2


def test_a_page_is_text_or_json(run):
    assert run("explain", "FIT203", "--output-format", "sarif").status == 2
    page = run("explain", "FIT203", "--output-format", "json").json
    assert page["id"] == "FIT203" and "Fix" in page["page"]


@pytest.mark.parametrize("word", ["FIT2", "fit2", "labels"])
def test_a_family_lists_its_causes(run, word):
    done = run("explain", word)
    named = [line.split()[0] for line in done.out.splitlines() if line.startswith("FIT")]
    assert done.status == 0 and named == [name for name in catalogue() if name.startswith("FIT2")]


def test_the_list_as_json_describes_every_cause(run):
    listed = run("explain", "--list", "--output-format", "json").json
    assert [cause["id"] for cause in listed] == list(catalogue())
    assert all(cause["title"] and cause["severity"] and cause["moments"] for cause in listed)
    assert run("explain", "--list", "--output-format", "sarif").status == 2


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_list_fits_the_terminal(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run("explain", "--list").out.splitlines()
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    "words",
    [
        ("ValueError: You must call `compile()` before using the model.",),
        ("You must call `compile()` before using the model.",),
        ("ValueError:", "You", "must", "call", "`compile()`", "before", "using", "the", "model."),
    ],
    ids=["quoted", "without the type", "unquoted"],
)
def test_a_message_is_diagnosed(run, words):
    done = run("explain", *words)
    assert done.status == 0 and done.out.startswith("error[FIT301]")


def test_a_saved_notebook_is_diagnosed_in_its_own_cells(run, tmp_path, monkeypatch):
    """Its frames name cells by when they ran, or by a hash: the file tells which ones these are."""
    monkeypatch.chdir(tmp_path)
    trace = [
        "\x1b[31mTypeError\x1b[39m                                 Traceback (most recent call last)",
        "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[7]\x1b[39m\x1b[32m, line 1\x1b[39m\n----> 1 print(net.last + 1)\n",
        "TypeError: <tf.Tensor 'mul:0' shape=(32, 8) dtype=float32> is out of scope and cannot be used here. Use return "
        "values, explicit Python locals or TensorFlow collections to access it.\n\n<tf.Tensor 'mul:0' shape=(32, 8) "
        "dtype=float32> was defined here:\n"
        '    File "/tmp/ipykernel_12/1529047363.py", line 4, in call\n\n'
        "The tensor <tf.Tensor 'mul:0' shape=(32, 8) dtype=float32> cannot be accessed from here, because it was "
        "defined in FuncGraph(name=one_step_on_data, id=1), which is out of scope.",
    ]
    kept = "import keras\nclass Net(keras.Model):\n    def call(self, x):\n        self.last = x * 2\n        return x"
    cells = [
        {"cell_type": "markdown", "source": "# Study"},
        {"cell_type": "code", "execution_count": 2, "source": kept, "outputs": []},
        {"cell_type": "code", "execution_count": 7, "source": ["print(net.last + 1)"], "outputs": [
            {"output_type": "error", "ename": "TypeError", "evalue": "", "traceback": trace}
        ]},
    ]  # fmt: skip
    (tmp_path / "study.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}))
    done = run("explain", "study.ipynb")
    assert done.out.startswith("error[FIT401]") and "--> study.ipynb:cell 1:4:9\n" in done.out
    assert "self.last = x * 2" in done.out and "study.ipynb:cell 2:1" in done.out


def test_a_program_that_was_stopped_is_told_as_it_was_then(run, tmp_path):
    text = COMPILE.replace(
        "ValueError: You must call `compile()` before using the model.",
        "fitdoctor.FitWillFail: FIT203 labels-out-of-range: labels run from 1 to 10 (train.py:7)\n  help: shift them",
    )
    (tmp_path / "train.log").write_text(text, "utf-8")
    done = run("explain", tmp_path / "train.log")
    assert done.out.startswith("error[FIT203]: labels run from 1 to 10\n --> train.py:7:1\nhelp: shift them")


def test_the_line_that_a_traceback_quotes_is_shown(run, tmp_path):
    (tmp_path / "train.log").write_text(COMPILE, "utf-8")
    assert "\n12 | model.fit(x, y)\n" in run("explain", tmp_path / "train.log").out


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("color", [False, True])
def test_a_log_with_our_own_report_is_read_back(run, tmp_path, monkeypatch, width, color):
    monkeypatch.chdir(tmp_path)
    report = render(Diagnosis((PRIMARY,), excerpts=EVERYTHING.excerpts), width=width, color=color)
    (tmp_path / "train.log").write_text(
        f"Epoch 1/2\n{report}fitdoctor: stopped at train.py:8, before `fit` ran: 1 error\n"
    )
    (found,) = run("explain", "train.log", "--output-format", "json").json["findings"]
    assert (found["id"], found["severity"], found["confidence"]) == ("FIT203", "error", "certain")
    assert found["message"] == PRIMARY.message
    assert (found["location"]["path"], found["location"]["line"]) == ("train.py", 8)
    assert [fix["title"] for fix in found["fixes"]] == ["shift the labels"]


def test_a_text_without_a_failure_is_an_empty_diagnosis_for_machines(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.log").write_text("Epoch 1/2\nall went well\n")
    assert run("explain", "train.log", "--output-format", "json").json["findings"] == []
    assert run("explain", "train.log").out.startswith("no failure found")


def test_a_pipe_is_read_without_being_named(run, monkeypatch):
    reader, writer = os.pipe()
    os.write(writer, COMPILE.encode())
    os.close(writer)
    with open(reader, encoding="utf-8") as piped:
        monkeypatch.setattr("sys.stdin", piped)
        assert "FIT301" in run("explain").out


def test_without_a_pipe_there_is_nothing_to_explain(run, monkeypatch):
    with open(os.devnull, encoding="utf-8") as empty:
        monkeypatch.setattr("sys.stdin", empty)
        assert "nothing to explain" in run("explain").err
