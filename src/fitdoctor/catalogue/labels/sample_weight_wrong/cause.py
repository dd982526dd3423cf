"""Sample weights that are negative, all zero, or not weights.

## What happens

Keras multiplies the third element of a dataset or generator tuple into the loss. A patient id of 50000 makes the
loss 50,000 times as large, without a warning. Negative weights are accepted and make the model worse on those
samples. Weights that are all zero give a loss of 0, and nothing is trained. Weights whose shape does not match the
losses of a batch raise `Dimensions must be equal` or `Incompatible shapes`; together with `class_weight` they raise
`You cannot class_weight and sample_weight at the same time`.

## Why

Ids, names or groups were kept next to the labels, weights were centered or standardized, an integer division rounded
them to 0, or weights per time step were passed to a model with one output per sample. Or a tuple is written in the
order (x, weights, y): Keras then trains on the weights and weighs by the labels.

## Fix

Drop the third element (`dataset.map(lambda x, y, ids: (x, y))`), or write the tuple as (x, y, weights). Weights must
not be negative: pass one per sample (or one per step of a sequence output).

## Known limits

Weights of 0 and 1 as a mask, zeros for some samples, and integer counts are fine and not reported. Negative weights
whose name contains "advantage" or "reward" count as a policy gradient. Swapped labels and weights are reported only
if the labels cannot be labels for the loss and the weights can.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fitdoctor.catalogue import BATCHED_DATA, Cause, mentions
from fitdoctor.catalogue.knowledge.data.generator_sources import (
    batches_behind,
    expression_of,
    returned_in_step,
    tuple_from_step,
)
from fitdoctor.catalogue.knowledge.labels.label_shapes import step_of_loss
from fitdoctor.catalogue.knowledge.labels.targets import (
    BINARY_LOSSES,
    SPARSE,
    loss_failure,
    output_specs,
    statistics_of,
    targets,
)
from fitdoctor.catalogue.words import number, place, shape_words
from fitdoctor.diagnosis import Confidence, Edit, Evidence, Finding, Fix, Location, Severity
from fitdoctor.edits import fix, remove_argument, replace_code, unsafe, wrap
from fitdoctor.facts import (
    ArrayFacts,
    Code,
    DataFacts,
    FailureFacts,
    FitFacts,
    ModelFacts,
    Statistics,
    Unknown,
)
from fitdoctor.failure.patterns import cardinality
from fitdoctor.records import replace
from fitdoctor.source.module import Module
from fitdoctor.source.project import Project

CAUSE = Cause(
    id="FIT214",
    slug="sample-weight-wrong",
    severity=Severity.WARNING,
    aspect="range",
    explains=("FIT106", "FIT108", "FIT203", "FIT208", "FIT212"),
)

_POLICY = re.compile(r"adv|reward|return|delta|gain|td_|signed", re.IGNORECASE)
"""Names of negative weights that are intended, as in a policy gradient."""
_WEIGHTS = re.compile(r"weight|mask|importance|^s?w$|_w$|^w_|freq|count", re.IGNORECASE)
_NO_WEIGHTS = re.compile(
    r"len(?:gth)?s?$|^(?:seq|n)_|_(?:ids?|idx|index|indices|groups?|codes?|years?|days?|hours?|no|nr|numbers?)$|"
    r"^(?:ids?|idx|index|indices|groups?|users?|items?|years?|ages?|subjects?|sessions?|patients?|customers?|"
    r"clients?|speakers?|persons?|cases?|timestamps?|sites?|stations?|regions?|zones?|stores?|shops?|sensors?|"
    r"domains?|folds?|clusters?|categor(?:y|ies)|kinds?)$",
    re.IGNORECASE,
)
"""Names of integers that are not weights."""
_LEAST_ROWS = 16


@CAUSE.in_source
@mentions(*BATCHED_DATA)
@CAUSE.before_fit
def from_values(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, project: Project
) -> Iterator[Finding]:
    """Report values that cannot be meant as weights."""
    for weights in data.sample_weight:
        if _is_for_the_step(model, fit, data, weights):
            continue
        if weights.dtype in ("string", "str") and data.form != "arrays" and data.element_size == 3:
            yield _of_strings(fit, data, weights, project)
            continue
        statistics = statistics_of(weights)
        if statistics is None and _are_named_ids(data, weights):
            observed = f"{weights.dtype}, `{_name(weights)}`"
            message, expected, fixes, sure = _ids(data, weights)
            found = _finding(fit, data, weights, message, observed, expected, fixes, sure)
            yield _where_mapped(found, data, project)
        if statistics is None or statistics.minimum is None or statistics.maximum is None:
            continue
        oddity = _oddity(data, weights, statistics)
        if oddity is not None:
            message, expected, fixes, confidence = oddity
            found = _finding(fit, data, weights, message, _range(statistics), expected, fixes, confidence)
            yield _where_mapped(found, data, project)


def _is_for_the_step(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, weights: ArrayFacts
) -> bool:
    """Whether a custom training step unpacks the batch itself, such as (anchor, positive, negative)."""
    step = "test_step" if data.role == "validation" or fit.method == "evaluate" else "train_step"
    own = not isinstance(model, Unknown) and step in model.overrides
    return own and data.form != "arrays" and not _WEIGHTS.search(_words(weights))


def _of_strings(call: FitFacts, data: DataFacts, weights: ArrayFacts, project: Project) -> Finding:
    """Report strings, such as names or paths, as the third element."""
    message = "Keras reads the third element as sample weights, but it contains strings"
    advice = [unsafe("drop the third element of the dataset", _wrapped(call, data))]
    expected = "numbers, or two elements"
    found = _finding(call, data, weights, message, "strings", expected, advice, Confidence.CERTAIN)
    made = [returned_in_step(project, step.code) for step in data.pipeline if step.operation == "map"]
    return replace(found, severity=Severity.ERROR, location=place(*reversed(made), found.location))


def _where_mapped(found: Finding, data: DataFacts, project: Project) -> Finding:
    """Move ids to the tuple of three that the last mapped function returns, where the third can be left out."""
    maps = [step.code for step in data.pipeline if step.operation == "map"]
    triple = tuple_from_step(project, maps[-1]) if maps and found.evidence[0].expected == _NO_IDS else None
    if triple is None or len(triple[1].elts) != 3:
        return found
    module, node = triple
    kept = ", ".join(module.segment(each) for each in node.elts[:2])
    edit = Edit(module.location(node), f"({kept})")
    fixes = (unsafe(found.fixes[0].title, (edit,)), *found.fixes[1:])
    return replace(found, location=module.location(node), fixes=fixes)


_NO_IDS = "weights around 1"

Oddity = tuple[str, str, list[Fix], Confidence]


def _oddity(data: DataFacts, weights: ArrayFacts, statistics: Statistics) -> Oddity | None:
    least, most = statistics.minimum or 0.0, statistics.maximum or 0.0
    if least == most == 0:
        advice = [*_divided_whole(weights), unsafe("use weights above 0, or remove the weights")]
        return (
            "every sample weight is 0: the loss is 0 and nothing is trained",
            "above 0",
            advice,
            Confidence.CERTAIN,
        )
    if statistics.nan:
        advice = [unsafe("fill in the missing weights")]
        return (
            f"the sample weights contain {statistics.nan:,} NaN: the loss becomes NaN",
            "finite numbers",
            advice,
            Confidence.CERTAIN,
        )
    if least < 0 and not _POLICY.search(_words(weights)):
        advice = [unsafe("use weights of 0 or more")]
        message = f"sample weights go down to {number(least)}: training increases the loss of those samples"
        return message, "0 or more", advice, Confidence.CERTAIN
    if data.form != "arrays" and data.element_size == 3 and _look_like_ids(weights, statistics):
        return _ids(data, weights)
    return None


def _ids(data: DataFacts, weights: ArrayFacts) -> Oddity:
    message = "Keras reads the third element as sample weights, but its values look like ids"
    return message, _NO_IDS, _without_third(data, weights), Confidence.LIKELY


def _are_named_ids(data: DataFacts, weights: ArrayFacts) -> bool:
    """Whether integers that were not read have the name of ids or categories."""
    whole = isinstance(weights.dtype, str) and weights.dtype.startswith(("int", "uint"))
    named = _NO_WEIGHTS.search(_name(weights)) and not _WEIGHTS.search(_words(weights))
    return whole and bool(named) and data.form != "arrays" and data.element_size == 3


def _wrapped(call: FitFacts, data: DataFacts) -> tuple[Edit, ...]:
    """Drop the third element in the argument of fit."""
    given = call.code.argument("x", 0) if isinstance(call.code, Code) else None
    if given is None or data.form != "dataset" or data.role != "training":
        return ()
    return wrap(Code(given.location, given.text), "{}.map(lambda x, y, _: (x, y))")


def _divided_whole(weights: ArrayFacts) -> Iterator[Fix]:
    """Yield a fix for ratios that an integer division rounds to 0."""
    code = weights.code
    if isinstance(code, Code) and code.text.count("//") == 1:
        yield unsafe(
            "divide with `/`: `//` rounds down to integers", replace_code(code, code.text.replace("//", "/"))
        )


def _look_like_ids(weights: ArrayFacts, statistics: Statistics) -> bool:
    """Whether the values are distinct integers, codes 0, 1, 2, 3, … or lengths, under a name unlike weights."""
    if not statistics.integral or statistics.histogram is None or statistics.count < _LEAST_ROWS:
        return statistics.integral and statistics.histogram is None and (statistics.maximum or 0) > 1000
    values = [value for value, _count in statistics.histogram]
    if len(values) >= 0.9 * statistics.count:
        return True
    if _WEIGHTS.search(_words(weights)):
        return False
    whole_type = isinstance(weights.dtype, str) and weights.dtype.startswith(("int", "uint"))
    codes = len(values) >= 4 and values == [float(value) for value in range(len(values))]
    name = _name(weights)
    told = len(values) >= 3 and bool(_NO_WEIGHTS.search(name))
    return whole_type and (codes or told) and bool(name)


_INDEXED = re.compile(r"(?:\w+\.)*(?P<name>[A-Za-z_]\w*)(?:\[[^\[\]]*\])?")


def _name(weights: ArrayFacts) -> str:
    """Return the name of the weights, such as `patients` in `self.patients[rows]`; "" for another expression."""
    pieces = [piece.text for piece in (weights.use, weights.code) if isinstance(piece, Code)]
    found = next((match for piece in pieces if (match := _INDEXED.fullmatch(piece))), None)
    return found["name"] if found else ""


def _words(weights: ArrayFacts) -> str:
    pieces = [piece.text for piece in (weights.use, weights.code) if isinstance(piece, Code)]
    targets = [weights.code.target] if isinstance(weights.code, Code) else []
    return " ".join((*pieces, *targets))


def _without_third(data: DataFacts, weights: ArrayFacts) -> list[Fix]:
    if data.form != "dataset":
        return [unsafe("yield only x and y")]
    title = "drop the third element of the dataset"
    slices = next((step.code for step in data.pipeline if step.operation == "from_tensor_slices"), Unknown())
    edits: tuple[Edit, ...] = ()
    if isinstance(slices, Code) and slices.arguments and isinstance(weights.use, Code):
        given = slices.arguments[0]
        shorter = re.sub(rf",\s*{re.escape(weights.use.text)}\s*,?\s*\)$", ")", given.text)
        if shorter != given.text:
            edits = (Edit(given.location, shorter),)
    if not edits and isinstance(data.code, Code) and data.code == weights.code:
        edits = wrap(weights.use, "{}.map(lambda x, y, _: (x, y))")
    return [unsafe(title, edits)]


def _range(statistics: Statistics) -> str:
    return f"{number(statistics.minimum or 0)}..{number(statistics.maximum or 0)}"


def _finding(
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    weights: ArrayFacts | None,
    message: str,
    observed: str,
    expected: str,
    fixes: list[Fix],
    confidence: Confidence,
    severity: Severity = Severity.WARNING,
    raised_at: Location | None = None,
) -> Finding:
    code = fit.code if isinstance(fit, FitFacts) else None
    slices = None
    if isinstance(data, DataFacts) and data.form == "dataset" and data.element_size == 3:
        slices = next((step.code for step in data.pipeline if step.operation == "from_tensor_slices"), None)
    given = code.argument("sample_weight") if isinstance(code, Code) else None
    made = (weights.code, weights.use) if weights is not None else ()
    return CAUSE.finding(
        message,
        place(
            slices if expected == _NO_IDS else None,
            *made,
            given.location if given is not None else None,
            code,
            raised_at,
        ),
        Evidence(
            "range of the sample weights" if ".." in observed else "sample weights",
            observed,
            expected,
            fact="data.sample_weight",
            location=place(*made) if made else raised_at,
        ),
        *fixes,
        subject="sample weights",
        confidence=confidence,
        severity=severity,
    )


# --- weights and labels swapped ------------------------------------------------------------------------------------


@CAUSE.before_fit
def from_order(model: ModelFacts, data: DataFacts, project: Project) -> Iterator[Finding]:
    """Report (x, weights, y): the second element cannot be labels for the loss, and the third one can."""
    if data.form == "arrays" or data.element_size != 3 or len(data.sample_weight) != 1 or len(data.y) != 1:
        return
    labels, weights = statistics_of(data.y[0]), statistics_of(data.sample_weight[0])
    target = next(iter(targets(model, data)), None)
    if labels is None or weights is None or target is None or "train_step" in model.overrides:
        return
    if not _are_swapped(target.loss_name, target.units, labels, weights):
        return
    module, written = _triple(data, project)
    at = module.location(written) if module is not None and written is not None else None
    edits: tuple[Edit, ...] = ()
    if module is not None and written is not None:
        second, third = written.elts[1:]
        edits = (
            Edit(module.location(second), module.segment(third)),
            Edit(module.location(third), module.segment(second)),
        )
    yield CAUSE.finding(
        "the batches are in the order (x, weights, y), but Keras reads (x, y, weights)",
        place(at, data.code, data.y[0].use),
        Evidence(
            f"second element, read as labels for `{target.loss_name}`",
            _range(labels),
            fact="data.y.statistics",
            location=place(data.y[0].code, data.y[0].use),
        ),
        Evidence(
            "third element, read as weights",
            _range(weights),
            fact="data.sample_weight",
            location=place(data.sample_weight[0].code, data.sample_weight[0].use),
        ),
        unsafe("swap the second and the third element", edits),
        subject="sample weights",
    )


def _are_swapped(loss: str, units: int | None, labels: Statistics, weights: Statistics) -> bool:
    values = [value for value, _count in weights.histogram or ()]
    if labels.minimum is None or labels.maximum is None or len(values) < 2:
        return False
    if loss in BINARY_LOSSES:
        outside = labels.minimum < 0 or labels.maximum > 1.001
        return outside and not labels.integral and values == [0.0, 1.0]
    classes = weights.integral and min(values) == 0 and units is not None and max(values) == units - 1
    return loss == SPARSE and not labels.integral and classes


def _triple(data: DataFacts, project: Project) -> tuple[Module | None, ast.Tuple | None]:
    """Return the only tuple of three in the source that makes the batches."""
    found: list[tuple[Module, ast.expr]] = []
    for step in reversed(data.pipeline):
        if step.operation == "map" and (made := tuple_from_step(project, step.code)) is not None:
            found.append(made)
            break
        if step.operation == "from_tensor_slices" and isinstance(step.code, Code) and step.code.arguments:
            given = step.code.arguments[0]
            sliced = expression_of(project, Code(given.location, given.text))
            found += [sliced] if sliced is not None else []
    if not found:
        found = [(function.module, node) for function, node in batches_behind(project, data.code)]
    module, node = found[0] if len(found) == 1 else (None, None)
    if module is not None and isinstance(node, ast.Name):
        node = module.made_by(node)
    return (module, node) if isinstance(node, ast.Tuple) and len(node.elts) == 3 else (None, None)


# --- weights that raise -------------------------------------------------------------------------------------------

_BOTH = "You cannot `class_weight` and `sample_weight` at the same time"


@CAUSE.before_fit
def from_call(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report class and sample weights together, and weights of the wrong number or shape."""
    if data.role != "training" or not data.sample_weight:
        return
    weights = data.sample_weight[0]
    if fit.class_weight is not None and data.form in ("arrays", "dataset"):
        yield _both(fit, data, weights, None)
        return
    problem = data.problem.message if data.problem is not None else ""
    if _only_weights_differ(problem):
        yield _other_length(fit, data, weights, problem, None)
    failure = loss_failure(data)
    step = step_of_loss(failure) if failure is not None else None
    if step is not None and step.weighs:
        yield _other_shape(fit, data, weights, Confidence.CERTAIN, None)
    elif failure is None and _is_too_wide(model, data, weights):
        yield _other_shape(fit, data, weights, Confidence.LIKELY, None)


