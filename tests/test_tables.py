"""Tables of scan, memory and env fit the terminal, whatever its width, and break no word."""

import re

import pytest

from fitdoctor.cli.env import _table
from fitdoctor.diagnosis import Diagnosis
from fitdoctor.facts import EnvironmentFacts, MemoryLimit
from fitdoctor.memory.prediction import Prediction, Remedy, Share
from fitdoctor.report.memory import text as memory_text
from fitdoctor.report.paint import painted
from fitdoctor.scan.draw import text as scan_text
from fitdoctor.scan.outcome import ComponentReport, DataReport, ScanReport, SeenReport
from fitdoctor.tables import paragraph, shortened, table

WIDTHS = [60, 80, 120, 200]
LONG = "a_very_long_column_name_that_somebody_wrote_in_a_spreadsheet"


def component(path: str, **values) -> ComponentReport:
    given = {
        "minimum": -1.23457e-05,
        "maximum": 123457.0,
        "mean": 41153.9,
        "nan": 12345,
        "inf": 0,
        "missing": 0,
    }
    shapes = (SeenReport("(50000, 224, 224, 3)", 1),)
    return ComponentReport(
        path, "x", 50_000, shapes, (SeenReport("float32", 1),), first_nonfinite="row 3", **{**given, **values}
    )


REPORT = ScanReport(
    (
        DataReport(
            "a/long/path/to/the/data/that/is/scanned.csv",
            "training",
            50_000,
            None,
            None,
            0.4,
            True,
            False,
            (component("id"), component(LONG), component("label")),
            remarks=(
                "rows were compared with one validation row in 7, because there are more than fit in memory",
            ),
        ),
    ),
    Diagnosis(),
    shared_rows=7,
)
PREDICTION = Prediction(
    "model",
    512,
    "traced",
    500_000_000,
    800_000_000,
    kinds=(Share("activations", 400_000_000), Share("weights", 50_000_000), Share("input", 1)),
    layers=(
        Share("block_12_of_the_encoder/multi_head_attention/attention_output", 10**8),
        Share("dense", 10**6),
    ),
    stage="backward",
    limit=MemoryLimit("this machine", 10**10, 10**9),
    largest_batch=600,
    remedies=(
        Remedy(
            "a batch size of 256 with `gradient_accumulation_steps=2` in the optimizer: the same updates",
            4 * 10**8,
        ),
    ),
    notes=("`run_eagerly` frees tensors later than the traced step does, so expect somewhat more than this",),
)


def whole_words(text: str) -> set[str]:
    """The words of a text; bars, ellipses and numbers aside."""
    return {word for word in re.split(r"\s+", text) if word and not set(word) & set("█…")}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "draw",
    [lambda width: scan_text(REPORT, width), lambda width: memory_text(PREDICTION, width)],
    ids=["scan", "memory"],
)
def test_every_line_fits_and_every_word_is_whole(draw, width):
    text = draw(width)
    too_long = [line for line in text.splitlines() if len(line) > width and " " in line.strip()]
    assert not too_long
    assert whole_words(text) <= whole_words(draw(1000))


@pytest.mark.parametrize("width", [*WIDTHS, None])
def test_the_environment_fits(monkeypatch, width):
    if width is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(width))
    facts = EnvironmentFacts(
        packages=(("tensorflow-cpu", "2.21.0"),),
        backend="tensorflow",
        backend_set_by="/home/user/projects/a_folder_with_a_long_name/another_one/.keras/keras.json",
        cluster_config='{"cluster": {"worker": ["10.0.0.1:12345", "10.0.0.2:12345"]}, "task": {"index": 0}}',
    )
    lines = _table(facts, ["/physical_device:CPU:0", "/physical_device:GPU:0"], asked=True).splitlines()
    assert max(map(len, lines)) <= (width or 100)
    assert "keras.json" in " ".join(lines)
    assert "/physical_device:GPU:0" in " ".join(line.strip() for line in lines)


def test_a_table_that_is_too_wide_is_split_and_loses_no_column():
    rows = [("first", *("x" * 9 for _ in range(8))), ("second", *("y" * 9 for _ in range(8)))]
    lines = table(rows, 40, heads=("", *(f"head{i}" for i in range(8))))
    assert max(map(len, lines)) <= 40
    assert [head for line in lines for head in re.findall(r"head\d", line)] == [f"head{i}" for i in range(8)]
    assert (
        sum(line.startswith("first") for line in lines)
        == sum(line.startswith("second") for line in lines)
        > 1
    )


def test_names_lose_their_middle_and_stay_apart():
    assert shortened("feature_number_one_of_many_001", 15) == "feature…any_001"
    assert len(shortened("x" * 100, 15)) == 15
    assert shortened("short", 15) == "short"


def test_a_long_word_stays_whole_in_a_paragraph():
    assert paragraph(f"see {LONG} there", 30) == ["see", LONG, "there"]


# --- results as objects -------------------------------------------------------------------------------------------


def test_results_print_as_the_command_does_and_are_one_line_as_values(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for result, text in ((PREDICTION, memory_text(PREDICTION, 80)), (REPORT, scan_text(REPORT, 80))):
        assert str(result) == text.rstrip("\n")
        assert "\n" not in repr(result)
        assert len(repr(result)) < 200
        assert repr(result).startswith(f"<{type(result).__name__}: ")
    assert repr(REPORT) == "<ScanReport: 50,000 training rows; no problems found>"


def test_a_table_is_text_in_a_notebook_too(monkeypatch, capsys):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert table([("kernel", "2 KiB"), ("bias", "1 KiB")], 80) == ["kernel  2 KiB", "bias    1 KiB"]
    assert painted([[("error", "error")]], color=True) == "\x1b[1;31merror\x1b[0m\n"
    assert not capsys.readouterr().out
