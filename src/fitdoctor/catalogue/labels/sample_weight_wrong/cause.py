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
from fitdoctor.records import dataclass, replace
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
    for array in data.sample_weight:
        weights, statistics = _Weights(fit, data, array), statistics_of(array)
        if _is_for_the_step(model, fit, data, array):
            continue
        if array.dtype in ("string", "str") and data.form != "arrays" and data.element_size == 3:
            yield _of_strings(weights, fit, data, project)
        elif statistics is None and _are_named_ids(data, array, name := _name(array, data, project)):
            yield _of_ids(weights, data, array, f"{array.dtype}, `{name}`", project)
        elif statistics is not None and statistics.minimum is not None and statistics.maximum is not None:
            yield from _of_numbers(weights, data, array, statistics, project)


def _is_for_the_step(
    model: ModelFacts | Unknown, fit: FitFacts, data: DataFacts, weights: ArrayFacts
) -> bool:
    """Whether a custom training step unpacks the batch itself, such as (anchor, positive, negative)."""
    step = "test_step" if data.role == "validation" or fit.method == "evaluate" else "train_step"
    own = not isinstance(model, Unknown) and step in model.overrides
    return own and data.form != "arrays" and not _WEIGHTS.search(_words(weights))


def _of_strings(weights: _Weights, call: FitFacts, data: DataFacts, project: Project) -> Finding:
    """Report strings, such as names or paths, as the third element."""
    message = "Keras reads the third element as sample weights, but it contains strings"
    advice = unsafe("drop the third element of the dataset", _wrapped(call, data))
    found = weights.finding(message, "strings", "numbers, or two elements", [advice])
    made = [returned_in_step(project, step.code) for step in data.pipeline if step.operation == "map"]
    return replace(found, location=place(*reversed(made), found.location))


def _of_numbers(
    weights: _Weights, data: DataFacts, array: ArrayFacts, statistics: Statistics, project: Project
) -> Iterator[Finding]:
    """Report weights that are all zero, missing or negative, and ids."""
    least, most = statistics.minimum or 0.0, statistics.maximum or 0.0
    if least == most == 0:
        message = "every sample weight is 0: the loss is 0 and nothing is trained"
        expected, fixes = (
            "above 0",
            [*_divided_whole(array), unsafe("use weights above 0, or remove the weights")],
        )
    elif statistics.nan:
        message = f"the sample weights contain {statistics.nan:,} NaN: the loss becomes NaN"
        expected, fixes = "finite numbers", [unsafe("fill in the missing weights")]
    elif least < 0 and not _POLICY.search(_words(array)):
        message = f"sample weights go down to {number(least)}: training increases the loss of those samples"
        expected, fixes = "0 or more", [unsafe("use weights of 0 or more")]
    else:
        name = _name(array, data, project)
        if data.form != "arrays" and data.element_size == 3 and _look_like_ids(array, statistics, name):
            yield _of_ids(weights, data, array, _range(statistics), project)
        return
    yield weights.finding(message, _range(statistics), expected, fixes, Severity.WARNING)


def _of_ids(
    weights: _Weights, data: DataFacts, array: ArrayFacts, observed: str, project: Project
) -> Finding:
    """Report ids as weights, in the tuple of three that the last mapped function returns, if there is one."""
    message = "Keras reads the third element as sample weights, but its values look like ids"
    fixes = _without_third(data, array)
    found = weights.finding(message, observed, _NO_IDS, fixes, Severity.WARNING)
    found = replace(found, confidence=Confidence.LIKELY)
    triple = _mapped_triple(data, project)
    if triple is None:
        return found
    module, node = triple
    kept = ", ".join(module.segment(each) for each in node.elts[:2])
    edit = Edit(module.location(node), f"({kept})")
    return replace(found, location=module.location(node), fixes=(unsafe(fixes[0].title, (edit,)), *fixes[1:]))


def _mapped_triple(data: DataFacts, project: Project) -> tuple[Module, ast.Tuple] | None:
    """Return the tuple of three that the last mapped function returns."""
    maps = [step.code for step in data.pipeline if step.operation == "map"]
    found = tuple_from_step(project, maps[-1]) if maps else None
    return found if found is not None and len(found[1].elts) == 3 else None


_NO_IDS = "weights around 1"


def _are_named_ids(data: DataFacts, weights: ArrayFacts, name: str) -> bool:
    """Whether integers that were not read have the name of ids or categories."""
    whole = isinstance(weights.dtype, str) and weights.dtype.startswith(("int", "uint"))
    named = _NO_WEIGHTS.search(name) and not _WEIGHTS.search(f"{name} {_words(weights)}")
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


def _look_like_ids(weights: ArrayFacts, statistics: Statistics, name: str) -> bool:
    """Whether the values are distinct integers, codes 0, 1, 2, 3, … or lengths, under a name unlike weights."""
    if not statistics.integral or statistics.histogram is None or statistics.count < _LEAST_ROWS:
        return statistics.integral and statistics.histogram is None and (statistics.maximum or 0) > 1000
    values = [value for value, _count in statistics.histogram]
    if len(values) >= 0.9 * statistics.count:
        return True
    if any(_WEIGHTS.search(word) for word in (name, _words(weights))):
        return False
    whole_type = isinstance(weights.dtype, str) and weights.dtype.startswith(("int", "uint"))
    codes = len(values) >= 4 and values == [float(value) for value in range(len(values))]
    told = len(values) >= 3 and bool(_NO_WEIGHTS.search(name))
    return whole_type and (codes or told) and bool(name)


