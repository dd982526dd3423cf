"""Metric that does not match the labels or the output.

## What happens

Keras computes whatever metric you request. `"accuracy"` on a regression is 0, because two floats are never exactly
equal. `keras.metrics.Accuracy()` on probabilities is 0 for the same reason. `"categorical_accuracy"` on integer
class labels compares an argmax over a single value and returns a meaningless number; on labels of which several are 1,
it compares only the largest output with the first of them. `Precision`, `Recall` and `AUC`
apply a threshold of 0.5 to logits, which are not probabilities. Other metrics raise because the shapes do not match:
`Precision` or `AUC` on integer class labels with several units, `"sparse_categorical_accuracy"` on one-hot labels,
`F1Score` on labels of shape (n,). The message is `Dimensions must be equal` or, if the last batch is shorter than
the others, `Incompatible shapes` at the first step.

A custom metric function or class receives labels of shape (n,) unchanged. With outputs of shape (n, 1), their
difference or product has shape (n, n), and a perfect model gets an R² of -63 or a recall above 1. Keras 2 added the
second axis to the labels.

## Why

Keras chooses the metric for the string `"accuracy"` by the shapes of labels and output. Named metrics and metric
objects are used as they are.

## Fix

Regression: use `"mae"` or `"mse"`. Classification: use the string `"accuracy"`, which selects the right metric.
Logits: use a threshold of 0 (`BinaryAccuracy(threshold=0.0)`, `Precision(thresholds=0)`) or `AUC(from_logits=True)`.
In a custom metric: reshape the labels first, `y_true = tf.reshape(y_true, (-1, 1))`.

## Known limits

In custom metrics, only the simple case is detected: labels and outputs that are subtracted or multiplied with their
original axes. Where the values of the targets are unknown, `lint` recognizes a regression by the column (`price`,
`temperature`) or by a `StandardScaler` on the targets.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, doubting, mentions
from fitdoctor.catalogue.knowledge.labels.argument_order import are_swapped, exchanged
from fitdoctor.catalogue.knowledge.labels.label_shapes import FITS, rows, verdict
from fitdoctor.catalogue.knowledge.labels.targets import (
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
from fitdoctor.catalogue.labels.comparisons import unaligned_comparison
from fitdoctor.catalogue.labels.label_edits import ROW_METRICS, respell, respell_metrics, rework_labels
from fitdoctor.catalogue.prefilter import METRICS
from fitdoctor.catalogue.words import listing, place
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, insert_before, replace_code, set_argument, spell, unsafe
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    MetricFacts,
    ModelFacts,
    Outcome,
    Unknown,
)
from fitdoctor.failure.shapes import operation_shapes
from fitdoctor.records import dataclass, replace
from fitdoctor.source.module import FunctionInfo, Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT218",
    slug="metric-does-not-fit",
    severity=Severity.WARNING,
    raises=("ValueError", "InvalidArgumentError"),
    stage=3,
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
_BROADCAST_BY_KERAS_2 = _OF_ELEMENTS - {"MeanIoU"} | {"TopKCategoricalAccuracy"}
"""Metrics that compare (n, 1) with every unit in Keras 2, and say nothing about the model."""


@dataclass(frozen=True)
class _Misfit:
    metric: MetricFacts
    message: str
    expected: str
    instead: str = ""
    """The source text that replaces the metric."""
    threshold: tuple[str, str] = ("", "")
    """The argument and value that would correct it."""
    raises: bool = False
    severity: Severity = Severity.WARNING


@CAUSE.in_source
@doubting(METRICS)
@CAUSE.before_fit
def from_model(model: ModelFacts, fit: FitFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Check each metric against the labels and the output it receives."""
    yield from _on_quantities(model, data, project)
    tried = data.trial.metrics
    failed = isinstance(tried, Outcome) and not tried.ok
    accepted = isinstance(tried, Outcome) and tried.ok
    for target, misfits in _grouped(model, data):
        # With an open batch axis the trial cannot detect that the shapes differ.
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
    """Report a metric that rejects labels and output."""
    if not _is_of_metric(failure):
        return
    raised_at = failure.location
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
        "a metric cannot compare the labels with the outputs: their shapes do not match",
        place(model.compile_code if isinstance(model, ModelFacts) else None, raised_at),
        Evidence(
            "the failing comparison belongs to a metric, not to the loss",
            failure.message.splitlines()[0],
            location=raised_at,
        ),
        fix('use a metric that matches the labels; the string `"accuracy"` selects one by their shape'),
        subject="metrics",
        severity=Severity.ERROR,
    )


