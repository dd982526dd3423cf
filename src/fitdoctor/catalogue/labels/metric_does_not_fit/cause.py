"""A metric that does not fit the labels or the output.

## What happens

Keras computes what it is asked for. `"accuracy"` of a regression is 0, because two fractions are never equal;
`keras.metrics.Accuracy()` on probabilities is 0 for the same reason; `"categorical_accuracy"` on class numbers takes
the largest entry of every single number and gives a share that means nothing. `Precision`, `Recall` and `AUC` on
logits cut at 0.5, which is no probability there. Others raise once the shapes do not go together: `Precision` or `AUC`
on class numbers against several units, `"sparse_categorical_accuracy"` on one-hot rows, `F1Score` on labels of shape
(n,). The words are `Dimensions must be equal` or, when the last batch is shorter than the others, `Incompatible shapes`
at the first step.

A metric function or class of your own gets labels of shape (n,) as they are: against outputs of (n, 1) their
difference or product has shape (n, n), and a perfect model has an R² of -63 or a recall above 1. Keras 2 gave the labels
the second axis.

## Why

The string `"accuracy"` is looked up by the shapes of labels and output; the named metrics and the metric objects are
taken at their word.

## Fix

Regression: `"mae"` or `"mse"`. Classes: the string `"accuracy"`, which picks the right one. Logits: a threshold of 0
(`BinaryAccuracy(threshold=0.0)`, `Precision(thresholds=0)`), `AUC(from_logits=True)`. In
a metric of your own: `y_true = tf.reshape(y_true, (-1, 1))` before labels and outputs meet.

## Known limits

Of metrics of your own only the plain case is judged: labels and outputs that meet in a difference or product with the
axes they came with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting, mentions
from fitdoctor.catalogue.doubts import METRICS
from fitdoctor.catalogue.labels.label_edits import ROW_METRICS, respell, respell_metrics, rework_labels
from fitdoctor.catalogue.labels.label_shapes import FITS, verdict
from fitdoctor.catalogue.labels.targets import (
    BINARY_LOSSES,
    CATEGORICAL,
    CROSSENTROPIES,
    REGRESSION,
    ROW_LOSSES,
    SPARSE,
    Target,
    is_binary,
    is_continuous,
    metrics_for,
    targets,
)
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, replace_code, set_argument, spell, unsafe
from fitdoctor.facts import Code, DataFacts, FailureFacts, FitFacts, MetricFacts, ModelFacts, Outcome, Unknown
from fitdoctor.failure.patterns import operation_shapes
from fitdoctor.patterns import pattern
from fitdoctor.records import dataclass, replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT218",
    slug="metric-does-not-fit",
    severity=Severity.WARNING,
    raises=("ValueError", "InvalidArgumentError"),
)

_THRESHOLDED = frozenset(
    "Precision Recall AUC TruePositives FalsePositives TrueNegatives FalseNegatives SensitivityAtSpecificity "
    "SpecificityAtSensitivity PrecisionAtRecall RecallAtPrecision".split()
)
_OF_ROWS = frozenset(
    {"CategoricalAccuracy", "TopKCategoricalAccuracy", "CategoricalCrossentropy", "F1Score", "FBetaScore"}
)
_OF_NUMBERS = frozenset(
    {"SparseCategoricalAccuracy", "SparseTopKCategoricalAccuracy", "SparseCategoricalCrossentropy"}
)
_OF_CLASSES = (
    frozenset({"accuracy", "BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy"})
    | _THRESHOLDED
)
_OF_ELEMENTS = frozenset(
    {"BinaryAccuracy", "MeanSquaredError", "MeanAbsoluteError", "RootMeanSquaredError", "MeanIoU"}
)


@dataclass(frozen=True)
class _Misfit:
    metric: MetricFacts
    message: str
    expected: str
    instead: str = ""
    """What to write in the metric's place."""
    threshold: tuple[str, str] = ("", "")
    """The argument that would make it fit."""
    raises: bool = False
    severity: Severity = Severity.WARNING