def _is_too_wide(model: ModelFacts, data: DataFacts, weights: ArrayFacts) -> bool:
    """Whether there are several weights per sample but only one loss value."""
    outputs = output_specs(model, data)
    if len(outputs) != 1 or not isinstance(outputs[0].shape, tuple) or not isinstance(weights.shape, tuple):
        return False
    # If the batch size is known, the trial has already checked the shapes.
    blind = isinstance(data.trial.loss, Unknown) or outputs[0].shape[0] is None
    known = any(loss.kind == "builtin" for loss in model.losses)
    return (
        blind
        and known
        and len(outputs[0].shape) == len(weights.shape) == 2
        and weights.shape[1] not in (1, None)
    )


@CAUSE.after_failure
def from_failure(
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown, model: ModelFacts | Unknown
) -> Iterator[Finding]:
    """Report weights that Keras rejects or that do not match the loss values."""
    if isinstance(data, DataFacts) and (data.role != "training" or not data.sample_weight):
        return
    raised_at = failure.location
    weights = data.sample_weight[0] if isinstance(data, DataFacts) and data.sample_weight else None
    step = step_of_loss(failure)
    if _BOTH in failure.message:
        yield _both(fit, data, weights, raised_at)
    elif _only_weights_differ(failure.message):
        yield _other_length(fit, data, weights, failure.message, raised_at)
    elif (
        step is not None and step.weighs and not any(own.function == step.loss for own in failure.user_frames)
    ):
        yield _other_shape(fit, data, weights, Confidence.CERTAIN, raised_at)
    elif "You should provide one `sample_weight` array per output" in failure.message:
        yield _finding(
            fit, data, weights, "the sample weights do not have the same structure as y", "another structure",
            "one array per output", [fix("pass `sample_weight` as a list or dict in the structure of y")],
            Confidence.CERTAIN, Severity.ERROR, raised_at,
        )  # fmt: skip