_INDEXED = re.compile(
    r"(?:\w+\.)*(?P<name>[A-Za-z_]\w*)(?:\[(?:[\"'](?P<key>[A-Za-z_]\w*)[\"']|[^\[\]]*)\])?"
)


def _name(weights: ArrayFacts, data: DataFacts, project: Project) -> str:
    """Return the name of the weights, such as `patients` in `self.patients[rows]`; "" for another expression."""
    pieces = [piece.text for piece in (weights.use, weights.code) if isinstance(piece, Code)]
    triple = _mapped_triple(data, project)
    pieces += [triple[0].segment(triple[1].elts[2])] if triple is not None else []
    found = next((match for piece in pieces if (match := _INDEXED.fullmatch(piece))), None)
    return (found["key"] or found["name"]) if found else ""


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


@dataclass(frozen=True)
class _Weights:
    """The sample weights of a call, as far as they are known."""

    fit: FitFacts | Unknown
    data: DataFacts | Unknown
    array: ArrayFacts | None
    raised_at: Location | None = None

    def finding(
        self,
        message: str,
        observed: str,
        expected: str,
        fixes: list[Fix],
        severity: Severity = Severity.ERROR,
    ) -> Finding:
        """Report the weights, where ids are given as weights in the slices of a dataset, else where they are made."""
        code = self.fit.code if isinstance(self.fit, FitFacts) else None
        slices = None
        if isinstance(self.data, DataFacts) and self.data.form == "dataset" and self.data.element_size == 3:
            steps = [step.code for step in self.data.pipeline if step.operation == "from_tensor_slices"]
            slices = next(iter(steps), None)
        given = code.argument("sample_weight") if isinstance(code, Code) else None
        made = (self.array.code, self.array.use) if self.array is not None else ()
        argument = given.location if given is not None else None
        return CAUSE.certain(
            message,
            place(slices if expected == _NO_IDS else None, *made, argument, code, self.raised_at),
            Evidence(
                "range of the sample weights" if ".." in observed else "sample weights",
                observed,
                expected,
                fact="data.sample_weight",
                location=place(*made) if made else self.raised_at,
            ),
            *fixes,
            subject="sample weights",
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
_OTHER_STRUCTURE = "You should provide one `sample_weight` array per output"


@CAUSE.before_fit
def from_call(model: ModelFacts, fit: FitFacts, data: DataFacts) -> Iterator[Finding]:
    """Report class and sample weights together, and weights of the wrong number or shape."""
    if data.role != "training" or not data.sample_weight:
        return
    weights = _Weights(fit, data, data.sample_weight[0])
    problem = data.problem.message if data.problem is not None else ""
    failure = loss_failure(data)
    step = step_of_loss(failure) if failure is not None else None
    if fit.class_weight is not None and data.form in ("arrays", "dataset"):
        problem = _BOTH
    found = _rejected(weights, problem, step is not None and step.weighs)
    if found is not None:
        yield found
    elif failure is None and _is_too_wide(model, data, data.sample_weight[0]):
        yield replace(_other_shape(weights), confidence=Confidence.LIKELY)


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
    failure: FailureFacts, fit: FitFacts | Unknown, data: DataFacts | Unknown
) -> Iterator[Finding]:
    """Report weights that Keras rejects or that do not match the loss values."""
    known = data.sample_weight if isinstance(data, DataFacts) else ()
    if isinstance(data, DataFacts) and (data.role != "training" or not known):
        return
    step = step_of_loss(failure)
    by_keras = step is not None and not any(own.function == step.loss for own in failure.user_frames)
    weights = _Weights(fit, data, known[0] if known else None, failure.location)
    found = _rejected(weights, failure.message, by_keras and step is not None and step.weighs)
    if found is not None:
        yield found


def _rejected(weights: _Weights, message: str, of_shape: bool) -> Finding | None:
    """Explain what Keras says about the weights; `of_shape` if it multiplied them with the loss values."""
    if _BOTH in message:
        code = (
            weights.fit.code if isinstance(weights.fit, FitFacts) else Unknown("the call of fit is unknown")
        )
        told = "`fit` receives both `class_weight` and sample weights, but Keras accepts only one"
        remedy = unsafe("remove `class_weight`", remove_argument(code, "class_weight"))
        return weights.finding(told, "both", "one of them", [remedy])
    sizes = cardinality(message)
    given, samples = (sizes.of("sample_weight"), {*sizes.of("x"), *sizes.of("y")}) if sizes else ((), set())
    if given and len(samples) == 1 and set(given) != samples:
        count = samples.pop()
        told = f"there are {given[0]:,} sample weights, but {count:,} samples"
        return weights.finding(told, str(given[0]), str(count), [fix("pass one weight per sample")])
    if of_shape:
        return _other_shape(weights)
    if _OTHER_STRUCTURE in message:
        told = "the sample weights do not have the same structure as y"
        remedy = fix("pass `sample_weight` as a list or dict in the structure of y")
        return weights.finding(told, "another structure", "one array per output", [remedy])
    return None


def _other_shape(weights: _Weights) -> Finding:
    shape = shape_words(weights.array.shape) if weights.array is not None else "another shape"
    have = f"have shape {shape}, which does" if weights.array is not None else "have a shape that does"
    return weights.finding(
        f"sample weights {have} not match the loss values of a batch",
        shape,
        "one weight per sample, or per step of a sequence output",
        [fix("pass one weight per loss value: shape (n,), or (n, steps) for a sequence output")],
    )