@CAUSE.in_source
@doubting(METRICS)
@CAUSE.before_fit
def from_model(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Each metric against the labels and the output that it gets."""
    tried = data.trial.metrics
    failed = isinstance(tried, Outcome) and not tried.ok
    accepted = isinstance(tried, Outcome) and tried.ok
    for target, misfits in _grouped(model, data):
        # While the length of a batch is open the trial cannot see that shapes differ.
        is_open = target.output_shape is not None and target.output_shape[0] is None
        if misfits[0].raises and (not accepted or is_open):
            found = _finding(model, target, misfits, Confidence.CERTAIN if failed else Confidence.LIKELY)
            yield replace(found, fixes=(*_as_rows(model, fit, data, target, misfits), *found.fixes))
        elif not misfits[0].raises and not failed:
            yield _finding(model, target, misfits, Confidence.CERTAIN)


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, model: ModelFacts | Unknown, fit: FitFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """A metric could not take labels and output together."""
    if not _is_of_metric(failure):
        return
    frame = failure.last_user_frame
    raised_at = frame.location if frame is not None else None
    if isinstance(model, ModelFacts) and isinstance(data, DataFacts):
        found = [(target, misfits) for target, misfits in _grouped(model, data) if misfits[0].raises]
        for target, misfits in found:
            finding = _finding(model, target, misfits, Confidence.CERTAIN, raised_at)
            rows = _as_rows(model, fit, data, target, misfits) if isinstance(fit, FitFacts) else ()
            yield replace(finding, fixes=(*rows, *finding.fixes))
        if found or data.role != "training":
            return
        if not any(metric.builtin for metric in model.metrics):
            return
    yield CAUSE.finding(
        "a metric could not take the labels and the outputs together",
        subject="metrics",
        location=place(model.compile_code if isinstance(model, ModelFacts) else None, raised_at),
        evidence=[
            Evidence(
                claim="the comparison that failed is a metric's, not the loss's",
                observed=failure.message.splitlines()[0],
                fact="failure.message",
                location=raised_at,
            )
        ],
        fixes=[
            fix(
                'use the metric for the labels that there are; the string `"accuracy"` picks it by the shapes'
            )
        ],
        confidence=Confidence.LIKELY,
        severity=Severity.ERROR,
    )


_METRIC_WORDS = pattern(
    r"FBetaScore expects 2D inputs|Argument `segment_ids` and `data` should have same leading dimension"
)


def _is_of_metric(failure: FailureFacts) -> bool:
    """Whether the failing comparison belongs to a metric: those of the loss stand below `compile_loss`."""
    if _METRIC_WORDS.search(failure.message):
        return True
    if any(frame.function == "compute_metrics" for frame in failure.definition):
        return True
    shapes = operation_shapes(failure.message)
    node = shapes.node if shapes is not None and shapes.node else failure.node
    operation = shapes.operation if shapes is not None and shapes.operation else failure.operation
    if operation == "InTopKV2":
        return True
    return shapes is not None and operation in ("LogicalAnd", "Equal") and "/" not in node


def _grouped(model: ModelFacts, data: DataFacts) -> Iterator[tuple[Target, list[_Misfit]]]:
    """The misfits of each output; those that raise for want of the same thing together."""
    together: dict[tuple[str, str], tuple[Target, list[_Misfit]]] = {}
    for target, misfit in _misfits(model, data):
        key = (target.name, misfit.expected if misfit.raises else misfit.metric.name)
        together.setdefault(key, (target, []))[1].append(misfit)
    yield from together.values()


def _misfits(model: ModelFacts, data: DataFacts) -> Iterator[tuple[Target, _Misfit]]:
    if data.role != "training":
        return
    for target in targets(model, data):
        labels, output = target.label_shape, target.output_shape
        if not target.loss_name or labels is None or output is None:
            continue
        if target.loss_name in CROSSENTROPIES and verdict(target.loss_name, labels, output) != FITS:
            continue
        for metric in metrics_for(model, target):
            misfit = _misfit(target, metric, model.keras) if metric.builtin else None
            if misfit is not None:
                yield target, misfit


def _misfit(target: Target, metric: MetricFacts, keras: int) -> _Misfit | None:
    if metric.class_name == "Accuracy":
        return _Misfit(
            metric,
            "`Accuracy` counts exact equality, which the model's output never reaches",
            '`"accuracy"`' if target.loss_name in CROSSENTROPIES else '`"mae"`',
            '"accuracy"' if target.loss_name in CROSSENTROPIES else '"mae"',
            raises=target.loss_name == SPARSE and (target.units or 0) > 1,
        )
    if target.loss_name in REGRESSION:
        return _of_regression(target, metric)
    if target.loss_name == SPARSE and (target.units or 0) > 1:
        return _of_class_numbers(metric)
    if target.loss_name in ROW_LOSSES and (target.units or 0) > 1:
        return _of_rows(metric)
    if target.loss_name in BINARY_LOSSES:
        return _of_binary(target, metric, keras)
    return None


def _of_regression(target: Target, metric: MetricFacts) -> _Misfit | None:
    statistics = target.label_statistics
    if metric.class_name not in _OF_CLASSES or statistics is None or is_binary(statistics):
        return None
    whole = statistics.integral and target.units == 1 and (statistics.maximum or 0) > 1
    if not is_continuous(statistics) and not whole:
        return None
    return _Misfit(
        metric, f"`{metric.name}` of a regression: the targets are no classes", '`"mae"` or `"mse"`', '"mae"'
    )


def _of_class_numbers(metric: MetricFacts) -> _Misfit | None:
    """Labels (n,) of class numbers against several units."""
    name = metric.class_name
    if name == "CategoricalAccuracy":
        return _Misfit(
            metric,
            f"`{metric.name}` compares one-hot rows, but the labels are class numbers",
            '`"accuracy"` or `"sparse_categorical_accuracy"`',
            '"sparse_categorical_accuracy"',
        )
    if name in _THRESHOLDED | _OF_ROWS | _OF_ELEMENTS:
        rows_for_numbers = ("", "")
        if name == "MeanIoU":
            if _setting(metric, "sparse_y_pred") in ("False", "unknown"):
                return None
            rows_for_numbers = ("sparse_y_pred", "False")
        return _Misfit(
            metric,
            f"`{metric.name}` wants labels as wide as the output, but the labels are class numbers",
            f"`{'='.join(rows_for_numbers)}`"
            if rows_for_numbers[0]
            else "one-hot labels, or a metric for class numbers",
            '"sparse_categorical_accuracy"',
            rows_for_numbers,
            raises=True,
        )
    return None


def _of_rows(metric: MetricFacts) -> _Misfit | None:
    if metric.class_name in _OF_NUMBERS:
        return _Misfit(
            metric,
            f"`{metric.name}` wants class numbers, but the labels are rows",
            '`"accuracy"` or `"categorical_accuracy"`',
            '"categorical_accuracy"',
            raises=True,
        )
    return None


def _of_binary(target: Target, metric: MetricFacts, keras: int) -> _Misfit | None:
    name = metric.class_name
    # The loss gets its labels aligned to the output, a metric does not; in Keras 2 both do.
    compares = name in ("F1Score", "FBetaScore") or name == "BinaryCrossentropy" and keras == 3
    if compares and len(target.label_shape or ()) == 1:
        return _Misfit(
            metric,
            f"`{metric.name}` wants labels of shape (n, 1), but they have shape (n,)",
            "labels of shape (n, 1)",
            raises=True,
        )
    if target.units == 1 and name in ("CategoricalAccuracy", "SparseCategoricalAccuracy"):
        return _Misfit(
            metric,
            f"`{metric.name}` takes the largest of several units, but there is one",
            '`"accuracy"` or `"binary_accuracy"`',
            '"binary_accuracy"',
        )
    return _on_logits(target, metric)


def _setting(metric: MetricFacts, name: str) -> str | None:
    """A setting of a metric, from the living object or else from its call; None where the default holds."""
    settings = dict(metric.settings)
    if settings:
        return settings.get(name)
    if isinstance(metric.code, Unknown):
        return "unknown"
    if metric.code.text[:1] in "\"'":
        return None
    if metric.code.close_paren is None or any(not argument.name for argument in metric.code.arguments):
        return "unknown"
    given = metric.code.argument(name)
    return given.text if given is not None else None


def _on_logits(target: Target, metric: MetricFacts) -> _Misfit | None:
    """A threshold of 0.5 is meant for probabilities."""
    if target.loss is None or target.loss.from_logits is not True or target.activation != "linear":
        return None
    name = metric.class_name
    message = f"`{metric.name}` cuts at 0.5, but the model gives logits: their middle is 0"
    if name == "AUC" and _setting(metric, "from_logits") in ("False", None):
        told = f"`{metric.name}` spreads its thresholds over 0..1, but the model gives logits"
        return _Misfit(metric, told, "`from_logits=True`", threshold=("from_logits", "True"))
    if name in ("Precision", "Recall") and _setting(metric, "thresholds") in ("(0.5,)", "0.5", "None", None):
        return _Misfit(metric, message, "`thresholds=0`", threshold=("thresholds", "0"))
    if name == "BinaryAccuracy" and _setting(metric, "threshold") in ("0.5", None):
        return _Misfit(
            metric, message, "`threshold=0.0`", threshold=("threshold", "0.0"), severity=Severity.INFO
        )
    if name == "accuracy":
        return _Misfit(metric, message, "`BinaryAccuracy(threshold=0.0)`", severity=Severity.INFO)
    return None


def _finding(
    model: ModelFacts,
    target: Target,
    misfits: list[_Misfit],
    confidence: Confidence,
    raised_at: Location | None = None,
) -> Finding:
    """One finding for the metrics that fail for the same reason: mended one by one the program would fail again."""
    first = misfits[0]
    names = listing(misfit.metric.name for misfit in misfits)
    edits = _replacements(model, misfits)
    replaced = first.threshold[0] or any(first.instead in edit.replacement for edit in edits)
    repair, title = (fix if first.raises else unsafe), f"use {first.expected}"
    if edits and not replaced:
        repair, title = unsafe, f"leave {names} out, or use {first.expected}"
    return CAUSE.finding(
        first.message if len(misfits) == 1 else f"the metrics {names} do not fit: {first.message}",
        subject=f"metric {first.metric.name}",
        location=place(first.metric.code, raised_at),
        evidence=[
            Evidence(
                claim=f"the loss is `{target.loss_name}`",
                observed=f"metric {names}",
                expected=first.expected,
                fact="model.metrics",
                location=place(target.loss.code) if target.loss is not None else None,
            )
        ],
        fixes=[repair(title, edits)],
        confidence=confidence,
        severity=Severity.ERROR if first.raises else first.severity,
    )


def _as_rows(
    model: ModelFacts, fit_call: FitFacts, data: DataFacts, target: Target, misfits: list[_Misfit]
) -> Iterator[Fix]:
    """Metrics that count by class are kept by one-hot labels, with the loss that computes the same of them."""
    by_class = all(misfit.metric.class_name in _THRESHOLDED | _OF_ROWS for misfit in misfits)
    if not by_class or target.loss_name != SPARSE or target.labels is None or target.loss is None:
        return
    loss = respell(target.loss.code, CATEGORICAL, without=("ignore_class",))
    given = target.labels
    keras, imports = spell(given.use, "keras", "keras")
    if isinstance(given.code, Code) and given.code.computed_with and isinstance(given.use, Code):
        given = replace(given, code=given.use)  # `centers[y]` wants them as they are
    labels = rework_labels(
        given,
        data,
        f"{keras}.utils.to_categorical({{}}, num_classes={target.units})",
        f"tf.one_hot(tf.cast(y, tf.int32), {target.units})",
        fit_call,
    )
    if loss and labels:
        metrics = respell_metrics(metrics_for(model, target), ROW_METRICS)
        yield fix(f"give it one-hot labels, with `{CATEGORICAL}`", loss, labels, metrics, imports)


def _replacements(model: ModelFacts, misfits: list[_Misfit]) -> tuple[Edit, ...]:
    first = misfits[0]
    if first.threshold[0]:
        return set_argument(first.metric.code, *first.threshold)
    if not first.instead:
        return ()
    shorter = _without(model, misfits)
    return shorter or (replace_code(first.metric.code, first.instead) if len(misfits) == 1 else ())


def _without(model: ModelFacts, misfits: list[_Misfit]) -> tuple[Edit, ...]:
    """The list of metrics in compile with one metric in the place of those that do not fit."""
    compiled = model.compile_code
    given = compiled.argument("metrics", 3) if isinstance(compiled, Code) else None
    odd = {misfit.metric.code.text for misfit in misfits if isinstance(misfit.metric.code, Code)}
    if given is None or len(odd) != len(misfits):
        return ()
    try:
        items = ast.parse(given.text, mode="eval").body
    except SyntaxError:
        return ()
    if not isinstance(items, ast.List):
        return ()
    texts = [ast.get_source_segment(given.text, item) or "" for item in items.elts]
    kept = [text for text in texts if text not in odd]
    if len(kept) + len(odd) != len(texts):
        return ()
    known = {first.strip("\"'") for first in kept}
    if not {"accuracy", "acc", "mae", misfits[0].instead.strip('"')} & known:
        kept.append(misfits[0].instead)
    return (Edit(given.location, f"[{', '.join(kept)}]"),)


@CAUSE.in_source
@doubting(METRICS)
@CAUSE.before_fit
def from_own_metrics(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """A metric of the user's own sets labels (n,) against outputs (n, 1)."""
    if all(metric.builtin for metric in model.metrics):
        return
    from fitdoctor.catalogue.labels.own_metrics import spread_metrics

    yield from spread_metrics(CAUSE, model, data, project)


@CAUSE.in_source
@mentions("update_state")
def swapped_in_source(module: Module) -> Iterator[Finding]:
    """A metric of a loop of one's own takes the predictions for labels."""
    from fitdoctor.catalogue.labels.swapped_metrics import swapped

    yield from swapped(CAUSE, module)
