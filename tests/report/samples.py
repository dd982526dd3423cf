"""A diagnosis with one of everything, for the renderers' tests."""

from __future__ import annotations

from fitdoctor.diagnosis import (
    Applicability,
    Confidence,
    Crash,
    Diagnosis,
    Edit,
    Evidence,
    Excerpt,
    Finding,
    Fix,
    Location,
    Moment,
    Raised,
    Script,
    Severity,
    Skipped,
    Unexplained,
)

FIT_LINE = "model.fit(x_train, y_train, epochs=5)"
LABELS = Location("train.py", 8, 20, 8, 27)

PRIMARY = Finding(
    id="FIT203",
    slug="labels-out-of-range",
    severity=Severity.ERROR,
    confidence=Confidence.CERTAIN,
    moment=Moment.BEFORE_FIT,
    message="labels run from 1 to 10, but the model has 10 units: classes 0 to 9",
    subject="argument `y` of `fit`",
    location=LABELS,
    evidence=(
        Evidence("largest label", "10, first in row 3", "at most 9", "data.y.statistics"),
        Evidence("the last layer `dense` was made here", location=Location("train.py", 6, 4)),
    ),
    fixes=(
        Fix("shift the labels", Applicability.SAFE, (Edit(LABELS, "y_train - 1"),), verified=True),
        Fix("give the last layer 11 units"),
    ),
    notes=("the first batch that holds a 10 ends the training",),
    fingerprint="0123456789abcdef",
)

SECOND = Finding(
    id="FIT210",
    slug="from-logits-mismatch",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    moment=Moment.SOURCE,
    message="the loss expects logits, but `softmax` gives probabilities",
    location=Location("other.py", 3, 1, 3, 9),
    fixes=(
        Fix("import it", Applicability.SAFE, (Edit(Location("other.py", 3, 1, 3, 1), "import keras\n"),)),
    ),
    fingerprint="fedcba9876543210",
)

NOTEBOOK = Finding(
    id="FIT301",
    slug="not-compiled",
    severity=Severity.INFO,
    confidence=Confidence.POSSIBLE,
    moment=Moment.AFTER_FAILURE,
    message="the model was not compiled",
    location=Location("study.ipynb", 2, 1, 2, 10, cell=4),
)

EVERYTHING = Diagnosis(
    findings=(PRIMARY, SECOND, NOTEBOOK),
    skipped=(Skipped("FIT101", "the data is a generator"),),
    crashes=(Crash("FIT999 judge", "KeyError: 3"),),
    unexplained=(
        Unexplained(
            "ValueError", "strange\nvery strange", Location("train.py", 8), "fit", "dense", ("x: 1",)
        ),
    ),
    excerpts=(
        Excerpt("train.py", 8, FIT_LINE),
        Excerpt("other.py", 3, "model = f()"),
        Excerpt("study.ipynb", 2, "model.fit(x)", cell=4),
    ),
    script=Script(1, None, Raised("ValueError", "strange")),
    tool_version="9.9",
)
