"""The label is among the features.

## What happens

Nothing fails, and every metric is nearly perfect: the model reads the answer from its input. It is useless for new data,
where the label is not known.

## Why

`y = df["price"]` selects the labels, but leaves the column in the table. `df.values`, `df.to_numpy()` and
`df.drop(columns=["id"])` then contain it as a feature. Or the target of a window is one of its steps:
`series[i + length - 1]` is in `series[i:i + length]`, and `timeseries_dataset_from_array(data, targets, length)` pairs the
window that starts at row `i` with `targets[i]`.

## Fix

Take the column out: `y = df.pop("price")`, or `x = df.drop(columns="price")`. Take the target of a window from behind its
end.

## Known limits

In the source, only columns that are selected by name, or by one index from a table, are followed. Rows that were shifted,
cut differently or put into windows are not reported there: forecasting from the past of the same column is legitimate. Nor
is an input that consists of the label's columns alone, as in an autoencoder. Windows are compared with their targets when
the program runs, if they overlap and have one target each.
"""

from __future__ import annotations

from collections.abc import Iterator

from fitdoctor.catalogue import Cause, mentions
from fitdoctor.catalogue.words import place
from fitdoctor.diagnosis import Edit, Evidence, Finding, Location, Severity
from fitdoctor.edits import fix, unsafe, wrap
from fitdoctor.facts import ArrayFacts, Code, DataFacts, FitFacts, RowEvent, Unknown

CAUSE = Cause(id="FIT220", slug="label-among-features", severity=Severity.WARNING)

_HARMLESS = frozenset({"fit", "copy"})


@CAUSE.in_source
@mentions("pandas")
def from_columns(fit_call: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report features that contain the column that was selected as the label."""
    if fit_call.method != "fit" or data.role != "training" or len(data.y) != 1:
        return
    labels = data.y[0]
    for array in data.x:
        name = _shared_column(array, labels)
        if name:
            yield CAUSE.finding(
                f"`{array.path}` contains {name}, which is the label: the model reads the answer from its input",
                _line(array, labels),
                Evidence("label in the features", name, "features without it", location=place(labels.code)),
                fix(f"drop {name} from the features: `df.drop(columns=…)`, or `y = df.pop(…)`"),
                subject=f"columns of {array.path}",
            )


@CAUSE.before_fit
def from_windows(fit_call: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report windows of a series that contain their own target."""
    at = data.target_in_window
    if at is None or fit_call.method != "fit" or data.role != "training":
        return
    windows, labels = data.x[0], data.y[0]
    steps = windows.shape[1] if isinstance(windows.shape, tuple) and len(windows.shape) > 1 else None
    step = "last step" if steps == at[0] + 1 else "first step" if at[0] == 0 else f"step {at[0]}"
    yield CAUSE.certain(
        f"the target of every window is the {step} of the window itself: the model reads the answer from its input",
        place(data.code if data.form == "dataset" else labels.code, labels.use, fit_call.code),
        Evidence(
            "position of the target in its window",
            f"`{windows.path}[:, {', '.join(map(str, at))}]`",
            "behind its end",
            fact="data.target_in_window",
            location=place(windows.code, windows.use),
        ),
        unsafe("take the target from behind the window", _shifted(data.code, at[0])),
        fix("pair `series[i:i + length]` with `series[i + length]`"),
        subject=f"targets of {windows.path}",
    )


def _shifted(code: Code | Unknown, step: int) -> tuple[Edit, ...]:
    """Shift the targets that `timeseries_dataset_from_array` pairs with windows."""
    if isinstance(code, Unknown) or not code.name.endswith(".timeseries_dataset_from_array"):
        return ()
    targets, length = code.argument("targets", 1), code.argument("sequence_length", 2)
    if targets is None or length is None:
        return ()
    start = f"{length.text} - {step}" if step else length.text
    return wrap(Code(targets.location, targets.text), f"{{}}[{start}:]")


def _line(features: ArrayFacts, labels: ArrayFacts) -> Location | None:
    """Return where the columns were selected: of the features, or of the label if they are the whole table."""
    selected = [one.code for one in features.events("columns", "without")]
    if selected or features.events("fit"):
        return place(*reversed(selected), *(one.code for one in labels.events("columns")), features.use)
    return place(features.code, features.use)


def _shared_column(features: ArrayFacts, labels: ArrayFacts) -> str:
    """Return the label's column in words, if the features certainly contain it; "" otherwise."""
    if not isinstance(features.history, tuple) or not isinstance(labels.history, tuple):
        return ""
    shared = {(one.kind, one.mark) for one in features.history} & {
        (one.kind, one.mark) for one in labels.history
    }
    ours, theirs = (
        [one for one in each.history if (one.kind, one.mark) not in shared and one.kind not in _HARMLESS]
        for each in (features, labels)
        if isinstance(each.history, tuple)
    )
    if [one.kind for one in theirs] != ["columns"] or not any(kind == "made" for kind, _ in shared):
        return ""
    chosen = theirs[0].text
    if chosen.startswith("column "):
        return f"the {chosen}" if not ours and _is_table(labels.history[0]) else ""
    names = chosen.split("\n")
    selected = [one.text.split("\n") for one in ours if one.kind == "columns"]
    gone = [name for one in ours if one.kind in ("without", "set") for name in one.text.split("\n")]
    if "?" in (*names, *gone) or {one.kind for one in ours} - {"columns", "without", "set"}:
        return ""
    left = [name for name in names if name not in gone and all(name in each for each in selected)]
    alike = selected and set(selected[-1]) <= set(names)
    return f'the column "{left[0]}"' if left and not alike else ""


def _is_table(begun: RowEvent) -> bool:
    """Whether rows began with a table read from a file, whose columns have meanings."""
    return isinstance(begun.code, Code) and begun.code.name.startswith(
        ("pandas.", "numpy.loadtxt", "numpy.genfromtxt")
    )
