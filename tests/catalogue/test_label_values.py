"""Values of labels and weights, last activations and metrics against the loss."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fitdoctor.catalogue.knowledge.labels.targets import activation_of
from fitdoctor.diagnosis import Location, Severity
from fitdoctor.facts import (
    ArrayFacts,
    ClassWeight,
    Code,
    FitFacts,
    LayerFacts,
    LossFacts,
    MetricFacts,
    ModelFacts,
    Shape,
    Statistics,
    Unknown,
)
from tests.catalogue.label_facts import (
    CERTAIN,
    ERROR,
    INFO,
    WARNING,
    WENT_THROUGH,
    data,
    dense,
    found,
    labels,
    loss_of,
    measurements,
    model,
)

# --- values -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "settings", "expected"),
    [
        ((0, 1, 2), (), False),
        ((1, 2, 3), (), True),
        ((-1, 0, 1, 2), (), True),
        ((-1, 0, 1, 2), (("ignore_class", "-1"),), False),
        ((0, 1, 2, 255), (("ignore_class", "255"),), False),
        ((0, 1, 2, 255), (("ignore_class", "-1"),), True),
    ],
)
def test_labels_out_of_range_know_the_ignored_class(
    values: tuple[float, ...], settings: tuple[tuple[str, str], ...], expected: bool
) -> None:
    loss = loss_of("sparse_categorical_crossentropy", settings=settings)
    given = data(labels((90,), *values), trial=WENT_THROUGH)
    assert ("FIT203" in found(model((None, 3), loss, dense(3, "softmax")), given)) is expected


def test_labels_out_of_range_turn_to_nan_under_xla() -> None:
    facts = model((None, 3), "sparse_categorical_crossentropy", dense(3, "softmax"), jit_compile=True)
    assert found(facts, data(labels((90,), 1, 2, 3))) == {"FIT203": (WARNING, CERTAIN)}


def test_nan_among_labels_is_left_to_a_loss_of_the_users_own() -> None:
    nan = Statistics(count=90, complete=True, minimum=0.0, maximum=1.0, nan=3, first_nonfinite=(7,))
    y = labels((90,), statistics=nan)
    assert found(model((None, 1), "mean_squared_error"), data(y)) == {"FIT206": (WARNING, CERTAIN)}
    assert found(model((None, 1), LossFacts("masked", "function")), data(y)) == {}


@pytest.mark.parametrize(
    ("low", "high", "row_sums", "expected"),
    [
        (0, 1, (1.0, 1.0), set()),
        (0, 1, (0.0, 1.0), set()),
        (0.03, 0.94, (0.999, 1.001), set()),
        (0, 1, (0.0, 3.0), {"FIT207"}),
        (0, 40, (40.0, 40.0), {"FIT207"}),
        (-1.2, 2.1, (-2.0, 3.0), {"FIT207"}),
    ],
)
def test_rows_that_are_no_distribution(
    low: float, high: float, row_sums: tuple[float, float], expected: set[str]
) -> None:
    y = labels((90, 3), low, high, row_sums=row_sums)
    facts = model((None, 3), "categorical_crossentropy", dense(3, "softmax"))
    assert set(found(facts, data(y, trial=WENT_THROUGH))) == expected


@pytest.mark.parametrize(
    ("values", "filled", "expected"),
    [
        ((-0.7, 0, 1.3), 1, set()),
        ((0, 0.5, 2.0), 1, set()),
        ((0, 255), 1, {"FIT207"}),
        ((-0.7, 0, 1.3), 2, {"FIT207"}),
    ],
)
def test_one_hot_rows_may_have_a_weight_each(
    values: tuple[float, ...], filled: int, expected: set[str]
) -> None:
    y = labels((90, 3), *values, row_sums=(min(values), max(values)), row_filled=filled)
    facts = model((None, 3), "categorical_crossentropy", dense(3, "softmax"))
    assert set(found(facts, data(y, trial=WENT_THROUGH))) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0, 1), set()),
        ((0.1, 0.9), set()),
        ((0, 255), {"FIT208"}),
        ((-1, 1), {"FIT208"}),
        ((1, 2), {"FIT208"}),
    ],
)
def test_binary_labels_lie_between_zero_and_one(values: tuple[float, ...], expected: set[str]) -> None:
    facts = model((None, 1), "binary_crossentropy", dense(1, "sigmoid"))
    assert set(found(facts, data(labels((90,), *values), trial=WENT_THROUGH))) == expected


# --- activations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ((dense(3, "softmax"),), ("softmax", True)),
        ((dense(3, "softmax_v2"),), ("softmax", True)),
        ((dense(3, "softmax"), LayerFacts("r", "Reshape", 1)), ("softmax", False)),
        ((dense(3), LayerFacts("s", "Softmax", 1, (("axis", "-1"),))), ("softmax", True)),
        ((dense(3), LayerFacts("s", "Softmax", 1, (("axis", "1"),))), None),
        ((dense(3), LayerFacts("f", "Lambda", 1)), None),
        ((dense(3), LayerFacts("h", "Head", 1, builtin=False)), None),
        ((dense(3, "my_activation"),), None),
        ((dense(3), LayerFacts("b", "BatchNormalization", 1)), None),
        ((LayerFacts("t", "TimeDistributed", 0, sublayers=(dense(3, "softmax"),)),), ("softmax", True)),
    ],
)
def test_the_last_activation_is_told_or_unknown(
    layers: tuple[LayerFacts, ...], expected: tuple[str, bool] | None
) -> None:
    activation = activation_of(model((None, 3), "mean_squared_error", *layers))
    assert (None if activation is None else (activation.name, activation.direct)) == expected


def test_a_function_in_call_counts_as_the_last_activation() -> None:
    facts = ModelFacts(kind="subclassed", layers=(dense(3),), output_paths=(("softmax", "out"),))
    activation = activation_of(facts)
    assert activation is not None
    assert (activation.name, activation.layer) == ("softmax", None)
    assert activation_of(replace(facts, output_paths=(("?", "out"),))) is None
    assert activation_of(replace(facts, output_paths=())) is None


@pytest.mark.parametrize(
    ("activation", "loss", "logits", "expected"),
    [
        ("softmax", "sparse_categorical_crossentropy", False, set()),
        ("linear", "sparse_categorical_crossentropy", True, set()),
        ("linear", "sparse_categorical_crossentropy", False, {"FIT210"}),
        ("softmax", "sparse_categorical_crossentropy", True, {"FIT210"}),
        ("relu", "sparse_categorical_crossentropy", False, {"FIT211"}),
        ("relu", "sparse_categorical_crossentropy", True, set()),
    ],
)
def test_logits_and_probabilities(activation: str, loss: str, logits: bool, expected: set[str]) -> None:
    facts = model((None, 3), loss_of(loss, from_logits=logits), dense(3, activation))
    assert set(found(facts, data(labels((90,), 0, 1, 2), trial=WENT_THROUGH))) == expected


@pytest.mark.parametrize(
    ("activation", "low", "high", "expected"),
    [
        ("relu", 0, 50, set()),
        ("relu", -0.5, 50, set()),
        ("relu", -20, 50, {"FIT211"}),
        ("tanh", -1, 1, set()),
        ("tanh", 3, 30, {"FIT211"}),
        ("sigmoid", 0, 1, set()),
        ("sigmoid", 0, 100, {"FIT211"}),
        ("linear", -5, 5, set()),
        ("elu", -0.9, 9, set()),
    ],
)
def test_targets_within_reach(activation: str, low: float, high: float, expected: set[str]) -> None:
    facts = model((None, 1), "mean_squared_error", dense(1, activation))
    assert set(found(facts, data(measurements((90,), low, high), trial=WENT_THROUGH))) == expected


def test_softmax_over_one_unit_explains_the_rest() -> None:
    facts = model((None, 1), "categorical_crossentropy", dense(1, "softmax"))
    assert set(found(facts, data(labels((90,), 0, 1), trial=WENT_THROUGH))) == {"FIT209"}
    sigmoid = model((None, 1), "categorical_crossentropy", dense(1, "sigmoid"))
    assert found(sigmoid, data(labels((90,), 0, 1), trial=WENT_THROUGH)) == {"FIT205": (WARNING, CERTAIN)}


# --- weights ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "form", "expected"),
    [
        (("0", "1", "2"), "arrays", {}),
        (("2",), "arrays", {}),
        (("0", "1", "2", "3"), "arrays", {}),
        (("0", "1", "2", "3"), "dataset", {}),
        (("1", "2", "3"), "arrays", {"FIT212": WARNING}),
        (("1", "2", "3"), "dataset", {"FIT212": WARNING}),
        (("0", "1"), "dataset", {"FIT212": ERROR}),
        (("'0'", "'1'", "'2'"), "arrays", {"FIT212": WARNING}),
        (("'0'", "'1'", "'2'"), "dataset", {"FIT212": ERROR}),
        (("(ndarray)",), "arrays", {"FIT212": ERROR}),
    ],
)
def test_class_weights_by_number(keys: tuple[str, ...], form: str, expected: dict[str, Severity]) -> None:
    facts = model((None, 3), "sparse_categorical_crossentropy", dense(3, "softmax"))
    given = data(labels((90,), 0, 1, 2), form=form, trial=WENT_THROUGH)
    judged = found(facts, given, FitFacts(class_weight=ClassWeight(keys)))
    assert {cause: severity for cause, (severity, _) in judged.items()} == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{i: n / 9 for i, n in enumerate(counts, 1)}", "{i: n / 9 for i, n in enumerate(counts)}"),
        ("weigh(y)", "{key - 1: weight for key, weight in weigh(y).items()}"),
    ],
)
def test_weights_of_classes_that_are_counted_from_1(text: str, expected: str) -> None:
    from fitdoctor.catalogue.labels.class_weight_keys.cause import _renumbered

    weights = ClassWeight(("1", "2", "3"), code=Code(Location("train.py", 1, 1, 1, len(text)), text))
    (edit,) = _renumbered(weights, {0, 1, 2}, {1, 2, 3}).edits
    assert edit.replacement == expected


def test_class_weights_for_several_outputs() -> None:
    facts = model((None, 1), "binary_crossentropy", dense(1, "sigmoid"))
    fit = FitFacts(class_weight=ClassWeight(("0", "1")))
    given = data((labels((90,), 0, 1), labels((90,), 0, 1)))
    assert found(facts, given, fit)["FIT213"] == (ERROR, CERTAIN)


@pytest.mark.parametrize(
    ("values", "form", "expected"),
    [
        ((0.2, 3.0), "arrays", set()),
        ((0, 1), "arrays", set()),
        ((1, 2, 5), "dataset", set()),
        ((0, 0), "arrays", {"FIT214"}),
        ((-1.5, 2.0), "arrays", {"FIT214"}),
        (tuple(range(5000, 5100)), "dataset", {"FIT214"}),
        (tuple(range(5000, 5100)), "arrays", set()),
    ],
)
def test_sample_weights(values: tuple[float, ...], form: str, expected: set[str]) -> None:
    facts = model((None, 1), "binary_crossentropy", dense(1, "sigmoid"))
    weights = replace(labels((100,), *values), path="sample_weight", dtype="int64")
    size = 3 if form == "dataset" else None
    given = data(
        labels((100,), 0, 1), sample_weight=(weights,), form=form, element_size=size, trial=WENT_THROUGH
    )
    assert set(found(facts, given)) == expected


# --- metrics ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "output", "y", "metric", "expected"),
    [
        (
            "mean_squared_error",
            (None, 1),
            measurements((90,), -3, 3),
            MetricFacts("accuracy", "accuracy"),
            WARNING,
        ),
        (
            "mean_squared_error",
            (None, 1),
            measurements((90,), -3, 3),
            MetricFacts("mae", "MeanAbsoluteError"),
            None,
        ),
        ("mean_squared_error", (None, 1), labels((90,), 0, 1), MetricFacts("accuracy", "accuracy"), None),
        ("binary_crossentropy", (None, 1), labels((90,), 0, 1), MetricFacts("accuracy", "Accuracy"), WARNING),
        ("binary_crossentropy", (None, 1), labels((90,), 0, 1), MetricFacts("auc", "AUC"), None),
        ("binary_crossentropy", (None, 1), labels((90,), 0, 1), MetricFacts("f1_score", "F1Score"), ERROR),
        ("binary_crossentropy", (None, 1), labels((90, 1), 0, 1), MetricFacts("f1_score", "F1Score"), None),
        (
            "sparse_categorical_crossentropy",
            (None, 3),
            labels((90,), 0, 1, 2),
            MetricFacts("categorical_accuracy", "CategoricalAccuracy"),
            WARNING,
        ),
        (
            "sparse_categorical_crossentropy",
            (None, 3),
            labels((90,), 0, 1, 2),
            MetricFacts("precision", "Precision"),
            ERROR,
        ),
        (
            "sparse_categorical_crossentropy",
            (None, 3),
            labels((90,), 0, 1, 2),
            MetricFacts("own", "Precision", builtin=False),
            None,
        ),
    ],
)
def test_metrics_and_labels(
    loss: str, output: Shape, y: ArrayFacts, metric: MetricFacts, expected: Severity | None
) -> None:
    activation = {"binary_crossentropy": "sigmoid", "sparse_categorical_crossentropy": "softmax"}.get(
        loss, "linear"
    )
    facts = model(output, loss, dense(output[-1] or 1, activation), metrics=(metric,))
    judged = found(facts, data(y, trial=replace(WENT_THROUGH, metrics=Unknown("not tried"))))
    assert judged.get("FIT218", (None,))[0] is expected


def test_thresholds_on_logits_that_are_set_right() -> None:
    loss = loss_of("binary_crossentropy", from_logits=True)
    y = labels((90,), 0, 1)

    def judged(metric: MetricFacts) -> Severity | None:
        facts = model((None, 1), loss, dense(1), metrics=(metric,))
        return found(facts, data(y, trial=WENT_THROUGH)).get("FIT218", (None,))[0]

    assert judged(MetricFacts("auc", "AUC", settings=(("from_logits", "False"),))) is WARNING
    assert judged(MetricFacts("auc", "AUC", settings=(("from_logits", "True"),))) is None
    assert judged(MetricFacts("auc", "AUC")) is None
    assert judged(MetricFacts("p", "Precision", settings=(("thresholds", "(0,)"),))) is None
    assert judged(MetricFacts("accuracy", "accuracy")) is INFO