def _only_weights_differ(message: str) -> bool:
    sizes = cardinality(message)
    if sizes is None or not sizes.of("sample_weight"):
        return False
    others = {*sizes.of("x"), *sizes.of("y")}
    return len(others) == 1 and set(sizes.of("sample_weight")) != others


def _both(
    fit: FitFacts | Unknown, data: DataFacts | Unknown, weights: ArrayFacts | None, raised_at: Location | None
) -> Finding:
    code = fit.code if isinstance(fit, FitFacts) else Unknown("the call of fit is unknown")
    return _finding(
        fit, data, weights, "`fit` receives both `class_weight` and sample weights, but Keras accepts only one", "both",
        "one of them", [unsafe("remove `class_weight`", remove_argument(code, "class_weight"))],
        Confidence.CERTAIN, Severity.ERROR, raised_at,
    )  # fmt: skip


def _other_length(
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    weights: ArrayFacts | None,
    message: str,
    raised_at: Location | None,
) -> Finding:
    sizes = cardinality(message)
    found = sizes.of("sample_weight")[0] if sizes is not None else 0
    wanted = sizes.of("x")[0] if sizes is not None and sizes.of("x") else 0
    return _finding(
        fit, data, weights, f"there are {found:,} sample weights, but {wanted:,} samples", str(found), str(wanted),
        [fix("pass one weight per sample")], Confidence.CERTAIN, Severity.ERROR, raised_at,
    )  # fmt: skip


def _other_shape(
    fit: FitFacts | Unknown,
    data: DataFacts | Unknown,
    weights: ArrayFacts | None,
    confidence: Confidence,
    raised_at: Location | None,
) -> Finding:
    shape = shape_words(weights.shape) if weights is not None else "another shape"
    have = f"have shape {shape}, which does" if weights is not None else "have a shape that does"
    return _finding(
        fit, data, weights, f"sample weights {have} not match the loss values of a batch", shape,
        "one weight per sample, or per step of a sequence output",
        [fix("pass one weight per loss value: shape (n,), or (n, steps) for a sequence output")],
        confidence, Severity.ERROR, raised_at,
    )  # fmt: skip