_METRIC_WORDS = re.compile(
    r"FBetaScore expects 2D inputs|Argument `segment_ids` and `data` should have same leading dimension"
)


def _is_of_metric(failure: FailureFacts) -> bool:
    """Whether the failing comparison belongs to a metric; those of the loss are below `compile_loss`."""
    if _METRIC_WORDS.search(failure.message):
        return True
    if any(frame.function == "compute_metrics" for frame in failure.definition):
        return True
    shapes = operation_shapes(failure.message)
    node = shapes.node if shapes is not None and shapes.node else failure.node
    operation = shapes.operation if shapes is not None and shapes.operation else failure.operation
    if operation == "InTopKV2":
        return True
    if shapes is None or operation not in ("LogicalAnd", "Equal"):
        return False
    # Keras 3 and TensorFlow 2 give a metric no scope of its own; Keras before 2.4 calls it `metrics/acc/Equal`.
    return "/" not in node or node.startswith("metrics")


def _grouped(model: ModelFacts, data: DataFacts) -> Iterator[tuple[Target, list[_Misfit]]]:
    """Yield the mismatched metrics of each output, grouped by reason if they raise."""
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
        instead = '"accuracy"' if target.loss_name in CROSSENTROPIES else '"mae"'
        return _Misfit(
            metric,
            "`Accuracy` counts exact matches, but the model outputs floats that never match a label exactly",
            f"`{instead}`",
            instead,
            raises=target.loss_name == SPARSE and (target.units or 0) > 1,
        )
    if target.loss_name in REGRESSION:
        return _of_regression(target, metric)
    if target.loss_name == SPARSE and (target.units or 0) > 1:
        return _of_class_numbers(metric, keras)
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
    but = "the targets are not classes" if is_continuous(statistics) else "a single unit predicts a number"
    return _Misfit(
        metric,
        f"`{metric.name}` is for classification, but {but}",
        '`"mae"` or `"mse"`',
        '"mae"',
    )


