"""A repair that only takes something out of the program does not count."""

from __future__ import annotations

import pytest

from fitdoctor.diagnosis import Confidence, Diagnosis, Finding, Moment, Severity
from fitdoctor.engine_inputs import SeenCall
from fitdoctor.facts import DataFacts, FitFacts, LayerFacts, MetricFacts, ModelFacts
from fitdoctor.records import replace
from fitdoctor.repair.emptied import emptied
from fitdoctor.repair.proof import Seen, Verdict, judged

MODEL = ModelFacts(
    layers=(LayerFacts("flatten", "Flatten", 0), LayerFacts("dense", "Dense", 1, trainable_parameters=20)),
    metrics=(MetricFacts("accuracy", "Accuracy"),),
)
WRONG = Finding(
    "FIT203", "a-slug", Severity.ERROR, Confidence.CERTAIN, Moment.BEFORE_FIT, "wrong", subject="labels"
)
WHOLE = SeenCall(MODEL, FitFacts(has_validation=True), (DataFacts(samples=100),))


def without(**more):
    fit = replace(WHOLE.fit, **{name: more.pop(name) for name in list(more) if name == "has_validation"})
    data = (replace(WHOLE.data[0], **{name: more.pop(name) for name in list(more) if name == "samples"}),)
    return SeenCall(replace(MODEL, **more), fit, data)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (without(has_validation=False), "removes the validation data"),
        (without(samples=10), "leaves 10 of 100 samples"),
        (without(metrics=()), "removes a metric"),
        (without(layers=MODEL.layers[:1]), "removes a layer with weights"),
        (without(layers=MODEL.layers[1:]), ""),
        (without(samples=90), ""),
        (WHOLE, ""),
    ],
)
def test_what_a_repair_took_away(after, said):
    assert emptied(WHOLE, after, WRONG) == said


def test_such_a_repair_is_rejected():
    failed = Seen(Diagnosis((WRONG,)), status=1, call=WHOLE, stage=(1, 0))
    runs = Seen(Diagnosis(), call=without(has_validation=False), stage=(1, 1))
    verdict = judged(failed, runs, WRONG)
    assert verdict.verdict is Verdict.FAILS
    assert verdict.reason == "it removes the validation data"
    assert judged(failed, replace(runs, call=WHOLE), WRONG).verdict is Verdict.HOLDS