def _on_quantities(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report accuracy on targets whose values are unknown, but whose name or scaler shows a quantity."""
    for target in targets(model, data) if data.role == "training" else ():
        metrics = [
            each for each in metrics_for(model, target) if each.builtin and each.class_name in _OF_CLASSES
        ]
        is_single = target.loss_name in REGRESSION and target.units == 1 and target.activation == "linear"
        if not metrics or not is_single or target.label_statistics is not None:
            continue
        quantity = _named_quantity(target.labels, project)
        if quantity:
            told = f"`{metrics[0].name}` is for classification, but the targets are not classes ({quantity})"
            misfit = _Misfit(metrics[0], told, '`"mae"` or `"mse"`', '"mae"')
            yield _finding(model, target, [misfit], Confidence.LIKELY)


def _of_class_numbers(metric: MetricFacts, keras: int) -> _Misfit | None:
    """Return what is wrong with a metric on integer class labels (n,) and several units."""
    name = metric.class_name
    if name == "CategoricalAccuracy":
        return _Misfit(
            metric,
            f"`{metric.name}` expects one-hot labels, but the labels are integer classes",
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
            f"`{metric.name}` expects labels with one column per unit, but the labels are integer classes",
            f"`{'='.join(rows_for_numbers)}`"
            if rows_for_numbers[0]
            else "one-hot labels or a metric for integer class labels",
            '"sparse_categorical_accuracy"',
            rows_for_numbers,
            raises=keras != 2 or name not in _BROADCAST_BY_KERAS_2,
        )
    return None


def _of_rows(metric: MetricFacts) -> _Misfit | None:
    if metric.class_name in _OF_NUMBERS:
        return _Misfit(
            metric,
            f"`{metric.name}` expects integer class labels, but the labels are one-hot",
            '`"accuracy"` or `"categorical_accuracy"`',
            '"categorical_accuracy"',
            raises=True,
        )
    return None


def _of_binary(target: Target, metric: MetricFacts, keras: int) -> _Misfit | None:
    name = metric.class_name
    # Keras aligns the labels with the output for the loss but not for metrics; Keras 2 does both.
    compares = name in ("F1Score", "FBetaScore") or name == "BinaryCrossentropy" and keras == 3
    if compares and len(target.label_shape or ()) == 1:
        return _Misfit(
            metric,
            f"`{metric.name}` expects labels of shape (n, 1), but they have shape (n,)",
            "labels of shape (n, 1)",
            raises=True,
        )
    if target.units == 1 and name in ("CategoricalAccuracy", "SparseCategoricalAccuracy"):
        return _Misfit(
            metric,
            f"`{metric.name}` takes the argmax over several units, but the output has one",
            '`"accuracy"` or `"binary_accuracy"`',
            '"binary_accuracy"',
        )
    sums = target.label_statistics.row_sums if target.label_statistics is not None else None
    if name == "CategoricalAccuracy" and sums is not None and sums[1] > 1.5:
        return _Misfit(
            metric,
            f"`{metric.name}` compares one class per sample, but up to {sums[1]:.0f} labels of a sample are 1",
            '`"accuracy"` or `"binary_accuracy"`',
            '"binary_accuracy"',
        )
    return _on_logits(target, metric)


def _setting(metric: MetricFacts, name: str) -> str | None:
    """Return a setting of a metric from the object or its call; None for the default."""
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
    """Return a metric whose threshold of 0.5 is applied to logits."""
    if target.loss is None or target.loss.from_logits is not True or target.activation != "linear":
        return None
    name = metric.class_name
    message = f"`{metric.name}` uses a threshold of 0.5, but the model outputs logits, whose midpoint is 0"
    if name == "AUC" and _setting(metric, "from_logits") in ("False", None):
        told = f"`{metric.name}` uses thresholds from 0 to 1, but the model outputs logits"
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
    """Build one finding for all metrics that fail for the same reason, so that one fix is enough."""
    first = misfits[0]
    names = listing(misfit.metric.name for misfit in misfits)
    edits = _replacements(model, misfits)
    replaced = first.threshold[0] or any(first.instead in edit.replacement for edit in edits)
    title = f"use {first.expected}"
    if edits and not replaced:
        title = f"remove {names}, or use {first.expected}"
    return CAUSE.finding(
        first.message
        if len(misfits) == 1
        else f"the metrics {names} do not match the labels: {first.message}",
        place(first.metric.code, raised_at),
        Evidence(
            f"metric with the loss `{target.loss_name}`",
            names,
            first.expected,
            fact="model.metrics",
            location=place(target.loss.code) if target.loss is not None else None,
        ),
        unsafe(title, edits),
        subject=f"metric {first.metric.name}",
        confidence=confidence,
        severity=Severity.ERROR if first.raises else first.severity,
    )


def _as_rows(
    model: ModelFacts, fit_call: FitFacts, data: DataFacts, target: Target, misfits: list[_Misfit]
) -> Iterator[Fix]:
    """Yield a fix that keeps the metrics: one-hot labels and the matching loss."""
    by_class = all(misfit.metric.class_name in _THRESHOLDED | _OF_ROWS for misfit in misfits)
    if not by_class or target.loss_name != SPARSE or target.labels is None or target.loss is None:
        return
    loss = respell(target.loss.code, CATEGORICAL, without=("ignore_class",))
    given = target.labels
    keras, imports = spell(given.use, "keras", "keras")
    if isinstance(given.code, Code) and given.code.computed_with and isinstance(given.use, Code):
        given = replace(given, code=given.use)  # `centers[y]` needs the integer labels
    labels = rework_labels(
        given,
        data,
        f"{keras}.utils.to_categorical({{}}, num_classes={target.units})",
        f"tf.one_hot(tf.cast(y, tf.int32), {target.units})",
        fit_call,
    )
    if loss and labels:
        metrics = respell_metrics(metrics_for(model, target), ROW_METRICS)
        yield fix(f"one-hot encode the labels and use `{CATEGORICAL}`", loss, labels, metrics, imports)


def _replacements(model: ModelFacts, misfits: list[_Misfit]) -> tuple[Edit, ...]:
    first = misfits[0]
    if first.threshold[0]:
        return set_argument(first.metric.code, *first.threshold)
    if not first.instead:
        return ()
    shorter = _without(model, misfits)
    return shorter or (replace_code(first.metric.code, first.instead) if len(misfits) == 1 else ())


def _without(model: ModelFacts, misfits: list[_Misfit]) -> tuple[Edit, ...]:
    """Return the metrics list of compile with one metric in place of the mismatched ones."""
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
    """Report a custom metric that compares labels (n,) with outputs (n, 1)."""
    if all(metric.builtin for metric in model.metrics):
        return
    yield from _spread_metrics(model, data, project)


# --- quantities that the program names ------------------------------------------------------------------------------


_QUANTITIES = frozenset(
    """price prices saleprice sales revenue revenues salary salaries income wage wages cost costs rent charges profit
    temperature temperatures humidity rainfall pressure age ages mpg medv consumption demand height heights""".split()
)
_BESIDE = frozenset(
    """y x train training test val valid validation target targets scaled sale house car stock unit median mean avg
    average total log selling closing daily monthly annual yearly usd eur inr in of the per""".split()
)
"""Words that leave a quantity one; `price_range`, `is_sale` and `age_group` may be classes."""
_KEEPS_VALUES = frozenset(
    {"to_numpy", "reshape", "astype", "ravel", "flatten", "to_frame", "copy", "squeeze"}
)
_STANDARDIZES = frozenset({"StandardScaler", "RobustScaler", "PowerTransformer"})
"""Scalers that turn even 0 and 1 into other numbers; a `MinMaxScaler` leaves them."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def _named_quantity(labels: ArrayFacts | None, project: Project) -> str:
    """Return what shows that the targets are a quantity, as a phrase, "" if nothing does."""
    code = labels.code if labels is not None else None
    if not isinstance(code, Code) or not project or code.computed_with:
        return ""
    try:
        node: ast.expr = ast.parse(f"({code.text}\n)", mode="eval").body
    except SyntaxError:
        return ""
    modules = [module for module in project.modules if module.path == code.location.path]
    while (inside := _same_values(node)) is not None:
        node = inside
    if any(_standardizes(node, module) for module in modules):
        return "standardized values"
    column = _column(node)
    if not _is_quantity(column) or any(_writes(module, column) for module in project.modules):
        return ""
    return f"`{column}`"


def _same_values(node: ast.expr) -> ast.expr | None:
    """Return what `.values`, `.reshape(...)` and the like are applied to."""
    if isinstance(node, ast.Attribute) and node.attr == "values":
        return node.value
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr not in _KEEPS_VALUES or "int" in ast.unparse(node) or "bool" in ast.unparse(node):
        return None
    return node.func.value


def _standardizes(node: ast.expr, module: Module) -> bool:
    """Whether an expression is the result of a scaler, after which labels are no longer classes."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    scaler = node.func.value
    if node.func.attr not in ("fit_transform", "transform"):
        return False
    if not isinstance(scaler, ast.Name):
        return _is_scaler(scaler)
    given = [
        each.value
        for each in module.nodes(ast.Assign)
        if any(isinstance(target, ast.Name) and target.id == scaler.id for target in each.targets)
    ]
    return bool(given) and all(map(_is_scaler, given))


def _is_scaler(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _STANDARDIZES


def _column(node: ast.expr) -> str:
    """Return the column in `df["price"]`, `df[["price"]]`, `df.price` and `df.pop("price")`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
        key = node.args[0] if len(node.args) == 1 else None
    else:
        key = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(key, ast.List) and len(key.elts) == 1:
        key = key.elts[0]
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _is_quantity(column: str) -> bool:
    words = {word.lower() for word in _WORDS.findall(column)}
    return bool(words & _QUANTITIES) and words <= _QUANTITIES | _BESIDE


def _writes(module: Module, column: str) -> bool:
    """Whether the program writes the column, which may turn the quantity into classes."""
    return any(
        isinstance(each, ast.Constant) and each.value == column
        for node in module.nodes(ast.Subscript)
        if isinstance(node.ctx, ast.Store)
        for each in ast.walk(node.slice)
    )


# --- metrics of another output --------------------------------------------------------------------------------------


_ONE_WAY = frozenset(
    "Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy TopKCategoricalAccuracy "
    "SparseTopKCategoricalAccuracy AUC Precision Recall FalsePositives FalseNegatives TruePositives TrueNegatives "
    "BinaryCrossentropy CategoricalCrossentropy SparseCategoricalCrossentropy KLDivergence".split()
)
"""Metrics that are not symmetric in labels and predictions."""


@CAUSE.in_source
@mentions("update_state")
def swapped_in_source(module: Module) -> Iterator[Finding]:
    """Report `update_state`, or the call of a metric, with model outputs in place of the labels."""
    for site in module.method_calls("update_state"):
        given = site.node.args
        kind = module.called(module.origin(site.receiver).node)
        if not kind.startswith("keras.metrics.") or kind.rpartition(".")[2] not in _ONE_WAY or len(given) < 2:
            continue
        first, second = given[:2]
        if not are_swapped(module, first, second):
            continue
        yield CAUSE.finding(
            f"`{module.segment(site.node.func)}` receives the predictions first, but expects the labels first",
            module.location(site.node),
            Evidence("first argument", f"the output of a model, `{module.segment(first)}`"),
            fix("pass the labels first", exchanged(module, first, second)),
            subject="arguments of the metric",
        )


# --- custom metrics -------------------------------------------------------------------------------------------------


_Met = tuple[MetricFacts, FunctionInfo, ast.expr]
"""A metric, its code, and the expression that compares labels with outputs."""
_OWN_STEPS = frozenset({"train_step", "compute_metrics"})


def _spread_metrics(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Yield metrics that compare every label with every output because the labels have shape (n,)."""
    if data.role != "training" or model.keras == 2 or _OWN_STEPS & set(model.overrides):
        return
    for target in targets(model, data):
        labels, output = target.label_shape, target.output_shape
        if labels is None or output is None or len(labels) != 1 or output[1:] != (1,):
            continue
        met = [
            (metric, function, node)
            for metric in metrics_for(model, target)
            if not metric.builtin
            and (function := _code_of(metric, project)) is not None
            and (node := unaligned_comparison(function, int(function.is_method))) is not None
        ]
        if met:
            yield _of_own_metric(target, met)


def _code_of(metric: MetricFacts, project: Project) -> FunctionInfo | None:
    """Return the metric function or its update method, None unless the name is unique."""
    owner = project.class_named(metric.class_name)
    if owner is not None:
        return owner.module.method(owner, "update_state")
    named = [
        function
        for module in project.modules
        for function in module.functions
        if function.name == metric.name and not function.is_method
    ]
    return named[0] if len(named) == 1 else None


def _of_own_metric(target: Target, met: list[_Met]) -> Finding:
    """Build one finding for all of them, so that one fix is enough."""
    labels, output = target.label_shape or (), target.output_shape or ()
    names = listing(metric.name for metric, _, _ in met)
    several = len(met) > 1
    _, function, node = met[0]
    return CAUSE.finding(
        f"the metric{'s' * several} {names} {'receive' if several else 'receives'} labels of shape {rows(labels)}, but "
        f"outputs of shape {rows(output)}: every label is compared with every output",
        function.module.location(node),
        Evidence(
            "`fit` aligns labels and outputs for built-in metrics, not for custom ones",
            f"labels {rows(labels)}",
            f"outputs {rows(output)}",
            fact="data.y.shape",
            location=place(target.labels.code, target.labels.use) if target.labels else None,
        ),
        unsafe("reshape the labels to the shape of the outputs", _all_aligned(met)),
        subject=f"metric {met[0][0].name}",
    )


def _all_aligned(met: list[_Met]) -> tuple[Edit, ...]:
    edits = [_aligned(function, node) for _, function, node in met]
    return tuple(dict.fromkeys(edit for each in edits for edit in each)) if all(edits) else ()


def _aligned(function: FunctionInfo, node: ast.expr) -> tuple[Edit, ...]:
    """Insert a line before the comparison that adds the second axis to the labels."""
    code = function.module.code(node)
    if code.statement is None or code.statement.line == function.node.lineno:
        return ()  # all on one line
    library, usual = ("keras.ops", "ops") if code.spelling("tensorflow") is None else ("tensorflow", "tf")
    spelling, imports = spell(code, library, usual)
    labels = function.parameters[int(function.is_method)]
    return (*insert_before(code, f"{labels} = {spelling}.reshape({labels}, (-1, 1))"), *imports)
